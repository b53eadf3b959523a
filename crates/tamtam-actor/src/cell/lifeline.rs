//! What an actor is called, who watches it, and whom it watches: a word in the cell of an actor about which
//! there is nothing to tell.
//!
//! The word is null at first. It becomes the address of a [`Life`] when there is something to remember, or a
//! number when the actor ends and was not watched: then that is all that will ever be said.

use core::ptr;
use std::sync::{Arc, Weak};

use tamtam_wait::contain;
use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

use super::AnyActor;
use super::watches::Watches;
use crate::ended::{EndReason, Ended};

/// Tells watches apart, over all actors; the younger one is the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WatchKey(u64);

impl WatchKey {
    #[cfg(feature = "serde")]
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    pub(crate) fn next() -> Self {
        // Not of the seam: it orders nothing.
        static NEXT: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);
        WatchKey(NEXT.fetch_add(1, core::sync::atomic::Ordering::Relaxed))
    }
}

/// What is to be done at an actor's end.
pub(crate) type Watcher = Box<dyn FnOnce(&Ended) + Send>;

/// Whom an actor watches.
pub(crate) struct Watched {
    pub(crate) place: Weak<dyn AnyActor>,
    /// It is watched by the other one as well, and each ends with the other.
    pub(crate) is_linked: bool,
}

pub(crate) struct Lifeline {
    word: AtomicPtr<Life>,
}

struct Life {
    name: Option<Arc<str>>,
    inner: Mutex<LifelineState>,
}

#[derive(Default)]
struct LifelineState {
    /// Why it is about to end.
    why: Option<EndReason>,
    has_ended: bool,
    /// Its home knows that it is watched.
    is_known: bool,
    watchers: Watches<Watcher>,
    watched: Watches<Watched>,
}

/// Those whom an actor's end concerns.
pub(crate) struct Concerned {
    pub(crate) reason: EndReason,
    pub(crate) watchers: Watches<Watcher>,
    pub(crate) watched: Watches<Watched>,
}

impl Concerned {
    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.is_empty() && self.watched.is_empty()
    }

    /// Tells those who watch, and those watched that they no longer are.
    pub(crate) fn tell(self, ended: &Ended) {
        for (_, watcher) in self.watchers {
            contain(|| watcher(ended));
        }
        unwatch(self.watched);
    }
}

fn unwatch(watched: Watches<Watched>) {
    for (key, watched) in watched {
        if let Some(place) = watched.place.upgrade() {
            contain(|| place.forget_watcher(key));
        }
    }
}

/// The reasons that a word has place for, as its value.
const SMALL: [EndReason; 4] = [
    EndReason::Stopped, // never there: null
    EndReason::Stopped,
    EndReason::NoAddresses,
    EndReason::HomeEnded,
];

fn small_word(reason: &EndReason) -> Option<*mut Life> {
    let number = 1 + SMALL[1..].iter().position(|small| small == reason)?;
    Some(ptr::without_provenance_mut(number))
}

fn small_reason(word: *mut Life) -> Option<EndReason> {
    match word.addr() {
        0 => None,
        number => SMALL.get(number).cloned(),
    }
}

impl Lifeline {
    pub(crate) fn new() -> Self {
        Lifeline {
            word: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Gives the actor its name, before another thread knows it.
    pub(crate) fn set_name(&self, name: Arc<str>) {
        let life = Box::new(Life {
            name: Some(name),
            inner: Mutex::new(LifelineState::default()),
        });
        let before = self.word.swap(Box::into_raw(life), Ordering::AcqRel);
        debug_assert!(before.is_null(), "an actor is named at its birth");
    }

    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.look()?.ok()?.name.clone()
    }

    pub(crate) fn has_name(&self) -> bool {
        matches!(self.look(), Some(Ok(life)) if life.name.is_some())
    }

    /// What it is about to end for, if that was noted.
    pub(crate) fn noted(&self) -> Option<EndReason> {
        self.look()?.ok()?.inner.lock().why.clone()
    }

    /// What there is; `Err` if the actor has ended and nothing is left to remember.
    fn look(&self) -> Option<Result<&Life, EndReason>> {
        // SYNC life-word
        let word = self.word.load(Ordering::Acquire);
        if word.is_null() {
            return None;
        }
        Some(match small_reason(word) {
            Some(reason) => Err(reason),
            // SAFETY: neither null nor small, so it came from a box, which stays until this is dropped.
            None => Ok(unsafe { &*word }),
        })
    }

    /// A place to remember something; `Err` as for `look`.
    fn life(&self) -> Result<&Life, EndReason> {
        if let Some(life) = self.look() {
            return life;
        }
        let life = Box::into_raw(Box::new(Life {
            name: None,
            inner: Mutex::new(LifelineState::default()),
        }));
        // SYNC life-word: what is in the box.
        let made =
            self.word
                .compare_exchange(ptr::null_mut(), life, Ordering::AcqRel, Ordering::Acquire);
        match made {
            // SAFETY: it was made above, and stays until this is dropped.
            Ok(_) => Ok(unsafe { &*life }),
            Err(word) => {
                // SAFETY: it was made above, and no other thread has seen it.
                drop(unsafe { Box::from_raw(life) });
                match small_reason(word) {
                    Some(reason) => Err(reason),
                    // SAFETY: a word that is no small reason is a `Life` in a box, which stays until the lifeline is
                    // dropped.
                    None => Ok(unsafe { &*word }),
                }
            }
        }
    }

    /// Adds a watcher to be told of the end. If that has come already, why, and the watcher.
    pub(crate) fn add_watcher(
        &self,
        key: WatchKey,
        watcher: Watcher,
    ) -> Result<(), (EndReason, Watcher)> {
        let life = match self.life() {
            Ok(life) => life,
            Err(reason) => return Err((reason, watcher)),
        };
        let mut inner = life.inner.lock();
        if inner.has_ended {
            let reason = inner.why.clone().unwrap_or(EndReason::Stopped);
            return Err((reason, watcher));
        }
        inner.watchers.insert(key, watcher);
        Ok(())
    }

    /// Whether the home has to be told that there is a watcher of the end; at most once.
    pub(crate) fn is_news(&self) -> bool {
        self.life()
            .is_ok_and(|life| !core::mem::replace(&mut life.inner.lock().is_known, true))
    }

    /// Remembers whom this actor watches, unless it has ended.
    pub(crate) fn add_watched(&self, key: WatchKey, watched: Watched) {
        if let Ok(life) = self.life() {
            let mut inner = life.inner.lock();
            // One that has ended would keep it.
            if !inner.has_ended {
                inner.watched.insert(key, watched);
            }
        }
    }

    /// Forgets one whom this actor watches: `true` unless that had been done.
    pub(crate) fn forget_watched(&self, key: WatchKey) -> bool {
        match self.look() {
            Some(Ok(life)) => {
                let forgotten = life.inner.lock().watched.take(key);
                forgotten.is_some()
            }
            _ => false,
        }
    }

    /// Forgets one who watches this actor: `true` unless he has been told, or forgotten before.
    pub(crate) fn forget_watcher(&self, key: WatchKey) -> bool {
        match self.look() {
            Some(Ok(life)) => {
                let forgotten = life.inner.lock().watchers.take(key);
                // Not under the lock: what it has is a user's.
                forgotten.is_some()
            }
            _ => false,
        }
    }

    /// Whether this actor is watched, and has not ended.
    #[cfg(feature = "serde")]
    pub(crate) fn is_watched(&self) -> bool {
        match self.look() {
            Some(Ok(life)) => !life.inner.lock().watchers.is_empty(),
            _ => false,
        }
    }

    /// Whether this one watches, and has not been told.
    #[cfg(feature = "serde")]
    pub(crate) fn has_watcher(&self, key: WatchKey) -> bool {
        match self.look() {
            Some(Ok(life)) => life.inner.lock().watchers.contains(key),
            _ => false,
        }
    }

    /// Ends the watching of those with whom this actor is not linked.
    pub(crate) fn unwatch(&self) {
        if let Some(Ok(life)) = self.look() {
            let mut inner = life.inner.lock();
            let watched = inner.watched.take_if(|watched| !watched.is_linked);
            drop(inner);
            unwatch(watched);
        }
    }

    /// Those with whom this actor is linked.
    pub(crate) fn links(&self) -> Vec<(WatchKey, Weak<dyn AnyActor>)> {
        match self.look() {
            Some(Ok(life)) => {
                let inner = life.inner.lock();
                let links = inner
                    .watched
                    .iter()
                    .filter(|(_, watched)| watched.is_linked);
                links
                    .map(|(key, watched)| (key, Weak::clone(&watched.place)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Says what it is about to end for. The first reason stays.
    pub(crate) fn note(&self, why: EndReason) {
        if let Ok(life) = self.life() {
            life.inner.lock().why.get_or_insert(why);
        }
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        match self.look() {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(life)) => life.inner.lock().has_ended,
        }
    }

    /// Why it has ended, if it has.
    #[cfg(all(test, tamtam_loom))]
    pub(crate) fn end_reason(&self) -> Option<EndReason> {
        match self.look()? {
            Err(reason) => Some(reason),
            Ok(life) => life.inner.lock().why.clone(),
        }
    }

    /// The end: for this reason unless another one was noted. The watchers are given back, to be told, and none
    /// is added any more.
    pub(crate) fn end(&self, reason: EndReason) -> Concerned {
        if let Some(word) = small_word(&reason) {
            // SYNC life-word
            let ended = self.word.compare_exchange(
                ptr::null_mut(),
                word,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if ended.is_ok() {
                return Concerned {
                    reason,
                    watchers: Watches::new(),
                    watched: Watches::new(),
                };
            }
        }
        match self.life() {
            Ok(life) => {
                let mut inner = life.inner.lock();
                inner.has_ended = true;
                Concerned {
                    reason: inner.why.get_or_insert(reason).clone(),
                    watchers: core::mem::take(&mut inner.watchers),
                    watched: core::mem::take(&mut inner.watched),
                }
            }
            Err(reason) => unreachable!("an actor ends once, and has: {reason}"),
        }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        // SYNC life-word
        let word = self.word.load(Ordering::Acquire);
        if !word.is_null() && small_reason(word).is_none() {
            // SAFETY: it came from a box, and no thread has this any more.
            drop(unsafe { Box::from_raw(word) });
        }
    }
}
