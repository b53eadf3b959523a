//! Waiting for an answer as a task.

use core::fmt;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use crate::error::AskError;
use crate::id::ActorId;
use crate::waits::{HeldWait, OpenQuestion};

/// The answer to a question, awaited: see [`Address::ask_async`](crate::Address::ask_async).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Pool, Reply};
///
/// async fn both(one: u32, other: u32) -> Result<u32, AskError> {
///     let pool = Pool::new();
///     let squares = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(n * n));
///     let one = squares.ask_async(|reply| (one, reply)); // asked at once
///     let other = squares.ask_async(|reply| (other, reply)); // beside the first
///     Ok(one.await? + other.await?)
/// }
/// # let (mut both, mut cx) = (Box::pin(both(3, 4)), std::task::Context::from_waker(std::task::Waker::noop()));
/// # loop {
/// #     if let std::task::Poll::Ready(sum) = both.as_mut().poll(&mut cx) {
/// #         break assert_eq!(sum, Ok(25));
/// #     }
/// #     std::thread::yield_now();
/// # }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct AskFuture<R> {
    pub(crate) answer: Pin<Box<dyn Future<Output = Result<R, AskError>> + Send>>,
    pub(crate) to: ActorId,
    pub(crate) question: Arc<dyn OpenQuestion>,
    pub(crate) wait: HeldWait,
}

/// How long one waits as a task.
pub(crate) struct Limit(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Limit {
    /// As long as it takes.
    pub(crate) const NONE: Self = Limit(None);

    /// At most so long from now.
    pub(crate) fn after(timeout: Duration) -> Self {
        let over = tamtam_channel::after(timeout);
        Limit(Some(Box::pin(async move {
            let _ = over.recv_async().await;
        })))
    }

    /// `None` if the time is over before the future is ready.
    pub(crate) async fn await_within<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            match &mut self.0 {
                Some(over) => over.as_mut().poll(cx).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }
}

impl<R> Future for AskFuture<R> {
    type Output = Result<R, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Poll::Ready(answer) = this.answer.as_mut().poll(cx) {
            this.wait.end();
            return Poll::Ready(answer);
        }
        match this.wait.look(cx, this.to, || Arc::clone(&this.question)) {
            None => Poll::Pending,
            Some(cycle) => {
                this.wait.end();
                Poll::Ready(Err(AskError::Cycle(cycle)))
            }
        }
    }
}

impl<R> fmt::Debug for AskFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskFuture").finish_non_exhaustive()
    }
}
