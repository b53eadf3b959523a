//! How a figure comes about: on which processors, how long, how often the clock is read, and what is made of it.

pub(crate) mod pace;
pub(crate) mod passes;
pub(crate) mod precedence;
pub(crate) mod rounds;
pub(crate) mod seats;
pub(crate) mod statistics;

pub(crate) use crate::harness::usage;
