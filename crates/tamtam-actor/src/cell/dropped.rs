//! Why questions are dropped that an actor never answered: what the replies in them say.

use core::cell::RefCell;

use crate::error::AskError;

thread_local! {
    /// Why this thread drops questions, if there is more to say than that it does.
    static WHY_DROPPED: RefCell<Option<AskError>> = const { RefCell::new(None) };
}

/// What a reply that is dropped now is to say.
pub(crate) fn why_dropped() -> AskError {
    let why = WHY_DROPPED.try_with(|why| why.borrow().clone());
    why.ok().flatten().unwrap_or(AskError::Unanswered)
}

/// Does something that may drop questions of another actor than those that this thread drops for a reason, if it does.
pub(crate) fn dropping_for_itself<R>(drops: impl FnOnce() -> R) -> R {
    let is_within = WHY_DROPPED.try_with(|why| why.borrow().is_some());
    if is_within.unwrap_or(false) {
        dropping_for(AskError::Unanswered, drops)
    } else {
        drops()
    }
}

/// Does something that may drop questions; the replies in them hear that this is why.
pub(crate) fn dropping_for<R>(why: AskError, drops: impl FnOnce() -> R) -> R {
    /// Also if a drop panics.
    struct Restored(Option<AskError>);

    impl Drop for Restored {
        fn drop(&mut self) {
            let before = self.0.take();
            let _ = WHY_DROPPED.try_with(|why| why.replace(before));
        }
    }

    let before = WHY_DROPPED.try_with(|place| place.replace(Some(why)));
    let _restored = Restored(before.ok().flatten());
    drops()
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::id::ActorId;

    #[test]
    fn what_is_dropped_within_for_another_actor_has_no_reason_of_the_first() {
        let full = AskError::Dropped(ActorId::next());
        dropping_for(full.clone(), || {
            assert_eq!(why_dropped(), full);
            dropping_for_itself(|| assert_eq!(why_dropped(), AskError::Unanswered));
            assert_eq!(why_dropped(), full);
        });
        dropping_for_itself(|| assert_eq!(why_dropped(), AskError::Unanswered));
    }
}
