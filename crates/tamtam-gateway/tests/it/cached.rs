//! A table that many calls get: the bytes are those that the table itself would have been, in every protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::Version;
use tamtam_gateway::{CachedRows, Fault, Gateway, Method, Service};

use crate::amf::packet;
use crate::world::{Answered, Running, run, tiles};

/// The same table by two methods: made for each call, and kept. And what is kept.
fn twice(rows: usize, most_bytes: usize) -> (Gateway, CachedRows) {
    let table = CachedRows::with_most_bytes(tiles(rows as _), most_bytes);
    let kept = table.clone();
    let made = Method::blocking("list", move |(): ()| Ok::<_, Fault>(tiles(rows as _)));
    let cached = Method::new("list", move |(): ()| {
        let table = kept.clone();
        async { Ok::<_, Fault>(table) }
    });
    let gateway = Gateway::new()
        .service(Service::new("Made").with(made.safe()))
        .service(Service::new("Kept").with(cached.safe()))
        .compress_above(500);
    (gateway, table)
}

/// What a client sees of an answer.
fn seen(answered: &Answered) -> (u16, Vec<String>, Vec<u8>) {
    let names = [
        "content-type",
        "content-encoding",
        "content-range",
        "etag",
        "vary",
        "cache-control",
        "accept-ranges",
    ];
    let headers = names.map(|name| format!("{name}: {}", answered.header(name)));
    (answered.status, headers.into(), answered.body.to_vec())
}

#[test]
fn it_is_the_same_answer_in_every_form_by_url_and_is_encoded_once() {
    run(|| async {
        let (gateway, table) = twice(1_000, CachedRows::MOST_BYTES);
        let server = Running::of(gateway).await;
        let mut headers = Vec::new();
        for accept in [
            "application/json",
            "application/vnd.tamtam.rows",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.parquet",
            "application/jsonl",
            "application/vnd.msgpack",
            "text/csv",
        ] {
            // What was kept compressed is no answer to a client that reads another way, or none.
            for encoding in ["zstd", "identity", "gzip", "br", "gzip;q=0.5, zstd"] {
                headers.push([("accept", accept), ("accept-encoding", encoding)]);
            }
        }
        for (index, headers) in headers.iter().enumerate() {
            let made = seen(&server.get("/rest/Made/list", headers).await);
            assert_eq!(made.0, 200);
            let before = table.cached_bytes();
            let first = seen(&server.get("/rest/Kept/list", headers).await);
            assert!(first == made, "{headers:?}: {:?}, {:?}", first.1, made.1);
            // The last way of each form is the first again.
            assert_eq!(table.cached_bytes() > before, index % 5 < 4, "{headers:?}");
            let before = table.cached_bytes();
            let again = seen(&server.get("/rest/Kept/list", headers).await);
            assert!(again == made, "{headers:?}: {:?}, {:?}", again.1, made.1);
            assert_eq!(table.cached_bytes(), before);
        }
    });
}

#[test]
fn what_a_client_knows_is_not_sent_and_a_part_is_a_part() {
    run(|| async {
        let (gateway, _) = twice(1_000, CachedRows::MOST_BYTES);
        let server = Running::of(gateway).await;
        let tag = server.get("/rest/Made/list", &[]).await;
        let tag = tag.header("etag").to_owned();
        for headers in [
            vec![("if-none-match", &*tag)],
            vec![("if-none-match", &*tag), ("accept-encoding", "gzip")],
            vec![("range", "rows=10-19")],
            vec![("range", "rows=1000-")],
            vec![("accept", "image/png")],
        ] {
            let made = seen(&server.get("/rest/Made/list", &headers).await);
            assert_ne!(made.0, 200, "{headers:?}");
            for _ in 0..2 {
                let kept = seen(&server.get("/rest/Kept/list", &headers).await);
                assert_eq!(kept, made, "{headers:?}");
            }
        }
        // A call that may change something has no tag.
        let post = |path| server.post(path, "application/json", "[]");
        let (made, kept) = (post("/rest/Made/list").await, post("/rest/Kept/list").await);
        assert_eq!(seen(&kept), seen(&made));
        assert_eq!(kept.header("etag"), "");
    });
}

#[test]
fn it_is_the_same_answer_in_every_other_protocol() {
    run(|| async {
        let (gateway, table) = twice(300, CachedRows::MOST_BYTES);
        let server = Running::of(gateway).await;
        let json_rpc = |service| {
            let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{service}.list"}}"#);
            (
                "/jsonrpc",
                "application/json",
                format!("[{call},{call}]").into_bytes(),
            )
        };
        let xml_rpc = |service| {
            let call = format!("<methodCall><methodName>{service}.list</methodName></methodCall>");
            ("/xmlrpc", "text/xml", call.into_bytes())
        };
        let amf = |path, version, service| {
            let target: &str = service;
            let target = format!("{target}.list");
            let nothing = || Amf0::StrictArray(Vec::new());
            // A table behind a table counts its references from one, too.
            let calls = vec![(&*target, nothing()), (&*target, nothing())];
            let packet = packet(version, calls).encode().unwrap();
            (path, "application/x-amf", packet)
        };
        let requests = |service: &'static str| {
            let mut requests = vec![json_rpc(service), xml_rpc(service)];
            for path in ["/amf", "/amf?rows=recordset", "/amf?rows=objects"] {
                for version in [Version::Amf0, Version::Amf3] {
                    requests.push(amf(path, version, service));
                }
            }
            requests
        };
        for ((path, content_type, made), (.., kept)) in
            requests("Made").into_iter().zip(requests("Kept"))
        {
            let made = server.post(path, content_type, made).await;
            assert_eq!(made.status, 200);
            for _ in 0..2 {
                let kept = server.post(path, content_type, kept.clone()).await;
                assert!(kept.body == made.body, "{path}");
            }
        }
        // JSON, a RecordSet, and objects of both versions.
        assert!(table.cached_bytes() > 4 * 300);
    });
}

#[test]
fn what_has_no_room_is_encoded_for_each_call() {
    run(|| async {
        let (gateway, table) = twice(1_000, 100);
        let server = Running::of(gateway).await;
        let made = seen(&server.get("/rest/Made/list", &[]).await);
        for _ in 0..2 {
            assert!(seen(&server.get("/rest/Kept/list", &[]).await) == made);
        }
        assert_eq!(table.cached_bytes(), 0);
    });
}

#[test]
fn many_who_ask_at_once_get_the_same() {
    run(|| async {
        // Large enough to be encoded on another thread.
        let (gateway, table) = twice(100_000, CachedRows::MOST_BYTES);
        let server = Arc::new(Running::of(gateway).await);
        let accept = [("accept", "application/vnd.tamtam.rows")];
        let made = seen(&server.get("/rest/Made/list", &accept).await);
        let right = Arc::new(AtomicUsize::new(0));
        let calls = (0..8).map(|_| {
            let (server, right, made) = (Arc::clone(&server), Arc::clone(&right), made.clone());
            tokio::spawn(async move {
                let kept = seen(&server.get("/rest/Kept/list", &accept).await);
                right.fetch_add(usize::from(kept == made), Ordering::Relaxed);
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        assert_eq!(right.load(Ordering::Relaxed), 8);
        assert_eq!(table.cached_bytes(), made.2.len());
    });
}
