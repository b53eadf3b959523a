//! The panic of an actor: how it is caught, and how those hear of it who have asked something.

use core::fmt;
use std::sync::Arc;

use super::EndReason;
use crate::id::{ActorId, Called, name_of};

/// The panic of an actor, as one hears of it who has asked it something: see [`AskError::Panicked`](crate::AskError::Panicked).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Pool, Reply};
///
/// let pool = Pool::new();
/// let printer = pool.spawner().name("printer").spawn_fn(|reply: Reply<()>, _| {
///     let _reply = reply;
///     panic!("no more ink");
/// });
/// match printer.ask(|reply| reply) {
///     Err(AskError::Panicked(panicked)) => {
///         assert_eq!(panicked.name(), Some("printer"));
///         assert_eq!(panicked.message(), "no more ink");
///     }
///     other => unreachable!("{other:?}"),
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Panicked {
    inner: Arc<PanicText>,
}

#[derive(PartialEq, Eq, Hash)]
struct PanicText {
    actor: ActorId,
    name: Option<Arc<str>>,
    message: Arc<str>,
}

impl Panicked {
    /// The panic for which an actor goes wrong for this reason; `None` if that is none.
    pub(crate) fn of(actor: ActorId, why: &EndReason) -> Option<Self> {
        let (EndReason::Panicked(message) | EndReason::GaveUp { message, .. }) = why else {
            return None;
        };
        Some(Panicked {
            inner: Arc::new(PanicText {
                actor,
                name: name_of(actor),
                message: Arc::clone(message),
            }),
        })
    }

    /// The panic of an actor in another process, of which this was told.
    #[cfg(feature = "serde")]
    pub(crate) fn told(actor: ActorId, name: Option<String>, message: String) -> Self {
        Panicked {
            inner: Arc::new(PanicText {
                actor,
                name: name.map(Arc::from),
                message: message.into(),
            }),
        }
    }

    /// The number of the actor: see [`Address::id`](crate::Address::id).
    #[must_use]
    pub fn actor(&self) -> ActorId {
        self.inner.actor
    }

    /// The name that it was given by [`Spawner::name`](crate::Spawner::name), if any.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// What the panic said.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actor = Called(self.actor(), self.name());
        write!(f, "actor {actor} panicked: {}", self.message())
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Panicked({:?})", self.to_string())
    }
}

/// Runs an actor's code. A panic in it ends here, after the panic hook has reported it, and is what the actor
/// ends for.
#[inline]
pub(crate) fn catch<R>(turn: impl FnOnce() -> R) -> Result<R, EndReason> {
    // A model's panic is how it fails.
    #[cfg(tamtam_loom)]
    {
        Ok(turn())
    }
    #[cfg(not(tamtam_loom))]
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(turn)).map_err(explain)
}

/// What a panic says. What it brought is foreign: its drop may panic in turn.
#[cold]
#[cfg_attr(tamtam_loom, allow(dead_code))]
fn explain(payload: Box<dyn core::any::Any + Send>) -> EndReason {
    // How our own actors fail.
    let payload = match payload.downcast::<EndReason>() {
        Ok(reason) => return *reason,
        Err(payload) => payload,
    };
    let message: Arc<str> = if let Some(message) = payload.downcast_ref::<&'static str>() {
        Arc::from(*message)
    } else if let Some(message) = payload.downcast_ref::<String>() {
        Arc::from(message.as_str())
    } else {
        Arc::from("something that is no text")
    };
    tamtam_wait::contain(move || drop(payload));
    EndReason::Panicked(message)
}
