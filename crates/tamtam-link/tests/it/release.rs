//! Addresses that are given up while they are sent again: every order of the steps, up to a length, on the real tables.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tamtam_actor::{Address, Budget, Frame};
use tamtam_link::{Inbound, Link};

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The owner sends the address once more.
    Send,
    /// The other side drops all addresses that it has.
    Drop,
    /// The other side uses one, if it has any.
    Use,
    /// A frame of the owner's arrives.
    ToOther,
    /// A frame of the other side's arrives.
    ToOwner,
}

const STEPS: [Step; 5] = [
    Step::Send,
    Step::Drop,
    Step::Use,
    Step::ToOther,
    Step::ToOwner,
];

/// What is on its way in one direction.
#[derive(Default)]
struct Way(VecDeque<u8>);

impl Way {
    fn fill(&mut self, from: &Link) {
        let mut bytes = Vec::new();
        from.take_outgoing(&mut bytes);
        self.0.extend(bytes);
    }

    /// One frame arrives; `false` if there is none.
    fn carry(&mut self, from: &Link, to: &mut Inbound) -> bool {
        self.fill(from);
        if self.0.is_empty() {
            return false;
        }
        let length: Vec<u8> = self.0.iter().take(4).copied().collect();
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let frame: Vec<u8> = self.0.drain(..4 + length).collect();
        to.receive(&frame).unwrap();
        true
    }
}

struct Stage {
    frame: Frame,
    owner: Link,
    to_owner: Inbound,
    other: Link,
    to_other: Inbound,
    there: Way,
    back: Way,
    root: Address<Address<u64>>,
    target: Address<u64>,
    used: Rc<RefCell<u64>>,
    kept: Rc<RefCell<Vec<Address<u64>>>>,
    sent: u64,
}

impl Stage {
    fn new() -> Self {
        let frame = Frame::new();
        let (used, kept) = (Rc::new(RefCell::new(0)), Rc::new(RefCell::new(Vec::new())));
        let counts = Rc::clone(&used);
        let target = frame.spawn_fn(move |_: u64, _| *counts.borrow_mut() += 1);
        let keeps = Rc::clone(&kept);
        let keeper =
            frame.spawn_fn(move |address: Address<u64>, _| keeps.borrow_mut().push(address));
        let (owner, to_owner) = Link::builder().build(|| {});
        let (other, to_other) = Link::builder().root(&keeper).build(|| {});
        let mut stage = Stage {
            root: owner.root(),
            frame,
            owner,
            to_owner,
            other,
            to_other,
            there: Way::default(),
            back: Way::default(),
            target,
            used,
            kept,
            sent: 0,
        };
        // The hellos.
        while stage.step(Step::ToOther) || stage.step(Step::ToOwner) {}
        stage
    }

    /// `false` if there was nothing to be done.
    fn step(&mut self, step: Step) -> bool {
        let is_done = match step {
            Step::Send => {
                self.root.tell(self.target.clone()).unwrap();
                true
            }
            Step::Drop => {
                let kept = std::mem::take(&mut *self.kept.borrow_mut());
                !kept.is_empty()
            }
            Step::Use => match self.kept.borrow().last() {
                Some(address) => {
                    self.sent += 1;
                    address.tell(1).unwrap();
                    true
                }
                None => false,
            },
            Step::ToOther => self.there.carry(&self.owner, &mut self.to_other),
            Step::ToOwner => self.back.carry(&self.other, &mut self.to_owner),
        };
        self.frame.pump(Budget::unlimited());
        is_done
    }

    /// All that is on its way arrives, and all addresses go.
    fn end(mut self, steps: &[Step]) {
        loop {
            let arrived = self.step(Step::ToOther) | self.step(Step::ToOwner);
            if !arrived && !self.step(Step::Drop) {
                break;
            }
        }
        assert_eq!((self.owner.ended(), self.other.ended()), (None, None));
        assert_eq!(*self.used.borrow(), self.sent, "{steps:?}");
        // The roots are known on either side, of which one is offered.
        assert_eq!(self.owner.addresses(), (1, 0), "{steps:?}");
        assert_eq!(self.other.addresses(), (1, 1), "{steps:?}");
        assert_eq!((self.owner.unconfirmed(), self.other.unconfirmed()), (0, 0));
    }
}

/// Goes on from these steps in every way that is left.
fn explore(steps: &mut Vec<Step>, left: usize, orders: &mut u64) {
    let mut stage = Stage::new();
    let is_possible = steps.iter().all(|step| stage.step(*step));
    if !is_possible {
        return;
    }
    stage.end(steps);
    *orders += 1;
    if left == 0 {
        return;
    }
    for step in STEPS {
        steps.push(step);
        explore(steps, left - 1, orders);
        steps.pop();
    }
}

#[test]
fn release_against_sending_again_in_every_order() {
    let mut orders = 0;
    explore(&mut Vec::new(), 8, &mut orders);
    assert!(orders > 5_000, "{orders} orders");
}
