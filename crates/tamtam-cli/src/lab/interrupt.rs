//! Ctrl-C: the run ends, its children with it, and what was measured so far is still printed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Signals that come so soon behind the first one are the same request: `timeout` sends one to its child, and one to all that this has started, which
/// is the child again.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// A request to stop, raised by a signal. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    /// What to call when it is raised: it wakes the thread that waits for a child.
    waker: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Interrupt")
            .field("raised", &self.is_raised())
            .finish_non_exhaustive()
    }
}

impl Interrupt {
    /// An interrupt that the process's signals raise (Ctrl-C, a request to end, a closed terminal). A second one, a moment later, ends the process at
    /// once.
    ///
    /// # Errors
    ///
    /// If the process has a handler already or cannot have one.
    pub(super) fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        let raised = interrupt.clone();
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || {
            let begun = *first.get_or_insert_with(Instant::now);
            if !raised.is_raised() {
                raised.raise();
            } else if begun.elapsed() > SAME_REQUEST {
                std::process::exit(130);
            }
        })
        .context("Ctrl-C cannot be handled")?;
        Ok(interrupt)
    }

    /// Asks for the end.
    pub(super) fn raise(&self) {
        self.shared.raised.store(true, Ordering::SeqCst);
        if let Some(waker) = &*self
            .shared
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
        {
            waker();
        }
    }

    /// Whether the end was asked for.
    #[must_use]
    pub(super) fn is_raised(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// From now on `waker` is called, on another thread, when the end is asked for; at once if it was already. It
    /// replaces the waker before it.
    pub(super) fn wake_with(&self, waker: impl Fn() + Send + 'static) {
        // Stored before the flag is read, as `raise` stores the flag before it reads the waker: one of the two calls it.
        let mut place = self
            .shared
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_raised() {
            waker();
        }
        *place = Some(Box::new(waker));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::Interrupt;

    #[test]
    fn a_waker_is_called_whether_it_comes_before_or_after() {
        let interrupt = Interrupt::default();
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        interrupt.wake_with(move || sender.send("before").unwrap());
        assert!(!interrupt.is_raised());
        assert!(receiver.try_recv().is_err());
        interrupt.clone().raise();
        assert!(interrupt.is_raised());
        assert_eq!(receiver.recv().unwrap(), "before");
        interrupt.wake_with(move || other.send("after").unwrap());
        assert_eq!(receiver.recv().unwrap(), "after");
    }
}
