//! Calls of another server, recorded while it lives and answered when it is gone.
//!
//! `journal` is the file, `key` what a call asks, `json_rpc` takes bodies of that protocol apart (its siblings for AMF and XML-RPC
//! stand with those protocols), `index` finds the answer to a request, `held` counts what a recorder has in memory, `recorder` and `replay` are the two servers.

mod held;
mod index;
mod journal;
mod json_rpc;
mod key;
mod recorder;
mod replay;

pub use journal::RecordingError;
pub use recorder::{RecordLoss, Recorder};
pub use replay::Replay;
