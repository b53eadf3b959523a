//! Tables that `tamtam serve` takes out of a database: what fails is told to the operator alone, and no query outlives its client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::program::Place;
use crate::serve::Serving;

fn database(place: &Place, script: &str) {
    let connection = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    connection.execute_batch(script).unwrap();
}

fn serving(place: Place, words: &[&str]) -> Serving {
    let usual = ["serve", "--listen", "127.0.0.1:0", "--db", "shop.db"];
    let mut command: Command = place.command(&[&usual[..], words].concat());
    command.stderr(Stdio::piped());
    Serving::of(place, command)
}

#[test]
fn why_a_query_failed_is_told_to_the_operator_and_not_to_its_clients() {
    for (options, told) in [
        (&["--log", "warn"][..], true),
        (&[][..], true),
        (&["--log", "off"][..], false),
    ] {
        let place = Place::empty();
        database(&place, "create table numbers (n integer)");
        let words = [&["--table", "numbers"][..], options].concat();
        let mut server = serving(place, &words);
        let mut errors = server.program.stderr.take().unwrap();
        database(&server.place, "drop table numbers");
        let (head, body) = server.ask("GET", "/rest/Tables/numbers", "", b"");
        assert!(head.starts_with("HTTP/1.1 500"), "{head}");
        let body = String::from_utf8(body).unwrap();
        let by_json_rpc = server.json_rpc("Tables.numbers", json!([])).to_string();
        for answer in [&body, &by_json_rpc] {
            assert!(answer.contains("the rows could not be read"), "{answer}");
            assert!(!answer.contains("no such table"), "{answer}");
        }
        assert_eq!(server.end(), Some(0));
        let mut said = String::new();
        errors.read_to_string(&mut said).unwrap();
        if told {
            assert_eq!(said.lines().count(), 2, "{said}");
            for line in said.lines() {
                assert!(
                    line.contains("ERROR") && line.contains("Tables.numbers"),
                    "{line}"
                );
                assert!(line.contains("no such table: numbers"), "{line}");
            }
        } else {
            assert_eq!(said, "");
        }
    }
}

/// How many queries of this process run.
#[cfg(target_os = "linux")]
fn queries(process: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    // A thread that has ended meanwhile has no name.
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim() == "query").count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_query_that_gives_nothing_ends_with_its_client_and_with_its_time() {
    tamtam_testing::within(std::time::Duration::from_secs(120), silent_query);
}

#[cfg(target_os = "linux")]
fn silent_query() {
    /// As long as numbers are below the bound, none of which is given.
    const QUERY: &str = "with recursive c(n) as
        (select 1 union all select n + 1 from c where n < (select most from bound)) select n from c where n < 0";
    let place = Place::empty();
    database(
        &place,
        "create table bound (most integer); insert into bound values (1)",
    );
    let mut server = serving(place, &["--query", QUERY, "--time", "2"]);
    let process = server.program.id();
    let wait_for = |count: usize| {
        while queries(process) != count {
            std::thread::yield_now();
        }
    };
    let (_, none) = server.ask("GET", "/rest/Query/rows", "", b"");
    assert_eq!(none, b"[]");
    wait_for(0);
    database(&server.place, "update bound set most = 1000000000000000000");
    // It leaves before its time is over.
    let address = server.url.strip_prefix("http://").unwrap();
    let mut leaving = TcpStream::connect(address).unwrap();
    write!(
        leaving,
        "GET /rest/Query/rows HTTP/1.1\r\nHost: {address}\r\n\r\n"
    )
    .unwrap();
    wait_for(1);
    drop(leaving);
    wait_for(0);
    for (path, headers, body) in [
        ("/rest/Query/rows", "", ""),
        (
            "/jsonrpc",
            "Content-Type: application/json\r\n",
            r#"{"jsonrpc":"2.0","method":"Query.rows","id":1}"#,
        ),
    ] {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let (_, answer) = server.ask(method, path, headers, body.as_bytes());
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains("there was no answer in time"), "{answer}");
        wait_for(0);
    }
    let mut errors = server.program.stderr.take().unwrap();
    assert_eq!(server.end(), Some(0));
    // That a query was ended is no failure of the database.
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[cfg(target_os = "linux")]
#[test]
fn queries_whose_clients_have_left_before_they_could_begin_have_a_bound() {
    tamtam_testing::within(std::time::Duration::from_secs(120), locked_out);
}

#[cfg(target_os = "linux")]
fn locked_out() {
    /// Queries of one method at a time.
    const MOST: usize = 256;
    let place = Place::empty();
    database(
        &place,
        "create table numbers (n integer); insert into numbers values (7)",
    );
    let server = serving(place, &["--table", "numbers"]);
    let process = server.program.id();
    let lock = rusqlite::Connection::open(server.place.path("shop.db")).unwrap();
    lock.execute_batch("begin exclusive").unwrap();
    let address = server.url.strip_prefix("http://").unwrap();
    let ask = format!("GET /rest/Tables/numbers HTTP/1.1\r\nHost: {address}\r\n\r\n");
    // Each begins another query, and leaves, until one is told that there are too many.
    let told = loop {
        let before = queries(process);
        assert!(before <= MOST, "{before} queries");
        let mut leaving = TcpStream::connect(address).unwrap();
        leaving.set_nonblocking(true).unwrap();
        leaving.write_all(ask.as_bytes()).unwrap();
        let mut said = [0; 4096];
        let answered = loop {
            match leaving.read(&mut said) {
                Ok(length) => break Some(String::from_utf8_lossy(&said[..length]).into_owned()),
                Err(_) if queries(process) != before => break None,
                Err(_) => std::thread::yield_now(),
            }
        };
        match answered {
            // The server has not seen yet that others have left.
            Some(answer) if answer.contains("the server has too much to do") => {}
            Some(answer) if answer.starts_with("HTTP/1.1 503") => break answer,
            Some(answer) => panic!("{answer}"),
            None => {}
        }
    };
    assert!(told.contains("too many queries"), "{told}");
    assert!(queries(process) <= MOST);
    lock.execute_batch("rollback").unwrap();
    // What has ended has given its place back.
    let answered = loop {
        let (head, body) = server.ask("GET", "/rest/Tables/numbers", "", b"");
        if head.starts_with("HTTP/1.1 200") {
            break String::from_utf8(body).unwrap();
        }
    };
    assert!(answered.contains("{\"n\":7}"), "{answered}");
    assert_eq!(server.end(), Some(0));
}
