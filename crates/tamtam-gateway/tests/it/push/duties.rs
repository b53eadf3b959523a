//! What a server owes with sockets, too: who may subscribe, how much, and an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tamtam_actor::Topic;
use tamtam_gateway::{Fault, Gateway, Limits, Publication, Service, bearer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::events::{Events, publish_until_full};
use super::{Market, Price, Socket};
use crate::world::{Running, run};

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

/// The answer comes while what is pushed fills the socket, since the client reads slowly.
#[test]
fn a_stop_closes_a_socket_behind_the_answer_to_what_it_had_accepted() {
    run(|| async {
        let (market, gateway) = Market::new();
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let service = Service::new("Kit2").method("wait", move |(): ()| {
            let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
            async move {
                told.notify_one();
                awaited.notified().await;
                told.notify_one();
                Ok::<_, Fault>("done")
            }
        });
        let mut server = Running::of(gateway.service(service)).await;
        let mut socket = Socket::open(&server).await;
        socket.subscribe("Market.prices", json!({})).await;
        let call = json!({"jsonrpc": "2.0", "id": 77, "method": "Kit2.wait"});
        let call = Message::text(call.to_string());
        socket.stream.send(call).await.unwrap();
        begun.notified().await;
        publish_until_full(&server, &market).await;
        server.stop();
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        go_on.notify_one();
        begun.notified().await;
        let mut is_answered = false;
        while let Some(Ok(frame)) = socket.stream.next().await {
            let text = frame.to_text().unwrap_or_default();
            is_answered |= text.contains(r#""id":77"#) && text.contains("done");
        }
        assert!(is_answered);
        server.ended().await;
    });
}

/// So does a server that ends by an error.
#[test]
fn a_server_that_is_dropped_serves_no_socket_any_more() {
    run(|| async {
        let (_market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        let answered = socket.call("Market.set", json!([7])).await;
        assert!(answered.is_ok(), "{answered:?}");
        server.abort();
        while let Some(Ok(_)) = socket.stream.next().await {}
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
        let plain = server.get("/socket", &[]).await;
        assert_eq!(plain.status, 426);
        assert_eq!(plain.header("upgrade"), "websocket");
        assert_eq!(plain.header("sec-websocket-version"), "13");
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
fn a_subscription_is_refused_where_there_is_too_much_to_do_and_one_that_ends_is_not() {
    run(|| async {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let topic: Topic<Price> = Topic::new();
        let prices = Publication::topic("prices", topic).authorize(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        let service =
            Service::new("Kit2")
                .with_publication(prices)
                .method("wait", move |(): ()| {
                    let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
                    async move {
                        told.notify_one();
                        awaited.notified().await;
                        Ok::<_, Fault>(())
                    }
                });
        let limits = Limits {
            requests_of_client: 1,
            ..Limits::default()
        };
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let (mut waits, mut socket) = (Socket::open(&server).await, Socket::open(&server).await);
        let first = socket.subscribe("Kit2.prices", json!({})).await;
        let hangs = tokio::spawn(async move { waits.call("Kit2.wait", json!([])).await });
        begun.notified().await;
        for _ in 0..3 {
            let refused = socket.call("subscribe", json!(["Kit2.prices"])).await;
            assert_eq!(refused.unwrap_err()["code"], -32005);
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let ended = socket.call("unsubscribe", json!([first["subscription"]]));
        ended.await.unwrap();
        go_on.notify_one();
        hangs.await.unwrap().unwrap();
        socket.subscribe("Kit2.prices", json!({})).await;
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
