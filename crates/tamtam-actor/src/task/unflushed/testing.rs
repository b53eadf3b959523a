//! What tests flush, and the handlers that all homes have to serve alike.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::{Flush, ReadAnswers, flush_later, read_later};
use crate::address::Address;
use crate::context::Here;
use crate::reply::Reply;

/// Counts how often it was flushed.
#[derive(Default)]
pub(crate) struct Flushes(AtomicUsize);

impl Flush for Flushes {
    fn flush(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Flushes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// `true` if it is left.
    pub(crate) fn write(self: &Arc<Self>) -> bool {
        flush_later(&**self, || Some(Arc::clone(self) as _))
    }

    /// Writes three times on a thread that leaves all but the first.
    pub(crate) fn write_and_leave(self: &Arc<Self>) {
        let before = self.count();
        let written = [self.write(), self.write(), self.write()];
        assert_eq!(written, [false, true, true]);
        assert_eq!(self.count(), before);
    }

    /// Leaves something.
    pub(crate) fn leaver(self: &Arc<Self>) -> impl FnMut((), &mut Here<()>) + Send + use<> {
        let this = Arc::clone(self);
        move |(), _| this.write_and_leave()
    }

    /// Answers, no sooner than it was flushed, how often it was.
    pub(crate) fn answerer(
        self: &Arc<Self>,
    ) -> impl FnMut(Reply<usize>, &mut Here<Reply<usize>>) + Send + use<> {
        let this = Arc::clone(self);
        move |reply: Reply<usize>, _: &mut Here<_>| {
            while this.count() == 0 {
                std::thread::yield_now();
            }
            reply.send(this.count());
        }
    }

    /// Leaves something, and then waits for an answer, which is its own.
    pub(crate) fn asker(
        self: &Arc<Self>,
        asked: Address<Reply<usize>>,
    ) -> impl FnMut(Reply<usize>, &mut Here<Reply<usize>>) + Send + use<> {
        let this = Arc::clone(self);
        move |reply: Reply<usize>, _: &mut Here<_>| {
            this.write_and_leave();
            reply.send(asked.ask(|reply| reply).unwrap());
        }
    }

    /// Leaves something when it begins, and is always due until that was flushed, which it says.
    pub(crate) fn restless(
        self: &Arc<Self>,
        say: Sender<()>,
    ) -> impl FnMut(bool, &mut Here<bool>) + Send + use<> {
        let this = Arc::clone(self);
        move |begins, cx: &mut Here<bool>| {
            if begins {
                this.write_and_leave();
            }
            if this.count() == 0 {
                cx.address().tell(false).unwrap();
            } else {
                say.send(()).unwrap();
            }
        }
    }
}

/// What stands for a link whose answers come when they are looked for.
pub(crate) struct Answers {
    /// Where one goes that has come.
    to: Address<std::thread::ThreadId>,
    /// So many come; where there is none, a thread looks for it as long as it has nothing else to do.
    left: AtomicUsize,
    looks: AtomicUsize,
}

impl Answers {
    pub(crate) fn new(to: Address<std::thread::ThreadId>, left: usize) -> Arc<Self> {
        Arc::new(Answers {
            to,
            left: AtomicUsize::new(left),
            looks: AtomicUsize::new(0),
        })
    }

    /// How often a thread has looked.
    pub(crate) fn looks(&self) -> usize {
        self.looks.load(Ordering::SeqCst)
    }

    /// `true` if this thread will look for the answer.
    pub(crate) fn ask(self: &Arc<Self>) -> bool {
        read_later(|| Some(Arc::clone(self) as _))
    }
}

impl ReadAnswers for Answers {
    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool) {
        self.looks.fetch_add(1, Ordering::SeqCst);
        if self.left.load(Ordering::SeqCst) > 0 {
            self.left.fetch_sub(1, Ordering::SeqCst);
            self.to.tell(std::thread::current().id()).unwrap();
            return;
        }
        while goes_on() {
            std::thread::yield_now();
        }
    }
}

/// The tests of a home whose threads read answers.
macro_rules! answer_tests {
    ($reads:ident $leaves:ident $home:expr) => {
        /// So often they read answers, or leave them to others.
        const ROUNDS: usize = if cfg!(miri) { 3 } else { 100 };

        #[test]
        fn $reads() {
            tamtam_testing::within(std::time::Duration::from_secs(120), || {
                let home = $home;
                let this_thread = || std::thread::current().id();
                let (say, said) = std::sync::mpsc::channel();
                let hearer = home.spawn_fn(move |by, _| say.send((by, this_thread())).unwrap());
                let answers = crate::task::Answers::new(hearer, ROUNDS);
                let asking = std::sync::Arc::clone(&answers);
                let asker = home.spawn_fn(move |(), _| assert!(asking.ask()));
                for _ in 0..ROUNDS {
                    asker.tell(()).unwrap();
                    let (read, heard) = said.recv().unwrap();
                    assert_eq!(read, heard);
                }
                assert_eq!(answers.looks(), ROUNDS);
            });
        }

        #[test]
        fn $leaves() {
            tamtam_testing::within(std::time::Duration::from_secs(120), || {
                let home = $home;
                let hearer = home.spawn_fn(|_, _| {});
                let answers = crate::task::Answers::new(hearer, 0);
                let asking = std::sync::Arc::clone(&answers);
                let asker = home.spawn_fn(move |reply: crate::Reply<bool>, _| {
                    reply.send(asking.ask());
                });
                let other = home.spawn_fn(|reply: crate::Reply<()>, _| reply.send(()));
                for round in 1..=ROUNDS {
                    assert_eq!(asker.ask(|reply| reply), Ok(true));
                    while answers.looks() < round {
                        std::thread::yield_now();
                    }
                    // It looks by now, and for as long as there is nothing else.
                    assert_eq!(other.ask(|reply| reply), Ok(()));
                }
            });
        }
    };
}
pub(crate) use answer_tests;
