//! The options of `tamtam call`.

use clap::Args;

use crate::client::ServerArguments;

const EXAMPLES: &str = "Examples:
  tamtam call http://127.0.0.1:8787                         what there is to call
  tamtam call http://127.0.0.1:8787 Tiles.list palette      the first rows as a table
  tamtam call http://127.0.0.1:8787 Tiles.list set=palette  by the argument's name
  tamtam call http://127.0.0.1:8787 Tiles.list palette --as csv > tiles.csv
  tamtam call http://127.0.0.1:8787 Echo.echo '{\"a\": [1, 2]}'
  tamtam call unix:/run/tiles.sock Echo.echo hello";

/// `tamtam call`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CallArguments {
    /// Where it is, and as whom.
    #[command(flatten)]
    pub server: ServerArguments,
    /// The method: SERVICE.METHOD. Without one, all methods are shown
    #[arg(value_name = "METHOD")]
    pub method: Option<String>,
    /// Its arguments by their places, or all as NAME=VALUE by their names; what is no JSON is a text
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    pub arguments: Vec<String>,
    /// Print the answer as the server sends it in this form
    #[arg(long = "as", value_name = "FORM", value_enum)]
    pub form: Option<Form>,
    /// Print so many rows of a table
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
}

/// In which form an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// JSON
    Json,
    /// JSON, a row a line
    Jsonl,
    /// Delimited text
    Csv,
    /// The packed encoding
    Rows,
    /// Arrow's stream
    Arrow,
    /// Parquet
    Parquet,
    /// MessagePack
    Msgpack,
}

impl Form {
    /// The type that the header `Accept` names.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::Jsonl => "application/jsonl",
            Form::Csv => "text/csv",
            Form::Rows => "application/vnd.tamtam.rows",
            Form::Arrow => "application/vnd.apache.arrow.stream",
            Form::Parquet => "application/vnd.apache.parquet",
            Form::Msgpack => "application/vnd.msgpack",
        }
    }
}
