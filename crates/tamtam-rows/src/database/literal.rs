//! What databases write that the text of our own values does not answer.

use crate::cell_text;

/// The days to this one from 1970-01-01; `None` if there is no such day.
#[cfg(feature = "mysql")]
pub(super) fn days(year: u16, month: u8, day: u8) -> Option<i32> {
    cell_text::days_of(year.into(), month.into(), day.into())
        .and_then(|days| i32::try_from(days).ok())
}

/// `2026-11-22`.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    cell_text::date(text).and_then(|days| i32::try_from(days).ok())
}

/// How many digits stand behind the point of a number.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) fn scale_of(text: &str) -> usize {
    text.split_once('.')
        .map_or(0, |(_, fraction)| fraction.len())
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}
