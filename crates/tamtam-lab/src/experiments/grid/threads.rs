//! A round between threads: each end in one of its own, all running at once.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Instant;

use super::crew::{Crew, EndReport};
use super::rounds::{self, TimedRound};
use crate::experiments::post::flow::{Draw, Feed};
use crate::harness::packet::END;
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measurement, Packet};

/// How large the stack of a thread is, in bytes: there are channels that put a whole block of messages of 16 KiB on it.
const STACK: usize = 16 << 20;

/// Starts a thread for an end.
fn begin_end(end: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = thread::Builder::new().stack_size(STACK).spawn(end);
    started
        .map(drop)
        .map_err(|error| Failure::Impossible(format!("no thread can be started: {error}")))
}

/// Sends through `senders` and receives through `receivers`, round after round.
pub(super) fn run<P: Packet, S: Feed<P>, R: Draw<P>>(
    senders: Vec<S>,
    receivers: Vec<R>,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let mut crew = Crew::of(senders, receivers);
    let measurement = rounds::measure(conditions.variant.count, conditions.limit, |operations| {
        round::<P, _, _>(&mut crew, operations, seats)
    })?;
    if crew.receivers.iter_mut().any(Draw::has_more) {
        return Err(Failure::Unverified(
            "a message came after all senders' last".to_owned(),
        ));
    }
    Ok(measurement)
}

/// About `operations` messages.
///
/// At the first failure the threads are left behind: one that waits for what was lost ends with the process.
fn round<P: Packet, S: Feed<P>, R: Draw<P>>(
    crew: &mut Crew<S, R>,
    operations: u64,
    seats: Seats,
) -> Result<TimedRound, Failure> {
    let mut errand = crew.errand(operations);
    let (ends, first, share) = (errand.ends, errand.first, errand.share);
    let start = Arc::new(Barrier::new(errand.lanes + ends));
    let (report, reports) = mpsc::channel();
    for mut receiver in crew.receivers.drain(..) {
        let (start, report) = (Arc::clone(&start), report.clone());
        let mut seen = errand.to_see();
        begin_end(move || {
            let seat = seats.far.take();
            start.wait();
            let begin = Instant::now();
            let drawn = seat.and_then(|()| receiver.draw(|packet| seen.accept(packet)));
            let end = Instant::now();
            // The main thread ends at the first failure.
            let _ = report.send(drawn.map(|()| EndReport::Received {
                receiver,
                seen,
                begin,
                end,
            }));
        })?;
    }
    for (lane, mut sender) in (0..).zip(crew.senders.drain(..)) {
        let (start, report) = (Arc::clone(&start), report.clone());
        begin_end(move || {
            let seat = seats.near.take();
            start.wait();
            let begin = Instant::now();
            sender.feed(lane, first..first + share);
            for _ in 0..ends {
                sender.feed(lane, END..END + 1);
            }
            let _ = report.send(seat.map(|()| EndReport::Sent { sender, begin }));
        })?;
    }
    drop(report);
    for told in reports {
        crew.take_back(told?, &mut errand);
    }
    crew.settle(errand)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::experiments::post::flow::{Flow, InBatches, OneByOne};
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{Packet16, Placement, Variant};

    fn conditions(count: u64) -> Conditions {
        Conditions {
            variant: Variant::new(count, Placement::Free),
            limit: Duration::ZERO,
        }
    }

    #[test]
    fn all_messages_of_all_senders_are_counted() {
        for lanes in [1, 4] {
            let (sender, receiver) = Flow::<Packet16>::open(&OneByOne(Sound), 64);
            let measurement = run(vec![sender; lanes], vec![receiver], &conditions(2000)).unwrap();
            // Two rounds of one operation a sender, which is what no time at all has room for.
            assert_eq!(measurement.operations, 2 * lanes as u64);
            let (sender, receiver) = Flow::<Packet16>::open(&InBatches(Sound), 64);
            run(vec![sender; lanes], vec![receiver], &conditions(2000)).unwrap();
        }
    }

    #[test]
    fn lost_doubled_and_overtaken_messages_are_noticed() {
        for fault in [
            Fault::Lose(3),
            Fault::Lose(999),
            Fault::Double(500),
            Fault::Stale(500),
            Fault::Swap(500),
        ] {
            let (sender, receiver) = Flow::<Packet16>::open(&OneByOne(Faulty(fault)), 64);
            let outcome = run(vec![sender], vec![receiver], &conditions(2000));
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{fault:?}: {outcome:?}"
            );
        }
    }
}
