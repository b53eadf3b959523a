//! How types are found: what stands for null, which types are given, how much is looked at.

use std::io::Read;

use super::guess::Guess;
use super::remark::Remark;
use crate::encoding::Text;
use crate::{DecodeError, Field, Kind, Limits, NullTexts, Schema};

/// How types are found: which texts stand for nulls, which columns have a type that is known, and how much is looked at.
///
/// ```
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::infer::{About, Options};
/// use tamtam_rows::{Field, Kind};
///
/// let file = "code,mass,age\n007,3750,1\n12,NA,2\n13,3800,unknown\n";
/// let options = Options { types: vec![("code".into(), Kind::U16)], ..Options::default() };
/// let found = options.text(file.as_bytes(), Text::HEADED)?;
/// assert_eq!(
///     found.schema.fields(),
///     [
///         Field::new("code", Kind::U16),
///         Field::nullable("mass", Kind::U16),
///         Field::new("age", Kind::Text),
///     ]
/// );
/// assert_eq!(found.remarks[1].about, About::NotNumbers(Kind::U8));
/// assert_eq!(
///     found.remarks[1].to_string(),
///     r#"column "age" is text, and would be u8 but for "unknown" in line 4"#
/// );
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The texts that stand for nulls; [`TextReader::with_nulls`](crate::encoding::TextReader::with_nulls) has to be
    /// given the same. By default the usual ones.
    pub nulls: NullTexts,
    /// Columns by name whose type is known. Whether they hold nulls is still found out, and a value of another type is an
    /// error when the rows are read. By default none.
    pub types: Vec<(String, Kind)>,
    /// How many rows are looked at: whole blocks of about a megabyte, until there are more rows than this. By default all.
    pub rows: u64,
    /// How much is taken in. By default [`Limits::default`].
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            nulls: NullTexts::default(),
            types: Vec::new(),
            rows: u64::MAX,
            limits: Limits::default(),
        }
    }
}

/// What was found.
///
/// # Examples
///
/// ```
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::infer::Options;
/// use tamtam_rows::{Field, Kind};
///
/// let found = Options::default().text(&b"species,mass\nAdelie,3750\nGentoo,NA\n"[..], Text::HEADED)?;
/// assert_eq!(found.schema.fields()[1], Field::nullable("mass", Kind::U16));
/// // What a person might want to know: a text was read as null.
/// assert_eq!((found.remarks[0].column.as_str(), found.remarks[0].count), ("mass", 1));
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inferred {
    /// The columns.
    pub schema: Schema,
    /// What is worth a word, in the order of the columns.
    pub remarks: Vec<Remark>,
}

impl Options {
    /// Texts are texts: nulls are what the form itself has for them.
    pub(super) fn exact(limits: Limits) -> Options {
        Options {
            nulls: NullTexts::NONE,
            limits,
            ..Options::default()
        }
    }

    /// The columns of a delimited text, as [`infer::text`](super::text) finds them with other options.
    ///
    /// # Errors
    /// As [`infer::text`](super::text); and if a type is given for a column that is not there.
    pub fn text(&self, source: impl Read, form: Text) -> Result<Inferred, DecodeError> {
        super::look_at_text(source, form, self)
    }

    /// The columns of JSON, as [`infer::json_parts`](super::json_parts) finds them with other options.
    ///
    /// # Errors
    /// As [`infer::json_parts`](super::json_parts); and if a type is given for a column that is not there.
    #[cfg(feature = "json")]
    pub fn json(&self, source: impl Read) -> Result<Inferred, DecodeError> {
        super::json::look_at_json(source, self)
    }

    /// The type that a column was said to have.
    pub(super) fn told(&self, name: &str) -> Option<Kind> {
        let is_it = |(known, _): &&(String, Kind)| known == name;
        self.types.iter().find(is_it).map(|(_, kind)| kind.clone())
    }

    pub(super) fn finish(
        &self,
        form: &'static str,
        mut columns: Vec<(String, Guess)>,
    ) -> Result<Inferred, DecodeError> {
        let is_there = |name: &str| columns.iter().any(|(column, _)| column == name);
        if let Some((name, _)) = self.types.iter().find(|(name, _)| !is_there(name)) {
            return Err(DecodeError::Schema {
                form,
                reason: format!("it has no column {name:?}, for which a type was given"),
            });
        }
        let mut remarks = Vec::new();
        for (name, guess) in &mut columns {
            guess.remarks(name, &mut remarks);
        }
        let fields = columns.into_iter().map(|(name, guess)| {
            let (kind, is_nullable) = guess.finish();
            if is_nullable {
                Field::nullable(name, kind)
            } else {
                Field::new(name, kind)
            }
        });
        Ok(Inferred {
            schema: Schema::new(fields)?,
            remarks,
        })
    }
}
