//! Sending into a channel that drops what it has no room for, as something to wait for.

use tamtam_wait::{Context, Operation, Source, Token};

/// Always ready: the operation itself never waits. Nothing is claimed before it is finished, so that a
/// thread which takes its time for that does not hold up those who send meanwhile.
pub(crate) struct Dropping;

impl Source for Dropping {
    fn try_begin(&self, _: &mut Token) -> bool {
        true
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        true
    }

    fn unregister(&self, _: Operation, _: &Context) {}

    fn is_ready(&self) -> bool {
        true
    }

    fn watch(&self, _: Operation, _: &Context) -> bool {
        true
    }

    fn unwatch(&self, _: Operation, _: &Context) {}
}
