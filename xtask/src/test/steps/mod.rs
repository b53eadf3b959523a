//! What each step does. Each function is one step; the table of them is in `step`.

pub(super) mod clients;
pub(super) mod core;
pub(super) mod database;
pub(super) mod elsewhere;
pub(super) mod lab;
mod servers;
pub(super) mod source;
pub(super) mod tests;
pub(super) mod web;
pub(super) mod window;
pub(super) mod witnesses;
