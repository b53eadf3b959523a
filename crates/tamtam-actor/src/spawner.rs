use core::fmt;
use std::sync::Arc;

use crate::actor::{Actor, Function};
use crate::address::Address;
use crate::cell::Cell;
use crate::context::{Context, Here};
use crate::home::Home;
use crate::mailbox::Overflow;
use crate::running::Running;

/// What an actor is to be like, before it is born: see [`Pool::spawner`](crate::Pool::spawner).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Overflow, Pool};
///
/// let pool = Pool::new();
/// let logger = pool
///     .spawner()
///     .limited(10_000, Overflow::DropOldest)
///     .spawn_fn(|line: String, _| println!("{line}"));
/// logger.tell("started".to_owned())?;
/// # Ok::<(), tamtam_actor::TellError<String>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Spawner {
    home: Arc<dyn Home>,
    limit: Option<(usize, Overflow)>,
}

impl Spawner {
    pub(crate) fn on(home: Arc<dyn Home>) -> Self {
        Spawner { home, limit: None }
    }

    /// The mailbox holds so many messages, at least one; what becomes of the others is said by `overflow`.
    pub fn limited(mut self, messages: usize, overflow: Overflow) -> Self {
        self.limit = Some((messages, overflow));
        self
    }

    /// The actor.
    pub fn spawn<A: Actor + Send>(self, actor: A) -> Address<A::Message> {
        // SAFETY: the actor may be used on any thread.
        let cell = unsafe {
            Cell::new(self.home, self.limit, |cell| {
                Box::new(Running::born(cell, actor))
            })
        };
        Address::first(cell)
    }

    /// A function as an actor: it is called for each message, one by one.
    pub fn spawn_fn<M: Send + 'static>(
        self,
        function: impl FnMut(M, &mut Here<M>) + Send + 'static,
    ) -> Address<M> {
        self.spawn(Function::new(function))
    }

    /// An actor that is made where it lives, before its first message.
    pub fn spawn_with<A: Actor + Send>(
        self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        // SAFETY: the actor, and what makes it, may be used on any thread.
        let cell = unsafe {
            Cell::new(self.home, self.limit, |cell| {
                Box::new(Running::unborn(cell, Box::new(birth)))
            })
        };
        Address::first(cell)
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
