//! loom models: every interleaving of small programs over the wake-up protocols.
//!
//! A thread that is never woken shows as a deadlock, which loom reports.

use core::task::Poll;
use std::time::Instant;

use crate::seam::atomic::{AtomicUsize, Ordering};
use crate::seam::{self, Arc, Task, thread};
use crate::{Context, Operation, Outcome, Polled, Source, TaskWait, Token, Wait, WaitList, fence};

/// Bounds the search: two switches away from a thread that could go on are enough for every bug that
/// these protocols had while they were written.
fn model(program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(program);
}

/// The smallest source: items that are put and taken by one compare-and-swap each.
struct Pile {
    items: AtomicUsize,
    list: WaitList,
}

impl Pile {
    fn new() -> Arc<Self> {
        Self::with(WaitList::new())
    }

    fn with(list: WaitList) -> Arc<Self> {
        Arc::new(Pile {
            items: AtomicUsize::new(0),
            list,
        })
    }

    fn put(&self) {
        self.items.fetch_add(1, Ordering::SeqCst);
        self.list.notify_one();
    }

    /// Puts several at once, and tells of them once.
    fn put_many(&self, count: usize) {
        self.items.fetch_add(count, Ordering::SeqCst);
        self.list.notify_many(count);
    }

    fn try_take(&self) -> Option<()> {
        self.items
            .fetch_update(Ordering::SeqCst, Ordering::Relaxed, |items| {
                items.checked_sub(1)
            })
            .ok()
            .map(|_| ())
    }

    fn take(&self, wait: Wait, deadline: Option<Instant>) -> Option<()> {
        self.list.wait_until(
            wait,
            deadline,
            |_| self.try_take(),
            || {
                seam::model_fence();
                self.items.load(Ordering::SeqCst) > 0
            },
        )
    }
}

#[test]
fn loom_a_waiter_is_woken() {
    model(|| {
        let pile = Pile::new();
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        };
        pile.put();
        assert!(taker.join().unwrap().is_some());
    });
}

#[test]
fn loom_two_waiters_are_woken_by_two_messages() {
    model(|| {
        let pile = Pile::new();
        let takers = [(); 2].map(|()| {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        });
        pile.put();
        pile.put();
        for taker in takers {
            assert!(taker.join().unwrap().is_some());
        }
    });
}

#[test]
fn loom_two_waiters_are_woken_by_one_batch() {
    model(|| {
        let pile = Pile::new();
        let takers = [(); 2].map(|()| {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        });
        pile.put_many(2);
        for taker in takers {
            assert!(taker.join().unwrap().is_some());
        }
    });
}

/// As above in a chained list: one of the two is told, and tells the other.
#[test]
fn loom_two_waiters_of_a_chained_list_are_woken_by_one_batch() {
    model(|| {
        let pile = Pile::with(WaitList::chained());
        let takers = [(); 2].map(|()| {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        });
        pile.put_many(2);
        for taker in takers {
            assert!(taker.join().unwrap().is_some());
        }
    });
}

/// A batch of two, and then one more, while somebody takes one who has not waited.
#[test]
fn loom_a_batch_meets_a_rival() {
    model(|| {
        let pile = Pile::new();
        let takers = [(); 2].map(|()| {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        });
        pile.put_many(2);
        // Whoever it is taken from waits again, and hears of the next one.
        if pile.try_take().is_some() {
            pile.put_many(1);
        }
        for taker in takers {
            assert!(taker.join().unwrap().is_some());
        }
    });
}

/// The second item may come while the first waiter is on its way: then that one wakes the other.
#[test]
fn loom_a_chained_list_wakes_one_after_the_other() {
    model(|| {
        let pile = Pile::with(WaitList::chained());
        let takers = [(); 2].map(|()| {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        });
        pile.put();
        pile.put();
        for taker in takers {
            assert!(taker.join().unwrap().is_some());
        }
    });
}

/// Two items at once, and somebody who takes one of them without having waited.
#[test]
fn loom_a_chained_list_meets_a_rival() {
    model(|| {
        let pile = Pile::with(WaitList::chained());
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        };
        let rival = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.try_take().is_some())
        };
        pile.put();
        if rival.join().unwrap() {
            pile.put();
        }
        assert!(taker.join().unwrap().is_some());
    });
}

#[test]
fn loom_a_waiter_that_gives_up_does_not_keep_the_wake_up() {
    model(|| {
        let pile = Pile::new();
        // A deadline that has passed: the model's sleep may end at any moment.
        let past = Instant::now();
        let hasty = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, Some(past)).is_some())
        };
        let patient = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None).is_some())
        };
        pile.put();
        if hasty.join().unwrap() {
            pile.put();
        }
        assert!(patient.join().unwrap());
    });
}

#[test]
fn loom_one_of_two_choosers_wins() {
    model(|| {
        let lists = Arc::new((WaitList::new(), WaitList::new()));
        let (first, second) = (Operation::new(0), Operation::new(1));
        Context::with(|context| {
            lists.0.register(first, context);
            lists.1.register(second, context);
            let chooser = {
                let lists = Arc::clone(&lists);
                thread::spawn(move || lists.0.notify_one())
            };
            let other = {
                let lists = Arc::clone(&lists);
                thread::spawn(move || lists.1.notify_one())
            };
            let outcome = context.park(None);
            assert!(outcome == Outcome::Selected(first) || outcome == Outcome::Selected(second));
            lists.0.unregister(first, context);
            lists.1.unregister(second, context);
            chooser.join().unwrap();
            other.join().unwrap();
            assert_eq!(context.outcome(), Some(outcome));
        });
    });
}

#[test]
fn loom_watchers_and_a_taker_all_hear_of_a_message() {
    model(|| {
        let pile = Pile::new();
        let watcher = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || {
                Context::with(|context| {
                    let only = Operation::new(0);
                    pile.list.watch(only, context);
                    seam::model_fence();
                    if pile.items.load(Ordering::SeqCst) > 0 {
                        context.abort();
                    }
                    context.park(None);
                    pile.list.unwatch(only, context);
                });
            })
        };
        pile.put();
        watcher.join().unwrap();
        assert!(pile.take(Wait::Park, None).is_some());
    });
}

/// The light side stores and looks without a barrier of its own; so does the heavy side, behind the
/// barrier that it makes for both. At least one of them sees the other's store.
#[test]
fn loom_asymmetric_fences_order_both_sides() {
    model(|| {
        let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let frequent = {
            let words = Arc::clone(&words);
            thread::spawn(move || {
                words.0.store(1, Ordering::Relaxed);
                fence::light();
                words.1.load(Ordering::Relaxed)
            })
        };
        words.1.store(1, Ordering::Relaxed);
        fence::heavy();
        let seen = words.0.load(Ordering::Relaxed);
        assert!(seen == 1 || frequent.join().unwrap() == 1);
    });
}

/// The pile as something that a task waits for: in the place for one, or always in the list.
struct Taking {
    pile: Arc<Pile>,
    alone: bool,
}

impl Source for Taking {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.pile.try_take().is_some()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.pile.list.register(operation, context);
        self.is_ready()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.pile.list.unregister(operation, context);
    }

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        let passes_on = self.pile.list.arrive_as(context);
        let begun = self.try_begin(token);
        if begun && passes_on {
            self.pile.list.pass_on(|| self.is_ready());
        }
        begun
    }

    fn decline(&self, _: &Context) {
        self.pile.list.decline(|| self.is_ready());
    }

    fn is_ready(&self) -> bool {
        seam::model_fence();
        self.pile.items.load(Ordering::SeqCst) > 0
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.pile.list.watch(operation, context);
        self.is_ready()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.pile.list.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        self.alone.then_some(&self.pile.list)
    }

    fn looks_ready(&self) -> bool {
        self.is_ready()
    }
}

fn poll(wait: &mut TaskWait, taking: &Taking, waker: &core::task::Waker) -> Poll<Polled> {
    wait.poll(taking, &mut Token::default(), waker, None)
}

/// A task takes one item, awaiting it.
fn take_as_task(pile: &Arc<Pile>, alone: bool) {
    let taking = Taking {
        pile: Arc::clone(pile),
        alone,
    };
    let mut wait = TaskWait::new();
    Task::new().run(|waker| poll(&mut wait, &taking, waker));
}

/// Runs the model with the task in the place for one, and in the list.
fn task_model(program: impl Fn(bool) + Copy + Sync + Send + 'static) {
    model(move || program(true));
    model(move || program(false));
}

#[test]
fn loom_a_task_is_woken() {
    task_model(|alone| {
        let pile = Pile::new();
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || take_as_task(&pile, alone))
        };
        pile.put();
        taker.join().unwrap();
    });
}

#[test]
fn loom_a_task_and_a_thread_are_woken_by_two_messages() {
    task_model(|alone| {
        let pile = Pile::new();
        let task = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || take_as_task(&pile, alone))
        };
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        };
        pile.put();
        pile.put();
        task.join().unwrap();
        assert!(taker.join().unwrap().is_some());
    });
}

#[test]
fn loom_a_task_and_a_thread_are_woken_by_one_batch() {
    task_model(|alone| {
        let pile = Pile::new();
        let task = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || take_as_task(&pile, alone))
        };
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None))
        };
        pile.put_many(2);
        task.join().unwrap();
        assert!(taker.join().unwrap().is_some());
    });
}

/// Two places that are told of by one word: the task that is chosen passes on to the other, also if it is polled before it is woken. In the list: who is woken
/// in the place for one is on the way of none of them.
#[test]
fn loom_a_task_of_a_chained_list_passes_on_as_soon_as_it_is_chosen() {
    model(|| {
        let pile = Pile::with(WaitList::chained());
        let taking = Taking {
            pile: Arc::clone(&pile),
            alone: false,
        };
        let tasks = [Task::new(), Task::new()];
        let mut waits = [TaskWait::new(), TaskWait::new()];
        for (task, wait) in tasks.iter().zip(&mut waits) {
            assert!(poll(wait, &taking, task.waker()).is_pending());
        }
        let putter = thread::spawn(move || {
            pile.items.fetch_add(2, Ordering::SeqCst);
            pile.list.notify_one();
        });
        for (task, wait) in tasks.iter().zip(&mut waits) {
            task.run(|waker| poll(wait, &taking, waker));
        }
        putter.join().unwrap();
    });
}

/// A task that gives up while a batch chooses it: the others of the batch are none the worse, and what was meant for
/// the task is there for the next to come.
#[test]
fn loom_cancelling_meets_a_batch() {
    task_model(|alone| {
        let pile = Pile::new();
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None).is_some())
        };
        let giver = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.put_many(2))
        };
        let taking = Taking {
            pile: Arc::clone(&pile),
            alone,
        };
        let mut wait = TaskWait::new();
        let taken = poll(&mut wait, &taking, Task::new().waker()).is_ready();
        wait.cancel(&taking);
        assert!(taker.join().unwrap());
        giver.join().unwrap();
        assert_eq!(pile.try_take().is_some(), !taken);
    });
}

/// The waker changes while the task is being chosen: the new one is called, or the poll says that it was chosen.
#[test]
fn loom_renewing_meets_choosing() {
    task_model(|alone| {
        let pile = Pile::new();
        let giver = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.put())
        };
        let taking = Taking { pile, alone };
        let mut wait = TaskWait::new();
        let (first, second) = (Task::new(), Task::new());
        if poll(&mut wait, &taking, first.waker()).is_pending() {
            second.run(|waker| poll(&mut wait, &taking, waker));
        }
        giver.join().unwrap();
        assert_eq!(taking.pile.items.load(Ordering::SeqCst), 0);
    });
}

/// A task that gives up while it is being chosen leaves the wake-up to the thread that waits in the same list, too.
fn cancelling_meets_choosing(list: fn() -> WaitList) {
    task_model(move |alone| {
        let pile = Pile::with(list());
        let taker = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.take(Wait::Park, None).is_some())
        };
        let giver = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || pile.put())
        };
        let taking = Taking {
            pile: Arc::clone(&pile),
            alone,
        };
        let mut wait = TaskWait::new();
        if poll(&mut wait, &taking, Task::new().waker()).is_ready() {
            pile.put();
        }
        wait.cancel(&taking);
        assert!(taker.join().unwrap());
        giver.join().unwrap();
    });
}

#[test]
fn loom_cancelling_meets_choosing() {
    cancelling_meets_choosing(WaitList::new);
}

/// The thread may wait for the task to pass on.
#[test]
fn loom_cancelling_meets_choosing_in_a_chained_list() {
    cancelling_meets_choosing(WaitList::chained);
}

/// Two items for a thread and a task, in either order of coming, one after the other and at once.
#[test]
fn loom_a_chained_list_serves_a_task_and_a_thread() {
    for (alone, at_once) in [(false, false), (true, false), (true, true)] {
        model(move || {
            let pile = Pile::with(WaitList::chained());
            let task = {
                let pile = Arc::clone(&pile);
                thread::spawn(move || take_as_task(&pile, alone))
            };
            let taker = {
                let pile = Arc::clone(&pile);
                thread::spawn(move || pile.take(Wait::Park, None))
            };
            if at_once {
                pile.put_many(2);
            } else {
                pile.put();
                pile.put();
            }
            task.join().unwrap();
            assert!(taker.join().unwrap().is_some());
        });
    }
}

/// A deadline passes while the task is being chosen: it is woken once, for one reason, and an item that was meant for
/// it reaches the thread.
#[test]
fn loom_expiring_meets_choosing() {
    model(|| {
        let pile = Pile::new();
        let task = Task::new();
        let only = Operation::new(0);
        let context = Context::for_task(task.waker());
        pile.list.register(only, &context);
        let clock = {
            let context = context.clone();
            thread::spawn(move || context.expire())
        };
        let giver = {
            let pile = Arc::clone(&pile);
            thread::spawn(move || {
                pile.put();
            })
        };
        task.wait();
        match context.outcome() {
            Some(Outcome::Selected(operation)) => assert_eq!(operation, only),
            Some(Outcome::Aborted) => pile.list.unregister(only, &context),
            other => panic!("woken for nothing: {other:?}"),
        }
        let outcome = context.outcome();
        clock.join().unwrap();
        giver.join().unwrap();
        assert_eq!(context.outcome(), outcome);
        assert!(pile.try_take().is_some());
    });
}

/// What a chooser wrote before it left a packet is there for the thread that takes it: loom reports a race otherwise.
#[test]
fn loom_what_lies_in_a_packet_is_seen_with_it() {
    model(|| {
        Context::with(|context| {
            let place = Arc::new(seam::UnsafeCell::new(0));
            let chooser = {
                let (context, place) = (context.clone(), Arc::clone(&place));
                thread::spawn(move || {
                    // SAFETY: the other thread reads it when it has taken the packet.
                    place.with_mut(|place| unsafe { *place = 7 });
                    context.leave_packet(core::ptr::dangling_mut::<u64>().cast());
                })
            };
            assert!(!context.packet().is_null());
            // SAFETY: the chooser has written it before, and does not touch it any more.
            assert_eq!(place.with(|place| unsafe { *place }), 7);
            chooser.join().unwrap();
        });
    });
}
