//! Answers whose clients do not let them come: each has to come forward by itself, and keeps its place until it has gone.

use std::sync::Arc;
use std::time::Duration;

use h2::RecvStream;
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Limits, Method, RowStream, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::http2::{Client, SOON, read};
use crate::world::{Running, look_again, request, run, send_over, tiles};

/// Bytes of an answer that no buffer of a socket takes.
const LARGE_BYTES: usize = 16 << 20;

/// A table without an end, and what tells that its source has ended.
pub(crate) fn endless() -> (Method, Arc<Notify>) {
    let ended = Arc::new(Notify::new());
    let told = Arc::clone(&ended);
    let method = Method::blocking("endless", move |(): ()| {
        let told = Arc::clone(&told);
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            while sink.send(tiles(1_000)).is_ok() {}
            told.notify_one();
            Ok(())
        }))
    });
    (method.safe(), ended)
}

fn large() -> Method {
    Method::new("large", |(): ()| async {
        Ok::<_, Fault>("x".repeat(LARGE_BYTES))
    })
    .safe()
}

fn impatient() -> Limits {
    Limits {
        patience: Duration::from_millis(500),
        ..Limits::default()
    }
}

#[test]
fn a_request_for_the_head_of_events_gives_its_connection_no_longer_time() {
    run(|| async {
        let (method, ended) = endless();
        let slider = Arc::new(Property::new(0_u32));
        let service = Service::new("Kit").with(method).property("slider", slider);
        let server = Running::of(Gateway::new().service(service).limits(impatient())).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = "HEAD /events/Kit.slider HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        let get = "GET /rest/Kit/endless HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answered = String::new();
        while !answered.ends_with("\r\n\r\n") {
            answered.push(stream.read_u8().await.unwrap().into());
        }
        assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
        assert!(answered.contains("text/event-stream"), "{answered}");
        stream.write_all(get.as_bytes()).await.unwrap();
        let gone = timeout(SOON, ended.notified()).await;
        gone.expect("it is given up as any other");
    });
}

#[test]
fn an_answer_that_its_client_does_not_read_is_given_up_beside_pings_and_events_that_go_on() {
    run(|| async {
        let (method, ended) = endless();
        let slider = Arc::new(Property::new(0_u32));
        let service = Service::new("Kit")
            .with(method)
            .property("slider", Arc::clone(&slider));
        let server = Running::of(Gateway::new().service(service).limits(impatient())).await;
        let mut client = Client::with_window(server.address, 64 << 10).await;
        let pings = client.ping();
        let mut events = client.get("/events/Kit.slider").await;
        let mut unread = client.get("/rest/Kit/endless").await;
        // What is read beside is more than any pings.
        let changing = tokio::spawn(async move {
            for value in 1.. {
                slider.set(value);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let gone = timeout(SOON, ended.notified());
        let mut gone = std::pin::pin!(gone);
        loop {
            tokio::select! {
                gone = gone.as_mut() => break gone.expect("the source is told"),
                next = read(&mut events) => drop(next.expect("it goes on").expect("it is not reset")),
            }
        }
        // What has come of it is there still; then it was reset.
        let reason = loop {
            match read(&mut unread).await.expect("it is no end") {
                Ok(_) => {}
                Err(error) => break error.reason(),
            }
        };
        assert_eq!(reason, Some(h2::Reason::CANCEL));
        for _ in 0..3 {
            read(&mut events)
                .await
                .expect("it goes on")
                .expect("it is not reset");
        }
        assert!(!client.connection.is_finished() && !pings.is_finished());
        changing.abort();
    });
}

#[test]
fn a_client_that_lets_nothing_come_and_sends_pings_holds_no_source_and_no_connection() {
    run(|| async {
        // It lets nothing come, or less than what is handed to HTTP/2 at once, which then has all of a short answer.
        for (window, path) in [
            (0, "/rest/Kit/endless"),
            (1, "/rest/Kit/endless"),
            (40_000, "/rest/Kit/endless"),
            (0, "/rest/Kit/short"),
            (1, "/rest/Kit/short"),
        ] {
            println!("{window} {path}");
            let (method, ended) = endless();
            let short = Method::new("short", |(): ()| async { Ok::<_, Fault>("a short answer") });
            let service = Service::new("Kit").with(method).with(short.safe());
            let server = Running::of(Gateway::new().service(service).limits(impatient())).await;
            let mut client = Client::with_window(server.address, window).await;
            client.ping();
            let unread = client.get(path).await;
            if path.ends_with("endless") {
                let gone = timeout(SOON, ended.notified()).await;
                gone.expect("the source is told");
            }
            let ended = timeout(SOON, client.connection).await;
            // A goodbye, or without one.
            let _ = ended.expect("the connection ends").unwrap();
            drop(unread);
        }
    });
}

/// Answers that a client has asked for and lets nothing come of.
struct Unread {
    _client: Client,
    _bodies: Vec<RecvStream>,
}

impl Unread {
    /// Asks for more of them than the client has places: so many wait, and the others are refused.
    async fn beyond(places: usize, server: &Running, path: &str) -> Unread {
        let mut client = Client::with_window(server.address, 0).await;
        client.ping();
        let asked: Vec<_> = (0..5 * places).map(|_| client.ask(path)).collect();
        let mut bodies = Vec::new();
        for answered in asked {
            let answered = timeout(SOON, answered).await.unwrap().unwrap();
            match answered.status().as_u16() {
                200 => bodies.push(answered.into_body()),
                status => assert_eq!(status, 503),
            }
        }
        assert_eq!(bodies.len(), places, "answers wait in memory");
        let metrics = server.get("/metrics", &[]).await;
        let level = format!("tamtam_gateway_requests_at_work {places}\n");
        assert!(metrics.text().contains(&level), "{}", metrics.text());
        Unread {
            _client: client,
            _bodies: bodies,
        }
    }
}

/// A service whose description is longer than an answer that keeps no place.
fn described() -> Service {
    let methods = (0..50).map(|number| {
        let method = Method::new(format!("method_{number}"), |(): ()| async {
            Ok::<_, Fault>(())
        });
        method.safe().about("What it does. ".repeat(20))
    });
    methods.fold(Service::new("Kit"), Service::with)
}

#[test]
fn what_there_is_to_call_keeps_its_place_until_it_has_gone() {
    run(|| async {
        const PLACES: usize = 4;
        let limits = Limits {
            requests_of_client: PLACES,
            ..Limits::default()
        };
        let gateway = Gateway::new().service(described()).limits(limits);
        let server = Running::of(gateway).await;
        let _unread = Unread::beyond(PLACES, &server, "/services").await;
    });
}

#[test]
fn answers_that_wait_for_their_client_keep_the_places_of_that_client_and_of_no_other() {
    run(|| async {
        const PLACES: usize = 4;
        // All are asked for within that.
        let patience = Duration::from_secs(30);
        let limits = Limits {
            requests_of_client: PLACES,
            patience,
            ..Limits::default()
        };
        let service = Service::new("Kit").with(large());
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let _unread = Unread::beyond(PLACES, &server, "/rest/Kit/large").await;
        // Another client is served.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let stream = socket.connect(server.address).await.unwrap();
        let asked = request("GET", "/rest/Kit/large").body(Default::default());
        let answered = send_over(stream, asked.unwrap()).await;
        assert_eq!(
            (answered.status, answered.body.len()),
            (200, LARGE_BYTES + 2)
        );
        // The places are there again when the answers were given up.
        let again = async {
            while server.get("/rest/Kit/large", &[]).await.status != 200 {
                look_again().await;
            }
        };
        let again = timeout(patience + SOON, again).await;
        again.expect("the places come back");
    });
}

#[test]
fn an_answer_by_http_1_keeps_its_place_until_it_has_gone() {
    run(|| async {
        let limits = Limits {
            requests_of_client: 1,
            ..Limits::default()
        };
        let service = Service::new("Kit").with(large());
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let mut unread = TcpStream::connect(server.address).await.unwrap();
        let ask = b"GET /rest/Kit/large HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
        unread.write_all(ask).await.unwrap();
        let mut first = [0; 1];
        unread.read_exact(&mut first).await.unwrap();
        assert_eq!(server.get("/rest/Kit/large", &[]).await.status, 503);
        let mut all = Vec::new();
        unread.read_to_end(&mut all).await.unwrap();
        assert!(all.len() > LARGE_BYTES);
        let again = async {
            while server.get("/rest/Kit/large", &[]).await.status != 200 {
                look_again().await;
            }
        };
        timeout(SOON, again).await.expect("the place comes back");
    });
}
