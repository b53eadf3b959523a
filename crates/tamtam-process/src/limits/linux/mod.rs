//! How limits are applied on Linux, in which order.

mod calls;
mod filter;
mod landlock;
mod resources;

use super::{Applied, LeftOut, Limits, LimitsError};

/// Everything that can be found wrong is looked at before the first limit is in force. Then come, in this order, what needs files
/// or calls that later steps refuse: resources, rights, Landlock, and the filter last.
pub(super) fn apply(limits: &Limits) -> Result<Applied, LimitsError> {
    let mut applied = Applied::default();
    if limits.walled() {
        resources::check_one_thread()?;
        applied.left_out = lacking(limits);
        if !applied.left_out.is_empty() && !limits.allow_less {
            return Err(LimitsError::Lacking(applied.left_out));
        }
    }
    let paths = landlock::Paths::open(limits)?;
    let programs = filter::programs(limits).map_err(|error| {
        LimitsError::system(
            "making the filter of system calls",
            std::io::Error::other(error),
        )
    })?;

    if let Some(bytes) = limits.memory {
        resources::limit_memory(bytes)?;
    }
    if let Some(time) = limits.cpu_time {
        resources::limit_cpu_time(time)?;
    }
    if !limits.walled() {
        return Ok(applied);
    }
    resources::gain_no_rights()?;
    resources::leave_no_dump()?;
    if limits.no_processes {
        resources::give_up_capabilities()?;
    }
    applied.landlock = landlock::restrict(limits, paths)?;
    if !applied.left_out.contains(&LeftOut::SystemCalls) {
        filter::install(&programs)?;
    }
    Ok(applied)
}

/// What this kernel lacks of that which the limits need.
fn lacking(limits: &Limits) -> Vec<LeftOut> {
    let mut lacking = Vec::new();
    if !limits.read.is_empty() || !limits.read_write.is_empty() {
        lacking.extend(match landlock::support() {
            landlock::Support::Whole => None,
            landlock::Support::WithoutTruncation => Some(LeftOut::Truncation),
            landlock::Support::Absent => Some(LeftOut::Paths),
        });
    }
    if !filter::supported() {
        lacking.push(LeftOut::SystemCalls);
    }
    lacking
}
