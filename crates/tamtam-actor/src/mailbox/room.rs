//! Room in a mailbox, as something that can be waited for.

use tamtam_wait::{Operation, Source, Token, WaitList};

use super::limited::Limited;

/// Room in a mailbox. To begin is to look whether there is any: a sender that has seen it then tries.
pub(crate) struct Room<'a, M, C> {
    pub(crate) limited: &'a Limited<M>,
    /// Whether the actor takes no more messages.
    pub(crate) closed: C,
}

impl<M, C: Fn() -> bool> Source for Room<'_, M, C> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.limited.senders().register(operation, context);
        self.is_ready()
    }

    fn unregister(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.limited.senders().unregister(operation, context);
    }

    fn decline(&self, _: &tamtam_wait::Context) {
        self.limited.senders().decline(|| self.is_ready());
    }

    fn is_ready(&self) -> bool {
        (self.closed)() || self.limited.has_room()
    }

    fn watch(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.limited.senders().watch(operation, context);
        self.is_ready()
    }

    fn unwatch(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.limited.senders().unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(self.limited.senders())
    }

    fn looks_ready(&self) -> bool {
        self.is_ready()
    }
}
