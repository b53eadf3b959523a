//! One suite for every form in [`encoding::all`](tamtam_rows::encoding::all): what it carries comes back bit by bit,
//! what it cannot carry is an error that says so, and bytes that it did not write are an error, too.
//!
//! A form takes part by being in that list. What it cannot carry is a line in `forms.rs`; a form without a line must
//! carry everything.

mod bad_input;
mod forms;
mod limits;
mod random;
mod round_trip;
mod tables;
