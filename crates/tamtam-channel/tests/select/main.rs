//! `Select`: one wait for several operations, dynamically listed.

#[path = "../support/mod.rs"]
mod support;

mod fairness;
mod flavours;
mod held;
mod many;
mod misuse;
mod threads;
