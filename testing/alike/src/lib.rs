//! Nothing: what this crate is for stands in its manifest.

#![forbid(unsafe_code)]
