//! The rows about selects: one receiver that waits for many channels, `select-8-fresh`, `select-8-kept`, or looks whether one of them has something,
//! `select-8-empty`.
//!
//! One thread sends to each channel in turn, the other receives from whichever has something. A fresh select is made for
//! each message, as by a macro in a loop; a kept one is made once. Each channel holds 1000 messages of 8 bytes.
//!
//! A look is that of a frame loop, which does not wait and mostly finds nothing: the select is made for each. Between the rounds of looks each channel has
//! messages, which such looks have to find: one that finds nothing anywhere is noticed.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Instant;

use super::EXPERIMENT;
use super::check::{Seen, all_came};
use super::rounds::{self, TimedRound};
use crate::harness::packet::END;
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Packet, Packet8, Placement, Post, Variant};

/// How many channels a receiver waits for.
const CHANNELS: [usize; 3] = [2, 8, 64];

/// How many messages a round has at most.
const MOST_MESSAGES: u64 = 1_000_000;

/// How many messages each channel holds.
const CAPACITY: usize = 1000;

/// Whether a select is made for each message or once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selecting {
    /// For each message.
    Fresh,
    /// Once.
    Kept,
}

/// A way of receiving from many channels at once.
pub trait SelectFrom: Copy + Send + Sync + 'static {
    /// The sending side of each.
    type Sender: Post<Packet8>;
    /// The receiving sides of all.
    type Receivers: ReceiveAny;

    /// Fresh channels, each for so many messages.
    fn open(&self, channels: usize, capacity: usize) -> (Vec<Self::Sender>, Self::Receivers);
}

/// The receiving sides of many channels.
pub trait ReceiveAny: Send + 'static {
    /// Receives from whichever channel has something, waiting if need be, until `accept` says that it has enough by
    /// `false`.
    ///
    /// # Errors
    /// Those of `accept`.
    fn receive_any(
        &mut self,
        selecting: Selecting,
        accept: impl FnMut(Packet8) -> Result<bool, Failure>,
    ) -> Result<(), Failure>;
}

/// The receiving sides of many channels, which can be looked at without waiting.
pub trait LookAtAll: ReceiveAny {
    /// Looks once, by a fresh select, and takes a message of a channel that has one; `None` if none has.
    fn look(&mut self) -> Option<Packet8>;
}

/// Selects over 2, 8 and 64 channels, made in each of these ways.
pub fn selects<S: SelectFrom>(select: S, ways: &[Selecting]) -> Vec<Measure> {
    let mut measures = Vec::new();
    for channels in CHANNELS {
        for &selecting in ways {
            let word = match selecting {
                Selecting::Fresh => "fresh",
                Selecting::Kept => "kept",
            };
            let variant = Variant::new(MOST_MESSAGES, Placement::TwoCores)
                .with_extra(format!("select-{channels}-{word}"));
            measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
                run(select, channels, selecting, conditions)
            }));
        }
    }
    measures
}

/// Selects over 2, 8 and 64 channels that do not wait and find nothing.
pub fn empty_selects<S>(select: S) -> Vec<Measure>
where
    S: SelectFrom<Receivers: LookAtAll>,
{
    let measure = |channels| {
        let variant = Variant::new(MOST_MESSAGES, Placement::OneCore)
            .with_extra(format!("select-{channels}-empty"));
        Measure::new(EXPERIMENT, variant, move |conditions| {
            look(select, channels, conditions)
        })
    };
    CHANNELS.map(measure).into()
}

fn look<S>(select: S, channels: usize, conditions: &Conditions) -> Result<Measurement, Failure>
where
    S: SelectFrom<Receivers: LookAtAll>,
{
    Seats::of(conditions.variant.placement)?.near.take()?;
    let (mut senders, mut receivers) = select.open(channels, CAPACITY);
    let mut number = 0;
    rounds::measure(conditions.variant.count, conditions.limit, |looks| {
        for mark in [number, END] {
            for (lane, sender) in (0..).zip(&mut senders) {
                sender.send(Packet8::new(lane, mark));
            }
        }
        let mut seen = Seen::before(number, channels, 1);
        // All were sent by this thread, so that each look finds one.
        while let Some(packet) = receivers.look() {
            if !seen.accept(&packet)? {
                break;
            }
        }
        all_came(&[seen], number, 1)?;
        number += 1;
        let begin = Instant::now();
        let found: u64 = (0..looks)
            .map(|_| u64::from(receivers.look().is_some()))
            .sum();
        let time = begin.elapsed();
        if found > 0 {
            return Err(Failure::Unverified(format!(
                "of {looks} looks at empty channels {found} found something"
            )));
        }
        Ok(TimedRound {
            operations: looks,
            time,
        })
    })
}

fn run<S: SelectFrom>(
    select: S,
    channels: usize,
    selecting: Selecting,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let mut ends = Some(select.open(channels, CAPACITY));
    let mut first = 0;
    rounds::measure(conditions.variant.count, conditions.limit, |operations| {
        let share = operations.div_ceil(channels as u64);
        let (mut senders, mut receivers) = ends.take().expect("they come back from each round");
        let start = Arc::new(Barrier::new(2));
        let started = Arc::clone(&start);
        let (report, sent) = mpsc::channel();
        thread::spawn(move || {
            let seat = seats.near.take();
            started.wait();
            let begin = Instant::now();
            for number in first..first + share {
                for (lane, sender) in (0..).zip(&mut senders) {
                    sender.send(Packet8::new(lane, number));
                }
            }
            for (lane, sender) in (0..).zip(&mut senders) {
                sender.send(Packet8::new(lane, END));
            }
            // The main thread ends at the first failure.
            let _ = report.send(seat.map(|()| (senders, begin)));
        });
        let receiving = thread::spawn(move || {
            let seat = seats.far.take();
            start.wait();
            let begin = Instant::now();
            let mut seen = Seen::before(first, channels, 1);
            seat?;
            receivers.receive_any(selecting, |packet| seen.accept(&packet))?;
            Ok::<_, Failure>((receivers, seen, begin, Instant::now()))
        });
        let (receivers, seen, begin, end) = receiving
            .join()
            .map_err(|_| Failure::Unverified("the receiver has panicked".to_owned()))??;
        let (senders, begun) = sent
            .recv()
            .map_err(|_| Failure::Unverified("the sender has panicked".to_owned()))??;
        all_came(&[seen], first, share)?;
        ends = Some((senders, receivers));
        first += share;
        Ok(TimedRound {
            operations: share * channels as u64,
            time: end - begin.min(begun),
        })
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::harness::broken::{Receiving, Sending, Sound};
    use crate::{Queue, Retrieve};

    /// Looks at one channel after the other, or at none.
    #[derive(Debug, Clone, Copy)]
    struct InTurn {
        is_blind: bool,
    }

    struct Ends {
        is_blind: bool,
        receivers: Vec<Receiving<Packet8>>,
    }

    impl SelectFrom for InTurn {
        type Sender = Sending<Packet8>;
        type Receivers = Ends;

        fn open(&self, channels: usize, capacity: usize) -> (Vec<Self::Sender>, Ends) {
            let (senders, receivers) = (0..channels)
                .map(|_| Queue::<Packet8>::open(&Sound, capacity))
                .unzip();
            let ends = Ends {
                is_blind: self.is_blind,
                receivers,
            };
            (senders, ends)
        }
    }

    impl Ends {
        fn take(&mut self) -> Option<Packet8> {
            self.receivers.iter_mut().find_map(Retrieve::try_receive)
        }
    }

    impl ReceiveAny for Ends {
        fn receive_any(
            &mut self,
            _selecting: Selecting,
            mut accept: impl FnMut(Packet8) -> Result<bool, Failure>,
        ) -> Result<(), Failure> {
            loop {
                match self.take() {
                    Some(packet) if !accept(packet)? => return Ok(()),
                    Some(_) => {}
                    None => thread::yield_now(),
                }
            }
        }
    }

    impl LookAtAll for Ends {
        fn look(&mut self) -> Option<Packet8> {
            if self.is_blind { None } else { self.take() }
        }
    }

    #[test]
    fn a_look_that_finds_nothing_anywhere_is_noticed() {
        let conditions = Conditions {
            variant: Variant::new(100, Placement::Free),
            limit: Duration::ZERO,
        };
        let measurement = look(InTurn { is_blind: false }, 2, &conditions).unwrap();
        assert_eq!(measurement.operations, 2);
        let failure = look(InTurn { is_blind: true }, 2, &conditions).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("sender 0 sent 1 messages and 0 came".to_owned())
        );
    }
}
