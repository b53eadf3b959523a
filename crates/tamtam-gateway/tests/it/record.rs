//! Calls of another server, recorded while it lives and answered when it is gone.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, COOKIE, HOST};
use serde_json::json;
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::{Packet, Version};
use tamtam_gateway::{Gateway, Method, Recorder, RecordingError, Replay, Service};
use tempfile::TempDir;

use crate::amf::{AMF, amf3_in, flex, headers, in_amf3, packet, send, with_references};
use crate::http2::{Client, read};
use crate::world::{Running, kit, request, run};

mod flowing;
mod unread;

struct Recorded {
    server: Running,
    recorder: Running,
    path: PathBuf,
    losses: Arc<Mutex<Vec<String>>>,
    _folder: TempDir,
}

impl Recorded {
    async fn of(gateway: Gateway, change: impl FnOnce(Recorder) -> Recorder) -> Recorded {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let server = Running::of(gateway).await;
        let losses = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&losses);
        let recorder = Recorder::open(&format!("http://{}", server.address), &path)
            .unwrap()
            .told(move |loss| heard.lock().unwrap().push(loss.to_string()));
        let recorder = Running::of(Gateway::new().recorder(change(recorder))).await;
        Recorded {
            server,
            recorder,
            path,
            losses,
            _folder: folder,
        }
    }

    /// Ends both, and answers from the file. The folder has to live on.
    async fn replay(&mut self) -> Running {
        self.recorder.end().await;
        self.server.stop();
        Running::of(Gateway::new().replay(Replay::open(&self.path).unwrap())).await
    }
}

const JSON: &str = "application/json";

#[test]
fn what_was_asked_by_json_rpc_is_answered_with_the_id_of_each_call() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let add = r#"{"jsonrpc":"2.0","method":"Sums.add","params":{"left":1,"right":2},"id":1}"#;
        let direct = recorded.server.post("/jsonrpc", JSON, add).await;
        let passed = recorded.recorder.post("/jsonrpc", JSON, add).await;
        assert_eq!((passed.status, &passed.body), (200, &direct.body));
        let batch = r#"[{"jsonrpc":"2.0","method":"Echo.echo","params":[[1.5,"x"]],"id":"a"},
            {"jsonrpc":"2.0","method":"Tiles.list","params":["none"],"id":"b"}]"#;
        recorded.recorder.json_rpc(batch).await;

        let replay = recorded.replay().await;
        let answers = replay
            .json_rpc(
                r#"[{"jsonrpc":"2.0","method":"Tiles.list","params":["none"],"id":70},
                {"jsonrpc":"2.0","method":"Sums.add","params":{"right":2,"left":1.0},"id":71},
                {"jsonrpc":"2.0","method":"Sums.add","params":{"right":3,"left":1},"id":72},
                {"jsonrpc":"2.0","method":"Sums.set","params":[1],"id":73},
                {"jsonrpc":"2.0","method":"Echo.echo","params":[[1.5,"x"]],"id":74}]"#,
            )
            .await;
        assert_eq!(answers[0]["error"]["data"]["code"], "Tiles.NoSet");
        assert_eq!(
            answers[1],
            json!({"jsonrpc": "2.0", "result": {"sum": 3, "is_even": false}, "id": 71})
        );
        let never = &answers[2]["error"];
        assert_eq!(never["data"]["code"], "Replay.NeverAsked");
        assert_eq!(
            never["message"],
            "Sums.add was recorded with other arguments than these"
        );
        assert_eq!(
            answers[3]["error"]["message"],
            "Sums.set was never called while its server was recorded"
        );
        assert_eq!(answers[4]["result"], json!([1.5, "x"]));
        assert_eq!(answers[4]["id"], 74);
    });
}

#[test]
fn what_was_asked_in_packets_of_amf_is_answered_at_the_place_of_each_call() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let list = Amf0::from(vec!["palette".into(), 5.0.into()]);
        let value = Amf0::EcmaArray(vec![
            ("0".into(), 1.0.into()),
            ("b".into(), Amf0::Undefined),
        ]);
        let echo = Amf0::from(vec![value.clone()]);
        let none = Amf0::from(vec!["none".into()]);
        let calls = |order: [usize; 3]| {
            let all = [
                ("Tiles.list", list.clone()),
                ("Echo.echo", echo.clone()),
                ("Tiles.list", none.clone()),
            ];
            packet(Version::Amf0, order.map(|index| all[index].clone()).into())
        };
        let direct = send(&recorded.server, &calls([0, 1, 2])).await;
        assert_eq!(send(&recorded.recorder, &calls([0, 1, 2])).await, direct);
        let three = packet(
            Version::Amf3,
            vec![("Tiles.list", vec![in_amf3("palette"), in_amf3(5)].into())],
        );
        let objects = send(&recorded.recorder, &three).await;

        let replay = recorded.replay().await;
        let again = send(&replay, &calls([2, 0, 1])).await;
        for (index, (target, of)) in [("/1/onStatus", 2), ("/2/onResult", 0), ("/3/onResult", 1)]
            .into_iter()
            .enumerate()
        {
            assert_eq!(again.messages[index].target, target);
            assert_eq!(again.messages[index].value, direct.messages[of].value);
        }
        // Each version has the answer that it got.
        assert_eq!(send(&replay, &three).await, objects);
        // What was asked in version 0 alone is for a client of version 3, too.
        let echo3 = packet(Version::Amf3, vec![("Echo.echo", echo.clone())]);
        let echoed = send(&replay, &echo3).await;
        assert_eq!(echoed.messages[0].value, value);
        let never = packet(Version::Amf0, vec![("Echo.echo", vec![2.0.into()].into())]);
        let never = send(&replay, &never).await.messages.remove(0);
        assert_eq!(never.target, "/1/onStatus");
        assert_eq!(never.value.get("code"), Some(&"Replay.NeverAsked".into()));
    });
}

#[test]
fn references_mean_what_they_mean_to_the_client_that_was_recorded_and_to_the_one_that_asks() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let flash = [("x-flash-version", "11,2,202,235")];
        // The same bytes from Flash Player, to which they say one thing, and from others, to which they say another.
        let ask = async |server: &Running, headers: &[(&str, &str)]| {
            let mut request = request("POST", "/amf").header("content-type", AMF);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let body = Full::new(with_references().into());
            let answered = server.send(request.body(body).unwrap()).await;
            Packet::decode(&answered.body, Default::default())
                .unwrap()
                .messages
                .remove(0)
        };
        let direct = ask(&recorded.recorder, &flash).await;
        let replay = recorded.replay().await;
        assert_eq!(ask(&replay, &flash).await, direct);
        let other = ask(&replay, &[]).await;
        assert_eq!(other.target, "/1/onStatus");
        assert_eq!(other.value.get("code"), Some(&"Replay.NeverAsked".into()));
        // Without references all say the same.
        let asked = vec![direct.value.clone()].into();
        let again = send(&replay, &packet(Version::Amf0, vec![("Echo.echo", asked)])).await;
        assert_eq!(again.messages, [direct]);
    });
}

#[test]
fn messages_of_flex_are_answered_under_the_name_of_the_new_message() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let message = |class: &str, members: &[(&str, Amf3)], id: &str| {
            let own = [
                ("messageId", id.into()),
                ("timestamp", Amf3::Double(f64::from(id.len() as u32))),
                ("headers", headers(id)),
            ];
            let value = in_amf3(flex(class, &[members, &own].concat()));
            packet(Version::Amf3, vec![("null", vec![value].into())])
        };
        let ping = |id| message("CommandMessage", &[("operation", 5.into())], id);
        let add = |left: i32, id| {
            let members = [
                ("destination", "Sums".into()),
                ("operation", "add".into()),
                ("body", vec![Amf3::from(left), 2.into()].into()),
            ];
            message("RemotingMessage", &members, id)
        };
        send(&recorded.recorder, &ping("first")).await;
        let sum = send(&recorded.recorder, &add(40, "second")).await;
        assert_eq!(
            amf3_in(&sum.messages[0].value).get("correlationId"),
            Some(&"second".into())
        );

        let replay = recorded.replay().await;
        let pong = send(&replay, &ping("another")).await.messages.remove(0);
        assert_eq!(pong.target, "/1/onResult");
        assert_eq!(
            amf3_in(&pong.value).get("correlationId"),
            Some(&"another".into())
        );
        let again = send(&replay, &add(40, "later on")).await.messages.remove(0);
        let (again, sum) = (amf3_in(&again.value), amf3_in(&sum.messages[0].value));
        assert_eq!(again.get("body"), sum.get("body"));
        assert_eq!(again.get("correlationId"), Some(&"later on".into()));
        let never = send(&replay, &add(41, "last")).await.messages.remove(0);
        assert_eq!(never.target, "/1/onStatus");
        let never = amf3_in(&never.value);
        assert_eq!(never.get("faultCode"), Some(&"Replay.NeverAsked".into()));
        assert_eq!(never.get("correlationId"), Some(&"last".into()));
    });
}

#[test]
fn xml_rpc_and_urls_are_answered_and_what_was_never_asked_is_told() {
    run(|| async {
        let mut recorded = Recorded::of(kit().compress_above(100), |recorder| recorder).await;
        let call = |text: &str| {
            format!(
                "<?xml version='1.0'?><methodCall><methodName>Echo.echo</methodName><params><param><value>{text}</value></param></params></methodCall>"
            )
        };
        let echoed = recorded.recorder.xml_rpc(call("<string>a</string>")).await;
        let path = "/rest/Tiles/list?set=palette&count=100";
        let headers = [("accept", "text/csv"), ("accept-encoding", "zstd")];
        let direct = recorded.server.get(path, &headers).await;
        let passed = recorded.recorder.get(path, &headers).await;
        assert_eq!(passed.header("content-encoding"), "zstd");
        assert_eq!((passed.status, passed.body), (200, direct.body));
        let fault = recorded.recorder.get("/rest/Tiles/list?set=no", &[]).await;
        let sum = r#"{"left": 1, "right": 2}"#;
        let added = recorded.recorder.post("/rest/Sums/add", JSON, sum).await;

        let replay = recorded.replay().await;
        // A text without a type is the same text.
        assert_eq!(replay.xml_rpc(call("a")).await, echoed);
        let never = replay.xml_rpc(call("b")).await;
        assert!(
            never.contains("<fault>") && never.contains("Replay.NeverAsked: "),
            "{never}"
        );
        // As it was, compressed as this client reads it.
        let plain = replay.get(path, &[("accept", "text/*")]).await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, ""));
        assert!(
            plain.text().starts_with("slot,color\n0,ff8800\n"),
            "{}",
            plain.text()
        );
        let packed = [("accept", "application/vnd.tamtam.rows")];
        assert_eq!(replay.get(path, &packed).await.status, 406);
        let again = replay.get("/rest/Tiles/list?set=no", &[]).await;
        assert_eq!((again.status, again.text()), (500, fault.text()));
        let other_order = r#"{"right":2,"left":1}"#;
        let again = replay.post("/rest/Sums/add", JSON, other_order).await;
        assert_eq!((again.status, again.text()), (200, added.text()));
        let never = replay.get("/rest/Tiles/list?set=other", &[]).await;
        assert_eq!(
            (never.status, &never.json()["code"]),
            (404, &json!("Replay.NeverAsked"))
        );
    });
}

/// The latest form that a client takes was given to all that take several.
#[test]
fn the_form_that_was_asked_for_in_these_words_comes_before_another_one_that_is_taken() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let path = "/rest/Tiles/list?set=palette&count=3";
        let any = [("accept", "*/*")];
        let first = recorded.recorder.get(path, &any).await;
        assert_eq!(first.header("content-type"), JSON);
        let csv = [("accept", "text/csv")];
        let second = recorded.recorder.get(path, &csv).await;
        let replay = recorded.replay().await;
        assert_eq!(replay.get(path, &any).await.text(), first.text());
        assert_eq!(replay.get(path, &csv).await.text(), second.text());
        // In other words it is the latest that is taken.
        let other = [("accept", "text/csv, application/json;q=0.5")];
        assert_eq!(replay.get(path, &other).await.text(), second.text());
    });
}

#[test]
fn the_latest_answer_counts_and_what_is_known_is_not_written_again() {
    run(|| async {
        let count = Mutex::new(0);
        let next = Method::blocking("next", move |(): ()| {
            let mut count = count.lock().unwrap();
            *count += 1;
            Ok::<u32, tamtam_gateway::Fault>(*count / 2)
        });
        let gateway = kit().service(Service::new("Count").with(next));
        let mut recorded = Recorded::of(gateway, |recorder| recorder).await;
        let path = recorded.path.clone();
        let lines = || fs::read_to_string(&path).unwrap().lines().count();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let answer = recorded
                .recorder
                .json_rpc(r#"{"jsonrpc":"2.0","method":"Count.next","id":1}"#)
                .await;
            seen.push((answer["result"].as_u64().unwrap(), lines()));
        }
        // It was 0, 1, 1, 2, 2; the first line is the head.
        assert_eq!(seen, [(0, 2), (1, 3), (1, 3), (2, 4), (2, 4)]);
        let replay = recorded.replay().await;
        let answer = replay.json_rpc(r#"{"jsonrpc":"2.0","method":"Count.next","id":1}"#);
        assert_eq!(answer.await["result"], 2);
        // Who continues it knows it.
        let server = format!("http://{}", recorded.server.address);
        drop(Recorder::open(&server, &recorded.path).unwrap());
        assert_eq!(lines(), 4);
    });
}

#[test]
fn a_torn_last_entry_is_left_out_and_cut_off_and_a_damaged_one_is_named() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        for text in ["a", "b"] {
            let call = json!({"jsonrpc": "2.0", "method": "Echo.echo", "params": [text], "id": 1});
            recorded.recorder.json_rpc(&call.to_string()).await;
        }
        drop(recorded.replay().await);
        let whole = fs::read(&recorded.path).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        // Wherever a crash has cut it off.
        for length in 0..whole.len() {
            fs::write(&recorded.path, &whole[..length]).unwrap();
            if length == 0 {
                assert!(matches!(
                    Replay::open(&recorded.path),
                    Err(RecordingError::Format(_))
                ));
                continue;
            }
            let replay = Replay::open(&recorded.path).unwrap();
            let entries = ends.iter().filter(|&&end| end < length).count();
            assert_eq!(replay.call_count(), entries.saturating_sub(1), "{length}");
            let begin = ends.iter().rev().find(|&&end| end < length);
            let torn = length - begin.map_or(0, |end| end + 1);
            assert_eq!(replay.torn_bytes(), torn as u64, "{length}");
        }
        // A recorder goes on behind what is whole.
        fs::write(&recorded.path, &whole[..whole.len() - 3]).unwrap();
        let server = Running::of(kit()).await;
        let recorder = Recorder::open(&format!("http://{}", server.address), &recorded.path);
        let recorder = recorder.unwrap();
        assert!(recorder.torn_bytes() > 0);
        let before = format!("http://{}", recorded.server.address);
        assert_eq!(recorder.other_server(), Some(&*before));
        let mut recorder = Running::of(Gateway::new().recorder(recorder)).await;
        let call = r#"{"jsonrpc":"2.0","method":"Echo.echo","params":["c"],"id":1}"#;
        recorder.json_rpc(call).await;
        recorder.end().await;
        let replay = Replay::open(&recorded.path).unwrap();
        assert_eq!((replay.call_count(), replay.torn_bytes()), (2, 0));

        let text = String::from_utf8(whole)
            .unwrap()
            .replacen("\"answer\"", "\"anwser\"", 1);
        fs::write(&recorded.path, text).unwrap();
        let error = Replay::open(&recorded.path).unwrap_err().to_string();
        assert!(
            error.starts_with("line 2 of ") && error.contains("delete the line"),
            "{error}"
        );
        fs::write(&recorded.path, "set,palette\n").unwrap();
        let error = Recorder::open("http://127.0.0.1:1", &recorded.path).unwrap_err();
        assert!(matches!(error, RecordingError::Format(_)), "{error}");
        assert_eq!(fs::read(&recorded.path).unwrap(), b"set,palette\n");
    });
}

#[test]
fn secrets_of_headers_pass_and_are_not_written() {
    run(|| async {
        let check = tamtam_gateway::bearer("let me in");
        let recorded = Recorded::of(kit().authorize(check), |recorder| recorder).await;
        let refused = recorded
            .recorder
            .get("/rest/Sums/add?left=1&right=2", &[])
            .await;
        assert_eq!(refused.status, 401);
        let headers = [
            (AUTHORIZATION.as_str(), "Bearer let me in"),
            (COOKIE.as_str(), "session=secret"),
        ];
        let passed = recorded
            .recorder
            .get("/rest/Sums/add?left=1&right=2", &headers)
            .await;
        assert_eq!(passed.status, 200, "{}", passed.text());
        let text = fs::read_to_string(&recorded.path).unwrap();
        assert_eq!(text.lines().count(), 2, "the refusal is no answer: {text}");
        assert!(
            !text.contains("let me in") && !text.contains("secret"),
            "{text}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&recorded.path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    });
}

#[test]
fn what_is_too_large_passes_and_is_told() {
    run(|| async {
        let small = |recorder: Recorder| recorder.most_answer_bytes(1_000).most_bytes(3_000);
        let recorded = Recorded::of(kit(), small).await;
        let path = "/rest/Tiles/list?set=palette&count=";
        let large = recorded.recorder.get(&format!("{path}5000"), &[]).await;
        assert_eq!(large.json().as_array().unwrap().len(), 5_000);
        let told = |part: &str| {
            let losses = recorded.losses.lock().unwrap();
            losses.iter().any(|loss| loss.contains(part))
        };
        assert!(told("it has more than 1000 bytes"), "{:?}", recorded.losses);
        for count in 1..10 {
            let answered = recorded.recorder.get(&format!("{path}{count}"), &[]).await;
            assert_eq!(answered.status, 200);
        }
        assert!(
            told("the recording has reached its 3000 bytes"),
            "{:?}",
            recorded.losses
        );
        assert!(fs::metadata(&recorded.path).unwrap().len() <= 3_000);
        assert!(Replay::open(&recorded.path).unwrap().call_count() > 1);
    });
}

#[test]
fn a_server_that_is_gone_and_a_page_of_elsewhere_are_told() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let path = "/rest/Sums/add?left=1&right=2";
        let page = [("origin", "https://elsewhere.example")];
        assert_eq!(recorded.recorder.get(path, &page).await.status, 403);
        let odd = Request::get(path).header(HOST, "elsewhere.example");
        let odd = recorded
            .recorder
            .send(odd.body(Default::default()).unwrap())
            .await;
        assert_eq!(odd.status, 421);
        recorded.server.stop();
        // Its socket closes when the server has seen the word.
        let gone = loop {
            let answered = recorded.recorder.get(path, &[]).await;
            if answered.status != 200 {
                break answered;
            }
        };
        assert_eq!(gone.status, 502);
        // Why is told in the log, and names the server.
        assert_eq!(gone.text(), "the server that is recorded gave no answer\n");
        for wrong in [
            "game.example",
            "ftp://game.example",
            "http://",
            "http://a/?b=c",
        ] {
            let error = Recorder::open(wrong, recorded.path.with_extension("other"));
            assert!(matches!(error, Err(RecordingError::Url(_))), "{wrong}");
        }
    });
}

#[test]
fn a_file_has_one_recorder_at_a_time() {
    run(|| async {
        let mut recorded = Recorded::of(kit(), |recorder| recorder).await;
        let call = r#"{"jsonrpc":"2.0","method":"Echo.echo","params":["a"],"id":1}"#;
        recorded.recorder.json_rpc(call).await;
        let whole = fs::read(&recorded.path).unwrap();
        let url = format!("http://{}", recorded.server.address);
        let error = Recorder::open(&url, &recorded.path).unwrap_err();
        assert!(matches!(error, RecordingError::InUse(_)), "{error}");
        let file = recorded.path.display().to_string();
        assert!(error.to_string().contains(&file), "{error}");
        assert_eq!(fs::read(&recorded.path).unwrap(), whole);
        // A replay reads what there is.
        assert_eq!(Replay::open(&recorded.path).unwrap().call_count(), 1);
        recorded.recorder.end().await;
        drop(Recorder::open(&url, &recorded.path).unwrap());
    });
}

/// A server that is none of ours: it answers calls of JSON-RPC by the path at which they came, and all else with two lines of one header.
async fn other_server() -> String {
    let respond = |method: hyper::Method, uri: hyper::Uri, body: String| async move {
        let path = uri.path().to_owned();
        let answer = match serde_json::from_str::<serde_json::Value>(&body) {
            Ok(call) => {
                let answers_alike = call["method"] == "alike";
                let result = if answers_alike { "same" } else { &*path };
                json!({"jsonrpc": "2.0", "id": call["id"], "result": result}).to_string()
            }
            Err(_) => path.repeat(50),
        };
        let mut response = hyper::Response::builder()
            .header("link", "</a>; rel=a")
            .header("link", "</b>; rel=b");
        if method == hyper::Method::HEAD {
            response = response.header("content-length", answer.len());
        }
        let body = if method == hyper::Method::HEAD {
            axum::body::Body::empty()
        } else {
            answer.into()
        };
        response.body(body).unwrap()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().fallback(respond);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[test]
fn cookies_of_http_2_reach_the_other_server_in_one_line() {
    run(|| async {
        // Each line of it that has come.
        let respond = |headers: hyper::HeaderMap| async move {
            let lines = headers.get_all(COOKIE).iter();
            let lines: Vec<_> = lines
                .map(|line| line.to_str().unwrap().to_owned())
                .collect();
            json!(lines).to_string()
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new().fallback(respond);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::open(&url, folder.path().join("calls.jsonl")).unwrap();
        let recorder = Running::of(Gateway::new().recorder(recorder)).await;
        let mut client = Client::with_window(recorder.address, 64 << 10).await;
        let asked = Request::get(format!("http://{}/place", recorder.address))
            .header(COOKIE, "a=1")
            .header(COOKIE, "b=2");
        let answered = client.sender.send_request(asked.body(()).unwrap(), true);
        let mut body = answered.unwrap().0.await.unwrap().into_body();
        let mut told = Vec::new();
        while let Some(bytes) = read(&mut body).await {
            told.extend_from_slice(&bytes.unwrap());
        }
        assert_eq!(told, br#"["a=1; b=2"]"#);
    });
}

#[test]
fn the_path_of_a_call_says_which_answer_it_gets() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recorder = Recorder::open(&other_server().await, &path).unwrap();
        let mut recorder = Running::of(Gateway::new().recorder(recorder)).await;
        let call = |method: &str| json!({"jsonrpc": "2.0", "method": method, "id": 1}).to_string();
        for at in ["/one", "/other"] {
            for method in ["alike", "different"] {
                recorder.post(at, JSON, call(method)).await;
            }
        }
        recorder.end().await;
        let replay = Running::of(Gateway::new().replay(Replay::open(&path).unwrap())).await;
        for at in ["/one", "/other"] {
            let answered = replay.post(at, JSON, call("different")).await.json();
            assert_eq!(answered["result"], at);
        }
        let answered = replay.post("/third", JSON, call("alike")).await.json();
        assert_eq!(answered["result"], "same");
        let answered = replay.post("/third", JSON, call("different")).await.json();
        let error = &answered["error"];
        assert_eq!(error["data"]["code"], "Replay.NeverAsked", "{answered}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("other paths"), "{message}");
    });
}

#[test]
fn each_line_of_a_header_and_the_length_of_what_does_not_come_are_kept() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recorder = Recorder::open(&other_server().await, &path).unwrap();
        let mut recorder = Running::of(Gateway::new().recorder(recorder)).await;
        let told = async |server: &Running, method: &str| {
            let request = crate::world::request(method, "/place");
            let answered = server.send(request.body(Default::default()).unwrap()).await;
            let links = answered.headers.get_all("link").iter().cloned();
            let links: Vec<_> = links.collect();
            (answered.header("content-length").to_owned(), links)
        };
        let recorded = [told(&recorder, "GET").await, told(&recorder, "HEAD").await];
        for (length, links) in &recorded {
            assert_eq!((&**length, links.len()), ("300", 2));
        }
        recorder.end().await;
        let replay = Running::of(Gateway::new().replay(Replay::open(&path).unwrap())).await;
        let replayed = [told(&replay, "GET").await, told(&replay, "HEAD").await];
        assert_eq!(replayed, recorded);
    });
}
