//! What each form cannot carry, and what it notices of damage. Whoever changes what a form does changes it here.

use std::collections::BTreeSet;

use tamtam_rows::{Kind, Rows, Value};

/// What a table may have in it that some form cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Two columns of one name.
    EqualNames,
    /// A column's name with characters that XML 1.0 has no way to write: most control characters, U+FFFE, U+FFFF.
    ControlCharactersInNames,
    /// The same in text.
    ControlCharacters,
    /// A number that is infinite.
    Infinity,
    /// A number that is not one, with the bits that Rust's `NAN` has.
    NotANumber,
    /// One with other bits: negative, or with something to tell.
    NotANumberWithPayload,
    /// A negative zero.
    NegativeZero,
    /// An integer beyond 53 bits: not exact as a double.
    Above53Bits,
    /// An integer of 2^63 or more.
    Above63Bits,
    /// A time that is negative, or not below 24 hours.
    BeyondADay,
    /// A date, or a timestamp in seconds or milliseconds, more than 100,000,000 days from 1970: none in ECMAScript.
    FarFromNow,
    /// No column at all.
    NoColumns,
}

/// What a form makes of bytes that were cut off or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notices {
    /// Rows or values may be lost or changed without notice.
    Nothing,
    /// What was cut off; changed values may pass.
    Truncation,
    /// What was cut off, and each change of a bit.
    Everything,
}

/// What is known of a form.
pub(crate) struct Form {
    name: &'static str,
    /// What it cannot carry.
    cannot: &'static [Need],
    notices: Notices,
    /// Whether the columns' names are in the bytes.
    names: bool,
}

use Need::*;

const FORMS: &[Form] = &[
    form("packed", &[], Notices::Everything),
    form("packed-small", &[], Notices::Everything),
    form("packed-plain", &[], Notices::Everything),
    form("amf0-objects", AMF_OBJECTS, Notices::Truncation),
    form(
        "amf0-objects-text",
        &[EqualNames, NotANumberWithPayload],
        Notices::Truncation,
    ),
    form(
        "amf0-recordset",
        &[Above53Bits, FarFromNow],
        Notices::Truncation,
    ),
    form("amf3-objects", AMF_OBJECTS, Notices::Truncation),
    form("arrow-ipc", &[BeyondADay], Notices::Truncation),
    form("arrow-ipc-zstd", &[BeyondADay], Notices::Truncation),
    form("parquet", &[BeyondADay, NoColumns], Notices::Truncation),
    form(
        "parquet-zstd",
        &[BeyondADay, NoColumns],
        Notices::Truncation,
    ),
    form("text", &[NotANumberWithPayload], Notices::Nothing),
    form("text-bare", &[NotANumberWithPayload], Notices::Nothing).without_names(),
    form("json-arrays", NOT_FINITE, Notices::Truncation),
    form(
        "json-objects",
        NOT_FINITE_NOR_EQUAL_NAMES,
        Notices::Truncation,
    ),
    form(
        "json-columns",
        NOT_FINITE_NOR_EQUAL_NAMES,
        Notices::Truncation,
    ),
    form("message-pack", &[], Notices::Truncation),
    form(
        "xml-rpc",
        &[
            Infinity,
            NotANumber,
            NotANumberWithPayload,
            EqualNames,
            ControlCharacters,
            ControlCharactersInNames,
            Above63Bits,
        ],
        Notices::Truncation,
    ),
];

const AMF_OBJECTS: &[Need] = &[Above53Bits, EqualNames, FarFromNow];
const NOT_FINITE: &[Need] = &[Infinity, NotANumber, NotANumberWithPayload];
const NOT_FINITE_NOR_EQUAL_NAMES: &[Need] =
    &[Infinity, NotANumber, NotANumberWithPayload, EqualNames];

const fn form(name: &'static str, cannot: &'static [Need], notices: Notices) -> Form {
    Form {
        name,
        cannot,
        notices,
        names: true,
    }
}

impl Form {
    const fn without_names(mut self) -> Form {
        self.names = false;
        self
    }
}

/// What this form cannot carry.
pub(crate) fn cannot(form: &str) -> &'static [Need] {
    FORMS
        .iter()
        .find(|known| known.name == form)
        .map_or(&[], |known| known.cannot)
}

/// What this form notices.
pub(crate) fn notices(form: &str) -> Notices {
    FORMS
        .iter()
        .find(|known| known.name == form)
        .map_or(Notices::Nothing, |known| known.notices)
}

/// Whether the columns' names are not in the bytes.
pub(crate) fn has_no_names(form: &str) -> bool {
    FORMS.iter().any(|known| known.name == form && !known.names)
}

/// What a form must be able to do to carry this table.
pub(crate) fn needs(rows: &Rows) -> BTreeSet<Need> {
    let mut needs = BTreeSet::new();
    let mut names = BTreeSet::new();
    if rows.schema().is_empty() {
        needs.insert(NoColumns);
    }
    for (field, column) in rows.fields() {
        if !names.insert(field.name()) {
            needs.insert(EqualNames);
        }
        if !is_xml(field.name()) {
            needs.insert(ControlCharactersInNames);
        }
        for row in 0..rows.len() {
            if let (Kind::Time(unit), Value::Time(time)) =
                (field.kind(), column.value(field.kind(), row))
                && !(0..86_400 * unit.per_second()).contains(&time)
            {
                needs.insert(BeyondADay);
            }
            if let (Kind::Timestamp(unit, _), Value::Timestamp(count)) =
                (field.kind(), column.value(field.kind(), row))
                && unit.digits() <= 3
                && i128::from(count).unsigned_abs()
                    > 8_640_000_000_000 * unit.per_second().unsigned_abs() as u128
            {
                needs.insert(FarFromNow);
            }
            match column.value(field.kind(), row) {
                Value::Int(number) if number.unsigned_abs() > 1 << 53 => {
                    needs.insert(Above53Bits);
                }
                Value::Date(days) if days.unsigned_abs() > 100_000_000 => {
                    needs.insert(FarFromNow);
                }
                Value::Unsigned(number) => {
                    if number > 1 << 53 {
                        needs.insert(Above53Bits);
                    }
                    if number >= 1 << 63 {
                        needs.insert(Above63Bits);
                    }
                }
                Value::F32(number) => float(&mut needs, number.into(), || {
                    number.to_bits() == f32::NAN.to_bits()
                }),
                Value::F64(number) => float(&mut needs, number, || {
                    number.to_bits() == f64::NAN.to_bits()
                }),
                Value::Text(text) if !is_xml(text) => {
                    needs.insert(ControlCharacters);
                }
                _ => {}
            }
        }
    }
    needs
}

fn float(needs: &mut BTreeSet<Need>, number: f64, is_plain_nan: impl Fn() -> bool) {
    if number.is_infinite() {
        needs.insert(Infinity);
    }
    if number.is_nan() {
        needs.insert(if is_plain_nan() {
            NotANumber
        } else {
            NotANumberWithPayload
        });
    }
    if number == 0.0 && number.is_sign_negative() {
        needs.insert(NegativeZero);
    }
}

/// Whether XML 1.0 has a way to write each character.
fn is_xml(text: &str) -> bool {
    text.chars()
        .all(|character| matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..))
}

#[test]
fn each_form_has_one_name_by_which_it_is_found() {
    let mut names = BTreeSet::new();
    for form in tamtam_rows::encoding::all() {
        let name = form.name();
        assert!(names.insert(name), "two forms are called {name}");
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{name:?} is not lower case words joined by hyphens"
        );
        assert_eq!(tamtam_rows::encoding::find(name).unwrap().name(), name);
    }
    assert!(tamtam_rows::encoding::find("no such form").is_none());
}
