//! Points in time as text.

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// The form of XML-RPC: without a zone, a fraction, or strokes in the date.
const COMPACT: &str = "%Y%m%dT%H:%M:%S";

fn timestamp(milliseconds: f64) -> Option<Timestamp> {
    // What is not finite, or beyond what the calendar holds, is refused by the range of the type.
    if !milliseconds.is_finite() || milliseconds.abs() > 1e17 {
        return None;
    }
    Timestamp::from_millisecond(milliseconds.floor() as i64).ok()
}

/// `2007-01-01T00:00:00.000Z`, as JavaScript writes it; nothing if the calendar has no such day.
pub(crate) fn to_iso(milliseconds: f64) -> Option<String> {
    timestamp(milliseconds).map(|at| at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// `20070101T00:00:00`, in UTC.
pub(crate) fn to_compact_iso(milliseconds: f64) -> Option<String> {
    timestamp(milliseconds).map(|at| at.strftime(COMPACT).to_string())
}

/// Milliseconds of a date of XML-RPC, which is taken to be in UTC unless it has an offset. Strokes, a fraction and an offset are let pass, as most
/// servers do; the name of a zone is not.
pub(crate) fn from_compact_iso(text: &str) -> Option<f64> {
    let text = text.trim();
    let (at, offset) = match DateTime::strptime(COMPACT, text) {
        Ok(at) => (at, Offset::UTC),
        Err(_) => {
            let pieces = Pieces::parse(text).ok()?;
            if pieces.time_zone_annotation().is_some() {
                return None;
            }
            let time = pieces.time().unwrap_or(Time::midnight());
            let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
            (pieces.date().to_datetime(time), offset)
        }
    };
    let at = offset.to_timestamp(at).ok()?;
    Some(at.as_millisecond() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_comes_back_from_both_forms() {
        for milliseconds in [0.0, 900_000_000_000.0, -1_000.0, 4_102_444_800_000.0] {
            let iso = to_iso(milliseconds).unwrap();
            let read: Timestamp = iso.parse().unwrap();
            assert_eq!(read.as_millisecond() as f64, milliseconds, "{iso}");
            let compact = to_compact_iso(milliseconds).unwrap();
            assert_eq!(from_compact_iso(&compact), Some(milliseconds), "{compact}");
        }
        assert_eq!(
            to_iso(900_685_735_250.0).unwrap(),
            "1998-07-17T14:28:55.250Z"
        );
        assert_eq!(
            to_compact_iso(900_685_735_250.0).unwrap(),
            "19980717T14:28:55"
        );
        assert_eq!(
            from_compact_iso("1998-07-17T14:28:55.250"),
            Some(900_685_735_250.0)
        );
    }

    #[test]
    fn a_date_with_an_offset_is_the_point_in_time_that_it_says() {
        for (text, seconds) in [
            ("19980717T14:08:55", 900_684_535),
            ("1998-07-17T14:08:55", 900_684_535),
            ("1998-07-17T14:08:55Z", 900_684_535),
            ("19980717T14:08:55Z", 900_684_535),
            ("1998-07-17T14:08:55+02:00", 900_677_335),
            ("19980717T14:08:55+0200", 900_677_335),
            ("1998-07-17T14:08:55-05:30", 900_704_335),
        ] {
            let wanted = Some(f64::from(seconds) * 1e3);
            assert_eq!(from_compact_iso(text), wanted, "{text}");
        }
        for text in [
            "1998-07-17T14:08:55ZZZ",
            "1998-07-17T14:08:55+02:00Z",
            "1998-07-17T14:08:55[Europe/Berlin]",
            // Behind the last day of the calendar in UTC.
            "9999-12-31T23:59:59-02:00",
        ] {
            assert_eq!(from_compact_iso(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_calendar_does_not_have_is_no_date() {
        for milliseconds in [f64::NAN, f64::INFINITY, 1e18, -1e16] {
            assert_eq!(to_iso(milliseconds), None, "{milliseconds}");
        }
        assert_eq!(from_compact_iso("19981717T14:08:55"), None);
        assert_eq!(from_compact_iso(""), None);
    }
}
