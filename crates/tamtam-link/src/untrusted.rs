//! What another side may say that is not trusted, how much of what it has said is not done with, and what it is not told.

use std::collections::VecDeque;
use std::time::Duration;

use tamtam_actor::link::{FarEnd, FarFailure, Probe};
use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};

use crate::error::LinkEnd;
use crate::frame::Frame;

/// So many bytes count for a message beside its own: what a mailbox has for it.
const MESSAGE_BYTES: usize = 64;
/// And so many for each address and reply in it, of which the message has two bytes or three: what stands here for an actor there, and an entry of a table.
const ADDRESS_BYTES: usize = 512;

/// So many probes that were sent to it may come back: of more the oldest are forgotten, and sent again if there is a circle.
const MOST_PROBES: usize = 256;

/// What is said of a panic.
const PANICKED: &str = "its handler panicked";

/// Another side that is not trusted.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// Bytes of its messages with which actors are not done.
    unhandled: AtomicUsize,
    /// No more is read of it where they are so many.
    most_unhandled: usize,
    /// So long an answer may be awaited behind them while none is handled.
    pub(crate) patience: Duration,
    /// Probes that were sent to it and have not come back, the oldest first.
    probes: Mutex<VecDeque<Probe>>,
}

impl Untrusted {
    pub(crate) fn new(most_unhandled: usize, patience: Duration) -> Self {
        Untrusted {
            unhandled: AtomicUsize::new(0),
            most_unhandled,
            patience,
            probes: Mutex::new(VecDeque::new()),
        }
    }

    /// What is sent of a probe, which may come back: nothing of who waits, but the number by which one is told from the one before.
    pub(crate) fn send_probe(&self, probe: Probe) -> Probe {
        let mut path = vec![String::new(); probe.path.len()];
        if let Some(first) = path.first_mut() {
            *first = probe.number_alone();
        }
        let unnamed = Probe { path, ..probe };
        let mut probes = self.probes.lock();
        // The wait has sent an earlier one.
        probes.retain(|sent| !is_of_the_same_wait(sent, &probe));
        if probes.len() == MOST_PROBES {
            probes.pop_front();
        }
        probes.push_back(probe);
        unnamed
    }

    /// What a probe says that has come. Only one that was sent to this side says anything, and once: then the wait that it is from is for what this side
    /// does not answer, so that it gains nothing by a lie. Any other one could say that there is a circle where there is none.
    pub(crate) fn take_probe(&self, probe: Probe) -> Option<Probe> {
        let mut probes = self.probes.lock();
        let place = probes
            .iter()
            // An earlier one that comes late would be taken for one that was sent after it had come back.
            .position(|sent| {
                is_of_the_same_wait(sent, &probe) && sent.number() == probe.number()
            })?;
        let Probe { mut path, .. } = probes.remove(place)?;
        drop(probes);
        let added = probe.path.into_iter().skip(path.len());
        path.extend(added.map(|name| name.replace(char::is_control, "\u{fffd}")));
        Some(Probe { path, ..probe })
    }

    pub(crate) fn has_room(&self) -> bool {
        self.unhandled() < self.most_unhandled
    }

    /// Counts a message of so many bytes, with so many addresses and replies, as one that an actor was given; how many bytes it counts for.
    pub(crate) fn given(&self, bytes: usize, addresses: usize) -> usize {
        let counted = bytes + MESSAGE_BYTES + addresses * ADDRESS_BYTES;
        self.unhandled.fetch_add(counted, Ordering::SeqCst);
        counted
    }

    /// Actors are done with so many bytes.
    pub(crate) fn handled(&self, counted: usize) {
        self.unhandled.fetch_sub(counted, Ordering::SeqCst);
    }

    pub(crate) fn unhandled(&self) -> usize {
        self.unhandled.load(Ordering::SeqCst)
    }
}

fn is_of_the_same_wait(one: &Probe, other: &Probe) -> bool {
    (one.process, one.wait) == (other.process, other.wait)
}

/// That a side that is not trusted may say this.
///
/// # Errors
///
/// If it ends the link.
pub(crate) fn may_say(frame: &Frame<'_>) -> Result<(), LinkEnd> {
    let wants = match frame {
        Frame::Stop(actor) | Frame::Finish(actor) => format!("to stop actor {actor}"),
        Frame::Link(made) => format!("to link an actor of its own with actor {}", made.actor),
        _ => return Ok(()),
    };
    Err(LinkEnd::protocol(format!(
        "it wants {wants}: a side that is not trusted may tell, ask and watch the actors whose addresses it has"
    )))
}

/// What a side that is not trusted hears of why there is no answer.
pub(crate) fn told_failure(failure: FarFailure) -> FarFailure {
    match failure {
        FarFailure::Panicked(..) => FarFailure::Panicked(None, PANICKED.to_owned()),
        FarFailure::Other(fate, _) => {
            FarFailure::Other(fate, "what it was passed on to does not answer".to_owned())
        }
        other => other,
    }
}

/// What a side that is not trusted hears of why an actor has ended.
pub(crate) fn told_end(end: FarEnd) -> FarEnd {
    match end {
        FarEnd::Panicked(_) => FarEnd::Panicked(PANICKED.to_owned()),
        FarEnd::GaveUp(restarts, _) => FarEnd::GaveUp(restarts, PANICKED.to_owned()),
        FarEnd::LinkLost(_) => FarEnd::LinkLost("a link behind it was lost".to_owned()),
        FarEnd::Linked(names, end) => {
            FarEnd::Linked(vec![None; names.len()], Box::new(told_end(*end)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamtam_actor::Fate;

    fn untrusted() -> Untrusted {
        Untrusted::new(1_000, Duration::from_secs(1))
    }

    fn probe(wait: u64, path: &[&str]) -> Probe {
        Probe {
            process: 7,
            wait,
            path: path.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_probe_comes_back_once_with_what_was_kept_from_the_other_side() {
        let side = untrusted();
        assert_eq!(side.take_probe(probe(1, &["a", "b"])), None);
        let mut sent = side.send_probe(probe(1, &["the secret", "of the house"]));
        assert_eq!(sent, probe(1, &["", ""]));
        sent.path.push("theirs\n\x1b[2J".to_owned());
        let other_process = Probe {
            process: 8,
            ..sent.clone()
        };
        assert_eq!(side.take_probe(other_process), None);
        let full = ["the secret", "of the house", "theirs\u{fffd}\u{fffd}[2J"];
        assert_eq!(side.take_probe(sent.clone()), Some(probe(1, &full)));
        assert_eq!(side.take_probe(sent), None);
        // One that has lost names on its way has those that were kept.
        side.send_probe(probe(2, &["one", "two"]));
        assert_eq!(
            side.take_probe(probe(2, &[])),
            Some(probe(2, &["one", "two"]))
        );
    }

    /// It was taken for the one that had been sent since.
    #[test]
    fn a_probe_that_comes_back_behind_the_next_one_says_nothing() {
        let side = untrusted();
        let first = side.send_probe(probe(1, &["1#the secret", "7#of the house"]));
        assert_eq!(first, probe(1, &["1#", ""]));
        let second = side.send_probe(probe(1, &["2#the secret", "7#of the house"]));
        assert_eq!(side.take_probe(first), None);
        let full = probe(1, &["2#the secret", "7#of the house"]);
        assert_eq!(side.take_probe(second), Some(full));
    }

    #[test]
    fn so_many_probes_are_remembered_and_each_wait_once() {
        let side = untrusted();
        for wait in 0..=MOST_PROBES as u64 {
            for _ in 0..3 {
                side.send_probe(probe(wait, &["a"]));
            }
        }
        assert_eq!(side.probes.lock().len(), MOST_PROBES);
        assert_eq!(side.take_probe(probe(0, &[""])), None);
        assert!(side.take_probe(probe(1, &[""])).is_some());
        assert!(side.take_probe(probe(MOST_PROBES as u64, &[""])).is_some());
    }

    #[test]
    fn what_a_panic_said_is_told_to_those_who_are_trusted() {
        let secret = || "the secret of the house".to_owned();
        for failure in [
            FarFailure::Panicked(Some(secret()), secret()),
            FarFailure::Other(Fate::Begun, secret()),
        ] {
            let told = told_failure(failure);
            assert!(!format!("{told:?}").contains("secret"), "{told:?}");
        }
        let ends = [
            FarEnd::Panicked(secret()),
            FarEnd::GaveUp(3, secret()),
            FarEnd::LinkLost(secret()),
        ];
        for end in ends {
            let linked = FarEnd::Linked(vec![Some(secret()), None], Box::new(end.clone()));
            for told in [told_end(end), told_end(linked)] {
                assert!(!format!("{told:?}").contains("secret"), "{told:?}");
            }
        }
    }
}
