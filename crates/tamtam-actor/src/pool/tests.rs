//! The scheduler's parts, one by one, and a small pool: small enough for Miri.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Pool;
use super::deque::Deque;
use super::lifo_slot::LifoSlot;
use crate::context::Here;
use crate::error::AskError;
use crate::reply::Reply;
use crate::task::{Answers, Flushes};

fn push<T>(ring: &Deque<T>, item: T) -> Result<(), T> {
    // SAFETY: each ring has one thread that uses the owner's methods.
    unsafe { ring.push(item) }
}

fn pop<T>(ring: &Deque<T>) -> Option<T> {
    // SAFETY: each ring has one thread that uses the owner's methods.
    unsafe { ring.pop() }
}

#[test]
fn a_ring_goes_round_and_gives_back_what_has_no_room() {
    let ring = Deque::new();
    let mut next = 0;
    for round in 0..3 {
        let mut count = 0;
        while push(&ring, Box::new(1_000 * round + count)).is_ok() {
            count += 1;
        }
        assert_eq!(count, 256);
        assert_eq!(ring.len(), 256);
        while let Some(item) = pop(&ring) {
            assert_eq!(*item, next);
            next += 1;
        }
        next = 1_000 * (round + 1);
    }
    push(&ring, Box::new(1)).unwrap();
    // The last one goes with the ring.
}

#[test]
fn a_stealer_takes_the_older_half() {
    let (victim, own) = (Deque::new(), Deque::new());
    for number in 0..5 {
        push(&victim, number).unwrap();
    }
    // SAFETY: this thread owns both rings.
    let first = unsafe { victim.steal_into(&own) };
    assert_eq!(first, Some(0));
    assert_eq!([pop(&own), pop(&own), pop(&own)], [Some(1), Some(2), None]);
    assert_eq!(
        [pop(&victim), pop(&victim), pop(&victim)],
        [Some(3), Some(4), None]
    );
    // SAFETY: this thread owns both rings.
    assert_eq!(unsafe { victim.steal_into(&own) }, None);
}

#[test]
fn a_stealer_takes_no_more_than_it_has_room_for() {
    let (victim, own) = (Deque::new(), Deque::new());
    for number in 0..256 {
        push(&victim, number).unwrap();
        if number < 254 {
            push(&own, 1_000).unwrap();
        }
    }
    // SAFETY: this thread owns both rings.
    assert_eq!(unsafe { victim.steal_into(&own) }, Some(0));
    assert_eq!(own.len(), 256);
    assert_eq!(victim.len(), 253);
    assert_eq!(pop(&victim), Some(3));
}

#[test]
fn the_ring_of_a_busy_thread_is_shared_out_without_loss() {
    let count: u32 = if cfg!(miri) { 60 } else { 20_000 };
    let ring = Deque::new();
    let done = AtomicBool::new(false);
    let (mut all, stolen) = thread::scope(|scope| {
        let stealers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let own = Deque::new();
                    let mut stolen = Vec::new();
                    while !done.load(Ordering::Acquire) {
                        // SAFETY: this thread owns its ring.
                        match unsafe { ring.steal_into(&own) } {
                            Some(first) => stolen.push(first),
                            None => thread::yield_now(),
                        }
                        stolen.extend(std::iter::from_fn(|| pop(&own)));
                    }
                    stolen
                })
            })
            .collect();
        let mut own = Vec::new();
        for number in 0..count {
            while push(&ring, number).is_err() {
                own.extend(pop(&ring));
            }
        }
        own.extend(std::iter::from_fn(|| pop(&ring)));
        done.store(true, Ordering::Release);
        let stolen: Vec<_> = stealers
            .into_iter()
            .map(|stealer| stealer.join().unwrap())
            .collect();
        (own, stolen)
    });
    for part in stolen.iter().chain([&all]) {
        assert!(part.is_sorted(), "out of order");
    }
    all.extend(stolen.into_iter().flatten());
    all.sort_unstable();
    assert!(all.into_iter().eq(0..count));
}

#[test]
fn what_comes_next_is_the_youngest() {
    let next = LifoSlot::new();
    assert!(!next.is_full());
    // SAFETY: this thread is the owner.
    unsafe {
        assert_eq!(next.put("first".to_owned()), None);
        assert_eq!(next.put("second".to_owned()).as_deref(), Some("first"));
        assert!(next.is_full());
        assert_eq!(next.take().as_deref(), Some("second"));
        assert_eq!(next.take(), None);
        assert_eq!(next.put("third".to_owned()), None);
    }
    assert_eq!(next.steal().as_deref(), Some("third"));
    assert_eq!(next.steal(), None);
    // SAFETY: this thread is the only one that has the place.
    let before = unsafe { next.put("the last one goes with it".to_owned()) };
    assert_eq!(before, None);
}

#[test]
fn a_small_pool_counts_answers_and_ends() {
    enum Count {
        Add(u64),
        Read(Reply<u64>),
        Keep(Reply<u64>),
    }

    let pool = Pool::with_threads(2);
    let counters: Vec<_> = (0..3)
        .map(|_| {
            let (mut sum, mut kept) = (0, Vec::new());
            pool.spawn_fn(move |message: Count, _: &mut Here<Count>| match message {
                Count::Add(number) => sum += number,
                Count::Read(reply) => reply.send(sum),
                Count::Keep(reply) => kept.push(reply),
            })
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for number in 1..=10 {
                    for counter in &counters {
                        counter.tell(Count::Add(number)).unwrap();
                    }
                }
            });
        }
    });
    for counter in &counters {
        assert_eq!(counter.ask(Count::Read), Ok(110));
    }
    // A reply that lies in a mailbox, or with the actor, when that stops.
    let asked = thread::scope(|scope| {
        let asker = scope.spawn(|| counters[0].ask(Count::Keep));
        counters[0].stop();
        asker.join().unwrap()
    });
    assert!(matches!(
        asked,
        Err(AskError::Unanswered | AskError::Stopped(_))
    ));
    let witness = Arc::new(());
    let holder = Arc::clone(&witness);
    drop(pool.spawn_fn(move |(): (), _| {
        let _ = &holder;
    }));
    pool.shutdown();
    assert_eq!(
        Arc::strong_count(&witness),
        1,
        "an actor without addresses is gone"
    );
}

#[test]
fn what_comes_next_goes_to_its_owner_or_to_a_stealer() {
    let count: u32 = if cfg!(miri) { 30 } else { 100_000 };
    let next = LifoSlot::new();
    let done = AtomicBool::new(false);
    let (mut all, stolen) = thread::scope(|scope| {
        let stealer = scope.spawn(|| {
            let mut stolen = Vec::new();
            while !done.load(Ordering::Acquire) {
                stolen.extend(next.steal());
                thread::yield_now();
            }
            stolen
        });
        let mut own = Vec::new();
        for number in 0..count {
            // SAFETY: this thread is the owner.
            own.extend(unsafe { next.put(Box::new(number)) });
            if number % 3 == 0 {
                // SAFETY: this thread is the owner: the other one only steals.
                own.extend(unsafe { next.take() });
            }
        }
        // SAFETY: this thread is the owner: the other one only steals.
        own.extend(unsafe { next.take() });
        done.store(true, Ordering::Release);
        (own, stealer.join().unwrap())
    });
    assert!(!next.is_full());
    all.extend(stolen);
    all.sort_unstable();
    assert!(all.into_iter().map(|number| *number).eq(0..count));
}

#[test]
#[cfg_attr(miri, ignore = "too much for Miri")]
fn what_comes_in_has_its_turn_beside_a_flood() {
    const OTHERS: u64 = 300;
    let pool = Pool::with_threads(1);
    // It never comes to the end of what it has to do, and its thread never to the end of its turns.
    let flood = pool.spawn_fn(|number: u32, here: &mut Here<u32>| {
        // An actor that has been told to stop takes nothing any more.
        let _ = here.address().tell(number);
    });
    for number in 0..1_000 {
        flood.tell(number).unwrap();
    }
    let latch = Arc::new(tamtam_channel::Latch::new(OTHERS));
    let others: Vec<_> = (0..OTHERS)
        .map(|_| {
            let latch = Arc::clone(&latch);
            pool.spawn_fn(move |(): (), _| latch.count_down())
        })
        .collect();
    for other in &others {
        other.tell(()).unwrap();
    }
    latch.wait();
    flood.stop();
}

#[test]
fn what_a_turn_leaves_is_flushed_once_behind_it() {
    let pool = Pool::with_threads(1);
    let flushes = Arc::new(Flushes::default());
    let left = Arc::clone(&flushes);
    let writer = pool.spawn_fn(move |reply: Reply<usize>, _| {
        left.write_and_leave();
        reply.send(left.count());
    });
    assert_eq!(writer.ask(|reply| reply), Ok(0));
    pool.wait_idle().unwrap();
    assert_eq!(flushes.count(), 1);
}

#[test]
#[cfg_attr(miri, ignore = "50 µs are over there after a few steps")]
fn what_is_left_goes_with_what_other_actors_leave_that_are_due() {
    let pool = Pool::with_threads(1);
    let flushes = Arc::new(Flushes::default());
    let (say, said) = mpsc::channel();
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let (left, say) = (Arc::clone(&flushes), say.clone());
            pool.spawn_fn(move |(), _| say.send(left.write()).unwrap())
        })
        .collect();
    let gate = pool.spawn_fn(move |(), _| {
        for writer in &writers {
            writer.tell(()).unwrap();
        }
    });
    // Where the three together take long each may be for itself.
    let mut flushed = 0;
    for _ in 0..10_000 {
        gate.tell(()).unwrap();
        pool.wait_idle().unwrap();
        let written: Vec<_> = said.try_iter().collect();
        assert_eq!(written.len(), 3);
        flushed += usize::from(written.contains(&true));
        assert_eq!(flushes.count(), flushed);
        if written == [false, true, true] {
            return;
        }
    }
    panic!("three that are due one behind the other do not leave it to the last of them");
}

#[test]
fn what_is_left_is_flushed_before_a_handler_waits() {
    tamtam_testing::within(Duration::from_secs(120), || {
        let pool = Pool::with_threads(2);
        let flushes = Arc::new(Flushes::default());
        let asked = pool.spawn_fn(flushes.answerer());
        let asker = pool.spawn_fn(flushes.asker(asked));
        assert_eq!(asker.ask(|reply| reply), Ok(1));
    });
}

#[test]
fn what_is_left_is_flushed_also_where_there_is_always_more_due() {
    let pool = Pool::with_threads(1);
    let flushes = Arc::new(Flushes::default());
    let (say, said) = mpsc::channel();
    let restless = pool.spawn_fn(flushes.restless(say));
    let busy = pool.spawn_fn(|(), cx| drop(cx.address().tell(())));
    busy.tell(()).unwrap();
    restless.tell(true).unwrap();
    said.recv().unwrap();
    busy.stop();
}

#[test]
fn what_is_left_is_flushed_when_its_thread_ends() {
    let pool = Pool::with_threads(1);
    let flushes = Arc::new(Flushes::default());
    let writer = pool.spawn_fn(flushes.leaver());
    writer.tell(()).unwrap();
    drop((writer, pool));
    assert_eq!(flushes.count(), 1);
}

#[test]
fn a_thread_that_is_not_a_pools_leaves_nothing() {
    let flushes = Arc::new(Flushes::default());
    assert_eq!([flushes.write(), flushes.write()], [false; 2]);
}

crate::task::answer_tests! {
    a_thread_of_a_pool_reads_what_its_turns_have_asked_when_it_has_nothing_else_to_do
    a_thread_of_a_pool_leaves_answers_to_others_as_soon_as_it_has_something_else_to_do
    Pool::with_threads(1)
}

#[test]
fn a_thread_that_is_not_a_pools_leaves_answers_to_others() {
    let pool = Pool::with_threads(1);
    let answers = Answers::new(pool.spawn_fn(|_, _| {}), 0);
    assert!(!answers.ask());
    assert_eq!(answers.looks(), 0);
}
