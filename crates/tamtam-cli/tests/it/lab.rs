//! The program as a person runs it: the real binary, its output and its exit code.
//!
//! Peers are played by `stand-in-peers.sh`, which breaks the contract in ways that real ones should not.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::program::{Ended, Place};

/// The fields of a result, in order.
const FIELDS: [&str; 13] = [
    "experiment",
    "variant",
    "contender",
    "version",
    "ours",
    "metric",
    "unit",
    "median",
    "min",
    "max",
    "runs",
    "verified",
    "machine",
];

impl Place {
    /// With the stand-in peers in it.
    fn with_peers() -> Self {
        let place = Self::empty();
        let programs = place.path("peers/rust/target/release");
        fs::create_dir_all(&programs).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-peers.sh");
        symlink(script, programs.join("tamtam-peers-rust")).unwrap();
        place
    }

    /// `tamtam lab run` of the stand-ins named in `only`.
    fn drum(&self, only: &[&str], words: &[&str]) -> Ended {
        let mut all = vec!["lab", "run", "drumming/10/free", "--peers", "peers"];
        all.extend(only.iter().flat_map(|name| ["--only", name]));
        all.extend(words);
        self.run(&all)
    }

    /// What the stand-ins wrote down: contender, variant, process, hogs beside it.
    fn log(&self) -> Vec<(String, String, u32, usize)> {
        let text =
            fs::read_to_string(self.path("peers/rust/target/release/log")).unwrap_or_default();
        text.lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (
                    words[0].to_owned(),
                    words[1].to_owned(),
                    words[2].parse().unwrap(),
                    words[3].parse().unwrap(),
                )
            })
            .collect()
    }

    fn json(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn the_list_shows_experiments_contenders_and_variants() {
    let ended = Place::with_peers().run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for words in [
        "handover  (articles A and B, 2013)",
        "* slot",
        "1000/2cores",
        "drumming",
        "steady",
        "a stand-in (7.0)",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(
        ended.stdout.lines().all(|line| line.chars().count() <= 100),
        "{}",
        ended.stdout
    );
}

#[test]
fn our_slot_is_measured_and_every_figure_has_every_field() {
    let place = Place::with_peers();
    let ended = place.run(&[
        "lab",
        "run",
        "handover",
        "--only",
        "slot",
        "--quick",
        "--runs",
        "1",
        "--json",
        "out.json",
        "--against",
        "none",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    let text = fs::read_to_string(place.path("out.json")).unwrap();
    for (line, text) in lines.iter().zip(text.lines()) {
        let places: Vec<usize> = FIELDS
            .iter()
            .map(|field| text.find(&format!("\"{field}\":")).unwrap())
            .collect();
        assert!(
            places.is_sorted() && line.as_object().unwrap().len() == FIELDS.len(),
            "{text}"
        );
        assert_eq!(
            (&line["contender"], &line["ours"], &line["verified"]),
            (&"slot".into(), &true.into(), &true.into())
        );
        assert!(
            line["min"].as_f64() <= line["median"].as_f64()
                && line["median"].as_f64() <= line["max"].as_f64()
        );
        assert_eq!(line["runs"], 1);
    }
    let plain = lines
        .iter()
        .find(|line| line["variant"] == "1000/free" && line["metric"] == "ns_per_op")
        .unwrap();
    assert!(plain["median"].as_f64().unwrap() > 1.0, "{plain}");
    for words in ["* slot", "A: shared property", "  → slot: "] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(
        !ended.stdout.contains('\u{1b}'),
        "colour without a terminal"
    );
}

#[test]
fn a_table_is_sent_in_several_forms_and_the_fastest_of_each_link_is_named() {
    let place = Place::with_peers();
    let words = [
        "lab",
        "run",
        "rows/1000/palette",
        "--only",
        "packed",
        "--only",
        "packed-for-link",
        "--only",
        "sqlite",
        "--only",
        "text-by-hand",
        "--only",
        "text-bare+gzip",
        "--runs",
        "1",
        "--json",
        "out.json",
        "--against",
        "none",
    ];
    // Where the article's table is made.
    let mut command = place.command(&words);
    command.env("XDG_CACHE_HOME", place.path("cache"));
    let ended = Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    let value = |contender: &str, metric: &str| {
        lines
            .iter()
            .find(|line| line["contender"] == contender && line["metric"] == metric)
            .unwrap_or_else(|| panic!("{metric} of {contender} is missing"))["median"]
            .as_f64()
            .unwrap()
    };
    for contender in ["packed", "text-by-hand", "text-bare+gzip"] {
        let bits = value(contender, "bytes_per_row") * 8_000.0;
        let work = value(contender, "encode_us") + value(contender, "decode_us");
        for (metric, speed) in [
            ("total_us_1mbit", 1.0),
            ("total_us_8mbit", 8.0),
            ("total_us_100mbit", 100.0),
            ("total_us_1000mbit", 1000.0),
        ] {
            let total = work + bits / speed;
            assert!((value(contender, metric) - total).abs() < 1e-6 * total);
        }
        assert!(value(contender, "encode_mean_us") > 0.0);
        assert!(value(contender, "decode_deviation_us") >= 0.0);
    }
    // Of what is another form on each link, what makes up the total on each.
    for (link, speed) in [
        ("1mbit", 1.0),
        ("8mbit", 8.0),
        ("100mbit", 100.0),
        ("1000mbit", 1000.0),
    ] {
        let of = |metric| value("packed-for-link", &format!("{metric}_{link}"));
        let sum = of("encode_us") + of("bytes_per_row") * 8_000.0 / speed + of("decode_us");
        assert!((of("total_us") - sum).abs() < 1e-6 * sum);
    }
    // Each is the most of the figure beside it, and was measured apart from it: on a busy machine it may exceed it.
    for (part, whole) in [("compress_us", "encode_us"), ("expand_us", "decode_us")] {
        let [part, whole] = [part, whole].map(|metric| value("text-bare+gzip", metric));
        assert!(0.0 < part && part < 3.0 * whole, "{part} of {whole}");
    }
    // What a row holds, and what the article's string takes.
    assert!((3.51..5.0).contains(&value("packed", "bytes_per_row")));
    assert!((22.0..23.0).contains(&value("text-by-hand", "bytes_per_row")));
    let plain = value("text-bare+gzip", "uncompressed_bytes_per_row");
    assert!((22.0..23.0).contains(&plain));
    assert!(value("text-bare+gzip", "bytes_per_row") < plain / 2.0);
    // What comes before any form is beside them.
    assert!(place.path("cache/tamtam/board.sqlite").is_file());
    assert!(value("sqlite", "rows_us") > 0.0);
    assert!(
        !lines
            .iter()
            .any(|line| line["contender"] == "sqlite" && line["metric"] == "total_us_8mbit")
    );
    for words in [
        "rows 1000/palette",
        "columns: out of sqlite in ",
        "in all (C: array)",
        "one of 64 colours, quarter turns",
        "› ",
        "C: recordset",
        // Of two that take the same bytes, either.
        "→ packed",
        " is the fastest at 1 Mbit/s",
        "rows, in all",
        "packed-for-link is the fastest in ",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn servers_in_other_processes_are_called_beside_the_articles() {
    let place = Place::empty();
    let contenders = [
        "direct",
        "channel",
        "link",
        "ipc",
        "unix-socket",
        "http-each",
    ];
    let mut words = vec!["lab", "run", "calls/60/free/", "--quick", "--runs", "1"];
    words.extend(["--json", "out.json", "--against", "none"]);
    words.extend(contenders.iter().flat_map(|name| ["--only", name]));
    let mut command = place.command(&words);
    // Where servers have their sockets.
    fs::create_dir(place.path("tmp")).unwrap();
    command.env("TMPDIR", place.path("tmp"));
    let ended = Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    for variant in ["60/free/1client", "60/free/8clients"] {
        for contender in contenders {
            for metric in ["ops_per_s", "first_call_us", "mb_per_s", "cpu_ns_per_op"] {
                let line = lines.iter().find(|line| {
                    line["contender"] == contender
                        && line["variant"] == variant
                        && line["metric"] == metric
                });
                let line = line.unwrap_or_else(|| panic!("{metric} of {contender} is missing"));
                assert_eq!(line["verified"], true);
                assert!(line["median"].as_f64().unwrap() > 0.0, "{line}");
            }
        }
    }
    for words in [
        "calls 60/free/1client",
        "one client, one call after the other",
        "8 clients at once",
        "* channel",
        "first call",
        "E: named pipe",
        "(E: window messages)",
        "direct is a call of a function",
    ] {
        let on_one_line = ended
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            on_one_line.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    let left: Vec<_> = fs::read_dir(place.path("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Measures rows out of a server beside a form of them, as a person does who has named the server in `variable`.
fn rows_come_out_of(contender: &str, variable: &str) {
    assert!(
        std::env::var_os(variable).is_some(),
        "{variable} says where it is"
    );
    let place = Place::empty();
    let mut words = vec!["lab", "run", "rows", "--runs", "1", "--against", "none"];
    words.extend([
        "--only", contender, "--only", "packed", "--json", "out.json",
    ]);
    let ended = place.run(&words);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    for table in ["random", "palette", "rotation"] {
        let is_it = |line: &&Value| {
            line["contender"] == contender
                && line["variant"] == format!("1000/{table}")
                && line["metric"] == "rows_us"
        };
        let line = lines.iter().find(is_it);
        let line = line.unwrap_or_else(|| panic!("{table} is missing in {lines:?}"));
        assert_eq!(line["verified"], true);
        assert!(line["median"].as_f64().unwrap() > 0.0);
    }
    let said = format!("rows into columns: out of {contender} in ");
    let on_one_line = ended.stdout.split_whitespace().collect::<Vec<_>>();
    assert!(on_one_line.join(" ").contains(&said), "{}", ended.stdout);
}

#[test]
#[ignore = "needs a server of MySQL or MariaDB"]
fn mysql_is_a_contender_where_it_is_named() {
    rows_come_out_of("mysql", "TAMTAM_MYSQL_URL");
}

#[test]
#[ignore = "needs a server of PostgreSQL"]
fn postgres_is_a_contender_where_it_is_named() {
    rows_come_out_of("postgres", "TAMTAM_POSTGRES_URL");
}

#[test]
fn what_the_browser_cannot_read_is_said_before_anything_is_measured() {
    let place = Place::with_peers();
    let ended = place.drum(&["steady"], &["--browser"]);
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("name one: rows/1000/random"),
        "{}",
        ended.stderr
    );
    assert!(place.log().is_empty(), "{:?}", place.log());
}

#[test]
fn runs_are_interleaved_each_in_a_fresh_process() {
    let place = Place::with_peers();
    let ended = place.drum(
        &["steady", "quick"],
        &["--runs", "4", "--json", "out.json", "--csv", "out.csv"],
    );
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let log = place.log();
    assert_eq!(log.len(), 8);
    for round in log.chunks(2) {
        assert_ne!(
            round[0].0, round[1].0,
            "a round runs each contender once: {log:?}"
        );
    }
    assert_eq!(
        log.iter()
            .map(|(_, _, process, _)| process)
            .collect::<HashSet<_>>()
            .len(),
        8
    );
    assert!(log.iter().all(|(_, _, _, hogs)| *hogs == 0));

    let lines = place.json("out.json");
    let steady = lines
        .iter()
        .find(|line| line["contender"] == "steady")
        .unwrap();
    assert_eq!(
        [&steady["median"], &steady["min"], &steady["max"]],
        [1015.0, 1000.0, 1030.0]
    );
    assert_eq!(
        (&steady["runs"], &steady["version"], &steady["unit"]),
        (&4.into(), &"7.0".into(), &"ns".into())
    );
    let csv = fs::read_to_string(place.path("out.csv")).unwrap();
    assert_eq!(csv.lines().next().unwrap(), FIELDS.join(","));
    assert_eq!(csv.lines().count(), 3);
    assert!(ended.stdout.contains("[1.00..1.03 µs]"), "{}", ended.stdout);
    let (quick, steady) = (
        ended.stdout.find("  quick").unwrap(),
        ended.stdout.find("  steady").unwrap(),
    );
    assert!(quick < steady, "the fastest comes first");
}

#[test]
fn a_contender_that_fails_is_shown_and_the_run_goes_on() {
    let place = Place::with_peers();
    let names = ["steady", "broken", "unverified", "silent"];
    let ended = place.drum(&names, &["--runs", "2", "--json", "out.json"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    for words in [
        "broken failed: message 17 came twice",
        "unverified failed: its deliveries were not verified",
        "silent failed: it ended without printing a result",
        "3 contenders failed",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(
        place
            .json("out.json")
            .iter()
            .all(|line| line["contender"] == "steady")
    );
    let runs = |name: &str| {
        place
            .log()
            .iter()
            .filter(|(contender, ..)| contender == name)
            .count()
    };
    assert_eq!(
        (runs("steady"), runs("broken")),
        (2, 1),
        "who has failed is not run again"
    );
}

#[test]
fn busy_neighbours_run_beside_a_hog_variant_and_end_with_it() {
    let place = Place::with_peers();
    let words = [
        "lab",
        "run",
        "drumming/10/hog",
        "--peers",
        "peers",
        "--only",
        "quick",
        "--runs",
        "2",
    ];
    let ended = place.run(&words);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let cores = std::thread::available_parallelism().unwrap().get();
    let hogs: Vec<usize> = place.log().iter().map(|(_, _, _, hogs)| *hogs).collect();
    assert_eq!(hogs, [cores, cores]);
}

#[test]
fn a_hog_ends_when_its_parent_has_gone() {
    let mut hog = Place::with_peers()
        .command(&["hog"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(hog.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "busy\n");
    assert!(hog.try_wait().unwrap().is_none());
    drop(hog.stdin.take());
    assert!(hog.wait().unwrap().success());
}

/// Waits until `child` has told that it begins, so that its handler for signals is there, and a stuck stand-in runs.
fn wait_until_stuck(place: &Place, child: &mut Child) -> Pid {
    let mut first = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !first.contains("of 2 measurements") {
        first.clear();
        assert_ne!(
            stderr.read_line(&mut first).unwrap(),
            0,
            "it ended before it measured"
        );
    }
    // Only a file can tell: the stand-in's output belongs to the lab.
    loop {
        if let Some((_, _, process, _)) = place.log().iter().find(|(name, ..)| name == "stuck") {
            return Pid::from_raw(i32::try_from(*process).unwrap()).unwrap();
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it measured"
        );
        std::thread::yield_now();
    }
}

#[test]
fn ctrl_c_ends_the_children_and_shows_what_there_is() {
    a_signal_ends_the_children(&[Signal::INT]);
}

/// As by `timeout`, which asks its child to end, and then all of the child's group. Here they differ: of two alike the system may deliver one.
#[test]
fn a_request_to_end_that_comes_twice_shows_what_there_is() {
    a_signal_ends_the_children(&[Signal::TERM, Signal::INT]);
}

fn a_signal_ends_the_children(signals: &[Signal]) {
    let place = Place::with_peers();
    let words = [
        "lab",
        "run",
        "drumming/10/free",
        "--peers",
        "peers",
        "--only",
        "quick",
        "--only",
        "stuck",
        "--runs",
        "1",
    ];
    let mut child = place
        .command(&words)
        .args(["--json", "out.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stuck = wait_until_stuck(&place, &mut child);
    for signal in signals {
        kill_process(Pid::from_child(&child), *signal).unwrap();
    }
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stdout}");
    assert!(stdout.contains("Stopped early"), "{stdout}");
    assert!(
        test_kill_process(stuck).is_err(),
        "the contender is still there"
    );
    // Whether `quick` came first is the shuffle's affair; if so, its figure is kept.
    let ran = place.log().iter().any(|(name, ..)| name == "quick");
    assert_eq!(place.json("out.json").len(), usize::from(ran));
}

#[test]
fn wrong_names_are_answered_with_the_known_ones() {
    let place = Place::with_peers();
    let ended = place.run(&["lab", "run", "handovr"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("there is no experiment handovr; did you mean handover?"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "handover/1000/moon"]);
    assert!(
        ended
            .stderr
            .contains("handover has no variant 1000/moon; known are 1000/free"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "--only", "nobody", "--against", "none"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains(
            "there is no contender or row nobody; `tamtam lab list` shows all that there are"
        ),
        "{}",
        ended.stderr
    );
    let ended = place.run(&[
        "lab",
        "run",
        "--only",
        "slot,crossbeam-chanel,flume",
        "--peers",
        "peers",
    ]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("there is no contender or row crossbeam-chanel; "),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "--only", "slot,mpcs", "--against", "none"]);
    assert!(
        ended.stderr.contains("did you mean mpsc"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lba"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(
        ended.stderr,
        "tamtam: there is no command lba; did you mean lab?\n"
    );
    for words in [
        &["lab", "run", "--runs", "0"][..],
        &["lab", "run", "--quick", "--full"],
        &["lab", "fly", "--high"],
    ] {
        let ended = place.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{words:?}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let place = Place::with_peers();
    for option in ["--json", "--csv"] {
        let ended = place.drum(&["quick"], &[option, "no/such/folder/out"]);
        assert_eq!(ended.code, Some(2));
        assert!(
            ended
                .stderr
                .contains("no/such/folder/out cannot be written"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(place.log(), []);
}

#[test]
fn peers_that_are_not_built_are_left_out_with_a_word_how_to_build_them() {
    let place = Place::with_peers();
    fs::remove_dir_all(place.path("peers/rust/target")).unwrap();
    let ended = place.run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("./scripts/lab --peers"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("* slot"), "{}", ended.stdout);
    let ended = place.run(&["lab", "list", "--peers", "nowhere"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("--peers: nowhere is not a folder"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "list", "--against", "none"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn peers_of_other_runtimes_take_part_where_those_of_rust_are_not_built() {
    let place = Place::with_peers();
    fs::remove_dir_all(place.path("peers/rust/target")).unwrap();
    fs::create_dir(place.path("peers/jvm")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-peers.sh");
    symlink(script, place.path("peers/jvm/run")).unwrap();
    let ended = place.run(&[
        "lab",
        "run",
        "drumming/10/free",
        "--peers",
        "peers",
        "--only",
        "steady,quick",
        "--runs",
        "1",
        "--json",
        "out.json",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("The peers of Rust are left out: "),
        "{}",
        ended.stderr
    );
    // Both that the list names, and no other.
    let mut measured: Vec<String> = place
        .json("out.json")
        .iter()
        .map(|line| line["contender"].as_str().unwrap().to_owned())
        .collect();
    measured.sort();
    assert_eq!(measured, ["quick", "steady"]);
}

#[test]
fn the_standard_library_is_compared_with_by_the_program_alone() {
    let place = Place::empty();
    let ended = place.run(&[
        "lab",
        "run",
        "handover/1000/1core",
        "post/10000000/free/fanin-16B",
        "property/10000/1core/get",
        "--only",
        "slot,std::sync::mpsc,std::sync::mpsc-unbounded,mutex-condvar,std::thread::park,std::sync::Mutex",
        "--quick",
        "--runs",
        "1",
        "--against",
        "none",
        "--json",
        "out.json",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    for (variant, contender) in [
        ("1000/1core", "std::sync::mpsc"),
        ("1000/1core", "std::sync::mpsc-unbounded"),
        ("1000/1core", "mutex-condvar"),
        ("1000/1core", "std::thread::park"),
        ("10000000/free/fanin-16B", "std::sync::mpsc"),
        ("10000/1core/get", "std::sync::Mutex"),
    ] {
        let line = lines
            .iter()
            .find(|line| line["variant"] == variant && line["contender"] == contender)
            .unwrap_or_else(|| panic!("{contender} in {variant} is missing"));
        assert_eq!(
            (&line["ours"], &line["verified"]),
            (&false.into(), &true.into())
        );
    }
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains("std::sync::mpsc here for ") && text.contains(" CPU time"),
        "{text}"
    );
    // The article's figure is there, and no ratio beside it: its machine is not this one.
    let article = ended
        .stdout
        .lines()
        .find(|line| line.contains("A: shared property  "))
        .unwrap();
    let words: Vec<&str> = article.split_whitespace().collect();
    assert_eq!(words, ["A:", "shared", "property", "62,000"]);
}

#[test]
fn a_runtime_that_is_not_there_is_named_with_what_to_install() {
    let place = Place::with_peers();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-runtime.sh");
    for runtime in ["go", "jvm"] {
        fs::create_dir(place.path(format!("peers/{runtime}"))).unwrap();
        symlink(&script, place.path(format!("peers/{runtime}/run"))).unwrap();
    }
    let ended = place.run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for words in [
        "The peers of the JVM are left out: Java is missing. To install it: apt-get install some-jdk",
        "The peers of Go are left out: ",
        "does not work (exit status: 1: out of order)",
    ] {
        assert!(
            ended.stderr.contains(words),
            "{words} is missing in\n{}",
            ended.stderr
        );
    }
    assert!(!ended.stderr.contains("Erlang"), "{}", ended.stderr);
    assert!(ended.stdout.contains("steady"), "{}", ended.stdout);
    let ended = place.run(&["lab", "list", "--peers", "peers", "--against", "rust"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

/// Measures what is selected with one contender of ours, and sees that each of these variants has got a figure.
fn assert_measured(contender: &str, selections: &[&str], variants: &[&str]) {
    let place = Place::with_peers();
    let options = [
        "--only",
        contender,
        "--quick",
        "--runs",
        "1",
        "--json",
        "out.json",
        "--against",
        "none",
    ];
    let ended = place.run(&[&["lab", "run"], selections, &options].concat());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    for variant in variants {
        let line = lines
            .iter()
            .find(|line| line["variant"] == *variant && line["metric"] == "ns_per_op");
        assert!(line.unwrap()["median"].as_f64().unwrap() > 1.0, "{variant}");
    }
}

#[test]
fn asks_of_our_channel_are_measured() {
    assert_measured(
        "channel",
        &["ask/200000/1core", "ask/2000000/1core"],
        &[
            "200000/1core/thread",
            "200000/1core/task",
            "2000000/1core/tells",
        ],
    );
}

#[test]
fn a_ring_of_our_actors_is_measured() {
    assert_measured(
        "pool",
        &["ring/1000000/1core/token"],
        &["1000000/1core/token"],
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Place::with_peers()
        .command(&["lab", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert!(
        !stderr.contains("Broken pipe") && !stderr.contains("panicked"),
        "{stderr}"
    );
}
