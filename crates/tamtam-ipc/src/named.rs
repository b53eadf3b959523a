//! What lies in an arena, by its name among properties: a mutex, bytes, and ends of channels.
//!
//! A name holds two numbers that say where the thing lies, which another process may have written: they lead to what the arena itself says is there, and is
//! checked as at any attaching. What keeps the thing in its place meanwhile is the handle that has set the name.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, de::DeserializeOwned};

use crate::arena::{Arena, ArenaPlace, Identity};
use crate::bytes::SharedBytes;
use crate::channel::away::AwayReceiver;
use crate::channel::bytes::{BytesReceiver, BytesSender};
#[cfg(feature = "serde")]
use crate::channel::encoded::{EncodedReceiver, EncodedSender};
use crate::channel::receiver::Receiver;
use crate::channel::sender::Sender;
use crate::channel::shared::{ReceivingEnd, SendingEnd};
use crate::error::AttachError;
use crate::home::Allocation;
use crate::mutex::Mutex;
use crate::plain::Plain;
use crate::properties::{Keeper, Properties, SetPropertyError};
use crate::value::{Reference, ReferenceKind, Value};

/// Where a thing lies: in which arena, and where in there.
type Located = Option<(Identity, ArenaPlace)>;

mod sealed {
    use super::{Arena, ArenaPlace, AttachError, Keeper, Located, ReferenceKind};

    /// What is got at by a place in an arena.
    pub trait Attachable: Sized {
        const KIND: ReferenceKind;

        fn located(&self) -> Located;

        fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError>;
    }

    pub trait Shareable: Attachable {
        /// Keeps it; none for what has memory of its own, or is over.
        fn keeper(&self) -> Option<Keeper>;
    }

    pub trait HandOver: Attachable {
        /// Keeps it for the one that takes it; none for an end that was sent away already. The end is of use again once this is dropped.
        fn away(&self) -> Option<Keeper>;
    }
}

/// What any number of processes may get by one name among [`Properties`]: a [`Mutex`], [`SharedBytes`], and the sending end of a channel.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{GetSharedError, Properties, Shareable};
///
/// fn wait_and_get<S: Shareable>(settings: &Properties, name: &str) -> Result<S, GetSharedError> {
///     settings.wait_changed(name, 0);
///     settings.get_shared(name)
/// }
/// # }
/// ```
pub trait Shareable: sealed::Shareable {}

impl<S: sealed::Shareable> Shareable for S {}

/// What one process gets by its name among [`Properties`], which stands for it no more after that: the receiving end of a channel.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{GetSharedError, HandOver, Properties};
///
/// fn wait_and_take<R: HandOver>(settings: &Properties, name: &str) -> Result<R, GetSharedError> {
///     settings.wait_changed(name, 0);
///     settings.take_receiver(name)
/// }
/// # }
/// ```
pub trait HandOver: sealed::HandOver {}

impl<R: sealed::HandOver> HandOver for R {}

fn allocated(allocation: &Allocation) -> Located {
    Some((allocation.home().arena()?, allocation.home().place()?))
}

fn keep_allocated(allocation: &Allocation) -> Option<Keeper> {
    let again = allocation.again()?.ok()?;
    Some(Box::new(again))
}

impl<T: Plain> sealed::Attachable for Mutex<T> {
    const KIND: ReferenceKind = ReferenceKind::Mutex;

    fn located(&self) -> Located {
        allocated(self.allocation())
    }

    fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        Mutex::attach_at(arena, place)
    }
}

impl<T: Plain> sealed::Shareable for Mutex<T> {
    fn keeper(&self) -> Option<Keeper> {
        keep_allocated(self.allocation())
    }
}

impl sealed::Attachable for SharedBytes {
    const KIND: ReferenceKind = ReferenceKind::Bytes;

    fn located(&self) -> Located {
        allocated(self.allocation())
    }

    fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        SharedBytes::attach_at(arena, place)
    }
}

impl sealed::Shareable for SharedBytes {
    fn keeper(&self) -> Option<Keeper> {
        keep_allocated(self.allocation())
    }
}

fn keep_sender(end: &SendingEnd) -> Option<Keeper> {
    Some(Box::new(end.clone()))
}

fn keep_receiver(end: &ReceivingEnd) -> Option<Keeper> {
    Some(Box::new(AwayReceiver::of(end)?))
}

macro_rules! ends {
    ($($(#[$condition:meta])? $end:ident [$($param:ident: $bound:path)?] $kind:ident, $trait:ident::$verb:ident = $keep:ident by $($field:ident).+;)*) => {$(
        $(#[$condition])?
        impl<$($param: $bound)?> sealed::Attachable for $end<$($param)?> {
            const KIND: ReferenceKind = ReferenceKind::$kind;

            fn located(&self) -> Located {
                let shared = self.$($field).+.shared();
                Some((shared.arena()?, shared.place()?))
            }

            fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
                $end::attach_at(arena, place)
            }
        }

        $(#[$condition])?
        impl<$($param: $bound)?> sealed::$trait for $end<$($param)?> {
            fn $verb(&self) -> Option<Keeper> {
                $keep(&self.$($field).+)
            }
        }
    )*};
}

ends! {
    Sender [T: Plain] Sender, Shareable::keeper = keep_sender by end;
    Receiver [T: Plain] Receiver, HandOver::away = keep_receiver by end;
    BytesSender [] Sender, Shareable::keeper = keep_sender by end;
    BytesReceiver [] Receiver, HandOver::away = keep_receiver by end;
    #[cfg(feature = "serde")] EncodedSender [T: Serialize] Sender, Shareable::keeper = keep_sender by bytes.end;
    #[cfg(feature = "serde")] EncodedReceiver [T: DeserializeOwned] Receiver, HandOver::away = keep_receiver by bytes.end;
}

impl Properties {
    fn reference<A: sealed::Attachable>(&self, thing: &A) -> Result<Reference, SetSharedError> {
        let what = A::KIND.name();
        let (arena, place) = thing.located().ok_or(SetSharedError::NotInArena { what })?;
        if self.arena(arena).is_none() {
            return Err(SetSharedError::OtherArena { what });
        }
        Ok(Reference {
            kind: A::KIND,
            arena,
            offset: place.offset,
            generation: place.generation,
        })
    }

    /// Sets the value of a name to what lies in one of the [arenas](Properties::with_arena): each process then [gets](Properties::get_shared) at that very
    /// thing by the name. It is not copied.
    ///
    /// This handle keeps it until the name has another value (of those that other processes have set, it learns when it is used for the next thing), is
    /// removed, or this handle is dropped, also by the end of this process: then the name stands for what is over, unless another process has it. A sender
    /// that is kept so is one of the channel's: the receiver does not end while a name stands for it.
    ///
    /// # Blocking
    ///
    /// As [`set`](Properties::set).
    ///
    /// # Errors
    ///
    /// [`SetSharedError`] if it has memory of its own or lies in another arena, or as `set`; the name has the value that it had.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::{Arena, Mutex, Properties, SharedBytes};
    ///
    /// let arena = Arena::create(1 << 20)?;
    /// let settings = Properties::create(100, 1024)?.with_arena(&arena);
    /// let count = arena.mutex(5_u64)?;
    /// settings.set_shared("count", &count)?;
    /// settings.set_shared("picture", &arena.shared_bytes(1000)?)?;
    ///
    /// // The two descriptors go to another process, or the properties in a message to an actor; here they stay in this one.
    /// let there = Properties::attach(settings.memory().try_clone_to_owned()?)?;
    /// let there = there.with_arena(&Arena::attach(arena.memory().try_clone_to_owned()?)?);
    /// let same: Mutex<u64> = there.get_shared("count")?;
    /// same.lock()?.update(|count| count + 1);
    /// assert_eq!(count.lock()?.get(), 6);
    ///
    /// let error = there.get_shared::<SharedBytes>("count").unwrap_err();
    /// assert_eq!(error.to_string(), r#"the property "count" is a mutex, and shared bytes was asked for"#);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn set_shared<S: Shareable>(&self, name: &str, thing: &S) -> Result<(), SetSharedError> {
        let reference = self.reference(thing)?;
        let what = S::KIND.name();
        let keeper = thing.keeper().ok_or(SetSharedError::Over { what })?;
        Ok(self.set_kept(name, reference, keeper)?)
    }

    /// What the name stands for, which lies in one of the [arenas](Properties::with_arena).
    ///
    /// # Errors
    ///
    /// [`GetSharedError`] if the name stands for nothing or for something else, or what it stood for is over.
    ///
    /// # Examples
    ///
    /// See [`set_shared`](Properties::set_shared).
    pub fn get_shared<S: Shareable>(&self, name: &str) -> Result<S, GetSharedError> {
        Ok(self.attached(name)?.1)
    }

    /// Sets the value of a name to the receiving end of a channel that lies in one of the [arenas](Properties::with_arena). The one process that
    /// [takes](Properties::take_receiver) it receives from then on, and the name has no value any more.
    ///
    /// Until then sends do not fail, and wait when there is no room. If the name gets another value before, is removed, or this handle is dropped, also by the
    /// end of this process, there is no receiver.
    ///
    /// # Blocking
    ///
    /// As [`set`](Properties::set).
    ///
    /// # Errors
    ///
    /// [`SetReceiverError`], with the end, which receives on.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::{Arena, Properties, Receiver, Sender};
    ///
    /// let arena = Arena::create(1 << 20)?;
    /// let settings = Properties::create(100, 1024)?.with_arena(&arena);
    /// let (sender, receiver) = arena.channel::<u64>(8)?;
    /// settings.set_receiver("orders", receiver).map_err(|error| error.reason)?;
    /// settings.set_shared("to orders", &sender)?;
    /// sender.send(1)?;
    ///
    /// // The two descriptors go to another process; here they stay in this one.
    /// let there = Properties::attach(settings.memory().try_clone_to_owned()?)?;
    /// let there = there.with_arena(&Arena::attach(arena.memory().try_clone_to_owned()?)?);
    /// let orders: Receiver<u64> = there.take_receiver("orders")?;
    /// there.get_shared::<Sender<u64>>("to orders")?.send(2)?;
    /// assert_eq!((orders.recv()?, orders.recv()?), (1, 2));
    /// assert!(!settings.contains("orders"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn set_receiver<R: HandOver>(
        &self,
        name: &str,
        receiver: R,
    ) -> Result<(), SetReceiverError<R>> {
        let what = R::KIND.name();
        let outcome = self.reference(&receiver).and_then(|reference| {
            let keeper = receiver.away().ok_or(SetSharedError::Over { what })?;
            Ok(self.set_kept(name, reference, keeper)?)
        });
        outcome.map_err(|reason| SetReceiverError { receiver, reason })
    }

    /// Takes the receiving end of a channel that the name stands for: this process receives from now on. Of several that take it at once one gets it.
    ///
    /// A process that dies after that takes the end with it, as any receiver; one that dies in the middle of taking it leaves it to the next, or has taken it.
    ///
    /// # Errors
    ///
    /// [`GetSharedError`] if the name stands for nothing, since another process was first perhaps, or for something else, or what it stood for is over.
    ///
    /// # Examples
    ///
    /// See [`set_receiver`](Properties::set_receiver).
    pub fn take_receiver<R: HandOver>(&self, name: &str) -> Result<R, GetSharedError> {
        let (version, receiver) = self.attached(name)?;
        self.remove_version(name, version);
        Ok(receiver)
    }

    /// What the name stands for, and the version of that value.
    fn attached<A: sealed::Attachable>(&self, name: &str) -> Result<(u64, A), GetSharedError> {
        let name = || name.to_owned();
        let (version, value) = self
            .versioned(&name())
            .ok_or_else(|| GetSharedError::NotSet { name: name() })?;
        let (is, asked) = (value.kind(), A::KIND.name());
        // Copied out of the memory, and no reference but to what an arena itself says there is.
        let reference = match value {
            Value::Shared(reference) if reference.kind == A::KIND => reference,
            _ => {
                return Err(GetSharedError::Kind {
                    name: name(),
                    is,
                    asked,
                });
            }
        };
        let arena = self
            .arena(reference.arena)
            .ok_or_else(|| GetSharedError::OtherArena { name: name(), is })?;
        let place = ArenaPlace {
            offset: reference.offset,
            generation: reference.generation,
        };
        let thing = A::attach_at(arena, place).map_err(|source| GetSharedError::Attach {
            name: name(),
            is,
            source,
        })?;
        Ok((version, thing))
    }
}

/// The error of [`Properties::set_shared`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Mutex, Properties, SetSharedError};
///
/// let settings = Properties::create(10, 64)?;
/// let error = settings.set_shared("count", &Mutex::create(5_u64)?).unwrap_err();
/// assert!(matches!(error, SetSharedError::NotInArena { .. }));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetSharedError {
    /// It has memory of its own, with a descriptor of its own, which memory cannot carry.
    #[error(
        "{what} with memory of its own cannot be a property: make it in an arena, and give that to the properties of each process"
    )]
    NotInArena {
        /// What it is.
        what: &'static str,
    },
    /// It lies in an arena that the properties were not given.
    #[error(
        "{what} lies in an arena that these properties do not have: give it to them by `with_arena`"
    )]
    OtherArena {
        /// What it is.
        what: &'static str,
    },
    /// It cannot be kept: a receiving end was sent away before, or another process has written nonsense into the arena.
    #[error("{what} is over: it was sent to another process before, or one has spoiled the arena")]
    Over {
        /// What it is.
        what: &'static str,
    },
    /// As for any value.
    #[error(transparent)]
    Set(#[from] SetPropertyError),
}

/// The error of [`Properties::set_receiver`], which gives the end back.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Arena, Properties, SetSharedError};
///
/// let arena = Arena::create(1 << 16)?;
/// let settings = Properties::create(10, 64)?; // without the arena
/// let (sender, receiver) = arena.channel::<u64>(4)?;
/// let error = settings.set_receiver("orders", receiver).unwrap_err();
/// assert!(matches!(error.reason, SetSharedError::OtherArena { .. }));
/// sender.send(3)?;
/// assert_eq!(error.receiver.recv()?, 3);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct SetReceiverError<R> {
    /// The end.
    pub receiver: R,
    /// Why it was not set.
    pub reason: SetSharedError,
}

impl<R> fmt::Debug for SetReceiverError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetReceiverError")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Display for SetReceiverError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<R> std::error::Error for SetReceiverError<R> {}

/// The error of [`Properties::get_shared`] and [`Properties::take_receiver`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Mutex, Properties};
///
/// let settings = Properties::create(10, 64)?;
/// settings.set("rows", 20_i64)?;
/// let error = settings.get_shared::<Mutex<u64>>("rows").unwrap_err();
/// assert_eq!(error.to_string(), r#"the property "rows" is a whole number, and a mutex was asked for"#);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GetSharedError {
    /// The name has no value, or none any more.
    #[error("there is no property {name:?}: wait until it is set, or another process has taken it")]
    NotSet {
        /// The name.
        name: String,
    },
    /// The name stands for something else.
    #[error("the property {name:?} is {is}, and {asked} was asked for")]
    Kind {
        /// The name.
        name: String,
        /// What it is.
        is: &'static str,
        /// What was asked for.
        asked: &'static str,
    },
    /// It lies in an arena that the properties of this process were not given.
    #[error(
        "the property {name:?} is {is} in an arena that this process' properties do not have: give it to them by `with_arena`"
    )]
    OtherArena {
        /// The name.
        name: String,
        /// What it is.
        is: &'static str,
    },
    /// It is of another type, or over, or another process receives, or has written nonsense.
    #[error("the property {name:?} is {is} that is not to be had: {source}")]
    Attach {
        /// The name.
        name: String,
        /// What it is.
        is: &'static str,
        /// Why.
        source: AttachError,
    },
}
