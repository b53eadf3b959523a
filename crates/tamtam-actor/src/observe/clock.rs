//! The time since this process first asked for it.

use core::time::Duration;
use std::sync::OnceLock;
use std::time::Instant;

static BEGINNING: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since the first call in this process; at least 1, so that 0 can say that there is none. They last for
/// 584 years.
pub(crate) fn now() -> u64 {
    nanos(BEGINNING.get_or_init(Instant::now).elapsed()).max(1)
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
