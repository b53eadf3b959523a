//! Every form of `tamtam-rows`, with and without compression.

use std::sync::LazyLock;

#[cfg(feature = "tables")]
use tamtam_rows::CompressionKind;
use tamtam_rows::encoding::{self, Encoding};
use tamtam_rows::{Limits, Rows, Schema};

use super::VERSION;
#[cfg(feature = "tables")]
use super::compression::{self, ByLibrary};
use crate::rows::{self, Compressor, Form};
use crate::tables::{self, Table};
use crate::{Card, Contender, Measure};

/// Every form of `tamtam-rows` that is compiled in, alone and, where compressors are, compressed.
pub(super) static ALL: LazyLock<Vec<RowForm>> = LazyLock::new(|| {
    encoding::all()
        .flat_map(|encoding| std::iter::once(RowForm::plain(encoding)).chain(compressed(encoding)))
        .collect()
});

#[cfg(feature = "tables")]
fn compressed(encoding: &'static dyn Encoding) -> impl Iterator<Item = RowForm> {
    compression::ALL
        .iter()
        .filter(|by| is_tried(encoding.name(), by.kind()))
        .map(move |by| RowForm::compressed(encoding, by))
}

#[cfg(not(feature = "tables"))]
fn compressed(_: &'static dyn Encoding) -> impl Iterator<Item = RowForm> {
    std::iter::empty()
}

/// Whether a form is tried with this compression: not what is compressed already, and brotli, which takes its time, only
/// where it is met.
#[cfg(feature = "tables")]
fn is_tried(form: &str, kind: CompressionKind) -> bool {
    let is_compressed = form.ends_with("-zstd");
    match kind {
        CompressionKind::Brotli => ["packed", "text-bare", "json-objects"].contains(&form),
        _ => !is_compressed,
    }
}

/// A form that `tamtam-rows` gives a table.
#[derive(Clone, Copy)]
pub(super) struct RowForm {
    encoding: &'static dyn Encoding,
    compressor: Option<&'static dyn Compressor>,
    card: Said,
}

impl RowForm {
    pub(super) fn plain(encoding: &'static dyn Encoding) -> RowForm {
        let name = encoding.name();
        let (ours, about) = about(name);
        RowForm {
            encoding,
            compressor: None,
            card: Said { name, ours, about },
        }
    }

    #[cfg(feature = "tables")]
    fn compressed(encoding: &'static dyn Encoding, by: &'static ByLibrary) -> RowForm {
        let RowForm { card, .. } = RowForm::plain(encoding);
        // Made once in the life of the process.
        RowForm {
            encoding,
            compressor: Some(by),
            card: Said {
                name: format!("{}+{}", card.name, by.kind().name()).leak(),
                about: format!("{}; compressed by {}", card.about, by.kind().name()).leak(),
                ..card
            },
        }
    }
}

/// By name.
impl PartialEq for RowForm {
    fn eq(&self, other: &RowForm) -> bool {
        self.card.name == other.card.name
    }
}

/// What a card says that differs from form to form.
#[derive(Clone, Copy)]
struct Said {
    name: &'static str,
    ours: bool,
    about: &'static str,
}

impl std::fmt::Debug for RowForm {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("RowForm")
            .field(&self.card.name)
            .finish()
    }
}

impl Contender for RowForm {
    fn card(&self) -> Card {
        let Said { name, ours, about } = self.card;
        Card {
            name,
            version: VERSION,
            ours,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = rows::measures(*self, self.compressor);
        let carried: Vec<&str> = tables::ALL
            .iter()
            .filter(|table| table.of_the_article || self.carries(table))
            .map(|table| table.name)
            .collect();
        measures.retain(|measure| {
            let table = measure.variant().table;
            table.is_some_and(|table| carried.contains(&table))
        });
        measures
    }
}

impl RowForm {
    /// Whether the form has a way to write the types of this table: some have fewer types than others.
    fn carries(&self, table: &Table) -> bool {
        let sample = table.rows(20).ok();
        sample.is_some_and(|rows| self.encoding.encode(&rows, &mut Vec::new()).is_ok())
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
        "amf0-objects" => (false, "AMF0: an array of objects"),
        "amf0-objects-text" => (
            false,
            "AMF0: an array of objects whose values are text, the article's array",
        ),
        "amf0-recordset" => (
            false,
            "AMF0: a RecordSet, the names once, then typed rows, as in the article",
        ),
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
        self.encoding
            .encode(rows, out)
            .map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8], schema: &Schema) -> Result<Rows, String> {
        // A form that says itself of which types its columns are is read as a stranger reads it.
        let given = (!self.encoding.describes_itself()).then_some(schema);
        self.encoding
            .decode(bytes, given, &Limits::NONE)
            .map_err(|error| error.to_string())
    }

    fn rows(&self, rows: Rows, _schema: &Schema) -> Result<Rows, String> {
        Ok(rows)
    }
}
