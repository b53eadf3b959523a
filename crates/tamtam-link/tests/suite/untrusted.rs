//! Another side that is not trusted: what it may say, what it hears, and how much of it waits.

use std::sync::mpsc;

use tamtam_actor::{Address, AskError, EndReason, Pool, Reply};
use tamtam_link::{Link, LinkEnd};

use super::messages::{Count, counter};
use super::partners::{Bond, Partner};
use super::{on_each, until};

#[test]
fn it_may_not_stop_an_actor_nor_link_its_own_with_one() {
    type Wants = fn(&Pool, Address<Bond>);
    let wants: [(Wants, &str); 3] = [
        (|_, far| far.stop(), "it wants to stop actor 0"),
        (|_, far| far.finish(), "it wants to stop actor 0"),
        (
            |pool, far| {
                let own = pool.spawn(Partner::default());
                let (done, linked) = mpsc::channel();
                let reply = Reply::to(move |_| done.send(()).unwrap());
                own.tell(Bond::Link(far, reply)).unwrap();
                linked.recv().unwrap();
            },
            "it wants to link an actor of its own with actor 0",
        ),
    ];
    on_each(|pair| {
        for (want, words) in wants {
            let pool = Pool::with_threads(1);
            let root = pool.spawn(Partner::default());
            let builder = Link::builder().untrusted().root(&root);
            let (here, there) = pair(Link::builder(), builder);
            want(&pool, here.root());
            until("the link has ended", || there.ended().is_some());
            match there.ended() {
                Some(LinkEnd::Protocol(text)) => assert!(text.contains(words), "{text}"),
                other => panic!("{other:?}"),
            }
            assert!(!root.is_stopped());
            assert_eq!(root.ask(Bond::Here), Ok(()));
            until("the other side hears it", || here.ended().is_some());
        }
    });
}

#[test]
fn it_hears_that_a_handler_panicked_and_not_what_that_said() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let root = counter(&pool);
        let builder = Link::builder().untrusted().root(&root);
        let (here, there) = pair(Link::builder(), builder);
        let far = here.root::<Count>();
        let end = far.end();
        let kept = std::thread::spawn({
            let far = far.clone();
            move || far.ask(Count::Keep)
        });
        until("the question is there", || here.pending() == 1);
        far.tell(Count::Fail("the secret of the house".to_owned()))
            .unwrap();
        match kept.join().unwrap() {
            Err(AskError::Panicked(panicked)) => {
                assert_eq!(panicked.message(), "its handler panicked");
                assert_eq!(panicked.name(), None);
            }
            other => panic!("{other:?}"),
        }
        let reason = EndReason::Panicked("its handler panicked".into());
        assert_eq!(end.wait().reason, reason);
        there.close();
    });
}

#[test]
fn what_it_has_sent_counts_until_an_actor_is_done_with_it() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (go, gate) = mpsc::channel::<()>();
        let slow = pool.spawn_fn(move |(_, reply): (Vec<u8>, Option<Reply<u8>>), _| {
            gate.recv().unwrap();
            if let Some(reply) = reply {
                reply.send(1);
            }
        });
        let builder = Link::builder().untrusted().root(&slow);
        let (here, there) = pair(Link::builder(), builder);
        let far = here.root::<(Vec<u8>, Option<Reply<u8>>)>();
        far.tell((vec![1; 1_000], None)).unwrap();
        // Questions count, too, though their answers confirm them.
        let answer = far.ask_async(|reply| (vec![1; 1_000], Some(reply)));
        until("both are there", || there.unhandled() >= 2_128);
        assert!(there.unhandled() < 5_000, "{}", there.unhandled());
        go.send(()).unwrap();
        go.send(()).unwrap();
        until("it is done with both", || there.unhandled() == 0);
        drop(answer);
        here.close();
    });
}
