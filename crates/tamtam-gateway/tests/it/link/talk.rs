//! What a page and an actor say to each other.

use std::sync::mpsc;

use tamtam_actor::{Address, AskError, EndReason, Pool, Reply};
use tamtam_gateway::{Gateway, LinkRoot, bearer};
use tamtam_link::Link;

use serde_json::{Value as Json, json};

use super::{Count, PROTOCOL, Page, blocking, counter, gateway, listener};
use crate::push::{Market, figure};
use crate::world::{Running, run};

#[test]
fn a_page_calls_an_actor_and_the_actor_the_page() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool)).await;
        let page = Page::open(&server).await;
        let root = page.root();
        for number in 1..=100 {
            root.tell(Count::Add(number)).unwrap();
        }
        assert_eq!(root.ask_async(Count::Total).await, Ok(5_050));
        let (own, sums) = listener::<u64>(&pool);
        root.tell(Count::Watch(own)).unwrap();
        root.tell(Count::Add(1)).unwrap();
        root.tell(Count::Add(1)).unwrap();
        let two = blocking(move || [sums.recv(), sums.recv()]).await;
        assert_eq!(two, [Ok(5_051), Ok(5_052)]);
        let answering = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(21));
        let twice = root.ask_async(|reply| Count::AskBack(answering, reply));
        assert_eq!(twice.await, Ok(42));
        assert_eq!(page.link.pending(), 0);
        page.link.close();
    });
}

#[test]
fn one_socket_carries_calls_subscriptions_and_a_link() {
    run(|| async {
        let pool = Pool::new();
        let (market, gateway) = Market::new();
        let counter = counter(&pool, None);
        let root = LinkRoot::new("counter", move |_| counter.clone());
        let mut server = Running::of(gateway.link(root)).await;
        let mut page = Page::open(&server).await;
        let sum = page.call("Sums.add", json!([40, 2])).await;
        assert_eq!(sum["result"]["sum"], 42);
        let begun = page.call("subscribe", json!(["Market.prices"])).await;
        let subscription = &begun["result"]["subscription"];
        assert!(subscription.is_u64(), "{begun}");
        let root = page.root();
        for number in 1..=100 {
            root.tell(Count::Add(number)).unwrap();
            market.publish(number..=number);
        }
        assert_eq!(root.ask_async(Count::Total).await, Ok(5_050));
        for number in 1..=100 {
            let value = page.heard().await;
            let params = &value["params"];
            assert_eq!(&params["subscription"], subscription, "{value}");
            assert_eq!(
                (&params["number"], &params["missed"]),
                (&json!(number), &json!(0))
            );
        }
        // Both are binary, and one could not be told from the other.
        let packed = json!({"name": "Market.boards", "form": "packed"});
        let refused = page.call("subscribe", packed).await;
        let said = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains("over a connection to /socket"), "{refused}");
        // What is no call is answered, and ends nothing.
        let no_call = page.call("", Json::Null).await;
        assert!(no_call["error"]["code"].is_i64(), "{no_call}");
        page.texts.0.send("{\"Add\":1}".to_owned()).unwrap();
        assert_eq!(page.heard().await["error"]["code"], -32600);
        assert_eq!(root.ask_async(Count::Total).await, Ok(5_050));
        server.stop();
        let (_, words) = page.closed().await.expect("a word of farewell");
        assert_eq!(words, "the server ends");
        server.ended().await;
    });
}

#[test]
fn calls_beside_a_link_come_from_whom_the_link_is_for() {
    run(|| async {
        let pool = Pool::new();
        let (_market, gateway) = Market::new();
        let counter = counter(&pool, None);
        let root = LinkRoot::new("counter", move |_| counter.clone());
        let gateway = gateway.link(root).authorize(bearer("let me in"));
        let server = Running::of(gateway).await;
        // The token in Base64 for URLs.
        let protocols = "tamtam-link.3, tamtam-bearer.bGV0IG1lIGlu";
        let headers = [(PROTOCOL.0, protocols)];
        let mut page = Page::of(&server, "/link/counter", &headers, Link::builder()).await;
        let sum = page.call("Sums.add", json!([40, 2])).await;
        assert_eq!(sum["result"]["sum"], 42);
    });
}

#[test]
fn an_actor_for_each_page_ends_with_its_link() {
    run(|| async {
        let pool = Pool::new();
        let (sender, ended) = mpsc::channel();
        let root = LinkRoot::new("counter", move |_| counter(&pool, Some(sender.clone())));
        let gateway = Gateway::new().link(root);
        let server = Running::of(gateway).await;
        let (one, other) = (Page::open(&server).await, Page::open(&server).await);
        one.root().tell(Count::Add(1)).unwrap();
        other.root().tell(Count::Add(2)).unwrap();
        assert_eq!(one.root().ask_async(Count::Total).await, Ok(1));
        assert_eq!(other.root().ask_async(Count::Total).await, Ok(2));
        let name = r#"tamtam_gateway_links{name="counter"}"#;
        assert_eq!(figure(&server, name).await, 2);
        one.link.close();
        other.link.close();
        until!("both have ended", figure(&server, name).await == 0);
        drop(server);
        // The gateway has the last sender; those of the actors are gone with them.
        blocking(move || while ended.recv().is_ok() {}).await;
    });
}

#[test]
fn who_has_an_address_of_a_page_hears_that_it_is_gone() {
    run(|| async {
        let pool = Pool::new();
        let (sender, ends) = mpsc::channel();
        let watcher = pool.spawn_fn(move |page: Address<u64>, _| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let end = page.end();
                sender.send(None).unwrap();
                sender.send(Some(end.wait().reason)).unwrap();
            });
        });
        let root = LinkRoot::new("watcher", move |_| watcher.clone());
        let server = Running::of(Gateway::new().link(root)).await;
        let page = Page::of(&server, "/link/watcher", &[PROTOCOL], Link::builder()).await;
        let (own, _told) = listener::<u64>(&pool);
        page.link.root::<Address<u64>>().tell(own).unwrap();
        let (first, ends) = blocking(move || (ends.recv().unwrap(), ends)).await;
        assert_eq!(first, None);
        // It does not say goodbye.
        page.closed.abort();
        let reason = blocking(move || ends.recv().unwrap()).await;
        let Some(EndReason::LinkLost(text)) = reason else {
            panic!("{reason:?}");
        };
        assert_eq!(&*text, "the other side is gone: the page has gone");
    });
}

#[test]
fn a_question_whose_handler_panics_is_told_without_its_words() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool)).await;
        let page = Page::open(&server).await;
        let kept = page.root().ask_async(Count::Keep);
        page.root()
            .tell(Count::Fail("the secret of the house".into()))
            .unwrap();
        match kept.await {
            Err(AskError::Panicked(panicked)) => {
                assert_eq!(panicked.message(), "its handler panicked");
            }
            other => panic!("{other:?}"),
        }
    });
}
