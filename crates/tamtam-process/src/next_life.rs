//! Whether another process takes the place of one that has ended.

use std::time::{Duration, Instant};

use tamtam_actor::EndReason;
use tamtam_actor::link::RestartPolicy;
use tamtam_link::{Death, Link};

/// Whether a process that has ended so has failed: another one may take its place.
pub(crate) fn has_failed(why: &EndReason) -> bool {
    matches!(
        why,
        EndReason::Panicked(_) | EndReason::GaveUp { .. } | EndReason::ProcessEnded(_)
    )
}

/// The pause before the next process, after one that has ended so.
///
/// # Errors
///
/// There is no next one, for this reason.
pub(crate) fn decide(
    link: &Link,
    policy: &RestartPolicy,
    why: &EndReason,
    now: Instant,
) -> Result<Duration, EndReason> {
    let has_stopped_itself = || *why == EndReason::Stopped && !link.is_root_told_to_end();
    if has_failed(why) || (policy.restarts_after_stop() && has_stopped_itself()) {
        policy.decide(why.clone(), now)
    } else {
        Err(why.clone())
    }
}

/// The end of a process that has never begun.
pub(crate) fn unbegun(why: EndReason) -> Death {
    Death {
        done: 0,
        begun: 0,
        why,
    }
}
