//! A gateway in a process of its own, whose memory is its alone: bombs, long tables, and honest clients among hostile ones.
//!
//! `TAMTAM_SOAK_SECONDS` makes the table longer, and the last test longer and stricter.

use std::io::{Read, Write};
use std::iter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::{Message, Packet, Version};
use tamtam_gateway::Limits;
use tamtam_rows::{
    Compression, CompressionError, CompressionKind, Compressor, decompress, decompressor,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::apart::{self, Apart, soak_seconds};
use crate::rest;
use crate::world::{kit, request, run, send_over};

pub(crate) const MIB: usize = 1 << 20;
/// What a gateway may take beside what its limits allow.
const BESIDE: usize = 16 * MIB;
/// Clients at a time.
pub(crate) const CLIENTS: usize = 64;
/// Every third of them is hostile.
pub(crate) const HOSTILE: usize = 3;
/// How long a hostile client is borne.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// No test: what the others call, in a process of its own.
#[test]
#[ignore = "the other tests of this module start it"]
fn serves() {
    apart::serve(|| {
        kit().limits(Limits {
            // All come from one address here.
            requests_of_client: 4 * CLIENTS,
            patience: PATIENCE,
            ..Limits::default()
        })
    });
}

/// Compressed bytes of so many zeros, which are never there as a whole.
fn bomb(kind: CompressionKind, mebibytes: usize) -> Vec<u8> {
    let zeros = vec![0; MIB];
    if kind == CompressionKind::Brotli {
        // Streams of brotli cannot be joined, but what lies between two flushes can be there again and again.
        let mut compressor = Compressor::new(kind, kind.usual_level()).unwrap();
        let mut next = || {
            let mut piece = compressor.write(&zeros).unwrap();
            piece.extend(compressor.flush().unwrap());
            piece
        };
        let (first, second, third) = (next(), next(), next());
        assert_eq!(second, third, "from the second on they are alike");
        let last = compressor.finish().unwrap();
        return [first, second.repeat(mebibytes - 1), last].concat();
    }
    let compression = Compression {
        threshold_bytes: 0,
        ..Compression::new(kind)
    };
    compression.compress(zeros).unwrap().bytes.repeat(mebibytes)
}

#[test]
fn a_bomb_holds_what_it_is_said_to_hold() {
    for kind in [
        CompressionKind::Gzip,
        CompressionKind::Zstd,
        CompressionKind::Brotli,
    ] {
        // Small enough to be looked at as a whole; longer ones are made of the same pieces.
        let bomb = bomb(kind, 9);
        let zeros = decompress(kind, &bomb, 9 * MIB).unwrap();
        assert!(zeros == vec![0; 9 * MIB], "{}", kind.name());
        let beyond = decompress(kind, &bomb, 9 * MIB - 1);
        assert!(matches!(beyond, Err(CompressionError::Limit { .. })));
    }
}

#[test]
fn a_bomb_costs_no_more_than_the_limit() {
    run(|| async {
        let server = Apart::start("soak::serves");
        let kinds = [
            CompressionKind::Gzip,
            CompressionKind::Zstd,
            CompressionKind::Brotli,
        ];
        let bombs = kinds.map(|kind| (kind, Bytes::from(bomb(kind, 1_024))));
        for (path, kind_of_body) in [
            ("/jsonrpc", "application/json"),
            ("/xmlrpc", "text/xml"),
            ("/amf", "application/x-amf"),
            ("/rest/Echo/echo", "application/json"),
        ] {
            for (kind, bomb) in &bombs {
                // What an allocator keeps of one bomb is there for the next.
                let (before, _) = server.memory();
                server.forget();
                let request = request("POST", path)
                    .header("content-type", kind_of_body)
                    .header("content-encoding", kind.content_encoding())
                    .body(Full::new(bomb.clone()));
                let stream = TcpStream::connect(server.address).await.unwrap();
                let answered = send_over(stream, request.unwrap()).await;
                // XML-RPC has faults for clients that look at them where the status is 200.
                let status = if path == "/xmlrpc" { 200 } else { 413 };
                assert_eq!(answered.status, status, "{path} {}", kind.name());
                assert!(
                    answered.text().contains("has at most 4194304 bytes"),
                    "{path}"
                );
                let (_, most) = server.memory();
                let allowed = before + Limits::USUAL.body_bytes + BESIDE;
                let name = kind.name();
                assert!(
                    most <= allowed,
                    "{path} {name}: {before} became {most} bytes"
                );
            }
        }
        server.end();
    });
}

#[test]
fn a_server_without_descriptors_accepts_again_when_there_are_some() {
    run(|| async {
        let server = Apart::start("soak::serves");
        // The runtime and the standard streams are open; so are two connections then, and no third one.
        let open = std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap();
        let limit = Rlimit {
            current: Some(open.count() as u64 + 2),
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        let id = Pid::from_raw(server.id() as i32);
        prlimit(id, Resource::Nofile, limit).unwrap();
        let mut connections = Vec::new();
        for _ in 0..6 {
            connections.push(TcpStream::connect(server.address).await.unwrap());
        }
        let mut last = connections.pop().unwrap();
        let asked = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        last.write_all(asked).await.unwrap();
        connections.clear();
        let mut begin = [0; 12];
        last.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
        drop(last);
        server.end();
    });
}

/// Rows of a part of a long table.
const ROWS_OF_A_PART: u32 = 10_000;

/// Parts of a long table: three million rows, or ten in a soak.
fn parts() -> u32 {
    if soak_seconds().is_some() { 1_000 } else { 300 }
}

/// No test: what the next one calls, in a process of its own.
#[test]
#[ignore = "the next test starts it"]
fn serves_a_long_table() {
    apart::serve(|| rest::streaming(parts(), ROWS_OF_A_PART).0);
}

/// The objects in a list that was compressed, which is longer than memory should hold.
fn rows_in(kind: CompressionKind, packed: &[u8]) -> usize {
    let mut reader = decompressor(kind, packed).unwrap();
    let (mut piece, mut rows) = (vec![0; MIB], 0);
    loop {
        match reader.read(&mut piece).expect("it is whole") {
            0 => return rows,
            count => rows += memchr::memchr_iter(b'{', &piece[..count]).count(),
        }
    }
}

#[test]
fn a_long_table_takes_the_memory_of_a_few_parts() {
    /// What no table takes: less than this one has in JSON.
    const MOST: usize = 64 * MIB;
    run(|| async {
        let server = Apart::start("soak::serves_a_long_table");
        // Brotli takes most; without optimization each takes a while.
        let encodings: &[_] = match soak_seconds() {
            Some(_) => &["", "br", "gzip", "zstd"],
            None => &["", "br"],
        };
        let in_json = encodings.iter().map(|kind| ("application/json", *kind));
        for (accept, encoding) in iter::once(("application/vnd.tamtam.rows", "")).chain(in_json) {
            let mut sender = connect(server.address).await;
            let asked = request("GET", "/rest/Stream/all").header("accept", accept);
            let asked = asked.header("accept-encoding", encoding);
            let asked = asked.body(Full::default()).unwrap();
            let response = sender.send_request(asked).await.unwrap();
            assert_eq!(response.status(), 200, "{accept}");
            let kind = CompressionKind::ALL
                .into_iter()
                .find(|kind| kind.content_encoding() == encoding);
            if let Some(kind) = kind {
                assert_eq!(response.headers()["content-encoding"], encoding);
                let packed = response.into_body().collect().await.unwrap().to_bytes();
                let (_, most) = server.memory();
                println!(
                    "{encoding}: {} bytes, {} KiB of memory",
                    packed.len(),
                    most >> 10
                );
                assert!(most <= MOST, "{encoding}: {most} bytes");
                let rows = tokio::task::spawn_blocking(move || rows_in(kind, &packed));
                assert_eq!(rows.await.unwrap(), (parts() * ROWS_OF_A_PART) as usize);
                continue;
            }
            let mut body = response.into_body();
            let (mut bytes, mut rows) = (0, 0);
            while let Some(frame) = body.frame().await {
                let part = frame.expect("the answer is whole").into_data().unwrap();
                bytes += part.len();
                rows += memchr::memchr_iter(b'{', &part).count();
            }
            let (_, most) = server.memory();
            println!("{accept}: {bytes} bytes, {} KiB of memory", most >> 10);
            if accept == "application/json" {
                assert_eq!(rows, (parts() * ROWS_OF_A_PART) as usize);
                assert!(bytes > MOST, "it would have room as a whole");
            }
            assert!(most <= MOST, "{accept}: {most} bytes");
        }
        server.end();
    });
}

/// A call, and what its answer has to be.
struct Call {
    path: &'static str,
    kind: &'static str,
    body: Bytes,
    is_right: fn(&[u8]) -> bool,
}

fn calls() -> Vec<Call> {
    let packet = Packet {
        version: Version::Amf0,
        headers: Vec::new(),
        messages: vec![Message {
            target: "Echo.echo".into(),
            response: "/1".into(),
            value: vec![Amf0::from("a text that comes back")].into(),
        }],
    };
    vec![
        Call {
            path: "/jsonrpc",
            kind: "application/json",
            body: Bytes::from_static(
                br#"{"jsonrpc":"2.0","method":"Sums.add","params":{"left":2,"right":3},"id":1}"#,
            ),
            is_right: |body| {
                let answer: Result<serde_json::Value, _> = serde_json::from_slice(body);
                answer.is_ok_and(|answer| answer["result"]["sum"] == 5)
            },
        },
        Call {
            path: "/amf",
            kind: "application/x-amf",
            body: packet.encode().unwrap().into(),
            is_right: |body| {
                let packet = Packet::decode(body, Default::default());
                let value = Amf0::from("a text that comes back");
                packet.is_ok_and(|packet| packet.messages[0].value == value)
            },
        },
        Call {
            path: "/xmlrpc",
            kind: "text/xml",
            body: Bytes::from_static(
                b"<methodCall><methodName>Echo.echo</methodName><params><param><value><int>7</int></value></param></params></methodCall>",
            ),
            is_right: |body| String::from_utf8_lossy(body).contains("<int>7</int>"),
        },
    ]
}

/// So often each client does what it does in a phase, also where the machine has little time for it.
const LEAST_TIMES: usize = 2;

/// Calls on a connection that is kept, until told to stop; how long each call took.
async fn honest(address: SocketAddr, stop: Arc<AtomicBool>) -> Vec<Duration> {
    let mut sender = connect(address).await;
    let mut times = Vec::new();
    for call in calls().iter().cycle() {
        if stop.load(Ordering::Relaxed) && times.len() >= LEAST_TIMES {
            break;
        }
        let begin = Instant::now();
        let request = request("POST", call.path).header("content-type", call.kind);
        let request = request.body(Full::new(call.body.clone())).unwrap();
        sender.ready().await.expect("the connection is kept");
        let answer = sender.send_request(request).await.expect("an answer");
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let is_right = status == 200 && (call.is_right)(&body);
        assert!(is_right, "{} {status} {body:?}", call.path);
        times.push(begin.elapsed());
        // As clients do: 200 calls a second at most.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    times
}

async fn connect(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

/// What is wrong with the next request of a hostile client.
async fn attack(address: SocketAddr, number: usize) -> std::io::Result<()> {
    let calls = calls();
    let call = &calls[number % calls.len()];
    let head = |length: usize| {
        let (path, kind) = (call.path, call.kind);
        format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let mut stream = TcpStream::connect(address).await?;
    let whole = call.body.len();
    let body: Vec<u8> = match number / calls.len() % 7 {
        // Truncated.
        0 => call.body[..number % whole].to_vec(),
        // A bit is flipped.
        1 => {
            let mut body = call.body.to_vec();
            body[number % whole] ^= 1 << (number % 8);
            body
        }
        // Nested 10,000 deep.
        2 => match call.path {
            "/jsonrpc" => [b"[".repeat(10_000), b"]".repeat(10_000)].concat(),
            "/xmlrpc" => b"<value><array><data>".repeat(10_000),
            _ => {
                let head = b"\0\0\0\0\0\x01\0\x09Echo.echo\0\x02/1\xff\xff\xff\xff";
                [&head[..], &b"\x0a\0\0\0\x01".repeat(10_000)].concat()
            }
        },
        // Four billion values, or as many bytes, are announced within.
        3 => b"\0\0\0\0\0\x01\0\x09Echo.echo\0\x02/1\xff\xff\xff\xff\x0a\xff\xff\xff\xff".to_vec(),
        // 1 GiB is declared, and does not come.
        4 => {
            stream.write_all(head(1 << 30).as_bytes()).await?;
            stream.write_all(&call.body).await?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            return Ok(());
        }
        // A byte now and then.
        5 => {
            for byte in head(whole)
                .bytes()
                .chain(call.body.iter().copied())
                .take(30)
            {
                stream.write_all(&[byte]).await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return Ok(());
        }
        // Much is asked for, and not read.
        _ => {
            let socket = TcpSocket::new_v4()?;
            socket.set_recv_buffer_size(4_096)?;
            let mut stream = socket.connect(address).await?;
            let ask =
                b"GET /rest/Tiles/list?set=palette&count=20000 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
            stream.write_all(ask).await?;
            tokio::time::sleep(PATIENCE / 4).await;
            return Ok(());
        }
    };
    stream.write_all(head(body.len()).as_bytes()).await?;
    stream.write_all(&body).await?;
    let mut answer = [0; 1_024];
    // Whatever it says; that it says something is for other tests.
    let _ = stream.read(&mut answer).await?;
    Ok(())
}

/// What a hostile client does with a gateway there, by its number and how often it did before.
pub(crate) type Attack = fn(SocketAddr, usize, usize) -> BoxFuture<'static, std::io::Result<()>>;

async fn hostile(
    address: SocketAddr,
    attack: Attack,
    client: usize,
    stop: Arc<AtomicBool>,
) -> usize {
    let mut attacks = 0;
    while !stop.load(Ordering::Relaxed) || attacks < LEAST_TIMES {
        // The gateway may hang up at any time.
        let _ = attack(address, client, attacks).await;
        attacks += 1;
    }
    attacks
}

/// All clients, for so long: how long each honest call took, and how many attacks there were.
async fn phase(
    address: SocketAddr,
    time: Duration,
    attack: Option<Attack>,
) -> (Vec<Duration>, usize) {
    let stop = Arc::new(AtomicBool::new(false));
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for client in 0..CLIENTS {
        let stop = Arc::clone(&stop);
        if client % HOSTILE != HOSTILE - 1 {
            good.push(tokio::spawn(honest(address, stop)));
        } else if let Some(attack) = attack {
            bad.push(tokio::spawn(hostile(address, attack, client, stop)));
        }
    }
    tokio::time::sleep(time).await;
    stop.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for client in good {
        times.extend(client.await.expect("each answer is right"));
    }
    let mut attacks = 0;
    for client in bad {
        attacks += client.await.expect("it only attacks");
    }
    times.sort_unstable();
    (times, attacks)
}

fn p99(times: &[Duration]) -> Duration {
    times[times.len() * 99 / 100]
}

/// Honest clients among such as do this, of a gateway that the test of this name serves: each honest call is answered right, and
/// they take no memory that stays; in a soak honest calls take at most so many times as long as without them, if that is bounded.
pub(crate) fn bear(serves: &'static str, attack: Attack, most_times: Option<u32>) {
    let soak = soak_seconds();
    let time = Duration::from_secs(soak.unwrap_or(3));
    let test = move || async move {
        let server = Apart::start(serves);
        let (calm, _) = phase(server.address, time / 3, None).await;
        // Twice the same: what the first one takes, the second one finds.
        server.forget();
        phase(server.address, time / 2, Some(attack)).await;
        let (_, before) = server.memory();
        server.forget();
        let (times, attacks) = phase(server.address, time / 2, Some(attack)).await;
        let (_, most) = server.memory();
        let said = format!(
            "{} calls and {attacks} attacks; p99 {:?} calm, {:?} under attack; {} KiB of memory at most in the first half, {} in the second",
            times.len(),
            p99(&calm),
            p99(&times),
            before >> 10,
            most >> 10
        );
        println!("{said}");
        let _ = std::io::stdout().flush();
        // Those who are honest were answered right: see there.
        assert!(times.len() > CLIENTS && attacks > CLIENTS / 2, "{said}");
        assert!(most <= before + BESIDE + CLIENTS * MIB, "{said}");
        if soak.is_some() {
            if let Some(most_times) = most_times {
                assert!(p99(&times) <= most_times * p99(&calm), "{said}");
            }
            assert!(most <= before + BESIDE, "{said}");
        }
        server.end();
    };
    tamtam_testing::within(4 * time + Duration::from_secs(60), move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(test());
    });
}

#[test]
fn hostile_clients_cost_honest_ones_nothing() {
    let attack: Attack =
        |address, client, attacks| Box::pin(attack(address, 1_000 * client + attacks));
    bear("soak::serves", attack, Some(3));
}
