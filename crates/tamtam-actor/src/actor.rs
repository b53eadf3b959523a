use core::marker::PhantomData;

use crate::context::{Context, Here};

/// State that handles messages one by one.
///
/// However many threads send to it, an actor handles one message at a time, and what it did with one is
/// visible when it handles the next one: so it needs no lock. Where it runs is said at its birth: on a
/// [`Pool`](crate::Pool) of threads with many others.
///
/// A panic in one of its methods ends this actor, and no other: what lies in its mailbox is lost, and
/// whoever waits for an answer gets an error at once.
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
    /// On a pool a handler that blocks keeps one of few threads from everybody else. To ask another actor, use
    /// [`Context::ask`].
    fn handle(&mut self, message: Self::Message, cx: &mut Context<Self>);

    /// Is called once, before the first message: in the actor's first turn, which is that of its first message. So an
    /// idle actor costs no turn, and one that is to do something by itself, when a timer is due say, has to be told
    /// something first.
    fn started(&mut self, cx: &mut Context<Self>) {
        let _ = cx;
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

    fn handle(&mut self, message: M, cx: &mut Context<Self>) {
        (self.function)(message, cx.here());
    }
}
