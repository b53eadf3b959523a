//! An actor in its turns.

use core::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::contain;

use crate::actor::Actor;
use crate::cell::{AnyActor, Behavior, Call, Cell, Own, State, System, Turn};
use crate::context::Context;
use crate::ended::EndReason;
use crate::error::AskError;
use crate::mailbox::{Loss, Mark, Popped, Taking, Things};
use crate::observe::told;
use crate::restart::{Again, Birth, Decision, Pause, Policy};
use crate::task::TurnLimits;

/// An actor, its context, and how far it has got.
pub(crate) struct ActorRunner<A: Actor> {
    actor: Option<A>,
    /// Until the actor is made; as long as it lives if it may be made again.
    birth: Option<Birth<A>>,
    started: bool,
    doing: Doing,
    limits: TurnLimits,
    context: Context<A>,
}

/// What an actor is at. If a turn has ended so, it has panicked there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Messages,
    Other,
}

impl<A: Actor> ActorRunner<A> {
    pub(crate) fn born(cell: Own<A::Message>, actor: A) -> Self {
        Self::new(cell, Some(actor), None)
    }

    pub(crate) fn unborn(cell: Own<A::Message>, mut birth: Birth<A>) -> Self {
        if let Some(again) = birth.again()
            && let Policy::Reported(_) = again.policy
        {
            // It begins when it is told to.
            cell.state().set(State::PAUSED);
        }
        Self::new(cell, None, Some(birth))
    }

    fn new(cell: Own<A::Message>, actor: Option<A>, birth: Option<Birth<A>>) -> Self {
        ActorRunner {
            actor,
            birth,
            started: false,
            doing: Doing::Nothing,
            limits: cell.turn_limits(),
            context: Context::new(cell),
        }
    }

    /// The actor and its context, for a continuation; `None` if there is none.
    pub(crate) fn parts(&mut self) -> Option<(&mut A, &mut Context<A>)> {
        let actor = self.actor.as_mut()?;
        Some((actor, &mut self.context))
    }

    /// What is only there if the actor can be made again.
    fn again(&mut self) -> Option<&mut Again> {
        self.birth.as_mut()?.again()
    }

    fn has(&mut self, any: u8) -> bool {
        self.context.here().cell().state().has(any)
    }

    #[cold]
    fn start(&mut self) {
        self.doing = Doing::Other;
        if self.context.generation() != 0 {
            let restarts = self.context.generation();
            let cell = self.context.here().cell();
            cell.note_restart();
            told::restarted(
                cell.id(),
                core::any::type_name::<A>(),
                cell.name(),
                restarts,
            );
        }
        if self.actor.is_none()
            && let Some(mut birth) = self.birth.take()
        {
            // Put back also if it panics.
            let born = {
                let mut kept = BirthLent {
                    place: &mut self.birth,
                    birth: None,
                };
                if birth.again().is_some() {
                    let birth = kept.birth.insert(birth);
                    birth.bear(&mut self.context)
                } else {
                    birth.bear(&mut self.context)
                }
            };
            self.actor = born;
        }
        if self.context.here().cell().is_replaced() {
            // Its birth has taken too long: it does not begin.
            return;
        }
        self.started = true;
        if let Some((actor, context)) = self.parts() {
            actor.started(context);
        }
        if let Some(call) = self.again().and_then(|again| again.when_born.take()) {
            call();
        }
        self.doing = Doing::Messages;
    }

    /// Does what comes before messages, as far as the turn goes: an answer counts as a message. What is left comes first in the next
    /// turn.
    #[cold]
    fn attend_to_system(&mut self, handled: &mut u32, plan: &mut TurnPlan) -> AfterSystem {
        self.doing = Doing::Other;
        let things = self.context.here().cell().take_system();
        let mut rest = RestOfSystem {
            cell: self.context.here().uncounted(),
            things,
        };
        // What was to be gone on with goes with an instance that was replaced.
        while rest.cell.goes_on() {
            if self.limits.counts_answers
                && !rest.things.is_empty()
                && (*handled >= plan.most || self.is_time_over(*handled, plan))
            {
                self.doing = Doing::Messages;
                return AfterSystem::TurnIsOver;
            }
            match rest.things.next() {
                None => {
                    self.doing = Doing::Messages;
                    return AfterSystem::GoOn;
                }
                Some(System::Continue(continuation)) => {
                    *handled += 1;
                    continuation.go_on(self);
                }
                Some(System::Left(left)) => {
                    let newer = core::mem::replace(&mut rest.things, left);
                    rest.things.append(newer);
                }
                Some(other) => {
                    if self.attend_to(other) {
                        return AfterSystem::Stop;
                    }
                }
            }
            if self.context.here().is_stopping() {
                return AfterSystem::Stop;
            }
        }
        AfterSystem::Stop
    }

    /// Whether a turn has lasted as long as it may. It looks at the clock only when it has handled enough since it last did.
    #[inline(always)]
    fn is_time_over(&self, handled: u32, plan: &mut TurnPlan) -> bool {
        handled >= plan.next_look && plan.look_at_clock(handled, self.limits.micros)
    }

    /// Does one thing that comes before messages and is not an answer; `true` if the actor is to be stopped. Apart, so that answers,
    /// which most of these things are, are taken where they lie: with all in one match each thing is copied, and the copy waits for
    /// the stores before it.
    #[inline(never)]
    fn attend_to(&mut self, system: System) -> bool {
        match system {
            System::Continue(continuation) => continuation.go_on(self),
            System::Stop => return true,
            System::End(reason) => {
                self.context.here().cell().life().note(reason);
                return true;
            }
            System::Finish => self.context.here().accept_no_more(),
            System::Orphaned => self.context.here().note_orphaned(),
            System::Resume(call) => self.resume(call),
            System::Suspend(call) => self.suspend(call),
            System::Look | System::Left(_) => {}
            System::Settle(owed) => owed.deliver(AskError::Unanswered),
        }
        false
    }

    /// A pause is over.
    #[cold]
    fn resume(&mut self, call: Option<Call>) {
        self.context.here().cell().state().clear(State::PAUSED);
        let has_started = self.started;
        if let Some(again) = self.again() {
            again.pause = None;
            if has_started {
                call.into_iter().for_each(|call| call());
            } else if call.is_some() {
                again.when_born = call;
            }
        }
    }

    /// The instance is to go, in order, and another one to come when its supervisor says so.
    #[cold]
    fn suspend(&mut self, call: Call) {
        if self.started
            && let Some((actor, context)) = self.parts()
        {
            contain(|| actor.stopped(context));
        }
        self.retire();
        self.context.here().cell().state().set(State::PAUSED);
        call();
    }

    /// The instance goes, and what it was to go on with.
    #[cold]
    fn retire(&mut self) {
        let actor = self.actor.take();
        contain(move || drop(actor));
        self.context.forget();
        self.started = false;
        self.doing = Doing::Nothing;
    }

    /// Before there is an actor, and between one instance and the next: how the turn ends; `None` if there is an instance
    /// now.
    #[cold]
    fn begin(&mut self, handled: &mut u32, plan: &mut TurnPlan) -> Option<Turn> {
        if self.has(State::PAUSED) {
            match self.attend_to_system(handled, plan) {
                AfterSystem::Stop => return Some(Turn::Stop),
                AfterSystem::TurnIsOver => return Some(Turn::More),
                AfterSystem::GoOn => {}
            }
            if self.has(State::PAUSED) {
                // It could begin again by itself; one that waits for a supervisor is forgotten by that.
                let is_forgotten = self
                    .again()
                    .is_some_and(|again| matches!(again.policy, Policy::Reported(_)))
                    && self.context.here().is_orphaned()
                    && self.context.here().is_alone();
                if is_forgotten {
                    self.context.here().note_last();
                    return Some(Turn::Stop);
                }
                return Some(Turn::Park);
            }
        }
        self.start();
        None
    }

    /// How many messages there are, where they are counted.
    pub(crate) fn counted(&mut self) -> usize {
        self.context.here().cell().counted()
    }

    /// Whether the message that was taken last is the marked one.
    pub(crate) fn is_at(&mut self, mark: Mark) -> bool {
        self.context.here().is_at(mark)
    }

    /// Marks the youngest message.
    pub(crate) fn mark(&mut self) -> Mark {
        self.context.here().cell().mark()
    }

    /// A turn of at most so many messages, which it counts: answers to this actor's own questions, too. With `last` only
    /// the messages up to that one are handled, otherwise those that are there now.
    #[inline]
    pub(crate) fn turn_of<const AT_HOME: bool>(
        &mut self,
        most: u32,
        handled: &mut u32,
        last: Option<Mark>,
    ) -> Turn {
        self.doing = Doing::Messages;
        let mut turn = self.work::<AT_HOME>(most, handled, last);
        if turn == Turn::Stop && self.context.here().is_stopping() {
            turn = self.stopped_itself();
        }
        self.doing = Doing::Nothing;
        #[cfg(all(test, tamtam_loom))]
        if self.has(State::PANICKED) {
            let state = self.context.here().cell().state();
            state.clear(State::PANICKED | State::STOPPING);
            return self.decide(EndReason::Panicked(Arc::from("a model")));
        }
        turn
    }

    #[inline]
    fn work<const AT_HOME: bool>(
        &mut self,
        most: u32,
        handled: &mut u32,
        last: Option<Mark>,
    ) -> Turn {
        let mut plan = TurnPlan {
            most,
            mark: last,
            counted: 0,
            is_own: false,
            straight: 0,
            next_look: FIRST_LOOK,
            began: None,
        };
        if !self.started
            && let Some(turn) = self.begin(handled, &mut plan)
        {
            return turn;
        }
        if AT_HOME && last.is_none() && self.actor.is_some() {
            plan.counted = self.context.here().cell().own_messages() as usize;
            plan.is_own = plan.counted != 0;
            // Mostly it is one.
            plan.straight = most.min(*handled + u32::from(plan.is_own));
        }
        if !plan.is_own {
            // What comes meanwhile is for another turn. Who handled it as it comes, from a sender on another core,
            // would have every message brought from there by itself, and two actors that work for a third one would
            // keep up with each other step by step.
            plan.mark = Some(last.unwrap_or_else(|| self.mark()));
            plan.counted = self.context.here().cell().counted();
        }
        'messages: loop {
            let mut place = MaybeUninit::uninit();
            let taking = 'found: {
                if AT_HOME && plan.is_own && self.context.here().cell().is_as_usual() {
                    if *handled < plan.straight {
                        plan.counted -= 1;
                        // SAFETY: so many are in the lane at least, and this is the cell's turn.
                        break 'found unsafe { self.context.here().cell().take_own() };
                    }
                    if plan.counted == 0 && self.context.here().cell().is_in_own_turn() {
                        return Turn::Done;
                    }
                }
                match self.look::<AT_HOME>(&mut plan, handled, &mut place) {
                    NextLook::Message(taking) => taking,
                    NextLook::Woken => continue 'messages,
                    NextLook::Over(turn) => return turn,
                }
            };
            let Some((actor, context)) = self.parts() else {
                unreachable!("no message is taken where there is no actor");
            };
            // SAFETY: it was found just now, in this turn.
            let (message, _emptied) = unsafe { taking.take() };
            actor.handle(message, context);
            *handled += 1;
        }
    }

    /// Looks for the next message of a turn, and at all that may keep the actor from it.
    #[inline(always)]
    fn look<const AT_HOME: bool>(
        &mut self,
        plan: &mut TurnPlan,
        handled: &mut u32,
        place: &mut MaybeUninit<A::Message>,
    ) -> NextLook<A::Message> {
        if self.context.here().is_stopping() {
            return NextLook::Over(Turn::Stop);
        }
        if self.context.here().cell().has_system() {
            match self.attend_to_system(handled, plan) {
                AfterSystem::Stop => return NextLook::Over(Turn::Stop),
                AfterSystem::TurnIsOver => return NextLook::Over(Turn::More),
                AfterSystem::GoOn => {}
            }
        }
        if self.actor.is_none() {
            return NextLook::Over(self.without_actor());
        }
        let context = &mut self.context;
        let mark = *plan
            .mark
            .get_or_insert_with(|| context.here().cell().mark());
        if plan.counted == 0 && context.here().is_at(mark) {
            return NextLook::Over(Turn::Done);
        }
        if *handled >= plan.most {
            return NextLook::Over(Turn::More);
        }
        if context.here().cell().state().has(State::WAITS) && context.here().is_to_wait() {
            return NextLook::Over(Turn::Park);
        }
        if self.is_time_over(*handled, plan) {
            return NextLook::Over(Turn::More);
        }
        if AT_HOME && plan.is_own {
            plan.go_straight(*handled);
        }
        let context = &mut self.context;
        // One that is about to end takes all.
        let takes_counted = plan.counted != 0 || context.here().is_ending();
        // SAFETY: this is the cell's turn.
        let mut found = unsafe { context.here().cell().find::<AT_HOME>(takes_counted, place) };
        plan.counted = plan.counted.saturating_sub(1);
        let mut is_last = false;
        if let Popped::Empty = found
            && context.here().is_ending()
        {
            // An address that was there until now may have been used meanwhile.
            is_last = context.here().is_last();
            // SAFETY: this is the turn of the context's own cell.
            found = unsafe { context.here().cell().find::<AT_HOME>(true, place) };
        }
        match found {
            Popped::Message(taking) => NextLook::Message(taking),
            // Perhaps for what comes before messages.
            Popped::Woken => NextLook::Woken,
            Popped::Empty if is_last => {
                if context.awaits_nothing() {
                    context.here().note_last();
                    return NextLook::Over(Turn::Stop);
                }
                // No message will come, and what it awaits may never: so its home has to tell it that it closes.
                context.here().to_arc().be_told_of_close();
                NextLook::Over(Turn::Done)
            }
            Popped::Empty => NextLook::Over(Turn::Done),
        }
    }

    /// In a turn in which nothing was left: whether the actor may take what is [offered](Cell::offer) to it.
    #[cfg(feature = "serde")]
    pub(crate) fn is_free(&mut self) -> bool {
        let has_started = self.started;
        let cell = self.context.here().cell();
        has_started
            && !cell
                .state()
                .has(State::STOPPING | State::WAITS | State::PAUSED | State::ENDING)
            && !cell.has_system()
            && cell.has_reached_end()
    }

    /// Puts the next message of those that are offered to it, if there is one, where this turn finds it: into its mailbox. So all
    /// messages are handled by one call of the actor's handler, and the compiler puts that into the turn, as it does with what is
    /// called at one place only: with two of them a message in a ring took a sixth longer.
    #[cfg(feature = "serde")]
    pub(crate) fn take_offered(&mut self) -> bool {
        self.context.here().take_offered()
    }

    /// The instance has gone in the middle of a turn, or could not be made.
    #[cold]
    fn without_actor(&mut self) -> Turn {
        if self.has(State::PAUSED) {
            Turn::Park
        } else if self.birth.is_some() {
            Turn::More
        } else {
            Turn::Stop
        }
    }

    /// What becomes of an actor that ends for this reason.
    #[cold]
    fn decide(&mut self, why: EndReason) -> Turn {
        let now = self.context.now();
        let decision = match self.again() {
            None => Decision::End(why.clone()),
            Some(again) => again.policy.decide(why.clone(), now),
        };
        match decision {
            Decision::End(reason) => {
                self.context.here().cell().life().note(reason);
                return Turn::Stop;
            }
            Decision::Again(pause) if pause.is_zero() => {
                self.retire();
                return Turn::More;
            }
            Decision::Again(pause) => {
                self.retire();
                self.context.here().cell().state().set(State::PAUSED);
                let cell = self.context.here().to_arc();
                let place: Arc<dyn AnyActor> = Arc::clone(&cell) as Arc<dyn AnyActor>;
                if let Some(again) = self.again() {
                    again.pause = Some(Pause::new(&place, cell.time(), pause));
                }
            }
            Decision::Wait => {
                self.retire();
                self.context.here().cell().state().set(State::PAUSED);
                if let Some(again) = self.again() {
                    again.when_born = None;
                    if let Policy::Reported(report) = &again.policy {
                        report(why);
                    }
                }
            }
        }
        Turn::Park
    }

    /// Whether it has panicked at a message.
    pub(crate) fn is_at_message(&self) -> bool {
        self.doing == Doing::Messages
    }

    /// Of an actor that is parked: what it waits for, if it then goes on by itself.
    pub(crate) fn awaits(&mut self) -> Option<Awaits> {
        if self.has(State::PAUSED) {
            let again = self.again()?;
            // A time that is moved by hand may never come.
            let pause = again.pause.as_ref().filter(|pause| pause.is_by_system());
            return pause.map(|_| Awaits::Beginning);
        }
        (!self.has(State::HELD)).then_some(Awaits::Room)
    }

    /// The actor has stopped itself: whether it is begun again.
    #[cold]
    fn stopped_itself(&mut self) -> Turn {
        let again = self.again();
        if !again.is_some_and(|again| again.policy.restarts_after_stop()) {
            return Turn::Stop;
        }
        self.doing = Doing::Other;
        if let Some((actor, context)) = self.parts() {
            actor.stopped(context);
        }
        // That was the hook's one call.
        self.started = false;
        self.doing = Doing::Nothing;
        self.decide(EndReason::Stopped)
    }
}

/// What an actor that is parked waits for, to go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// Room for what it has sent.
    Room,
    /// The end of a pause, after which it is begun again.
    Beginning,
}

/// What makes an actor goes back to where it was, also if it panics.
struct BirthLent<'a, A: Actor> {
    place: &'a mut Option<Birth<A>>,
    birth: Option<Birth<A>>,
}

impl<A: Actor> Drop for BirthLent<'_, A> {
    fn drop(&mut self) {
        *self.place = self.birth.take();
    }
}

/// What comes before messages, and has not had its turn. If that is because of a panic, another instance may have to
/// see to it; what the old one was to go on with, that one will not.
struct RestOfSystem<M: Send + 'static> {
    /// It is the actor's turn, so the cell stays.
    cell: ManuallyDrop<Arc<Cell<M>>>,
    things: Things<System>,
}

impl<M: Send + 'static> Drop for RestOfSystem<M> {
    fn drop(&mut self) {
        let left = core::mem::take(&mut self.things);
        if !left.is_empty() {
            self.cell.put_back(left);
        }
    }
}

impl<A: Actor> Behavior<A::Message> for ActorRunner<A> {
    fn turn(&mut self) -> Turn {
        self.turn_of::<false>(self.limits.messages, &mut 0, None)
    }

    fn panicked(&mut self, why: EndReason) -> Turn {
        if self.doing == Doing::Messages {
            let message_type = core::any::type_name::<A::Message>();
            self.context
                .here()
                .cell()
                .note_lost(message_type, Loss::Panicked);
        }
        self.decide(why)
    }

    fn stopped(&mut self) {
        if self.doing != Doing::Nothing || !self.started {
            return;
        }
        if let Some((actor, context)) = self.parts() {
            actor.stopped(context);
        }
    }

    fn actor_type(&self) -> &'static str {
        core::any::type_name::<A>()
    }
}

/// What is for a turn, and how far that has got.
struct TurnPlan {
    /// So many messages are handled at most.
    most: u32,
    /// The youngest message that is for this turn; where messages are counted, that of those who woke the actor for them. If those in the
    /// lane are counted, not before it is asked for.
    mark: Option<Mark>,
    /// Where messages are counted, so many are still for this turn.
    counted: usize,
    /// Those in the lane are counted.
    is_own: bool,
    /// Until so many are handled, those in the lane are taken straight: without a look at what is seldom.
    straight: u32,
    /// When so many are handled the clock is looked at.
    next_look: u32,
    /// When that was done first.
    began: Option<Instant>,
}

impl TurnPlan {
    /// Lets the messages in the lane be taken straight until the turn looks at the clock next.
    #[inline(always)]
    fn go_straight(&mut self, handled: u32) {
        let all = handled.saturating_add(self.counted as u32);
        self.straight = self.next_look.min(all).min(self.most);
    }

    /// Looks at the clock, and says when to look next: whether the turn has lasted so many microseconds since the first look.
    #[inline]
    fn look_at_clock(&mut self, handled: u32, micros: u32) -> bool {
        self.next_look = next_look_at_clock(handled);
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        now - began >= Duration::from_micros(micros.into()) && began != now
    }
}

/// What becomes of a turn after what comes before messages.
enum AfterSystem {
    GoOn,
    /// Its budget is used up, or its time.
    TurnIsOver,
    /// The actor is to be stopped.
    Stop,
}

/// What a look for the next message of a turn has brought.
enum NextLook<M> {
    Message(Taking<M>),
    /// Something may be there that comes before messages.
    Woken,
    Over(Turn),
}

/// A turn looks at the clock when it has handled so many messages: not in one of a single message, since a look costs as much as one.
const FIRST_LOOK: u32 = 2;

/// How many messages a turn that has handled so many will have when it looks at the clock the next time: the longer it has gone well, the
/// more.
#[inline(always)]
fn next_look_at_clock(handled: u32) -> u32 {
    let next = (handled | 1).ilog2() + 1;
    1_u32.checked_shl(next).unwrap_or(u32::MAX)
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::{FIRST_LOOK, next_look_at_clock};

    #[test]
    fn a_turn_looks_at_the_clock_ever_more_seldom() {
        let looks = core::iter::successors(Some(FIRST_LOOK), |at| Some(next_look_at_clock(*at)));
        assert_eq!(looks.take(6).collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64]);
        // Several may have been handled since the last look.
        assert_eq!([3, 5, 9, 100].map(next_look_at_clock), [4, 8, 16, 128]);
        assert_eq!(next_look_at_clock(u32::MAX), u32::MAX);
    }
}
