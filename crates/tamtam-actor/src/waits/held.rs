//! A wait of a future for which an actor keeps its messages back, and what it looks for: circles.

use core::pin::Pin;
use core::task::Context;
use std::sync::Arc;

use super::{Closed, Cycle, GRACE, OpenQuestion, Waiting, holder};
use crate::id::ActorId;

/// What a future that waits for an actor means for those who look who waits for whom.
pub(crate) enum HeldWait {
    /// It has not waited yet.
    New,
    /// No message is kept back for it, or it closes no circle; or it did, and that came undone.
    Plain(#[allow(dead_code)] Option<Waiting>),
    /// An actor keeps messages back for it in a circle, and looks again when this is ready.
    InCircle(Waiting, Closed, Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl HeldWait {
    /// The future waits for `to`. The circle that it is in, if that has stood for long enough.
    #[inline]
    pub(crate) fn look(
        &mut self,
        cx: &mut Context<'_>,
        to: ActorId,
        question: impl FnOnce() -> Arc<dyn OpenQuestion>,
    ) -> Option<Cycle> {
        match self {
            HeldWait::New => self.begin(to, question).or_else(|| self.look_again(cx)),
            HeldWait::Plain(_) => None,
            HeldWait::InCircle(..) => self.look_again(cx),
        }
    }

    /// Looks for the first time.
    fn begin(
        &mut self,
        to: ActorId,
        question: impl FnOnce() -> Arc<dyn OpenQuestion>,
    ) -> Option<Cycle> {
        let Some(holder) = holder() else {
            *self = HeldWait::Plain(None);
            return None;
        };
        let (waiting, closed) = Waiting::begin(holder, to, question());
        *self = match closed {
            None => HeldWait::Plain(Some(waiting)),
            Some(closed) if closed.is_certain() => return Some(closed.cycle),
            Some(closed) => HeldWait::InCircle(
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
    fn look_again(&mut self, cx: &mut Context<'_>) -> Option<Cycle> {
        let HeldWait::InCircle(waiting, closed, grace) = self else {
            return None;
        };
        if grace.as_mut().poll(cx).is_pending() {
            return None;
        }
        let found = waiting.still_stands(closed).then(|| closed.cycle.clone());
        if let HeldWait::InCircle(waiting, ..) = core::mem::replace(self, HeldWait::Plain(None)) {
            *self = HeldWait::Plain(Some(waiting));
        }
        found
    }

    /// The wait is over.
    pub(crate) fn end(&mut self) {
        *self = HeldWait::Plain(None);
    }
}
