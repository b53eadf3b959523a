//! The names of actors, for errors that have no room for more than a number.

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ActorId, ActorTable};

/// The names of the actors that were given one and are still referred to, for errors that have no room for more
/// than a number.
static NAMES: Mutex<ActorTable<Arc<str>>> = Mutex::new(ActorTable::new());

fn names() -> MutexGuard<'static, ActorTable<Arc<str>>> {
    // No user code runs under the lock.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An actor is given its name.
pub(crate) fn remember_name(id: ActorId, name: &Arc<str>) {
    names().insert(id, Arc::clone(name));
}

/// An actor with a name is gone, and its last address with it.
pub(crate) fn forget_name(id: ActorId) {
    let gone = names().take(id);
    drop(gone);
}

/// The name of an actor, if it has one and is still referred to.
pub(crate) fn name_of(id: ActorId) -> Option<Arc<str>> {
    names().get(&id).cloned()
}

/// An actor, for people to read: `"parser" (#7)`, or `#7`.
pub(crate) struct Called<'a>(pub(crate) ActorId, pub(crate) Option<&'a str>);

impl fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(name) => write!(f, "{name:?} ({})", self.0),
            None => self.0.fmt(f),
        }
    }
}
