//! The wake thread: it sleeps at the bells, and on the lives, of what tasks and selecting threads of this process wait for, and tells them.
//!
//! A thread that waits for one thing sleeps at its bell itself, and so does one that selects among several, where the system has a sleep on all of
//! their words. A task cannot. For tasks, and for what has no room among those words, there is one thread a process (more where one sleep has not words enough), started at first need.

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_wait::{Context, Futex, Operation, Scope, SharedWords, WaitList};

use crate::bell::{self, Bell};
use crate::party::{self, Parties, Stay};
use crate::segment::{Mapping, Segment};
use crate::watch::Watch;

/// So many wake threads at most. The last one takes what the others have no words for, and sees some of it up to [`Futex::LATEST_LOOK`] late.
const MOST_THREADS: usize = 32;
/// Where no thread can be started, one that waits looks again after so long.
const PAUSE: Duration = Duration::from_millis(1);

static THREADS: [WakeThread; MOST_THREADS] = [const { WakeThread::new() }; MOST_THREADS];

/// What is waited for, as the wake thread knows it.
struct Watched {
    watch: Watch,
    bell: NonNull<Bell>,
    parties: NonNull<Parties>,
    own: Stay,
    /// Which of the wake threads sees to it. Changed under the locks of both.
    home: AtomicUsize,
    /// Both lie in here.
    _mapping: Arc<Mapping>,
}

// SAFETY: what it points to lies in the mapping, which is there as long as this is, and is atomic.
unsafe impl Send for Watched {}
// SAFETY: what it points to lies in the mapping, which is there as long as this is, and is atomic.
unsafe impl Sync for Watched {}

impl Watched {
    fn bell(&self) -> &Bell {
        // SAFETY: it lies in the mapping, which is there as long as this is; all access to a bell is atomic.
        unsafe { self.bell.as_ref() }
    }

    fn parties(&self) -> &Parties {
        // SAFETY: they lie in the mapping, which is there as long as this is; all access to parties is atomic.
        unsafe { self.parties.as_ref() }
    }
}

/// What a wake thread sleeps on, until one of these is something else.
#[derive(Clone)]
struct Sleep {
    watched: Arc<Watched>,
    /// The bell's word.
    asleep: u32,
    /// How often a process had ended or left.
    ends: u32,
}

impl Sleep {
    fn is_over(&self) -> bool {
        let is_rung = self.watched.bell().word().load(Ordering::SeqCst) != self.asleep;
        is_rung || party::ends(self.watched.parties()) != self.ends
    }
}

#[derive(Default)]
struct Kept {
    sleeps: Vec<Sleep>,
    runs: bool,
}

struct WakeThread {
    /// Counts what the thread was told of.
    told: Futex,
    kept: Mutex<Kept>,
}

impl WakeThread {
    const fn new() -> Self {
        WakeThread {
            told: Futex::new(0),
            kept: Mutex::new(Kept {
                sleeps: Vec::new(),
                runs: false,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.told.fetch_add(1, Ordering::SeqCst);
        self.told.wake_one(Scope::Private);
    }

    /// Adds what `begin` gives, and sees to it that the thread runs; whether it does.
    fn add(&'static self, place: usize, begin: impl FnOnce() -> Option<Sleep>) -> bool {
        let mut kept = self.lock();
        if !kept.runs {
            kept.runs = thread::Builder::new()
                .name("tamtam-ipc-wake".to_owned())
                .stack_size(128 << 10)
                .spawn(move || self.run(place))
                .is_ok();
            if !kept.runs {
                return false;
            }
        }
        if let Some(sleep) = begin() {
            kept.sleeps.push(sleep);
            drop(kept);
            self.tell();
        }
        true
    }

    fn run(&'static self, place: usize) {
        loop {
            // What comes after this look ends the sleep.
            let told = self.told.load(Ordering::SeqCst);
            let sleeps = self.lock().sleeps.clone();
            bell::begin_looks();
            let mut words = vec![(&self.told, told, Scope::Private)];
            let mut fits = 0;
            for sleep in &sleeps {
                let watched = &sleep.watched;
                let before = words.len();
                words.push((watched.bell().word(), sleep.asleep, Scope::Shared));
                words.extend(party::lives(watched.parties(), watched.own));
                if words.len() > Futex::MOST_AT_ONCE && fits > 0 && place + 1 < MOST_THREADS {
                    words.truncate(before);
                    break;
                }
                fits += 1;
            }
            // After the lives: one that has ended before is not among these words, and was counted.
            let over: Vec<&Sleep> = sleeps.iter().filter(|sleep| sleep.is_over()).collect();
            if !over.is_empty() {
                self.end(&over);
                continue;
            }
            if fits < sleeps.len() && self.pass_on(place, &sleeps[fits..]) {
                continue;
            }
            let mut longest = bell::longest_sleep();
            if fits < sleeps.len() {
                // Those that no thread could be started for are not among the words.
                longest = longest.min(Futex::LATEST_LOOK);
            }
            let latest = Some(Instant::now() + longest).filter(|_| !sleeps.is_empty());
            // Woken for whatever reason, it looks at all.
            let _ = Futex::wait_any(&words, latest);
        }
    }

    /// Tells those who wait for these.
    fn end(&self, over: &[&Sleep]) {
        let mut kept = self.lock();
        let mut told = Vec::with_capacity(over.len());
        kept.sleeps.retain(|sleep| {
            let is_over = over.iter().any(|over| {
                Arc::ptr_eq(&over.watched, &sleep.watched) && over.asleep == sleep.asleep
            });
            if is_over {
                sleep.watched.watch.let_go();
                told.push(Arc::clone(&sleep.watched));
            }
            !is_over
        });
        drop(kept);
        for watched in told {
            watched.watch.tell();
        }
    }

    /// Hands these to the next thread, if there is one.
    fn pass_on(&'static self, place: usize, surplus: &[Sleep]) -> bool {
        let next = &THREADS[place + 1];
        if !next.add(place + 1, || None) {
            return false;
        }
        // In the order of the threads.
        let mut kept = self.lock();
        let mut others = next.lock();
        kept.sleeps.retain(|sleep| {
            let goes = surplus
                .iter()
                .any(|other| Arc::ptr_eq(&other.watched, &sleep.watched));
            if goes {
                sleep.watched.home.store(place + 1, Ordering::SeqCst);
                others.sleeps.push(sleep.clone());
            }
            !goes
        });
        drop((kept, others));
        next.tell();
        true
    }
}

/// Those of this process that wait at one bell, and do not sleep there themselves.
#[derive(Default)]
pub(crate) struct Waiters(OnceLock<Arc<Watched>>);

impl Waiters {
    pub(crate) const fn new() -> Self {
        Waiters(OnceLock::new())
    }

    fn watched(&self, segment: &Segment, bell: &Bell) -> &Arc<Watched> {
        self.0.get_or_init(|| {
            Arc::new(Watched {
                watch: Watch::new(),
                bell: NonNull::from(bell),
                parties: NonNull::from(segment.parties()),
                own: segment.member().stay(),
                home: AtomicUsize::new(0),
                _mapping: segment.mapping(),
            })
        })
    }

    fn enter(&self, segment: &Segment, bell: &Bell, enter: impl FnOnce(&WaitList)) -> bool {
        let watched = self.watched(segment, bell);
        enter(&watched.watch.list);
        !attend(watched)
    }

    /// Enters one that will take or give something. It looks once more after this, and does not sleep if this says so. The bell lies in the segment.
    pub(crate) fn register(
        &self,
        segment: &Segment,
        bell: &Bell,
        operation: Operation,
        context: &Context,
    ) -> bool {
        self.enter(segment, bell, |list| list.register(operation, context))
    }

    /// As [`register`](Waiters::register), for one that only wants to hear.
    pub(crate) fn watch(
        &self,
        segment: &Segment,
        bell: &Bell,
        operation: Operation,
        context: &Context,
    ) -> bool {
        self.enter(segment, bell, |list| list.watch(operation, context))
    }

    /// Removes one, if it is still there. The wake thread stays at the bell until that is rung, or this is dropped.
    pub(crate) fn unregister(&self, operation: Operation, context: &Context) {
        if let Some(watched) = self.0.get() {
            watched.watch.list.unregister(operation, context);
        }
    }

    /// Removes one that wanted to hear, if it is still there.
    pub(crate) fn unwatch(&self, operation: Operation, context: &Context) {
        if let Some(watched) = self.0.get() {
            watched.watch.list.unwatch(operation, context);
        }
    }
}

/// Sees to it that a wake thread sleeps at the bell; whether one does.
fn attend(watched: &Arc<Watched>) -> bool {
    while !watched.watch.is_watched() {
        let home = watched.home.load(Ordering::SeqCst);
        let begin = || {
            // It has another one only after that was changed under this lock, too; this loop comes to it.
            if watched.home.load(Ordering::SeqCst) != home {
                return None;
            }
            let asleep = watched.watch.begin(|| Some(watched.bell().expect()))?;
            Some(Sleep {
                watched: Arc::clone(watched),
                asleep,
                // After the bell's bit was set, and before the second look.
                ends: party::ends(watched.parties()),
            })
        };
        if !THREADS[home].add(home, begin) {
            thread::sleep(PAUSE);
            return false;
        }
        if watched.home.load(Ordering::SeqCst) == home {
            // It was begun now, or was before: what has ended it since tells the list, in which this one is.
            return true;
        }
    }
    true
}

/// Adds the words that end the sleep of a thread at a bell of the segment: that is what the bell's own waiters do, see this folder's README. `false` if
/// they have no room.
pub(crate) fn sleep_at<'a>(
    segment: &'a Segment,
    bell: &'a Bell,
    words: &mut SharedWords<'a>,
) -> bool {
    let before = words.len();
    if words.room() == 0 {
        return false;
    }
    let asleep = bell.expect();
    words.push(bell.word(), asleep);
    bell::begin_looks();
    // After the exchange: a process that joins later rings, and one that has joined before is among these words.
    for (word, lives, _) in party::lives(segment.parties(), segment.member().stay()) {
        if words.room() == 0 {
            words.truncate(before);
            return false;
        }
        words.push(word, lives);
    }
    words.limit(bell::longest_sleep());
    true
}

/// A sleep at a bell of the segment is over: at the end of a process the kernel wakes one sleeper, and its look at all lives wakes the others.
pub(crate) fn woken_at(segment: &Segment) {
    let _ = party::ends(segment.parties());
}

/// How a source of one bell enters those who wait, and lets them leave: where they are kept, in which segment, and the bell.
macro_rules! waits_at {
    ($this:ident => $waiters:expr, $segment:expr, $bell:expr) => {
        fn register(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) -> bool {
            let $this = self;
            $waiters.register($segment, $bell, operation, context) || self.is_ready()
        }

        fn unregister(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) {
            let $this = self;
            $waiters.unregister(operation, context);
        }

        fn watch(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) -> bool {
            let $this = self;
            $waiters.watch($segment, $bell, operation, context) || self.is_ready()
        }

        fn sleep_at<'a>(&'a self, words: &mut ::tamtam_wait::SharedWords<'a>) -> Option<bool> {
            let $this = self;
            $crate::wake::sleep_at($segment, $bell, words).then(|| self.is_ready())
        }

        fn woken_at(&self) {
            let $this = self;
            $crate::wake::woken_at($segment);
        }

        fn unwatch(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) {
            let $this = self;
            $waiters.unwatch(operation, context);
        }
    };
}

pub(crate) use waits_at;

impl Drop for Waiters {
    fn drop(&mut self) {
        let Some(watched) = self.0.get() else { return };
        while watched.watch.is_watched() {
            let home = watched.home.load(Ordering::SeqCst);
            let mut kept = THREADS[home].lock();
            let sleeps = kept.sleeps.len();
            kept.sleeps
                .retain(|sleep| !Arc::ptr_eq(&sleep.watched, watched));
            if kept.sleeps.len() < sleeps {
                watched.watch.let_go();
                drop(kept);
                // It has a share of the memory while it sleeps there.
                THREADS[home].tell();
            }
        }
    }
}

impl fmt::Debug for Waiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Waiters")
            .field(&self.0.get().map(|watched| &watched.watch))
            .finish()
    }
}
