//! What a pool shows of itself.

use core::time::Duration;

use super::{Pool, PoolBuilder};
use crate::observe::{ActorSnapshot, HomeSnapshot, Order, first};

impl Pool {
    /// How it goes in this pool: its threads, and what its actors have done together, if they are
    /// [observed](PoolBuilder::observe).
    ///
    /// Reading the sums of observed actors takes about 20 ns for each of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::Pool;
    ///
    /// let pool = Pool::with_threads(2);
    /// let echo = pool.spawn_fn(|reply: tamtam_actor::Reply<()>, _| reply.send(()));
    /// echo.ask(|reply| reply)?;
    /// let snapshot = pool.snapshot();
    /// assert_eq!(snapshot.threads, 2);
    /// assert!(snapshot.entered >= 1); // this thread's question came in from outside
    /// assert!(snapshot.actors.is_none()); // its builder was not told to observe them
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> HomeSnapshot {
        self.watched().look()
    }

    /// The first `most` actors of this pool in that order. None if they are not [observed](PoolBuilder::observe).
    ///
    /// It takes about 50 ns for each actor of the pool.
    #[must_use]
    pub fn busiest(&self, most: usize, order: Order) -> Vec<ActorSnapshot> {
        first(self.watched().ledger().into_iter(), most, |_, figures| {
            Some(order.of(figures))
        })
    }
}

impl PoolBuilder {
    /// Whether to count what each actor does: see [`Pool::busiest`] and [`observe`](crate::observe).
    ///
    /// If it is not said, it is as [`observe_all`](crate::observe::observe_all) has it: by default, no.
    pub fn observe(mut self, actors: bool) -> Self {
        self.observe.actors = Some(actors);
        self
    }

    /// From which time on a turn of an observed actor is long: it is counted, and told of with the feature `tracing`.
    /// By default, 10 ms.
    pub fn long_turn(mut self, time: Duration) -> Self {
        self.observe.long_turn = time;
        self
    }
}
