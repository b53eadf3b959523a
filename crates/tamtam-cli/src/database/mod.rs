//! Databases: where rows come from, and the article's table in one.
//!
//! A database is SQLite in a file, compiled in, or MySQL, MariaDB or PostgreSQL by their URLs. Without the feature
//! `databases` there is none, and each says so when it is opened.

#[cfg(not(feature = "databases"))]
mod absent;
#[cfg(feature = "databases")]
mod board;
#[cfg(feature = "databases")]
mod connection;
#[cfg(all(feature = "databases", feature = "lab"))]
mod contender;
mod taker;
mod url;

#[cfg(not(feature = "databases"))]
pub use absent::Database;
#[cfg(feature = "databases")]
pub use board::{Board, Set};
#[cfg(feature = "databases")]
pub use connection::{Database, QueryInterrupt};
#[cfg(all(feature = "databases", feature = "lab"))]
pub(crate) use contender::contenders;
pub use taker::Taker;
pub use url::Url;
