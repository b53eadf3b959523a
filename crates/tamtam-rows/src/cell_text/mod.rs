//! The text of single values, as the forms made of text write them: exact, and read back exactly.
//!
//! Integers in decimal; floats with the fewest digits that mean the same bits; decimals with their point; dates and
//! times as ISO 8601 has them, years outside 0 to 9999 with a sign; UUIDs with hyphens; bytes in Base64 (RFC 4648).

mod calendar;
mod parse;
mod write;

#[cfg(feature = "mysql")]
pub(crate) use calendar::days_of;
pub(crate) use parse::{
    Integer, bytes, date, decimal, integer, real, time, timestamp, truth, uuid,
};
pub(crate) use write::{write, write_bytes};
