//! The program `tamtam`. Its work is in the library; here is the command line.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use tamtam_cli::printable::printable_lines;
use tamtam_cli::reason::reason;
use tamtam_cli::standard_output::reader_has_gone;

/// Passes messages, and shows what each way of passing them costs on this machine.
#[derive(Debug, Parser)]
#[command(name = "tamtam", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Call a method of a server, and print its answer
    #[cfg(feature = "gateway")]
    Call(tamtam_cli::call::arguments::CallArguments),
    /// Measure what each way of passing a message costs here, beside other systems and the articles' figures
    #[cfg(feature = "lab")]
    Lab(Box<tamtam_cli::lab::arguments::LabArguments>),
    /// Try what each form of a table costs on your own data, and show and convert files of rows
    #[cfg(feature = "tables")]
    Rows(Box<tamtam_cli::rows::arguments::RowsArguments>),
    /// Serve tables and methods to clients of JSON-RPC, XML-RPC, REST and AMF over HTTP
    #[cfg(feature = "gateway")]
    Serve(Box<tamtam_cli::serve::arguments::ServeArguments>),
    /// Show what a running program does: a live table of its pools and actors
    #[cfg(feature = "top")]
    Top(tamtam_cli::top::arguments::TopArguments),
    /// Subscribe to a topic or property of a server, and print its values as they come
    #[cfg(feature = "gateway")]
    Watch(tamtam_cli::watch::arguments::WatchArguments),
    /// One run of one contender: what the lab starts for each measurement.
    #[cfg(feature = "lab")]
    #[command(hide = true, disable_help_flag = true)]
    Contender {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// A busy neighbour, until standard input closes.
    #[cfg(feature = "lab")]
    #[command(hide = true, name = tamtam_cli::lab::hog::COMMAND)]
    Hog {
        /// The processor to be busy on; any if it is left out.
        #[arg(long)]
        cpu: Option<usize>,
    },
    /// A command that this program does not have.
    #[command(external_subcommand)]
    Absent(Vec<OsString>),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        // As `head` goes.
        Err(error) if reader_has_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed standard error leaves no reader to tell.
            let told = printable_lines(&reason(&error));
            let _ = writeln!(std::io::stderr(), "tamtam: {told}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        #[cfg(feature = "gateway")]
        Command::Call(arguments) => tamtam_cli::call::command(&arguments),
        #[cfg(feature = "lab")]
        Command::Lab(arguments) => tamtam_cli::lab::command(*arguments),
        #[cfg(feature = "tables")]
        Command::Rows(arguments) => tamtam_cli::rows::command(*arguments),
        #[cfg(feature = "gateway")]
        Command::Serve(arguments) => tamtam_cli::serve::command(&arguments),
        #[cfg(feature = "top")]
        Command::Top(arguments) => tamtam_cli::top::command(&arguments),
        #[cfg(feature = "gateway")]
        Command::Watch(arguments) => tamtam_cli::watch::command(&arguments),
        #[cfg(feature = "lab")]
        Command::Contender { words } => Ok(tamtam_lab::run_command(
            tamtam_cli::contenders::all(),
            words,
        )),
        #[cfg(feature = "lab")]
        Command::Hog { cpu } => tamtam_cli::lab::hog::be(cpu),
        Command::Absent(words) => absent(&words),
    }
}

/// The commands, and the features that they are built with.
const COMMANDS: [(&str, &str); 6] = [
    ("call", "gateway"),
    ("lab", "lab"),
    ("rows", "tables"),
    ("serve", "gateway"),
    ("top", "top"),
    ("watch", "gateway"),
];

/// Says how to get the command that `words` begin with, or that there is none.
fn absent(words: &[OsString]) -> Result<ExitCode> {
    let name = words
        .first()
        .map(|word| word.to_string_lossy())
        .unwrap_or_default();
    if let Some((_, feature)) = COMMANDS.iter().find(|(known, _)| *known == name) {
        bail!(
            "this program was built without the command {name}; in a checkout: cargo build --release --package \
             tamtam-cli, with at least the feature {feature}"
        );
    }
    let known = COMMANDS.map(|(known, _)| known);
    bail!(
        "there is no command {name}{}",
        tamtam_cli::nearest::suggest(&name, known, "; tamtam --help shows them")
    )
}
