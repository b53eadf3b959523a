//! Databases: where rows come from, and the article's table in one.
//!
//! A database is SQLite in a file, compiled in, or MySQL, MariaDB or PostgreSQL by their URLs.

mod board;
mod connection;
mod url;

pub use board::{Board, Set};
pub use connection::{Database, Taker};
pub use url::Url;
