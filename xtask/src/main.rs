#![forbid(unsafe_code)]
//! What the project asks of itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::floors::Floors;
use xtask::{Graph, Sources};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "What the project asks of itself",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows which module looks up, by the table of floors in the crate's root
    Floors {
        /// The crate's folder
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Show every arrow between two modules, with the places
        #[arg(long)]
        arrows: bool,
    },
    /// Tests everything, or what a change in one crate needs
    #[cfg(unix)]
    Test(xtask::test::Arguments),
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Floors { folder, arrows } => show_floors(&folder, arrows),
        #[cfg(unix)]
        Command::Test(arguments) => xtask::test::run(&arguments),
    }
}

fn show_floors(folder: &std::path::Path, arrows: bool) -> Result<ExitCode> {
    let sources = Sources::read(folder)?;
    let graph = Graph::of(&sources);
    if arrows {
        for ((from, to), places) in &graph.arrows {
            println!("{from} -> {to}");
            for place in places {
                println!(
                    "    {}:{}: {}",
                    place.file.display(),
                    place.line,
                    place.path
                );
            }
        }
    }
    println!(
        "{} modules, {} arrows",
        graph.modules.len(),
        graph.arrows.len()
    );
    for circle in graph.circles() {
        println!(
            "a circle of {}: {}",
            circle.len(),
            circle.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    let Some(floors) = Floors::read(&sources)? else {
        println!("{} has no table of floors", sources.root().file.display());
        return Ok(ExitCode::FAILURE);
    };
    let breaches = floors.breaches(&graph);
    breaches.iter().for_each(|breach| println!("{breach}"));
    Ok(if breaches.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
