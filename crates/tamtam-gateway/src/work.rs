//! What a method has spent its time on, if it tells.

use std::time::{Duration, Instant};

use crate::exchange::{self, Step};

/// What a method spends its time on. A handler that knows it tells it, and pages of the server get it: in the header
/// `Server-Timing`, as `cursor` and `rows`, which are parts of `call`.
///
/// It is told on the thread or task where the gateway runs the handler of [`Method::new`](crate::Method::new) and
/// [`Method::blocking`](crate::Method::blocking), or the source of a [`RowStream`](crate::RowStream). On other threads, and of a
/// call that is not measured, what is told is dropped. A stream whose rows are sent while its source is at work has sent the header
/// before.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, Service, Work};
///
/// let list = |(): ()| -> Result<Vec<String>, Fault> {
///     let found = Work::Cursor.timed(|| std::fs::read_to_string("/etc/hosts")).unwrap_or_default();
///     Ok(Work::Rows.timed(|| found.lines().map(str::to_owned).collect()))
/// };
/// let service = Service::new("Hosts").blocking("list", list);
/// # drop(service);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// To get rows out of a database: its statement, the steps of its cursor, and what these wait for.
    Cursor,
    /// To make rows of what it gave.
    Rows,
}

impl Work {
    /// Whether this call is measured here. If it is not, what takes time to find out can be left out.
    #[must_use]
    pub fn is_timed() -> bool {
        exchange::is_measured()
    }

    /// Tells that the call has spent so much time on this, in addition to what was told before.
    pub fn took(self, time: Duration) {
        exchange::add(self.step(), time);
    }

    /// Does this work, and tells how long it took. The clock is read only if the call is measured.
    ///
    /// # Panics
    /// If the work does.
    pub fn timed<T>(self, work: impl FnOnce() -> T) -> T {
        let begun = Work::is_timed().then(Instant::now);
        let result = work();
        if let Some(begun) = begun {
            self.took(begun.elapsed());
        }
        result
    }

    fn step(self) -> Step {
        match self {
            Work::Cursor => Step::Cursor,
            Work::Rows => Step::Rows,
        }
    }
}
