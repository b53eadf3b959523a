//! A reply whose message was written for another process: the link has it, until an answer comes or the message comes back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;

use super::{Answered, Reply, ReplyWay};
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

/// A way back of which a message and a link have a half each.
pub(super) struct Lent<R>(Mutex<LentState<R>>);

struct LentState<R> {
    way: Option<ReplyWay<R>>,
    is_sent: bool,
}

impl<R> Lent<R> {
    fn lock(&self) -> MutexGuard<'_, LentState<R>> {
        // No user code runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, answer: Result<R, AskError>) {
        let way = self.lock().way.take();
        if let Some(way) = way {
            Reply::by(way).finish(answer);
        }
    }
}

/// The message's half: of use as long as the message was not sent.
struct MessagesHalf<R>(Arc<Lent<R>>);

impl<R: Send> Answered<R> for MessagesHalf<R> {
    fn answered(self: Box<Self>, answer: Result<R, AskError>) {
        if !self.0.lock().is_sent {
            self.0.finish(answer);
        }
    }

    fn is_awaited(&self) -> bool {
        let state = self.0.lock();
        !state.is_sent && state.way.as_ref().is_some_and(ReplyWay::is_awaited)
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
        let lent = Arc::new(Lent(Mutex::new(LentState {
            way: Some(way),
            is_sent: false,
        })));
        *place = Some(ReplyWay::Call(Box::new(MessagesHalf(Arc::clone(&lent)))));
        Some(lent)
    }
}

impl<R: DeserializeOwned + Send + 'static> PendingReply for Lent<R> {
    fn sent(&self) {
        self.lock().is_sent = true;
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
