//! What a topic sees of a subscriber.

use std::sync::Arc;

use tamtam_wait::{Source, contain};

use super::feed::WhenFull;
use super::ledger::{Ending, SubscriptionId, SubscriptionLedger};
use super::round::Patience;
use crate::address::Outlet;
use crate::mailbox::WhenNoRoom;

/// A subscriber, whatever its messages are.
pub(super) trait Member: Send + Sync {
    fn ledger(&self) -> &SubscriptionLedger;

    /// Whether its actor has stopped.
    fn is_stopped(&self) -> bool;

    /// Drops what is not delivered yet: the subscription has ended.
    fn clear(&self);
}

/// One to whom messages are offered.
pub(super) trait Subscriber<M>: Member {
    /// Whether it wants this one.
    fn wants(&self, message: &M) -> bool;

    /// Offers a message that it wants.
    fn offer(&self, message: M, patience: Patience) -> Offered<M>;

    /// Shows the room to a task that awaits it.
    fn with_room(&self, look: &mut dyn FnMut(&dyn Source));
}

/// What became of a message that was offered.
pub(super) enum Offered<M> {
    /// The subscriber has it.
    Taken,
    /// It has no room, and is to have the message: the publisher is told, or awaits it.
    NoRoom(M),
    /// It has no room; the message is dropped and counted, which concerns no other subscriber.
    Dropped,
    /// The subscription has ended.
    Over,
}

/// What became of a message to the subscriber's actor.
pub(super) enum Told<N> {
    /// It is in the mailbox.
    Accepted,
    /// There is no room in the mailbox.
    Full(N),
    /// The actor has stopped, and so the subscription has ended.
    Stopped,
    /// What maps messages for the subscriber has panicked, and so the subscription has ended.
    Panicked,
}

/// Which messages a subscriber wants.
pub(super) type Filter<M> = Box<dyn Fn(&M) -> bool + Send + Sync>;

/// What all kinds of subscribers have.
pub(super) struct Common<M> {
    pub(super) ledger: SubscriptionLedger,
    when_full: WhenFull,
    filter: Option<Filter<M>>,
}

impl<M> Common<M> {
    pub(super) fn new(id: SubscriptionId, filter: Option<Filter<M>>, when_full: WhenFull) -> Self {
        Common {
            ledger: SubscriptionLedger::new(id),
            when_full,
            filter,
        }
    }

    #[inline]
    pub(super) fn wants(&self, message: &M) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| self.guard(|| filter(message)).unwrap_or(false))
    }

    /// Runs something that the subscriber has brought. A panic is its own affair: it ends the subscription.
    #[inline]
    pub(super) fn guard<R>(&self, theirs: impl FnOnce() -> R) -> Option<R> {
        let result = contain(theirs);
        if result.is_none() {
            self.ledger.end(Ending::Panicked);
        }
        result
    }

    /// Tells the actor something, and sees to the end of the subscription if that is the outcome.
    #[inline]
    pub(super) fn tell<N>(&self, outlet: &Outlet<N>, message: N, when: WhenNoRoom) -> Told<N> {
        match self.guard(|| outlet.tell(message, when)) {
            Some(Ok(())) => Told::Accepted,
            Some(Err(error)) if error.is_full() => Told::Full(error.into_inner()),
            Some(Err(error)) => {
                self.ledger.end(Ending::Stopped);
                let _ = self.guard(|| drop(error));
                Told::Stopped
            }
            None => Told::Panicked,
        }
    }

    /// There was no room for this message. `waits` says whether a mailbox has its senders wait. If that ends the
    /// subscription, the caller drops what was gathered.
    #[cold]
    pub(super) fn no_room(&self, message: M, patience: Patience, waits: bool) -> Offered<M> {
        let is_awaited = match patience {
            Patience::AsMade | Patience::Until(_) => false,
            Patience::ForSome => waits || self.when_full == WhenFull::Refuse,
            Patience::ForAll => true,
        };
        if is_awaited {
            return Offered::NoRoom(message);
        }
        match self.when_full {
            WhenFull::Refuse => {
                self.ledger.refused.add(1);
                Offered::NoRoom(message)
            }
            WhenFull::Drop => {
                self.ledger.dropped.add(1);
                let _ = self.guard(|| drop(message));
                Offered::Dropped
            }
            WhenFull::Unsubscribe => {
                self.ledger.dropped.add(1);
                self.ledger.end(Ending::Lagged);
                let _ = self.guard(|| drop(message));
                Offered::Over
            }
        }
    }
}

/// A subscriber that gets each message by itself.
pub(super) struct Each<M> {
    common: Common<M>,
    outlet: Outlet<M>,
}

impl<M> Each<M> {
    pub(super) fn new(common: Common<M>, outlet: Outlet<M>) -> Arc<Self> {
        Arc::new(Each { common, outlet })
    }
}

impl<M: Send + 'static> Member for Each<M> {
    fn ledger(&self) -> &SubscriptionLedger {
        &self.common.ledger
    }

    fn is_stopped(&self) -> bool {
        self.outlet.is_stopped()
    }

    fn clear(&self) {}
}

impl<M: Send + 'static> Subscriber<M> for Each<M> {
    fn wants(&self, message: &M) -> bool {
        self.common.wants(message)
    }

    #[inline]
    fn offer(&self, message: M, patience: Patience) -> Offered<M> {
        let when = match patience {
            Patience::AsMade => WhenNoRoom::AsMade,
            Patience::Until(deadline) => WhenNoRoom::WaitUntil(deadline),
            Patience::ForSome | Patience::ForAll => WhenNoRoom::GiveBack,
        };
        match self.common.tell(&self.outlet, message, when) {
            Told::Accepted => {
                self.common.ledger.delivered.add(1);
                Offered::Taken
            }
            Told::Full(message) => self.common.no_room(message, patience, self.outlet.waits()),
            Told::Stopped => Offered::Over,
            Told::Panicked => {
                self.common.ledger.dropped.add(1);
                Offered::Over
            }
        }
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.outlet.with_room(look);
    }
}
