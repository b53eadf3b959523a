//! Ends of channels in messages to actors of other processes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::link::{
    LentDescriptor, lend_descriptor, lend_shared_descriptor, refuse_descriptor, share_descriptor,
    take_descriptor,
};

use super::away::AwayReceiver;
use super::bytes::{BytesReceiver, BytesSender};
use super::encoded::{EncodedReceiver, EncodedSender};
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{ReceivingEnd, SendingEnd};
use crate::arena::{Arena, ArenaPlace};
use crate::error::AttachError;
use crate::plain::Plain;

/// A sending end in a message that is on its way: it counts as one of this process until it is read.
#[derive(Debug)]
struct LentSender(SendingEnd);

impl AsFd for LentSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.shared.memory()
    }
}

/// What stands in a message for what may lie in an arena: at which place among the descriptors of the message that of the memory is, and where in an arena
/// the thing lies. The descriptor of an arena goes once with a message, whatever the number of things.
#[derive(Serialize, Deserialize)]
pub(crate) struct SentThing {
    descriptor: u64,
    offset: u64,
    /// 0 for what has memory of its own.
    generation: u64,
}

impl SentThing {
    pub(crate) fn lend<E: serde::ser::Error>(
        what: &str,
        place: Option<ArenaPlace>,
        lent: LentDescriptor,
    ) -> Result<Self, E> {
        Ok(match place {
            None => SentThing {
                descriptor: lend_descriptor(what, lent)?,
                offset: 0,
                generation: 0,
            },
            Some(ArenaPlace { offset, generation }) => SentThing {
                descriptor: lend_shared_descriptor(what, lent)?,
                offset,
                generation,
            },
        })
    }

    /// Attaches, to memory of its own or in an arena.
    pub(crate) fn attach<T, E: serde::de::Error>(
        self,
        what: &str,
        attach: impl FnOnce(OwnedFd) -> Result<T, AttachError>,
        attach_at: impl FnOnce(&Arena, ArenaPlace) -> Result<T, AttachError>,
    ) -> Result<T, E> {
        let SentThing {
            descriptor,
            offset,
            generation,
        } = self;
        if generation == 0 {
            return take_descriptor(what, descriptor, attach);
        }
        let place = ArenaPlace { offset, generation };
        share_descriptor(what, descriptor, |memory| {
            attach_at(&Arena::attach(memory)?, place)
        })
    }
}

fn serialize_sender<S: Serializer>(
    what: &str,
    end: &SendingEnd,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lent = Arc::new(LentSender(end.clone()));
    SentThing::lend(what, end.shared.place(), lent)?.serialize(serializer)
}

fn serialize_receiver<S: Serializer>(
    what: &str,
    end: &ReceivingEnd,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match AwayReceiver::of(end) {
        Some(lent) => {
            SentThing::lend(what, end.shared.place(), Arc::new(lent))?.serialize(serializer)
        }
        None => refuse_descriptor(what, "it has been sent before, and receives no more"),
    }
}

macro_rules! crosses {
    ($($end:ident [$($param:ident: $bound:path)*] $what:literal, $serialize:ident by $($field:ident).+;)*) => {$(
        /// In a message to an actor of another process: that attaches when it reads the message.
        impl<$($param: $bound)*> Serialize for $end<$($param)*> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $serialize($what, &self.$($field).+, serializer)
            }
        }

        impl<'de, $($param: $bound)*> Deserialize<'de> for $end<$($param)*> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let sent = SentThing::deserialize(deserializer)?;
                sent.attach($what, Self::attach, Self::attach_at)
            }
        }
    )*};
}

crosses! {
    Sender [T: Plain] "a Sender", serialize_sender by end;
    Receiver [T: Plain] "a Receiver", serialize_receiver by end;
    BytesSender [] "a BytesSender", serialize_sender by end;
    BytesReceiver [] "a BytesReceiver", serialize_receiver by end;
    EncodedSender [T: Serialize] "an EncodedSender", serialize_sender by bytes.end;
    EncodedReceiver [T: DeserializeOwned] "an EncodedReceiver", serialize_receiver by bytes.end;
}
