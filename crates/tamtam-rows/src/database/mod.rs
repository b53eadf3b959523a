//! Rows out of a database, all at once or a part at a time.
//!
//! - [`SqliteCursor`] steps through the rows of an SQLite statement (feature `sqlite`, by the crate `rusqlite`).
//! - [`Parts`] and [`fetch`] take the rows of a query of `sqlx`, from MySQL and MariaDB (feature `mysql`) and from
//!   PostgreSQL (feature `postgres`).
//!
//! Both read a part, by default [`PART_ROWS`] rows, or as many as take [`PART_BYTES`] in memory if those are fewer, and
//! give it away before they read the next, so that a table larger than memory passes.
//!
//! # Types
//!
//! The database's types decide; each page below says how. What they leave open, such as the scale of an unlimited
//! decimal, or nearly everything in SQLite, is decided by the first [`SAMPLE_ROWS`] rows. A later value that does
//! not fit is an error that names its column and row, and never changed in silence. Who wants other types, or has to
//! have the same ones each time, gives the schema.
//!
//! Every column may hold nulls, whatever the table says: a query's outer join makes them out of nothing. Only a schema
//! that is given can say otherwise.

mod error;
mod filling;
mod literal;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod parts;
#[cfg(feature = "postgres")]
mod postgres;
mod read_times;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use error::DatabaseError;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub use parts::{Parts, Source, fetch};
pub use read_times::ReadTimes;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteCursor, StreamError};

/// How many rows a part has, unless another number is asked for. A part of the packed encoding has as many.
pub const PART_ROWS: usize = 65_536;

/// A part ends behind the row with which its values take so many bytes in memory, however few rows it has: what a
/// stream takes does not depend on how long its texts are.
pub const PART_BYTES: usize = 4 << 20;

/// How many of the first rows decide about types that the database leaves open; fewer, if they take [`PART_BYTES`].
pub const SAMPLE_ROWS: usize = 4_096;
