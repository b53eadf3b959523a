//! The bodies notice what is lost, doubled or wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::Queue;
use crate::harness::broken::{Fault, Faulty, Sound};

fn conditions(count: u64) -> Conditions {
    Conditions {
        variant: Variant::new(count, Placement::Free),
        limit: Duration::from_millis(5),
    }
}

fn asks<Q: Queue<Request> + Queue<u64>>(queue: Q) -> Result<Measurement, Failure> {
    run_asks(ByQueues(queue), Origin::Thread, &conditions(100))
}

fn tells<Q: Queue<Request> + Queue<u64>>(queue: Q) -> Result<Measurement, Failure> {
    run_tells(ByQueues(queue), &conditions(1000))
}

#[test]
fn questions_are_measured() {
    let measurement = asks(Sound).unwrap();
    assert!(measurement.operations >= 1);
    assert_eq!(measurement.metrics[0].metric, "ns_per_op");
    assert!(measurement.value("ns_per_op").unwrap() > 0.0);
}

#[test]
fn tells_are_measured() {
    let measurement = tells(Sound).unwrap();
    assert!(measurement.operations >= 2000 && measurement.operations.is_multiple_of(1000));
    let (each, total) = (
        measurement.value("ns_per_op").unwrap(),
        measurement.value("total_us").unwrap(),
    );
    assert!((each * 1000.0 / (total * 1e3) - 1.0).abs() < 1e-9);
    assert!(measurement.value("first_us").unwrap() > 0.0);
}

/// An actor in the calling thread that does not hear, or not rightly, one of its messages.
#[derive(Debug, Clone, Copy)]
enum Deaf {
    ToTell(u64),
    /// It hears it twice.
    ToTellOnce(u64),
    /// It answers with the answer before.
    ToQuestion(u64),
    /// It ends before the asker has enough.
    Altogether,
}

impl Ask for Deaf {
    fn ask(&self, _origin: Origin, _threads: usize, mut asker: Asker) -> Asker {
        let mut counter = Counter::default();
        let mut last = 0;
        while let Some(number) = asker.next() {
            match *self {
                Deaf::ToQuestion(at) if at == number => {}
                Deaf::Altogether => return asker,
                _ => last = counter.ask(number),
            }
            asker.accept(last);
        }
        asker
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let mut counter = Counter::default();
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                match *self {
                    Deaf::ToTell(at) if at == number => {}
                    Deaf::ToTellOnce(at) if at == number => {
                        counter.tell(number);
                        counter.tell(number);
                    }
                    Deaf::Altogether => return,
                    _ => counter.tell(number),
                }
            }
            teller.accept(counter.ask(question));
        }
    }
}

/// How long it takes to learn what another process has used.
const TO_LEARN: Duration = Duration::from_millis(10);

/// An actor that says to be in another process, which uses a millisecond for each message.
#[derive(Debug, Clone, Copy)]
struct Elsewhere;

/// The messages that have come to it.
#[derive(Debug, Clone, Default)]
struct Handled(Arc<AtomicU64>);

impl Handled {
    fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// What its process has used.
    fn used(&self) -> impl FnMut() -> Option<[u64; 3]> + Send + Sync + 'static {
        let Handled(count) = self.clone();
        move || {
            let begin = Instant::now();
            while begin.elapsed() < TO_LEARN {
                std::hint::spin_loop();
            }
            let handled = count.load(Ordering::Relaxed);
            Some([handled * 1_000_000, handled * 2, 0])
        }
    }
}

impl Ask for Elsewhere {
    fn ask(&self, _origin: Origin, _threads: usize, mut asker: Asker) -> Asker {
        let (mut counter, handled) = (Counter::default(), Handled::default());
        asker.count_process(handled.used());
        while let Some(number) = asker.next() {
            handled.one();
            asker.accept(counter.ask(number));
        }
        asker
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let (mut counter, handled) = (Counter::default(), Handled::default());
        teller.count_process(handled.used());
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                handled.one();
                counter.tell(number);
            }
            teller.accept(counter.ask(question));
        }
    }
}

#[test]
fn what_the_actors_own_process_uses_is_counted_and_its_asking_is_not_timed() {
    let bodies: [fn() -> Result<Measurement, Failure>; 2] = [
        || run_asks(Elsewhere, Origin::Thread, &conditions(100)),
        || run_tells(Elsewhere, &conditions(1000)),
    ];
    for body in bodies {
        let begin = Instant::now();
        let measurement = body().unwrap();
        let whole = begin.elapsed();
        let value = |metric| measurement.value(metric);
        // It would be that of this process alone.
        assert_eq!(value("peak_rss_kib"), None);
        if cfg!(unix) {
            assert!(
                value("cpu_ns_per_op").unwrap() >= 1e6,
                "{:?}",
                measurement.metrics
            );
            assert!(value("voluntary_switches_per_op").unwrap() >= 2.0);
            assert!(measurement.elapsed + 2 * TO_LEARN <= whole);
        }
    }
}

#[test]
fn a_question_or_an_answer_out_of_turn_is_noticed() {
    // It ends by the wrong answer, long before the limit.
    let patient = Conditions {
        limit: Duration::from_secs(60),
        ..conditions(100)
    };
    for at in [3, 1500] {
        let outcome = run_asks(Deaf::ToQuestion(at), Origin::Thread, &patient);
        assert_eq!(
            outcome.unwrap_err(),
            Failure::Unverified(format!(
                "the answer to question {at} was {at} where {} was due",
                at + 1
            ))
        );
    }
    // Through a real queue: the answer before comes in place of the one that is due.
    let outcome = asks(Faulty(Fault::Stale(20)));
    assert!(
        matches!(outcome, Err(Failure::Unverified(_))),
        "{outcome:?}"
    );
}

#[test]
fn lost_and_doubled_messages_are_noticed() {
    for deaf in [
        Deaf::ToTell(10),
        Deaf::ToTell(1999),
        Deaf::ToTellOnce(10),
        Deaf::ToTellOnce(999),
    ] {
        let outcome = run_tells(deaf, &conditions(1000));
        assert!(
            matches!(outcome, Err(Failure::Unverified(_))),
            "{deaf:?}: {outcome:?}"
        );
    }
    for fault in [Fault::Lose(10), Fault::Double(999), Fault::Swap(500)] {
        let outcome = tells(Faulty(fault));
        assert!(
            matches!(outcome, Err(Failure::Unverified(_))),
            "{fault:?}: {outcome:?}"
        );
    }
}

#[test]
fn who_gives_up_has_no_figure() {
    let outcome = run_asks(Deaf::Altogether, Origin::Thread, &conditions(100));
    assert!(
        matches!(outcome, Err(Failure::Unverified(_))),
        "{outcome:?}"
    );
    let outcome = run_tells(Deaf::Altogether, &conditions(100));
    assert!(
        matches!(outcome, Err(Failure::Unverified(_))),
        "{outcome:?}"
    );
}

#[test]
fn variants_say_who_asks() {
    let names: Vec<String> = measures(ByQueues(Sound), &Origin::OF_POOLS)
        .iter()
        .map(|measure| measure.variant().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "200000/2cores/handler",
            "200000/2cores/pools",
            "200000/2cores/thread",
            "2000000/2cores/tells",
            "200000/1core/handler",
            "200000/1core/thread",
            "2000000/1core/tells",
        ]
    );
}
