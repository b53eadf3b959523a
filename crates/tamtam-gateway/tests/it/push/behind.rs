//! Clients that do not read, and such as come back: what they hold, and what they are told.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tamtam_gateway::{Fault, Limits, Method, Publication, Service};
use tokio::sync::{Semaphore, mpsc};
use tokio_tungstenite::tungstenite::Message;

use super::events::SENT;
use super::{Market, Price, Socket, figure, price};
use crate::world::{Running, run};

#[test]
fn one_that_never_reads_costs_the_others_nothing_and_knows_what_it_missed() {
    /// So many are published at least, and as many again once there is more than can be taken.
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
        // What the systems on both sides take depends on how long it takes, too.
        let note = "x".repeat(8 << 10);
        let (mut held, mut cents, mut until) = (0, 0, VALUES);
        while held == 0 || cents < until {
            cents += 1;
            let value = Price {
                note: note.clone(),
                ..price(["tin", "lead"][cents as usize % 2], cents)
            };
            market.prices.publish(value).unwrap();
            let got = reader.value().await;
            assert_eq!((&got["number"], &got["missed"]), (&json!(cents), &json!(0)));
            if cents % 500 == 0 {
                let now_held = figure(&server, "tamtam_gateway_push_held_bytes").await;
                if held == 0 && now_held > 0 {
                    until = cents + VALUES;
                }
                held = held.max(now_held);
                let kept = figure(&server, "tamtam_gateway_push_kept_bytes").await;
                assert!(kept <= 2 * Publication::USUAL_BYTES as u64, "{kept}");
            }
        }
        let published = cents;
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
            assert_eq!(received + missed, published);
            assert!(missed > 0 && received > 0, "{received} {missed}");
            assert_eq!(answered["number"], published);
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
        // One has come before it is behind.
        market.prices.publish(price("tin", 1)).unwrap();
        while figure(&server, SENT).await == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let note = "x".repeat(64 << 10);
        let closed = r#"tamtam_gateway_subscriptions_closed_total{name="Market.prices"}"#;
        let mut cents = 1;
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
        // All of them are encoded: one that has the newest says so.
        let mut newest = Socket::open(&server).await;
        let wish = json!({"policy": "latest", "after": last});
        newest.subscribe("Market.prices", wish).await;
        while newest.value().await["number"] != cents {}
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
fn one_that_is_to_be_closed_when_it_is_behind_is_though_it_says_something_all_the_time() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let wish = json!({"when_behind": "close", "most_messages": 10});
        socket.subscribe("Market.prices", wish).await;
        // It sends for as long as it can, and reads nothing.
        let saying = tokio::spawn(async move {
            let ping = || Message::Ping(Default::default());
            while socket.stream.send(ping()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let closed = r#"tamtam_gateway_subscriptions_closed_total{name="Market.prices"}"#;
        let note = "x".repeat(64 << 10);
        let publishing = async {
            while figure(&server, closed).await == 0 {
                for _ in 0..20 {
                    let value = Price {
                        note: note.clone(),
                        ..price("tin", 1)
                    };
                    market.prices.publish(value).unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        let closing = tokio::time::timeout(Duration::from_secs(60), publishing);
        closing.await.expect("it is closed");
        saying.abort();
    });
}

#[test]
fn a_subscription_whose_answer_is_refused_does_not_go_on() {
    const ANSWER_BYTES: usize = 150_000;
    run(|| async {
        let (market, gateway) = Market::new();
        let gate = Arc::new(Semaphore::new(0));
        let (begin, mut begun) = mpsc::unbounded_channel();
        let opened = Arc::clone(&gate);
        let held = Method::new("held", move |(): ()| {
            let (gate, begin) = (Arc::clone(&opened), begin.clone());
            async move {
                begin.send(()).unwrap();
                gate.acquire().await.unwrap().forget();
                Ok::<_, Fault>("x".repeat(ANSWER_BYTES))
            }
        });
        let server = Running::of(gateway.service(Service::new("Gate").with(held))).await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.prices", json!({})).await;
        // Of two answers that wait for the client there is no room for the second one.
        for _ in 0..2 {
            let calls = json!([
                {"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {"name": "Market.slider"}},
                {"jsonrpc": "2.0", "id": 2, "method": "Gate.held"},
            ]);
            let frame = Message::text(calls.to_string());
            socket.stream.send(frame).await.unwrap();
            begun.recv().await.unwrap();
        }
        // It reads nothing, until what is pushed stays where it is.
        let note = "x".repeat(64 << 10);
        let mut unread = 0;
        while unread < 20 {
            if unread == 0 {
                for _ in 0..10 {
                    let value = Price {
                        note: note.clone(),
                        ..price("tin", 1)
                    };
                    market.prices.publish(value).unwrap();
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            let is_held = figure(&server, "tamtam_gateway_push_held_bytes").await > 0;
            unread = if is_held { unread + 1 } else { 0 };
        }
        gate.add_permits(2);
        // Both are answered, and wait for the client.
        while figure(&server, "tamtam_gateway_requests_at_work").await > 0 {
            tokio::task::yield_now().await;
        }
        let (mut taken, mut refused) = (0, 0);
        while taken + refused < 2 {
            match socket.json().await {
                Json::Array(answers) => {
                    assert_eq!(answers.len(), 2);
                    taken += 1;
                }
                answer if answer["error"]["data"]["code"] == "Client.TooLarge" => refused += 1,
                _ => {}
            }
        }
        assert_eq!((taken, refused), (1, 1));
        let subscribers = r#"tamtam_gateway_subscribers{name="Market.slider"}"#;
        assert_eq!(figure(&server, subscribers).await, 1);
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
