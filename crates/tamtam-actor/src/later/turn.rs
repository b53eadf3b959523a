//! What an actor does later, in a turn of its own: `Context::after` and `Context::every`.

use core::marker::PhantomData;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};

use super::Stage;
use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{Cell, Continuation, System};
use crate::context::{Context, Here};
use crate::runner::ActorRunner;
use crate::time::{Alarm, Every, Key, Rhythm, Timer, Timers, elsewhere};

impl<A: Actor> Context<A> {
    /// Does something in a turn of this actor's own, before its messages, after this delay.
    ///
    /// The timer belongs to this actor: when the actor stops it ends at once, and `then` is dropped. Until `then` was
    /// called the timer counts as an address, so the actor does not stop for want of addresses before. Delays beyond
    /// all times are never over. An actor that [holds](Context::hold) has its timers' turns nevertheless.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, Context, Pool, Reply, Timer};
    ///
    /// /// Answers when no question has come for 20 ms.
    /// #[derive(Default)]
    /// struct Quiet {
    ///     asked: Vec<Reply<usize>>,
    ///     pause: Option<Timer>,
    /// }
    ///
    /// impl Actor for Quiet {
    ///     type Message = Reply<usize>;
    ///
    ///     fn handle(&mut self, reply: Reply<usize>, cx: &mut Context<Self>) {
    ///         self.asked.push(reply);
    ///         if let Some(pause) = self.pause.take() {
    ///             pause.cancel();
    ///         }
    ///         self.pause = Some(cx.after(Duration::from_millis(20), |this, _| {
    ///             let count = this.asked.len();
    ///             this.asked.drain(..).for_each(|reply| reply.send(count));
    ///         }));
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let quiet = pool.spawn(Quiet::default());
    /// assert_eq!(quiet.ask(|reply| reply)?, 1);
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    pub fn after(
        &mut self,
        delay: Duration,
        then: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    ) -> Timer {
        let due = self.now().checked_add(delay);
        let once = OnceTurn {
            then,
            address: self.here_ref().own_address(),
        };
        self.later(due, once)
    }

    /// Does something again and again, each time in a turn of this actor's own, before its messages.
    ///
    /// The timer belongs to this actor: when the actor stops it ends at once, and `then` is dropped. It does not count
    /// as an address: when there is no other one left it ends with the actor. It is never due again while a turn of
    /// it is under way or still to come.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, Context, Every, Pool, Reply, Timer};
    ///
    /// struct Clock {
    ///     ticks: Option<Timer>,
    ///     seen: u32,
    /// }
    ///
    /// impl Actor for Clock {
    ///     type Message = Reply<u32>;
    ///
    ///     fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
    ///         let mut reply = Some(reply);
    ///         let every = Every::rate(Duration::from_millis(2));
    ///         self.ticks = Some(cx.every(every, move |this, _| {
    ///             this.seen += 1;
    ///             if this.seen == 3 {
    ///                 this.ticks.take().map(|ticks| ticks.cancel());
    ///                 reply.take().map(|reply| reply.send(this.seen));
    ///             }
    ///         }));
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let clock = pool.spawn(Clock { ticks: None, seen: 0 });
    /// assert_eq!(clock.ask(|reply| reply)?, 3);
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    pub fn every(
        &mut self,
        every: Every,
        then: impl FnMut(&mut A, &mut Context<A>) + Send + 'static,
    ) -> Timer {
        let rhythm = Rhythm::new(every, self.now());
        self.later(rhythm.planned(), RepeatTurn { then, rhythm })
    }

    /// What time it is where this actor lives; a test may have it moved by hand, see
    /// [`Time::manual`](crate::Time::manual).
    #[must_use]
    pub fn now(&self) -> Instant {
        self.here_ref().now()
    }

    fn later<C: TimerCall<A>>(&mut self, due: Option<Instant>, call: C) -> Timer {
        let generation = self.generation();
        let here = self.here();
        let owner = here.timers_owner();
        let cell = here.to_arc();
        let time = here.cell().time();
        Timer::new(time.set(due, C::REPEATS, Some(owner), |key| {
            Arc::new(Later {
                cell,
                key,
                generation,
                stage: Mutex::new(Stage::Set(call)),
                missed: C::Missed::default(),
                actor: PhantomData,
            })
        }))
    }
}

impl<M: Send + 'static> Here<M> {
    /// What time it is where this actor lives; a test may have it moved by hand, see
    /// [`Time::manual`](crate::Time::manual).
    #[must_use]
    pub fn now(&self) -> Instant {
        self.cell().time().now()
    }

    /// The key of the owner of this actor's timers.
    pub(super) fn timers_owner(&mut self) -> Key {
        if let Some(timers) = &self.timers {
            return timers.owner();
        }
        let timers = Timers::new(self.cell().time());
        self.timers.insert(Box::new(timers)).owner()
    }
}

/// What is done when a timer of an actor is due.
trait TimerCall<A: Actor>: Sized + Send + 'static {
    /// Whether it is done more than once.
    const REPEATS: bool;

    /// How often it was left out, if it may be.
    type Missed: Missed;

    /// Does it. If it is to be done again, then when, and how often it was missed.
    fn call(self, actor: &mut A, context: &mut Context<A>) -> Option<PlannedTurn<Self>>;
}

/// A count for those who may be left out; nothing for the others, of whom there may be a million.
trait Missed: Default + Send + Sync + 'static {
    fn add(&self, more: u64);
    fn get(&self) -> u64;
}

impl Missed for () {
    fn add(&self, _: u64) {}

    fn get(&self) -> u64 {
        0
    }
}

impl Missed for AtomicU64 {
    fn add(&self, more: u64) {
        self.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

/// What is to be done again, when, and how often it was missed.
struct PlannedTurn<C> {
    call: C,
    due: Option<Instant>,
    missed: u64,
}

struct OnceTurn<M, F> {
    then: F,
    /// Keeps the actor from stopping for want of addresses.
    address: Address<M>,
}

impl<A, F> TimerCall<A> for OnceTurn<A::Message, F>
where
    A: Actor,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    const REPEATS: bool = false;
    type Missed = ();

    fn call(self, actor: &mut A, context: &mut Context<A>) -> Option<PlannedTurn<Self>> {
        (self.then)(actor, context);
        // Not before: it may have set the next one.
        drop(self.address);
        None
    }
}

struct RepeatTurn<F> {
    then: F,
    rhythm: Rhythm,
}

impl<A, F> TimerCall<A> for RepeatTurn<F>
where
    A: Actor,
    F: FnMut(&mut A, &mut Context<A>) + Send + 'static,
{
    const REPEATS: bool = true;
    type Missed = AtomicU64;

    fn call(mut self, actor: &mut A, context: &mut Context<A>) -> Option<PlannedTurn<Self>> {
        (self.then)(actor, context);
        let missed = self.rhythm.plan(context.now());
        Some(PlannedTurn {
            due: self.rhythm.planned(),
            missed,
            call: self,
        })
    }
}

/// A timer of an actor.
struct Later<A: Actor, C: TimerCall<A>> {
    cell: Arc<Cell<A::Message>>,
    key: Key,
    /// Of the actor that has set it: one that is begun again meanwhile is not called.
    generation: u32,
    /// The one that takes it from here has it: the turn, or the thread that cancels it.
    stage: Mutex<Stage<C>>,
    missed: C::Missed,
    actor: PhantomData<fn(A)>,
}

impl<A: Actor, C: TimerCall<A>> Alarm for Later<A, C> {
    fn ring(self: Arc<Self>) {
        let cell = Arc::clone(&self.cell);
        let knock = Box::new(TurnKnock { later: Some(self) });
        // One that has closed may still be about to finish.
        if cell.life().has_ended() {
            // It would not be opened.
            drop(knock);
        } else {
            cell.push_system(System::Continue(knock));
        }
    }

    fn cancel(&self) -> bool {
        let stage = self.stage.lock().end();
        if let Stage::Over = stage {
            return false;
        }
        // While it happens it is too late, unless it would happen again.
        let was_in_time = stage.is_pending(C::REPEATS);
        self.cell.time().remove(self.key);
        drop(stage);
        was_in_time
    }

    fn die(&self) {
        let stage = self.stage.lock().end();
        drop(stage);
    }

    fn is_pending(&self) -> bool {
        self.stage.lock().is_pending(C::REPEATS)
    }

    fn missed(&self) -> u64 {
        self.missed.get()
    }
}

/// A timer that is due, on its way to its actor's turn.
struct TurnKnock<A: Actor, C: TimerCall<A>> {
    later: Option<Arc<Later<A, C>>>,
}

impl<A: Actor, C: TimerCall<A>> Continuation for TurnKnock<A, C> {
    fn go_on(mut self: Box<Self>, running: &mut dyn Any) {
        let later = self.later.take();
        drop(self);
        let Some(later) = later else { return };
        let running = running.downcast_mut::<ActorRunner<A>>();
        let here = running.and_then(ActorRunner::parts);
        // It was due already when the actor was begun again, and so no longer among the timers that went then.
        let Some((actor, context)) =
            here.filter(|(_, context)| context.generation() == later.generation)
        else {
            return later.die();
        };
        let call = later.stage.lock().begin();
        let Some(call) = call else {
            return;
        };
        let Some(planned) = call.call(actor, context) else {
            later.stage.lock().end();
            return;
        };
        later.missed.add(planned.missed);
        let renewed = later.stage.lock().renew(planned.call);
        match renewed {
            // If it is cancelled just now its key leads nowhere.
            Ok(()) => context
                .here()
                .cell()
                .time()
                .set_again(later.key, planned.due),
            Err(cancelled) => drop(cancelled),
        }
    }
}

impl<A: Actor, C: TimerCall<A>> Drop for TurnKnock<A, C> {
    fn drop(&mut self) {
        // The actor stopped before it opened.
        if let Some(later) = self.later.take() {
            elsewhere(later, |later| later.die());
        }
    }
}
