//! Types for what has none: a look at all values of a delimited text or of JSON, and the narrowest type for each
//! column that holds them.
//!
//! Integers get the smallest width that fits, without a sign if none is below zero. Numbers that all have the same
//! two to nine digits behind the point are decimals, other numbers floats. Dates, times, timestamps (with `Z` or an
//! offset they are in UTC) and UUIDs are known by how they are written. A number with a leading zero, such as a post
//! code, makes its column text. Where a value is missing, the column may hold nulls.
//!
//! No digit is lost: numbers of which a float of 64 bits would have others than are written are decimals if 38 digits
//! hold them all, and text if not. [`Options`] say which texts stand for nulls and of which types columns are,
//! and what they find is [`Inferred`], with remarks on columns that are text for a few values' sake. The functions
//! are the options that take texts for what they are.

mod guess;
#[cfg(feature = "json")]
mod json;
mod numbers;
mod options;
mod remark;
mod seen;

use std::io::Read;

use guess::Guess;
#[cfg(feature = "json")]
pub use json::{json, json_parts};
pub use options::{Inferred, Options};
pub use remark::{About, Remark};

use crate::encoding::Text;
use crate::encoding::text::Fields;
use crate::encoding::text_blocks::Blocks;
use crate::error::counted;
use crate::{DecodeError, Encoding, Limits, Schema};

/// The columns of a delimited text: names from its first line, or `column 1` and so on where it has none; types from
/// all that follows. It is read once, to its end, about a megabyte at a time;
/// [`TextReader`](crate::encoding::TextReader) then reads it a second time, as rows.
///
/// ```
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::{Field, Kind, Limits, Unit, Zone, infer};
///
/// let text = "id,price,code,at\n1,0.50,007,2024-02-29T12:00:00Z\n300,12.00,,2024-03-01T00:00:00.250Z\n";
/// let schema = infer::text(text.as_bytes(), Text::HEADED, &Limits::default())?;
/// assert_eq!(
///     schema.fields(),
///     [
///         Field::new("id", Kind::U16),
///         Field::new("price", Kind::Decimal { precision: 4, scale: 2 }),
///         Field::nullable("code", Kind::Text),
///         Field::new("at", Kind::Timestamp(Unit::Millisecond, Zone::Utc)),
///     ]
/// );
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
///
/// # Errors
/// If it is no such text: rows of different lengths, a quote that is not closed, bytes that are not UTF-8; and if it
/// has more columns than allowed, or a row larger than the limit on bytes.
pub fn text(source: impl Read, form: Text, limits: &Limits) -> Result<Schema, DecodeError> {
    Ok(Options::exact(*limits).text(source, form)?.schema)
}

fn look_at_text(source: impl Read, form: Text, options: &Options) -> Result<Inferred, DecodeError> {
    let mut blocks = Blocks::new(source, form, &options.limits);
    let mut columns: Vec<(String, Guess)> = Vec::new();
    let mut row = 0_u64;
    let mut is_first_line = true;
    while row <= options.rows
        && let Some((block, start)) = blocks.next()?
    {
        let mut fields = Fields::new(form, block, start)?;
        while !fields.is_at_end() {
            if is_first_line {
                is_first_line = false;
                first_line(&mut fields, form, options, &mut columns)?;
                row += u64::from(!form.header);
                continue;
            }
            if columns.len() > 1 && fields.skip_empty_line() {
                continue;
            }
            let begin = fields.at();
            let mut found = 0;
            loop {
                let at = fields.at();
                let (text, is_quoted, is_last) = fields.next()?;
                if let Some((_, guess)) = columns.get_mut(found) {
                    guess.field(text, is_quoted, at, &options.nulls);
                }
                found += 1;
                if is_last {
                    break;
                }
            }
            if found != columns.len() {
                let expected = columns.len();
                let reason = format!("row {row} has {}, not {expected}", counted(found, "value"));
                return Err(fields.malformed(begin, &reason));
            }
            row += 1;
        }
        let mut line = |at: usize| start.behind(&block[..at]).line;
        for (_, guess) in &mut columns {
            guess.end_block(&mut line);
        }
    }
    options.finish(form.name(), columns)
}

/// The names; where there are none, the first row.
fn first_line(
    fields: &mut Fields<'_>,
    form: Text,
    options: &Options,
    columns: &mut Vec<(String, Guess)>,
) -> Result<(), DecodeError> {
    loop {
        let at = fields.at();
        let (text, is_quoted, is_last) = fields.next()?;
        let name = if form.header {
            text.to_owned()
        } else {
            format!("column {}", columns.len() + 1)
        };
        let mut guess = Guess::new(options.told(&name));
        if !form.header {
            guess.field(text, is_quoted, at, &options.nulls);
        }
        columns.push((name, guess));
        if columns.len() > options.limits.columns {
            return Err(DecodeError::Limit {
                form: form.name(),
                what: "columns",
                declared: columns.len() as u64,
                limit: options.limits.columns as u64,
            });
        }
        if is_last {
            return Ok(());
        }
    }
}

/// What most likely stands between the fields of a text, by its beginning: a comma, a semicolon, a tab, or `|`.
///
/// ```
/// assert_eq!(tamtam_rows::infer::delimiter(b"name;price\n\"a,b,c\";1,50\n"), b';');
/// assert_eq!(tamtam_rows::infer::delimiter(b"one column\n1\n"), b',');
/// ```
pub fn delimiter(beginning: &[u8]) -> u8 {
    const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
    let mut counts = [0_u32; 4];
    let mut is_quoted = false;
    for byte in beginning {
        match byte {
            b'"' => is_quoted = !is_quoted,
            // The first line decides: values, unlike names, have commas of their own.
            b'\n' | b'\r' if !is_quoted => break,
            _ if !is_quoted => {
                if let Some(index) = CANDIDATES.iter().position(|candidate| candidate == byte) {
                    counts[index] += 1;
                }
            }
            _ => {}
        }
    }
    // The first of equals: a comma.
    let mut best = 0;
    for index in 1..CANDIDATES.len() {
        if counts[index] > counts[best] {
            best = index;
        }
    }
    CANDIDATES[best]
}
