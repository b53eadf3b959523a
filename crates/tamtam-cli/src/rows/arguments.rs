//! The options of `tamtam rows`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tamtam_rows::Kind;

use super::format::Format;

const EXAMPLES: &str = "Examples:
  tamtam rows orders.csv                              what each form costs on these rows
  tamtam rows flights.csv --null NA,-999              with texts that stand for nulls
  tamtam rows orders.csv.gz --type id=text            an id that looks like a number
  tamtam rows --db shop.db --query 'SELECT * FROM t'  rows of a database
  tamtam rows show orders.parquet -n 5                print the first rows
  tamtam rows convert orders.csv orders.rows          write them as another file
  curl https://host/t.json | tamtam rows show -       what comes from standard input";

/// `tamtam rows`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
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
    #[command(after_help = "Examples:
  tamtam rows show orders.csv
  zcat orders.csv.gz | tamtam rows show - --from csv -n 5")]
    Show(ShowArguments),
    /// Write the rows of a file as another: .rows, .csv, .tsv, .json, .jsonl or .parquet
    #[command(after_help = "Examples:
  tamtam rows convert orders.csv orders.parquet
  tamtam rows convert flights.csv.zst flights.rows --null NA
  tamtam rows convert prices.csv prices.json --type price=f64")]
    Convert(ConvertArguments),
}

/// How a file is read.
#[derive(Args, Clone, Debug, Default)]
pub struct ReadArguments {
    /// Texts that are null wherever they stand in delimited text or JSON, also as numbers; '' is a text in quotes
    /// without anything in it. By default NA, N/A, NULL, None, nan, \N and the like are null in columns that cannot
    /// hold them
    #[arg(
        long,
        value_name = "TEXT",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub null: Option<Vec<String>>,
    /// The type of a column of delimited text or JSON: bool, i8 to i64, u8 to u64, f32, f64, decimal(10,2), date,
    /// time(s), timestamp(ms), timestamp(us, UTC), uuid, text, bytes
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_type)]
    pub types: Vec<(String, Kind)>,
    /// What the file is made of, whatever its name: csv, tsv, json, jsonl, parquet, rows
    #[arg(long, value_name = "FORMAT", value_parser = Format::named)]
    pub from: Option<Format>,
}

fn column_type(text: &str) -> Result<(String, Kind), String> {
    let (column, kind) = text
        .rsplit_once('=')
        .ok_or("write it as COLUMN=TYPE, such as price=f64")?;
    let kind = kind.parse::<Kind>().map_err(|error| error.to_string())?;
    Ok((column.to_owned(), kind))
}

/// Where rows come from, to try each form on them.
#[derive(Args, Debug)]
pub struct TryArguments {
    /// A file of rows: .csv, .tsv, .json, .jsonl, .parquet or .rows, also compressed (.gz, .zst); - is standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["db", "query"])]
    pub file: Option<PathBuf>,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadArguments,
    /// A database: the name of a file of SQLite, or mysql://, mariadb:// or postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(long, value_name = "URL", requires = "query")]
    pub db: Option<String>,
    /// The query whose rows to take
    #[arg(long, value_name = "SQL", requires = "db")]
    pub query: Option<String>,
    /// Try the forms on the first N rows
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,
    /// Milliseconds for which one thing is done again and again, at least three times: what only looks at what is said needs few.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 60, hide = true)]
    pub each: u64,
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
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadArguments,
    /// How many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub rows: u64,
}

/// `tamtam rows convert`.
#[derive(Args, Debug)]
pub struct ConvertArguments {
    /// The file to read; - is standard input
    #[arg(value_name = "FROM")]
    pub from_file: PathBuf,
    /// The file to write; one that is there is replaced
    #[arg(value_name = "TO")]
    pub to_file: PathBuf,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadArguments,
}
