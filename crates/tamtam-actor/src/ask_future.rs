//! Waiting for an answer as a task.

use core::fmt;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use crate::error::AskError;
use crate::id::ActorId;
use crate::mailbox::AnswerFuture;
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
    pub(crate) answer: AskWait<R>,
    pub(crate) to: ActorId,
    pub(crate) wait: HeldWait,
}

/// Makes the question out of the wait for its answer, where `R` is known to be one that others may have.
type ToOpen<R> = fn(&AnswerFuture<Result<R, AskError>>) -> Arc<dyn OpenQuestion>;

/// What an asking task waits for.
pub(crate) enum AskWait<R> {
    /// The answer, however long it takes. The question has found room.
    Plain(AnswerFuture<Result<R, AskError>>, ToOpen<R>),
    /// Room for the question, or the answer for so long only.
    Other(
        Pin<Box<dyn Future<Output = Result<R, AskError>> + Send>>,
        Arc<dyn OpenQuestion>,
    ),
}

impl<R> AskWait<R> {
    /// The answer, however long it takes.
    pub(crate) fn plain(answer: AnswerFuture<Result<R, AskError>>) -> Self
    where
        R: Send + 'static,
    {
        AskWait::Plain(answer, AnswerFuture::to_open)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<R, AskError>> {
        match self {
            AskWait::Plain(answer, _) => Pin::new(answer).poll(cx),
            AskWait::Other(answer, _) => answer.as_mut().poll(cx),
        }
    }

    /// For those who look who waits for whom.
    fn to_open(&self) -> Arc<dyn OpenQuestion> {
        match self {
            AskWait::Plain(answer, to_open) => to_open(answer),
            AskWait::Other(_, question) => Arc::clone(question),
        }
    }
}

/// How long one waits as a task.
pub(crate) struct Limit(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Limit {
    /// As long as it takes.
    pub(crate) const NONE: Self = Limit(None);

    /// Whether it is as long as it takes.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

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
        if let Poll::Ready(answer) = this.answer.poll(cx) {
            this.wait.end();
            return Poll::Ready(answer);
        }
        match this.wait.look(cx, this.to, || this.answer.to_open()) {
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
