//! Room in a mailbox, here or in another process, as something that can be waited for.

use std::time::Instant;

#[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
use tamtam_wait::Wait;
use tamtam_wait::{Operation, Source, Token, WaitList};

/// Room for a message. To begin is to look whether there is any: a sender that has seen it then tries.
pub(crate) struct Room<'a, F> {
    /// Those who wait for it.
    pub(crate) senders: &'a WaitList,
    /// Whether there is any, or the actor takes no more messages.
    pub(crate) ready: F,
}

impl<F: Fn() -> bool> Room<'_, F> {
    /// Attempts something while there may be room, at least once, until the deadline.
    pub(crate) fn wait_until<R>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        // Every address has verbs that may wait, also where no thread can.
        #[cfg(not(any(not(target_family = "wasm"), target_feature = "atomics")))]
        {
            let _ = deadline;
            attempt()
        }
        #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
        self.senders
            .wait_until(Wait::Adaptive, deadline, |_| attempt(), &self.ready)
    }
}

impl<F: Fn() -> bool> Source for Room<'_, F> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.senders.register(operation, context);
        self.is_ready()
    }

    fn unregister(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.senders.unregister(operation, context);
    }

    fn decline(&self, _: &tamtam_wait::Context) {
        self.senders.decline(|| self.is_ready());
    }

    fn is_ready(&self) -> bool {
        (self.ready)()
    }

    fn watch(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.senders.watch(operation, context);
        self.is_ready()
    }

    fn unwatch(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.senders.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(self.senders)
    }

    fn looks_ready(&self) -> bool {
        self.is_ready()
    }
}
