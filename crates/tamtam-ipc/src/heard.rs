//! Receivers of channels between processes, as what actors' homes listen to.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;
use tamtam_actor::heard::{Heard, Listenable, SharedSource};
use tamtam_channel::TryRecvError;
use tamtam_wait::Source;

use crate::channel::bytes::BytesReceiver;
use crate::channel::encoded::EncodedReceiver;
use crate::channel::error::EncodedRecvError;
use crate::channel::receiver::Receiver;
use crate::channel::selectable::Guarded;
use crate::future::Attempts;
use crate::plain::Plain;
use crate::sealed::SealedBytes;
use crate::sealed_channel::{SealedReceiver, SealedRecvError};

/// An end from which messages come.
trait Receives: Source + Send + 'static {
    type Message: Send + 'static;

    /// The next message, if it is there; `None` in it at the end.
    fn try_next(&self) -> Option<Option<Self::Message>>;

    fn count(&self) -> usize;
}

impl<T: Plain + Send + 'static> Receives for Receiver<T> {
    type Message = T;

    fn try_next(&self) -> Option<Option<T>> {
        match self.try_recv() {
            Ok(message) => Some(Some(message)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl Receives for BytesReceiver {
    type Message = Vec<u8>;

    fn try_next(&self) -> Option<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.try_recv_bytes(&mut bytes) {
            Ok(_) => Some(Some(bytes)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl<T: DeserializeOwned + Send + 'static> Receives for EncodedReceiver<T> {
    type Message = Result<T, EncodedRecvError<TryRecvError>>;

    fn try_next(&self) -> Option<Option<Self::Message>> {
        match self.try_recv() {
            Err(EncodedRecvError::Refused(TryRecvError::Empty)) => None,
            Err(EncodedRecvError::Refused(TryRecvError::Disconnected)) => Some(None),
            message => Some(Some(message)),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl Receives for SealedReceiver {
    type Message = Result<SealedBytes, SealedRecvError<TryRecvError>>;

    fn try_next(&self) -> Option<Option<Self::Message>> {
        match self.try_recv() {
            Err(SealedRecvError::Refused(TryRecvError::Empty)) => None,
            Err(SealedRecvError::Refused(TryRecvError::Disconnected)) => Some(None),
            message => Some(Some(message)),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }
}

type Attempt<E, T> = fn(&Guarded<E>) -> Option<Option<T>>;

/// A receiver as a listener has it.
struct HeardEnd<E: Receives> {
    end: Arc<Guarded<E>>,
    attempts: Attempts<Arc<Guarded<E>>, Attempt<E, E::Message>>,
}

impl<E: Receives> HeardEnd<E> {
    fn of(end: E) -> Box<dyn Heard<E::Message>> {
        let end = Arc::new(Guarded::new(end));
        let attempt: Attempt<E, E::Message> = |end| end.with(E::try_next);
        let attempts = Attempts::new(Arc::clone(&end), attempt);
        Box::new(HeardEnd { end, attempts })
    }
}

impl<E: Receives> Heard<E::Message> for HeardEnd<E> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<E::Message>> {
        Pin::new(&mut self.attempts).poll(context)
    }

    fn count(&self) -> usize {
        self.end.with(E::count)
    }

    fn at_words(&self) -> Option<Weak<SharedSource>> {
        let end: Weak<Guarded<E>> = Arc::downgrade(&self.end);
        Some(end)
    }

    fn try_next(&mut self) -> Poll<Option<E::Message>> {
        match self.end.with(E::try_next) {
            Some(next) => Poll::Ready(next),
            None => Poll::Pending,
        }
    }
}

macro_rules! can_be_listened_to {
    ($($(#[doc = $doc:literal])+ $end:ident [$($param:ident: $bound:path)?] $message:ty;)*) => {$(
        $(#[doc = $doc])+
        impl<$($param: $bound + Send + 'static)?> Listenable for $end<$($param)?> {
            type Message = $message;

            fn into_heard(self) -> Box<dyn Heard<Self::Message>> {
                HeardEnd::of(self)
            }
        }
    )*};
}

can_be_listened_to! {
    /// This crate's poll thread sleeps for them. What is no message comes as an error, and others follow.
    SealedReceiver [] Result<SealedBytes, SealedRecvError<TryRecvError>>;
    /// A worker sleeps for the messages of other processes and for its actors' mail at once; for pools and frames this crate's wake thread sleeps.
    Receiver [T: Plain] T;
    /// Each message is a vector of its own.
    BytesReceiver [] Vec<u8>;
    /// A message that cannot be decoded comes as an error, and others follow.
    EncodedReceiver [T: DeserializeOwned] Result<T, EncodedRecvError<TryRecvError>>;
}
