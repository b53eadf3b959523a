//! Which texts stand for null.

/// The texts that stand for a null in delimited text and JSON, beside the empty field and JSON's `null`.
///
/// The usual ones are those that R, NumPy, pandas, MySQL and PostgreSQL write: `NA`, `N/A`, `#N/A`, `NULL`, `None`, `nan`,
/// `\N` and a few spellings of them. They are nulls in columns that cannot hold them: numbers, truth values, dates. In a column
/// of text they are texts, as `NA` is a country and a surname, and in one of floats `nan` is not a number. Texts that a
/// program names itself are nulls everywhere, also if they are numbers, such as `-999`; in quotes they are texts in a
/// column of text.
///
/// ```
/// use tamtam_rows::encoding::{Text, TextReader};
/// use tamtam_rows::infer::Options;
/// use tamtam_rows::{Field, Kind, Limits, NullTexts};
///
/// let file = "mass,sex\n3750,MALE\nNA,NA\n";
/// let options = Options::default(); // the usual texts
/// let found = options.text(file.as_bytes(), Text::HEADED)?;
/// assert_eq!(found.schema.fields(), [Field::nullable("mass", Kind::U16), Field::new("sex", Kind::Text)]);
///
/// let options = Options { nulls: NullTexts::of(["NA"]), ..Options::default() };
/// let found = options.text(file.as_bytes(), Text::HEADED)?;
/// assert!(found.schema.fields()[1].is_nullable());
/// let reader = TextReader::new(file.as_bytes(), Text::HEADED, &found.schema, Limits::default())?;
/// let rows = reader.with_nulls(options.nulls).next_chunk()?.unwrap();
/// assert!(rows.columns()[1].is_null(1));
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullTexts {
    texts: Vec<String>,
    /// The bytes with which one begins.
    starts: [u64; 4],
    is_everywhere: bool,
}

const USUAL: [&str; 16] = [
    "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NULL", "null", "Null", "None", "nan", "NaN",
    "NAN", "\\N", "nil",
];

impl Default for NullTexts {
    /// Those that are usual.
    fn default() -> NullTexts {
        NullTexts {
            is_everywhere: false,
            ..NullTexts::of(USUAL)
        }
    }
}

impl NullTexts {
    /// No text is a null.
    pub const NONE: NullTexts = NullTexts {
        texts: Vec::new(),
        starts: [0; 4],
        is_everywhere: false,
    };

    /// These, wherever they stand.
    pub fn of<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> NullTexts {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        let mut starts = [0; 4];
        for first in texts.iter().map(|text| first(text)) {
            starts[usize::from(first / 64)] |= 1 << (first % 64);
        }
        NullTexts {
            is_everywhere: !texts.is_empty(),
            texts,
            starts,
        }
    }

    /// The texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// Whether they are nulls in columns of text, too, and where they are numbers.
    pub fn is_everywhere(&self) -> bool {
        self.is_everywhere
    }

    /// Whether this is one of them.
    #[inline]
    pub fn contains(&self, text: &str) -> bool {
        let first = first(text);
        self.starts[usize::from(first / 64)] >> (first % 64) & 1 == 1
            && self.texts.iter().any(|known| known == text)
    }
}

#[inline]
fn first(text: &str) -> u8 {
    text.bytes().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::NullTexts;

    #[test]
    fn a_text_is_known_as_a_whole() {
        let usual = NullTexts::default();
        assert!(usual.contains("NA") && usual.contains("\\N") && usual.contains("nan"));
        assert!(!usual.contains("NAMIBIA") && !usual.contains("") && !usual.contains("1"));
        let own = NullTexts::of(["", "-999", "\u{fffd}"]);
        assert!(own.contains("") && own.contains("-999") && own.contains("\u{fffd}"));
        assert!(!own.contains("-99") && own.is_everywhere());
        assert!(!NullTexts::NONE.contains("NA") && !NullTexts::of([""; 0]).is_everywhere());
    }
}
