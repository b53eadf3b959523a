//! What a file is made of, by its name or its first bytes.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use tamtam_rows::CompressionKind;

use crate::nearest::suggest;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimited text; this stands between two fields, or what its beginning shows.
    Text(Option<u8>),
    /// JSON of any kind, which its beginning shows.
    Json,
    /// A row a line.
    JsonLines,
    /// Parquet.
    Parquet,
    /// The packed encoding.
    Packed,
}

const SUFFIXES: [(&str, Format); 7] = [
    ("csv", Format::Text(None)),
    ("tsv", Format::Text(Some(b'\t'))),
    ("json", Format::Json),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("parquet", Format::Parquet),
    ("rows", Format::Packed),
];

impl Format {
    /// By its name, which is what the names of such files end with.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn named(name: &str) -> Result<Format> {
        let lower = name.to_ascii_lowercase();
        let find = |wanted: &str| SUFFIXES.into_iter().find(|(suffix, _)| *suffix == wanted);
        if let Some((_, format)) = find(&lower) {
            return Ok(format);
        }
        let near = suggest(&lower, SUFFIXES.map(|(suffix, _)| suffix), "");
        Err(anyhow!(
            "it is none of csv, tsv, json, jsonl, ndjson, parquet and rows{near}"
        ))
    }

    /// By the end of a file's name, in front of that of a compression.
    pub(super) fn of(path: &Path) -> Result<Format> {
        let suffix = if compression(path) == CompressionKind::None {
            path.extension()
        } else {
            path.file_stem().map(Path::new).and_then(Path::extension)
        };
        let suffix = suffix.map(|suffix| suffix.to_string_lossy().into_owned());
        Format::named(suffix.as_deref().unwrap_or_default()).map_err(|_| {
            let near = suffix.map_or(String::new(), |found| {
                let known = SUFFIXES.map(|(suffix, _)| format!(".{suffix}"));
                suggest(&format!(".{found}"), known.iter().map(String::as_str), "")
            });
            anyhow!(
                "{}: the name of a file has to end in .csv, .tsv, .json, .jsonl, .ndjson, .parquet or .rows{near}",
                path.display()
            )
        })
    }

    /// For a file that is written.
    pub(super) fn to_write(path: &Path) -> Result<Format> {
        if compression(path) != CompressionKind::None {
            bail!(
                "{}: files are written without a compression; leave its end away, or take .parquet or .rows",
                path.display()
            );
        }
        Format::of(path)
    }

    /// By the beginning of what has no name.
    pub(super) fn shown_by(beginning: &[u8]) -> Format {
        let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace());
        if beginning.starts_with(b"PAR1") {
            Format::Parquet
        } else if beginning.starts_with(b"\xa7TT") {
            Format::Packed
        } else if matches!(first, Some(b'[' | b'{')) {
            Format::Json
        } else {
            Format::Text(None)
        }
    }
}

/// What the end of a file's name says it is compressed by.
fn compression(path: &Path) -> CompressionKind {
    let suffix = path.extension().map(|suffix| suffix.to_ascii_lowercase());
    match suffix.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("gz") => CompressionKind::Gzip,
        Some("zst" | "zstd") => CompressionKind::Zstd,
        _ => CompressionKind::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_is_guessed() {
        let said = |name: &str| Format::named(name).unwrap_err().to_string();
        assert!(
            said("cvs").ends_with("; did you mean csv?"),
            "{}",
            said("cvs")
        );
        assert!(said("parqet").ends_with("; did you mean parquet?"));
        assert!(said("docx").ends_with("and rows"), "{}", said("docx"));
        let said = Format::of(Path::new("a.cvs.gz")).unwrap_err().to_string();
        assert!(said.ends_with("; did you mean .csv?"), "{said}");
    }

    #[test]
    fn a_format_is_known_by_the_name_behind_a_compression() {
        let of = |name: &str| Format::of(Path::new(name)).ok();
        assert_eq!(of("a.csv"), Some(Format::Text(None)));
        assert_eq!(of("a.TSV.gz"), Some(Format::Text(Some(b'\t'))));
        assert_eq!(of("a.parquet.zst"), Some(Format::Parquet));
        assert_eq!(of("a.gz"), None);
        assert!(Format::to_write(Path::new("a.csv.gz")).is_err());
    }

    #[test]
    fn what_has_no_name_is_known_by_its_beginning() {
        assert_eq!(Format::shown_by(b"a,b\n1,2\n"), Format::Text(None));
        assert_eq!(Format::shown_by(b" \n[{\"a\":1}]"), Format::Json);
        assert_eq!(Format::shown_by(b"PAR1\x15"), Format::Parquet);
        assert_eq!(Format::shown_by(b"\xa7TT\x01"), Format::Packed);
    }
}
