//! The ring's body notices what is lost, doubled or misled.

use std::collections::VecDeque;

use super::*;

/// Runs its actors in the calling thread, with one fault in every round.
#[derive(Debug, Clone, Copy)]
struct Simple(Fault);

/// What befalls the message that is the given one to be handled, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Lose(usize),
    Double(usize),
    /// It goes to the next actor but one.
    Misroute(usize),
    Damage(usize),
    /// It is handled after the message that came behind it.
    Late(usize),
}

#[derive(Debug, Default)]
struct Row<const WORDS: usize> {
    fault: Option<Fault>,
    stations: Vec<Station>,
    mail: VecDeque<(usize, Parcel<WORDS>)>,
}

impl<const WORDS: usize> Ring<WORDS> for Simple {
    type Pool = Row<WORDS>;

    fn open(&self, _threads: usize) -> Row<WORDS> {
        Row {
            fault: Some(self.0),
            stations: Vec::new(),
            mail: VecDeque::new(),
        }
    }
}

impl<const WORDS: usize> Actors<WORDS> for Row<WORDS> {
    fn build(&mut self, plan: &Plan) {
        self.stations = (0..plan.actors())
            .map(|position| plan.station(position))
            .collect();
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        self.mail.push_back((position, parcel));
    }

    fn wait(&mut self, _latch: &Latch, _patience: Duration) {
        let mut handled = 0;
        while let Some((mut position, mut parcel)) = self.mail.pop_front() {
            let fault = self.fault.filter(|fault| match fault {
                Fault::None => false,
                Fault::Lose(at)
                | Fault::Double(at)
                | Fault::Misroute(at)
                | Fault::Damage(at)
                | Fault::Late(at) => *at == handled,
            });
            handled += 1;
            match fault {
                Some(Fault::Lose(_)) => continue,
                Some(Fault::Double(_)) => self.mail.push_back((position, parcel)),
                Some(Fault::Misroute(_)) => position += 1,
                Some(Fault::Damage(_)) => parcel = parcel.damaged(),
                Some(Fault::Late(_)) => {
                    self.mail.push_back((position, parcel));
                    // Not again: it is another one that has this count.
                    self.fault = None;
                    continue;
                }
                Some(Fault::None) | None => {}
            }
            let station = self.stations.get_mut(position);
            if let Some(parcel) = station.and_then(|station| station.handle(parcel)) {
                let next = (position + 1) % self.stations.len();
                self.mail.push_back((next, parcel));
            }
        }
    }

    fn clear(&mut self) {
        self.stations.clear();
    }
}

fn go<const WORDS: usize>(fault: Fault, course: Course) -> Result<Measurement, Failure> {
    let conditions = Conditions {
        variant: Variant::new(course.handled(), Placement::Free),
        limit: Duration::from_millis(1),
    };
    run::<WORDS, _>(Simple(fault), course, &conditions, Duration::ZERO)
}

fn token(actors: usize, hops: u32) -> Course {
    Course {
        actors,
        messages: 1,
        kind: Kind::Token,
        hops,
    }
}

fn courses() -> [Course; 3] {
    [
        Course::row(50, 7, Kind::Last),
        Course::row(50, 7, Kind::All),
        token(50, 329),
    ]
}

#[test]
fn a_small_ring_is_measured() {
    for course in courses() {
        for measurement in [go::<0>(Fault::None, course), go::<4>(Fault::None, course)] {
            let measurement = measurement.unwrap();
            assert_eq!(measurement.operations % course.handled(), 0);
            assert!(measurement.operations >= 2 * course.handled());
            let total = measurement.value("total_us").unwrap();
            let each = measurement.value("ns_per_op").unwrap();
            let handled = course.handled() as f64;
            assert!((each * handled / (total * 1e3) - 1.0).abs() < 1e-9);
            assert!(measurement.value("build_us").unwrap() <= total);
            assert!(measurement.value("best_us").unwrap() <= total);
            assert!(measurement.value("first_us").unwrap() > 0.0);
        }
    }
}

#[test]
fn every_fault_is_noticed() {
    for course in courses() {
        for fault in [
            Fault::Lose(0),
            Fault::Lose(300),
            Fault::Double(300),
            Fault::Misroute(300),
            Fault::Damage(300),
        ] {
            // Counting every message, a doubled one makes the latch open while another is on its way.
            let outcome = go::<4>(fault, course);
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{fault:?} {course:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn an_overtaken_message_is_noticed() {
    for kind in [Kind::Last, Kind::All] {
        let outcome = go::<0>(Fault::Late(200), Course::row(50, 7, kind));
        assert_eq!(
            outcome.unwrap_err(),
            Failure::Unverified("messages of one sender overtook each other".to_owned())
        );
    }
}

#[test]
fn a_lost_message_is_said_to_be_missing() {
    let outcome = go::<0>(Fault::Lose(300), Course::row(50, 7, Kind::Last));
    assert_eq!(
        outcome.unwrap_err(),
        Failure::Unverified("1 of 7 messages were still missing after 0ns".to_owned())
    );
}

#[test]
fn variants_are_those_of_the_article() {
    let names: Vec<String> = measures(Simple(Fault::None))
        .iter()
        .chain(&sizes(Simple(Fault::None), Placement::TwoCores))
        .map(|measure| measure.variant().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "4875250/2cores/last",
            "4875250/2cores/all",
            "1000000/2cores/token",
            "4999990/2cores/million",
            "4875250/1core/last",
            "4875250/1core/all",
            "1000000/1core/token",
            "4875250/2cores/40B",
            "4875250/2cores/200B",
        ]
    );
    let one = on_one_core(Simple(Fault::None));
    assert_eq!(one.len(), 4);
}
