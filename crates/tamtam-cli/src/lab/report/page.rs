//! The whole page: the answers, each experiment with its variants, what changed, the sessions, and how to read it.
//!
//! It needs nothing but itself: no network, no script, no font, and a browser is told to allow none.

use std::collections::HashSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::capital;
use super::comparison::{self, Judgement, Series};
use super::end_to_end;
use super::findings::Findings;
use super::heat;
use super::totals;
use super::variant::{Measured, over_time};
use crate::lab::experiment::{self, EXPERIMENTS, Experiment, Published};
use crate::lab::results::recording::Recording;
use crate::lab::results::remarks;
use crate::lab::{metric, number};

/// The looks: on a screen in light and dark, on a phone, and on paper.
const STYLE: &str = include_str!("style.css");

/// What a browser may load for this page: nothing but the style in it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Everything that a page shows.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// The sessions, oldest first.
    recordings: &'a [Recording],
    /// Files that are left out, and why.
    left_out: &'a [String],
    machines: Vec<Machine<'a>>,
    experiments: Vec<Part<'a>>,
}

/// One machine, and what is compared on it.
#[derive(Debug)]
struct Machine<'a> {
    description: &'a str,
    /// Its sessions, oldest first.
    recordings: Vec<&'a Recording>,
    series: Vec<Series<'a>>,
    findings: Findings,
}

/// One experiment of the page.
#[derive(Debug)]
struct Part<'a> {
    name: &'a str,
    id: String,
    variants: Vec<(&'a str, String)>,
}

impl<'a> Page<'a> {
    /// The page of `recordings`, oldest first; `left_out` says which files are missing and why.
    #[must_use]
    pub(super) fn of(recordings: &'a [Recording], left_out: &'a [String]) -> Self {
        let mut machines: Vec<(&str, Vec<&Recording>)> = Vec::new();
        // The machine of the newest session comes first.
        for recording in recordings.iter().rev() {
            match machines
                .iter_mut()
                .find(|(description, _)| *description == recording.machine)
            {
                Some((_, of_machine)) => of_machine.insert(0, recording),
                None => machines.push((&recording.machine, vec![recording])),
            }
        }
        let machines = machines
            .into_iter()
            .map(|(description, recordings)| {
                let series = comparison::series(&recordings);
                Machine {
                    description,
                    findings: Findings::of(&series),
                    recordings,
                    series,
                }
            })
            .collect();
        Self {
            recordings,
            left_out,
            machines,
            experiments: parts(recordings),
        }
    }

    /// What the comparison came to, in sentences; none if there was nothing to compare.
    #[must_use]
    pub(super) fn headlines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for machine in &self.machines {
            for (heading, _, sentences) in &machine.findings.groups {
                lines.push(format!("{heading}:"));
                lines.extend(sentences.iter().map(|sentence| format!("  {sentence}")));
            }
            lines.extend(machine.findings.remarks());
        }
        lines.extend(self.not_compared());
        lines
    }

    /// What changed, in one line; `None` if there is nothing to compare.
    fn summary(&self) -> Option<String> {
        let compared = self
            .machines
            .iter()
            .any(|machine| machine.findings.compared > 0);
        let headings: Vec<&str> = self
            .machines
            .iter()
            .flat_map(|machine| &machine.findings.groups)
            .map(|(heading, ..)| heading.as_str())
            .collect();
        match (compared, headings.is_empty()) {
            (false, _) => None,
            (true, true) => Some("No figure of ours changed beyond its range".to_owned()),
            (true, false) => Some(headings.join("; ")),
        }
    }

    /// What is said where there are several machines.
    fn not_compared(&self) -> Option<String> {
        (self.machines.len() > 1).then(|| {
            format!(
                "The sessions come from {} machines: figures of different machines are not compared. A machine counts \
                 as another one if anything in its description differs, its kernel too.",
                self.machines.len()
            )
        })
    }

    /// The page as HTML.
    #[must_use]
    pub(super) fn render(&self) -> String {
        let title = match self.recordings {
            [one] => format!("Tamtam lab report: {}", one.label),
            [first, .., last] => format!("Tamtam lab report: {} to {}", first.label, last.label),
            [] => "Tamtam lab report".to_owned(),
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(format!("tamtam {}", env!("CARGO_PKG_VERSION")));
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (self.opening())
                    (self.answers())
                    (self.contents())
                    main {
                        @for part in &self.experiments { (self.experiment(part)) }
                        @if self.has_changes() { (self.changes()) }
                        (self.sessions())
                        (reading())
                    }
                }
            }
        }
        .into_string()
    }

    fn has_changes(&self) -> bool {
        self.recordings.len() > 1
    }

    fn opening(&self) -> Markup {
        let figures: usize = self
            .recordings
            .iter()
            .map(|recording| recording.figures)
            .sum();
        let variants: usize = self
            .experiments
            .iter()
            .map(|part| part.variants.len())
            .sum();
        html! {
            header {
                h1 { "Tamtam lab report" }
                p.lead {
                    "What each way of passing a message costs: " (number::whole(figures as u64)) " figures in "
                    (number::counted(variants, "variant")) ", from " (number::counted(self.recordings.len(), "session"))
                    ". " span.verified { "✓ Every delivery was verified." }
                }
                @for (place, machine) in self.machines.iter().enumerate() {
                    p.machine { (self.machine_name(place)) ": " (machine.description) }
                }
                @if !self.left_out.is_empty() {
                    div.left-out role="note" {
                        p { strong { (number::counted(self.left_out.len(), "file")) " left out:" } }
                        ul { @for reason in self.left_out { li { (reason) } } }
                    }
                }
            }
        }
    }

    /// "Machine", with its number if there are several.
    fn machine_name(&self, place: usize) -> String {
        if self.machines.len() > 1 {
            format!("Machine {}", place + 1)
        } else {
            "Machine".to_owned()
        }
    }

    /// Which way costs what here: for each experiment its main variant, as the newest session measured it.
    fn answers(&self) -> Markup {
        html! {
            section aria-labelledby="answers" {
                h2 id="answers" { "Which way costs what here" }
                @for part in &self.experiments {
                    @if let Some((variant, measured)) = self.main_of(part) {
                        @if let Some(answer) = measured.answer(&format!("answer-{}", part.id)) {
                            section.answer {
                                h3 { a href=(format!("#{}", part.id)) { (heading(part.name)) } }
                                p.words {
                                    (capital(&experiment::describe(variant)))
                                    " " code { (part.name) "/" (variant) }
                                }
                                (answer)
                            }
                        }
                    }
                }
                @if let Some(summary) = self.summary() {
                    p.headline { "Beside older sessions: " a href="#changes" { (summary) } "." }
                }
            }
        }
    }

    /// The variant that answers for an experiment: the first of its main variants that was measured on the machine of the
    /// newest session, or else its first variant.
    fn main_of<'b>(&'b self, part: &'b Part<'_>) -> Option<(&'b str, Measured<'b>)> {
        let machine = self.machines.first()?;
        let main = Experiment::find(part.name).map_or(&[][..], |known| known.main_variants);
        let others = part.variants.iter().map(|(variant, _)| *variant);
        main.iter().copied().chain(others).find_map(|variant| {
            let recording = machine
                .recordings
                .iter()
                .rev()
                .find(|recording| recording.of_variant(part.name, variant).is_some())?;
            let standings = recording.of_variant(part.name, variant)?;
            Some((
                variant,
                Measured {
                    recording,
                    standings,
                },
            ))
        })
    }

    fn contents(&self) -> Markup {
        html! {
            nav aria-labelledby="contents" {
                h2 id="contents" { "Contents" }
                ul {
                    li { a href="#answers" { "Which way costs what here" } }
                    @for part in &self.experiments {
                        li {
                            a href=(format!("#{}", part.id)) { (heading(part.name)) }
                            ul {
                                @for (variant, id) in &part.variants {
                                    li { a href=(format!("#{id}")) { (variant) } }
                                }
                            }
                        }
                    }
                    @if self.has_changes() { li { a href="#changes" { "What changed" } } }
                    li { a href="#sessions" { "The sessions" } }
                    li { a href="#reading" { "How to read this" } }
                }
            }
        }
    }

    fn changes(&self) -> Markup {
        html! {
            section aria-labelledby="changes" {
                h2 id="changes" { "What changed" }
                @for (place, machine) in self.machines.iter().enumerate() {
                    @if self.machines.len() > 1 { h3 { (self.machine_name(place)) } }
                    @if machine.recordings.len() < 2 {
                        p { "Only one session comes from this machine: " (machine.recordings[0].label)
                            ". There is nothing to compare it with." }
                    }
                    @for (heading, judgement, sentences) in &machine.findings.groups {
                        p.headline {
                            @if *judgement == Judgement::Regression {
                                strong.regression { "▲ " (heading) ":" }
                            } @else {
                                strong.improvement { "▼ " (heading) ":" }
                            }
                        }
                        ul { @for sentence in sentences { li { (sentence) } } }
                    }
                    @if machine.recordings.len() > 1 && machine.findings.compared == 0 {
                        p { "No figure of ours is in two of the sessions." }
                    }
                    @for remark in machine.findings.remarks() { p { (remark) } }
                }
                @if let Some(remark) = self.not_compared() { p { (remark) } }
            }
        }
    }

    fn experiment(&self, part: &Part<'_>) -> Markup {
        let known = Experiment::find(part.name);
        let notes = remarks::notes(
            self.recordings
                .iter()
                .flat_map(|recording| &recording.standings)
                .filter(|standings| standings.experiment == part.name),
        );
        html! {
            section.experiment aria-labelledby=(part.id) {
                h2 id=(part.id) {
                    (heading(part.name)) @if known.is_some() { " " code { (part.name) } }
                }
                @if let Some(experiment) = known {
                    p {
                        (sentence(experiment.about)) " An operation is " (experiment.operation) ". From "
                        (experiment.source) "."
                    }
                    (claims(experiment))
                }
                @if part.name == "rows" { (self.totals()) }
                @if part.name == heat::EXPERIMENT { (self.heat(part)) }
                @for note in notes { p.note { (note) } }
                @for (variant, id) in &part.variants {
                    (self.variant(part.name, variant, id))
                }
            }
        }
    }

    /// When tables are ready, of the newest session of each machine that says so.
    fn totals(&self) -> Markup {
        html! {
            @for (place, machine) in self.machines.iter().enumerate() {
                @if let Some(table) = totals::newest(&machine.recordings) {
                    h3 {
                        "When a table is ready"
                        @if self.machines.len() > 1 { ", " (self.machine_name(place)) }
                    }
                    (table)
                }
                @if let Some(table) = end_to_end::newest(&machine.recordings) {
                    h3 {
                        "From end to end"
                        @if self.machines.len() > 1 { ", " (self.machine_name(place)) }
                    }
                    (table)
                }
            }
        }
    }

    /// Where ours stands in each row of the grid, of the newest session of each machine that has some.
    fn heat(&self, part: &Part<'_>) -> Markup {
        let link = |variant: &str| {
            let known = part.variants.iter().find(|(name, _)| *name == variant);
            known.map(|(_, id)| id.as_str())
        };
        html! {
            @for (place, machine) in self.machines.iter().enumerate() {
                @if let Some(map) = heat::newest(&machine.recordings, link) {
                    h3 {
                        "Ours and the best"
                        @if self.machines.len() > 1 { ", " (self.machine_name(place)) }
                    }
                    (map)
                }
            }
        }
    }

    fn variant(&self, experiment: &str, variant: &str, id: &str) -> Markup {
        let words = experiment::describe(variant);
        html! {
            section.variant aria-labelledby=(id) {
                h3 id=(id) {
                    @if !words.is_empty() { (capital(&words)) " " }
                    code { (experiment) " " (variant) }
                }
                @for (place, machine) in self.machines.iter().enumerate() {
                    @let newest = machine.recordings.iter().rev().find_map(|recording| {
                        let standings = recording.of_variant(experiment, variant)?;
                        Some(Measured { recording, standings })
                    });
                    @if let Some(measured) = newest {
                        @if self.machines.len() > 1 { h4 { (self.machine_name(place)) } }
                        (measured.render(&format!("{id}-chart-{place}")))
                        @if let Some(others) = measured.others(&machine.recordings) { p.note { (others) } }
                        @if let Some(table) = over_time(&machine.series, experiment, variant, &format!("{id}-time-{place}")) {
                            h4 { "Ours over time" @if self.machines.len() > 1 { ", " (self.machine_name(place)) } }
                            (table)
                        }
                    }
                }
            }
        }
    }

    fn sessions(&self) -> Markup {
        html! {
            section aria-labelledby="sessions" {
                h2 id="sessions" { "The sessions" }
                div.scroll role="region" aria-label="The sessions" tabindex="0" {
                    table {
                        caption { "Oldest first." }
                        thead { tr {
                            th scope="col" { "session" }
                            th scope="col" { "figures" }
                            th scope="col" { "variants" }
                            th scope="col" { "runs" }
                            th.words scope="col" { "machine" }
                            th.words scope="col" { "file" }
                        } }
                        tbody {
                            @for recording in self.recordings {
                                tr {
                                    th scope="row" { (recording.label) }
                                    td { (recording.figures) }
                                    td { (recording.standings.len()) }
                                    td { (runs(recording)) }
                                    td.words { (self.machine_of(recording)) }
                                    td.words { (recording.path.display()) }
                                }
                            }
                        }
                    }
                }
                @for recording in self.recordings.iter().rev() {
                    p { b { (recording.label) } ", versions: " (remarks::versions(&recording.standings)) "." }
                }
            }
        }
    }

    fn machine_of(&self, recording: &Recording) -> String {
        let place = self
            .machines
            .iter()
            .position(|machine| machine.description == recording.machine);
        match place {
            Some(place) if self.machines.len() > 1 => format!("{}", place + 1),
            _ => recording.machine.clone(),
        }
    }
}

/// An experiment's heading for people; its name where it is not known.
fn heading(name: &str) -> &str {
    Experiment::find(name).map_or(name, |known| known.heading)
}

/// The experiments and variants that there are: known experiments in our order, variants as the newest session has them.
fn parts(recordings: &[Recording]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut ids = Ids::default();
    for standings in recordings
        .iter()
        .rev()
        .flat_map(|recording| &recording.standings)
    {
        let (experiment, variant) = (standings.experiment.as_str(), standings.variant.as_str());
        let place = parts.iter().position(|part| part.name == experiment);
        let place = place.unwrap_or_else(|| {
            parts.push(Part {
                name: experiment,
                id: ids.of(experiment),
                variants: Vec::new(),
            });
            parts.len() - 1
        });
        let variants = &mut parts[place].variants;
        if !variants.iter().any(|(known, _)| *known == variant) {
            variants.push((variant, ids.of(&format!("{experiment}-{variant}"))));
        }
    }
    parts.sort_by_key(|part| {
        EXPERIMENTS
            .iter()
            .position(|experiment| experiment.name == part.name)
            .unwrap_or(EXPERIMENTS.len())
    });
    parts
}

/// Names for links, each only once: `handover-1000-2cores`.
#[derive(Debug, Default)]
struct Ids {
    taken: HashSet<String>,
}

impl Ids {
    /// An id made of the letters and digits of `name`. The page's own ids have no `x-` in front.
    fn of(&mut self, name: &str) -> String {
        let plain: String = name
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter.to_ascii_lowercase()
                } else {
                    '-'
                }
            })
            .collect();
        let id = format!("x-{plain}");
        // A dot is in no id made above, so that a numbered one is never another's.
        (1..)
            .map(|number| {
                if number == 1 {
                    id.clone()
                } else {
                    format!("{id}.{number}")
                }
            })
            .find(|id| self.taken.insert(id.clone()))
            .unwrap_or(id)
    }
}

/// What the article itself says: its figures, and how much better than its slowest way.
fn claims(experiment: &Experiment) -> Markup {
    // How many times as good one figure is as another of the same metric.
    let gain = |(metric, value): (&str, f64), other: f64| {
        let more_is_better = metric::Metric::find(metric).is_some_and(|found| found.more_is_better);
        if more_is_better {
            value / other
        } else {
            other / value
        }
    };
    let Some(slowest) = experiment
        .published
        .iter()
        .max_by(|a, b| gain(b.metrics[0], a.metrics[0].1).total_cmp(&1.0))
    else {
        return html! {};
    };
    let one = |published: &Published| {
        let (name, value) = published.metrics[0];
        let times = gain(published.metrics[0], slowest.metrics[0].1);
        let mut text = format!(
            "{} {}",
            published.name,
            metric::Metric::find(name).map_or_else(
                || metric::column(name, value),
                |metric| (metric.sentence)(value)
            )
        );
        if times > 1.0 {
            text.push_str(&format!(" ({} times faster)", number::times(times)));
        }
        if published.note.is_some() {
            text.push_str(", which does not mean what it says");
        }
        text
    };
    let all: Vec<String> = experiment.published.iter().map(one).collect();
    html! { p.claims { "The article’s own figures: " (all.join("; ")) "." } }
}

/// How many runs the figures of a session come from: `5`, `1 to 3`.
fn runs(recording: &Recording) -> String {
    let mut runs: Vec<usize> = recording
        .standings
        .iter()
        .flat_map(|standings| &standings.rows)
        .flat_map(|row| &row.figures)
        .map(|figure| figure.summary.runs)
        .collect();
    runs.sort_unstable();
    match (runs.first(), runs.last()) {
        (Some(least), Some(greatest)) if least != greatest => format!("{least} to {greatest}"),
        (Some(all), _) => all.to_string(),
        _ => String::new(),
    }
}

/// `text` with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut whole = capital(text);
    if !whole.ends_with('.') {
        whole.push('.');
    }
    whole
}

fn reading() -> Markup {
    html! {
        section aria-labelledby="reading" {
            h2 id="reading" { "How to read this" }
            ul {
                li { "A bar ends at the median of the runs; the line across it goes from the least to the greatest run. The "
                    "thin bar below is the CPU time of the whole process for one operation." }
                li { "The scale is logarithmic: the same length is the same factor anywhere, and where a bar begins means "
                    "nothing. Compare where bars end." }
                li { "Filled bars and circles are ours, outlined ones are other systems, a dashed bar with a cross is shown but "
                    "not compared, because it hands nothing over. A diamond is the article’s own figure, taken on the "
                    "machine of its day." }
                li { "To ours is the figure divided by that of the best of our ways that needs no knob turned; to best peer the "
                    "same for the best other system, without those that only show the limit of the hardware." }
                li { "Over time, older figures are divided by the newest: what stayed as it was lies on the line at 1×, and a mark left "
                    "of it was smaller then. Ranges that go far beyond an end of the picture are cut there." }
                li { "Ranges without a unit are in nanoseconds." }
                li { "Charts show the newest session that has the variant; contenders of one session ran in turns, so they "
                    "may be compared with each other." }
                li { "A figure is called slower or faster than in another session only if the ranges of the runs of both do not touch. "
                    "Where they touch, or the medians are less than 1 % apart, it is the same: runs differ by as much anyway. Fewer than "
                    "five runs are a look, not a comparison to quote." }
            }
        }
    }
}
