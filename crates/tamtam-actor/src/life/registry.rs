//! Addresses by name.

use core::any::{Any, type_name};
use core::error::Error;
use core::fmt;
use std::collections::HashMap;
use std::collections::hash_map;
use std::sync::{Arc, OnceLock, Weak};

use tamtam_wait::seam::Mutex;

use crate::address::{Address, WeakAddress};
use crate::cell::{AnyActor, WatchKey};
use crate::id::ActorId;

/// Actors by name.
///
/// An entry does not keep its actor from ending, and goes when that has ended. A restart is no end. A program has one
/// registry that all share, [`global`](Registry::global), and may have others.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Registry, Reply};
///
/// let pool = Pool::new();
/// let registry = Registry::new();
/// let clock = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(12));
/// registry.register("clock", &clock)?;
///
/// let found = registry.find::<Reply<u32>>("clock")?;
/// assert_eq!(found.ask(|reply| reply)?, 12);
/// assert!(registry.find::<String>("clock").is_err());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Names>);

struct Names(Mutex<HashMap<Arc<str>, NameEntry>>);

struct NameEntry {
    key: WatchKey,
    place: Weak<dyn AnyActor>,
    id: ActorId,
    /// A `WeakAddress<M>`.
    address: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
}

impl NameEntry {
    /// `seen` is to be dropped without the lock: it may be the last of the actor by then.
    fn is_over(&self, seen: &mut Option<Arc<dyn AnyActor>>) -> bool {
        *seen = self.place.upgrade();
        seen.as_ref().is_none_or(|place| place.life().has_ended())
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// No actors yet.
    #[must_use]
    pub fn new() -> Self {
        Registry(Arc::new(Names(Mutex::new(HashMap::new()))))
    }

    /// The one of this program.
    pub fn global() -> &'static Registry {
        static GLOBAL: OnceLock<Registry> = OnceLock::new();
        GLOBAL.get_or_init(Registry::new)
    }

    /// Enters an actor under a name, until it ends. It may have several names.
    ///
    /// # Errors
    ///
    /// [`RegisterError::Taken`] if another actor has the name, or the same one; [`RegisterError::Ended`] if this one
    /// has ended.
    pub fn register<M: Send + 'static>(
        &self,
        name: impl Into<Arc<str>>,
        address: &Address<M>,
    ) -> Result<(), RegisterError> {
        let name = name.into();
        let place = address.place();
        let key = WatchKey::next();
        let entry = NameEntry {
            key,
            place: Arc::downgrade(&place),
            id: address.id(),
            address: Arc::new(address.downgrade()),
            type_name: type_name::<M>(),
        };
        let mut seen = None;
        let before = {
            let mut names = self.0.0.lock();
            match names.entry(Arc::clone(&name)) {
                hash_map::Entry::Vacant(vacant) => {
                    vacant.insert(entry);
                    None
                }
                // It is about to go by itself.
                hash_map::Entry::Occupied(mut taken) if taken.get().is_over(&mut seen) => {
                    Some(taken.insert(entry))
                }
                hash_map::Entry::Occupied(taken) => {
                    let by = taken.get().id;
                    let by_name = taken.get().place.upgrade();
                    drop(names);
                    return Err(RegisterError::Taken {
                        by_name: by_name.and_then(|place| place.name()),
                        name,
                        by,
                    });
                }
            }
        };
        drop((before, seen));
        let names = Arc::downgrade(&self.0);
        let entered = Arc::clone(&name);
        Arc::clone(&place).watch(
            key,
            Box::new(move |_| {
                if let Some(names) = names.upgrade() {
                    names.remove(&entered, Some(key));
                }
            }),
        );
        if place.life().has_ended() {
            return Err(RegisterError::Ended { name });
        }
        Ok(())
    }

    /// The address of the actor of that name.
    ///
    /// # Errors
    ///
    /// [`FindError::NotFound`] if there is none, or it is about to end; [`FindError::WrongType`] if it takes other
    /// messages.
    pub fn find<M: Send + 'static>(&self, name: &str) -> Result<Address<M>, FindError> {
        let found = {
            let names = self.0.0.lock();
            names
                .get(name)
                .map(|entry| (Arc::clone(&entry.address), entry.type_name))
        };
        let not_found = || FindError::NotFound {
            name: name.to_owned(),
        };
        let (address, found) = found.ok_or_else(not_found)?;
        let Some(address) = address.downcast_ref::<WeakAddress<M>>() else {
            return Err(FindError::WrongType {
                name: name.to_owned(),
                found,
                wanted: type_name::<M>(),
            });
        };
        let address = address.upgrade().ok_or_else(not_found)?;
        if address.is_stopped() {
            return Err(not_found());
        }
        Ok(address)
    }

    /// Takes a name back: `false` if no actor has it. The actor goes on.
    pub fn remove(&self, name: &str) -> bool {
        self.0.remove(name, None)
    }

    /// The names, in alphabetical order.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self.0.0.lock().keys().map(Arc::clone).collect();
        names.sort();
        names
    }
}

impl Names {
    fn remove(&self, name: &str, of: Option<WatchKey>) -> bool {
        let removed = {
            let mut names = self.0.lock();
            match names.get(name) {
                Some(entry) if of.is_none_or(|key| key == entry.key) => names.remove(name),
                _ => None,
            }
        };
        let Some(entry) = removed else {
            return false;
        };
        if let (None, Some(place)) = (of, entry.place.upgrade()) {
            place.forget_watcher(entry.key);
        }
        true
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The error of [`Registry::register`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, RegisterError, Registry};
///
/// let (pool, registry) = (Pool::new(), Registry::new());
/// let one = pool.spawn_fn(|(): (), _| {});
/// let other = pool.spawn_fn(|(): (), _| {});
/// registry.register("clock", &one)?;
/// let error = registry.register("clock", &other).unwrap_err();
/// assert!(matches!(error, RegisterError::Taken { by, .. } if by == one.id()));
/// # Ok::<(), RegisterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another actor has the name.
    Taken {
        /// The name.
        name: Arc<str>,
        /// The number of the actor that has it.
        by: ActorId,
        /// What that was [named](crate::Spawner::name) at its birth, if it was.
        by_name: Option<Arc<str>>,
    },
    /// The actor has ended.
    Ended {
        /// The name.
        name: Arc<str>,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Taken { name, by, by_name } => {
                write!(f, "the name {name:?} is taken by actor {by}")?;
                if let Some(by_name) = by_name {
                    write!(f, " ({by_name:?})")?;
                }
                f.write_str(": remove it, or choose another one")
            }
            RegisterError::Ended { name } => {
                write!(f, "the actor that was to have the name {name:?} has ended")
            }
        }
    }
}

impl Error for RegisterError {}

/// The error of [`Registry::find`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{FindError, Pool, Registry};
///
/// let (pool, registry) = (Pool::new(), Registry::new());
/// let clock = pool.spawn_fn(|(): (), _| {});
/// registry.register("clock", &clock).unwrap();
/// assert!(matches!(registry.find::<()>("watch"), Err(FindError::NotFound { .. })));
/// assert!(matches!(registry.find::<u32>("clock"), Err(FindError::WrongType { .. })));
/// registry.find::<()>("clock").unwrap().tell(()).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindError {
    /// There is no actor of this name.
    NotFound {
        /// The name that was asked for.
        name: String,
    },
    /// It takes messages of another type.
    WrongType {
        /// The name that was asked for.
        name: String,
        /// The type of the messages that it takes, as [`type_name`] calls it.
        found: &'static str,
        /// The type that was asked for.
        wanted: &'static str,
    },
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindError::NotFound { name } => {
                write!(
                    f,
                    "there is no actor {name:?}: it was not registered, or has ended"
                )
            }
            FindError::WrongType {
                name,
                found,
                wanted,
            } => write!(
                f,
                "the actor {name:?} takes messages of type {found}, not {wanted}: ask for {found}"
            ),
        }
    }
}

impl Error for FindError {}
