//! In which order a select looks at its operations: at random, unless the order counts.

use core::cell::Cell;

use super::handles::{Handle, Handles, INLINE};

/// In which order a select looks at its operations.
pub(super) enum Order {
    AsTheyLie,
    /// As they lie, where each is exchanged for a later one when its turn comes: so many are where they stay.
    Moved {
        chosen: usize,
    },
    /// These places, one after the other: their numbers are moved sooner than the operations.
    Of(Places),
}

/// Places in random order, of which each is chosen when its turn comes: mostly the first few bring something.
pub(super) struct Places {
    pub(super) places: [u8; INLINE],
    pub(super) count: usize,
    /// So many are where they stay.
    pub(super) chosen: usize,
    /// The part of the random number that has not decided yet: there are 40,320 orders of eight.
    pub(super) random: u32,
}

impl Order {
    /// The order for these operations: as they lie, or at random.
    pub(super) fn of(handles: &Handles<'_>, biased: bool) -> Order {
        if biased {
            return Order::AsTheyLie;
        }
        match handles {
            Handles::Inline(_, count) => Order::Of(Places {
                places: core::array::from_fn(|place| place as u8),
                count: *count,
                chosen: 0,
                random: random(),
            }),
            Handles::Heap(_) => Order::Moved { chosen: 0 },
        }
    }

    /// The place of the operation that has this turn; no turn before it was left out.
    #[inline]
    pub(super) fn place(&mut self, turn: usize, handles: &mut [Option<Handle<'_>>]) -> usize {
        match self {
            Order::AsTheyLie => turn,
            Order::Moved { chosen } => {
                if turn == *chosen {
                    // Fisher and Yates, from the other end: mostly the first few bring something.
                    handles.swap(turn, turn + random_below(handles.len() - turn));
                    *chosen += 1;
                }
                turn
            }
            Order::Of(places) => places.place(turn),
        }
    }

    /// The operations in this order, if that is another than that in which they lie.
    #[cold]
    pub(super) fn arranged<'a>(
        &mut self,
        handles: &[Option<Handle<'a>>],
    ) -> Option<[Option<Handle<'a>>; INLINE]> {
        let Order::Of(places) = self else { return None };
        let mut arranged = [None; INLINE];
        for (turn, place) in arranged.iter_mut().enumerate().take(handles.len()) {
            *place = handles[places.place(turn)];
        }
        Some(arranged)
    }
}

impl Places {
    /// The place that has this turn; no turn before it was left out.
    #[inline]
    pub(super) fn place(&mut self, turn: usize) -> usize {
        if turn == self.chosen {
            // Fisher and Yates, from the other end.
            let product = u64::from(self.random) * (self.count - turn) as u64;
            self.random = product as u32;
            self.places.swap(turn, turn + (product >> 32) as usize);
            self.chosen += 1;
        }
        usize::from(self.places[turn])
    }
}

/// A random number, by Marsaglia's xorshift.
pub(super) fn random() -> u32 {
    RANDOM
        .try_with(|state| {
            let mut random = state.get();
            if random == 0 {
                // Each thread starts elsewhere: its own stack tells it from the others.
                random = (core::ptr::from_ref(&random).addr() >> 4) as u32 | 1;
            }
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            state.set(random);
            random
        })
        .unwrap_or(0)
}

/// A random number below `bound`, by Lemire's multiplication.
pub(super) fn random_below(bound: usize) -> usize {
    ((u64::from(random()) * bound as u64) >> 32) as usize
}

thread_local! {
    static RANDOM: Cell<u32> = const { Cell::new(0) };
}
