//! Which processes have a channel, how many senders each of them has, and to whom a region of an arena belongs meanwhile.
//!
//! A region has a **generation**, another one each time that the maker of the arena gives it to a channel, and 0 while it belongs to none. Each process
//! that has the channel **holds** it. The maker takes a region back once no process holds it.
//!
//! ```text
//!   0 --begin, by the maker--> generation g, held by P, Q .. --all have left, or are dead--> 0 by end, of the maker
//! ```
//!
//! One that enters counts itself first and then looks at the generation; the maker ends the generation first and then looks at the counts. So at least one
//! of the two sees the other, and a region is not in the hands of two channels, whatever place a process names. Ends on their way to another process are
//! held by the one that has sent them.
//!
//! One that has come too late takes back what it has counted. By then the region may be the next channel's, whose maker has begun with zeroes, and of which
//! another thread of the same process counts itself in the same word. So threads of a process enter one after the other, by an [`Entrance`], and take
//! back only what is still there.

use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};

/// So many processes hold a channel at most: as many as have the memory.
pub(crate) const MOST_HOLDERS: usize = if cfg!(tamtam_loom) { 2 } else { 64 };
/// One sender more of the process in its word.
const SENDER: u64 = 1;
const SENDERS: u64 = HOLD - 1;
/// The process holds it once more: each time that it has attached.
const HOLD: u64 = 1 << 24;
const HOLDS: u64 = !SENDERS & ((1 << STAY_SHIFT) - 1);
/// Above: the lower bits of how often the process' place was freed before. What has another number there is of one that is dead.
const STAY_SHIFT: u32 = 48;
/// So often a look is repeated that finds another word than the one before: a process writes where only another one does.
const MOST_LOOKS: u32 = 64;

/// At the beginning of each channel.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(128)))]
pub(crate) struct Tenancy {
    generation: AtomicU64,
    /// A word for each place of a process.
    holders: [AtomicU64; MOST_HOLDERS],
    /// Counts the senders that were added, each behind its word: so that a look at one word after the other does not miss a sender which goes from a
    /// process that is yet to be looked at to one that was. Wraps; of 2^64 there are a thousand million a second for 500 years.
    arrivals: AtomicU64,
}

/// Where the threads of this process enter what lies in one memory: one at a time.
#[derive(Debug)]
pub(crate) struct Entrance(Mutex<()>);

impl Entrance {
    pub(crate) fn new() -> Self {
        Entrance(Mutex::new(()))
    }
}

/// This process, as one that holds it: its place, and how often that was freed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) place: u32,
    pub(crate) count: u32,
}

impl Tenant {
    fn stay(self) -> u16 {
        self.count as u16
    }
}

impl Tenancy {
    #[cfg(all(test, tamtam_loom))]
    pub(crate) fn new() -> Self {
        Tenancy {
            generation: AtomicU64::new(0),
            holders: [AtomicU64::new(0), AtomicU64::new(0)],
            arrivals: AtomicU64::new(0),
        }
    }

    fn word(&self, place: u32) -> &AtomicU64 {
        &self.holders[place as usize % MOST_HOLDERS]
    }

    /// The region is a channel's from now on, which no process holds yet. By the maker, to whom it belongs.
    pub(crate) fn begin(&self, generation: u64) {
        for word in &self.holders {
            word.store(0, Ordering::SeqCst);
        }
        // SYNC tenancy
        self.generation.store(generation, Ordering::SeqCst);
    }

    /// This process holds it, unless it is of another generation, which is said by `false`. By the entrance of the memory in which it lies.
    pub(crate) fn enter(&self, entrance: &Entrance, generation: u64, own: Tenant) -> bool {
        let _alone = entrance.0.lock();
        // What is over is left as it is: by now these may be bytes of another channel's messages.
        if self.generation.load(Ordering::SeqCst) != generation {
            return false;
        }
        self.hold(own);
        // SYNC tenancy
        let is_there = self.generation.load(Ordering::SeqCst) == generation;
        if !is_there {
            self.take_back(own);
        }
        is_there
    }

    /// This process does not hold it once more, after all. If the next channel has begun meanwhile it is not counted any more.
    fn take_back(&self, own: Tenant) {
        let word = self.word(own.place);
        let mut now = word.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            let is_own = (now >> STAY_SHIFT) as u16 == own.stay();
            if !is_own || now & HOLDS == 0 {
                return;
            }
            match word.compare_exchange(now, now - HOLD, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }

    fn hold(&self, own: Tenant) {
        let word = self.word(own.place);
        let first = u64::from(own.stay()) << STAY_SHIFT | HOLD;
        let mut now = word.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            // What another process has left there that had the place before is not added to.
            let is_own = (now >> STAY_SHIFT) as u16 == own.stay();
            let next = if is_own {
                now.wrapping_add(HOLD)
            } else {
                first
            };
            // SYNC tenancy
            match word.compare_exchange(now, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
        word.store(first, Ordering::SeqCst);
    }

    pub(crate) fn leave(&self, own: Tenant) {
        // SYNC tenancy
        self.word(own.place).fetch_sub(HOLD, Ordering::SeqCst);
    }

    /// One sender more, of one that holds it. Only then the one from which it has come is told so.
    pub(crate) fn add_sender(&self, own: Tenant) {
        self.word(own.place).fetch_add(SENDER, Ordering::SeqCst);
        // SYNC tenancy-arrivals
        self.arrivals.fetch_add(1, Ordering::SeqCst);
    }

    /// One sender less. The receiver is to be woken, so that it looks.
    pub(crate) fn remove_sender(&self, own: Tenant) {
        self.word(own.place).fetch_sub(SENDER, Ordering::SeqCst);
    }

    /// Whether a process has anything of this in its word, and is alive by its place and the lower bits of its count.
    fn has_any(&self, bits: u64, is_alive: impl Fn(u32, u16) -> bool) -> bool {
        let words = self.holders.iter().enumerate();
        words.into_iter().any(|(place, word)| {
            let word = word.load(Ordering::SeqCst);
            word & bits != 0 && is_alive(place as u32, (word >> STAY_SHIFT) as u16)
        })
    }

    /// Whether any process that lives has a sender.
    pub(crate) fn has_senders(&self, is_alive: impl Fn(u32, u16) -> bool) -> bool {
        let arrivals = || self.arrivals.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            // SYNC tenancy-arrivals
            let before = arrivals();
            if self.has_any(SENDERS, &is_alive) {
                return true;
            }
            if arrivals() == before {
                return false;
            }
        }
        // Senders come all the time, or a process says so.
        true
    }

    /// Takes the region back if no process that lives holds it. By the maker, which holds it no more.
    pub(crate) fn end(&self, generation: u64, is_alive: impl Fn(u32, u16) -> bool) -> bool {
        if self.has_any(HOLDS, &is_alive) {
            return false;
        }
        // SYNC tenancy
        self.generation.swap(0, Ordering::SeqCst);
        if self.has_any(HOLDS, &is_alive) {
            // Only one that was given a place by none has come: nothing else was on its way.
            self.generation.store(generation, Ordering::SeqCst);
            return false;
        }
        true
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    fn new() -> Tenancy {
        Tenancy {
            generation: AtomicU64::new(0),
            holders: std::array::from_fn(|_| AtomicU64::new(0)),
            arrivals: AtomicU64::new(0),
        }
    }

    #[test]
    fn what_a_dead_process_has_left_in_its_place_is_not_its_successors() {
        let tenancy = new();
        tenancy.begin(5);
        let [dead, next] = [(3, 7), (3, 8)].map(|(place, count)| Tenant { place, count });
        assert!(tenancy.enter(&Entrance::new(), 5, dead));
        tenancy.add_sender(dead);
        let lives = |own: Tenant| move |place, stay| (place, stay) == (own.place, own.stay());
        assert!(tenancy.has_senders(lives(dead)));
        assert!(!tenancy.has_senders(lives(next)));
        assert!(tenancy.enter(&Entrance::new(), 5, next));
        assert!(!tenancy.has_senders(lives(next)));
        assert!(!tenancy.end(5, lives(next)));
        tenancy.leave(next);
        assert!(tenancy.end(5, lives(next)));
        assert!(!tenancy.enter(&Entrance::new(), 5, next), "it is over");
    }

    #[test]
    fn what_lies_where_something_is_over_is_left_as_it_is() {
        let tenancy = new();
        tenancy.begin(6);
        let bytes = u64::from_le_bytes(*b"message!");
        tenancy.holders[3].store(bytes, Ordering::SeqCst);
        assert!(!tenancy.enter(&Entrance::new(), 5, Tenant { place: 3, count: 7 }));
        assert_eq!(tenancy.holders[3].load(Ordering::SeqCst), bytes);
    }

    #[test]
    fn each_hold_counts() {
        let tenancy = new();
        tenancy.begin(1);
        let own = Tenant {
            place: 63,
            count: 0x1_0000,
        };
        assert!(tenancy.enter(&Entrance::new(), 1, own) && tenancy.enter(&Entrance::new(), 1, own));
        tenancy.leave(own);
        assert!(!tenancy.end(1, |_, _| true));
        tenancy.leave(own);
        assert!(tenancy.end(1, |_, _| true));
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use tamtam_wait::seam::{Arc, thread};

    /// One enters while the maker takes the region back and gives it to the next channel.
    #[test]
    fn loom_a_region_is_not_in_the_hands_of_two_channels() {
        loom::model(|| {
            let tenancy = Arc::new(Tenancy::new());
            tenancy.begin(1);
            let other = {
                let tenancy = Arc::clone(&tenancy);
                thread::spawn(move || {
                    tenancy.enter(&Entrance::new(), 1, Tenant { place: 1, count: 0 })
                })
            };
            let is_back = tenancy.end(1, |_, _| true);
            let has_entered = other.join().unwrap();
            assert!(!(is_back && has_entered));
        });
    }

    /// A thread comes to a place that is over while another one of its process comes to what is there now: neither takes the other's hold away.
    #[test]
    fn loom_one_that_comes_too_late_takes_nothing_from_one_that_has_come() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(5);
        builder.check(|| {
            let tenancy = Arc::new((Tenancy::new(), Entrance::new()));
            tenancy.0.begin(1);
            // Of the last stay before its number begins again: what is taken from nothing has that number.
            let own = Tenant {
                place: 1,
                count: 0xFFFF,
            };
            let others = [1, 2].map(|generation| {
                let tenancy = Arc::clone(&tenancy);
                thread::spawn(move || tenancy.0.enter(&tenancy.1, generation, own))
            });
            let is_back = tenancy.0.end(1, |_, _| true);
            if is_back {
                tenancy.0.begin(2);
            }
            let [late, new] = others.map(|other| other.join().unwrap());
            assert!(!(is_back && late));
            assert_eq!(
                tenancy.0.end(if is_back { 2 } else { 1 }, |_, _| true),
                !late && !new
            );
        });
    }

    /// The only sender goes to another process, which is looked at first.
    #[test]
    fn loom_a_sender_on_its_way_is_not_missed() {
        loom::model(|| {
            let tenancy = Arc::new(Tenancy::new());
            tenancy.begin(1);
            let [to, from] = [0, 1].map(|place| Tenant { place, count: 0 });
            for own in [to, from] {
                assert!(tenancy.enter(&Entrance::new(), 1, own));
            }
            tenancy.add_sender(from);
            let on_its_way = {
                let tenancy = Arc::clone(&tenancy);
                thread::spawn(move || {
                    tenancy.add_sender(to);
                    tenancy.remove_sender(from);
                })
            };
            assert!(tenancy.has_senders(|_, _| true));
            on_its_way.join().unwrap();
        });
    }

    /// The last one that leaves and the maker: whichever is first, a later look of the maker takes the region back.
    #[test]
    fn loom_a_region_that_all_have_left_is_taken_back() {
        loom::model(|| {
            let tenancy = Arc::new(Tenancy::new());
            tenancy.begin(1);
            let held = Tenant { place: 1, count: 3 };
            assert!(tenancy.enter(&Entrance::new(), 1, held));
            let other = {
                let tenancy = Arc::clone(&tenancy);
                thread::spawn(move || tenancy.leave(held))
            };
            let is_back = tenancy.end(1, |_, _| true);
            other.join().unwrap();
            assert!(is_back || tenancy.end(1, |_, _| true));
        });
    }
}
