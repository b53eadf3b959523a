//! The verbs by which an actor gets its name, and tells it.

use std::sync::Arc;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::Context;
use crate::spawner::Spawner;

impl<H, B> Spawner<H, B> {
    /// A name for people who read errors, traces and tables. It need not be the only one of its kind; to find an actor
    /// by its name, enter it into a [`Registry`](crate::Registry).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl<M: Send + 'static> Address<M> {
    /// The name that the actor was given by [`Spawner::name`], if any. A mapped address has that of the actor
    /// behind it.
    pub fn name(&self) -> Option<Arc<str>> {
        self.place().name()
    }
}

impl<A: Actor> Context<A> {
    /// The name that this actor was given, if any.
    pub fn name(&mut self) -> Option<Arc<str>> {
        self.here().cell().name()
    }
}
