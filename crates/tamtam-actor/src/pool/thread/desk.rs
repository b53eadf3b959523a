//! The desks of a pool's threads: what is due on each, and how each gets on.

use std::sync::OnceLock;

use tamtam_wait::seam::CacheAligned;
use tamtam_wait::seam::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::observe::Counts;
use crate::pool::deque::Deque;
use crate::pool::lifo_slot::LifoSlot;
use crate::task::Task;

/// What is due on one thread.
pub(super) struct Desk {
    pub(super) next: CacheAligned<LifoSlot<Task>>,
    pub(super) ring: Deque<Task>,
    pub(super) pace: CacheAligned<Pace>,
}

/// How a thread gets on.
pub(super) struct Pace {
    /// How many turns there were; tells others whether one takes long.
    turns: AtomicUsize,
    /// The thread has something to look at before its next turn: the two below, or what it has [not flushed](crate::task::Unflushed).
    /// For the thread itself.
    pub(super) has_note: AtomicBool,
    /// The last turn is to be followed by another one of the same actor. For the thread itself, which looks only if `has_note` is set.
    pub(super) was_long: AtomicBool,
    /// The thread has waited in a handler. As that.
    pub(super) was_away: AtomicBool,
    pub(super) counts: Counts,
}

impl Desk {
    fn new() -> Self {
        Desk {
            next: CacheAligned(LifoSlot::new()),
            ring: Deque::new(),
            pace: CacheAligned(Pace {
                turns: AtomicUsize::new(0),
                has_note: AtomicBool::new(false),
                was_long: AtomicBool::new(false),
                was_away: AtomicBool::new(false),
                counts: Counts::default(),
            }),
        }
    }

    /// How many turns the thread has had.
    #[inline]
    pub(super) fn turns(&self) -> usize {
        self.pace.turns.load(Ordering::Relaxed)
    }

    /// Counts a turn of the thread, on that thread; how many there were with it.
    #[inline(always)]
    pub(super) fn count_turn(&self) -> usize {
        // Only this thread writes it.
        let turns = self.turns().wrapping_add(1);
        self.pace.turns.store(turns, Ordering::Relaxed);
        turns
    }

    /// How many tasks lie here.
    #[inline]
    pub(super) fn due(&self) -> usize {
        self.ring.len() + usize::from(self.next.is_full())
    }

    /// Has the thread look at one of the [`Pace`]'s notes before its next turn.
    #[inline]
    pub(super) fn note(&self, note: impl FnOnce(&Pace) -> &AtomicBool) {
        note(&self.pace).store(true, Ordering::Relaxed);
        self.pace.has_note.store(true, Ordering::Relaxed);
    }
}

/// The desks of the pool's threads, and of their stand-ins: a stand-in's ring is counted on from those of the threads.
pub(super) struct Desks {
    own: Box<[Desk]>,
    /// Each made when it is needed for the first time.
    spare: Box<[OnceLock<Box<Desk>>]>,
    /// So many are to be looked at: those up to the last one at which there is a thread.
    used: AtomicUsize,
}

impl Desks {
    pub(super) fn new(threads: usize) -> Self {
        Desks {
            own: (0..threads).map(|_| Desk::new()).collect(),
            spare: Box::default(),
            used: AtomicUsize::new(threads),
        }
    }

    /// Makes room for this many stand-ins; their rings.
    pub(super) fn allow_spare(&mut self, most: usize) -> core::ops::Range<usize> {
        self.spare = (0..most).map(|_| OnceLock::new()).collect();
        self.own.len()..self.own.len() + most
    }

    /// How many stand-ins there is room for.
    pub(super) fn spare(&self) -> usize {
        self.spare.len()
    }

    /// The desk of a thread.
    #[inline(always)]
    pub(super) fn at(&self, ring: usize) -> &Desk {
        match self.own.get(ring) {
            Some(desk) => desk,
            None => self.spare_at(ring),
        }
    }

    #[cold]
    #[inline(never)]
    fn spare_at(&self, ring: usize) -> &Desk {
        self.spare[ring - self.own.len()].get_or_init(|| Box::new(Desk::new()))
    }

    /// A thread is about to begin at this desk.
    pub(super) fn note_used(&self, ring: usize) {
        self.used.fetch_max(ring + 1, Ordering::SeqCst);
    }

    /// Behind the first so many there is a thread at no desk, and nothing on any. For the holder of the lock under which rings are taken.
    pub(super) fn note_unused(&self, used: usize) {
        self.used.store(used, Ordering::SeqCst);
    }

    /// How many desks are to be looked at.
    pub(super) fn count_used(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }

    /// The desk of a thread, if there is or was one.
    #[inline]
    pub(super) fn used_at(&self, ring: usize) -> Option<&Desk> {
        match self.own.get(ring) {
            Some(desk) => Some(desk),
            // One that is being made has nothing on it.
            None => self.spare[ring - self.own.len()].get().map(|desk| &**desk),
        }
    }

    /// All desks that are to be looked at, each with its thread's ring.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, &Desk)> {
        (0..self.count_used()).filter_map(|ring| Some((ring, self.used_at(ring)?)))
    }

    /// All desks at which there ever was a thread: what they have counted counts still.
    pub(super) fn made(&self) -> impl Iterator<Item = &Desk> {
        let spare = self.spare.iter().filter_map(|desk| Some(&**desk.get()?));
        self.own.iter().chain(spare)
    }

    /// Whether anything is due in a ring. Sequentially consistent.
    pub(super) fn has_ring(&self) -> bool {
        self.used().any(|(_, desk)| desk.ring.len() != 0)
    }
}
