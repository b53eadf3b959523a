//! Advice on a server's own traffic: one answer in many is written in the other forms after it was sent.
//!
//! `advisor` is the thread that does it, `ledger` what it has learned, `report` what follows from that.

mod advisor;
mod ledger;
mod report;
mod share;

pub(crate) use advisor::{Advisor, Job};
