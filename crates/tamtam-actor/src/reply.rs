//! The way back to the asker: it is used once, and its loss is an answer, too.

use core::fmt;
#[cfg(feature = "serde")]
use core::task::Waker;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

#[cfg(feature = "serde")]
use tamtam_wait::TaskWait;

use crate::cell::{dropping_for, owed, why_dropped};
use crate::error::{AskError, Refused, TellError};
use crate::mailbox::{AnswerFuture, AnswerPlace, Filler, Taker, oneshot};
use crate::pending_answer::PendingAnswer;
use crate::time::Timer;
use crate::waits::OpenQuestion;

#[cfg(feature = "serde")]
mod lent;

#[cfg(feature = "serde")]
use lent::Lent;
#[cfg(feature = "serde")]
pub use lent::PendingReply;

/// The way back of an answer: the handler of a question sends the answer with it, once.
///
/// It lies in the question itself, so a message type says by itself what is answered and with what. It may be
/// kept, passed on to another actor or thread, and answered later.
///
/// A question that is not to be answered is [refused](Reply::refuse), with a reason for the asker. Dropping it unanswered tells the asker so at once, with [`AskError::Unanswered`]; or, if its actor panics, with
/// [`AskError::Panicked`] as soon as the panic has come to its end.
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
    /// The lock is taken by those only who have the reply for a look: who asks whether it is awaited, and a link that takes the
    /// way out of a message which it has written.
    way: Mutex<Option<ReplyWay<R>>>,
}

// A question takes what it asks for and this much of a mailbox, where a lock is one word; a lock of macOS takes more.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Reply<u64>>() <= 32);

enum ReplyWay<R> {
    /// A thread waits, or has given up.
    Thread(Filler<Result<R, AskError>>),
    /// An actor or a task waits, or looks, or has given up.
    Place(Arc<AnswerPlace<Result<R, AskError>>>),
    /// Something is done with the answer.
    Call(Box<dyn Answered<R>>),
    /// A link has it, if the message goes there; otherwise it is the message's again.
    #[cfg(feature = "serde")]
    Lent(Arc<Lent<R>>),
}

/// What is done with an answer.
pub(crate) trait Answered<R>: Send {
    fn answered(self: Box<Self>, answer: Result<R, AskError>);

    /// Whether that is still of use to its asker.
    fn is_awaited(&self) -> bool {
        true
    }
}

impl<R, F: FnOnce(Result<R, AskError>) + Send> Answered<R> for F {
    fn answered(self: Box<Self>, answer: Result<R, AskError>) {
        self(answer);
    }
}

/// A question that may be told that there will be no answer, whatever becomes of its [`Reply`]. Only the first of the two counts.
pub(crate) trait Asked: Send + Sync {
    fn fail(&self, why: AskError);
}

/// Who waits for the answer to a question, as long as that is awaited and may come.
pub(crate) type AskedBy = Weak<dyn Asked>;

impl<R: Send> Asked for AnswerPlace<Result<R, AskError>> {
    fn fail(&self, why: AskError) {
        // If there is an answer it is that.
        drop(self.put(Err(why)));
    }
}

impl<R: Send> Asked for Race<R> {
    fn fail(&self, why: AskError) {
        self.end(Err(why));
    }
}

impl<R> Reply<R> {
    /// A reply that calls `then` with the answer, or with [`AskError::Unanswered`], on the thread that
    /// answers or drops it.
    pub fn to(then: impl FnOnce(Result<R, AskError>) + Send + 'static) -> Self {
        Self::to_continuation(Box::new(then))
    }

    pub(crate) fn to_continuation(then: Box<dyn Answered<R>>) -> Self {
        Reply::by(ReplyWay::Call(then))
    }

    fn by(way: ReplyWay<R>) -> Self {
        Reply {
            way: Mutex::new(Some(way)),
        }
    }

    /// For a thread that does nothing but wait, and is in no actor's turn.
    pub(crate) fn open_for_thread() -> (Self, ThreadAnswer<R>) {
        let (filler, taker) = oneshot();
        let reply = Reply::by(ReplyWay::Thread(filler));
        (reply, ThreadAnswer(taker))
    }

    /// For all others.
    pub(crate) fn open() -> (Self, Answer<R>) {
        let place = Arc::new(AnswerPlace::new());
        let reply = Reply::by(ReplyWay::Place(Arc::clone(&place)));
        (reply, Answer(place))
    }

    /// Sends the answer. It is lost in silence if the asker has given up; see
    /// [`is_awaited`](Reply::is_awaited).
    pub fn send(mut self, answer: R) {
        self.finish(Ok(answer));
    }

    /// Answers that there will be no answer, for this reason, which the asker gets with [`AskError::Refused`]: in this process, in another one, and as
    /// a fault of its protocol as a foreign client of a gateway. It is lost in silence if the asker has given up.
    ///
    /// Where each caller is to tell reasons apart, a `Result` as the answer has a type for them; this is for those that are told to people, and
    /// for questions whose answer has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    ///
    /// struct Root(f64, Reply<f64>);
    ///
    /// let pool = Pool::new();
    /// let roots = pool.spawn_fn(|Root(of, reply): Root, _| {
    ///     if of < 0.0 {
    ///         return reply.refuse(format!("{of} has no real root"));
    ///     }
    ///     reply.send(of.sqrt());
    /// });
    /// let error = roots.ask(|reply| Root(-1.0, reply)).unwrap_err();
    /// assert_eq!(error.to_string(), "the question was refused: -1 has no real root");
    /// ```
    pub fn refuse(mut self, reason: impl Into<Box<str>>) {
        self.finish(Err(AskError::Refused(Refused::new(reason))));
    }

    /// Whether the answer is still waited for, as far as is known: a handler may save itself the work
    /// for an asker that has given up.
    pub fn is_awaited(&self) -> bool {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        way.as_ref().is_some_and(ReplyWay::is_awaited)
    }

    fn take_way(&mut self) -> Option<ReplyWay<R>> {
        self.way
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn finish(&mut self, answer: Result<R, AskError>) {
        match self.take_way() {
            Some(ReplyWay::Thread(filler)) => filler.fill(answer),
            // If the asker was told that there will be none, it is that.
            Some(ReplyWay::Place(place)) => drop(place.put(answer)),
            Some(ReplyWay::Call(then)) => then.answered(answer),
            #[cfg(feature = "serde")]
            Some(ReplyWay::Lent(lent)) => lent.finish_unsent(answer),
            None => {}
        }
    }
}

impl<R> ReplyWay<R> {
    fn is_awaited(&self) -> bool {
        match self {
            ReplyWay::Thread(filler) => filler.is_awaited(),
            ReplyWay::Place(place) => Arc::strong_count(place) > 1,
            ReplyWay::Call(then) => then.is_awaited(),
            #[cfg(feature = "serde")]
            ReplyWay::Lent(lent) => lent.is_awaited_unsent(),
        }
    }
}

impl<R> Drop for Reply<R> {
    fn drop(&mut self) {
        let way = self.way.get_mut().unwrap_or_else(PoisonError::into_inner);
        if way.is_none() {
            return;
        }
        if std::thread::panicking() {
            // Why, is not known before the panic has come to its end.
            let mut this = Reply {
                way: Mutex::new(way.take()),
            };
            return owed::owe(move |why| this.finish(Err(why)));
        }
        self.finish(Err(why_dropped()));
    }
}

/// Drops a question that was refused; the replies in it hear of the reason.
pub(crate) fn refuse<M>(question: TellError<M>) {
    dropping_for(AskError::refused(&question), move || drop(question));
}

impl<R> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("awaited", &self.is_awaited())
            .finish()
    }
}

/// The asker's side of a question, for a thread that is in no actor's turn.
pub(crate) struct ThreadAnswer<R>(Taker<Result<R, AskError>>);

impl<R> ThreadAnswer<R> {
    #[cfg(feature = "serde")]
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_full()
    }

    /// Whether a link has the reply, so that the answer comes over that.
    #[cfg(feature = "serde")]
    pub(crate) fn is_lent(&self) -> bool {
        self.0.is_lent()
    }

    /// As `is_there`; if it is not, the waker is woken once it is. To be cancelled before it is taken.
    #[cfg(feature = "serde")]
    pub(crate) fn poll(&self, wait: &mut TaskWait, waker: &Waker) -> bool {
        self.0.poll(wait, waker)
    }

    #[cfg(feature = "serde")]
    pub(crate) fn cancel(&self, wait: &mut TaskWait) {
        self.0.cancel(wait);
    }

    pub(crate) fn wait_until(self, deadline: Option<Instant>) -> Result<R, AskError> {
        // Without a deadline there is an answer.
        self.0.take(deadline).unwrap_or(Err(AskError::TimedOut))
    }
}

/// The asker's side of a question.
pub(crate) struct Answer<R>(Arc<AnswerPlace<Result<R, AskError>>>);

impl<R> Answer<R> {
    /// Waits for the answer: `None` if there was none until the deadline.
    pub(crate) fn take_until(&self, deadline: Option<Instant>) -> Option<Result<R, AskError>> {
        self.0.take_until(deadline)
    }

    /// For those who look who waits for whom.
    pub(crate) fn to_open(&self) -> Arc<dyn OpenQuestion>
    where
        R: Send + 'static,
    {
        Arc::clone(&self.0) as Arc<dyn OpenQuestion>
    }

    /// For those who may have to say that there will be no answer.
    pub(crate) fn asked_by(&self) -> AskedBy
    where
        R: Send + 'static,
    {
        Arc::downgrade(&(Arc::clone(&self.0) as Arc<dyn Asked>))
    }

    /// The answer as one among other things that a thread waits for.
    pub(crate) fn pending(self) -> PendingAnswer<R> {
        PendingAnswer::new(self.0)
    }

    /// The answer as a future.
    pub(crate) fn awaited(self) -> AnswerFuture<Result<R, AskError>> {
        AnswerFuture::new(self.0)
    }
}

/// An answer that is awaited until a timer is due: the first of the two counts.
pub(crate) struct Race<R> {
    state: Mutex<RaceState<R>>,
}

struct RaceState<R> {
    then: Option<Box<dyn Answered<R>>>,
    timer: Option<Timer>,
}

impl<R> Race<R> {
    pub(crate) fn new(then: Box<dyn Answered<R>>) -> Arc<Self> {
        Arc::new(Race {
            state: Mutex::new(RaceState {
                then: Some(then),
                timer: None,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, RaceState<R>> {
        // No user code runs under the lock, so it is never poisoned half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The timer that ends it, which goes with the answer.
    pub(crate) fn set_timer(&self, timer: Timer) {
        self.lock().timer = Some(timer);
    }

    pub(crate) fn end(&self, answer: Result<R, AskError>) {
        let (then, timer) = {
            let mut state = self.lock();
            (state.then.take(), state.timer.take())
        };
        if let Some(timer) = timer {
            timer.cancel();
        }
        if let Some(then) = then {
            then.answered(answer);
        }
    }
}

impl<R> Answered<R> for Arc<Race<R>> {
    fn answered(self: Box<Self>, answer: Result<R, AskError>) {
        self.end(answer);
    }

    fn is_awaited(&self) -> bool {
        self.lock().then.is_some()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_sees_whether_its_answer_is_there_before_it_waits_for_it() {
        let (reply, answer) = Reply::open_for_thread();
        #[cfg(feature = "serde")]
        assert!(!answer.is_there());
        assert!(reply.is_awaited());
        reply.send(3);
        #[cfg(feature = "serde")]
        assert!(answer.is_there());
        assert_eq!(answer.wait_until(None), Ok(3));
    }

    #[test]
    fn a_thread_that_waits_no_longer_is_not_awaiting_and_a_dropped_reply_is_an_answer() {
        let (reply, answer) = Reply::<u8>::open_for_thread();
        assert_eq!(
            answer.wait_until(Some(std::time::Instant::now())),
            Err(AskError::TimedOut)
        );
        assert!(!reply.is_awaited());
        drop(reply);
        let (reply, answer) = Reply::<u8>::open_for_thread();
        drop(reply);
        #[cfg(feature = "serde")]
        assert!(answer.is_there());
        assert_eq!(answer.wait_until(None), Err(AskError::Unanswered));
    }
}
