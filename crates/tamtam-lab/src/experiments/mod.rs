//! The experiments: for each the body that every contender runs, generic over the traits of the harness.

pub mod ask;
pub mod calls;
pub mod flood;
pub mod grid;
pub(crate) mod handover;
pub mod latch;
pub mod offer;
pub mod pictures;
pub mod post;
pub mod property;
pub mod ring;
pub mod rows;
pub mod savina;
