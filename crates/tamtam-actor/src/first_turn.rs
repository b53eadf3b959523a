//! When an actor has its first turn: soon after its birth, if there is something to do.
//!
//! Most actors have nothing to do before their first message, and a turn for each of a million would double what their
//! birth costs. Whether a type has a [`started`](crate::Actor::started) of its own cannot be asked; but the one that all
//! others have can say, when it runs for the first of them, that it is the one. So one turn for each such type is for
//! nothing, or a few if many are born at once.

use core::any::TypeId;
use core::cell::Cell;
use std::sync::{PoisonError, RwLock};

use crate::actor::Actor;

/// When an actor has its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstTurn {
    /// Soon after its birth: it is to be made, or started.
    Soon,
    /// When something has come for it.
    WhenCalled,
}

/// Types of actors that begin with nothing, in order.
static IDLE_AT_FIRST: RwLock<Vec<TypeId>> = RwLock::new(Vec::new());

thread_local! {
    /// One of them: mostly that of the next actor, too.
    static LAST: Cell<Option<TypeId>> = const { Cell::new(None) };
}

impl FirstTurn {
    /// That of an actor of this type, which is there already.
    #[inline]
    pub(crate) fn of<A: Actor>() -> Self {
        let actor = TypeId::of::<A>();
        // A model has to go the same way each time.
        if cfg!(tamtam_loom) {
            return FirstTurn::Soon;
        }
        if Self::is_known(actor) {
            FirstTurn::WhenCalled
        } else {
            FirstTurn::Soon
        }
    }

    #[inline]
    fn is_known(actor: TypeId) -> bool {
        LAST.try_with(Cell::get) == Ok(Some(actor)) || Self::is_listed(actor)
    }

    #[cold]
    fn is_listed(actor: TypeId) -> bool {
        let types = IDLE_AT_FIRST.read().unwrap_or_else(PoisonError::into_inner);
        let is_listed = types.binary_search(&actor).is_ok();
        if is_listed {
            let _ = LAST.try_with(|last| last.set(Some(actor)));
        }
        is_listed
    }

    /// Actors of this type have no `started` of their own.
    #[inline]
    pub(crate) fn is_for_nothing<A: Actor>() {
        if cfg!(tamtam_loom) {
            return;
        }
        let actor = TypeId::of::<A>();
        if !Self::is_known(actor) {
            let mut types = IDLE_AT_FIRST
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            if let Err(place) = types.binary_search(&actor) {
                types.insert(place, actor);
            }
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::pool::Pool;

    #[test]
    fn only_those_without_a_beginning_of_their_own_have_no_turn_at_birth() {
        struct Plain;

        impl Actor for Plain {
            type Message = crate::Reply<()>;
            fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
                reply.send(());
            }
        }

        struct Beginning;

        impl Actor for Beginning {
            type Message = crate::Reply<()>;
            fn started(&mut self, _: &mut Context<Self>) {}
            fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
                reply.send(());
            }
        }

        assert_eq!(FirstTurn::of::<Plain>(), FirstTurn::Soon);
        let pool = Pool::with_threads(1);
        assert_eq!(pool.spawn(Plain).ask(|reply| reply), Ok(()));
        assert_eq!(pool.spawn(Beginning).ask(|reply| reply), Ok(()));
        assert_eq!(FirstTurn::of::<Plain>(), FirstTurn::WhenCalled);
        assert_eq!(FirstTurn::of::<Beginning>(), FirstTurn::Soon);
        // On another thread, too.
        let other = std::thread::spawn(|| (FirstTurn::of::<Plain>(), FirstTurn::of::<Beginning>()));
        let expected = (FirstTurn::WhenCalled, FirstTurn::Soon);
        assert_eq!(other.join().unwrap(), expected);
    }
}
