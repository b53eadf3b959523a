//! Two actors that end together: what each of them does at the other one's end, and how that is taken back.

use std::sync::{Arc, Weak};

use super::{AnyActor, WatchKey, Watched, Watcher};
use crate::ended::Ended;
#[cfg(feature = "serde")]
use crate::id::ActorId;

/// Links two actors, in this process alone: what stands for one in another process is to say it there.
pub(crate) fn tie(one: &Arc<dyn AnyActor>, other: &Arc<dyn AnyActor>) -> WatchKey {
    let key = WatchKey::next();
    tie_by(key, one, other);
    key
}

/// As `tie`, by this key; `false` if either has ended before. The second one may be taking the link back on another thread: it finds it
/// last, when all else of it is there.
fn tie_by(key: WatchKey, one: &Arc<dyn AnyActor>, other: &Arc<dyn AnyActor>) -> bool {
    // Either may have ended, or end meanwhile; and each tells, or is told of, in any case.
    for (from, to) in [(one, other), (other, one)] {
        let watcher = tell(key, Arc::downgrade(from), Arc::downgrade(to));
        Arc::clone(from).watch(key, watcher);
    }
    for (from, to) in [(one, other), (other, one)] {
        from.life().add_watched(key, linked(to));
    }
    let has_ended = one.life().has_ended() || other.life().has_ended();
    if has_ended {
        // The other one was told of that, perhaps before it had all of this.
        untie(key, [one, other]);
    }
    !has_ended
}

/// Takes a link of two actors back, in this process alone.
pub(crate) fn untie(key: WatchKey, places: [&Arc<dyn AnyActor>; 2]) {
    for place in places {
        Arc::clone(place).forget_watcher(key);
        place.life().forget_watched(key);
    }
}

/// Under which key an actor is linked with another one, and what that is here.
pub(crate) fn find(
    own: &dyn AnyActor,
    other: &dyn AnyActor,
) -> Option<(WatchKey, Arc<dyn AnyActor>)> {
    let is_other = |place: &dyn AnyActor| {
        // Of one in another process there may be several, one after the other.
        let far = place.far_place();
        place.id() == other.id() || (far.is_some() && far == other.far_place())
    };
    let mut links = own.life().links().into_iter();
    links.find_map(|(key, place)| {
        let place = place.upgrade()?;
        is_other(&*place).then_some((key, place))
    })
}

fn linked(place: &Arc<dyn AnyActor>) -> Watched {
    Watched {
        place: Arc::downgrade(place),
        is_linked: true,
    }
}

/// Tells one of two of the end of the other one.
fn tell(key: WatchKey, from: Weak<dyn AnyActor>, to: Weak<dyn AnyActor>) -> Watcher {
    Box::new(move |ended: &Ended| {
        if let Some(from) = from.upgrade() {
            from.link_over(key);
        }
        if let Some(to) = to.upgrade() {
            to.partner_ended(key, ended);
        }
    })
}

/// Two actors that are linked, or are about to be, one of which may be in another process: for the link between the two.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[derive(Clone)]
pub struct LinkTie {
    pub(crate) key: WatchKey,
    pub(crate) actor: ActorId,
    pub(crate) near: Weak<dyn AnyActor>,
    pub(crate) far: Weak<dyn AnyActor>,
}

#[cfg(feature = "serde")]
impl LinkTie {
    pub(crate) fn new(key: WatchKey, near: &Arc<dyn AnyActor>, far: &Arc<dyn AnyActor>) -> Self {
        LinkTie {
            key,
            actor: near.id(),
            near: Arc::downgrade(near),
            far: Arc::downgrade(far),
        }
    }

    /// What no other two are linked by.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key.get()
    }

    /// The number of the one that is linked with the other side's actor.
    #[must_use]
    pub fn actor(&self) -> ActorId {
        self.actor
    }

    /// The name of that one.
    #[must_use]
    pub fn name(&self) -> Option<Arc<str>> {
        self.near.upgrade()?.name()
    }

    /// Whether neither has ended, nor is about to tell the other one so, and the link was not taken back.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        [&self.near, &self.far].into_iter().all(|place| {
            let place = place.upgrade();
            place.is_some_and(|place| place.life().has_watcher(self.key))
        })
    }

    /// Links the two; `false` if either has ended before. From then on either may end, or take that back.
    pub fn tie(&self) -> bool {
        let (Some(near), Some(far)) = (self.near.upgrade(), self.far.upgrade()) else {
            return false;
        };
        let is_tied = tie_by(self.key, &far, &near);
        // If that is in a third process.
        near.link_made(self.key, &far);
        is_tied
    }

    /// The link was taken back at the other side.
    pub fn untie(&self) {
        let (Some(near), Some(far)) = (self.near.upgrade(), self.far.upgrade()) else {
            return;
        };
        untie(self.key, [&near, &far]);
        // If that is in a third process.
        near.unlinked(self.key);
    }
}

#[cfg(feature = "serde")]
impl core::fmt::Debug for LinkTie {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LinkTie")
            .field("key", &self.key)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}
