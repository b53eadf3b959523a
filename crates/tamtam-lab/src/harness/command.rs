//! The command line of a program of contenders: `list`, and `run` of one in a process of its own.

use std::any::Any;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{self, ExitCode};
use std::time::Duration;

use crate::harness::server;
use crate::harness::watchdog::Watchdog;
use crate::{Card, Contender, Listing, Measure, Measurement, Outcome};

/// The exit code of a run whose figure cannot be trusted or taken.
const NOT_VERIFIED: u8 = 1;
/// The exit code of a wrong command line.
const WRONG_USAGE: u8 = 2;

const USAGE: &str =
    "usage: contender list\n       contender run EXPERIMENT CONTENDER VARIANT --limit-ms N";

/// Runs the command that a program of contenders understands; `arguments` are the words after `contender`.
///
/// - `list` prints one [`Listing`] as a JSON line for every contender and experiment;
/// - `run EXPERIMENT CONTENDER VARIANT --limit-ms N` measures once, for about N milliseconds, and prints one
///   [`Outcome`] as a JSON line.
///
/// The exit code is 0; 1 if the delivery could not be verified or the machine cannot run the variant; 2 if the words
/// are wrong. In both other cases the reason is on the standard error and nothing on the standard output. A run that
/// takes ten times its limit and 20 s is taken to hang, which is a delivery not verified, and ends the process.
///
/// A third one is for the program itself: `serve CONTENDER` is the server of a contender that has one in a process of its
/// own, `serve CONTENDER PART` one of several, until the standard input ends ([`ServerProcess`](crate::ServerProcess)).
#[must_use]
pub fn run_command(
    contenders: &[&dyn Contender],
    arguments: impl IntoIterator<Item = String>,
) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let lines = match Command::parse(&arguments) {
        Ok(Command::List) => Ok(listings(contenders).iter().map(to_line).collect()),
        Ok(Command::Run {
            experiment,
            contender,
            variant,
            limit,
        }) => {
            run(contenders, experiment, contender, variant, limit).map(|outcome| to_line(&outcome))
        }
        Ok(Command::Serve { contender, part }) => {
            serve(contenders, contender, part).map(|()| String::new())
        }
        Err(reason) => Err((WRONG_USAGE, reason)),
    };
    match lines {
        Ok(lines) => print(&lines),
        Err((code, reason)) => {
            eprintln!("{reason}");
            ExitCode::from(code)
        }
    }
}

/// The words, understood.
#[derive(Debug, PartialEq, Eq)]
enum Command<'a> {
    List,
    Run {
        experiment: &'a str,
        contender: &'a str,
        variant: &'a str,
        limit: Duration,
    },
    Serve {
        contender: &'a str,
        part: Option<&'a str>,
    },
}

impl<'a> Command<'a> {
    fn parse(arguments: &'a [String]) -> Result<Self, String> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            ["list"] => Ok(Command::List),
            [server::COMMAND, contender, ref part @ ..] if part.len() <= 1 => Ok(Command::Serve {
                contender,
                part: part.first().copied(),
            }),
            ["run", experiment, contender, variant, "--limit-ms", limit] => match limit.parse() {
                Ok(milliseconds @ 1..=3_600_000) => Ok(Command::Run {
                    experiment,
                    contender,
                    variant,
                    limit: Duration::from_millis(milliseconds),
                }),
                _ => Err(format!(
                    "--limit-ms {limit}: expected whole milliseconds from 1 to 3600000\n{USAGE}"
                )),
            },
            _ => Err(USAGE.to_owned()),
        }
    }
}

/// Everything that is on offer, one line for each contender and experiment, in the order of the contenders.
fn listings(contenders: &[&dyn Contender]) -> Vec<Listing> {
    let mut listings: Vec<Listing> = Vec::new();
    for contender in contenders {
        let Card {
            name,
            version,
            ours,
            about,
        } = contender.card();
        let first = listings.len();
        for measure in contender.measures() {
            let variant = measure.variant().to_string();
            match listings[first..]
                .iter_mut()
                .find(|listing| listing.experiment == measure.experiment())
            {
                Some(listing) => listing.variants.push(variant),
                None => listings.push(Listing {
                    contender: name.to_owned(),
                    version: version.to_owned(),
                    ours,
                    experiment: measure.experiment().to_owned(),
                    variants: vec![variant],
                    about: about.to_owned(),
                }),
            }
        }
    }
    listings
}

fn run(
    contenders: &[&dyn Contender],
    experiment: &str,
    contender: &str,
    variant: &str,
    limit: Duration,
) -> Result<Outcome, (u8, String)> {
    let (card, measure) =
        find(contenders, experiment, contender, variant).map_err(|reason| (WRONG_USAGE, reason))?;
    let patience = limit * 10 + Duration::from_secs(20);
    let what = format!("{experiment} {contender} {variant}");
    let watchdog = Watchdog::new(patience, {
        let what = what.clone();
        move || {
            eprintln!(
                "{what}: delivery not verified: nothing more arrived, given up after {patience:?}"
            );
            process::exit(NOT_VERIFIED.into());
        }
    });
    // A contender that panics, in this thread, is one whose delivery is not verified.
    let outcome = catch_unwind(AssertUnwindSafe(|| measure.run(limit)))
        .map_err(|panic| format!("delivery not verified: {}", panic_message(&*panic)))
        .and_then(|outcome| outcome.map_err(|failure| failure.to_string()));
    drop(watchdog);
    let Measurement {
        operations,
        elapsed,
        metrics,
        note,
    } = outcome.map_err(|reason| (NOT_VERIFIED, format!("{what}: {reason}")))?;
    Ok(Outcome {
        experiment: experiment.to_owned(),
        variant: variant.to_owned(),
        contender: contender.to_owned(),
        version: card.version.to_owned(),
        ours: card.ours,
        verified: true,
        operations,
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        metrics,
        note,
    })
}

fn serve(
    contenders: &[&dyn Contender],
    name: &str,
    part: Option<&str>,
) -> Result<(), (u8, String)> {
    let found = contenders
        .iter()
        .find(|candidate| candidate.card().name == name);
    let found = found.ok_or_else(|| (WRONG_USAGE, format!("unknown contender {name:?}")))?;
    server::serve(*found, part).map_err(|failure| (NOT_VERIFIED, format!("{name}: {failure}")))
}

/// The measure that the words name; the error says which words would be right.
fn find(
    contenders: &[&dyn Contender],
    experiment: &str,
    contender: &str,
    variant: &str,
) -> Result<(Card, Measure), String> {
    let Some(found) = contenders
        .iter()
        .find(|candidate| candidate.card().name == contender)
    else {
        let names: Vec<_> = contenders
            .iter()
            .map(|candidate| candidate.card().name)
            .collect();
        return Err(format!(
            "unknown contender {contender:?}; there are: {}",
            names.join(", ")
        ));
    };
    let (mut experiments, mut variants) = (Vec::new(), Vec::new());
    for measure in found.measures() {
        let name = measure.variant().to_string();
        if measure.experiment() != experiment {
            experiments.push(measure.experiment());
        } else if name == variant {
            return Ok((found.card(), measure));
        } else {
            variants.push(name);
        }
    }
    if variants.is_empty() {
        experiments.dedup();
        Err(format!(
            "{contender} takes no part in {experiment:?}, but in: {}",
            experiments.join(", ")
        ))
    } else {
        Err(format!(
            "{contender} has no variant {variant:?} of {experiment}; it has: {}",
            variants.join(", ")
        ))
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("the contender panicked")
}

fn to_line(value: &impl serde::Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("names and numbers are always JSON");
    line.push('\n');
    line
}

fn print(lines: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(lines.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the figures cannot be written: {error}");
            ExitCode::from(NOT_VERIFIED)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{Failure, Placement, QueuePair, StdGate, Variant, post, turns};

    #[derive(Debug)]
    struct Good;

    impl Contender for Good {
        fn card(&self) -> Card {
            Card {
                name: "good",
                version: "1.2.3",
                ours: false,
                about: "a test",
            }
        }

        fn measures(&self) -> Vec<Measure> {
            let mut measures = turns::measures(QueuePair {
                queue: Sound,
                capacity: 1,
            });
            measures.push(post::limit::<_, StdGate>(Sound));
            measures
        }
    }

    #[derive(Debug)]
    struct Bad;

    impl Contender for Bad {
        fn card(&self) -> Card {
            Card {
                name: "bad",
                version: "0",
                ours: true,
                about: "loses messages",
            }
        }

        fn measures(&self) -> Vec<Measure> {
            let mut measures = turns::measures(QueuePair {
                queue: Faulty(Fault::Stale(2)),
                capacity: 4,
            });
            measures.push(Measure::new(
                "panic",
                Variant::new(1, Placement::Free),
                |_| panic!("out of order"),
            ));
            measures.push(Measure::new(
                "refusal",
                Variant::new(1, Placement::Free),
                |_| Err(Failure::Impossible("no".to_owned())),
            ));
            measures
        }
    }

    const CONTENDERS: &[&dyn Contender] = &[&Good, &Bad];

    fn go(experiment: &str, contender: &str, variant: &str) -> Result<Outcome, (u8, String)> {
        run(
            CONTENDERS,
            experiment,
            contender,
            variant,
            Duration::from_millis(20),
        )
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_command_line_is_that_of_the_contract() {
        assert_eq!(Command::parse(&words("list")), Ok(Command::List));
        assert_eq!(
            Command::parse(&words("run handover slot 1000/free --limit-ms 300")),
            Ok(Command::Run {
                experiment: "handover",
                contender: "slot",
                variant: "1000/free",
                limit: Duration::from_millis(300)
            })
        );
        for line in [
            "",
            "list all",
            "run handover slot 1000/free",
            "run handover slot 1000/free --limit-ms 0",
        ] {
            assert!(
                Command::parse(&words(line)).unwrap_err().contains("usage:"),
                "{line:?}"
            );
        }
    }

    #[test]
    fn what_is_on_offer_is_listed_by_contender_and_experiment() {
        let listings = listings(CONTENDERS);
        let names: Vec<_> = listings
            .iter()
            .map(|listing| (listing.contender.as_str(), listing.experiment.as_str()))
            .collect();
        assert_eq!(
            names,
            [
                ("good", "handover"),
                ("good", "post"),
                ("bad", "handover"),
                ("bad", "panic"),
                ("bad", "refusal")
            ]
        );
        assert_eq!(
            listings[0].variants,
            ["1000/free", "1000/1core", "1000/2cores", "1000/hog"]
        );
        let line = to_line(&listings[1]);
        assert_eq!(
            line,
            "{\"contender\":\"good\",\"version\":\"1.2.3\",\"ours\":false,\"experiment\":\"post\",\
             \"variants\":[\"10000/free/limit\"],\"about\":\"a test\"}\n"
        );
    }

    #[test]
    fn a_verified_run_has_all_fields() {
        let outcome = go("handover", "good", "1000/free").unwrap();
        let line: serde_json::Value = serde_json::from_str(&to_line(&outcome)).unwrap();
        let names: Vec<_> = line
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut due = [
            "experiment",
            "variant",
            "contender",
            "version",
            "ours",
            "verified",
            "operations",
            "elapsed_ns",
            "metrics",
            "note",
        ];
        due.sort_unstable();
        let mut names_sorted = names;
        names_sorted.sort_unstable();
        assert_eq!(names_sorted, due);
        assert_eq!(line["verified"], true);
        assert_eq!(line["version"], "1.2.3");
        assert_eq!(line["metrics"][0]["metric"], "ns_per_op");
        assert_eq!(line["metrics"][0]["unit"], "ns");
        assert!(line["metrics"][0]["value"].as_f64().unwrap() > 0.0);
        assert!(line["note"].is_null());
    }

    #[test]
    fn a_run_that_is_not_verified_has_no_outcome() {
        let (code, reason) = go("handover", "bad", "1000/free").unwrap_err();
        assert_eq!(code, NOT_VERIFIED);
        assert!(
            reason
                .contains("handover bad 1000/free: delivery not verified: message 1 came where 2"),
            "{reason}"
        );
        let (code, reason) = go("panic", "bad", "1/free").unwrap_err();
        assert_eq!(
            (code, reason.as_str()),
            (
                NOT_VERIFIED,
                "panic bad 1/free: delivery not verified: out of order"
            )
        );
        let (code, reason) = go("refusal", "bad", "1/free").unwrap_err();
        assert_eq!(
            (code, reason.as_str()),
            (
                NOT_VERIFIED,
                "refusal bad 1/free: cannot be measured here: no"
            )
        );
    }

    #[test]
    fn wrong_names_are_answered_with_the_right_ones() {
        for (experiment, contender, variant, hint) in [
            ("handover", "ugly", "1000/free", "good, bad"),
            ("ring", "good", "1000/free", "handover, post"),
            ("post", "good", "1/free", "10000/free/limit"),
        ] {
            let (code, reason) = go(experiment, contender, variant).unwrap_err();
            assert_eq!(code, WRONG_USAGE);
            assert!(reason.contains(hint), "{reason}");
        }
    }
}
