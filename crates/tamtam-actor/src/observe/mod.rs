//! What a running program does: figures of its pools and actors.
//!
//! Each pool counts its turns, thefts and sleeps, at no cost that can be measured, and [`Pool::snapshot`] reads them.
//! What each *actor* does is counted where that is asked for: by [`PoolBuilder::observe`] for one pool, by
//! [`observe_all`] for all that are made from then on. It is decided when a pool is made, and costs actors of other pools
//! nothing.
//!
//! An actor that is observed costs two looks at the clock a turn, one locked instruction more a message, and about
//! 400 bytes. The figures lie in plain counters that the one who counts writes and all read: nothing is sent, no thread waits.
//!
//! With the feature `metrics`, `record_metrics` gives the figures to the program's recorder of `metrics`, for Prometheus,
//! OpenTelemetry and others. With the feature `top`, `serve` lets `tamtam top` show a live table of this program. With the feature `tracing`,
//! births, ends, long turns, blocking questions and losses are told to the program's subscriber of `tracing`.
//!
//! # Examples
//!
//! ```
//! use tamtam_actor::Pool;
//! use tamtam_actor::observe::Order;
//!
//! let pool = Pool::builder().threads(2).observe(true).build()?;
//! let doubler = pool.spawn_fn(|(number, reply): (u32, tamtam_actor::Reply<u32>), _| reply.send(2 * number));
//! assert_eq!(doubler.ask(|reply| (21, reply))?, 42);
//!
//! let busiest = pool.busiest(10, Order::Handled);
//! assert_eq!((busiest[0].id, busiest[0].handled), (doubler.id(), 1));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! [`Pool::snapshot`]: crate::Pool::snapshot
//! [`PoolBuilder::observe`]: crate::PoolBuilder::observe

mod clock;
#[cfg(all(feature = "top", unix))]
mod json;
mod ledger;
mod line;
#[cfg(feature = "metrics")]
mod metrics;
mod pool;
mod record;
#[cfg(feature = "top")]
mod serve;
mod snapshot;
pub(crate) mod told;
mod watched;

pub(crate) use ledger::Ledger;
pub(crate) use line::Shown;
#[cfg(feature = "metrics")]
pub use metrics::{Metrics, record_metrics};
pub(crate) use pool::Counts;
pub(crate) use record::{MeasuredTurn, Record};
#[cfg(all(feature = "top", unix))]
#[doc(hidden)]
pub use serve::{Answerer, ProcessBelow, look_below};
#[cfg(feature = "top")]
pub use serve::{Serving, serve, serve_at};
pub(crate) use snapshot::first;
pub use snapshot::{ActorSnapshot, ActorTotals, HomeKind, HomeSnapshot, Order, Snapshot, snapshot};
pub(crate) use watched::{WatchedHome, watch};

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

/// Whether pools observe their actors whose builders do not say.
static ALL: AtomicBool = AtomicBool::new(false);

/// Lets each pool that is made from now on observe its actors, unless its builder says otherwise.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, observe};
///
/// observe::observe_all();
/// let pool = Pool::new();
/// assert!(pool.snapshot().actors.is_some());
/// ```
pub fn observe_all() {
    ALL.store(true, Ordering::Relaxed);
}

/// Whether pools observe their actors whose builders do not say.
#[doc(hidden)]
#[must_use]
pub fn observes_all() -> bool {
    ALL.load(Ordering::Relaxed)
}

/// What is observed of the actors of a home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observe {
    /// Whether they are; if it is not said, as [`observe_all`] has it.
    pub(crate) actors: Option<bool>,
    /// From this time on a turn is long.
    pub(crate) long_turn: Duration,
}

impl Default for Observe {
    fn default() -> Self {
        Observe {
            actors: None,
            long_turn: Duration::from_millis(10),
        }
    }
}

impl Observe {
    /// What is to be kept of the actors of a home of that name, if anything.
    pub(crate) fn ledger(self, home: &str) -> Option<std::sync::Arc<Ledger>> {
        let observes = self.actors.unwrap_or_else(|| ALL.load(Ordering::Relaxed));
        observes.then(|| Ledger::new(home, self))
    }
}
