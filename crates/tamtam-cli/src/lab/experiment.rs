//! What the lab knows of each experiment beside how to run it: the question, the article it comes from, and the
//! article's own figures, which stand beside ours in every table.

use tamtam_lab::tables;

/// An experiment of the articles.
#[derive(Debug)]
pub(super) struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// The same for people, as a heading.
    pub heading: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The variants that a run without `--quick` or `--full` measures.
    pub main_variants: &'static [&'static str],
    /// What `--quick` measures of it: there are five minutes for all.
    pub quick: Quick,
    /// The contenders of ours for which verdicts are given: what a user gets without turning a knob.
    pub flagships: &'static [&'static str],
    /// Whether contenders with a limit, those without and those that take many messages at a time are compared apart.
    pub kinds_apart: bool,
    /// The article's own figures.
    pub published: &'static [Published],
    /// The article's own conclusion, for the verdict.
    pub claim: Option<&'static str>,
}

/// What `--quick` measures of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quick {
    /// Every variant.
    Every,
    /// The main variants.
    Main,
    /// Nothing, unless it is named: then every variant.
    IfNamed,
}

/// A figure that an article gives.
#[derive(Debug)]
pub(super) struct Published {
    /// The row's name in a table.
    pub name: &'static str,
    /// Which variants it may stand beside, by the beginning of their names.
    pub variants: &'static [&'static str],
    /// The metrics and their values, in the metrics' units: nanoseconds, or microseconds for those in `_us`.
    pub metrics: &'static [(&'static str, f64)],
    /// What must be known to read it rightly.
    pub note: Option<&'static str>,
}

/// Every experiment, in the order in which it is listed and shown.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "handover",
        heading: "There and back between two threads",
        about: "strict turns between two workers: what a message there and its answer cost",
        operation: "a round trip",
        source: "articles A and B, 2013",
        main_variants: &[
            "1000/2cores",
            "1000/1core",
            "1000/free",
            "1000/hog",
            "1000/1core/async",
        ],
        quick: Quick::Every,
        flagships: &["slot", "spsc", "channel"],
        kinds_apart: false,
        published: &[
            Published {
                name: "A: MessageChannel",
                variants: ROUND_TRIPS,
                metrics: &[("ns_per_op", 153_000.0)],
                note: None,
            },
            Published {
                name: "A: shared property",
                variants: ROUND_TRIPS,
                metrics: &[("ns_per_op", 62_000.0)],
                note: None,
            },
            Published {
                name: "B: mutex",
                variants: ROUND_TRIPS,
                metrics: &[("ns_per_op", 25_000.0)],
                note: Some(
                    "B: mutex is article B's figure (\"6 times faster\"), but it handed nothing over: the thread that unlocked \
                     took the lock again at once. mutex-published is that very loop, with its hand-overs counted.",
                ),
            },
        ],
        claim: Some("the ratio between the article's own ways was 2.5"),
    },
    Experiment {
        name: "post",
        heading: "Many messages to one receiver",
        about: "post messages to a blocked worker, then let it retrieve them; then streams and fan-in",
        operation: "a message posted and retrieved",
        source: "article E, 2013",
        main_variants: &[
            "5000/2cores/16B-warm",
            "1000000/2cores/16B-warm",
            "10000000/2cores/stream-16B",
            "10000000/free/fanin-16B",
        ],
        quick: Quick::Every,
        flagships: &[
            "channel",
            "spsc",
            "channel-unbounded",
            "mpsc",
            "mpsc-bounded",
            "mpsc-recv-many",
            "mpsc-bounded-recv-many",
            "spsc-batches",
        ],
        kinds_apart: true,
        published: &[
            Published {
                name: "E: Windows, 32-bit",
                variants: &["5000/"],
                metrics: &[
                    ("ns_per_op", 1600.0),
                    ("post_ns_per_op", 700.0),
                    ("retrieve_ns_per_op", 900.0),
                ],
                note: None,
            },
            Published {
                name: "E: Windows, 64-bit",
                variants: &["5000/"],
                metrics: &[
                    ("ns_per_op", 1300.0),
                    ("post_ns_per_op", 600.0),
                    ("retrieve_ns_per_op", 700.0),
                ],
                note: None,
            },
        ],
        claim: None,
    },
    Experiment {
        name: "property",
        heading: "The latest value, read by all",
        about: "the latest value, read by itself and while another thread sets it without pause",
        operation: "a get",
        source: "articles A and B, 2013",
        main_variants: &["10000/1core/get", "10000/2cores/get-writer"],
        quick: Quick::Every,
        flagships: &["property"],
        kinds_apart: false,
        published: &[],
        claim: None,
    },
    Experiment {
        name: "latch",
        heading: "A count shared by two threads",
        about: "two threads count one latch down, as article D's ring does for every message that it handles",
        operation: "a count",
        source: "article D, about 2010",
        main_variants: &["4875250/2cores", "4875250/1core"],
        quick: Quick::Every,
        flagships: &["latch"],
        kinds_apart: false,
        published: &[],
        claim: None,
    },
    Experiment {
        name: "ring",
        heading: "Messages through 10,000 actors",
        about: "10,000 actors in a row, each of which passes 500 messages on to the next; building them included",
        operation: "a message handled",
        source: "article D, about 2010",
        main_variants: &[
            "4875250/2cores/last",
            "4875250/2cores/all",
            "1000000/2cores/token",
            "4875250/1core/last",
        ],
        quick: Quick::Every,
        flagships: &["pool", "worker"],
        kinds_apart: false,
        published: &[
            Published {
                name: "D: Groovy++",
                variants: ARTICLES_RING,
                metrics: &[("ns_per_op", 345.0), ("total_us", 1_682_000.0)],
                note: None,
            },
            Published {
                name: "D: Jetlang",
                variants: ARTICLES_RING,
                metrics: &[("ns_per_op", 442.0), ("total_us", 2_155_000.0)],
                note: None,
            },
            Published {
                name: "D: Scala, Reactor",
                variants: ARTICLES_RING,
                metrics: &[("ns_per_op", 1071.0), ("total_us", 5_221_000.0)],
                note: None,
            },
            Published {
                name: "D: Scala, react",
                variants: ARTICLES_RING,
                metrics: &[("ns_per_op", 4612.0), ("total_us", 22_484_000.0)],
                note: None,
            },
            Published {
                name: "D: Scala, loop",
                variants: ARTICLES_RING,
                metrics: &[("ns_per_op", 9827.0), ("total_us", 47_911_000.0)],
                note: None,
            },
        ],
        claim: None,
    },
    Experiment {
        name: "ask",
        heading: "Questions to an actor",
        about: "ask one actor question after question; tell it 2,000,000 numbers, then ask it once",
        operation: "a question and its answer, or a message told",
        source: "article E, 2013",
        main_variants: &[
            "200000/2cores/handler",
            "200000/2cores/thread",
            "200000/1core/thread",
            "2000000/2cores/tells",
        ],
        quick: Quick::Every,
        flagships: &["pool", "worker", "channel"],
        kinds_apart: false,
        published: &[],
        claim: None,
    },
    Experiment {
        name: "counting",
        heading: "One actor counts what another sends",
        about: "one actor sends another 1,000,000 numbers, then asks how many came",
        operation: "a number counted",
        main_variants: &["1000000/2cores", "1000000/1core"],
        ..SAVINA
    },
    Experiment {
        name: "fork-join",
        heading: "Sixty actors work for one thread",
        about: "a thread sends 10,000 messages to each of 60 actors, one to each in turn",
        operation: "a message handled",
        main_variants: &["600000/2cores", "600000/1core"],
        ..SAVINA
    },
    Experiment {
        name: "threadring",
        heading: "A token round a hundred actors",
        about: "a token goes round 100 actors, for 100,000 hops",
        operation: "a hop",
        main_variants: &["100000/2cores", "100000/1core"],
        ..SAVINA
    },
    Experiment {
        name: "big",
        heading: "Pings among 120 actors",
        about: "each of 120 actors sends 2,000 pings to others at random, and waits for each pong",
        operation: "a ping and its pong",
        main_variants: &["240000/2cores", "240000/1core"],
        ..SAVINA
    },
    Experiment {
        name: "chameneos",
        heading: "Meetings in pairs",
        about: "100 creatures meet in pairs in one mall, 200,000 times",
        operation: "a meeting, which is four messages",
        main_variants: &["200000/2cores", "200000/1core"],
        ..SAVINA
    },
    Experiment {
        name: "flood",
        heading: "Actors beside one that is flooded",
        about: "one actor is flooded; how late are 1,000 others that get a message a millisecond each?",
        operation: "a message handled",
        source: "the fairness of a pool",
        main_variants: &["1000/2cores", "1000/2cores/calm"],
        quick: Quick::IfNamed,
        flagships: &["pool"],
        kinds_apart: false,
        published: &[],
        claim: None,
    },
    Experiment {
        name: "rows",
        heading: "A table on its way to a client",
        about: "a table out of a database to a client, in every form: encoded, sent over links of four speeds, decoded",
        operation: "a table of so many rows",
        source: "article C, 2007",
        main_variants: &["1000/random", "1000/palette", "1000/rotation"],
        quick: Quick::Main,
        flagships: &["packed"],
        kinds_apart: false,
        published: ARTICLES_ROWS,
        claim: None,
    },
];

/// Article C's three ways to send 1,000 rows, decoded on its desktop (laptop 20, 50.25 and 67.75 ms, Mac 15, 39.75 and
/// 58.25 ms). Totals follow from its figures; it leaves them out, and how long gzip took.
const ARTICLES_ROWS: &[Published] = &[
    Published {
        name: "C: array",
        variants: &["1000/random", "1000/palette", "1000/rotation"],
        metrics: &[
            ("total_us_8mbit", 426_084.0),
            ("total_us_1mbit", 773_172.0),
            ("total_us_100mbit", 380_466.72),
            ("total_us_1000mbit", 376_896.672),
            ("bytes_per_row", 49.584),
            ("encode_mean_us", 368_000.0),
            ("decode_mean_us", 8_500.0),
            ("rows_us", 8_750.0),
        ],
        note: None,
    },
    Published {
        name: "C: recordset",
        variants: &["1000/random", "1000/palette", "1000/rotation"],
        metrics: &[
            ("total_us_8mbit", 196_812.0),
            ("total_us_1mbit", 548_996.0),
            ("total_us_100mbit", 150_524.96),
            ("total_us_1000mbit", 146_902.496),
            ("bytes_per_row", 50.312),
            ("encode_mean_us", 125_250.0),
            ("decode_mean_us", 21_250.0),
        ],
        note: None,
    },
    Published {
        name: "C: string",
        variants: &["1000/random", "1000/palette", "1000/rotation"],
        metrics: &[
            ("total_us_8mbit", 49_831.0),
            ("total_us_1mbit", 193_898.0),
            ("total_us_100mbit", 30_896.48),
            ("total_us_1000mbit", 29_414.648),
            ("bytes_per_row", 20.581),
            ("encode_mean_us", 2_500.0),
            ("decode_mean_us", 26_750.0),
            ("rows_us", 11_000.0),
        ],
        note: None,
    },
];

/// What the classics of that suite have in common.
const SAVINA: Experiment = Experiment {
    name: "",
    heading: "",
    about: "",
    operation: "",
    source: "the Savina suite, 2014",
    main_variants: &[],
    quick: Quick::IfNamed,
    flagships: &["pool", "worker"],
    kinds_apart: false,
    published: &[],
    claim: None,
};

/// The variant that article D timed, one round for each system: every message counts.
const ARTICLES_RING: &[&str] = &["4875250/2cores/all"];

/// The variants in which an operation is what the articles timed: a plain round trip, one after the other.
const ROUND_TRIPS: &[&str] = &["1000/free", "1000/1core", "1000/2cores", "1000/hog"];

/// What a run without arguments measures: a variant, what stands in for it where only one core is to be had, and its
/// contenders: ours beside what everyone has, the standard library's. Five rounds of it stay under a minute.
pub(super) const FIRST_LOOK: &[FirstLook] = &[
    FirstLook {
        experiment: "handover",
        variant: "1000/2cores",
        on_one_core: "1000/1core",
        contenders: &[
            "slot",
            "channel",
            "std::sync::mpsc",
            "std::sync::mpsc-unbounded",
            "mutex-condvar",
            "std::thread::park",
            "crossbeam-channel",
            "kanal",
        ],
    },
    FirstLook {
        experiment: "post",
        variant: "5000/2cores/16B-warm",
        on_one_core: "10000000/free/fanin-16B",
        contenders: &[
            "channel",
            "std::sync::mpsc",
            "mutex-condvar",
            "crossbeam-channel",
        ],
    },
    FirstLook {
        experiment: "post",
        variant: "10000000/2cores/stream-16B",
        on_one_core: "10000000/free/fanin-16B",
        contenders: &[
            "channel",
            "std::sync::mpsc",
            "mutex-condvar",
            "crossbeam-channel",
        ],
    },
    FirstLook {
        experiment: "property",
        variant: "10000/2cores/get-writer",
        on_one_core: "10000/1core/get",
        contenders: &["property", "std::sync::RwLock", "std::sync::Mutex"],
    },
    FirstLook {
        experiment: "latch",
        variant: "4875250/2cores",
        on_one_core: "4875250/1core",
        contenders: &["latch", "shared-atomic"],
    },
    FirstLook {
        experiment: "ring",
        variant: "4875250/2cores/last",
        on_one_core: "4875250/1core/last",
        contenders: &["pool"],
    },
    FirstLook {
        experiment: "ask",
        variant: "200000/2cores/thread",
        on_one_core: "200000/1core/thread",
        contenders: &["pool", "std::sync::mpsc"],
    },
    FirstLook {
        experiment: "rows",
        variant: "1000/random",
        on_one_core: "1000/random",
        contenders: FIRST_FORMS,
    },
    FirstLook {
        experiment: "rows",
        variant: "1000/palette",
        on_one_core: "1000/palette",
        contenders: FIRST_FORMS,
    },
];

/// The forms of a first look: ours, the article's, and what most servers answer; and what comes before any form.
const FIRST_FORMS: &[&str] = &[
    "packed",
    "text-by-hand",
    "text-bare+gzip",
    "json-objects",
    "sqlite",
];

/// One line of [`FIRST_LOOK`].
#[derive(Debug)]
pub(super) struct FirstLook {
    /// The experiment.
    pub experiment: &'static str,
    /// The variant where two cores are to be had.
    pub variant: &'static str,
    /// The variant where there is only one.
    pub on_one_core: &'static str,
    /// The contenders; those that are not to be had are left out.
    pub contenders: &'static [&'static str],
}

impl Experiment {
    /// What the lab knows of the experiment `name`, if it is one of the articles'.
    #[must_use]
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// The article's figures that may stand beside `variant`.
    pub(super) fn published_beside<'a>(
        &'a self,
        variant: &'a str,
    ) -> impl Iterator<Item = &'static Published> + use<'a> {
        self.published
            .iter()
            .filter(move |published| published.stands_beside(variant))
    }
}

impl Published {
    /// The figure of this metric, if the article has it.
    #[must_use]
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.metrics
            .iter()
            .find(|(name, _)| *name == metric)
            .map(|(_, value)| *value)
    }

    /// Whether this figure may stand beside `variant`: a name that ends in `/` covers all that begin with it.
    fn stands_beside(&self, variant: &str) -> bool {
        self.variants.iter().any(|name| {
            if name.ends_with('/') {
                variant.starts_with(name)
            } else {
                variant == *name
            }
        })
    }
}

/// A contender that shows what the hardware can do rather than a way that one would program in: a verdict does not rank
/// against it.
pub(super) const LIMITS: &[&str] = &["bare-spin"];

/// Contenders that take many messages at a time: where kinds are kept apart, a verdict compares them with each other and
/// not with those that take one by one.
const BATCHED: &[&str] = &[
    "channel-recv-many",
    "channel-unbounded-recv-many",
    "mpsc-recv-many",
    "mpsc-bounded-recv-many",
    "spsc-batches",
    "kanal-drain",
    "kanal-drain-unbounded",
    "rtrb-chunks",
    "mutex-swap",
    "mutex-swap-unbounded",
];

/// The end of the names of contenders without a limit.
const UNBOUNDED: &str = "-unbounded";

/// What a contender is like, where kinds are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It holds a limited number of messages.
    Bounded,
    /// It holds any number.
    Unbounded,
    /// It takes many messages at a time.
    Batched,
}

impl Kind {
    /// All kinds, in the order of their verdicts.
    pub(super) const ALL: [Kind; 3] = [Kind::Bounded, Kind::Unbounded, Kind::Batched];

    /// The kind of the contender `name`.
    #[must_use]
    pub(super) fn of(name: &str) -> Self {
        if BATCHED.contains(&name) {
            Kind::Batched
        } else if name.ends_with(UNBOUNDED) || name == "mpsc" {
            Kind::Unbounded
        } else {
            Kind::Bounded
        }
    }

    /// The peer that everyone has: the one to compare with first.
    #[must_use]
    pub(super) fn baseline(self) -> &'static str {
        match self {
            Kind::Bounded => "std::sync::mpsc",
            Kind::Unbounded => "std::sync::mpsc-unbounded",
            Kind::Batched => "mutex-swap",
        }
    }
}

/// The words for a variant: `1000/2cores/string` is "pinned to two cores, a one-character string in the message".
#[must_use]
pub(super) fn describe(variant: &str) -> String {
    let mut parts = variant.splitn(3, '/');
    let _count = parts.next();
    let place = parts.next();
    if let Some(table) = place.and_then(tables::find) {
        return match parts.next() {
            Some("chromium-warm") => format!("{}; read in Chromium after many calls", table.about),
            Some("chromium-cold") => {
                format!("{}; the first call in a page of Chromium", table.about)
            }
            Some(extra) => format!("{}; {extra}", table.about),
            None => table.about.to_owned(),
        };
    }
    let placement = match place {
        Some("free") => "on any core",
        Some("1core") => "both threads on one core",
        Some("2cores") => "on two cores",
        Some("hog") => "on any core, with a busy process on each",
        Some(other) => other,
        None => "",
    };
    let extra = match parts.next() {
        // In these the placement says less than who takes part.
        Some("async") => return "two tasks of one thread, on tokio's runtime".to_owned(),
        Some("async-small") => return "two tasks of one thread, on a small executor".to_owned(),
        Some("get") => return "in one thread, while nobody sets it".to_owned(),
        Some("mixed") => "a thread that blocks and a task on tokio's runtime",
        Some("get-writer") => "a writer at full speed beside the reader",
        None => return placement.to_owned(),
        Some("string") => "a one-character string in each message",
        Some("sparse-1") => "1 receiver, one message a millisecond",
        Some("sparse-8") => "8 receivers, one message a millisecond each",
        Some("sparse-20ms") => "1 receiver, one message in 20 ms",
        Some("sparse-20us") => "1 receiver, one message in 20 µs",
        Some("crowd") => "8 pairs at once",
        Some("idle") => "8 threads waiting for a message that does not come",
        Some("frames-60") => "looked at once a frame, 60 frames a second",
        Some("frames-1000") => "looked at once a frame, 1,000 frames a second",
        Some("limit") => "the message over the limit is refused",
        Some("last") => "the last actor counts",
        Some("all") => "every actor counts one latch down for every message",
        Some("token") => "one message that goes round and round",
        Some("million") => "1,000,000 actors, 5 messages",
        Some("handler") => "asked by another actor of the same pool or worker",
        Some("pools") => "asked by an actor of another pool, or on another worker",
        Some("thread") => "asked by a plain thread",
        Some("task") => "asked by a task on tokio's runtime",
        Some("calm") => "without the flood",
        Some("tells") => "told from a plain thread, then asked once",
        Some(words) => {
            let words: Vec<&str> = words.split('-').map(describe_word).collect();
            return format!("{placement}, {}", words.join(", "));
        }
    };
    format!("{placement}, {extra}")
}

/// One word of an extra that is put together, such as `16B-warm`.
fn describe_word(word: &str) -> &str {
    match word {
        "16B" => "16-byte messages",
        "40B" => "40-byte messages",
        "64B" => "64-byte messages",
        "200B" => "200-byte messages",
        "first" => "the first round",
        "warm" => "warmed up",
        "stream" => "from one sender, all at work",
        "fanin" => "from four senders, all at work",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{EXPERIMENTS, Experiment, FIRST_LOOK, describe};
    use tamtam_lab::contenders;
    use tamtam_lab::rows::LINKS;

    #[test]
    fn the_articles_ratio_follows_from_its_figures() {
        let handover = Experiment::find("handover").unwrap();
        let value = |name: &str| {
            handover
                .published
                .iter()
                .find(|row| row.name == name)
                .unwrap()
                .metrics[0]
                .1
        };
        let ratio = value("A: MessageChannel") / value("A: shared property");
        assert!(handover.claim.unwrap().ends_with(&format!("{ratio:.1}")));
        assert!((6.0..6.2).contains(&(value("A: MessageChannel") / value("B: mutex"))));
    }

    #[test]
    fn a_post_and_its_retrieve_add_up() {
        for row in Experiment::find("post").unwrap().published {
            assert_eq!(
                row.metrics[0].1,
                row.metrics[1].1 + row.metrics[2].1,
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn a_rings_time_is_that_of_its_messages() {
        for row in Experiment::find("ring").unwrap().published {
            let [("ns_per_op", each), ("total_us", total)] = row.metrics else {
                panic!("{row:?}");
            };
            assert_eq!(*each, (total * 1e3 / 4_875_250.0).round(), "{}", row.name);
        }
    }

    #[test]
    fn a_tables_time_is_that_of_its_bytes_and_of_the_work() {
        for row in Experiment::find("rows").unwrap().published {
            let value = |name: &str| {
                let found = row.metrics.iter().find(|(metric, _)| *metric == name);
                found.unwrap().1
            };
            for link in LINKS {
                let sent = link.microseconds(value("bytes_per_row") * 1_000.0);
                let total = value("encode_mean_us") + sent + value("decode_mean_us");
                assert!((value(link.metric) - total).abs() < 1e-6, "{}", row.name);
            }
        }
    }

    #[test]
    fn an_articles_figure_stands_only_beside_what_it_timed() {
        let handover = Experiment::find("handover").unwrap();
        assert_eq!(handover.published_beside("1000/1core").count(), 3);
        assert_eq!(handover.published_beside("1000/2cores/crowd").count(), 0);
        let post = Experiment::find("post").unwrap();
        assert_eq!(post.published_beside("5000/2cores/64B-warm").count(), 2);
        assert_eq!(post.published_beside("1000000/2cores/16B-warm").count(), 0);
    }

    #[test]
    fn a_first_look_stays_under_a_minute() {
        // A form takes a quarter of a second of its time and a database half of that; each run takes a process beside
        // what it measures.
        let second = |experiment: &str, contender: &str| match (experiment, contender) {
            ("rows", "sqlite") => 0.125 + 0.06,
            ("rows", _) => 0.25 + 0.06,
            _ => 0.25 + 0.06,
        };
        let each = FIRST_LOOK.iter().flat_map(|look| {
            let contenders = look.contenders.iter();
            contenders.map(move |contender| second(look.experiment, contender))
        });
        let seconds = 5.0 * each.sum::<f64>();
        assert!(seconds <= 53.0, "{seconds} s");
    }

    #[test]
    fn names_are_unique() {
        for (place, experiment) in EXPERIMENTS.iter().enumerate() {
            assert!(
                EXPERIMENTS[..place]
                    .iter()
                    .all(|other| other.name != experiment.name)
            );
        }
    }

    #[test]
    fn a_flagship_takes_part_in_its_experiment() {
        let measures: Vec<(&str, &str)> = contenders::all()
            .iter()
            .flat_map(|contender| {
                let name = contender.card().name;
                let measures = contender.measures();
                measures
                    .into_iter()
                    .map(move |measure| (measure.experiment(), name))
            })
            .collect();
        for experiment in EXPERIMENTS {
            for flagship in experiment.flagships {
                assert!(
                    measures.contains(&(experiment.name, flagship)),
                    "{flagship} in {}",
                    experiment.name
                );
            }
        }
    }

    #[test]
    fn variants_have_words() {
        assert_eq!(describe("1000/1core"), "both threads on one core");
        assert_eq!(
            describe("1000/2cores/sparse-1"),
            "on two cores, 1 receiver, one message a millisecond"
        );
        assert_eq!(
            describe("5000/2cores/16B-warm"),
            "on two cores, 16-byte messages, warmed up"
        );
        assert_eq!(
            describe("1000/1core/async"),
            "two tasks of one thread, on tokio's runtime"
        );
        assert_eq!(
            describe("1000/2cores/mixed"),
            "on two cores, a thread that blocks and a task on tokio's runtime"
        );
        assert_eq!(
            describe("1000/palette"),
            "the article's five columns: one of 64 colours, quarter turns"
        );
        assert_eq!(describe("odd"), "");
    }
}
