//! What is owed to those who have asked an actor that is panicking.
//!
//! A reply that is dropped while a thread unwinds cannot say yet what the panic says: that is known where the panic ends.
//! So the news waits until then, on this thread; and in the actor's mailbox, before messages, for a panic that ends sooner,
//! in the handler itself. The first of them delivers it.

use core::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use super::{AtWork, System};
use crate::error::AskError;
use crate::id::ActorId;

type News = Box<dyn FnOnce(AskError) + Send>;

/// News that is owed, until it is delivered. If all who could are gone it says that there is no answer.
pub(crate) struct Owed(Mutex<Option<News>>);

impl Owed {
    pub(crate) fn deliver(&self, why: AskError) {
        let news = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(news) = news {
            news(why);
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.deliver(AskError::Unanswered);
    }
}

thread_local! {
    /// What the actors owe that are at work on this thread.
    static OWED: RefCell<Vec<(ActorId, Arc<Owed>)>> = const { RefCell::new(Vec::new()) };
}

/// A reply is dropped while this thread panics.
#[cold]
pub(crate) fn owe<'a>(news: impl FnOnce(AskError) + 'a) {
    let news: Box<dyn FnOnce(AskError) + 'a> = Box::new(news);
    // SAFETY: the news is the way back of an answer of some type, and nothing else. Of that type it has no value, and it
    // is called with an error, so that what the type borrows, if anything, is not looked at. Nor does a value of it come
    // to another thread by this; the ways themselves may be used on each.
    let news: News = unsafe { core::mem::transmute(news) };
    let Some(place) = AtWork::place() else {
        return news(AskError::Unanswered);
    };
    let owed = Arc::new(Owed(Mutex::new(Some(news))));
    let noted = OWED.try_with(|all| all.borrow_mut().push((place.id(), Arc::clone(&owed))));
    if noted.is_ok() {
        place.send(System::Settle(owed));
    }
}

/// The panic of an actor has come to its end: what it owes is delivered.
#[cold]
pub(crate) fn settle(actor: ActorId, why: Option<AskError>) {
    let own = OWED.try_with(|all| {
        let mut all = all.borrow_mut();
        let (own, others) = core::mem::take(&mut *all)
            .into_iter()
            .partition(|(owes, _)| *owes == actor);
        *all = others;
        let own: Vec<(ActorId, Arc<Owed>)> = own;
        own
    });
    let why = why.unwrap_or(AskError::Unanswered);
    for (_, owed) in own.into_iter().flatten() {
        owed.deliver(why.clone());
    }
}
