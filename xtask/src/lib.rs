#![forbid(unsafe_code)]
//! What the project asks of itself: `cargo xtask --help`.
//!
//! Each rule of the source is a module that takes the [`Sources`] of a crate and says what breaks it, with file and line. A
//! test of this crate holds the workspace to all of them, which are together in [`rules`]. The steps of `scripts/test` are in `test`.

pub mod floors;
mod graph;
pub mod rules;
mod sources;
#[cfg(unix)]
pub mod test;
pub mod words;

pub use graph::Graph;
pub use sources::{Readme, Source, Sources};
