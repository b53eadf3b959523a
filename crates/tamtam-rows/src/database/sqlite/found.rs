//! The type of a column of SQLite, from its declaration and its first values.

use rusqlite::types::ValueRef;

use crate::cell_text;
use crate::database::literal;
use crate::{Kind, Unit, Zone};

/// What the first rows of a column hold, from which its type follows: SQLite stores any value in any column.
#[derive(Debug)]
pub(super) struct Found {
    integers: bool,
    least: i64,
    most: i64,
    /// Whether no float holds one of the integers exactly.
    inexact: bool,
    reals: bool,
    texts: bool,
    bytes: bool,
    /// What all of the texts are; each false as soon as one isn't.
    dates: bool,
    times: bool,
    local: Units,
    utc: Units,
    uuids: bool,
    /// The numbers as text, of a column that was declared as a decimal: whether they fit.
    decimals: bool,
    precision: u8,
    scale: u8,
}

/// In which units all texts are timestamps, with a zone or without one. Nanoseconds end in the year 2262.
#[derive(Debug)]
struct Units {
    micro: bool,
    nano: bool,
}

impl Units {
    const ALL: Units = Units {
        micro: true,
        nano: true,
    };

    fn narrow(&mut self, text: &[u8], zone: &Zone) {
        let is = |unit| cell_text::timestamp(text, unit, zone).is_some();
        self.micro = self.micro && is(Unit::Microsecond);
        self.nano = self.nano && is(Unit::Nanosecond);
    }

    fn unit(&self) -> Option<Unit> {
        match (self.micro, self.nano) {
            (true, _) => Some(Unit::Microsecond),
            (false, true) => Some(Unit::Nanosecond),
            (false, false) => None,
        }
    }
}

impl Found {
    /// Nothing yet, of a column that was declared so.
    pub(super) fn new(declared: &Declared) -> Found {
        let (precision, scale) = match declared {
            Declared::Decimal(precision, scale) => (*precision, *scale),
            _ => (38, 0),
        };
        Found {
            integers: false,
            least: i64::MAX,
            most: i64::MIN,
            inexact: false,
            reals: false,
            texts: false,
            bytes: false,
            dates: true,
            times: true,
            local: Units::ALL,
            utc: Units::ALL,
            uuids: true,
            decimals: true,
            precision,
            scale,
        }
    }

    pub(super) fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => {
                self.integers = true;
                self.least = self.least.min(number);
                self.most = self.most.max(number);
                self.inexact |= (number as f64) as i128 != i128::from(number);
                self.decimals = self.decimals && self.is_decimal(number.to_string().as_bytes());
            }
            ValueRef::Real(number) => {
                self.reals = true;
                self.decimals = self.decimals && self.is_decimal(number.to_string().as_bytes());
            }
            ValueRef::Text(bytes) => {
                self.texts = true;
                self.add_text(bytes);
            }
            ValueRef::Blob(bytes) => {
                self.bytes = true;
                self.uuids = self.uuids && bytes.len() == 16;
            }
        }
    }

    fn add_text(&mut self, text: &[u8]) {
        self.dates = self.dates && literal::date(text).is_some();
        self.times = self.times && cell_text::time(text, Unit::Nanosecond).is_some();
        self.local.narrow(text, &Zone::Local);
        self.utc.narrow(text, &Zone::Utc);
        self.uuids = self.uuids && cell_text::uuid(text).is_some();
        self.decimals = self.decimals && self.is_decimal(text);
    }

    fn is_decimal(&self, text: &[u8]) -> bool {
        cell_text::decimal(text, self.precision, self.scale).is_some()
    }

    /// The type of the column; one that is [mixed](Found::is_mixed) has values that do not fit it.
    pub(super) fn kind(&self, declared: &Declared) -> Kind {
        let numbers = self.integers || self.reals;
        match (numbers, self.texts, self.bytes) {
            (false, false, false) => declared.kind_alone(),
            (_, _, true) if self.uuids && *declared == Declared::Uuid && !self.texts => Kind::Uuid,
            // Text is taken as its bytes.
            (_, _, true) => Kind::Bytes,
            // Numbers are written as text.
            (true, true, false) => self.decimal(declared).unwrap_or(Kind::Text),
            (false, true, false) => self.text_kind(declared),
            (true, false, false) if self.reals => match self.decimal(declared) {
                Some(decimal) => decimal,
                None if self.inexact => Kind::Text,
                None => Kind::F64,
            },
            (true, false, false) => self.integer_kind(declared),
        }
    }

    /// Whether there are numbers beside blobs, which no type holds.
    pub(super) fn is_mixed(&self) -> bool {
        self.bytes && (self.integers || self.reals)
    }

    fn decimal(&self, declared: &Declared) -> Option<Kind> {
        match *declared {
            Declared::Decimal(precision, scale) if self.decimals => {
                Some(Kind::Decimal { precision, scale })
            }
            _ => None,
        }
    }

    fn text_kind(&self, declared: &Declared) -> Kind {
        match declared {
            Declared::Date | Declared::Timestamp if self.dates => Kind::Date,
            Declared::Time if self.times => Kind::Time(Unit::Nanosecond),
            // Some with a zone and some without cannot be one column.
            Declared::Date | Declared::Timestamp => {
                let local = self.local.unit().map(|unit| (unit, Zone::Local));
                let found = local.or_else(|| self.utc.unit().map(|unit| (unit, Zone::Utc)));
                found.map_or(Kind::Text, |(unit, zone)| Kind::Timestamp(unit, zone))
            }
            Declared::Uuid if self.uuids => Kind::Uuid,
            Declared::Decimal(..) => self.decimal(declared).unwrap_or(Kind::Text),
            _ => Kind::Text,
        }
    }

    fn integer_kind(&self, declared: &Declared) -> Kind {
        let within = |least: i64, most: i64| self.least >= least && self.most <= most;
        match declared {
            Declared::Bool if within(0, 1) => Kind::Bool,
            Declared::Integer(kind) => {
                let fits = match kind {
                    Kind::I8 => within(i8::MIN.into(), i8::MAX.into()),
                    Kind::I16 => within(i16::MIN.into(), i16::MAX.into()),
                    Kind::I32 => within(i32::MIN.into(), i32::MAX.into()),
                    Kind::U8 => within(0, u8::MAX.into()),
                    Kind::U16 => within(0, u16::MAX.into()),
                    Kind::U32 => within(0, u32::MAX.into()),
                    Kind::U64 => self.least >= 0,
                    _ => true,
                };
                if fits { kind.clone() } else { Kind::I64 }
            }
            Declared::Real if !self.inexact => Kind::F64,
            Declared::Decimal(..) => self.decimal(declared).unwrap_or(Kind::I64),
            _ => Kind::I64,
        }
    }
}

/// What a column was declared as in `CREATE TABLE`, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Bool,
    Integer(Kind),
    Real,
    Decimal(u8, u8),
    Date,
    Time,
    Timestamp,
    Uuid,
    Text,
    Bytes,
    /// An expression, or a word that says nothing.
    Nothing,
}

impl Declared {
    pub(super) fn new(declared: Option<&str>) -> Declared {
        let Some(declared) = declared else {
            return Declared::Nothing;
        };
        let upper = declared.to_ascii_uppercase();
        let (before, parameters) = match upper.split_once('(') {
            Some((before, rest)) => (before.trim(), rest.split(')').next().unwrap_or_default()),
            None => (upper.trim(), ""),
        };
        let unsigned = upper.contains("UNSIGNED");
        let name = before.split_whitespace().next().unwrap_or_default();
        let integer = |signed, other| Declared::Integer(if unsigned { other } else { signed });
        match name {
            "BOOL" | "BOOLEAN" => Declared::Bool,
            "TINYINT" => integer(Kind::I8, Kind::U8),
            "SMALLINT" | "INT2" => integer(Kind::I16, Kind::U16),
            "MEDIUMINT" | "INT4" => integer(Kind::I32, Kind::U32),
            // SQLite's own INTEGER has 64 bits, whatever else it is called.
            "INT" | "INTEGER" | "BIGINT" | "INT8" => integer(Kind::I64, Kind::U64),
            "REAL" | "DOUBLE" | "FLOAT" => Declared::Real,
            "DECIMAL" | "NUMERIC" => {
                let mut numbers = parameters.split(',').map(|text| text.trim().parse::<u8>());
                match (numbers.next(), numbers.next()) {
                    (Some(Ok(precision @ 1..=38)), Some(Ok(scale))) if scale <= precision => {
                        Declared::Decimal(precision, scale)
                    }
                    (Some(Ok(precision @ 1..=38)), None) => Declared::Decimal(precision, 0),
                    _ => Declared::Nothing,
                }
            }
            "DATE" => Declared::Date,
            "TIME" => Declared::Time,
            "DATETIME" | "TIMESTAMP" | "TIMESTAMPTZ" => Declared::Timestamp,
            "UUID" => Declared::Uuid,
            "BLOB" | "BINARY" | "VARBINARY" | "BYTEA" => Declared::Bytes,
            // The rules of affinity, https://www.sqlite.org/datatype3.html, 3.1.
            _ if upper.contains("INT") => integer(Kind::I64, Kind::U64),
            _ if ["CHAR", "CLOB", "TEXT"]
                .iter()
                .any(|word| upper.contains(word)) =>
            {
                Declared::Text
            }
            _ if ["REAL", "FLOA", "DOUB"]
                .iter()
                .any(|word| upper.contains(word)) =>
            {
                Declared::Real
            }
            _ => Declared::Nothing,
        }
    }

    /// The type of a column of which nothing else is known: the first rows hold only nulls, or there are none.
    fn kind_alone(&self) -> Kind {
        match self {
            Declared::Bool => Kind::Bool,
            Declared::Integer(kind) => kind.clone(),
            Declared::Real => Kind::F64,
            Declared::Decimal(precision, scale) => Kind::Decimal {
                precision: *precision,
                scale: *scale,
            },
            Declared::Date => Kind::Date,
            Declared::Time => Kind::Time(Unit::Nanosecond),
            Declared::Timestamp => Kind::Timestamp(Unit::Microsecond, Zone::Local),
            Declared::Uuid => Kind::Uuid,
            Declared::Text | Declared::Nothing => Kind::Text,
            Declared::Bytes => Kind::Bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(declared: &str, values: &[ValueRef<'_>]) -> Kind {
        let declared = Declared::new(Some(declared));
        let mut found = Found::new(&declared);
        values.iter().for_each(|&value| found.add(value));
        found.kind(&declared)
    }

    #[test]
    fn a_declared_width_holds_as_long_as_the_values_fit() {
        let integer = ValueRef::Integer;
        assert_eq!(kind("smallint", &[integer(-5), ValueRef::Null]), Kind::I16);
        assert_eq!(kind("smallint", &[integer(40_000)]), Kind::I64);
        assert_eq!(kind("SMALLINT UNSIGNED", &[integer(40_000)]), Kind::U16);
        assert_eq!(kind("int unsigned", &[integer(-1)]), Kind::I64);
        assert_eq!(kind("boolean", &[integer(1)]), Kind::Bool);
        assert_eq!(kind("boolean", &[integer(2)]), Kind::I64);
        assert_eq!(
            kind("integer", &[integer(1), ValueRef::Real(0.5)]),
            Kind::F64
        );
        assert_eq!(
            kind("integer", &[integer(1), ValueRef::Text(b"one")]),
            Kind::Text
        );
    }

    #[test]
    fn texts_are_dates_where_they_were_declared_so_and_all_are_dates() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        assert_eq!(kind("date", &[text("2026-11-22")]), Kind::Date);
        assert_eq!(
            kind("date", &[text("2026-11-22"), text("soon")]),
            Kind::Text
        );
        assert_eq!(kind("text", &[text("2026-11-22")]), Kind::Text);
        let at = text("2026-11-22 02:45:00.5");
        assert_eq!(
            kind("datetime", &[at]),
            Kind::Timestamp(Unit::Microsecond, Zone::Local)
        );
        let zoned = text("2026-11-22T02:45:00Z");
        assert_eq!(
            kind("timestamp", &[zoned]),
            Kind::Timestamp(Unit::Microsecond, Zone::Utc)
        );
        assert_eq!(kind("timestamp", &[zoned, at]), Kind::Text);
        assert_eq!(
            kind("datetime", &[ValueRef::Integer(1_700_000_000)]),
            Kind::I64
        );
    }

    #[test]
    fn a_decimal_keeps_its_scale_or_becomes_a_float() {
        let decimal = Kind::Decimal {
            precision: 10,
            scale: 2,
        };
        assert_eq!(
            kind(
                "decimal(10,2)",
                &[ValueRef::Real(12.3), ValueRef::Integer(5)]
            ),
            decimal
        );
        assert_eq!(kind("decimal(10,2)", &[ValueRef::Real(12.345)]), Kind::F64);
        assert_eq!(kind("numeric(10, 2)", &[]), decimal);
        assert_eq!(kind("numeric", &[ValueRef::Real(0.5)]), Kind::F64);
    }

    #[test]
    fn no_declaration_leaves_it_to_the_values() {
        assert_eq!(kind("", &[ValueRef::Blob(&[1, 2])]), Kind::Bytes);
        assert_eq!(kind("", &[ValueRef::Text(b"x")]), Kind::Text);
        assert_eq!(kind("", &[]), Kind::Text);
        assert_eq!(kind("uuid", &[ValueRef::Blob(&[7; 16])]), Kind::Uuid);
    }
}
