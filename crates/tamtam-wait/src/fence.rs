//! An asymmetric pair of fences: one side pays nothing, the other side for both.
//!
//! Where a side that runs millions of times must store and then look, and its counterpart runs
//! rarely, a full fence on the frequent side (5 ns here) can be had for a compiler fence if the
//! rare side makes every running thread of the process execute a barrier: Linux' `membarrier(2)`,
//! private and expedited (Desnoyers and McKenney; the userspace-rcu library). Measured on two
//! cores, Linux 6.18: 13 µs if another core runs a thread of the process, 0.15 µs if none does;
//! the registration, once per process, 7 to 12 ms if the process has several threads already.
//!
//! Channels and slots do without it: each of their operations begins with a read-modify-write that
//! is a full barrier anyway (see the crate's README). The [latch of
//! `tamtam-channel`](https://docs.rs/tamtam-channel) uses it: millions of counts, one opening.

#[cfg(all(target_os = "linux", not(tamtam_loom), not(miri)))]
mod system {
    use std::sync::OnceLock;

    fn membarrier(command: libc::c_int) -> libc::c_long {
        // SAFETY: membarrier takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
    }

    const QUERY: libc::c_int = 0;
    const GLOBAL: libc::c_int = 1 << 0;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    pub(super) fn is_asymmetric() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) == 0)
    }

    pub(super) fn can_be_asymmetric() -> bool {
        static SUPPORTED: OnceLock<bool> = OnceLock::new();
        *SUPPORTED.get_or_init(|| {
            let needed = libc::c_long::from(GLOBAL | PRIVATE_EXPEDITED);
            let commands = membarrier(QUERY);
            commands > 0 && commands & needed == needed
        })
    }

    /// The barrier that costs microseconds; `false` where the process is not registered for it.
    pub(super) fn quick_barrier() -> bool {
        is_asymmetric() && membarrier(PRIVATE_EXPEDITED) == 0
    }

    pub(super) fn heavy() {
        if quick_barrier() {
            return;
        }
        // Slower, and needs no registration. Going on without a barrier would be a data race.
        assert_eq!(
            membarrier(GLOBAL),
            0,
            "membarrier failed after it was offered"
        );
    }
}

#[cfg(not(all(target_os = "linux", not(tamtam_loom), not(miri))))]
mod system {
    pub(super) fn can_be_asymmetric() -> bool {
        is_asymmetric()
    }

    pub(super) fn is_asymmetric() -> bool {
        // In the models both fences are full ones, so the asymmetric protocol can be checked.
        cfg!(tamtam_loom)
    }

    pub(super) fn heavy() {
        crate::seam::atomic::fence(crate::seam::atomic::Ordering::SeqCst);
    }
}

/// Whether [`light`] and [`heavy`] work as a pair here. The first call registers the process.
#[must_use]
pub fn is_asymmetric() -> bool {
    system::is_asymmetric()
}

/// Whether [`light`] and [`heavy`] work as a pair here, without registering the process: for those who
/// may never need it. [`heavy`] will do it then.
#[must_use]
pub fn can_be_asymmetric() -> bool {
    system::can_be_asymmetric()
}

/// The free side: orders what stands before it against what stands after it, towards threads that
/// call [`heavy`]. Only to be used where [`is_asymmetric`] has said yes.
#[inline(always)]
pub fn light() {
    #[cfg(tamtam_loom)]
    crate::seam::atomic::fence(crate::seam::atomic::Ordering::SeqCst);
    #[cfg(not(tamtam_loom))]
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

/// The paying side: every other running thread of the process executes a full barrier, and so does
/// this one.
pub fn heavy() {
    system::heavy();
}

#[cfg(all(test, target_os = "linux", not(tamtam_loom), not(miri)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicU32};

    #[test]
    fn where_the_system_offers_the_pair_of_fences_it_is_used() {
        assert_eq!(is_asymmetric(), can_be_asymmetric());
    }

    /// Two threads store and then look, each behind one of the fences: at least one sees the other's store. The paying
    /// side makes the barrier for both; without it some looks come before the store of the same thread, where two
    /// cores run the two threads. (Measured with a paying side that does nothing: one in twenty of these spells fails on
    /// two cores that are shared with eight busy processes each.)
    #[test]
    fn at_least_one_side_of_the_pair_sees_the_others_store() {
        if is_asymmetric() {
            assert!(
                system::quick_barrier(),
                "each fence would take milliseconds"
            );
            (0..10).for_each(|_| spell());
        }
    }

    fn spell() {
        const ROUNDS: usize = 2_000;
        let words = || {
            (0..ROUNDS)
                .map(|_| AtomicBool::new(false))
                .collect::<Vec<_>>()
        };
        let (free, paying) = (words(), words());
        let began = AtomicU32::new(0);
        let begin_together = || {
            began.fetch_add(1, Relaxed);
            while began.load(Relaxed) < 2 {
                std::thread::yield_now();
            }
        };
        let (free_saw, paying_saw) = std::thread::scope(|threads| {
            let free_side = threads.spawn(|| {
                begin_together();
                let look = |(own, other): (&AtomicBool, &AtomicBool)| {
                    own.store(true, Relaxed);
                    light();
                    other.load(Relaxed)
                };
                free.iter().zip(&paying).map(look).collect::<Vec<_>>()
            });
            begin_together();
            let look = |(own, other): (&AtomicBool, &AtomicBool)| {
                own.store(true, Relaxed);
                heavy();
                other.load(Relaxed)
            };
            let paying_saw: Vec<_> = paying.iter().zip(&free).map(look).collect();
            (free_side.join().unwrap(), paying_saw)
        });
        assert!(
            free_saw
                .iter()
                .zip(&paying_saw)
                .all(|(free, paying)| *free || *paying)
        );
    }
}
