//! `tamtam rows` from end to end, by the real program.

use std::path::Path;
use std::process::{Command, Output};

fn tamtam(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tamtam"))
        .arg("rows")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn works(folder: &Path, arguments: &[&str]) -> String {
    let output = tamtam(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    // Progress is for terminals.
    assert_eq!(error, "");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = tamtam(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

const CSV: &str =
    "n,name,price,day\n1,one,0.50,2026-11-22\n2,,12.25,1969-12-31\n300,\"a, b\",7.00,\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), CSV).unwrap();
    folder
}

#[test]
fn a_file_goes_through_each_form_and_comes_back() {
    let folder = folder();
    let folder = folder.path();
    assert!(works(folder, &["in.csv", "--write", "a.rows"]).starts_with("3 rows"));
    works(folder, &["convert", "a.rows", "b.parquet"]);
    works(folder, &["convert", "b.parquet", "c.json"]);
    works(folder, &["convert", "c.json", "g.jsonl"]);
    works(folder, &["convert", "g.jsonl", "d.tsv"]);
    works(folder, &["convert", "b.parquet", "e.rows"]);
    works(folder, &["convert", "e.rows", "f.csv"]);
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("f.csv").replace("\r\n", "\n"), CSV);
    assert!(
        read("d.tsv").contains("300\ta, b\t7.00\t"),
        "{}",
        read("d.tsv")
    );
    assert_eq!(read("g.jsonl").lines().count(), 3);
    let json: serde_json::Value = serde_json::from_str(&read("c.json")).unwrap();
    assert_eq!(json[2]["name"], "a, b");
    assert_eq!(json.as_array().unwrap().len(), 3);
    // Nothing is left of what was written on the way.
    let names = std::fs::read_dir(folder).unwrap();
    assert!(
        names
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().ends_with(".part"))
    );
}

#[test]
fn show_prints_the_first_rows() {
    let folder = folder();
    let shown = works(folder.path(), &["show", "in.csv", "-n", "2"]);
    assert!(
        shown.contains("2026-11-22") && shown.contains("null"),
        "{shown}"
    );
    assert!(
        !shown.contains("300") && shown.contains("2 rows, and more"),
        "{shown}"
    );
}

#[test]
fn each_form_is_tried_and_the_verdict_speaks_of_each_link() {
    let folder = folder();
    let told = works(folder.path(), &["in.csv", "--each", "1"]);
    for word in [
        "packed",
        "json-objects",
        "1 Mbit/s",
        "1000 Mbit/s",
        "Plan::for_link: packed",
        "decimal(4,2)",
        " µs for ",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let lines: Vec<serde_json::Value> = works(folder.path(), &["in.csv", "--each", "1", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let with = |key| lines.iter().filter(move |line| line.get(key).is_some());
    assert!(with("form").count() >= 8);
    assert_eq!(with("column").count(), 4);
    assert_eq!(with("mbit_per_s").count(), 4);
    // The verdict is what the figures above it come to, as in the lab.
    for verdict in with("mbit_per_s") {
        let number = |line: &serde_json::Value, key: &str| line[key].as_f64().unwrap();
        let name = verdict["use"].as_str().unwrap();
        let (form, by) = name.split_once('+').unwrap_or((name, ""));
        let trial = with("form").find(|line| line["form"] == form).unwrap();
        let compressed = trial["compressed"].as_array().unwrap();
        let squeezed = compressed.iter().find(|line| line["by"] == by);
        let bytes = number(squeezed.unwrap_or(trial), "bytes");
        let mut total = number(trial, "encode_us") + number(trial, "decode_us");
        total += bytes * 8.0 / number(verdict, "mbit_per_s");
        if let Some(squeezed) = squeezed {
            total += number(squeezed, "compress_us") + number(squeezed, "decompress_us");
        }
        assert!((number(verdict, "total_us") - total).abs() < 1e-6 * total);
        assert!(
            number(verdict, "plan_us")
                > number(verdict, "plan_bytes") * 8.0 / number(verdict, "mbit_per_s")
        );
    }
    // What the library plans for each link is named beside it.
    let plans = with("plan").filter_map(|line| line["plan"].as_str());
    assert_eq!(plans.filter(|plan| plan.starts_with("packed")).count(), 4);
}

#[test]
fn a_database_is_asked_by_its_query() {
    let folder = folder();
    let path = folder.path().join("board.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("create table t (a int, b text); insert into t values (1, 'x'), (2, null)")
        .unwrap();
    let query = [
        "--db",
        "board.db",
        "--query",
        "select a, b from t order by a",
    ];
    works(folder.path(), &[&query[..], &["--write", "t.csv"]].concat());
    let written = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert_eq!(written.replace("\r\n", "\n"), "a,b\n1,x\n2,\n");
    let wrong = ["--db", "board.db", "--query", "select a from nothing"];
    assert!(fails(folder.path(), &wrong).contains("nothing"));
    let wrong = ["--db", "none.db", "--query", "select 1"];
    assert!(fails(folder.path(), &wrong).contains("there is no file none.db"));
}

#[test]
fn errors_say_what_is_wrong_with_what() {
    let folder = folder();
    let folder = folder.path();
    assert!(fails(folder, &["none.csv"]).contains("none.csv"));
    assert!(fails(folder, &["in.txt"]).contains(".parquet"));
    assert!(fails(folder, &["in.csv", "--write", "out.xls"]).contains("out.xls"));
    assert!(fails(folder, &[]).contains("--query"));
    std::fs::write(folder.join("bad.csv"), "a,b\n1,2\n3\n").unwrap();
    let said = fails(folder, &["bad.csv"]);
    assert!(
        said.contains("bad.csv") && said.contains("(line 3)"),
        "{said}"
    );
    std::fs::write(folder.join("bad.rows"), "not rows at all").unwrap();
    assert!(fails(folder, &["show", "bad.rows"]).contains("bad.rows"));
    std::fs::write(folder.join("bad.parquet"), "not parquet at all").unwrap();
    assert!(fails(folder, &["convert", "bad.parquet", "out.csv"]).contains("bad.parquet"));
    assert!(!folder.join("out.csv").exists());
}
