//! An actor that lives on a line.

use core::cell::Cell as PlainCell;
use std::sync::{Arc, Weak};

use super::Line;
use super::roster::Resident;
use crate::actor::Actor;
use crate::cell::{Behavior, Cell, Own, System, Turn};
use crate::ended::EndReason;
use crate::id::ActorId;
use crate::mailbox::{Mark, Ruled};
use crate::runner::{ActorRunner, Awaits};
use crate::task::Home;

impl<M: Send + 'static> Resident for Cell<M> {
    fn stop(self: Arc<Self>) {
        if !self.life().has_ended() {
            self.push_system(System::Stop);
        }
    }

    fn nudge(self: Arc<Self>) {
        if !self.life().has_ended() {
            Cell::nudge(&self);
        }
    }

    fn id(&self) -> ActorId {
        Cell::id(self)
    }
}

/// A seat on a line, until it is dropped.
struct Seat {
    line: Arc<Line>,
    /// None where the line was at its end.
    place: Option<u32>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        self.line.roster.leave(place);
        if !self.line.is_kept_here() {
            // The keeper may wait for just this.
            self.line.nudge();
        }
    }
}

/// An actor on a line, with its seat: which is left when the actor is dropped, and not before.
struct SettledActor<A: Actor> {
    running: ActorRunner<A>,
    seat: Seat,
    /// What a drain is to see handled ends with this message: those who send faster than it is handled would keep the
    /// line for ever.
    last_to_drain: Option<Mark>,
    /// The same where messages are counted: how many are left to handle until then.
    left_to_drain: PlainCell<u64>,
    /// So often it was begun again in a row, and has handled nothing.
    in_vain: u32,
}

/// A drain does not wait for an actor that is to be begun again, and so often has handled nothing when it was.
const MOST_IN_VAIN: u32 = 10;

/// Counts what a turn has handled, also if it panics.
struct HandledCount<'a> {
    line: &'a Line,
    left_to_drain: &'a PlainCell<u64>,
    handled: u32,
}

impl Drop for HandledCount<'_> {
    fn drop(&mut self) {
        let own = &self.line.own;
        let handled = self.handled + own.beside.take();
        own.handled.set(own.handled.get() + u64::from(handled));
        let left = self.left_to_drain.get();
        self.left_to_drain.set(left.saturating_sub(handled.into()));
    }
}

impl<A: Actor> SettledActor<A> {
    /// How a turn has ended.
    fn note(&mut self, turn: Turn) {
        if !self.seat.line.own.draining.get() {
            return;
        }
        let Some(place) = self.seat.place else {
            return;
        };
        let goes_on = match turn {
            Turn::More => return,
            Turn::Park => match self.running.awaits() {
                Some(Awaits::Room) => self.has_to_drain(),
                Some(Awaits::Beginning) => {
                    self.in_vain += 1;
                    self.in_vain <= MOST_IN_VAIN
                }
                None => false,
            },
            Turn::Done | Turn::Stop => false,
        };
        let roster = &self.seat.line.roster;
        if goes_on {
            roster.owe(place);
        } else {
            roster.settle(place);
        }
    }

    /// Whether something is left of what a drain is to see handled.
    fn has_to_drain(&mut self) -> bool {
        self.left_to_drain.get() != 0
            || self
                .last_to_drain
                .is_none_or(|last| !self.running.is_at(last))
    }
}

/// What became of a look at what is offered to an actor.
#[cfg(feature = "serde")]
enum OfferLook {
    /// There is a message for this turn.
    Taken,
    /// Nothing is offered, or others are due.
    Over,
    /// The actor has something else to do, in another turn.
    Busy,
}

#[cfg(feature = "serde")]
impl<A: Actor> ActorRunner<A> {
    /// Takes one of the messages that are offered to the actor, if neither it nor another one here has something else to do.
    #[cold]
    fn look_at_offer(&mut self, line: &Line, handled: u32) -> OfferLook {
        if !self.is_free() {
            return OfferLook::Busy;
        }
        // SAFETY: this is a turn, and so the keeper's thread.
        let is_due = unsafe { line.is_due() };
        if is_due || handled >= line.own.allowance.get() || !self.take_offered() {
            OfferLook::Over
        } else {
            OfferLook::Taken
        }
    }
}

impl<A: Actor> Behavior<A::Message> for SettledActor<A> {
    #[inline(always)]
    fn is_at_home() -> bool {
        true
    }

    #[inline(always)]
    fn turn(&mut self) -> Turn {
        let line = &*self.seat.line;
        let is_draining = line.own.draining.get();
        let last_to_drain = if is_draining {
            let last = self.last_to_drain.unwrap_or_else(|| {
                self.left_to_drain.set(self.running.counted() as u64);
                self.running.mark()
            });
            self.last_to_drain = Some(last);
            Some(last)
        } else {
            None
        };
        let mut count = HandledCount {
            line,
            left_to_drain: &self.left_to_drain,
            handled: 0,
        };
        #[cfg(feature = "serde")]
        let mut has_taken = false;
        // One place at which turns are had, also with what is offered: so the compiler puts them here.
        #[cfg_attr(
            not(feature = "serde"),
            allow(clippy::never_loop, reason = "only what is offered makes it loop")
        )]
        let turn = loop {
            let turn = self.running.turn_of::<true>(
                line.own.allowance.get(),
                &mut count.handled,
                last_to_drain,
            );
            #[cfg(feature = "serde")]
            if turn == Turn::Done && Cell::<A::Message>::is_any_offered() && !is_draining {
                match self.running.look_at_offer(line, count.handled) {
                    OfferLook::Taken => {
                        has_taken = true;
                        continue;
                    }
                    // If it has taken none, that turn comes as it would without an offer.
                    OfferLook::Busy if has_taken => break Turn::More,
                    OfferLook::Busy | OfferLook::Over => {}
                }
            }
            break turn;
        };
        let has_handled = count.handled != 0;
        drop(count);
        if is_draining {
            if turn == Turn::Done {
                self.last_to_drain = None;
            }
            if has_handled {
                self.in_vain = 0;
            }
            self.note(turn);
        }
        turn
    }

    fn panicked(&mut self, why: EndReason) -> Turn {
        if self.running.is_at_message() {
            self.in_vain = 0;
        }
        let turn = self.running.panicked(why);
        self.note(turn);
        turn
    }

    fn stopped(&mut self) {
        self.running.stopped();
    }

    fn actor_type(&self) -> &'static str {
        self.running.actor_type()
    }
}

impl Line {
    /// A cell with an actor that lives here. If the line is at its end the actor is dropped on this thread.
    ///
    /// # Safety
    ///
    /// The actor may be used and dropped on the keeper's thread, and dropped on this one.
    pub(crate) unsafe fn settle<A: Actor>(
        self: Arc<Self>,
        mailbox: Ruled<A::Message>,
        make: impl FnOnce(Own<A::Message>) -> ActorRunner<A>,
    ) -> Arc<Cell<A::Message>> {
        let home = Arc::clone(&self) as Arc<dyn Home>;
        let place = self.roster.reserve();
        let line = Arc::clone(&self);
        let seat = Seat { line, place };
        let settle = |cell| SettledActor {
            running: make(cell),
            seat,
            last_to_drain: None,
            left_to_drain: PlainCell::new(0),
            in_vain: 0,
        };
        // SAFETY: the caller vouches that the actor may be used and dropped by the keeper; and as long as there is a seat,
        // the keeper alone runs and abandons. Without one it is dropped here and now.
        let cell = unsafe { Cell::new(home, mailbox, settle) };
        let Some(place) = place else {
            // It does not come to the inbox, where the next one to bring something would find it, on whatever thread.
            cell.end_at_birth();
            return cell;
        };
        let resident: Weak<Cell<A::Message>> = Arc::downgrade(&cell);
        if self.roster.fill(place, resident) {
            Resident::stop(Arc::clone(&cell));
        }
        cell
    }
}
