//! Where an actor is reached: `tell`, `ask`, and their variants with time limits and as tasks.

use core::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::Source;

use crate::ask_future::{AskFuture, AskWait, Limit};
use crate::cell::{AnyActor, AtWork, Cell, Door};
use crate::error::{AskError, NoThread, TellError};
use crate::id::ActorId;
use crate::mailbox::{Level, WhenNoRoom, apart};
use crate::pending_answer::PendingAnswer;
use crate::reply::{Answer, AskedBy, Reply};
use crate::task::{ThreadWait, Unflushed};
use crate::waits::{GRACE, HeldWait, Waiting};

#[cfg(feature = "serde")]
mod far;
mod noting;
mod outlet;
mod recipient;
mod tell_future;
mod weak;

#[cfg(feature = "serde")]
pub use far::FarHold;
pub(crate) use noting::Envelope;
pub(crate) use outlet::Outlet;
pub use tell_future::TellFuture;
pub use weak::WeakAddress;

pub(crate) use recipient::Counted;
use recipient::{Held, Mapped, Recipient};

/// Where an actor is reached, for as many as want to.
///
/// It is made when the actor is born, and works from then on, also before the actor has begun and after it
/// has stopped: then it says so.
///
/// An actor whose last address is dropped stops when it has handled what it was sent. Weak addresses, see
/// [`downgrade`](Address::downgrade), do not count.
///
/// # Ordering
///
/// What one thread, or one actor, sends to one actor is handled in the order sent. What it did before it sent
/// is visible to the handler.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Reply};
///
/// enum Stock {
///     Add(u32),
///     Left(Reply<u32>),
/// }
///
/// let pool = Pool::new();
/// let mut left = 0;
/// let stock = pool.spawn_fn(move |message: Stock, _| match message {
///     Stock::Add(pieces) => left += pieces,
///     Stock::Left(reply) => reply.send(left),
/// });
/// let supplier = stock.clone(); // the same actor
/// supplier.tell(Stock::Add(3))?; // appended, and not waited for
/// assert_eq!(stock.ask(Stock::Left)?, 3); // waits for the answer
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Address<M> {
    way: Way<M>,
}

enum Way<M> {
    /// Straight into the mailbox.
    Here(Held<M, true>),
    /// Through something that makes another message out of this one.
    Through(Arc<dyn Recipient<M> + Send + Sync>),
}

impl<M> Address<M> {
    /// The first address of a new cell.
    pub(crate) fn first(cell: Arc<Cell<M>>) -> Self {
        Address::from(Counted::first(cell))
    }

    /// Sends a message: appends it to the actor's mailbox and returns at once, unless that is full and made for
    /// [waiting](crate::Overflow::Wait).
    ///
    /// # Blocking
    ///
    /// A full mailbox with [`Overflow::Wait`](crate::Overflow::Wait) keeps a thread until there is room. Not the
    /// thread on which the actor itself lives, which would have to make it, such as that of a frame loop: there the
    /// message comes back; and so it does in a task of the runtime of [`Pool::on_tokio`](crate::Pool::on_tokio) if the wait
    /// would leave the runtime no thread.
    ///
    /// A handler does not wait, wherever its actor lives. Its message is accepted above the limit, and its
    /// actor is *muted*: when the handler has returned, the actor handles no further message until the mailbox is half
    /// empty. So a mailbox exceeds its limit by no more than what each sending actor sends in one call of its handler.
    /// Actors that would wait for each other in a circle are not muted; and what an actor sends to itself comes back
    /// if there is no room.
    ///
    /// # Errors
    ///
    /// [`TellError`] with the message: the mailbox is limited and full, or the actor has stopped.
    #[inline(always)]
    pub fn tell(&self, message: M) -> Result<(), TellError<M>> {
        // The usual case at the caller's own place, so that the parts of a message go from registers into its node. One
        // that is handed on in memory is read as a whole just after it was written in parts, for which a processor waits.
        match &self.way {
            Way::Here(cell) if cell.0.is_plain() => cell.0.push_plain(message),
            _ => self.tell_otherwise(apart(message)),
        }
    }

    #[inline(never)]
    fn tell_otherwise(&self, message: M) -> Result<(), TellError<M>> {
        self.push(message, WhenNoRoom::AsMade)
    }

    /// As [`tell`](Address::tell), but never waits: a full mailbox that is made for waiting gives the message back.
    ///
    /// # Errors
    ///
    /// [`TellError`] with the message: the mailbox is limited and full, or the actor has stopped.
    pub fn try_tell(&self, message: M) -> Result<(), TellError<M>> {
        self.push(message, WhenNoRoom::GiveBack)
    }

    /// As [`tell`](Address::tell), but waits for room in a full mailbox, at most `timeout`; also where the message
    /// would fail, not where one would be dropped.
    ///
    /// # Blocking
    ///
    /// While the mailbox is full, also in a handler: for which another thread of the pool stands in, up to a limit. Not
    /// on the thread on which the actor itself lives, and not on the last thread of a runtime: there the message comes back
    /// at once.
    ///
    /// # Errors
    ///
    /// As [`tell`](Address::tell).
    pub fn tell_timeout(&self, message: M, timeout: Duration) -> Result<(), TellError<M>> {
        let deadline = Instant::now().checked_add(timeout);
        self.push(message, WhenNoRoom::WaitUntil(deadline))
    }

    /// As [`tell`](Address::tell), for async code: room in a full mailbox is awaited, with any runtime or none;
    /// also where the message would fail, not where one would be dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready drops the message unsent;
    /// [`into_inner`](TellFuture::into_inner) gives it back.
    ///
    /// # Errors
    ///
    /// [`TellError`] with the message: the actor has stopped; or an actor [holds](crate::Context::hold) for this in a
    /// [circle](TellError::cycle) of actors that wait for each other.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => panic!("it was to be ready"),
    /// #     }
    /// # }
    /// use tamtam_actor::{Overflow, Pool};
    ///
    /// let pool = Pool::new();
    /// let writer = pool
    ///     .spawner()
    ///     .limited(100, Overflow::Wait)
    ///     .spawn_fn(|line: String, _| println!("{line}"));
    /// # run(async {
    /// writer.tell_async("first".to_owned()).await?;
    /// # Ok::<(), tamtam_actor::TellError<String>>(())
    /// # })?;
    /// # Ok::<(), tamtam_actor::TellError<String>>(())
    /// ```
    pub fn tell_async(&self, message: M) -> TellFuture<'_, M> {
        TellFuture::new(self, message)
    }

    #[inline]
    fn push(&self, message: M, when: WhenNoRoom) -> Result<(), TellError<M>> {
        match &self.way {
            Way::Here(cell) => cell.0.push(message, when),
            Way::Through(recipient) => recipient.push(message, when, None),
        }
    }

    /// As `push`, and says who waits for an answer.
    pub(crate) fn push_asked(
        &self,
        message: M,
        when: WhenNoRoom,
        asked_by: Option<AskedBy>,
    ) -> Result<(), TellError<M>> {
        match &self.way {
            Way::Here(cell) => cell.0.push(message, when),
            Way::Through(recipient) => recipient.push(message, when, asked_by),
        }
    }

    /// Whether it is of use to say who waits for an answer.
    #[inline(always)]
    pub(crate) fn notes_askers(&self) -> bool {
        match &self.way {
            Way::Here(_) => false,
            Way::Through(recipient) => recipient.notes_askers(),
        }
    }

    /// Shows the room in the mailbox to one who waits for it; `None` if it is never wanting.
    pub(crate) fn with_room<R>(&self, look: impl FnOnce(&dyn Source) -> R) -> Option<R> {
        let (mut look, mut seen) = (Some(look), None);
        let mut look = |room: &dyn Source| seen = look.take().map(|look| look(room));
        match &self.way {
            Way::Here(cell) => cell.0.with_room(&mut look),
            Way::Through(recipient) => recipient.with_room(&mut look),
        }
        seen
    }

    /// Asks a question and waits for the answer.
    ///
    /// `question` makes a message out of the [`Reply`] through which the answer comes: often a variant's name
    /// is all.
    ///
    /// # Blocking
    ///
    /// Until the question is answered or dropped. A handler asks by [`Context::ask`](crate::Context::ask); if
    /// one calls this on a thread of a pool, the pool lets another thread stand in for as long, up to
    /// [a limit](crate::PoolBuilder::stand_ins), beyond which it may be [an error](AskError::NoThread). On the
    /// thread on which the asked actor itself lives it is an error, [`AskError::OwnThread`], and nothing is asked; so it is
    /// in a task of the runtime of [`Pool::on_tokio`](crate::Pool::on_tokio) if that would leave the runtime no thread.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    ///
    /// let pool = Pool::new();
    /// let adder = pool.spawn_fn(|(a, b, reply): (u32, u32, Reply<u32>), _| reply.send(a + b));
    /// assert_eq!(adder.ask(|reply| (1, 2, reply)), Ok(3));
    /// ```
    pub fn ask<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
    ) -> Result<R, AskError> {
        self.ask_until(question, None)
    }

    fn ask_until<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
        deadline: Option<Instant>,
    ) -> Result<R, AskError> {
        let Some(wait) = self.begin_wait() else {
            return Err(AskError::OwnThread);
        };
        if let Some(asker) = AtWork::id() {
            let (reply, answer) = Reply::open();
            self.put_question(question(reply), &answer)?;
            wait.leave_work();
            return self.wait_at_work(asker, &answer, deadline);
        }
        if self.notes_askers() {
            return self.ask_noted(question, wait, deadline);
        }
        let (reply, answer) = Reply::open_for_thread();
        let when = if self.waits() {
            WhenNoRoom::WaitUntil(deadline)
        } else {
            WhenNoRoom::AsMade
        };
        self.push(question(reply), when)?;
        wait.leave_work();
        #[cfg(feature = "serde")]
        if let Some(hold) = self.far_hold() {
            return crate::task::while_blocked(|| far::wait_for(hold, answer, deadline));
        }
        // Perhaps in the drop of something: on a thread of a pool all the same.
        crate::task::while_blocked(|| answer.wait_until(deadline))
    }

    /// Asks on a thread that is in no actor's turn, where it is noted who asks.
    #[cold]
    fn ask_noted<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
        wait: ThreadWait,
        deadline: Option<Instant>,
    ) -> Result<R, AskError> {
        let (reply, answer) = Reply::open();
        let when = if self.waits() {
            WhenNoRoom::WaitUntil(deadline)
        } else {
            WhenNoRoom::AsMade
        };
        self.push_asked(question(reply), when, Some(answer.asked_by()))?;
        wait.leave_work();
        // Perhaps in the drop of something: on a thread of a pool all the same.
        crate::task::while_blocked(|| answer.take_until(deadline))
            .unwrap_or(Err(AskError::TimedOut))
    }

    /// Waits for an answer in a turn of an actor.
    #[cold]
    fn wait_at_work<R: Send + 'static>(
        &self,
        asker: ActorId,
        answer: &Answer<R>,
        deadline: Option<Instant>,
    ) -> Result<R, AskError> {
        let (waiting, mut in_circle) = Waiting::begin(asker, self.id(), answer.to_open());
        while let Some(closed) = in_circle {
            if closed.is_certain() {
                return Err(AskError::Cycle(closed.cycle));
            }
            let grace = Instant::now() + GRACE;
            if deadline.is_some_and(|deadline| grace >= deadline) {
                break;
            }
            if let Some(answered) = self.wait_for(answer, Some(grace)) {
                return answered;
            }
            if waiting.still_stands(&closed) {
                return Err(AskError::Cycle(closed.cycle));
            }
            in_circle = waiting.circle();
        }
        #[cfg(feature = "serde")]
        if matches!(self.way, Way::Through(_)) && crate::waits::is_far(self.id()) {
            return self.wait_afar(&waiting, answer, deadline);
        }
        self.wait_for(answer, deadline)
            .unwrap_or(Err(AskError::TimedOut))
    }

    /// Waits for an answer on a thread of a pool or another one: `None` if none came until the deadline.
    fn wait_for<R: Send + 'static>(
        &self,
        answer: &Answer<R>,
        deadline: Option<Instant>,
    ) -> Option<Result<R, AskError>> {
        let location = match &self.way {
            Way::Here(cell) => cell.0.task_location(),
            Way::Through(recipient) => recipient.location(),
        };
        let wait = |deadline| answer.take_until(deadline);
        match crate::task::wait_for(location, deadline, wait) {
            Ok(answered) => answered,
            Err(stuck) => {
                let name = match &self.way {
                    Way::Here(cell) => cell.0.name(),
                    Way::Through(recipient) => recipient.name(),
                };
                let asked = (self.id(), name);
                let asker = AtWork::place().map(|place| (place.id(), place.name()));
                Some(Err(AskError::NoThread(NoThread::new(asker, asked, stuck))))
            }
        }
    }

    /// As [`ask`](Address::ask), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask_timeout<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
    ) -> Result<R, AskError> {
        self.ask_until(question, Instant::now().checked_add(timeout))
    }

    /// Asks a question and goes on: the thread waits for the answer later, together with other things, in a
    /// [`select!`](tamtam_channel::select).
    ///
    /// # Blocking
    ///
    /// While the mailbox is full, if it is made for [waiting](crate::Overflow::Wait). In a handler the wait for the answer is the select's: no thread of
    /// the pool stands in for it, and no circle of actors that wait for each other is looked for. A handler asks by [`Context::ask`](crate::Context::ask).
    ///
    /// # Errors
    ///
    /// [`AskError`] if the question cannot be asked, as for [`ask`](Address::ask). Why a question that was asked has no answer is what the pending answer
    /// gives.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{AskError, Pool, Reply};
    /// use tamtam_channel::{bounded, select};
    ///
    /// let pool = Pool::new();
    /// let counter = pool.spawn_fn(|(text, reply): (String, Reply<usize>), _| reply.send(text.len()));
    /// let (_stop, stopped) = bounded::<()>(1);
    /// let length = counter.ask_pending(|reply| ("text".to_owned(), reply))?;
    /// // .. and goes on
    /// let answer = select! {
    ///     wait(length) => length.try_take(),
    ///     recv(stopped) -> _ => None,
    /// };
    /// assert_eq!(answer, Some(Ok(4)));
    /// # Ok::<(), AskError>(())
    /// ```
    pub fn ask_pending<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
    ) -> Result<PendingAnswer<R>, AskError> {
        // Where this thread is the one that would have to answer, no select of it comes to an end.
        let Some(wait) = self.begin_wait() else {
            return Err(AskError::OwnThread);
        };
        let (reply, answer) = Reply::open();
        self.put_question(question(reply), &answer)?;
        wait.leave_work();
        // What this turn has written to another process would wait for its end otherwise.
        Unflushed::flush_all();
        Ok(answer.pending())
    }

    /// Whether [`tell`](Address::tell) waits for room.
    fn waits(&self) -> bool {
        match &self.way {
            Way::Here(cell) => cell.0.waits(),
            Way::Through(recipient) => recipient.waits(),
        }
    }

    fn put_question<R: Send + 'static>(
        &self,
        question: M,
        answer: &Answer<R>,
    ) -> Result<(), AskError> {
        let put = if self.notes_askers() {
            self.push_asked(question, WhenNoRoom::AsMade, Some(answer.asked_by()))
        } else {
            self.tell(question)
        };
        put.map_err(AskError::from)
    }

    /// Stops the actor when it has handled the message that it is at. What else lies in its mailbox is lost,
    /// and those who wait for an answer to it get an error.
    pub fn stop(&self) {
        match &self.way {
            Way::Here(cell) => cell.stop(),
            Way::Through(recipient) => recipient.stop(),
        }
    }

    /// Whether the actor has stopped and takes no more messages.
    pub fn is_stopped(&self) -> bool {
        match &self.way {
            Way::Here(cell) => cell.0.is_closed(),
            Way::Through(recipient) => recipient.is_stopped(),
        }
    }

    /// The number of the actor, for people who read messages and tables: no other actor of this process has it, or
    /// has had it. A mapped address has that of the actor behind it.
    pub fn id(&self) -> ActorId {
        match &self.way {
            Way::Here(cell) => cell.0.id(),
            Way::Through(recipient) => recipient.id(),
        }
    }

    /// This thread is about to wait for the actor: see [`Home::begin_wait`](crate::task::Home::begin_wait).
    fn begin_wait(&self) -> Option<ThreadWait> {
        match &self.way {
            Way::Here(cell) => cell.0.begin_wait(),
            Way::Through(recipient) => recipient.begin_wait(),
        }
    }

    /// How many messages were accepted and yet never handled: dropped for want of room, still in the
    /// mailbox when the actor stopped, or the one at which it has panicked.
    pub fn lost(&self) -> u64 {
        match &self.way {
            Way::Here(cell) => cell.0.lost(),
            Way::Through(recipient) => recipient.lost(),
        }
    }

    /// How many messages lie in the mailbox, and how many there were at most; `None` if it has neither a limit nor an
    /// order: senders to such a one count nothing.
    pub fn level(&self) -> Option<Level> {
        match &self.way {
            Way::Here(cell) => cell.0.level(),
            Way::Through(recipient) => recipient.level(),
        }
    }
}

impl<M: Send + 'static> Address<M> {
    /// As [`ask`](Address::ask), for async code: the question is asked at once, the answer is awaited. If there is no
    /// room for the question, in a mailbox that is made for [waiting](crate::Overflow::Wait), that is awaited first.
    ///
    /// # Cancel safety
    ///
    /// The answer to a question whose future is dropped goes nowhere; the question is handled all the same, unless there
    /// was no room for it yet.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask_async<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
    ) -> AskFuture<R> {
        self.ask_within(question, Limit::NONE)
    }

    /// As [`ask_async`](Address::ask_async), but waits at most `timeout` from now, by the system's clock; for room in a
    /// mailbox that is made for [waiting](crate::Overflow::Wait), too.
    ///
    /// # Cancel safety
    ///
    /// As [`ask_async`](Address::ask_async).
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer: [`TimedOut`](AskError::TimedOut) if the question was asked, and
    /// [`Full`](AskError::Full) if there was no room for it until then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{AskError, Pool, Reply};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     loop {
    /// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
    /// #             return output;
    /// #         }
    /// #         std::thread::yield_now();
    /// #     }
    /// # }
    ///
    /// let pool = Pool::new();
    /// let mut kept = Vec::new();
    /// let forgetful = pool.spawn_fn(move |reply: Reply<u32>, _| kept.push(reply));
    /// # run(async {
    /// let answer = forgetful.ask_timeout_async(|reply| reply, Duration::from_millis(5)).await;
    /// assert_eq!(answer, Err(AskError::TimedOut));
    /// # });
    /// ```
    pub fn ask_timeout_async<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
    ) -> AskFuture<R> {
        self.ask_within(question, Limit::after(timeout))
    }

    fn ask_within<R: Send + 'static>(
        &self,
        question: impl FnOnce(Reply<R>) -> M,
        mut limit: Limit,
    ) -> AskFuture<R> {
        let (reply, answer) = Reply::open();
        let asked_by = self.notes_askers().then(|| answer.asked_by());
        let put = self.push_asked(question(reply), WhenNoRoom::GiveBack, asked_by.clone());
        let to = self.id();
        let waiting = match put {
            Ok(()) if limit.is_none() => {
                return AskFuture {
                    answer: AskWait::plain(answer.awaited()),
                    to,
                    wait: HeldWait::New,
                };
            }
            Ok(()) => Ok(None),
            Err(error) if error.is_full() && self.waits() => {
                Ok(Some((self.clone(), error.into_inner(), asked_by)))
            }
            Err(error) => Err(AskError::from(error)),
        };
        let open = answer.to_open();
        AskFuture {
            answer: AskWait::Other(
                Box::pin(async move {
                    if let Some((address, question, asked_by)) = waiting? {
                        // The wait for the answer is the one that is looked at.
                        let told = TellFuture::of_question(&address, question, asked_by);
                        limit.await_within(told).await.ok_or(AskError::Full(to))??;
                    }
                    let answered = limit.await_within(answer.awaited()).await;
                    answered.unwrap_or(Err(AskError::TimedOut))
                }),
                open,
            ),
            to,
            wait: HeldWait::New,
        }
    }

    /// The actor, whatever its type is.
    pub(crate) fn place(&self) -> Arc<dyn AnyActor> {
        match &self.way {
            Way::Here(cell) => Arc::clone(&cell.0) as Arc<dyn AnyActor>,
            Way::Through(recipient) => recipient.place(),
        }
    }

    /// An address for other messages, each of which is made into one of the actor's.
    ///
    /// `make` is called on the thread that sends, and only when there is room: a message that is refused comes
    /// back as it was.
    ///
    /// # Panics
    ///
    /// A panic in `make` reaches the sender; the message is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Address, Pool};
    ///
    /// enum Event {
    ///     Key(char),
    ///     Resized(u32, u32),
    /// }
    ///
    /// let pool = Pool::new();
    /// let window = pool.spawn_fn(|_: Event, _| {});
    /// let keyboard: Address<char> = window.map(Event::Key);
    /// keyboard.tell('a')?;
    /// # Ok::<(), tamtam_actor::TellError<char>>(())
    /// ```
    #[must_use]
    pub fn map<N: 'static>(&self, make: impl Fn(N) -> M + Send + Sync + 'static) -> Address<N> {
        let inner: Arc<dyn Recipient<M> + Send + Sync> = match &self.way {
            Way::Here(cell) => Arc::new(cell.clone()),
            Way::Through(recipient) => Arc::clone(recipient),
        };
        let make = Arc::new(make);
        Address {
            way: Way::Through(Arc::new(Mapped { inner, make })),
        }
    }
}

impl<M: Send + 'static> Address<M> {
    /// Shows where timers knock for the actor.
    pub(crate) fn with_door<R>(&self, look: impl FnOnce(&dyn Door) -> R) -> R {
        match &self.way {
            Way::Here(cell) => look(&**cell.cell()),
            Way::Through(recipient) => look(&*recipient.door()),
        }
    }

    /// The cell and its count, if messages go straight into its mailbox.
    pub(crate) fn into_counted(self) -> Result<Counted<M>, Self> {
        match self.way {
            Way::Here(cell) => Ok(cell),
            Way::Through(_) => Err(self),
        }
    }

    /// Where timers knock for the actor.
    pub(crate) fn door(&self) -> Arc<dyn Door> {
        match &self.way {
            Way::Here(cell) => Arc::clone(&cell.0) as Arc<dyn Door>,
            Way::Through(recipient) => recipient.door(),
        }
    }
}

impl<M> From<Counted<M>> for Address<M> {
    fn from(cell: Counted<M>) -> Self {
        Address {
            way: Way::Here(cell),
        }
    }
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Address {
            way: match &self.way {
                Way::Here(cell) => Way::Here(cell.clone()),
                Way::Through(recipient) => Way::Through(Arc::clone(recipient)),
            },
        }
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::error::Refusal;
    use crate::mailbox::Overflow;
    use crate::pool::Pool;

    #[test]
    fn what_is_lost_is_counted_beyond_32_bits() {
        let pool = Pool::with_threads(1);
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let actor = pool
            .spawner()
            .limited(1, Overflow::DropOldest)
            .spawn_fn(move |(): (), _| {
                // Until the other end is gone.
                let _ = end.recv();
            });
        let Way::Here(cell) = &actor.way else {
            unreachable!("it is not mapped");
        };
        let before = u64::from(u32::MAX) - 1;
        cell.0.assume_lost(before);
        for _ in 0..10 {
            actor.tell(()).unwrap();
        }
        assert!((8..=9).contains(&(actor.lost() - before)));
        assert_eq!(actor.map(|(): ()| ()).lost(), actor.lost());
        drop(ended);
        actor.stop();
        while !actor.is_stopped() {
            std::thread::yield_now();
        }
        assert_eq!(actor.tell(()).map_err(|e| e.why()), Err(Refusal::Stopped));
        assert!(actor.lost() > before + 7);
    }
}
