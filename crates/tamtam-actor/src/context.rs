//! What a handler may do with its own actor: stop, answer later, ask others, set timers, watch.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::Actor;
use crate::address::{Address, Counted};
use crate::cell::{AnyActor, Cell, Continuation, Own, State, System};
use crate::error::AskError;
use crate::id::ActorId;
use crate::mailbox::{Linked, Mark, Open, WhenNoRoom};
use crate::pipe::Pipes;
use crate::reply::{Answered, Asked, Race, Reply};
use crate::runner::ActorRunner;
use crate::time::Timers;

/// What an actor can do besides handling messages, in a turn of its own.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Actor, Context, Pool, Reply};
///
/// /// Answers a little later, and then stops.
/// struct Last;
///
/// impl Actor for Last {
///     type Message = Reply<&'static str>;
///
///     fn handle(&mut self, reply: Reply<&'static str>, cx: &mut Context<Self>) {
///         cx.after(Duration::from_millis(1), |_last, cx| {
///             reply.send("good bye");
///             cx.stop();
///         });
///     }
/// }
///
/// let pool = Pool::new();
/// let last = pool.spawn(Last);
/// assert_eq!(last.ask(|reply| reply), Ok("good bye"));
/// last.end().wait();
/// ```
pub struct Context<A: Actor> {
    here: Here<A::Message>,
    pipes: Option<Box<Pipes<A>>>,
    /// So many answers and outcomes are awaited.
    awaited: u32,
    /// How often the actor was begun again: what an earlier instance was to go on with is not for this one.
    generation: u32,
    actor: PhantomData<fn(A)>,
}

impl<A: Actor> Context<A> {
    pub(crate) fn new(cell: Own<A::Message>) -> Self {
        Context {
            here: Here { cell, timers: None },
            pipes: None,
            awaited: 0,
            generation: 0,
            actor: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn here(&mut self) -> &mut Here<A::Message> {
        &mut self.here
    }

    #[inline(always)]
    pub(crate) fn here_ref(&self) -> &Here<A::Message> {
        &self.here
    }

    /// One more answer or outcome is awaited: an actor does not end for want of addresses meanwhile.
    pub(crate) fn begin_waiting(&mut self) {
        self.awaited += 1;
    }

    /// One of them is there.
    pub(crate) fn end_waiting(&mut self) {
        self.awaited -= 1;
    }

    pub(crate) fn awaits_nothing(&self) -> bool {
        self.awaited == 0
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// The actor is gone, and another one is to be made: what it was to go on with is forgotten.
    pub(crate) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.awaited = 0;
        let state = self.here.cell.state();
        state.clear(State::HELD | State::STOPPING);
        if let Some(pipes) = &mut self.pipes {
            pipes.forget();
        }
        self.here.timers = None;
        self.here.cell.life().unwatch();
    }

    pub(crate) fn pipes(&mut self) -> &mut Pipes<A> {
        self.pipes.get_or_insert_with(|| Box::new(Pipes::new()))
    }

    /// The number of this actor: see [`Address::id`].
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.here.cell.id()
    }

    /// This actor's own address.
    ///
    /// As long as it, or a clone of it, is kept, the actor does not end for want of addresses;
    /// an actor that keeps its own has to be [stopped](Context::stop).
    pub fn address(&self) -> Address<A::Message> {
        self.here.address()
    }

    /// Stops this actor when it has handled this message. What else lies in its mailbox is lost.
    pub fn stop(&mut self) {
        self.here.stop();
    }

    /// Asks another actor, and goes on with the answer in a turn of this actor's own, before its messages.
    ///
    /// Nothing waits meanwhile: this actor handles other messages until the answer comes. That it may be
    /// asked back by the one it asks is no danger.
    ///
    /// `then` gets an [`AskError`] if the question was not accepted or not answered; always in a turn of its
    /// own, never within this call. It is not called if this actor stops before.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Address, Context, Pool, Reply};
    ///
    /// struct Prices;
    ///
    /// impl Actor for Prices {
    ///     type Message = Reply<u64>;
    ///
    ///     fn handle(&mut self, reply: Reply<u64>, _: &mut Context<Self>) {
    ///         reply.send(20);
    ///     }
    /// }
    ///
    /// struct Shop(Address<Reply<u64>>);
    ///
    /// impl Actor for Shop {
    ///     type Message = (u64, Reply<u64>);
    ///
    ///     fn handle(&mut self, (pieces, reply): (u64, Reply<u64>), cx: &mut Context<Self>) {
    ///         cx.ask(&self.0, |reply| reply, move |_shop, price, _cx| {
    ///             if let Ok(price) = price {
    ///                 reply.send(price * pieces);
    ///             }
    ///         });
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let shop = pool.spawn(Shop(pool.spawn(Prices)));
    /// assert_eq!(shop.ask(|reply| (3, reply))?, 60);
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    pub fn ask<M, R>(
        &mut self,
        address: &Address<M>,
        question: impl FnOnce(Reply<R>) -> M,
        then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    ) where
        M: Send + 'static,
        R: Send + 'static,
    {
        let pending = self.pending(then);
        if address.notes_askers() {
            return put_noted(address, question, Race::new(pending));
        }
        put(address, question(Reply::to_continuation(pending)));
    }

    /// As [`ask`](Context::ask), but waits at most `timeout` for the answer, by the time of this actor's home: then `then`
    /// gets [`AskError::TimedOut`]. The question may still be handled; its answer goes nowhere.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, Address, AskError, Context, Pool, Reply};
    ///
    /// struct Shop(Address<Reply<u64>>);
    ///
    /// impl Actor for Shop {
    ///     type Message = Reply<Result<u64, AskError>>;
    ///
    ///     fn handle(&mut self, reply: Self::Message, cx: &mut Context<Self>) {
    ///         let patience = Duration::from_millis(5);
    ///         cx.ask_timeout(&self.0, |reply| reply, patience, |_shop, price, _cx| reply.send(price));
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let mut unanswered = Vec::new();
    /// let prices = pool.spawn_fn(move |reply: Reply<u64>, _| unanswered.push(reply));
    /// let shop = pool.spawn(Shop(prices));
    /// assert_eq!(shop.ask(|reply| reply)?, Err(AskError::TimedOut));
    /// # Ok::<(), AskError>(())
    /// ```
    pub fn ask_timeout<M, R>(
        &mut self,
        address: &Address<M>,
        question: impl FnOnce(Reply<R>) -> M,
        timeout: Duration,
        then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    ) where
        M: Send + 'static,
        R: Send + 'static,
    {
        let race = Race::new(self.pending(then));
        let over = Arc::clone(&race);
        // Set before the question is asked: the handler that answers finds it.
        race.set_timer(self.after(timeout, move |_, _| over.end(Err(AskError::TimedOut))));
        if address.notes_askers() {
            return put_noted(address, question, race);
        }
        put(address, question(Reply::to_continuation(Box::new(race))));
    }

    /// What is gone on with when there is an answer.
    fn pending<R, F>(&mut self, then: F) -> Box<Linked<System, Pending<A, R, F>>>
    where
        R: Send + 'static,
        F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    {
        self.begin_waiting();
        Linked::new(Pending {
            asker: Some(self.here.cell.to_arc()),
            generation: self.generation,
            then,
            answer: None,
            actor: PhantomData,
        })
    }
}

/// Asks a question, whose reply hears of it if it is refused.
fn put<M>(address: &Address<M>, question: M) {
    if let Err(error) = address.tell(question) {
        crate::reply::refuse(error);
    }
}

/// As `put`, and says who waits for the answer.
#[cold]
#[inline(never)]
fn put_noted<M, R: Send + 'static>(
    address: &Address<M>,
    question: impl FnOnce(Reply<R>) -> M,
    race: Arc<Race<R>>,
) {
    let asked_by = Arc::downgrade(&(Arc::clone(&race) as Arc<dyn Asked>));
    let question = question(Reply::to_continuation(Box::new(race)));
    if let Err(error) = address.push_asked(question, WhenNoRoom::AsMade, Some(asked_by)) {
        crate::reply::refuse(error);
    }
}

/// A question of an actor: first the way of the answer, then, in the same box, what is done with it.
struct Pending<A: Actor, R, F> {
    /// Until there is an answer.
    asker: Option<Arc<Cell<A::Message>>>,
    /// Of the asker.
    generation: u32,
    then: F,
    answer: Option<Result<R, AskError>>,
    actor: PhantomData<fn(A)>,
}

impl<A, R, F> Answered<R> for Linked<System, Pending<A, R, F>>
where
    A: Actor,
    R: Send + 'static,
    F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
{
    fn answered(mut self: Box<Self>, answer: Result<R, AskError>) {
        self.what.answer = Some(answer);
        if let Some(asker) = self.what.asker.take() {
            asker.push_continuation(self);
        }
    }
}

impl<A, R, F> Open<System> for Pending<A, R, F>
where
    A: Actor,
    R: Send + 'static,
    F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
{
    fn open(this: Box<Linked<System, Self>>) -> System {
        System::Continue(this)
    }
}

impl<A, R, F> Continuation for Linked<System, Pending<A, R, F>>
where
    A: Actor,
    R: Send + 'static,
    F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
{
    fn go_on(self: Box<Self>, running: &mut dyn Any) {
        let (generation, then, answer) = {
            // Gone before anything else is done, which is often the next question.
            let this = self;
            (this.what.generation, this.what.then, this.what.answer)
        };
        let running = running.downcast_mut::<ActorRunner<A>>();
        if let (Some((actor, context)), Some(answer)) =
            (running.and_then(ActorRunner::parts), answer)
            && context.generation() == generation
        {
            context.end_waiting();
            then(actor, answer, context);
        }
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

/// What a function that handles messages can do besides: see [`Pool::spawn_fn`](crate::Pool::spawn_fn).
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let countdown = pool.spawn_fn(|number: u32, here| {
///     if number == 0 {
///         here.stop();
///     } else {
///         here.address().tell(number - 1).expect("this actor has not stopped");
///     }
/// });
/// countdown.tell(3)?;
/// countdown.end().wait();
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
pub struct Here<M> {
    cell: Own<M>,
    /// Those that are to end with the actor, once there was one.
    pub(crate) timers: Option<Box<Timers>>,
}

impl<M: Send + 'static> Here<M> {
    /// The address of the actor that this function is.
    ///
    /// As long as it, or a clone of it, is kept, the actor does not end for want of addresses.
    pub fn address(&self) -> Address<M> {
        self.public_address().unwrap_or_else(|| self.own_address())
    }

    /// The address of the cell to which others send, if that is not this one.
    fn public_address(&self) -> Option<Address<M>> {
        let address = self.cell.upstream()?.address();
        address.downcast().ok().map(|address| *address)
    }

    /// An address of this very cell, also if others send to another one: it keeps the actor in it from stopping.
    pub(crate) fn own_address(&self) -> Address<M> {
        Address::from(self.own_counted())
    }

    /// As `own_address`.
    pub(crate) fn own_counted(&self) -> Counted<M> {
        Counted::another(&self.cell.uncounted())
    }

    /// The actor, as others know it: not only this cell, if they send to another one; and not any more if this one was replaced.
    pub(crate) fn place(&self) -> Arc<dyn AnyActor> {
        let public = self.cell.upstream().and_then(|others| others.public());
        match public.map(|public| public.downcast::<Arc<dyn AnyActor>>()) {
            Some(Ok(public)) => *public,
            _ => self.cell.to_arc(),
        }
    }

    /// Stops the actor that this function is, when it has handled this message. What else lies in its
    /// mailbox is lost.
    pub fn stop(&mut self) {
        self.cell.state().set(State::STOPPING);
    }

    pub(crate) fn to_arc(&self) -> Arc<Cell<M>> {
        self.cell.to_arc()
    }

    pub(crate) fn uncounted(&self) -> ManuallyDrop<Arc<Cell<M>>> {
        self.cell.uncounted()
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> &Cell<M> {
        &self.cell
    }

    /// The next message of those that are offered to the actor, if there is one, goes into its mailbox.
    #[cfg(feature = "serde")]
    pub(crate) fn take_offered(&mut self) -> bool {
        let Some(message) = self.cell.next_offered() else {
            return false;
        };
        // If the actor was stopped just now, the message is counted among those that it has lost.
        self.cell.uncounted().push_plain(message).is_ok()
    }

    #[inline(always)]
    pub(crate) fn is_stopping(&self) -> bool {
        self.cell.state().has(State::STOPPING)
    }

    /// Whether the turn has come to the message that was the youngest when it began.
    #[inline]
    pub(crate) fn is_at(&self, mark: Mark) -> bool {
        // One that is about to end looks whether there is more, since no sender might give it another turn.
        self.cell().is_at(mark) && !self.is_ending()
    }

    pub(crate) fn note_orphaned(&mut self) {
        self.cell.state().set(State::ORPHANED);
    }

    /// Whether the actor ends when it has handled what there is.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.cell.state().has(State::ENDING)
    }

    /// Whether the actor was told that no address was left.
    #[inline]
    pub(crate) fn is_orphaned(&self) -> bool {
        self.cell.state().has(State::ORPHANED)
    }

    /// The actor ends when it has handled what was accepted.
    pub(crate) fn accept_no_more(&mut self) {
        self.cell.state().set(State::FINISHING);
        self.cell.close();
    }

    /// Whether the actor ends if nothing is left and nothing awaited.
    #[cold]
    pub(crate) fn is_last(&mut self) -> bool {
        if self.cell.state().has(State::FINISHING) {
            return self.cell.has_reached_end();
        }
        self.is_alone()
    }

    /// The actor ends for want of addresses, or because it has finished.
    pub(crate) fn note_last(&mut self) {
        if !self.cell.state().has(State::FINISHING) {
            self.cell.state().set(State::ALONE);
        }
    }

    /// Whether the actor is still orphaned. From now on only the actor itself can make one; what was sent through earlier ones
    /// is in the mailbox.
    #[cold]
    pub(crate) fn is_alone(&mut self) -> bool {
        // If not, the thread that drops the last one tells once more.
        if self.cell().has_addresses() {
            self.cell.state().clear(State::ORPHANED);
        }
        self.is_orphaned()
    }

    /// Whether the actor may not go on with its messages yet.
    #[cold]
    pub(crate) fn is_to_wait(&mut self) -> bool {
        let state = self.cell.state();
        if state.has(State::MUTED) && self.cell.is_unmuted() {
            state.clear(State::MUTED);
        }
        state.has(State::WAITS)
    }
}

impl<M> fmt::Debug for Here<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Here").finish_non_exhaustive()
    }
}
