//! Models of the ring: every interleaving of a few threads, each of which stands for a process.

use super::*;

use tamtam_wait::seam::atomic::AtomicU32;
use tamtam_wait::seam::{Arc, UnsafeCell, thread};

const RECEIVER: Claimant = Claimant { place: 0, count: 0 };
const SENDER: Claimant = Claimant { place: 1, count: 0 };
const OTHER: Claimant = Claimant { place: 2, count: 0 };

/// A ring whose messages loom sees each access of.
struct Model {
    control: Control,
    track: Track,
    states: Vec<AtomicU64>,
    messages: Vec<UnsafeCell<u64>>,
    seen: AtomicU64,
    senders: AtomicU32,
    receivers: AtomicU32,
    /// The party that is dead.
    dead: Option<Claimant>,
}

// SAFETY: the states say which side each message belongs to, as the models show.
unsafe impl Send for Model {}
// SAFETY: the states say which side each message belongs to, as the models show.
unsafe impl Sync for Model {}

impl Ring for Model {
    fn control(&self) -> &Control {
        &self.control
    }

    fn track(&self) -> Track {
        self.track
    }

    fn state(&self, index: usize) -> &AtomicU64 {
        &self.states[index]
    }

    fn seen(&self) -> &AtomicU64 {
        &self.seen
    }

    fn is_alive(&self, claimant: Claimant) -> bool {
        self.dead != Some(claimant)
    }

    fn has_receiver(&self) -> bool {
        self.receivers.load(Ordering::SeqCst) > 0
    }

    fn has_senders(&self) -> bool {
        self.senders.load(Ordering::SeqCst) > 0
    }
}

impl Model {
    fn new(slots: usize, senders: u32, dead: Option<Claimant>) -> Arc<Self> {
        let track = Track::new(slots as u64).unwrap();
        let model = Model {
            control: Control::new(track),
            track,
            states: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            messages: (0..slots).map(|_| UnsafeCell::new(0)).collect(),
            seen: AtomicU64::new(0),
            senders: AtomicU32::new(senders),
            receivers: AtomicU32::new(1),
            dead,
        };
        model.prepare(RECEIVER);
        model.begin();
        Arc::new(model)
    }

    fn claim_place(&self, by: Claimant, most: u64) -> Result<Run, Refusal> {
        self.wait_to_claim(by, most, Wait::Park, None, std::iter::empty)
    }

    /// Messages with numbers one after another.
    fn write(&self, run: Run, by: Claimant, first: u64) {
        for (position, message) in run.positions().zip(first..first + run.len()) {
            let index = self.track.index(position).unwrap();
            // SAFETY: the slot is claimed, so it is this sender's.
            self.messages[index].with_mut(|it| unsafe { *it = message });
        }
        assert!(self.publish(run, by, true));
    }

    fn send(&self, by: Claimant, message: u64) -> Result<(), Refusal> {
        let run = self.claim_place(by, 1)?;
        self.write(run, by, message);
        self.control.receiver.ring();
        Ok(())
    }

    /// As many at once as there is room for.
    fn send_many(&self, by: Claimant, first: u64, count: u64) -> Result<(), Refusal> {
        let mut sent = 0;
        while sent < count {
            let run = self.claim_place(by, count - sent)?;
            self.write(run, by, first + sent);
            self.control.receiver.ring();
            sent += run.len();
        }
        Ok(())
    }

    fn read(&self, position: Position) -> u64 {
        let index = self.track.index(position).unwrap();
        // SAFETY: the slot is full, so it is the receiver's.
        self.messages[index].with(|it| unsafe { *it })
    }

    fn receive(&self, cursor: &Cursor) -> Result<u64, Nothing> {
        self.wait_to_find(cursor, Wait::Park, None, std::iter::empty)?;
        let position = self.take(cursor)?;
        let message = self.read(position);
        assert!(self.free(cursor, 1));
        self.freed();
        Ok(message)
    }

    fn sender_ends(&self) {
        self.senders.fetch_sub(1, Ordering::SeqCst);
        self.control.receiver.ring();
    }

    fn cursor(&self) -> Cursor {
        Cursor::new(self.track.first(), 0, RECEIVER)
    }
}

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = Some(preemptions);
    bounded.check(model);
}

/// Each message comes once, those of one sender in order, and the end comes behind all of them. Two slots make a sender wait for room.
#[test]
fn loom_two_senders_and_the_end() {
    check(2, || {
        let model = Model::new(2, 2, None);
        let senders = [(SENDER, 10..12), (OTHER, 20..21)].map(|(by, messages)| {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                for message in messages {
                    model.send(by, message).unwrap();
                }
                model.sender_ends();
            })
        });
        let cursor = model.cursor();
        let mut seen = [10, 20];
        for _ in 0..3 {
            let message = model.receive(&cursor).unwrap();
            let of_sender = &mut seen[usize::from(message >= 20)];
            assert_eq!(message, *of_sender);
            *of_sender += 1;
        }
        assert_eq!(model.receive(&cursor), Err(Nothing::Closed));
        senders.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// A sender that was killed between its claim and its message is passed over, and a sender that waits for that slot goes on.
#[test]
fn loom_a_claim_of_the_dead_is_passed_over() {
    check(3, || {
        let model = Model::new(1, 1, Some(OTHER));
        // It had claimed a slot, and had not even moved the tail on.
        let claim = Run::single(model.track.first()).claimed(OTHER);
        model.states[0].store(claim, Ordering::SeqCst);
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.send(SENDER, 1).unwrap();
                model.send(SENDER, 2).unwrap();
                model.sender_ends();
            })
        };
        let cursor = model.cursor();
        assert_eq!(model.receive(&cursor), Ok(1));
        assert_eq!(cursor.abandoned(), 1);
        assert_eq!(model.receive(&cursor), Ok(2));
        assert_eq!(model.receive(&cursor), Err(Nothing::Closed));
        sender.join().unwrap();
    });
}

/// A sender that was killed with several slots claimed, and none of them published, is passed over by one step, and a sender that waits for them goes on.
#[test]
fn loom_slots_claimed_together_by_the_dead_are_passed_over() {
    check(3, || {
        let model = Model::new(2, 1, Some(OTHER));
        let run = Run {
            first: model.track.first(),
            exponent: 1,
        };
        model.states[0].store(run.claimed(OTHER), Ordering::SeqCst);
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.send_many(SENDER, 1, 2).unwrap();
                model.sender_ends();
            })
        };
        let cursor = model.cursor();
        assert_eq!(model.receive(&cursor), Ok(1));
        assert_eq!(cursor.abandoned(), 2);
        assert_eq!(model.receive(&cursor), Ok(2));
        assert_eq!(model.receive(&cursor), Err(Nothing::Closed));
        sender.join().unwrap();
    });
}

/// Messages that were sent together and one of another sender come once, in order, also where both want the same slots.
#[test]
fn loom_messages_sent_together_beside_those_of_another() {
    check(2, || {
        let model = Model::new(2, 2, None);
        let senders = [(SENDER, 10, 2), (OTHER, 20, 1)].map(|(by, first, count)| {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.send_many(by, first, count).unwrap();
                model.sender_ends();
            })
        });
        let cursor = model.cursor();
        let mut seen = [10, 20];
        for _ in 0..3 {
            let message = model.receive(&cursor).unwrap();
            let of_sender = &mut seen[usize::from(message >= 20)];
            assert_eq!(message, *of_sender);
            *of_sender += 1;
        }
        assert_eq!(model.receive(&cursor), Err(Nothing::Closed));
        senders.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// A receiver that counts as dead gives back what it has taken, at any moment while the next one begins: that one reads nothing that a sender writes over.
#[test]
fn loom_a_receiver_that_comes_too_late_gives_back_nothing() {
    check(3, || {
        let model = Model::new(2, 1, None);
        model.send_many(SENDER, 1, 2).unwrap();
        let cursor = model.cursor();
        // One of two that were sent together.
        model.take(&cursor).unwrap();
        let late = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.free(&cursor, 1);
                model.freed();
            })
        };
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.send(SENDER, 3).unwrap();
                model.sender_ends();
            })
        };
        let next = model.take_over(OTHER).unwrap();
        let mut message = model.receive(&next).unwrap();
        if message == 1 {
            message = model.receive(&next).unwrap();
        }
        assert_eq!(message, 2);
        assert_eq!(model.receive(&next), Ok(3));
        assert_eq!(model.receive(&next), Err(Nothing::Closed));
        late.join().unwrap();
        sender.join().unwrap();
    });
}

/// A sender that waits for room does not sleep past a batch that was received, whose slots are given back by one step.
#[test]
fn loom_a_batch_makes_room() {
    check(3, || {
        let model = Model::new(2, 1, None);
        model.send(SENDER, 1).unwrap();
        model.send(SENDER, 2).unwrap();
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.send(SENDER, 3).unwrap();
                model.send(SENDER, 4).unwrap();
            })
        };
        let cursor = model.cursor();
        for message in 1..=2 {
            let position = model.take(&cursor).unwrap();
            assert_eq!(model.read(position), message);
        }
        assert!(model.free(&cursor, 2));
        model.freed();
        assert_eq!(model.receive(&cursor), Ok(3));
        assert_eq!(model.receive(&cursor), Ok(4));
        sender.join().unwrap();
    });
}

/// A batch of messages rings once, and the receiver does not sleep past it.
#[test]
fn loom_a_batch_of_messages_rings_once() {
    check(3, || {
        let model = Model::new(2, 1, None);
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                for message in 1..=2 {
                    let run = model.claim(SENDER, 1).unwrap();
                    model.write(run, SENDER, message);
                }
                model.control.receiver.ring();
            })
        };
        let cursor = model.cursor();
        assert_eq!(model.receive(&cursor), Ok(1));
        assert_eq!(model.receive(&cursor), Ok(2));
        sender.join().unwrap();
    });
}

/// A sender that waits for room when the receiver ends is told so.
#[test]
fn loom_the_receivers_end_wakes_a_sender() {
    check(3, || {
        let model = Model::new(1, 1, None);
        model.send(SENDER, 1).unwrap();
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || assert_eq!(model.send(SENDER, 2), Err(Refusal::Closed)))
        };
        model.receivers.fetch_sub(1, Ordering::SeqCst);
        model.control.senders.ring();
        sender.join().unwrap();
    });
}

/// A loan that is given back holds up neither side.
#[test]
fn loom_a_slot_without_a_message_is_passed_over() {
    check(3, || {
        let model = Model::new(1, 1, None);
        let sender = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let run = model.claim_place(SENDER, 1).unwrap();
                assert!(model.publish(run, SENDER, false));
                model.control.receiver.ring();
                model.send(SENDER, 2).unwrap();
                model.sender_ends();
            })
        };
        let cursor = model.cursor();
        assert_eq!(model.receive(&cursor), Ok(2));
        assert_eq!(model.receive(&cursor), Err(Nothing::Closed));
        assert_eq!(cursor.abandoned(), 0);
        sender.join().unwrap();
    });
}
