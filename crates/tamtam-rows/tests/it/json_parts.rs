//! JSON that is read part by part is the same table as if it was read as a whole, and what is wrong with it is said with
//! its place.

use std::io::{self, Read};

use tamtam_rows::encoding::{JsonArrays, JsonColumns, JsonObjects, JsonReader};
use tamtam_rows::{
    Column, DecodeError, Field, Kind, Limits, Rows, RowsBuilder, Schema, Strings, infer,
};

use crate::support::encoded;

/// A reader that brings little at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(self.0.len()).min(1013);
        into[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// Texts with everything in them that divides JSON elsewhere; about 4 MB as JSON.
fn table() -> Rows {
    let count = 60_000;
    let schema = Schema::new([
        Field::new("n", Kind::U16),
        Field::new("te\"xt,", Kind::Text),
        Field::new("x", Kind::F64),
    ]);
    let texts: Strings = (0..count)
        .map(|n| format!("[{{\"\\, }}]\n{}", "]\\\"".repeat(n % 7)))
        .collect();
    let columns = [
        Column::from((0..count).map(|n| n as u16).collect::<Vec<_>>()),
        Column::from(texts),
        Column::from((0..count).map(|n| n as f64 + 0.5).collect::<Vec<_>>()),
    ];
    Rows::new(schema.unwrap(), columns).unwrap()
}

/// Each element of an array on a line of its own.
fn lines(bytes: &[u8]) -> Vec<u8> {
    let all: Vec<serde_json::Value> = serde_json::from_slice(bytes).unwrap();
    let mut lines = Vec::new();
    for row in all {
        lines.extend_from_slice(row.to_string().as_bytes());
        lines.push(b'\n');
    }
    lines
}

fn read(bytes: &[u8], schema: &Schema, limits: Limits) -> Result<(Rows, usize), DecodeError> {
    let mut reader = JsonReader::new(Drops(bytes), schema, limits)?;
    let mut all = RowsBuilder::new(schema.clone());
    let mut parts = 0;
    while let Some(part) = reader.next_chunk()? {
        for row in part.iter() {
            all.push(row.values()).unwrap();
        }
        parts += 1;
    }
    Ok((all.finish(), parts))
}

#[test]
fn parts_are_the_whole() {
    let rows = table();
    let objects = encoded(&JsonObjects, &rows);
    let arrays = encoded(&JsonArrays, &rows);
    let spaced = serde_json::from_slice::<serde_json::Value>(&objects).unwrap();
    let spaced = serde_json::to_vec_pretty(&spaced).unwrap();
    let texts = [
        ("objects", objects.clone()),
        ("arrays", arrays.clone()),
        ("spaced objects", [&b" \n"[..], &spaced, b"\r\n "].concat()),
        ("lines of objects", lines(&objects)),
        ("lines of arrays", lines(&arrays)),
        (
            "objects without anything between",
            lines(&objects)
                .split(|&byte| byte == b'\n')
                .collect::<Vec<_>>()
                .concat(),
        ),
    ];
    for (about, text) in texts {
        let schema = infer::json_parts(Drops(&text), &Limits::default()).unwrap();
        assert_eq!(schema, *rows.schema(), "{about}");
        let (found, parts) = read(&text, &schema, Limits::default()).unwrap();
        assert!(found == rows, "{about}");
        assert!(parts > 2, "{about}: {parts} parts");
    }
    // Columns cannot be divided.
    let columns = encoded(&JsonColumns, &rows);
    let schema = infer::json_parts(Drops(&columns), &Limits::default()).unwrap();
    let (found, parts) = read(&columns, &schema, Limits::default()).unwrap();
    assert!(found == rows && parts == 1);
}

#[test]
fn small_tables_are_read() {
    let schema = Schema::new([Field::nullable("n", Kind::U8)]).unwrap();
    let cases: [(&str, &[u8], usize); 10] = [
        ("nothing", b"", 0),
        ("blanks", b" \n", 0),
        ("no rows", b"[ ]", 0),
        ("names", b"[[\"n\"]]", 0),
        ("one object", b"[{\"n\":1}]", 1),
        ("one line", b"{\"n\":1}", 1),
        ("lines", b"{\"n\":1}\r\n\r\n {}\n", 2),
        ("an array", b"[[\"n\"],[null]]\n", 1),
        ("lines of arrays", b"[\"n\"]\n[1]\n[2]", 2),
        ("columns", b"{\"n\":[1,2,3]}", 3),
    ];
    for (about, text, count) in cases {
        let (rows, _) = read(text, &schema, Limits::default())
            .unwrap_or_else(|error| panic!("{about}: {error}"));
        assert_eq!(rows.len(), count, "{about}");
        infer::json_parts(text, &Limits::default())
            .unwrap_or_else(|error| panic!("{about}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let schema = Schema::new([Field::new("n", Kind::U8)]).unwrap();
    let rows = "{\"n\":1},".repeat(150_000);
    let long = |end: &str| format!("[{rows}{end}");
    let at = rows.len() + 1;
    let line = "{\"n\":1}\n".repeat(150_000);
    let cases = [
        (long("{\"n\":2}"), format!("at byte {}", at + 7)),
        (long("{\"n\":x}]"), format!("at byte {}:", at + 6)),
        (long("]"), format!("at byte {}: trailing comma", at + 1)),
        (long(",{\"n\":1}]"), format!("at byte {}:", at + 1)),
        (long("{\"n\":1}]]"), format!("at byte {}: trailing", at + 8)),
        (long("}"), format!("at byte {at}: a bracket closes")),
        (
            long("{\"n\":300}]"),
            "the value 300 in column \"n\", row 150000".to_owned(),
        ),
        (
            format!("{line}{{\"n\":x}}\n"),
            format!("at byte {}:", line.len() + 6),
        ),
        (
            format!("{line}{{\"n\":"),
            format!("at byte {}", line.len() + 5),
        ),
        (format!("{line}5\n"), format!("at byte {}", line.len() + 1)),
        (
            format!("{line}]"),
            format!("at byte {}: a bracket closes", line.len()),
        ),
        (
            " 5".to_owned(),
            "at byte 1: it begins with neither".to_owned(),
        ),
        ("[".to_owned(), "at byte 1".to_owned()),
        ("{\"n\"".to_owned(), "at byte 4".to_owned()),
        (
            format!("[[\"n\"],{}[]]", "[1],".repeat(200_000)),
            "row 200000 has 0 values".to_owned(),
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let error = read(text.as_bytes(), &schema, Limits::default())
            .unwrap_err()
            .to_string();
        let end = &text[text.len().saturating_sub(12)..];
        if !error.contains(&expected) {
            wrong.push(format!("..{end}: {error}, not {expected}"));
        }
        if !expected.contains("300 in") {
            infer::json_parts(text.as_bytes(), &Limits::default()).unwrap_err();
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn limits_hold() {
    let schema = Schema::new([Field::new("n", Kind::U8)]).unwrap();
    let few = Limits {
        bytes: 1 << 20,
        rows: 1_500,
        columns: 1,
    };
    let text = "{\"n\":1}\n".repeat(2_000);
    let error = read(text.as_bytes(), &schema, few).unwrap_err();
    assert!(
        matches!(error, DecodeError::Limit { what: "rows", .. }),
        "{error}"
    );
    // A row that never ends, in each layout, is not read into memory for ever.
    for start in ["[{\"n\":\"", "{\"n\":\"", "{\"n\":[\""] {
        let endless = start.as_bytes().chain(io::repeat(b'x'));
        let error = infer::json_parts(endless, &few).unwrap_err();
        assert!(matches!(error, DecodeError::Limit { .. }), "{error}");
    }
    let error = infer::json_parts(&b"[{\"a\":1,\"b\":2}]"[..], &few).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "columns",
                ..
            }
        ),
        "{error}"
    );
}
