//! What the receiving sides of all flavours that hold messages have in common.

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::{Backoff, Context, Source, Token, Wait, WaitList, or_undo};

use super::Nothing;
use super::pace::Pace;
use crate::source::in_list;

/// What was taken under one taking of the receivers' lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// At least one message.
    pub(crate) count: usize,
    /// It was not for want of messages that there are no more.
    pub(crate) may_have_more: bool,
}

/// A channel that holds messages, seen from its receivers.
pub(crate) trait Queue {
    type Message;

    /// Takes the oldest message, if it is there, out of its cell into the result that is made of it: a large message is copied once.
    fn receive_as<R>(
        &self,
        received: impl FnOnce(Self::Message) -> R,
        otherwise: impl FnOnce() -> R,
    ) -> R;

    /// Takes the oldest message, if it is there.
    #[inline(always)]
    fn receive_or_else<E>(
        &self,
        otherwise: impl FnOnce() -> Result<Self::Message, E>,
    ) -> Result<Self::Message, E> {
        self.receive_as(Ok, otherwise)
    }

    /// Takes messages, oldest first, under one taking of the receivers' lock: at least one, at most
    /// `room`, and no more than that lock should be held for.
    ///
    /// The vector has room for so many already.
    fn receive_many(
        &self,
        messages: &mut Vec<Self::Message>,
        room: usize,
    ) -> Result<Taken, Nothing>;

    /// After an attempt that brought nothing: tells emptiness from business.
    fn why_nothing(&self) -> Nothing;

    /// Takes the oldest message, if it is there, and tells emptiness from business.
    #[inline]
    fn receive_or_tell(&self) -> Result<Self::Message, Nothing> {
        self.receive_or_else(|| Err(self.why_nothing()))
    }

    /// How many messages there are, those counted that are just being sent.
    fn len(&self) -> usize;

    /// A waiting receiver's second look.
    fn has_mail(&self) -> bool;

    /// The most messages that there were at once, as far as was seen.
    fn high_water(&self) -> usize {
        self.pace().high_water().max(self.len())
    }

    fn is_empty(&self) -> bool;

    fn is_closed(&self) -> bool;

    /// Where the next message will be, if there is none, and the queue is open: two calls with the same place say that there was none between them.
    /// None where that cannot be told at once.
    fn empty_since(&self) -> Option<u64>;

    fn receivers(&self) -> &WaitList;

    fn pace(&self) -> &Pace;

    /// Set if discarding was cut short by a panic.
    fn abandoned(&self) -> &AtomicBool;

    /// Drops all messages of a closed queue.
    ///
    /// If a message panics when it is dropped, those after it are leaked: dropping them while the
    /// panic unwinds could end the program.
    fn discard(&self) {
        let drop_all = || {
            let mut backoff = Backoff::new();
            loop {
                match self.receive_or_tell() {
                    Ok(message) => drop(message),
                    Err(Nothing::Busy) => backoff.pause(),
                    Err(Nothing::Empty | Nothing::Closed) => break,
                }
            }
        };
        or_undo(drop_all, || self.abandoned().store(true, Ordering::Relaxed));
    }

    fn wait_to_receive(
        &self,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<Self::Message, Nothing> {
        self.wait_for_mail(wait, deadline, || {
            self.receive_or_else(|| Err(Nothing::Busy))
        })
    }

    /// Attempts to take something until there is something to take, or until the deadline.
    fn wait_for_mail<R>(
        &self,
        wait: Wait,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Result<R, Nothing>,
    ) -> Result<R, Nothing> {
        self.receivers()
            .wait_resting_until(
                self.pace().rest(),
                wait,
                deadline,
                |thorough| match attempt() {
                    Ok(result) => Some(Ok(result)),
                    // Most looks spare the tail, so that the senders keep its cache line.
                    Err(_) if thorough => match self.why_nothing() {
                        Nothing::Closed => Some(Err(Nothing::Closed)),
                        Nothing::Empty | Nothing::Busy => None,
                    },
                    Err(_) => None,
                },
                || self.has_mail(),
            )
            .unwrap_or(Err(Nothing::Empty))
    }

    fn receiving(&self) -> QueueReceiving<'_, Self> {
        QueueReceiving(self)
    }
}

/// Receiving from a queue, as something to wait for.
pub(crate) struct QueueReceiving<'a, Q: ?Sized>(&'a Q);

impl<Q: Queue + ?Sized> Source for QueueReceiving<'_, Q> {
    fn try_begin(&self, token: &mut Token) -> bool {
        let mut backoff = Backoff::new();
        loop {
            match self.0.receive_or_tell() {
                Ok(message) => token.put(Some(message)),
                Err(Nothing::Closed) => token.put(None::<Q::Message>),
                Err(Nothing::Empty) => return false,
                Err(Nothing::Busy) => {
                    backoff.pause();
                    continue;
                }
            }
            return true;
        }
    }

    fn try_begin_lightly(&self, token: &mut Token) -> bool {
        // Without a look at the senders' cache line, where the tail says for certain whether it is closed.
        match self.0.receive_or_else(|| Err(())) {
            Ok(message) => token.put(Some(message)),
            Err(()) => return self.0.pace().was_closed() && self.try_begin(token),
        }
        true
    }

    in_list!(this => *this.0.receivers(), this.0.has_mail());

    fn decline(&self, _: &Context) {
        self.0.receivers().decline(|| self.0.has_mail());
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` puts into a token. The message is out of the channel and
        // has no receiver to go to.
        drop(unsafe { token.take::<Option<Q::Message>>() });
    }

    unsafe fn abandon_elsewhere(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` puts into a token.
        core::mem::forget(unsafe { token.take::<Option<Q::Message>>() });
    }

    fn is_ready(&self) -> bool {
        !self.0.is_empty() || self.0.is_closed()
    }

    fn unready_since(&self) -> Option<u64> {
        self.0.empty_since()
    }
}
