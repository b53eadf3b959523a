//! Which figure of a variant a chart shows, and how its figures are written.

use crate::lab::metric::{self, Metric};
use crate::lab::number;
use crate::lab::standings::{Figure, Standings};
use crate::lab::statistics::Summary;

/// The metric of a variant that is drawn and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drawn<'a> {
    /// Its name in the results.
    pub metric: &'a str,
    /// Its unit in the results.
    pub unit: &'a str,
}

/// The time of an operation; where a contender orders by another metric, this is still what is drawn.
const TIME: &str = "ns_per_op";

/// The CPU time of an operation, which stands beside it.
pub(super) const CPU: &str = "cpu_ns_per_op";

impl<'a> Drawn<'a> {
    /// What is drawn of `standings`: the time of an operation where all that have the first metric have it, else the
    /// first metric; `None` if there is no figure.
    #[must_use]
    pub(super) fn of(standings: &'a Standings) -> Option<Self> {
        let primary = standings.primary.as_deref()?;
        let everywhere = standings
            .rows
            .iter()
            .filter(|row| row.summary(primary).is_some())
            .all(|row| row.summary(TIME).is_some());
        let metric = if everywhere { TIME } else { primary };
        let unit = standings
            .rows
            .iter()
            .flat_map(|row| &row.figures)
            .find(|figure| figure.metric == metric)
            .map_or("", |figure: &Figure| figure.unit.as_str());
        Some(Self { metric, unit })
    }

    /// Whether CPU time has a place on the same scale.
    #[must_use]
    pub(super) fn shares_scale_with_cpu(&self) -> bool {
        self.unit == "ns" && self.metric != CPU
    }

    /// What the axis shows, such as "nanoseconds an operation".
    #[must_use]
    pub(super) fn caption(&self) -> String {
        match self.metric {
            TIME => "time per operation".to_owned(),
            "latency_ns" => "time from send to receive".to_owned(),
            "ops_per_s" => "operations per second; longer is better".to_owned(),
            "idle_cpu_us_per_s" => "CPU time per second of waiting".to_owned(),
            "total_us" => "time in all".to_owned(),
            "rows_us" => "time until all rows are in columns".to_owned(),
            other => {
                let heading = metric::heading(other).unwrap_or_else(|| other.replace('_', " "));
                if self.is_one_of_several() {
                    format!("time until ready to use at {heading}")
                } else {
                    heading
                }
            }
        }
    }

    /// Whether it stands for others like it: the time behind one link, of several links.
    #[must_use]
    pub(super) fn is_one_of_several(&self) -> bool {
        Metric::find(self.metric).is_some_and(|metric| metric.best_is_marked)
    }

    /// A figure with its unit: `233 ns`, `1.25 M/s`.
    #[must_use]
    pub(super) fn figure(&self, value: f64) -> String {
        figure(self.metric, self.unit, value)
    }

    /// A figure of the grid: as short as it can be.
    #[must_use]
    pub(super) fn tick(&self, value: f64) -> String {
        let text = self.figure(value);
        let (number, unit) = match text.split_once([' ', '\u{a0}']) {
            Some((number, unit)) => (number, Some(unit)),
            None => (text.as_str(), None),
        };
        let number = if number.contains('.') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            number
        };
        match unit {
            Some(unit) => format!("{number}\u{a0}{unit}"),
            None => number.to_owned(),
        }
    }
}

/// A figure of `metric` with its unit.
#[must_use]
pub(super) fn figure(metric: &str, unit: &str, value: f64) -> String {
    match unit {
        "ns" => number::duration(value),
        "µs" | "us" => number::microseconds(value),
        "µs/s" => format!("{}/s", number::microseconds(value)),
        "1/s" => format!("{}/s", number::count(value)),
        // The heading says what is counted.
        "ratio" | "switches" | "switches/s" | "frames" | "handovers" => number::grouped(value),
        _ => match metric::column(metric, value) {
            text if unit.is_empty() => text,
            text => format!("{text} {unit}"),
        },
    }
}

/// A figure of `metric` with the range of its runs: `205 ns [200..210]`.
#[must_use]
pub(super) fn range(metric: &str, unit: &str, summary: Summary) -> String {
    let median = figure(metric, unit, summary.median);
    if summary.runs < 2 {
        return median;
    }
    format!("{median} {}", span(metric, unit, summary))
}

/// The least and the greatest figure of `metric`: `[200..210]`, in nanoseconds where no unit is written.
#[must_use]
pub(super) fn span(metric: &str, unit: &str, summary: Summary) -> String {
    match unit {
        "ns" => number::duration_range(summary.min, summary.max),
        "µs" | "us" | "µs/s" => number::duration_range(summary.min * 1e3, summary.max * 1e3),
        _ => metric::range(metric, summary.min, summary.max),
    }
}

#[cfg(test)]
mod tests {
    use super::{Drawn, figure, range};
    use crate::lab::standings::samples::standings;
    use crate::lab::statistics::Summary;

    #[test]
    fn the_time_of_an_operation_is_drawn_where_all_have_it() {
        let latch = standings(
            "latch",
            "9/2cores",
            &[(
                "+latch",
                Ok(&[&[("total_us", 5.0), ("ns_per_op", 555.0)]]),
                None,
            )],
        );
        assert_eq!(Drawn::of(&latch).unwrap().metric, "ns_per_op");
        let mixed = standings(
            "latch",
            "9/2cores",
            &[
                (
                    "+latch",
                    Ok(&[&[("total_us", 5.0), ("ns_per_op", 555.0)]]),
                    None,
                ),
                ("other", Ok(&[&[("total_us", 7.0)]]), None),
            ],
        );
        assert_eq!(Drawn::of(&mixed).unwrap().metric, "total_us");
        let nothing = standings("latch", "9/2cores", &[("+latch", Err("broken"), None)]);
        assert_eq!(Drawn::of(&nothing), None);
    }

    #[test]
    fn figures_have_their_unit_and_those_of_the_grid_no_zeros() {
        let drawn = Drawn {
            metric: "ns_per_op",
            unit: "ns",
        };
        assert_eq!(drawn.figure(1_234.0), "1.23 µs");
        let ticks: Vec<String> = [0.1, 1.0, 20.0, 500.0, 1e3, 1e4, 1e5, 1e6]
            .map(|value| drawn.tick(value).replace('\u{a0}', " "))
            .to_vec();
        assert_eq!(
            ticks,
            [
                "0.1 ns", "1 ns", "20 ns", "500 ns", "1 µs", "10 µs", "100 µs", "1 ms"
            ]
        );
        let link = Drawn {
            metric: "total_us_8mbit",
            unit: "µs",
        };
        assert_eq!(link.caption(), "time until ready to use at 8 Mbit/s");
        let rate = Drawn {
            metric: "ops_per_s",
            unit: "1/s",
        };
        assert_eq!(
            [1.0, 1e4, 1e6].map(|value| rate.tick(value).replace('\u{a0}', " ")),
            ["1/s", "10 k/s", "1 M/s"]
        );
        let second = Summary {
            median: 2e6,
            min: 1.98e6,
            max: 2.1e6,
            runs: 2,
        };
        assert_eq!(
            range("idle_cpu_us_per_s", "µs/s", second),
            "2.00 s/s [1.98..2.10 s]"
        );
        assert_eq!(figure("idle_cpu_us_per_s", "µs/s", 124.0), "124 µs/s");
        assert_eq!(figure("peak_rss_kib", "KiB", 20_581.0), "20,581 KiB");
    }
}
