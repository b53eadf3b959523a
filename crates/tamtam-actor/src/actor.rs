//! What an actor is: a state, a type of messages, and what it does with each.

use core::marker::PhantomData;

use crate::context::{Context, Here};
use crate::first_turn::FirstTurn;

/// State that handles messages one by one.
///
/// However many threads send to it, an actor handles one message at a time, and what it did with one is
/// visible when it handles the next one: so it needs no lock. Where it runs is said at its birth: on a
/// [`Pool`](crate::Pool) of threads with many others.
///
/// A panic in one of its methods ends this actor, and no other: what lies in its mailbox is lost, and
/// the one who waits for an answer gets an error at once.
///
/// # Ordering
///
/// Messages from one sender are handled in the order sent, also when the actor moves between threads.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Context, Pool, Reply};
///
/// struct Counter(u64);
///
/// enum Count {
///     Add(u64),
///     Read(Reply<u64>),
/// }
///
/// impl Actor for Counter {
///     type Message = Count;
///
///     fn handle(&mut self, message: Count, _: &mut Context<Self>) {
///         match message {
///             Count::Add(number) => self.0 += number,
///             Count::Read(reply) => reply.send(self.0),
///         }
///     }
/// }
///
/// let pool = Pool::new();
/// let counter = pool.spawn(Counter(0));
/// counter.tell(Count::Add(2))?;
/// assert_eq!(counter.ask(Count::Read)?, 2);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub trait Actor: Sized + 'static {
    /// What it handles.
    type Message: Send + 'static;

    /// Handles a message.
    ///
    /// # Blocking
    ///
    /// On a pool a handler that blocks keeps one of few threads from all other actors. To ask another actor, use
    /// [`Context::ask`].
    fn handle(&mut self, message: Self::Message, cx: &mut Context<Self>);

    /// Is called once, before the first message, in a turn that the actor gets soon after its birth, also if nothing
    /// sends to it: so it can set timers, [subscribe](crate::Topic::subscribe) or ask others by itself.
    ///
    /// On a pool or a worker that takes no turn from those who do not say what is to be done here: a million actors that
    /// wait for their first message cost their births, and no turn.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, Context, Every, Pool};
    ///
    /// struct Clock(std::sync::mpsc::Sender<&'static str>);
    ///
    /// impl Actor for Clock {
    ///     type Message = ();
    ///
    ///     fn started(&mut self, cx: &mut Context<Self>) {
    ///         let tick = Every::rate(Duration::from_millis(1));
    ///         cx.every(tick, |clock, cx| {
    ///             if clock.0.send("tick").is_err() {
    ///                 cx.stop(); // the other end is gone
    ///             }
    ///         });
    ///     }
    ///
    ///     fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    /// }
    ///
    /// let pool = Pool::new();
    /// let (sender, ticks) = std::sync::mpsc::channel();
    /// let _clock = pool.spawn(Clock(sender));
    /// assert_eq!(ticks.recv()?, "tick");
    /// # Ok::<(), std::sync::mpsc::RecvError>(())
    /// ```
    fn started(&mut self, cx: &mut Context<Self>) {
        let _ = cx;
        FirstTurn::is_for_nothing::<Self>();
    }

    /// Is called once, after the last message, if the actor stops in order and not by a panic. What it
    /// sends to itself is lost.
    fn stopped(&mut self, cx: &mut Context<Self>) {
        let _ = cx;
    }
}

/// A function that handles messages: see [`Pool::spawn_fn`](crate::Pool::spawn_fn).
pub(crate) struct Function<M, F> {
    function: F,
    message: PhantomData<fn(M)>,
}

impl<M, F> Function<M, F> {
    pub(crate) fn new(function: F) -> Self {
        Function {
            function,
            message: PhantomData,
        }
    }
}

impl<M, F> Actor for Function<M, F>
where
    M: Send + 'static,
    F: FnMut(M, &mut Here<M>) + 'static,
{
    type Message = M;

    fn started(&mut self, _: &mut Context<Self>) {}

    fn handle(&mut self, message: M, cx: &mut Context<Self>) {
        (self.function)(message, cx.here());
    }
}
