//! Actors that live on a thread with a loop of its own, such as that of a game or a window, and have their turns when it pumps.

use core::fmt;
use core::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tamtam_wait::Wait;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::{Context, Here};
use crate::line::{Allowed, Line};
use crate::mailbox::Describes;
use crate::observe::{HomeKind, Observe, Shown};
use crate::spawner::{Hosts, Sealed, Spawner, makes_on_its_thread, spawns_what_is_sent};
use crate::task::Home;
use crate::time::{Time, vigil};

/// A home for actors in the caller's own loop: that of a game, a window, a simulation. They have their turns when
/// the loop [pumps](Frame::pump), on the thread that it pumps on, and at no other time.
///
/// The actors need not be `Send`, so they may hold what belongs to the loop's thread. Other threads reach them by
/// their addresses as everywhere, and spawn others by a [`FrameHandle`]. Mail waits for the next pump; a loop that
/// sleeps is woken by a function of its own, see [`on_mail`](Frame::on_mail), or by [`wait`](Frame::wait).
///
/// Dropping the frame stops its actors. What lies in their mailboxes then is counted as lost, and those who wait for an
/// answer hears of it; `tell` gives messages back from then on. Pump until nothing is left to handle all.
///
/// # Examples
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use std::time::Duration;
/// use tamtam_actor::{Budget, Frame};
///
/// let mut frame = Frame::new();
/// let score = Rc::new(Cell::new(0));
/// let shown = Rc::clone(&score);
/// let points = frame.spawn_fn(move |more: u32, _| shown.set(shown.get() + more));
///
/// std::thread::spawn(move || points.tell(3)).join().unwrap()?;
/// // Once a frame:
/// frame.pump(Budget::time(Duration::from_millis(2)));
/// assert_eq!(score.get(), 3);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
pub struct Frame {
    line: Arc<Line>,
    /// It stays on its thread.
    here: PhantomData<*const ()>,
    /// To those who observe, as long as it is kept.
    _shown: Option<Arc<Shown>>,
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

impl Frame {
    /// A frame on this thread, without actors.
    #[must_use]
    pub fn new() -> Self {
        Self::with(None)
    }

    /// A frame whose actors live by a time of their own: one that is moved by hand, for a simulation, or a game that
    /// can be paused.
    #[must_use]
    pub fn with_time(time: Time) -> Self {
        Self::with(Some(time))
    }

    fn with(time: Option<Time>) -> Self {
        let shown = Shown::new(HomeKind::Frame, "frame", Observe::default());
        let line = Arc::new(Line::new(Wait::Adaptive, true, time).shown(shown.as_deref()));
        line.keep();
        let sleeper: Weak<dyn vigil::Sleeper> = Arc::downgrade(&line) as _;
        vigil::enlist(sleeper);
        Frame {
            line,
            here: PhantomData,
            _shown: shown,
        }
    }

    /// An actor with an unlimited mailbox. It need not be `Send`.
    pub fn spawn<A: Actor>(&self, actor: A) -> Address<A::Message> {
        self.spawner().spawn(actor)
    }

    /// A function as an actor: it is called for each message, one by one. It need not be `Send`.
    pub fn spawn_fn<M: Send + 'static>(
        &self,
        function: impl FnMut(M, &mut Here<M>) + 'static,
    ) -> Address<M> {
        self.spawner().spawn_fn(function)
    }

    /// An actor that is made in its first turn. Neither it nor what makes it need be `Send`.
    pub fn spawn_with<A: Actor>(
        &self,
        birth: impl FnOnce(&mut Context<A>) -> A + 'static,
    ) -> Address<A::Message> {
        self.spawner().spawn_with(birth)
    }

    /// Says more about an actor before it is born.
    pub fn spawner(&self) -> Spawner<Frame> {
        Spawner::on_line(&self.line)
    }

    /// Spawns actors here from other threads.
    #[must_use]
    pub fn handle(&self) -> FrameHandle {
        FrameHandle {
            line: Arc::clone(&self.line),
        }
    }

    /// Lets the actors that have mail, or were born since the last pump, have their turns, and returns.
    ///
    /// Without a budget the pump goes in rounds: the first is for all actors that have mail when it begins, the next
    /// for those that have got some meanwhile, and so on, 16 rounds at most. So a message that was passed on from actor
    /// to actor of the frame mostly arrives in the same pump; and two actors that send to each other for ever do not
    /// keep the loop.
    ///
    /// With a budget of messages the pump ends after so many, or when nothing is due. With one of time it ends with
    /// the first message after which the time is over: the less is left, the more often the clock is looked at; if there
    /// is any time at all, one message is handled. An answer to a question that an actor of the frame has asked counts as a message.
    ///
    /// `left` says whether something is due that did not get its turn, or is on its way. It then has to be pumped
    /// again; the hook is not called for it a second time.
    pub fn pump(&mut self, budget: Budget) -> Pumped {
        let allowed = Allowed {
            time: budget.time,
            messages: budget.messages,
        };
        self.look_after_timers();
        // SAFETY: this is the frame's thread, which it never leaves. No turn is under way: one that pumped its own
        // frame would have to have it exclusively, as this pump has.
        let (handled, left) = unsafe { self.line.pump(&allowed) };
        Pumped { handled, left }
    }

    /// Says what is called when mail comes to an idle frame, in place of what was said before.
    ///
    /// It is called once, on the thread that sends, and not again before the next pump has left nothing; at once, if
    /// mail is there already. For what a timer sends it is a thread that is there for such calls: other timers do not wait for it. It is meant to wake a loop that sleeps: by an `EventLoopProxy` of winit, a
    /// `request_repaint` of egui, a `PushEvent` of SDL. It should do no more than that, and must not pump.
    ///
    /// A panic in it ends there.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use tamtam_actor::{Budget, Frame};
    ///
    /// enum Event {
    ///     Mail,
    ///     // and what else the loop hears of
    /// }
    ///
    /// let mut frame = Frame::new();
    /// let (post, events) = mpsc::channel();
    /// let wake = post.clone();
    /// frame.on_mail(move || drop(wake.send(Event::Mail)));
    /// let printer = frame.spawn_fn(|text: &str, here| {
    ///     println!("{text}");
    ///     here.stop();
    /// });
    /// std::thread::spawn(move || printer.tell("hello"));
    ///
    /// match events.recv()? {
    ///     Event::Mail => {
    ///         if frame.pump(Budget::messages(100)).left {
    ///             post.send(Event::Mail)?; // go on with the next round of the loop
    ///         }
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_mail(&self, call: impl Fn() + Send + Sync + 'static) {
        // SAFETY: this is the frame's thread.
        unsafe { self.line.set_hook(Some(Arc::new(call)), false) };
    }

    /// As [`on_mail`](Frame::on_mail), but it is not called for mail from this thread: for a loop that looks for that before it sleeps.
    #[doc(hidden)]
    pub fn on_mail_from_elsewhere(&self, call: impl Fn() + Send + Sync + 'static) {
        // SAFETY: this is the frame's thread.
        unsafe { self.line.set_hook(Some(Arc::new(call)), true) };
    }

    /// Whether mail is there, or on its way, for the next pump.
    #[must_use]
    pub fn has_mail(&self) -> bool {
        // SAFETY: this is the frame's thread.
        unsafe { self.line.is_due() }
    }

    /// Waits until there is something to pump: `true`, or until the time is over: `false`. For loops that have no
    /// other thing to wait for.
    ///
    /// # Blocking
    ///
    /// As long as nothing comes, at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        self.look_after_timers();
        // SAFETY: this is the frame's thread.
        self.has_mail() || unsafe { self.line.wait(deadline) }
    }

    /// The process may be a forked child, in which no other thread would.
    fn look_after_timers(&self) {
        self.line.time().keep_appointment();
        vigil::attend();
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: this is the frame's thread, and no turn is under way: it would have the frame.
        unsafe {
            self.line.set_hook(None, false);
            self.line.end();
        }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("line", &self.line).finish()
    }
}

/// Spawns actors in a [`Frame`] from other threads. It may outlive the frame; what is spawned then is dropped, and its
/// address says so.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Budget, Frame};
///
/// let mut frame = Frame::new();
/// let handle = frame.handle(); // for other threads
/// let address = std::thread::spawn(move || handle.spawn_fn(|_: u32, _| {})).join().unwrap();
/// address.tell(1)?;
/// assert_eq!(frame.pump(Budget::unlimited()).handled, 1);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone)]
pub struct FrameHandle {
    line: Arc<Line>,
}

impl FrameHandle {
    /// An actor with an unlimited mailbox.
    pub fn spawn<A: Actor + Send>(&self, actor: A) -> Address<A::Message> {
        self.spawner().spawn(actor)
    }

    /// A function as an actor: it is called for each message, one by one.
    pub fn spawn_fn<M: Send + 'static>(
        &self,
        function: impl FnMut(M, &mut Here<M>) + Send + 'static,
    ) -> Address<M> {
        self.spawner().spawn_fn(function)
    }

    /// An actor that is made on the frame's thread, in its next pump. It need not be `Send`.
    pub fn spawn_with<A: Actor>(
        &self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        self.spawner().spawn_with(birth)
    }

    /// Says more about an actor before it is born.
    pub fn spawner(&self) -> Spawner<FrameHandle> {
        Spawner::on_line(&self.line)
    }

    /// Whether the frame is gone.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.line.is_closed()
    }
}

impl fmt::Debug for FrameHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameHandle")
            .field("line", &self.line)
            .finish()
    }
}

/// How much a [pump](Frame::pump) does: so many messages, or so much time, or both, whichever is used up first.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Budget;
///
/// let small = Budget::time(Duration::from_millis(2)).and_messages(1_000);
/// assert_ne!(small, Budget::unlimited());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Budget {
    time: Option<Duration>,
    messages: Option<usize>,
}

impl Budget {
    /// What is there, and what that leads to: see [`Frame::pump`].
    pub const fn unlimited() -> Self {
        Budget {
            time: None,
            messages: None,
        }
    }

    /// So much time.
    pub const fn time(time: Duration) -> Self {
        Self::unlimited().and_time(time)
    }

    /// So many messages.
    pub const fn messages(messages: usize) -> Self {
        Self::unlimited().and_messages(messages)
    }

    /// And not longer than so much time.
    pub const fn and_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// And not more than so many messages.
    pub const fn and_messages(mut self, messages: usize) -> Self {
        self.messages = Some(messages);
        self
    }
}

/// What a [pump](Frame::pump) has done.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Budget, Frame};
///
/// let mut frame = Frame::new();
/// let actor = frame.spawn_fn(|_: u32, _| {});
/// actor.tell(1)?;
/// actor.tell(2)?;
/// let pumped = frame.pump(Budget::messages(1));
/// assert!(pumped.left); // so the loop goes on without waiting
/// assert!(!frame.pump(Budget::unlimited()).left);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pumped {
    /// So many messages were handled, and answers.
    pub handled: usize,
    /// Something is due, or on its way: pump again.
    pub left: bool,
}

impl<A: Actor> Hosts<A> for Frame {}
impl<A: Actor> Hosts<A> for FrameHandle {}
impl Sealed for Frame {
    const IS_LINE: bool = true;
}
impl Sealed for FrameHandle {
    const IS_LINE: bool = true;
}

spawns_what_is_sent!(FrameHandle);
makes_on_its_thread!(FrameHandle);

impl<B> Spawner<Frame, B> {
    /// The actor, which need not be `Send`: it never leaves this thread.
    pub fn spawn<A: Actor>(self, actor: A) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        // SAFETY: a spawner of a frame stays on the frame's thread, which has all turns. If the frame is gone the
        // actor is dropped on this thread, which is the same.
        unsafe { self.settle_born(actor) }
    }

    /// A function as an actor: it is called for each message, one by one. It need not be `Send`.
    pub fn spawn_fn<M: Send + 'static>(
        self,
        function: impl FnMut(M, &mut Here<M>) + 'static,
    ) -> Address<M>
    where
        B: Describes<M>,
    {
        // SAFETY: the function is made and stays on this thread, which is the one of its home.
        unsafe { self.settle_fn(function) }
    }

    /// An actor that is made in its first turn. Neither it nor what makes it need be `Send`.
    pub fn spawn_with<A: Actor>(
        self,
        birth: impl FnOnce(&mut Context<A>) -> A + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        /// Not sent anywhere.
        struct Stays<T>(T);
        // SAFETY: it is called, or dropped, in a turn on this very thread, which the spawner has not left.
        unsafe impl<T> Send for Stays<T> {}

        impl<T> Stays<T> {
            fn into_inner(self) -> T {
                self.0
            }
        }

        let birth = Stays(birth);
        // SAFETY: `birth` and the actor stay on this thread, which is the one of their home.
        unsafe { self.settle_with(move |context| birth.into_inner()(context)) }
    }
}
