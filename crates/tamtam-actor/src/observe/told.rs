//! What is told to subscribers of `tracing`, with the feature of that name; nothing without it.
//!
//! Nothing here is called under a lock of ours: what a subscriber does is the user's, and if it panics that ends
//! there.

use super::record::Record;
use crate::ended::EndReason;
use crate::id::ActorId;

/// The actor at work: its number, and the type of its messages.
pub(crate) type Asker = (ActorId, &'static str);

#[cfg(not(feature = "tracing"))]
pub(crate) use silent::{
    blocking_ask, born, clock_without_thread, ended, long_turn, lost, no_thread_left, panicked,
    replaced, restarted,
};
#[cfg(feature = "tracing")]
pub(crate) use spoken::{
    blocking_ask, born, clock_without_thread, ended, long_turn, lost, no_thread_left, panicked,
    replaced, restarted,
};

#[cfg(feature = "tracing")]
mod spoken {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::collections::HashSet;
    use std::sync::{Arc, Mutex, PoisonError};

    use tamtam_wait::contain;

    use super::{ActorId, Asker, EndReason, Record};
    use crate::observe::clock;

    const SECOND: u64 = 1_000_000_000;

    /// An actor was born.
    pub(crate) fn born(id: ActorId, actor_type: &'static str, home: Option<&Record>) {
        let home = home.map(|record| record.ledger().home());
        let _ = contain(
            || tracing::debug!(target: "tamtam::actor", actor = id.get(), actor_type, home, "an actor was born"),
        );
    }

    /// An actor has ended, and been dropped.
    pub(crate) fn ended(
        id: ActorId,
        message_type: &'static str,
        name: Option<Arc<str>>,
        lost: u64,
        reason: &EndReason,
    ) {
        let name = name.as_deref();
        let _ = contain(
            || tracing::debug!(target: "tamtam::actor", actor = id.get(), name, message_type, lost, %reason, "an actor has ended"),
        );
    }

    /// A handler has panicked.
    pub(crate) fn panicked(
        id: ActorId,
        actor_type: &'static str,
        name: Option<Arc<str>>,
        reason: &EndReason,
    ) {
        let name = name.as_deref();
        let _ = contain(
            || tracing::error!(target: "tamtam::actor", actor = id.get(), name, actor_type, %reason, "an actor has panicked"),
        );
    }

    /// An actor begins again, with so many instances before this one.
    pub(crate) fn restarted(
        id: ActorId,
        actor_type: &'static str,
        name: Option<Arc<str>>,
        restarts: u32,
    ) {
        let name = name.as_deref();
        let _ = contain(
            || tracing::warn!(target: "tamtam::actor", actor = id.get(), name, actor_type, restarts, "an actor begins again"),
        );
    }

    /// An actor was replaced. If its handler had not come back its thread is left behind.
    pub(crate) fn replaced(
        id: ActorId,
        message_type: &'static str,
        name: Option<Arc<str>>,
        is_left_behind: bool,
    ) {
        let name = name.as_deref();
        let _ = contain(
            || tracing::warn!(target: "tamtam::actor", actor = id.get(), name, message_type, is_left_behind, "an actor was replaced"),
        );
    }

    /// An observed actor had a long turn.
    pub(crate) fn long_turn(record: &Record, nanos: u64) {
        let _ = contain(|| {
            tracing::warn!(
            target: "tamtam::actor",
            actor = record.id().get(),
            actor_type = record.type_name(),
            home = record.ledger().home(),
            micros = nanos / 1_000,
            "a turn was long: nobody else had this thread meanwhile")
        });
    }

    /// A handler waits for an answer on a thread of a pool. Told once for each type of messages that such handlers have.
    pub(crate) fn blocking_ask(asker: fn() -> Option<Asker>) {
        static TOLD: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
        let Some((id, message_type)) = asker() else {
            return;
        };
        let is_new = {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            told.get_or_insert_default().insert(message_type)
        };
        if is_new {
            let _ = contain(|| {
                tracing::warn!(
                target: "tamtam::actor",
                actor = id.get(),
                message_type,
                "a handler waits for an answer and keeps a thread of a pool: Context::ask would not")
            });
        }
    }

    /// All threads of a pool wait in handlers, and no further one may stand in.
    pub(crate) fn no_thread_left(pool: &str, stand_ins: usize, asker: fn() -> Option<Asker>) {
        let asker = asker();
        let actor = asker.map(|(id, _)| id.get());
        let message_type = asker.map(|(_, message_type)| message_type);
        let _ = contain(|| {
            tracing::error!(
            target: "tamtam::actor",
            home = pool,
            stand_ins,
            actor,
            message_type,
            "all threads of a pool wait in handlers, and what is due has no thread: Context::ask waits without one, \
             PoolBuilder::stand_ins allows more; the last one to wait was this actor's")
        });
    }

    /// Timers are set, and the thread of the clock could not be started. Told once a second at most.
    pub(crate) fn clock_without_thread() {
        static TOLD: AtomicU64 = AtomicU64::new(0);
        let (now, told) = (clock::now(), TOLD.load(Relaxed));
        if (told == 0 || now.saturating_sub(told) >= SECOND)
            && TOLD.compare_exchange(told, now, Relaxed, Relaxed).is_ok()
        {
            let _ = contain(|| {
                tracing::error!(
                target: "tamtam::actor",
                "the thread of the timers, tamtam-timer, could not be started: the process may not have another one; pools, \
                 workers and frames see to timers when they have nothing else to do, until it can be")
            });
        }
    }

    /// A message was accepted and is never handled. Told once a second at most, with how many there were since the last
    /// time.
    pub(crate) fn lost(id: ActorId, message_type: &'static str) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static TOLD: AtomicU64 = AtomicU64::new(0);
        COUNT.fetch_add(1, Relaxed);
        let (now, told) = (clock::now(), TOLD.load(Relaxed));
        if (told == 0 || now.saturating_sub(told) >= SECOND)
            && TOLD.compare_exchange(told, now, Relaxed, Relaxed).is_ok()
        {
            let _ = contain(|| {
                tracing::warn!(
                target: "tamtam::actor",
                actor = id.get(),
                message_type,
                messages = COUNT.swap(0, Relaxed),
                "messages were lost; the last one was this actor's")
            });
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod silent {
    use std::sync::Arc;

    use super::{ActorId, Asker, EndReason, Record};

    #[inline(always)]
    pub(crate) fn born(_: ActorId, _: &'static str, _: Option<&Record>) {}

    #[inline(always)]
    pub(crate) fn ended(_: ActorId, _: &'static str, _: Option<Arc<str>>, _: u64, _: &EndReason) {}

    #[inline(always)]
    pub(crate) fn panicked(_: ActorId, _: &'static str, _: Option<Arc<str>>, _: &EndReason) {}

    #[inline(always)]
    pub(crate) fn restarted(_: ActorId, _: &'static str, _: Option<Arc<str>>, _: u32) {}

    #[inline(always)]
    pub(crate) fn replaced(_: ActorId, _: &'static str, _: Option<Arc<str>>, _: bool) {}

    #[inline(always)]
    pub(crate) fn long_turn(_: &Record, _: u64) {}

    #[inline(always)]
    pub(crate) fn blocking_ask(_: fn() -> Option<Asker>) {}

    #[inline(always)]
    pub(crate) fn no_thread_left(_: &str, _: usize, _: fn() -> Option<Asker>) {}

    #[inline(always)]
    pub(crate) fn clock_without_thread() {}

    #[inline(always)]
    pub(crate) fn lost(_: ActorId, _: &'static str) {}
}
