//! Tests of memory that processes share.
#![cfg(target_os = "linux")]

mod bytes;
mod carrier;
mod condition;
mod event;
mod hostile;
mod mutex;
mod other;
mod properties;
mod property;
mod slot;
