//! What can be waited for together with other things.

use std::time::Instant;

use crate::{Context, Operation, SharedWords, Token, WaitList};

/// Everything that a thread can wait for, alone or together with others.
///
/// A source is one *direction* of a thing: receiving from a channel, sending into it, taking from a
/// slot, an event being set, a moment in time. A wait over several sources goes:
///
/// 1. [`try_begin`](Source::try_begin) each; one that succeeds ends the wait.
/// 2. [`register`](Source::register) with each, or take the words to [sleep at](Source::sleep_at); if one says that it is ready meanwhile, abort.
/// 3. Sleep until one of them selects the context, or until the earliest
///    [`deadline`](Source::deadline).
/// 4. [`unregister`](Source::unregister) from each but the one that selected the context.
/// 5. [`accept`](Source::accept) that one; if that fails (another thread was faster), start over.
///
/// # Examples
///
/// A door that stays open once it is:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// use std::task::{Poll, Waker};
/// use tamtam_wait::{Context, Operation, Polled, Source, TaskWait, Token, WaitList};
///
/// #[derive(Default)]
/// struct Door {
///     open: AtomicBool,
///     waiters: WaitList,
/// }
///
/// impl Door {
///     fn open(&self) {
///         self.open.store(true, SeqCst);
///         self.waiters.notify_all();
///     }
/// }
///
/// impl Source for Door {
///     fn try_begin(&self, _: &mut Token) -> bool {
///         self.is_ready()
///     }
///     fn register(&self, operation: Operation, context: &Context) -> bool {
///         self.waiters.register(operation, context);
///         self.is_ready()
///     }
///     fn unregister(&self, operation: Operation, context: &Context) {
///         self.waiters.unregister(operation, context);
///     }
///     fn is_ready(&self) -> bool {
///         self.open.load(SeqCst)
///     }
///     fn watch(&self, operation: Operation, context: &Context) -> bool {
///         self.waiters.watch(operation, context);
///         self.is_ready()
///     }
///     fn unwatch(&self, operation: Operation, context: &Context) {
///         self.waiters.unwatch(operation, context);
///     }
/// }
///
/// let (door, mut wait, mut token) = (Door::default(), TaskWait::new(), Token::default());
/// assert!(wait.poll(&door, &mut token, Waker::noop(), None).is_pending());
/// door.open();
/// assert_eq!(wait.poll(&door, &mut token, Waker::noop(), None), Poll::Ready(Polled::Begun));
/// ```
pub trait Source {
    /// Begins the operation if it can be finished without waiting; what it needs for that goes into
    /// the token. A closed source can always be begun: finishing reports the error.
    fn try_begin(&self, token: &mut Token) -> bool;

    /// As [`try_begin`](Source::try_begin), for one of many looks: it may pass over what costs the other side more to be seen, such as that
    /// the source is closed.
    fn try_begin_lightly(&self, token: &mut Token) -> bool {
        self.try_begin(token)
    }

    /// Enters the thread into the wait list and looks once more; `true` if the operation can be
    /// begun by now.
    fn register(&self, operation: Operation, context: &Context) -> bool;

    /// Removes the thread from the wait list.
    fn unregister(&self, operation: Operation, context: &Context);

    /// Begins the operation for which this source has selected the thread, which is not in its wait
    /// list any more. Called exactly once for each time that this source selects a thread.
    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        let _ = context;
        self.try_begin(token)
    }

    /// This source has selected a waiter that does not want the operation any more: a task that was
    /// cancelled. Another waiter gets its chance. Takes the place of [`accept`](Source::accept).
    ///
    /// By default nothing has to be done: for sources that select all who wait.
    fn decline(&self, context: &Context) {
        let _ = context;
    }

    /// Gives up an operation that was begun, so that the other side does not wait for its end.
    ///
    /// # Safety
    ///
    /// The token was filled by this source, and not used since.
    unsafe fn abandon(&self, token: &mut Token) {
        let _ = token;
    }

    /// As [`abandon`](Source::abandon), on another thread than the one that has the end: what was taken
    /// out may be of a type that must not be dropped here, so it is leaked.
    ///
    /// # Safety
    ///
    /// As for [`abandon`](Source::abandon).
    unsafe fn abandon_elsewhere(&self, token: &mut Token) {
        // SAFETY: what the caller owes here is what `abandon` asks for. Sources whose tokens hold what a user has sent do
        // otherwise.
        unsafe { self.abandon(token) };
    }

    /// Whether [`try_begin`](Source::try_begin) would succeed now.
    fn is_ready(&self) -> bool;

    /// How long [`try_begin`](Source::try_begin) would have failed, as a number: two calls with the same one say that it would have at every moment
    /// between them. None if it would succeed now, or where that is not known.
    ///
    /// By this a look at several sources finds a moment at which none of them was ready without being registered with each: all are asked, and then
    /// all once more (the *double collect* of Afek and others, *Atomic Snapshots of Shared Memory*, 1993).
    ///
    /// Sequentially consistent, where what makes it ready is.
    fn unready_since(&self) -> Option<u64> {
        None
    }

    /// What tells one moment of readiness from another, for a source that lets all pass who wait when it becomes ready, also if it is
    /// ready no more when they look: a wait over it is over when this is another number than when the wait began. Zero for every
    /// other source.
    ///
    /// Sequentially consistent: it is looked at again after registering.
    fn mark(&self) -> u64 {
        0
    }

    /// As [`register`](Source::register), for a thread that only wants to hear of readiness.
    fn watch(&self, operation: Operation, context: &Context) -> bool;

    /// As [`unregister`](Source::unregister), for a thread that only wanted to hear of readiness.
    fn unwatch(&self, operation: Operation, context: &Context);

    /// The list in which waiters stand, if entering it is all that registering does before the second
    /// look, and [`accept`](Source::accept) is [`try_begin`](Source::try_begin), or does more only for who has stood in the
    /// list. Then a task that is the only one to wait need not be registered.
    fn list(&self) -> Option<&WaitList> {
        None
    }

    /// The second look alone, for sources that have a [`list`](Source::list).
    fn looks_ready(&self) -> bool {
        true
    }

    /// In place of [`register`](Source::register) or [`watch`](Source::watch), for a thread that sleeps by itself: adds the words in memory of several
    /// processes that end its sleep, and looks once more. Whether the source is ready by now; none if it has no such words, or they have no
    /// room, and the thread is to be registered.
    ///
    /// Nothing is chosen then: the thread looks itself when it wakes up, and has to call [`woken_at`](Source::woken_at) before that.
    fn sleep_at<'a>(&'a self, words: &mut SharedWords<'a>) -> Option<bool> {
        let _ = words;
        None
    }

    /// The sleep at the words of [`sleep_at`](Source::sleep_at) is over, or was not begun.
    fn woken_at(&self) {}

    /// The moment at which the source becomes ready by itself, if there is one.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}
