use std::fmt;
use std::sync::Arc;

/// The type of a column.
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
