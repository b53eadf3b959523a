//! What a session measures, in which order, and for how long.
//!
//! Contenders are *interleaved*: run 1 of every contender, then run 2, and so on, so that a machine that grows warm or
//! busy does so for all of them. Within a round the order is shuffled, in the same way every time, so that no contender
//! always follows the same neighbour.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::arguments::RunArguments;
use super::catalog::{Catalog, Entry};
use super::experiment::{Experiment, FIRST_LOOK, Quick};
use crate::nearest::suggest;
use tamtam_lab::Variant;

/// How long a contender measures.
const CONTENDER_TIME: Duration = Duration::from_secs(1);
/// The same in a first look, which shows more in its minute.
const FIRST_LOOK_LIMIT: Duration = Duration::from_millis(250);
/// The same with `--quick`.
const QUICK_LIMIT: Duration = Duration::from_millis(300);
/// How often each contender runs: a comparison needs at least five.
const RUNS: usize = 5;
/// The same with `--quick`: a look, not a comparison to quote.
const QUICK_RUNS: usize = 3;
/// A first look ends in less than a minute.
const FIRST_LOOK_BUDGET: Duration = Duration::from_secs(56);
/// `--quick` ends in less than five minutes.
const QUICK_BUDGET: Duration = Duration::from_secs(290);

/// With `--quick` no contender gets less, however many there are.
const SHORTEST_QUICK_LIMIT: Duration = Duration::from_millis(100);
/// What a run takes beside what it measures: a process, its warm-up and its end.
const OVERHEAD: Duration = Duration::from_millis(60);

/// One contender in one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// The contender.
    pub contender: String,
    /// Its version.
    pub version: String,
    /// Whether it is one of ours.
    pub ours: bool,
    /// The program that runs it.
    pub program: Arc<Path>,
}

impl Task {
    /// Whether it may take longer than it is given, since less than one operation is no measurement.
    fn is_long(&self) -> bool {
        let variant = self.variant.parse::<Variant>();
        self.experiment == "rows" && variant.is_ok_and(|variant| variant.count >= 1_000_000)
    }

    /// Whether busy processes are to run beside it.
    #[must_use]
    pub(super) fn wants_hogs(&self) -> bool {
        placement(&self.variant) == "hog"
    }
}

/// What a session measures.
#[derive(Debug)]
pub(super) struct Plan {
    /// Every contender in every variant, in the order in which results are shown.
    pub tasks: Vec<Task>,
    /// How long each may measure.
    pub limit: Duration,
    /// How many rounds there are.
    pub runs: usize,
    /// After what time no round begins that would end later.
    pub budget: Option<Duration>,
    /// Whether it is the look at each experiment that a run without arguments takes: it is shown in few words.
    pub first_look: bool,
    /// What the user should know.
    pub notices: Vec<String>,
}

impl Plan {
    /// Chooses from `catalog` what `arguments` ask for, on a machine that gives us `cores` cores.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or nothing is left to measure.
    pub(super) fn make(catalog: &Catalog, arguments: &RunArguments, cores: usize) -> Result<Self> {
        let known = catalog.contenders();
        let (contenders, rows): (Vec<&str>, Vec<&str>) = arguments
            .only
            .iter()
            .map(String::as_str)
            .partition(|name| known.contains(name));
        for name in &rows {
            if !arguments.means_a_row(catalog, name) {
                let named = rows_of(catalog, &arguments.experiments);
                bail!(
                    "--only: there is no contender or row {name}{}{}",
                    suggest(
                        name,
                        known.iter().copied().chain(named),
                        "; `tamtam lab list` shows all that there are"
                    ),
                    catalog
                        .notices
                        .iter()
                        .map(|notice| format!("\n{notice}"))
                        .collect::<String>()
                );
            }
        }
        let everything = arguments.quick || arguments.full;
        let first_look = arguments.experiments.is_empty() && !everything;
        let chosen = if first_look {
            choose_first_look(cores)
        } else {
            choose(catalog, arguments, everything || !rows.is_empty())?
        };

        let (mut tasks, mut too_few_cores) = (Vec::new(), 0);
        for choice in chosen.iter().filter(|choice| choice.is_one_of(&rows)) {
            for entry in &catalog.entries {
                if choice.takes(entry, &contenders) {
                    if placement(&choice.variant) == "2cores" && cores < 2 {
                        too_few_cores += 1;
                    } else {
                        tasks.push(task(entry, &choice.variant));
                    }
                }
            }
        }
        let mut notices = catalog.notices.clone();
        if too_few_cores > 0 {
            notices.push(format!("{too_few_cores} measurements on two cores are left out: only one core is to be had."));
        }
        if !first_look && chosen.iter().any(|choice| choice.experiment == "rows") {
            notices.extend(super::catalog::forms_left_out());
        }
        if chosen.iter().any(|choice| choice.experiment == "calls") {
            notices.extend(super::catalog::http_left_out());
        }
        if tasks.iter().any(Task::is_long) {
            notices.push(
                "A million rows take slow forms longer than their time: each is encoded and decoded at least twice."
                    .to_owned(),
            );
        }
        ensure!(
            !tasks.is_empty(),
            "nothing to measure: no contender that is wanted takes part in what is wanted; `tamtam lab list` shows \
             who takes part in what{}",
            notices
                .iter()
                .map(|notice| format!("\n{notice}"))
                .collect::<String>()
        );
        let (limit, runs, budget) = if arguments.quick {
            (quick_limit(tasks.len()), QUICK_RUNS, Some(QUICK_BUDGET))
        } else {
            let limit = if first_look {
                FIRST_LOOK_LIMIT
            } else {
                CONTENDER_TIME
            };
            (limit, RUNS, first_look.then_some(FIRST_LOOK_BUDGET))
        };
        Ok(match arguments.runs {
            Some(runs) => Self {
                tasks,
                limit,
                runs: runs as usize,
                budget: None,
                first_look,
                notices,
            },
            None => Self {
                tasks,
                limit,
                runs,
                budget,
                first_look,
                notices,
            },
        })
    }

    /// The order of the tasks, by their places, in round `round`: a shuffle that depends on the round and on nothing
    /// else.
    #[must_use]
    pub(super) fn order(&self, round: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        let mut random = SplitMix64(round as u64);
        for last in (1..order.len()).rev() {
            // The bias of the remainder is below one in 2^50 for any number of tasks that a person waits for.
            let other = (random.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
        order
    }

    /// How long it will take if each contender uses its time.
    #[must_use]
    pub(super) fn estimate(&self) -> Duration {
        let whole = (self.limit + OVERHEAD)
            * u32::try_from(self.tasks.len() * self.runs).unwrap_or(u32::MAX);
        self.budget.map_or(whole, |budget| whole.min(budget))
    }
}

/// How long each of `tasks` measures with `--quick`: less than usual where they are so many that one round would take all
/// the time.
fn quick_limit(tasks: usize) -> Duration {
    let share = QUICK_BUDGET / u32::try_from(tasks.max(1)).unwrap_or(u32::MAX);
    // In whole milliseconds, as the programs are told.
    let share = u64::try_from(share.saturating_sub(OVERHEAD).as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(share).clamp(SHORTEST_QUICK_LIMIT, QUICK_LIMIT)
}

/// A variant, and which contenders of it.
struct Choice<'a> {
    experiment: &'a str,
    variant: String,
    contenders: Option<&'static [&'static str]>,
}

impl Choice<'_> {
    /// Whether it is one of these rows; of no rows every choice is.
    fn is_one_of(&self, rows: &[&str]) -> bool {
        rows.is_empty() || rows.iter().any(|name| names_row(name, &self.variant))
    }

    fn takes(&self, entry: &Entry, only: &[&str]) -> bool {
        let contender = entry.listing.contender.as_str();
        let wanted = match (only, self.contenders) {
            ([], None) => true,
            ([], Some(contenders)) => contenders.contains(&contender),
            (only, _) => only.contains(&contender),
        };
        wanted
            && entry.listing.experiment == self.experiment
            && entry.listing.variants.contains(&self.variant)
    }
}

/// The last part of a variant's name, by which rows are named.
fn row(variant: &str) -> &str {
    variant.splitn(3, '/').nth(2).unwrap_or("")
}

/// Whether `name` means the row of `variant`: the whole of its last part, or the beginning of it up to a `-`.
fn names_row(name: &str, variant: &str) -> bool {
    row(variant)
        .strip_prefix(name)
        .is_some_and(|rest| !name.is_empty() && (rest.is_empty() || rest.starts_with('-')))
}

/// The rows of the experiments that `names` begin with.
fn rows_of<'a>(catalog: &'a Catalog, names: &[String]) -> Vec<&'a str> {
    let experiments = names
        .iter()
        .map(|name| name.split('/').next().unwrap_or(""));
    experiments
        .flat_map(|experiment| catalog.variants(experiment))
        .map(row)
        .collect()
}

impl RunArguments {
    /// Whether `name` is a row of one of the experiments that are named.
    fn means_a_row(&self, catalog: &Catalog, name: &str) -> bool {
        let experiments = self.experiments.iter();
        experiments
            .map(|wanted| wanted.split('/').next().unwrap_or(""))
            .flat_map(|experiment| catalog.variants(experiment))
            .any(|variant| names_row(name, variant))
    }
}

fn choose_first_look(cores: usize) -> Vec<Choice<'static>> {
    let mut chosen: Vec<Choice<'static>> = Vec::new();
    for look in FIRST_LOOK {
        let variant = if cores < 2 {
            look.on_one_core
        } else {
            look.variant
        };
        // One variant may stand in for two.
        let is_there =
            |choice: &Choice<'_>| choice.experiment == look.experiment && choice.variant == variant;
        if !chosen.iter().any(is_there) {
            chosen.push(Choice {
                experiment: look.experiment,
                variant: variant.to_owned(),
                contenders: Some(look.contenders),
            });
        }
    }
    chosen
}

/// The variants that the named experiments mean; of all experiments if none is named.
fn choose<'a>(
    catalog: &'a Catalog,
    arguments: &RunArguments,
    everything: bool,
) -> Result<Vec<Choice<'a>>> {
    let known = catalog.experiments();
    let mut chosen: Vec<Choice<'a>> = Vec::new();
    let mut add = |experiment: &'a str, variant: &str| {
        if !chosen
            .iter()
            .any(|choice| choice.experiment == experiment && choice.variant == variant)
        {
            chosen.push(Choice {
                experiment,
                variant: variant.to_owned(),
                contenders: None,
            });
        }
    };
    for experiment in &known {
        for name in &arguments.experiments {
            let (wanted, beginning) = name.split_once('/').unwrap_or((name, ""));
            ensure!(
                known.contains(&wanted),
                "there is no experiment {wanted}{}",
                suggest(
                    wanted,
                    known.iter().copied(),
                    &format!("; known are {}", known.join(", "))
                )
            );
            if wanted == *experiment {
                let main = arguments.quick && quick(experiment) == Some(Quick::Main);
                for variant in variants(catalog, experiment, beginning, everything && !main)? {
                    add(experiment, variant);
                }
            }
        }
        let quick = quick(experiment).filter(|_| arguments.quick);
        if arguments.experiments.is_empty() && quick != Some(Quick::IfNamed) {
            let everything = quick != Some(Quick::Main);
            for variant in variants(catalog, experiment, "", everything)? {
                add(experiment, variant);
            }
        }
    }
    Ok(chosen)
}

/// What `--quick` measures of `experiment`, if it is known.
fn quick(experiment: &str) -> Option<Quick> {
    Experiment::find(experiment).map(|experiment| experiment.quick)
}

/// The variants of `experiment` that `beginning` means: the one of that name, or else all whose names begin so.
fn variants<'a>(
    catalog: &'a Catalog,
    experiment: &'a str,
    beginning: &str,
    everything: bool,
) -> Result<Vec<&'a str>> {
    let all = catalog.variants(experiment);
    if beginning.is_empty() {
        let main =
            Experiment::find(experiment).map_or(&[][..], |experiment| experiment.main_variants);
        let main: Vec<&str> = all
            .iter()
            .copied()
            .filter(|variant| main.contains(variant))
            .collect();
        return Ok(if everything || main.is_empty() {
            all
        } else {
            main
        });
    }
    if let Some(exact) = all.iter().find(|variant| **variant == beginning) {
        return Ok(vec![exact]);
    }
    let matching: Vec<&str> = all
        .iter()
        .copied()
        .filter(|variant| variant.starts_with(beginning))
        .collect();
    ensure!(
        !matching.is_empty(),
        "{experiment} has no variant {beginning}; known are {}",
        all.join(", ")
    );
    Ok(matching)
}

fn task(entry: &Entry, variant: &str) -> Task {
    Task {
        experiment: entry.listing.experiment.clone(),
        variant: variant.to_owned(),
        contender: entry.listing.contender.clone(),
        version: entry.listing.version.clone(),
        ours: entry.listing.ours,
        program: Arc::clone(&entry.program),
    }
}

/// The second part of a variant's name.
fn placement(variant: &str) -> &str {
    variant.split('/').nth(1).unwrap_or("")
}

/// Steele, Lea and Flood's generator ("Fast splittable pseudorandom number generators", 2014): small, and the same
/// everywhere and in every version, which a library's shuffle does not promise.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Plan, SplitMix64};
    use crate::lab::arguments::{Against, PeersArguments, RunArguments};
    use crate::lab::catalog::{Catalog, Entry};
    use tamtam_lab::Listing;

    fn entry(contender: &str, experiment: &str, variants: &[&str]) -> Entry {
        let listing = Listing {
            contender: contender.to_owned(),
            version: "1".to_owned(),
            ours: contender != "kanal",
            experiment: experiment.to_owned(),
            variants: variants.iter().map(|&variant| variant.to_owned()).collect(),
            about: String::new(),
        };
        Entry {
            listing,
            program: Arc::from(Path::new("program")),
        }
    }

    fn catalog() -> Catalog {
        let handover = &[
            "1000/free",
            "1000/1core",
            "1000/2cores",
            "1000/hog",
            "1000/2cores/crowd",
            "8/free/idle",
        ];
        Catalog {
            entries: vec![
                entry("slot", "handover", handover),
                entry("channel", "handover", handover),
                entry(
                    "channel",
                    "post",
                    &["5000/2cores/16B-warm", "5000/2cores/64B-warm"],
                ),
                entry("latch", "latch", &["4875250/2cores", "4875250/1core"]),
                entry("kanal", "handover", handover),
            ],
            notices: Vec::new(),
        }
    }

    fn arguments(experiments: &[&str]) -> RunArguments {
        RunArguments {
            experiments: experiments.iter().map(|&name| name.to_owned()).collect(),
            quick: false,
            full: false,
            runs: None,
            only: Vec::new(),
            browser: false,
            end_to_end: false,
            links: Vec::new(),
            slowdowns: Vec::new(),
            json: None::<PathBuf>,
            csv: None,
            keep: false,
            peers: PeersArguments {
                against: Some(Against::Rust),
                peers: None,
            },
        }
    }

    fn names(plan: &Plan) -> Vec<String> {
        plan.tasks
            .iter()
            .map(|task| format!("{} {} {}", task.experiment, task.variant, task.contender))
            .collect()
    }

    #[test]
    fn without_arguments_it_is_a_first_look_of_under_a_minute() {
        let plan = Plan::make(&catalog(), &arguments(&[]), 2).unwrap();
        assert_eq!(
            names(&plan),
            [
                "handover 1000/2cores slot",
                "handover 1000/2cores channel",
                "handover 1000/2cores kanal",
                "post 5000/2cores/16B-warm channel",
                "latch 4875250/2cores latch",
            ]
        );
        assert_eq!((plan.limit, plan.runs), (Duration::from_millis(250), 5));
        assert!(
            plan.budget.unwrap() < Duration::from_secs(60)
                && plan.estimate() < Duration::from_secs(60)
        );
    }

    #[test]
    fn a_million_rows_are_said_to_take_longer() {
        let mut catalog = catalog();
        let rows = entry("packed", "rows", &["1000/random", "1000000/random"]);
        catalog.entries.push(rows);
        let notices = |variant| {
            let plan = Plan::make(&catalog, &arguments(&[variant]), 2);
            plan.unwrap().notices.join(" ")
        };
        assert!(notices("rows/1000000/random").contains("at least twice"));
        assert_eq!(notices("rows/1000/random"), "");
    }

    #[test]
    fn a_quick_look_at_rows_is_one_at_its_main_variants() {
        let mut catalog = catalog();
        catalog.entries.push(entry(
            "packed",
            "rows",
            &["1000/random", "1000000/random", "1000/logs"],
        ));
        for (experiments, expected) in [
            (&["rows"][..], vec!["rows 1000/random packed"]),
            (&["rows/1000/logs"], vec!["rows 1000/logs packed"]),
        ] {
            let quick = RunArguments {
                quick: true,
                ..arguments(experiments)
            };
            assert_eq!(names(&Plan::make(&catalog, &quick, 2).unwrap()), expected);
        }
        let quick = RunArguments {
            quick: true,
            ..arguments(&[])
        };
        let all = names(&Plan::make(&catalog, &quick, 2).unwrap());
        assert_eq!(
            all.iter().filter(|name| name.starts_with("rows")).count(),
            1
        );
        assert!(all.contains(&"handover 8/free/idle slot".to_owned()));
    }

    #[test]
    fn on_one_core_the_first_look_needs_one_core() {
        let plan = Plan::make(&catalog(), &arguments(&[]), 1).unwrap();
        assert_eq!(names(&plan)[0], "handover 1000/1core slot");
        assert!(
            plan.tasks
                .iter()
                .all(|task| !task.variant.contains("2cores"))
        );
    }

    #[test]
    fn a_named_experiment_means_its_main_variants() {
        let plan = Plan::make(&catalog(), &arguments(&["handover"]), 2).unwrap();
        assert_eq!(plan.tasks.len(), 4 * 3);
        assert!(
            plan.tasks
                .iter()
                .all(|task| task.variant.split('/').count() == 2)
        );
        assert_eq!((plan.runs, plan.budget), (5, None));
    }

    #[test]
    fn quick_and_full_mean_every_variant() {
        let mut wanted = arguments(&[]);
        wanted.quick = true;
        let plan = Plan::make(&catalog(), &wanted, 2).unwrap();
        assert_eq!(
            (plan.tasks.len(), plan.limit, plan.runs),
            (22, Duration::from_millis(300), 3)
        );
        assert!(plan.budget.unwrap() < Duration::from_secs(300));
        wanted.quick = false;
        wanted.full = true;
        wanted.experiments.push("handover".to_owned());
        let plan = Plan::make(&catalog(), &wanted, 2).unwrap();
        assert_eq!(
            (plan.tasks.len(), plan.limit, plan.runs),
            (18, Duration::from_secs(1), 5)
        );
    }

    #[test]
    fn the_more_there_are_the_less_time_has_each_in_quick() {
        for (tasks, milliseconds) in [(1, 300), (500, 300), (1000, 230), (10_000, 100)] {
            assert_eq!(
                super::quick_limit(tasks),
                Duration::from_millis(milliseconds)
            );
        }
    }

    #[test]
    fn what_quick_has_no_time_for_is_measured_if_it_is_named() {
        let mut catalog = catalog();
        catalog
            .entries
            .push(entry("pool", "big", &["240000/1core"]));
        let mut wanted = arguments(&[]);
        wanted.quick = true;
        assert_eq!(Plan::make(&catalog, &wanted, 2).unwrap().tasks.len(), 22);
        wanted.experiments.push("big".to_owned());
        let plan = Plan::make(&catalog, &wanted, 2).unwrap();
        assert_eq!(names(&plan), ["big 240000/1core pool"]);
        wanted.experiments.clear();
        (wanted.quick, wanted.full) = (false, true);
        assert_eq!(Plan::make(&catalog, &wanted, 2).unwrap().tasks.len(), 23);
    }

    #[test]
    fn variants_are_chosen_by_name_or_by_the_beginning_of_it() {
        let plan = Plan::make(&catalog(), &arguments(&["handover/1000/2cores"]), 2).unwrap();
        assert_eq!(names(&plan)[0], "handover 1000/2cores slot");
        assert_eq!(plan.tasks.len(), 3);
        let plan = Plan::make(&catalog(), &arguments(&["handover/1000/2cores/"]), 2).unwrap();
        assert!(
            plan.tasks
                .iter()
                .all(|task| task.variant == "1000/2cores/crowd")
        );
        let plan = Plan::make(
            &catalog(),
            &arguments(&["post/5000", "post/5000/2cores/64B-warm"]),
            2,
        )
        .unwrap();
        assert_eq!(plan.tasks.len(), 2);
    }

    #[test]
    fn only_chooses_contenders_also_in_a_first_look() {
        let mut wanted = arguments(&["handover/1000/hog"]);
        wanted.only = vec!["kanal".to_owned()];
        let plan = Plan::make(&catalog(), &wanted, 2).unwrap();
        assert_eq!(names(&plan), ["handover 1000/hog kanal"]);
        assert!(plan.tasks[0].wants_hogs() && !plan.tasks[0].ours);
        wanted.experiments.clear();
        assert_eq!(
            names(&Plan::make(&catalog(), &wanted, 2).unwrap()),
            ["handover 1000/2cores kanal"]
        );
    }

    #[test]
    fn only_chooses_rows_of_the_experiments_that_are_named() {
        let mut wanted = arguments(&["post"]);
        for (only, tasks) in [
            (
                &["16B-warm"][..],
                &["post 5000/2cores/16B-warm channel"][..],
            ),
            (&["16B", "channel"], &["post 5000/2cores/16B-warm channel"]),
            (
                &["16B", "64B"],
                &[
                    "post 5000/2cores/16B-warm channel",
                    "post 5000/2cores/64B-warm channel",
                ],
            ),
        ] {
            wanted.only = only.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(names(&Plan::make(&catalog(), &wanted, 2).unwrap()), tasks);
        }
        for (experiments, only) in [(&["post"][..], "16"), (&["post"], "crowd"), (&[], "16B")] {
            wanted = arguments(experiments);
            wanted.only = vec![only.to_owned()];
            let error = Plan::make(&catalog(), &wanted, 2).unwrap_err().to_string();
            assert!(
                error.starts_with("--only: there is no contender or row"),
                "{error}"
            );
        }
    }

    #[test]
    fn runs_are_as_many_as_asked_for_whatever_they_cost() {
        let mut wanted = arguments(&[]);
        wanted.quick = true;
        wanted.runs = Some(7);
        let plan = Plan::make(&catalog(), &wanted, 2).unwrap();
        assert_eq!((plan.runs, plan.budget), (7, None));
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = Plan::make(&catalog(), &arguments(&["handovr"]), 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no experiment handovr; did you mean handover?"
        );
        let error = Plan::make(&catalog(), &arguments(&["latch/1/free"]), 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "latch has no variant 1/free; known are 4875250/2cores, 4875250/1core"
        );
        let mut wanted = arguments(&[]);
        wanted.only = vec!["flume".to_owned()];
        let error = Plan::make(&catalog(), &wanted, 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--only: there is no contender or row flume; `tamtam lab list` shows all that there are"
        );
    }

    #[test]
    fn nothing_to_measure_is_an_error() {
        let mut wanted = arguments(&["latch"]);
        wanted.only = vec!["slot".to_owned()];
        let error = Plan::make(&catalog(), &wanted, 2).unwrap_err();
        assert!(
            error.to_string().starts_with("nothing to measure"),
            "{error}"
        );
    }

    #[test]
    fn what_needs_two_cores_is_left_out_on_one_and_said_so() {
        let plan = Plan::make(&catalog(), &arguments(&["handover"]), 1).unwrap();
        assert_eq!(plan.tasks.len(), 3 * 3);
        assert_eq!(
            plan.notices,
            ["3 measurements on two cores are left out: only one core is to be had."]
        );
    }

    #[test]
    fn each_round_runs_every_task_once_in_an_order_of_its_own() {
        let plan = Plan::make(&catalog(), &arguments(&["handover"]), 2).unwrap();
        let orders: Vec<Vec<usize>> = (1..=5).map(|round| plan.order(round)).collect();
        for order in &orders {
            assert_eq!(
                order.iter().copied().collect::<HashSet<_>>().len(),
                plan.tasks.len()
            );
        }
        assert_eq!(
            orders.iter().collect::<HashSet<_>>().len(),
            5,
            "two rounds in the same order"
        );
        assert_eq!(orders[0], plan.order(1), "the same round in another order");
        // No contender follows the same neighbour in every round.
        for task in 0..plan.tasks.len() {
            let before: HashSet<Option<usize>> = orders
                .iter()
                .map(|order| {
                    order
                        .iter()
                        .position(|place| *place == task)
                        .unwrap()
                        .checked_sub(1)
                        .map(|p| order[p])
                })
                .collect();
            assert!(before.len() > 1, "{task} always follows {before:?}");
        }
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!(
            [random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }
}
