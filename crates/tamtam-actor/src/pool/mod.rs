//! Many actors on a few threads.

mod blocking;
mod deque;
mod idle;
mod lifo_slot;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod observe;
#[cfg(feature = "tokio")]
mod on_tokio;
mod shutdown;
mod stealer;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;
mod thread;

use core::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::{Context, Here};
use crate::mailbox::Describes;
use crate::observe::Observe;
use crate::spawner::{Hosts, Sealed, Spawner, spawns_what_is_sent};
use crate::task::TurnLimits;
use crate::time::Time;

pub use idle::{WaitIdle, WaitIdleError};
pub use shutdown::Shutdown;
use thread::{MOST_THREADS, Shared};

/// A few threads on which many actors run: thousands, or millions.
///
/// An actor that has mail gets a turn: up to 256 messages, or about 50 µs, on one of the threads. A thread
/// whose actors have nothing to do takes over half of what is due on another one, so actors move between
/// threads; the order of what one sender sent stays. A thread that finds nothing sleeps.
///
/// Dropping the pool lets the threads finish what is due and then ends them; so does
/// [`shutdown`](Pool::shutdown). Actors that are idle then stop when a message is sent to them, or when their last
/// address is dropped; those that [hold](Context::hold) for something, are to begin again after a pause, or are *muted* (there
/// [is no room](crate::Overflow::Wait) for what they have sent), stop with the pool, and the mail that they keep back is counted as
/// lost; [`shutdown_timeout`](Pool::shutdown_timeout) waits for those that are muted. Meanwhile what comes from outside to an actor that has nothing to do goes back to its sender; but
/// as long as others keep an actor busy without a pause, or an actor itself does, the drop does not return. Let them know
/// first, [stop](Address::stop) the actors, or use [`shutdown_timeout`](Pool::shutdown_timeout).
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let greeter = pool.spawn_fn(move |name: String, _| {
///     sender.send(format!("Hello, {name}")).unwrap();
/// });
/// greeter.tell("Ada".to_owned())?;
/// assert_eq!(receiver.recv()?, "Hello, Ada");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Pool {
    threads: Threads,
}

/// Whose threads they are.
enum Threads {
    Own(Arc<Shared>),
    #[cfg(feature = "tokio")]
    Tokio(Arc<on_tokio::OnTokio>),
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl Pool {
    /// A pool with a thread for each core that this process may use.
    ///
    /// # Panics
    ///
    /// If the system starts no thread; [`PoolBuilder::build`] tells why.
    #[must_use]
    pub fn new() -> Self {
        match Self::builder().build() {
            Ok(pool) => pool,
            Err(error) => panic!("no thread for a pool: {error}"),
        }
    }

    /// A pool with so many threads.
    ///
    /// # Panics
    ///
    /// As [`new`](Pool::new).
    #[must_use]
    pub fn with_threads(threads: usize) -> Self {
        match Self::builder().threads(threads).build() {
            Ok(pool) => pool,
            Err(error) => panic!("no thread for a pool: {error}"),
        }
    }

    /// Says more about a pool before it is made.
    pub fn builder() -> PoolBuilder {
        PoolBuilder {
            threads: None,
            name: "pool".to_owned(),
            time: None,
            limits: TurnLimits::USUAL,
            blocking: None,
            stand_ins: None,
            observe: Observe::default(),
        }
    }

    /// This pool, as one sees it who observes.
    pub(crate) fn watched(&self) -> &dyn crate::observe::WatchedHome {
        match &self.threads {
            Threads::Own(shared) => &**shared,
            #[cfg(feature = "tokio")]
            Threads::Tokio(tokio) => &**tokio,
        }
    }

    /// How many threads there are, without those that stand in for blocked ones.
    #[must_use]
    pub fn threads(&self) -> usize {
        match &self.threads {
            Threads::Own(shared) => shared.threads(),
            #[cfg(feature = "tokio")]
            Threads::Tokio(tokio) => tokio.threads(),
        }
    }

    /// How often a handler has waited for an answer by [`Address::ask`] on one of the threads, instead of
    /// asking with [`Context::ask`]; another thread stood in for it, if the limit allowed.
    #[must_use]
    pub fn blocking_asks(&self) -> usize {
        match &self.threads {
            Threads::Own(shared) => shared.blocking_asks(),
            #[cfg(feature = "tokio")]
            Threads::Tokio(_) => 0,
        }
    }

    /// An actor with an unlimited mailbox.
    pub fn spawn<A: Actor + Send>(&self, actor: A) -> Address<A::Message> {
        self.spawner().spawn(actor)
    }

    /// An actor that is made where it lives, soon after this and before its first message.
    pub fn spawn_with<A: Actor + Send>(
        &self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        self.spawner().spawn_with(birth)
    }

    /// A function as an actor: it is called for each message, one by one.
    pub fn spawn_fn<M: Send + 'static>(
        &self,
        function: impl FnMut(M, &mut Here<M>) + Send + 'static,
    ) -> Address<M> {
        self.spawner().spawn_fn(function)
    }

    /// Says more about an actor before it is born: how much its mailbox holds, and what becomes of the rest.
    pub fn spawner(&self) -> Spawner {
        Spawner::on(match &self.threads {
            Threads::Own(shared) => Arc::clone(shared) as Arc<dyn crate::task::Home>,
            #[cfg(feature = "tokio")]
            Threads::Tokio(tokio) => Arc::clone(tokio) as Arc<dyn crate::task::Home>,
        })
    }

    /// An actor whose handlers may block: it has its turns on threads that are there for such actors alone, as many as
    /// are at work at once, up to [a limit](PoolBuilder::blocking_threads). For the rest it is as others.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    ///
    /// let pool = Pool::new();
    /// let reader = pool.spawner().blocking().spawn_fn(|(path, reply): (&str, Reply<bool>), _| {
    ///     reply.send(std::fs::read(path).is_ok());
    /// });
    /// assert_eq!(reader.ask(|reply| ("/no/such/file", reply)), Ok(false));
    /// ```
    pub fn spawn_blocking<A: Actor + Send>(&self, actor: A) -> Address<A::Message> {
        self.spawner().blocking().spawn(actor)
    }

    /// Lets the threads finish what is due, and what comes of that, and waits for their end.
    ///
    /// From now on messages that come from outside the pool to actors that have nothing to do are given back to those
    /// who send them; only so can there be an end. An actor that is kept busy from outside without a pause keeps
    /// the pool: see [`shutdown_timeout`](Pool::shutdown_timeout).
    ///
    /// # Blocking
    ///
    /// Until they have. From one of its own threads it only tells them to. Threads that were left behind by actors that were
    /// [replaced](Address::replace) are not waited for.
    pub fn shutdown(self) {
        drop(self);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        match &self.threads {
            Threads::Own(shared) => shared.end(),
            // They are not ours to end.
            #[cfg(feature = "tokio")]
            Threads::Tokio(_) => {}
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

/// What a [`Pool`] is to be like.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::builder().threads(2).name("parsers").build()?;
/// assert_eq!(pool.threads(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PoolBuilder {
    threads: Option<usize>,
    name: String,
    /// None is the system's.
    time: Option<Time>,
    limits: TurnLimits,
    blocking: Option<usize>,
    stand_ins: Option<usize>,
    pub(crate) observe: Observe,
}

impl PoolBuilder {
    /// How many threads; at least one, and at most 65,536. Otherwise one for each core that this process may use.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// What the threads are called in debuggers and profilers: this, and a number. Systems show the first 15
    /// bytes or so.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The time by which the actors live: the system's, unless it is to be moved by hand.
    pub fn time(mut self, time: Time) -> Self {
        self.time = Some(time);
        self
    }

    /// How long an actor's turn may be, before others have theirs: at most so many messages, at least one, and about so
    /// much time. Otherwise it is 256 messages, or 50 µs.
    ///
    /// The clock is looked at after 2, 4, 8 messages and so on. A longer turn saves some work when much is due, and
    /// lets others wait for longer.
    pub fn turn(mut self, messages: u32, time: Duration) -> Self {
        self.limits = TurnLimits {
            messages: messages.max(1),
            micros: u32::try_from(time.as_micros()).unwrap_or(u32::MAX),
            ..TurnLimits::USUAL
        };
        self
    }

    /// How many threads there may be at most for actors whose handlers may block; at least one. Otherwise it is 256. See
    /// [`Pool::spawn_blocking`].
    ///
    /// If the handlers on all of them wait, by [`Address::ask`] and others, for such actors as well, these have their turns on
    /// further threads, one at a time unless they wait in turn. As many threads again, at most, are
    /// [left behind](Address::replace) by actors that were replaced.
    pub fn blocking_threads(mut self, most: usize) -> Self {
        self.blocking = Some(most.max(1));
        self
    }

    /// How many threads may stand in at once for threads whose handlers wait for an actor, by [`Address::ask`] and others.
    /// Otherwise it is 256, or 16 for each thread of the pool, if that is more; and 65,536 at most. They are started when they are needed,
    /// and go when the waits are over: one that has turns soon, one that sleeps after a few seconds.
    ///
    /// When all are at work and the last thread that is left would wait, too, for an actor that is due for a turn, its
    /// handler gets [`AskError::NoThread`](crate::AskError::NoThread) instead: no thread would be left to answer it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{AskError, Pool, Reply};
    ///
    /// let pool = Pool::builder().threads(1).stand_ins(0).build()?;
    /// let answerer = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
    /// let asker = pool.spawn_fn(move |reply: Reply<bool>, _| {
    ///     // The only thread would wait for what it has to do itself.
    ///     let answer = answerer.ask(|reply| reply);
    ///     reply.send(matches!(answer, Err(AskError::NoThread(_))));
    /// });
    /// assert_eq!(asker.ask(|reply| reply), Ok(true));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stand_ins(mut self, most: usize) -> Self {
        self.stand_ins = Some(most);
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If the system does not start all these threads, or they are more than there may be, or if the name contains a zero byte.
    pub fn build(self) -> io::Result<Pool> {
        if self.name.contains('\0') {
            let why = "the name of a thread may not contain a zero byte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let threads = self.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        if threads > MOST_THREADS {
            let why = "a pool has 65,536 threads at most";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Pool {
            threads: Threads::Own(Shared::start(threads, self.name, self.time, |shared| {
                shared.limits = self.limits;
                shared.observe(self.observe);
                if let Some(most) = self.blocking {
                    shared.blocking_mut().most = most;
                }
                if let Some(most) = self.stand_ins {
                    shared.allow_stand_ins(most);
                }
            })?),
        })
    }
}

impl<A: Actor + Send> Hosts<A> for Pool {}
impl Sealed for Pool {
    const IS_LINE: bool = false;
}

spawns_what_is_sent!(Pool);

impl<B> Spawner<Pool, B> {
    /// The actor's handlers may block: see [`Pool::spawn_blocking`].
    pub fn blocking(self) -> Self {
        self.into_blocking()
    }

    /// An actor that is made where it lives, soon after this and before its first message.
    pub fn spawn_with<A: Actor + Send>(
        self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        // SAFETY: the actor may be used on any thread.
        unsafe { self.settle_with(birth) }
    }
}
