//! What is measured, and written down.

use super::*;

#[test]
fn our_slot_is_measured_and_every_figure_has_every_field() {
    let place = Place::with_peers();
    let ended = measure(&place, "slot", &["handover"]);
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
        // Of two that take the same bytes, either, or both.
        "→ packed",
        "rows, in all",
        "packed-for-link is the fastest in ",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    let said: Vec<&str> = ended.stdout.split_whitespace().collect();
    let said = said.join(" ");
    assert!(
        [
            "is the fastest at 1 Mbit/s",
            "are level, and none is ahead of them, at 1 Mbit/s"
        ]
        .iter()
        .any(|words| said.contains(words)),
        "{said}"
    );
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

/// Measures what is selected with one contender of ours; the figures are in `out.json`.
fn measure(place: &Place, contender: &str, selections: &[&str]) -> Ended {
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
    ended
}

/// Measures what is selected with one contender of ours, and sees that each of these variants has got a figure.
fn assert_measured(contender: &str, selections: &[&str], variants: &[&str]) {
    let place = Place::with_peers();
    measure(&place, contender, selections);
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
