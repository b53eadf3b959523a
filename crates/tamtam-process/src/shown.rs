//! The processes of this program, as `tamtam top` is told of them.

use std::sync::Mutex;
use std::time::Duration;

use tamtam_actor::observe::{ProcessBelow, look_below};

use crate::collector;
use crate::lock::lock;

/// So long one who looks waits for workers. They answer on a thread of their own, so only one that is stopped takes longer.
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// What a process is at this time, without its answer.
type Look = Box<dyn Fn() -> ProcessBelow + Send>;

struct Processes {
    next: u64,
    /// The oldest first.
    all: Vec<(u64, Look)>,
}

static PROCESSES: Mutex<Processes> = Mutex::new(Processes {
    next: 0,
    all: Vec::new(),
});

/// Shows a process for as long as it is kept.
pub(crate) struct Shown(u64);

impl Shown {
    pub(crate) fn new(look: impl Fn() -> ProcessBelow + Send + 'static) -> Self {
        look_below(look_at_all);
        let mut processes = lock(&PROCESSES);
        let number = processes.next;
        processes.next += 1;
        processes.all.push((number, Box::new(look)));
        Shown(number)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let mut processes = lock(&PROCESSES);
        let place = processes
            .all
            .iter()
            .position(|(number, _)| *number == self.0);
        let gone = place.map(|place| processes.all.remove(place));
        drop(processes);
        drop(gone);
    }
}

/// All processes, and what they say to the words of a request.
fn look_at_all(words: &str) -> Vec<ProcessBelow> {
    collector::look(words, LONGEST_LOOK);
    let mut all: Vec<_> = lock(&PROCESSES)
        .all
        .iter()
        .map(|(_, look)| look())
        .collect();
    for process in &mut all {
        process.answer = process.pid.and_then(collector::answer_of);
    }
    all
}
