//! `Property` and `Properties`: what they promise, alone and under many threads, with every way of waiting; and why the
//! readers' side is right.

mod latest;
mod named;
mod store_buffers;
mod stress;
mod waiting;

use tamtam_channel::Wait;

/// Every way of waiting.
pub(crate) const WAITS: [Wait; 4] = [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park];
