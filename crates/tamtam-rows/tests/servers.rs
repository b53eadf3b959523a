//! Rows out of servers: `scripts/test --only database` starts them and runs these tests. By hand: give the URL of a
//! database in which tables may be made, in `TAMTAM_MYSQL_URL` or `TAMTAM_POSTGRES_URL`, and run with `-- --ignored`.

use std::future::Future;
use std::time::{Duration, Instant};

use sqlx::query::Query;
use sqlx::{Connection, Executor, IntoArguments, MySqlConnection, PgConnection};
use tamtam_rows::database::{DatabaseError, Parts, ReadTimes, SAMPLE_ROWS, Source, fetch};
use tamtam_rows::{Field, Kind, Rows, Schema, Unit, Value, Zone};

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn url(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} does not say where the server is"))
}

async fn mysql() -> MySqlConnection {
    MySqlConnection::connect(&url("TAMTAM_MYSQL_URL"))
        .await
        .unwrap()
}

async fn postgres() -> PgConnection {
    PgConnection::connect(&url("TAMTAM_POSTGRES_URL"))
        .await
        .unwrap()
}

fn kinds(rows: &Rows) -> Vec<Kind> {
    let fields = rows.schema().fields().iter();
    fields.map(|field| field.kind().clone()).collect()
}

fn row(rows: &Rows, row: usize) -> Vec<Value<'_>> {
    (0..rows.schema().len())
        .map(|at| rows.value(row, at))
        .collect()
}

const DECIMAL_4: Kind = Kind::Decimal {
    precision: 38,
    scale: 4,
};
const LOCAL: Kind = Kind::Timestamp(Unit::Microsecond, Zone::Local);
const UTC: Kind = Kind::Timestamp(Unit::Microsecond, Zone::Utc);

/// Asks a query whose server waits for so long twice: for all rows at once, and for their parts. That wait is the database's, and
/// what is told apart is the time that passed.
async fn the_time_is_told_apart<DB, C, A>(
    connection: &mut C,
    query: impl Fn() -> Query<'static, DB, A>,
    wait: Duration,
) where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'static, DB> + Send + 'static,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    let is_told_apart = |times: ReadTimes, begun: Instant| {
        let passed = begun.elapsed();
        assert!(times.cursor >= wait, "{times:?} of {passed:?}");
        assert!(times.rows > Duration::ZERO, "{times:?} of {passed:?}");
        assert!(
            times.cursor + times.rows <= passed,
            "{times:?} of {passed:?}"
        );
    };
    let begun = Instant::now();
    let parts = Parts::open(connection, query()).await.unwrap();
    let (rows, times) = parts.read_all_timed().await.unwrap();
    is_told_apart(times, begun);
    assert_eq!(rows.len(), 3 * SAMPLE_ROWS);

    let begun = Instant::now();
    let parts = Parts::open(connection, query()).await.unwrap();
    let mut parts = parts.part_rows(SAMPLE_ROWS);
    let (mut count, mut all) = (0, ReadTimes::default());
    while let Some((part, times)) = parts.next_part_timed().await.unwrap() {
        count += part.len();
        all += times;
    }
    is_told_apart(all, begun);
    assert_eq!(count, rows.len());
}

/// The article's table, and its query.
#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_gives_the_articles_rows() {
    run(async {
        let mut connection = mysql().await;
        for statement in [
            "create temporary table tiles (set_id int, slot_number smallint, x smallint, y smallint,
             move_number int unsigned, color char(6), rotation smallint, primary key (set_id, slot_number))",
            "insert into tiles values (1, 1, 10, 20, 7, 'ff8800', 90), (1, 2, -30, 40, 8, '0088ff', 180),
             (2, 1, 0, 0, 9, '000000', 0)",
        ] {
            connection.execute(statement).await.unwrap();
        }
        let query =
            sqlx::query("SELECT slot_number, x, y, color, rotation FROM tiles WHERE set_id = ?")
                .bind(1);
        let rows = fetch(&mut connection, query).await.unwrap();
        assert_eq!(
            kinds(&rows),
            [Kind::I16, Kind::I16, Kind::I16, Kind::Text, Kind::I16]
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.column("x").unwrap().slice::<i16>().unwrap(), [10, -30]);
        let query = sqlx::query("SELECT color FROM tiles WHERE set_id = ?").bind(99);
        let none = fetch(&mut connection, query).await.unwrap();
        assert_eq!((none.len(), kinds(&none)), (0, vec![Kind::Text]));
    });
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_gives_every_type() {
    run(async {
        let mut connection = mysql().await;
        connection
            .execute(
                "create temporary table everything (
                    a tinyint, b tinyint unsigned, c smallint, d smallint unsigned, e mediumint, f int, g int unsigned,
                    h bigint, i bigint unsigned, j boolean, k tinyint(1), l bit(10), m year, n float, o double,
                    p decimal(20,4), q date, r time(6), s datetime(6), t timestamp(3) null, u char(3), v text,
                    w enum('left','right'), x blob, y binary(2), z json
                 ) character set utf8mb4",
            )
            .await
            .unwrap();
        connection
            .execute(
                "insert into everything values
                 (-128, 255, -32768, 65535, -8388608, -2147483648, 4294967295, -9223372036854775808,
                  18446744073709551615, true, -7, 1000, 2026, 0.5, 0.1, -1234567890123456.7891, '0099-02-28',
                  '-838:59:59.000001', '9999-12-31 23:59:59.999999', '2026-11-22 02:45:00.125', 'abc', 'grüße 🦀', 'left',
                  x'00ff', x'0102', '{\"a\": 1}'),
                 (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                  null, null, null, null, null, null, null, null, null)",
            )
            .await
            .unwrap();
        let rows = fetch(&mut connection, sqlx::query("select * from everything"))
            .await
            .unwrap();
        assert_eq!(
            kinds(&rows),
            [
                Kind::I8,
                Kind::U8,
                Kind::I16,
                Kind::U16,
                Kind::I32,
                Kind::I32,
                Kind::U32,
                Kind::I64,
                Kind::U64,
                Kind::Bool,
                Kind::I8,
                Kind::U64,
                Kind::U16,
                Kind::F32,
                Kind::F64,
                DECIMAL_4,
                Kind::Date,
                Kind::Time(Unit::Microsecond),
                LOCAL,
                UTC,
                Kind::Text,
                Kind::Text,
                Kind::Text,
                Kind::Bytes,
                Kind::Bytes,
                // MariaDB's JSON is text with a binary collation.
                Kind::Bytes,
            ]
        );
        assert_eq!(
            row(&rows, 0),
            [
                Value::Int(-128),
                Value::Unsigned(255),
                Value::Int(-32_768),
                Value::Unsigned(65_535),
                Value::Int(-8_388_608),
                Value::Int(i32::MIN.into()),
                Value::Unsigned(u32::MAX.into()),
                Value::Int(i64::MIN),
                Value::Unsigned(u64::MAX),
                Value::Bool(true),
                Value::Int(-7),
                Value::Unsigned(1_000),
                Value::Unsigned(2_026),
                Value::F32(0.5),
                Value::F64(0.1),
                Value::Decimal(-12_345_678_901_234_567_891),
                Value::Date(-683_310),
                Value::Time(-3_020_399_000_001),
                Value::Timestamp(253_402_300_799_999_999),
                Value::Timestamp((20_779 * 86_400 + 9_900) * 1_000_000 + 125_000),
                Value::Text("abc"),
                Value::Text("grüße 🦀"),
                Value::Text("left"),
                Value::Bytes(&[0, 255]),
                Value::Bytes(&[1, 2]),
                Value::Bytes(b"{\"a\": 1}"),
            ]
        );
        assert!(row(&rows, 1).iter().all(Value::is_null));
        let schema = Schema::new([Field::nullable("z", Kind::Text)]).unwrap();
        let query = sqlx::query("select z from everything");
        let parts = Parts::with_schema(&mut connection, query, schema)
            .await
            .unwrap();
        let json = parts.read_all().await.unwrap();
        assert_eq!(json.value(0, 0), Value::Text("{\"a\": 1}"));

        // The same by a simple query, whose answer is text.
        let stream = sqlx::raw_sql("select * from everything").fetch(&mut connection);
        let simple = Parts::<sqlx::MySql>::from_stream(stream).await.unwrap();
        let simple = simple.read_all().await.unwrap();
        assert_eq!(simple, rows);
    });
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_values_that_fit_no_type_are_named() {
    run(async {
        let mut connection = mysql().await;
        for statement in [
            "set sql_mode = 'ALLOW_INVALID_DATES'",
            "create temporary table odd (zero date, half date, tiny tinyint(1), small decimal(10,2))",
            "insert into odd values ('0000-00-00', '2026-02-00', 1, 1.25)",
        ] {
            connection.execute(statement).await.unwrap();
        }
        let rows = fetch(&mut connection, sqlx::query("select zero, tiny from odd"))
            .await
            .unwrap();
        assert_eq!(row(&rows, 0), [Value::Null, Value::Bool(true)]);
        // The same by a simple query, whose answer is text.
        let stream = sqlx::raw_sql("select zero from odd").fetch(&mut connection);
        let parts = Parts::<sqlx::MySql>::from_stream(stream).await.unwrap();
        let simple = parts.read_all().await.unwrap();
        assert_eq!(simple.value(0, 0), Value::Null);
        let error = fetch(&mut connection, sqlx::query("select half from odd"))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("2026-02-00"), "{error}");

        let schema = Schema::new([Field::new(
            "small",
            Kind::Decimal {
                precision: 10,
                scale: 1,
            },
        )])
        .unwrap();
        let query = sqlx::query("select small from odd");
        let parts = Parts::with_schema(&mut connection, query, schema)
            .await
            .unwrap();
        let error = parts.read_all().await.unwrap_err();
        assert!(error.to_string().contains("1.25"), "{error}");

        // Its bytes would be taken for text.
        let schema = Schema::new([Field::new("tiny", Kind::Text)]).unwrap();
        let query = sqlx::query("select tiny from odd");
        let error = Parts::with_schema(&mut connection, query, schema)
            .await
            .unwrap_err();
        assert!(
            matches!(error, DatabaseError::Unsupported { .. }),
            "{error}"
        );

        let error = fetch(&mut connection, sqlx::query("select nothing from nowhere"))
            .await
            .unwrap_err();
        assert!(matches!(error, DatabaseError::Query(_)), "{error}");
    });
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_rows_of_several_statements_do_not_mix() {
    run(async {
        let mut connection = mysql().await;
        let stream = sqlx::raw_sql("select 1 as n; select 'one', 'two'").fetch(&mut connection);
        let parts = Parts::<sqlx::MySql>::from_stream(stream).await.unwrap();
        let error = parts.read_all().await.unwrap_err();
        assert!(matches!(error, DatabaseError::Shape(_)), "{error}");
    });
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_rows_come_in_parts() {
    run(async {
        let mut connection = mysql().await;
        let count = 3 * SAMPLE_ROWS + 5;
        let sql = format!("select seq from seq_1_to_{count}");
        let mut parts = Parts::open(&mut connection, sqlx::query(&sql))
            .await
            .unwrap()
            .part_rows(5_000);
        let mut expected = 1..=count as u64;
        while let Some(part) = parts.next_part().await.unwrap() {
            let values = part.column("seq").unwrap().slice::<u64>().unwrap();
            assert!(values.len() == 5_000 || values.last() == Some(&(count as u64)));
            assert!(
                values
                    .iter()
                    .copied()
                    .eq(expected.by_ref().take(part.len()))
            );
        }
        assert_eq!(expected.next(), None);
    });
}

/// The first rows decide about types, and are in memory until they are given away: of long ones there are few. The 100th row
/// comes in an hour.
#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_long_rows_are_not_gathered_before_the_first_part() {
    run(async {
        let sql = "select repeat('x', 1000000) as x, sleep(if(seq = 100, 3600, 0)) as s from seq_1_to_2000";
        let mut connection = mysql().await;
        let mut parts = Parts::open(&mut connection, sqlx::query(sql))
            .await
            .unwrap();
        let first = parts.next_part().await.unwrap().unwrap();
        assert!((1..10).contains(&first.len()), "{}", first.len());
        drop(parts);

        let sql =
            "select repeat('x', 1000000) as x, sleep(if(seq = 3, 3600, 0)) as s from seq_1_to_2000";
        let fields = [("x", Kind::Text), ("s", Kind::I32)];
        let schema = fields.map(|(name, kind)| Field::nullable(name, kind));
        let mut connection = mysql().await;
        let query = sqlx::query(sql);
        let schema = Schema::new(schema).unwrap();
        let parts = Parts::with_schema(&mut connection, query, schema)
            .await
            .unwrap();
        let mut parts = parts.part_rows(1);
        assert_eq!(parts.next_part().await.unwrap().unwrap().len(), 1);
    });
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_tells_what_the_database_took() {
    run(async {
        let wait = Duration::from_millis(50);
        let sql = format!(
            "select seq, sleep(if(seq = 1, {}, 0)) from seq_1_to_{}",
            wait.as_secs_f64(),
            3 * SAMPLE_ROWS
        );
        let sql: &'static str = sql.leak();
        the_time_is_told_apart(&mut mysql().await, || sqlx::query(sql), wait).await;
    });
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_tells_what_the_database_took() {
    run(async {
        let wait = Duration::from_millis(50);
        let sql = format!(
            "select number from pg_sleep({}), generate_series(1, {}) number",
            wait.as_secs_f64(),
            3 * SAMPLE_ROWS
        );
        let sql: &'static str = sql.leak();
        the_time_is_told_apart(&mut postgres().await, || sqlx::query(sql), wait).await;
    });
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_gives_the_articles_rows() {
    run(async {
        let mut connection = postgres().await;
        for statement in [
            "create temporary table tiles (set_id int, slot_number smallint, x smallint, y smallint,
             move_number bigint, color char(6), rotation smallint, primary key (set_id, slot_number))",
            "insert into tiles values (1, 1, 10, 20, 7, 'ff8800', 90), (1, 2, -30, 40, 8, '0088ff', 180)",
        ] {
            connection.execute(statement).await.unwrap();
        }
        let query =
            sqlx::query("SELECT slot_number, x, y, color, rotation FROM tiles WHERE set_id = $1")
                .bind(1);
        let rows = fetch(&mut connection, query).await.unwrap();
        assert_eq!(
            kinds(&rows),
            [Kind::I16, Kind::I16, Kind::I16, Kind::Text, Kind::I16]
        );
        assert_eq!(
            rows.column("color").unwrap().texts().unwrap().get(1),
            "0088ff"
        );
        let query = sqlx::query("SELECT color FROM tiles WHERE set_id = $1").bind(99);
        let none = fetch(&mut connection, query).await.unwrap();
        assert_eq!((none.len(), kinds(&none)), (0, vec![Kind::Text]));
    });
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_gives_every_type() {
    run(async {
        let mut connection = postgres().await;
        for statement in [
            "drop table if exists tamtam_everything; drop domain if exists tamtam_small; drop type if exists tamtam_side",
            "create domain tamtam_small as smallint check (value < 100)",
            "create type tamtam_side as enum ('left', 'right')",
            "create table tamtam_everything (
                a bool, b smallint, c int, d bigint, e oid, f real, g double precision, h numeric(20,4), i date, j time,
                k timestamp, l timestamptz, m uuid, n text, o varchar(9), p char(3), q name, r json, s jsonb, t bytea,
                u tamtam_small, v tamtam_side)",
            "insert into tamtam_everything values
             (true, -32768, -2147483648, -9223372036854775808, 4294967295, 0.5, 0.1, -1234567890123456.7891, '0099-02-28',
              '23:59:59.000001', '9999-12-31 23:59:59.999999', '2026-11-22 02:45:00.125+02:00',
              '67e55044-10b1-426f-9247-bb680e5fe0c8', 'grüße 🦀', 'abc', 'ab', 'name', '{\"a\": 1}', '{\"b\": 2}', '\\x00ff',
              99, 'left'),
             (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
              null, null, null)",
        ] {
            connection.execute(statement).await.unwrap();
        }
        let query = sqlx::query("select * from tamtam_everything");
        let rows = fetch(&mut connection, query).await.unwrap();
        assert_eq!(
            kinds(&rows),
            [
                Kind::Bool,
                Kind::I16,
                Kind::I32,
                Kind::I64,
                Kind::U32,
                Kind::F32,
                Kind::F64,
                DECIMAL_4,
                Kind::Date,
                Kind::Time(Unit::Microsecond),
                LOCAL,
                UTC,
                Kind::Uuid,
                Kind::Text,
                Kind::Text,
                Kind::Text,
                Kind::Text,
                Kind::Text,
                Kind::Text,
                Kind::Bytes,
                Kind::I16,
                Kind::Text,
            ]
        );
        let uuid = 0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8_u128.to_be_bytes();
        assert_eq!(
            row(&rows, 0),
            [
                Value::Bool(true),
                Value::Int(-32_768),
                Value::Int(i32::MIN.into()),
                Value::Int(i64::MIN),
                Value::Unsigned(u32::MAX.into()),
                Value::F32(0.5),
                Value::F64(0.1),
                Value::Decimal(-12_345_678_901_234_567_891),
                Value::Date(-683_310),
                Value::Time(86_399_000_001),
                Value::Timestamp(253_402_300_799_999_999),
                Value::Timestamp((20_779 * 86_400 + 2_700) * 1_000_000 + 125_000),
                Value::Uuid(uuid),
                Value::Text("grüße 🦀"),
                Value::Text("abc"),
                Value::Text("ab "),
                Value::Text("name"),
                Value::Text("{\"a\": 1}"),
                Value::Text("{\"b\": 2}"),
                Value::Bytes(&[0, 255]),
                Value::Int(99),
                Value::Text("left"),
            ]
        );
        assert!(row(&rows, 1).iter().all(Value::is_null));

        // The same by a simple query, whose answer is text; but for bytes, which it refuses.
        let sql = "select a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, u, v from tamtam_everything";
        let stream = sqlx::raw_sql(sql).fetch(&mut connection);
        let simple = Parts::<sqlx::Postgres>::from_stream(stream).await.unwrap();
        let simple = simple.read_all().await.unwrap();
        let same = fetch(&mut connection, sqlx::query(sql)).await.unwrap();
        assert_eq!(simple, same);
        for statement in [
            "drop table tamtam_everything",
            "drop domain tamtam_small",
            "drop type tamtam_side",
        ] {
            connection.execute(statement).await.unwrap();
        }
    });
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_values_that_fit_no_type_are_named() {
    run(async {
        let mut connection = postgres().await;
        for (sql, named) in [
            ("select 'infinity'::date as x", "infinity"),
            ("select '-infinity'::timestamp as x", "-infinity"),
            ("select 'NaN'::numeric as x", "NaN"),
            (
                "select x::numeric from (values ('1'), ('1e60')) as t(x)",
                "digits",
            ),
            ("select '{1,2}'::int[] as x", "INT4[]"),
            ("select '1 day'::interval as x", "column::text"),
        ] {
            let error = fetch(&mut connection, sqlx::query(sql)).await.unwrap_err();
            assert!(error.to_string().contains(named), "{sql}: {error}");
        }
        let sql = "select n::numeric(10,2) + 0.5::numeric / 3 as x from generate_series(1, 3) as n";
        let rows = fetch(&mut connection, sqlx::query(sql)).await.unwrap();
        assert!(
            matches!(kinds(&rows)[0], Kind::Decimal { scale: 16.., .. }),
            "{:?}",
            kinds(&rows)
        );
    });
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_rows_come_in_parts_and_a_late_misfit_is_named() {
    run(async {
        let mut connection = postgres().await;
        let count = 3 * SAMPLE_ROWS as i64 + 5;
        let sql = "select n, case when n > 5000 then n / 8.0 else n end as d from generate_series(1::bigint, $1) as n";
        let query = sqlx::query(sql).bind(5_000_i64);
        let rows = fetch(&mut connection, query).await.unwrap();
        assert_eq!(rows.len(), 5_000);
        assert_eq!(
            kinds(&rows)[1],
            Kind::Decimal {
                precision: 38,
                scale: 0
            }
        );
        let query = sqlx::query(sql).bind(count);
        let mut parts = Parts::open(&mut connection, query)
            .await
            .unwrap()
            .part_rows(2_000);
        let mut seen = 0;
        let error = loop {
            match parts.next_part().await {
                Ok(Some(part)) => seen += part.len(),
                Ok(None) => panic!("5001 / 8 has digits behind the point"),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(seen, 4_000);
        assert!(error.contains("\"d\", row 5000"), "{error}");
        assert!(parts.next_part().await.unwrap().is_none());
    });
}
