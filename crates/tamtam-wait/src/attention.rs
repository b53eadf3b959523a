//! Who pays for the fence between a plain store and the look for waiters.

use core::fmt;

use crate::fence;
use crate::seam::atomic::{AtomicU32, Ordering};

/// Put a fence behind the store and look for waiters.
const WANTED: u32 = 1;
/// The endpoint was closed.
const CLOSED: u32 = 2;

/// Whether those who bring something by a plain store must look for waiters.
///
/// A plain store may still be on its way when the loads behind it are done; so a waiter could register and
/// look in between, and neither would see the other. A full fence behind each store prevents that, and
/// costs more than the message (5 ns). Here the one who waits chooses. While it comes and goes it *wants
/// attention*: bringers put a fence behind each store and look for it. Once it has received thousands of
/// messages without waiting it wants none, and a message costs one load of a word that is not written; then,
/// before it relies on being woken again, it makes every other running thread execute a barrier
/// ([`fence::heavy`], up to 13 µs), once, and wants attention from then on.
///
/// Where there is no such barrier attention is wanted always.
///
/// The word should lie where bringers only read.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::{Acquire, Release, SeqCst}};
/// use tamtam_wait::{Attention, Wait, WaitList};
///
/// let (mail, waiters, attention) = (AtomicU32::new(0), WaitList::new(), Attention::new());
/// let take = || (mail.load(Acquire) != 0).then_some("mail");
/// let ready = || {
///     attention.want(); // Behind the registration, before the last look.
///     mail.load(SeqCst) != 0
/// };
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         mail.store(1, Release);
///         assert!(!waiters.notify_after_store(&attention), "the end is open");
///     });
///     assert_eq!(waiters.wait_until(Wait::Park, None, |_| take(), ready), Some("mail"));
/// });
/// ```
pub struct Attention(AtomicU32);

impl Default for Attention {
    fn default() -> Self {
        Self::new()
    }
}

impl Attention {
    /// Attention is not wanted, unless it always is.
    pub fn new() -> Self {
        Attention(AtomicU32::new(if fence::can_be_asymmetric() {
            0
        } else {
            WANTED
        }))
    }

    /// For the bringer, behind its store: whether a waiter wants to be looked for, or the end is closed.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        fence::light();
        // SYNC attention
        self.0.load(Ordering::Relaxed) != 0
    }

    /// For the one who waits, after registering and before the second look: from now on bringers see who
    /// waits. It is no fence if attention is wanted already: each load of the second look is sequentially consistent by itself.
    #[inline]
    pub fn want(&self) {
        // SYNC attention
        if self.0.load(Ordering::Relaxed) & WANTED == 0 {
            self.ask(WANTED);
        }
    }

    #[cold]
    fn ask(&self, what: u32) {
        self.0.fetch_or(what, Ordering::SeqCst);
        // Where the pair of fences does not work, attention is wanted always, and bringers put a full fence
        // behind each store.
        if fence::can_be_asymmetric() {
            fence::heavy();
        }
    }

    /// For the one who waits, and only if no other thread waits at the same end: bringers need not look for now.
    #[inline]
    pub fn want_none(&self) {
        if self.0.load(Ordering::Relaxed) & WANTED != 0 && fence::can_be_asymmetric() {
            self.0.fetch_and(!WANTED, Ordering::SeqCst);
        }
    }

    /// Sees to it that a bringer that stores something from now on learns that it is too late. What was stored by
    /// those who do not learn it is visible to this thread afterwards.
    pub fn close(&self) {
        self.ask(WANTED | CLOSED);
    }

    /// Whether [`close`](Attention::close) was called. Sequentially consistent.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::SeqCst) & CLOSED != 0
    }
}

impl fmt::Debug for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.0.load(Ordering::Relaxed);
        f.debug_struct("Attention")
            .field("wanted", &(word & WANTED != 0))
            .field("closed", &(word & CLOSED != 0))
            .finish()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_and_whether_it_is_closed_is_shown() {
        let attention = Attention::new();
        let shown = |attention: &Attention| format!("{attention:?}");
        // Where no fence can be asymmetric (Miri, most systems), attention is wanted from the beginning and for ever.
        let at_first = !fence::can_be_asymmetric();
        assert_eq!(
            shown(&attention),
            format!("Attention {{ wanted: {at_first}, closed: false }}")
        );
        attention.want();
        assert_eq!(
            shown(&attention),
            "Attention { wanted: true, closed: false }"
        );
        attention.close();
        assert_eq!(
            shown(&attention),
            "Attention { wanted: true, closed: true }"
        );
    }
}
