//! What is told to subscribers of `tracing`, with the feature of that name; nothing without it.
//!
//! Nothing here is called under a lock of ours: what a subscriber does is the user's, and if it panics that ends
//! there.

use super::record::Record;
use crate::at_work::ActorId;
use crate::life::EndReason;

#[cfg(not(feature = "tracing"))]
pub(crate) use silent::{blocking_ask, born, ended, long_turn, lost, panicked};
#[cfg(feature = "tracing")]
pub(crate) use spoken::{blocking_ask, born, ended, long_turn, lost, panicked};

#[cfg(feature = "tracing")]
mod spoken {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::collections::HashSet;
    use std::sync::{Mutex, PoisonError};

    use tamtam_wait::contain;

    use super::{ActorId, EndReason, Record};
    use crate::at_work::AtWork;
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
    pub(crate) fn ended(id: ActorId, message_type: &'static str, lost: u32, reason: &EndReason) {
        let _ = contain(
            || tracing::debug!(target: "tamtam::actor", actor = id.get(), message_type, lost, %reason, "an actor has ended"),
        );
    }

    /// A handler has panicked.
    pub(crate) fn panicked(id: ActorId, actor_type: &'static str, reason: &EndReason) {
        let _ = contain(
            || tracing::error!(target: "tamtam::actor", actor = id.get(), actor_type, %reason, "an actor has panicked"),
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
    pub(crate) fn blocking_ask() {
        static TOLD: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
        let Some(asker) = AtWork::place() else { return };
        let message_type = asker.message_type();
        let is_new = {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            told.get_or_insert_default().insert(message_type)
        };
        if is_new {
            let _ = contain(|| {
                tracing::warn!(
                target: "tamtam::actor",
                actor = asker.id().get(),
                message_type,
                "a handler waits for an answer and keeps a thread of a pool: Context::ask would not")
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
    use super::{ActorId, EndReason, Record};

    #[inline(always)]
    pub(crate) fn born(_: ActorId, _: &'static str, _: Option<&Record>) {}

    #[inline(always)]
    pub(crate) fn ended(_: ActorId, _: &'static str, _: u32, _: &EndReason) {}

    #[inline(always)]
    pub(crate) fn panicked(_: ActorId, _: &'static str, _: &EndReason) {}

    #[inline(always)]
    pub(crate) fn long_turn(_: &Record, _: u64) {}

    #[inline(always)]
    pub(crate) fn blocking_ask() {}

    #[inline(always)]
    pub(crate) fn lost(_: ActorId, _: &'static str) {}
}
