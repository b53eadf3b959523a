//! What channels cost: the bytes of an empty one, and that the memory of a burst is given back.
//!
//! `cargo test --test memory -- --nocapture` prints the figures.
//!
//! A program of its own: it counts what the whole process allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tamtam_channel::{Receiver, Select, Sender, bounded, broadcast, mpsc, spsc, unbounded};

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

/// What this thread allocated and did not free while `action` ran; what `action` returns is still alive.
fn allocated_by<R>(action: impl FnOnce() -> R) -> (i64, R) {
    let before = OF_THIS_THREAD.get();
    let result = action();
    (OF_THIS_THREAD.get() - before, result)
}

/// What a burst may leave behind, beyond what was there before it.
const MAY_STAY: i64 = 64 * 1024;

const BURST: u64 = 1_000_000;

/// The stated bytes of an empty channel of `u64` messages on a 64-bit system, as the allocator counts them.
/// Whoever changes the layout changes these figures, here and in the documentation.
const UNBOUNDED: i64 = 640;
const RENDEZVOUS: i64 = 192;
/// Without its places for messages.
const BOUNDED: i64 = 768;
/// Each place for a message of a bounded channel.
const PLACE: i64 = 16;

#[test]
#[cfg(all(target_pointer_width = "64", target_arch = "x86_64"))]
fn the_bytes_of_an_empty_channel_are_as_stated() {
    let _alone = alone();
    let (of_unbounded, _unbounded) = allocated_by(unbounded::<u64>);
    let (of_rendezvous, _rendezvous) = allocated_by(|| bounded::<u64>(0));
    let (of_one, _one) = allocated_by(|| bounded::<u64>(1));
    let (of_many, _many) = allocated_by(|| bounded::<u64>(1_024));
    println!(
        "empty: unbounded {of_unbounded} bytes, bounded(0) {of_rendezvous}, bounded(1) {of_one}, \
         bounded(1024) {of_many}"
    );
    assert_eq!(
        (of_unbounded, of_rendezvous, of_one, of_many),
        (
            UNBOUNDED,
            RENDEZVOUS,
            BOUNDED + PLACE,
            BOUNDED + 1_024 * PLACE
        )
    );
}

#[test]
fn an_end_is_cloned_without_allocating() {
    let _alone = alone();
    for (sender, receiver) in [unbounded::<u64>(), bounded(0), bounded(5)] {
        let (bytes, _clones) = allocated_by(|| (sender.clone(), receiver.clone()));
        assert_eq!(bytes, 0);
    }
}

#[test]
fn a_bounded_channel_allocates_nothing_for_messages() {
    let _alone = alone();
    let (sender, receiver) = bounded(100);
    let (bytes, ()) = allocated_by(|| {
        for round in 0..50 {
            (0..100).for_each(|number| sender.send(round * number).unwrap());
            assert_eq!(receiver.try_iter().count(), 100);
        }
        (0..100).for_each(|number| sender.send(number).unwrap());
    });
    assert_eq!(bytes, 0);
}

/// What a broadcast may keep after a burst: places for so many messages, of 24 bytes each.
const KEPT_BY_A_BROADCAST: i64 = 32 * 24;

#[test]
fn a_broadcast_gives_back_what_a_burst_took() {
    let _alone = alone();
    let (sender, first) = broadcast::bounded(100_000);
    let second = first.clone();
    let (bytes, ()) = allocated_by(|| {
        (0..100_000_u64).for_each(|number| sender.send(number).unwrap());
        assert!(first.try_iter().all(|message| message.is_ok()));
        assert_eq!(sender.len(), 100_000);
        assert!(second.try_iter().all(|message| message.is_ok()));
    });
    assert!((0..=KEPT_BY_A_BROADCAST).contains(&bytes), "{bytes} bytes");
    // A receiver that only stands there takes no more than the capacity.
    let (sender, idle) = broadcast::bounded(10);
    let idle = idle.with_lag(broadcast::Lag::Lose);
    let (bytes, ()) = allocated_by(|| {
        (0..100_000_u64).for_each(|number| sender.send(number).unwrap());
    });
    assert_eq!((idle.len(), idle.lost()), (10, 99_990));
    assert!(bytes <= KEPT_BY_A_BROADCAST, "{bytes} bytes");
}

#[test]
fn nothing_leaks_when_a_channel_ends() {
    let _alone = alone();
    fn live_and_die<T>(
        make: impl Fn() -> (Sender<T>, Receiver<T>),
        message: impl Fn() -> T,
        count: usize,
    ) -> i64 {
        allocated_by(|| {
            let (sender, receiver) = make();
            (0..count).for_each(|_| sender.try_send(message()).unwrap());
            receiver.try_iter().take(count / 2).for_each(drop);
            let mut select = Select::new();
            select.recv(&receiver);
            if let Ok(selected) = select.select_timeout(std::time::Duration::from_micros(10)) {
                selected.recv(&receiver).unwrap();
            }
            assert!(
                receiver
                    .recv_timeout(std::time::Duration::from_micros(10))
                    .is_ok()
                    == (count > 2)
            );
        })
        .0
    }
    let text = || String::from("a text on the heap");
    // Whatever a thread keeps until its end it makes when it first waits, if only it is not so late that it need not
    // wait at all. The first rounds make the rest.
    let (_sender, nothing) = unbounded::<u8>();
    let mut select = Select::new();
    select.recv(&nothing);
    for _ in 0..3 {
        let time = std::time::Duration::from_millis(10);
        assert!(nothing.recv_timeout(time).is_err());
        assert!(select.select_timeout(time).is_err());
    }
    live_and_die(unbounded, text, 0);
    live_and_die(unbounded, text, 10);
    for count in [0, 4, 31, 32, 33, 100, 1_000] {
        assert_eq!(
            live_and_die(unbounded, text, count),
            0,
            "unbounded, {count}"
        );
        assert_eq!(
            live_and_die(|| bounded(1_000), text, count),
            0,
            "bounded(1000), {count}"
        );
        assert_eq!(
            live_and_die(unbounded, || [7_u8; 300], count),
            0,
            "unbounded, large messages, {count}"
        );
        assert_eq!(
            live_and_die(unbounded, || (), count),
            0,
            "unbounded, messages of no size, {count}"
        );
    }
    assert_eq!(live_and_die(|| bounded(0), text, 0), 0, "bounded(0)");
}

#[test]
fn tokio_4321_the_memory_of_a_burst_is_given_back() {
    let _alone = alone();
    let (sender, receiver) = unbounded();
    let before = live();
    for round in 0..5 {
        (0..BURST).for_each(|number| sender.send(number).unwrap());
        let at_the_top = live() - before;
        assert!(at_the_top >= BURST as i64 * 8, "the counter does not count");
        assert!(receiver.try_iter().eq(0..BURST));
        let kept = live() - before;
        println!("burst {round}: {at_the_top} bytes at the top, {kept} kept");
        assert!(
            kept <= MAY_STAY,
            "round {round}: {kept} bytes kept after a burst and a drain"
        );
    }
}

#[test]
fn the_memory_of_a_burst_of_many_senders_is_given_back() {
    let _alone = alone();
    let (sender, receiver) = unbounded();
    let before = live();
    for round in 0..3 {
        thread::scope(|scope| {
            let senders: Vec<_> = (0..4)
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        (0..BURST / 4).for_each(|number| sender.send(number).unwrap())
                    })
                })
                .collect();
            senders
                .into_iter()
                .for_each(|sender| sender.join().unwrap());
        });
        assert_eq!(receiver.len() as u64, BURST);
        let received: u64 = thread::scope(|scope| {
            let receivers: Vec<_> = (0..2)
                .map(|_| {
                    let receiver = receiver.clone();
                    scope.spawn(move || receiver.try_iter().count() as u64)
                })
                .collect();
            receivers
                .into_iter()
                .map(|receiver| receiver.join().unwrap())
                .sum()
        });
        assert_eq!(received, BURST);
        let kept = live() - before;
        println!("burst {round} of four senders: {kept} bytes kept");
        assert!(
            kept <= MAY_STAY,
            "round {round}: {kept} bytes kept after a burst and a drain"
        );
    }
}

#[test]
fn a_long_stream_needs_no_more_memory_than_what_is_on_its_way() {
    let _alone = alone();
    let (sender, receiver) = unbounded();
    let before = live();
    let mut most = 0;
    for round in 0..BURST / 10 {
        (0..10).for_each(|number| sender.send(round * 10 + number).unwrap());
        assert_eq!(receiver.try_iter().count(), 10);
        most = most.max(live() - before);
    }
    println!("a million messages, ten at a time: at most {most} bytes");
    assert!(
        most <= MAY_STAY,
        "{most} bytes for ten messages on their way"
    );
}

#[test]
fn many_drained_channels_keep_little() {
    let _alone = alone();
    let channels: Vec<_> = (0..200).map(|_| unbounded()).collect();
    let before = live();
    for (sender, receiver) in &channels {
        (0..5_000_u64).for_each(|number| sender.send(number).unwrap());
        assert_eq!(receiver.try_iter().count(), 5_000);
    }
    let kept = (live() - before) / 200;
    println!("each of 200 drained channels keeps {kept} bytes");
    // Far below the 40,000 bytes of its burst.
    assert!(kept <= 8_192, "each drained channel keeps {kept} bytes");
}

#[test]
fn a_lane_that_was_drained_keeps_as_much_as_is_stated() {
    fn kept<T: Copy>(message: T, count: usize) -> i64 {
        let (bytes, _ends) = allocated_by(|| {
            let (sender, receiver) = spsc::bounded(count);
            (0..count).for_each(|_| sender.send(message).unwrap());
            assert_eq!(receiver.try_iter().count(), count);
            (sender, receiver)
        });
        bytes
    }
    let _alone = alone();
    let (of_small, of_large) = (kept(0_u64, 100_000), kept([0_u8; 65_536], 600));
    println!("a drained lane keeps {of_small} bytes, of messages of 64 KiB {of_large}");
    // A block and 32 KiB of spare ones; two blocks of eight messages; their headers, and the channel itself.
    assert!(of_small <= 17 * (2_048 + 128) + 2_048, "{of_small}");
    assert!(of_large <= 2 * (8 * 65_536 + 128) + 2_048, "{of_large}");
}

#[test]
fn what_waiting_allocates_is_given_back() {
    let _alone = alone();
    let round = || {
        let (sender, receiver) = bounded(1);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|number| {
                    let (sender, receiver) = (sender.clone(), receiver.clone());
                    scope.spawn(move || {
                        for round in 0..50 {
                            if number % 2 == 0 {
                                sender.send(round).unwrap();
                            } else {
                                receiver.recv().unwrap();
                            }
                        }
                    })
                })
                .collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
    };
    round();
    let before = live();
    (0..20).for_each(|_| round());
    let kept = live() - before;
    println!("20 rounds of 16 waiting threads: {kept} bytes kept");
    assert!(
        kept <= MAY_STAY,
        "{kept} bytes kept by threads that have ended"
    );
}

#[test]
#[cfg(all(target_pointer_width = "64", target_arch = "x86_64"))]
fn the_bytes_of_a_slot_an_event_a_latch_and_a_property_are_as_stated() {
    let _alone = alone();
    // As their documentation says; none of them allocates while it is empty and nobody sleeps at it.
    assert_eq!(size_of::<tamtam_channel::Slot<u64>>(), 256);
    assert_eq!(size_of::<tamtam_channel::Slot<[u64; 15]>>(), 256);
    assert_eq!(size_of::<tamtam_channel::Event>(), 72);
    assert_eq!(size_of::<tamtam_channel::Latch>(), 128);
    let (of_all, _all) = allocated_by(|| {
        (
            tamtam_channel::Slot::<u64>::new(),
            tamtam_channel::Event::manual(),
            tamtam_channel::Latch::new(5),
        )
    });
    assert_eq!(of_all, 0);

    assert_eq!(size_of::<tamtam_channel::Property<u64>>(), 256);
    assert_eq!(size_of::<tamtam_channel::Property<[u64; 100]>>(), 256);
    // The value lies apart, behind the two counts of its `Arc`.
    let (of_value, property) = allocated_by(|| tamtam_channel::Property::new(1_u64));
    assert_eq!(of_value, 24);
    // What a thread needs for reading, once.
    let (of_thread, _) = allocated_by(|| property.get());
    let may_be = [0, 128];
    assert!(
        may_be.contains(&of_thread),
        "{of_thread} bytes for a thread that reads"
    );
    let (of_reads, ()) = allocated_by(|| assert!((0..100).all(|_| property.get() == 1)));
    assert_eq!(of_reads, 0);
}

#[test]
fn a_property_keeps_no_value_but_the_latest() {
    let _alone = alone();
    let property = tamtam_channel::Property::new(vec![0_u8; 1_000]);
    property.read(|_| ());
    let before = live();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for round in 0..2_000 {
                        if round % 3 == 0 {
                            property.set(vec![1; 1_000]);
                        } else {
                            assert_eq!(property.read(Vec::len), 1_000);
                        }
                    }
                })
            })
            .collect();
        // Joined, so that they are gone; the scope alone waits only for the end of what they do.
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    let kept = live() - before;
    println!("2,000 sets by three threads that read, too: {kept} bytes kept");
    // Records of threads that have ended, and what starting and ending other tests beside this one takes.
    assert!(kept <= 16_384, "{kept} bytes kept");
}

/// The receiver looks at nothing meanwhile: it might as well sleep.
#[test]
fn senders_of_an_mpsc_that_come_and_go_are_not_kept() {
    let _alone = alone();
    let (kept, _ends) = allocated_by(|| {
        let (sender, receiver) = mpsc::unbounded::<u64>();
        for _ in 0..20_000 {
            drop(sender.clone());
        }
        // Many at once, and those that came first go first.
        let many: Vec<_> = (0..2_000).map(|_| sender.clone()).collect();
        drop(many);
        (sender, receiver)
    });
    assert!(kept < MAY_STAY, "{kept} bytes");
}

#[test]
fn senders_of_an_mpsc_that_come_and_go_beside_a_busy_receiver_are_not_kept() {
    let _alone = alone();
    let (kept, _ends) = allocated_by(|| {
        let (sender, receiver) = mpsc::unbounded();
        // So that the receiver always finds a message.
        sender.send_many(0..10_u64).unwrap();
        for number in 0..20_000 {
            sender.clone().send(number).unwrap();
            sender.send(number).unwrap();
            receiver.recv().unwrap();
            receiver.recv().unwrap();
        }
        assert_eq!(receiver.len(), 10);
        (sender, receiver)
    });
    // Ten messages may lie in as many lanes.
    assert!(kept < 3 * MAY_STAY, "{kept} bytes");
}

/// What they have sent is received, though they are gone.
#[test]
fn messages_of_senders_of_an_mpsc_that_are_gone_are_received() {
    let _alone = alone();
    let (sender, receiver) = mpsc::unbounded();
    let mut sum = 0;
    for number in 0..1_000_u64 {
        let one = sender.clone();
        if number % 3 == 0 {
            one.send(number).unwrap();
            sum += number;
        }
    }
    drop(sender);
    assert_eq!(receiver.iter().sum::<u64>(), sum);
}
