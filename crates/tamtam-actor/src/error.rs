//! What can go wrong on the way to an actor. Each error says what became of the message.

use core::error::Error;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ended::{EndReason, Panicked, ProcessEnd};
use crate::id::{ActorId, Called, name_of};
use crate::mailbox::Loss;
use crate::task::Stuck;
use crate::waits::Cycle;

mod link_failure;
mod refused;

pub use link_failure::{Fate, LinkFailure};
pub use refused::Refused;

/// A message that was not accepted, and why.
///
/// It converts by `?` into `Box<dyn Error + Send + Sync>` whatever the message is: the message cannot be got at
/// but by [`into_inner`](TellError::into_inner).
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|_: String, _| {});
/// actor.stop();
/// actor.end().wait();
///
/// let error = actor.tell("late".to_owned()).unwrap_err();
/// assert!(error.is_stopped());
/// assert_eq!(error.into_inner(), "late"); // it comes back
/// ```
pub struct TellError<M> {
    why: Refusal,
    /// Whose mailbox it is.
    to: ActorId,
    /// What there is to say of it beside that.
    detail: Detail,
    /// The lock is never taken: it says that the message is not looked at through a shared error.
    message: Mutex<M>,
}

/// What there is to say of a refusal beside its kind.
enum Detail {
    None,
    /// Those who wait for each other.
    Cycle(Box<Cycle>),
    /// What a link says.
    #[cfg_attr(not(feature = "serde"), allow(dead_code))]
    Link(LinkFailure),
}

/// Why a message was not accepted.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Refusal};
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|(): (), _| {});
/// actor.stop();
/// actor.end().wait();
/// assert_eq!(actor.tell(()).unwrap_err().why(), Refusal::Stopped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The mailbox has no room; later it may have.
    Full,
    /// The actor has stopped.
    Stopped,
    /// The mailbox has no room, and will not have any: the sending actor [holds](crate::Context::hold) for room in the mailbox
    /// of one that waits for it in turn. See [`TellError::cycle`].
    Cycle,
    /// The actor lives in another process, and the link to that has ended. See [`TellError::failure`].
    Unreachable,
    /// The actor lives in another process, and the message cannot be written as bytes. See [`TellError::failure`].
    NotEncodable,
    /// The actor lives in another process, and the message takes more bytes than its link carries at once. See
    /// [`TellError::failure`].
    TooLarge,
}

impl<M> TellError<M> {
    pub(crate) fn full(to: ActorId, message: M) -> Self {
        TellError {
            why: Refusal::Full,
            to,
            detail: Detail::None,
            message: Mutex::new(message),
        }
    }

    pub(crate) fn stopped(to: ActorId, message: M) -> Self {
        TellError {
            why: Refusal::Stopped,
            to,
            detail: Detail::None,
            message: Mutex::new(message),
        }
    }

    pub(crate) fn in_cycle(to: ActorId, message: M, cycle: Cycle) -> Self {
        TellError {
            why: Refusal::Cycle,
            to,
            detail: Detail::Cycle(Box::new(cycle)),
            message: Mutex::new(message),
        }
    }

    /// Of a message that was to go to another process.
    #[cfg(feature = "serde")]
    pub(crate) fn not_sent(to: ActorId, message: M, why: Refusal, failure: LinkFailure) -> Self {
        TellError {
            why,
            to,
            detail: Detail::Link(failure),
            message: Mutex::new(message),
        }
    }

    /// What the message is counted as if it cannot come back.
    pub(crate) fn loss(&self) -> Loss {
        match self.why {
            Refusal::Full | Refusal::Cycle => Loss::DroppedNewest,
            Refusal::Stopped => Loss::Stopped,
            Refusal::Unreachable => Loss::Unreachable,
            Refusal::NotEncodable | Refusal::TooLarge => Loss::NotEncodable,
        }
    }

    /// The same of what the message is made into.
    pub(crate) fn map<N>(self, make: impl FnOnce(M) -> N) -> TellError<N> {
        let message = make(
            self.message
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        );
        TellError {
            why: self.why,
            to: self.to,
            detail: self.detail,
            message: Mutex::new(message),
        }
    }

    /// The message that was not accepted.
    pub fn into_inner(self) -> M {
        self.message
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it was not accepted.
    pub fn why(&self) -> Refusal {
        self.why
    }

    /// The number of the actor that has not got it: see [`Address::id`](crate::Address::id).
    pub fn actor(&self) -> ActorId {
        self.to
    }

    /// The name of that actor, if it was given one by [`Spawner::name`](crate::Spawner::name), and there is still an address of it.
    pub fn name(&self) -> Option<Arc<str>> {
        name_of(self.to)
    }

    /// Whether the mailbox had no room; later it may have.
    pub fn is_full(&self) -> bool {
        self.why == Refusal::Full
    }

    /// Whether the actor has stopped.
    pub fn is_stopped(&self) -> bool {
        self.why == Refusal::Stopped
    }
}

impl<M> TellError<M> {
    /// The actors that wait for each other, if [that](Refusal::Cycle) is why it was not accepted. A circle of several actors
    /// counts as one if it has stood for 0.2 seconds.
    #[must_use]
    pub fn cycle(&self) -> Option<&Cycle> {
        match &self.detail {
            Detail::Cycle(cycle) => Some(cycle),
            Detail::None | Detail::Link(_) => None,
        }
    }

    /// What the link says, if the actor lives in another process and that is why the message was not accepted.
    #[must_use]
    pub fn failure(&self) -> Option<&LinkFailure> {
        match &self.detail {
            Detail::Link(failure) => Some(failure),
            Detail::None | Detail::Cycle(_) => None,
        }
    }
}

impl<M> fmt::Debug for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TellError")
            .field("why", &self.why)
            .field("actor", &self.to)
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Display for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cycle) = self.cycle() {
            return write!(
                f,
                "these actors wait for each other, and there would never be room in the mailbox: {cycle}; the message was \
                 not sent; let one of them wait by `Context::pipe`, which handles messages meanwhile"
            );
        }
        let name = self.name();
        let actor = Called(self.to, name.as_deref());
        if let Some(failure) = self.failure() {
            return write!(f, "the message to actor {actor} was not sent: {failure}");
        }
        match self.why {
            Refusal::Unreachable => write!(
                f,
                "the process of actor {actor} is not reached any more: the message was not sent"
            ),
            Refusal::NotEncodable | Refusal::TooLarge => write!(
                f,
                "the message to actor {actor} cannot be carried to its process: it was not sent"
            ),
            Refusal::Full | Refusal::Cycle => write!(
                f,
                "the mailbox of actor {actor} is full: the message was not sent; try later, or wait for room"
            ),
            Refusal::Stopped => write!(f, "actor {actor} has stopped: the message was not sent"),
        }
    }
}

impl<M> Error for TellError<M> {}

/// The question is dropped: who waits for the answer gets this error instead.
impl<M> From<TellError<M>> for AskError {
    fn from(error: TellError<M>) -> Self {
        AskError::refused(&error)
    }
}

// An answer with an error takes two words, whatever the error says, so that it fits where answers lie.
const _: () = assert!(size_of::<AskError>() <= 16);

impl AskError {
    /// Of a question that was not accepted.
    pub(crate) fn refused<M>(error: &TellError<M>) -> Self {
        let failure = || {
            let failure = error.failure().cloned();
            failure.unwrap_or_else(|| LinkFailure::new(Fate::NotBegun, error.to_string()))
        };
        match error.why {
            Refusal::Full | Refusal::Cycle => AskError::Full(error.to),
            Refusal::Stopped => AskError::Stopped(error.to),
            Refusal::Unreachable => AskError::Unreachable(failure()),
            Refusal::NotEncodable => AskError::NotEncodable(failure()),
            Refusal::TooLarge => AskError::TooLarge(failure()),
        }
    }

    /// How far the question had got. For an actor of this process that is only known where it was refused.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Address, AskError, Fate, Reply};
    ///
    /// /// Asks another one if the first has surely not begun it.
    /// fn ask_either(first: &Address<Reply<u32>>, second: &Address<Reply<u32>>) -> Result<u32, AskError> {
    ///     match first.ask(|reply| reply) {
    ///         Err(error) if error.fate() == Fate::NotBegun => second.ask(|reply| reply),
    ///         answer => answer,
    ///     }
    /// }
    ///
    /// let pool = tamtam_actor::Pool::new();
    /// let first = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
    /// let second = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(2));
    /// first.stop();
    /// first.end().wait();
    /// assert_eq!(ask_either(&first, &second), Ok(2));
    /// ```
    #[must_use]
    pub fn fate(&self) -> Fate {
        match self {
            AskError::Full(_) | AskError::Stopped(_) | AskError::OwnThread => Fate::NotBegun,
            AskError::Unreachable(failure)
            | AskError::NotEncodable(failure)
            | AskError::NotDecodable(failure)
            | AskError::TooLarge(failure) => failure.fate(),
            AskError::ProcessEnded(_) | AskError::Refused(_) => Fate::Begun,
            AskError::Unanswered
            | AskError::Dropped(_)
            | AskError::Panicked(_)
            | AskError::Hung(_)
            | AskError::TimedOut
            | AskError::Cycle(_)
            | AskError::NoThread(_) => Fate::Unknown,
        }
    }

    /// The number of the actor that was asked, or of the one that panicked with the question; `None` where the error does
    /// not say. See [`Address::id`](crate::Address::id).
    #[must_use]
    pub fn actor(&self) -> Option<ActorId> {
        match self {
            AskError::Full(actor)
            | AskError::Dropped(actor)
            | AskError::Stopped(actor)
            | AskError::Hung(actor) => Some(*actor),
            AskError::Panicked(panicked) => Some(panicked.actor()),
            AskError::NoThread(starved) => Some(starved.asked()),
            AskError::Unanswered
            | AskError::Refused(_)
            | AskError::TimedOut
            | AskError::Cycle(_)
            | AskError::OwnThread
            | AskError::Unreachable(_)
            | AskError::NotEncodable(_)
            | AskError::NotDecodable(_)
            | AskError::TooLarge(_)
            | AskError::ProcessEnded(_) => None,
        }
    }

    /// The name of that actor, if it was given one by [`Spawner::name`](crate::Spawner::name). In [`Full`](AskError::Full),
    /// [`Dropped`](AskError::Dropped), [`Stopped`](AskError::Stopped) and [`Hung`](AskError::Hung) it is known as long as there is an address of the actor.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    ///
    /// let pool = Pool::new();
    /// let printer = pool.spawner().name("printer").spawn_fn(|reply: Reply<u32>, _| reply.send(1));
    /// printer.stop();
    /// printer.end().wait();
    /// let error = printer.ask(|reply| reply).unwrap_err();
    /// assert_eq!(error.name().as_deref(), Some("printer"));
    /// assert_eq!(error.actor(), Some(printer.id()));
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<Arc<str>> {
        match self {
            AskError::Panicked(panicked) => panicked.name().map(Arc::from),
            AskError::NoThread(starved) => starved.0.asked.1.clone(),
            error => name_of(error.actor()?),
        }
    }
}

/// Why a question got no answer.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{AskError, Pool, Reply};
///
/// let pool = Pool::new();
/// let mut kept = Vec::new();
/// let silent = pool.spawn_fn(move |reply: Reply<u32>, _| kept.push(reply));
/// let patience = Duration::from_millis(5);
/// assert_eq!(silent.ask_timeout(|reply| reply, patience), Err(AskError::TimedOut));
///
/// silent.stop();
/// silent.end().wait();
/// assert_eq!(silent.ask(|reply| reply), Err(AskError::Stopped(silent.id())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AskError {
    /// The mailbox of this actor has no room: it never got the question. For its name, see [`name`](AskError::name).
    Full(ActorId),
    /// The mailbox of this actor dropped the question: for want of room, as its [`Overflow`](crate::Overflow) has it, or for a later
    /// one [about the same](crate::Spawner::latest_by). This actor never got it; one that has passed the question on to it may have begun
    /// it. For its name, see [`name`](AskError::name).
    Dropped(ActorId),
    /// This actor had stopped: it never got the question. For its name, see [`name`](AskError::name).
    Stopped(ActorId),
    /// The question was dropped without an answer: by the actor, or with its mailbox when it stopped.
    Unanswered,
    /// The actor that had the question [refuses](crate::Reply::refuse) to answer it, for this reason.
    Refused(Refused),
    /// The actor that had the question panicked: while it handled it or kept its [`Reply`](crate::Reply), or with the question in
    /// its mailbox, and was not begun again.
    Panicked(Panicked),
    /// The handler of this actor had not come back when the actor was [replaced](crate::Address::replace), and the instance that
    /// was replaced had the question. For its name, see [`name`](AskError::name).
    Hung(ActorId),
    /// No answer came in time. The question may still be handled; its answer goes nowhere.
    TimedOut,
    /// The asking actor waited, by [`Address::ask`](crate::Address::ask) in a handler or by
    /// [`Context::hold`](crate::Context::hold), for one that waits for it in turn: none of them would ever have got an
    /// answer. [`Context::ask`](crate::Context::ask) lets an actor handle messages while it waits.
    ///
    /// A circle of several actors counts as one if it has stood for 0.2 seconds, since the answer might come
    /// from somewhere else.
    Cycle(Cycle),
    /// The actor lives on this very thread, a [`Worker`](crate::Worker)'s or a [`Frame`](crate::Frame)'s, which would
    /// wait for itself; or this is a task on the last thread of its [runtime](crate::Pool::on_tokio) that does not wait: the
    /// question was not asked.
    OwnThread,
    /// The handler that asked kept the last thread of its pool that did not wait, and the asked actor, or one for which
    /// another thread waits, had no thread left for its turn: see [`NoThread`]. The question may still be handled; its answer
    /// goes nowhere.
    NoThread(NoThread),
    /// The actor lives in another process, and that or the link to it has ended. Whether the question was begun, if that is known, is said by
    /// [`fate`](AskError::fate).
    Unreachable(LinkFailure),
    /// The actor lives in another process, and the question, or its answer, cannot be written as bytes.
    NotEncodable(LinkFailure),
    /// The actor lives in another process, and the bytes of the question are none to its program, or those of the answer none to
    /// this one: their types differ.
    NotDecodable(LinkFailure),
    /// The actor lives in another process, and the question, or its answer, takes more bytes than the link carries at once.
    TooLarge(LinkFailure),
    /// The process of the actor ended so while the actor had the question: it was begun, and is not begun again. One that was not begun, or
    /// perhaps not, is [`Unreachable`](AskError::Unreachable), with [the same end](LinkFailure::process_end).
    ProcessEnded(ProcessEnd),
}

/// All threads of a pool waited in handlers: see [`AskError::NoThread`].
///
/// [`Context::ask`](crate::Context::ask) waits without a thread; [`PoolBuilder::stand_ins`](crate::PoolBuilder::stand_ins)
/// allows more threads.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Pool, Reply};
///
/// let pool = Pool::builder().threads(1).stand_ins(0).name("sums").build()?;
/// let adder = pool.spawner().name("adder").spawn_fn(|reply: Reply<u32>, _| reply.send(1));
/// let asker = pool.spawn_fn(move |reply: Reply<String>, _| {
///     // The pool's only thread is this one.
///     let Err(AskError::NoThread(why)) = adder.ask(|reply| reply) else { return };
///     reply.send(format!("{} has {} threads that stand in", why.pool(), why.stand_ins()));
/// });
/// assert_eq!(asker.ask(|reply| reply).unwrap(), "sums has 0 threads that stand in");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NoThread(Arc<Starved>);

#[derive(PartialEq, Eq, Hash)]
struct Starved {
    asker: Option<Named>,
    asked: Named,
    pool: Arc<str>,
    limit: usize,
}

/// An actor, and its name if it has one.
type Named = (ActorId, Option<Arc<str>>);

impl NoThread {
    /// The actor at work has asked another one, which no thread is left to run.
    pub(crate) fn new(asker: Option<Named>, asked: Named, stuck: Stuck) -> Self {
        NoThread(Arc::new(Starved {
            asker,
            asked,
            pool: stuck.pool,
            limit: stuck.limit,
        }))
    }

    /// The actor that was asked.
    #[must_use]
    pub fn asked(&self) -> ActorId {
        self.0.asked.0
    }

    /// The name of the pool.
    #[must_use]
    pub fn pool(&self) -> &str {
        &self.0.pool
    }

    /// How many threads may stand in at once there.
    #[must_use]
    pub fn stand_ins(&self) -> usize {
        self.0.limit
    }
}

impl fmt::Display for NoThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn show(f: &mut fmt::Formatter<'_>, (id, name): &Named) -> fmt::Result {
            match name {
                Some(name) => write!(f, "{name:?} ({id})"),
                None => id.fmt(f),
            }
        }
        let Starved {
            asker,
            asked,
            pool,
            limit,
        } = &*self.0;
        match asker {
            Some(asker) => show(f, asker)?,
            None => f.write_str("a thread of the pool")?,
        }
        f.write_str(" waits for ")?;
        show(f, asked)?;
        write!(
            f,
            ", but all threads of the pool {pool:?} wait in handlers, and no more than {limit} may stand in for them"
        )
    }
}

impl fmt::Debug for NoThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NoThread({self})")
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            AskError::Cycle(cycle) => {
                return write!(
                    f,
                    "these actors wait for each other's answers, and none would ever get one: {cycle}; let one of \
                     them ask by `Context::ask`, which handles messages meanwhile"
                );
            }
            AskError::NoThread(starved) => {
                return write!(
                    f,
                    "no thread is left to answer: {starved}; ask by `Context::ask`, which waits without a thread, or allow \
                     more by `PoolBuilder::stand_ins`"
                );
            }
            AskError::Panicked(panicked) => {
                return write!(f, "{panicked}; the question was dropped without an answer");
            }
            AskError::Refused(refused) => {
                return write!(f, "the question was refused: {refused}");
            }
            AskError::Full(actor) => {
                let name = self.name();
                let actor = Called(*actor, name.as_deref());
                return write!(
                    f,
                    "the mailbox of actor {actor} is full: the question was not asked"
                );
            }
            AskError::Dropped(actor) => {
                let name = self.name();
                let actor = Called(*actor, name.as_deref());
                return write!(
                    f,
                    "the mailbox of actor {actor} dropped the question: there was no room, or a later message about the same"
                );
            }
            AskError::Stopped(actor) => {
                let name = self.name();
                let actor = Called(*actor, name.as_deref());
                return write!(f, "actor {actor} has stopped: the question was not asked");
            }
            AskError::Hung(actor) => {
                let name = self.name();
                let actor = Called(*actor, name.as_deref());
                return write!(
                    f,
                    "the handler of actor {actor} has not come back, and the actor was replaced: the question will not be answered"
                );
            }
            AskError::Unreachable(failure) => {
                return write!(f, "the actor's process is not reached: {failure}");
            }
            AskError::NotEncodable(failure) => {
                return write!(f, "the question or its answer was not sent: {failure}");
            }
            AskError::NotDecodable(failure) => {
                return write!(
                    f,
                    "the question or its answer was not understood: {failure}"
                );
            }
            AskError::TooLarge(failure) => {
                return write!(f, "the question or its answer is too large: {failure}");
            }
            AskError::ProcessEnded(end) => {
                return write!(
                    f,
                    "the process of the actor ended while it had the question: {end}"
                );
            }
            AskError::Unanswered => {
                "the question was dropped without an answer: the actor did not answer it, or stopped before its turn came"
            }
            AskError::TimedOut => "no answer came in time; the question may still be handled",
            AskError::OwnThread => {
                "the actor would have no thread left to answer on, since this one would wait for itself: the question was \
                 not asked; ask by `Context::ask` in handlers, by `ask_async` in tasks, by `ask_pending` in a loop that pumps a frame"
            }
        };
        f.write_str(text)
    }
}

impl Error for AskError {}

/// What those hear who have asked an actor that goes wrong for this reason; `None` if that is no panic.
#[cold]
pub(crate) fn panic_of(actor: ActorId, why: &EndReason) -> Option<AskError> {
    Panicked::of(actor, why).map(AskError::Panicked)
}
