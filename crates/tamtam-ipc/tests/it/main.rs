//! Tests of memory that processes share.
#![cfg(target_os = "linux")]

mod carrier;
mod channel;
mod channel_deaths;
mod other;
