//! The ends of a channel between two rounds, and what each tells when it is done with one.

use std::time::Instant;

use super::check::{Seen, all_came};
use super::rounds::TimedRound;
use crate::Failure;

/// The ends between two rounds.
pub(super) struct Crew<S, R> {
    pub(super) senders: Vec<S>,
    pub(super) receivers: Vec<R>,
    /// With which number each sender goes on.
    first: u64,
}

/// A round for a crew: each sender sends the numbers from `first`, `share` of them, and then marks its end once for each
/// receiver.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) lanes: usize,
    pub(super) ends: usize,
    pub(super) first: u64,
    pub(super) share: u64,
    seen: Vec<Seen>,
    begun: Vec<Instant>,
    done: Vec<Instant>,
}

/// What an end tells when it is done.
pub(super) enum EndReport<S, R> {
    Sent {
        sender: S,
        begin: Instant,
    },
    Received {
        receiver: R,
        seen: Seen,
        begin: Instant,
        end: Instant,
    },
}

impl Errand {
    /// For a receiver, before it begins.
    pub(super) fn to_see(&self) -> Seen {
        Seen::before(self.first, self.lanes, self.ends)
    }
}

impl<S, R> Crew<S, R> {
    pub(super) fn of(senders: Vec<S>, receivers: Vec<R>) -> Self {
        Crew {
            senders,
            receivers,
            first: 0,
        }
    }

    /// About `operations` messages, shared by all senders.
    pub(super) fn errand(&self, operations: u64) -> Errand {
        Errand {
            lanes: self.senders.len(),
            ends: self.receivers.len(),
            first: self.first,
            share: operations.div_ceil(self.senders.len() as u64),
            seen: Vec::new(),
            begun: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Takes an end back.
    pub(super) fn take_back(&mut self, report: EndReport<S, R>, errand: &mut Errand) {
        match report {
            EndReport::Sent { sender, begin } => {
                self.senders.push(sender);
                errand.begun.push(begin);
            }
            EndReport::Received {
                receiver,
                seen,
                begin,
                end,
            } => {
                self.receivers.push(receiver);
                errand.seen.push(seen);
                errand.begun.push(begin);
                errand.done.push(end);
            }
        }
    }

    /// The time of the round, from the first end that began to the last receiver that was done, if all came.
    pub(super) fn settle(&mut self, errand: Errand) -> Result<TimedRound, Failure> {
        if self.senders.len() < errand.lanes || self.receivers.len() < errand.ends {
            return Err(Failure::Unverified("an end has panicked".to_owned()));
        }
        all_came(&errand.seen, errand.first, errand.share)?;
        self.first += errand.share;
        let begin = errand.begun.into_iter().min().expect("there are ends");
        let end = errand.done.into_iter().max().expect("there are receivers");
        Ok(TimedRound {
            operations: errand.share * errand.lanes as u64,
            time: end - begin,
        })
    }
}
