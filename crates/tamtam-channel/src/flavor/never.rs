//! No message, ever: `never`.

use tamtam_wait::{Context, Operation, Source, Token};

/// Never ready.
#[derive(Debug)]
pub(crate) struct Never;

impl Source for Never {
    fn try_begin(&self, _: &mut Token) -> bool {
        false
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        false
    }

    fn unregister(&self, _: Operation, _: &Context) {}

    fn is_ready(&self) -> bool {
        false
    }

    fn watch(&self, _: Operation, _: &Context) -> bool {
        false
    }

    fn unwatch(&self, _: Operation, _: &Context) {}
}
