#![forbid(unsafe_code)]
//! What the project asks of its own source, checked by reading it: `cargo xtask --help`.
//!
//! Each rule is a module that takes the [`Sources`] of a crate and says what breaks it, with file and line. The
//! tests of this crate hold the workspace to all of them.

pub mod floors;
mod graph;
mod sources;

pub use graph::Graph;
pub use sources::{Source, Sources};
