//! A round between tasks: each end in one of its own, on a runtime of tokio with one thread or with two.

use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;

use super::crew::{Crew, EndReport};
use super::rounds::{self, TimedRound};
use crate::harness::executor::runtime;
use crate::harness::packet::END;
use crate::measure::seats::Seats;
use crate::{AsyncPost, AsyncRetrieve, Conditions, Failure, Measurement, Packet};

/// Sends through `senders` and receives through `receivers`, round after round, on a runtime with so many threads: a
/// current-thread one, or one that steals work.
pub(super) fn run<P: Packet, S: AsyncPost<P>, R: AsyncRetrieve<P>>(
    senders: Vec<S>,
    receivers: Vec<R>,
    threads: usize,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    Seats::of(conditions.variant.placement)?.take_both()?;
    let runtime = match threads {
        1 => runtime(),
        threads => with_threads(threads),
    };
    let mut crew = Crew::of(senders, receivers);
    let measured = rounds::measure(conditions.variant.count, conditions.limit, |operations| {
        runtime.block_on(round::<P, _, _>(&mut crew, operations))
    });
    // Tasks that wait for what was lost are dropped wherever they stand.
    runtime.shutdown_background();
    measured
}

/// A runtime that steals work, without timers and sockets.
fn with_threads(threads: usize) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .build()
        .expect("a runtime without timers and sockets needs its threads only")
}

/// About `operations` messages.
async fn round<P: Packet, S: AsyncPost<P>, R: AsyncRetrieve<P>>(
    crew: &mut Crew<S, R>,
    operations: u64,
) -> Result<TimedRound, Failure> {
    let mut errand = crew.errand(operations);
    let (ends, first, share) = (errand.ends, errand.first, errand.share);
    let (report, mut reports) = unbounded_channel();
    for mut receiver in crew.receivers.drain(..) {
        let report = report.clone();
        let mut seen = errand.to_see();
        tokio::spawn(async move {
            let begin = Instant::now();
            let drawn = loop {
                match seen.accept(&receiver.receive_async().await) {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(failure) => break Err(failure),
                }
            };
            let end = Instant::now();
            // The main task ends at the first failure.
            let _ = report.send(drawn.map(|()| EndReport::Received {
                receiver,
                seen,
                begin,
                end,
            }));
        });
    }
    for (lane, mut sender) in (0..).zip(crew.senders.drain(..)) {
        let report = report.clone();
        tokio::spawn(async move {
            let begin = Instant::now();
            for number in first..first + share {
                sender.send_async(P::new(lane, number)).await;
            }
            for _ in 0..ends {
                sender.send_async(P::new(lane, END)).await;
            }
            let _ = report.send(Ok(EndReport::Sent { sender, begin }));
        });
    }
    drop(report);
    while let Some(told) = reports.recv().await {
        crew.take_back(told?, &mut errand);
    }
    crew.settle(errand)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{AsyncQueue, Packet16, Placement, Variant};

    fn measure<Q: AsyncQueue<Packet16>>(queue: Q, threads: usize) -> Result<Measurement, Failure> {
        let conditions = Conditions {
            variant: Variant::new(2000, Placement::Free),
            limit: Duration::ZERO,
        };
        let (sender, receiver) = queue.open_async(64);
        run(vec![sender], vec![receiver], threads, &conditions)
    }

    #[test]
    fn all_messages_are_counted_on_one_thread_and_on_two() {
        for threads in [1, 2] {
            // Two rounds of one operation, which is what no time at all has room for.
            assert_eq!(measure(Sound, threads).unwrap().operations, 2);
        }
    }

    #[test]
    fn lost_doubled_and_overtaken_messages_are_noticed() {
        for fault in [
            Fault::Lose(3),
            Fault::Double(500),
            Fault::Stale(500),
            Fault::Swap(500),
        ] {
            let outcome = measure(Faulty(fault), 1);
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{fault:?}: {outcome:?}"
            );
        }
    }
}
