//! What is worth saying of a column whose type was found.

use std::fmt;

use crate::Kind;

/// What is worth a word about how the type of a column was found.
///
/// # Examples
///
/// ```
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::infer::Options;
///
/// let found = Options::default().text(&b"age\n31\nunknown\n29\n"[..], Text::HEADED)?;
/// let remark = &found.remarks[0];
/// assert_eq!((remark.column.as_str(), remark.count, remark.line), ("age", 1, 3));
/// assert_eq!(remark.examples, ["unknown"]);
/// println!("{remark}");
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// The column's name.
    pub column: String,
    /// What it is about.
    pub about: About,
    /// How many values it is about.
    pub count: u64,
    /// Up to three of them, shortened.
    pub examples: Vec<String>,
    /// The line in which the first of them stands, from 1.
    pub line: u64,
}

/// What a [`Remark`] is about.
///
/// # Examples
///
/// ```
/// use tamtam_rows::Kind;
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::infer::{About, Options};
///
/// let found = Options::default().text(&b"age\n31\nunknown\n29\n"[..], Text::HEADED)?;
/// let remark = &found.remarks[0];
/// // The column is text, and would be numbers but for one value.
/// assert_eq!(remark.about, About::NotNumbers(Kind::U8));
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum About {
    /// Texts that stand for nulls were taken for nulls in a column of this type.
    ReadAsNull(Kind),
    /// Texts that usually stand for nulls are texts, since the column is one of text.
    KeptAsText,
    /// But for these values the column would be numbers of this type.
    NotNumbers(Kind),
    /// The column is text, since no type of numbers has all digits of these.
    NoTypeHolds,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {:?} ", self.column)?;
        match &self.about {
            About::ReadAsNull(kind) => write!(f, "is {kind}, with null for ")?,
            About::KeptAsText => f.write_str("is text, and so is ")?,
            About::NotNumbers(kind) => write!(f, "is text, and would be {kind} but for ")?,
            About::NoTypeHolds => f.write_str("is text: no type of numbers has all digits of ")?,
        }
        let examples: Vec<String> = self.examples.iter().map(|it| format!("{it:?}")).collect();
        let examples = examples.join(", ");
        match self.count {
            1 => write!(f, "{examples} in line {}", self.line),
            count => write!(
                f,
                "{count} values such as {examples} (the first in line {})",
                self.line
            ),
        }
    }
}
