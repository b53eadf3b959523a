//! The experiments, each as a declaration.

use super::{Experiment, Published, Quick};

/// Every experiment, in the order in which it is listed and shown.
pub(in crate::lab) const EXPERIMENTS: &[Experiment] = &[
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
        about: "the latest value, read by itself and while another thread or process sets it without pause",
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
        name: "calls",
        heading: "Calls of a server, by JSON",
        about: "a server is called for 4.7 KB of JSON, in the same process and in another one; marshalling included",
        operation: "a call: a request and its answer, written, carried, read and verified",
        source: "article E, 2013: its first reader",
        main_variants: &["60/free/1client", "60/free/8clients"],
        quick: Quick::IfNamed,
        flagships: &["channel", "actor", "link", "process", "ipc"],
        kinds_apart: false,
        published: ARTICLES_CALLS,
        claim: None,
    },
    Experiment {
        name: "frames",
        heading: "A slider, and what a worker makes of it",
        about: "a slider is moved 1,000 times a second, and a worker process makes frames of it: how old is what is shown?",
        operation: "a frame of 1920 x 1080 pixels, made and shown",
        source: "article B, 2013: its readers",
        main_variants: &["1000/free", "1000/2cores"],
        quick: Quick::IfNamed,
        flagships: &["ipc-property"],
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
        name: "grid",
        heading: "Every load against the best other way",
        about: "every load that users meet, a row each: payloads, capacities, ends, batches, tasks, select, actors, timers",
        operation: "a message or the like",
        source: "users' loads",
        main_variants: &[
            "1000000/2cores/1to1-8B-cap1000",
            "1000000/2cores/1to1-8B-unbounded",
            "100000/2cores/1to1-1KiB-cap1000",
            "1000000/2cores/1to1-String-unbounded",
            "1000000/free/4to1-8B-unbounded",
            "1000000/free/4to4-8B-cap1000",
            "1000000/2cores/1to1-batches-8B-unbounded",
            "1000000/1core/1to1-async1-8B-cap1000",
        ],
        quick: Quick::IfNamed,
        flagships: &[],
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

/// What the reader of article E found, who has written a framework for such calls: calls a second, with answers of 4.8 KB.
const ARTICLES_CALLS: &[Published] = &[
    Published {
        name: "E: a direct call",
        variants: OF_ONE_CLIENT,
        metrics: &[("ops_per_s", 41_704.0)],
        note: Some(
            "E: a direct call is a call of a function, as direct is: what the marshalling costs, for nothing goes anywhere.",
        ),
    },
    Published {
        name: "E: window messages",
        variants: OF_ONE_CLIENT,
        metrics: &[("ops_per_s", 35_962.0)],
        note: None,
    },
    Published {
        name: "E: named pipe",
        variants: OF_ONE_CLIENT,
        metrics: &[("ops_per_s", 16_306.0)],
        note: None,
    },
    Published {
        name: "E: HTTP, each client",
        variants: OF_ONE_CLIENT,
        metrics: &[("ops_per_s", 6_278.0)],
        note: None,
    },
    Published {
        name: "E: HTTP, one kept",
        variants: OF_ONE_CLIENT,
        metrics: &[("ops_per_s", 5_907.0)],
        note: None,
    },
];

/// The variants in which one client calls, as in the article.
const OF_ONE_CLIENT: &[&str] = &["60/free/1client", "60/2cores/1client", "60/1core/1client"];

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
