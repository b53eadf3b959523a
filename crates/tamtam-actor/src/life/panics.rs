use std::sync::Arc;

use super::EndReason;

/// Runs an actor's code. A panic in it ends here, after the panic hook has reported it, and is what the actor
/// ends for.
#[inline]
pub(crate) fn catch<R>(turn: impl FnOnce() -> R) -> Result<R, EndReason> {
    // A model's panic is how it fails.
    #[cfg(tamtam_loom)]
    {
        Ok(turn())
    }
    #[cfg(not(tamtam_loom))]
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(turn)).map_err(explain)
}

/// What a panic says. What it brought is foreign: its drop may panic in turn.
#[cold]
#[cfg_attr(tamtam_loom, allow(dead_code))]
fn explain(payload: Box<dyn core::any::Any + Send>) -> EndReason {
    // How our own actors fail.
    let payload = match payload.downcast::<EndReason>() {
        Ok(reason) => return *reason,
        Err(payload) => payload,
    };
    let message: Arc<str> = if let Some(message) = payload.downcast_ref::<&'static str>() {
        Arc::from(*message)
    } else if let Some(message) = payload.downcast_ref::<String>() {
        Arc::from(message.as_str())
    } else {
        Arc::from("something that is no text")
    };
    tamtam_wait::contain(move || drop(payload));
    EndReason::Panicked(message)
}
