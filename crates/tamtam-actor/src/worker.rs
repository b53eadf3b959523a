//! A thread of its own for actors that are made there and never leave it.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use tamtam_wait::Wait;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::{Context, Here};
use crate::line::{Line, Quit};
use crate::observe::{HomeKind, Observe, Shown};
use crate::spawner::{Hosts, Sealed, Spawner, makes_on_its_thread, spawns_what_is_sent};
use crate::time::{Time, vigil};

/// A thread of its own for one actor, or for some: with a message loop, and a name for debuggers.
///
/// For what blocks (files, a database, a device), for what needs one and the same thread, and for actors that cannot
/// be sent to another one. A handler here may take its time: only the actors of the same worker wait for it.
///
/// An address is valid from the actor's birth on, whether or not the thread has begun; when the worker has ended,
/// `tell` gives the message back.
///
/// Dropping a worker lets it handle what it was sent, and waits for its end: see [`join`](Worker::join). On a thread that has a
/// [`Frame`](crate::Frame), and on that of another worker, it does not wait for room: an actor that is muted is stopped, and its mail lost and
/// counted, since the room might be for that thread to make.
///
/// # Ordering
///
/// Messages from one sender to one actor are handled in the order sent. Actors that have mail have their turns one
/// after the other: up to 256 messages, or about 50 µs.
///
/// # Examples
///
/// A worker thread with handlers that are registered by number, and one for all other numbers. To post is `tell`, to
/// send and wait is `ask`:
///
/// ```
/// use std::collections::HashMap;
/// use tamtam_actor::{Actor, Context, Quit, Reply, Worker};
///
/// type Handler = fn(&mut u64, u64) -> u64;
///
/// enum Call {
///     Register(u32, Handler),
///     Message { id: u32, value: u64, reply: Option<Reply<u64>> },
/// }
///
/// #[derive(Default)]
/// struct Dispatch {
///     handlers: HashMap<u32, Handler>,
///     sum: u64,
/// }
///
/// impl Actor for Dispatch {
///     type Message = Call;
///
///     fn handle(&mut self, call: Call, _: &mut Context<Self>) {
///         match call {
///             Call::Register(id, handler) => drop(self.handlers.insert(id, handler)),
///             Call::Message { id, value, reply } => {
///                 let answer = match self.handlers.get(&id) {
///                     Some(handler) => handler(&mut self.sum, value),
///                     None => 0, // the default handler
///                 };
///                 if let Some(reply) = reply {
///                     reply.send(answer);
///                 }
///             }
///         }
///     }
/// }
///
/// const ADD: u32 = 1;
///
/// let worker = Worker::builder().name("adder").build()?;
/// let adder = worker.spawn(Dispatch::default());
/// adder.tell(Call::Register(ADD, |sum, value| {
///     *sum += value;
///     *sum
/// }))?;
/// let message = |id, value| move |reply| Call::Message { id, value, reply: Some(reply) };
/// adder.tell(Call::Message { id: ADD, value: 2, reply: None })?; // PostMessage
/// assert_eq!(adder.ask(message(ADD, 3))?, 5); // SendMessage
/// assert_eq!(adder.ask(message(99, 3))?, 0);
///
/// worker.quit(Quit::Drain);
/// worker.join();
/// assert!(adder.tell(Call::Message { id: ADD, value: 1, reply: None }).is_err());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Worker {
    line: Arc<Line>,
    thread: Option<JoinHandle<()>>,
    /// To those who observe, as long as it is kept.
    _shown: Option<Arc<Shown>>,
}

impl Default for Worker {
    fn default() -> Self {
        Self::new()
    }
}

impl Worker {
    /// A worker, called "worker".
    ///
    /// # Panics
    ///
    /// If the system starts no thread; [`WorkerBuilder::build`] tells why.
    #[must_use]
    pub fn new() -> Self {
        match Self::builder().build() {
            Ok(worker) => worker,
            Err(error) => panic!("no thread for a worker: {error}"),
        }
    }

    /// Says more about a worker before it is made.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder {
            name: "worker".to_owned(),
            wait: Wait::Adaptive,
            time: None,
            observe: Observe::default(),
        }
    }

    /// An actor with an unlimited mailbox. When the worker has ended it is dropped, and its address says so.
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

    /// An actor that is made on the worker's thread, soon after this and before its first message, and dropped there. It need not be
    /// `Send`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    /// use tamtam_actor::{Actor, Context, Reply, Worker};
    ///
    /// struct Names(Vec<Rc<str>>);
    ///
    /// impl Actor for Names {
    ///     type Message = Reply<usize>;
    ///
    ///     fn handle(&mut self, reply: Reply<usize>, _: &mut Context<Self>) {
    ///         self.0.push("again".into());
    ///         reply.send(self.0.len());
    ///     }
    /// }
    ///
    /// let worker = Worker::new();
    /// let names = worker.spawn_with(|_| Names(vec!["first".into()]));
    /// assert_eq!(names.ask(|reply| reply)?, 2);
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    pub fn spawn_with<A: Actor>(
        &self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        self.spawner().spawn_with(birth)
    }

    /// Says more about an actor before it is born. The spawner may be kept, also beyond the worker's end.
    pub fn spawner(&self) -> Spawner<Worker> {
        Spawner::on_line(&self.line)
    }

    /// Tells the worker to end, in one way or the other, and returns at once. `Discard` after `Drain` is obeyed.
    ///
    /// All its actors stop, each by its own [`stopped`](Actor::stopped), on the worker's thread.
    pub fn quit(&self, how: Quit) {
        self.line.quit(how);
    }

    /// Whether the worker has ended: all its actors are gone, and nothing is accepted any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.line.is_closed()
    }

    /// Waits until the worker has ended, which it does as by [`Quit::Drain`] if it was not told otherwise.
    ///
    /// # Blocking
    ///
    /// Until it has. From its own thread it is only told to.
    pub fn join(self) {
        drop(self);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.line.drain_for_join();
        if let Some(thread) = self.thread.take()
            && !self.line.is_kept_here()
        {
            // Turns catch what actors do; a thread ends by itself.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self
            .thread
            .as_ref()
            .and_then(|thread| thread.thread().name());
        f.debug_struct("Worker")
            .field("name", &name.unwrap_or(""))
            .field("line", &self.line)
            .finish()
    }
}

/// What a [`Worker`] is to be like.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Reply, Worker};
///
/// let disk = Worker::builder().name("disk").build()?;
/// let who = disk.spawn_fn(|reply: Reply<Option<String>>, _| {
///     reply.send(std::thread::current().name().map(str::to_owned));
/// });
/// assert_eq!(who.ask(|reply| reply)?.as_deref(), Some("disk"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkerBuilder {
    name: String,
    wait: Wait,
    /// None is the system's.
    time: Option<Time>,
    pub(crate) observe: Observe,
}

impl WorkerBuilder {
    /// What the thread is called in debuggers and profilers. Systems show the first 15 bytes or so.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How the thread waits when nothing is due; [`Wait::Adaptive`] if nothing is said.
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The time by which the actors live: the system's, unless it is to be moved by hand.
    pub fn time(mut self, time: Time) -> Self {
        self.time = Some(time);
        self
    }

    /// Makes the worker, and starts its thread.
    ///
    /// # Errors
    ///
    /// If the system does not start a thread, or if the name contains a zero byte.
    pub fn build(self) -> io::Result<Worker> {
        if self.name.contains('\0') {
            let why = "the name of a thread may not contain a zero byte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let shown = Shown::new(HomeKind::Worker, &self.name, self.observe);
        let line = Line::new(self.wait, false, self.time).shown(shown.as_deref());
        let line = Arc::new(line);
        let sleeper: Weak<dyn vigil::Sleeper> = Arc::downgrade(&line) as _;
        vigil::enlist(sleeper);
        let own = Arc::clone(&line);
        let thread = std::thread::Builder::new().name(self.name).spawn(move || {
            own.keep();
            // SAFETY: this thread is the keeper from its beginning to its end.
            unsafe { own.work() };
        })?;
        Ok(Worker {
            line,
            thread: Some(thread),
            _shown: shown,
        })
    }
}

impl WorkerBuilder {
    /// Whether to count what each actor does, and to show this worker to [`observe::snapshot`](crate::observe::snapshot()): see
    /// [`observe`](crate::observe).
    ///
    /// If it is not said, it is as [`observe_all`](crate::observe::observe_all) has it: by default, no.
    pub fn observe(mut self, actors: bool) -> Self {
        self.observe.actors = Some(actors);
        self
    }

    /// From which time on a turn of an observed actor is long: it is counted, and told of with the feature `tracing`.
    /// By default, 10 ms.
    pub fn long_turn(mut self, time: Duration) -> Self {
        self.observe.long_turn = time;
        self
    }
}

impl<A: Actor> Hosts<A> for Worker {}
impl Sealed for Worker {
    const IS_LINE: bool = true;
}

spawns_what_is_sent!(Worker);
makes_on_its_thread!(Worker);
