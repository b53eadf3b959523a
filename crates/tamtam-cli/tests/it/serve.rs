//! `tamtam serve --demo` as clients see it, in each protocol, and `tamtam call`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::{Message, Packet, Version};
use tamtam_rows::{Limits, Value, encoding};
use tamtam_testing::ChildGuard;

use crate::program::{Ended, Place};

/// The program at work, until this is dropped.
pub(crate) struct Serving {
    // It ends before its folder does.
    pub(crate) program: ChildGuard,
    pub(crate) place: Place,
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn with(options: &[&str]) -> Serving {
        let words = [&["serve", "--demo", "--listen", "127.0.0.1:0"], options].concat();
        Serving::at(Place::empty(), &words)
    }

    pub(crate) fn at(place: Place, words: &[&str]) -> Serving {
        let command = place.command(words);
        Serving::of(place, command)
    }

    pub(crate) fn of(place: Place, mut command: Command) -> Serving {
        let program = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut program = ChildGuard::from(program);
        let mut line = String::new();
        // It says where it is when it accepts connections.
        BufReader::new(program.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_prefix("listening on ")
            .expect(&line)
            .trim()
            .to_owned();
        Serving {
            place,
            program,
            url,
        }
    }

    /// Head and body of the answer to a request.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> (String, Vec<u8>) {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n").unwrap();
        stream.write_all(body).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        let end = said
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let body = said.split_off(end + 4);
        (String::from_utf8(said).unwrap(), body)
    }

    pub(crate) fn json_rpc(&self, method: &str, params: Json) -> Json {
        let call = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
        let (_, body) = self.ask(
            "POST",
            "/jsonrpc",
            "Content-Type: application/json\r\n",
            call.to_string().as_bytes(),
        );
        serde_json::from_slice(&body).unwrap()
    }

    /// The answer to a call by XML-RPC, with these `param` elements.
    pub(crate) fn xml_rpc(&self, method: &str, params: &str) -> String {
        let body = format!(
            "<methodCall><methodName>{method}</methodName><params>{params}</params></methodCall>"
        );
        let (_, body) = self.ask(
            "POST",
            "/xmlrpc",
            "Content-Type: text/xml\r\n",
            body.as_bytes(),
        );
        String::from_utf8(body).unwrap()
    }

    pub(crate) fn call(&self, words: &[&str]) -> Ended {
        let words: Vec<&str> = ["call", &self.url].iter().chain(words).copied().collect();
        self.place.run(&words)
    }

    /// Kills it, and gives its folder.
    pub(crate) fn killed(self) -> Place {
        self.place
    }

    /// Asks it to end, and gives its code.
    pub(crate) fn end(mut self) -> Option<i32> {
        let id = self.program.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        self.program.wait().unwrap().code()
    }
}

#[test]
fn the_article_s_table_comes_out_of_sqlite_in_every_form() {
    let server = Serving::with(&[]);
    for set in ["random", "palette", "rotation"] {
        let wanted = tamtam_lab::tables::find(set).unwrap().rows(1_000).unwrap();
        for (accept, form) in [
            ("application/vnd.tamtam.rows", "packed"),
            ("application/vnd.apache.arrow.stream", "arrow-ipc"),
            ("application/vnd.apache.parquet", "parquet"),
            ("application/json", "json-objects"),
            ("application/vnd.msgpack", "message-pack"),
            ("text/csv", "text"),
        ] {
            let path = format!("/rest/Tiles/list?set={set}");
            let (head, body) = server.ask("GET", &path, &format!("Accept: {accept}\r\n"), b"");
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let rows = encoding::find(form).unwrap().decode(
                &body,
                Some(wanted.schema()),
                &Limits::default(),
            );
            assert_eq!(rows.unwrap(), wanted, "{set} as {form}");
        }
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn each_protocol_echoes_and_raises() {
    let server = Serving::with(&[]);
    assert_eq!(
        server.json_rpc("Echo.echo", json!([[1, {"a": null}]]))["result"],
        json!([1, {"a": null}])
    );
    let fault = server.json_rpc("Fault.raise", json!([]));
    assert_eq!(
        (&fault["error"]["message"], &fault["error"]["data"]["code"]),
        (&json!("raised on purpose"), &json!("Kit.Fault"))
    );

    let call = |method, params| server.xml_rpc(method, params);
    assert!(
        call(
            "Echo.echo",
            "<param><value><base64>AP8=</base64></value></param>"
        )
        .contains("<base64>AP8=</base64>")
    );
    assert!(call("Fault.raise", "").contains("<string>Kit.Fault: raised on purpose</string>"));
    assert!(
        call("Tiles.list", "<param><value>palette</value></param>")
            .contains("<name>slot_number</name>")
    );

    let echoed = Amf0::EcmaArray(vec![
        ("0".into(), 1.0.into()),
        ("b".into(), Amf0::Undefined),
    ]);
    let message = |target: &str, response: &str, value: Amf0| Message {
        target: target.into(),
        response: response.into(),
        value: vec![value].into(),
    };
    let packet = Packet {
        version: Version::Amf0,
        headers: vec![],
        messages: vec![
            message("Echo.echo", "/1", echoed.clone()),
            Message {
                value: Amf0::Null,
                ..message("Fault.raise", "/2", Amf0::Null)
            },
            message("Tiles.list", "/3", "palette".into()),
        ],
    };
    let (_, body) = server.ask(
        "POST",
        "/amf",
        "Content-Type: application/x-amf\r\n",
        &packet.encode().unwrap(),
    );
    let answers = Packet::decode(&body, Default::default()).unwrap().messages;
    assert_eq!(
        (&*answers[0].target, &answers[0].value),
        ("/1/onResult", &echoed)
    );
    assert_eq!(&answers[1].target, "/2/onStatus");
    assert_eq!(answers[1].value.get("code"), Some(&"Kit.Fault".into()));
    assert_eq!(
        answers[1].value.get("description"),
        Some(&"raised on purpose".into())
    );
    assert!(matches!(&answers[2].value, Amf0::TypedObject(table) if &*table.class == "RecordSet"));

    let (head, body) = server.ask("GET", "/rest/Fault/raise", "", b"");
    assert!(head.starts_with("HTTP/1.1 500"), "{head}");
    assert_eq!(
        serde_json::from_slice::<Json>(&body).unwrap()["code"],
        "Kit.Fault"
    );
    let (head, _) = server.ask("POST", "/jsonrpc", "Content-Type: text/plain\r\n", b"{}");
    assert!(head.starts_with("HTTP/1.1 415"), "{head}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn connections_of_a_trusted_proxy_are_not_those_of_one_client() {
    for (options, second) in [
        (&[][..], "503"),
        (&["--trusted-proxy", "127.0.0.0/8"], "200"),
    ] {
        let options = [&["--connections-of-client", "1"], options].concat();
        let server = Serving::with(&options);
        let address = server.url.strip_prefix("http://").unwrap();
        let ask = || {
            let mut stream = TcpStream::connect(address).unwrap();
            // One that is refused may be closed already.
            let _ = write!(
                stream,
                "GET /crossdomain.xml HTTP/1.1\r\nHost: {address}\r\n\r\n"
            );
            let mut line = [0; 12];
            stream.read_exact(&mut line).unwrap();
            (stream, String::from_utf8(line[9..].to_vec()).unwrap())
        };
        let (_open, first) = ask();
        assert_eq!((&*first, &*ask().1), ("200", second), "{options:?}");
    }
    let wrong = Place::empty().run(&["serve", "--demo", "--trusted-proxy", "proxy.example"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("is no network: write an address"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_call_prints_a_table_a_value_or_a_fault() {
    let server = Serving::with(&["--token", "let me in"]);
    let refused = server.call(&["Tiles.list", "palette"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("Client.Authentication"),
        "{}",
        refused.stderr
    );
    let token = ["--token", "let me in"];
    let with = |words: &[&str]| server.call(&[words, &token].concat());

    let methods = with(&[]).stdout;
    assert!(
        methods.starts_with("Echo.echo(value) ") && methods.contains("\nTiles.list(set) "),
        "{methods}"
    );
    let table = with(&["Tiles.list", "palette", "-n", "3"]);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(
        table.stdout.contains("slot_number")
            && table.stdout.contains("1,000 rows; 3 of them are shown"),
        "{}",
        table.stdout
    );
    let csv = with(&["Tiles.list", "set=palette", "--as", "csv"]).stdout;
    assert!(
        csv.starts_with("slot_number,x,y,color,rotation\n1,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1_001);
    let echo = with(&["Echo.echo", "[1, -2.5, \"x\"]"]).stdout;
    assert_eq!(
        serde_json::from_str::<Json>(&echo).unwrap(),
        json!([1, -2.5, "x"])
    );
    assert_eq!(with(&["Echo.echo", "-7"]).stdout, "-7\n");
    let fault = with(&["Fault.raise"]);
    assert_eq!(
        (fault.code, &*fault.stderr),
        (Some(1), "Kit.Fault: raised on purpose\n")
    );
    let wrong = with(&["Tiles.list", "no-such-set"]);
    assert!(
        wrong.stderr.contains("`random`, `palette`, `rotation`"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_table_and_a_query_of_a_database_are_served() {
    let place = Place::empty();
    let script = "create table numbers (n integer, name text);
        with recursive c(n) as (select 1 union all select n + 1 from c where n < 200000)
        insert into numbers select n, 'number ' || n from c;";
    rusqlite::Connection::open(place.path("shop.db"))
        .unwrap()
        .execute_batch(script)
        .unwrap();
    let wrong = place.run(&["serve", "--db", "shop.db", "--table", "orders"]);
    assert!(
        wrong.code == Some(2) && wrong.stderr.contains("orders"),
        "{}",
        wrong.stderr
    );
    let words = [
        "--db",
        "shop.db",
        "--table",
        "numbers",
        "--query",
        "select count(*) as count from numbers",
    ];
    let server = Serving::at(
        place,
        &[&["serve", "--listen", "127.0.0.1:0"][..], &words].concat(),
    );
    let count = server.call(&["Query.rows", "--as", "json"]).stdout;
    assert_eq!(count, "[{\"count\":200000}]\n");
    let csv = server.call(&["Tables.numbers", "--as", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 200_001);
    assert_eq!(csv.lines().last(), Some("200000,number 200000"));
    let part = server.ask(
        "GET",
        "/rest/Tables/numbers",
        "Range: rows=99999-99999\r\n",
        b"",
    );
    assert_eq!(part.1, br#"[{"n":100000,"name":"number 100000"}]"#);
    assert_eq!(server.end(), Some(0));
}

/// What no answer takes, in KiB.
#[cfg(target_os = "linux")]
const MOST_KIB: u64 = 64 << 10;

/// Without optimization a program alone takes more.
#[cfg(target_os = "linux")]
const MOST_OF_A_PROGRAM_KIB: u64 = MOST_KIB + if cfg!(debug_assertions) { 32 << 10 } else { 0 };

/// How many rows a long query has, and how long the text of each is.
#[cfg(target_os = "linux")]
fn rows_and_length() -> (u64, u64) {
    match std::env::var_os("TAMTAM_SOAK_SECONDS") {
        Some(_) => (10_000_000, 24),
        None => (150_000, 600),
    }
}

/// Serves a query whose rows are a number and a text with the digits of `value`, together longer than the memory that an answer may take; how many
/// rows there are, and how long each text is. With `scripts/test --soak` there are as many as the bar of the project speaks of.
#[cfg(target_os = "linux")]
fn long_query(value: &str) -> (Serving, u64, u64) {
    let (rows, length) = rows_and_length();
    assert!(
        rows * length > MOST_KIB << 10,
        "it would not be noticed that all is held"
    );
    let place = Place::empty();
    rusqlite::Connection::open(place.path("empty.db"))
        .unwrap()
        .execute_batch("create table none (n integer)")
        .unwrap();
    let query = format!(
        "with recursive c(n) as (select 1 union all select n + 1 from c where n < {rows})
         select n, printf('%0{length}d', {value}) as body from c"
    );
    let words = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--db",
        "empty.db",
        "--query",
        &query,
    ];
    (Serving::at(place, &words), rows, length)
}

/// How many bytes come, and the last two KiB of them.
#[cfg(target_os = "linux")]
fn read_all(mut from: impl Read) -> (u64, Vec<u8>) {
    let (mut part, mut last, mut bytes) = (vec![0; 64 << 10], Vec::new(), 0);
    loop {
        let count = from.read(&mut part).unwrap();
        if count == 0 {
            return (bytes, last);
        }
        bytes += count as u64;
        last.extend_from_slice(&part[..count]);
        last.drain(..last.len().saturating_sub(2 << 10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_query_goes_from_the_cursor_to_the_socket_in_the_memory_of_a_few_parts() {
    let (server, rows, length) = long_query("n");
    let one = server.ask("GET", "/rest/Query/rows", "Range: rows=0-0\r\n", b"");
    assert!(one.1.starts_with(br#"[{"n":1,"body":"000"#), "{one:?}");
    let peak = || tamtam_testing::memory(&server.program.id().to_string()).1 >> 10;
    let before = peak();

    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /rest/Query/rows HTTP/1.0\r\nHost: {address}\r\nAccept: text/csv\r\n\r\n"
    )
    .unwrap();
    let (bytes, last) = read_all(stream);
    assert!(bytes > rows * length, "{bytes} bytes came");
    let end = format!("\n{rows},{rows:0width$}\n", width = length as usize);
    let last = String::from_utf8(last).unwrap();
    assert!(last.contains(&end), "{last}");
    let more = peak() - before;
    println!("{bytes} bytes: {more} KiB more than for one row");
    assert!(more < MOST_KIB, "{bytes} bytes took {more} KiB");
    assert_eq!(server.end(), Some(0));
}

/// The greatest memory of a process so far, in KiB; nothing of one that has ended.
#[cfg(target_os = "linux")]
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_table_is_called_for_in_the_memory_of_a_few_parts() {
    let (server, rows, length) = long_query("n * 48271");
    let call = |options: &[&str]| {
        let words = [&["call", &server.url, "Query.rows"][..], options].concat();
        let mut command = server.place.command(&words);
        let mut calling = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = calling.stdout.take().unwrap();
        // What it holds at its end it has held for long.
        let process = calling.id();
        let watch = std::thread::spawn(move || {
            let mut peak = 0;
            while let Some(now) = peak_kib(process) {
                peak = now;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            peak
        });
        let (bytes, last) = read_all(out);
        assert!(calling.wait().unwrap().success(), "{options:?}");
        let peak = watch.join().unwrap();
        println!("{options:?}: {bytes} bytes, {peak} KiB");
        (bytes, last, peak)
    };
    let (.., one) = call(&["--rows", "1"]);
    assert!(one > 0 && one < MOST_OF_A_PROGRAM_KIB, "{one} KiB");
    for form in ["csv", "json", "rows"] {
        let (bytes, last, peak) = call(&["--as", form]);
        assert!(form == "rows" || bytes > rows * length, "{form}: {bytes}");
        assert!(peak < MOST_OF_A_PROGRAM_KIB, "{form} took {peak} KiB");
        if form == "csv" {
            let end = format!(
                "\n{rows},{:0width$}\n",
                rows * 48_271,
                width = length as usize
            );
            assert!(String::from_utf8(last).unwrap().ends_with(&end));
        }
    }
    let shown = server.call(&["Query.rows", "--rows", "2"]).stdout;
    let said = format!("\n{rows} rows; 2 of them are shown\n");
    assert!(shown.replace(',', "").ends_with(&said), "{shown}");
    assert_eq!(server.end(), Some(0));
}

/// Where the process of the client learns of the server, and writes what memory it has had.
#[cfg(target_os = "linux")]
const STREAMED: [&str; 2] = ["TAMTAM_TEST_URL", "TAMTAM_TEST_PEAK"];

/// Takes a long table part by part; in a process that does nothing else.
#[cfg(target_os = "linux")]
fn stream_a_long_table() {
    let [url, peak] = STREAMED.map(|name| std::env::var(name).unwrap());
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(async {
        let client = tamtam_gateway::Client::connect(&url).await.unwrap();
        let mut table = client.stream("Query.rows", &()).await.unwrap();
        let mut rows = 0;
        while let Some(part) = table.next().await.unwrap() {
            rows += part.len() as u64;
            let last = [0, 1].map(|column| part.value(part.len() - 1, column));
            let [Value::Int(number), Value::Text(text)] = last else {
                panic!("{last:?}");
            };
            assert_eq!(number, rows as i64);
            assert!(text.ends_with(&number.to_string()), "{text}");
        }
        assert_eq!(rows, rows_and_length().0);
    });
    let (_, bytes) = tamtam_testing::memory("self");
    std::fs::write(peak, (bytes >> 10).to_string()).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_table_is_streamed_by_a_client_in_the_memory_of_a_few_parts() {
    let is_client = std::env::var_os(STREAMED[0]).is_some();
    let server = (!is_client).then(|| long_query("n").0);
    let peak = server.as_ref().map(|server| server.place.path("peak"));
    let prepare = |command: &mut Command| {
        let (Some(server), Some(peak)) = (&server, &peak) else {
            return;
        };
        command.env(STREAMED[0], &server.url).env(STREAMED[1], peak);
    };
    tamtam_testing::in_a_process_of_its_own(
        "serve::a_long_table_is_streamed_by_a_client_in_the_memory_of_a_few_parts",
        std::time::Duration::from_secs(1_800),
        prepare,
        stream_a_long_table,
    );
    let (Some(server), Some(peak)) = (server, peak) else {
        return;
    };
    let client: u64 = std::fs::read_to_string(peak).unwrap().parse().unwrap();
    let served = peak_kib(server.program.id()).unwrap();
    println!("the client: {client} KiB, the server: {served} KiB");
    for peak in [client, served] {
        assert!(peak < MOST_OF_A_PROGRAM_KIB, "{peak} KiB");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_unix_socket_is_served_and_called() {
    let place = Place::empty();
    let program = place
        .command(&["serve", "--demo", "--unix", "kit.sock"])
        .stdout(Stdio::piped())
        .spawn();
    let mut program = ChildGuard::from(program.unwrap());
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "listening on unix:kit.sock\n");
    let echo = place.run(&["call", "unix:kit.sock", "Echo.echo", "hello"]);
    assert_eq!(
        (echo.code, &*echo.stdout),
        (Some(0), "\"hello\"\n"),
        "{}",
        echo.stderr
    );
}

#[test]
fn values_are_watched_and_set_by_a_method() {
    let server = Serving::with(&[]);
    let watch = |words: &[&str]| {
        let words: Vec<&str> = ["watch", &server.url]
            .iter()
            .chain(words)
            .copied()
            .collect();
        server.place.run(&words)
    };
    assert_eq!(server.call(&["Panel.set", "value=61"]).code, Some(0));
    let slider = watch(&["Panel.slider", "-n", "1"]);
    assert_eq!(
        (slider.code, &*slider.stdout),
        (Some(0), "61\n"),
        "{}",
        slider.stderr
    );
    let prices = watch(&["Market.prices", "-n", "6"]);
    let metals: Vec<Json> = prices
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["metal"].take())
        .collect();
    assert_eq!(metals.len(), 6, "{}", prices.stderr);
    assert_eq!(metals[0], metals[5], "five metals take turns");
    // All five have had their turn by now.
    let keys = watch(&[
        "Market.prices",
        "--policy",
        "keys",
        "--after",
        "0",
        "-n",
        "5",
    ]);
    assert_eq!(keys.stdout.lines().count(), 5, "{}", keys.stderr);
    let batch = watch(&[
        "Market.prices",
        "--policy",
        "batches",
        "--after",
        "0",
        "-n",
        "1",
    ]);
    let batch: Json = serde_json::from_str(&batch.stdout).unwrap();
    assert!(batch.as_array().unwrap().len() > 1, "{batch}");
    let unknown = watch(&["Market.none"]);
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.stderr.contains("there is no topic or property"),
        "{}",
        unknown.stderr
    );
    let far = server.call(&["Panel.set", "101"]);
    assert!(far.stderr.contains("from 0 to 100"), "{}", far.stderr);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_vault_asks_who_calls_and_is_not_there_beside_a_token() {
    let server = Serving::with(&[]);
    let open = |server: &Serving, headers: &str| {
        let (head, body) = server.ask("GET", "/rest/Vault/open", headers, b"");
        let status = head.split(' ').nth(1).unwrap().to_owned();
        (status, serde_json::from_slice::<Json>(&body).unwrap())
    };
    let refused = |description: &str| {
        let told = json!({"code": "Client.Authentication", "description": description});
        ("401".to_owned(), told)
    };
    assert_eq!(open(&server, ""), refused("send a name and a password"));
    // `ada:wrong`, `ada:secret`.
    let wrong = "Authorization: Basic YWRhOndyb25n\r\n";
    let known = "Authorization: Basic YWRhOnNlY3JldA==\r\n";
    assert_eq!(
        open(&server, wrong),
        refused("the name or the password is wrong")
    );
    assert_eq!(open(&server, known), ("200".to_owned(), json!("gold")));
    let server = Serving::with(&["--token", "let me in"]);
    assert_ne!(open(&server, known).0, "200");
    let (status, told) = open(&server, "Authorization: Bearer let me in\r\n");
    assert_eq!(
        (&*status, &told["code"]),
        ("404", &json!("Client.NoMethod"))
    );
}

#[test]
fn a_link_is_offered_to_pages_and_described() {
    let server = Serving::with(&[]);
    let listed = server.call(&[]).stdout;
    assert!(listed.contains("/link/counter "), "{listed}");
    let (_, described) = server.ask("GET", "/services", "", b"");
    let described: Json = serde_json::from_slice(&described).unwrap();
    assert_eq!(described["links"][0]["name"], "counter");
    // Its first message is a hello, which has the actor of the page.
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
    let handshake = format!(
        "GET /link/counter HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: tamtam-link.3\r\n\r\n"
    );
    stream.get_mut().write_all(handshake.as_bytes()).unwrap();
    let head: Vec<String> = stream
        .by_ref()
        .lines()
        .map(Result::unwrap)
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(head[0].starts_with("HTTP/1.1 101"), "{head:?}");
    let protocol = "sec-websocket-protocol: tamtam-link.3".to_owned();
    assert!(head.contains(&protocol), "{head:?}");
    let mut frame = [0; 2];
    stream.read_exact(&mut frame).unwrap();
    // Whole and binary, of so many bytes; a link that is refused closes behind its hello.
    assert_eq!(frame[0], 0x82);
    let mut hello = vec![0; frame[1].into()];
    stream.read_exact(&mut hello).unwrap();
    let length = u32::from_le_bytes(hello[..4].try_into().unwrap());
    assert_eq!(length as usize, hello.len() - 4, "{hello:?}");
    drop(stream);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn what_is_served_over_tls_is_called_and_watched_if_its_certificate_is_trusted() {
    let place = Place::empty();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (place.path("certificate.pem"), place.path("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let files = [certificate.to_str().unwrap(), key.to_str().unwrap()];
    let server = Serving::with(&["--certificate", files[0], "--key", files[1]]);
    let port = server.url.rsplit_once(':').unwrap().1;
    let url = format!("https://localhost:{port}");
    let trusting = |words: &[&str]| {
        let mut command = place.command(words);
        Ended::of(command.env("SSL_CERT_FILE", &certificate))
    };
    let called = trusting(&["call", &url, "Panel.set", "value=61"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let slider = trusting(&["watch", &url, "Panel.slider", "-n", "1"]);
    assert_eq!(&*slider.stdout, "61\n", "{}", slider.stderr);
    let strange = place.run(&["watch", &url, "Panel.slider", "-n", "1"]);
    assert_ne!(strange.code, Some(0));
    assert!(
        strange.stderr.contains("is not trusted") && strange.stderr.contains("certificate"),
        "{}",
        strange.stderr
    );
    assert_eq!(server.end(), Some(0));
}
