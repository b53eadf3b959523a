//! Small numbers for threads: no two threads have the same at a time, and the numbers of threads
//! that have ended are given to new ones.

/// The number of a thread that has none: it has not asked for one yet, or it is ending.
pub(super) const NONE: u32 = u32::MAX;

#[cfg(not(tamtam_loom))]
mod system {
    use std::cell::Cell;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use tamtam_wait::seam::Mutex;

    use super::NONE;

    /// The numbers that no thread has.
    struct Numbers {
        /// The first that was never given to a thread. Zero never is.
        next: u32,
        /// Those that came back, the smallest on top: small numbers seldom meet on a stripe.
        returned: BinaryHeap<Reverse<u32>>,
    }

    // A thread that gets a number from here sees all that the thread did which returned it: the
    // latches rely on that when a stripe passes from one to the other.
    static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
        next: 1,
        returned: BinaryHeap::new(),
    });

    thread_local! {
        /// Apart from `HELD`, because a thread-local that has nothing to drop is read in one
        /// instruction.
        static NUMBER: Cell<u32> = const { Cell::new(NONE) };
        static HELD: HeldNumber = HeldNumber::take();
    }

    /// Keeps the number for the thread until it ends.
    struct HeldNumber(u32);

    impl HeldNumber {
        fn take() -> Self {
            let mut numbers = NUMBERS.lock();
            let number = match numbers.returned.pop() {
                Some(Reverse(number)) => number,
                None => {
                    numbers.next += 1;
                    numbers.next - 1
                }
            };
            NUMBER.set(number);
            HeldNumber(number)
        }
    }

    impl Drop for HeldNumber {
        fn drop(&mut self) {
            // First of all: what is dropped after this may count, too, and has no number then.
            NUMBER.set(NONE);
            NUMBERS.lock().returned.push(Reverse(self.0));
        }
    }

    #[inline(always)]
    pub(in super::super) fn current() -> u32 {
        NUMBER.get()
    }

    #[cold]
    pub(in super::super) fn assign() -> u32 {
        HELD.try_with(|held| held.0).unwrap_or(NONE)
    }
}

/// The models give each of their threads a number themselves.
#[cfg(tamtam_loom)]
mod system {
    pub(in super::super) fn current() -> u32 {
        super::NONE
    }

    pub(in super::super) fn assign() -> u32 {
        super::NONE
    }
}

/// This thread's number, or [`NONE`].
pub(super) use system::current;

/// This thread's number; gives it one if it has none. [`NONE`] if the thread is ending.
pub(super) use system::assign;
