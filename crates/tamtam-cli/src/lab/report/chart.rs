//! A bar chart as an SVG picture of any width: places across are in percent, places down in pixels, so that its writing
//! keeps its size on a phone.

use maud::{Markup, html};

use super::drawn::Drawn;
use super::scale::Scale;
use crate::lab::statistics::Summary;

/// What a bar stands for; it decides its colour and its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// One of our ways: a filled bar, a filled circle.
    Ours,
    /// Another system: an outlined bar, an open circle.
    Peer,
    /// Shown, but not compared: a dashed bar, a cross.
    Unranked,
    /// An article's own figure: a diamond at the end of a dotted line.
    Article,
}

/// One line of a chart.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// What it is called.
    pub name: String,
    /// What it stands for.
    pub mark: Mark,
    /// Its figure.
    pub figure: Summary,
    /// Its CPU time, on the same scale.
    pub cpu: Option<Summary>,
}

/// A chart of one metric.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    /// The name of the picture.
    pub title: String,
    /// What is drawn.
    pub drawn: Drawn<'a>,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// The height of the axis, in pixels.
const AXIS: u32 = 24;
/// From the top of a line of the chart to the foot of its name.
const NAME: u32 = 12;
/// From the top of a line of the chart to its bar.
const BAR: u32 = 17;
/// The height of a bar.
const THICK: u32 = 11;
/// The height of a bar of CPU time.
const THIN: u32 = 4;
/// From one line of the chart to the next.
const PITCH: u32 = 40;
/// So many lines at most are in one picture, so that it stands on one page of paper and its axis is never far.
const MOST_LINES: usize = 20;
/// Names longer than this are cut in the picture, in characters; the table has them whole.
const LONGEST_NAME: usize = 34;

impl Mark {
    /// The class of its shapes.
    fn class(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
            Self::Unranked => "unranked",
            Self::Article => "article",
        }
    }

    /// What it says to who does not see it.
    #[must_use]
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
            Self::Unranked => "not compared",
            Self::Article => "the article’s figure",
        }
    }

    /// Its shape, around the origin.
    #[must_use]
    pub(super) fn shape(self) -> Markup {
        let class = format!("mark {}", self.class());
        html! {
            @match self {
                Self::Ours | Self::Peer => circle class=(class) r="4.5" {},
                Self::Unranked => path class=(class) d="M-4-4L4 4M-4 4L4-4" {},
                Self::Article => path class=(class) d="M0-5.5L5.5 0L0 5.5L-5.5 0Z" {},
            }
        }
    }

    /// Its shape in a line of text, with its word.
    #[must_use]
    pub(super) fn in_text(self) -> Markup {
        html! {
            svg.glyph width="14" height="12" viewBox="-7 -6 14 12" role="img" {
                title { (self.word()) }
                (self.shape())
            }
        }
    }
}

impl Chart<'_> {
    /// Draws the chart, a long one in several pictures on the same scale; `id` is one that the page has only once.
    /// Nothing if no figure is above zero.
    #[must_use]
    pub(super) fn draw(&self, id: &str) -> Option<Vec<Markup>> {
        let shows_cpu =
            self.drawn.shares_scale_with_cpu() && self.bars.iter().any(|bar| bar.cpu.is_some());
        let values = self.bars.iter().flat_map(|bar| {
            let cpu = bar.cpu.filter(|_| shows_cpu).map(|cpu| cpu.median);
            [bar.figure.min, bar.figure.median, bar.figure.max]
                .into_iter()
                .chain(cpu)
        });
        let scale = Scale::around(values)?;
        // Pictures of about the same length.
        let pictures = self.bars.len().div_ceil(MOST_LINES);
        let each = self.bars.len().div_ceil(pictures);
        let picture = |(place, bars): (usize, &[Bar])| {
            let height = AXIS + bars.len() as u32 * PITCH;
            let frame = Frame {
                id: &format!("{id}-{place}"),
                title: &title(&self.title, place, pictures),
                description: &self.description(bars, shows_cpu),
                height,
            };
            frame.around(&html! {
                (self.grid(&scale, height))
                @for (place, bar) in (0..).zip(bars) {
                    (self.bar(bar, &scale, AXIS + place * PITCH, shows_cpu))
                }
            })
        };
        Some(self.bars.chunks(each).enumerate().map(picture).collect())
    }

    /// What is drawn, for who does not see it.
    fn description(&self, bars: &[Bar], shows_cpu: bool) -> String {
        let bars: Vec<String> = bars
            .iter()
            .map(|bar| {
                let mut text = format!(
                    "{} ({}): {}",
                    bar.name,
                    bar.mark.word(),
                    self.drawn.figure(bar.figure.median)
                );
                if bar.figure.runs > 1 {
                    text.push_str(&format!(
                        ", from {} to {}",
                        self.drawn.figure(bar.figure.min),
                        self.drawn.figure(bar.figure.max)
                    ));
                }
                if let Some(cpu) = bar.cpu.filter(|_| shows_cpu) {
                    text.push_str(&format!(", CPU time {}", self.drawn.figure(cpu.median)));
                }
                text
            })
            .collect();
        format!(
            "Bars on a logarithmic scale: {}. {}.",
            self.drawn.caption(),
            bars.join("; ")
        )
    }

    fn grid(&self, scale: &Scale, height: u32) -> Markup {
        let ticks = scale.ticks();
        html! {
            g aria-hidden="true" {
                @for tick in &ticks {
                    @let x = percent(tick.position);
                    line class=(if tick.labelled { "grid" } else { "grid faint" })
                        x1=(x) x2=(x) y1=(AXIS - 6) y2=(height - 4) {}
                    @if tick.labelled {
                        text.tick x=(x) y="12" text-anchor=(anchor(tick.position)) { (self.drawn.tick(tick.value)) }
                    }
                }
            }
        }
    }

    fn bar(&self, bar: &Bar, scale: &Scale, top: u32, shows_cpu: bool) -> Markup {
        let Summary {
            median,
            min,
            max,
            runs,
        } = bar.figure;
        let class = bar.mark.class();
        let end = percent(scale.position(median));
        let (low, high) = (percent(scale.position(min)), percent(scale.position(max)));
        let middle = top + BAR + THICK / 2;
        html! {
            g aria-hidden="true" {
                svg.point x="7" y=(top + NAME - 4) { (bar.mark.shape()) }
                text class=(format!("name {class}")) x="18" y=(top + NAME) { (shortened(&bar.name)) }
                text.figure x="99.5%" y=(top + NAME) text-anchor="end" { (self.drawn.figure(median)) }
                @if bar.mark == Mark::Article {
                    line.lead x1="0" x2=(end) y1=(middle) y2=(middle) {}
                    svg.point x=(end) y=(middle) { (bar.mark.shape()) }
                } @else {
                    rect class=(format!("bar {class}")) x="0" y=(top + BAR) width=(end) height=(THICK) {}
                    @if runs > 1 {
                        @for halo in [true, false] {
                            g class=(if halo { "whisker halo" } else { "whisker" }) {
                                line x1=(low) x2=(high) y1=(middle) y2=(middle) {}
                                @for x in [&low, &high] {
                                    line x1=(x) x2=(x) y1=(middle - 4) y2=(middle + 4) {}
                                }
                            }
                        }
                    }
                    @if let Some(cpu) = bar.cpu.filter(|_| shows_cpu) {
                        rect.bar.cpu x="0" y=(top + BAR + THICK + 2) width=(percent(scale.position(cpu.median))) height=(THIN) {}
                    }
                }
            }
        }
    }
}

/// What every picture has around it.
pub(super) struct Frame<'a> {
    /// An id that the page has only once.
    pub id: &'a str,
    /// The name of the picture.
    pub title: &'a str,
    /// What it shows, for who does not see it.
    pub description: &'a str,
    /// Its height in pixels; it is as wide as its place.
    pub height: u32,
}

impl Frame<'_> {
    /// The picture with `shapes` in it.
    #[must_use]
    pub(super) fn around(&self, shapes: &Markup) -> Markup {
        let (title, description) = (
            format!("{}-title", self.id),
            format!("{}-description", self.id),
        );
        html! {
            svg.chart role="img" width="100%" height=(self.height) aria-labelledby=(title) aria-describedby=(description) {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description) }
                (shapes)
            }
        }
    }
}

/// The pictures of one chart below each other; what is said of them stays beside the first one.
#[must_use]
pub(super) fn figure(name: &str, caption: &Markup, pictures: &[Markup]) -> Markup {
    html! {
        figure aria-label=(name) {
            @for (place, picture) in pictures.iter().enumerate() {
                div.picture {
                    @if place == 0 { div.explained { (caption) } }
                    (picture)
                }
            }
        }
    }
}

/// The name of one of several pictures.
pub(super) fn title(name: &str, place: usize, pictures: usize) -> String {
    if pictures > 1 {
        format!("{name}, picture {} of {pictures}", place + 1)
    } else {
        name.to_owned()
    }
}

/// A place across the picture.
pub(super) fn percent(position: f64) -> String {
    format!("{:.2}%", position * 100.0)
}

/// How a label hangs on its line: inside the picture at both ends.
pub(super) fn anchor(position: f64) -> &'static str {
    if position < 0.02 {
        "start"
    } else if position > 0.98 {
        "end"
    } else {
        "middle"
    }
}

/// A name that does not run into the figure at the other end of its line.
pub(super) fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(LONGEST_NAME - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use maud::Markup;

    use super::{Bar, Chart, Mark};
    use crate::lab::report::drawn::Drawn;
    use crate::lab::statistics::Summary;

    fn chart(bars: Vec<Bar>) -> Chart<'static> {
        Chart {
            title: "a & b".to_owned(),
            drawn: Drawn {
                metric: "ns_per_op",
                unit: "ns",
            },
            bars,
        }
    }

    fn bar(name: &str, mark: Mark, [min, median, max]: [f64; 3], cpu: Option<f64>) -> Bar {
        let summary = |median, min, max| Summary {
            median,
            min,
            max,
            runs: 5,
        };
        Bar {
            name: name.to_owned(),
            mark,
            figure: summary(median, min, max),
            cpu: cpu.map(|cpu| summary(cpu, cpu, cpu)),
        }
    }

    fn together(pictures: Vec<Markup>) -> String {
        pictures.into_iter().map(Markup::into_string).collect()
    }

    #[test]
    fn bars_and_whiskers_end_where_their_figures_are() {
        let drawn = chart(vec![
            bar(
                "slot",
                Mark::Ours,
                [31.622_776_601, 100.0, 1000.0],
                Some(20.0),
            ),
            bar("far", Mark::Peer, [1e5, 1e5, 1e5], None),
        ])
        .draw("x")
        .map(together)
        .unwrap();
        // From 10 ns to 100 µs: four powers of ten, so 25 % each.
        for part in [
            r#"<rect class="bar ours" x="0" y="41" width="25.00%" height="11">"#,
            r#"<line x1="12.50%" x2="50.00%""#,
            r#"<rect class="bar cpu" x="0" y="54" width="7.53%""#,
            r#"<title id="x-0-title">a &amp; b</title>"#,
            "slot (ours): 100 ns, from 31.6 ns to 1.00 µs, CPU time 20.0 ns; far (peer): 100 µs",
        ] {
            assert!(drawn.contains(part), "{part} is missing in {drawn}");
        }
        assert_eq!(drawn.matches("bar cpu").count(), 1);
    }

    #[test]
    fn an_articles_figure_is_a_diamond_and_no_bar() {
        let drawn = chart(vec![bar(
            "A: MessageChannel",
            Mark::Article,
            [153e3, 153e3, 153e3],
            None,
        )])
        .draw("x")
        .map(together)
        .unwrap();
        assert!(
            !drawn.contains("<rect") && !drawn.contains("whisker"),
            "{drawn}"
        );
        assert_eq!(drawn.matches("mark article").count(), 2);
    }

    #[test]
    fn names_from_outside_are_text_and_never_markup() {
        let name = "\"><script>alert(1)</script>&amp;";
        let drawn = chart(vec![bar(name, Mark::Peer, [1.0, 2.0, 3.0], None)])
            .draw("x")
            .map(together)
            .unwrap();
        assert!(!drawn.contains("<script"), "{drawn}");
        assert!(
            drawn.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;"),
            "{drawn}"
        );
    }

    #[test]
    fn long_names_are_cut_in_the_picture_only() {
        let name = "ä".repeat(50);
        let drawn = chart(vec![bar(&name, Mark::Peer, [1.0, 2.0, 3.0], None)])
            .draw("x")
            .map(together)
            .unwrap();
        assert!(drawn.contains(&format!(">{}…<", "ä".repeat(33))), "{drawn}");
        assert!(drawn.contains(&format!("{name} (peer)")), "{drawn}");
    }

    #[test]
    fn a_long_chart_is_several_pictures_on_one_scale() {
        let bars: Vec<Bar> = (0..45)
            .map(|place| {
                let time = f64::from(place + 1);
                bar(&format!("way {place}"), Mark::Peer, [time; 3], None)
            })
            .collect();
        let drawn = chart(bars).draw("x").map(together).unwrap();
        assert_eq!(drawn.matches("<svg class=\"chart\"").count(), 3);
        assert_eq!(drawn.matches("class=\"bar peer\"").count(), 45);
        assert_eq!(
            drawn.matches(">100 ns<").count() + drawn.matches(">100\u{a0}ns<").count(),
            3
        );
        assert!(drawn.contains("a &amp; b, picture 3 of 3"), "{drawn}");
    }

    #[test]
    fn figures_that_are_all_nothing_have_no_chart() {
        assert!(
            chart(vec![bar("slot", Mark::Ours, [0.0, 0.0, 0.0], None)])
                .draw("x")
                .is_none()
        );
    }
}
