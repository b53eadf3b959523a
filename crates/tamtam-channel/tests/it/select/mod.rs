//! `Select`: one wait for several operations, dynamically listed.

mod fairness;
mod flavours;
mod held;
mod many;
mod misuse;
mod readiness;
mod threads;
