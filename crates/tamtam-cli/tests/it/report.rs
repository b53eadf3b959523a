//! `tamtam lab report` as a person runs it: the real binary, real results, and the page read as a browser reads it.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use scraper::{ElementRef, Html, Selector};
use serde_json::{Value, json};

use crate::program::{Ended, Place};

impl Place {
    /// `tamtam lab` with `words`.
    fn lab(&self, words: &[&str]) -> Ended {
        self.run(&[&["lab"], words].concat())
    }

    /// `tamtam lab report` of `files`, which is to succeed; its page and what it printed.
    fn report(&self, files: &[&str]) -> (Page, String) {
        let ended = self.lab(&[&["report"], files].concat());
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
        (self.page("report.html"), ended.stdout)
    }

    fn page(&self, name: &str) -> Page {
        Page::new(&fs::read_to_string(self.path(name)).unwrap())
    }

    fn write(&self, name: &str, lines: &[Value]) {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        if let Some(folder) = self.path(name).parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(self.path(name), text).unwrap();
    }
}

/// A page that has been looked at: well-formed, complete in itself, and readable by who cannot see it.
struct Page {
    html: Html,
}

impl Page {
    fn new(text: &str) -> Self {
        let html = Html::parse_document(text);
        assert!(html.errors.is_empty(), "malformed: {:?}", html.errors);
        let page = Self { html };
        page.check_links();
        page.check_headings();
        page.check_pictures();
        page.check_that_nothing_is_loaded(text);
        page
    }

    fn all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.html
            .select(&Selector::parse(selector).unwrap())
            .collect()
    }

    fn texts(&self, selector: &str) -> Vec<String> {
        self.all(selector).into_iter().map(text_of).collect()
    }

    fn text(&self) -> String {
        self.texts("body").concat()
    }

    fn check_links(&self) {
        let mut ids = HashSet::new();
        for element in self.all("[id]") {
            let id = element.attr("id").unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
        }
        let links = self.all("a");
        assert!(!links.is_empty());
        for link in links {
            let target = link.attr("href").unwrap().strip_prefix('#').unwrap();
            assert!(ids.contains(target), "{target} is nowhere");
        }
        for attribute in ["aria-labelledby", "aria-describedby"] {
            for element in self.all(&format!("[{attribute}]")) {
                let target = element.attr(attribute).unwrap();
                assert!(ids.contains(target), "{target} is nowhere");
            }
        }
    }

    fn check_headings(&self) {
        let levels: Vec<u32> = self
            .all("h1, h2, h3, h4, h5, h6")
            .into_iter()
            .map(|heading| heading.value().name()[1..].parse().unwrap())
            .collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert_eq!(levels[0], 1);
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }

    fn check_pictures(&self) {
        for chart in self.all("svg.chart") {
            assert_eq!(chart.attr("role"), Some("img"));
            for part in ["title", "desc"] {
                let part = Selector::parse(part).unwrap();
                let text = text_of(chart.select(&part).next().unwrap());
                assert!(text.len() > 5, "{text}");
            }
        }
        // Only what is told by the text beside it may be hidden.
        for glyph in self.all("svg.glyph") {
            assert!(glyph.attr("aria-hidden") == Some("true") || glyph.attr("role") == Some("img"));
        }
        assert!(self.all("th:not([scope])").is_empty());
    }

    fn check_that_nothing_is_loaded(&self, text: &str) {
        let loads = "script, link, iframe, img, image, object, embed, video, audio, base, form, [src], [style], [onload]";
        assert!(self.all(loads).is_empty());
        assert_eq!(self.all("style").len(), 1);
        for word in ["http:", "https:", "//", "url(", "@import", "javascript:"] {
            assert!(!text.contains(word), "{word} is in the page");
        }
    }
}

/// The text in an element, blanks as one.
fn text_of(element: ElementRef<'_>) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A figure of a results file: least, median and greatest of five runs.
fn figure(contender: &str, metric: &str, [min, median, max]: [f64; 3]) -> Value {
    json!({
        "experiment": "handover", "variant": "1000/2cores", "contender": contender, "version": "1.0",
        "ours": matches!(contender, "slot" | "channel"), "metric": metric, "unit": "ns",
        "median": median, "min": min, "max": max, "runs": 5, "verified": true, "machine": "a machine",
    })
}

fn changed(mut line: Value, field: &str, value: impl Into<Value>) -> Value {
    line[field] = value.into();
    line
}

#[test]
fn a_row_of_the_grid_is_measured_and_shown_as_a_heat_map() {
    let place = Place::empty();
    let row = "10000/2cores/1to1-16KiB-cap16";
    let ended = place.lab(&[
        "run",
        "grid",
        "--only",
        "1to1-16KiB-cap16,spsc,std::sync::mpsc",
        "--against",
        "none",
        "--quick",
        "--runs",
        "1",
        "--json",
        "grid.jsonl",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains(&format!("grid {row}")),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("grid, in all"), "{}", ended.stdout);
    let lines = fs::read_to_string(place.path("grid.jsonl")).unwrap();
    let figures: HashSet<(String, String, String)> = lines
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            (text("variant"), text("contender"), text("metric"))
        })
        .collect();
    for contender in ["spsc", "std::sync::mpsc"] {
        for metric in [
            "ns_per_op",
            "mean_ns_per_op",
            "first_ns_per_op",
            "cpu_ns_per_op",
        ] {
            let figure = (row.to_owned(), contender.to_owned(), metric.to_owned());
            assert!(
                figures.contains(&figure),
                "{figure:?} is not in {figures:?}"
            );
        }
    }
    assert!(
        figures.iter().all(|(variant, ..)| variant == row),
        "{figures:?}"
    );

    let (page, _) = place.report(&["grid.jsonl"]);
    assert_eq!(
        page.texts("table.heat tbody th"),
        ["2cores/1to1-16KiB-cap16"]
    );
    let ways: HashSet<String> = page.texts("table.heat td.way").into_iter().collect();
    assert_eq!(ways, ["spsc", "std::sync::mpsc"].map(str::to_owned).into());
    assert!(!page.all("table.heat td.best").is_empty());
}

#[test]
fn a_row_that_is_not_there_is_told_with_one_that_is() {
    let ended = Place::empty().lab(&[
        "run",
        "grid",
        "--only",
        "1to1-8B-cap15",
        "--against",
        "none",
    ]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("there is no contender or row 1to1-8B-cap15; did you mean 1to1-8B-cap1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_check_of_a_page_finds_what_is_malformed() {
    for text in [
        "<!DOCTYPE html><title>x</title><body><div><p></div>text</p></body>",
        "<!DOCTYPE html><title>x</title><p>a <b>bold</p>",
        "<!DOCTYPE html><title>x</title><p id=a id=b>text</p>",
        "<title>x</title>",
        "<!DOCTYPE html><title>x</title><svg><rect></svg></g>",
    ] {
        assert!(!Html::parse_document(text).errors.is_empty(), "{text}");
    }
}

#[test]
fn results_that_are_kept_become_a_page() {
    let place = Place::empty();
    let run = [
        "run",
        "handover/1000/1core",
        "--only",
        "slot",
        "--only",
        "channel",
        "--quick",
        "--runs",
        "2",
        "--against",
        "none",
        "--keep",
    ];
    for _ in 0..2 {
        let ended = place.lab(&run);
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
        assert!(
            ended.stderr.contains("Kept as lab/results/"),
            "{}",
            ended.stderr
        );
    }
    let mut kept: Vec<PathBuf> = fs::read_dir(place.path("lab/results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}");

    let (page, told) = place.report(&[]);
    assert!(told.contains("2 sessions in report.html"), "{told}");
    // The newest session's figures are there, to the last digit. (`-2` sorts before the end of the first one's name.)
    let newest = kept
        .iter()
        .find(|path| path.to_str().unwrap().contains("-2.jsonl"))
        .unwrap_or(&kept[1]);
    let shown: HashSet<String> = page
        .all("data")
        .into_iter()
        .map(|data| data.attr("value").unwrap().to_owned())
        .collect();
    let text = fs::read_to_string(newest).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut seen = 0;
    for line in &lines {
        if ["ns_per_op", "cpu_ns_per_op", "switches_per_op"]
            .contains(&line["metric"].as_str().unwrap())
        {
            let median = line["median"].as_f64().unwrap();
            assert!(shown.contains(&median.to_string()), "{line}");
            seen += 1;
        }
    }
    assert_eq!(seen, 6, "two contenders with three metrics");
    let text = page.text();
    for words in [
        lines[0]["machine"].as_str().unwrap(),
        "slot",
        "A: shared property",
        "Both threads on one core handover 1000/1core",
        "An operation is a round trip.",
        "Every delivery was verified",
        "the article's best was",
        "2 ✓",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert_eq!(
        page.texts("h2"),
        [
            "Which way costs what here",
            "Contents",
            "There and back between two threads handover",
            "What changed",
            "The sessions",
            "How to read this"
        ]
    );
    // Once in the answer, which comes first, and once with its experiment.
    for part in ["section.answer", "section.experiment"] {
        assert_eq!(page.all(&format!("{part} rect.bar.ours")).len(), 2);
        assert_eq!(
            page.all(&format!("{part} rect.bar.cpu")).len(),
            2 + 1,
            "a bar for each and the legend's"
        );
    }
    assert_eq!(page.texts("section.answer p.verdict").len(), 1);
    assert_eq!(page.all("section:has(.answer) ~ main #changes").len(), 1);
    assert_eq!(page.texts("svg.chart path.mark.article").len(), 2 * 3);
}

#[test]
fn a_regression_is_said_in_words_at_the_top() {
    let place = Place::empty();
    let session = |slot: [f64; 3], channel: [f64; 3], kanal: [f64; 3]| {
        [
            figure("slot", "ns_per_op", slot),
            figure("slot", "cpu_ns_per_op", [390.0, 400.0, 410.0]),
            figure("channel", "ns_per_op", channel),
            figure("kanal", "ns_per_op", kanal),
        ]
    };
    place.write(
        "lab/results/2026-11-20.jsonl",
        &[
            &session(
                [190.0, 200.0, 210.0],
                [500.0, 550.0, 600.0],
                [700.0, 750.0, 800.0],
            )[..],
            &[figure("flume", "ns_per_op", [1.0, 2.0, 3.0])],
        ]
        .concat(),
    );
    // The later one is first by name, and stands in the order of the days all the same.
    place.write(
        "lab/results/2026-11-20-10.jsonl",
        &session(
            [295.0, 300.0, 310.0],
            [400.0, 440.0, 499.0],
            [710.0, 755.0, 790.0],
        ),
    );
    place.write(
        "lab/results/2026-11-20-9.jsonl",
        &session(
            [190.0, 201.0, 209.0],
            [500.0, 551.0, 600.0],
            [700.0, 750.0, 800.0],
        ),
    );
    let (page, told) = place.report(&[]);
    assert_eq!(
        page.texts("#changes ~ p.headline"),
        ["▲ 1 figure got slower:", "▼ 1 figure got faster:"]
    );
    let found = page.texts("#changes ~ ul li");
    assert_eq!(
        found,
        [
            "handover 1000/2cores, slot: 1.49 times slower; 201 ns [190..209] in 2026-11-20-9, 300 ns [295..310] in \
             2026-11-20-10",
            "handover 1000/2cores, channel: 1.25 times faster; 551 ns [500..600] in 2026-11-20-9, 440 ns [400..499] in \
             2026-11-20-10",
        ]
    );
    assert!(
        told.starts_with("1 figure got slower:\n  handover 1000/2cores, slot: 1.49 times"),
        "{told}"
    );
    assert!(
        page.text()
            .contains("Of 1 figure of peers whose versions stayed the same, 0 got worse")
    );
    assert!(page.text().contains("In older sessions only: flume."));
    // Ours over the days, oldest first, beside the newest.
    let rows = page.texts("table.over-time tbody:first-of-type tr");
    assert_eq!(
        rows,
        [
            "slot, ns/op",
            "2026-11-201.0200 ns[190..210]50.67×▲ 1.50 times slower",
            "2026-11-20-91.0201 ns[190..209]50.67×▲ 1.49 times slower",
            "2026-11-20-101.0300 ns[295..310]51.00×newest",
        ]
    );
    assert_eq!(page.texts("table.over-time").len(), 1);
}

#[test]
fn figures_of_different_machines_are_not_compared() {
    let place = Place::empty();
    let slow = [figure("slot", "ns_per_op", [900.0, 910.0, 920.0])];
    place.write(
        "2026-11-20.jsonl",
        &[figure("slot", "ns_per_op", [90.0, 91.0, 92.0])],
    );
    place.write(
        "2026-11-21.jsonl",
        &slow.map(|line| changed(line, "machine", "another machine")),
    );
    let (page, told) = place.report(&["2026-11-20.jsonl", "2026-11-21.jsonl"]);
    for text in [page.text(), told.clone()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("figures of different machines are not compared"),
            "{text}"
        );
    }
    assert!(!told.contains("slower"), "{told}");
    assert!(page.all("table.over-time").is_empty());
    // Each machine has a chart of its own, the newest first.
    assert_eq!(page.texts("h4"), ["Machine 1", "Machine 2"]);
    assert_eq!(
        page.texts("p.machine"),
        ["Machine 1: another machine", "Machine 2: a machine"]
    );
}

#[test]
fn labels_and_their_order_are_as_given() {
    let place = Place::empty();
    for (name, time) in [("b.json", 100.0), ("a.json", 200.0)] {
        place.write(
            name,
            &[figure("slot", "ns_per_op", [time, time + 1.0, time + 2.0])],
        );
    }
    let (page, told) = place.report(&["before=b.json", "after=a.json"]);
    assert!(
        told.contains("101 ns [100..102] in before, 201 ns"),
        "{told}"
    );
    assert_eq!(page.texts("#sessions ~ div tbody th"), ["before", "after"]);
    // The other way round it is an improvement.
    let (_, told) = place.report(&["a.json", "b.json"]);
    assert!(
        told.contains("1.99 times faster") && told.contains("in a, "),
        "{told}"
    );
    let ended = place.lab(&["report", "a.json", "x=./a.json"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("./a.json is given twice"),
        "{}",
        ended.stderr
    );
}

#[test]
fn names_from_files_are_text_and_never_markup() {
    let place = Place::empty();
    let hostile = "</title><script>alert('x')</script><img src=x onerror=alert(1)> & \"' ]]>";
    let with_times = |times| {
        [
            "experiment",
            "variant",
            "contender",
            "version",
            "metric",
            "unit",
            "machine",
        ]
        .into_iter()
        .fold(figure("slot", "ns_per_op", times), |line, field| {
            changed(line, field, hostile)
        })
    };
    place.write("2026-11-20.jsonl", &[with_times([1.0, 2.0, 3.0])]);
    let label = "</style><script>alert(2)</script>";
    place.write("other.jsonl", &[with_times([4.0, 5.0, 9.0])]);
    let ended = place.lab(&[
        "report",
        "2026-11-20.jsonl",
        &format!("{label}=other.jsonl"),
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // Reading it fails where a name became an element.
    let page = place.page("report.html");
    assert!(page.texts("h2").contains(&hostile.to_owned()));
    assert!(
        page.texts("tbody th")
            .iter()
            .any(|text| text.contains(hostile))
    );
    assert!(
        page.texts("svg.chart desc")
            .iter()
            .all(|text| text.contains(hostile))
    );
    assert!(page.text().contains(label));
    assert!(page.all("main script, main img, head script").is_empty());
}

#[test]
fn a_bad_file_is_named_with_its_line_and_left_out_only_if_asked() {
    let place = Place::empty();
    let good = figure("slot", "ns_per_op", [1.0, 2.0, 3.0]);
    place.write("good.jsonl", std::slice::from_ref(&good));
    place.write(
        "bad.jsonl",
        &[
            good.clone(),
            changed(
                figure("channel", "ns_per_op", [1.0, 2.0, 3.0]),
                "verified",
                false,
            ),
        ],
    );
    let ended = place.lab(&["report", "good.jsonl", "bad.jsonl"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended
            .stderr
            .contains("bad.jsonl, line 2: its delivery was not verified")
            && ended.stderr.contains("--keep-going"),
        "{}",
        ended.stderr
    );
    assert!(!place.path("report.html").exists());

    let ended = place.lab(&[
        "report",
        "good.jsonl",
        "bad.jsonl",
        "missing.jsonl",
        "--keep-going",
        "--out",
        "page.html",
    ]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let page = place.page("page.html");
    let left_out = page.texts(".left-out li");
    assert_eq!(left_out.len(), 2);
    assert!(
        left_out[0].starts_with("bad.jsonl, line 2: "),
        "{left_out:?}"
    );
    assert!(
        left_out[1].starts_with("missing.jsonl cannot be read"),
        "{left_out:?}"
    );
    assert!(
        ended.stderr.contains("left out: bad.jsonl, line 2"),
        "{}",
        ended.stderr
    );

    let ended = place.lab(&["report", "bad.jsonl", "--keep-going"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no file is left"), "{}", ended.stderr);
}

#[test]
fn without_results_it_says_what_to_run() {
    let place = Place::empty();
    let ended = place.lab(&["report"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("there are no results in lab/results")
            && ended.stderr.contains("tamtam lab run --keep"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_page_goes_where_it_is_wanted_and_never_over_results() {
    let place = Place::empty();
    place.write(
        "2026-11-20.jsonl",
        &[figure("slot", "ns_per_op", [1.0, 2.0, 3.0])],
    );
    let ended = place.lab(&["report", "2026-11-20.jsonl", "--out", "-"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    Page::new(&ended.stdout);
    assert!(!place.path("report.html").exists());
    let before = fs::read(place.path("2026-11-20.jsonl")).unwrap();
    let ended = place.lab(&["report", "2026-11-20.jsonl", "--out", "./2026-11-20.jsonl"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("is one of the results"),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read(place.path("2026-11-20.jsonl")).unwrap(), before);
    let ended = place.lab(&["report", "2026-11-20.jsonl", "--out", "no/such/folder.html"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("no/such/folder.html cannot be written"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_table_that_was_sent_is_shown_with_each_link_and_with_what_comes_before() {
    let place = Place::empty();
    let of_rows = |contender: &str, ours: bool, metric: &str, median: f64| {
        let line = figure(contender, metric, [median, median, median + 1.0]);
        let line = changed(
            changed(line, "experiment", "rows"),
            "variant",
            "1000/random",
        );
        changed(changed(line, "unit", "µs"), "ours", ours)
    };
    let mut lines = vec![of_rows("sqlite", true, "rows_us", 300.0)];
    for (contender, ours, totals, encode) in [
        ("packed", true, [6_840.0, 54_700.0, 554.0, 61.0], 5.0),
        ("text", false, [22_600.0, 180_000.0, 1_900.0, 50.0], 90.0),
    ] {
        let metrics = [
            "total_us_8mbit",
            "total_us_1mbit",
            "total_us_100mbit",
            "total_us_1000mbit",
        ];
        for (metric, total) in metrics.into_iter().zip(totals) {
            lines.push(of_rows(contender, ours, metric, total));
        }
        lines.push(of_rows(contender, ours, "encode_us", encode));
    }
    place.write("rows.jsonl", &lines);
    let (page, _) = place.report(&["rows.jsonl"]);
    let text = page.text();
    for words in [
        "out of sqlite in 300 µs [300..301 µs]; with packed, 305 µs on the server in all.",
        "8.75 ms, 377 ms in all (C: array)",
        "time until ready to use at 8 Mbit/s",
        "packed is the fastest at 1 Mbit/s",
    ] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
    // A bar and a row for each form, none for the database; the fastest of each link is marked.
    let names = page.texts("tr.ours th, tr.peer th");
    assert!(
        names.len() == 2 && names[0].ends_with("packed 1.0") && names[1].ends_with("text 1.0"),
        "{names:?}"
    );
    let marked = |row: &str| {
        page.texts(&format!("tbody tr.{row} td"))
            .into_iter()
            .filter(|cell| cell.starts_with("› "))
            .collect::<Vec<_>>()
    };
    assert_eq!(marked("ours"), ["› 6.84 ms", "› 54.7 ms", "› 554 µs"]);
    assert_eq!(marked("peer"), ["› 50.0 µs"]);
}
