//! Events of a server, as a page reads them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use tamtam_channel::Property;
use tamtam_gateway::{Gateway, Limits, Service};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::{Market, Price, Socket, figure, price};
use crate::stalled::endless;
use crate::world::{Running, request, run};

/// JSON as it was written elsewhere.
#[derive(Clone)]
struct Written(Arc<RawValue>);

impl serde::Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl schemars::JsonSchema for Written {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Written".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

#[test]
fn a_value_of_several_lines_is_one_event() {
    run(|| async {
        let text = "{\n  \"a\": [\r\n 1 ]\n}";
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let property = Arc::new(Property::new(Written(Arc::from(raw))));
        let service = Service::new("Kit").property("raw", property);
        let server = Running::of(Gateway::new().service(service)).await;
        let mut events = Events::open(&server, "/events/Kit.raw", &[]).await;
        let event = events.next().await.unwrap();
        let data: Json = serde_json::from_str(&event.data).unwrap();
        assert_eq!(data, json!({"a": [1]}));
    });
}

/// One event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) data: String,
}

/// A stream of events, read as the standard has it.
pub(super) struct Events {
    pub(super) body: hyper::body::Incoming,
    pub(super) text: String,
}

impl Events {
    pub(super) async fn open(server: &Running, path: &str, headers: &[(&str, &str)]) -> Events {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let mut request = request("GET", path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events {
            body: response.into_body(),
            text: String::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let mut found = Event::default();
                for line in event.lines() {
                    match line.split_once(": ") {
                        Some(("event", kind)) => found.kind = kind.to_owned(),
                        Some(("id", id)) => found.id = id.to_owned(),
                        Some(("data", data)) => found.data.push_str(data),
                        _ => assert!(line.starts_with(':'), "{line}"),
                    }
                }
                self.text = rest.to_owned();
                if found != Event::default() {
                    return Some(found);
                }
            }
            let frame = self.body.frame().await?.ok()?;
            let data = frame.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
}

#[test]
fn a_page_gets_events_and_goes_on_where_it_was() {
    run(|| async {
        let (market, gateway) = Market::keeping(3);
        let server = Running::of(gateway).await;
        let mut events = Events::open(&server, "/events/Market.prices?policy=all", &[]).await;
        market.publish(1..=2);
        let first = events.next().await.unwrap();
        assert!(
            first.id.ends_with(".1") && first.kind.is_empty(),
            "{first:?}"
        );
        assert_eq!(first.data, r#"{"metal":"tin","cents":1,"note":""}"#);
        let second = events.next().await.unwrap();
        drop(events);
        let mut other = Socket::open(&server).await;
        other.subscribe("Market.prices", json!({})).await;
        for cents in 3..=8 {
            market.publish(cents..=cents);
            other.value().await;
        }
        let back = [("last-event-id", &*second.id)];
        let mut events = Events::open(&server, "/events/Market.prices", &back).await;
        let missed = events.next().await.unwrap();
        assert_eq!((&*missed.kind, &*missed.data), ("missed", "3"));
        let next = events.next().await.unwrap();
        assert!(
            next.id.ends_with(".6") && next.data.contains(r#""cents":6"#),
            "{next:?}"
        );
        let query = "/events/Market.prices?policy=batches&interval_ms=5&after=6";
        let mut batches = Events::open(&server, query, &[]).await;
        let batch: Json = serde_json::from_str(&batches.next().await.unwrap().data).unwrap();
        assert_eq!(batch.as_array().map(Vec::len), Some(2));
        for (path, status) in [
            ("/events/Market.none", 404),
            ("/events/Market.prices?policy=most", 400),
            ("/events/Market.boards?form=packed", 400),
        ] {
            assert_eq!(server.get(path, &[]).await.status, status, "{path}");
        }
    });
}

#[test]
fn what_was_missed_is_told_once_also_to_a_page_whose_connection_breaks_behind_that() {
    run(|| async {
        let (market, gateway) = Market::keeping(3);
        let server = Running::of(gateway).await;
        let mut other = Socket::open(&server).await;
        other.subscribe("Market.prices", json!({})).await;
        let mut events = Events::open(&server, "/events/Market.prices", &[]).await;
        market.publish(1..=1);
        // As `EventSource` keeps it: an event without an `id` leaves it as it was.
        let mut last_id = events.next().await.unwrap().id;
        drop(events);
        for cents in 1..=8 {
            if cents > 1 {
                market.publish(cents..=cents);
            }
            other.value().await;
        }
        let (mut received, mut missed) = (1, 0);
        while received + missed < 8 {
            let back = [("last-event-id", &*last_id)];
            let mut events = Events::open(&server, "/events/Market.prices", &back).await;
            // One event alone comes before the connection breaks.
            let event = events.next().await.unwrap();
            if event.kind == "missed" {
                missed += event.data.parse::<u64>().unwrap();
            } else {
                received += 1;
            }
            if !event.id.is_empty() {
                last_id = event.id;
            }
        }
        assert_eq!((received, missed), (4, 4));
        assert!(last_id.ends_with(".8"), "{last_id}");
    });
}

#[test]
fn events_hold_no_more_than_their_bound_for_one_that_does_not_read() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut silent = Vec::new();
        for _ in 0..5 {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let asked =
                b"GET /events/Market.prices?policy=latest HTTP/1.1\r\nhost: localhost\r\n\r\n";
            stream.write_all(asked).await.unwrap();
            silent.push(stream);
        }
        let mut reader = Events::open(&server, "/events/Market.prices", &[]).await;
        while figure(
            &server,
            r#"tamtam_gateway_subscribers{name="Market.prices"}"#,
        )
        .await
            < 6
        {
            tokio::task::yield_now().await;
        }
        let note = "x".repeat(8 << 10);
        let mut most = 0;
        for cents in 1..=3_000 {
            let value = Price {
                note: note.clone(),
                ..price("tin", cents)
            };
            market.prices.publish(value).unwrap();
            let event = reader.next().await.unwrap();
            assert!(event.id.ends_with(&format!(".{cents}")), "{}", event.id);
            if cents % 100 == 0 {
                most = most.max(figure(&server, "tamtam_gateway_push_held_bytes").await);
            }
        }
        let bound = Limits::default().push_bytes as u64;
        assert!(most > 0 && most <= 6 * bound, "{most}");
        drop((silent, reader));
        while figure(&server, "tamtam_gateway_push_held_bytes").await > 0 {
            tokio::task::yield_now().await;
        }
    });
}

const CLOSES: &str = "/events/Market.prices?when_behind=close&most_messages=10";
const CLOSED: &str = r#"tamtam_gateway_subscriptions_closed_total{name="Market.prices"}"#;
const SUBSCRIBERS: &str = r#"tamtam_gateway_subscribers{name="Market.prices"}"#;

pub(super) const SENT: &str = r#"tamtam_gateway_values_sent_total{name="Market.prices"}"#;

/// Whether a client that does not read takes so many values, or the systems on both sides do for it.
async fn takes(server: &Running, values: u64) -> bool {
    for _ in 0..100 {
        if figure(server, SENT).await == values {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    false
}

/// Publishes a value that is long.
fn publish_long(market: &Market, cents: u64) {
    let value = Price {
        note: "x".repeat(64 << 10),
        ..price("tin", cents)
    };
    market.prices.publish(value).unwrap();
}

/// Publishes one value after the other as long as they go to a client that does not read; how many.
pub(super) async fn publish_until_full(server: &Running, market: &Market) -> u64 {
    let mut cents = 0;
    while cents == 0 || takes(server, cents).await {
        cents += 1;
        publish_long(market, cents);
    }
    cents
}

/// As that, and then more of them, until its subscription is closed for being behind, and until nothing of that is left.
async fn publish_until_closed(server: &Running, market: &Market) {
    let cents = publish_until_full(server, market).await;
    assert_eq!(figure(server, CLOSED).await, 0);
    // It is asked for no more; so what closes it is not that.
    for more in 1..=20 {
        publish_long(market, cents + more);
    }
    while figure(server, CLOSED).await == 0 {
        tokio::task::yield_now().await;
    }
    while figure(server, SUBSCRIBERS).await > 0 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn events_that_are_to_be_closed_end_though_the_client_does_not_read() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let asked = format!("GET {CLOSES} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(asked.as_bytes()).await.unwrap();
        // The head comes before the first event: from then on it is subscribed.
        let mut came = vec![0; 12];
        stream.read_exact(&mut came).await.unwrap();
        assert_eq!(came, b"HTTP/1.1 200");
        publish_until_closed(&server, &market).await;
        while figure(&server, "tamtam_gateway_push_held_bytes").await > 0 {
            tokio::task::yield_now().await;
        }
        // The connection has ended, behind what the systems on both sides had taken.
        let _ = stream.read_to_end(&mut came).await;
    });
}

/// A connection of HTTP/2 over this, and how much of it is sent before it is read.
async fn http2(
    io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    of_stream: u32,
    of_connection: u32,
) -> SendRequest<Full<bytes::Bytes>> {
    let handshake = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(of_stream)
        .initial_connection_window_size(of_connection)
        .handshake(TokioIo::new(io));
    let (sender, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A request as it goes over that.
fn asked(path: &str) -> hyper::Request<Full<bytes::Bytes>> {
    let url = format!("http://localhost{path}");
    hyper::Request::get(url).body(Full::default()).unwrap()
}

/// The last event of a stream that ends.
async fn last_of(body: hyper::body::Incoming) -> Event {
    let text = String::new();
    let (mut events, mut last) = (Events { body, text }, Event::default());
    while let Some(event) = events.next().await {
        last = event;
    }
    last
}

#[test]
fn events_over_http2_end_and_the_other_requests_of_their_connection_go_on() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        // What one stream does not read leaves room for the others.
        let mut sender = http2(stream, 64 << 10, 1 << 20).await;
        let response = sender.send_request(asked(CLOSES)).await.unwrap();
        assert_eq!(response.status(), 200);
        publish_until_closed(&server, &market).await;
        let other = sender.send_request(asked("/services")).await.unwrap();
        assert_eq!(other.status(), 200);
        let last = last_of(response.into_body()).await;
        assert_eq!(last.kind, "closed");
        assert!(last.data.parse::<u64>().unwrap() > 0, "{}", last.data);
    });
}

/// A link of about 3 MB a second: a client behind it reads as fast as it can, and its server's socket is full.
struct SlowLink {
    stream: TcpStream,
    pause: Pin<Box<Sleep>>,
}

impl SlowLink {
    const PAUSE: Duration = Duration::from_millis(5);
    const BYTES: usize = 16 << 10;
}

impl AsyncRead for SlowLink {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.pause.as_mut().poll(context));
        let mut part = [0; Self::BYTES];
        let mut part = ReadBuf::new(&mut part[..Self::BYTES.min(buffer.remaining())]);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut part))?;
        buffer.put_slice(part.filled());
        self.pause = Box::pin(sleep(Self::PAUSE));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SlowLink {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[test]
fn events_over_http2_that_are_closed_cut_no_download_that_is_slower_than_the_server() {
    run(|| async {
        let (market, gateway) = Market::new();
        let service = Service::new("Endless").with(endless().0);
        let server = Running::of(gateway.service(service)).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let slow = SlowLink {
            stream,
            pause: Box::pin(sleep(Duration::ZERO)),
        };
        let mut sender = http2(slow, 4 << 20, 64 << 20).await;
        let events = sender.send_request(asked(CLOSES)).await.unwrap();
        let download = sender.send_request(asked("/rest/Endless/endless")).await;
        let mut download = download.unwrap().into_body();
        let reading = tokio::spawn(async move {
            let mut bytes = 0;
            while bytes < 8 << 20 {
                let frame = download.frame().await.expect("it has no end");
                let frame = frame.expect("it is not cut off");
                bytes += frame.into_data().map_or(0, |data| data.len());
            }
        });
        publish_until_closed(&server, &market).await;
        reading.await.unwrap();
        let last = last_of(events.into_body()).await;
        assert_eq!(last.kind, "closed");
    });
}
