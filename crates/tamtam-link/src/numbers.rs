//! What a message has of replies and addresses, found by their numbers: a few stand in a list, and of many each is found at once.

use std::collections::{HashMap, HashSet};

use crate::frame::{Offer, Replies};

/// So many are looked through; of more a table is made.
pub(crate) const MOST_IN_LIST: usize = 16;

/// The numbers of replies.
pub(crate) enum Numbers {
    Few(Replies),
    Many(HashSet<u64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Few(Replies::new())
    }
}

impl From<Replies> for Numbers {
    fn from(replies: Replies) -> Self {
        if replies.len() > MOST_IN_LIST {
            return Self::Many(replies.into_iter().collect());
        }
        Self::Few(replies)
    }
}

impl Numbers {
    pub(crate) fn add(&mut self, number: u64) {
        match self {
            Self::Few(few) if few.len() < MOST_IN_LIST => few.push(number),
            Self::Few(few) => {
                let mut many: HashSet<u64> = few.drain(..).collect();
                many.insert(number);
                *self = Self::Many(many);
            }
            Self::Many(many) => {
                many.insert(number);
            }
        }
    }

    /// Takes a number out; `false` if it is not there.
    pub(crate) fn take(&mut self, number: u64) -> bool {
        match self {
            Self::Few(few) => match few.iter().position(|known| *known == number) {
                Some(place) => {
                    few.swap_remove(place);
                    true
                }
                None => false,
            },
            Self::Many(many) => many.remove(&number),
        }
    }

    /// All that are left.
    pub(crate) fn into_all(self) -> Replies {
        match self {
            Self::Few(few) => few,
            Self::Many(many) => many.into_iter().collect(),
        }
    }
}

/// The actors that a message exports.
pub(crate) enum Offers {
    /// Each as often as it was sent.
    Few(Vec<Offer>),
    /// How often each was sent, and its window.
    Many(HashMap<u64, (u64, u64)>),
}

impl From<Vec<Offer>> for Offers {
    fn from(offers: Vec<Offer>) -> Self {
        if offers.len() <= MOST_IN_LIST {
            return Self::Few(offers);
        }
        let mut many = HashMap::with_capacity(offers.len());
        for Offer { actor, window } in offers {
            let (times, _) = many.entry(actor).or_insert((0, window));
            *times += 1;
        }
        Self::Many(many)
    }
}

impl Offers {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Few(few) => few.is_empty(),
            Self::Many(many) => many.is_empty(),
        }
    }

    /// Takes an actor out: how often it was sent, and its window. Nothing and nothing if it was not.
    pub(crate) fn take(&mut self, actor: u64) -> (u64, u64) {
        match self {
            Self::Few(few) => {
                let before = few.len();
                let window = few.iter().find(|offer| offer.actor == actor);
                let window = window.map_or(0, |offer| offer.window);
                few.retain(|offer| offer.actor != actor);
                ((before - few.len()) as u64, window)
            }
            Self::Many(many) => many.remove(&actor).unwrap_or_default(),
        }
    }

    /// All that are left: each with how often it was sent.
    pub(crate) fn into_all(self) -> Vec<(u64, u64)> {
        match self {
            Self::Few(few) => few.into_iter().map(|offer| (offer.actor, 1)).collect(),
            Self::Many(many) => many
                .into_iter()
                .map(|(actor, (times, _))| (actor, times))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_and_many_are_found_alike() {
        for count in [0, 1, MOST_IN_LIST, MOST_IN_LIST + 1, 100] {
            let mut numbers = Numbers::from((0..count as u64).collect::<Replies>());
            assert!(!numbers.take(count as u64));
            for number in 0..count as u64 {
                assert!(
                    numbers.take(number) && !numbers.take(number),
                    "{number} of {count}"
                );
            }
            for number in 0..count as u64 {
                numbers.add(number);
            }
            let mut all = numbers.into_all().to_vec();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count as u64), "{count}");
        }
    }

    #[test]
    fn an_actor_is_taken_with_all_its_addresses() {
        for count in [2, MOST_IN_LIST as u64, 100] {
            let offer = |number| Offer {
                actor: number % (count / 2),
                window: number % (count / 2) + 7,
            };
            let mut offers = Offers::from((0..count).map(offer).collect::<Vec<_>>());
            assert_eq!(offers.take(count), (0, 0));
            assert_eq!((offers.take(0), offers.take(0)), ((2, 7), (0, 0)));
            let left = offers.into_all();
            assert_eq!(left.iter().map(|(_, times)| times).sum::<u64>(), count - 2);
        }
    }
}
