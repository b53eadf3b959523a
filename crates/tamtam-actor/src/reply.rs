use core::cell::Cell;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tamtam_channel::Slot;

use crate::error::{AskError, Refusal};
use crate::mailbox::{Filler, Taker, pigeonhole};
use crate::waits::Open;

/// The way back of an answer: whoever handles a question sends the answer with it, once.
///
/// It lies in the question itself, so a message type says by itself what is answered and with what. It may be
/// kept, passed on to another actor or thread, and answered later.
///
/// Dropping it unanswered tells the asker so at once, with [`AskError::Unanswered`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Reply};
///
/// struct Double(u64, Reply<u64>);
///
/// let pool = Pool::new();
/// let doubler = pool.spawn_fn(|Double(number, reply): Double, _| reply.send(2 * number));
/// assert_eq!(doubler.ask(|reply| Double(21, reply))?, 42);
/// # Ok::<(), tamtam_actor::AskError>(())
/// ```
#[must_use = "dropping a reply tells the asker that there will be no answer"]
pub struct Reply<R> {
    way: Option<Way<R>>,
}

enum Way<R> {
    /// A thread waits, or has given up.
    Thread(Filler<Result<R, AskError>>),
    /// An actor or a task waits, or looks, or has given up.
    Slot(Arc<Slot<Result<R, AskError>>>),
    /// Something is done with the answer.
    /// The lock is never taken: it says that nobody looks into the box through a shared reply.
    Call(Mutex<Box<dyn Answered<R>>>),
}

/// What is done with an answer.
pub(crate) trait Answered<R>: Send {
    fn answered(self: Box<Self>, answer: Result<R, AskError>);
}

impl<R, F: FnOnce(Result<R, AskError>) + Send> Answered<R> for F {
    fn answered(self: Box<Self>, answer: Result<R, AskError>) {
        self(answer);
    }
}

impl<R> Reply<R> {
    /// A reply that calls `then` with the answer, or with [`AskError::Unanswered`], on the thread that
    /// answers or drops it.
    pub fn to(then: impl FnOnce(Result<R, AskError>) + Send + 'static) -> Self {
        Self::to_continuation(Box::new(then))
    }

    pub(crate) fn to_continuation(then: Box<dyn Answered<R>>) -> Self {
        Reply {
            way: Some(Way::Call(Mutex::new(then))),
        }
    }

    /// For a thread that does nothing but wait, and is at work for nobody.
    pub(crate) fn open_for_thread() -> (Self, ThreadAnswer<R>) {
        let (filler, taker) = pigeonhole();
        let reply = Reply {
            way: Some(Way::Thread(filler)),
        };
        (reply, ThreadAnswer(taker))
    }

    /// For all others.
    pub(crate) fn open() -> (Self, Answer<R>) {
        let slot = Arc::new(Slot::new());
        let reply = Reply {
            way: Some(Way::Slot(Arc::clone(&slot))),
        };
        (reply, Answer(slot))
    }

    /// Sends the answer. It is lost in silence if the asker has given up; see
    /// [`is_awaited`](Reply::is_awaited).
    pub fn send(mut self, answer: R) {
        self.finish(Ok(answer));
    }

    /// Whether somebody still waits for the answer, as far as is known: a handler may save itself the work
    /// for an asker that has given up.
    pub fn is_awaited(&self) -> bool {
        match &self.way {
            Some(Way::Thread(filler)) => filler.is_awaited(),
            Some(Way::Slot(slot)) => Arc::strong_count(slot) > 1,
            Some(Way::Call(_)) => true,
            None => false,
        }
    }

    fn finish(&mut self, answer: Result<R, AskError>) {
        match self.way.take() {
            Some(Way::Thread(filler)) => filler.fill(answer),
            // The slot is empty: there is one answer to each question.
            Some(Way::Slot(slot)) => drop(slot.try_put(answer)),
            Some(Way::Call(then)) => {
                let then = then.into_inner();
                then.unwrap_or_else(PoisonError::into_inner)
                    .answered(answer);
            }
            None => {}
        }
    }
}

impl<R> Drop for Reply<R> {
    fn drop(&mut self) {
        if self.way.is_some() {
            let why = REFUSED.get().map_or(AskError::Unanswered, AskError::from);
            self.finish(Err(why));
        }
    }
}

thread_local! {
    /// Why the message that this thread is dropping was refused.
    static REFUSED: Cell<Option<Refusal>> = const { Cell::new(None) };
}

/// Drops a question that was refused; the replies in it hear of the reason.
pub(crate) fn refuse<M>(question: M, why: Refusal) {
    /// Also if the drop panics.
    struct Restored(Option<Refusal>);

    impl Drop for Restored {
        fn drop(&mut self) {
            REFUSED.set(self.0);
        }
    }

    let _restored = Restored(REFUSED.replace(Some(why)));
    drop(question);
}

impl<R> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("awaited", &self.is_awaited())
            .finish()
    }
}

/// The asker's side of a question, for a thread that is at work for nobody.
pub(crate) struct ThreadAnswer<R>(Taker<Result<R, AskError>>);

impl<R> ThreadAnswer<R> {
    pub(crate) fn wait_until(self, deadline: Option<Instant>) -> Result<R, AskError> {
        // Without a deadline there is an answer.
        self.0.take(deadline).unwrap_or(Err(AskError::TimedOut))
    }
}

/// The asker's side of a question.
pub(crate) struct Answer<R>(Arc<Slot<Result<R, AskError>>>);

impl<R> Answer<R> {
    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> Result<R, AskError> {
        match deadline {
            None => self.0.take(),
            Some(deadline) => self
                .0
                .take_deadline(deadline)
                .unwrap_or(Err(AskError::TimedOut)),
        }
    }

    /// For those who look who waits for whom.
    pub(crate) fn to_open(&self) -> Arc<dyn Open>
    where
        R: Send + 'static,
    {
        Arc::clone(&self.0) as Arc<dyn Open>
    }

    pub(crate) async fn awaited(self) -> Result<R, AskError> {
        self.0.take_async().await
    }
}

impl<R: Send> Open for Slot<Result<R, AskError>> {
    fn is_open(&self) -> bool {
        self.is_empty()
    }
}
