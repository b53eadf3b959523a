//! How an actor has ended.

mod panicked;
mod process_end;

use core::fmt;
use std::sync::Arc;

use crate::id::ActorId;

pub use panicked::Panicked;
pub(crate) use panicked::catch;
pub use process_end::ProcessEnd;

/// The news of an actor's end: which one it was, and why.
///
/// When this is given out the actor's state has been dropped, and what lay in its mailbox is counted by
/// [`Address::lost`](crate::Address::lost).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{EndReason, Pool};
///
/// let pool = Pool::new();
/// let parser = pool.spawner().name("parser").spawn_fn(|(): (), _| {});
/// parser.stop();
/// let ended = parser.end().wait();
/// assert_eq!(ended.id, parser.id());
/// assert_eq!(ended.name.as_deref(), Some("parser"));
/// assert_eq!(ended.reason, EndReason::Stopped);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The actor's number: see [`Address::id`](crate::Address::id). One of another process of which no address is here has a number that no
    /// address has.
    pub id: ActorId,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
    /// Why it has ended.
    pub reason: EndReason,
}

/// Why an actor has ended.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{EndReason, Pool};
///
/// let pool = Pool::new();
/// let fragile = pool.spawn_fn(|number: u32, _| assert!(number > 0, "no zeros"));
/// fragile.tell(0)?;
/// let reason = fragile.end().wait().reason;
/// assert!(reason.is_abnormal());
/// assert!(matches!(reason, EndReason::Panicked(message) if &*message == "no zeros"));
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// It was stopped on purpose: by [`Address::stop`](crate::Address::stop) or
    /// [`finish`](crate::Address::finish), or by itself.
    Stopped,
    /// Its last address was dropped.
    NoAddresses,
    /// A panic, with this message, in a method of it or in something that it was to go on with.
    Panicked(Arc<str>),
    /// Its pool, thread or loop has ended.
    HomeEnded,
    /// It has panicked more often than its [`Restart`](crate::Restart), or its supervisor, allows.
    GaveUp {
        /// So often it was begun again before, in the time that counts.
        restarts: u32,
        /// The message of the last panic.
        message: Arc<str>,
    },
    /// An actor that it is [linked](crate::Context::link) with has ended abnormally. That one may be linked with another one, for which it has
    /// ended, and so on; behind 64 of them it is said of the last one why the first has ended.
    Linked(Arc<Ended>),
    /// It lives in another process, and the link to that has ended: whether the actor has, is not known.
    LinkLost(Arc<str>),
    /// It lived in another process, which has ended.
    ProcessEnded(ProcessEnd),
}

/// A reason leads to at most so many others: it is read, compared and dropped one inside the other.
pub(crate) const MOST_LINKED: usize = 64;

impl EndReason {
    /// That of an actor that was linked with one that has ended so.
    pub(crate) fn linked_with(ended: &Ended) -> Self {
        let reasons = core::iter::successors(Some(&ended.reason), |reason| match reason {
            EndReason::Linked(other) => Some(&other.reason),
            _ => None,
        });
        let (count, first) =
            reasons.fold((0, &ended.reason), |(count, _), reason| (count + 1, reason));
        let mut ended = ended.clone();
        if count >= MOST_LINKED {
            ended.reason = first.clone();
        }
        EndReason::Linked(Arc::new(ended))
    }

    /// Whether something went wrong: a panic of this actor, or of one that it is linked with, or its process or the link to that.
    #[must_use]
    pub fn is_abnormal(&self) -> bool {
        match self {
            EndReason::Stopped | EndReason::NoAddresses | EndReason::HomeEnded => false,
            EndReason::Panicked(_)
            | EndReason::GaveUp { .. }
            | EndReason::Linked(_)
            | EndReason::LinkLost(_)
            | EndReason::ProcessEnded(_) => true,
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndReason::Stopped => f.write_str("it was stopped"),
            EndReason::NoAddresses => f.write_str("nobody had its address any more"),
            EndReason::Panicked(message) => write!(f, "it panicked: {message}"),
            EndReason::HomeEnded => {
                f.write_str("the pool, thread or loop that it lived on has ended")
            }
            EndReason::GaveUp { restarts, message } => write!(
                f,
                "it panicked again after {restarts} restarts, and no more are allowed: {message}"
            ),
            EndReason::Linked(other) => write!(f, "it is linked with {other}"),
            EndReason::LinkLost(text) => write!(f, "the link to its process has ended: {text}"),
            EndReason::ProcessEnded(end) => write!(f, "its process has ended: {end}"),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "actor {name:?} ({}), which has ended: ", self.id)?,
            None => write!(f, "actor {}, which has ended: ", self.id)?,
        }
        self.reason.fmt(f)
    }
}
