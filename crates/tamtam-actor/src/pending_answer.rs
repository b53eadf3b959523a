//! An answer that a thread waits for together with other things.

use core::fmt;
use std::sync::Arc;

use tamtam_channel::{Sealed, Waitable};
use tamtam_wait::{Context, Operation, Source, Token};

use crate::error::AskError;
use crate::mailbox::AnswerPlace;

/// The answer to a question of a thread that goes on meanwhile: see [`Address::ask_pending`](crate::Address::ask_pending).
///
/// In a [`Select`](tamtam_channel::Select) or [`select!`](tamtam_channel::select) it is waited for like an event (`wait`), beside channels, timers and what
/// other processes bring. It is ready when [`try_take`](PendingAnswer::try_take) gives something: the answer, or why there will be none; and stays so.
///
/// Dropped, it is no longer awaited; the question is handled all the same.
///
/// # Examples
///
/// Two questions, and a timer, in one sleep:
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Pool, Reply};
/// use tamtam_channel::{after, select};
///
/// let pool = Pool::new();
/// let squares = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(n * n));
/// let mut kept = Vec::new();
/// let forgetful = pool.spawn_fn(move |reply: Reply<u32>, _| kept.push(reply));
///
/// let square = squares.ask_pending(|reply| (3, reply))?;
/// let never = forgetful.ask_pending(|reply| reply)?;
/// let timeout = after(Duration::from_secs(60));
/// select! {
///     wait(square) => assert_eq!(square.try_take(), Some(Ok(9))),
///     wait(never) => panic!("it keeps the reply"),
///     recv(timeout) -> _ => panic!("no answer came"),
/// }
/// # Ok::<(), tamtam_actor::AskError>(())
/// ```
#[must_use = "dropped, it is no longer awaited"]
pub struct PendingAnswer<R> {
    place: Arc<AnswerPlace<Result<R, AskError>>>,
}

impl<R> PendingAnswer<R> {
    pub(crate) fn new(place: Arc<AnswerPlace<Result<R, AskError>>>) -> Self {
        PendingAnswer { place }
    }

    /// Whether the answer has come, or will not come, whether it was taken or not.
    #[must_use]
    pub fn has_come(&self) -> bool {
        self.place.has_come()
    }

    /// Takes the answer, or why there will be none; `None` if neither has come, or it was taken before.
    #[must_use]
    pub fn try_take(&self) -> Option<Result<R, AskError>> {
        self.place.take()
    }
}

impl<R> Source for PendingAnswer<R> {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.place.try_begin(token)
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.place.register(operation, context)
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.place.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        self.place.is_ready()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.place.watch(operation, context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.place.unwatch(operation, context);
    }
}

impl<R> Sealed for PendingAnswer<R> {}
impl<R> Waitable for PendingAnswer<R> {}

impl<R> fmt::Debug for PendingAnswer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingAnswer")
            .field("has_come", &self.has_come())
            .finish_non_exhaustive()
    }
}
