//! For which threads of the other side answers are, as far as their carrier has to know it: to wake those, and no others.
//!
//! Where a link has [seats](crate::LinkBuilder::ask_from_seats), a thread that asks has one for good, and the numbers of its questions have that in their low bits.
//! The other side need not know: it tells the seat by the number that it answers. For a link without seats it looks at some at which no thread waits.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

/// A bit for each seat.
#[doc(hidden)]
pub type Seats = u16;

/// The low bits of a number, which are a seat's.
const BITS: u32 = Seats::BITS.ilog2();

/// The next thread that asks has this seat, as every so many of them. Wraps, and that is no matter.
static NEXT: AtomicU8 = AtomicU8::new(0);

thread_local! {
    static OWN: Cell<Option<u8>> = const { Cell::new(None) };
}

/// The seat at which this thread waits for answers to what it asks.
#[doc(hidden)]
pub fn own_seat() -> usize {
    let own = OWN.get().unwrap_or_else(|| {
        let own = NEXT.fetch_add(1, Ordering::Relaxed) % Seats::BITS as u8;
        OWN.set(Some(own));
        own
    });
    usize::from(own)
}

/// The number of a question that this thread asks; so many were asked, it among them.
pub(crate) fn number_of_question(count: u64) -> u64 {
    count << BITS | own_seat() as u64
}

/// For whom the answer to a question of that number is.
pub(crate) fn seat_of(question: u64) -> Seats {
    1 << (question % u64::from(Seats::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_seat_for_good_and_others_have_others() {
        let seats = || [own_seat(), own_seat()];
        let [own, again] = seats();
        assert_eq!(own, again);
        let questions = [1, 2, 1 << 59].map(number_of_question);
        assert!(questions.iter().all(|number| seat_of(*number) == 1 << own));
        assert!(questions.is_sorted() && questions[0] != questions[1]);
        let others = (0..4).map(|_| std::thread::spawn(seats).join().unwrap());
        let others: std::collections::HashSet<_> = others.collect();
        assert!(others.len() >= 3, "{others:?}");
    }
}
