//! What a topic sees of a subscriber.

use std::sync::Arc;
use tamtam_wait::{Source, contain};

use super::feed::WhenFull;
use super::ledger::{Ending, SubscriptionId, SubscriptionLedger};
use super::round::Patience;
use crate::address::Outlet;
use crate::error::{Refusal, TellError};
use crate::mailbox;

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
    /// It has no room; the publisher is to know.
    Refused(M),
    /// It has no room; a task is to await it.
    Awaited(M),
    /// It has no room; the message is dropped and counted, which concerns no other subscriber.
    Dropped,
    /// The subscription has ended.
    Over,
}

/// Which messages a subscriber wants.
pub(super) type Filter<M> = Box<dyn Fn(&M) -> bool + Send + Sync>;

/// What all kinds of subscribers have.
pub(super) struct Common<M> {
    pub(super) ledger: SubscriptionLedger,
    pub(super) when_full: WhenFull,
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

    /// Whether the publisher is to see to it that it gets each message.
    pub(super) fn is_to_have_all(&self) -> bool {
        self.when_full == WhenFull::Refuse
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

    /// There was no room for this message. In the end the caller drops what was gathered, if there is anything.
    #[cold]
    pub(super) fn overflow(&self, message: M) -> Offered<M> {
        match self.when_full {
            WhenFull::Refuse => {
                self.ledger.count_refused();
                Offered::Refused(message)
            }
            WhenFull::Drop => {
                self.ledger.count_dropped(1);
                let _ = self.guard(|| drop(message));
                Offered::Dropped
            }
            WhenFull::Unsubscribe => {
                self.ledger.count_dropped(1);
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

    #[inline]
    fn settle(&self, told: Option<Result<(), TellError<M>>>, patience: Patience) -> Offered<M> {
        match told {
            Some(Ok(())) => {
                self.common.ledger.count_delivered(1);
                Offered::Taken
            }
            Some(Err(error)) if error.why() == Refusal::Full => match patience {
                Patience::ForAll => Offered::Awaited(error.into_inner()),
                Patience::ForSome if self.common.is_to_have_all() || self.outlet.waits() => {
                    Offered::Awaited(error.into_inner())
                }
                _ => self.common.overflow(error.into_inner()),
            },
            Some(Err(error)) => {
                self.common.ledger.end(Ending::Stopped);
                let _ = self.common.guard(|| drop(error));
                Offered::Over
            }
            None => {
                self.common.ledger.count_dropped(1);
                Offered::Over
            }
        }
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
            Patience::AsMade => mailbox::WhenNoRoom::AsMade,
            Patience::Until(deadline) => mailbox::WhenNoRoom::WaitUntil(deadline),
            Patience::ForSome | Patience::ForAll => mailbox::WhenNoRoom::GiveBack,
        };
        let told = self.common.guard(|| self.outlet.tell_when(message, when));
        self.settle(told, patience)
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.outlet.with_room(look);
    }
}
