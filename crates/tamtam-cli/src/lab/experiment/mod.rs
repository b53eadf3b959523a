//! What the lab knows of each experiment beside how to run it: the question, the article it comes from, and the
//! article's own figures, which stand beside ours in every table.

mod first_look;
mod kind;
mod list;
mod row;
mod words;

pub(super) use self::first_look::FIRST_LOOK;
pub(super) use self::kind::{Kind, limit, spins};
pub(super) use self::list::EXPERIMENTS;
pub(super) use self::words::describe;

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

#[cfg(test)]
mod tests {
    use super::{EXPERIMENTS, Experiment, FIRST_LOOK};
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
}
