//! Push: subscriptions over WebSockets and as events, clients that do not read, and what each is told.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value as Json, json};
use tamtam_actor::Topic;
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Publication, Service, bearer};
use tamtam_rows::Rows;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::world::{Running, kit, request, run, tiles};

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
struct Price {
    metal: String,
    cents: u64,
    /// Makes it as large as a test needs it.
    note: String,
}

fn price(metal: &str, cents: u64) -> Price {
    Price {
        metal: metal.to_owned(),
        cents,
        note: String::new(),
    }
}

/// What is published in these tests.
struct Market {
    prices: Topic<Price>,
    boards: Topic<Rows>,
    slider: Arc<Property<u32>>,
}

impl Market {
    fn new() -> (Market, Gateway) {
        Market::keeping(Publication::USUAL_MESSAGES)
    }

    fn keeping(messages: usize) -> (Market, Gateway) {
        let market = Market {
            prices: Topic::new(),
            boards: Topic::retaining(),
            slider: Arc::new(Property::new(5)),
        };
        let prices = Publication::keyed_topic("prices", market.prices.clone(), |price: &Price| {
            price.metal.clone()
        });
        let slider = Arc::clone(&market.slider);
        let set = Method::blocking("set", move |(value,): (u32,)| {
            slider.set(value);
            Ok::<_, Fault>(())
        });
        let service = Service::new("Market")
            .with_publication(prices.keep_messages(messages).about("What metals cost."))
            .topic("boards", market.boards.clone())
            .property("slider", Arc::clone(&market.slider))
            .with(set);
        (market, kit().service(service))
    }

    /// Publishes a price of each of these numbers of cents.
    fn publish(&self, cents: std::ops::RangeInclusive<u64>) {
        for cents in cents {
            self.prices.publish(price("tin", cents)).unwrap();
        }
    }
}

/// A client of another make than ours.
struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// Messages that came while an answer was waited for.
    early: Vec<Json>,
    ids: u64,
}

impl Socket {
    async fn open(server: &Running) -> Socket {
        Socket::try_open(server, &[]).await.expect("a WebSocket")
    }

    async fn try_open(server: &Running, headers: &[(&'static str, &str)]) -> Result<Socket, Error> {
        let mut request = format!("ws://{}/socket", server.address).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (stream, _) = client_async(request, stream).await?;
        Ok(Socket {
            stream,
            early: Vec::new(),
            ids: 0,
        })
    }

    async fn frame(&mut self) -> Message {
        loop {
            match self.stream.next().await.expect("a frame").expect("a frame") {
                Message::Ping(_) | Message::Pong(_) => {}
                frame => return frame,
            }
        }
    }

    async fn json(&mut self) -> Json {
        let frame = self.frame().await;
        serde_json::from_str(frame.to_text().unwrap()).unwrap_or_else(|_| panic!("{frame:?}"))
    }

    async fn call(&mut self, method: &str, params: Json) -> Result<Json, Json> {
        self.ids += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params});
        let call = Message::text(call.to_string());
        self.stream.send(call).await.unwrap();
        loop {
            let mut answer = self.json().await;
            if answer["id"] == self.ids {
                return match answer.get("error") {
                    None => Ok(answer["result"].take()),
                    Some(error) => Err(error.clone()),
                };
            }
            self.early.push(answer);
        }
    }

    /// Subscribes: the number behind which it begins.
    async fn subscribe(&mut self, name: &str, mut wish: Json) -> Json {
        wish["name"] = name.into();
        let answer = self.call("subscribe", wish).await;
        answer.expect("a subscription")
    }

    /// The parameters of the next value.
    async fn value(&mut self) -> Json {
        let mut message = if self.early.is_empty() {
            self.json().await
        } else {
            self.early.remove(0)
        };
        assert_eq!(message["method"], "value", "{message}");
        message["params"].take()
    }

    /// How the server closes it.
    async fn closed(mut self) -> (CloseCode, String) {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code, frame.reason.to_string());
                }
                Some(Ok(_)) => {}
                other => panic!("it ended without a word: {other:?}"),
            }
        }
    }
}

/// A figure of the server's.
async fn figure(server: &Running, name: &str) -> u64 {
    let metrics = server.get("/metrics", &[]).await;
    let found = metrics.text().lines().find_map(|line| {
        let (known, value) = line.rsplit_once(' ')?;
        (known == name).then(|| value.parse::<f64>().unwrap() as u64)
    });
    found.unwrap_or_else(|| panic!("there is no {name} in {}", metrics.text()))
}

#[test]
fn calls_and_values_go_over_one_socket() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let sum = socket.call("Sums.add", json!([40, 2])).await.unwrap();
        assert_eq!(sum, json!({"sum": 42, "is_even": true}));
        let unknown = socket.call("No.method", json!([])).await.unwrap_err();
        assert_eq!(unknown["code"], -32601);

        let begun = socket.subscribe("Market.prices", json!({})).await;
        assert_eq!(
            (&begun["subscription"], &begun["number"]),
            (&json!(1), &json!(0))
        );
        market.publish(1..=3);
        for number in 1..=3 {
            assert_eq!(
                socket.value().await,
                json!({"subscription": 1, "number": number, "missed": 0,
                    "value": {"metal": "tin", "cents": number, "note": ""}})
            );
        }
        let ended = socket.call("unsubscribe", json!([1])).await.unwrap();
        assert_eq!(ended, json!({"number": 3, "missed": 0}));
        assert!(socket.call("unsubscribe", json!([1])).await.is_err());
        market.publish(4..=5);
        // The next message is an answer, and no value.
        socket.call("Sums.add", json!([1, 1])).await.unwrap();
        assert!(socket.early.is_empty());

        let batch = r#"[{"jsonrpc":"2.0","id":"a","method":"Echo.echo","params":[1]},
            {"jsonrpc":"2.0","id":"b","method":"subscribe","params":["Market.slider"]},
            {"jsonrpc":"2.0","method":"Market.set","params":[6]}]"#;
        socket.stream.send(Message::text(batch)).await.unwrap();
        let answers = socket.json().await;
        assert_eq!(
            answers[0],
            json!({"jsonrpc": "2.0", "id": "a", "result": 1})
        );
        assert_eq!(answers[1]["result"]["subscription"], 2);
        // A property's newest value comes first: the one before it was set, or the one behind.
        while socket.value().await["value"] != 6 {}
        assert_eq!(
            figure(
                &server,
                r#"tamtam_gateway_subscribers{name="Market.slider"}"#
            )
            .await,
            1
        );
        drop(socket);
        while figure(
            &server,
            r#"tamtam_gateway_subscribers{name="Market.slider"}"#,
        )
        .await
            > 0
        {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn one_that_never_reads_costs_the_others_nothing_and_knows_what_it_missed() {
    const VALUES: u64 = 4_000;
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut reader = Socket::open(&server).await;
        reader.subscribe("Market.prices", json!({})).await;
        let mut silent = Vec::new();
        for policy in ["all", "latest", "latest_of_each_key", "batches"] {
            for _ in 0..2 {
                let mut socket = Socket::open(&server).await;
                let wish = json!({"policy": policy, "interval_ms": 1});
                socket.subscribe("Market.prices", wish).await;
                silent.push(socket);
            }
        }
        // More than the systems on both sides take for it.
        let note = "x".repeat(8 << 10);
        let mut held = 0;
        for cents in 1..=VALUES {
            let value = Price {
                note: note.clone(),
                ..price(["tin", "lead"][cents as usize % 2], cents)
            };
            market.prices.publish(value).unwrap();
            let got = reader.value().await;
            assert_eq!((&got["number"], &got["missed"]), (&json!(cents), &json!(0)));
            if cents % 500 == 0 {
                held = held.max(figure(&server, "tamtam_gateway_push_held_bytes").await);
                let kept = figure(&server, "tamtam_gateway_push_kept_bytes").await;
                assert!(kept <= 2 * Publication::USUAL_BYTES as u64, "{kept}");
            }
        }
        assert!(held > 0, "the clients that do not read have taken all");
        let bound = Limits::default().push_bytes as u64;
        assert!(held <= bound * silent.len() as u64, "{held}");
        let missed = r#"tamtam_gateway_values_missed_total{name="Market.prices"}"#;
        for mut socket in silent {
            let answered = socket.call("unsubscribe", json!([1])).await.unwrap();
            let mut received = 0;
            let mut missed = answered["missed"].as_u64().unwrap();
            let mut last = 0;
            for message in &socket.early {
                let params = &message["params"];
                received += params["values"].as_array().map_or(1, Vec::len) as u64;
                missed += params["missed"].as_u64().unwrap();
                assert!(params["number"].as_u64().unwrap() > last);
                last = params["number"].as_u64().unwrap();
            }
            assert_eq!(received + missed, VALUES);
            assert!(missed > 0 && received > 0, "{received} {missed}");
            assert_eq!(answered["number"], VALUES);
        }
        assert!(figure(&server, missed).await > 0);
    });
}

#[test]
fn what_a_client_holds_is_given_back_when_it_goes() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.prices", json!({})).await;
        let mut held = 0;
        let note = "x".repeat(64 << 10);
        while held == 0 {
            for _ in 0..10 {
                let value = Price {
                    note: note.clone(),
                    ..price("tin", 1)
                };
                market.prices.publish(value).unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            held = figure(&server, "tamtam_gateway_push_held_bytes").await;
        }
        drop(socket);
        while figure(&server, "tamtam_gateway_push_held_bytes").await > 0 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn one_that_is_to_be_closed_when_it_is_behind_is() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let wish = json!({"when_behind": "close", "most_messages": 10});
        socket.subscribe("Market.prices", wish).await;
        let note = "x".repeat(64 << 10);
        let closed = r#"tamtam_gateway_subscriptions_closed_total{name="Market.prices"}"#;
        let mut cents = 0;
        while figure(&server, closed).await == 0 {
            for _ in 0..20 {
                cents += 1;
                let value = Price {
                    note: note.clone(),
                    ..price("tin", cents)
                };
                market.prices.publish(value).unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        while figure(
            &server,
            r#"tamtam_gateway_subscribers{name="Market.prices"}"#,
        )
        .await
            > 0
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // It comes back with the last number that it has got, and is told what it cannot have.
        let mut last = 0;
        while let Some(Ok(frame)) = socket.stream.next().await {
            if let Message::Text(text) = frame {
                let message: Json = serde_json::from_str(&text).unwrap();
                last = message["params"]["number"].as_u64().unwrap_or(last);
            }
        }
        assert!(last > 0 && last < cents, "{last} of {cents}");
        let mut socket = Socket::open(&server).await;
        let wish = json!({"when_behind": "close", "most_messages": 10, "after": last});
        let begun = socket.subscribe("Market.prices", wish).await;
        assert_eq!(begun["number"], last);
        let first = socket.value().await;
        let number = first["number"].as_u64().unwrap();
        assert_eq!(first["missed"], number - last - 1);
        assert!(
            number > cents - 10 || number == last + 1,
            "{number} {last} {cents}"
        );
    });
}

#[test]
fn one_that_comes_back_gets_what_is_kept_and_is_told_of_the_rest() {
    run(|| async {
        let (market, gateway) = Market::keeping(10);
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let begun = socket.subscribe("Market.prices", json!({})).await;
        market.publish(1..=2);
        socket.value().await;
        assert_eq!(socket.value().await["number"], 2);
        drop(socket);
        let mut other = Socket::open(&server).await;
        other.subscribe("Market.prices", json!({})).await;
        market.publish(3..=5);
        for _ in 3..=5 {
            other.value().await;
        }
        let mut back = Socket::open(&server).await;
        let again = back
            .subscribe("Market.prices", json!({"after": 2, "run": begun["run"]}))
            .await;
        assert_eq!(
            (&again["number"], &again["run"]),
            (&json!(2), &begun["run"])
        );
        for number in 3..=5 {
            let value = back.value().await;
            assert_eq!(
                (&value["number"], &value["missed"]),
                (&json!(number), &json!(0))
            );
        }
        for cents in 6..=20 {
            market.publish(cents..=cents);
            other.value().await;
        }
        let mut late = Socket::open(&server).await;
        late.subscribe("Market.prices", json!({"after": 2})).await;
        let value = late.value().await;
        assert_eq!(
            (&value["number"], &value["missed"]),
            (&json!(11), &json!(8))
        );
        // Of another run nothing is known: all that is kept comes.
        let mut restarted = Socket::open(&server).await;
        let wish = json!({"after": 1_000, "run": "0badcafe"});
        let begun_anew = restarted.subscribe("Market.prices", wish).await;
        assert_eq!(
            (&begun_anew["number"], &begun_anew["run"]),
            (&json!(0), &begun["run"])
        );
        assert_eq!(restarted.value().await["number"], 11);
    });
}

#[test]
fn of_each_key_the_newest_comes() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut reader = Socket::open(&server).await;
        reader.subscribe("Market.prices", json!({})).await;
        for (metal, cents) in [("tin", 1), ("lead", 2), ("tin", 3), ("zinc", 4), ("tin", 5)] {
            market.prices.publish(price(metal, cents)).unwrap();
            reader.value().await;
        }
        let mut socket = Socket::open(&server).await;
        let wish = json!({"policy": "latest_of_each_key", "after": 0});
        socket.subscribe("Market.prices", wish).await;
        let mut table = Vec::new();
        for _ in 0..3 {
            let value = socket.value().await;
            let metal = value["value"]["metal"].as_str().unwrap().to_owned();
            table.push((metal, value["number"].as_u64(), value["missed"].as_u64()));
        }
        let row = |metal: &str, number, missed| (metal.to_owned(), Some(number), Some(missed));
        assert_eq!(
            table,
            [row("lead", 2, 1), row("zinc", 4, 1), row("tin", 5, 0)]
        );
        market.prices.publish(price("lead", 6)).unwrap();
        assert_eq!(socket.value().await["value"]["cents"], 6);
        let refused = socket
            .call(
                "subscribe",
                json!({"name": "Market.slider", "policy": "latest_of_each_key"}),
            )
            .await
            .unwrap_err();
        assert_eq!(refused["code"], -32602);
    });
}

#[test]
fn batches_come_at_intervals_and_hold_each_value() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let wish = json!({"policy": "batches", "interval_ms": 50});
        socket.subscribe("Market.prices", wish).await;
        let mut cents = Vec::new();
        let mut batches = 0;
        for last in 1..=100 {
            market.publish(last..=last);
        }
        while cents.len() < 100 {
            let batch = socket.value().await;
            assert_eq!(batch["missed"], 0);
            let values = batch["values"].as_array().unwrap();
            cents.extend(values.iter().map(|value| value["cents"].as_u64().unwrap()));
            assert_eq!(batch["number"], cents.len());
            batches += 1;
        }
        assert_eq!(cents, (1..=100).collect::<Vec<_>>());
        assert!(batches < 100, "{batches}");
    });
}

#[test]
fn tables_come_packed_where_that_is_asked_for() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        market.boards.publish(tiles(3)).unwrap();
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.boards", json!({})).await;
        // It is retained, so that it comes first.
        assert_eq!(
            socket.value().await["value"].as_array().map(Vec::len),
            Some(3)
        );
        let begun = socket
            .subscribe("Market.boards", json!({"form": "packed"}))
            .await;
        assert_eq!(begun["subscription"], 2);
        market.boards.publish(tiles(500)).unwrap();
        let mut as_json = None;
        let mut packed = None;
        while as_json.is_none() || packed.is_none() {
            match socket.frame().await {
                Message::Binary(frame) => packed = Some(frame),
                text => as_json = serde_json::from_str::<Json>(text.to_text().unwrap()).ok(),
            }
        }
        let frame = packed.unwrap();
        let word = |place: usize| u64::from_le_bytes(frame[place..place + 8].try_into().unwrap());
        // The first was encoded before packed rows were asked for: it is missed.
        assert_eq!((word(0), word(8), word(16)), (2, 2, 1));
        let rows = tamtam_rows::packed::decode(&frame[24..], &tamtam_rows::Limits::default());
        assert_eq!(rows.unwrap(), tiles(500));
        assert_eq!(as_json.unwrap()["params"]["value"][499]["slot"], 499);
        for wish in [
            json!({"name": "Market.prices", "form": "packed"}),
            json!({"name": "Market.boards", "form": "packed", "policy": "batches"}),
        ] {
            assert_eq!(
                socket.call("subscribe", wish).await.unwrap_err()["code"],
                -32602
            );
        }
    });
}

#[test]
fn a_stop_closes_sockets_and_ends_events() {
    run(|| async {
        let (market, gateway) = Market::new();
        let mut server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.prices", json!({})).await;
        let mut silent = Socket::open(&server).await;
        silent.subscribe("Market.prices", json!({})).await;
        let mut events = Events::open(&server, "/events/Market.slider", &[]).await;
        assert_eq!(events.next().await.unwrap().data, "5");
        market.publish(1..=1);
        socket.value().await;
        server.stop();
        assert_eq!(events.next().await, None);
        let (code, reason) = socket.closed().await;
        assert_eq!((code, &*reason), (CloseCode::Away, "the server ends"));
        // Nor does it wait for one that does not answer.
        server.ended().await;
        drop(silent);
    });
}

#[test]
fn a_handshake_is_judged_as_a_request_is() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let server = Running::of(gateway.origin("https://game.example")).await;
        for (name, value, status) in [
            ("origin", "https://evil.example", 403),
            ("host", "rebound.example", 421),
            ("origin", "null", 403),
        ] {
            match Socket::try_open(&server, &[(name, value)]).await {
                Err(Error::Http(response)) => assert_eq!(response.status(), status),
                other => panic!("{name} {value}: {:?}", other.err()),
            }
        }
        Socket::try_open(&server, &[("origin", "https://game.example")])
            .await
            .unwrap();
        assert_eq!(server.get("/socket", &[]).await.status, 426);
    });
}

#[test]
fn each_topic_has_its_own_check() {
    run(|| async {
        let topic: Topic<Price> = Topic::new();
        let open = Publication::topic("open", topic.clone()).authorize(|_| Ok(()));
        let service = Service::new("Market")
            .topic("closed", topic)
            .with_publication(open);
        let server = Running::of(
            Gateway::new()
                .authorize(bearer("let me in"))
                .service(service),
        )
        .await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.open", json!({})).await;
        let refused = socket
            .call("subscribe", json!(["Market.closed"]))
            .await
            .unwrap_err();
        assert_eq!(refused["code"], -32001);
        assert_eq!(server.get("/events/Market.closed", &[]).await.status, 401);
        // A page cannot send headers with the handshake.
        socket
            .call("authenticate", json!(["let me in"]))
            .await
            .unwrap();
        socket.subscribe("Market.closed", json!({})).await;
        let header = [("authorization", "Bearer let me in")];
        let mut socket = Socket::try_open(&server, &header).await.unwrap();
        socket.subscribe("Market.closed", json!({})).await;
    });
}

#[test]
fn what_is_too_much_is_refused() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let limits = Limits {
            subscriptions_of_client: 2,
            push_bytes: 64 << 10,
            ..Limits::default()
        };
        let server = Running::of(gateway.limits(limits)).await;
        let mut socket = Socket::open(&server).await;
        for _ in 0..2 {
            socket.subscribe("Market.slider", json!({})).await;
        }
        let refused = socket
            .call("subscribe", json!(["Market.slider"]))
            .await
            .unwrap_err();
        assert_eq!(refused["code"], -32005);
        assert_eq!(server.get("/events/Market.slider", &[]).await.status, 503);
        socket
            .call("unsubscribe", json!({"subscription": 1}))
            .await
            .unwrap();
        socket.subscribe("Market.slider", json!({})).await;
        // An answer that is larger than what is held for a connection.
        let tiles = json!({"jsonrpc": "2.0", "id": 77, "method": "Tiles.list", "params": ["palette", 1000]});
        socket
            .stream
            .send(Message::text(tiles.to_string()))
            .await
            .unwrap();
        let answer = loop {
            let answer = socket.json().await;
            if answer.get("error").is_some() {
                break answer;
            }
        };
        assert_eq!(answer["error"]["code"], -32003);
        for wish in [
            json!({"name": "Market.slider", "policy": "some"}),
            json!({"name": "Market.slider", "unknown": 1}),
            json!({"name": "Market.slider", "most_bytes": -1}),
            json!({"name": 1}),
        ] {
            assert_eq!(
                socket.call("subscribe", wish).await.unwrap_err()["code"],
                -32602
            );
        }
        let unknown = socket
            .call("subscribe", json!(["Market.none"]))
            .await
            .unwrap_err();
        assert_eq!(unknown["code"], -32601);
        let long = Message::text("x".repeat(65 << 10));
        let mut socket = Socket::open(&server).await;
        socket.stream.send(long).await.unwrap();
        assert_eq!(socket.closed().await.0, CloseCode::Size);
        let mut socket = Socket::open(&server).await;
        socket
            .stream
            .send(Message::binary(vec![0; 8]))
            .await
            .unwrap();
        assert_eq!(socket.closed().await.0, CloseCode::Unsupported);
    });
}

#[test]
fn frames_that_are_none_end_the_socket() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let frames: [(&[u8], CloseCode); 5] = [
            // It says that it is deflated, which was not agreed upon.
            (b"\xc1\x84\0\0\0\0\x01\x02\x03\x04", CloseCode::Protocol),
            // 1 GiB is to follow.
            (b"\x81\xff\0\0\0\0\x40\0\0\0\0\0\0\0", CloseCode::Size),
            // No text.
            (b"\x81\x82\0\0\0\0\xff\xff", CloseCode::Invalid),
            // Without a mask.
            (b"\x81\x02{}", CloseCode::Protocol),
            // Of a kind that there is not.
            (b"\x83\x80\0\0\0\0", CloseCode::Protocol),
        ];
        for (frame, code) in frames {
            let mut socket = Socket::open(&server).await;
            socket.stream.get_mut().write_all(frame).await.unwrap();
            assert_eq!(socket.closed().await.0, code, "{frame:x?}");
        }
        let mut socket = Socket::open(&server).await;
        for text in [
            "",
            "{",
            "[]",
            "[[[[",
            "7",
            r#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#,
        ] {
            socket.stream.send(Message::text(text)).await.unwrap();
            assert!(socket.json().await["error"]["code"].is_i64(), "{text}");
        }
        let deep = "[".repeat(10_000);
        socket.stream.send(Message::text(deep)).await.unwrap();
        assert!(socket.json().await["error"]["code"].is_i64());
    });
}

/// One event.
#[derive(Debug, Default, PartialEq)]
struct Event {
    kind: String,
    id: String,
    data: String,
}

/// A stream of events, read as the standard has it.
struct Events {
    body: hyper::body::Incoming,
    text: String,
}

impl Events {
    async fn open(server: &Running, path: &str, headers: &[(&str, &str)]) -> Events {
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

    async fn next(&mut self) -> Option<Event> {
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

#[test]
fn a_property_is_followed_by_many_and_set_by_one() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut sockets = Vec::new();
        for _ in 0..5 {
            let mut socket = Socket::open(&server).await;
            socket
                .subscribe("Market.slider", json!({"policy": "latest"}))
                .await;
            assert_eq!(socket.value().await["value"], 5);
            sockets.push(socket);
        }
        for value in 6..50 {
            sockets[0].call("Market.set", json!([value])).await.unwrap();
        }
        for socket in &mut sockets {
            let mut last = 1;
            loop {
                let got = socket.value().await;
                let number = got["number"].as_u64().unwrap();
                assert_eq!(got["missed"], number - last - 1);
                last = number;
                if got["value"] == 49 {
                    break;
                }
            }
            assert_eq!(last, market.slider.version() + 1);
        }
        let described = server.get("/services", &[]).await.json();
        let found = described
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "Market");
        let publications = found.unwrap()["publications"].as_array().unwrap();
        let kinds: Vec<_> = publications
            .iter()
            .map(|one| (&one["name"], &one["kind"]))
            .collect();
        let named = |name: &str| Json::from(name);
        assert_eq!(
            kinds,
            [
                (&named("boards"), &named("topic")),
                (&named("prices"), &named("topic")),
                (&named("slider"), &named("property"))
            ]
        );
        assert_eq!(publications[1]["keys"], true);
        assert_eq!(publications[0]["table"], true);
        assert_eq!(publications[2]["gives"]["type"], "integer");
    });
}

#[test]
fn a_value_that_cannot_be_written_is_passed_over_and_counted() {
    run(|| async {
        /// Fails to be written, or panics, where it is told so.
        #[derive(Clone, schemars::JsonSchema)]
        struct Fragile(u8);

        impl serde::Serialize for Fragile {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    1 => Err(serde::ser::Error::custom("it is broken")),
                    2 => panic!("the secret of the house"),
                    3 => serializer.serialize_str(&"x".repeat(700 << 10)),
                    whole => serializer.serialize_u8(whole),
                }
            }
        }
        let topic = Topic::new();
        let service = Service::new("Kit2").topic("fragile", topic.clone());
        let server = Running::of(Gateway::new().service(service)).await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Kit2.fragile", json!({})).await;
        for value in [1, 2, 3, 7] {
            topic.publish(Fragile(value)).unwrap();
        }
        let value = socket.value().await;
        assert_eq!(
            (&value["number"], &value["missed"], &value["value"]),
            (&json!(4), &json!(3), &json!(7))
        );
    });
}
