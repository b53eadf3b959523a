//! Who lives on a line.

use std::sync::{Arc, Weak};

use tamtam_wait::seam::Mutex;

use crate::id::{ActorId, ActorTable};
use crate::waits::leads_to;

/// An actor that lives on a line, whatever its messages are.
pub(super) trait Resident: Send + Sync {
    /// It stops with its next turn, which it gets.
    fn stop(self: Arc<Self>);

    /// It gets a turn.
    fn nudge(self: Arc<Self>);

    fn id(&self) -> ActorId;
}

/// The seats of those who live on a line. To take one and to leave it costs the same however many there are; no
/// message comes by here.
pub(super) struct Roster(Mutex<Seats>);

#[derive(Default)]
struct Seats {
    seats: Vec<RosterSeat>,
    free: Vec<u32>,
    taken: usize,
    /// So many have still to have a turn that leaves nothing.
    owing: usize,
    /// Who comes is stopped.
    stopping: bool,
    /// No actor may come any more.
    closed: bool,
}

enum RosterSeat {
    Free,
    /// For an actor that is being made.
    Reserved,
    Taken {
        resident: Weak<dyn Resident>,
        owes: bool,
    },
}

impl Seats {
    fn residents(&self) -> Vec<Weak<dyn Resident>> {
        let taken = self.seats.iter().filter_map(|seat| match seat {
            RosterSeat::Taken { resident, .. } => Some(Weak::clone(resident)),
            _ => None,
        });
        taken.collect()
    }
}

impl Roster {
    pub(super) fn new() -> Self {
        Roster(Mutex::new(Seats::default()))
    }

    pub(super) fn taken(&self) -> usize {
        self.0.lock().taken
    }

    /// A seat for an actor that is about to be made; `None` if the line is at its end.
    pub(super) fn reserve(&self) -> Option<u32> {
        let mut seats = self.0.lock();
        if seats.closed {
            return None;
        }
        seats.taken += 1;
        let place = match seats.free.pop() {
            Some(place) => place,
            None => {
                seats.seats.push(RosterSeat::Free);
                u32::try_from(seats.seats.len() - 1).ok()?
            }
        };
        seats.seats[place as usize] = RosterSeat::Reserved;
        Some(place)
    }

    /// The actor that was to come is here. `true`: it is to stop at once.
    #[must_use]
    pub(super) fn fill(&self, place: u32, resident: Weak<dyn Resident>) -> bool {
        let mut seats = self.0.lock();
        seats.seats[place as usize] = RosterSeat::Taken {
            resident,
            owes: false,
        };
        seats.stopping
    }

    /// A seat is free again.
    pub(super) fn leave(&self, place: u32) {
        let mut seats = self.0.lock();
        let left = core::mem::replace(&mut seats.seats[place as usize], RosterSeat::Free);
        seats.owing -= usize::from(matches!(left, RosterSeat::Taken { owes: true, .. }));
        seats.taken -= 1;
        seats.free.push(place);
        if seats.taken == 0 && seats.seats.len() > 1_024 {
            // The memory of a crowd is given back.
            seats.seats = Vec::new();
            seats.free = Vec::new();
        }
    }

    /// Lets all who are here, and all who are still to come, stop.
    pub(super) fn stop_all(&self) {
        let residents = {
            let mut seats = self.0.lock();
            seats.stopping = true;
            seats.residents()
        };
        for resident in residents {
            if let Some(resident) = resident.upgrade() {
                resident.stop();
            }
        }
    }

    /// Gives each who is here a turn, and counts those who have not had one since that left nothing.
    pub(super) fn ask_all_for_a_turn(&self) {
        let residents = {
            let mut seats = self.0.lock();
            let mut owing = 0;
            for seat in &mut seats.seats {
                if let RosterSeat::Taken { owes, .. } = seat {
                    *owes = true;
                    owing += 1;
                }
            }
            seats.owing = owing;
            seats.residents()
        };
        for resident in residents {
            if let Some(resident) = resident.upgrade() {
                resident.nudge();
            }
        }
    }

    /// An actor had a turn that left nothing.
    pub(super) fn settle(&self, place: u32) {
        let mut seats = self.0.lock();
        if let RosterSeat::Taken { owes, .. } = &mut seats.seats[place as usize]
            && core::mem::take(owes)
        {
            seats.owing -= 1;
        }
    }

    /// An actor has something left, and will have a turn for it.
    pub(super) fn owe(&self, place: u32) {
        let mut seats = self.0.lock();
        if let RosterSeat::Taken { owes, .. } = &mut seats.seats[place as usize]
            && !core::mem::replace(owes, true)
        {
            seats.owing += 1;
        }
    }

    pub(super) fn owing(&self) -> usize {
        self.0.lock().owing
    }

    /// Whether all that owe a turn wait for actors here that owe none, and so make no room; or, if `waits_for_room` is not so, for any
    /// actors.
    pub(super) fn are_all_stuck(&self, waits_for_room: bool) -> bool {
        let (owing, settled): (Vec<_>, Vec<_>) = {
            let seats = self.0.lock();
            let taken = seats.seats.iter().filter_map(|seat| match seat {
                RosterSeat::Taken { resident, owes } => Some((Weak::clone(resident), *owes)),
                _ => None,
            });
            taken.partition(|(_, owes)| *owes)
        };
        let id = |(resident, _): &(Weak<dyn Resident>, bool)| Some(resident.upgrade()?.id());
        let mut idle = ActorTable::new();
        for id in settled.iter().filter_map(id) {
            idle.insert(id, ());
        }
        let is_idle = |actor: ActorId| !waits_for_room || idle.get(&actor).is_some();
        owing.iter().filter_map(id).all(|id| leads_to(id, is_idle))
    }

    /// Closes when no actor is here; `false` if there is one.
    pub(super) fn close(&self) -> bool {
        let mut seats = self.0.lock();
        seats.closed |= seats.taken == 0;
        seats.closed
    }
}
