//! An actor in its turns.

use std::time::{Duration, Instant};

use crate::actor::Actor;
use crate::at_work::State;
use crate::cell::{Behavior, Own, System, Turn};
use crate::context::Context;
use crate::home::TurnLimits;
use crate::mailbox::Popped;

/// Makes an actor where it is to live.
pub(crate) type Birth<A> = Box<dyn FnOnce(&mut Context<A>) -> A + Send>;

/// An actor, its context, and how far it has got.
pub(crate) struct Running<A: Actor> {
    actor: Option<A>,
    birth: Option<Birth<A>>,
    started: bool,
    /// In a turn; if a turn has ended so, the actor has panicked.
    busy: bool,
    limits: TurnLimits,
    context: Context<A>,
}

impl<A: Actor> Running<A> {
    pub(crate) fn born(cell: Own<A::Message>, actor: A) -> Self {
        Running {
            actor: Some(actor),
            birth: None,
            started: false,
            busy: false,
            limits: cell.turn_limits(),
            context: Context::new(cell),
        }
    }

    pub(crate) fn unborn(cell: Own<A::Message>, birth: Birth<A>) -> Self {
        Running {
            actor: None,
            birth: Some(birth),
            started: false,
            busy: false,
            limits: cell.turn_limits(),
            context: Context::new(cell),
        }
    }

    /// The actor and its context, for a continuation; `None` if it was never made.
    pub(crate) fn parts(&mut self) -> Option<(&mut A, &mut Context<A>)> {
        let actor = self.actor.as_mut()?;
        Some((actor, &mut self.context))
    }

    #[cold]
    fn start(&mut self) {
        if let Some(birth) = self.birth.take() {
            self.actor = Some(birth(&mut self.context));
        }
        self.started = true;
        if let Some((actor, context)) = self.parts() {
            actor.started(context);
        }
    }

    /// Does what comes before messages; `true` if the actor is to be stopped.
    #[cold]
    fn attend_to_system(&mut self, handled: &mut u32) -> bool {
        let things = self.context.here().cell().take_system();
        for system in things {
            match system {
                System::Continue(continuation) => {
                    *handled += 1;
                    continuation.go_on(self);
                }
                System::Stop => return true,
                System::Orphaned => self.context.here().note_orphaned(),
            }
            if self.context.here().is_stopping() {
                return true;
            }
        }
        false
    }

    /// A turn of at most so many messages, which it counts: answers to this actor's own questions, too.
    #[inline]
    pub(crate) fn turn_of(&mut self, most: u32, handled: &mut u32) -> Turn {
        self.busy = true;
        let turn = self.work(most, handled);
        self.busy = false;
        turn
    }

    #[inline]
    fn work(&mut self, most: u32, handled: &mut u32) -> Turn {
        if !self.started {
            self.start();
        }
        // What comes meanwhile is for another turn. Who handled it as it comes, from a sender on another core,
        // would have every message brought from there by itself, and two actors that work for a third one would
        // keep up with each other step by step.
        let mark = self.context.here().cell().mark();
        let mut began = None;
        loop {
            if self.context.here().is_stopping() {
                return Turn::Stop;
            }
            if self.context.here().cell().has_system() && self.attend_to_system(handled) {
                return Turn::Stop;
            }
            let limits = self.limits;
            let Some((actor, context)) = self.parts() else {
                return Turn::Stop;
            };
            if context.here().is_at(mark) {
                return Turn::Done;
            }
            if *handled >= most {
                return Turn::More;
            }
            if context.here().cell().state().has(State::WAITS) && context.here().is_to_wait() {
                return Turn::Park;
            }
            // A look at the clock costs as much as a message: the longer it has gone well, the fewer.
            if u32::is_power_of_two(*handled) && *handled > 1 {
                let now = Instant::now();
                match began {
                    None => began = Some(now),
                    Some(began) if now - began >= Duration::from_micros(limits.micros.into()) => {
                        return Turn::More;
                    }
                    Some(_) => {}
                }
            }
            // SAFETY: this is the cell's turn.
            let mut popped = unsafe { context.here().cell().pop() };
            let mut is_alone = false;
            if let Popped::Empty = popped
                && context.here().is_orphaned()
            {
                // An address that was there until now may have been used meanwhile.
                is_alone = context.here().is_alone();
                // SAFETY: as above.
                popped = unsafe { context.here().cell().pop() };
            }
            match popped {
                Popped::Message(message) => actor.handle(message, context),
                // Perhaps for what comes before messages.
                Popped::Woken => continue,
                Popped::Empty if is_alone && context.awaits_nothing() => return Turn::Stop,
                Popped::Empty => return Turn::Done,
            }
            *handled += 1;
        }
    }
}

impl<A: Actor> Behavior<A::Message> for Running<A> {
    fn turn(&mut self) -> Turn {
        self.turn_of(self.limits.messages, &mut 0)
    }

    fn stopped(&mut self) {
        if self.busy || !self.started {
            return;
        }
        if let Some((actor, context)) = self.parts() {
            actor.stopped(context);
        }
    }
}
