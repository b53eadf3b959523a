//! Ends of channels in messages to actors of other processes, until those have read them: what sends sees a receiver meanwhile, and what
//! receives a sender.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::link::{
    LentDescriptor, deserialize_descriptor, refuse_descriptor, serialize_descriptor,
};

use super::bytes::{BytesReceiver, BytesSender};
use super::encoded::{EncodedReceiver, EncodedSender};
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{AWAY, ReceivingEnd, SendingEnd, Shared};
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

fn serialize_sender<S: Serializer>(
    what: &str,
    end: &SendingEnd,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lent: LentDescriptor = Arc::new(LentSender(end.clone()));
    serialize_descriptor(what, lent, serializer)
}

fn serialize_receiver<S: Serializer>(
    what: &str,
    end: &ReceivingEnd,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match LentReceiver::of(end) {
        Some(lent) => serialize_descriptor(what, Arc::new(lent), serializer),
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
                deserialize_descriptor($what, Self::attach, deserializer)
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
