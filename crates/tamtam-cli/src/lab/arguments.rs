//! The options of `tamtam lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What `tamtam lab --help` ends with.
const EXAMPLES: &str = "\
Examples:
  tamtam lab                                a first look at the main experiments, in less than a minute
  tamtam lab handover                       the main variants of one experiment, and everybody who takes part
  tamtam lab handover/1000/hog --only slot,channel,std::sync::mpsc
                                            these three alone, beside busy processes
  tamtam lab --quick                        every variant of all that an article timed, in less than five minutes
  tamtam lab post --runs 9 --json post.jsonl
                                            nine rounds, and every figure in a file
  tamtam lab run grid --only 1to1-8B-cap16  one row of the grid: 1 sender, 1 receiver, 8 bytes, room for 16
  tamtam lab run --keep && tamtam lab report
                                            keeps the figures of today, and makes a page of all that are kept
  tamtam lab list --against none            what there is to measure, without other systems";

/// `tamtam lab`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct LabArguments {
    /// What to do; without it, `run`.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// The options of `run`.
    #[command(flatten)]
    pub run: RunArguments,
}

/// The commands of the lab.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Show the experiments, what each measures, and who takes part
    List(PeersArguments),
    /// Measure, here and now
    Run(RunArguments),
    /// Make a page with charts out of results, and compare those of several days
    Report(ReportArguments),
}

/// Which peers to measure against.
#[derive(Args, Clone, Debug)]
pub struct PeersArguments {
    /// Whom to compare with [default: all; with --quick rust]
    #[arg(long, value_enum)]
    pub against: Option<Against>,
    /// The folder of the peers' programs [default: `peers` of the checkout]
    #[arg(long, value_name = "DIR")]
    pub peers: Option<PathBuf>,
}

/// Whom to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Other crates and other runtimes, where they are built
    All,
    /// Other crates, where they are built
    Rust,
    /// No others: our own ways, and the standard library's, which are in this program
    None,
}

/// `tamtam lab run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    /// Which experiments, such as `handover`, or one variant of one: `handover/1000/hog`.
    ///
    /// An experiment's name means its main variants (with --quick or --full, all of them); a variant's name means that
    /// one, and the beginning of a name, such as `handover/1000/2cores/`, all that begin so. Without any, a first look
    /// at each experiment, in less than a minute.
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Every variant, at 0.3 s a contender (less if they are very many), in less than five minutes: as many rounds as fit,
    /// at most 3. The classics for actors, `flood` and `grid` are left out unless they are named
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Every variant, at 1 s a contender, 5 rounds
    #[arg(long)]
    pub full: bool,
    /// How often each contender runs, however long that takes [default: 5; with --quick at most 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Only the contenders of these names: --only slot,channel. And only these rows of an experiment that is named, by
    /// the last part of their variants or its beginning up to a `-`: grid --only 1to1-8B-cap16,kanal or grid --only 4to1
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Decode the tables of `rows` in a headless Chromium, too (`./scripts/setup web browser` installs what it needs)
    #[arg(long)]
    pub browser: bool,
    /// With --browser: not decoding alone, but all from the request to the tiles, through the gateway, over throttled links
    /// and with slower processors
    #[arg(long, requires = "browser")]
    pub end_to_end: bool,
    /// The links of --end-to-end, in Mbit/s [default: 1,8,100,1000; with --quick 8]
    #[arg(
        long,
        value_name = "MBIT,...",
        value_delimiter = ',',
        requires = "end_to_end"
    )]
    pub links: Vec<u32>,
    /// The processors of --end-to-end: how many times slower than this one [default: 1,4,20; with --quick 1]
    #[arg(
        long,
        value_name = "TIMES,...",
        value_delimiter = ',',
        requires = "end_to_end",
        value_parser = clap::value_parser!(u32).range(1..=100)
    )]
    pub slowdowns: Vec<u32>,
    /// Write the figures to FILE, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the figures to FILE as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Keep the figures as lab/results/YYYY-MM-DD.jsonl, for `tamtam lab report` to compare
    ///
    /// The folder is that of the checkout around the current folder, or else in the current folder. A second run of a
    /// day becomes YYYY-MM-DD-2.jsonl, and so on: nothing is overwritten.
    #[arg(long)]
    pub keep: bool,
    /// Whom to compare with.
    #[command(flatten)]
    pub peers: PeersArguments,
}

/// `tamtam lab report`.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Results that `--json` or `--keep` wrote [default: all of lab/results/*.jsonl]
    ///
    /// Files whose names begin with a date (2026-11-21.jsonl) are put in the order of their dates. If one has none, the
    /// order is the one given here, the newest last. LABEL=FILE says what a file is to be called: before=a.json
    /// after=b.json.
    #[arg(value_name = "[LABEL=]FILE")]
    pub files: Vec<OsString>,
    /// Where to write the page; - for standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// Leave out files with errors instead of stopping; the page names them, and the exit code is 1
    #[arg(long)]
    pub keep_going: bool,
}
