//! Counting without locked instructions.
//!
//! Each thread counts on a stripe of its own, with a plain load and a plain store. No thread knows the
//! sum of the stripes at a moment, so a thread may count there only what cannot be the last count:
//! it takes a *lease* from the pool (the latch's `left`), and as long as any lease is not used up
//! the latch cannot have reached zero. The phases:
//!
//! 1. `LEASED`. A thread uses up its lease and takes the next one. The pool never falls to zero.
//! 2. `SETTLING`. A thread needs a lease and the pool is nearly empty. Holding the lock, it returns
//!    to the pool what is unused of every lease, also of threads that have ended or do something
//!    else.
//! 3. `EXACT`, for ever. The pool is what is left, and all count there.
//!
//! The one race is between a thread that counts on its stripe and the one that settles. The first
//! *stores its count and then reads the phase*; the other *writes the phase and then reads the
//! counts*, with a full barrier between the two on either side. So at least one of them sees the
//! other (Dekker's argument): either the count is settled, or the counting thread sees that there
//! was a settlement and compares: the settler has left what it found as the new end of the lease.
//! A count that was not found is taken back and made in the pool.
//!
//! The barrier of the frequent side is free where the system can make all threads execute one on
//! behalf of the rare side, see [`fence`].

use tamtam_wait::fence;
use tamtam_wait::seam::atomic::{self, AtomicU32, AtomicU64, Ordering};
use tamtam_wait::seam::{CacheAligned, Mutex};

use super::number;

/// Threads that can count on stripes at once; further ones count in the pool.
const STRIPES: usize = if cfg!(tamtam_loom) { 2 } else { 32 };
/// The largest lease. What can be on lease when the pool is empty is counted at the centre at last,
/// and taking a lease costs some tens of nanoseconds: both are little beside the counts on stripes.
const LARGEST_LEASE: u64 = if cfg!(tamtam_loom) { 2 } else { 4096 };
/// A lease is at most this part of the pool, so that leases become shorter towards the end
/// (guided self-scheduling: Polychronopoulos and Kuck, 1987).
const PART_OF_POOL: u64 = if cfg!(tamtam_loom) { 2 } else { 8 };
/// When the pool cannot give as much as this, the end is near enough for exact counting.
const SMALLEST_LEASE: u64 = if cfg!(tamtam_loom) { 1 } else { 32 };

/// The owner of a stripe that is not claimed.
const UNCLAIMED: u32 = 0;

const LEASED: u32 = 0;
const SETTLING: u32 = 1;
const EXACT: u32 = 2;

pub(super) struct Stripes {
    head: CacheAligned<Head>,
    stripes: [CacheAligned<Stripe>; STRIPES],
    /// Held to take a lease and to settle.
    lock: CacheAligned<Mutex<()>>,
}

/// What every count reads and hardly any writes.
struct Head {
    phase: AtomicU32,
    /// Whether the settler's barrier works for the counting threads too.
    asymmetric: bool,
}

/// One thread's counts.
#[derive(Debug)]
struct Stripe {
    /// The number of the thread that counts here. Never changes once it is claimed: a thread that
    /// was given the number of one that has ended goes on where that one stopped.
    owner: AtomicU32,
    /// Everything counted here. Written by the owner only.
    done: AtomicU64,
    /// Everything leased, so never below `done`. Written under the lock only: by the owner, and
    /// by the settler, who puts the end of the lease at what it found done.
    leased: AtomicU64,
}

impl Head {
    /// The barrier of a thread that has counted and is about to read the phase.
    #[inline(always)]
    fn barrier_of_counter(&self) {
        if self.asymmetric {
            fence::light();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    /// The barrier of the thread that has changed the phase and is about to read the counts.
    fn barrier_of_settler(&self) {
        if self.asymmetric {
            fence::heavy();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }
}

impl Stripes {
    pub(super) fn new() -> Self {
        Self::with_fences(fence::is_asymmetric())
    }

    /// With an asymmetric pair of fences, which the system must offer, or two full ones.
    pub(super) fn with_fences(asymmetric: bool) -> Self {
        Stripes {
            head: CacheAligned(Head {
                phase: AtomicU32::new(LEASED),
                asymmetric,
            }),
            stripes: core::array::from_fn(|_| {
                CacheAligned(Stripe {
                    owner: AtomicU32::new(UNCLAIMED),
                    done: AtomicU64::new(0),
                    leased: AtomicU64::new(0),
                })
            }),
            lock: CacheAligned(Mutex::new(())),
        }
    }

    /// The stripe that a thread may claim.
    #[inline(always)]
    fn home(&self, thread: u32) -> &Stripe {
        &self.stripes[thread as usize % STRIPES]
    }

    /// Counts on the thread's stripe. `false`: nothing was counted, and by now the count is to be
    /// made in the pool, exactly.
    #[inline]
    pub(super) fn count(&self, pool: &AtomicU64, thread: u32, by: u64) -> bool {
        let stripe = self.home(thread);
        if stripe.owner.load(Ordering::Relaxed) == thread {
            let done = stripe.done.load(Ordering::Relaxed);
            let leased = stripe.leased.load(Ordering::Relaxed);
            if by <= leased - done {
                // SYNC stripe-done
                stripe.done.store(done + by, Ordering::Release);
                // SYNC settling
                self.head.barrier_of_counter();
                if self.head.phase.load(Ordering::Relaxed) == LEASED {
                    return true;
                }
                return self.was_settled(stripe, done, by);
            }
        }
        self.count_beyond_lease(pool, thread, by)
    }

    /// A count was stored and then a settlement was noticed: whether the settler found the count.
    /// Takes it back if not.
    #[cold]
    fn was_settled(&self, stripe: &Stripe, done: u64, by: u64) -> bool {
        // SYNC settled
        if self.head.phase.load(Ordering::Acquire) != EXACT {
            // The settler holds the lock until it is done.
            drop(self.lock.lock());
        }
        let found = stripe.leased.load(Ordering::Relaxed);
        if found == done + by {
            return true;
        }
        debug_assert_eq!(found, done);
        stripe.done.store(done, Ordering::Relaxed);
        false
    }

    /// The thread has no stripe yet, or none at all, or its lease is too short.
    #[cold]
    fn count_beyond_lease(&self, pool: &AtomicU64, mut thread: u32, by: u64) -> bool {
        // Relaxed: the pool is counted by read-modify-writes, which never see an old value.
        if self.head.phase.load(Ordering::Relaxed) == EXACT {
            return false;
        }
        if thread == number::NONE {
            thread = number::assign();
        }
        let stripe = self.claim(thread);
        if stripe.is_none() && count_in_pool(pool, by) {
            return true;
        }
        let guard = self.lock.lock();
        // Under the lock no other thread is settling.
        if self.head.phase.load(Ordering::Relaxed) == EXACT {
            return false;
        }
        if stripe.is_some_and(|stripe| count_on_new_lease(pool, stripe, by)) {
            return true;
        }
        self.settle(pool);
        drop(guard);
        false
    }

    /// The thread's stripe, unless a thread with another number has it.
    fn claim(&self, thread: u32) -> Option<&Stripe> {
        if thread == number::NONE {
            return None;
        }
        let stripe = self.home(thread);
        // Nothing else was written before, so there is nothing to acquire. What a thread wrote
        // that had the same number was acquired with the number.
        match stripe
            .owner
            .compare_exchange(UNCLAIMED, thread, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => Some(stripe),
            Err(owner) => (owner == thread).then_some(stripe),
        }
    }

    /// Returns to the pool what is unused of all leases. The caller holds the lock.
    fn settle(&self, pool: &AtomicU64) {
        self.head.phase.store(SETTLING, Ordering::Relaxed);
        // SYNC settling
        self.head.barrier_of_settler();
        let mut unused = 0;
        for stripe in &self.stripes {
            // SYNC stripe-done: acquires what was done before the counts found here; adding to the
            // pool releases it to the thread that counts after this.
            let done = stripe.done.load(Ordering::Acquire);
            unused += stripe.leased.load(Ordering::Relaxed) - done;
            stripe.leased.store(done, Ordering::Relaxed);
        }
        // SYNC latch
        pool.fetch_add(unused, Ordering::AcqRel);
        // SYNC settled
        self.head.phase.store(EXACT, Ordering::Release);
    }

    /// What is left to count in all.
    pub(super) fn remaining(&self, pool: &AtomicU64) -> u64 {
        // SYNC settled
        if self.head.phase.load(Ordering::Acquire) != EXACT {
            let _guard = self.lock.lock();
            if self.head.phase.load(Ordering::Relaxed) != EXACT {
                // Under the lock nothing moves between pool and leases, so each of these can only
                // fall while they are read: the sum is what was left at the beginning, at the end
                // or in between.
                // SYNC latch, SYNC stripe-done
                return self
                    .stripes
                    .iter()
                    .fold(pool.load(Ordering::Acquire), |left, stripe| {
                        let leased = stripe.leased.load(Ordering::Relaxed);
                        left + (leased - stripe.done.load(Ordering::Acquire))
                    });
            }
        }
        // SYNC latch
        pool.load(Ordering::Acquire)
    }
}

/// Counts for a thread without a stripe. `false` if that would empty the pool, which may only happen
/// after a settlement.
fn count_in_pool(pool: &AtomicU64, by: u64) -> bool {
    // SYNC latch
    pool.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |left| {
        left.checked_sub(by).filter(|&after| after > 0)
    })
    .is_ok()
}

/// Extends the stripe's lease so far that the count fits and something is left for the next ones,
/// and counts. `false` if the pool cannot give that. The caller owns the stripe and holds the lock,
/// so no settlement comes between.
fn count_on_new_lease(pool: &AtomicU64, stripe: &Stripe, by: u64) -> bool {
    let done = stripe.done.load(Ordering::Relaxed);
    let leased = stripe.leased.load(Ordering::Relaxed);
    let missing = by.saturating_sub(leased - done);
    let mut drawn = 0;
    // Relaxed: to take a lease tells other threads nothing, and what others released by counting in the
    // pool passes through.
    let enough = pool.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        let spare = left.checked_sub(missing)?;
        let lease = (spare / PART_OF_POOL).min(LARGEST_LEASE);
        drawn = missing + lease;
        (lease >= SMALLEST_LEASE).then_some(spare - lease)
    });
    if enough.is_err() {
        return false;
    }
    stripe.leased.store(leased + drawn, Ordering::Relaxed);
    // Relaxed: a thread that reads it holds the lock, and acquired with it what this thread did.
    stripe.done.store(done + by, Ordering::Relaxed);
    true
}
