//! What a metric is called in a table, how its figures are written, and which of two is the better.

use super::number::{self, microseconds};
use tamtam_lab::rows::LINKS;

/// What the lab knows of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    /// Its name in the results, such as `ns_per_op`.
    pub name: &'static str,
    /// Its heading in a table; `None` for one that is written to the results only.
    pub heading: Option<&'static str>,
    /// How its figures are written in a column.
    pub column: fn(f64) -> String,
    /// How the least and the greatest are written together; `None`: each as in a column.
    pub range: Option<fn(f64, f64) -> String>,
    /// How a figure is written in a sentence.
    pub sentence: fn(f64) -> String,
    /// Whether the larger figure is the better.
    pub more_is_better: bool,
    /// Whether a table marks the best figure of its column.
    pub best_is_marked: bool,
    /// "… {times} {better} X"; empty for a metric whose ratios say nothing, such as nothing used against next to nothing.
    pub better: &'static str,
    /// "… {times} {worse} X".
    pub worse: &'static str,
}

/// A metric of time: less is better.
const fn time(name: &'static str, heading: &'static str, column: fn(f64) -> String) -> Metric {
    Metric {
        name,
        heading: Some(heading),
        column,
        range: Some(number::duration_range),
        sentence: number::duration,
        more_is_better: false,
        best_is_marked: false,
        better: "times as fast as",
        worse: "times slower than",
    }
}

/// A metric that is not compared in sentences.
const fn plain(
    name: &'static str,
    heading: Option<&'static str>,
    column: fn(f64) -> String,
) -> Metric {
    Metric {
        name,
        heading,
        column,
        range: None,
        sentence: column,
        more_is_better: false,
        best_is_marked: false,
        better: "",
        worse: "",
    }
}

/// When a table is ready to use behind a link.
const fn total(name: &'static str, heading: &'static str, sentence: fn(f64) -> String) -> Metric {
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        sentence,
        best_is_marked: true,
        ..time(name, heading, microseconds)
    }
}

/// A metric in microseconds, beside the one that orders a table.
const fn beside(name: &'static str, heading: &'static str) -> Metric {
    plain(name, Some(heading), microseconds)
}

/// The metrics that are known, in the order of their columns.
const METRICS: &[Metric] = &[
    total("total_us_1mbit", "1 Mbit/s", |value| {
        format!("{} until ready at 1 Mbit/s", microseconds(value))
    }),
    total("total_us_8mbit", "8 Mbit/s", |value| {
        format!("{} until ready at 8 Mbit/s", microseconds(value))
    }),
    total("total_us_100mbit", "100 Mbit/s", |value| {
        format!("{} until ready at 100 Mbit/s", microseconds(value))
    }),
    total("total_us_1000mbit", "1 Gbit/s", |value| {
        format!("{} until ready at 1 Gbit/s", microseconds(value))
    }),
    plain("bytes_per_row", Some("B/row"), number::grouped),
    beside("encode_us", "encode"),
    beside("wait_us", "wait"),
    beside("transfer_us", "transfer"),
    beside("decode_us", "decode"),
    beside("tiles_us", "tiles"),
    beside("server_cpu_us", "server CPU"),
    beside("encode_mean_us", "encode, mean"),
    beside("encode_deviation_us", "± dev."),
    beside("decode_mean_us", "decode, mean"),
    beside("decode_deviation_us", "± dev."),
    plain(
        "measured_to_computed",
        Some("measured, of computed"),
        number::grouped,
    ),
    beside("compress_us", "compress"),
    beside("expand_us", "expand"),
    plain(
        "uncompressed_bytes_per_row",
        Some("B/row before"),
        number::grouped,
    ),
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        sentence: |value| format!("{} until all rows are in columns", microseconds(value)),
        ..time("rows_us", "rows from the cursor", microseconds)
    },
    beside("rows_mean_us", "mean"),
    beside("rows_deviation_us", "± dev."),
    time("ns_per_op", "ns/op", number::grouped),
    plain("mean_ns_per_op", Some("mean"), number::grouped),
    plain("first_ns_per_op", Some("first/op"), number::grouped),
    Metric {
        better: "times less than",
        worse: "times more than",
        sentence: one_way,
        ..time("latency_ns", "latency", number::duration)
    },
    Metric {
        more_is_better: true,
        better: "times as many as",
        worse: "times fewer than",
        sentence: per_second,
        ..plain("ops_per_s", Some("ops/s"), number::count)
    },
    Metric {
        sentence: cpu_per_second,
        ..plain("idle_cpu_us_per_s", Some("CPU µs/s"), number::grouped)
    },
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        sentence: |value| format!("{} in all", microseconds(value)),
        ..time("total_us", "total", microseconds)
    },
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        ..time("first_us", "first", microseconds)
    },
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        ..time("best_us", "best", microseconds)
    },
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        ..time("build_us", "build", microseconds)
    },
    Metric {
        range: Some(|min, max| number::duration_range(min * 1e3, max * 1e3)),
        better: "times less than",
        worse: "times more than",
        sentence: |value| format!("{} old is what is shown", microseconds(value)),
        ..time("staleness_us", "staleness", microseconds)
    },
    beside("staleness_max_us", "at most"),
    plain("frames_per_s", Some("frames/s"), number::count),
    beside("first_call_us", "first call"),
    plain("mb_per_s", Some("MB/s"), number::grouped),
    plain("cpu_ns_per_op", Some("CPU/op"), number::duration),
    plain("switches_per_op", Some("switches"), number::grouped),
    plain("idle_switches_per_s", Some("switches/s"), number::grouped),
    time("post_ns_per_op", "post", number::grouped),
    time("retrieve_ns_per_op", "retrieve", number::grouped),
    time("set_ns_per_op", "set", number::grouped),
    time("p99_ns", "p99", number::duration),
    time("sent_p99_ns", "p99 sent", number::duration),
    time("p999_ns", "p99.9", number::duration),
    time("max_ns", "longest", number::duration),
    plain("flood_per_s", Some("flood/s"), number::count),
    plain("slowest_to_median", Some("slowest"), number::grouped),
    plain("frames_per_op", Some("frames/op"), number::grouped),
    // Its contender says it in a sentence, with what it means.
    plain("handovers_per_op", None, number::grouped),
    plain("voluntary_switches_per_op", None, number::grouped),
    plain("involuntary_switches_per_op", None, number::grouped),
    plain("peak_rss_kib", Some("peak KiB"), number::grouped),
];

impl Metric {
    /// The metric `name`, if it is known.
    #[must_use]
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// Those of which a table marks the best figure: less is better in each.
    pub(super) fn whose_best_is_marked() -> impl Iterator<Item = &'static str> {
        METRICS
            .iter()
            .filter(|metric| metric.best_is_marked)
            .map(|metric| metric.name)
    }

    /// The place of `name` among the columns: known metrics in our order, others behind them.
    #[must_use]
    pub(super) fn place(name: &str) -> usize {
        METRICS
            .iter()
            .position(|metric| metric.name == name)
            .unwrap_or(METRICS.len())
    }
}

/// The heading of the metric `name`; `None` if it is not shown in tables.
#[must_use]
pub(super) fn heading(name: &str) -> Option<String> {
    match Metric::find(name) {
        Some(metric) => metric.heading.map(str::to_owned),
        // The parts of totals that are shown.
        None if is_of_one_link(name) => None,
        None => Some(name.replace('_', " ")),
    }
}

/// Whether this is a part of the total behind one link, of a form that is another one on each.
fn is_of_one_link(name: &str) -> bool {
    let end = name.rsplit_once('_').map(|(_, end)| end);
    LINKS.iter().any(|link| end == Some(link.name))
}

/// A figure of the metric `name` as a column shows it.
#[must_use]
pub(super) fn column(name: &str, value: f64) -> String {
    Metric::find(name).map_or(number::grouped as fn(f64) -> String, |metric| metric.column)(value)
}

/// The least and the greatest figure of the metric `name`, for a column.
#[must_use]
pub(super) fn range(name: &str, min: f64, max: f64) -> String {
    match Metric::find(name).and_then(|metric| metric.range) {
        Some(range) => range(min, max),
        None => format!("[{}..{}]", column(name, min), column(name, max)),
    }
}

fn one_way(value: f64) -> String {
    format!("{} from send to receive", number::duration(value))
}

fn per_second(value: f64) -> String {
    format!("{} operations a second", number::count(value))
}

fn cpu_per_second(value: f64) -> String {
    format!("{} of CPU a second", microseconds(value))
}

#[cfg(test)]
mod tests {
    use super::{METRICS, Metric, column, heading, range};

    #[test]
    fn names_are_unique() {
        for (place, metric) in METRICS.iter().enumerate() {
            assert_eq!(Metric::place(metric.name), place);
        }
    }

    #[test]
    fn an_unknown_metric_is_shown_by_its_name() {
        assert_eq!(
            heading("pigeons_per_row").as_deref(),
            Some("pigeons per row")
        );
        assert_eq!(column("pigeons_per_row", 20_581.0), "20,581");
        assert_eq!(heading("voluntary_switches_per_op"), None);
        assert_eq!(heading("mean_ns_per_op").as_deref(), Some("mean"));
        assert_eq!(heading("encode_us_100mbit"), None);
    }

    #[test]
    fn ranges_have_one_unit() {
        assert_eq!(range("ns_per_op", 171.0, 201.4), "[171..201]");
        assert_eq!(range("total_us", 9_100.0, 14_200.0), "[9.10..14.2 ms]");
        assert_eq!(range("ops_per_s", 1e6, 2.5e6), "[1.00 M..2.50 M]");
    }

    #[test]
    fn times_in_microseconds_choose_their_unit() {
        assert_eq!(column("total_us", 14_200.0), "14.2 ms");
    }
}
