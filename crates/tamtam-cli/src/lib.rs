//! The library behind the program `tamtam`: a lab that measures, on your machine, what each way of passing a message
//! costs.
//!
//! - `lab` is the front end: it chooses what to measure, starts one fresh process for every measurement, and prints
//!   tables and verdicts.
//! - [`drive`] is the measuring side: the bodies of the experiments, which the separate programs in `peers/` run too.
//! - `top` shows a running program: its pools, and what their actors do.
//! - `rows` tries each form of a table on the user's own data.
//! - `database` are the databases that rows come out of, and the article's table in one.
//! - `contender` are Tamtam's own ways of passing messages, as they take part in the experiments.

#![forbid(unsafe_code)]

#[cfg(feature = "program")]
pub mod contender;
#[cfg(feature = "program")]
pub mod database;
pub mod drive;
#[cfg(feature = "program")]
pub mod lab;
#[cfg(feature = "program")]
pub mod rows;
#[cfg(feature = "program")]
pub mod top;
