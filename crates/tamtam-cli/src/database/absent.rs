//! Databases in a program that was built without them.

use anyhow::{Result, bail};
use tamtam_rows::Schema;

use super::{Taker, Url};

/// Stands for every database in a program that was built without them.
#[derive(Debug)]
pub enum Database {}

impl Database {
    /// Opens none.
    ///
    /// # Errors
    /// Always, with what to do about it.
    pub fn open(_: &Url) -> Result<Database> {
        bail!(
            "this program was built without databases; `cargo install tamtam-cli` builds one that has them, in a checkout \
             `cargo build --release --package tamtam-cli`"
        )
    }

    /// What runs a query of a database that is open.
    ///
    /// # Errors
    /// None: there is no such database.
    pub fn stream(&mut self, _: &str, _: Option<&Schema>, _: &mut dyn Taker) -> Result<()> {
        match *self {}
    }
}
