//! The thread that kills processes whose actors are at one message for too long.
//!
//! How far a process has got lies in memory that it shares with this one, so a look costs it nothing, and this process a call to the system. All
//! watched processes have one thread, which looks at each eight times in the time that a message may take; it is there as long as one is watched.

use std::io;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::lock::{lock, wait_for};

/// So often a process is looked at in the time that a message may take.
const LOOKS: u32 = 8;
/// The shortest time that a message may be given: looks at a process that does nothing are to cost nothing that shows.
const SHORTEST_TIME: Duration = Duration::from_millis(10);

/// The message that a process is at: which process it is of those that have taken each other's place, and which of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) process: u32,
    pub(crate) message: u64,
}

/// A process that is watched.
pub(crate) trait Watched: Send + Sync {
    /// The message that it is at, if it is at one.
    fn at(&self) -> Option<At>;

    /// Kills it, if it is that one still.
    fn kill(&self, process: u32);
}

struct Watch {
    id: u64,
    process: Box<dyn Watched>,
    /// So long it may be at one message.
    time: Duration,
    /// At which it was seen last, and since when.
    seen: Option<(At, Instant)>,
    next_look: Instant,
}

impl Watch {
    fn look(&mut self, now: Instant) {
        let at = self.process.at();
        self.seen = match (at, self.seen) {
            (Some(at), Some((before, since))) if at == before => {
                if now.duration_since(since) >= self.time {
                    self.process.kill(at.process);
                }
                Some((at, since))
            }
            (at, _) => at.map(|at| (at, now)),
        };
        self.next_look = now + self.time / LOOKS;
    }
}

struct Watches {
    list: Vec<Watch>,
    next_id: u64,
    has_thread: bool,
}

static WATCHES: Mutex<Watches> = Mutex::new(Watches {
    list: Vec::new(),
    next_id: 0,
    has_thread: false,
});
static CHANGED: Condvar = Condvar::new();

/// As long as this is there, the process is watched.
pub(crate) struct HangWatch(u64);

impl HangWatch {
    /// That one may be at one message for so long.
    pub(crate) fn begin(process: Box<dyn Watched>, time: Duration) -> io::Result<Self> {
        let mut watches = lock(&WATCHES);
        if !watches.has_thread {
            thread::Builder::new()
                .name("tamtam-process-watch".to_owned())
                .spawn(watch)?;
            watches.has_thread = true;
        }
        let id = watches.next_id;
        watches.next_id += 1;
        watches.list.push(Watch {
            id,
            process,
            time: time.max(SHORTEST_TIME),
            seen: None,
            next_look: Instant::now(),
        });
        drop(watches);
        CHANGED.notify_one();
        Ok(HangWatch(id))
    }
}

impl Drop for HangWatch {
    fn drop(&mut self) {
        let mut watches = lock(&WATCHES);
        let place = watches.list.iter().position(|watch| watch.id == self.0);
        let ended = place.map(|place| watches.list.swap_remove(place));
        drop(watches);
        CHANGED.notify_one();
        drop(ended);
    }
}

/// Looks at all of them, until there is none.
fn watch() {
    let mut watches = lock(&WATCHES);
    loop {
        let now = Instant::now();
        for watch in &mut watches.list {
            if watch.next_look <= now {
                watch.look(now);
            }
        }
        let Some(next) = watches.list.iter().map(|watch| watch.next_look).min() else {
            watches.has_thread = false;
            return;
        };
        let pause = next.saturating_duration_since(Instant::now());
        watches = wait_for(&CHANGED, watches, Some(pause));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;

    use super::*;

    struct Staged {
        at: Arc<Mutex<Option<At>>>,
        killed: mpsc::Sender<u32>,
    }

    impl Watched for Staged {
        fn at(&self) -> Option<At> {
            *lock(&self.at)
        }

        fn kill(&self, process: u32) {
            self.killed.send(process).unwrap();
            *lock(&self.at) = None;
        }
    }

    fn staged(at: Option<At>) -> (Arc<Mutex<Option<At>>>, Box<Staged>, mpsc::Receiver<u32>) {
        let (killed, kills) = mpsc::channel();
        let at = Arc::new(Mutex::new(at));
        let process = Box::new(Staged {
            at: Arc::clone(&at),
            killed,
        });
        (at, process, kills)
    }

    fn at(process: u32, message: u64) -> At {
        At { process, message }
    }

    #[test]
    fn a_process_is_killed_that_is_at_one_message_for_too_long() {
        let (message, process, kills) = staged(Some(at(3, 7)));
        let begun = Instant::now();
        let time = Duration::from_millis(40);
        let watch = HangWatch::begin(process, time).unwrap();
        assert_eq!(kills.recv(), Ok(3));
        assert!(begun.elapsed() >= time);
        // The next one is at its first message.
        *lock(&message) = Some(at(4, 1));
        assert_eq!(kills.recv(), Ok(4));
        drop(watch);
        assert!(kills.recv().is_err());
    }

    #[test]
    fn the_time_is_of_one_message_of_one_process() {
        let second = Duration::from_secs(1);
        let (message, process, kills) = staged(None);
        let now = Instant::now();
        let mut watch = Watch {
            id: 0,
            process,
            time: second,
            seen: None,
            next_look: now,
        };
        watch.look(now);
        for number in 1..5_u32 {
            // Of another message, or another process, or none at all.
            *lock(&message) = match number {
                1 => Some(at(0, 1)),
                2 => Some(at(0, 2)),
                3 => Some(at(1, 2)),
                _ => None,
            };
            watch.look(now + second * number);
        }
        *lock(&message) = Some(at(1, 2));
        watch.look(now + second * 5);
        watch.look(now + second * 5 + second / 2);
        assert!(kills.try_recv().is_err());
        assert_eq!(watch.next_look, now + second * 5 + second / 2 + second / 8);
        watch.look(now + second * 6);
        assert_eq!(kills.try_recv(), Ok(1));
    }
}
