//! A URL for each method: forms, tags, ranges, compression.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tamtam_gateway::{CachedRows, Fault, Gateway, Method, RowStream, Service};
use tamtam_rows::encoding::{self, JsonReader};
use tamtam_rows::{CompressionKind, Limits, Rows, decompress};

use crate::world::{Running, kit, look_again, request, run, tiles};

const LIST: &str = "/rest/Tiles/list?set=palette";

#[test]
fn the_lines_of_a_header_that_is_a_list_are_one_list() {
    run(|| async {
        let server = Running::of(kit()).await;
        let accept = [
            ("accept", "image/png, application/json;q=0.5"),
            ("accept", "text/csv"),
        ];
        let answered = server.get(LIST, &accept).await;
        let content_type = answered.header("content-type");
        assert_eq!(content_type, "text/csv; charset=utf-8; header=present");
        let tag = answered.header("etag").to_owned();
        let known = [
            ("accept", "text/csv"),
            ("if-none-match", "\"another\""),
            ("if-none-match", &tag),
        ];
        assert_eq!(server.get(LIST, &known).await.status, 304);
        let encodings = [("accept-encoding", "gzip;q=0.5"), ("accept-encoding", "br")];
        let answered = server.get(LIST, &encodings).await;
        assert_eq!(answered.header("content-encoding"), "br");
        // What is compressed twice is not taken for what is compressed once.
        let twice = crate::world::request("POST", "/rest/Sums/add")
            .header("content-type", "application/json")
            .header("content-encoding", "identity")
            .header("content-encoding", "gzip");
        let body = http_body_util::Full::from(r#"{"left":1,"right":2}"#);
        assert_eq!(server.send(twice.body(body).unwrap()).await.status, 415);
    });
}

#[test]
fn a_table_comes_in_the_form_that_is_accepted() {
    run(|| async {
        let server = Running::of(kit()).await;
        let wanted = tiles(1_000);
        for (accept, content_type, form) in [
            (
                "application/vnd.tamtam.rows",
                "application/vnd.tamtam.rows",
                "packed",
            ),
            (
                "application/vnd.apache.arrow.stream",
                "application/vnd.apache.arrow.stream",
                "arrow-ipc",
            ),
            (
                "application/vnd.apache.parquet",
                "application/vnd.apache.parquet",
                "parquet",
            ),
            (
                "application/msgpack",
                "application/vnd.msgpack",
                "message-pack",
            ),
            (
                "text/csv",
                "text/csv; charset=utf-8; header=present",
                "text",
            ),
            ("application/json", "application/json", "json-objects"),
            ("text/html, */*;q=0.1", "application/json", "json-objects"),
        ] {
            let answered = server.get(LIST, &[("accept", accept)]).await;
            assert_eq!(answered.status, 200, "{accept}");
            assert_eq!(answered.header("content-type"), content_type);
            let form = encoding::find(form).unwrap();
            let rows = form.decode(&answered.body, Some(wanted.schema()), &Limits::default());
            assert_eq!(rows.unwrap(), wanted, "{accept}");
        }
        let answered = server
            .get(LIST, &[("accept", "application/x-ndjson")])
            .await;
        assert_eq!(answered.header("content-type"), "application/jsonl");
        assert_eq!(lines(&answered.body), wanted);
        let answered = server.get(LIST, &[("accept", "image/png")]).await;
        assert_eq!(answered.status, 406);
        assert!(
            answered.text().contains("application/vnd.apache.parquet"),
            "{}",
            answered.text()
        );
    });
}

fn lines(body: &[u8]) -> Rows {
    let table = tiles(0);
    let mut reader = JsonReader::new(body, table.schema(), Limits::default()).unwrap();
    let mut rows = Rows::empty(table.schema().clone());
    while let Some(part) = reader.next_chunk().unwrap() {
        rows.append(&part).unwrap();
    }
    rows
}

#[test]
fn a_value_comes_in_json_and_message_pack_alone() {
    run(|| async {
        let server = Running::of(kit()).await;
        let add = "/rest/Sums/add?left=40&right=2";
        let answered = server.get(add, &[]).await;
        assert_eq!(
            (answered.status, answered.json()),
            (200, json!({"sum": 42, "is_even": true}))
        );
        let answered = server
            .get(add, &[("accept", "application/vnd.msgpack")])
            .await;
        assert_eq!(answered.body, b"\x82\xa3sum\x2a\xa7is_even\xc3"[..]);
        assert_eq!(server.get(add, &[("accept", "text/csv")]).await.status, 406);
        let answered = server
            .get(add, &[("accept", "text/csv, application/json;q=0.1")])
            .await;
        assert_eq!(answered.header("content-type"), "application/json");
    });
}

#[test]
fn arguments_come_in_the_query_or_the_body() {
    run(|| async {
        let server = Running::of(kit()).await;
        for body in [r#"{"right": 2, "left": 40}"#, "[40, 2]", "[40.0, 2]"] {
            let answered = server
                .post("/rest/Sums/add", "application/json", body)
                .await;
            assert_eq!(
                (answered.status, &answered.json()["sum"]),
                (200, &json!(42)),
                "{body}"
            );
        }
        for (path, body, status, code) in [
            ("/rest/Sums/add", "[40]", 400, "Client.Arguments"),
            ("/rest/Sums/add", "5", 400, "Client.Malformed"),
            ("/rest/Sums/add", "[", 400, "Client.Malformed"),
            ("/rest/Sums/none", "[]", 404, "Client.NoMethod"),
            ("/rest/None/none", "[]", 404, "Client.NoMethod"),
            ("/rest/Kit/panic", "", 500, "Server.Internal"),
            ("/rest/Tiles/list", "[\"none\"]", 500, "Tiles.NoSet"),
        ] {
            let answered = server.post(path, "application/json", body).await;
            assert_eq!(
                (answered.status, &answered.json()["code"]),
                (status, &json!(code)),
                "{path} {body}"
            );
        }
        let answered = server.get("/rest/Sums/add?left=a&right=2", &[]).await;
        assert_eq!(
            (answered.status, &answered.json()["code"]),
            (400, &json!("Client.Arguments"))
        );
        let answered = server.get("/rest/Echo/echo?value=a%20b+c%26", &[]).await;
        assert_eq!(answered.json(), json!("a b c&"));
    });
}

#[test]
fn a_get_calls_only_what_is_safe() {
    run(|| async {
        let server = Running::of(kit()).await;
        let answered = server.get("/rest/Sums/set?0=1", &[]).await;
        assert_eq!((answered.status, answered.header("allow")), (405, "POST"));
        assert_eq!(
            server
                .post("/rest/Sums/set", "application/json", "[1]")
                .await
                .status,
            200
        );
    });
}

#[test]
fn a_table_that_is_known_is_not_sent_again() {
    run(|| async {
        let server = Running::of(kit()).await;
        let first = server.get(LIST, &[]).await;
        let tag = first.header("etag").to_owned();
        assert!(tag.len() > 10, "{tag}");
        let again = server.get(LIST, &[("if-none-match", &tag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        assert_eq!(again.header("etag"), tag);
        // Compressed it is the same table, and has a tag of its own.
        let compressed = server.get(LIST, &[("accept-encoding", "gzip")]).await;
        let other = compressed.header("etag").to_owned();
        assert!(
            other != tag && compressed.header("vary").contains("accept-encoding"),
            "{other}"
        );
        let listed = format!("\"x\", W/{other}");
        assert_eq!(
            server.get(LIST, &[("if-none-match", &listed)]).await.status,
            304
        );
        let changed = server
            .get(
                "/rest/Tiles/list?set=palette&count=999",
                &[("if-none-match", &tag)],
            )
            .await;
        assert_eq!(changed.status, 200);
        // In another form it is another answer.
        let csv = server
            .get(LIST, &[("if-none-match", &tag), ("accept", "text/csv")])
            .await;
        assert_eq!(csv.status, 200);
    });
}

#[test]
fn a_range_of_rows_is_a_part_of_the_table() {
    run(|| async {
        let server = Running::of(kit()).await;
        let accept = ("accept", "application/vnd.tamtam.rows");
        let part = server
            .get(LIST, &[accept, ("range", "rows=990-2000")])
            .await;
        assert_eq!(part.status, 206);
        assert_eq!(part.header("content-range"), "rows 990-999/1000");
        let rows = tamtam_rows::packed::decode(&part.body, &Limits::default()).unwrap();
        assert_eq!(rows, tiles(1_000).part(990..1_000));
        let none = server.get(LIST, &[accept, ("range", "rows=1000-")]).await;
        assert_eq!(
            (none.status, none.header("content-range")),
            (416, "rows */1000")
        );
        let whole = server.get(LIST, &[accept, ("range", "bytes=0-1")]).await;
        assert_eq!((whole.status, whole.header("accept-ranges")), (200, "rows"));
    });
}

#[test]
fn a_range_has_the_tag_of_its_table_and_is_given_while_the_table_is_that_one() {
    run(|| async {
        let cached = |name: &str, count: u32| {
            let rows = CachedRows::new(tiles(count));
            let list = move |(): ()| std::future::ready(Ok::<_, Fault>(rows.clone()));
            Method::new(name, list).safe()
        };
        let (streaming, ..) = streaming(3, 10);
        let gateway = kit().service(
            Service::new("Cached")
                .with(cached("list", 1_000))
                .with(cached("other", 999)),
        );
        let server = Running::of(gateway).await;
        let range = ("range", "rows=10-19");
        for (path, other) in [
            (LIST, "/rest/Tiles/list?set=palette&count=999"),
            ("/rest/Cached/list", "/rest/Cached/other"),
        ] {
            let whole = server.get(path, &[]).await;
            let tag = whole.header("etag").to_owned();
            let compressed = server.get(path, &[("accept-encoding", "gzip")]).await;
            let tag_of_compressed = compressed.header("etag").to_owned();
            // A client that does not ask by the tag is not told it.
            let part = server.get(path, &[range]).await;
            assert_eq!((part.status, part.header("etag")), (206, ""), "{path}");
            assert_eq!(part.header("cache-control"), "private, no-cache");
            for known in [&tag, &tag_of_compressed] {
                let part = server.get(path, &[range, ("if-range", known)]).await;
                assert_eq!(
                    (part.status, part.header("etag")),
                    (206, &*tag),
                    "{path} {known}"
                );
                assert_eq!(part.json().as_array().unwrap().len(), 10);
            }
            // Of another table it gets all.
            let weak = format!("W/{tag}");
            let date = "Wed, 21 Oct 2015 07:28:00 GMT";
            for (path, known) in [(other, &*tag), (path, &*weak), (path, date), (path, "")] {
                let all = server.get(path, &[range, ("if-range", known)]).await;
                assert_eq!(
                    (all.status, all.header("content-range")),
                    (200, ""),
                    "{known}"
                );
                let count = if path == other { 999 } else { 1_000 };
                assert_eq!(all.json().as_array().unwrap().len(), count);
            }
        }
        // What comes part by part has no tag.
        let server = Running::of(streaming).await;
        let all = server
            .get("/rest/Stream/all", &[range, ("if-range", "\"a\"")])
            .await;
        assert_eq!(
            (all.status, all.json().as_array().unwrap().len()),
            (200, 30)
        );
    });
}

#[test]
fn only_what_is_larger_than_the_threshold_is_compressed() {
    run(|| async {
        let server = Running::of(kit().compress_above(10_000)).await;
        let plain = server.get(LIST, &[]).await.body;
        for (accepted, encoding, kind) in [
            ("gzip", "gzip", CompressionKind::Gzip),
            ("zstd", "zstd", CompressionKind::Zstd),
            ("br", "br", CompressionKind::Brotli),
            ("gzip, deflate, br, zstd", "zstd", CompressionKind::Zstd),
            ("zstd;q=0.1, gzip;q=0.2", "gzip", CompressionKind::Gzip),
        ] {
            let answered = server.get(LIST, &[("accept-encoding", accepted)]).await;
            assert_eq!(answered.header("content-encoding"), encoding, "{accepted}");
            assert!(answered.body.len() < plain.len() / 2);
            assert_eq!(
                decompress(kind, &answered.body, 1 << 20).unwrap(),
                plain,
                "{accepted}"
            );
        }
        for (path, accepted) in [
            (LIST, "deflate"),
            (LIST, "gzip;q=0"),
            ("/rest/Tiles/list?set=palette&count=10", "gzip"),
        ] {
            let answered = server.get(path, &[("accept-encoding", accepted)]).await;
            assert_eq!(answered.header("content-encoding"), "", "{path} {accepted}");
        }
    });
}

/// A service whose table comes in parts, and how many of them were taken.
pub(crate) fn streaming(parts: u32, of: u32) -> (Gateway, Arc<AtomicU32>) {
    let taken = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&taken);
    let stream = Method::blocking("all", move |(): ()| {
        let counted = Arc::clone(&counted);
        let schema = tiles(0).schema().clone();
        Ok(RowStream::new(schema, move |sink| {
            for _ in 0..parts {
                sink.send(tiles(of))?;
                counted.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        }))
    });
    let broken = Method::blocking("broken", |(): ()| {
        let schema = tiles(0).schema().clone();
        Ok(RowStream::new(schema, |sink| {
            sink.send(tiles(10))?;
            Err(Fault::new("Kit.Broken", "the cursor broke"))
        }))
    });
    let never = Method::blocking("never", |(): ()| {
        Ok(RowStream::new(tiles(0).schema().clone(), |_| {
            Err(Fault::new("Kit.Broken", "there is no cursor"))
        }))
    });
    let service = Service::new("Stream")
        .with(stream.safe())
        .with(broken.safe())
        .with(never.safe());
    (Gateway::new().service(service), taken)
}

/// The table that such a service has.
fn streamed(parts: u32, of: u32) -> Rows {
    let mut table = tiles(0);
    for _ in 0..parts {
        table.append(&tiles(of)).unwrap();
    }
    table
}

#[test]
fn a_table_that_comes_in_parts_is_the_same_table_in_every_form() {
    run(|| async {
        let (gateway, _) = streaming(3, 500);
        let server = Running::of(gateway).await;
        let wanted = streamed(3, 500);
        for (accept, form) in [
            ("application/vnd.tamtam.rows", "packed"),
            ("application/vnd.apache.arrow.stream", "arrow-ipc"),
            ("application/msgpack", "message-pack"),
            ("text/csv", "text"),
            ("application/json", "json-objects"),
        ] {
            let answered = server.get("/rest/Stream/all", &[("accept", accept)]).await;
            let form = encoding::find(form).unwrap();
            let rows = form.decode(&answered.body, Some(wanted.schema()), &Limits::default());
            assert_eq!(rows.unwrap(), wanted, "{accept}");
        }
        let answered = server
            .get("/rest/Stream/all", &[("accept", "application/jsonl")])
            .await;
        assert_eq!(lines(&answered.body), wanted);
        let answered = server
            .get(
                "/rest/Stream/all",
                &[("accept", "application/vnd.apache.parquet")],
            )
            .await;
        let rows = encoding::find("parquet")
            .unwrap()
            .decode(&answered.body, None, &Limits::default())
            .unwrap();
        assert_eq!(rows, wanted);
        let answered = server
            .get("/rest/Stream/all", &[("range", "rows=499-500")])
            .await;
        assert_eq!(answered.json()[1], json!({"slot": 0, "color": "ff8800"}));
    });
}

#[test]
fn a_range_of_a_table_in_parts_is_what_it_is_of_the_whole_table() {
    run(|| async {
        let (gateway, _) = streaming(3, 500);
        let server = Running::of(gateway).await;
        let whole = streamed(3, 500);
        for (asked, rows, told) in [
            ("rows=499-500", 499..501, "rows 499-500/1500"),
            ("rows=600-", 600..1_500, "rows 600-1499/1500"),
            ("rows=-600", 900..1_500, "rows 900-1499/1500"),
            ("rows=-5", 1_495..1_500, "rows 1495-1499/1500"),
            ("rows=-5000", 0..1_500, "rows 0-1499/1500"),
        ] {
            let accept = ("accept", "application/vnd.tamtam.rows");
            let part = server
                .get("/rest/Stream/all", &[accept, ("range", asked)])
                .await;
            assert_eq!((part.status, part.header("content-range")), (206, told));
            let part = tamtam_rows::packed::decode(&part.body, &Limits::default()).unwrap();
            assert_eq!(part, whole.part(rows), "{asked}");
        }
        let none = server
            .get("/rest/Stream/all", &[("range", "rows=1500-")])
            .await;
        assert_eq!(
            (none.status, none.header("content-range")),
            (416, "rows */1500")
        );
    });
}

#[test]
fn a_range_of_a_long_table_stops_the_source_behind_it() {
    run(|| async {
        let parts = 10_000;
        let (gateway, taken) = streaming(parts, 10_000);
        let server = Running::of(gateway).await;
        let part = server
            .get("/rest/Stream/all", &[("range", "rows=15000-15001")])
            .await;
        assert_eq!(part.status, 206);
        assert_eq!(part.header("content-range"), "rows 15000-15001/*");
        assert_eq!(part.json()[0]["slot"], 5_000);
        assert!(taken.load(Ordering::SeqCst) < parts);
        let part = server
            .get("/rest/Stream/all", &[("range", "rows=0-")])
            .await;
        assert_eq!(part.status, 500);
        let said = part.json()["description"].as_str().unwrap().to_owned();
        assert!(said.contains("ask for a shorter one"), "{said}");
        assert!(taken.load(Ordering::SeqCst) < parts);
    });
}

#[test]
fn a_source_that_fails_is_a_fault_before_it_begins_and_a_cut_off_answer_after() {
    run(|| async {
        let (gateway, _) = streaming(1, 1);
        let server = Running::of(gateway).await;
        let answered = server.get("/rest/Stream/never", &[]).await;
        assert_eq!(
            (answered.status, &answered.json()["code"]),
            (500, &json!("Kit.Broken"))
        );
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream))
                .await
                .unwrap();
        tokio::spawn(connection);
        let request = crate::world::request("GET", "/rest/Stream/broken");
        let request = request
            .body(http_body_util::Full::<bytes::Bytes>::default())
            .unwrap();
        // The head of the answer may have gone before, or not.
        let whole = match sender.send_request(request).await {
            Ok(response) => http_body_util::BodyExt::collect(response.into_body())
                .await
                .map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(whole.is_err(), "a client notices that rows are missing");
    });
}

#[test]
fn a_client_that_does_not_read_stops_the_source_and_one_that_leaves_ends_it() {
    run(|| async {
        // More than sockets and the gateway together hold.
        let (gateway, taken) = streaming(10_000, 10_000);
        let server = Running::of(gateway).await;
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream))
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let request = crate::world::request("GET", "/rest/Stream/all");
        let request = request
            .body(http_body_util::Full::<bytes::Bytes>::default())
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        // The source goes on until all that lies between is full; then it stands. On a busy machine it may only seem to: nothing
        // below depends on where.
        let mut before = u32::MAX;
        let stands = loop {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let now = taken.load(Ordering::SeqCst);
            if now == before {
                break now;
            }
            before = now;
        };
        assert!(
            stands < 1_000,
            "{stands} parts of 10,000 were taken, and none was read"
        );
        let metrics = server.get("/metrics", &[]).await;
        assert!(
            metrics.text().contains("requests_at_work 1\n"),
            "{}",
            metrics.text()
        );
        drop(response);
        drop(sender);
        connection.abort();
        // The request is over when its source has ended.
        while !server
            .get("/metrics", &[])
            .await
            .text()
            .contains("requests_at_work 0\n")
        {
            look_again().await;
        }
        let taken = taken.load(Ordering::SeqCst);
        assert!(
            taken < 1_000,
            "{taken} parts, {stands} before the client left"
        );
    });
}

#[test]
fn an_answer_that_is_known_says_of_itself_what_the_whole_one_does() {
    run(|| async {
        let server = Running::of(kit()).await;
        for encoding in ["identity", "gzip", "zstd"] {
            let encoding = ("accept-encoding", encoding);
            let whole = server.get(LIST, &[encoding]).await;
            let tag = whole.header("etag").to_owned();
            let known = server.get(LIST, &[encoding, ("if-none-match", &tag)]).await;
            assert_eq!(known.status, 304);
            for name in ["etag", "cache-control", "vary"] {
                assert_eq!(
                    known.header(name),
                    whole.header(name),
                    "{name} {encoding:?}"
                );
            }
        }
    });
}

#[test]
fn a_range_is_one_of_a_get_and_comes_behind_the_tag() {
    run(|| async {
        let server = Running::of(kit()).await;
        let range = ("range", "rows=0-9");
        let head = request("HEAD", LIST).header(range.0, range.1);
        let answered = server.send(head.body(Default::default()).unwrap()).await;
        assert_eq!(
            (answered.status, answered.header("content-range")),
            (200, "")
        );
        let tag = answered.header("etag").to_owned();
        for (known, status) in [(&*tag, 304), ("\"another\"", 206), ("*", 304)] {
            let answered = server.get(LIST, &[range, ("if-none-match", known)]).await;
            assert_eq!(answered.status, status, "{known}");
        }
        // That one has the table of the range is another condition.
        let both = [range, ("if-none-match", "\"another\""), ("if-range", &*tag)];
        assert_eq!(server.get(LIST, &both).await.status, 206);
        let neither = [range, ("if-none-match", "\"a\""), ("if-range", "\"b\"")];
        assert_eq!(server.get(LIST, &neither).await.status, 200);
    });
}
