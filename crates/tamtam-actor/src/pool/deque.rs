//! What is due on one thread of a pool, in a ring that the others may steal from.
//!
//! The thread that owns the ring appends at its end and takes from its beginning, so that all get their
//! turn; another one takes half of it from the beginning at once. The beginning is two positions in one word:
//! up to where items were taken, and up to where stealers have also copied them out; only behind the latter is
//! there room again. So a stealer moves nothing under the owner's hands, and the owner pays one locked
//! instruction for taking and none for appending. (The idea of two positions is that of the run queues in
//! Tokio and Go; the owner's end is that of Chase and Lev, *Dynamic circular work-stealing deque*, 2005.)

use core::mem::MaybeUninit;

use tamtam_wait::seam::atomic::{AtomicU32, AtomicU64, Ordering};
use tamtam_wait::seam::{self, CacheAligned, UnsafeCell};

/// So many items fit; a power of two.
const CAPACITY: u32 = if cfg!(tamtam_loom) { 4 } else { 256 };

/// The ring of one thread.
pub(crate) struct Deque<T> {
    /// Low half: everything before was taken. High half: everything before was also copied out, so that there
    /// is room again.
    head: CacheAligned<AtomicU64>,
    /// Everything before was appended. Written by the owner.
    tail: CacheAligned<AtomicU32>,
    items: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: items move through the ring from one thread to another; head and tail say whose each place is.
unsafe impl<T: Send> Send for Deque<T> {}
// SAFETY: items move through the ring from one thread to another; the owner's methods ask their caller to be the only one,
// and all others claim an item by an exchange before they read it.
unsafe impl<T: Send> Sync for Deque<T> {}

#[derive(Clone, Copy, PartialEq, Eq)]
struct RingHead {
    taken: u32,
    copied: u32,
}

impl RingHead {
    fn unpack(word: u64) -> Self {
        RingHead {
            taken: word as u32,
            copied: (word >> 32) as u32,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.taken) | u64::from(self.copied) << 32
    }
}

impl<T> Deque<T> {
    pub(crate) fn new() -> Self {
        Deque {
            head: CacheAligned(AtomicU64::new(0)),
            tail: CacheAligned(AtomicU32::new(0)),
            items: (0..CAPACITY)
                .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
                .collect(),
        }
    }

    fn place(&self, position: u32) -> &UnsafeCell<MaybeUninit<T>> {
        &self.items[(position % CAPACITY) as usize]
    }

    /// How many items there are, for any thread; the owner's own look is exact. Sequentially consistent.
    pub(crate) fn len(&self) -> usize {
        seam::model_fence();
        let head = RingHead::unpack(self.head.load(Ordering::SeqCst));
        let tail = self.tail.load(Ordering::SeqCst);
        // A stealer may have been between the two loads.
        (tail.wrapping_sub(head.taken) as i32).max(0) as usize
    }

    /// How many items may be appended at least.
    ///
    /// # Safety
    ///
    /// The caller is the owner.
    unsafe fn room(&self) -> u32 {
        let tail = self.tail.load(Ordering::Relaxed);
        // For a number only: a thread that appends looks again.
        let head = RingHead::unpack(self.head.load(Ordering::Relaxed));
        CAPACITY - tail.wrapping_sub(head.copied)
    }

    /// Appends an item; gives it back if the ring is full.
    ///
    /// # Safety
    ///
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn push(&self, item: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        // SYNC deque-copied: what lay in the place before is out.
        let head = RingHead::unpack(self.head.load(Ordering::Acquire));
        if tail.wrapping_sub(head.copied) >= CAPACITY {
            return Err(item);
        }
        self.place(tail).with_mut(|place| {
            // SAFETY: the place is free: everything before `copied` is out, and no other thread appends.
            unsafe { (*place).write(item) };
        });
        // SYNC deque-tail: the item.
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the oldest item.
    ///
    /// # Safety
    ///
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<T> {
        let tail = self.tail.load(Ordering::Relaxed);
        let mut word = self.head.load(Ordering::Acquire);
        loop {
            let head = RingHead::unpack(word);
            if head.taken == tail {
                return None;
            }
            let taken = head.taken.wrapping_add(1);
            let next = RingHead {
                taken,
                // While a stealer copies, its positions are its own.
                copied: if head.copied == head.taken {
                    taken
                } else {
                    head.copied
                },
            };
            // SYNC deque-taken
            match self
                .head
                .compare_exchange(word, next.pack(), Ordering::AcqRel, Ordering::Acquire)
            {
                // SAFETY: the item is ours by the exchange; the place stays as it is until the owner, that is
                // we, appends there.
                Ok(_) => return Some(unsafe { self.read(head.taken) }),
                Err(now) => word = now,
            }
        }
    }

    /// Takes half of the items, rounded up: one to return, the others to append to the stealer's own ring. Fewer if
    /// they have no room there: also a ring in which nothing is left is full while another stealer copies from it.
    ///
    /// # Safety
    ///
    /// The caller is the owner of `own`, which is another ring.
    pub(crate) unsafe fn steal_into(&self, own: &Deque<T>) -> Option<T> {
        // SAFETY: the caller owns `own`.
        let room = unsafe { own.room() };
        let mut word = self.head.load(Ordering::Acquire);
        let (first, count) = loop {
            let head = RingHead::unpack(word);
            if head.copied != head.taken {
                // Another stealer is at it.
                return None;
            }
            // SYNC deque-tail: the items.
            let tail = self.tail.load(Ordering::Acquire);
            let length = tail.wrapping_sub(head.taken);
            if length == 0 || length > CAPACITY {
                return None;
            }
            let count = (length - length / 2).min(room + 1);
            let next = RingHead {
                taken: head.taken.wrapping_add(count),
                copied: head.copied,
            };
            // SYNC deque-taken
            match self
                .head
                .compare_exchange(word, next.pack(), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break (head.taken, count),
                Err(now) => word = now,
            }
        };
        for offset in 1..count {
            // SAFETY: these items are ours by the exchange, and their places are not free before we say so.
            let item = unsafe { self.read(first.wrapping_add(offset)) };
            // SAFETY: the caller owns `own`, and the items were read once.
            if unsafe { own.push(item) }.is_err() {
                unreachable!("only its owner, that is we, takes room in a ring");
            }
        }
        // SAFETY: the first item, too, is this thread's by the exchange, and is read once.
        let item = unsafe { self.read(first) };
        let mut word = self.head.load(Ordering::Acquire);
        loop {
            let head = RingHead::unpack(word);
            let next = RingHead {
                taken: head.taken,
                copied: head.taken,
            };
            // SYNC deque-copied
            match self
                .head
                .compare_exchange(word, next.pack(), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(item),
                Err(now) => word = now,
            }
        }
    }

    /// # Safety
    ///
    /// The item at this position was taken by the caller, who reads it once.
    unsafe fn read(&self, position: u32) -> T {
        self.place(position)
            // SAFETY: the caller has taken the item at this position, and reads it once.
            .with(|place| unsafe { (*place).assume_init_read() })
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // SAFETY: the ring is being dropped, so no other thread has it.
        while let Some(item) = unsafe { self.pop() } {
            drop(item);
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stealer_whose_own_ring_is_still_being_copied_from_takes_no_more_than_it_has_room_for() {
        let (own, other) = (Deque::new(), Deque::new());
        for number in 0..CAPACITY {
            // SAFETY: this thread owns both rings.
            unsafe { other.push(number).unwrap() };
        }
        for stuck in [CAPACITY, CAPACITY - 3] {
            // All of its items were taken, but a stealer has not come to say yet that it has copied its part of them.
            own.tail.store(stuck, Ordering::Relaxed);
            let head = RingHead {
                taken: stuck,
                copied: 0,
            };
            own.head.store(head.pack(), Ordering::Relaxed);
            // SAFETY: this thread owns both rings.
            let first = unsafe { other.steal_into(&own) };
            assert_eq!(first, Some(if stuck == CAPACITY { 0 } else { 1 }));
            assert_eq!(own.len() as u32, CAPACITY - stuck);
        }
        assert_eq!(other.len() as u32, CAPACITY - 1 - 4);
        // SAFETY: this thread owns both rings.
        let left: Vec<_> = core::iter::from_fn(|| unsafe { own.pop() }).collect();
        assert_eq!(left, [2, 3, 4]);
    }
}
