//! Tables that come part by part, compressed on their way: the same bytes, in time, and no faster than their client reads.

use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tamtam_gateway::{Client, Fault, Gateway, Limits, Method, RowSink, RowStream, Service};
use tamtam_rows::{Column, CompressionKind, Field, Kind, Rows, Schema, decompress, decompressor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;

use crate::rest::streaming;
use crate::world::{Running, look_again, request, run, tiles};

const KINDS: [CompressionKind; 3] = [
    CompressionKind::Gzip,
    CompressionKind::Zstd,
    CompressionKind::Brotli,
];

#[test]
fn a_long_table_is_compressed_on_its_way_as_the_client_reads_it_and_has_the_same_bytes() {
    run(|| async {
        // Less than a kilobyte of a part is left by the packed encoding.
        let (gateway, _) = streaming(40, 1_000);
        let server = Running::of(gateway.compress_above(4_000)).await;
        for accept in [
            "application/json",
            "application/jsonl",
            "text/csv",
            "application/vnd.tamtam.rows",
            "application/vnd.apache.arrow.stream",
        ] {
            let accept = ("accept", accept);
            let plain = server.get("/rest/Stream/all", &[accept]).await;
            assert_eq!(plain.header("content-encoding"), "");
            for kind in KINDS {
                let name = kind.content_encoding();
                let encoding = ("accept-encoding", name);
                let answered = server.get("/rest/Stream/all", &[accept, encoding]).await;
                assert_eq!(answered.status, 200);
                assert_eq!(answered.header("content-encoding"), name, "{accept:?}");
                assert_eq!(answered.header("content-length"), "", "it is not held");
                assert_eq!(answered.header("etag"), "");
                assert_eq!(
                    answered.header("content-type"),
                    plain.header("content-type")
                );
                assert!(answered.header("vary").contains("accept-encoding"));
                assert!(
                    answered.body.len() < plain.body.len() / 2,
                    "{accept:?} {name}: {} of {} bytes",
                    answered.body.len(),
                    plain.body.len()
                );
                let unpacked = decompress(kind, &answered.body, plain.body.len()).unwrap();
                assert!(unpacked == plain.body, "{accept:?} {name}");
            }
        }
        for other in ["deflate", "gzip;q=0", "identity"] {
            let encoding = ("accept-encoding", other);
            let answered = server.get("/rest/Stream/all", &[encoding]).await;
            assert_eq!(answered.header("content-encoding"), "", "{other}");
        }
    });
}

#[test]
fn our_client_a_post_a_head_and_a_range_of_a_long_table_have_it_compressed_too() {
    run(|| async {
        let (gateway, _) = streaming(40, 1_000);
        let server = Running::of(gateway).await;
        let client = Client::connect(&format!("http://{}", server.address)).await;
        let rows = client.unwrap().rows("Stream.all", &()).await.unwrap();
        assert_eq!(rows.len(), 40_000);
        assert_eq!(rows.part(7_000..8_000), tiles(1_000));

        let ask = async |method: &str| {
            let asked = request(method, "/rest/Stream/all").header("accept-encoding", "gzip");
            let asked = asked.header("content-type", "application/json");
            server.send(asked.body(Full::default()).unwrap()).await
        };
        let (by_get, by_post) = (ask("GET").await, ask("POST").await);
        assert_eq!(by_post.header("content-encoding"), "gzip");
        let unpacked = |body: &[u8]| decompress(CompressionKind::Gzip, body, 16 << 20).unwrap();
        assert!(unpacked(&by_get.body) == unpacked(&by_post.body));
        let head = ask("HEAD").await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        for name in ["content-encoding", "content-type", "vary"] {
            assert_eq!(head.header(name), by_get.header(name), "{name}");
        }
        let range = [("accept-encoding", "gzip"), ("range", "rows=900-2899")];
        let part = server.get("/rest/Stream/all", &range).await;
        assert_eq!(
            (part.status, part.header("content-encoding")),
            (206, "gzip")
        );
        assert_eq!(part.header("content-range"), "rows 900-2899/40000");
        let part: serde_json::Value = serde_json::from_slice(&unpacked(&part.body)).unwrap();
        assert_eq!(part.as_array().map(Vec::len), Some(2_000));
        assert_eq!(part[100]["slot"], 0);
    });
}

/// Asks until the answer is as wanted: the gateway waits for a source for a moment only, and the machine may be busier than that.
async fn asked_until(
    server: &Running,
    headers: &[(&str, &str)],
    is_wanted: impl Fn(&crate::world::Answered) -> bool,
) -> crate::world::Answered {
    for _ in 0..200 {
        let answered = server.get("/rest/Stream/all", headers).await;
        if is_wanted(&answered) {
            return answered;
        }
    }
    panic!("no answer is as wanted: {headers:?}");
}

#[test]
fn a_short_table_in_parts_is_held_back_and_not_compressed() {
    run(|| async {
        // Less than 25 KiB, in parts.
        let (gateway, _) = streaming(5, 100);
        let server = Running::of(gateway).await;
        let plain = server.get("/rest/Stream/all", &[]).await;
        assert!((10_000..20_000).contains(&plain.body.len()));
        for kind in KINDS {
            let encoding = ("accept-encoding", kind.content_encoding());
            let is_plain =
                |answered: &crate::world::Answered| answered.header("content-encoding").is_empty();
            let answered = asked_until(&server, &[encoding], is_plain).await;
            assert!(answered.body == plain.body);
            assert!(answered.header("vary").contains("accept-encoding"));
            // It was all there before anything was sent.
            let length = plain.body.len().to_string();
            assert_eq!(answered.header("content-length"), length);
        }
        // With a lower threshold it is compressed, as any answer that is there as a whole.
        let (gateway, _) = streaming(5, 100);
        let server = Running::of(gateway.compress_above(10_000)).await;
        let gzip = ("accept-encoding", "gzip");
        let answered = server.get("/rest/Stream/all", &[gzip]).await;
        assert_eq!(answered.header("content-encoding"), "gzip");
        let unpacked = decompress(CompressionKind::Gzip, &answered.body, 1 << 20);
        assert!(unpacked.unwrap() == plain.body);
    });
}

#[test]
fn what_does_not_get_smaller_and_what_no_threshold_reaches_goes_as_it_is() {
    run(|| async {
        let (gateway, _) = streaming(40, 1_000);
        let server = Running::of(gateway.compress_above(usize::MAX)).await;
        let encoding = ("accept-encoding", "gzip, zstd, br");
        let answered = server.get("/rest/Stream/all", &[encoding]).await;
        assert_eq!(answered.header("content-encoding"), "");

        let server = Running::of(endless_noise(20).0).await;
        for accept in [
            "application/vnd.tamtam.rows",
            "application/vnd.apache.parquet",
        ] {
            let accept = ("accept", accept);
            let plain = server.get("/rest/Noise/all", &[accept]).await;
            let answered = server.get("/rest/Noise/all", &[accept, encoding]).await;
            assert_eq!(answered.header("content-encoding"), "", "{accept:?}");
            assert!(answered.body == plain.body && plain.body.len() > 1_000_000);
        }
    });
}

/// A connection and an answer on its way, of whose body nothing is read yet.
async fn begin(
    server: &Running,
    path: &str,
    encoding: &str,
) -> hyper::Result<(SendRequest<Full<Bytes>>, hyper::Response<Incoming>)> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.unwrap();
    tokio::spawn(connection);
    let asked = request("GET", path).header("accept-encoding", encoding);
    let asked = asked.header("accept", "text/csv");
    let response = sender.send_request(asked.body(Full::default()).unwrap());
    let response = response.await?;
    Ok((sender, response))
}

#[test]
fn rows_of_a_slow_source_are_read_before_the_next_ones_are_made() {
    run(|| async {
        for kind in KINDS {
            for of in [1, 2_000, 7] {
                let (release, released) = mpsc::channel::<()>();
                let gates = Arc::new(std::sync::Mutex::new(Some(released)));
                let slow = Method::blocking("slow", move |(): ()| {
                    let released = gates.lock().unwrap().take().unwrap();
                    let schema = tiles(0).schema().clone();
                    Ok::<_, Fault>(RowStream::new(schema, move |sink| {
                        for _ in 0..5 {
                            sink.send(tiles(of))?;
                            // What was sent is with the client.
                            released.recv().unwrap();
                        }
                        Ok(())
                    }))
                });
                let service = Service::new("Stream").with(slow.safe());
                let server = Running::of(Gateway::new().service(service)).await;
                let encoding = kind.content_encoding();
                let begun = begin(&server, "/rest/Stream/slow", encoding).await;
                let (_sender, response) = begun.unwrap();
                assert_eq!(response.headers()["content-encoding"], encoding);
                let mut body = response.into_body();
                let (mut came, mut lines) = (Vec::new(), 0);
                for parts in 1..=5 {
                    // The head of the table is a line, too.
                    let wanted = 1 + parts * of as usize;
                    while lines < wanted {
                        let frame = body.frame().await.expect("more rows come").unwrap();
                        came.extend_from_slice(frame.data_ref().unwrap());
                        lines = lines_in(kind, &came);
                    }
                    assert_eq!(lines, wanted);
                    release.send(()).unwrap();
                }
                while let Some(frame) = body.frame().await {
                    came.extend_from_slice(frame.unwrap().data_ref().unwrap());
                }
                // It has its end, too.
                let all = decompress(kind, &came, 1 << 20).unwrap();
                assert_eq!(memchr::memchr_iter(b'\n', &all).count(), lines);
            }
        }
    });
}

/// How many lines can be read of what has come so far.
fn lines_in(kind: CompressionKind, came: &[u8]) -> usize {
    let mut text = Vec::new();
    let mut reader = decompressor(kind, came).unwrap();
    let mut piece = [0; 1_024];
    // The end has not come: what was read before the error is what there is.
    while let Ok(count @ 1..) = reader.read(&mut piece) {
        text.extend_from_slice(&piece[..count]);
    }
    memchr::memchr_iter(b'\n', &text).count()
}

/// A service whose table has that many parts of numbers that cannot be made much smaller; how many were taken; and what is told when
/// its source ends.
fn endless_noise(parts: u32) -> (Gateway, Arc<AtomicU32>, Arc<Notify>) {
    let (taken, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let (counted, told) = (Arc::clone(&taken), Arc::clone(&ended));
    let all = Method::blocking("all", move |(): ()| {
        let (counted, told) = (Arc::clone(&counted), Arc::clone(&told));
        let schema = Schema::new([Field::new("noise", Kind::U64)]).unwrap();
        Ok::<_, Fault>(RowStream::new(schema.clone(), move |sink| {
            let mut state = 1_u64;
            for _ in 0..parts {
                if sink.send(noise(&schema, &mut state)).is_err() {
                    break;
                }
                counted.fetch_add(1, Ordering::SeqCst);
            }
            told.notify_one();
            Ok(())
        }))
    });
    let service = Service::new("Noise").with(all.safe());
    (Gateway::new().service(service), taken, ended)
}

/// 10,000 numbers by the generator SplitMix64.
fn noise(schema: &Schema, state: &mut u64) -> Rows {
    let numbers = (0..10_000).map(|_| {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    });
    let numbers: Vec<u64> = numbers.collect();
    Rows::new(schema.clone(), [Column::from(numbers)]).unwrap()
}

/// More parts than sockets, compressors and the gateway together hold.
const ENDLESS: u32 = 100_000;

#[test]
fn a_client_that_does_not_read_what_is_compressed_stops_the_source() {
    run(|| async {
        // The kinds differ in what they hold, and that is some MiB; brotli takes longest to fill what lies between.
        for kind in [CompressionKind::Gzip, CompressionKind::Zstd] {
            let limits = Limits {
                patience: Duration::from_millis(500),
                ..Limits::default()
            };
            let (gateway, taken, ended) = endless_noise(ENDLESS);
            let server = Running::of(gateway.limits(limits)).await;
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(4_096).unwrap();
            let mut stream = socket.connect(server.address).await.unwrap();
            let name = kind.content_encoding();
            let ask = format!(
                "GET /rest/Noise/all HTTP/1.1\r\nhost: localhost\r\naccept: text/csv\r\naccept-encoding: {name}\r\n\r\n"
            );
            stream.write_all(ask.as_bytes()).await.unwrap();
            // It neither reads nor goes: the source waits, until the gateway bears that no longer.
            ended.notified().await;
            let taken = taken.load(Ordering::SeqCst);
            assert!(taken < 1_000, "{name}: {taken} parts of 200 KB were taken");
            let mut came = Vec::new();
            let _ = stream.read_to_end(&mut came).await;
            let said = format!("content-encoding: {name}\r\n");
            let head = String::from_utf8_lossy(&came[..came.len().min(1_000)]).into_owned();
            assert!(head.contains(&said), "{head}");
        }
    });
}

#[test]
fn a_client_that_leaves_ends_the_source_of_what_is_compressed() {
    run(|| async {
        for kind in KINDS {
            let (gateway, taken, ended) = endless_noise(ENDLESS);
            let server = Running::of(gateway).await;
            let begun = begin(&server, "/rest/Noise/all", kind.content_encoding()).await;
            let (sender, response) = begun.unwrap();
            let mut body = response.into_body();
            let mut bytes = 0;
            while bytes < 200_000 {
                let frame = body.frame().await.expect("more comes").unwrap();
                bytes += frame.data_ref().unwrap().remaining();
            }
            drop((body, sender));
            ended.notified().await;
            assert!(taken.load(Ordering::SeqCst) < ENDLESS);
            // Nor does the request count as worked on.
            let is_over = async || {
                let metrics = server.get("/metrics", &[]).await;
                metrics.text().contains("requests_at_work 0\n")
            };
            while !is_over().await {
                look_again().await;
            }
        }
    });
}

#[test]
fn a_source_that_fails_while_its_rows_are_held_back_is_a_fault_and_is_cut_off_later() {
    run(|| async {
        let (gateway, _) = streaming(1, 1);
        let later = Method::blocking("later", |(): ()| {
            Ok(RowStream::new(tiles(0).schema().clone(), |sink| {
                sink.send(tiles(10_000))?;
                Err(Fault::new("Kit.Broken", "the cursor broke"))
            }))
        });
        let server = Running::of(gateway.service(Service::new("Kit").with(later.safe()))).await;
        let whole = async |path: &str| {
            let (_sender, response) = begin(&server, path, "gzip").await?;
            let status = response.status().as_u16();
            let body = response.into_body().collect().await?;
            Ok::<_, hyper::Error>((status, body.to_bytes()))
        };
        // The machine may be so busy that it is too late for a fault: then the answer is cut off.
        let mut fault = None;
        for _ in 0..200 {
            fault = whole("/rest/Stream/broken").await.ok();
            if fault.is_some() {
                break;
            }
        }
        let (status, body) = fault.expect("one of them is a fault");
        let said: serde_json::Value = serde_json::from_slice(&body).expect("no rows");
        assert_eq!((status, &said["code"]), (500, &json!("Kit.Broken")));
        let late = whole("/rest/Kit/later").await;
        assert!(late.is_err(), "a client notices that rows are missing");
    });
}

#[test]
fn sources_whose_clients_have_gone_are_bounded_until_they_end() {
    /// More than there may be.
    const CALLS: usize = 300;
    run(|| async {
        let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let opened = Arc::clone(&gate);
        let held = Method::new("held", move |(): ()| {
            let (gate, begin) = (Arc::clone(&opened), begin.clone());
            let rows = tiles(1);
            let source = move |sink: RowSink| {
                begin.send(()).unwrap();
                let (is_open, changed) = &*gate;
                let is_open = is_open.lock().unwrap();
                drop(changed.wait_while(is_open, |is_open| !*is_open).unwrap());
                sink.send(rows)?;
                Ok(())
            };
            async move { Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), source)) }
        });
        let service = Service::new("Kit").with(held.safe());
        let server = Running::of(Gateway::new().service(service)).await;
        let mut at_work = 0;
        let refused = loop {
            assert!(at_work < CALLS, "there are {at_work} of them");
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let head = "GET /rest/Kit/held HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut answer = [0; 12];
            tokio::select! {
                _ = begun.recv() => at_work += 1,
                read = stream.read_exact(&mut answer) => {
                    read.unwrap();
                    // Its client counts as long as the server has not seen it go.
                    if at_work == 256 {
                        break answer;
                    }
                }
            }
        };
        assert_eq!(&refused, b"HTTP/1.1 503");
        let (is_open, changed) = &*gate;
        *is_open.lock().unwrap() = true;
        changed.notify_all();
        while server.get("/rest/Kit/held", &[]).await.status != 200 {
            look_again().await;
        }
    });
}
