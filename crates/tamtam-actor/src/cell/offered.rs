//! Messages that an actor takes by itself in its turn: those of another process, of which each is begun by itself.
//!
//! What has them **offers** them to the cell while it gives its home's thread to those who are due there. The actor puts one after the other into
//! its mailbox and handles it, as long as nothing else is to be done: so each costs what a message to itself does, and none of the steps by which
//! one thread brings another something to do.

use core::cell::Cell as Changing;
use core::ptr::{NonNull, from_ref};
use std::sync::Arc;

use super::Cell;

/// Gives the next message, if there is one to be taken now.
type Next<'a, M> = dyn FnMut() -> Option<M> + 'a;

/// What is offered on this thread.
#[derive(Clone, Copy)]
struct CellOffer {
    /// Where the cell lies that may take it.
    location: usize,
    /// A `&mut Next<M>`, where `M` is the message of that cell.
    next: NonNull<()>,
}

#[cfg(not(tamtam_loom))]
thread_local! {
    static OFFERED: Changing<Option<CellOffer>> = const { Changing::new(None) };
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static OFFERED: Changing<Option<CellOffer>> = Changing::new(None);
}

/// Offers something until this is dropped; then what was offered before.
struct Offering(Option<CellOffer>);

impl Offering {
    fn begin(offered: Option<CellOffer>) -> Self {
        Offering(OFFERED.with(|now| now.replace(offered)))
    }
}

impl Drop for Offering {
    fn drop(&mut self) {
        OFFERED.with(|now| now.set(self.0));
    }
}

impl<M> Cell<M> {
    /// Offers the actor these messages, as long as `run` gives it turns on this thread. On another one it takes none.
    pub(crate) fn offer(self: &Arc<Self>, mut next: &mut Next<'_, M>, run: impl FnOnce()) {
        let offered = CellOffer {
            location: self.task_location(),
            next: NonNull::from(&mut next).cast(),
        };
        let _offering = Offering::begin(Some(offered));
        self.wake();
        run();
    }

    /// Whether something is offered on this thread, to whichever actor.
    #[inline]
    pub(crate) fn is_any_offered() -> bool {
        OFFERED.with(|now| now.get().is_some())
    }

    /// The next of what is offered to this actor, in its turn; `None` if there is none, or none for it.
    pub(crate) fn next_offered(&self) -> Option<M> {
        let offered = OFFERED.with(Changing::get)?;
        if offered.location != from_ref(self).addr() {
            return None;
        }
        // What gives it is the caller's, and is not to come here again.
        let _taking = Offering::begin(None);
        // SAFETY: it was made by `offer` of a cell at this place, which is this one, since it is kept there until the offer is over; so the type
        // is that. `offer` has it to itself, and is below this frame on this thread, where the offer ends with it; and while it is used here it
        // is not offered, so it is used once at a time.
        let next = unsafe { offered.next.cast::<&mut Next<'_, M>>().as_mut() };
        next()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use crate::address::Address;
    use crate::frame::{Budget, Frame};
    use crate::mailbox::Overflow;
    use crate::pool::Pool;

    type Seen = Rc<RefCell<Vec<u32>>>;

    /// Offers these as long as there are some, and pumps; what is left.
    fn offer(frame: &mut Frame, to: &Address<u32>, offered: &[u32]) -> Vec<u32> {
        let mut offered = VecDeque::from(offered.to_vec());
        to.offer(&mut || offered.pop_front(), || {
            frame.pump(Budget::unlimited());
        });
        offered.into()
    }

    fn noting(frame: &Frame) -> (Address<u32>, Seen) {
        let seen = Seen::default();
        let noted = Rc::clone(&seen);
        let actor = frame.spawn_fn(move |number, here| {
            noted.borrow_mut().push(number);
            match number {
                // It tells itself.
                10 => drop(here.address().tell(11)),
                20 => here.stop(),
                _ => {}
            }
        });
        (actor, seen)
    }

    #[test]
    fn what_is_offered_comes_behind_what_is_in_the_mailbox() {
        let mut frame = Frame::new();
        let (actor, seen) = noting(&frame);
        actor.tell(1).unwrap();
        actor.tell(2).unwrap();
        assert!(offer(&mut frame, &actor, &[3, 4, 10, 5]).is_empty());
        assert_eq!(*seen.borrow(), [1, 2, 3, 4, 10, 11, 5]);
        // It is idle afterwards, as by any turn.
        assert!(actor.is_idle());
        actor.tell(6).unwrap();
        assert!(!frame.pump(Budget::unlimited()).left);
        assert_eq!(seen.borrow().last(), Some(&6));
    }

    #[test]
    fn one_that_stops_takes_no_more() {
        let mut frame = Frame::new();
        let (actor, seen) = noting(&frame);
        assert_eq!(offer(&mut frame, &actor, &[3, 20, 4, 5]), [4, 5]);
        assert_eq!(*seen.borrow(), [3, 20]);
        assert_eq!(offer(&mut frame, &actor, &[6]), [6]);
    }

    #[test]
    fn one_that_panics_takes_no_more_and_counts_that_message() {
        let mut frame = Frame::new();
        let actor = frame.spawn_fn(|number: u32, _| assert!(number != 2, "two"));
        assert_eq!(offer(&mut frame, &actor, &[1, 2, 3]), [3]);
        assert!(actor.tell(4).is_err());
        assert_eq!(actor.lost(), 1);
    }

    #[test]
    fn it_takes_no_more_when_another_one_on_the_thread_is_due() {
        let mut frame = Frame::new();
        let order = Seen::default();
        let (of_one, of_other) = (Rc::clone(&order), Rc::clone(&order));
        let other = frame.spawn_fn(move |number: u32, _| of_other.borrow_mut().push(number));
        let one = frame.spawn_fn(move |number: u32, _| {
            of_one.borrow_mut().push(number);
            other.tell(10 * number).unwrap();
        });
        assert_eq!(offer(&mut frame, &one, &[1, 2]), [2]);
        assert_eq!(*order.borrow(), [1, 10]);
        assert!(offer(&mut frame, &one, &[2]).is_empty());
        assert_eq!(*order.borrow(), [1, 10, 2, 20]);
    }

    #[test]
    fn none_is_taken_elsewhere_nor_with_a_mailbox_out_of_the_ordinary() {
        let mut frame = Frame::new();
        let pool = Pool::with_threads(1);
        let far = pool.spawn_fn(|_: u32, _| {});
        assert_eq!(offer(&mut frame, &far, &[1]), [1]);
        let limited = frame
            .spawner()
            .limited(7, Overflow::Fail)
            .spawn_fn(|_: u32, _| {});
        assert_eq!(offer(&mut frame, &limited, &[1]), [1]);
    }
}
