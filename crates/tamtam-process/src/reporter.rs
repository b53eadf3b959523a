//! The worker's side of reports: what any thread of it has to say goes to the parent, or is dropped and counted; no thread waits for that.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

use crate::lock::lock;
#[cfg(feature = "top")]
use crate::report::Figures;
use crate::report::{PanicReport, Partial, Report, Wish, cut, to_bytes};

/// So many bytes at most wait in this process for a parent that does not read.
const MOST_WAITING: usize = 1 << 20;
/// And so many more for what is not an event, so that a flood of those leaves room for the rest.
const MOST_BESIDE: usize = 1 << 20;
/// So much of what a panic says is told.
const LONGEST_MESSAGE: usize = 8 << 10;
const LONGEST_BACKTRACE: usize = 32 << 10;
/// So long a thread that panics waits for a parent that does not read. It may be the last that this process says.
const LONGEST_STALL: Duration = Duration::from_millis(200);
/// The stack of the thread that hears wishes.
const STACK: usize = 256 << 10;
/// A part of an answer has so many bytes at most.
#[cfg(feature = "top")]
const PART: usize = 32 << 10;

/// What says it.
pub(crate) struct Reporter {
    socket: OwnedFd,
    /// Rung for the thread when there is something that the socket has not taken.
    bell: OwnedFd,
    waiting: Mutex<Waiting>,
}

/// What the socket has not taken.
#[derive(Default)]
struct Waiting {
    /// Reports, of which the first may be written in part.
    bytes: VecDeque<u8>,
    /// So many were dropped, which is still to be told.
    dropped: u64,
}

impl Reporter {
    /// Begins to report: panics from now on; and does what the parent wishes on a thread of its own.
    pub(crate) fn begin(socket: OwnedFd) -> io::Result<Arc<Self>> {
        let reporter = Arc::new(Reporter {
            socket,
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            waiting: Mutex::default(),
        });
        let mut wishes = Wishes::default();
        // What the parent has said beforehand holds from the beginning.
        reporter.hear(&mut wishes);
        let listening = Arc::clone(&reporter);
        thread::Builder::new()
            .name("tamtam-report".to_owned())
            .stack_size(STACK)
            .spawn(move || listening.listen(wishes))?;
        let (told, before) = (Arc::clone(&reporter), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            told.tell_panic(info);
            before(info);
        }));
        #[cfg(feature = "tracing")]
        {
            let events = Arc::clone(&reporter);
            crate::forwarded::begin(move |report| events.tell(report));
        }
        Ok(reporter)
    }

    /// Tells the parent, unless it is so far behind that this is dropped.
    pub(crate) fn tell(&self, report: &Report) {
        let bytes = to_bytes(report);
        let mut waiting = lock(&self.waiting);
        let had_some = waiting.has_some();
        let most = match report {
            Report::Event(_) => MOST_WAITING,
            _ => MOST_WAITING + MOST_BESIDE,
        };
        let room = most.saturating_sub(waiting.bytes.len());
        match bytes {
            Some(bytes) if bytes.len() <= room => {
                waiting.count_dropped();
                waiting.bytes.extend(bytes);
            }
            // It is longer than any report may be, or there is no room.
            _ => waiting.dropped += 1,
        }
        self.write(&mut waiting);
        let has_some = waiting.has_some();
        drop(waiting);
        if has_some && !had_some {
            self.ring();
        }
    }

    fn ring(&self) {
        // If it cannot be written to, it has been rung often enough.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Writes what the socket takes at once.
    fn write(&self, waiting: &mut Waiting) {
        if waiting.bytes.is_empty() {
            waiting.count_dropped();
        }
        while !waiting.bytes.is_empty() {
            let (first, _) = waiting.bytes.as_slices();
            match rustix::io::write(&self.socket, first) {
                Ok(count) => drop(waiting.bytes.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The parent is gone, and this process goes with it.
                Err(_) => waiting.bytes.clear(),
            }
        }
        // What a burst has taken is given back.
        waiting.bytes.shrink_to(64 << 10);
    }

    fn tell_panic(&self, info: &PanicHookInfo<'_>) {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("a value that is no text");
        let backtrace = Backtrace::capture();
        let has_backtrace = backtrace.status() == BacktraceStatus::Captured;
        self.tell(&Report::Panicked(PanicReport {
            thread: thread::current().name().map(str::to_owned),
            message: cut(message.to_owned(), LONGEST_MESSAGE),
            place: info.location().map(ToString::to_string),
            backtrace: has_backtrace.then(|| cut(backtrace.to_string(), LONGEST_BACKTRACE)),
        }));
        self.wait_until_told();
    }

    /// Waits until the system has all that was said, for a while.
    fn wait_until_told(&self) {
        let deadline = Instant::now() + LONGEST_STALL;
        while lock(&self.waiting).has_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = left.try_into().ok();
            let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
            if !matches!(poll(&mut fds, timeout.as_ref()), Ok(1) | Err(Errno::INTR)) {
                return;
            }
            self.write(&mut lock(&self.waiting));
        }
    }

    /// The thread that hears wishes, and writes what the socket has not taken at once.
    fn listen(&self, mut wishes: Wishes) {
        loop {
            let has_some = lock(&self.waiting).has_some();
            let flags = if has_some {
                PollFlags::IN | PollFlags::OUT
            } else {
                PollFlags::IN
            };
            let mut fds = [
                PollFd::new(&self.socket, flags),
                PollFd::new(&self.bell, PollFlags::IN),
            ];
            // If it is interrupted it looks around.
            let _ = poll(&mut fds, None);
            let (of_socket, of_bell) = (fds[0].revents(), fds[1].revents());
            if !of_bell.is_empty() {
                let _ = rustix::io::read(&self.bell, &mut [0; 8]);
            }
            if of_socket.contains(PollFlags::OUT) {
                self.write(&mut lock(&self.waiting));
            }
            if of_socket.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
                && !self.hear(&mut wishes)
            {
                return;
            }
        }
    }

    /// Does what the parent wishes, as far as it has come; `false` if there will be no more.
    fn hear(&self, wishes: &mut Wishes) -> bool {
        let mut bytes = [0; 1024];
        loop {
            let count = match rustix::io::read(&self.socket, &mut bytes) {
                Ok(0) => return false,
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            };
            let Ok(heard) = wishes.partial.take::<Wish>(&bytes[..count]) else {
                return false;
            };
            for wish in heard {
                match wish {
                    #[cfg(feature = "tracing")]
                    Wish::Level(level) => crate::forwarded::want(level),
                    #[cfg(not(feature = "tracing"))]
                    Wish::Level(_) => {}
                    #[cfg(feature = "top")]
                    Wish::Look(number, words) => {
                        let figures = wishes.answerer.answer(&words);
                        self.tell_figures(number, &figures);
                    }
                    #[cfg(not(feature = "top"))]
                    Wish::Look(..) => {}
                }
            }
        }
    }

    #[cfg(feature = "top")]
    fn tell_figures(&self, number: u64, figures: &str) {
        let mut rest = figures;
        loop {
            let part = cut(rest.to_owned(), PART);
            rest = &rest[part.len()..];
            let is_last = rest.is_empty();
            self.tell(&Report::Figures(Figures {
                number,
                part,
                is_last,
            }));
            if is_last {
                return;
            }
        }
    }
}

impl Waiting {
    fn has_some(&self) -> bool {
        !self.bytes.is_empty() || self.dropped != 0
    }

    /// What was dropped is told before what comes next.
    fn count_dropped(&mut self) {
        if self.dropped != 0
            && let Some(bytes) = to_bytes(&Report::Dropped(self.dropped))
        {
            self.dropped = 0;
            self.bytes.extend(bytes);
        }
    }
}

/// What the parent wishes, and what it was told.
#[derive(Default)]
struct Wishes {
    partial: Partial,
    #[cfg(feature = "top")]
    answerer: tamtam_actor::observe::Answerer,
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};

    use super::*;
    use crate::report::{EventReport, pair};

    #[test]
    fn a_flood_is_dropped_and_counted_and_the_count_is_told_when_there_is_room() {
        let (here, there) = pair().unwrap();
        let reporter = Reporter {
            socket: there,
            bell: eventfd(0, EventfdFlags::NONBLOCK).unwrap(),
            waiting: Mutex::default(),
        };
        let report = Report::Event(EventReport {
            level: 3,
            name: "x".repeat(1_000),
            target: String::new(),
            module: None,
            file: None,
            line: None,
            fields: Vec::new(),
            spans: String::new(),
        });
        for _ in 0..10_000 {
            reporter.tell(&report);
        }
        let waiting = lock(&reporter.waiting);
        assert!(waiting.bytes.len() <= MOST_WAITING && waiting.dropped > 0);
        drop(waiting);
        let mut here = std::fs::File::from(here);
        let (mut partial, mut portion) = (Partial::default(), vec![0; 64 << 10]);
        let (mut told, mut dropped) = (0, 0);
        while told + dropped < 10_000 {
            match here.read(&mut portion) {
                Ok(count) => {
                    for report in partial.take::<Report>(&portion[..count]).unwrap() {
                        match report {
                            Report::Dropped(count) => dropped += count,
                            _ => told += 1,
                        }
                    }
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            reporter.write(&mut lock(&reporter.waiting));
        }
        assert_eq!(told + dropped, 10_000);
        assert!(
            dropped > 0 && told > 1_000,
            "{told} told, {dropped} dropped"
        );
    }
}
