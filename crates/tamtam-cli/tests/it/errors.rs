//! What every command says when it fails: why, and each thing once.

use std::fs;

use crate::program::{Ended, Place};

/// Failures of each command, and a word that is in what it says.
const FAILURES: &[(&[&str], &str)] = &[
    (&["lab", "run", "handove", "--against", "none"], "handover"),
    (
        &["lab", "run", "handover/nothing", "--against", "none"],
        "no variant nothing",
    ),
    (
        &[
            "lab",
            "run",
            "latch",
            "--against",
            "none",
            "--only",
            "nobody",
        ],
        "nobody",
    ),
    (
        &["lab", "run", "latch", "--json", "none/results.jsonl"],
        "cannot be written",
    ),
    (&["lab", "run", "latch", "--csv", "."], "cannot be written"),
    (&["lab", "run", "latch", "--peers", "none"], "none"),
    (&["lab", "list", "--peers", "none"], "none"),
    (&["lab", "report"], "lab/results"),
    (&["lab", "report", "none.jsonl"], "none.jsonl"),
    (&["lab", "report", "damaged.jsonl"], "damaged.jsonl"),
    (&["lab", "report", "empty.jsonl"], "empty.jsonl"),
    (&["lab", "report", "binary.jsonl"], "binary.jsonl"),
    (&["lab", "report", "."], "."),
    (&["rows", "none.csv"], "none.csv"),
    (&["rows", "table.cvs"], "csv"),
    (&["rows", "."], "."),
    (&["rows", "empty.csv"], "there are no"),
    (
        &["rows", "--db", "none/board.db", "--query", "select 1"],
        "none/board.db",
    ),
    (
        &["rows", "--db", "binary.db", "--query", "select 1"],
        "not a database",
    ),
    (
        &[
            "rows",
            "--db",
            "empty.db",
            "--query",
            "select x from nowhere",
        ],
        "nowhere",
    ),
    (&["rows", "--db", "empty.db", "--query", "selec 1"], "selec"),
    (
        &[
            "rows",
            "--db",
            "postgres://127.0.0.1:1/x",
            "--query",
            "select 1",
        ],
        "refused",
    ),
    (
        &[
            "rows",
            "--db",
            "mysql://127.0.0.1:1/x",
            "--query",
            "select 1",
        ],
        "refused",
    ),
    (&["rows", "show", "none.rows"], "none.rows"),
    (&["rows", "show", "binary.rows"], "binary.rows"),
    (&["rows", "show", "binary.parquet"], "binary.parquet"),
    (&["rows", "show", "binary.json"], "binary.json"),
    (&["rows", "show", "damaged.jsonl"], "damaged.jsonl"),
    (&["rows", "show", "binary.csv"], "binary.csv"),
    (&["rows", "show", "ragged.csv"], "ragged.csv"),
    (&["rows", "show", "cut.csv.gz"], "cut.csv.gz"),
    (&["rows", "show", "table.csv", "--type", "a=bool"], "bool"),
    (&["rows", "convert", "none.csv", "out.rows"], "none.csv"),
    (&["rows", "convert", "table.csv", "out.cvs"], "csv"),
    (
        &["rows", "convert", "table.csv", "none/out.rows"],
        "none/out.rows",
    ),
    (&["rows", "convert", "table.csv", "."], "."),
    (&["rows", "convert", "nan.csv", "out.json"], "out.json"),
    (&["top", "./none.socket"], "none.socket"),
    (&["top", "./empty.csv"], "empty.csv"),
    (&["top", "--once", "4194305"], "4194305"),
];

#[test]
fn no_command_says_a_thing_twice() {
    let place = Place::empty();
    let binary = [0xff, 0x00, 0xc3, 0x28, 0x80, 0x0a].repeat(700);
    for name in [
        "binary.jsonl",
        "binary.db",
        "binary.rows",
        "binary.parquet",
        "binary.json",
        "binary.csv",
    ] {
        fs::write(place.path(name), &binary).unwrap();
    }
    for name in ["empty.jsonl", "empty.csv", "empty.db"] {
        fs::write(place.path(name), "").unwrap();
    }
    fs::write(place.path("damaged.jsonl"), "{\"a\": 1}\n{\"a\": \n").unwrap();
    fs::write(place.path("table.csv"), "a,b\n1,x\n2,y\n").unwrap();
    fs::write(place.path("table.cvs"), "a,b\n1,x\n").unwrap();
    fs::write(place.path("ragged.csv"), "a,b\n1,x\n2\n").unwrap();
    fs::write(place.path("nan.csv"), "a\n1.5\nNaN\n").unwrap();
    fs::write(
        place.path("cut.csv.gz"),
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b],
    )
    .unwrap();

    let mut wrong = Vec::new();
    for (words, named) in FAILURES {
        let ended = place.run(words);
        let said = &ended.stderr;
        let command = words.join(" ");
        if ended.code == Some(0) || ended.code.is_none() || !said.contains(named) {
            let Ended { code, stdout, .. } = &ended;
            wrong.push(format!("{command}: {code:?}, {said}{stdout}"));
        }
        if let Some(part) = said.lines().find_map(said_twice) {
            wrong.push(format!("{command}: {part:?} twice in: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands twice in a chain of causes.
fn said_twice(line: &str) -> Option<&str> {
    let parts: Vec<&str> = line.split(": ").collect();
    parts.iter().enumerate().skip(1).find_map(|(place, part)| {
        let is_said = parts[..place].iter().any(|before| before.contains(part));
        is_said.then_some(*part)
    })
}
