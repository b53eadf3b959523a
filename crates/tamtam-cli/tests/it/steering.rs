//! What a server says cannot steer the terminal on which `tamtam call` shows it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value as Json, json};
use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{Column, Field, Kind, Rows, Schema};

use crate::program::{Ended, Place};

/// What `tamtam call` shows of a server that answers its one request so.
fn called(words: &[&str], status: &str, content_type: &str, body: &[u8]) -> Ended {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let words = [&["call", &url], words].concat();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            for line in request.by_ref().lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if let Some(bytes) = line.strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            request.read_exact(&mut vec![0; length]).unwrap();
            let head = format!(
                "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body).unwrap();
        });
        Place::empty().run(&words)
    })
}

fn ensure_harmless(text: &str) {
    let steers = |letter: char| letter.is_control() && letter != '\n';
    assert!(!text.contains(steers), "{text:?}");
}

#[test]
fn a_fault_is_shown_without_its_escapes() {
    let fault = json!({
        "code": "Kit\u{1b}[2J",
        "description": "raised\u{9b}31m\non purpose",
        "detail": {"why\u{7f}": "\u{9d}0;title\u{9c}"},
    });
    let ended = called(
        &["Fault.raise"],
        "500 No",
        "application/json",
        fault.to_string().as_bytes(),
    );
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    ensure_harmless(&ended.stderr);
    assert_eq!(
        ended.stderr,
        "Kit·[2J: raised·31m\non purpose\n{\"why\\u007f\":\"\\u009d0;title\\u009c\"}\n"
    );
    // One that stands between answers with what it likes.
    let ended = called(
        &["Fault.raise"],
        "502 No",
        "text/plain",
        b"\x1b]0;title\x07no",
    );
    assert_eq!(ended.stderr, "HTTP.502: ·]0;title·no\n");
}

#[test]
fn an_answer_is_shown_with_escapes_of_json_in_place_of_its_own() {
    let answer = json!({"a\u{9b}31m": ["\u{7f}", "\u{1b}[2J"]});
    let body = answer.to_string();
    let ended = called(&["Kit.get"], "200 OK", "application/json", body.as_bytes());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ensure_harmless(&ended.stdout);
    assert_eq!(serde_json::from_str::<Json>(&ended.stdout).unwrap(), answer);
    assert!(
        ended.stdout.contains("\"a\\u009b31m\": ["),
        "{}",
        ended.stdout
    );
}

#[test]
fn names_of_columns_methods_and_links_are_shown_without_their_escapes() {
    let field = Field::new("n\u{1b}[2J", Kind::U8);
    let columns = [Column::from(vec![7_u8])];
    let rows = Rows::new(Schema::new([field]).unwrap(), columns).unwrap();
    let mut bytes = Vec::new();
    packed::encode(&rows, Mode::Packed, &mut bytes).unwrap();
    let ended = called(
        &["Kit.rows"],
        "200 OK",
        "application/vnd.tamtam.rows",
        &bytes,
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ensure_harmless(&ended.stdout);
    assert!(ended.stdout.contains("n·[2J"), "{}", ended.stdout);

    let described = json!({
        "services": [{
            "name": "Kit\u{1b}[2J",
            "methods": [{"name": "get", "about": "gets\u{9b}31m", "arguments": ["it\u{7f}"]}],
        }],
        "links": [{"name": "counter\u{1b}c", "about": "counts\u{7}"}],
    });
    let body = described.to_string();
    let ended = called(&[], "200 OK", "application/json", body.as_bytes());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ensure_harmless(&ended.stdout);
    assert!(
        ended.stdout.starts_with("Kit·[2J.get(it·) ") && ended.stdout.contains("/link/counter·c "),
        "{}",
        ended.stdout
    );
}
