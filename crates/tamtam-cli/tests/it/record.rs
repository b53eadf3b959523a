//! `tamtam serve --record` and `--replay`: a server outlives itself.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::json;
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::{Decoder, Encoder, Message, Packet, PacketEncodeError, Version};

use crate::program::{Ended, Place};
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

/// A packet that has `Shapes.shift` move a place of the class `com.example.Place`, which writes itself.
fn shift(response: &str, by: u8) -> Vec<u8> {
    let place = b"\x0a\x07\x23com.example.Place\0\0\0\x07\x06\x07far";
    let arguments = [b"\x0a\0\0\0\x02\x11", &place[..], &[0x11, 4, by]].concat();
    message("Shapes.shift", response, &arguments)
}

/// A message of Flex that has it do so, with this id before its arguments or behind them.
fn remote_shift(response: &str, id: &str, is_behind: bool) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8 * 2 + 1], text.as_bytes()].concat();
    let named = [
        ("destination", [b"\x06".to_vec(), text("Shapes")].concat()),
        ("operation", [b"\x06".to_vec(), text("shift")].concat()),
        ("messageId", [b"\x06".to_vec(), text(id)].concat()),
        (
            "body",
            b"\x09\x05\x01\x0a\x07\x23com.example.Place\0\0\0\x07\x06\x07far\x04\x01".to_vec(),
        ),
    ];
    let order = if is_behind {
        [0, 1, 3, 2]
    } else {
        [2, 0, 1, 3]
    };
    let mut value = b"\x0a\0\0\0\x01\x11\x0a\x43".to_vec();
    value.extend(text("flex.messaging.messages.RemotingMessage"));
    order
        .iter()
        .for_each(|&index| value.extend(text(named[index].0)));
    order
        .iter()
        .for_each(|&index| value.extend(&named[index].1));
    message("null", response, &value)
}

fn message(target: &str, response: &str, value: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let mut encoder = Encoder::new(&mut packet, Version::Amf3);
    let written = encoder.message_bytes(target, response, |out| {
        out.extend_from_slice(value);
        Ok::<_, PacketEncodeError>(())
    });
    written.unwrap();
    packet
}

/// Where the answer goes, and its bytes.
fn bytes_of(server: &Serving, packet: &[u8]) -> (String, Vec<u8>) {
    let (_, body) = server.ask(
        "POST",
        "/amf",
        "Content-Type: application/x-amf\r\n",
        packet,
    );
    let mut decoder = Decoder::new(&body, Default::default()).unwrap();
    let target = decoder.next_message().unwrap().unwrap().target.to_owned();
    (target, decoder.pass_value().unwrap().to_vec())
}

#[test]
fn what_only_a_class_of_the_server_knows_to_read_is_given_again_and_told_where_it_cannot_be() {
    let live = Serving::with(&[]);
    let url = live.url.clone();
    let place = Place::empty();
    let words = [&["serve", "--record", &url, "calls.jsonl"], &ANY_PORT[..]].concat();
    let mut command = place.command(&words);
    command.stderr(Stdio::piped());
    let mut recorder = Serving::of(place, command);
    let first = bytes_of(&recorder, &shift("/1", 2));
    assert_eq!(first.0, "/1/onResult");
    assert_eq!(first, bytes_of(&live, &shift("/1", 2)));
    let ids = [
        "11111111-2222-4333-8444-555555555555",
        "AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE",
    ];
    let has = |bytes: &[u8], id: &str| bytes.windows(36).any(|part| part == id.as_bytes());
    let flex = bytes_of(&recorder, &remote_shift("/2", ids[0], false));
    assert_eq!(flex.0, "/2/onResult");
    assert!(has(&flex.1, ids[0]));
    bytes_of(&recorder, &remote_shift("/3", ids[0], true));
    let mut errors = recorder.program.stderr.take().unwrap();
    let place = recorder.killed();
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(
        said,
        "tamtam: the answer to POST /amf is recorded, and may not be given again: Shapes.shift: its arguments have a form that \
         only a class of its program knows, and stand before the id of its message\n"
    );

    assert_eq!(live.end(), Some(0));
    let (replay, said) = replaying(place);
    let counts =
        format!("tamtam: 2 calls of {url} have an answer, 1 have one that cannot be given\n");
    assert_eq!(said, counts);
    let again = bytes_of(&replay, &shift("/77", 2));
    assert_eq!(again, ("/77/onResult".to_owned(), first.1));
    assert_eq!(bytes_of(&replay, &shift("/78", 3)).0, "/78/onStatus");
    let again = bytes_of(&replay, &remote_shift("/9", ids[1], false));
    assert_eq!(again.0, "/9/onResult");
    assert!(has(&again.1, ids[1]) && !has(&again.1, ids[0]));
    assert_eq!(again.1.len(), flex.1.len());
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

#[test]
fn a_token_that_a_variable_gives_is_told_by_its_name() {
    let place = Place::empty();
    for what in [&["--replay", "a.jsonl"][..], &["--record", "http://a", "b"]] {
        let words = [&["serve"], what].concat();
        let ended = Ended::of(place.command(&words).env("TAMTAM_TOKEN", "secret"));
        assert_eq!(ended.code, Some(2));
        let told = &ended.stderr;
        assert!(told.contains("env -u TAMTAM_TOKEN"), "{told}");
        let ended = place.run(&[&words[..], &["--token", "secret"]].concat());
        let told = &ended.stderr;
        assert!(told.contains("--token: leave it out"), "{told}");
    }
}
