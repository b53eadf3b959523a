//! What a thread does while it waits for an actor.
//!
//! A thread of a pool has another one stand in for it, which the pool knows how to do. So that those who wait need know of no
//! pool, the first pool of the process says so here.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::unflushed::Unflushed;

/// No thread of the pool is left to run the actor that is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    pub(crate) pool: Arc<str>,
    /// How many threads may stand in at once.
    pub(crate) limit: usize,
}

/// What threads that give actors their turns do around a wait. Called on each thread that waits, also on others.
pub(crate) trait Blocking: Sync {
    /// Does something that may wait for an actor.
    fn while_blocked(&self, wait: &mut dyn FnMut());

    /// Waits for the actor whose tasks are at `awaited` until the deadline; `wait` does so until one that it is given, and
    /// says whether the wait is over.
    ///
    /// # Errors
    ///
    /// There is no thread in whose turn the wait could end.
    fn wait_for(
        &self,
        awaited: usize,
        deadline: Option<Instant>,
        wait: &mut dyn FnMut(Option<Instant>) -> bool,
    ) -> Result<(), Stuck>;
}

// Not of the seam: it is set once, before there is a thread that it concerns.
static BLOCKING: OnceLock<&'static dyn Blocking> = OnceLock::new();

/// Says what threads do around a wait; the first call counts.
pub(crate) fn set_blocking(blocking: &'static dyn Blocking) {
    BLOCKING.get_or_init(|| blocking);
}

/// Does something that may wait for an actor. If this is a thread of a pool, another one stands in for it
/// meanwhile, since the actor may need it.
pub(crate) fn while_blocked<R>(wait: impl FnOnce() -> R) -> R {
    // What it waits for may come of that.
    Unflushed::flush_all();
    let Some(blocking) = BLOCKING.get() else {
        return wait();
    };
    let (mut wait, mut done) = (Some(wait), None);
    blocking.while_blocked(&mut || done = wait.take().map(|wait| wait()));
    match done {
        Some(done) => done,
        None => unreachable!("a wait is waited for"),
    }
}

/// Waits for an actor, whose tasks are at `awaited`, until the deadline: `None` if that has passed. `wait` does so, until a
/// deadline that it is given. If this is a thread of a pool, another one stands in for it meanwhile.
///
/// # Errors
///
/// There is no thread in whose turn the wait could end.
pub(crate) fn wait_for<R>(
    awaited: usize,
    deadline: Option<Instant>,
    mut wait: impl FnMut(Option<Instant>) -> Option<R>,
) -> Result<Option<R>, Stuck> {
    Unflushed::flush_all();
    let Some(blocking) = BLOCKING.get() else {
        return Ok(wait(deadline));
    };
    let mut done = None;
    blocking.wait_for(awaited, deadline, &mut |until| {
        done = wait(until);
        done.is_some()
    })?;
    Ok(done)
}
