//! What an actor does later, in a turn of its own: `Context::after` and `Context::every`.

use core::marker::PhantomData;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::knock::TimerKnock;
use crate::actor::Actor;
use crate::address::Counted;
use crate::cell::{Cell, Door};
use crate::context::{Context, Here};
use crate::runner::ActorRunner;
use crate::time::{Alarm, AnyAlarm, Every, Key, Missed, Rhythm, Timer, Timers};

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
        let here = self.here();
        let owner = here.timers_owner();
        let once = OnceTurn {
            then,
            here: here.own_counted(),
            actor: PhantomData,
        };
        let time = here.cell().time();
        let key = time.set_after(delay, Some(owner), once);
        Timer::once(time.clone(), key)
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
        let here = self.here();
        let owner = here.timers_owner();
        let missed = Missed::default();
        let due = rhythm.planned();
        let repeat = RepeatTurn {
            then,
            rhythm,
            here: here.to_arc(),
            missed: missed.clone(),
            actor: PhantomData,
        };
        let time = here.cell().time();
        let key = time.set(due, Some(owner), repeat);
        Timer::repeats(time.clone(), key, missed)
    }

    /// What time it is where this actor lives; a test may have it moved by hand, see
    /// [`Time::manual`](crate::Time::manual).
    #[must_use]
    pub fn now(&self) -> Instant {
        self.here_ref().now()
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

/// The actor whose turn this is, and its context; none if it has none.
fn parts_of<A: Actor>(running: &mut dyn Any) -> Option<(&mut A, &mut Context<A>)> {
    running
        .downcast_mut::<ActorRunner<A>>()
        .and_then(ActorRunner::parts)
}

/// A timer of an actor that happens once.
struct OnceTurn<A: Actor, F> {
    then: F,
    /// Keeps the actor from stopping for want of addresses.
    here: Counted<A::Message>,
    actor: PhantomData<fn(A)>,
}

impl<A, F> Alarm for OnceTurn<A, F>
where
    A: Actor,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
{
    fn knock(&self) -> Option<AnyAlarm> {
        let cell = Arc::clone(self.here.cell());
        Some(TimerKnock::<true>::at(cell as Arc<dyn Door>))
    }

    fn happen(self, _: Key, running: &mut dyn Any) {
        if let Some((actor, context)) = parts_of(running) {
            (self.then)(actor, context);
        }
        // Not before: it may have set the next one.
        drop(self.here);
    }
}

/// A timer of an actor that happens again and again.
struct RepeatTurn<A: Actor, F> {
    then: F,
    rhythm: Rhythm,
    here: Arc<Cell<A::Message>>,
    missed: Missed,
    actor: PhantomData<fn(A)>,
}

impl<A, F> Alarm for RepeatTurn<A, F>
where
    A: Actor,
    F: FnMut(&mut A, &mut Context<A>) + Send + 'static,
{
    const REPEATS: bool = true;

    fn knock(&self) -> Option<AnyAlarm> {
        let cell = Arc::clone(&self.here);
        Some(TimerKnock::<true>::at(cell as Arc<dyn Door>))
    }

    fn happen(mut self, key: Key, running: &mut dyn Any) {
        let Some((actor, context)) = parts_of(running) else {
            return;
        };
        (self.then)(actor, context);
        self.missed.add(self.rhythm.plan(context.now()));
        let time = context.here().cell().time();
        time.set_again(key, self.rhythm.planned(), self);
    }
}
