//! What a page and an actor say to each other.

use std::sync::mpsc;

use tamtam_actor::{Address, AskError, EndReason, Pool, Reply};
use tamtam_gateway::{Gateway, LinkRoot};
use tamtam_link::Link;

use super::{Count, PROTOCOL, Page, blocking, counter, gateway, listener};
use crate::push::figure;
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
