//! Our own client.

use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use tamtam_gateway::{CallError, Client, Policy, PushForm, Value, Wish};
use tokio_tungstenite::tungstenite::Message;

use super::{Market, Price, figure, price};
use crate::world::{Running, run, tiles};

#[test]
fn our_client_calls_and_subscribes() {
    run(|| async {
        let (market, gateway) = Market::new();
        let mut server = Running::of(gateway).await;
        let url = format!("http://{}", server.address);
        let client = Client::connect(&url).await.unwrap();
        let socket = client.socket().await.unwrap();
        let sum = socket.call("Sums.add", &(40, 2)).await.unwrap();
        assert_eq!(sum.get("sum"), Some(&Value::Int(42)));
        match socket.call("Sums.add", &(i64::MAX, 1)).await {
            Err(CallError::Fault(fault)) => assert_eq!(fault.code(), "Sums.TooLarge"),
            other => panic!("{other:?}"),
        }
        let unknown = socket.subscribe("Market.none", Wish::new()).await;
        assert!(matches!(unknown, Err(CallError::Fault(_))), "{unknown:?}");

        let mut prices = socket
            .subscribe("Market.prices", Wish::new())
            .await
            .unwrap();
        let packed = Wish::new().form(PushForm::Packed);
        let mut boards = socket.subscribe("Market.boards", packed).await.unwrap();
        market.boards.publish(tiles(3)).unwrap();
        let board = boards.next().await.unwrap().unwrap().into_value();
        assert_eq!(board, Value::from(tiles(3)));
        market.publish(1..=3);
        for number in 1..=3 {
            let pushed = prices.next().await.unwrap().unwrap();
            assert_eq!((pushed.number, pushed.missed), (number, 0));
        }
        // Those that it does not take wait at the server, and are in the account.
        market.publish(4..=500);
        let mut accounted = 0;
        let rest = prices.unsubscribe().await.unwrap();
        while let Some(pushed) = prices.next().await.unwrap() {
            accounted += pushed.missed + pushed.values.len() as u64;
        }
        assert_eq!(accounted + rest.missed + 3, rest.number);
        let subscribers = r#"tamtam_gateway_subscribers{name="Market.boards"}"#;
        assert_eq!(figure(&server, subscribers).await, 1);
        drop(boards);
        while figure(&server, subscribers).await > 0 {
            tokio::task::yield_now().await;
        }
        let batches = Wish::new()
            .policy(Policy::Batches)
            .after(0)
            .run(prices.run());
        let mut batches = socket.subscribe("Market.prices", batches).await.unwrap();
        let batch = batches.next().await.unwrap().unwrap();
        assert!(batch.values.len() > 1, "{}", batch.values.len());

        server.stop();
        let end = loop {
            match batches.next().await {
                Ok(Some(_)) => {}
                end => break end,
            }
        };
        let said = end.unwrap_err().to_string();
        assert!(said.contains("the server ends"), "{said}");
        assert!(batches.next().await.unwrap().is_none());
        let late = socket
            .call("Sums.add", &(1, 1))
            .await
            .unwrap_err()
            .to_string();
        assert!(late.contains("the server ends"), "{late}");
        server.ended().await;
    });
}

#[test]
fn a_subscription_ends_though_the_answer_to_that_is_not_waited_for() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let url = format!("http://{}", server.address);
        let client = Client::connect(&url).await.unwrap();
        let socket = client.socket().await.unwrap();
        let mut values = socket
            .subscribe("Market.slider", Wish::new())
            .await
            .unwrap();
        assert_eq!(
            values.next().await.unwrap().map(|first| first.number),
            Some(1)
        );
        // Polled once.
        drop(values.unsubscribe().now_or_never());
        let subscribers = r#"tamtam_gateway_subscribers{name="Market.slider"}"#;
        while figure(&server, subscribers).await > 0 {
            tokio::task::yield_now().await;
        }
        market.slider.set(6);
        let next = tokio::time::timeout(Duration::from_secs(30), values.next()).await;
        assert_eq!(next.expect("it has ended").unwrap(), None);
        assert_eq!(values.next().await.unwrap(), None);
        // The connection goes on.
        let sum = socket.call("Sums.add", &(40, 2)).await.unwrap();
        assert_eq!(sum.get("sum"), Some(&Value::Int(42)));
    });
}

#[test]
fn a_client_of_ours_that_takes_nothing_is_conflated_at_the_server() {
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let url = format!("http://{}", server.address);
        let client = Client::connect(&url).await.unwrap();
        let socket = client.socket().await.unwrap();
        let wish = Wish::new().policy(Policy::LatestOfEachKey);
        let mut values = socket.subscribe("Market.prices", wish).await.unwrap();
        let note = "x".repeat(16 << 10);
        for cents in 1..=3_000 {
            let value = Price {
                note: note.clone(),
                ..price(["tin", "lead"][cents as usize % 2], cents)
            };
            market.prices.publish(value).unwrap();
            tokio::task::yield_now().await;
        }
        let (mut received, mut missed, mut last) = (0, 0, 0);
        while last < 3_000 {
            let pushed = values.next().await.unwrap().unwrap();
            received += 1;
            missed += pushed.missed;
            last = pushed.number;
        }
        assert_eq!(received + missed, 3_000);
        assert!(missed > 0, "all came");
    });
}

#[test]
fn a_server_that_is_gone_without_a_word_is_noticed_by_a_client_that_asks_for_nothing() {
    run(|| async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        // It opens the WebSocket, tells of a subscription, and says nothing more, as one does whose machine has lost its power.
        let silent = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(async move {
                    // The client looks first whether there is a server.
                    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else {
                        return;
                    };
                    socket.next().await.unwrap().unwrap();
                    let begun = r#"{"jsonrpc":"2.0","id":1,"result":{"subscription":1,"number":0,"run":"a"}}"#;
                    socket.send(Message::text(begun)).await.unwrap();
                    std::future::pending::<()>().await;
                });
            }
        });
        let client = Client::connect(&url).await.unwrap();
        let socket = client
            .patience(Duration::from_secs(2))
            .socket()
            .await
            .unwrap();
        let mut values = socket.subscribe("Kit.level", Wish::new()).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(30), values.next()).await;
        let ended = ended.expect("it is noticed").unwrap_err();
        assert!(ended.to_string().contains("answers no ping"), "{ended}");
        silent.abort();
    });
}
