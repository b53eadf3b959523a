use std::sync::Arc;

use ::arc_swap::ArcSwap;
use ::arc_swap::cache::Cache;
use tamtam_lab::{Card, Contender, GetLatest, Latest, Measure, Polled, SetLatest, property, turns};

/// Read with `load`.
pub(crate) const LOAD: Swapped = Swapped(Reading::Load);
/// Read through its `Cache`, which keeps the last value and looks whether it is still the one.
pub(crate) const CACHE: Swapped = Swapped(Reading::Cache);

/// The shared value of the crate `arc-swap`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Swapped(Reading);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Load,
    Cache,
}

impl Contender for Swapped {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Reading::Load => (
                "arc-swap",
                "arc-swap's ArcSwap, read with load; in turns looked at in a tight loop",
            ),
            Reading::Cache => (
                "arc-swap-cache",
                "arc-swap's ArcSwap, read through a Cache that each reader keeps",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_ARC_SWAP"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = property::measures(*self);
        if self.0 == Reading::Load {
            measures.extend(turns::measures(Polled(*self)));
            measures.push(turns::string(Polled(*self)));
        }
        measures
    }
}

impl<V: Clone + Send + Sync + 'static> Latest<V> for Swapped {
    type Writer = Writer<V>;
    type Reader = Reader<V>;

    fn open(&self, first: V) -> (Writer<V>, Reader<V>) {
        let shared = Arc::new(ArcSwap::from_pointee(first));
        let reader = match self.0 {
            Reading::Load => Reader::Load(Arc::clone(&shared)),
            Reading::Cache => Reader::Cache(Cache::new(Arc::clone(&shared))),
        };
        (Writer(shared), reader)
    }
}

#[derive(Debug)]
pub(crate) struct Writer<V>(Arc<ArcSwap<V>>);

impl<V: Send + Sync + 'static> SetLatest<V> for Writer<V> {
    fn set(&mut self, value: V) {
        self.0.store(Arc::new(value));
    }
}

#[derive(Debug)]
pub(crate) enum Reader<V> {
    Load(Arc<ArcSwap<V>>),
    Cache(Cache<Arc<ArcSwap<V>>, Arc<V>>),
}

impl<V: Clone + Send + Sync + 'static> GetLatest<V> for Reader<V> {
    fn get(&mut self) -> V {
        match self {
            Reader::Load(shared) => V::clone(&shared.load()),
            Reader::Cache(cache) => V::clone(cache.load()),
        }
    }
}
