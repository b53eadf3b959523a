//! Tasks on either side: neither is chosen while it may be dropped.

use core::ptr::NonNull;
use core::task::Waker;
use std::time::Instant;

use tamtam_wait::{Context, Entry, Operation, Outcome, Source, TaskDeadline, Token};

use super::packet::Packet;
use super::{Nothing, ONLY, Refusal, Rendezvous, is_over};

/// A task's receiving from a rendezvous, as something to wait for.
pub(crate) struct Meeting<'a, T>(pub(super) &'a Rendezvous<T>);

impl<T> Source for Meeting<'_, T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        match self.0.try_receive() {
            Ok(message) => token.put(Some(message)),
            Err(Nothing::Closed) => token.put(None::<T>),
            Err(Nothing::Empty | Nothing::Busy) => return false,
        }
        true
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        let mut sleepers = Vec::new();
        let mut sides = self.0.lock();
        let ready = sides.closed || sides.has_mail() || sides.senders.has_any();
        if !ready {
            let entry = Entry::new(operation, context);
            sides.tasks().waiting.register(entry);
            sides.senders.tell_watchers(&mut sleepers);
        }
        drop(sides);
        drop(sleepers);
        ready
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.lock();
        if let Some(tasks) = &mut sides.tasks {
            let entry = tasks.waiting.unregister(operation, context);
            drop(sides);
            drop(entry);
        }
    }

    fn decline(&self, _: &Context) {
        self.0.pass_mail_on();
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` puts into a token.
        drop(unsafe { token.take::<Option<T>>() });
    }

    fn is_ready(&self) -> bool {
        let sides = self.0.lock();
        sides.closed || sides.has_mail() || sides.senders.has_any()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.register(operation, context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.unregister(operation, context);
    }
}

/// A task's sending into a rendezvous. The message waits in a packet until a receiver takes it, which
/// may be while the task does not run; so a sender never has to be polled for a receiver to get on.
pub(crate) struct Offer<T> {
    /// Owned by this offer; a receiver that has chosen us uses it until it is done.
    packet: NonNull<Packet<T>>,
    context: Context,
    deadline: Option<TaskDeadline>,
}

// SAFETY: an offer is a message on its way, and the receiver that takes it synchronises through the
// packet's flag.
unsafe impl<T: Send> Send for Offer<T> {}

impl<T> Rendezvous<T> {
    /// Gives the message to a receiver that waits, or enters an offer of it; else the message stays
    /// where it is.
    pub(crate) fn offer(
        &self,
        message: &mut Option<T>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Result<Option<Offer<T>>, Refusal> {
        let late = is_over(deadline);
        // The waker's clone may panic: the message is still its future's then. Where it is dropped again, which is user code as well, that comes last: the
        // lock is free, and no receiver that was chosen waits.
        let context = Context::for_task(waker);
        let mut sides = self.lock();
        let met = sides.choose_receiver();
        let closed = sides.closed;
        if late
            && met.is_none()
            && !closed
            && let Some(offered) = message.take()
        {
            // No time to wait until a task is polled.
            let handed_over = Self::hand_over(sides, offered).map_err(|(sides, back)| {
                drop(sides);
                *message = Some(back);
                Refusal::Full
            });
            context.recycle();
            return handed_over.map(|()| None);
        }
        if met.is_some() || closed {
            drop(sides);
            let given = met.map(|(packet, sleeper)| {
                match message.take() {
                    // SAFETY: begun just now; every entry of this channel has a packet of this type.
                    Some(message) => unsafe { Self::give(packet.cast(), message) },
                    None => unreachable!("a message is offered once"),
                }
                drop(sleeper);
            });
            context.recycle();
            return given.map(|()| None).ok_or(Refusal::Closed);
        }
        // The one address for both sides; a reference made later would claim the packet for us alone.
        let packet = NonNull::from(Box::leak(Box::new(Packet::on_stack(message.take()))));
        Self::enter::<true>(
            sides,
            Entry {
                packet: packet.as_ptr().cast(),
                ..Entry::new(ONLY, &context)
            },
        );
        Ok(Some(Offer {
            packet,
            deadline: deadline.map(|due| TaskDeadline::for_task(due, &context, waker)),
            context,
        }))
    }

    /// How the offer has ended, if it has; else `waker` is woken when it does.
    ///
    /// Once it has ended, [`end_offer`](Rendezvous::end_offer) tells what became of the message.
    pub(crate) fn poll_offer(offer: &mut Offer<T>, waker: &Waker) -> bool {
        let Offer {
            context, deadline, ..
        } = offer;
        context.renew(waker).is_some()
            || (deadline.as_mut()).is_some_and(|deadline| deadline.attend(context, waker))
    }

    /// Ends an offer: sent, or the message and why no receiver has taken it.
    pub(crate) fn end_offer(&self, offer: Offer<T>) -> Result<(), (T, Refusal)> {
        let Offer {
            packet,
            context,
            deadline,
        } = offer;
        drop(deadline);
        context.abort();
        // SAFETY: the offer owns the packet.
        let shared = unsafe { packet.as_ref() };
        let refusal = match context.outcome() {
            Some(Outcome::Selected(_)) => {
                shared.wait_until_done();
                None
            }
            outcome => {
                self.lock().senders.unregister(ONLY, &context);
                Some(match outcome {
                    Some(Outcome::Disconnected) => Refusal::Closed,
                    _ => Refusal::Full,
                })
            }
        };
        context.recycle();
        // SAFETY: either the receiver that chose this sender is done with it, or none has chosen it and the
        // entry is gone.
        let message = unsafe { Box::from_raw(packet.as_ptr()) }
            .message
            .into_inner();
        match (message, refusal) {
            (Some(message), Some(refusal)) => Err((message, refusal)),
            _ => Ok(()),
        }
    }
}
