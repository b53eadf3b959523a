//! What the fuzz targets do with any bytes, as functions: cargo-fuzz gives them what it makes up under a sanitizer, and a test of this
//! crate their seeds and what is near those.

#![forbid(unsafe_code)]

pub mod forms;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod targets;
