//! The options of `tamtam rows`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `tamtam rows`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RowsArguments {
    /// What to do; without it, each form is tried.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// The data to try.
    #[command(flatten)]
    pub data: TryArguments,
}

/// The commands of `tamtam rows`.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Print the rows of a file as a table
    Show(ShowArguments),
    /// Write the rows of a file as another: .rows, .csv, .tsv, .json, .jsonl or .parquet
    Convert(ConvertArguments),
}

/// Where rows come from, to try each form on them.
#[derive(Args, Debug)]
pub struct TryArguments {
    /// A file of rows: .csv, .tsv, .json, .jsonl, .parquet or .rows
    #[arg(value_name = "FILE", conflicts_with_all = ["db", "query"])]
    pub file: Option<PathBuf>,
    /// A database: the name of a file of SQLite, or mysql://, mariadb:// or postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(long, value_name = "URL", requires = "query")]
    pub db: Option<String>,
    /// The query whose rows to take
    #[arg(long, value_name = "SQL", requires = "db")]
    pub query: Option<String>,
    /// Try the forms on the first N rows
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,
    /// Try nothing, and write all rows to FILE: .rows, .csv, .tsv, .json, .jsonl or .parquet
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub write: Option<PathBuf>,
    /// Print the figures as JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// `tamtam rows show`.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub rows: u64,
}

/// `tamtam rows convert`.
#[derive(Args, Debug)]
pub struct ConvertArguments {
    /// The file to read
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The file to write; one that is there is replaced
    #[arg(value_name = "TO")]
    pub to: PathBuf,
}
