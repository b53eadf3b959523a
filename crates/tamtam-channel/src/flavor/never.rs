//! No message, ever: `never`.

use tamtam_wait::{Source, Token};

use crate::source::in_no_list;

/// Never ready.
#[derive(Debug)]
pub(crate) struct Never;

impl Source for Never {
    fn try_begin(&self, _: &mut Token) -> bool {
        false
    }

    in_no_list!();

    fn is_ready(&self) -> bool {
        false
    }

    fn unready_since(&self) -> Option<u64> {
        Some(0)
    }
}
