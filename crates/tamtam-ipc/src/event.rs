//! A flag that threads of several processes wait for.

use std::fmt;
use std::future::Future;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tamtam_channel::{Sealed, WaitTimeoutError, Waitable};
use tamtam_wait::{Source, Token, Wait};

use crate::error::{AttachError, CreateError};
use crate::flag::Flag;
use crate::future::{Attempts, Own};
use crate::header::{Kind, Shape};
use crate::segment::Segment;
use crate::wake::{Waiters, waits_at};

/// What lies in the segment.
#[derive(Debug)]
#[repr(C)]
struct State {
    flag: Flag,
    is_auto: AtomicU32,
}

const _: () = assert!(size_of::<State>() == 384);

/// Something that threads of several processes wait for until it happens: `tamtam_channel::Event` in shared memory.
///
/// - [`Event::manual`] stays set until it is [reset](Event::reset) and lets all pass meanwhile. A thread that waits when it is set gets past, even if it
///   is reset right afterwards.
/// - [`Event::auto`] lets one thread pass and resets itself. Setting it again before that changes nothing, however many threads wait. (Within a
///   process, each `set` lets another one of the waiting threads pass; here the number of those cannot be relied on, since processes die.)
///
/// A process that dies after it has set the event, and before it has woken those that wait, wakes them by that.
///
/// # Ordering
///
/// What a thread did before `set` has happened for the thread that got past by it.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Event;
///
/// let ready = Event::manual()?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = Event::attach(ready.memory().try_clone_to_owned()?)?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| there.wait());
///     ready.set();
/// });
/// assert!(there.is_set());
///
/// let turn = Event::auto()?;
/// turn.set();
/// assert!(turn.try_wait());
/// assert!(!turn.try_wait());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Event {
    /// Tasks and selecting threads of this process.
    waiters: Waiters,
    segment: Segment,
    wait: Wait,
    /// As it was when this process came: nothing that is written later changes it.
    is_auto: bool,
}

impl Event {
    fn shape() -> Shape {
        Shape {
            size: 0,
            align: 1,
            capacity: 0,
            name: "event".to_owned(),
        }
    }

    fn create(is_auto: bool) -> Result<Self, CreateError> {
        let segment = Segment::create(Kind::Event, Self::shape(), size_of::<State>())?;
        let event = Event {
            waiters: Waiters::new(),
            segment,
            wait: Wait::Adaptive,
            is_auto,
        };
        event.state().flag.prepare();
        let number = u32::from(is_auto);
        event.state().is_auto.store(number, Ordering::SeqCst);
        Ok(event)
    }

    /// An event that stays set until it is reset. Not set at first.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn manual() -> Result<Self, CreateError> {
        Self::create(false)
    }

    /// An event that resets itself when one thread has got past. Not set at first.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn auto() -> Result<Self, CreateError> {
        Self::create(true)
    }

    /// The event that another process has made, by the descriptor of its memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let segment = Segment::attach(memory, Kind::Event, &Self::shape())?;
        if segment.bytes() != size_of::<State>() {
            return Err(AttachError::NotOurs);
        }
        let mut event = Event {
            waiters: Waiters::new(),
            segment,
            wait: Wait::Adaptive,
            is_auto: false,
        };
        event.is_auto = event.state().is_auto.load(Ordering::SeqCst) != 0;
        event.state().flag.greet();
        Ok(event)
    }

    /// The same event, waiting in another way in this process.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.segment.memory()
    }

    fn state(&self) -> &State {
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are such a state, and all access to it is
        // atomic.
        unsafe { self.segment.place::<State>(0).as_ref() }
    }

    /// Sets the event: lets all pass (manual), or one thread (auto).
    pub fn set(&self) {
        self.state().flag.set();
    }

    /// Takes it back: threads that come from now on wait.
    pub fn reset(&self) {
        self.state().flag.reset();
    }

    /// Whether it is set now.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.state().flag.is_set()
    }

    /// Gets past if it is set, as [`wait`](Event::wait) would at once.
    #[must_use = "an auto event that let this thread pass is reset"]
    pub fn try_wait(&self) -> bool {
        let flag = &self.state().flag;
        if self.is_auto {
            flag.try_take()
        } else {
            flag.is_set()
        }
    }

    /// Waits until it is set.
    ///
    /// # Blocking
    ///
    /// Until then: without end if the process that was to set it is gone.
    pub fn wait(&self) {
        while self.wait_until(None).is_err() {}
    }

    /// As [`wait`](Event::wait), for so long at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if it was not set in time.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), WaitTimeoutError> {
        // A time beyond the clock's end is none.
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// As [`wait`](Event::wait), until then at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if it was not set in time.
    pub fn wait_deadline(&self, deadline: Instant) -> Result<(), WaitTimeoutError> {
        self.wait_until(Some(deadline))
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<(), WaitTimeoutError> {
        let flag = &self.state().flag;
        let waited = if self.is_auto {
            flag.take(&self.segment, self.wait, deadline)
        } else {
            flag.wait(&self.segment, self.wait, deadline)
        };
        waited.map_err(|_| WaitTimeoutError)
    }
}

impl Event {
    /// Waits as a task until it is set. As with [`wait`](Event::wait), a manual one may be reset right after it was set: what counts is that it was set
    /// since this was called.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves an auto event as it is.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// let turn = tamtam_ipc::Event::auto()?;
    /// turn.set();
    /// turn.wait_async().await;
    /// assert!(!turn.is_set());
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn wait_async(&self) -> impl Future<Output = ()> + Unpin + Send + '_ {
        let passing = Passing {
            event: self,
            before: self.state().flag.times_set(),
        };
        Attempts::new(Own(passing), |passing: &Passing<'_>| {
            passing.pass().then_some(())
        })
    }
}

/// Ready when it is set; a manual one also lets a select pass that has begun before it was set and looks after it was reset.
impl Source for Event {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.try_wait()
    }

    waits_at!(this => this.waiters, &this.segment, this.state().flag.bell());

    unsafe fn abandon(&self, _: &mut Token) {
        // Another one passes in place of this.
        if self.is_auto {
            self.set();
        }
    }

    fn is_ready(&self) -> bool {
        self.is_set()
    }

    fn mark(&self) -> u64 {
        if self.is_auto {
            0
        } else {
            // How often it was set, and never zero.
            self.state().flag.times_set() << 1 | 1
        }
    }
}

impl Sealed for Event {}
impl Waitable for Event {}

/// One wait for an event.
struct Passing<'a> {
    event: &'a Event,
    /// How often it had been set when the wait began.
    before: u64,
}

impl Passing<'_> {
    fn pass(&self) -> bool {
        if self.event.is_auto {
            self.event.try_wait()
        } else {
            self.is_ready()
        }
    }
}

impl Source for Passing<'_> {
    /// Takes nothing: the future does, by [`pass`](Passing::pass).
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    waits_at!(this => this.event.waiters, &this.event.segment, this.event.state().flag.bell());

    fn is_ready(&self) -> bool {
        if self.event.is_auto {
            self.event.is_set()
        } else {
            self.event.state().flag.was_set_since(self.before)
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("is_set", &self.is_set())
            .field("is_auto", &self.is_auto)
            .finish()
    }
}
