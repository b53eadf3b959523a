//! Which instance of a replaceable actor is the present one, and what it is at.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use tamtam_wait::contain;
use tamtam_wait::seam::{Mutex, MutexGuard};

use crate::address::{Address, Counted, Envelope};
use crate::cell::{AnyActor, Cell, System};
use crate::ended::EndReason;
use crate::error::AskError;
use crate::mailbox::{Downstream, LimitedMailbox, Loss, Upstream};
use crate::observe::told;
use crate::reply::AskedBy;
use crate::task::{Left, ThreadTurn};
use crate::time::{Alarm, Key, Time, elsewhere};

/// So many askers are noted before those are forgotten that have their answers.
const ASKERS_UNSEARCHED: usize = 16;

/// What the public cell of a replaceable actor, its instances, and those who replace them have in common.
pub(super) struct Succession<M> {
    state: Mutex<SuccessionState<M>>,
    /// The cell to which others send, as soon as it is there.
    public: OnceLock<Weak<Cell<Envelope<M>>>>,
    /// How long a turn may last.
    limit: Option<Duration>,
}

struct SuccessionState<M> {
    /// The number of the present instance, or of the next one if there is none: all others were replaced.
    number: u64,
    /// How many turns there were, of all instances.
    turns: u64,
    stage: InstanceStage<M>,
    /// The timer that looks after the turn, if one is set.
    guard: Option<Key>,
}

enum InstanceStage<M> {
    /// There is no instance: the foreman makes one, unless the actor is to stop.
    Vacant,
    Present(Present<M>),
    /// The instance has ended by itself, and the actor with it.
    Ended(EndReason),
}

/// What is known of the present instance.
struct Present<M> {
    cell: Arc<Cell<M>>,
    /// The turn that it is in.
    turn: Option<InstanceTurn>,
    /// It has taken a message, and not come back from it.
    is_handling: bool,
    /// It is in its last turn: no other one follows it.
    is_ending: bool,
    /// Who has asked it and may be without an answer.
    asked_by: Vec<AskedBy>,
    /// When there are more, those that have their answers are forgotten.
    most_asked_by: usize,
}

struct InstanceTurn {
    number: u64,
    /// `None` if its thread cannot be left behind.
    thread: Option<ThreadTurn>,
    /// When it began, if that matters.
    began: Option<Instant>,
}

/// What the foreman finds.
pub(super) enum Found<M> {
    /// No instance: the one that is made now has this number.
    Vacant(u64),
    Present(Arc<Cell<M>>),
    Ended(EndReason),
}

impl<M> Present<M> {
    fn note_asker(&mut self, asked_by: &AskedBy) {
        if self.asked_by.len() >= self.most_asked_by {
            self.asked_by.retain(|other| other.strong_count() != 0);
            self.most_asked_by = ASKERS_UNSEARCHED.max(2 * self.asked_by.len());
        }
        self.asked_by.push(AskedBy::clone(asked_by));
    }
}

impl<M> SuccessionState<M> {
    /// What is known of the instance with this number, if it is the present one.
    fn present(&mut self, number: u64) -> Option<&mut Present<M>> {
        match &mut self.stage {
            InstanceStage::Present(present) if self.number == number => Some(present),
            _ => None,
        }
    }
}

impl<M: Send + 'static> Succession<M> {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Succession {
            state: Mutex::new(SuccessionState {
                number: 0,
                turns: 0,
                stage: InstanceStage::Vacant,
                guard: None,
            }),
            public: OnceLock::new(),
            limit,
        }
    }

    /// The cell to which others send is there.
    pub(super) fn begin(&self, public: &Arc<Cell<Envelope<M>>>) {
        let is_first = self.public.set(Arc::downgrade(public)).is_ok();
        debug_assert!(is_first, "an actor has one public cell");
    }

    fn public(&self) -> Option<Arc<Cell<Envelope<M>>>> {
        self.public.get()?.upgrade()
    }

    /// No user code runs under the lock.
    fn lock(&self) -> MutexGuard<'_, SuccessionState<M>> {
        self.state.lock()
    }

    pub(super) fn look(&self) -> Found<M> {
        let state = self.lock();
        match &state.stage {
            InstanceStage::Vacant => Found::Vacant(state.number),
            InstanceStage::Present(present) => Found::Present(Arc::clone(&present.cell)),
            InstanceStage::Ended(reason) => Found::Ended(reason.clone()),
        }
    }

    /// There is an instance, with the number that was found.
    pub(super) fn settle(&self, cell: &Arc<Cell<M>>) {
        let mut state = self.lock();
        state.stage = InstanceStage::Present(Present {
            cell: Arc::clone(cell),
            turn: None,
            is_handling: false,
            is_ending: false,
            asked_by: Vec::new(),
            most_asked_by: ASKERS_UNSEARCHED,
        });
    }

    /// An instance has ended. If it is the present one, so does the actor.
    fn note_end(&self, number: u64, public: &Arc<Cell<Envelope<M>>>, reason: EndReason) {
        let (gone, long) = {
            let mut state = self.lock();
            let Some(present) = state.present(number) else {
                return;
            };
            let long = present.turn.take().and_then(|_| end_measure(public));
            (
                core::mem::replace(&mut state.stage, InstanceStage::Ended(reason)),
                long,
            )
        };
        drop(gone);
        tell_of_long_turn(public, long);
        public.push_system(System::Look);
    }

    /// The public cell has ended: no instance follows, and no timer is to look after turns any more.
    pub(super) fn close(&self, time: &Time) {
        let guard = {
            let mut state = self.lock();
            if let InstanceStage::Vacant = state.stage {
                state.stage = InstanceStage::Ended(EndReason::Stopped);
            }
            state.guard.take()
        };
        if let Some(guard) = guard {
            time.remove(guard);
        }
    }

    /// Replaces the present instance; if a turn is given, only as long as it is in that one.
    fn replace_in(&self, turn: Option<u64>) -> bool {
        let Some(public) = self.public() else {
            return false;
        };
        let (gone, left, long) = {
            let mut state = self.lock();
            let present = match &mut state.stage {
                InstanceStage::Present(present) => present,
                // Another one is about to come, unless the actor is to stop.
                InstanceStage::Vacant => return true,
                InstanceStage::Ended(_) => return false,
            };
            let at = present.turn.as_ref();
            if turn.is_some() && turn != at.map(|at| at.number) {
                return false;
            }
            let left = match at.map(|at| at.thread) {
                None => None,
                Some(None) => return false,
                Some(Some(thread)) => match public.home().leave_behind(thread) {
                    Left::Behind(done) => Some(done),
                    Left::Over => None,
                    Left::Refused => return false,
                },
            };
            let long = at.is_some().then(|| end_measure(&public)).flatten();
            let next = match present.is_ending {
                true => InstanceStage::Ended(reason_of_end(&present.cell, &public)),
                false => InstanceStage::Vacant,
            };
            // What the instance takes or says from now on is not of this actor.
            state.number += 1;
            if let Some(record) = public.record() {
                record.count_restart();
            }
            (core::mem::replace(&mut state.stage, next), left, long)
        };
        let InstanceStage::Present(gone) = gone else {
            unreachable!("it was there under the lock");
        };
        // What it was to go on with is dropped; then it ends, as soon as it comes back.
        drop(gone.cell.take_system());
        gone.cell.push_system(System::Stop);
        tell_of_long_turn(&public, long);
        told::replaced(
            public.id(),
            public.message_type(),
            public.name(),
            left.is_some(),
        );
        if gone.is_handling {
            public.note_lost(public.message_type(), Loss::Hung);
        }
        for asked_by in gone.asked_by {
            let why = AskError::Hung(public.id());
            if let Some(asked) = asked_by.upgrade() {
                contain(move || asked.fail(why));
            }
        }
        drop(gone.cell);
        public.push_system(System::Look);
        if let Some(done) = left {
            done();
        }
        true
    }
}

/// Why an actor ends whose instance is in its last turn, and does not come to its end.
fn reason_of_end<M>(instance: &Cell<M>, public: &Cell<Envelope<M>>) -> EndReason {
    instance.life().noted().unwrap_or_else(|| {
        if public.has_addresses() {
            EndReason::Stopped
        } else {
            EndReason::NoAddresses
        }
    })
}

/// A turn that is measured ends. How long it has lasted, if it was a long one. Called under the lock of the succession: one at a
/// time may count.
fn end_measure<M>(public: &Cell<Envelope<M>>) -> Option<u64> {
    public.record()?.end_turn()
}

fn tell_of_long_turn<M>(public: &Cell<Envelope<M>>, long: Option<u64>) {
    if let Some(record) = public.record() {
        record.tell_of_long_turn(long);
    }
}

impl<M: Send + 'static> Downstream for Succession<M> {
    fn wake(&self) {
        let Found::Present(cell) = self.look() else {
            // The next instance looks by itself.
            return;
        };
        cell.wake();
    }

    fn replace(&self) -> bool {
        self.replace_in(None)
    }

    fn message_type(&self) -> &'static str {
        core::any::type_name::<M>()
    }
}

/// An instance's part in the succession: it takes messages as long as it is the present one.
pub(super) struct Part<M: Send + 'static> {
    succession: Arc<Succession<M>>,
    public: Arc<Cell<Envelope<M>>>,
    number: u64,
}

impl<M: Send + 'static> Part<M> {
    pub(super) fn new(
        succession: &Arc<Succession<M>>,
        public: &Arc<Cell<Envelope<M>>>,
        number: u64,
    ) -> Self {
        Part {
            succession: Arc::clone(succession),
            public: Arc::clone(public),
            number,
        }
    }

    /// A turn begins: `false` if the instance was replaced.
    pub(super) fn begin_turn(&self) -> bool {
        self.begin(false)
    }

    /// The last turn begins, of an instance that ends by itself. It lasts until the instance has ended.
    pub(super) fn begin_last_turn(&self) -> bool {
        self.begin(true)
    }

    fn begin(&self, is_ending: bool) -> bool {
        let home = self.public.home();
        let thread = home.turn_here();
        let began = self.succession.limit.map(|_| home.time().now());
        let mut state = self.succession.lock();
        let number = state.turns;
        let Some(present) = state.present(self.number) else {
            return false;
        };
        present.is_ending = is_ending;
        present.turn = Some(InstanceTurn {
            number,
            thread,
            began,
        });
        state.turns += 1;
        if let Some(record) = self.public.record() {
            record.begin_turn();
        }
        if let (Some(began), None) = (began, state.guard) {
            self.succession.set_guard(&mut state, home.time(), began);
        }
        true
    }

    /// The turn ends: `false` if the instance was replaced.
    pub(super) fn end_turn(&self) -> bool {
        let long = {
            let mut state = self.succession.lock();
            let Some(present) = state.present(self.number) else {
                return false;
            };
            present.turn = None;
            present.is_handling = false;
            end_measure(&self.public)
        };
        tell_of_long_turn(&self.public, long);
        true
    }

    /// The instance has ended.
    pub(super) fn note_end(&self, reason: EndReason) {
        self.succession.note_end(self.number, &self.public, reason);
    }
}

impl<M: Send + 'static> Upstream<M> for Part<M> {
    fn pop(&self) -> Option<M> {
        let limited = self.public.to_take_from()?;
        let took = {
            let mut state = self.succession.lock();
            let present = state.present(self.number)?;
            let took = limited.take();
            present.is_handling = took.message().is_some();
            if let Some(envelope) = took.message() {
                if let Some(asked_by) = &envelope.asked_by {
                    present.note_asker(asked_by);
                }
                if let Some(record) = self.public.record() {
                    record.count_taken();
                }
            }
            took
        };
        limited.finish(took).map(Envelope::open)
    }

    fn len(&self) -> usize {
        if self.is_replaced() {
            return 0;
        }
        self.public.to_take_from().map_or(0, LimitedMailbox::len)
    }

    fn rest(&self) -> bool {
        let mut state = self.succession.lock();
        match (state.present(self.number), self.public.to_take_from()) {
            (Some(_), Some(limited)) => limited.rest(),
            _ => true,
        }
    }

    fn is_replaced(&self) -> bool {
        self.succession.lock().present(self.number).is_none()
    }

    fn goes_on(&self) -> bool {
        let mut state = self.succession.lock();
        let present = state.present(self.number);
        present.map(|present| present.is_handling = false).is_some()
    }

    fn has_addresses(&self) -> bool {
        self.public.has_addresses()
    }

    fn close(&self) {
        if !self.is_replaced() {
            self.public.close();
        }
    }

    fn name(&self) -> Option<Arc<str>> {
        self.public.name()
    }

    fn note_lost(&self, message_type: &'static str, why: Loss) {
        // One that was replaced has no message: that was lost then.
        if self.goes_on() {
            self.public.note_lost(message_type, why);
        }
    }

    fn note_restart(&self) {
        let mut state = self.succession.lock();
        if let (Some(_), Some(record)) = (state.present(self.number), self.public.record()) {
            record.count_restart();
        }
    }

    fn address(&self) -> Box<dyn Any> {
        Box::new(Address::noting(Counted::another(&self.public)))
    }

    fn public(&self) -> Option<Box<dyn Any>> {
        let public = Arc::clone(&self.public) as Arc<dyn AnyActor>;
        (!self.is_replaced()).then(|| Box::new(public) as Box<dyn Any>)
    }
}

/// A timer that looks after the turn of an actor that is replaced when one lasts too long. It is set when a turn begins and it is not
/// set yet: so short turns cost a look at the clock, and no timer each.
struct Guard<M: Send + 'static>(Weak<Succession<M>>);

impl<M: Send + 'static> Succession<M> {
    /// Looks after the turn that has begun then. Called under the lock.
    fn set_guard(self: &Arc<Self>, state: &mut SuccessionState<M>, time: &Time, began: Instant) {
        let due = self.limit.and_then(|limit| began.checked_add(limit));
        state.guard = Some(time.set(due, None, Guard(Arc::downgrade(self))));
    }

    /// The timer is due. The turn that has lasted too long, if there is one.
    fn look_after(self: &Arc<Self>, time: &Time) -> Option<u64> {
        let now = time.now();
        let mut state = self.lock();
        state.guard = None;
        let InstanceStage::Present(present) = &state.stage else {
            return None;
        };
        let turn = present.turn.as_ref()?;
        let (number, began) = (turn.number, turn.began?);
        let limit = self.limit?;
        if now.saturating_duration_since(began) >= limit {
            // If it cannot be replaced now, perhaps later.
            self.set_guard(&mut state, time, now);
            return Some(number);
        }
        self.set_guard(&mut state, time, began);
        None
    }
}

impl<M: Send + 'static> Alarm for Guard<M> {
    fn ring(self, _: Key) {
        let Some(succession) = self.0.upgrade() else {
            return;
        };
        // This may be the clock's thread, and wakes others, who may be user code.
        elsewhere(succession, |succession| {
            let Some(public) = succession.public() else {
                return;
            };
            if let Some(turn) = succession.look_after(public.time()) {
                succession.replace_in(Some(turn));
            }
        });
    }
}
