use std::fmt;

use crate::Kind;

/// What is worth a word about how the type of a column was found.
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
