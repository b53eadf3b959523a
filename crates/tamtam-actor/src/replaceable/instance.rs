//! An instance of a replaceable actor, in its turns.

use std::sync::{Arc, Mutex, PoisonError};

use super::succession::Part;
use crate::actor::Actor;
use crate::cell::{Behavior, Own, Turn};
use crate::context::Context;
use crate::ended::EndReason;
use crate::restart::{Again, Bear, Birth, Policy};
use crate::runner::ActorRunner;

/// An instance, whose turns are noted.
pub(super) struct Instance<A: Actor> {
    running: ActorRunner<A>,
    part: Arc<Part<A::Message>>,
}

impl<A: Actor> Instance<A> {
    pub(super) fn new(own: Own<A::Message>, birth: Birth<A>, part: Arc<Part<A::Message>>) -> Self {
        Instance {
            running: ActorRunner::unborn(own, birth),
            part,
        }
    }

    /// How the turn ends: one that was replaced ends with it.
    fn end(&self, turn: Turn) -> Turn {
        if self.part.end_turn() {
            turn
        } else {
            Turn::Stop
        }
    }
}

impl<A: Actor> Behavior<A::Message> for Instance<A> {
    fn turn(&mut self) -> Turn {
        if !self.part.begin_turn() {
            return Turn::Stop;
        }
        let turn = self.running.turn();
        self.end(turn)
    }

    fn panicked(&mut self, why: EndReason) -> Turn {
        let turn = self.running.panicked(why);
        self.end(turn)
    }

    fn stopped(&mut self) {
        // Until it has ended: its drop may hang as well.
        if self.part.begin_last_turn() {
            self.running.stopped();
        }
    }

    fn actor_type(&self) -> &'static str {
        core::any::type_name::<A>()
    }
}

/// What makes the instances of an actor, one after the other.
pub(super) struct Nursery<A: Actor> {
    /// `None` while it makes one.
    birth: Mutex<Option<Birth<A>>>,
}

impl<A: Actor> Nursery<A> {
    pub(super) fn new(birth: Birth<A>) -> Arc<Self> {
        Arc::new(Nursery {
            birth: Mutex::new(Some(birth)),
        })
    }

    /// What makes the next instance.
    pub(super) fn birth(self: &Arc<Self>, policy: Policy) -> Birth<A> {
        Box::new(NextBirth {
            nursery: Arc::clone(self),
            again: Again::new(policy),
        })
    }

    fn put(&self, birth: Option<Birth<A>>) -> Option<Birth<A>> {
        // No user code runs under the lock.
        let mut place = self.birth.lock().unwrap_or_else(PoisonError::into_inner);
        core::mem::replace(&mut *place, birth)
    }
}

/// What makes one instance, and makes it again after a panic.
struct NextBirth<A: Actor> {
    nursery: Arc<Nursery<A>>,
    again: Again,
}

impl<A: Actor> Bear<A> for NextBirth<A> {
    fn bear(&mut self, context: &mut Context<A>) -> Option<A> {
        /// It goes back also if it panics.
        struct Lent<'a, A: Actor> {
            nursery: &'a Nursery<A>,
            birth: Option<Birth<A>>,
        }

        impl<A: Actor> Drop for Lent<'_, A> {
            fn drop(&mut self) {
                self.nursery.put(self.birth.take());
            }
        }

        let Some(birth) = self.nursery.put(None) else {
            panic!("an instance that was replaced has not come back from its birth");
        };
        let mut lent = Lent {
            nursery: &self.nursery,
            birth: Some(birth),
        };
        lent.birth.as_mut()?.bear(context)
    }

    fn again(&mut self) -> Option<&mut Again> {
        Some(&mut self.again)
    }
}
