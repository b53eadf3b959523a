//! What segments hold, in messages to actors of other processes: its memory goes as a descriptor, to which the reader attaches.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::link::{
    LentDescriptor, deserialize_descriptor, lend_descriptor, lend_shared_descriptor,
    refuse_descriptor, serialize_descriptor, share_descriptor, take_descriptor,
};

use crate::arena::Arena;
use crate::bytes::SharedBytes;
use crate::channel::lent::SentThing;
use crate::condition::Condition;
use crate::event::Event;
use crate::home::Allocation;
use crate::mutex::Mutex;
use crate::plain::Plain;
use crate::properties::Properties;
use crate::property::Property;
use crate::sealed::SealedBytes;
use crate::sealed_channel::{SealedReceiver, SealedSender};
use crate::slot::Slot;

/// How they are called in an error.
const PROPERTIES: &str = "Properties";

fn serialize<S: Serializer>(
    what: &str,
    memory: BorrowedFd<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // What is sent may be dropped before it has gone.
    match memory.try_clone_to_owned() {
        Ok(memory) => serialize_descriptor(what, Arc::new(memory), serializer),
        Err(error) => refuse_descriptor(what, error),
    }
}

macro_rules! crosses {
    ($($type:ident [$($param:ident)?] $what:literal;)*) => {$(
        /// In a message to an actor of another process: that attaches when it reads the message.
        impl<$($param: Plain)?> Serialize for $type<$($param)?> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize($what, self.memory(), serializer)
            }
        }

        impl<'de, $($param: Plain)?> Deserialize<'de> for $type<$($param)?> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize_descriptor($what, Self::attach, deserializer)
            }
        }
    )*};
}

/// In a message to an actor of another process: that attaches when it reads the message.
impl Serialize for SealedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_descriptor("SealedBytes", self.lend(), serializer)
    }
}

impl<'de> Deserialize<'de> for SealedBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_descriptor("SealedBytes", Self::attach, deserializer)
    }
}

/// In a message to an actor of another process: that has an end, too, when it reads the message.
impl Serialize for SealedSender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize("a SealedSender", self.socket(), serializer)
    }
}

impl<'de> Deserialize<'de> for SealedSender {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_descriptor("a SealedSender", Self::attach, deserializer)
    }
}

/// In a message to an actor of another process: that has the end, too, when it reads the message.
impl Serialize for SealedReceiver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize("a SealedReceiver", self.socket(), serializer)
    }
}

impl<'de> Deserialize<'de> for SealedReceiver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_descriptor("a SealedReceiver", Self::attach, deserializer)
    }
}

crosses! {
    Slot [T] "a Slot";
    Property [T] "a Property";
    Event [] "an Event";
    Condition [] "a Condition";
    Arena [] "an Arena";
}

/// A thing in an arena until the other process has it: its region is not given to another one meanwhile.
struct Lent(Allocation);

impl AsFd for Lent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.memory()
    }
}

fn serialize_allocated<S: Serializer>(
    what: &str,
    allocation: &Allocation,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lent: LentDescriptor = match allocation.again() {
        Some(Ok(again)) => Arc::new(Lent(again)),
        Some(Err(error)) => return refuse_descriptor(what, error),
        None => match allocation.memory().try_clone_to_owned() {
            Ok(memory) => Arc::new(memory),
            Err(error) => return refuse_descriptor(what, error),
        },
    };
    SentThing::lend(what, allocation.home().place(), lent)?.serialize(serializer)
}

macro_rules! crosses_with_arena {
    ($($type:ident [$($param:ident)?] $what:literal;)*) => {$(
        /// In a message to an actor of another process: that attaches when it reads the message.
        impl<$($param: Plain)?> Serialize for $type<$($param)?> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_allocated($what, self.allocation(), serializer)
            }
        }

        impl<'de, $($param: Plain)?> Deserialize<'de> for $type<$($param)?> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let sent = SentThing::deserialize(deserializer)?;
                sent.attach($what, Self::attach, Self::attach_at)
            }
        }
    )*};
}

crosses_with_arena! {
    Mutex [T] "a Mutex";
    SharedBytes [] "SharedBytes";
}

/// In a message to an actor of another process: that attaches when it reads the message, and has the arenas, too.
impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let descriptor = match self.memory().try_clone_to_owned() {
            Ok(memory) => lend_descriptor(PROPERTIES, Arc::new(memory))?,
            Err(error) => return refuse_descriptor(PROPERTIES, error),
        };
        let arenas = self.arenas().iter();
        let arenas: Result<Vec<u64>, S::Error> = arenas
            .map(|arena| lend_shared_descriptor(PROPERTIES, Arc::new(arena.clone())))
            .collect();
        (descriptor, arenas?).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (descriptor, arenas) = <(u64, Vec<u64>)>::deserialize(deserializer)?;
        let properties = take_descriptor(PROPERTIES, descriptor, Properties::attach)?;
        arenas
            .into_iter()
            .try_fold(properties, |properties, arena| {
                let arena = share_descriptor(PROPERTIES, arena, Arena::attach)?;
                Ok(properties.with_arena(&arena))
            })
    }
}
