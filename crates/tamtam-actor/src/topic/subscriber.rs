//! What a topic sees of a subscriber.

use std::sync::Arc;

use tamtam_wait::{Source, contain};

use super::feed::WhenFull;
use super::ledger::{Ending, SubscriptionId, SubscriptionLedger};
use super::round::Patience;
use crate::address::Outlet;
use crate::mailbox::{LockedStreak, Streak, StreakGuard, WhenNoRoom};

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
    fn interest(&self, message: &M) -> Interest;

    /// Offers a message that it wants. With `streaks` this round is the only one that uses those of the topic.
    fn offer(
        &self,
        message: M,
        patience: Patience,
        streaks: Option<&StreakGuard<'_>>,
    ) -> Offered<M>;

    /// Shows the room to a task that awaits it.
    fn with_room(&self, look: &mut dyn FnMut(&dyn Source));
}

/// What a subscriber says of a message before it is offered.
pub(super) enum Interest {
    /// It wants it.
    Wants,
    /// It does not.
    Not,
    /// The subscription has ended; perhaps by this, since its filter has panicked.
    Over,
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
    pub(super) fn interest(&self, message: &M) -> Interest {
        if !self.ledger.is_active() {
            return Interest::Over;
        }
        let Some(filter) = &self.filter else {
            return Interest::Wants;
        };
        match self.guard(|| filter(message)) {
            Some(true) => Interest::Wants,
            // It may have ended its own subscription.
            Some(false) if self.ledger.is_active() => Interest::Not,
            Some(false) | None => Interest::Over,
        }
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
    pub(super) fn tell<N>(
        &self,
        outlet: &Outlet<N>,
        message: N,
        when: WhenNoRoom,
        streak: Option<&Streak>,
    ) -> Told<N> {
        let told = self.guard(|| match streak {
            Some(streak) => outlet.tell_in_streak(streak, message, when),
            None => outlet.tell(message, when),
        });
        match told {
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
    /// Of what the topic sends here.
    streak: LockedStreak,
}

impl<M> Each<M> {
    pub(super) fn new(common: Common<M>, outlet: Outlet<M>, streak: LockedStreak) -> Arc<Self> {
        Arc::new(Each {
            common,
            outlet,
            streak,
        })
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
    #[inline]
    fn interest(&self, message: &M) -> Interest {
        self.common.interest(message)
    }

    #[inline]
    fn offer(
        &self,
        message: M,
        patience: Patience,
        streaks: Option<&StreakGuard<'_>>,
    ) -> Offered<M> {
        let ledger = &self.common.ledger;
        let mut message = message;
        let mut streak = None;
        if let Some(streaks) = streaks
            && let Some(own) = self.streak.get(streaks)
        {
            match self.outlet.put_into_block(own, message) {
                Ok(()) => {
                    ledger.count_in_streak(streaks);
                    if self.outlet.is_stopped() {
                        self.common.guard(|| self.outlet.look_after_end());
                    }
                    return Offered::Taken;
                }
                Err(back) => message = back,
            }
            streak = Some(own);
        }
        let when = match patience {
            Patience::AsMade => WhenNoRoom::AsMade,
            Patience::Until(deadline) => WhenNoRoom::WaitUntil(deadline),
            Patience::ForSome | Patience::ForAll => WhenNoRoom::GiveBack,
        };
        match self.common.tell(&self.outlet, message, when, streak) {
            Told::Accepted => {
                ledger.delivered.add(1);
                Offered::Taken
            }
            Told::Full(message) => self.common.no_room(message, patience, self.outlet.waits()),
            Told::Stopped => Offered::Over,
            Told::Panicked => {
                ledger.dropped.add(1);
                Offered::Over
            }
        }
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.outlet.with_room(look);
    }
}
