//! The program `tamtam`. Its work is in the library; here is the command line.

#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use tamtam_cli::lab::arguments::LabArguments;
use tamtam_cli::rows::arguments::RowsArguments;
use tamtam_cli::top::arguments::TopArguments;
use tamtam_cli::{contender, drive, lab, rows, top};

/// Passes messages, and shows what each way of passing them costs on this machine.
#[derive(Debug, Parser)]
#[command(name = "tamtam", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure what each way of passing a message costs here, beside other systems and the articles' figures
    Lab(Box<LabArguments>),
    /// Try what each form of a table costs on your own data, and show and convert files of rows
    Rows(Box<RowsArguments>),
    /// Show what a running program does: a live table of its pools and actors
    Top(TopArguments),
    /// One run of one contender: what the lab starts for each measurement.
    #[command(hide = true, disable_help_flag = true)]
    Contender {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// A busy neighbour, until standard input closes.
    #[command(hide = true, name = lab::hog::COMMAND)]
    Hog {
        /// The processor to be busy on; any if it is left out.
        #[arg(long)]
        cpu: Option<usize>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed standard error leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "tamtam: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Lab(arguments) => lab::command(*arguments),
        Command::Rows(arguments) => rows::command(*arguments),
        Command::Top(arguments) => top::command(&arguments),
        Command::Contender { words } => Ok(drive::run_command(contender::all(), words)),
        Command::Hog { cpu } => lab::hog::be(cpu),
    }
}

/// Whether the reader of our output has gone, as `head` does: no reason to complain.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
