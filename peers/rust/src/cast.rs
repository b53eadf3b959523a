//! Actors who know each other by their positions.

use std::sync::{Arc, OnceLock};

/// The addresses of all, in the order of their positions: there as soon as all are made.
#[derive(Debug)]
pub(crate) struct Cast<A>(Arc<OnceLock<Vec<A>>>);

impl<A> Cast<A> {
    /// Nobody yet.
    pub(crate) fn new() -> Self {
        Cast(Arc::new(OnceLock::new()))
    }

    /// These are all.
    pub(crate) fn complete(&self, all: Vec<A>) {
        assert!(self.0.set(all).is_ok(), "it is complete already");
    }

    /// The address of the actor at `position`.
    #[inline]
    pub(crate) fn get(&self, position: usize) -> Option<&A> {
        self.0.get()?.get(position)
    }
}

impl<A> Clone for Cast<A> {
    fn clone(&self) -> Self {
        Cast(Arc::clone(&self.0))
    }
}
