//! Selected operations: the exchange comes after the choice.

use tamtam_wait::seam::atomic::Ordering;
use tamtam_wait::{Context, Entry, Operation, Source, Token};

use super::Rendezvous;
use super::packet::{HELD, OPEN, Packet};
use crate::error::RecvError;

/// An exchange that has begun.
pub(crate) enum Exchange<T> {
    /// The channel is closed.
    Closed,
    /// Through the packet at this address.
    Packet(*const Packet<T>),
    /// By the mail of the tasks: one waits, and is [promised](super::sides::Tasks::promised) to this exchange.
    Mail,
    /// The receiver has the message already. It was waiting in the sender's packet, and a sender is not
    /// held up until this operation is finished; or it was mail.
    Taken(Option<T>),
}

impl<T> Rendezvous<T> {
    /// Finishes a selected sending: gives the message, or gives it back if the channel is closed.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the sender, and not finished yet.
    pub(crate) unsafe fn finish_sending(&self, exchange: Exchange<T>, message: T) -> Result<(), T> {
        match exchange {
            Exchange::Packet(packet) => {
                // SAFETY: this thread began the exchange as the sender and has not finished it, so the packet lives and
                // waits for the message.
                unsafe { Self::give_held(packet, message) };
                Ok(())
            }
            Exchange::Mail => {
                let sides = self.release_task();
                if sides.closed {
                    return Err(message);
                }
                if let Err((sides, message)) = Self::hand_over(sides, message) {
                    // The task that was there is not waiting now; the next receiver takes it.
                    Self::put_mail(sides, message);
                }
                Ok(())
            }
            Exchange::Closed | Exchange::Taken(_) => Err(message),
        }
    }
}

impl<T> Exchange<T> {
    /// Finishes receiving: takes the message. `Err` if the channel is closed, `Ok(None)` if the
    /// sender gave up.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the receiver, and not finished yet.
    pub(crate) unsafe fn take(self) -> Result<Option<T>, RecvError> {
        match self {
            Exchange::Closed | Exchange::Mail => Err(RecvError),
            // SAFETY: this thread began the exchange as the receiver and has not finished it, so the packet lives and holds
            // the message.
            Exchange::Packet(packet) => Ok(unsafe { Rendezvous::take(packet, None) }),
            Exchange::Taken(message) => Ok(message),
        }
    }
}

/// One side of a rendezvous, as something to wait for.
pub(crate) struct Side<'a, T, const SENDS: bool>(pub(super) &'a Rendezvous<T>);

impl<T, const SENDS: bool> Source for Side<'_, T, SENDS> {
    fn try_begin(&self, token: &mut Token) -> bool {
        let mut sides = self.0.lock();
        if !SENDS && let Some(message) = sides.take_mail() {
            token.put(Exchange::Taken(Some(message)));
            return true;
        }
        let chosen = if SENDS {
            sides.choose_receiver()
        } else {
            sides.choose_sender()
        };
        if let Some((packet, sleeper)) = chosen {
            drop(sides);
            let packet: *const Packet<T> = packet.cast();
            if SENDS {
                // SAFETY: chosen just now; a packet lives until its exchange is done.
                // SYNC packet-done: nothing is published by this.
                unsafe { (*packet).state.store(HELD, Ordering::Relaxed) };
            }
            // SAFETY: chosen just now; a packet lives until its exchange is done.
            if !SENDS && unsafe { (*packet).blocked } {
                // SAFETY: this thread has begun the exchange by choosing the packet, which lives until that is done.
                let message = unsafe { Rendezvous::take(packet, Some(sleeper)) };
                token.put(Exchange::Taken(message));
            } else {
                drop(sleeper);
                token.put(Exchange::Packet(packet));
            }
            true
        } else if sides.closed {
            token.put(Exchange::<T>::Closed);
            true
        } else if SENDS && sides.has_task() {
            sides.tasks().promised += 1;
            token.put(Exchange::<T>::Mail);
            true
        } else {
            false
        }
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        let packet = Packet::<T>::on_heap(if SENDS { HELD } else { OPEN });
        let mut sides = self.0.lock();
        let waits_here = if SENDS {
            sides.has_task()
        } else {
            sides.has_mail()
        };
        if waits_here {
            // Not entered, so that a sender that came later does not choose this receiver before the mail, and no
            // task is told of a sender that is about to leave again.
            drop(sides);
            // SAFETY: boxed above, and not seen by the other side.
            drop(unsafe { Box::from_raw(packet) });
            return true;
        }
        let mut sleepers = Vec::new();
        let closed = sides.closed;
        let (own, others) = sides.of::<SENDS>();
        own.register(Entry {
            packet: packet.cast(),
            ..Entry::new(operation, context)
        });
        others.tell_watchers(&mut sleepers);
        let ready = closed || others.has_other(context);
        drop(sides);
        drop(sleepers);
        ready
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.lock();
        let entry = sides.of::<SENDS>().0.unregister(operation, context);
        drop(sides);
        if let Some(entry) = entry {
            // SAFETY: `register` boxed it, and it left the queue without being chosen.
            drop(unsafe { Box::from_raw(entry.packet.cast::<Packet<T>>()) });
        }
    }

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        token.put(Exchange::<T>::Packet(context.packet().cast()));
        true
    }

    fn decline(&self, context: &Context) {
        let mut token = Token::default();
        if self.accept(&mut token, context) {
            // SAFETY: `accept` has filled the token just now.
            unsafe { self.abandon(&mut token) };
        }
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` and `accept` put into a token.
        match unsafe { token.take::<Exchange<T>>() } {
            // SAFETY: this thread has begun the exchange and not finished it: the token was filled and not used since.
            Exchange::Packet(packet) => unsafe { Rendezvous::abandon(packet, SENDS) },
            Exchange::Mail => drop(self.0.release_task()),
            Exchange::Closed | Exchange::Taken(_) => {}
        }
    }

    unsafe fn abandon_elsewhere(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` and `accept` put into a token.
        match unsafe { token.take::<Exchange<T>>() } {
            Exchange::Packet(packet) if SENDS => {
                // SAFETY: begun by this thread; there is no message yet.
                unsafe { Rendezvous::abandon(packet, SENDS) };
            }
            Exchange::Packet(packet) => {
                // SAFETY: this thread has begun the exchange as the receiver, and not finished it.
                core::mem::forget(unsafe { Rendezvous::take(packet, None) });
            }
            Exchange::Mail => drop(self.0.release_task()),
            taken => core::mem::forget(taken),
        }
    }

    fn is_ready(&self) -> bool {
        self.0.lock().is_ready_for::<SENDS>()
    }

    fn unready_since(&self) -> Option<u64> {
        // A look that changes nothing.
        let mut sides = self.0.sides.lock();
        (!sides.is_ready_for::<SENDS>()).then(|| sides.uses.into())
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        let mut sides = self.0.lock();
        let beside = if SENDS {
            sides.has_task()
        } else {
            sides.has_mail()
        };
        let closed = sides.closed;
        let (own, others) = sides.of::<SENDS>();
        own.watch(Entry::new(operation, context));
        closed || beside || others.has_other(context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.lock();
        sides.of::<SENDS>().0.unwatch(operation, context);
    }
}
