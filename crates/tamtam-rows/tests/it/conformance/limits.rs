//! Limits hold: a table above them is refused, one within them is not.

use tamtam_rows::{DecodeError, Limits, encoding};

use super::tables;

#[test]
fn a_table_above_the_limits_is_refused() {
    let rows = tables::each_kind(1_000, Some(5));
    let memory = rows.memory() as u64;
    let within = Limits {
        bytes: memory * 4,
        rows: 1_000,
        columns: rows.schema().len(),
    };
    let beyond = [
        (
            "rows",
            Limits {
                rows: 999,
                ..within
            },
        ),
        (
            "columns",
            Limits {
                columns: rows.schema().len() - 1,
                ..within
            },
        ),
        (
            "bytes",
            Limits {
                bytes: memory / 2,
                ..within
            },
        ),
        ("bytes", Limits { bytes: 0, ..within }),
        ("rows", Limits { rows: 0, ..within }),
        (
            "columns",
            Limits {
                columns: 0,
                ..within
            },
        ),
    ];
    for form in encoding::all() {
        let name = form.name();
        let mut bytes = Vec::new();
        form.encode(&rows, &mut bytes).unwrap();
        let schema = Some(rows.schema());
        let decoded = form.decode(&bytes, schema, &within);
        assert_eq!(
            decoded.unwrap_or_else(|error| panic!("{name}: {error}")),
            rows
        );
        form.decode(&bytes, schema, &Limits::NONE)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for (which, limits) in beyond {
            let error = form.decode(&bytes, schema, &limits).expect_err(name);
            assert!(
                matches!(error, DecodeError::Limit { what, .. } if what.contains(which)),
                "{name}: with {limits:?} {error:?}"
            );
        }
    }
}
