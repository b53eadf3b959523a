//! How much is held for a page that does not read, or that sends more than its actor takes.

use std::sync::mpsc;
use std::time::Duration;

use futures_util::SinkExt;
use tamtam_actor::{Overflow, Pool};
use tamtam_gateway::{Gateway, Limits, LinkRoot};
use tamtam_link::Link;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::hostile::{closed, frame, hello};
use super::{Count, PROTOCOL, Page, counter, gateway, listener, web_socket};
use crate::push::figure;
use crate::world::{Running, run};

fn limits() -> Limits {
    Limits {
        push_bytes: 64 << 10,
        ..Limits::default()
    }
}

#[test]
fn a_page_that_does_not_read_is_closed_and_what_is_held_for_it_is_bounded() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool).limits(limits())).await;
        let mut socket = web_socket(&server, "/link/counter", &[PROTOCOL])
            .await
            .unwrap();
        socket.send(Message::binary(hello())).await.unwrap();
        let links = r#"tamtam_gateway_links{name="counter"}"#;
        until!("it is linked", figure(&server, links).await == 1);
        // It exports an actor without a window, asks that this be told more than all systems between here and there take, and reads nothing. It says
        // that at once: of what came when the server is through with it the system would tell by a reset, before the last word is read.
        let flood = b"\x02\0\0\x01\x01\0{\"Flood\":[{\"$address\":[0,1]},1000]}";
        let message = frame(flood).repeat(100);
        socket.send(Message::binary(message)).await.unwrap();
        let mut most_held = 0;
        loop {
            let held = figure(&server, "tamtam_gateway_push_held_bytes").await;
            most_held = most_held.max(held);
            if figure(&server, links).await == 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(most_held <= 64 << 10, "{most_held}");
        // The server has waited for a second that this is read.
        let (code, reason) = closed(socket).await;
        assert_eq!(
            (code, &*reason),
            (CloseCode::Policy, "the page does not read what it is sent")
        );
        until!("what was held is given back", {
            figure(&server, "tamtam_gateway_push_held_bytes").await == 0
        });
    });
}

#[test]
fn a_page_that_sends_more_than_its_actor_takes_is_held_back_and_nothing_is_lost() {
    run(|| async {
        let pool = Pool::new();
        let (go, gate) = mpsc::channel::<()>();
        let (sender, received) = mpsc::channel();
        // A mailbox with a limit says how many are in it.
        let spawner = pool.spawner().limited(1 << 20, Overflow::Fail);
        let slow = spawner.spawn_fn(move |text: String, _| {
            gate.recv().unwrap();
            sender.send(text.len()).unwrap();
        });
        let at_root = slow.clone();
        let root = LinkRoot::new("slow", move |_| at_root.clone());
        let server = Running::of(Gateway::new().link(root).limits(limits())).await;
        let page = Page::of(&server, "/link/slow", &[PROTOCOL], Link::builder()).await;
        let far = page.link.root::<String>();
        // More than the systems between here and there take.
        let count = 8_000;
        for _ in 0..count {
            far.tell("x".repeat(1_000)).unwrap();
        }
        // The server reads until its bound, and no further.
        let most = (64 << 10) / 1_064 + 1;
        until!("the mailbox is as full as it gets", {
            queued(&slow) >= most - 2
        });
        for _ in 0..100 {
            tokio::task::yield_now().await;
            // A message of the WebSocket is taken as a whole.
            let queued = queued(&slow);
            assert!(queued <= most + 64, "{queued} of {count} wait");
        }
        assert!(page.link.unconfirmed() > 1_000);
        for _ in 0..count {
            go.send(()).unwrap();
        }
        let all = super::blocking(move || received.iter().take(count).all(|it| it == 1_000)).await;
        assert!(all);
        until!("all is confirmed", page.link.unconfirmed() == 0);
        page.link.close();
    });
}

/// How many messages wait in the mailbox of an actor.
fn queued<M>(address: &tamtam_actor::Address<M>) -> usize {
    address.level().map_or(0, |level| level.queued)
}

#[test]
fn a_page_whose_messages_no_actor_takes_is_closed_in_the_end() {
    run(|| async {
        let pool = Pool::new();
        let (go, gate) = mpsc::channel::<()>();
        let stuck = pool.spawn_fn(move |_: String, _| {
            let _ = gate.recv();
        });
        let root = LinkRoot::new("stuck", move |_| stuck.clone());
        let limits = Limits {
            time: Duration::from_secs(1),
            ..limits()
        };
        let server = Running::of(Gateway::new().link(root).limits(limits)).await;
        let page = Page::of(&server, "/link/stuck", &[PROTOCOL], Link::builder()).await;
        // More than the server reads, and no more than all systems between here and there take: the page hears why it is closed.
        for _ in 0..200 {
            let _ = page.link.root::<String>().tell("x".repeat(1_000));
        }
        let (code, reason) = page.closed().await.expect("a reason");
        assert_eq!(code, CloseCode::Policy);
        assert_eq!(reason, "its messages wait, and no actor takes one");
        drop(go);
    });
}

/// A server that waits shortly for its clients, though longer than a busy machine keeps one from its answer, and a page without a link that says no more than this.
async fn meet_silent(pool: &Pool, said: Vec<u8>) -> (Running, WebSocketStream<TcpStream>) {
    let limits = Limits {
        patience: Duration::from_secs(2),
        ..limits()
    };
    let server = Running::of(gateway(pool).limits(limits)).await;
    let mut silent = web_socket(&server, "/link/counter", &[PROTOCOL])
        .await
        .unwrap();
    silent.send(Message::binary(said)).await.unwrap();
    (server, silent)
}

#[test]
fn a_page_that_is_silent_is_asked_and_one_that_does_not_answer_is_closed() {
    run(|| async {
        let pool = Pool::new();
        let (server, silent) = meet_silent(&pool, hello()).await;
        // It reads, so that it answers what it is asked, and says nothing by itself.
        let page = Page::open(&server).await;
        assert_eq!(page.root().ask_async(Count::Total).await, Ok(0));
        let links = r#"tamtam_gateway_links{name="counter"}"#;
        until!("both are there", figure(&server, links).await == 2);
        until!("one is gone", figure(&server, links).await == 1);
        let (code, reason) = closed(silent).await;
        assert_eq!(
            (code, &*reason),
            (CloseCode::Policy, "the page answers no ping")
        );
        assert_eq!(page.root().ask_async(Count::Total).await, Ok(0));
        page.link.close();
    });
}

#[test]
fn a_page_that_answers_pings_and_says_no_hello_is_closed() {
    run(|| async {
        let pool = Pool::new();
        // A part of it is none, and what is read answers pings.
        let (_server, silent) = meet_silent(&pool, hello()[..5].to_vec()).await;
        let (code, reason) = closed(silent).await;
        assert_eq!(
            (code, &*reason),
            (CloseCode::Policy, "the page has not said hello in time")
        );
    });
}

#[test]
fn a_message_that_is_too_large_comes_back_at_each_side() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool).limits(limits())).await;
        // What the page takes is less than what the server does.
        let builder = Link::builder().longest_frame(2_048);
        let page = Page::of(&server, "/link/counter", &[PROTOCOL], builder).await;
        let root = page.root();
        let (own, told) = listener::<String>(&pool);
        for (letters, outcome) in [
            (1_900, "told"),
            (2_100, "the link carries 2048 at once"),
            (1_900, "told"),
        ] {
            let own = own.clone();
            let said = root
                .ask_async(move |reply| Count::Say(own, letters, reply))
                .await;
            assert!(
                said.as_ref().is_ok_and(|said| said.contains(outcome)),
                "{said:?}"
            );
        }
        let heard = super::blocking(move || {
            [told.recv(), told.recv()].map(|text| text.map(|text| text.len()))
        });
        assert_eq!(heard.await, [Ok(1_900), Ok(1_900)]);
        page.link.close();
        let page = Page::open(&server).await;
        let root = page.root();
        assert_eq!(root.ask_async(Count::Total).await, Ok(0));
        let asked =
            |bytes: usize| root.ask_async(move |reply| Count::Bytes("x".repeat(bytes), reply));
        assert_eq!(asked(16_000).await, Ok(16_000));
        let refused = asked(17_000).await.unwrap_err().to_string();
        assert!(
            refused.contains("the link carries 16384 at once"),
            "{refused}"
        );
        assert_eq!(root.ask_async(Count::Total).await, Ok(0));
        page.link.close();
    });
}

#[test]
fn addresses_of_a_page_do_not_outlive_it() {
    run(|| async {
        let pool = Pool::new();
        let root = counter(&pool, None);
        let at_root = root.clone();
        let gateway = Gateway::new().link(LinkRoot::new("counter", move |_| at_root.clone()));
        let server = Running::of(gateway).await;
        for number in 0..20 {
            let page = Page::open(&server).await;
            let (own, sums) = listener::<u64>(&pool);
            page.root().tell(Count::Watch(own)).unwrap();
            page.root().tell(Count::Add(1)).unwrap();
            super::blocking(move || sums.recv().unwrap()).await;
            if number % 2 == 0 {
                page.link.close();
                page.closed().await;
            } else {
                // It does not say goodbye.
                page.closed.abort();
            }
        }
        let links = r#"tamtam_gateway_links{name="counter"}"#;
        until!("all are gone", figure(&server, links).await == 0);
        // Those that are gone are told nothing: the actor learns it as it tries.
        root.tell(Count::Add(1)).unwrap();
        assert_eq!(root.ask_async(Count::Total).await, Ok(21));
        assert_eq!(root.ask_async(Count::Watchers).await, Ok(0));
    });
}
