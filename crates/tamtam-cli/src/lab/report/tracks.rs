//! How figures went from session to session, as a picture: each older figure divided by the newest, so that what stayed
//! as it was lies on one line, and what changed lies beside it however large or small it is.

use maud::{Markup, html};

use super::chart::{Frame, anchor, percent, shortened, title};
use super::comparison::{Judgement, Point, Series};
use super::drawn;
use crate::lab::metric;
use crate::lab::number;
use crate::lab::statistics::Summary;

/// The height of the axis, in pixels.
const AXIS: u32 = 24;
/// The height of a figure's name.
const NAME: u32 = 17;
/// The height of a session.
const LINE: u32 = 11;
/// Between two figures.
const GAP: u32 = 10;
/// A picture is no higher than this, so that it stands on one page of paper.
const HIGHEST: u32 = 820;
/// So many older sessions are drawn, the newest of them; the table has all.
const MOST_SESSIONS: usize = 8;

/// Where the axis may end: this many times the newest figure, and one part in this many.
const ENDS: [f64; 12] = [
    1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e6,
];
/// Medians make the axis as long as they need; ranges only up to this, beyond it they are cut.
const LONGEST_FOR_RANGES: f64 = 2.0;

/// Figures over time.
pub(super) struct Tracks<'a> {
    /// The name of the picture.
    pub title: String,
    /// The figures, from top to bottom; each in at least two sessions.
    pub series: &'a [&'a Series<'a>],
}

/// The axis: from one part in `end` to `end` times, the newest figure in the middle.
#[derive(Clone, Copy)]
struct Axis {
    end: f64,
}

impl Axis {
    /// The shortest axis with a place for all medians in `ratios`, and for their ranges if they are not too long.
    fn around(ratios: impl IntoIterator<Item = Summary>) -> Self {
        let far = |ratio: f64| {
            if ratio.is_finite() && ratio > 0.0 {
                ratio.max(1.0 / ratio)
            } else {
                1.0
            }
        };
        let farthest = ratios
            .into_iter()
            .map(|ratio| {
                let range = far(ratio.min).max(far(ratio.max));
                far(ratio.median).max(range.min(LONGEST_FOR_RANGES))
            })
            .fold(1.0, f64::max);
        let end = ENDS.into_iter().find(|end| *end >= farthest);
        Self {
            end: end.unwrap_or(ENDS[ENDS.len() - 1]),
        }
    }

    /// The place of `ratio`: 0 at the left end, 1 at the right one; what is beyond an end is at that end.
    fn position(self, ratio: f64) -> f64 {
        if ratio <= 0.0 {
            return 0.0;
        }
        (0.5 + ratio.ln() / self.end.ln() / 2.0).clamp(0.0, 1.0)
    }

    fn ticks(self) -> [f64; 5] {
        let half = self.end.sqrt();
        [1.0 / self.end, 1.0 / half, 1.0, half, self.end]
    }
}

impl Tracks<'_> {
    /// Draws the picture, in several parts if it is high; `id` is one that the page has only once. Nothing if every
    /// newest figure is zero.
    #[must_use]
    pub(super) fn draw(&self, id: &str) -> Option<Vec<Markup>> {
        let drawn: Vec<&Series<'_>> = self
            .series
            .iter()
            .copied()
            .filter(|series| newest(series).is_some())
            .collect();
        if drawn.is_empty() {
            return None;
        }
        let axis = Axis::around(drawn.iter().flat_map(|series| ratios(series)));
        let parts = split(&drawn);
        let picture = |(place, series): (usize, &&[&Series<'_>])| {
            let height = AXIS + series.iter().map(|series| height(series)).sum::<u32>();
            let frame = Frame {
                id: &format!("{id}-{place}"),
                title: &title(&self.title, place, parts.len()),
                description: &describe(series),
                height,
            };
            frame.around(&html! { (grid(axis, height)) (rows(series, axis)) })
        };
        Some(parts.iter().enumerate().map(picture).collect())
    }
}

/// The newest figure, if others can be divided by it.
fn newest(series: &Series<'_>) -> Option<Summary> {
    let newest = series.points.last()?.figure;
    (newest.median > 0.0).then_some(newest)
}

/// The sessions that are drawn beside the newest, with their places in the series.
fn older<'a, 'b>(series: &'b Series<'a>) -> impl Iterator<Item = (usize, &'b Point<'a>)> {
    let last = series.points.len().saturating_sub(1);
    series
        .points
        .iter()
        .enumerate()
        .take(last)
        .skip(last.saturating_sub(MOST_SESSIONS))
}

/// The figures that are drawn, divided by the newest.
fn ratios(series: &Series<'_>) -> Vec<Summary> {
    let Some(newest) = newest(series) else {
        return Vec::new();
    };
    older(series)
        .map(|(_, point)| point.figure)
        .chain([newest])
        .map(|figure| Summary {
            median: figure.median / newest.median,
            min: figure.min / newest.median,
            max: figure.max / newest.median,
            runs: figure.runs,
        })
        .collect()
}

fn height(series: &Series<'_>) -> u32 {
    NAME + older(series).count() as u32 * LINE + GAP
}

/// Parts no higher than a page.
fn split<'a, 'b>(series: &'b [&'a Series<'a>]) -> Vec<&'b [&'a Series<'a>]> {
    let mut parts = Vec::new();
    let (mut begin, mut high) = (0, AXIS);
    for (place, one) in series.iter().enumerate() {
        if high + height(one) > HIGHEST && place > begin {
            parts.push(&series[begin..place]);
            (begin, high) = (place, AXIS);
        }
        high += height(one);
    }
    parts.push(&series[begin..]);
    parts
}

fn name(series: &Series<'_>) -> String {
    let metric = metric::heading(series.metric).unwrap_or_else(|| series.metric.replace('_', " "));
    format!("{}, {metric}", series.contender)
}

fn describe(series: &[&Series<'_>]) -> String {
    let all: Vec<String> = series
        .iter()
        .map(|series| {
            let older: Vec<String> = older(series)
                .map(|(_, point)| {
                    format!(
                        "{} in {}",
                        drawn::range(series.metric, series.unit, point.figure),
                        point.recording.label
                    )
                })
                .collect();
            let newest = series.points.last().map_or_else(String::new, |point| {
                drawn::range(series.metric, series.unit, point.figure)
            });
            format!(
                "{}: now {newest}, before {}",
                name(series),
                older.join(", ")
            )
        })
        .collect();
    format!("Older figures beside the newest. {}.", all.join("; "))
}

fn grid(axis: Axis, height: u32) -> Markup {
    html! {
        g aria-hidden="true" {
            @for ratio in axis.ticks() {
                @let position = axis.position(ratio);
                @let x = percent(position);
                line.grid x1=(x) x2=(x) y1=(AXIS - 6) y2=(height - 4) {}
                text.tick x=(x) y="12" text-anchor=(anchor(position)) { (number::times(ratio)) "×" }
            }
        }
    }
}

fn rows(series: &[&Series<'_>], axis: Axis) -> Markup {
    let mut top = AXIS;
    let mut tops = Vec::new();
    for one in series {
        tops.push(top);
        top += height(one);
    }
    html! {
        g aria-hidden="true" {
            @for (series, top) in series.iter().zip(tops) {
                @if let Some(newest) = newest(series) { (row(series, newest, axis, top)) }
            }
        }
    }
}

fn row(series: &Series<'_>, newest: Summary, axis: Axis, top: u32) -> Markup {
    let place = |value: f64| axis.position(value / newest.median);
    let (low, high) = (place(newest.min), place(newest.max));
    let lines = height(series) - NAME - GAP;
    html! {
        text.name x="5" y=(top + 12) { (shortened(&name(series))) }
        text.figure x="99.5%" y=(top + 12) text-anchor="end" { (drawn::figure(series.metric, series.unit, newest.median)) }
        rect.band x=(percent(low)) width=(percent(high - low)) y=(top + NAME) height=(lines) {}
        line.one x1="50%" x2="50%" y1=(top + NAME) y2=(top + NAME + lines) {}
        @for ((index, point), line) in older(series).zip(0..) {
            @let y = top + NAME + line * LINE + LINE / 2;
            @let apart = matches!(series.judge(index), Judgement::Regression | Judgement::Improvement);
            line.older x1=(percent(place(point.figure.min))) x2=(percent(place(point.figure.max))) y1=(y) y2=(y) {}
            svg.point x=(percent(place(point.figure.median))) y=(y) { (dot(apart)) }
        }
    }
}

/// The mark of an older figure: a filled diamond if its range does not touch the newest, else an open circle.
pub(super) fn dot(apart: bool) -> Markup {
    html! {
        @if apart {
            path.dot.apart d="M0-4.5L4.5 0L0 4.5L-4.5 0Z" {}
        } @else {
            circle.dot r="3" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Axis;
    use crate::lab::statistics::Summary;

    fn ratio([min, median, max]: [f64; 3]) -> Summary {
        Summary {
            median,
            min,
            max,
            runs: 5,
        }
    }

    #[test]
    fn the_newest_is_in_the_middle_and_factors_lie_even() {
        let axis = Axis::around([ratio([0.6, 1.3, 1.4]), ratio([0.9, 1.0, 1.1])]);
        assert_eq!(axis.end, 2.0);
        assert_eq!(axis.position(1.0), 0.5);
        assert!((axis.position(2.0) - 1.0).abs() < 1e-12 && axis.position(0.5).abs() < 1e-12);
        let up = axis.position(1.25) - 0.5;
        assert!((0.5 - axis.position(0.8) - up).abs() < 1e-12);
    }

    #[test]
    fn medians_make_the_axis_long_and_ranges_do_not() {
        assert_eq!(Axis::around([ratio([0.001, 1.0, 900.0])]).end, 2.0);
        assert_eq!(Axis::around([ratio([6.0, 7.0, 900.0])]).end, 10.0);
        assert_eq!(Axis::around([ratio([0.99, 1.0, 1.01])]).end, 1.05);
    }

    #[test]
    fn what_is_beyond_an_end_is_at_that_end() {
        let axis = Axis::around([ratio([0.0, 1e9, f64::INFINITY])]);
        assert_eq!(axis.end, 1e6);
        assert_eq!(axis.position(1e9), 1.0);
        assert_eq!(axis.position(0.0), 0.0);
        assert_eq!(Axis::around([]).end, 1.05);
    }
}
