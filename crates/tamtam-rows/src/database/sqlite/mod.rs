//! SQLite by the crate `rusqlite`.

mod cell;
mod cursor;
mod found;
mod hand_over;

pub use cursor::SqliteCursor;
pub use hand_over::StreamError;
