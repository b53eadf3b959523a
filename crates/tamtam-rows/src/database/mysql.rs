//! What MySQL and MariaDB hold, as values of columns.

use sqlx::mysql::{MySqlColumn, MySqlRow, MySqlTypeInfo, MySqlValueRef};
use sqlx::{Column, Decode, MySql, Row, Type, TypeInfo, ValueRef};

use super::error::Unfit;
use super::parts::{Source, is_integer, sealed::Mapped};
use super::{DatabaseError, literal};
use crate::{Kind, Unit, Value, Zone, cell_text};

impl Source for MySql {}

impl Mapped for MySql {
    #[allow(private_interfaces)]
    fn kind(
        column: &MySqlColumn,
        index: usize,
        sample: &[MySqlRow],
    ) -> Result<Kind, DatabaseError> {
        let database_type = column.type_info();
        Ok(match database_type.name() {
            "BOOLEAN" => flag_or_integer(database_type, index, sample),
            "TINYINT" => Kind::I8,
            "SMALLINT" => Kind::I16,
            "INT" | "MEDIUMINT" => Kind::I32,
            "BIGINT" => Kind::I64,
            "TINYINT UNSIGNED" => Kind::U8,
            "SMALLINT UNSIGNED" | "YEAR" => Kind::U16,
            "INT UNSIGNED" | "MEDIUMINT UNSIGNED" => Kind::U32,
            "BIGINT UNSIGNED" | "BIT" => Kind::U64,
            "FLOAT" => Kind::F32,
            "DOUBLE" => Kind::F64,
            "DECIMAL" => decimal(index, sample),
            "DATE" => Kind::Date,
            "TIME" => Kind::Time(Unit::Microsecond),
            "DATETIME" => Kind::Timestamp(Unit::Microsecond, Zone::Local),
            "TIMESTAMP" => Kind::Timestamp(Unit::Microsecond, Zone::Utc),
            "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB"
            | "GEOMETRY" => Kind::Bytes,
            // CHAR, VARCHAR, the texts, ENUM, SET, JSON, and NULL, which has no other values.
            "CHAR" | "VARCHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "ENUM"
            | "SET" | "JSON" | "NULL" => Kind::Text,
            other => {
                return Err(DatabaseError::Unsupported {
                    column: column.name().to_owned(),
                    database_type: other.to_owned(),
                    kind: "into rows".to_owned(),
                    advice: "convert it in the query: CAST(.. AS CHAR)",
                });
            }
        })
    }

    fn gives(column: &MySqlColumn, kind: &Kind) -> bool {
        let integer = is_integer(kind);
        let microseconds = Unit::Microsecond;
        match column.type_info().name() {
            "BOOLEAN" => integer || *kind == Kind::Bool,
            "FLOAT" => *kind == Kind::F32,
            "DOUBLE" => *kind == Kind::F64,
            "DECIMAL" => matches!(kind, Kind::Decimal { .. } | Kind::Text),
            "DATE" => *kind == Kind::Date,
            "TIME" => *kind == Kind::Time(microseconds),
            "DATETIME" => *kind == Kind::Timestamp(microseconds, Zone::Local),
            "TIMESTAMP" => {
                matches!(kind, Kind::Timestamp(unit, zone) if *unit == microseconds && *zone != Zone::Local)
            }
            "CHAR" | "VARCHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "ENUM"
            | "SET" | "JSON" => matches!(kind, Kind::Text | Kind::Uuid),
            "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" => {
                matches!(kind, Kind::Bytes | Kind::Uuid | Kind::Text)
            }
            "GEOMETRY" => *kind == Kind::Bytes,
            "NULL" => true,
            _ => integer,
        }
    }

    fn bytes(row: &MySqlRow) -> usize {
        let length = |raw| <&[u8] as Decode<MySql>>::decode(raw).map_or(0, <[u8]>::len);
        let lengths = (0..row.len()).map(|index| match row.try_get_raw(index) {
            Ok(raw) if !raw.is_null() => length(raw),
            _ => 0,
        });
        lengths.sum()
    }

    #[allow(private_interfaces)]
    fn value<'r>(row: &'r MySqlRow, index: usize, kind: &Kind) -> Result<Value<'r>, Unfit> {
        let raw = raw(row, index)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        match kind {
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
                if is_unsigned(&raw) {
                    decode(raw).map(Value::Unsigned)
                } else {
                    decode(raw).map(Value::Int)
                }
            }
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => {
                if is_signed(&raw) {
                    decode(raw).map(Value::Int)
                } else {
                    decode(raw).map(Value::Unsigned)
                }
            }
            Kind::Bool => match decode::<u64>(raw)? {
                0 => Ok(Value::Bool(false)),
                1 => Ok(Value::Bool(true)),
                // A signed TINYINT(1) that is negative arrives with its bits.
                other => Err(Unfit::new(other as u8 as i8, "it is neither 0 nor 1")),
            },
            Kind::F32 => decode(raw).map(Value::F32),
            Kind::F64 => decode(raw).map(Value::F64),
            Kind::Decimal { precision, scale } => {
                let text: &str = decode(raw)?;
                cell_text::decimal(text.as_bytes(), *precision, *scale)
                    .map(Value::Decimal)
                    .ok_or_else(|| Unfit::new(text, "it has more digits"))
            }
            Kind::Date => {
                let moment = Moment::new(decode(raw)?)?;
                Ok(moment.map_or(Value::Null, |moment| Value::Date(moment.days)))
            }
            Kind::Timestamp(Unit::Microsecond, _) => {
                let moment = Moment::new(decode(raw)?)?;
                Ok(moment.map_or(Value::Null, |moment| {
                    Value::Timestamp(i64::from(moment.days) * 86_400_000_000 + moment.microseconds)
                }))
            }
            Kind::Time(Unit::Microsecond) => time(decode(raw)?).map(Value::Time),
            Kind::Uuid => uuid(decode(raw)?),
            Kind::Bytes => decode(raw).map(Value::Bytes),
            Kind::Text => decode(raw).map(Value::Text),
            other => Err(Unfit::new(
                raw.type_info().name(),
                format!("MySQL gives no {other}; ask for microseconds"),
            )),
        }
    }
}

fn raw(row: &MySqlRow, index: usize) -> Result<MySqlValueRef<'_>, Unfit> {
    row.try_get_raw(index)
        .map_err(|error| Unfit::new("of this row", error.to_string()))
}

/// By whatever type is asked for: which one is right was seen to before.
fn decode<'r, T: Decode<'r, MySql>>(raw: MySqlValueRef<'r>) -> Result<T, Unfit> {
    let database_type = raw.type_info().name().to_owned();
    T::decode(raw)
        .map_err(|error| Unfit::new(format!("of type {database_type}"), error.to_string()))
}

fn is_unsigned(raw: &MySqlValueRef<'_>) -> bool {
    let database_type = raw.type_info();
    database_type.name().ends_with("UNSIGNED")
        || matches!(database_type.name(), "BIT" | "YEAR")
        || (database_type.name() == "BOOLEAN" && is_unsigned_byte(&database_type))
}

fn is_signed(raw: &MySqlValueRef<'_>) -> bool {
    !is_unsigned(raw)
}

/// `TINYINT(1) UNSIGNED` is called `BOOLEAN` as well; equality of these types looks at the sign.
fn is_unsigned_byte(database_type: &MySqlTypeInfo) -> bool {
    *database_type == <u8 as Type<MySql>>::type_info()
}

fn flag_or_integer(database_type: &MySqlTypeInfo, index: usize, sample: &[MySqlRow]) -> Kind {
    let is_flag = sample.iter().all(|row| {
        raw(row, index)
            .is_ok_and(|raw| raw.is_null() || decode::<u64>(raw).is_ok_and(|number| number <= 1))
    });
    if is_flag {
        Kind::Bool
    } else if is_unsigned_byte(database_type) {
        Kind::U8
    } else {
        Kind::I8
    }
}

/// MySQL writes as many digits behind the point as the column has, so that one value tells; but `sqlx` does not.
fn decimal(index: usize, sample: &[MySqlRow]) -> Kind {
    let scale = sample
        .iter()
        .filter_map(|row| {
            let raw = raw(row, index).ok().filter(|raw| !raw.is_null())?;
            decode::<&str>(raw).ok().map(literal::scale_of)
        })
        .max();
    Kind::Decimal {
        precision: 38,
        scale: scale.map_or(UNKNOWN_SCALE, |scale| scale.min(38) as u8),
    }
}

/// The scale of a decimal column in whose first rows there is no value.
const UNKNOWN_SCALE: u8 = 10;

/// A date with a time, in MySQL's binary form (a byte says its length) or as text.
struct Moment {
    days: i32,
    microseconds: i64,
}

impl Moment {
    /// None for the zero date, which in the binary form has no bytes.
    fn new(bytes: &[u8]) -> Result<Option<Moment>, Unfit> {
        if is_zero(bytes) {
            return Ok(None);
        }
        let moment = match *bytes {
            [4, low, high, month, day] => {
                Moment::of([low, high, month, day], [0, 0, 0], [0, 0, 0, 0])
            }
            [7, low, high, month, day, hour, minute, second] => {
                Moment::of([low, high, month, day], [hour, minute, second], [0; 4])
            }
            [11, low, high, month, day, hour, minute, second, a, b, c, d] => Moment::of(
                [low, high, month, day],
                [hour, minute, second],
                [a, b, c, d],
            ),
            _ => Moment::written(bytes),
        };
        moment.map(Some).ok_or_else(|| {
            let value = match bytes {
                [4 | 7 | 11, low, high, month, day, ..] => {
                    let year = u16::from_le_bytes([*low, *high]);
                    format!("{year:04}-{month:02}-{day:02}")
                }
                _ => String::from_utf8_lossy(bytes).into_owned(),
            };
            Unfit::new(value, "there is no such day")
        })
    }

    /// A date, or a date and a time, as text.
    fn written(text: &[u8]) -> Option<Moment> {
        if let Some(days) = literal::date(text) {
            return Some(Moment {
                days,
                microseconds: 0,
            });
        }
        let value = cell_text::timestamp(text, Unit::Microsecond, &Zone::Local)?;
        Some(Moment {
            days: i32::try_from(value.div_euclid(86_400_000_000)).ok()?,
            microseconds: value.rem_euclid(86_400_000_000),
        })
    }

    fn of(date: [u8; 4], time: [u8; 3], microseconds: [u8; 4]) -> Option<Moment> {
        let [low, high, month, day] = date;
        let year = u16::from_le_bytes([low, high]);
        let [hour, minute, second] = time.map(i64::from);
        Some(Moment {
            days: literal::days(year, month, day)?,
            microseconds: ((hour * 60 + minute) * 60 + second) * 1_000_000
                + i64::from(u32::from_le_bytes(microseconds)),
        })
    }
}

/// Whether this is MySQL's zero date as text, with a time or without.
fn is_zero(text: &[u8]) -> bool {
    let Some(time) = text.strip_prefix(b"0000-00-00") else {
        return false;
    };
    time.iter()
        .all(|byte| matches!(byte, b'0' | b':' | b'.' | b' ' | b'T'))
}

/// A `TIME`, from -838:59:59 to 838:59:59, in microseconds.
fn time(bytes: &[u8]) -> Result<i64, Unfit> {
    let (rest, fraction) = match *bytes {
        [0] => return Ok(0),
        [8, ref rest @ ..] if rest.len() == 8 => (rest, 0),
        [12, ref rest @ ..] if rest.len() == 12 => {
            let fraction = [rest[8], rest[9], rest[10], rest[11]];
            (&rest[..8], i64::from(u32::from_le_bytes(fraction)))
        }
        _ => {
            return cell_text::time(bytes, Unit::Microsecond)
                .ok_or_else(|| Unfit::new(String::from_utf8_lossy(bytes), "it is no time"));
        }
    };
    let days = u32::from_le_bytes([rest[1], rest[2], rest[3], rest[4]]);
    let seconds = ((i64::from(days) * 24 + i64::from(rest[5])) * 60 + i64::from(rest[6])) * 60
        + i64::from(rest[7]);
    let value = seconds * 1_000_000 + fraction;
    Ok(if rest[0] == 1 { -value } else { value })
}

/// MariaDB's `UUID` arrives as text, a `BINARY(16)` as bytes.
fn uuid(bytes: &[u8]) -> Result<Value<'static>, Unfit> {
    <[u8; 16]>::try_from(bytes)
        .ok()
        .or_else(|| cell_text::uuid(bytes))
        .map(Value::Uuid)
        .ok_or_else(|| Unfit::new(String::from_utf8_lossy(bytes), "it is no UUID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zero_date_as_text_is_null() {
        for zero in [
            "0000-00-00",
            "0000-00-00 00:00:00",
            "0000-00-00 00:00:00.000000",
        ] {
            assert!(Moment::new(zero.as_bytes()).unwrap().is_none(), "{zero}");
        }
        for wrong in [
            "0000-00-01",
            "0000-00-00 00:00:01",
            "0000-01-00 00:00:00",
            "2024-00-00",
        ] {
            assert!(Moment::new(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let day = Moment::new(b"1970-01-02 00:00:01").unwrap().unwrap();
        assert_eq!((day.days, day.microseconds), (1, 1_000_000));
    }
}
