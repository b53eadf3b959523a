//! The figures of the project's README: each comes out of a session that is kept, and what stands beside each other comes
//! out of the same one.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// Where a figure of the README comes from.
struct Source {
    /// The session, as `lab/results` names it.
    session: &'static str,
    experiment: &'static str,
    variant: &'static str,
    contender: &'static str,
    metric: &'static str,
    /// Which of the runs: the median, unless the README gives a range.
    of_runs: &'static str,
    /// How many of the metric's units the README's unit has.
    unit: f64,
    /// What stands in the README, from the figure on.
    text: &'static str,
}

const fn source(
    session: &'static str,
    place: [&'static str; 3],
    unit: f64,
    text: &'static str,
) -> Source {
    Source {
        session,
        experiment: place[0],
        variant: place[1],
        contender: place[2],
        metric: "ns_per_op",
        of_runs: "median",
        unit,
        text,
    }
}

/// Channels, slots and properties.
const MESSAGES: &str = "2026-11-29-5";
/// Actors.
const ACTORS: &str = "2026-11-22-3";
/// Tables.
const TABLES: &str = "2026-11-22-5";

const TURNS: &str = "1000/2cores";
const STREAM: &str = "10000000/2cores/stream-16B";
const TASKS: &str = "1000/1core/async";
const PACKED: [&str; 3] = ["rows", "1000/random", "packed"];

const SOURCES: &[Source] = &[
    source(
        MESSAGES,
        ["post", STREAM, "channel"],
        1.0,
        "14 to 43 ns in a stream",
    ),
    source(
        MESSAGES,
        ["post", STREAM, "channel-unbounded"],
        1.0,
        "43 ns in a stream",
    ),
    source(
        MESSAGES,
        ["handover", TURNS, "channel"],
        1e3,
        "0.57 µs; `mpsc`",
    ),
    source(
        MESSAGES,
        ["post", STREAM, "mpsc"],
        1.0,
        "11.7 ns, there and back",
    ),
    source(MESSAGES, ["handover", TURNS, "mpsc"], 1e3, "0.33 µs"),
    source(MESSAGES, ["handover", TURNS, "slot"], 1e3, "0.23 µs"),
    source(
        MESSAGES,
        ["property", "10000/1core/get", "property"],
        1.0,
        "2.2 ns",
    ),
    source(
        MESSAGES,
        ["handover", TURNS, "kanal"],
        1e3,
        "0.66 µs, crossbeam-channel",
    ),
    Source {
        of_runs: "min",
        ..source(
            MESSAGES,
            ["handover", TURNS, "crossbeam-channel"],
            1e3,
            "0.57 to 11.1 µs",
        )
    },
    Source {
        of_runs: "max",
        ..source(
            MESSAGES,
            ["handover", TURNS, "crossbeam-channel"],
            1e3,
            "11.1 µs. Both",
        )
    },
    source(
        MESSAGES,
        ["handover", TASKS, "mpsc"],
        1e3,
        "0.12 to 0.16 µs",
    ),
    source(MESSAGES, ["handover", TASKS, "slot"], 1e3, "0.16 µs. -"),
    source(
        ACTORS,
        ["ring", "4875250/2cores/last", "pool"],
        1.0,
        "9.7 ns, a question",
    ),
    source(
        ACTORS,
        ["ring", "4875250/2cores/last", "tokio"],
        1.0,
        "28 ns a message",
    ),
    source(
        ACTORS,
        ["ask", "200000/2cores/handler", "pool"],
        1e3,
        "0.13 µs from an actor",
    ),
    source(
        ACTORS,
        ["ask", "200000/2cores/thread", "pool"],
        1e3,
        "0.64 µs from a thread",
    ),
    source(
        ACTORS,
        ["ask", "200000/2cores/thread", "tokio"],
        1e3,
        "24.5 µs for a question of a thread",
    ),
    Source {
        metric: "bytes_per_row",
        ..source(
            TABLES,
            ["rows", "1000/random", "text-bare"],
            1.0,
            "22.5 bytes a row as text",
        )
    },
    Source {
        metric: "bytes_per_row",
        ..source(TABLES, PACKED, 1.0, "6.8; 1.9 ns")
    },
    // Microseconds for 1,000 rows are nanoseconds for one.
    Source {
        metric: "encode_us",
        ..source(TABLES, PACKED, 1.0, "1.9 ns a row to write")
    },
    Source {
        metric: "decode_us",
        ..source(TABLES, PACKED, 1.0, "1.9 ns to read")
    },
];

fn checkout() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README from its table of distances to the first code, its words one blank apart; `None` in a package, which is no
/// checkout.
fn readme() -> Option<String> {
    let text = fs::read_to_string(checkout().join("README.md")).ok()?;
    let words: Vec<&str> = text.split("```").next()?.split_whitespace().collect();
    Some(words.join(" "))
}

fn session(name: &str) -> Vec<Value> {
    let path = checkout().join(format!("lab/results/{name}.jsonl"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn each_figure_comes_out_of_the_session_that_is_named_beside_it() {
    let Some(readme) = readme() else { return };
    for name in [MESSAGES, ACTORS, TABLES] {
        assert!(
            readme.contains(&format!("(lab/results/{name}.jsonl)")),
            "the session {name} is not named"
        );
        let figures = session(name);
        for source in SOURCES.iter().filter(|source| source.session == name) {
            assert!(readme.contains(source.text), "{} is missing", source.text);
            let figure = source.text.split([' ', ';', ',']).next().unwrap();
            let digits = figure.split_once('.').map_or(0, |(_, digits)| digits.len());
            let line = figures
                .iter()
                .find(|line| {
                    line["experiment"] == source.experiment
                        && line["variant"] == source.variant
                        && line["contender"] == source.contender
                        && line["metric"] == source.metric
                })
                .unwrap_or_else(|| panic!("{} is not in the session {name}", source.text));
            assert_eq!(line["verified"], true);
            let kept = line[source.of_runs].as_f64().unwrap() / source.unit;
            assert_eq!(format!("{kept:.digits$}"), figure, "{}", source.text);
        }
    }
}

#[test]
fn no_figure_is_without_a_session() {
    let Some(readme) = readme() else { return };
    let known: HashSet<usize> = SOURCES
        .iter()
        .flat_map(|source| readme.match_indices(source.text).map(|(place, _)| place))
        .collect();
    let mut looked_at = 0;
    for unit in [" ns", " µs", " ms"] {
        for (end, _) in readme.match_indices(unit) {
            let begin =
                readme[..end].rfind(|letter: char| !letter.is_ascii_digit() && letter != '.');
            let begin = begin.map_or(0, |place| place + 1);
            assert!(
                known.contains(&begin),
                "no session is named for {}",
                readme[begin..].chars().take(40).collect::<String>()
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 10, "only {looked_at} figures were found");
}
