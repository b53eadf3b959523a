//! What actors cost, and that the memory of a burst is given back.
//!
//! `cargo test --release --test memory -- --nocapture` prints the figures.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use support::{hold, until, within_limit};
use tamtam_actor::{Actor, Context, Pool, Reply};

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
#[cfg(all(target_pointer_width = "64", target_arch = "x86_64"))]
const IDLE: i64 = 192;

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
        let small = bytes_beyond_state::<8>(&pool);
        let large = bytes_beyond_state::<1_024>(&pool);
        println!("an idle actor takes {small} bytes beyond a state of 8, {large} beyond 1,024");
        assert_eq!((small, large), (IDLE, IDLE));
        const { assert!(IDLE <= 256) };
        // One that has been at work and has become idle takes no more.
        let actors: Vec<_> = (0..1_000).map(|_| pool.spawn(Stateful([1; 8]))).collect();
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

/// What may stay after a burst: what threads and the store keep, for each size of nodes at most 4,096 nodes in
/// the store and 192 on each of a few threads; nodes of up to 64 bytes here.
const MAY_STAY: i64 = (4_096 + 6 * 192) * 64 + 128 * 1024;

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
