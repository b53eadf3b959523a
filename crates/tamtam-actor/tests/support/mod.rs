//! What the tests of this crate share: handlers that are held, counted drops, answers that are collected, limits on time.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tamtam_actor::{AskError, Reply};
pub(crate) use tamtam_testing::within;

/// How long a test may take before it counts as a deadlock, on however loaded a machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A wait that is expected to succeed: only a lost wake-up uses it up.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A wait that is expected to end without success.
pub(crate) const SHORT: Duration = Duration::from_millis(20);

/// Runs `test` on a thread of its own and fails, instead of hanging, when it does not end within [`LIMIT`].
pub(crate) fn within_limit(test: impl FnOnce() + Send + 'static) {
    within(LIMIT, test);
}

/// Yields until `condition` holds; for states of other threads that no event announces.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "the condition was never met");
        thread::yield_now();
    }
}

/// Panics without a word from the panic hook.
pub(crate) fn panic_on_purpose() -> ! {
    /// Without a size: where a panic is leaked on purpose nothing is.
    struct OnPurpose;

    resume_unwind(Box::new(OnPurpose))
}

/// Something for a handler to wait at; see [`hold`].
pub(crate) struct Hold {
    entered: mpsc::Sender<()>,
    opened: mpsc::Receiver<()>,
}

/// The other side of a [`Hold`].
pub(crate) struct Gate {
    entered: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

/// Keeps a handler where it is until the gate is opened, or dropped.
pub(crate) fn hold() -> (Hold, Gate) {
    let (entered, has_entered) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let gate = Gate {
        entered: has_entered,
        open,
    };
    (Hold { entered, opened }, gate)
}

impl Hold {
    /// Waits for the gate to be opened.
    pub(crate) fn wait(self) {
        let _ = self.entered.send(());
        let _ = self.opened.recv_timeout(LONG);
    }
}

impl Gate {
    /// Waits for somebody to stand before it.
    pub(crate) fn until_entered(&self) {
        self.entered
            .recv_timeout(LONG)
            .expect("a handler that waits");
    }

    /// Lets it through.
    pub(crate) fn open(self) {
        let _ = self.open.send(());
    }
}

/// Answers to questions, in the order in which they came.
pub(crate) struct Answers<R> {
    sender: mpsc::Sender<Result<R, AskError>>,
    receiver: mpsc::Receiver<Result<R, AskError>>,
}

impl<R: Send + 'static> Answers<R> {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Answers { sender, receiver }
    }

    /// A reply whose answer comes here.
    pub(crate) fn reply(&self) -> Reply<R> {
        let sender = self.sender.clone();
        Reply::to(move |answer| drop(sender.send(answer)))
    }

    /// The next answer.
    pub(crate) fn next(&self) -> Result<R, AskError> {
        self.receiver
            .recv_timeout(LONG)
            .expect("an answer, or the news that there is none")
    }

    /// Whether there is no answer that was not taken yet.
    pub(crate) fn are_out(&self) -> bool {
        self.receiver.try_recv().is_err()
    }
}

/// Counts the drops of the values that it hands out.
#[derive(Clone, Default)]
pub(crate) struct Drops(Arc<AtomicUsize>);

impl Drops {
    /// A value that adds one when it is dropped.
    pub(crate) fn token(&self) -> Token {
        Token(self.clone())
    }

    /// How many values were dropped so far.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A value whose drop is counted; deliberately without `Debug` and `Clone`.
pub(crate) struct Token(Drops);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// What happens, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// All that has happened so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A small generator of random numbers (xorshift64*), seeded so that a failure can be repeated.
pub(crate) struct Random(u64);

impl Random {
    /// Different seeds give different sequences.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number from 0 up to and without `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) % end
    }
}

/// How long a stress test goes on: `TAMTAM_SOAK_SECONDS`, if that is said.
fn soak() -> Option<Duration> {
    let seconds = std::env::var("TAMTAM_SOAK_SECONDS").ok()?;
    let seconds = seconds
        .parse()
        .expect("TAMTAM_SOAK_SECONDS is a whole number of seconds");
    Some(Duration::from_secs(seconds))
}

/// How long a stress test goes on that is over after a time: `TAMTAM_SOAK_SECONDS`, or `standard`.
pub(crate) fn soak_for(standard: Duration) -> Duration {
    soak().unwrap_or(standard)
}

/// How long a stress test goes on: `TAMTAM_SOAK_SECONDS`, or so many rounds.
pub(crate) struct Soak {
    rounds: usize,
    until: Option<Instant>,
}

impl Soak {
    pub(crate) fn rounds(rounds: usize) -> Self {
        let until = soak().map(|duration| Instant::now() + duration);
        Soak { rounds, until }
    }

    /// Within how much time all rounds have to be over.
    pub(crate) fn limit(&self) -> Duration {
        LIMIT
            + self
                .until
                .map_or(Duration::ZERO, |until| until - Instant::now())
    }
}

impl Iterator for Soak {
    type Item = usize;

    /// The numbers of the rounds.
    fn next(&mut self) -> Option<usize> {
        let is_over = match self.until {
            Some(until) => Instant::now() >= until,
            None => self.rounds == 0,
        };
        if is_over {
            return None;
        }
        self.rounds = self.rounds.wrapping_sub(1);
        Some(self.rounds)
    }
}

/// Runs a future on this thread: no runtime, the thread sleeps until it is woken.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}
