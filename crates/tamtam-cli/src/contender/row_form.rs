use std::sync::LazyLock;

use tamtam_rows::encoding::{self, Encoding};
use tamtam_rows::{Limits, Rows, Schema};

use super::VERSION;
use crate::drive::rows::{self, Form};
use crate::drive::{Card, Contender, Measure};

/// Every form of `tamtam-rows` that is compiled in.
pub(super) static ALL: LazyLock<Vec<RowForm>> =
    LazyLock::new(|| encoding::all().map(RowForm).collect());

/// A form that `tamtam-rows` gives a table.
#[derive(Clone, Copy)]
pub(super) struct RowForm(&'static dyn Encoding);

impl std::fmt::Debug for RowForm {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("RowForm")
            .field(&self.0.name())
            .finish()
    }
}

impl Contender for RowForm {
    fn card(&self) -> Card {
        let name = self.0.name();
        let (ours, about) = about(name);
        Card {
            name,
            version: VERSION,
            ours,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures(*self, None)
    }
}

/// Whether a form is Tamtam's own, and what it is.
fn about(name: &str) -> (bool, &'static str) {
    match name {
        "packed" => (
            true,
            "our packed encoding: for each column the cheapest of a few codecs",
        ),
        "packed-small" => (
            true,
            "our packed encoding in the mode that is smallest: mixed radix",
        ),
        "packed-plain" => (
            true,
            "our packed encoding with fixed widths: readable in place",
        ),
        "text-bare" => (
            false,
            "the article's string: delimited text without a heading",
        ),
        "text" => (false, "delimited text as in RFC 4180, with a heading"),
        "json-arrays" => (
            false,
            "JSON: an array for each row, the names once before them",
        ),
        "json-objects" => (
            false,
            "JSON: an object for each row, as most servers answer",
        ),
        "json-columns" => (false, "JSON: an array for each column"),
        "message-pack" => (false, "MessagePack, by the crate rmp"),
        "xml-rpc" => (false, "XML-RPC: a struct for each row"),
        "arrow-ipc" => (false, "Arrow's stream format, not compressed"),
        "arrow-ipc-zstd" => (
            false,
            "Arrow's stream format, its buffers compressed by zstd",
        ),
        "parquet" => (false, "Parquet, not compressed"),
        "parquet-zstd" => (false, "Parquet, its pages compressed by zstd"),
        "amf0-objects" => (false, "AMF0: an array of objects, the article's array"),
        "amf0-recordset" => (false, "AMF0: a RecordSet, the names once, then typed rows"),
        "amf3-objects" => (
            false,
            "AMF3: an array of objects; its integers take one to four bytes each",
        ),
        _ => (false, "a form of the crate tamtam-rows"),
    }
}

impl Form for RowForm {
    type Source = Rows;
    type Decoded<'a> = Rows;

    fn source(&self, rows: &Rows) -> Result<Rows, String> {
        Ok(rows.clone())
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), String> {
        self.0.encode(rows, out).map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8], schema: &Schema) -> Result<Rows, String> {
        // A form that says itself of which types its columns are is read as a stranger reads it.
        let given = (!self.0.describes_itself()).then_some(schema);
        self.0
            .decode(bytes, given, &Limits::NONE)
            .map_err(|error| error.to_string())
    }

    fn rows(&self, rows: Rows, _schema: &Schema) -> Result<Rows, String> {
        Ok(rows)
    }
}
