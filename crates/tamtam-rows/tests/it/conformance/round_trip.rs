//! What is carried comes back as it was, and what is not is refused.

use tamtam_rows::{
    Column, DecodeError, EncodeError, Encoding, Field, Kind, Limits, Rows, Schema, encoding,
};

use super::{forms, tables};

/// The table comes back, or is refused if the form cannot carry it. Whether it came back.
pub(crate) fn check(form: &dyn Encoding, about: &str, rows: &Rows) -> bool {
    let name = form.name();
    let cannot: Vec<_> = forms::needs(rows)
        .into_iter()
        .filter(|need| forms::cannot(name).contains(need))
        .collect();
    // What stands before it stays.
    let mut bytes = b"before".to_vec();
    match form.encode(rows, &mut bytes) {
        Ok(()) => assert!(
            cannot.is_empty(),
            "{name} took {about}, which it is said not to carry: {cannot:?}"
        ),
        Err(error @ (EncodeError::Unsupported { .. } | EncodeError::Value { .. }))
            if !cannot.is_empty() =>
        {
            let said = error.to_string();
            assert!(said.starts_with(name), "{name}, {about}: {said}");
            return false;
        }
        Err(error) => panic!("{name} refused {about} (not carried: {cannot:?}): {error}"),
    }
    assert!(bytes.starts_with(b"before"), "{name}, {about}");
    let bytes = &bytes[6..];
    let decoded = form
        .decode(bytes, Some(rows.schema()), &Limits::default())
        .unwrap_or_else(|error| panic!("{name} did not read back {about}: {error:?}"));
    assert_same(name, about, rows, &decoded);
    let without_schema = form.decode(bytes, None, &Limits::default());
    if form.describes_itself() {
        let decoded = without_schema.unwrap_or_else(|error| {
            panic!("{name} did not read back {about} without a schema: {error:?}")
        });
        assert_same(name, about, rows, &decoded);
    } else {
        assert!(
            matches!(without_schema, Err(DecodeError::NeedsSchema { form }) if form == name),
            "{name} says that it needs a schema, and without one makes of {about} {without_schema:?}"
        );
    }
    true
}

fn assert_same(name: &str, about: &str, expected: &Rows, found: &Rows) {
    if expected == found {
        return;
    }
    assert_eq!(expected.schema(), found.schema(), "{name}, {about}");
    assert_eq!(expected.len(), found.len(), "{name}, {about}: the rows");
    for ((field, expected), found) in expected.fields().zip(found.columns()) {
        for row in 0..expected.len() {
            let (one, other) = (
                expected.value(field.kind(), row),
                found.value(field.kind(), row),
            );
            let (one, other) = (format!("{one:?}"), format!("{other:?}"));
            assert_eq!(one, other, "{name}, {about}: column {field:?}, row {row}");
        }
    }
    panic!("{name}, {about}: values differ in bits that are not shown");
}

#[test]
fn every_table_comes_back_or_is_refused() {
    let tables = tables::all();
    for form in encoding::all() {
        let carried = tables
            .iter()
            .filter(|(about, rows)| check(form, about, rows))
            .count();
        assert!(
            carried > tables.len() / 2,
            "{} carries only {carried} tables",
            form.name()
        );
    }
}

#[test]
fn another_table_than_asked_for_is_refused() {
    let rows = tables::each_kind(10, None);
    let fields = rows.schema().fields();
    let renamed = fields
        .iter()
        .enumerate()
        .map(|(index, field)| Field::new(format!("other {index}"), field.kind().clone()));
    let others = [
        ("fewer columns", Schema::new(fields[1..].to_vec()).unwrap()),
        (
            "more columns",
            Schema::new(fields.iter().cloned().chain([Field::new("more", Kind::U8)])).unwrap(),
        ),
        ("other names", Schema::new(renamed).unwrap()),
        (
            "another type",
            Schema::new(
                [Field::new(fields[0].name(), Kind::Uuid)]
                    .into_iter()
                    .chain(fields[1..].iter().cloned()),
            )
            .unwrap(),
        ),
    ];
    for form in encoding::all() {
        let name = form.name();
        let mut bytes = Vec::new();
        form.encode(&rows, &mut bytes).unwrap();
        for (about, schema) in &others {
            if *about == "other names" && forms::has_no_names(name) {
                continue;
            }
            let error = form
                .decode(&bytes, Some(schema), &Limits::default())
                .expect_err(&format!("{name} decodes to a table with {about}"));
            if form.describes_itself() {
                assert!(
                    matches!(error, DecodeError::Schema { .. }),
                    "{name}, {about}: {error:?}"
                );
            }
        }
    }
}

#[test]
fn a_null_where_none_may_be_is_refused() {
    let nullable =
        Schema::new([Field::new("id", Kind::U8), Field::nullable("n", Kind::I32)]).unwrap();
    let rows = Rows::new(
        nullable,
        [
            Column::from(vec![1_u8, 2]),
            Column::from(vec![Some(1_i32), None]),
        ],
    )
    .unwrap();
    let strict = Schema::new([Field::new("id", Kind::U8), Field::new("n", Kind::I32)]).unwrap();
    for form in encoding::all() {
        let mut bytes = Vec::new();
        form.encode(&rows, &mut bytes).unwrap();
        let result = form.decode(&bytes, Some(&strict), &Limits::default());
        assert!(result.is_err(), "{}: {result:?}", form.name());
    }
}
