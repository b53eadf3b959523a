//! The actors that were given messages since the other side was last told what is done with.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec::Drain;

use tamtam_actor::link::Exported;

use crate::numbers::MOST_IN_LIST;

/// What an actor was given.
pub(crate) struct Given {
    pub(crate) number: u64,
    pub(crate) actor: Arc<dyn Exported>,
    /// So many are to be confirmed.
    pub(crate) count: u64,
    /// So many bytes count as not done with until then.
    pub(crate) unhandled: usize,
}

/// All that were given something.
#[derive(Default)]
pub(crate) struct GivenActors {
    all: Vec<Given>,
    /// Where each of them stands there, once they are more than a few.
    places: HashMap<u64, usize>,
}

impl GivenActors {
    /// What this actor was given.
    pub(crate) fn of(&mut self, number: u64, actor: &Arc<dyn Exported>) -> &mut Given {
        let known = if self.all.len() <= MOST_IN_LIST {
            self.all.iter().position(|given| given.number == number)
        } else {
            self.places.get(&number).copied()
        };
        let place = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Given {
                number,
                actor: Arc::clone(actor),
                count: 0,
                unhandled: 0,
            });
            if self.all.len() > MOST_IN_LIST {
                let first = if self.places.is_empty() { 0 } else { place };
                let new = self.all.iter().enumerate().skip(first);
                self.places
                    .extend(new.map(|(place, given)| (given.number, place)));
            }
        }
        &mut self.all[place]
    }

    /// Takes all of them out.
    pub(crate) fn drain(&mut self) -> Drain<'_, Given> {
        self.places.clear();
        self.all.drain(..)
    }
}
