//! What the program runs: the contenders that come with the lab, and the databases that tables come out of.

use std::sync::LazyLock;

use tamtam_lab::{Contender, contenders};

#[cfg(feature = "databases")]
use crate::database;

/// All of them, in the order in which lists show them.
#[must_use]
pub fn all() -> &'static [&'static dyn Contender] {
    &ALL
}

static ALL: LazyLock<Vec<&'static dyn Contender>> = LazyLock::new(|| {
    #[allow(unused_mut, reason = "without databases these are all")]
    let mut all = contenders::all().to_vec();
    #[cfg(feature = "databases")]
    all.extend(database::contenders());
    all
});
