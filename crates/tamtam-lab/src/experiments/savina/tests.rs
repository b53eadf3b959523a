//! The bodies notice what is lost, doubled or misled.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use tamtam_channel::Latch;

use super::*;
use crate::Others;
use big::Big;
use chameneos::Chameneos;
use counting::Counting;
use fork_join::ForkJoin;
use threadring::ThreadRing;

/// Runs its actors in the calling thread, with one fault in all.
#[derive(Debug, Clone, Copy)]
struct Simple(Fault);

/// What befalls the message that is the given one to be handled, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Lose(usize),
    Double(usize),
    /// It goes to the next actor.
    Misroute(usize),
}

struct Row<P: Part> {
    fault: Fault,
    handled: Cell<usize>,
    parts: Vec<P>,
    mail: Mail<P::Message>,
}

struct Mail<M>(RefCell<VecDeque<(usize, M)>>);

impl<M> Others<M> for Mail<M> {
    fn tell(&self, position: usize, message: M) {
        self.0.borrow_mut().push_back((position, message));
    }
}

impl Troupe for Simple {
    type Stage<P: Part> = Row<P>;

    fn open<P: Part>(&self, _threads: usize) -> Row<P> {
        Row {
            fault: self.0,
            handled: Cell::new(0),
            parts: Vec::new(),
            mail: Mail(RefCell::default()),
        }
    }
}

impl<P: Part> Stage<P> for Row<P> {
    fn build(&mut self, parts: Vec<P>) {
        self.parts = parts;
    }

    fn send(&mut self, position: usize, message: P::Message) {
        self.mail.tell(position, message);
    }

    fn wait(&mut self, _latch: &Latch, _patience: Duration) {
        loop {
            let next = self.mail.0.borrow_mut().pop_front();
            let Some((mut position, message)) = next else {
                return;
            };
            let number = self.handled.replace(self.handled.get() + 1);
            match self.fault {
                Fault::Lose(at) if at == number => continue,
                Fault::Double(at) if at == number => {
                    self.mail.0.borrow_mut().push_front((position, message));
                }
                Fault::Misroute(at) if at == number => position = (position + 1) % self.parts.len(),
                _ => {}
            }
            self.parts[position].handle(message, &self.mail);
        }
    }

    fn clear(&mut self) {
        self.parts.clear();
        self.mail.0.borrow_mut().clear();
    }
}

fn go<C: Classic>(classic: C, fault: Fault) -> Result<Measurement, Failure> {
    let conditions = Conditions {
        variant: Variant::new(classic.operations(), Placement::Free),
        limit: Duration::from_millis(1),
    };
    run(Simple(fault), classic, &conditions, Duration::ZERO)
}

fn prove<C: Classic + std::fmt::Debug>(classic: C) {
    let measurement = go(classic, Fault::None).unwrap();
    assert!(measurement.operations >= 2 * classic.operations());
    assert!(measurement.value("ns_per_op").unwrap() > 0.0);
    // Each message of the first round, in each way.
    let stage = {
        let mut stage = Simple(Fault::None).open(1);
        round(&mut stage, classic, Duration::ZERO).unwrap();
        stage
    };
    for at in 0..stage.handled.get() {
        for fault in [Fault::Lose(at), Fault::Double(at), Fault::Misroute(at)] {
            let outcome = go(classic, fault);
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{classic:?} {fault:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn every_fault_is_noticed() {
    prove(Counting { numbers: 20 });
    prove(ForkJoin {
        actors: 4,
        messages: 5,
    });
    prove(ThreadRing {
        actors: 4,
        hops: 21,
    });
    prove(Big {
        actors: 4,
        pings: 5,
    });
    prove(Chameneos {
        creatures: 5,
        meetings: 11,
    });
}

#[test]
fn variants_are_those_of_the_paper() {
    let names: Vec<(&str, String)> = measures(Simple(Fault::None))
        .iter()
        .map(|measure| (measure.experiment(), measure.variant().to_string()))
        .collect();
    let first: Vec<(&str, &str)> = names
        .iter()
        .map(|(experiment, variant)| (*experiment, variant.as_str()))
        .take(5)
        .collect();
    assert_eq!(
        first,
        [
            ("counting", "1000000/2cores"),
            ("fork-join", "600000/2cores"),
            ("threadring", "100000/2cores"),
            ("big", "240000/2cores"),
            ("chameneos", "200000/2cores"),
        ]
    );
    assert_eq!(names.len(), 10);
    assert_eq!(on_one_core(Simple(Fault::None)).len(), 5);
}
