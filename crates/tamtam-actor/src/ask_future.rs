use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use crate::at_work::ActorId;
use crate::error::AskError;
use crate::held_wait::HeldWait;
use crate::waits::Open;

/// The answer to a question, awaited: see [`Address::ask_async`](crate::Address::ask_async).
#[must_use = "futures do nothing unless polled"]
pub struct AskFuture<R> {
    pub(crate) answer: Pin<Box<dyn Future<Output = Result<R, AskError>> + Send>>,
    pub(crate) to: ActorId,
    pub(crate) question: Arc<dyn Open>,
    pub(crate) wait: HeldWait,
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
