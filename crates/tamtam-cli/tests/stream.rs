//! A table out of a database into a file, by the real program: it takes the memory of a few parts, whatever its length.
//!
//! The only test of its program, since what children took is counted for a process as a whole.
#![cfg(all(target_os = "linux", feature = "tables", feature = "databases"))]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use tamtam_rows::packed::Reader;
use tamtam_rows::{Limits, Value};

/// How many rows the table has and how many characters the text of each; with `scripts/test --soak`, as many rows as the
/// bar of the project speaks of.
fn size() -> (u64, usize) {
    match std::env::var_os("TAMTAM_SOAK_SECONDS") {
        Some(_) => (10_000_000, 24),
        None => (300_000, 240),
    }
}

/// What no table takes, in KiB: less than its texts alone.
const MOST: i64 = 64 * 1024;

/// What the optimized program takes for one row, in KiB, and a little more.
const OPTIMIZED: i64 = 16 * 1024;

/// A table whose texts differ in each row, made by the database itself.
fn fill(path: &Path, rows: u64, length: usize) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(&format!(
            "pragma journal_mode = off; pragma synchronous = off;
             create table lines (n integer primary key, x smallint, body text);
             with recursive count(n) as (select 1 union all select n + 1 from count where n < {rows})
             insert into lines select n, n * 7 % 1000, printf('%0{length}d', n * 48271) from count"
        ))
        .unwrap();
}

/// The greatest memory that a child of this process took until now, in KiB.
fn peak() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss()
}

fn write(folder: &Path, query: &str) -> i64 {
    let output = Command::new(env!("CARGO_BIN_EXE_tamtam"))
        .args(["rows", "--db", "lines.db", "--query", query])
        .args(["--write", "lines.rows"])
        .current_dir(folder)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    peak()
}

/// How long SQLite takes for the same rows when somebody only looks at each value.
fn look_at_all(path: &Path, query: &str) -> Duration {
    let connection = rusqlite::Connection::open(path).unwrap();
    let start = Instant::now();
    let mut statement = connection.prepare(query).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        for column in 0..3 {
            std::hint::black_box(row.get_ref(column).unwrap());
        }
    }
    start.elapsed()
}

#[test]
fn a_long_table_takes_the_memory_of_a_few_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, length) = size();
    fill(&folder.path().join("lines.db"), rows, length);

    let start = write(folder.path(), "select n, x, body from lines where n = 1");
    let query = "select n, x, body from lines";
    let began = Instant::now();
    let peak = write(folder.path(), query);
    let took = began.elapsed();
    println!("{rows} rows: {peak} KiB at most, {start} KiB with one row");
    // To be read where this is compiled with --release.
    let bare = look_at_all(&folder.path().join("lines.db"), query);
    let speed = |time: Duration| rows as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{:.2} million rows a second into the file, {:.2} out of SQLite alone",
        speed(took),
        speed(bare)
    );
    assert!(
        rows as usize * length / 1024 > MOST as usize,
        "the texts fit into the bound: it would not be noticed that they are held"
    );
    // Without optimization the program alone takes twice as much, and more with each command: what counts then is the table.
    let program = if cfg!(debug_assertions) {
        (start - OPTIMIZED).max(0)
    } else {
        0
    };
    assert!(
        peak - program < MOST,
        "{rows} rows took {peak} KiB, where one row takes {start} KiB"
    );

    // And all of them are there, in their order.
    let file = std::fs::File::open(folder.path().join("lines.rows")).unwrap();
    let limits = Limits {
        rows: u64::MAX,
        ..Limits::default()
    };
    let mut reader = Reader::new(std::io::BufReader::new(file), limits).unwrap();
    let mut read = 0;
    while let Some(part) = reader.next_chunk().unwrap() {
        for row in 0..part.len() {
            read += 1;
            assert_eq!(part.value(row, 0), Value::Int(read));
        }
        let body = part.value(part.len() - 1, 2);
        let expected = format!("{:0width$}", read * 48271, width = length);
        assert_eq!(body, Value::Text(&expected));
    }
    assert_eq!(read as u64, rows);
}
