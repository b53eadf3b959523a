//! The thread that kills processes whose actors are at one message for too long.
//!
//! How far a process has got lies in memory that it shares with this one, so a look costs it nothing, and this process a call to the system. All
//! watched processes have one thread, which looks at each eight times in the time that a message may take; it is there as long as one is watched.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
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
pub(crate) trait MayHang: Send + Sync {
    /// The message that it is at, if it is at one.
    fn at(&self) -> Option<At>;

    /// Kills it, if it is that one still.
    fn kill_hung(&self, process: u32);
}

struct Watch {
    id: u64,
    process: Arc<dyn MayHang>,
    /// So long it may be at one message.
    time: Duration,
    /// At which it was seen last, and for how long.
    seen: Option<(At, Duration)>,
    last_look: Instant,
}

impl Watch {
    fn pause(&self) -> Duration {
        self.time / LOOKS
    }

    fn next_look(&self) -> Instant {
        self.last_look + self.pause()
    }

    fn look(&mut self, now: Instant) {
        // Where this process itself was stopped, so may the other one have been: of a long time in which no look was taken little counts.
        let passed = now.saturating_duration_since(self.last_look);
        let counted = passed.min(2 * self.pause());
        self.last_look = now;
        self.seen = match (self.process.at(), self.seen) {
            (Some(at), Some((before, so_long))) if at == before => {
                let so_long = so_long + counted;
                if so_long >= self.time {
                    self.process.kill_hung(at.process);
                }
                Some((at, so_long))
            }
            (at, _) => at.map(|at| (at, Duration::ZERO)),
        };
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
    pub(crate) fn begin(process: Arc<dyn MayHang>, time: Duration) -> io::Result<Self> {
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
            last_look: Instant::now(),
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
            if watch.next_look() <= now {
                watch.look(now);
            }
        }
        let Some(next) = watches.list.iter().map(Watch::next_look).min() else {
            watches.has_thread = false;
            return;
        };
        let pause = next.saturating_duration_since(Instant::now());
        watches = wait_for(&CHANGED, watches, Some(pause));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Staged {
        at: Arc<Mutex<Option<At>>>,
        killed: mpsc::Sender<u32>,
    }

    impl MayHang for Staged {
        fn at(&self) -> Option<At> {
            *lock(&self.at)
        }

        fn kill_hung(&self, process: u32) {
            // Before it is told: then it may be at the next one.
            *lock(&self.at) = None;
            self.killed.send(process).unwrap();
        }
    }

    fn staged(at: Option<At>) -> (Arc<Mutex<Option<At>>>, Arc<Staged>, mpsc::Receiver<u32>) {
        let (killed, kills) = mpsc::channel();
        let at = Arc::new(Mutex::new(at));
        let process = Arc::new(Staged {
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

    /// A watch that was made just now, of a second.
    fn watch_of(process: Arc<Staged>, now: Instant) -> Watch {
        Watch {
            id: 0,
            process,
            time: Duration::from_secs(1),
            seen: None,
            last_look: now,
        }
    }

    #[test]
    fn the_time_is_of_one_message_of_one_process() {
        let (message, process, kills) = staged(None);
        let mut now = Instant::now();
        let mut watch = watch_of(process, now);
        let mut look_after = |pauses: u32| {
            now += watch.pause() * pauses;
            watch.look(now);
        };
        for seen in [Some(at(0, 1)), Some(at(0, 2)), Some(at(1, 2)), None] {
            *lock(&message) = seen;
            // Of another message, or another process, or none at all.
            for _ in 0..LOOKS {
                look_after(1);
            }
        }
        *lock(&message) = Some(at(1, 2));
        for _ in 0..LOOKS {
            look_after(1);
        }
        assert!(kills.try_recv().is_err());
        look_after(1);
        assert_eq!(kills.try_recv(), Ok(1));
    }

    #[test]
    fn a_time_in_which_no_look_was_taken_is_no_reason() {
        let (message, process, kills) = staged(Some(at(0, 1)));
        let mut now = Instant::now();
        let mut watch = watch_of(process, now);
        watch.look(now);
        // This process was stopped, and the other one with it.
        now += Duration::from_secs(3_600);
        watch.look(now);
        assert!(kills.try_recv().is_err());
        assert_eq!(watch.next_look(), now + watch.pause());
        for _ in 0..LOOKS {
            now += watch.pause();
            watch.look(now);
        }
        assert_eq!(kills.try_recv(), Ok(0));
        assert_eq!(*lock(&message), None);
    }
}
