//! The parent's side of reports: one thread hears those of all workers, and tells observers and the subscriber of `tracing`.
//!
//! It may be kept by these as long as they like: then it reads no further, and workers drop what they would report, and count it.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "tracing")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

#[cfg(feature = "top")]
use crate::figures::Answers;
use crate::lock::lock;
use crate::panics::{self, WorkerPanic};
use crate::report::{PanicReport, Partial, Report, Wish, pair, to_bytes};
#[cfg(feature = "tracing")]
use crate::retold;

/// How much is read at once of one worker, before it is another one's turn.
const PORTION: usize = 64 << 10;

static COLLECTOR: OnceLock<Mutex<Option<Arc<Collector>>>> = OnceLock::new();

/// What hears the reports.
struct Collector {
    bell: OwnedFd,
    newcomers: Mutex<Vec<Source>>,
    /// What workers are to be asked for `tamtam top`.
    #[cfg(feature = "top")]
    asked: Mutex<Asked>,
    #[cfg(feature = "top")]
    answers: Answers,
    /// The subscriber may want other events than before.
    #[cfg(feature = "tracing")]
    may_want_others: AtomicBool,
}

/// The words of a request, until workers were told, and how many there were.
#[cfg(feature = "top")]
#[derive(Default)]
struct Asked {
    count: u64,
    words: Option<String>,
}

/// A worker that reports.
struct Source {
    socket: OwnedFd,
    worker: Arc<str>,
    pid: u32,
    partial: Partial,
    /// Up to which level it tells events.
    level: u8,
}

/// The ends of a worker's socket for reports, before there is a worker.
pub(crate) struct Ends {
    here: OwnedFd,
    /// For the worker.
    pub(crate) there: OwnedFd,
    level: u8,
}

/// Whether what workers report is of use here.
fn is_wanted() -> bool {
    cfg!(feature = "tracing") || observes() || panics::is_watched()
}

/// Whether this program may be looked at by `tamtam top`.
pub(crate) fn observes() -> bool {
    cfg!(feature = "top") && tamtam_actor::observe::observes_all()
}

/// Asks all workers what they do, with these words, and waits for their answers for a while.
#[cfg(feature = "top")]
pub(crate) fn look(words: &str, patience: Duration) {
    let Some(collector) = started() else {
        return;
    };
    let mut asked = lock(&collector.asked);
    asked.count += 1;
    asked.words = Some(words.to_owned());
    let number = asked.count;
    drop(asked);
    collector.ring();
    collector.answers.wait(number, patience);
}

/// What a worker has said last of what it does, and how long ago.
#[cfg(feature = "top")]
pub(crate) fn answer_of(pid: u32) -> Option<(Duration, String)> {
    started()?.answers.of(pid)
}

#[cfg(feature = "top")]
fn started() -> Option<Arc<Collector>> {
    lock(COLLECTOR.get()?).clone()
}

/// A socket for the reports of a worker that is about to be started, if they are of use.
pub(crate) fn prepare() -> io::Result<Option<Ends>> {
    if !is_wanted() {
        return Ok(None);
    }
    let (here, there) = pair()?;
    let level = wanted_level();
    say(&here, &Wish::Level(level));
    Ok(Some(Ends { here, there, level }))
}

/// Hears a worker from now on.
pub(crate) fn hear(ends: Ends, worker: Arc<str>, pid: u32) -> io::Result<()> {
    let collector = collector()?;
    lock(&collector.newcomers).push(Source {
        socket: ends.here,
        worker,
        pid,
        partial: Partial::default(),
        level: ends.level,
    });
    collector.ring();
    Ok(())
}

fn collector() -> io::Result<Arc<Collector>> {
    let mut started = lock(COLLECTOR.get_or_init(Mutex::default));
    if let Some(collector) = &*started {
        return Ok(Arc::clone(collector));
    }
    let collector = Arc::new(Collector {
        bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        newcomers: Mutex::default(),
        #[cfg(feature = "top")]
        asked: Mutex::default(),
        #[cfg(feature = "top")]
        answers: Answers::default(),
        #[cfg(feature = "tracing")]
        may_want_others: AtomicBool::new(false),
    });
    let collecting = Arc::clone(&collector);
    thread::Builder::new()
        .name("tamtam-reports".to_owned())
        .spawn(move || collecting.collect())?;
    #[cfg(feature = "tracing")]
    {
        let told = Arc::clone(&collector);
        retold::on_change(move || {
            told.may_want_others.store(true, Ordering::SeqCst);
            told.ring();
        });
    }
    *started = Some(Arc::clone(&collector));
    Ok(collector)
}

/// The level up to which the subscriber here wants events.
fn wanted_level() -> u8 {
    #[cfg(feature = "tracing")]
    {
        retold::wanted_level()
    }
    #[cfg(not(feature = "tracing"))]
    0
}

/// Says that to a worker, unless so much lies there that it would have to be waited for.
fn say(socket: &OwnedFd, wish: &Wish) -> bool {
    // The program may have a worker's end take it with it, as tools do whose reader has gone.
    let flags = SendFlags::NOSIGNAL;
    to_bytes(wish).is_some_and(|bytes| send(socket, &bytes, flags) == Ok(bytes.len()))
}

impl Collector {
    fn ring(&self) {
        // If it cannot be written to, it has been rung often enough.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// The thread, until the program ends.
    fn collect(&self) {
        let mut sources: Vec<Source> = Vec::new();
        let mut portion = vec![0; PORTION];
        let mut looks = Looks::default();
        loop {
            let ready = self.wait(&sources, looks.next());
            let mut ready = ready.into_iter();
            sources.retain_mut(|source| {
                let goes_on = !ready.next().unwrap_or(false) || self.hear(source, &mut portion);
                #[cfg(feature = "top")]
                if !goes_on {
                    self.answers.forget(source.pid);
                }
                goes_on
            });
            let known = sources.len();
            sources.append(&mut lock(&self.newcomers));
            // They were told which level is wanted before they were launched, and not of what has changed meanwhile.
            let has_newcomers = sources.len() > known;
            #[cfg(feature = "top")]
            self.ask(&sources);
            #[cfg(feature = "tracing")]
            if self.may_want_others.swap(false, Ordering::SeqCst) {
                looks.begin();
            }
            if looks.look() || has_newcomers {
                let level = wanted_level();
                for source in &mut sources {
                    source.want(level);
                }
            }
        }
    }

    /// Waits for reports; which sources have some.
    fn wait(&self, sources: &[Source], timeout: Option<Duration>) -> Vec<bool> {
        let mut fds = vec![PollFd::new(&self.bell, PollFlags::IN)];
        fds.extend(
            sources
                .iter()
                .map(|source| PollFd::new(&source.socket, PollFlags::IN)),
        );
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        // If it is interrupted it looks around.
        let _ = poll(&mut fds, timeout.as_ref());
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        if ready.next().unwrap_or(false) {
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
        ready.collect()
    }

    /// Tells workers what is asked.
    #[cfg(feature = "top")]
    fn ask(&self, sources: &[Source]) {
        let mut asked = lock(&self.asked);
        let (number, Some(words)) = (asked.count, asked.words.take()) else {
            return;
        };
        drop(asked);
        let wish = Wish::Look(number, words);
        let told = sources.iter().filter(|source| say(&source.socket, &wish));
        self.answers.told(number, told.map(|source| source.pid));
    }

    /// Reads once; `false` if there will be no more.
    fn hear(&self, source: &mut Source, portion: &mut [u8]) -> bool {
        let count = match rustix::io::read(&source.socket, &mut *portion) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return true,
            // It has died with something unread.
            Err(_) => return false,
        };
        let Ok(reports) = source.partial.take::<Report>(&portion[..count]) else {
            // A worker that says what is no report is not heard any more.
            return false;
        };
        for report in reports {
            // Observers and subscribers are the user's.
            let _ = catch_unwind(AssertUnwindSafe(|| self.tell(source, report)));
        }
        true
    }

    fn tell(&self, source: &Source, report: Report) {
        match report {
            Report::Panicked(report) => source.tell_panic(report),
            #[cfg(feature = "tracing")]
            Report::Event(event) => retold::event(&source.worker, source.pid, event),
            #[cfg(feature = "tracing")]
            Report::Dropped(count) => retold::dropped(&source.worker, source.pid, count),
            #[cfg(feature = "top")]
            Report::Figures(figures) => self.answers.take(source.pid, figures),
            // Of no use here.
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }
}

/// When the thread looks which level is wanted. It hears of a change *while* that is made, so it looks once more, and later again.
#[derive(Default)]
struct Looks {
    left: &'static [u64],
}

impl Looks {
    #[cfg(feature = "tracing")]
    fn begin(&mut self) {
        self.left = &[0, 1, 10, 100, 1_000];
    }

    /// How long until the next one.
    fn next(&self) -> Option<Duration> {
        self.left.first().copied().map(Duration::from_millis)
    }

    /// Whether it is time for one. An earlier one does no harm.
    fn look(&mut self) -> bool {
        match self.left {
            [_, rest @ ..] => {
                self.left = rest;
                true
            }
            [] => false,
        }
    }
}

impl Source {
    /// The subscriber here wants events up to this level.
    fn want(&mut self, level: u8) {
        if self.level != level && say(&self.socket, &Wish::Level(level)) {
            self.level = level;
        }
    }

    fn tell_panic(&self, report: PanicReport) {
        let panic = WorkerPanic {
            worker: Arc::clone(&self.worker),
            pid: self.pid,
            thread: report.thread,
            message: report.message,
            place: report.place,
            backtrace: report.backtrace,
        };
        panics::tell(&panic);
        #[cfg(feature = "tracing")]
        retold::panicked(&panic);
    }
}
