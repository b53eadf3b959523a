//! How long the receivers of a stream leave its senders alone.
//!
//! A receiver that looks at an empty channel takes the cache line from the sender that is about to write
//! it. Where messages come singly that is the price of low latency. In a stream it makes sender and
//! receiver crawl along one line, a message at a time; a receiver that stays away for a moment finds
//! many messages then, and both run at full speed (as network drivers do with interrupts). So the rest
//! between two looks grows while it brings messages in proportion, up to 3.2 µs, and shrinks as soon as
//! it does not: where one message answers another it is never more than the shortest. And it is never longer
//! than it takes to fill the channel, or the shortest: a sender that finds it full waits for the receiver.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use tamtam_wait::Patience;
use tamtam_wait::seam::ORIGIN;

/// With half of it a stream of 16-byte messages through a bounded channel falls into either of two rhythms, of which one takes 1.5 times as
/// long.
const MOST_UNITS: u32 = 32;
/// About so many small messages a sender brings in one unit. With half or double of it, a stream through a channel for 16 to 64 of them takes
/// 1.1 to 1.6 times as long.
const MESSAGES_A_UNIT: usize = 8;
/// With so many bytes more a message takes a sender twice as long as a small one.
const BYTES_AS_A_MESSAGE: usize = 256;

/// Kept by the receivers beside their head. Guesses: relaxed, and not part of any protocol, so they are
/// no business of the models either.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Messages received or passed over since [`ORIGIN`]; wraps. Written under the receivers' lock.
    received: AtomicUsize,
    /// As many had been received when the last wait began.
    waited: AtomicUsize,
    /// The rest, in units of the shortest one, less one.
    more_units: AtomicU32,
    /// The longest rest, in the same units.
    most_units: u32,
    /// The most messages that were seen in the channel at once.
    high_water: AtomicUsize,
    /// As many had been received when a receiver last looked how many there are.
    sampled: AtomicUsize,
    /// No more messages than this are received between two such looks; with zero, receivers look whenever they
    /// can.
    interval: usize,
    /// The senders have closed the channel: in the receivers' cache line, for those who do not look at the senders'.
    was_closed: AtomicBool,
}

/// A look at how many messages there are takes the tail's cache line from a sender at full speed, which
/// breaks the rhythm of a stream for microseconds: so in large channels it is seldom.
pub(crate) const LONGEST_INTERVAL: usize = 1023;

/// How many messages may be received between two looks in a channel of this capacity.
pub(crate) fn interval_for(capacity: usize) -> usize {
    (capacity / 16).clamp(63, LONGEST_INTERVAL)
}

impl Pace {
    pub(crate) const fn new(interval: usize) -> Self {
        Pace {
            received: AtomicUsize::new(ORIGIN),
            waited: AtomicUsize::new(ORIGIN),
            more_units: AtomicU32::new(0),
            most_units: MOST_UNITS,
            high_water: AtomicUsize::new(0),
            sampled: AtomicUsize::new(ORIGIN),
            interval,
            was_closed: AtomicBool::new(false),
        }
    }

    /// The pace of a channel in which so many messages of this type have room.
    pub(crate) fn holding<T>(self, capacity: usize) -> Self {
        let small_messages = capacity.saturating_mul(1 + size_of::<T>() / BYTES_AS_A_MESSAGE);
        let most_units = (small_messages / MESSAGES_A_UNIT).clamp(1, MOST_UNITS as usize) as u32;
        Pace { most_units, ..self }
    }

    /// Nothing more can be sent; what says so for certain was written before.
    pub(crate) fn note_closed(&self) {
        self.was_closed.store(true, Relaxed);
    }

    /// Whether that was noted. Who sees it late looks at the tail, sooner or later.
    pub(crate) fn was_closed(&self) -> bool {
        self.was_closed.load(Relaxed)
    }

    /// Counts messages; the caller holds the receivers' lock.
    #[inline(always)]
    pub(crate) fn count(&self, messages: usize) {
        let received = self.received.load(Relaxed);
        self.received
            .store(received.wrapping_add(messages), Relaxed);
    }

    /// Whether a receiver has to look how many messages there are, which is possible again after so many
    /// more. Another receiver may have looked after it had counted more than is seen here; then it is soon enough.
    #[inline]
    pub(crate) fn is_due(&self, next_chance: usize) -> bool {
        let since = self
            .received
            .load(Relaxed)
            .wrapping_sub(self.sampled.load(Relaxed));
        // Less than nothing in that case.
        since.cast_signed().saturating_add_unsigned(next_chance) > self.interval.cast_signed()
    }

    /// A thread saw so many messages in the channel.
    pub(crate) fn saw(&self, messages: usize) {
        self.sampled.store(self.received.load(Relaxed), Relaxed);
        self.took_all(messages);
    }

    /// A receiver has taken so many messages at once, and there were no more: it need not look at the tail to know.
    pub(crate) fn took_all(&self, messages: usize) {
        if messages > self.high_water.load(Relaxed) {
            self.high_water.fetch_max(messages, Relaxed);
        }
    }

    /// The most messages that were seen.
    pub(crate) fn high_water(&self) -> usize {
        self.high_water.load(Relaxed)
    }

    /// How many pauses to make between two looks in the wait that begins.
    pub(crate) fn rest(&self) -> u32 {
        self.rest_after(self.received.load(Relaxed))
    }

    /// As [`rest`](Pace::rest), for a receiver that counts its messages itself.
    pub(crate) fn rest_after(&self, received: usize) -> u32 {
        let run = received.wrapping_sub(self.waited.load(Relaxed));
        let units = self.more_units.load(Relaxed) + 1;
        let next = if run >= 2 * units as usize {
            (2 * units).min(self.most_units)
        } else if run < units as usize {
            (units / 2).max(1)
        } else {
            units
        };
        self.waited.store(received, Relaxed);
        self.more_units.store(next - 1, Relaxed);
        next * Patience::REST
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    fn rest_after(pace: &Pace, run: u32) -> u32 {
        (0..run).for_each(|_| pace.count(1));
        pace.rest() / Patience::REST
    }

    #[test]
    fn single_messages_are_looked_for_at_the_shortest_interval() {
        let pace = Pace::new(LONGEST_INTERVAL);
        for _ in 0..100 {
            assert_eq!(rest_after(&pace, 1), 1);
        }
    }

    #[test]
    fn a_look_of_another_receiver_that_is_seen_before_its_count_is_no_overflow() {
        let pace = Pace::new(63);
        pace.count(70);
        assert!(pace.is_due(1));
        pace.saw(3);
        assert!(!pace.is_due(1));
        // What a receiver sees that has read the count before the other one wrote it.
        pace.received.fetch_sub(2, Relaxed);
        assert!(!pace.is_due(1));
        assert!(!pace.is_due(63));
    }

    #[test]
    fn large_channels_are_looked_into_seldom() {
        for (capacity, interval) in [
            (0, 63),
            (1, 63),
            (1023, 63),
            (1024, 64),
            (1600, 100),
            (16 * 1023, 1023),
            (usize::MAX, 1023),
        ] {
            assert_eq!(interval_for(capacity), interval, "{capacity}");
        }
    }

    #[test]
    fn a_look_is_due_before_the_next_chance_would_be_too_late() {
        let pace = Pace::new(63);
        for received in 0..100 {
            for next_chance in [0, 1, 16, 63, 64] {
                let due = received + next_chance > 63;
                assert_eq!(pace.is_due(next_chance), due, "{received}, {next_chance}");
            }
            pace.count(1);
        }
        pace.saw(5);
        assert!(!pace.is_due(63) && pace.is_due(64));
        // Without an interval each thread that can look does.
        assert!(Pace::new(0).is_due(1));
    }

    #[test]
    fn the_most_that_was_seen_stays() {
        let pace = Pace::new(63);
        for (seen, most) in [(0, 0), (5, 5), (3, 5), (5, 5), (9, 9), (0, 9)] {
            pace.saw(seen);
            assert_eq!(pace.high_water(), most);
        }
    }

    #[test]
    fn no_rest_but_the_shortest_is_longer_than_it_takes_to_fill_the_channel() {
        for (capacity, most) in [
            (0, 1),
            (1, 1),
            (8, 1),
            (16, 2),
            (64, 8),
            (256, 32),
            (usize::MAX, 32),
        ] {
            let pace = Pace::new(LONGEST_INTERVAL).holding::<u64>(capacity);
            (0..10).for_each(|_| _ = rest_after(&pace, 100));
            assert_eq!(rest_after(&pace, 100), most, "{capacity}");
        }
        // A large message takes longer.
        let pace = Pace::new(LONGEST_INTERVAL).holding::<[u8; 1024]>(16);
        (0..10).for_each(|_| _ = rest_after(&pace, 100));
        assert_eq!(rest_after(&pace, 100), 10);
    }

    #[test]
    fn a_stream_is_left_alone_longer_and_its_end_is_noticed() {
        let pace = Pace::new(LONGEST_INTERVAL);
        assert_eq!(rest_after(&pace, 2), 2);
        assert_eq!(rest_after(&pace, 5), 4);
        assert_eq!(rest_after(&pace, 20), 8);
        assert_eq!(rest_after(&pace, 1000), 16);
        assert_eq!(rest_after(&pace, 1000), 32);
        assert_eq!(rest_after(&pace, 1000), 32);
        // Messages keep coming, but no more than the rest is worth.
        assert_eq!(rest_after(&pace, 32), 32);
        assert_eq!(rest_after(&pace, 1), 16);
        assert_eq!(rest_after(&pace, 1), 8);
        assert_eq!(rest_after(&pace, 1), 4);
        assert_eq!(rest_after(&pace, 1), 2);
        assert_eq!(rest_after(&pace, 1), 1);
    }
}
