//! What subscribers get, by each policy and in each form.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::SinkExt;
use serde_json::{Value as Json, json};
use tamtam_actor::Topic;
use tamtam_channel::Property;
use tamtam_gateway::{Gateway, Service};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::{Market, Socket, figure, price};
use crate::world::{Running, run, tiles};

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
fn one_that_wants_packed_rows_is_told_of_them_though_values_before_were_encoded_without_them() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut reader = Socket::open(&server).await;
        reader.subscribe("Market.boards", json!({})).await;
        // Each fills what goes to a socket in one write.
        for number in 1..=5 {
            market.boards.publish(tiles(1_000)).unwrap();
            assert_eq!(reader.value().await["number"], number);
        }
        let mut packed = Socket::open(&server).await;
        let wish = json!({"form": "packed", "after": 0});
        packed.subscribe("Market.boards", wish).await;
        // All that was encoded before is looked at, and its connection waits for more.
        packed.call("Sums.add", json!([1, 2])).await.unwrap();
        market.boards.publish(tiles(6)).unwrap();
        // A ping, which wakes the connection, comes after 30 s.
        let frame = timeout(Duration::from_secs(15), packed.frame()).await;
        assert_eq!(head_of(frame.expect("it is told")), (1, 6, 5));
        let sent = r#"tamtam_gateway_values_sent_total{name="Market.boards"}"#;
        let missed = r#"tamtam_gateway_values_missed_total{name="Market.boards"}"#;
        while reader.value().await["number"] != 6 {}
        assert_eq!(figure(&server, sent).await, 5 + 2);
        assert_eq!(figure(&server, missed).await, 5);
    });
}

#[test]
fn the_value_of_a_property_greets_one_that_is_the_first_to_want_it_packed() {
    run(|| async {
        let board = Arc::new(Property::new(tiles(1)));
        let service = Service::new("Board").property("tiles", Arc::clone(&board));
        let server = Running::of(Gateway::new().service(service)).await;
        let mut reader = Socket::open(&server).await;
        reader.subscribe("Board.tiles", json!({})).await;
        assert_eq!(reader.value().await["number"], 1);
        let mut packed = Socket::open(&server).await;
        packed
            .subscribe("Board.tiles", json!({"form": "packed"}))
            .await;
        for number in 1..=2 {
            let frame = timeout(Duration::from_secs(15), packed.frame()).await;
            assert_eq!(head_of(frame.expect("it is told")), (1, number, 0));
            board.set(tiles(2));
        }
        // For the first one nothing has come twice.
        assert_eq!(reader.value().await["number"], 2);
    });
}

/// Of a frame with packed rows its subscription, its number, and how many were missed.
fn head_of(frame: Message) -> (u64, u64, u64) {
    let Message::Binary(frame) = frame else {
        panic!("it is no frame of rows: {frame:?}");
    };
    let word = |place: usize| u64::from_le_bytes(frame[place..place + 8].try_into().unwrap());
    (word(0), word(8), word(16))
}

#[test]
fn what_a_client_says_of_a_run_or_of_itself_is_kept_within_a_bound() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        for (bytes, is_taken) in [(64, true), (65, false), (200_000, false)] {
            let wish = json!({"name": "Market.slider", "run": "r".repeat(bytes)});
            let answer = socket.call("subscribe", wish).await;
            assert_eq!(answer.is_ok(), is_taken, "{bytes}: {answer:?}");
        }
        for (bytes, is_taken) in [(1_000, true), (200_000, false)] {
            let token = json!({"bearer": "t".repeat(bytes)});
            let answer = socket.call("authenticate", token).await;
            assert_eq!(answer.is_ok(), is_taken, "{bytes}: {answer:?}");
        }
    });
}

#[test]
fn the_refusal_of_an_answer_that_is_too_large_has_nothing_of_it() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "Echo.echo", "params": ["x".repeat(400_000)]});
        for (sent, id) in [(json!([call]), Json::Null), (call.clone(), json!(7))] {
            socket
                .stream
                .send(Message::text(sent.to_string()))
                .await
                .unwrap();
            let answer = socket.json().await;
            assert_eq!(
                answer["id"],
                id,
                "it has {} bytes",
                answer.to_string().len()
            );
            assert_eq!(answer["error"]["data"]["code"], "Client.TooLarge");
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
        let found = described["services"]
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

#[test]
fn few_values_wait_to_be_encoded_once_on_threads_of_their_own() {
    /// Told of each value that is encoded: its number, and on which thread.
    type Begun = std::sync::mpsc::Sender<(u64, String)>;

    #[derive(Clone)]
    struct Noted {
        number: u64,
        begun: Begun,
        /// The first waits for this.
        gate: Arc<Mutex<()>>,
    }

    impl serde::Serialize for Noted {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or_default().to_owned();
            self.begun.send((self.number, name)).unwrap();
            if self.number == 0 {
                drop(self.gate.lock().unwrap());
            }
            serializer.serialize_u64(self.number)
        }
    }

    impl schemars::JsonSchema for Noted {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Noted".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            u64::json_schema(generator)
        }
    }

    const VALUES: u64 = 5_000;
    run(|| async {
        let topic = Topic::new();
        let service = Service::new("Slow").topic("values", topic.clone());
        let server = Running::of(Gateway::new().service(service)).await;
        let mut sockets = Vec::new();
        for _ in 0..3 {
            let mut socket = Socket::open(&server).await;
            socket.subscribe("Slow.values", json!({})).await;
            sockets.push(socket);
        }
        let (begun, encoded) = std::sync::mpsc::channel();
        let gate = Arc::new(Mutex::new(()));
        let publish = |number| {
            let noted = Noted {
                number,
                begun: begun.clone(),
                gate: Arc::clone(&gate),
            };
            topic.publish(noted).unwrap();
        };
        let closed = gate.lock().unwrap();
        publish(0);
        let mut all = vec![encoded.recv().unwrap()];
        (1..=VALUES).for_each(publish);
        drop(closed);
        for socket in &mut sockets {
            let (mut received, mut missed, mut last) = (0, 0, 0);
            while last <= VALUES {
                let value = socket.value().await;
                received += 1;
                missed += value["missed"].as_u64().unwrap();
                last = value["number"].as_u64().unwrap();
                assert_eq!(value["value"], last - 1);
            }
            assert_eq!(received + missed, VALUES + 1);
            assert!(missed >= VALUES - 1_000, "{missed}");
        }
        // The one that was at hand, and as many as may wait: the newest.
        all.extend(encoded.try_iter());
        let numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers[0], 0);
        assert!(numbers[1..].iter().copied().eq(VALUES - 999..=VALUES));
        assert!(
            all.iter().all(|(_, thread)| thread.starts_with("push")),
            "{all:?}"
        );
    });
}
