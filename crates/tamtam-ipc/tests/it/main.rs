//! Tests of memory that processes share.
#![cfg(target_os = "linux")]

mod arena;
#[cfg(feature = "link")]
mod attached;
#[cfg(feature = "serde")]
mod batches;
mod bytes;
mod carrier;
mod channel;
mod channel_deaths;
mod condition;
mod conformance;
mod event;
mod handover;
mod hostile;
#[cfg(target_arch = "x86_64")]
mod left;
#[cfg(feature = "link")]
mod listening;
mod mutex;
mod named;
mod other;
mod properties;
mod property;
mod sealed;
mod sealed_channel;
#[cfg(feature = "link")]
mod sent;
mod service;
mod slot;
// Elsewhere atomic operations are loops, which do not end when they are led step by step.
#[cfg(target_arch = "x86_64")]
mod steps;
mod tasks;
mod together;
#[cfg(target_arch = "x86_64")]
mod traced;
mod unwoken;
mod without_waitv;
