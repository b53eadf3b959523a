//! Ends of channels in messages to actors of other processes, until those have read them: what sends sees a receiver meanwhile, and what
//! receives a sender.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::link::{
    LentDescriptor, lend_descriptor, lend_shared_descriptor, refuse_descriptor, share_descriptor,
    take_descriptor,
};

use super::bytes::{BytesReceiver, BytesSender};
use super::encoded::{EncodedReceiver, EncodedSender};
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{AWAY, ReceivingEnd, SendingEnd, Shared};
use crate::arena::{Arena, ArenaPlace};
use crate::error::AttachError;
use crate::plain::Plain;
use crate::ring::Ring;

/// A receiving end in a message that is on its way: senders wait for the process that reads it.
#[derive(Debug)]
pub(super) struct LentReceiver {
    shared: Arc<Shared>,
}

impl LentReceiver {
    /// Of this end, which receives no more unless it comes back; `None` if it does not receive.
    pub(super) fn of(end: &ReceivingEnd) -> Option<Self> {
        let shared = Arc::clone(&end.shared);
        if !shared.role.lend(shared.occupant()) {
            return None;
        }
        shared.state.fetch_or(AWAY, Ordering::Relaxed);
        Some(LentReceiver { shared })
    }
}

impl AsFd for LentReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.memory()
    }
}

impl Drop for LentReceiver {
    fn drop(&mut self) {
        if self.shared.role.take_back(self.shared.occupant()) {
            self.shared.state.fetch_and(!AWAY, Ordering::Relaxed);
            // If no process receives now, senders are told.
            self.shared.control().senders.ring();
        }
    }
}

/// A sending end in a message that is on its way: it counts as one of this process until it is read.
#[derive(Debug)]
pub(super) struct LentSender(SendingEnd);

impl AsFd for LentSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.shared.memory()
    }
}

/// What stands for an end in a message: at which place among the descriptors of the message that of the memory is, and where in an arena the channel
/// lies. The descriptor of an arena goes once with a message, whatever the number of ends.
#[derive(Serialize, Deserialize)]
struct SentEnd {
    descriptor: u64,
    offset: u64,
    /// 0 for a channel that has memory of its own.
    generation: u64,
}

impl SentEnd {
    fn lend<E: serde::ser::Error>(
        what: &str,
        shared: &Shared,
        lent: LentDescriptor,
    ) -> Result<Self, E> {
        Ok(match shared.place() {
            None => SentEnd {
                descriptor: lend_descriptor(what, lent)?,
                offset: 0,
                generation: 0,
            },
            Some(ArenaPlace { offset, generation }) => SentEnd {
                descriptor: lend_shared_descriptor(what, lent)?,
                offset,
                generation,
            },
        })
    }

    /// Attaches, to memory of its own or in an arena.
    fn attach<T, E: serde::de::Error>(
        self,
        what: &str,
        attach: impl FnOnce(OwnedFd) -> Result<T, AttachError>,
        attach_at: impl FnOnce(&Arena, ArenaPlace) -> Result<T, AttachError>,
    ) -> Result<T, E> {
        let SentEnd {
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
    SentEnd::lend(what, &end.shared, lent)?.serialize(serializer)
}

fn serialize_receiver<S: Serializer>(
    what: &str,
    end: &ReceivingEnd,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match LentReceiver::of(end) {
        Some(lent) => SentEnd::lend(what, &end.shared, Arc::new(lent))?.serialize(serializer),
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
                let sent = SentEnd::deserialize(deserializer)?;
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
