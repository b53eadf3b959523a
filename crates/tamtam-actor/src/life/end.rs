//! Waiting for the end of an actor, and the reason for it.

use core::fmt;
use core::pin::Pin;
use core::task::{self, Poll};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tamtam_channel::Slot;

use crate::address::Address;
use crate::cell::{AnyActor, AtWork, WatchKey};
use crate::ended::Ended;
use crate::task::ThreadWait;

impl<M: Send + 'static> Address<M> {
    /// The end of the actor, to be waited for by a thread, or awaited.
    ///
    /// It is no address: it does not keep the actor from ending. A program that has an address besides, and wants the
    /// actor to end for want of addresses, drops it before he waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{EndReason, Pool};
    ///
    /// let pool = Pool::new();
    /// let actor = pool.spawn_fn(|number: u32, _| assert_eq!(number, 1));
    /// let end = actor.end();
    /// actor.tell(1)?;
    /// drop(actor);
    /// assert_eq!(end.wait().reason, EndReason::NoAddresses);
    /// # Ok::<(), tamtam_actor::TellError<u32>>(())
    /// ```
    pub fn end(&self) -> End {
        let key = WatchKey::next();
        let slot = Arc::new(Slot::new());
        let place = self.place();
        let watched = Arc::downgrade(&place);
        let told = Arc::clone(&slot);
        place.watch(
            key,
            Box::new(move |ended| drop(told.try_put(ended.clone()))),
        );
        End {
            key,
            watched,
            slot,
            awaited: None,
            ended: None,
        }
    }
}

/// The end of an actor: see [`Address::end`]. As a future it is ready when the actor has ended. The end that has come can be had again, in
/// each way.
///
/// # Cancel safety
///
/// Dropping it forgets the wait, and nothing else.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|(): (), _| {});
/// let mut end = actor.end(); // keeps nothing alive
/// assert!(end.wait_timeout(Duration::from_millis(1)).is_none());
/// drop(actor);
/// end.wait(); // a task awaits it: `end.await`
/// ```
#[must_use = "an end is waited for, or awaited"]
pub struct End {
    key: WatchKey,
    watched: Weak<dyn AnyActor>,
    slot: Arc<Slot<Ended>>,
    /// The wait of the future: a wait of a thread ends it first, since it would get what comes into the slot.
    awaited: Option<Pin<Box<dyn Future<Output = Ended> + Send>>>,
    /// What came into the slot.
    ended: Option<Ended>,
}

impl End {
    /// Waits for it.
    ///
    /// # Blocking
    ///
    /// Until the actor has ended. On a thread of a pool another one stands in for as long, up to a limit; better use
    /// [`Context::watch`](crate::Context::watch) there.
    ///
    /// # Panics
    ///
    /// If the wait would last for ever, since the actor lives on this very thread, a [`Worker`](crate::Worker)'s, a
    /// [`Frame`](crate::Frame)'s or a [`Stepper`](crate::Stepper)'s, or on a runtime to which it would leave
    /// [no thread](crate::Pool::on_tokio), or is the one whose handler waits; and has not ended.
    /// So it is if the actor needs a turn to end, and this is the last thread of its pool that does not wait: see
    /// [`PoolBuilder::stand_ins`](crate::PoolBuilder::stand_ins). [`wait_timeout`](End::wait_timeout) does not panic.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub fn wait(mut self) -> Ended {
        if let Some(ended) = self.known() {
            return ended;
        }
        let waits = self.begin_wait();
        waits.leave_work();
        let wait = |deadline: Option<Instant>| match deadline {
            None => Some(self.slot.take()),
            Some(deadline) => self.slot.take_deadline(deadline).ok(),
        };
        match crate::task::wait_for(self.task_location(), None, wait) {
            Ok(Some(ended)) => ended,
            Ok(None) => unreachable!("there is no deadline"),
            Err(stuck) => panic!(
                "no thread of the pool {:?} is left for an actor whose end is waited for: hear of it by `Context::watch`, \
                 or allow more than {} threads by `PoolBuilder::stand_ins`",
                stuck.pool, stuck.limit
            ),
        }
    }

    /// The end, if it has come. No wait of a future is left.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn known(&mut self) -> Option<Ended> {
        self.awaited = None;
        if self.ended.is_none() {
            self.ended = self.slot.try_take();
        }
        self.ended.clone()
    }

    /// This thread is about to wait for the end.
    ///
    /// # Panics
    ///
    /// If the actor can end on this thread alone, and has not.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn begin_wait(&self) -> ThreadWait {
        let Some(place) = self.watched.upgrade() else {
            return ThreadWait::PLAIN;
        };
        match place.begin_wait() {
            Some(wait) if AtWork::id() != Some(place.id()) => wait,
            _ if place.life().has_ended() => ThreadWait::PLAIN,
            _ => panic!(
                "actor {} lives on this very thread, the last one that is left to it, which would wait for its end for ever; \
                 hear of it by `Context::watch`",
                place.id()
            ),
        }
    }

    /// Where the actor's task lies when it is due.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn task_location(&self) -> usize {
        self.watched.as_ptr().addr()
    }

    /// As [`wait`](End::wait), but at most `timeout`: `None` if the actor has not ended until then. It can be
    /// called again.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Ended> {
        if let Some(ended) = self.known() {
            return Some(ended);
        }
        let waits = self.watched.upgrade().and_then(|place| place.begin_wait());
        if let Some(waits) = &waits {
            waits.leave_work();
        }
        self.ended = crate::task::while_blocked(|| self.slot.take_timeout(timeout)).ok();
        self.ended.clone()
    }
}

impl Future for End {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Ended> {
        if let Some(ended) = &self.ended {
            return Poll::Ready(ended.clone());
        }
        let slot = Arc::clone(&self.slot);
        let awaited = self
            .awaited
            .get_or_insert_with(|| Box::pin(async move { slot.take_async().await }));
        let Poll::Ready(ended) = awaited.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        self.awaited = None;
        self.ended = Some(ended.clone());
        Poll::Ready(ended)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(watched) = self.watched.upgrade() {
            watched.forget_watcher(self.key);
        }
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").finish_non_exhaustive()
    }
}
