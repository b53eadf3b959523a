//! Futures whose outcomes an actor goes on with.
//!
//! They belong to the actor and are polled in its turns: so they end with it, and what follows has it for itself. A
//! waker sends a thing to the actor's mailbox that comes before messages.

use core::any::Any;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;

use tamtam_wait::contain;
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};

use crate::actor::Actor;
use crate::cell::{Cell, Continuation, State, System};
use crate::context::Context;
use crate::runner::ActorRunner;
use crate::waits::polled_by;

impl<A: Actor> Context<A> {
    /// Awaits a future and goes on with its outcome; meanwhile this actor handles other messages.
    ///
    /// The future is polled in turns of this actor, from a turn after this one on, and `then` runs in one of
    /// them, before the messages that wait. When the actor stops, the future is dropped, and `then` is not called. A
    /// panic in either of them is a panic of the actor.
    ///
    /// Any future will do that asks for no runtime; one that does (a socket of tokio's) has to be spawned there, and its
    /// answer awaited here.
    ///
    /// To keep messages back until the outcome is there, use [`hold`](Context::hold).
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Context, Pool, Reply};
    ///
    /// struct Loader;
    ///
    /// impl Actor for Loader {
    ///     type Message = (u32, Reply<u32>);
    ///
    ///     fn handle(&mut self, (number, reply): Self::Message, cx: &mut Context<Self>) {
    ///         let page = async move { number * 2 };
    ///         cx.pipe(page, |_loader, page, _cx| reply.send(page));
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// assert_eq!(pool.spawn(Loader).ask(|reply| (21, reply)), Ok(42));
    /// ```
    pub fn pipe<F>(
        &mut self,
        future: F,
        then: impl FnOnce(&mut A, F::Output, &mut Context<A>) + Send + 'static,
    ) where
        F: Future + Send + 'static,
    {
        self.go_on_after(future, then, false);
    }

    /// Awaits a future and goes on with its outcome; meanwhile this actor handles no messages.
    ///
    /// So what `then` finds is what this handler has left: no other message has changed it. Messages wait in the
    /// mailbox; answers to [`ask`](Context::ask) and the outcomes of other futures are still gone on with, and the
    /// actor can be stopped. No thread waits.
    ///
    /// Two actors that hold for each other's answers would wait for ever. If the future asks by
    /// [`Address::ask_async`](crate::Address::ask_async), this is found, and the answer is
    /// [`AskError::Cycle`](crate::AskError::Cycle).
    ///
    /// It is to be called as the last thing in a handler. For the rest it is as [`pipe`](Context::pipe).
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Context, Pool, Reply};
    ///
    /// /// Numbers, in the order asked for, though each takes a while.
    /// struct Numbers(u32);
    ///
    /// impl Actor for Numbers {
    ///     type Message = Reply<u32>;
    ///
    ///     fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
    ///         let current = self.0;
    ///         let next = async move { current + 1 };
    ///         cx.hold(next, |numbers, next, _cx| {
    ///             numbers.0 = next;
    ///             reply.send(next);
    ///         });
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let numbers = pool.spawn(Numbers(0));
    /// assert_eq!(numbers.ask(|reply| reply), Ok(1));
    /// assert_eq!(numbers.ask(|reply| reply), Ok(2));
    /// ```
    pub fn hold<F>(
        &mut self,
        future: F,
        then: impl FnOnce(&mut A, F::Output, &mut Context<A>) + Send + 'static,
    ) where
        F: Future + Send + 'static,
    {
        self.go_on_after(future, then, true);
    }

    fn go_on_after<F>(
        &mut self,
        future: F,
        then: impl FnOnce(&mut A, F::Output, &mut Context<A>) + Send + 'static,
        holds: bool,
    ) where
        F: Future + Send + 'static,
    {
        let awaited = AwaitedFuture {
            future: Box::pin(future),
            then: Some(then),
            output: None,
        };
        let cell = self.here().to_arc();
        self.begin_waiting();
        let pipes = self.pipes();
        let (place, number) = pipes.add(Box::new(awaited), holds);
        if holds {
            self.here().cell().state().set(State::HELD);
        }
        let waker = Arc::new(PipeWaker {
            cell,
            place,
            number,
            is_called: AtomicBool::new(false),
            actor: PhantomData::<fn(A)>,
        });
        waker.wake();
    }
}

/// The futures of an actor.
pub(crate) struct Pipes<A> {
    places: Vec<Option<Pipe<A>>>,
    free: Vec<usize>,
    /// Tells futures apart that were at the same place one after the other.
    next_number: u64,
    /// So many of them keep messages back.
    holds: usize,
}

struct Pipe<A> {
    number: u64,
    holds: bool,
    awaited: Box<dyn Await<A>>,
}

impl<A> Pipes<A> {
    pub(crate) fn new() -> Self {
        Pipes {
            places: Vec::new(),
            free: Vec::new(),
            next_number: 0,
            holds: 0,
        }
    }

    /// Drops all of them. Those who call for one of them later find that it is done.
    pub(crate) fn forget(&mut self) {
        let places = core::mem::take(&mut self.places);
        for pipe in places {
            contain(move || drop(pipe));
        }
        self.free = Vec::new();
        self.holds = 0;
    }

    fn add(&mut self, awaited: Box<dyn Await<A>>, holds: bool) -> (usize, u64) {
        let number = self.next_number;
        self.next_number += 1;
        self.holds += usize::from(holds);
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(Pipe {
            number,
            holds,
            awaited,
        });
        (place, number)
    }

    /// Takes one out, for a poll; `None` if it is done already.
    fn take(&mut self, place: usize, number: u64) -> Option<Pipe<A>> {
        self.places
            .get_mut(place)?
            .take_if(|pipe| pipe.number == number)
    }

    fn put_back(&mut self, place: usize, pipe: Pipe<A>) {
        self.places[place] = Some(pipe);
    }

    /// One that was taken is done; `true` if no message is kept back any more.
    fn end(&mut self, place: usize, holds: bool) -> bool {
        self.free.push(place);
        self.holds -= usize::from(holds);
        if self.free.len() == self.places.len() {
            // The memory of a rush is given back.
            self.places = Vec::new();
            self.free = Vec::new();
        }
        self.holds == 0
    }
}

/// A future, and what follows it, whatever their types are.
trait Await<A: Actor> {
    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<()>;
    /// After `poll` was ready.
    fn go_on(self: Box<Self>, actor: &mut A, context: &mut Context<A>);
}

struct AwaitedFuture<F: Future, T> {
    future: Pin<Box<F>>,
    then: Option<T>,
    output: Option<F::Output>,
}

impl<A, F, T> Await<A> for AwaitedFuture<F, T>
where
    A: Actor,
    F: Future,
    T: FnOnce(&mut A, F::Output, &mut Context<A>),
{
    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        self.future.as_mut().poll(cx).map(|output| {
            self.output = Some(output);
        })
    }

    fn go_on(mut self: Box<Self>, actor: &mut A, context: &mut Context<A>) {
        let (then, output) = (self.then.take(), self.output.take());
        // Before what follows, since that may wait for something that the future has.
        drop(self);
        if let (Some(then), Some(output)) = (then, output) {
            then(actor, output, context);
        }
    }
}

/// Lets an actor poll a future.
struct PipeWaker<A: Actor> {
    cell: Arc<Cell<A::Message>>,
    place: usize,
    number: u64,
    /// The actor has been told, and has not polled yet.
    is_called: AtomicBool,
    actor: PhantomData<fn(A)>,
}

impl<A: Actor> Wake for PipeWaker<A> {
    fn wake(self: Arc<Self>) {
        // SYNC pipe-called: what was done before this is seen by the poll that follows, also by one that another thread
        // else has called for.
        if !self.is_called.swap(true, Ordering::AcqRel) {
            let cell = Arc::clone(&self.cell);
            cell.push_system(System::Continue(Box::new(Poller(self))));
        }
    }
}

/// A poll that is due.
struct Poller<A: Actor>(Arc<PipeWaker<A>>);

impl<A: Actor> Continuation for Poller<A> {
    fn go_on(self: Box<Self>, running: &mut dyn Any) {
        let Some((actor, context)) = running
            .downcast_mut::<ActorRunner<A>>()
            .and_then(ActorRunner::parts)
        else {
            return;
        };
        let waker = self.0;
        // SYNC pipe-called
        waker.is_called.swap(false, Ordering::AcqRel);
        let (place, number) = (waker.place, waker.number);
        let Some(mut pipe) = context.pipes().take(place, number) else {
            return;
        };
        let waker = Waker::from(waker);
        let holder = pipe.holds.then(|| context.id());
        let polled = polled_by(holder, || {
            pipe.awaited.poll(&mut task::Context::from_waker(&waker))
        });
        match polled {
            Poll::Pending => context.pipes().put_back(place, pipe),
            Poll::Ready(()) => {
                if context.pipes().end(place, pipe.holds) {
                    context.here().cell().state().clear(State::HELD);
                }
                context.end_waiting();
                pipe.awaited.go_on(actor, context);
            }
        }
    }
}
