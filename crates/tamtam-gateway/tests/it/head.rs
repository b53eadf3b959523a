//! Requests for the head of an answer: it is that of the answer to a GET, and nothing comes behind it.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use tamtam_gateway::{Fault, Gateway, Limits, Method, RowStream, Service};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::http2::{Client, SOON, read};
use crate::world::{Running, kit, request, run, tiles};

/// More than one frame of HTTP/2, and more than is sent before the client opens its window.
const LIST: &str = "/rest/Tiles/list?set=palette&count=20000";

/// The head of an answer, behind which nothing may come.
async fn head(client: &mut Client, path: &str, accept: &str) -> Response<()> {
    let uri = format!("http://localhost{path}");
    let asked = hyper::Request::head(uri).header("accept", accept);
    let answer = client.sender.send_request(asked.body(()).unwrap(), true);
    let answered = timeout(SOON, answer.unwrap().0).await.unwrap().unwrap();
    let (parts, mut body) = answered.into_parts();
    if let Some(more) = read(&mut body).await {
        panic!("{path}: behind the head comes {more:?}");
    }
    Response::from_parts(parts, ())
}

#[test]
fn the_head_of_an_answer_by_http_2_says_what_the_answer_would_and_has_no_body() {
    run(|| async {
        let server = Running::of(kit().page()).await;
        let mut client = Client::with_window(server.address, 64 << 10).await;
        for (path, accept) in [
            (LIST, "application/json"),
            (LIST, "application/vnd.apache.parquet"),
            (LIST, "application/vnd.msgpack"),
            (LIST, "image/png"),
            ("/rest/Tiles/list?set=none", "application/json"),
            ("/rest/Tiles/list?set=palette&count=1", "application/json"),
            ("/rest/Nothing/list", "application/json"),
            ("/rest/Sums/set", "application/json"),
            ("/services", "*/*"),
            ("/crossdomain.xml", "*/*"),
            ("/", "*/*"),
            ("/page/page.js", "*/*"),
            ("/page/arrow.js", "*/*"),
            ("/page/parquet.js", "*/*"),
            ("/nothing", "*/*"),
        ] {
            let by_get = server.get(path, &[("accept", accept)]).await;
            let by_head = head(&mut client, path, accept).await;
            assert_eq!(by_head.status(), by_get.status, "{path} {accept}");
            for name in ["content-length", "content-type", "etag", "vary", "allow"] {
                let said = by_head.headers().get(name);
                let said = said.map_or("", |said| said.to_str().unwrap());
                assert_eq!(said, by_get.header(name), "{path} {accept} {name}");
            }
            let length = by_get.body.len().to_string();
            assert_eq!(by_get.header("content-length"), length, "{path} {accept}");
        }
    });
}

#[test]
fn heads_by_the_hundred_spend_nothing_of_what_a_client_may_take_back() {
    run(|| async {
        let server = Running::of(kit()).await;
        let mut client = Client::with_window(server.address, 64 << 10).await;
        // Twice as many as may be taken back at once.
        for number in 0..400 {
            let ready = client.sender.clone().ready().await;
            client.sender = ready.unwrap_or_else(|error| panic!("after {number} heads: {error}"));
            let answered = head(&mut client, LIST, "application/json").await;
            assert_eq!(answered.status(), 200);
        }
        assert!(!client.connection.is_finished());
    });
}

/// A table without an end, and what tells that its source has ended.
fn endless() -> (Gateway, Arc<Notify>) {
    let ended = Arc::new(Notify::new());
    let told = Arc::clone(&ended);
    let all = Method::blocking("all", move |(): ()| {
        let told = Arc::clone(&told);
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            while sink.send(tiles(1_000)).is_ok() {}
            told.notify_one();
            Ok(())
        }))
    });
    // Each has to give its place back.
    let limits = Limits {
        requests: 1,
        ..Limits::default()
    };
    let service = Service::new("Endless").with(all.safe());
    (Gateway::new().service(service).limits(limits), ended)
}

#[test]
fn the_head_of_a_streamed_table_ends_its_source_and_gives_its_place_back() {
    run(|| async {
        let (gateway, ended) = endless();
        let server = Running::of(gateway).await;
        let mut client = Client::with_window(server.address, 16 << 20).await;
        for accept in [
            "application/json",
            "text/csv",
            "application/vnd.tamtam.rows",
        ] {
            let answered = head(&mut client, "/rest/Endless/all", accept).await;
            assert_eq!(answered.status(), 200);
            assert!(!answered.headers().contains_key("content-length"));
            timeout(SOON, ended.notified()).await.expect("it is told");

            let asked = request("HEAD", "/rest/Endless/all").header("accept", accept);
            let answering = server.send(asked.body(Full::<Bytes>::default()).unwrap());
            let answered = timeout(SOON, answering).await.unwrap();
            assert_eq!((answered.status, answered.body.len()), (200, 0));
            timeout(SOON, ended.notified()).await.expect("it is told");
        }
    });
}
