//! How long it took to read rows, told apart: what the database took, and what their columns took.

use std::time::{Duration, Instant};

/// How long it took to read rows: what the database took, and what their columns took.
///
/// Together they are all the time of the call that read the rows and, with the first rows, of the one that opened the query. Where a row takes hardly longer than a look at the clock, as
/// in SQLite, the first row and each 16th behind it are looked at, and the time of the others is shared out as theirs.
///
/// # Examples
///
/// ```
/// use rusqlite::Connection;
/// use tamtam_rows::database::{ReadTimes, SqliteCursor};
///
/// let connection = Connection::open_in_memory()?;
/// connection.execute_batch("create table numbers (n int); insert into numbers values (1), (2)")?;
/// let mut statement = connection.prepare("select n from numbers")?;
/// let mut all = ReadTimes::default();
/// let mut cursor = SqliteCursor::open(&mut statement, [])?.part_rows(1);
/// while let Some((part, times)) = cursor.next_part_timed()? {
///     assert_eq!(part.len(), 1);
///     all += times;
/// }
/// println!("cursor {:?}, rows {:?}", all.cursor, all.rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadTimes {
    /// To get the rows out of the database: to open the query, the steps of its cursor, and what it waits for.
    pub cursor: Duration,
    /// To put their values into columns.
    pub rows: Duration,
}

impl std::ops::AddAssign for ReadTimes {
    fn add_assign(&mut self, more: ReadTimes) {
        self.cursor += more.cursor;
        self.rows += more.rows;
    }
}

/// What looks at the clock while rows are read, or does not.
pub(super) trait Watch {
    /// The cursor is about to give a row.
    fn step(&mut self);
    /// It has given one, or there is none.
    fn stepped(&mut self);
    /// Its values are in their columns.
    fn filled(&mut self);
}

/// What does not look at the clock, which costs nothing.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    #[inline]
    fn step(&mut self) {}
    #[inline]
    fn stepped(&mut self) {}
    #[inline]
    fn filled(&mut self) {}
}

/// What looks at the clock for the first row, and for one in so many behind it.
pub(super) struct Stopwatch {
    one_in: u64,
    steps: u64,
    begun: Instant,
    /// When what is looked at has begun.
    at: Option<Instant>,
    /// Of the first row, whose step may be all that the database has to do.
    first: ReadTimes,
    /// Of those behind it that were looked at.
    looked_at: ReadTimes,
}

impl Stopwatch {
    /// Looks at the first row, and at one in so many behind it, which are not 0.
    pub(super) fn start(one_in: u64) -> Stopwatch {
        Stopwatch {
            one_in,
            steps: 0,
            begun: Instant::now(),
            at: None,
            first: ReadTimes::default(),
            looked_at: ReadTimes::default(),
        }
    }

    fn times(&mut self) -> &mut ReadTimes {
        match self.steps {
            0 | 1 => &mut self.first,
            _ => &mut self.looked_at,
        }
    }

    /// All the time since the start, where what no row took was for the columns, and what the database took before.
    pub(super) fn stop_behind(self, opening: Duration) -> ReadTimes {
        let mut times = self.share(self.begun.elapsed());
        times.cursor += opening;
        times
    }

    fn share(&self, all: Duration) -> ReadTimes {
        let behind = all.saturating_sub(self.first.cursor + self.first.rows);
        let looked_at = (self.looked_at.cursor + self.looked_at.rows).as_secs_f64();
        let share = if looked_at > 0.0 {
            self.looked_at.cursor.as_secs_f64() / looked_at
        } else {
            0.0
        };
        let cursor = (self.first.cursor + behind.mul_f64(share)).min(all);
        ReadTimes {
            cursor,
            rows: all - cursor,
        }
    }
}

impl Watch for Stopwatch {
    #[inline]
    fn step(&mut self) {
        let is_looked_at = self.steps == 0 || self.steps % self.one_in == 1 % self.one_in;
        self.steps += 1;
        self.at = is_looked_at.then(Instant::now);
    }

    #[inline]
    fn stepped(&mut self) {
        if let Some(at) = self.at {
            let now = Instant::now();
            self.times().cursor += now - at;
            self.at = Some(now);
        }
    }

    #[inline]
    fn filled(&mut self) {
        if let Some(at) = self.at.take() {
            self.times().rows += at.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn the_first_row_counts_as_it_is_and_the_others_by_their_share() {
        let watch = Stopwatch {
            first: ReadTimes {
                cursor: micros(700),
                rows: micros(100),
            },
            looked_at: ReadTimes {
                cursor: micros(3),
                rows: micros(1),
            },
            ..Stopwatch::start(16)
        };
        let times = watch.share(micros(1_000));
        assert_eq!((times.cursor, times.rows), (micros(850), micros(150)));
    }

    #[test]
    fn the_first_row_and_each_16th_behind_it_are_looked_at() {
        let mut watch = Stopwatch::start(16);
        let looked_at: Vec<u64> = (0..50)
            .filter(|_| {
                watch.step();
                let is_looked_at = watch.at.is_some();
                watch.stepped();
                watch.filled();
                is_looked_at
            })
            .collect();
        assert_eq!(looked_at, [0, 1, 17, 33, 49]);
        let mut watch = Stopwatch::start(1);
        assert!((0..5).all(|_| {
            watch.step();
            watch.at.is_some()
        }));
    }
}
