//! Who hears of an actor's end: watchers, those who wait for it, and those who are linked.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::support::{
    Hold, LONG, SHORT, Soak, block_on, hold, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{Actor, Address, Context, End, EndReason, Ended, Pool, Reply, Restart, Watch};

/// Does what it is told to.
struct Mortal;

enum Fate {
    Panic(&'static str),
    Stop,
    Ask(Reply<()>),
    Link(Address<Fate>, Reply<()>),
    Unlink(Address<Fate>, Reply<bool>),
}

impl Actor for Mortal {
    type Message = Fate;

    fn handle(&mut self, fate: Fate, cx: &mut Context<Self>) {
        match fate {
            Fate::Panic("") => panic_on_purpose(),
            // Without a word from the panic hook, though with a message.
            Fate::Panic(message) => std::panic::resume_unwind(Box::new(message)),
            Fate::Stop => cx.stop(),
            Fate::Ask(reply) => reply.send(()),
            Fate::Link(other, reply) => {
                cx.link(&other);
                reply.send(());
            }
            Fate::Unlink(other, reply) => reply.send(cx.unlink(&other)),
        }
    }
}

/// Watches whom it is told to.
struct Watcher {
    news: mpsc::Sender<Ended>,
    watch: Option<Watch>,
}

enum Order {
    Watch(Address<Fate>, Reply<()>),
    Cancel(Reply<bool>),
    Panic,
}

impl Actor for Watcher {
    type Message = Order;

    fn handle(&mut self, order: Order, cx: &mut Context<Self>) {
        match order {
            Order::Watch(address, reply) => {
                let watch = cx.watch(&address, |watcher, ended, _| {
                    let _ = watcher.news.send(ended);
                });
                self.watch = Some(watch);
                reply.send(());
            }
            Order::Cancel(reply) => reply.send(self.watch.take().unwrap().cancel()),
            Order::Panic => panic_on_purpose(),
        }
    }
}

fn watcher(pool: &Pool) -> (Address<Order>, mpsc::Receiver<Ended>) {
    let (news, heard) = mpsc::channel();
    let watcher = pool
        .spawner()
        .restart(Restart::on_panic())
        .spawn_with(move |_| Watcher {
            news: news.clone(),
            watch: None,
        });
    (watcher, heard)
}

#[test]
fn a_watcher_is_told_once_and_why() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (watcher, heard) = watcher(&pool);
        let panicked = |message: &str| EndReason::Panicked(Arc::from(message));
        for (fate, reason) in [
            (Some(Fate::Panic("oh")), panicked("oh")),
            (Some(Fate::Panic("")), panicked("something that is no text")),
            (Some(Fate::Stop), EndReason::Stopped),
            (None, EndReason::NoAddresses),
        ] {
            let mortal = pool.spawner().name("mortal").spawn(Mortal);
            let id = mortal.id();
            watcher
                .ask(|reply| Order::Watch(mortal.clone(), reply))
                .unwrap();
            let _ = fate.map(|fate| mortal.tell(fate));
            drop(mortal);
            let ended = heard.recv_timeout(LONG).unwrap();
            assert_eq!(ended.reason, reason);
            assert_eq!(ended.id, id);
            assert_eq!(ended.name.as_deref(), Some("mortal"));
        }
        assert!(heard.recv_timeout(SHORT).is_err(), "once");
    });
}

#[test]
fn one_who_has_ended_is_told_of_at_once() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (watcher, heard) = watcher(&pool);
        for fate in [Fate::Stop, Fate::Panic("gone")] {
            let mortal = pool.spawn(Mortal);
            mortal.tell(fate).unwrap();
            let ended = mortal.end().wait();
            watcher
                .ask(|reply| Order::Watch(mortal.clone(), reply))
                .unwrap();
            assert_eq!(heard.recv_timeout(LONG).unwrap(), ended);
            assert_eq!(mortal.end().wait(), ended, "as often as asked");
        }
    });
}

#[test]
fn a_cancelled_watch_tells_nothing() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (watcher, heard) = watcher(&pool);
        let mortal = pool.spawn(Mortal);
        let watch = |mortal: &Address<Fate>| {
            watcher
                .ask(|reply| Order::Watch(mortal.clone(), reply))
                .unwrap();
        };
        watch(&mortal);
        assert_eq!(watcher.ask(Order::Cancel), Ok(true));
        mortal.stop();
        mortal.end().wait();
        let mortal = pool.spawn(Mortal);
        watch(&mortal);
        mortal.stop();
        let ended = heard.recv_timeout(LONG).unwrap();
        assert_eq!(ended.id, mortal.id(), "the first one's end was not told");
        assert_eq!(watcher.ask(Order::Cancel), Ok(false), "too late");
    });
}

#[test]
fn the_watches_of_an_earlier_instance_are_over() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (watcher, heard) = watcher(&pool);
        let mortal = pool.spawn(Mortal);
        let watch = || {
            watcher
                .ask(|reply| Order::Watch(mortal.clone(), reply))
                .unwrap();
        };
        watch();
        watcher.tell(Order::Panic).unwrap();
        watch();
        mortal.stop();
        heard.recv_timeout(LONG).unwrap();
        watch();
        assert_eq!(heard.recv_timeout(LONG).unwrap().id, mortal.id());
        assert!(heard.try_recv().is_err(), "told twice, not three times");
    });
}

#[test]
fn a_restart_is_no_end() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let mortal = pool
            .spawner()
            .restart(Restart::on_panic())
            .spawn_with(|_| Mortal);
        let mut end = mortal.end();
        mortal.tell(Fate::Panic("")).unwrap();
        assert_eq!(mortal.ask(Fate::Ask), Ok(()));
        assert!(end.wait_timeout(SHORT).is_none());
        mortal.stop();
        assert_eq!(end.wait().reason, EndReason::Stopped);
    });
}

#[test]
fn an_end_is_awaited_and_tells_when_all_is_over() {
    within_limit(|| {
        struct Slow {
            dropped: Arc<AtomicU64>,
        }
        impl Actor for Slow {
            type Message = Hold;
            fn handle(&mut self, hold: Hold, _: &mut Context<Self>) {
                hold.wait();
            }
        }
        impl Drop for Slow {
            fn drop(&mut self) {
                self.dropped.fetch_add(1, Ordering::SeqCst);
            }
        }
        let pool = Pool::with_threads(2);
        let dropped = Arc::new(AtomicU64::new(0));
        let slow = pool.spawn(Slow {
            dropped: Arc::clone(&dropped),
        });
        let (wait, gate) = hold();
        slow.tell(wait).unwrap();
        gate.until_entered();
        slow.tell(hold().0).unwrap();
        let end = slow.end();
        slow.stop();
        let opener = thread::spawn(move || gate.open());
        let ended = block_on(end);
        assert_eq!(ended.reason, EndReason::Stopped);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert_eq!(slow.lost(), 1);
        opener.join().unwrap();
        // A dropped one is forgotten.
        let other = pool.spawn(Mortal);
        for _ in 0..1_000 {
            drop(other.end());
        }
        let mut kept = other.end();
        assert!(kept.wait_timeout(Duration::ZERO).is_none());
    });
}

#[test]
fn the_end_of_a_pool_ends_those_who_are_watched() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let other = Pool::with_threads(1);
        let (watcher, heard) = watcher(&other);
        // Idle, so nobody would find it.
        let mortal = pool.spawn(Mortal);
        assert_eq!(mortal.ask(Fate::Ask), Ok(()));
        watcher
            .ask(|reply| Order::Watch(mortal.clone(), reply))
            .unwrap();
        let end = mortal.end();
        drop(pool);
        assert_eq!(end.wait().reason, EndReason::HomeEnded);
        assert_eq!(
            heard.recv_timeout(LONG).unwrap().reason,
            EndReason::HomeEnded
        );
        assert!(mortal.is_stopped());
        assert!(mortal.tell(Fate::Stop).is_err());
    });
}

/// Wish 25 (kameo 220).
#[test]
fn two_who_link_each_other_end_together() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for _ in Soak::rounds(100) {
            let (a, b) = (pool.spawn(Mortal), pool.spawn(Mortal));
            // From both sides at once.
            thread::scope(|scope| {
                scope.spawn(|| a.ask(|reply| Fate::Link(b.clone(), reply)).unwrap());
                scope.spawn(|| b.ask(|reply| Fate::Link(a.clone(), reply)).unwrap());
            });
            a.tell(Fate::Panic("first")).unwrap();
            let first = a.end().wait();
            let EndReason::Linked(by) = b.end().wait().reason else {
                panic!("another reason")
            };
            assert_eq!(*by, first);
        }
    });
}

#[test]
fn links_are_a_chain_for_what_goes_wrong_only() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let link = |a: &Address<Fate>, b: &Address<Fate>| {
            a.ask(|reply| Fate::Link(b.clone(), reply)).unwrap();
        };
        let chain: Vec<_> = (0..20).map(|_| pool.spawn(Mortal)).collect();
        for pair in chain.windows(2) {
            link(&pair[0], &pair[1]);
        }
        // Out in order: nobody follows.
        chain[19].stop();
        chain[19].end().wait();
        // Taken back, from the other side.
        let unlinked = chain[10].ask(|reply| Fate::Unlink(chain[9].clone(), reply));
        assert_eq!(unlinked, Ok(true));
        let again = chain[9].ask(|reply| Fate::Unlink(chain[10].clone(), reply));
        assert_eq!(again, Ok(false));
        chain[0].tell(Fate::Panic("the first of all")).unwrap();
        let mut reason = chain[9].end().wait().reason;
        for _ in 0..9 {
            let EndReason::Linked(by) = reason else {
                panic!("{reason}")
            };
            reason = by.reason.clone();
        }
        assert_eq!(reason, EndReason::Panicked(Arc::from("the first of all")));
        assert_eq!(chain[10].ask(Fate::Ask), Ok(()));
        // One that is over already.
        let late = pool.spawn(Mortal);
        let asked = late.ask(|reply| Fate::Link(chain[0].clone(), reply));
        assert_eq!(asked, Ok(()));
        assert!(matches!(late.end().wait().reason, EndReason::Linked(_)));
    });
}

/// Each has ended since the one before it has: a reason that holds all of them could not be said, nor dropped, on any stack.
#[test]
fn a_long_chain_of_links_ends_with_a_reason_that_can_be_said() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let chain: Vec<_> = (0..20_000).map(|_| pool.spawn(Mortal)).collect();
        for pair in chain.windows(2) {
            let linked = pair[0].ask(|reply| Fate::Link(pair[1].clone(), reply));
            linked.unwrap();
        }
        chain[0].tell(Fate::Panic("the first of all")).unwrap();
        let reason = chain[chain.len() - 1].end().wait().reason;
        let text = reason.to_string();
        assert!(text.ends_with("it panicked: the first of all"), "{text}");
        assert!(text.len() < 10_000, "{text}");
    });
}

#[test]
fn a_watcher_that_has_ended_is_forgotten() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let mortal = pool.spawn(Mortal);
        // What a watch keeps is dropped with the watcher, though the other one lives on.
        let kept = Arc::new(());
        for _ in 0..100 {
            let mine = Arc::clone(&kept);
            let other = mortal.clone();
            struct Brief;
            impl Actor for Brief {
                type Message = ();
                fn handle(&mut self, (): (), _: &mut Context<Self>) {}
            }
            let brief = pool.spawn_with(move |cx| {
                cx.watch(&other, move |_: &mut Brief, _, _| drop(mine));
                Brief
            });
            brief.tell(()).unwrap();
        }
        until(|| Arc::strong_count(&kept) == 1);
        assert_eq!(mortal.ask(Fate::Ask), Ok(()));
    });
}

/// Ends and watches meet in every order: each watcher is told once.
#[test]
fn each_watcher_is_told_once_whenever_it_comes() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 200 } else { 1_000 });
    within(rounds.limit(), move || {
        let pool = Pool::with_threads(2);
        let (watcher, heard) = watcher(&pool);
        for _ in rounds {
            let mortal = pool.spawn(Mortal);
            let told = Arc::new(Mutex::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..5 {
                        watcher
                            .ask(|reply| Order::Watch(mortal.clone(), reply))
                            .unwrap();
                    }
                });
                scope.spawn(|| {
                    assert_eq!(mortal.end().wait().reason, EndReason::Stopped);
                    *told.lock().unwrap() += 1;
                });
                scope.spawn(|| mortal.stop());
            });
            for _ in 0..5 {
                assert_eq!(heard.recv_timeout(LONG).unwrap().id, mortal.id());
            }
            assert!(heard.try_recv().is_err());
            assert_eq!(*told.lock().unwrap(), 1);
        }
    });
}

/// A future that has waited first got what came, and the thread waited for ever; and an end that was had once could not be had again.
#[test]
fn an_end_is_had_in_each_way_after_each_other() {
    fn polled(end: &mut End) -> Option<EndReason> {
        match Pin::new(end).poll(&mut TaskContext::from_waker(Waker::noop())) {
            Poll::Ready(ended) => Some(ended.reason),
            Poll::Pending => None,
        }
    }

    fn timed(end: &mut End) -> Option<EndReason> {
        Some(end.wait_timeout(LONG)?.reason)
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let stopped = Some(EndReason::Stopped);
        for stops_first in [true, false] {
            let actor = pool.spawn(Mortal);
            let (mut first, mut other, mut last) = (actor.end(), actor.end(), actor.end());
            for end in [&mut first, &mut other, &mut last] {
                assert_eq!(polled(end), None);
            }
            if stops_first {
                actor.stop();
                actor.end().wait();
            }
            let stopping = thread::spawn(move || actor.stop());
            assert_eq!(timed(&mut first), stopped);
            // Again, and in the other ways.
            assert_eq!(timed(&mut first), stopped);
            assert_eq!(
                (polled(&mut first), polled(&mut first)),
                (stopped.clone(), stopped.clone())
            );
            assert_eq!(first.wait().reason, EndReason::Stopped);
            // They are told one after the other.
            until(|| polled(&mut other).is_some());
            assert_eq!(polled(&mut other), stopped);
            assert_eq!(
                (timed(&mut other), timed(&mut other)),
                (stopped.clone(), stopped.clone())
            );
            assert_eq!(other.wait().reason, EndReason::Stopped);
            assert_eq!(last.wait().reason, EndReason::Stopped);
            stopping.join().unwrap();
        }
    });
}
