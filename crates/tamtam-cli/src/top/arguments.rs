//! The words behind `tamtam top`.

use clap::{Args, ValueEnum};

/// What `tamtam top` is asked for.
#[derive(Args, Debug)]
pub struct TopArguments {
    /// The program to look at: its process number, its name, or the path of its socket. It may be left out if there is
    /// one alone.
    pub program: Option<String>,

    /// Print what there is after one interval, and end. So it is also if the output is no terminal.
    #[arg(long)]
    pub once: bool,

    /// Print the program's own answer, a line of JSON for each interval.
    #[arg(long)]
    pub json: bool,

    /// What the actors are sorted by.
    #[arg(long, value_enum, default_value_t)]
    pub by: By,

    /// Show only actors in whose name or type this text is, in capitals or not.
    #[arg(long, value_name = "TEXT")]
    pub named: Option<String>,

    /// Show at most so many actors.
    #[arg(long, value_name = "ACTORS", default_value_t = 40, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub most: u16,

    /// Seconds from one look to the next.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    pub interval: f64,
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.05..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0.05 to 3600 is needed".to_owned()),
    }
}

/// What the actors are sorted by, the greatest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Messages that wait
    #[default]
    Queued,
    /// Messages handled since the look before
    Handled,
    /// Time at work since the look before
    Time,
    /// The longest turn
    Longest,
    /// How often they were begun again
    Restarts,
    /// Messages lost
    Lost,
    /// How long the turn has lasted that goes on
    Turn,
}

impl By {
    /// As the program is asked.
    pub(crate) fn word(self) -> &'static str {
        match self {
            By::Queued => "queued",
            By::Handled => "handled",
            By::Time => "time",
            By::Longest => "longest",
            By::Restarts => "restarts",
            By::Lost => "lost",
            By::Turn => "turn",
        }
    }

    pub(crate) fn next(self) -> Self {
        match self {
            By::Queued => By::Handled,
            By::Handled => By::Time,
            By::Time => By::Longest,
            By::Longest => By::Restarts,
            By::Restarts => By::Lost,
            By::Lost => By::Turn,
            By::Turn => By::Queued,
        }
    }
}
