//! The types of columns.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use crate::shortened::shortened;

/// The type of a column.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Kind, Unit, Zone};
///
/// let price = Kind::Decimal { precision: 9, scale: 2 }; // 1250 is 12.50
/// let at = Kind::Timestamp(Unit::Millisecond, Zone::Utc);
/// assert_eq!(price.to_string(), "decimal(9,2)");
/// assert_eq!(at.to_string(), "timestamp(ms, UTC)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// True or false.
    Bool,
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits.
    I32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// An unsigned integer of 64 bits.
    U64,
    /// An IEEE 754 number of 32 bits.
    F32,
    /// An IEEE 754 number of 64 bits.
    F64,
    /// A decimal number: an integer of up to 38 digits, of which the last `scale` stand behind the point.
    Decimal {
        /// How many digits a value has at most, 1 to 38.
        precision: u8,
        /// How many of them stand behind the point; at most `precision`.
        scale: u8,
    },
    /// A day, counted from 1970-01-01 in the Gregorian calendar.
    Date,
    /// A time since midnight, in this unit. May be negative or beyond a day, as a `TIME` of MySQL may.
    Time(Unit),
    /// A point in time, counted in this unit from 1970-01-01 00:00:00, with the rule that says in which zone that is.
    Timestamp(Unit, Zone),
    /// A universally unique identifier: 16 bytes in the order in which it is written.
    Uuid,
    /// Text in UTF-8.
    Text,
    /// Bytes.
    Bytes,
}

/// What a time or a timestamp counts.
///
/// # Examples
///
/// ```
/// use tamtam_rows::Unit;
///
/// assert_eq!(Unit::Millisecond.per_second(), 1_000);
/// assert_eq!(Unit::Millisecond.digits(), 3); // behind the point of seconds
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Seconds.
    Second,
    /// Thousandths of a second.
    Millisecond,
    /// Millionths of a second.
    Microsecond,
    /// Thousand-millionths of a second.
    Nanosecond,
}

impl Unit {
    /// How many of these make a second.
    pub const fn per_second(self) -> i64 {
        match self {
            Unit::Second => 1,
            Unit::Millisecond => 1_000,
            Unit::Microsecond => 1_000_000,
            Unit::Nanosecond => 1_000_000_000,
        }
    }

    /// How many digits behind the point of a second these are: 0, 3, 6 or 9.
    pub const fn digits(self) -> usize {
        match self {
            Unit::Second => 0,
            Unit::Millisecond => 3,
            Unit::Microsecond => 6,
            Unit::Nanosecond => 9,
        }
    }
}

/// What the clock of a timestamp shows.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Kind, Unit, Zone};
///
/// let appointment = Kind::Timestamp(Unit::Second, Zone::Local); // what a clock on the wall shows
/// let event = Kind::Timestamp(Unit::Second, Zone::Utc); // a point in time
/// let shown = Kind::Timestamp(Unit::Second, Zone::Named("Europe/Berlin".into())); // one, and where it is looked at
/// assert!(appointment != event && event != shown);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Zone {
    /// A clock on some wall: no zone is known (`DATETIME` of MySQL, `timestamp` of PostgreSQL).
    Local,
    /// Coordinated universal time: the value is one point in time (`TIMESTAMP` of MySQL, `timestamptz` of PostgreSQL).
    Utc,
    /// The value counts in coordinated universal time and is to be shown in this zone: `Europe/Berlin`, `+02:00`.
    Named(Arc<str>),
}

impl Kind {
    /// The bytes of one value in memory; none for text and bytes, whose values differ in length.
    pub const fn width(&self) -> Option<usize> {
        match self {
            Kind::Bool | Kind::I8 | Kind::U8 => Some(1),
            Kind::I16 | Kind::U16 => Some(2),
            Kind::I32 | Kind::U32 | Kind::F32 | Kind::Date => Some(4),
            Kind::I64 | Kind::U64 | Kind::F64 | Kind::Time(_) | Kind::Timestamp(..) => Some(8),
            Kind::Decimal { .. } | Kind::Uuid => Some(16),
            Kind::Text | Kind::Bytes => None,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Second => "s",
            Unit::Millisecond => "ms",
            Unit::Microsecond => "us",
            Unit::Nanosecond => "ns",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => f.write_str("bool"),
            Kind::I8 => f.write_str("i8"),
            Kind::I16 => f.write_str("i16"),
            Kind::I32 => f.write_str("i32"),
            Kind::I64 => f.write_str("i64"),
            Kind::U8 => f.write_str("u8"),
            Kind::U16 => f.write_str("u16"),
            Kind::U32 => f.write_str("u32"),
            Kind::U64 => f.write_str("u64"),
            Kind::F32 => f.write_str("f32"),
            Kind::F64 => f.write_str("f64"),
            Kind::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Kind::Date => f.write_str("date"),
            Kind::Time(unit) => write!(f, "time({unit})"),
            Kind::Timestamp(unit, Zone::Local) => write!(f, "timestamp({unit})"),
            Kind::Timestamp(unit, Zone::Utc) => write!(f, "timestamp({unit}, UTC)"),
            Kind::Timestamp(unit, Zone::Named(name)) => write!(f, "timestamp({unit}, {name})"),
            Kind::Uuid => f.write_str("uuid"),
            Kind::Text => f.write_str("text"),
            Kind::Bytes => f.write_str("bytes"),
        }
    }
}

/// A text that names no type.
///
/// # Examples
///
/// ```
/// use tamtam_rows::Kind;
///
/// assert!("decimal(10,2)".parse::<Kind>().is_ok());
/// let error = "number".parse::<Kind>().unwrap_err();
/// assert!(error.to_string().starts_with(r#""number" is no type: take bool"#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no type: take bool, i8 to i64, u8 to u64, f32, f64, decimal(PRECISION,SCALE), date, time(UNIT), \
     timestamp(UNIT), timestamp(UNIT, UTC), uuid, text or bytes, with a UNIT of s, ms, us or ns"
)]
pub struct ParseKindError(String);

impl FromStr for Kind {
    type Err = ParseKindError;

    /// The type that is written so, as [`Display`](fmt::Display) writes it: `u16`, `decimal(10,2)`, `timestamp(us, UTC)`.
    fn from_str(text: &str) -> Result<Kind, ParseKindError> {
        parse(text).ok_or_else(|| ParseKindError(shortened(text).to_owned()))
    }
}

fn parse(text: &str) -> Option<Kind> {
    let unit = |text: &str| {
        Some(match text.trim() {
            "s" => Unit::Second,
            "ms" => Unit::Millisecond,
            "us" => Unit::Microsecond,
            "ns" => Unit::Nanosecond,
            _ => return None,
        })
    };
    if let Some((name, inside)) = text.trim().split_once('(') {
        let inside = inside.strip_suffix(')')?;
        let (first, second) = match inside.split_once(',') {
            Some((first, second)) => (first, Some(second.trim())),
            None => (inside, None),
        };
        return Some(match (name, second) {
            ("decimal", scale) => {
                let precision: u8 = first.trim().parse().ok()?;
                let scale: u8 = scale.map_or(Some(0), |scale| scale.parse().ok())?;
                ((1..=38).contains(&precision) && scale <= precision)
                    .then_some(Kind::Decimal { precision, scale })?
            }
            ("time", None) => Kind::Time(unit(first)?),
            ("timestamp", None) => Kind::Timestamp(unit(first)?, Zone::Local),
            ("timestamp", Some("UTC")) => Kind::Timestamp(unit(first)?, Zone::Utc),
            ("timestamp", Some(zone)) if !zone.is_empty() => {
                Kind::Timestamp(unit(first)?, Zone::Named(zone.into()))
            }
            _ => return None,
        });
    }
    Some(match text.trim() {
        "bool" => Kind::Bool,
        "i8" => Kind::I8,
        "i16" => Kind::I16,
        "i32" => Kind::I32,
        "i64" => Kind::I64,
        "u8" => Kind::U8,
        "u16" => Kind::U16,
        "u32" => Kind::U32,
        "u64" => Kind::U64,
        "f32" => Kind::F32,
        "f64" => Kind::F64,
        "date" => Kind::Date,
        "uuid" => Kind::Uuid,
        "text" => Kind::Text,
        "bytes" => Kind::Bytes,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_read_as_it_is_written() {
        let zones = [Zone::Local, Zone::Utc, Zone::Named("Europe/Berlin".into())];
        let units = [
            Unit::Second,
            Unit::Millisecond,
            Unit::Microsecond,
            Unit::Nanosecond,
        ];
        let mut kinds = vec![
            Kind::Bool,
            Kind::I8,
            Kind::I16,
            Kind::I32,
            Kind::I64,
            Kind::U8,
            Kind::U16,
            Kind::U32,
            Kind::U64,
            Kind::F32,
            Kind::F64,
            Kind::Decimal {
                precision: 38,
                scale: 38,
            },
            Kind::Date,
            Kind::Uuid,
            Kind::Text,
            Kind::Bytes,
        ];
        for unit in units {
            kinds.push(Kind::Time(unit));
            kinds.extend(zones.iter().map(|zone| Kind::Timestamp(unit, zone.clone())));
        }
        for kind in kinds {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for wrong in [
            "",
            "int",
            "decimal",
            "decimal(39,2)",
            "decimal(5,6)",
            "time(h)",
            "timestamp(s",
            "time(s,UTC)",
        ] {
            let error = wrong.parse::<Kind>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("{wrong:?} is no type")),
                "{error}"
            );
        }
    }
}
