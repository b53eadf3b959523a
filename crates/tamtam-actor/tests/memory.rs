//! What actors cost, and that the memory of a burst is given back.
//!
//! `cargo test --release --test memory -- --nocapture` prints the figures.
//!
//! A program of its own: it counts what the whole process allocates.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use support::{hold, until, within_limit};
use tamtam_actor::{Actor, Context, Overflow, Pool, Reply, Time, Timer, Topic};

/// Counts the live bytes of the process and, beside it, what each thread allocated less what it freed.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OF_THIS_THREAD: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    LIVE.fetch_add(bytes, Ordering::Relaxed);
    // Threads allocate until their very end, after their thread-locals.
    let _ = OF_THIS_THREAD.try_with(|own| own.set(own.get() + bytes));
}

// SAFETY: every call is passed on to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: `place` came from `System` with this layout, as every allocation here does.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as for `dealloc`; the caller vouches for `size`.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The live bytes of the whole process can only be measured by one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live() -> i64 {
    LIVE.load(Ordering::SeqCst)
}

/// What an idle actor takes beyond its state, with its mailbox, as the allocator counts it.
const IDLE: i64 = 200;

struct Stateful<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Actor for Stateful<BYTES> {
    type Message = Reply<u8>;

    fn handle(&mut self, reply: Reply<u8>, _: &mut Context<Self>) {
        reply.send(self.0[0]);
    }
}

fn bytes_beyond_state<const BYTES: usize>(pool: &Pool) -> i64 {
    let before = OF_THIS_THREAD.get();
    let actor = pool.spawn(Stateful([1; BYTES]));
    let bytes = OF_THIS_THREAD.get() - before;
    drop(actor);
    bytes - BYTES as i64
}

#[test]
#[cfg(all(target_pointer_width = "64", target_arch = "x86_64"))]
fn the_bytes_of_an_idle_actor_are_as_stated() {
    let _alone = alone();
    within_limit(|| {
        let pool = Pool::with_threads(1);
        // The first of a type has a turn at its birth, which finds out that none is needed.
        assert_eq!(pool.spawn(Stateful([1; 8])).ask(|reply| reply), Ok(1));
        assert_eq!(pool.spawn(Stateful([1; 1_024])).ask(|reply| reply), Ok(1));
        let large = bytes_beyond_state::<1_024>(&pool);
        const MANY: usize = 4_000;
        let mut actors = Vec::with_capacity(MANY);
        let before = OF_THIS_THREAD.get();
        actors.extend((0..MANY).map(|_| pool.spawn(Stateful([1; 8]))));
        let small = (OF_THIS_THREAD.get() - before) / MANY as i64 - 8;
        println!("an idle actor takes {small} bytes beyond a state of 8, {large} beyond 1,024");
        assert_eq!((small, large), (IDLE, IDLE));
        // One that has been at work and has become idle takes no more.
        let ask_all = || {
            for actor in &actors {
                assert_eq!(actor.ask(|reply| reply), Ok(1));
            }
        };
        let before = live();
        ask_all();
        // The last turn may not be quite over.
        until(|| (live() - before).abs() < 64 * 1024);
    });
}

/// Begins by itself.
struct Beginning(Arc<AtomicU32>);

impl Actor for Beginning {
    type Message = Reply<u8>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn handle(&mut self, _: Reply<u8>, _: &mut Context<Self>) {}
}

#[test]
fn actors_that_have_begun_by_themselves_take_no_more_than_others() {
    let _alone = alone();
    within_limit(|| {
        let count = if cfg!(debug_assertions) {
            100_000
        } else {
            1_000_000
        };
        let pool = Pool::with_threads(2);
        let begun = Arc::new(AtomicU32::new(0));
        let mut actors = Vec::with_capacity(count);
        let before = live();
        let began = Instant::now();
        actors.extend((0..count).map(|_| pool.spawn(Beginning(Arc::clone(&begun)))));
        let made = began.elapsed();
        until(|| begun.load(Ordering::SeqCst) as usize == count);
        println!(
            "{count} actors made in {made:?}, begun in {:?}",
            began.elapsed()
        );
        let idle = count as i64 * (IDLE + size_of::<Beginning>() as i64);
        // The last turns may not be quite over.
        until(|| live() - before < idle + MAY_STAY);
        actors.clear();
        until(|| live() - before < MAY_STAY);
    });
}

#[test]
fn a_million_actors_are_made_and_given_back() {
    let _alone = alone();
    within_limit(|| {
        let count = if cfg!(debug_assertions) {
            100_000
        } else {
            1_000_000
        };
        let pool = Pool::with_threads(2);
        let mut actors = Vec::with_capacity(count);
        let before = live();
        let began = Instant::now();
        actors.extend((0..count).map(|_| pool.spawn(Stateful([1; 8]))));
        println!(
            "{count} actors made in {:?}, {} bytes each",
            began.elapsed(),
            (live() - before) / count as i64
        );
        assert_eq!(actors[count / 2].ask(|reply| reply), Ok(1));
        let began = Instant::now();
        actors.clear();
        until(|| live() - before < MAY_STAY);
        println!("given back in {:?}", began.elapsed());
    });
}

/// What may stay after a burst, as the README of this crate states it: at most 1,024 nodes in the store and 192 on
/// each of a few threads, and at worst, if two threads gave them back in quite another order, each of them in a slab of its
/// own. Nodes of up to 64 bytes here.
const MAY_STAY: i64 = (1_024 + 4 * 192) * 4_096 + 128 * 1_024;

#[test]
fn the_memory_of_a_burst_is_given_back() {
    let _alone = alone();
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let before = live();
        for _ in 0..3 {
            let (wait, gate) = hold();
            let mut wait = Some(wait);
            let mut sum = 0;
            let actor = pool.spawn_fn(move |(number, reply): (u64, Option<Reply<u64>>), _| {
                wait.take().into_iter().for_each(support::Hold::wait);
                sum += number;
                reply.into_iter().for_each(|reply| reply.send(sum));
            });
            for number in 0..1_000_000 {
                actor.tell((number, None)).unwrap();
            }
            let most = live() - before;
            assert!(most > 1_000_000 * 24, "it was a burst");
            gate.open();
            let sum = actor.ask(|reply| (0, Some(reply)));
            assert_eq!(sum, Ok(499_999_500_000));
            drop(actor);
            until(|| live() - before < MAY_STAY);
            println!(
                "{most} bytes in the burst, {} after it, of at most {MAY_STAY}",
                live() - before
            );
        }
    });
}

/// What a timer takes at most that calls something without a state, on the average of many: its entry in the wheel, and its
/// share of what keeps the entries.
const TIMER: i64 = 72;

/// Sets timers, and counts those that have been due.
struct Timed(Arc<AtomicU32>);

enum Timing {
    /// Sets so many, with delays of up to a second, in no order; answers how long that took, and with them.
    Set(u32, Reply<(Duration, Vec<Timer>)>),
    /// Sets so many; then sets and cancels one so many times. Answers how long that took.
    Cycle(u32, u32, Reply<Duration>),
    Nothing,
}

impl Actor for Timed {
    type Message = Timing;

    fn handle(&mut self, message: Timing, cx: &mut Context<Self>) {
        let mut set = |delay: u64| {
            cx.after(Duration::from_micros(delay), |this: &mut Timed, _| {
                this.0.fetch_add(1, Ordering::SeqCst);
            })
        };
        match message {
            Timing::Set(count, reply) => {
                let mut timers = Vec::with_capacity(count as usize);
                let began = Instant::now();
                timers.extend((0..u64::from(count)).map(|number| set(number * 7_919 % 1_000_000)));
                reply.send((began.elapsed(), timers));
            }
            Timing::Cycle(others, rounds, reply) => {
                let minute = 60_000_000;
                for number in 0..u64::from(others) {
                    set(minute + number * 7_919 % 1_000_000);
                }
                let began = Instant::now();
                for _ in 0..rounds {
                    assert!(set(minute).cancel());
                }
                reply.send(began.elapsed());
                cx.stop();
            }
            Timing::Nothing => {}
        }
    }
}

/// Sets, cancels and expires many timers, by a time that is moved by hand: what they take is given back.
#[test]
fn a_million_timers_are_set_and_given_back() {
    let _alone = alone();
    within_limit(|| {
        let count: u32 = if cfg!(debug_assertions) {
            100_000
        } else {
            1_000_000
        };
        let time = Time::manual();
        let pool = Pool::builder().threads(2).time(time.clone());
        let pool = pool.build().unwrap();
        let handled = Arc::new(AtomicU32::new(0));
        let actor = pool.spawn(Timed(Arc::clone(&handled)));
        // Which keeps what a time always needs.
        actor.tell_after(Duration::ZERO, Timing::Nothing);
        time.advance(Duration::ZERO);
        let before = live();
        let each = |took: Duration| took.as_nanos() / u128::from(count);

        let (set, timers) = actor.ask(|reply| Timing::Set(count, reply)).unwrap();
        let bytes = (live() - before) / i64::from(count);
        println!(
            "{count} timers set in {} ns each, {bytes} bytes each",
            each(set)
        );
        assert_eq!(time.timers(), count as usize);
        // The handle is in the list that was answered.
        let handle = size_of::<Timer>() as i64;
        assert!(
            bytes <= TIMER + handle,
            "{bytes} bytes, {handle} of them for the handle"
        );
        let began = Instant::now();
        assert!(timers.iter().all(Timer::cancel));
        println!("cancelled in {} ns each", each(began.elapsed()));
        drop(timers);
        until(|| live() - before < MAY_STAY);

        let (_, timers) = actor.ask(|reply| Timing::Set(count, reply)).unwrap();
        drop(timers);
        let began = Instant::now();
        assert_eq!(time.advance(Duration::from_secs(2)), count as usize);
        println!("expired in {} ns each", each(began.elapsed()));
        until(|| handled.load(Ordering::SeqCst) == count);
        println!("expired and handled in {} ns each", each(began.elapsed()));
        until(|| live() - before < MAY_STAY);

        // Those of an actor go with it.
        let (_, timers) = actor.ask(|reply| Timing::Set(count, reply)).unwrap();
        drop(timers);
        let began = Instant::now();
        actor.stop();
        until(|| time.timers() == 0);
        println!("gone with their actor in {} ns each", each(began.elapsed()));
        until(|| live() - before < MAY_STAY);
    });
}

/// By the system's time memory is kept for timers that come, and given back when it was not used for a second or two.
#[test]
fn the_memory_of_timers_that_are_over_is_given_back_when_none_come() {
    let _alone = alone();
    within_limit(|| {
        const COUNT: i64 = 100_000;
        const ENTRY: i64 = 64;
        let few = 64 * 1_024;
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|_: u64, _| {});
        let set = || {
            let hour = Duration::from_secs(3_600);
            let set = |number| actor.tell_after(hour, number);
            (0..COUNT as u64).map(set).collect::<Vec<_>>()
        };
        let handles = COUNT * size_of::<Timer>() as i64;
        until(|| {
            let timers = set();
            assert!(timers.iter().all(Timer::cancel));
            drop(timers);
            // Those that come now find what those had, unless that takes them longer than a second.
            let before = live();
            let timers = set();
            let more = live() - before;
            assert!(timers.iter().all(Timer::cancel));
            more < handles + few
        });
        // All are over, or all but one, which keeps the memory of its neighbours alone.
        for left in [0, 1] {
            let mut timers = set();
            let most = live();
            assert!(timers.drain(left..).all(|timer| timer.cancel()));
            until(|| most - live() > COUNT * ENTRY - few);
            assert!(timers.iter().all(Timer::cancel));
        }
    });
}

#[test]
fn a_timer_is_set_and_cancelled_beside_a_million_others() {
    let _alone = alone();
    within_limit(|| {
        let (others, rounds) = if cfg!(debug_assertions) {
            (100_000, 10_000)
        } else {
            (1_000_000, 1_000_000)
        };
        for others in [0, others] {
            let pool = Pool::with_threads(1);
            let actor = pool.spawn(Timed(Arc::default()));
            let took = actor.ask(|reply| Timing::Cycle(others, rounds, reply));
            println!(
                "set and cancelled beside {others} others in {} ns",
                took.unwrap().as_nanos() / u128::from(rounds)
            );
        }
        until(|| Time::system().timers() == 0);
    });
}

/// What may stay in a mailbox with a limit or with rules that is still used, when it has become empty: places for 64
/// messages in each of three lanes, and for as many keys.
const MAY_STAY_IN_LIMITED: i64 = 32 * 1024;

/// Messages that one thread sends and another one handles lie in memory that goes round.
#[test]
fn a_stream_from_thread_to_thread_takes_no_more_memory_the_longer_it_goes_on() {
    const A_ROUND: u64 = 200;
    let _alone = alone();
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let mut count = 0;
        let actor = pool.spawn_fn(move |reply: Option<Reply<u64>>, _| {
            count += 1;
            if let Some(reply) = reply {
                reply.send(count);
            }
        });
        let rounds = |rounds: u64| {
            for _ in 0..rounds {
                for _ in 1..A_ROUND {
                    actor.tell(None).unwrap();
                }
                actor.ask(Some).unwrap();
            }
            live()
        };
        // The batches on their way, and the two threads' own, come to 2,000 messages at most.
        let before = rounds(50);
        let more = rounds(1_000) - before;
        assert_eq!(actor.ask(Some), Ok(1_050 * A_ROUND + 1));
        println!("{more} bytes more after {} messages", 1_000 * A_ROUND);
        assert!(more < 256 << 10, "{more} bytes more");
    });
}

#[test]
fn the_memory_of_a_burst_in_a_limited_mailbox_is_given_back_while_it_lives() {
    let _alone = alone();
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let spawner = || pool.spawner().limited(100_000, Overflow::Wait);
        let (enter, entered) = std::sync::mpsc::channel();
        let handler = || {
            let enter = enter.clone();
            move |(_, hold): (u64, Option<support::Hold>), _: &mut tamtam_actor::Here<_>| {
                hold.into_iter().for_each(support::Hold::wait);
                let _ = enter.send(());
            }
        };
        let actors = [
            spawner().spawn_fn(handler()),
            spawner()
                .priorities(|(number, _)| (number % 3) as u8)
                .spawn_fn(handler()),
            spawner()
                .latest_by(|(number, _)| *number)
                .spawn_fn(handler()),
        ];
        for actor in actors {
            actor.tell((u64::MAX, None)).unwrap();
            entered.recv().unwrap();
            let before = live();
            let (wait, gate) = hold();
            actor.tell((u64::MAX, Some(wait))).unwrap();
            gate.until_entered();
            for number in 0..100_000 {
                actor.tell((number, None)).unwrap();
            }
            let most = live() - before;
            assert!(most > 100_000 * 24, "it was a burst");
            gate.open();
            let _: Vec<_> = (0..=100_000).map(|_| entered.recv().unwrap()).collect();
            until(|| live() - before < MAY_STAY_IN_LIMITED);
            println!("{most} bytes in the burst, {} after it", live() - before);
        }
    });
}

#[test]
fn actors_that_subscribe_and_end_are_not_kept_by_a_topic_without_a_publish() {
    within_limit(|| {
        let _alone = alone();
        let pool = Pool::with_threads(1);
        let topic = Topic::<u32>::new();
        let ended = Arc::new(AtomicU32::new(0));
        let hundred = || {
            let before = ended.load(Ordering::Relaxed);
            for _ in 0..100 {
                let token = Ended(Arc::clone(&ended));
                let listener = pool.spawn_fn(move |_, _| {
                    let _ = &token;
                });
                topic.subscribe(&listener).detach();
            }
            until(|| ended.load(Ordering::Relaxed) == before + 100);
        };
        (0..10).for_each(|_| hundred());
        let before = LIVE.load(Ordering::Relaxed);
        (0..990).for_each(|_| hundred());
        let more = LIVE.load(Ordering::Relaxed) - before;
        println!("100,000 actors that subscribe and end: {more} bytes");
        assert!(more < 1 << 20, "{more} bytes are kept");
    });
}

/// Counts the actors that are gone.
struct Ended(Arc<AtomicU32>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn threads_that_ask_and_end_leave_nothing() {
    let _alone = alone();
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let actor = pool.spawn(Stateful([1; 8]));
        let ask_from_a_thread = || {
            let actor = actor.clone();
            let asks = move || assert_eq!(actor.ask(|reply| reply), Ok(1));
            thread::spawn(asks).join().unwrap();
        };
        (0..20).for_each(|_| ask_from_a_thread());
        let before = live();
        (0..500).for_each(|_| ask_from_a_thread());
        // The actor's thread may be about to leave what the last one has left.
        until(|| live() - before < 8_192);
    });
}
