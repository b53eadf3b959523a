//! What segments hold, in messages to actors of other processes: its memory goes as a descriptor, to which the reader attaches.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::link::{deserialize_descriptor, refuse_descriptor, serialize_descriptor};

use crate::bytes::SharedBytes;
use crate::condition::Condition;
use crate::event::Event;
use crate::mutex::Mutex;
use crate::plain::Plain;
use crate::properties::Properties;
use crate::property::Property;
use crate::sealed::SealedBytes;
use crate::sealed_channel::{SealedReceiver, SealedSender};
use crate::slot::Slot;

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
    Properties [] "Properties";
    Event [] "an Event";
    Mutex [T] "a Mutex";
    Condition [] "a Condition";
    SharedBytes [] "SharedBytes";
}
