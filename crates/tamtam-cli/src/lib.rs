//! The library behind the program `tamtam`: a lab that measures, on your machine, what each way of passing a message
//! costs. The experiments themselves are in the crate `tamtam-lab`.
//!
//! - `lab` is the front end: it chooses what to measure, starts one fresh process for every measurement, and prints
//!   tables and verdicts.
//! - `contenders` are what the program runs in such a process.
//! - `top` shows a running program: its pools, and what their actors do.
//! - `rows` tries each form of a table on the user's own data.
//! - `serve` serves tables and examples to foreign clients by the gateway, `call` calls them, and `watch` subscribes to them;
//!   `client` is what these two have in common.
//! - `database` are the databases that rows come out of, and the article's table in one.
//! - `nearest` guesses what was meant by a name that is not known, `reason` says why something failed, `printable` keeps text from
//!   elsewhere from steering the terminal, and `standard_output` knows when its reader has gone.

#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 3 | call, lab, watch | what calls and subscribes; the lab, which may measure a gateway |
// | 2 | client, contenders, rows, serve, top | what a client has of a URL; what is measured; the commands that show and serve |
// | 1 | database | databases that rows come out of |
// | 0 | nearest, number, printable, reason, standard_output | words about names, numbers and failures; what is shown |

#[cfg(feature = "gateway")]
pub mod call;
#[cfg(feature = "gateway")]
pub mod client;
#[cfg(feature = "lab")]
pub mod contenders;
#[cfg(any(feature = "tables", feature = "databases"))]
pub mod database;
#[cfg(feature = "lab")]
pub mod lab;
pub mod nearest;
#[cfg(any(feature = "lab", feature = "tables"))]
#[cfg_attr(
    not(all(feature = "lab", feature = "tables")),
    allow(dead_code, reason = "some of it is for one of the two commands")
)]
mod number;
pub mod printable;
pub mod reason;
#[cfg(feature = "tables")]
pub mod rows;
#[cfg(feature = "gateway")]
pub mod serve;
pub mod standard_output;
#[cfg(feature = "top")]
pub mod top;
#[cfg(feature = "gateway")]
pub mod watch;
