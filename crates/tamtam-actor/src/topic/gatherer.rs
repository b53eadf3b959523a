//! A subscriber that gets at once what came within an interval.

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

#[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
use tamtam_wait::Wait;
use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{self, Ordering};
use tamtam_wait::{Operation, Source, Token, WaitList, contain};

use super::feed::Until;
use super::gathering::{Gathered, Gathering};
use super::ledger::{Ending, SubscriptionLedger};
use super::round::Patience;
use super::subscriber::{Common, Interest, Member, Offered, Subscriber, Told};
use crate::address::{Address, Outlet};
use crate::cell::{Continuation, Door};
use crate::mailbox::{StreakGuard, WhenNoRoom};
use crate::time::{Alarm, Key, elsewhere};

/// So many messages of which some may replace others wait at least, before that is looked at.
const WORTHWHILE: usize = if cfg!(tamtam_loom) { 1 } else { 64 };

/// How long a delivery waits that is for the subscriber's next turn, and found no room in the mailbox.
const PAUSE: Duration = Duration::from_millis(1);

/// Gathers messages. The first one sets the alarm; when that rings, all that has come is delivered as one, in a turn of
/// the subscriber: so what it has brought, a key or a mapping, is done there, and keeps no other one.
///
/// One thread at a time delivers, or finishes what was gathered. Who comes meanwhile leaves it to that one.
pub(super) struct Gatherer<M, G: Gathering<M>> {
    this: Weak<Self>,
    common: Common<M>,
    outlet: Outlet<G::Delivery>,
    /// Where the alarm knocks.
    door: Arc<dyn Door>,
    gathering: G,
    until: Until,
    /// So many messages are gathered at most.
    limit: usize,
    state: Mutex<GathererState<G::Gathered, G::Delivery>>,
    /// Publishers that wait until there is room.
    room: WaitList,
}

struct GathererState<G, D> {
    gathered: G,
    /// What is finished and waits for the next delivery, since the mailbox was full, or to take less room.
    held: Option<D>,
    /// How many messages are held, or in the hands of the one who is busy.
    held_size: usize,
    /// A thread delivers, or finishes.
    busy: bool,
    /// And is to deliver what has come since.
    due: bool,
    /// The alarm is set, or about to be.
    armed: bool,
    /// Tells one setting of the alarm from the others.
    round: u64,
    key: Option<Key>,
    ended: bool,
}

impl<M, G> Gatherer<M, G>
where
    M: Send + 'static,
    G: Gathering<M>,
{
    pub(super) fn new(
        common: Common<M>,
        address: &Address<G::Delivery>,
        gathering: G,
        until: Until,
        limit: usize,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Gatherer {
            this: Weak::clone(this),
            common,
            outlet: address.outlet(),
            door: address.door(),
            state: Mutex::new(GathererState {
                gathered: gathering.start(),
                held: None,
                held_size: 0,
                busy: false,
                due: false,
                armed: false,
                round: 0,
                key: None,
                ended: false,
            }),
            gathering,
            until,
            limit,
            room: WaitList::new(),
        })
    }

    fn is_full(&self, state: &GathererState<G::Gathered, G::Delivery>) -> bool {
        !G::Gathered::REPLACES && state.gathered.count() + state.held_size >= self.limit
    }

    /// Takes a message in; it comes back if there is no room.
    fn put(&self, message: M) -> Result<Offered<M>, M> {
        if self.outlet.is_stopped() {
            self.common.ledger.end(Ending::Stopped);
            let _ = self.common.guard(|| drop(message));
            return Ok(Offered::Over);
        }
        let (replaced, round, finish) = {
            let mut state = self.state.lock();
            if G::SHRINKS && self.is_full(&state) && !state.busy {
                drop(state);
                self.work(false);
                state = self.state.lock();
            }
            if state.ended {
                drop(state);
                let _ = self.common.guard(|| drop(message));
                return Ok(Offered::Over);
            }
            if self.is_full(&state) {
                return Err(message);
            }
            let replaced = state.gathered.add(message);
            let enough = WORTHWHILE.max(2 * state.held_size);
            let finish = G::SHRINKS && !state.busy && state.gathered.count() >= enough;
            (replaced, Self::arm(&mut state), finish)
        };
        if let Some(replaced) = replaced {
            self.common.ledger.replaced.add(1);
            let _ = self.common.guard(|| drop(replaced));
        }
        if let Some(round) = round {
            self.set_alarm(round, false);
        }
        if finish {
            self.work(false);
        }
        Ok(Offered::Taken)
    }

    /// Waits for room until the deadline, if there is one.
    #[cfg(not(any(not(target_family = "wasm"), target_feature = "atomics")))]
    fn put_until(&self, message: M, _: Option<Instant>) -> Result<Offered<M>, M> {
        // No thread can wait there.
        self.put(message)
    }

    /// Waits for room until the deadline, if there is one.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn put_until(&self, message: M, deadline: Option<Instant>) -> Result<Offered<M>, M> {
        let mut message = Some(message);
        let attempt = |_: bool| match self.put(message.take()?) {
            Ok(put) => Some(put),
            Err(back) => {
                message = Some(back);
                None
            }
        };
        let put = self
            .room
            .wait_until(Wait::Adaptive, deadline, attempt, || self.has_room());
        match (put, message) {
            (Some(put), _) => Ok(put),
            (None, Some(message)) => Err(message),
            (None, None) => unreachable!("a message is either in hand or put somewhere"),
        }
    }

    /// Whether the alarm is to be set, now by the caller: which time that is.
    fn arm(state: &mut GathererState<G::Gathered, G::Delivery>) -> Option<u64> {
        if core::mem::replace(&mut state.armed, true) {
            return None;
        }
        state.round += 1;
        Some(state.round)
    }

    fn set_alarm(&self, round: u64, is_held: bool) {
        let Some(this) = self.this.upgrade() else {
            return;
        };
        let interval = match self.until {
            Until::Interval(interval) => interval,
            Until::Turn if is_held => PAUSE,
            Until::Turn => return this.knock(),
        };
        let time = self.door.time();
        let set = Some(time.set_after(interval, None, GathererAlarm(this)));
        let unwanted = {
            let mut state = self.state.lock();
            // It may have rung meanwhile, and be set again.
            if state.ended || !state.armed || state.round != round {
                set
            } else {
                core::mem::replace(&mut state.key, set)
            }
        };
        if let Some(key) = unwanted {
            // One that has rung leads nowhere.
            time.remove(key);
        }
    }

    /// Knocks at the subscriber.
    fn knock(self: Arc<Self>) {
        let door = Arc::clone(&self.door);
        let knock = Box::new(Knock(Some(self)));
        if door.is_closed() {
            // It would not be opened.
            drop(knock);
        } else {
            door.knock(knock);
        }
    }

    /// The alarm has rung, and this is the subscriber's turn.
    fn go_on(&self) {
        {
            let mut state = self.state.lock();
            state.armed = false;
            state.key = None;
        }
        self.work(true);
    }

    /// The subscriber is gone.
    fn bury(&self) {
        self.common.ledger.end(Ending::Stopped);
        self.clear();
    }

    /// Finishes what was gathered, and delivers it, if this is what is asked for.
    fn work(&self, deliver: bool) {
        {
            let mut state = self.state.lock();
            if state.busy {
                state.due |= deliver;
                return;
            }
            state.busy = true;
        }
        let round = loop {
            let (held, gathered, size) = {
                let mut state = self.state.lock();
                let gathered = core::mem::replace(&mut state.gathered, self.gathering.start());
                state.held_size += gathered.count();
                (state.held.take(), gathered, state.held_size)
            };
            let mut replaced = 0;
            let finished = self
                .common
                .guard(|| self.gathering.finish(held, gathered, &mut replaced));
            self.common.ledger.replaced.add(replaced);
            let rest = match finished {
                None => {
                    // The key has panicked.
                    self.common.ledger.dropped.add(size - replaced.min(size));
                    None
                }
                Some(Some(delivery)) if deliver => self.deliver(delivery),
                Some(finished) => finished,
            };
            let is_over = !self.common.ledger.is_active();
            let mut state = self.state.lock();
            if is_over || state.ended {
                state.busy = false;
                state.due = false;
                state.held_size = 0;
                drop(state);
                self.discard(rest, self.gathering.start());
                // Also what came in while it was thought to go on.
                self.clear();
                break None;
            }
            state.held_size = rest.as_ref().map_or(0, G::size);
            state.held = rest;
            let is_due = core::mem::take(&mut state.due);
            if is_due && deliver {
                continue;
            }
            state.busy = false;
            if is_due {
                drop(state);
                // What came for that meanwhile was a turn of the subscriber, and only in one it is delivered.
                if let Some(this) = self.this.upgrade() {
                    this.knock();
                }
                break None;
            }
            let is_held = state.held.is_some();
            let more = is_held || state.gathered.count() != 0;
            let round = more.then(|| Self::arm(&mut state)).flatten();
            break round.map(|round| (round, is_held));
        };
        if let Some((round, is_held)) = round {
            self.set_alarm(round, is_held);
        }
        self.tell_of_room();
    }

    /// Delivers; what the mailbox has no room for comes back.
    fn deliver(&self, delivery: G::Delivery) -> Option<G::Delivery> {
        let ledger = &self.common.ledger;
        let size = G::size(&delivery);
        if !ledger.is_active() {
            return Some(delivery);
        }
        let when = WhenNoRoom::AsMade;
        match self.common.tell(&self.outlet, delivery, when, None) {
            Told::Accepted => ledger.delivered.add(size),
            Told::Full(delivery) => return Some(delivery),
            Told::Stopped | Told::Panicked => ledger.dropped.add(size),
        }
        None
    }

    fn tell_of_room(&self) {
        // A publisher that waits for room registers and then looks.
        atomic::fence(Ordering::SeqCst);
        self.room.notify_all();
    }

    fn has_room(&self) -> bool {
        let state = self.state.lock();
        state.ended || !self.is_full(&state)
    }

    /// Drops what is not delivered any more.
    fn discard(&self, held: Option<G::Delivery>, gathered: G::Gathered) {
        let size = held.as_ref().map_or(0, G::size) + gathered.count();
        if self.common.ledger.ending() != Some(Ending::Unsubscribed) {
            self.common.ledger.dropped.add(size);
        }
        contain(|| drop(held));
        contain(|| drop(gathered));
    }
}

impl<M, G> Member for Gatherer<M, G>
where
    M: Send + 'static,
    G: Gathering<M>,
{
    fn ledger(&self) -> &SubscriptionLedger {
        &self.common.ledger
    }

    fn is_stopped(&self) -> bool {
        self.outlet.is_stopped()
    }

    fn clear(&self) {
        let (held, gathered, key) = {
            let mut state = self.state.lock();
            state.ended = true;
            let gathered = core::mem::replace(&mut state.gathered, self.gathering.start());
            (state.held.take(), gathered, state.key.take())
        };
        if let Some(key) = key {
            self.door.time().remove(key);
        }
        self.discard(held, gathered);
        self.tell_of_room();
    }
}

impl<M, G> Subscriber<M> for Gatherer<M, G>
where
    M: Send + 'static,
    G: Gathering<M>,
{
    fn interest(&self, message: &M) -> Interest {
        self.common.interest(message)
    }

    fn offer(&self, message: M, patience: Patience, _: Option<&StreakGuard<'_>>) -> Offered<M> {
        let put = match patience {
            Patience::Until(deadline) => self.put_until(message, deadline),
            Patience::AsMade | Patience::ForSome | Patience::ForAll => self.put(message),
        };
        put.unwrap_or_else(|message| self.common.no_room(message, patience, false))
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        look(&GathererRoom {
            list: &self.room,
            is_there: || self.has_room(),
        });
    }
}

/// Room where messages are gathered, for tasks that await it; a task that has seen it then tries. All who wait are told.
struct GathererRoom<'a, R> {
    list: &'a WaitList,
    is_there: R,
}

impl<R: Fn() -> bool> Source for GathererRoom<'_, R> {
    fn try_begin(&self, _: &mut Token) -> bool {
        (self.is_there)()
    }

    fn register(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.list.register(operation, context);
        (self.is_there)()
    }

    fn unregister(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.list.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        (self.is_there)()
    }

    fn watch(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.list.watch(operation, context);
        (self.is_there)()
    }

    fn unwatch(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.list.unwatch(operation, context);
    }
}

/// What rings for a gatherer.
struct GathererAlarm<M, G: Gathering<M>>(Arc<Gatherer<M, G>>);

impl<M, G> Alarm for GathererAlarm<M, G>
where
    M: Send + 'static,
    G: Gathering<M>,
{
    fn ring(self, _: Key) {
        self.0.knock();
    }
}

/// What was gathered, on its way to the subscriber's turn.
struct Knock<M: Send + 'static, G: Gathering<M>>(Option<Arc<Gatherer<M, G>>>);

impl<M, G> Continuation for Knock<M, G>
where
    M: Send + 'static,
    G: Gathering<M>,
{
    fn go_on(mut self: Box<Self>, _: &mut dyn Any) {
        if let Some(gatherer) = self.0.take() {
            gatherer.go_on();
            // With it may go what the subscriber has brought.
            contain(move || drop(gatherer));
        }
    }
}

impl<M: Send + 'static, G: Gathering<M>> Drop for Knock<M, G> {
    fn drop(&mut self) {
        // The actor stopped before it opened.
        if let Some(gatherer) = self.0.take() {
            elsewhere(gatherer, |gatherer| {
                gatherer.bury();
                contain(move || drop(gatherer));
            });
        }
    }
}
