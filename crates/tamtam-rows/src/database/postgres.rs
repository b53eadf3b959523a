//! What PostgreSQL holds, as values of columns.

use sqlx::postgres::{PgColumn, PgRow, PgTypeInfo, PgTypeKind, PgValueFormat, PgValueRef};
use sqlx::{Column, Postgres, Row, TypeInfo, ValueRef};

use super::error::Unfit;
use super::parts::{Source, is_integer, sealed::Mapped};
use super::{DatabaseError, literal};
use crate::{Kind, Unit, Value, Zone, cell_text};

/// From 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
const DAYS_TO_2000: i32 = 10_957;
const MICROSECONDS_TO_2000: i64 = DAYS_TO_2000 as i64 * 86_400_000_000;

impl Source for Postgres {}

impl Mapped for Postgres {
    #[allow(private_interfaces)]
    fn kind(column: &PgColumn, index: usize, sample: &[PgRow]) -> Result<Kind, DatabaseError> {
        let database_type = base(column.type_info());
        if matches!(database_type.kind(), PgTypeKind::Enum(_)) {
            return Ok(Kind::Text);
        }
        Ok(match database_type.name() {
            "BOOL" => Kind::Bool,
            "INT2" => Kind::I16,
            "INT4" => Kind::I32,
            "INT8" => Kind::I64,
            "OID" => Kind::U32,
            "FLOAT4" => Kind::F32,
            "FLOAT8" => Kind::F64,
            "NUMERIC" => numeric(index, sample),
            "DATE" => Kind::Date,
            "TIME" => Kind::Time(Unit::Microsecond),
            "TIMESTAMP" => Kind::Timestamp(Unit::Microsecond, Zone::Local),
            "TIMESTAMPTZ" => Kind::Timestamp(Unit::Microsecond, Zone::Utc),
            "UUID" => Kind::Uuid,
            "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "JSON" | "JSONB" | "UNKNOWN" | "citext" => {
                Kind::Text
            }
            "BYTEA" => Kind::Bytes,
            other => {
                return Err(DatabaseError::Unsupported {
                    column: column.name().to_owned(),
                    database_type: other.to_owned(),
                    kind: "into rows".to_owned(),
                    advice: "convert it in the query: column::text",
                });
            }
        })
    }

    fn gives(column: &PgColumn, kind: &Kind) -> bool {
        let integer = is_integer(kind);
        let microseconds = Unit::Microsecond;
        let database_type = base(column.type_info());
        match database_type.name() {
            "BOOL" => *kind == Kind::Bool,
            "INT2" | "INT4" | "INT8" | "OID" => integer,
            "FLOAT4" => matches!(kind, Kind::F32 | Kind::F64),
            "FLOAT8" => *kind == Kind::F64,
            "NUMERIC" => matches!(kind, Kind::Decimal { .. }),
            "DATE" => *kind == Kind::Date,
            "TIME" => *kind == Kind::Time(microseconds),
            "TIMESTAMP" => *kind == Kind::Timestamp(microseconds, Zone::Local),
            "TIMESTAMPTZ" => {
                matches!(kind, Kind::Timestamp(unit, zone) if *unit == microseconds && *zone != Zone::Local)
            }
            "UUID" => *kind == Kind::Uuid,
            "BYTEA" => *kind == Kind::Bytes,
            "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "JSON" | "JSONB" | "UNKNOWN" | "citext" => {
                *kind == Kind::Text
            }
            _ => *kind == Kind::Text && matches!(database_type.kind(), PgTypeKind::Enum(_)),
        }
    }

    fn bytes(row: &PgRow) -> usize {
        let lengths = (0..row.len()).map(|index| match row.try_get_raw(index) {
            Ok(raw) if !raw.is_null() => raw.as_bytes().map_or(0, <[u8]>::len),
            _ => 0,
        });
        lengths.sum()
    }

    #[allow(private_interfaces)]
    fn value<'r>(row: &'r PgRow, index: usize, kind: &Kind) -> Result<Value<'r>, Unfit> {
        let raw = row
            .try_get_raw(index)
            .map_err(|error| Unfit::new("of this row", error.to_string()))?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        match raw.format() {
            PgValueFormat::Binary => binary(&raw, kind),
            PgValueFormat::Text => text(&raw, kind),
        }
    }
}

/// `numeric(10,2)` says with each value how many digits it has; without a limit each value has its own.
fn numeric(index: usize, sample: &[PgRow]) -> Kind {
    let scale = sample
        .iter()
        .filter_map(|row| {
            let raw = row.try_get_raw(index).ok().filter(|raw| !raw.is_null())?;
            match raw.format() {
                PgValueFormat::Binary => Numeric::new(raw.as_bytes().ok()?).map(|n| n.scale),
                PgValueFormat::Text => raw.as_str().ok().map(literal::scale_of),
            }
        })
        .max();
    Kind::Decimal {
        precision: 38,
        scale: scale.map_or(UNKNOWN_SCALE, |scale| scale.min(38) as u8),
    }
}

/// The scale of a numeric column in whose first rows there is no value.
const UNKNOWN_SCALE: u8 = 10;

/// A domain is a type with a condition, which its values fulfil.
fn base(mut database_type: &PgTypeInfo) -> &PgTypeInfo {
    while let PgTypeKind::Domain(inner) = database_type.kind() {
        database_type = inner;
    }
    database_type
}

fn binary<'r>(raw: &PgValueRef<'r>, kind: &Kind) -> Result<Value<'r>, Unfit> {
    let bytes = raw
        .as_bytes()
        .map_err(|error| Unfit::new("of this row", error.to_string()))?;
    let database_type = raw.type_info();
    let inner = base(&database_type);
    let name = inner.name();
    let other = |bytes: &[u8]| {
        Unfit::new(
            format!("of {} bytes", bytes.len()),
            format!("it is of PostgreSQL's type {name}"),
        )
    };
    match (kind, name, bytes) {
        (Kind::Bool, "BOOL", [byte]) => Ok(Value::Bool(*byte != 0)),
        (
            Kind::I8
            | Kind::I16
            | Kind::I32
            | Kind::I64
            | Kind::U8
            | Kind::U16
            | Kind::U32
            | Kind::U64,
            "INT2" | "INT4" | "INT8" | "OID",
            _,
        ) => match *bytes {
            [a, b] => Ok(Value::Int(i16::from_be_bytes([a, b]).into())),
            [a, b, c, d] if name == "OID" => {
                Ok(Value::Unsigned(u32::from_be_bytes([a, b, c, d]).into()))
            }
            [a, b, c, d] => Ok(Value::Int(i32::from_be_bytes([a, b, c, d]).into())),
            _ => eight(bytes).map(Value::Int).ok_or_else(|| other(bytes)),
        },
        (Kind::F32 | Kind::F64, "FLOAT4", &[a, b, c, d]) => {
            Ok(Value::F32(f32::from_be_bytes([a, b, c, d])))
        }
        (Kind::F64, "FLOAT8", _) => eight(bytes)
            .map(|bits| Value::F64(f64::from_bits(bits as u64)))
            .ok_or_else(|| other(bytes)),
        (Kind::Decimal { precision, scale }, "NUMERIC", _) => {
            let numeric = Numeric::new(bytes).ok_or_else(|| other(bytes))?;
            numeric.value(*precision, *scale).map(Value::Decimal)
        }
        (Kind::Date, "DATE", &[a, b, c, d]) => {
            let days = i32::from_be_bytes([a, b, c, d]);
            match days.checked_add(DAYS_TO_2000) {
                Some(days) if days != i32::MIN + DAYS_TO_2000 => Ok(Value::Date(days)),
                _ => Err(infinite(days < 0)),
            }
        }
        (Kind::Time(Unit::Microsecond), "TIME", _) => {
            eight(bytes).map(Value::Time).ok_or_else(|| other(bytes))
        }
        (Kind::Timestamp(Unit::Microsecond, _), "TIMESTAMP" | "TIMESTAMPTZ", _) => {
            let since_2000 = eight(bytes).ok_or_else(|| other(bytes))?;
            match since_2000.checked_add(MICROSECONDS_TO_2000) {
                Some(since_1970) if since_2000 != i64::MIN => Ok(Value::Timestamp(since_1970)),
                _ => Err(infinite(since_2000 < 0)),
            }
        }
        (Kind::Uuid, "UUID", _) => match bytes.try_into() {
            Ok(uuid) => Ok(Value::Uuid(uuid)),
            Err(_) => Err(other(bytes)),
        },
        (Kind::Bytes, "BYTEA", _) => Ok(Value::Bytes(bytes)),
        // The first byte is the version of that form, which has been 1 for ever.
        (Kind::Text, "JSONB", [1, json @ ..]) => utf8(json).map(Value::Text),
        (Kind::Text, "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "JSON" | "UNKNOWN" | "citext", _) => {
            utf8(bytes).map(Value::Text)
        }
        (Kind::Text, _, _) if matches!(inner.kind(), PgTypeKind::Enum(_)) => {
            utf8(bytes).map(Value::Text)
        }
        _ => Err(other(bytes)),
    }
}

/// What a simple query (`sqlx::raw_sql`) answers.
fn text<'r>(raw: &PgValueRef<'r>, kind: &Kind) -> Result<Value<'r>, Unfit> {
    let text = raw
        .as_str()
        .map_err(|error| Unfit::new("of this row", error.to_string()))?;
    let bytes = text.as_bytes();
    let value = match kind {
        Kind::Bool => match text {
            "t" => Some(Value::Bool(true)),
            "f" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => text.parse().ok().map(Value::Int),
        Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => text.parse().ok().map(Value::Unsigned),
        Kind::F32 => cell_text::real(text).map(Value::F32),
        Kind::F64 => cell_text::real(text).map(Value::F64),
        Kind::Decimal { precision, scale } => {
            cell_text::decimal(bytes, *precision, *scale).map(Value::Decimal)
        }
        Kind::Date => literal::date(bytes).map(Value::Date),
        Kind::Time(unit) => cell_text::time(bytes, *unit).map(Value::Time),
        Kind::Timestamp(unit, zone) => {
            cell_text::timestamp(bytes, *unit, zone).map(Value::Timestamp)
        }
        Kind::Uuid => cell_text::uuid(bytes).map(Value::Uuid),
        Kind::Text => Some(Value::Text(text)),
        Kind::Bytes => {
            return Err(Unfit::new(
                text,
                "a simple query gives bytes as text; use sqlx::query",
            ));
        }
    };
    value.ok_or_else(|| Unfit::new(text, "it is not written as one"))
}

fn eight(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_be_bytes)
}

fn infinite(negative: bool) -> Unfit {
    let value = if negative { "-infinity" } else { "infinity" };
    Unfit::new(value, "it is no point in time")
}

fn utf8(bytes: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(bytes).map_err(|_| {
        Unfit::new(
            format!("{:?}", String::from_utf8_lossy(bytes)),
            "its text is not valid UTF-8 (set client_encoding to UTF8)",
        )
    })
}

/// A `numeric` in PostgreSQL's binary form: digits of 10,000, the first of which counts 10,000 to the power of `weight`.
struct Numeric<'a> {
    digits: &'a [u8],
    weight: i32,
    sign: u16,
    scale: usize,
}

impl<'a> Numeric<'a> {
    fn new(bytes: &'a [u8]) -> Option<Numeric<'a>> {
        let [a, b, c, d, e, f, g, h, digits @ ..] = bytes else {
            return None;
        };
        let count = usize::from(u16::from_be_bytes([*a, *b]));
        (digits.len() == 2 * count).then_some(Numeric {
            digits,
            weight: i16::from_be_bytes([*c, *d]).into(),
            sign: u16::from_be_bytes([*e, *f]),
            scale: u16::from_be_bytes([*g, *h]).into(),
        })
    }

    fn value(&self, precision: u8, scale: u8) -> Result<i128, Unfit> {
        match self.sign {
            0x0000 | 0x4000 => {}
            0xc000 => return Err(Unfit::new("NaN", "it is no decimal")),
            0xd000 => return Err(Unfit::new("Infinity", "it is no decimal")),
            0xf000 => return Err(Unfit::new("-Infinity", "it is no decimal")),
            _ => return Err(Unfit::new("of this row", "its sign is unknown")),
        }
        let magnitude = self.magnitude(precision, scale).ok_or_else(|| {
            Unfit::new(
                format!("with {} digits behind the point", self.scale),
                "it has more digits",
            )
        })?;
        Ok(if self.sign == 0x4000 {
            -magnitude
        } else {
            magnitude
        })
    }

    fn magnitude(&self, precision: u8, scale: u8) -> Option<i128> {
        let mut sum: i128 = 0;
        for (place, digit) in (0..).zip(self.digits.chunks_exact(2)) {
            let digit = i128::from(u16::from_be_bytes([digit[0], digit[1]]));
            let exponent = 4 * (self.weight - place) + i32::from(scale);
            let part = if digit == 0 {
                0
            } else if exponent >= 0 {
                digit.checked_mul(literal::power_of_ten(exponent as u32)?)?
            } else {
                // What lies beyond the scale must be zeros.
                let divisor = literal::power_of_ten(exponent.unsigned_abs())?;
                if digit % divisor != 0 {
                    return None;
                }
                digit / divisor
            };
            sum = sum.checked_add(part)?;
        }
        (sum < literal::power_of_ten(precision.into())?).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerics_are_exact_or_refused() {
        // 12345.678 as PostgreSQL sends it: 1, 2345, 6780; weight 1; scale 3.
        let bytes = [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1a, 0x7c];
        let numeric = Numeric::new(&bytes).unwrap();
        assert_eq!(numeric.scale, 3);
        assert_eq!(numeric.value(38, 3).unwrap(), 12_345_678);
        assert_eq!(numeric.value(38, 6).unwrap(), 12_345_678_000);
        assert!(numeric.value(38, 2).is_err());

        let not_a_number = [0, 0, 0, 0, 0xc0, 0, 0, 0];
        assert!(Numeric::new(&not_a_number).unwrap().value(38, 0).is_err());
        let zero = [0, 0, 0, 0, 0, 0, 0, 2];
        assert_eq!(Numeric::new(&zero).unwrap().value(38, 2).unwrap(), 0);
        assert!(Numeric::new(&bytes[..13]).is_none());
    }
}
