//! What a method has spent its time on, if it tells.

use std::time::{Duration, Instant};

use crate::exchange::{self, Step};

/// What a method spends its time on. Who knows tells it, and pages of the server are told: in the header `Server-Timing`, as
/// `cursor` and `rows`, which are parts of `call`.
///
/// It is told on the thread or task where the gateway runs the handler of [`Method::new`](crate::Method::new) and
/// [`Method::blocking`](crate::Method::blocking), or the source of a [`RowStream`](crate::RowStream); elsewhere, and where nobody
/// measures the call, what is told is dropped. The rows of a stream that are sent while the source is read come behind the header.
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
    /// Whether what is told of this call is told to anybody: what takes time to find out can be left out otherwise.
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
