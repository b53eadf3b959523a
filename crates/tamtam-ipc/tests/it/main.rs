//! Tests of memory that processes share.
#![cfg(target_os = "linux")]

mod carrier;
mod other;
