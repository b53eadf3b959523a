//! What is owed to those who have asked an actor that is panicking.
//!
//! A reply that is dropped while a thread unwinds cannot say yet what the panic says: that is known where the panic ends.
//! So the news waits until then, on this thread; and in the actor's mailbox, before messages, for a panic that ends sooner,
//! in the handler itself. The first of them delivers it.

use core::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{AtWork, System};
use crate::error::AskError;
use crate::id::ActorId;
use crate::memory::swept::SweptList;

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

/// What an actor owes: kept by its mailbox, which delivers it though the panic does not come to its end.
type OwedBy = (ActorId, Weak<Owed>);

thread_local! {
    /// What the actors owe that are at work on this thread.
    static OWED: RefCell<SweptList<OwedBy>> = const { RefCell::new(SweptList::new()) };
}

/// Notes one more. An actor that catches its own panics may go on for ever: so what was delivered is forgotten.
fn note(all: &mut SweptList<OwedBy>, new: OwedBy) {
    all.add(new, |(_, owed)| owed.strong_count() != 0);
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
    let new = (place.id(), Arc::downgrade(&owed));
    let noted = OWED.try_with(|all| note(&mut all.borrow_mut(), new));
    if noted.is_ok() {
        place.send(System::Settle(owed));
    }
}

/// The panic of an actor has come to its end: what it owes is delivered.
#[cold]
pub(crate) fn settle(actor: ActorId, why: Option<AskError>) {
    let own = OWED.try_with(|all| all.borrow_mut().take_out(|(owes, _)| *owes == actor));
    let why = why.unwrap_or(AskError::Unanswered);
    for (_, owed) in own.into_iter().flatten() {
        if let Some(owed) = owed.upgrade() {
            owed.deliver(why.clone());
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_was_delivered_is_forgotten_and_the_rest_is_kept() {
        let mut all = SweptList::new();
        let (actor, other) = (ActorId::next(), ActorId::next());
        let mut kept = Vec::new();
        for number in 0..if cfg!(miri) { 500 } else { 10_000 } {
            let owed = Arc::new(Owed(Mutex::new(None)));
            note(&mut all, (actor, Arc::downgrade(&owed)));
            if number < 20 {
                kept.push(owed);
            }
        }
        note(&mut all, (other, Weak::new()));
        assert!(all.capacity() <= 4 * kept.len(), "{}", all.capacity());
        let is_kept = |owed: &Arc<Owed>| {
            all.iter()
                .any(|(_, noted)| noted.ptr_eq(&Arc::downgrade(owed)))
        };
        assert!(kept.iter().all(is_kept));
    }
}
