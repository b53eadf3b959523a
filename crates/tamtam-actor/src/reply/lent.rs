//! A reply whose message was written for another process: the link has it, until an answer comes or the message comes back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;

use super::{Reply, ReplyWay};
use crate::error::{AskError, Fate, LinkFailure};
use crate::wire::Encoding;

/// An answer that is awaited from another process.
#[doc(hidden)]
pub trait PendingReply: Send + Sync {
    /// The message was sent: from now on the answer comes from there, and not from the message that is left here.
    fn sent(&self);

    /// The answer, as bytes that were written in this way.
    fn answer(&self, encoding: Encoding, bytes: &[u8]);

    /// There is no answer.
    fn fail(&self, why: AskError);
}

/// A way back of which a message and a link have a half each. That of the message is of use as long as it was not sent.
pub(super) struct Lent<R> {
    way: Mutex<Option<ReplyWay<R>>>,
    /// Told by the thread that has the message, before it leaves that.
    is_sent: AtomicBool,
}

impl<R> Lent<R> {
    fn lock(&self) -> MutexGuard<'_, Option<ReplyWay<R>>> {
        // No user code runs under the lock.
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, answer: Result<R, AskError>) {
        let way = self.lock().take();
        if let Some(way) = way {
            Reply::by(way).finish(answer);
        }
    }

    fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Acquire)
    }

    /// The message's half is answered.
    pub(super) fn finish_unsent(&self, answer: Result<R, AskError>) {
        if !self.is_sent() {
            self.finish(answer);
        }
    }

    /// Whether an answer to the message's half is of use.
    pub(super) fn is_awaited_unsent(&self) -> bool {
        !self.is_sent() && self.lock().as_ref().is_some_and(ReplyWay::is_awaited)
    }
}

impl<R: DeserializeOwned + Send + 'static> Reply<R> {
    /// Lends the way back to a link, which has a use for it if the message is sent; otherwise it is the message's again.
    /// `None` if it has been used.
    pub(crate) fn lend(&self) -> Option<Arc<dyn PendingReply>> {
        let mut place = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        let way = place.take()?;
        if let ReplyWay::Thread(filler) = &way {
            filler.note_lent();
        }
        let lent = Arc::new(Lent {
            way: Mutex::new(Some(way)),
            is_sent: AtomicBool::new(false),
        });
        *place = Some(ReplyWay::Lent(Arc::clone(&lent)));
        Some(lent)
    }
}

impl<R: DeserializeOwned + Send + 'static> PendingReply for Lent<R> {
    fn sent(&self) {
        self.is_sent.store(true, Ordering::Release);
    }

    fn answer(&self, encoding: Encoding, bytes: &[u8]) {
        let answer = encoding.decode(bytes).map_err(|error| {
            let text = format!(
                "the answer of {} bytes is no {}: {error}",
                bytes.len(),
                core::any::type_name::<R>()
            );
            AskError::NotDecodable(LinkFailure::new(Fate::Begun, text))
        });
        self.finish(answer);
    }

    fn fail(&self, why: AskError) {
        self.finish(Err(why));
    }
}
