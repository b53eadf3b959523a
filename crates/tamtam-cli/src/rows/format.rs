use std::path::Path;

use anyhow::{Result, bail};

/// What a file is made of, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Delimited text; this stands between two fields, or what its beginning shows.
    Text(Option<u8>),
    Json,
    /// A row a line; JSON of either kind is known by its beginning when it is read.
    JsonLines,
    Parquet,
    /// The packed encoding.
    Packed,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Format> {
        let suffix = path
            .extension()
            .map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
        Ok(match suffix.as_deref() {
            Some("csv") => Format::Text(None),
            Some("tsv") => Format::Text(Some(b'\t')),
            Some("json") => Format::Json,
            Some("jsonl" | "ndjson") => Format::JsonLines,
            Some("parquet") => Format::Parquet,
            Some("rows") => Format::Packed,
            _ => bail!(
                "{}: the name of a file has to end in .csv, .tsv, .json, .jsonl, .ndjson, .parquet or .rows",
                path.display()
            ),
        })
    }
}
