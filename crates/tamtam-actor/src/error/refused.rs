//! The reason for which an actor has refused a question.

use core::fmt;
use std::sync::Arc;

/// Why an actor has refused a question: see [`Reply::refuse`](crate::Reply::refuse).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Pool, Reply};
///
/// let pool = Pool::new();
/// let mut left = 1;
/// let seats = pool.spawn_fn(move |reply: Reply<u32>, _| match left {
///     0 => reply.refuse("the house is full"),
///     seat => {
///         left -= 1;
///         reply.send(seat);
///     }
/// });
/// assert_eq!(seats.ask(|reply| reply), Ok(1));
/// match seats.ask(|reply| reply) {
///     Err(AskError::Refused(refused)) => assert_eq!(refused.reason(), "the house is full"),
///     other => unreachable!("{other:?}"),
/// }
/// ```
// A thin pointer: errors are as small as they are without it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Refused(Arc<Box<str>>);

impl Refused {
    pub(crate) fn new(reason: impl Into<Box<str>>) -> Self {
        Refused(Arc::new(reason.into()))
    }

    /// What the actor has said.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refused({:?})", self.0)
    }
}
