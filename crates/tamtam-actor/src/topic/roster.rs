//! Those who have subscribed, and what one who comes late is to get first.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tamtam_wait::contain;
use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};
use tamtam_wait::seam::{self, Mutex};

use super::ledger::{Ending, SubscriptionId};
use super::round::Patience;
use super::subscriber::{Interest, Member, Offered, Subscriber};
use super::{Subscription, Topic};
use crate::mailbox::{LockedStreak, StreakLock};

/// A topic with fewer subscribers is not searched for those that have stopped.
const SEARCHED_FROM: usize = if cfg!(tamtam_loom) { 1 } else { 64 };

/// Those who have subscribed. No message is given out while the lock is held.
pub(super) struct Subscribers<M> {
    members: Mutex<Members<M>>,
    /// How a message is kept for those who come late; none if it is not.
    keep: Option<fn(M) -> RetainedMessage<M>>,
    /// So many try to get in while others publish without a pause.
    entering: AtomicUsize,
    /// Of the streaks of what is sent to the subscribers.
    pub(super) streaks: StreakLock,
}

/// Subscribers as they were at some time, in the order in which they came.
pub(super) type RoundMembers<M> = Arc<[Arc<dyn Subscriber<M>>]>;

struct Members<M> {
    by_number: BTreeMap<u64, Arc<dyn Subscriber<M>>>,
    /// Made by the first publish after a change: so one who subscribes or leaves copies nothing, and a publish, which
    /// goes to each of them anyway, copies at most as much as it hands out.
    snapshot: Option<RoundMembers<M>>,
    next: u64,
    /// With so many subscribers those are looked for that have stopped.
    many: usize,
    retained: Option<RetainedMessage<M>>,
    /// So many messages were retained so far.
    version: u64,
}

/// Clones the message that is kept, on any thread. The messages of a topic that keeps none need be neither `Clone` nor
/// `Sync`: so these bounds are in here.
type RetainedMessage<M> = Arc<dyn Fn() -> M + Send + Sync>;

impl<M> Subscribers<M> {
    pub(super) fn new() -> Self {
        Subscribers {
            members: Mutex::new(Members {
                by_number: BTreeMap::new(),
                snapshot: None,
                next: 0,
                many: SEARCHED_FROM,
                retained: None,
                version: 0,
            }),
            keep: None,
            entering: AtomicUsize::new(0),
            streaks: StreakLock::new(),
        }
    }

    /// One that keeps the latest message.
    pub(super) fn retaining() -> Self
    where
        M: Clone + Send + Sync + 'static,
    {
        Subscribers {
            keep: Some(|message: M| Arc::new(move || message.clone())),
            ..Self::new()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.lock().by_number.len()
    }

    pub(super) fn retained(&self) -> Option<M> {
        self.latest().0.map(|kept| kept())
    }

    /// What is retained, and how many messages were until then.
    fn latest(&self) -> (Option<RetainedMessage<M>>, u64) {
        let members = self.members.lock();
        (members.retained.clone(), members.version)
    }

    /// Who is to get this message. From the same moment on it is the one that is retained: so one that comes later gets it
    /// from there.
    pub(super) fn begin_round(&self, message: &M) -> RoundMembers<M>
    where
        M: Clone,
    {
        let kept = self.keep.map(|keep| keep(message.clone()));
        if self.entering.load(Ordering::Relaxed) != 0 {
            seam::yield_now();
        }
        let (snapshot, outdated) = {
            let mut members = self.members.lock();
            let outdated = kept.and_then(|kept| {
                members.version += 1;
                members.retained.replace(kept)
            });
            let Members {
                by_number,
                snapshot,
                ..
            } = &mut *members;
            let snapshot = snapshot.get_or_insert_with(|| by_number.values().cloned().collect());
            (Arc::clone(snapshot), outdated)
        };
        // Its drop is the user's: not under the lock.
        contain(move || drop(outdated));
        snapshot
    }

    /// Adds a subscriber, which is told its number.
    fn add<S: Subscriber<M> + 'static>(
        &self,
        subscriber: impl FnOnce(SubscriptionId) -> Arc<S>,
    ) -> Arc<S> {
        let number = {
            let mut members = self.members.lock();
            members.next += 1;
            members.next
        };
        let subscriber = subscriber(SubscriptionId(number));
        let mut greeted = None;
        let mut entering = None;
        let (outdated, stopped) = loop {
            // The subscriber is not known yet, so what is retained comes before all that is published later; and if
            // something is published meanwhile, it is greeted by that, too.
            if self.keep.is_some() {
                if greeted.is_some() {
                    entering.get_or_insert_with(|| Entering::new(&self.entering));
                }
                let (kept, version) = self.latest();
                greeted = Some(version);
                greet(&*subscriber, kept);
            }
            let mut members = self.members.lock();
            if greeted.is_none_or(|version| version == members.version) {
                let member = Arc::clone(&subscriber);
                members.by_number.insert(number, member);
                break (members.snapshot.take(), members.take_stopped());
            }
        };
        // With it others may go that have left since, and what they have brought: not under the lock, and if that
        // panics no other subscriber hears of it.
        contain(move || drop(outdated));
        for member in stopped {
            member.ledger().end(Ending::Stopped);
            contain(move || {
                member.clear();
                drop(member);
            });
        }
        subscriber
    }
}

impl<M: 'static> Subscribers<M> {
    /// Forgets one whose subscription has ended.
    #[cold]
    pub(super) fn bury(&self, member: &dyn Subscriber<M>) {
        member.clear();
        self.forget(member.ledger().id);
    }
}

impl<M> Members<M> {
    /// Takes those out whose actors have stopped, if there are twice as many subscribers as the last look has left: so a
    /// topic on which nothing is published does not grow by them, and each that comes pays for the looks at two others.
    fn take_stopped(&mut self) -> Vec<Arc<dyn Subscriber<M>>> {
        if self.by_number.len() < self.many {
            return Vec::new();
        }
        let mut stopped = Vec::new();
        self.by_number.retain(|_, member| {
            let goes = member.is_stopped();
            if goes {
                stopped.push(Arc::clone(member));
            }
            !goes
        });
        self.many = SEARCHED_FROM.max(2 * self.by_number.len());
        stopped
    }
}

/// Those who publish give way to one who tries to get in, as long as there is this.
struct Entering<'a>(&'a AtomicUsize);

impl<'a> Entering<'a> {
    fn new(entering: &'a AtomicUsize) -> Self {
        entering.fetch_add(1, Ordering::Relaxed);
        Entering(entering)
    }
}

impl Drop for Entering<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Offers to one who has come late what is retained.
fn greet<M>(subscriber: &dyn Subscriber<M>, kept: Option<RetainedMessage<M>>) {
    let Some(message) = kept.map(|kept| kept()) else {
        return;
    };
    let Interest::Wants = subscriber.interest(&message) else {
        return;
    };
    // No publisher is there who could be told.
    if let Offered::NoRoom(message) = subscriber.offer(message, Patience::ForAll, None) {
        subscriber.ledger().dropped.add(1);
        contain(move || drop(message));
    }
}

/// Something that subscribers can be taken off, whatever its messages are.
pub(super) trait Forget: Send + Sync {
    fn forget(&self, who: SubscriptionId);
}

impl<M> Forget for Subscribers<M> {
    fn forget(&self, who: SubscriptionId) {
        let gone = {
            let mut members = self.members.lock();
            let gone = members.by_number.remove(&who.0);
            let outdated = gone.as_ref().and_then(|_| members.snapshot.take());
            (gone, outdated)
        };
        // As in `add`.
        contain(move || drop(gone));
    }
}

impl<M: Send + 'static> Topic<M> {
    /// A streak for one subscriber, which a round uses that has the lock.
    pub(super) fn streak(&self) -> LockedStreak {
        self.roster.streaks.streak()
    }

    /// Adds a subscriber that was made by a feed.
    pub(super) fn admit<S: Subscriber<M> + 'static>(
        &self,
        subscriber: impl FnOnce(SubscriptionId) -> Arc<S>,
    ) -> Subscription {
        let member: Arc<dyn Member> = self.roster.add(subscriber);
        let roster: Weak<Subscribers<M>> = Arc::downgrade(&self.roster);
        Subscription::new(member, roster)
    }
}
