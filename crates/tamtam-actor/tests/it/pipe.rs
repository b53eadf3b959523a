//! Futures that an actor goes on with: beside its messages, or before them.

use std::future::{pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context as TaskContext, Poll};
use std::thread;
use std::time::Duration;

use crate::support::{Hold, LONG, block_on, hold, until, within_limit};
use tamtam_actor::{Actor, Address, AskError, Context, Pool, Reply};
use tamtam_channel::{Receiver, bounded};

enum Order {
    Pipe(Receiver<u32>),
    Hold(Receiver<u32>),
    Never,
    Note(u32),
    Read(Reply<Vec<u32>>),
}

/// Notes what it gets, and in what order.
#[derive(Default)]
struct Notebook(Vec<u32>);

impl Actor for Notebook {
    type Message = Order;

    fn handle(&mut self, order: Order, cx: &mut Context<Self>) {
        match order {
            Order::Pipe(from) => cx.pipe(async move { from.recv_async().await }, |this, got, _| {
                this.0.push(got.unwrap_or(999));
            }),
            Order::Hold(from) => cx.hold(async move { from.recv_async().await }, |this, got, _| {
                this.0.push(got.unwrap_or(999));
            }),
            Order::Never => cx.hold(pending(), |_, (), _| unreachable!("it never ends")),
            Order::Note(number) => self.0.push(number),
            Order::Read(reply) => reply.send(self.0.clone()),
        }
    }
}

#[test]
fn messages_go_on_beside_a_pipe() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let notebook = pool.spawn(Notebook::default());
        let (sender, receiver) = bounded(1);
        notebook.tell(Order::Pipe(receiver)).unwrap();
        notebook.tell(Order::Note(1)).unwrap();
        assert_eq!(notebook.ask(Order::Read), Ok(vec![1]));
        sender.send(2).unwrap();
        until(|| notebook.ask(Order::Read).unwrap() == [1, 2]);
    });
}

#[test]
fn messages_wait_for_the_end_of_a_hold() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let notebook = pool.spawn(Notebook::default());
        let (sender, receiver) = bounded(1);
        notebook.tell(Order::Hold(receiver)).unwrap();
        notebook.tell(Order::Note(1)).unwrap();
        let answer = notebook.ask_async(Order::Read);
        sender.send(2).unwrap();
        assert_eq!(block_on(answer), Ok(vec![2, 1]));
    });
}

#[test]
fn of_several_holds_the_last_one_lets_messages_go_on() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let notebook = pool.spawn(Notebook::default());
        let (first, receiver) = bounded(1);
        let other = {
            let (second, other) = bounded(1);
            let actor = pool.spawn_fn(move |hold: Hold, _| {
                hold.wait();
                second.send(3).unwrap();
            });
            let (wait, gate) = hold();
            actor.tell(wait).unwrap();
            notebook.tell(Order::Hold(receiver)).unwrap();
            gate.open();
            other
        };
        // It is held already, so this comes to its turn after the first one.
        notebook.tell(Order::Hold(other)).unwrap();
        notebook.tell(Order::Note(4)).unwrap();
        first.send(1).unwrap();
        assert_eq!(notebook.ask(Order::Read), Ok(vec![1, 3, 4]));
    });
}

/// Awaits many things at once; they end in another order.
#[test]
fn many_pipes_at_once() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let notebook = pool.spawn(Notebook::default());
        let senders: Vec<_> = (0..1_000)
            .map(|_| {
                let (sender, receiver) = bounded(1);
                notebook.tell(Order::Pipe(receiver)).unwrap();
                sender
            })
            .collect();
        for (number, sender) in senders.into_iter().enumerate().rev() {
            sender.send(u32::try_from(number).unwrap()).unwrap();
        }
        until(|| notebook.ask(Order::Read).unwrap().len() == 1_000);
        let mut all = notebook.ask(Order::Read).unwrap();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1_000));
    });
}

#[test]
fn a_future_ends_with_its_actor() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let notebook = pool.spawn(Notebook::default());
        let (sender, receiver) = bounded::<u32>(1);
        notebook.tell(Order::Hold(receiver)).unwrap();
        notebook.tell(Order::Note(1)).unwrap();
        notebook.stop();
        // The receiver was in the future.
        until(|| sender.is_closed());
        until(|| notebook.is_stopped());
        until(|| notebook.lost() >= 1);
    });
}

#[test]
fn a_held_actor_is_stopped_from_outside() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let notebook = pool.spawn(Notebook::default());
        notebook.tell(Order::Never).unwrap();
        let answer = notebook.ask_async(Order::Read);
        notebook.stop();
        assert_eq!(block_on(answer), Err(AskError::Unanswered));
    });
}

/// Answers when it has the answer of another one, and takes no other question meanwhile.
struct Clerk(Option<Address<Reply<u32>>>, u32);

impl Actor for Clerk {
    type Message = Reply<u32>;

    fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
        let Some(other) = &self.0 else {
            self.1 += 1;
            return reply.send(self.1);
        };
        cx.hold(other.ask_async(|reply| reply), |_, answer, _| {
            reply.send(answer.unwrap());
        });
    }
}

#[test]
fn a_hold_for_an_answer_keeps_the_order_of_questions() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let last = pool.spawn(Clerk(None, 0));
        let middle = pool.spawn(Clerk(Some(last), 0));
        let first = pool.spawn(Clerk(Some(middle), 0));
        let answers: Vec<_> = (0..1_000).map(|_| first.ask_async(|reply| reply)).collect();
        for (number, answer) in (1..).zip(answers) {
            assert_eq!(block_on(answer), Ok(number));
        }
    });
}

/// The last address goes while an answer is on its way: the actor is not through before it is there.
#[test]
fn an_actor_without_addresses_goes_on_with_what_it_awaits() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for _ in 0..200 {
            let last = pool.spawn(Clerk(None, 0));
            let first = pool.spawn(Clerk(Some(last), 0));
            let answer = first.ask_async(|reply| reply);
            drop(first);
            assert_eq!(block_on(answer), Ok(1));
        }
    });
}

/// Asks another one by `cx.ask`, and its own last address is gone by then.
struct Asker(Address<Reply<u32>>);

impl Actor for Asker {
    type Message = Reply<u32>;

    fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
        cx.ask(
            &self.0,
            |reply| reply,
            move |_, answer, _| {
                reply.send(answer.unwrap());
            },
        );
    }
}

#[test]
fn an_actor_without_addresses_goes_on_with_the_answer_that_it_asked_for() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for _ in 0..200 {
            let last = pool.spawn(Clerk(None, 0));
            let asker = pool.spawn(Asker(last));
            let answer = asker.ask_async(|reply| reply);
            drop(asker);
            assert_eq!(block_on(answer), Ok(1));
        }
    });
}

#[test]
fn a_panic_in_a_future_ends_this_actor_alone() {
    struct Bad;

    impl Actor for Bad {
        type Message = Reply<()>;

        fn handle(&mut self, reply: Reply<()>, cx: &mut Context<Self>) {
            cx.pipe(async { crate::support::panic_on_purpose() }, |_, (), _| {
                reply.send(());
            });
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let bad = pool.spawn(Bad);
        let answer = bad.ask(|reply| reply);
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        until(|| bad.is_stopped());
        assert_eq!(pool.spawn(Clerk(None, 4)).ask(|reply| reply), Ok(5));
    });
}

/// A future that is ready at once, from a handler that goes on with it again and again: others get their turn.
#[test]
fn a_chain_of_pipes_does_not_starve_others() {
    struct Chain(Arc<()>);

    impl Chain {
        fn go_on(&mut self, cx: &mut Context<Self>) {
            if Arc::strong_count(&self.0) > 1 {
                cx.pipe(ready(()), |this, (), cx| this.go_on(cx));
            }
        }
    }

    impl Actor for Chain {
        type Message = mpsc::Sender<()>;

        fn handle(&mut self, done: mpsc::Sender<()>, cx: &mut Context<Self>) {
            self.go_on(cx);
            done.send(()).unwrap();
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let goes_on = Arc::new(());
        let chain = pool.spawn(Chain(Arc::clone(&goes_on)));
        let (done, begun) = mpsc::channel();
        chain.tell(done).unwrap();
        begun.recv_timeout(LONG).unwrap();
        let other = pool.spawn(Clerk(None, 0));
        for number in 1..10 {
            assert_eq!(other.ask(|reply| reply), Ok(number));
        }
        drop(goes_on);
    });
}

/// An actor that holds, with a message behind, gets the answer to a question that it has asked before; here it holds for
/// just that.
#[test]
fn an_answer_comes_to_an_actor_that_holds() {
    struct Asker(Address<Reply<u32>>);

    impl Actor for Asker {
        type Message = Option<Reply<u32>>;

        fn handle(&mut self, reply: Option<Reply<u32>>, cx: &mut Context<Self>) {
            let Some(reply) = reply else { return };
            let (sender, receiver) = bounded(1);
            cx.ask(
                &self.0,
                |reply| reply,
                move |_, answer, _| sender.send(answer.unwrap()).unwrap(),
            );
            let answer = async move { receiver.recv_async().await };
            cx.hold(answer, |_, answer, _| reply.send(answer.unwrap()));
        }
    }

    within_limit(|| {
        // One thread: what the asker asks has its turn when that of the asker is over.
        let pool = Pool::with_threads(1);
        let (wait, gate) = hold();
        let first = pool.spawn_fn(move |hold: Hold, _| hold.wait());
        first.tell(wait).unwrap();
        gate.until_entered();
        let asker = pool.spawn(Asker(pool.spawn_fn(|reply: Reply<u32>, _| reply.send(5))));
        let answer = asker.ask_async(Some);
        asker.tell(None).unwrap();
        gate.open();
        assert_eq!(block_on(answer), Ok(5));
    });
}

/// What goes on with such a future counts as a message, too: so the turn came by no count at which it looked at the clock.
#[test]
fn an_actor_with_a_future_that_is_always_ready_to_go_on_gives_way_to_others() {
    /// Is to be polled again at once, and never done.
    struct Restless;

    impl Future for Restless {
        type Output = ();

        fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }

    struct Slow {
        hold: Option<Hold>,
        handled: Arc<AtomicUsize>,
    }

    impl Actor for Slow {
        type Message = ();

        fn handle(&mut self, (): (), cx: &mut Context<Self>) {
            match self.hold.take() {
                Some(hold) => {
                    cx.pipe(Restless, |_, (), _| {});
                    hold.wait();
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
            self.handled.fetch_add(1, Ordering::SeqCst);
        }
    }

    within_limit(|| {
        const MESSAGES: usize = 5_000;

        let pool = Pool::builder()
            .threads(1)
            .turn(u32::MAX, Duration::from_millis(1))
            .build()
            .unwrap();
        let (wait, gate) = hold();
        let handled = Arc::new(AtomicUsize::new(0));
        let slow = pool.spawn(Slow {
            hold: Some(wait),
            handled: Arc::clone(&handled),
        });
        let seen = Arc::clone(&handled);
        let other = pool.spawn_fn(move |reply: Reply<usize>, _| {
            reply.send(seen.load(Ordering::SeqCst));
        });
        slow.tell(()).unwrap();
        gate.until_entered();
        (0..MESSAGES).for_each(|_| slow.tell(()).unwrap());
        let before_other = other.ask_async(|reply| reply);
        gate.open();
        // It has waited for a turn of 1 ms or a few, and not for all of them.
        let before_other = block_on(before_other).unwrap();
        assert!(before_other < MESSAGES / 4, "{before_other}");
        slow.stop();
    });
}
