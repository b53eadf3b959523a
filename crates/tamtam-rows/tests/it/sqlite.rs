//! Rows out of SQLite.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tamtam_rows::database::{
    DatabaseError, PART_BYTES, ReadTimes, SAMPLE_ROWS, SqliteCursor, StreamError,
};
use tamtam_rows::{Field, Kind, Rows, Schema, Unit, Value, Zone};

fn with(sql: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

fn all(connection: &Connection, query: &str) -> Result<Rows, DatabaseError> {
    let mut statement = connection.prepare(query).unwrap();
    SqliteCursor::open(&mut statement, [])?.read_all()
}

fn numbers(connection: &Connection, count: i64) {
    connection
        .execute_batch("create table numbers (n int)")
        .unwrap();
    let mut insert = connection
        .prepare("insert into numbers values (?)")
        .unwrap();
    for n in 0..count {
        insert.execute([n]).unwrap();
    }
}

#[test]
fn every_type_arrives_with_its_value() {
    let connection = with(
        "create table everything (
            a tinyint, b smallint unsigned, c integer, d real, e boolean, f decimal(10,2), g date, h time,
            i datetime, j timestamp, k uuid, l varchar(20), m blob, n
         );
         insert into everything values (
            -128, 65535, -9223372036854775808, 0.1, 1, 12.34, '2026-11-22', '23:59:59.000000001',
            '1969-12-31 23:59:59.5', '2026-11-22T02:45:00+02:00', '67e55044-10b1-426f-9247-bb680e5fe0c8',
            'grüße 🦀', x'00ff', 7
         );
         insert into everything values (
            null, null, null, null, null, null, null, null, null, null, null, null, null, null
         );",
    );
    let rows = all(&connection, "select * from everything").unwrap();
    let kinds: Vec<&Kind> = rows.schema().fields().iter().map(Field::kind).collect();
    let decimal = Kind::Decimal {
        precision: 10,
        scale: 2,
    };
    assert_eq!(
        kinds,
        [
            &Kind::I8,
            &Kind::U16,
            &Kind::I64,
            &Kind::F64,
            &Kind::Bool,
            &decimal,
            &Kind::Date,
            &Kind::Time(Unit::Nanosecond),
            &Kind::Timestamp(Unit::Microsecond, Zone::Local),
            &Kind::Timestamp(Unit::Microsecond, Zone::Utc),
            &Kind::Uuid,
            &Kind::Text,
            &Kind::Bytes,
            &Kind::I64,
        ]
    );
    let first: Vec<Value<'_>> = (0..rows.schema().len())
        .map(|at| rows.value(0, at))
        .collect();
    let uuid = 0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8_u128.to_be_bytes();
    assert_eq!(
        first,
        [
            Value::Int(-128),
            Value::Unsigned(65_535),
            Value::Int(i64::MIN),
            Value::F64(0.1),
            Value::Bool(true),
            Value::Decimal(1_234),
            Value::Date(20_779),
            Value::Time(86_399_000_000_001),
            Value::Timestamp(-500_000),
            Value::Timestamp((20_779 * 86_400 + 2_700) * 1_000_000),
            Value::Uuid(uuid),
            Value::Text("grüße 🦀"),
            Value::Bytes(&[0, 255]),
            Value::Int(7),
        ]
    );
    assert!((0..rows.schema().len()).all(|at| rows.value(1, at).is_null()));
}

#[test]
fn a_query_without_rows_still_has_columns() {
    let connection = with("create table tiles (slot_number smallint, color char(6))");
    let rows = all(
        &connection,
        "select slot_number, color, 1 as one from tiles",
    )
    .unwrap();
    assert_eq!(rows.len(), 0);
    let fields: Vec<_> = rows
        .schema()
        .fields()
        .iter()
        .map(|field| (field.name().to_owned(), field.kind().clone()))
        .collect();
    assert_eq!(
        fields,
        [
            ("slot_number".to_owned(), Kind::I16),
            ("color".to_owned(), Kind::Text),
            ("one".to_owned(), Kind::Text)
        ]
    );
}

#[test]
fn parts_have_the_size_that_was_asked_for_whatever_the_sample_was() {
    let connection = with("");
    let count = 2 * SAMPLE_ROWS as i64 + 100;
    numbers(&connection, count);
    for part_rows in [1_000, SAMPLE_ROWS, SAMPLE_ROWS + 1, 1 << 20] {
        let mut statement = connection.prepare("select n from numbers").unwrap();
        let mut cursor = SqliteCursor::open(&mut statement, [])
            .unwrap()
            .part_rows(part_rows);
        let mut expected = 0..count;
        while let Some(part) = cursor.next_part().unwrap() {
            assert_eq!(part.len(), part_rows.min(expected.clone().count()));
            let values = part.column("n").unwrap().slice::<i64>().unwrap();
            assert!(
                values
                    .iter()
                    .copied()
                    .eq(expected.by_ref().take(part.len()))
            );
        }
        assert_eq!(expected.next(), None);
        assert!(cursor.next_part().unwrap().is_none());
    }
}

#[test]
fn the_time_is_told_apart_and_the_rows_are_the_same() {
    let connection = with("");
    numbers(&connection, 5_000);
    // Its first step counts a million: nearly all of it is the cursor's.
    let query = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000000) \
        select n from numbers where n >= 0 * (select count(*) from c)";
    let mut statement = connection.prepare(query).unwrap();
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let begun = Instant::now();
    let cursor = SqliteCursor::with_schema(&mut statement, [], schema.clone()).unwrap();
    let (rows, times) = cursor.read_all_timed().unwrap();
    assert!(times.cursor + times.rows <= begun.elapsed(), "{times:?}");
    assert!(
        times.cursor > times.rows && times.rows > Duration::ZERO,
        "{times:?}"
    );
    let cursor = SqliteCursor::with_schema(&mut statement, [], schema).unwrap();
    assert_eq!(rows, cursor.read_all().unwrap());
    let mut cursor = SqliteCursor::open(&mut statement, [])
        .unwrap()
        .part_rows(1_000);
    let mut count = 0;
    let mut all = ReadTimes::default();
    while let Some((part, times)) = cursor.next_part_timed().unwrap() {
        assert_eq!(part.len(), 1_000);
        count += part.len();
        all += times;
    }
    assert_eq!(count, rows.len());
    // The count of a million is in the opening here, which reads the first rows.
    assert!(
        all.cursor > all.rows && all.rows > Duration::ZERO,
        "{all:?}"
    );
}

#[test]
fn a_part_of_long_texts_has_fewer_rows() {
    let connection = with(
        "create table letters (n int, body text, scan blob);
         with recursive count(n) as (select 1 union all select n + 1 from count where n < 50)
         insert into letters select n, printf('%.*c', 300000, 'x'), zeroblob(200000) from count",
    );
    let mut statement = connection.prepare("select * from letters").unwrap();
    let mut cursor = SqliteCursor::open(&mut statement, []).unwrap();
    let mut found = Vec::new();
    while let Some(part) = cursor.next_part().unwrap() {
        // It ends with the row that fills it.
        let bytes = part.len() * 500_000;
        assert!(bytes < PART_BYTES + 500_100, "{} rows", part.len());
        found.extend_from_slice(part.column("n").unwrap().slice::<i64>().unwrap());
    }
    assert!(found.iter().copied().eq(1..=50));
    drop(cursor);

    let all = SqliteCursor::open(&mut statement, [])
        .unwrap()
        .read_all()
        .unwrap();
    assert_eq!(all.len(), 50);
}

#[test]
fn a_later_value_that_does_not_fit_is_named() {
    let connection = with("create table t (n smallint)");
    {
        let mut insert = connection.prepare("insert into t values (?)").unwrap();
        for _ in 0..SAMPLE_ROWS {
            insert.execute([7]).unwrap();
        }
        insert.execute(["seven"]).unwrap();
    }
    let error = all(&connection, "select n from t").unwrap_err().to_string();
    assert!(
        error.contains("\"seven\"") && error.contains("\"n\", row 4096") && error.contains("i16"),
        "{error}"
    );

    connection
        .execute_batch("update t set n = 70000 where n = 'seven'")
        .unwrap();
    let mut statement = connection.prepare("select n from t").unwrap();
    let mut cursor = SqliteCursor::open(&mut statement, [])
        .unwrap()
        .part_rows(1_000);
    let error = loop {
        match cursor.next_part() {
            Ok(part) => assert!(part.is_some_and(|part| part.len() == 1_000)),
            Err(error) => break error.to_string(),
        }
    };
    assert!(
        error.contains("70000") && error.contains("row 4096"),
        "{error}"
    );
    assert!(
        cursor.next_part().unwrap().is_none(),
        "nothing follows an error"
    );
}

#[test]
fn an_integer_behind_the_sample_is_no_date_unless_a_schema_says_what_it_counts() {
    let kinds = [
        Kind::Timestamp(Unit::Microsecond, Zone::Local),
        Kind::Timestamp(Unit::Microsecond, Zone::Local),
        Kind::Date,
        Kind::Date,
        Kind::Time(Unit::Nanosecond),
    ];
    let columns = [
        ("datetime", "'2026-11-22 02:45:00'", 1_700_000_000),
        ("timestamp", "null", 1_700_000_000),
        ("date", "'2026-11-22'", 2_460_000),
        ("date", "null", 20_000),
        ("time", "'12:00:00'", 43_200),
    ];
    for (kind, (declared, first, last)) in kinds.into_iter().zip(columns) {
        let connection = with(&format!(
            "create table t (a {declared});
             with recursive n(i) as (select 1 union all select i + 1 from n where i < {SAMPLE_ROWS})
             insert into t select {first} from n;
             insert into t values ({last});"
        ));
        let error = all(&connection, "select a from t").unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "the value {last} in column \"a\", row {SAMPLE_ROWS}"
            )),
            "{declared}: {error}"
        );
        assert!(
            error.contains("integer") && error.contains("schema"),
            "{error}"
        );

        let mut statement = connection
            .prepare("select a from t where typeof(a) = 'integer'")
            .unwrap();
        let schema = Schema::new([Field::new("a", kind.clone())]).unwrap();
        let rows = SqliteCursor::with_schema(&mut statement, [], schema)
            .unwrap()
            .read_all()
            .unwrap();
        let expected = match kind {
            Kind::Date => Value::Date(last as i32),
            Kind::Time(_) => Value::Time(last),
            _ => Value::Timestamp(last),
        };
        assert_eq!(rows.value(0, 0), expected, "{declared}");
    }
}

#[test]
fn a_schema_says_what_the_first_rows_cannot() {
    let connection = with(
        "create table t (at integer, n, maybe int);
         insert into t values (1700000000, 5, 1), (1700000001, 6, null)",
    );
    let schema = Schema::new([
        Field::new("at", Kind::Timestamp(Unit::Second, Zone::Utc)),
        Field::new("n", Kind::Text),
        Field::nullable("maybe", Kind::I8),
    ])
    .unwrap();
    let query = "select at, n, maybe from t";
    let mut statement = connection.prepare(query).unwrap();
    let cursor = SqliteCursor::with_schema(&mut statement, [], schema.clone()).unwrap();
    let rows = cursor.read_all().unwrap();
    assert_eq!(rows.schema(), &schema);
    assert_eq!(rows.value(1, 0), Value::Timestamp(1_700_000_001));
    assert_eq!(rows.value(1, 1), Value::Text("6"));
    assert_eq!(rows.value(1, 2), Value::Null);

    let strict = Schema::new(["at", "n", "maybe"].map(|name| Field::new(name, Kind::I64))).unwrap();
    let cursor = SqliteCursor::with_schema(&mut statement, [], strict).unwrap();
    let error = cursor.read_all().unwrap_err();
    assert!(
        matches!(&error, DatabaseError::Null { column, row: 1 } if column == "maybe"),
        "{error}"
    );
    let short = Schema::new([Field::new("at", Kind::I64)]).unwrap();
    let error = SqliteCursor::with_schema(&mut statement, [], short).unwrap_err();
    assert!(matches!(error, DatabaseError::Shape(_)), "{error}");
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let connection = with("create table t (x text); insert into t values (cast(x'61ff' as text))");
    let error = all(&connection, "select x from t").unwrap_err().to_string();
    assert!(error.contains("UTF-8 from byte 1"), "{error}");
}

#[test]
fn an_error_of_sqlite_is_passed_on() {
    let connection = with("create table t (x int); insert into t values (-9223372036854775808)");
    let error = all(&connection, "select abs(x) from t").unwrap_err();
    assert!(matches!(error, DatabaseError::Sqlite(_)), "{error}");
}

#[test]
fn parameters_choose_the_rows() {
    let connection = with("");
    numbers(&connection, 10);
    let mut statement = connection
        .prepare("select n from numbers where n >= ? and n < ?")
        .unwrap();
    let rows = SqliteCursor::open(&mut statement, params![3, 6])
        .unwrap()
        .read_all()
        .unwrap();
    assert_eq!(rows.column("n").unwrap().slice::<i64>().unwrap(), [3, 4, 5]);
}

#[test]
fn a_sink_that_fails_ends_the_cursor() {
    let connection = with("");
    numbers(&connection, 10_000);
    let mut statement = connection.prepare("select n from numbers").unwrap();
    let mut seen = 0;
    let result = SqliteCursor::open(&mut statement, [])
        .unwrap()
        .part_rows(100)
        .hand_over(|part| {
            seen += part.len();
            if seen == 300 { Err("full") } else { Ok(()) }
        });
    assert!(
        matches!(result, Err(StreamError::Sink("full"))),
        "{result:?}"
    );
    assert_eq!(seen, 300);
}

#[test]
fn numbers_beside_blobs_are_an_error_of_open() {
    for (declared, values, said) in [
        ("", "(7), (x'0102')", "the value 7 in column \"a\", row 0"),
        (
            "blob",
            "(x'0102'), ('text'), (null), (7.5)",
            "the value 7.5 in column \"a\", row 3",
        ),
        (
            "uuid",
            "(x'000102030405060708090a0b0c0d0e0f'), (7)",
            "row 1",
        ),
    ] {
        let connection = with(&format!(
            "create table t (n int, a {declared}); insert into t (a) values {values}"
        ));
        let mut statement = connection.prepare("select n, a from t").unwrap();
        let error = SqliteCursor::open(&mut statement, [])
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{error}");
    }
    let connection = with("create table t (a blob); insert into t values (x'0102'), ('text')");
    let rows = all(&connection, "select a from t").unwrap();
    assert_eq!(rows.value(1, 0), Value::Bytes(b"text"));
}

#[test]
fn integers_that_no_float_holds_are_text_beside_reals() {
    let connection =
        with("create table t (a integer); insert into t values (9007199254740993), (0.5), (2.0)");
    let rows = all(&connection, "select a from t").unwrap();
    let texts = ["9007199254740993", "0.5", "2"].map(Value::Text);
    assert_eq!([0, 1, 2].map(|row| rows.value(row, 0)), texts);
}

#[test]
fn a_real_in_a_column_of_text_has_its_point() {
    let connection =
        with("create table t (a); insert into t values ('a'), (1.0), (-0.25), (1e300)");
    let rows = all(&connection, "select a from t").unwrap();
    let texts = ["a", "1.0", "-0.25", "1e+300"].map(Value::Text);
    assert_eq!([0, 1, 2, 3].map(|row| rows.value(row, 0)), texts);
}

#[test]
fn a_day_beyond_nanoseconds_is_a_timestamp_too() {
    let connection = with("create table t (a datetime, b datetime, c datetime, d datetime);
         insert into t values ('2026-11-22 02:45:00', '2026-11-22T02:45:00Z', '2026-11-22 02:45:00.000000001', '2026-11-22 02:45:00'),
                              ('9999-12-31 23:59:59', '9999-12-31T23:59:59Z', '2026-11-22 02:45:00', '2026-11-22T02:45:00Z');");
    let rows = all(&connection, "select * from t").unwrap();
    let kinds: Vec<_> = rows.schema().fields().iter().map(Field::kind).collect();
    assert_eq!(
        kinds,
        [
            &Kind::Timestamp(Unit::Microsecond, Zone::Local),
            &Kind::Timestamp(Unit::Microsecond, Zone::Utc),
            &Kind::Timestamp(Unit::Nanosecond, Zone::Local),
            &Kind::Text,
        ]
    );
    assert_eq!(rows.value(1, 0), Value::Timestamp(253_402_300_799_000_000));
}
