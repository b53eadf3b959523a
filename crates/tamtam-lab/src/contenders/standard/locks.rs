//! A value under a lock of the standard library.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::VERSION;
use crate::{Card, Contender, GetLatest, Latest, Measure, SetLatest, property};

/// Under an `RwLock`.
pub(super) const RWLOCK: Locked = Locked(Lock::Shared);
/// Under a `Mutex`.
pub(super) const MUTEX: Locked = Locked(Lock::Exclusive);

/// A value under a lock of the standard library.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locked(Lock);

#[derive(Debug, Clone, Copy)]
enum Lock {
    Shared,
    Exclusive,
}

impl Contender for Locked {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Lock::Shared => (
                "std::sync::RwLock",
                "a value under the standard library's RwLock",
            ),
            Lock::Exclusive => (
                "std::sync::Mutex",
                "a value under the standard library's Mutex",
            ),
        };
        Card {
            name,
            version: VERSION,
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        match self.0 {
            Lock::Shared => property::measures(UnderRwLock),
            Lock::Exclusive => property::measures(UnderMutex),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct UnderRwLock;

impl<V: Clone + Send + Sync + 'static> Latest<V> for UnderRwLock {
    type Writer = Shared<RwLock<V>>;
    type Reader = Shared<RwLock<V>>;

    fn open(&self, first: V) -> (Self::Writer, Self::Reader) {
        Shared::pair(RwLock::new(first))
    }
}

#[derive(Debug, Clone, Copy)]
struct UnderMutex;

impl<V: Clone + Send + 'static> Latest<V> for UnderMutex {
    type Writer = Shared<Mutex<V>>;
    type Reader = Shared<Mutex<V>>;

    fn open(&self, first: V) -> (Self::Writer, Self::Reader) {
        Shared::pair(Mutex::new(first))
    }
}

/// The lock, which has no ends of its own.
#[derive(Debug)]
struct Shared<L>(Arc<L>);

impl<L> Shared<L> {
    fn pair(lock: L) -> (Self, Self) {
        let lock = Arc::new(lock);
        (Shared(Arc::clone(&lock)), Shared(lock))
    }
}

impl<V: Send + Sync + 'static> SetLatest<V> for Shared<RwLock<V>> {
    fn set(&mut self, value: V) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl<V: Clone + Send + Sync + 'static> GetLatest<V> for Shared<RwLock<V>> {
    fn get(&mut self) -> V {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<V: Send + 'static> SetLatest<V> for Shared<Mutex<V>> {
    fn set(&mut self, value: V) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl<V: Clone + Send + 'static> GetLatest<V> for Shared<Mutex<V>> {
    fn get(&mut self) -> V {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
