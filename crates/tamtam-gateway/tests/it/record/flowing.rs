//! Answers of a recorded server that come slowly, or many at a time: what flows is waited for, and what is held of all has a bound.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tamtam_gateway::{Gateway, Limits, Recorder, Replay};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::http2::SOON;
use crate::world::{Running, request, run};

/// A server whose answers come as their paths say.
struct Slow {
    url: String,
    /// Lets what is held go on.
    goes_on: Arc<Notify>,
}

impl Slow {
    async fn start() -> Slow {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let goes_on = Arc::new(Notify::new());
        let told = Arc::clone(&goes_on);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&told)));
            }
        });
        Slow { url, goes_on }
    }
}

/// One request, and the end of the connection.
async fn answer(mut stream: TcpStream, goes_on: Arc<Notify>) {
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        asked.push(stream.read_u8().await.unwrap());
    }
    let asked = String::from_utf8(asked).unwrap();
    let path = asked.split(' ').nth(1).unwrap();
    let (way, length) = path[1..].split_once('/').unwrap();
    let length: usize = length.parse().unwrap();
    let kind = match way {
        "events" => "Text/Event-Stream; charset=utf-8",
        _ => "text/plain",
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let body = vec![b'x'; length];
    let (begin, rest) = body.split_at(length / 2);
    match way {
        "drip" => {
            for byte in &body {
                stream.write_all(&[*byte]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
        }
        "held" | "events" => {
            stream.write_all(begin).await.unwrap();
            goes_on.notified().await;
            stream.write_all(rest).await.unwrap();
        }
        _ => stream.write_all(&body).await.unwrap(),
    }
    let _ = stream.shutdown().await;
}

/// A recorder before it, what it has lost, and where its file is.
async fn recorder_of(
    slow: &Slow,
    time: Duration,
    change: impl FnOnce(Recorder) -> Recorder,
) -> (Running, Arc<Mutex<Vec<String>>>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let losses = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&losses);
    let recorder = Recorder::open(&slow.url, file_in(&folder)).unwrap();
    let recorder = recorder.told(move |loss| heard.lock().unwrap().push(loss.to_string()));
    let limits = Limits {
        time,
        ..Limits::default()
    };
    let gateway = Gateway::new().recorder(change(recorder)).limits(limits);
    (Running::of(gateway).await, losses, folder)
}

fn file_in(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("calls.jsonl")
}

fn recorded_calls(file: &Path) -> usize {
    Replay::open(file).unwrap().call_count()
}

#[test]
fn an_answer_that_flows_may_take_longer_than_a_call() {
    run(|| async {
        let slow = Slow::start().await;
        let time = Duration::from_secs(2);
        let (recorder, losses, folder) = recorder_of(&slow, time, |recorder| recorder).await;
        let begun = std::time::Instant::now();
        let answered = recorder.get("/drip/30", &[]).await;
        assert_eq!((answered.status, answered.body.len()), (200, 30));
        assert!(begun.elapsed() > time);
        assert_eq!(*losses.lock().unwrap(), [""; 0]);
        assert_eq!(recorded_calls(&file_in(&folder)), 1);
    });
}

#[test]
fn an_answer_of_which_nothing_more_comes_is_given_up_in_time() {
    run(|| async {
        let slow = Slow::start().await;
        let time = Duration::from_millis(300);
        let (recorder, _losses, folder) = recorder_of(&slow, time, |recorder| recorder).await;
        assert_eq!(recorder.get("/held/1000", &[]).await.status, 504);
        assert_eq!(recorded_calls(&file_in(&folder)), 0);
    });
}

/// The half of an answer that comes without waiting for the other, and what is to come of it.
async fn half(recorder: &Running, path: &str) -> (Vec<u8>, Incoming) {
    let stream = TcpStream::connect(recorder.address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let asked = request("GET", path).body(Full::<Bytes>::default()).unwrap();
    let answered = sender.send_request(asked).await.unwrap();
    assert_eq!(answered.status(), 200);
    let mut body = answered.into_body();
    let mut begin = Vec::new();
    while begin.len() < 500 {
        let frame = body.frame().await.unwrap().unwrap();
        begin.extend_from_slice(frame.data_ref().unwrap());
    }
    (begin, body)
}

#[test]
fn an_answer_that_passes_unrecorded_and_of_which_nothing_more_comes_is_cut_off_in_time() {
    run(|| async {
        let slow = Slow::start().await;
        let time = Duration::from_millis(300);
        let alone: fn(Recorder) -> Recorder = |recorder| recorder.most_answer_bytes(100);
        let among_all: fn(Recorder) -> Recorder = |recorder| recorder.most_held_bytes(100);
        for change in [alone, among_all] {
            let (recorder, losses, _folder) = recorder_of(&slow, time, change).await;
            let (mut read, mut body) = half(&recorder, "/held/1000").await;
            let ended = async {
                while let Some(frame) = body.frame().await {
                    read.extend_from_slice(frame?.data_ref().unwrap());
                }
                Ok::<_, hyper::Error>(())
            };
            let ended = timeout(SOON, ended).await.expect("it is given up");
            assert!(ended.is_err(), "it has an end as if it were whole");
            assert_eq!(read.len(), 500);
            assert_eq!(losses.lock().unwrap().len(), 1);
        }
    });
}

#[test]
fn events_may_be_apart_for_longer_however_their_type_is_written() {
    run(|| async {
        let slow = Slow::start().await;
        let time = Duration::from_millis(300);
        let (recorder, _losses, _folder) = recorder_of(&slow, time, |recorder| recorder).await;
        let (mut read, mut body) = half(&recorder, "/events/1000").await;
        let silent = timeout(time * 3, body.frame()).await;
        assert!(silent.is_err(), "nothing comes, and it is not cut off");
        slow.goes_on.notify_one();
        while let Some(frame) = body.frame().await {
            read.extend_from_slice(frame.unwrap().data_ref().unwrap());
        }
        assert_eq!(read.len(), 1000);
    });
}

#[test]
fn what_is_held_of_all_answers_is_bounded_and_what_is_beyond_passes() {
    run(|| async {
        let slow = Slow::start().await;
        let time = Duration::from_secs(100);
        let change = |recorder: Recorder| recorder.most_held_bytes(100_000);
        let (recorder, losses, folder) = recorder_of(&slow, time, change).await;
        let file = file_in(&folder);
        // One that is too large for itself.
        let answered = recorder.get("/whole/150000", &[]).await;
        assert_eq!((answered.status, answered.body.len()), (200, 150_000));
        assert_eq!(losses.lock().unwrap().len(), 1);
        let said = losses.lock().unwrap().pop().unwrap();
        assert!(said.contains("100000 bytes"), "{said}");
        assert_eq!(recorded_calls(&file), 0);

        // One half of which is held leaves room for a small one, and for no other.
        let recorder = Arc::new(recorder);
        let whole = async |length: usize| {
            let answered = recorder.get(&format!("/whole/{length}"), &[]).await;
            assert_eq!((answered.status, answered.body.len()), (200, length));
        };
        let (mut large, mut small) = (60_000, 1_000);
        loop {
            let first = Arc::clone(&recorder);
            let first = tokio::spawn(async move { first.get("/held/90000", &[]).await });
            // Until so much of it has come that there is no room.
            while losses.lock().unwrap().is_empty() {
                large += 1;
                whole(large).await;
            }
            // The bytes of one that has passed are given back when they are written, which its client may see before.
            let before = recorded_calls(&file);
            while recorded_calls(&file) == before {
                small += 1;
                whole(small).await;
            }
            slow.goes_on.notify_one();
            let first = first.await.unwrap();
            assert_eq!((first.status, first.body.len()), (200, 90_000));
            let lost = std::mem::take(&mut *losses.lock().unwrap());
            // Else a part of it has come while another one was in memory: once more.
            if !lost.iter().any(|lost| lost.contains("/held")) {
                assert_eq!(recorded_calls(&file), before + 2);
                break;
            }
        }
        let before = recorded_calls(&file);

        // All has gone, or is about to.
        let mut length = 99_000;
        while recorded_calls(&file) == before {
            length += 1;
            whole(length).await;
        }
    });
}
