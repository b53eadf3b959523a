//! `tamtam serve --record` and `--replay`: a server outlives itself.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::json;
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::{Message, Packet, Version};

use crate::program::Place;
use crate::serve::Serving;

const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// Stands before a server.
fn recording(server: &str, place: Place) -> Serving {
    let words = [&["serve", "--record", server, "calls.jsonl"], &ANY_PORT[..]].concat();
    Serving::at(place, &words)
}

/// Answers in its place; what it says to people is given, too.
fn replaying(place: Place) -> (Serving, String) {
    let mut command =
        place.command(&[&["serve", "--replay", "calls.jsonl"], &ANY_PORT[..]].concat());
    command.stderr(Stdio::piped());
    let mut serving = Serving::of(place, command);
    let mut said = [0; 4096];
    let mut stderr = serving.program.stderr.take().unwrap();
    let length = stderr.read(&mut said).unwrap();
    (
        serving,
        String::from_utf8_lossy(&said[..length]).into_owned(),
    )
}

/// A packet that calls this, to be answered at `/RESPONSE`.
fn packet(method: &str, argument: &str, response: &str) -> Vec<u8> {
    let packet = Packet {
        version: Version::Amf0,
        headers: vec![],
        messages: vec![Message {
            target: method.into(),
            response: format!("/{response}"),
            value: vec![Amf0::from(argument)].into(),
        }],
    };
    packet.encode().unwrap()
}

fn amf(server: &Serving, body: &[u8]) -> Message {
    let (_, body) = server.ask("POST", "/amf", "Content-Type: application/x-amf\r\n", body);
    Packet::decode(&body, Default::default())
        .unwrap()
        .messages
        .remove(0)
}

fn xml(server: &Serving, argument: &str) -> String {
    let params = format!("<param><value>{argument}</value></param>");
    server.xml_rpc("Echo.echo", &params)
}

#[test]
fn a_recorded_server_is_answered_for_when_it_is_gone() {
    let live = Serving::with(&[]);
    let url = live.url.clone();
    let recorder = recording(&url, Place::empty());
    let csv = "Accept: text/csv\r\n";
    let path = "/rest/Tiles/list?set=palette";
    let table = live.ask("GET", path, csv, b"").1;
    let tiles = amf(&live, &packet("Tiles.list", "rotation", "1"));
    assert_eq!(recorder.ask("GET", path, csv, b"").1, table);
    assert_eq!(
        amf(&recorder, &packet("Tiles.list", "rotation", "1")),
        tiles
    );
    assert_eq!(
        amf(&recorder, &packet("Echo.echo", "hello", "2")).value,
        "hello".into()
    );
    let echo = recorder.json_rpc("Echo.echo", json!([[1, null]]));
    let fault = recorder.json_rpc("Fault.raise", json!([]));
    let answered = xml(&recorder, "hello");
    let packed = recorder.call(&["Tiles.list", "random", "-n", "3"]);
    assert_eq!(packed.code, Some(0), "{}", packed.stderr);

    // The recorder is killed, and the server ends.
    let place = recorder.killed();
    assert_eq!(live.end(), Some(0));
    let (replay, said) = replaying(place);
    assert_eq!(said, format!("tamtam: 7 calls of {url} have an answer\n"));
    assert_eq!(replay.ask("GET", path, csv, b"").1, table);
    let again = amf(&replay, &packet("Tiles.list", "rotation", "77"));
    assert_eq!((&*again.target, again.value), ("/77/onResult", tiles.value));
    assert_eq!(replay.json_rpc("Echo.echo", json!([[1, null]])), echo);
    assert_eq!(replay.json_rpc("Fault.raise", json!([])), fault);
    assert_eq!(xml(&replay, "hello"), answered);
    assert_eq!(
        replay.call(&["Tiles.list", "random", "-n", "3"]).stdout,
        packed.stdout
    );

    // What was never asked is a fault that says so, in each protocol.
    let never = amf(&replay, &packet("Echo.echo", "goodbye", "5"));
    assert_eq!(&*never.target, "/5/onStatus");
    assert_eq!(never.value.get("code"), Some(&"Replay.NeverAsked".into()));
    let never = replay.json_rpc("Echo.echo", json!(["goodbye"]));
    assert_eq!(never["error"]["data"]["code"], "Replay.NeverAsked");
    assert!(xml(&replay, "goodbye").contains("Replay.NeverAsked"));
    let never = replay.call(&["Echo.echo", "goodbye"]);
    assert_eq!(never.code, Some(1));
    assert!(
        never.stderr.starts_with("Replay.NeverAsked: "),
        "{}",
        never.stderr
    );
    assert_eq!(replay.end(), Some(0));
}

#[test]
fn a_torn_entry_is_told_and_cut_off() {
    let live = Serving::with(&[]);
    let recorder = recording(&live.url, Place::empty());
    recorder.json_rpc("Echo.echo", json!(["a"]));
    let place = recorder.killed();
    let path = place.path("calls.jsonl");
    let whole = fs::read(&path).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"at\":\"2026").unwrap();
    let (replay, said) = replaying(place);
    assert!(
        said.contains("was not written to its end, and is left out (11 bytes)"),
        "{said}"
    );
    assert_eq!(replay.json_rpc("Echo.echo", json!(["a"]))["result"], "a");

    let recorder = recording(&live.url, replay.killed());
    assert_eq!(fs::read(&path).unwrap(), whole);
    recorder.json_rpc("Echo.echo", json!(["b"]));
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    assert_eq!(lines, 3);
}

#[test]
fn a_server_of_https_is_recorded_if_its_certificate_is_trusted() {
    let place = Place::empty();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (place.path("certificate.pem"), place.path("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let files = [certificate.to_str().unwrap(), key.to_str().unwrap()];
    let live = Serving::with(&["--certificate", files[0], "--key", files[1]]);
    let port = live.url.rsplit_once(':').unwrap().1.to_owned();
    let url = format!("https://localhost:{port}");
    let words = [&["serve", "--record", &url, "calls.jsonl"], &ANY_PORT[..]].concat();
    let mut trusting = place.command(&words);
    trusting.env("SSL_CERT_FILE", &certificate);
    let recorder = Serving::of(place, trusting);
    assert_eq!(recorder.json_rpc("Echo.echo", json!(["a"]))["result"], "a");
    let place = recorder.killed();

    // Another certificate than those that the system trusts: that is told to the operator.
    let mut distrusting = place.command(&words);
    distrusting.stderr(Stdio::piped());
    let mut recorder = Serving::of(place, distrusting);
    let (head, body) = recorder.ask("GET", "/rest/Echo/echo?value=1", "", b"");
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    assert_eq!(body, b"the server that is recorded gave no answer\n");
    let mut errors = recorder.program.stderr.take().unwrap();
    assert_eq!(recorder.end(), Some(0));
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert!(
        said.contains("WARN") && said.contains("certificate"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_recorded_or_answered_is_told_at_once() {
    let place = Place::empty();
    for (words, part) in [
        (
            &["--record", "game.example", "calls.jsonl"][..],
            "is no URL of a server",
        ),
        (&["--record", "http://game.example"], "2 values"),
        (&["--replay", "none.jsonl"], "none.jsonl"),
        (&["--demo", "--replay", "none.jsonl"], "cannot be used with"),
    ] {
        let ended = place.run(&[&["serve"], words].concat());
        assert_eq!(ended.code, Some(2), "{words:?}");
        assert!(ended.stderr.contains(part), "{words:?}: {}", ended.stderr);
    }
}
