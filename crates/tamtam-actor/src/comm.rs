//! Questions from any thread to the loop that pumps a frame, with an answer for each.

use core::fmt;
use core::time::Duration;

use crate::actor::Actor;
use crate::address::Address;
use crate::ask_future::AskFuture;
use crate::context::{Context, Here};
use crate::error::AskError;
use crate::frame::{Frame, FrameHandle};
use crate::pool::Pool;
use crate::reply::Reply;
use crate::worker::Worker;

/// A function that is called on one side and answers by a callback on the other: see [`Worker::comm`].
///
/// It may be cloned, and called from as many sides as want to. The function handles one call at a time, in the order
/// in which one side calls; and it is gone when the last clone is, or when its home ends.
///
/// Callbacks are called with an [`AskError`] if the function has panicked or its home has ended. They are not called,
/// but dropped, if their own home ends before.
///
/// # Examples
///
/// A loop of frames calls a function on a worker, and the answer comes as a callback in the loop:
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use std::time::Duration;
/// use tamtam_actor::{Budget, Frame, Worker};
///
/// let worker = Worker::new();
/// let mut frame = Frame::new();
/// let shown = Rc::new(Cell::new(0));
///
/// let add = worker.comm(|(a, b): (u32, u32)| a + b);
///
/// let show = Rc::clone(&shown);
/// frame.call(&add, (40, 2), move |sum| show.set(sum.unwrap()));
///
/// while shown.get() == 0 {
///     frame.wait(Duration::from_secs(1));
///     frame.pump(Budget::unlimited());
/// }
/// assert_eq!(shown.get(), 42);
/// ```
pub struct Comm<Q, R> {
    address: Address<CommCall<Q, R>>,
}

/// A question and the way back.
struct CommCall<Q, R> {
    argument: Q,
    reply: Reply<R>,
}

impl<Q: Send + 'static, R: Send + 'static> Comm<Q, R> {
    /// Calls the function, and waits for its answer.
    ///
    /// # Blocking
    ///
    /// As [`Address::ask`].
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask(&self, argument: Q) -> Result<R, AskError> {
        self.address.ask(|reply| CommCall { argument, reply })
    }

    /// As [`ask`](Comm::ask), for async code.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask_async(&self, argument: Q) -> AskFuture<R> {
        self.address.ask_async(|reply| CommCall { argument, reply })
    }

    /// As [`ask`](Comm::ask), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask_timeout(&self, argument: Q, timeout: Duration) -> Result<R, AskError> {
        self.address
            .ask_timeout(|reply| CommCall { argument, reply }, timeout)
    }

    /// As [`ask_async`](Comm::ask_async), but waits at most `timeout` from now.
    ///
    /// # Errors
    ///
    /// [`AskError`] says why there is no answer.
    pub fn ask_timeout_async(&self, argument: Q, timeout: Duration) -> AskFuture<R> {
        self.address
            .ask_timeout_async(|reply| CommCall { argument, reply }, timeout)
    }

    /// Calls the function, and `then` with its answer, on the thread that answers.
    fn call(&self, argument: Q, then: impl FnOnce(Result<R, AskError>) + Send + 'static) {
        let reply = Reply::to(then);
        if let Err(error) = self.address.tell(CommCall { argument, reply }) {
            crate::reply::refuse(error);
        }
    }
}

/// The function at the other end.
fn function<Q, R>(
    mut function: impl FnMut(Q) -> R,
) -> impl FnMut(CommCall<Q, R>, &mut Here<CommCall<Q, R>>) {
    move |CommCall { argument, reply }, _| reply.send(function(argument))
}

/// A callback as an actor, which is called once.
fn callback<R: Send + 'static>(
    callback: impl FnOnce(Result<R, AskError>) + 'static,
) -> impl FnMut(Result<R, AskError>, &mut Here<Result<R, AskError>>) + 'static {
    let mut callback = Some(callback);
    move |answer, here| {
        here.stop();
        if let Some(callback) = callback.take() {
            callback(answer);
        }
    }
}

macro_rules! has_comms {
    ($($home:ty),+) => {$(
        impl $home {
            /// A function that lives here and can be called from elsewhere: see [`Comm`].
            pub fn comm<Q: Send + 'static, R: Send + 'static>(
                &self,
                call: impl FnMut(Q) -> R + Send + 'static,
            ) -> Comm<Q, R> {
                Comm {
                    address: self.spawn_fn(function(call)),
                }
            }

            /// Calls a function that lives elsewhere, and `then`, here, with its answer: see [`Comm`].
            ///
            /// An actor calls by [`Context::call`], so that the answer comes to itself.
            pub fn call<Q: Send + 'static, R: Send + 'static>(
                &self,
                comm: &Comm<Q, R>,
                argument: Q,
                then: impl FnOnce(Result<R, AskError>) + Send + 'static,
            ) {
                let then = callback(then);
                let here = self.spawn_fn(then);
                comm.call(argument, move |answer| drop(here.tell(answer)));
            }
        }
    )+};
}

has_comms!(Pool, Worker, FrameHandle);

impl Frame {
    /// A function that lives here, and is called by pumps: see [`Comm`]. It need not be `Send`.
    pub fn comm<Q: Send + 'static, R: Send + 'static>(
        &self,
        call: impl FnMut(Q) -> R + 'static,
    ) -> Comm<Q, R> {
        Comm {
            address: self.spawn_fn(function(call)),
        }
    }

    /// Calls a function that lives elsewhere, and `then`, in a pump of this frame, with its answer: see [`Comm`].
    /// `then` need not be `Send`.
    pub fn call<Q: Send + 'static, R: Send + 'static>(
        &self,
        comm: &Comm<Q, R>,
        argument: Q,
        then: impl FnOnce(Result<R, AskError>) + 'static,
    ) {
        let here = self.spawn_fn(callback(then));
        comm.call(argument, move |answer| drop(here.tell(answer)));
    }
}

impl<A: Actor> Context<A> {
    /// Calls a function that lives elsewhere, and goes on with its answer in a turn of this actor's own, as
    /// [`ask`](Context::ask) does.
    pub fn call<Q: Send + 'static, R: Send + 'static>(
        &mut self,
        comm: &Comm<Q, R>,
        argument: Q,
        then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    ) {
        self.ask(&comm.address, |reply| CommCall { argument, reply }, then);
    }

    /// As [`call`](Context::call), but waits at most `timeout` for the answer, as [`ask_timeout`](Context::ask_timeout) does.
    pub fn call_timeout<Q: Send + 'static, R: Send + 'static>(
        &mut self,
        comm: &Comm<Q, R>,
        argument: Q,
        timeout: Duration,
        then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    ) {
        let question = |reply| CommCall { argument, reply };
        self.ask_timeout(&comm.address, question, timeout, then);
    }
}

impl<Q, R> Clone for Comm<Q, R> {
    fn clone(&self) -> Self {
        Comm {
            address: self.address.clone(),
        }
    }
}

impl<Q, R> fmt::Debug for Comm<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comm")
            .field("stopped", &self.address.is_stopped())
            .finish()
    }
}
