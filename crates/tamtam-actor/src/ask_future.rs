use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use crate::at_work::ActorId;
use crate::error::AskError;
use crate::waits::{Closed, GRACE, Open, Waiting, holder};

/// The answer to a question, awaited: see [`Address::ask_async`](crate::Address::ask_async).
#[must_use = "futures do nothing unless polled"]
pub struct AskFuture<R> {
    pub(crate) answer: Pin<Box<dyn Future<Output = Result<R, AskError>> + Send>>,
    pub(crate) wait: Wait,
}

/// What this means for those who look who waits for whom.
pub(crate) enum Wait {
    /// Nobody has waited yet for this actor's answer.
    At(ActorId, Arc<dyn Open>),
    /// Nobody keeps messages back for it, or it closes no circle; or it did, and that came undone.
    For(#[allow(dead_code)] Option<Waiting>),
    /// An actor keeps messages back for it in a circle, and looks again when this is ready.
    InCircle(Waiting, Closed, Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl<R> AskFuture<R> {
    /// Looks whether this wait is one of a circle, for the first time.
    fn look(&mut self) -> Option<AskError> {
        let Wait::At(to, question) = &self.wait else {
            return None;
        };
        let Some(holder) = holder() else {
            self.wait = Wait::For(None);
            return None;
        };
        let (waiting, closed) = Waiting::begin(holder, *to, Arc::clone(question));
        self.wait = match closed {
            None => Wait::For(Some(waiting)),
            Some(closed) if closed.is_certain() => return Some(AskError::Cycle(closed.cycle)),
            Some(closed) => Wait::InCircle(
                waiting,
                closed,
                Box::pin(async {
                    let _ = tamtam_channel::after(GRACE).recv_async().await;
                }),
            ),
        };
        None
    }

    /// Looks once more, when it is time.
    fn look_again(&mut self, cx: &mut Context<'_>) -> Option<AskError> {
        let Wait::InCircle(waiting, closed, grace) = &mut self.wait else {
            return None;
        };
        if grace.as_mut().poll(cx).is_pending() {
            return None;
        }
        let found = waiting
            .still_stands(closed)
            .then(|| AskError::Cycle(closed.cycle.clone()));
        if let Wait::InCircle(waiting, ..) = core::mem::replace(&mut self.wait, Wait::For(None)) {
            self.wait = Wait::For(Some(waiting));
        }
        found
    }
}

impl<R> Future for AskFuture<R> {
    type Output = Result<R, AskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answered = self.answer.as_mut().poll(cx);
        let cycle = if answered.is_pending() {
            self.look().or_else(|| self.look_again(cx))
        } else {
            None
        };
        if answered.is_pending() && cycle.is_none() {
            return Poll::Pending;
        }
        self.wait = Wait::For(None);
        cycle.map_or(answered, |cycle| Poll::Ready(Err(cycle)))
    }
}

impl<R> fmt::Debug for AskFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskFuture").finish_non_exhaustive()
    }
}
