//! A side that is not trusted and sends without an end: how much of that waits here, over each carrier that reads by itself.
#![cfg(unix)]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Overflow, Pool, Reply, Supervision,
};
use tamtam_link::{Link, LinkBuilder, LinkEnd, carrier};

use crate::suite::{LONG, until};

/// A link, and where its other side writes.
type Meet = fn(LinkBuilder) -> (Link, Box<dyn Write + Send>);

const CARRIERS: &[(&str, Meet)] = &[
    ("Unix socket", |builder| {
        let (here, there) = UnixStream::pair().unwrap();
        (carrier::unix(builder, here).unwrap(), Box::new(there))
    }),
    ("TCP", |builder| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (here, _) = listener.accept().unwrap();
        (carrier::tcp(builder, here).unwrap(), Box::new(there))
    }),
    ("pipes", |builder| {
        let (to_here, from_there) = std::io::pipe().unwrap();
        let (to_there, from_here) = std::io::pipe().unwrap();
        // What is said to it waits in the pipe.
        std::mem::forget(to_there);
        let link = carrier::pipes(builder, to_here, from_here).unwrap();
        (link, Box::new(from_there))
    }),
    ("streams", |builder| {
        let (here, there) = UnixStream::pair().unwrap();
        let (read, write) = (here.try_clone().unwrap(), here);
        let link = carrier::streams(builder, read, write, || {}).unwrap();
        (link, Box::new(there))
    }),
];

const MOST: usize = 256 << 10;
/// Bytes of each message, and what more it takes in a frame at most.
const BYTES: usize = 1_000;
const FRAME: usize = 16;
const MESSAGES: usize = 32 << 10;
/// What the system holds of it: sockets of 8 MiB at most, by this machine's limits.
const IN_CARRIER: usize = 16 << 20;

/// Hello, which offers an actor, and a message to the root, whose bytes begin with its number.
fn said(pool: &Pool) -> (Vec<u8>, impl Fn(usize) -> Vec<u8> + use<>) {
    let silent = pool.spawn_fn(|_: Reply<u32>, _| {});
    let (link, _inbound) = Link::builder().root(&silent).build(|| {});
    let far: Address<(u64, String)> = link.root();
    let mut hello = Vec::new();
    link.take_outgoing(&mut hello);
    let message = move |number| {
        let mut message = Vec::new();
        far.tell((number as u64, "x".repeat(BYTES))).unwrap();
        link.take_outgoing(&mut message);
        message
    };
    (hello, message)
}

/// Writes hello and so many messages, each when there is room for it; how many were written so far.
fn flood(
    pool: &Pool,
    mut there: impl Write + Send + 'static,
    messages: usize,
) -> (Arc<AtomicUsize>, thread::JoinHandle<impl Write + Send>) {
    let written = Arc::new(AtomicUsize::new(0));
    let (hello, message) = said(pool);
    let count = Arc::clone(&written);
    let flood = thread::spawn(move || {
        there.write_all(&hello).unwrap();
        for number in 0..messages {
            there.write_all(&message(number)).unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
        there
    });
    (written, flood)
}

/// How many messages were written when the flood comes to rest, or to its end.
fn at_rest(written: &AtomicUsize) -> usize {
    let mut before = 0;
    while before != written.load(Ordering::SeqCst) {
        before = written.load(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(100));
    }
    before
}

#[test]
fn what_it_has_sent_and_is_not_handled_is_bounded_and_other_links_go_on() {
    for (name, meet) in CARRIERS {
        println!("over {name}");
        let pool = Pool::with_threads(2);
        let (give, given) = mpsc::channel();
        let (let_go, gate) = mpsc::channel();
        let (note, noted) = mpsc::channel::<(u64, usize)>();
        let slow = pool.spawn_fn({
            let mut link: Option<Link> = None;
            move |(number, text): (u64, String), _| {
                let link = link.get_or_insert_with(|| {
                    let link = given.recv().unwrap();
                    gate.recv().unwrap();
                    link
                });
                assert_eq!(text.len(), BYTES);
                note.send((number, link.unhandled())).unwrap();
            }
        });
        let builder = Link::builder().untrusted().root(&slow);
        let (link, there) = meet(builder.most_unhandled(MOST, LONG));
        give.send(link.clone()).unwrap();
        let (written, flood) = flood(&pool, there, MESSAGES);
        until("no more is read", || !link.has_room());
        let before = at_rest(&written);
        let most = (MOST + IN_CARRIER) / BYTES;
        assert!(before < most.min(MESSAGES), "{before} messages were taken");

        // Another link to the same pool has what it wants meanwhile.
        let doubler = pool.spawn_fn(|(number, reply): (u32, Reply<u32>), _| reply.send(2 * number));
        let (one, other) = UnixStream::pair().unwrap();
        let _offered = carrier::unix(Link::builder().untrusted().root(&doubler), one).unwrap();
        let asks = carrier::unix(Link::builder(), other).unwrap();
        let far: Address<(u32, Reply<u32>)> = asks.root();
        for number in 0..1_000 {
            assert_eq!(far.ask(|reply| (number, reply)), Ok(2 * number));
        }
        asks.close();

        // All of it comes, in order, and never more than that waits.
        let_go.send(()).unwrap();
        let counted = BYTES + FRAME + 64;
        let most = MOST + (64 << 10) / BYTES * counted + counted;
        for number in 0..MESSAGES as u64 {
            let (came, unhandled) = noted.recv_timeout(LONG).unwrap();
            assert_eq!(came, number);
            assert!(unhandled <= most, "{unhandled} bytes waited");
        }
        drop(flood.join().unwrap());
        until("the end is heard", || link.ended().is_some());
        assert!(matches!(link.ended(), Some(LinkEnd::Lost(_))));
    }
}

#[test]
fn an_answer_that_cannot_come_as_nothing_before_it_is_handled_ends_the_link() {
    for (name, meet) in CARRIERS {
        println!("over {name}");
        let pool = Pool::with_threads(1);
        let (give, given) = mpsc::channel::<Address<Reply<u32>>>();
        let (say, said_of_it) = mpsc::channel();
        // At its first message it asks the side that has sent all the others.
        let asker = pool.spawn_fn(move |_: (u64, String), _| {
            if let Ok(far) = given.recv() {
                say.send(far.ask(|reply| reply)).unwrap();
            }
        });
        let builder = Link::builder().untrusted().root(&asker);
        let patience = Duration::from_millis(300);
        let (link, mut there) = meet(builder.most_unhandled(MOST, patience));
        give.send(link.root()).unwrap();
        drop(give);
        let (hello, message) = said(&pool);
        let flood = thread::spawn(move || {
            let mut number = 0;
            let mut wrote = there.write_all(&hello);
            while wrote.is_ok() {
                wrote = there.write_all(&message(number));
                number += 1;
            }
        });
        match said_of_it.recv_timeout(LONG).unwrap() {
            Err(AskError::Unreachable(failure)) => {
                let text = failure.text();
                assert!(text.contains("is awaited behind"), "{text}");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(link.ended(), Some(LinkEnd::Unhandled(bytes)) if bytes >= MOST));
        assert!(matches!(
            link.root::<()>().end().wait().reason,
            EndReason::LinkLost(_)
        ));
        if *name != "streams" {
            flood.join().unwrap();
        }
    }
}

/// It is killed, say, with its bytes in the socket, while no actor takes any.
#[test]
fn the_end_of_one_that_is_held_back_is_heard_at_once() {
    let pool = Pool::with_threads(1);
    let (let_go, gate) = mpsc::channel::<()>();
    let slow = pool.spawn_fn(move |_: (u64, String), _| {
        let _ = gate.recv();
    });
    let (here, mut there) = UnixStream::pair().unwrap();
    let builder = Link::builder().untrusted().root(&slow);
    let link = carrier::unix(builder.most_unhandled(MOST, LONG), here).unwrap();
    let (hello, message) = said(&pool);
    there.write_all(&hello).unwrap();
    // As many as are read, and no more than the socket takes.
    for number in 0..MOST / (BYTES + 64) + 4 {
        there.write_all(&message(number)).unwrap();
    }
    until("no more is read", || !link.has_room());
    drop(there);
    let far: Address<Reply<u32>> = link.root();
    assert!(matches!(
        far.ask(|reply| reply),
        Err(AskError::Unreachable(_))
    ));
    assert!(matches!(link.ended(), Some(LinkEnd::Lost(_))));
    drop(let_go);
}

/// It is done with no message before it is let go.
#[derive(Clone, Default)]
struct Slow {
    goes: Arc<AtomicBool>,
    done: Arc<AtomicUsize>,
}

impl Actor for Slow {
    type Message = (u64, String);

    fn handle(&mut self, _: Self::Message, _: &mut Context<Self>) {
        while !self.goes.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// A mailbox of each kind; and whether each message that comes is handled.
type Spawn = fn(&Pool, Slow) -> Address<(u64, String)>;

const MAILBOXES: &[(&str, Spawn, bool)] = &[
    ("in order", |pool, slow| pool.spawn(slow), true),
    (
        "with priorities",
        |pool, slow| {
            let spawner = pool.spawner();
            let by_number = |(number, _): &(u64, String)| (number % 3) as u8;
            spawner.priorities(by_number).spawn(slow)
        },
        true,
    ),
    (
        "with a key for each message",
        |pool, slow| {
            let spawner = pool.spawner();
            let number = |(number, _): &(u64, String)| *number;
            spawner.latest_by(number).spawn(slow)
        },
        true,
    ),
    (
        "with one key for all messages",
        |pool, slow| {
            let spawner = pool.spawner();
            spawner.latest_by(|_: &(u64, String)| 0).spawn(slow)
        },
        false,
    ),
    (
        "of which the oldest are dropped",
        |pool, slow| {
            let spawner = pool.spawner();
            let limited = spawner.limited(1_000, Overflow::DropOldest);
            limited.spawn(slow)
        },
        false,
    ),
    (
        "of one that is begun again",
        |pool, slow| {
            let mut tree = Supervision::new(Default::default());
            let child = tree.child("slow", pool.spawner(), move |_| slow.clone());
            // It is there for as long as the pool.
            std::mem::forget(tree.start(pool.spawner()));
            child
        },
        true,
    ),
    (
        "of one that can be replaced",
        |pool, slow| {
            let spawner = pool.spawner().replaceable();
            spawner.spawn_with(move |_| slow.clone())
        },
        true,
    ),
    (
        "of one that can be replaced, with priorities",
        |pool, slow| {
            let spawner = pool.spawner().replaceable();
            let by_number = |(number, _): &(u64, String)| (number % 3) as u8;
            let spawner = spawner.priorities(by_number);
            spawner.spawn_with(move |_| slow.clone())
        },
        true,
    ),
];

/// So many messages are more than may wait, and what lies in the carrier.
const FLOOD: usize = 20_000;

#[test]
fn what_waits_is_bounded_in_each_kind_of_mailbox() {
    for (name, spawn, is_all_handled) in MAILBOXES {
        println!("a mailbox {name}");
        let pool = Pool::with_threads(1);
        let slow = Slow::default();
        let actor = spawn(&pool, slow.clone());
        let (here, there) = UnixStream::pair().unwrap();
        let builder = Link::builder().untrusted().root(&actor);
        let link = carrier::unix(builder.most_unhandled(MOST, LONG), here).unwrap();
        let (written, flood) = flood(&pool, there, FLOOD);
        until("it has begun", || written.load(Ordering::SeqCst) > 0);
        let before = at_rest(&written);
        let most = (MOST + IN_CARRIER) / BYTES;
        // First, since a pool waits for its handlers if this fails.
        slow.goes.store(true, Ordering::SeqCst);
        assert!(before < most, "{name}: {before} messages were taken");
        let there = flood.join().unwrap();
        until("all has gone", || link.unhandled() == 0);
        if *is_all_handled {
            let done = || slow.done.load(Ordering::SeqCst);
            until("all is handled", || done() == FLOOD);
        }
        drop(there);
        until("the end is heard", || link.ended().is_some());
    }
}

#[test]
fn each_address_in_a_message_counts_for_what_it_takes_here() {
    let pool = Pool::with_threads(1);
    let (let_go, gate) = mpsc::channel::<()>();
    let busy = pool.spawn_fn(move |_: Vec<Address<u64>>, _| {
        let _ = gate.recv();
    });
    let (link, mut inbound) = Link::builder().untrusted().root(&busy).build(|| {});
    let (other, _inbound) = Link::builder().build(|| {});
    let addresses: Vec<_> = (0..100).map(|_| pool.spawn_fn(|_: u64, _| {})).collect();
    other.root().tell(addresses).unwrap();
    let mut bytes = Vec::new();
    other.take_outgoing(&mut bytes);
    assert!(bytes.len() < 1_000);
    inbound.receive(&bytes).unwrap();
    let unhandled = link.unhandled();
    assert!(unhandled > 100 * 256, "{unhandled} bytes");
    drop(let_go);
    until("it is handled", || link.unhandled() == 0);
}
