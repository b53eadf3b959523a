//! What an address leads to: an actor with its mailbox.
//!
//! The sender that wakes an idle actor brings it to its home, once; the thread that runs its turn is alone with
//! it, until it has nothing to do and becomes idle by its last step. The protocol is that of the mailbox's queue;
//! the README.md of this crate tells it from the beginning.
//!
//! An actor that has stopped never becomes idle again: its queue stays as if a turn were under way, so no sender
//! brings it home any more. Those who send after it has closed, without knowing, take their messages out again.

use core::any::Any;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;
use std::sync::{Arc, Weak};
use std::time::Instant;

use tamtam_wait::seam::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use tamtam_wait::seam::{self, UnsafeCell};

use crate::ended::{EndReason, catch};
use crate::error::AskError;
use crate::id::{ActorId, forget_name};
use crate::mailbox::{
    DeadLetter, Downstream, Head, LaneLength, LimitedMailbox, Loss, Mute, Ruled, Seen, Special,
    Store, Tail, Things, Upstream, Urgent, tell_of,
};
use crate::observe::{Record, told};
use crate::task::{Acts, AtClose, Due, Home, Task, ThreadWait, TurnLimits};
use crate::time::Time;
use at_home::TurnMarks;
use owed::Owed;
use tamtam_wait::contain;

mod at_home;
mod at_work;
mod door;
mod dropped;
mod ending;
#[cfg(feature = "serde")]
mod far;
#[cfg(feature = "serde")]
mod far_room;
mod lifeline;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod mute;
#[cfg(feature = "serde")]
mod offered;
pub(crate) mod owed;
mod receiving;
mod sending;
mod state;
mod tie;
mod watches;

pub(crate) use at_work::{AnyActor, AtWork, Kind, Muted};
pub(crate) use door::Door;
pub(crate) use dropped::{dropping_for, why_dropped};
#[cfg(feature = "serde")]
pub use far::{AwaitedAnswer, Encode, FarActor, FarCell, KeptActor};
pub(crate) use lifeline::{Lifeline, WatchKey, Watched, Watcher};

pub(crate) use state::State;
#[cfg(feature = "serde")]
pub use tie::LinkTie;
pub(crate) use tie::{find, tie, untie};

/// What is called once, when something of an actor is done.
#[doc(hidden)]
#[cfg_attr(
    not(feature = "serde"),
    expect(
        unreachable_pub,
        reason = "a part of what links use, and there are none"
    )
)]
pub type Call = Box<dyn FnOnce() + Send>;

/// What an actor does in a turn, whatever its type is.
pub(crate) trait Behavior<M> {
    /// Whether it has all its turns on one thread, which may give it [own ones](at_home).
    fn is_at_home() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Handles some of what is in the mailbox.
    fn turn(&mut self) -> Turn
    where
        Self: Sized;

    /// A turn has ended by a panic, for which the actor is to end: what becomes of it.
    fn panicked(&mut self, why: EndReason) -> Turn;

    /// The actor is about to be dropped.
    fn stopped(&mut self);

    /// The type of the actor, for people to read.
    fn actor_type(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing was left.
    Done,
    /// There may be more.
    More,
    /// There may be more, but not before the actor is unparked.
    Park,
    /// The actor is to be stopped.
    Stop,
}

/// What an actor does with the answer to a question of its own.
pub(crate) trait Continuation: Send {
    /// `running` is the [`ActorRunner`](crate::runner::ActorRunner) of the actor that it is for.
    fn go_on(self: Box<Self>, running: &mut dyn Any);
}

/// What comes before messages.
pub(crate) enum System {
    Continue(Box<dyn Continuation>),
    Stop,
    /// Stop, for that reason.
    End(EndReason),
    /// Stop when what was accepted is handled, and accept no more.
    Finish,
    /// A pause is over; to be called when there is an instance to handle messages again.
    Resume(Option<Call>),
    /// Ends the instance, and pauses; to be called then.
    Suspend(Call),
    /// Look around.
    Look,
    /// An asker is owed the news that there is no answer; why is known when the panic has come to its end.
    Settle(Arc<Owed>),
    /// No address is left outside.
    Orphaned,
    /// What was taken before and did not get its turn: the oldest.
    Left(Things<System>),
}

/// How a sender waits for room.
enum Waits {
    /// Its message comes back.
    Not,
    /// On its thread, until then if it is given.
    Until(Option<Instant>, ThreadWait),
    /// Once it has sent; not at all if others wait for it.
    Muted(Option<Mute>),
}

/// No thread empties the closed mailbox. A sender that finds this empties it.
const UNDRAINED: u8 = 0;
/// A thread empties the closed mailbox.
const DRAINING: u8 = 1;
/// A message came while a thread emptied the mailbox; that thread must look once more before it goes.
const DRAIN_AGAIN: u8 = 2;

/// The actor gets turns as others do.
const UNPARKED: u8 = 0;
/// The actor gets no turn before this is changed.
const PARKED: u8 = 1;
/// The same, only because there is no room for what it has sent: its home knows of it.
const PARKED_MUTED: u8 = 2;

/// An actor with its mailbox.
///
/// What senders change with each message comes first, and what the thread that runs the actor looks at with each message
/// comes last: with more than 64 bytes in between they are on two cache lines, without filling up both.
#[repr(C)]
pub(crate) struct Cell<M> {
    tail: Tail<M>,
    /// No message is accepted any more.
    closed: AtomicBool,
    /// Whether a thread takes out what came to a closed mailbox, and whether there may be more since.
    draining: AtomicU8,
    /// The actor gets no turn until this is changed. Its queue stays as if it were at work.
    parked: AtomicU8,
    /// So many [`Muted`] there are.
    mutes: AtomicU32,
    /// Messages that were accepted and never handled, or dropped for want of room.
    lost: AtomicU64,
    /// How many addresses there are.
    addresses: AtomicUsize,
    /// What is out of the ordinary: messages may lie in there instead.
    special: Option<Box<Special<M>>>,
    home: Arc<dyn Home>,
    /// How this cell gets its turns: those of [`Inhabited`] by its actor. Kept here so that addresses need not know
    /// that messages may be sent to other threads: that was known where the cell was made.
    acts: &'static Acts,
    /// Gone once the actor has stopped. Of which type it is, `acts` know.
    behavior: UnsafeCell<Option<NonNull<()>>>,
    id: ActorId,
    life: Lifeline,
    /// What is out of the ordinary, for the one who takes messages: what is special lies where senders change things.
    marks: TurnMarks,
    seen: Seen,
    state: State,
    lane: LaneLength,
    urgent: Urgent<System>,
    head: Head<M>,
}

// SAFETY: the actor is used by the thread that runs the cell's turn only; where it may not leave a thread its
// home runs all turns there. The rest is made for several threads.
unsafe impl<M: Send> Send for Cell<M> {}
// SAFETY: what several threads reach (mailbox, urgent messages, counts) is made for that; the actor and the head are
// reached by the thread that runs the cell's turn only.
unsafe impl<M: Send> Sync for Cell<M> {}

/// A cell, for the actor that is in it.
pub(crate) struct Own<M>(NonNull<Cell<M>>);

impl<M> Own<M> {
    /// The cell, counted.
    pub(crate) fn to_arc(&self) -> Arc<Cell<M>> {
        Arc::clone(&self.uncounted())
    }

    /// The cell, not counted.
    pub(crate) fn uncounted(&self) -> ManuallyDrop<Arc<Cell<M>>> {
        // SAFETY: the cell came from an `Arc`, and lives as long as the actor in it; what is made here is not dropped.
        ManuallyDrop::new(unsafe { Arc::from_raw(self.0.as_ptr()) })
    }
}

impl<M> Deref for Own<M> {
    type Target = Cell<M>;

    #[inline(always)]
    fn deref(&self) -> &Cell<M> {
        // SAFETY: the cell lives as long as the actor in it.
        unsafe { self.0.as_ref() }
    }
}

impl<M: Send + 'static> Cell<M> {
    /// A cell with one address.
    ///
    /// # Safety
    ///
    /// The behaviour may be used and dropped on each thread on which its home runs or abandons tasks.
    pub(crate) unsafe fn new<B: Behavior<M> + 'static>(
        home: Arc<dyn Home>,
        mailbox: Ruled<M>,
        behavior: impl FnOnce(Own<M>) -> B,
    ) -> Arc<Self> {
        let id = ActorId::next();
        let message_type = core::any::type_name::<M>();
        let record = home
            .ledger()
            .map(|ledger| Record::new(id, message_type, ledger, home.is_for_blocking()));
        let special = Special::new(mailbox, record);
        // SAFETY: what the caller promises of the behaviour is what is asked for.
        unsafe { Self::inhabited(id, home, special, 1, behavior) }
    }

    /// A cell with one address, whose messages are taken by something else than the actor in it.
    ///
    /// # Safety
    ///
    /// As for `new`.
    pub(crate) unsafe fn relayed<B: Behavior<M> + 'static>(
        home: Arc<dyn Home>,
        mailbox: Ruled<M>,
        downstream: Arc<dyn Downstream>,
        behavior: impl FnOnce(Own<M>) -> B,
    ) -> Arc<Self> {
        let id = ActorId::next();
        let record = home.ledger().map(|ledger| {
            let message_type = downstream.message_type();
            Record::new(id, message_type, ledger, home.is_for_blocking())
        });
        let special = Special::relayed(mailbox, record, downstream);
        // SAFETY: what the caller promises of the behaviour is what is asked for.
        unsafe { Self::inhabited(id, home, Some(special), 1, behavior) }
    }

    /// A cell without an address, which takes its messages from another one. Both are the same actor to all others.
    ///
    /// # Safety
    ///
    /// As for `new`.
    pub(crate) unsafe fn instance<B: Behavior<M> + 'static>(
        id: ActorId,
        home: Arc<dyn Home>,
        upstream: Arc<dyn Upstream<M>>,
        behavior: impl FnOnce(Own<M>) -> B,
    ) -> Arc<Self> {
        let special = Special::upstream(upstream);
        // SAFETY: what the caller promises of the behaviour is what is asked for.
        unsafe { Self::inhabited(id, home, Some(special), 0, behavior) }
    }

    /// # Safety
    ///
    /// As for `new`.
    #[inline(always)]
    unsafe fn inhabited<B: Behavior<M> + 'static>(
        id: ActorId,
        home: Arc<dyn Home>,
        special: Option<Box<Special<M>>>,
        addresses: usize,
        behavior: impl FnOnce(Own<M>) -> B,
    ) -> Arc<Self> {
        let is_special = special.is_some();
        let cell = Arc::new(Cell {
            tail: Tail::new(),
            closed: AtomicBool::new(false),
            draining: AtomicU8::new(UNDRAINED),
            parked: AtomicU8::new(UNPARKED),
            mutes: AtomicU32::new(0),
            lost: AtomicU64::new(0),
            addresses: AtomicUsize::new(addresses),
            special,
            home,
            acts: Inhabited::<M, B>::ACTS,
            behavior: UnsafeCell::new(None),
            id,
            life: Lifeline::new(),
            marks: TurnMarks::new(is_special),
            seen: Seen::new(),
            state: State::new(),
            lane: LaneLength::new(),
            urgent: Urgent::new(),
            head: Head::new(),
        });
        let own = Own(Self::location(&cell));
        let behavior = Box::new(behavior(own));
        if let Some(record) = cell.record() {
            record.begin(behavior.actor_type());
        }
        if addresses != 0 {
            // Otherwise the birth was told when the cell was made to which others send.
            told::born(
                id,
                behavior.actor_type(),
                cell.record().map(|record| &**record),
            );
        }
        // SAFETY: no other thread has the cell yet.
        cell.behavior
            .with_mut(|place| unsafe { *place = Some(NonNull::from(Box::leak(behavior)).cast()) });
        // The actor's own reference, until it stops.
        core::mem::forget(Arc::clone(&cell));
        cell
    }
}

impl<M> Cell<M> {
    // ------------------------------------------------------------------------------- addresses

    /// One more address; `true` if there was none, and the cell is to be counted for all of them.
    #[inline]
    pub(crate) fn add_address(&self) -> bool {
        let before = self.addresses.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // Only by leaking clones can one get here, and a panic could be caught and repeated.
            std::process::abort();
        }
        before == 0
    }

    /// One more address, unless there is none any more.
    pub(crate) fn add_address_if_any(&self) -> bool {
        self.addresses
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |addresses| {
                (addresses != 0).then_some(addresses + 1)
            })
            .is_ok()
    }

    /// One address less; `true` if it was the last one, and the cell is no longer to be counted for them.
    #[inline]
    pub(crate) fn remove_address(self: &Arc<Self>) -> bool {
        // SYNC cell-addresses: what others did through theirs.
        let was_last = self.addresses.fetch_sub(1, Ordering::AcqRel) == 1;
        if was_last && !self.is_closed() {
            self.push_system(System::Orphaned);
        }
        was_last
    }

    pub(crate) fn has_addresses(&self) -> bool {
        // SYNC cell-addresses
        self.addresses.load(Ordering::Acquire) != 0
            || self.upstream().is_some_and(|others| others.has_addresses())
    }

    // ----------------------------------------------------------------------------------- parts

    /// The cell to which others send, if that is not this one.
    pub(crate) fn upstream(&self) -> Option<&Arc<dyn Upstream<M>>> {
        match &self.special.as_ref()?.store {
            Store::Upstream(upstream) => Some(upstream),
            Store::Queue | Store::Limited(_) => None,
        }
    }

    /// What takes the messages, if that is not the actor in this cell.
    fn downstream(&self) -> Option<&Arc<dyn Downstream>> {
        self.special.as_ref()?.downstream.as_ref()
    }

    /// Whether another cell is this actor by now.
    pub(crate) fn is_replaced(&self) -> bool {
        self.marks.is_special() && self.upstream().is_some_and(|others| others.is_replaced())
    }

    /// The message that was taken has been handled, and something else is to be done: `false` if another cell is this actor
    /// by now.
    #[inline]
    pub(crate) fn goes_on(&self) -> bool {
        !self.marks.is_special() || self.upstream().is_none_or(|others| others.goes_on())
    }

    /// The name that the actor was given, if any.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        match self.upstream() {
            Some(upstream) => upstream.name(),
            None => self.life.name(),
        }
    }

    /// The type of the messages, for people to read.
    pub(crate) fn message_type(&self) -> &'static str {
        match self.downstream() {
            Some(downstream) => downstream.message_type(),
            None => core::any::type_name::<M>(),
        }
    }

    /// The mailbox, for a cell that takes its messages from there.
    pub(crate) fn to_take_from(&self) -> Option<&dyn LimitedMailbox<M>> {
        self.limited()
    }

    /// Where the actor has its turns.
    pub(crate) fn home(&self) -> &Arc<dyn Home> {
        &self.home
    }

    /// Gives the actor a turn for a message that lies elsewhere.
    pub(crate) fn wake(self: &Arc<Self>) {
        self.sent(self.tail.wake());
    }

    /// The time by which the actor lives.
    pub(crate) fn time(&self) -> &Time {
        self.home.time()
    }

    /// A message of this type was lost, or will be in a moment.
    pub(crate) fn note_lost(&self, message_type: &'static str, why: Loss) {
        if let Some(upstream) = self.upstream() {
            return upstream.note_lost(message_type, why);
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
        if let Some(record) = self.record() {
            record.count_lost();
        }
        told::lost(self.id, message_type);
        tell_of(|| DeadLetter {
            actor: self.id(),
            name: self.name(),
            message_type,
            why,
            bytes: None,
        });
    }

    /// Loses a message: user code runs, which may panic.
    fn lose(&self, message: M, why: Loss) {
        self.note_lost(self.message_type(), why);
        let undelivered = self
            .special
            .as_ref()
            .and_then(|special| special.undelivered.as_ref());
        let lose = move || match undelivered {
            Some(undelivered) => drop(contain(move || undelivered(message, why))),
            None => drop(message),
        };
        match why {
            Loss::DroppedNewest | Loss::DroppedOldest | Loss::Replaced => {
                dropping_for(AskError::Dropped(self.id), lose);
            }
            _ => lose(),
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Sets the count of lost messages, for tests that begin near a wrap.
    #[cfg(all(test, not(tamtam_loom)))]
    pub(crate) fn assume_lost(&self, count: u64) {
        self.lost.store(count, Ordering::Relaxed);
    }

    // ----------------------------------------------------------------------------------- turns

    pub(crate) fn id(&self) -> ActorId {
        self.id
    }

    #[inline]
    pub(crate) fn life(&self) -> &Lifeline {
        &self.life
    }

    /// Accepts no more messages; those that were are still handled. In the actor's turn only.
    pub(crate) fn close(&self) {
        if self.is_closed() {
            return;
        }
        // Who sends without knowing is not to empty the mailbox: the actor does. Those who see that it is closed
        // see this.
        self.draining.store(DRAINING, Ordering::Relaxed);
        // SYNC cell-closed
        self.closed.store(true, Ordering::SeqCst);
        seam::model_fence();
        if let Some(limited) = self.limited() {
            limited.close();
        }
        if let Some(upstream) = self.upstream() {
            upstream.close();
        }
    }

    /// Whether nothing was sent behind the message that was taken last.
    pub(crate) fn has_reached_end(&self) -> bool {
        self.lane.get() == 0 && self.head.has_reached_end(&self.tail)
    }

    pub(crate) fn turn_limits(&self) -> TurnLimits {
        self.home.turn_limits()
    }

    /// What the one who is at work says of itself.
    #[inline(always)]
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Whether no sender waits for room that this actor has used up.
    pub(crate) fn is_unmuted(&self) -> bool {
        // SYNC cell-parked
        self.mutes.load(Ordering::SeqCst) == 0
    }
}

impl<M> Drop for Cell<M> {
    fn drop(&mut self) {
        if self.life.has_name() {
            forget_name(self.id);
        }
        // No reference is left, and an actor that has stopped was drained by the last sender. But a home may go
        // without running or abandoning what is due.
        // SAFETY: the cell is being dropped, so no other thread has it: nothing is sent, and nothing else is at the head.
        while let Some(message) = unsafe {
            self.pop_own()
                .or_else(|| self.head.take_left(&self.tail, &self.seen))
        } {
            contain(|| self.lose(message, Loss::Stopped));
        }
        while let Some(message) = self.limited().and_then(LimitedMailbox::pop) {
            contain(|| self.lose(message, Loss::Stopped));
        }
        // SAFETY: the cell is being dropped, no other thread has it, and `take_left` has said that nothing is left.
        unsafe { self.head.free(&self.tail) };
        // The user's closures: on the thread of a home a panic in their drop would end that.
        let special = self.special.take();
        contain(move || drop(special));
    }
}

impl<M: Send + 'static> Cell<M> {
    /// What others do with it who do not know its type.
    const KIND: &'static Kind = &Kind {
        // SAFETY: what is asked of the caller is what `AtWork::begin` asks for.
        place: |this| unsafe {
            let this = this.cast::<Self>();
            Arc::increment_strong_count(this.as_ptr());
            Arc::from_raw(this.as_ptr())
        },
    };

    /// Sees to it that the actor ends when its home closes, even if nothing is sent to it.
    pub(crate) fn be_told_of_close(self: &Arc<Self>) {
        if self.life.is_news() {
            let cell: Weak<dyn AtClose> = Arc::downgrade(self) as _;
            self.home.remember(cell);
        }
    }

    /// Parks the actor: it gets its next turn from the thread that unparks it.
    ///
    /// # Safety
    ///
    /// This is the cell's turn, and its end; as far as the caller is concerned, nothing of the cell is used
    /// afterwards.
    #[cold]
    unsafe fn park(this: NonNull<Self>) {
        // From the next step on another thread may give the actor its turn, and its end with it.
        // SAFETY: it lives until its own reference is given up.
        let cell = unsafe {
            Arc::increment_strong_count(this.as_ptr());
            Arc::from_raw(this.as_ptr())
        };
        let is_held = cell.state.has(State::HELD | State::PAUSED);
        // Perhaps for ever: so its home has to tell it that it closes, or its mail would be lost in silence.
        cell.be_told_of_close();
        let how = if is_held {
            PARKED
        } else {
            // Before it can be unparked, which takes it back.
            cell.home.note_muted();
            PARKED_MUTED
        };
        // SYNC cell-parked
        cell.parked.store(how, Ordering::SeqCst);
        seam::model_fence();
        // What came between the turn's last look and this step has not unparked it.
        if cell.has_system() || (!is_held && cell.is_unmuted()) {
            cell.unpark();
        }
    }
}

impl<M: Send + 'static> AtClose for Cell<M> {
    fn close(self: Arc<Self>) -> bool {
        if self.life.has_ended() {
            return false;
        }
        let before = self.lost();
        // Not only a look: an actor in its last turn would take that there, and be parked with its mail for ever.
        Arc::clone(&self).push_system(System::End(EndReason::HomeEnded));
        self.life.has_ended() && self.lost() != before
    }
}

impl<M: Send + 'static> AnyActor for Cell<M> {
    fn id(&self) -> ActorId {
        self.id
    }

    fn message_type(&self) -> &'static str {
        Cell::message_type(self)
    }

    fn name(&self) -> Option<Arc<str>> {
        Cell::name(self)
    }

    fn replace(&self) -> bool {
        self.downstream()
            .is_some_and(|downstream| downstream.replace())
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        Cell::begin_wait(self)
    }

    fn mute(&self) {
        self.mutes.fetch_add(1, Ordering::Relaxed);
        self.state.set(State::MUTED);
    }

    fn unmute(self: Arc<Self>) {
        // SYNC cell-parked
        if self.mutes.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.unpark();
        }
    }

    fn life(&self) -> &Lifeline {
        &self.life
    }

    fn watch(self: Arc<Self>, key: WatchKey, watcher: Watcher) {
        match self.life.add_watcher(key, watcher) {
            Ok(()) => self.be_told_of_close(),
            Err((reason, watcher)) => watcher(&self.ended(reason)),
        }
    }

    fn send(self: Arc<Self>, system: System) {
        self.push_system(system);
    }
}

/// A cell with an actor of this type in it.
///
/// Who runs its turn knows the type, so that a turn is one call through a pointer, not two.
#[repr(transparent)]
struct Inhabited<M, B> {
    cell: Cell<M>,
    behavior: PhantomData<B>,
}

impl<M: Send + 'static, B: Behavior<M> + 'static> Due for Inhabited<M, B> {
    #[inline]
    unsafe fn run(this: NonNull<Self>) {
        let this = this.cast::<Cell<M>>();
        // SAFETY: it lives until its turn has ended.
        let cell = unsafe { this.as_ref() };
        // SAFETY: `this` is a cell of `M`, and lives until its turn has ended, which is after `at_work` is dropped.
        let at_work = unsafe { AtWork::begin(this.cast(), Cell::<M>::KIND) };
        let is_own = B::is_at_home() && cell.marks.is_own_turn();
        let turn = cell.behavior.with_mut(|place| {
            if B::is_at_home() && cell.marks.has_stopped() {
                return Turn::Stop;
            }
            // SAFETY: this is the cell's turn: no other thread touches the actor.
            let Some(behavior) = (unsafe { *place }) else {
                unreachable!("an actor that has stopped is not due");
            };
            // SAFETY: this is the cell's turn: no other thread touches the actor; and it is a `B`, since the acts are those
            // of `B`.
            let behavior = unsafe { behavior.cast::<B>().as_mut() };
            // The one call of it: so the compiler puts the turn here, and the handler into that.
            match catch(|| {
                let _measured = match cell.marks.is_special() {
                    false => None,
                    true => cell.measure_special(),
                };
                behavior.turn()
            }) {
                Ok(turn) => turn,
                Err(why) => cell.after_panic(behavior, why),
            }
        });
        drop(at_work);
        let turn = if is_own {
            match cell.after_own_turn(turn) {
                Some(turn) => turn,
                None => return,
            }
        } else {
            turn
        };
        let has_more = match turn {
            // SAFETY: still the cell's turn. If it ends here, the cell may be gone.
            Turn::Done => !(cell.has_none_counted() && unsafe { cell.head.rest(&cell.tail) }),
            Turn::More => true,
            // SAFETY: this is still the cell's turn, which ends by this call; `cell` is not used afterwards.
            Turn::Park => return unsafe { Cell::park(this) },
            Turn::Stop => {
                let reason = if cell.state.has(State::ALONE) {
                    EndReason::NoAddresses
                } else {
                    EndReason::Stopped
                };
                // SAFETY: this is still the cell's turn, the actor in it is one of those that `boxed` takes, and nothing of the cell is
                // used afterwards.
                return unsafe { Cell::bury(this, reason, Self::boxed) };
            }
        };
        if has_more {
            // SAFETY: a turn that ends with more to do is another one to come, and until then the cell stays.
            let task = unsafe { Task::new(this.cast(), cell.acts) };
            cell.home.schedule_again(task);
        }
    }

    unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: this would have been the cell's turn, and the actor in it is one of those that `boxed` takes.
        unsafe { Cell::bury(this.cast(), EndReason::HomeEnded, Self::boxed) };
    }
}

impl<M, B: Behavior<M> + 'static> Inhabited<M, B> {
    /// The actor out of such a cell.
    ///
    /// # Safety
    ///
    /// It is a `B` that lies in a box of its own, and nothing else uses it from now on.
    unsafe fn boxed(behavior: NonNull<()>) -> Box<dyn Behavior<M>> {
        // SAFETY: a box's own, of this type, by the caller's promise.
        unsafe { Box::from_raw(behavior.cast::<B>().as_ptr()) }
    }
}
