//! `handover` between two processes: strict turns of plain numbers, as between two threads.
//!
//! The answerer is a server ([`Contender::serve`](crate::Contender::serve)) that runs [`answer`] and sits where the answering thread would. What it uses of the machine is
//! counted, too.

use std::sync::OnceLock;

use super::turns::{self, Caller};
use crate::measure::seats::Seats;
use crate::{Conditions, End, Failure, Measure, Measurement, ServerProcess, Turn};

/// A way of handing numbers back and forth between two processes.
pub trait ProcessHandover: Copy + Send + Sync + 'static {
    /// What each of the two holds.
    type End: End<Turn>;

    /// Starts the server, and connects to it.
    ///
    /// # Errors
    /// There is no such server here.
    fn open(&self) -> Result<(ServerProcess, Self::End), Failure>;
}

/// Strict turns in every placement: `1000/free`, `1000/1core`, `1000/2cores`, `1000/hog`.
pub fn measures<H: ProcessHandover>(handover: H) -> Vec<Measure> {
    turns::in_each_placement(move |conditions| run(handover, conditions))
}

fn run<H: ProcessHandover>(handover: H, conditions: &Conditions) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    // The server runs where the thread that starts it may.
    seats.far.take()?;
    let (process, end) = handover.open()?;
    seats.near.take()?;
    Caller::<Turn, _>::answered_by_process(end, process).passes(conditions)
}

/// The server's side: answers until it is told to stop, and then sends how many turns it has answered.
pub fn answer(mut end: impl End<Turn>) {
    let objection = OnceLock::new();
    let answered = turns::answer::<Turn, _>(&mut end, &objection);
    if objection.get().is_none() {
        end.send(Turn(answered));
    }
}
