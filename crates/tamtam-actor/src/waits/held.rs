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
    /// An actor keeps messages back for it, and waits for one in another process: it sends a probe when this is ready, and looks
    /// what the last one has found. So long is the pause after that.
    #[cfg(feature = "serde")]
    Far(
        Waiting,
        Pin<Box<dyn Future<Output = ()> + Send>>,
        core::time::Duration,
    ),
}

#[cfg(feature = "serde")]
fn pause(pause: core::time::Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let _ = tamtam_channel::after(pause).recv_async().await;
    })
}

/// Until a circle has stood for long enough.
fn grace() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async {
        let _ = tamtam_channel::after(GRACE).recv_async().await;
    })
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
            HeldWait::New => self.begin(to, question).or_else(|| match self {
                #[cfg(feature = "serde")]
                HeldWait::Far(..) => self.look_afar(cx, to),
                _ => self.look_again(cx),
            }),
            HeldWait::Plain(_) => None,
            HeldWait::InCircle(..) => self.look_again(cx),
            #[cfg(feature = "serde")]
            HeldWait::Far(..) => self.look_afar(cx, to),
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
            #[cfg(feature = "serde")]
            None if super::is_far(to) => {
                HeldWait::Far(waiting, pause(super::FIRST_PROBE), super::FIRST_PROBE)
            }
            None => HeldWait::Plain(Some(waiting)),
            Some(closed) if closed.is_certain() => return Some(closed.cycle),
            Some(closed) => HeldWait::InCircle(waiting, closed, grace()),
        };
        None
    }

    /// Looks once more, when it is time.
    fn look_again(&mut self, cx: &mut Context<'_>) -> Option<Cycle> {
        let HeldWait::InCircle(waiting, closed, time) = self else {
            return None;
        };
        let found = loop {
            if time.as_mut().poll(cx).is_pending() {
                return None;
            }
            if waiting.still_stands(closed) {
                break Some(closed.cycle.clone());
            }
            match waiting.circle() {
                Some(other) => (*closed, *time) = (other, grace()),
                None => break None,
            }
        };
        if let HeldWait::InCircle(waiting, ..) = core::mem::replace(self, HeldWait::Plain(None)) {
            *self = HeldWait::Plain(Some(waiting));
        }
        found
    }

    /// Looks what a probe has found, and sends the next one, when it is time.
    #[cfg(feature = "serde")]
    fn look_afar(&mut self, cx: &mut Context<'_>, to: ActorId) -> Option<Cycle> {
        let HeldWait::Far(waiting, timer, length) = self else {
            return None;
        };
        while timer.as_mut().poll(cx).is_ready() {
            if let Some(cycle) = waiting.found() {
                return Some(cycle);
            }
            *timer = pause(waiting.probe(to).unwrap_or_else(|| {
                let next = (*length * 2).min(super::LONGEST_PAUSE);
                core::mem::replace(length, next)
            }));
        }
        None
    }

    /// The wait is over.
    pub(crate) fn end(&mut self) {
        *self = HeldWait::Plain(None);
    }
}
