//! Clients of HTTP/2 that take back what they have asked for: as a page that gives up a search, and as a flood (CVE-2023-44487).

use std::future::pending;
use std::sync::Arc;

use tamtam_gateway::{CachedRows, Fault, Gateway, Method, Service};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::http2::{Client, SOON, read};
use crate::world::{Running, run, tiles};

/// So many a client may take back at once; and so many more in a second.
const AT_ONCE: u64 = 200;
const A_SECOND: f64 = 10.0;

/// One that never answers, and what tells that it was called.
fn waiting() -> (Method, Arc<Notify>) {
    let called = Arc::new(Notify::new());
    let told = Arc::clone(&called);
    let method = Method::new("wait", move |(): ()| {
        told.notify_one();
        pending::<Result<u32, Fault>>()
    });
    (method.safe(), called)
}

/// An answer of many pieces that is ready, so that none of them is waited for.
fn ready() -> Method {
    let table = CachedRows::new(tiles(5_000));
    let method = Method::new("table", move |(): ()| {
        let table = table.clone();
        async move { Ok::<_, Fault>(table) }
    });
    method.safe()
}

fn small() -> Method {
    Method::new("small", |(): ()| async { Ok::<_, Fault>(7) }).safe()
}

async fn server() -> (Running, Arc<Notify>) {
    let (wait, called) = waiting();
    let service = Service::new("Kit").with(wait).with(ready()).with(small());
    let server = Running::of(Gateway::new().service(service)).await;
    (server, called)
}

/// Looks how many of those that were taken back since then went on: as many as may be.
fn check(taken_back: u64, begin: Instant) {
    let most = AT_ONCE as f64 + begin.elapsed().as_secs_f64() * A_SECOND;
    println!("{taken_back} of at most {most:.0}");
    // Those that were on their way when the last one came.
    assert!((AT_ONCE..=most as u64 + 20).contains(&taken_back));
}

#[test]
fn a_client_that_takes_back_question_after_question_loses_its_connection() {
    run(|| async {
        let (server, called) = server().await;
        let mut client = Client::with_window(server.address, 64 << 10).await;
        let (begin, mut taken_back) = (Instant::now(), 0);
        while let Ok(ready) = client.sender.clone().ready().await {
            client.sender = ready;
            let answer = client.ask("/rest/Kit/wait");
            let is_called = tokio::select! {
                called = timeout(SOON, called.notified()) => called.is_ok(),
                _ = &mut client.connection => break,
            };
            assert!(is_called);
            // It is reset by that.
            drop(answer);
            taken_back += 1;
        }
        check(taken_back, begin);
        // Another one is served as before.
        let mut other = Client::with_window(server.address, 64 << 10).await;
        drop(other.get("/rest/Kit/small").await);
    });
}

#[test]
fn a_client_that_takes_back_answer_after_answer_loses_its_connection() {
    run(|| async {
        let (server, _called) = server().await;
        // What it lets come is less than an answer.
        let mut client = Client::with_window(server.address, 1_000).await;
        let (begin, mut taken_back) = (Instant::now(), 0);
        while let Ok(ready) = client.sender.clone().ready().await {
            client.sender = ready;
            let answered = timeout(SOON, client.ask("/rest/Kit/table")).await.unwrap();
            let Ok(answer) = answered else { break };
            drop(answer.into_body());
            taken_back += 1;
        }
        check(taken_back, begin);
    });
}

#[test]
fn a_client_that_takes_its_answers_keeps_its_connection() {
    run(|| async {
        let (server, called) = server().await;
        let mut client = Client::with_window(server.address, 1 << 20).await;
        // Some are taken back, as a page does that its user has left.
        for _ in 0..AT_ONCE / 2 {
            let answer = client.ask("/rest/Kit/wait");
            timeout(SOON, called.notified()).await.unwrap();
            drop(answer);
        }
        for path in ["/rest/Kit/small", "/rest/Kit/table"] {
            for _ in 0..2 * AT_ONCE {
                let mut body = client.get(path).await;
                while let Some(part) = read(&mut body).await {
                    part.unwrap();
                }
            }
        }
        // Answers without a body have no end that one waits for.
        let uri = format!("http://{}/rest/Kit/table", server.address);
        for _ in 0..2 * AT_ONCE {
            let head = hyper::Request::head(&uri).body(()).unwrap();
            let answer = client.sender.send_request(head, true).unwrap().0;
            assert_eq!(timeout(SOON, answer).await.unwrap().unwrap().status(), 200);
        }
        drop(client.get("/rest/Kit/small").await);
    });
}
