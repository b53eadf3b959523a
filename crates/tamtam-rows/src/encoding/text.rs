//! Delimited text: CSV and its like.

use super::Encoding;
use super::inlet::{Inlet, Refusal};
use super::intake::Intake;
use super::text_writer::{MARK, write_quoted, write_rows};
use crate::cell_text::Integer;
use crate::error::counted;
use crate::shortened::shortened;
use crate::{DecodeError, EncodeError, Kind, Limits, NullTexts, Rows, Schema, Values};

/// Delimited text as RFC 4180 has it: a line a row, fields between commas, quotes around what needs them. Named `text`,
/// and `text-bare` without the line of names.
///
/// A null is an empty field without quotes, an empty text one with quotes: `1,,""`. That is why this reader is not
/// that of a library: none tells the two apart. Lines end with a line feed; a reader also takes carriage returns, a
/// byte order mark, and empty lines between rows of several columns. In a column without nulls, an empty field
/// without quotes is an empty text.
///
/// Dates and times are as in ISO 8601, UUIDs have hyphens, bytes are in Base64. Of the numbers that are none, only
/// the one that Rust calls `NAN` can be carried.
///
/// ```
/// use tamtam_rows::encoding::Text;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::I16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_i16, 2]), Column::from_iter([Some("a,b"), None])])?;
///
/// let mut bytes = Vec::new();
/// Text::default().encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, b"n,name\n1,\"a,b\"\n2,\n");
/// assert_eq!(Text::default().decode(&bytes, Some(rows.schema()), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Whether the first line has the columns' names.
    pub header: bool,
    /// What stands between two fields: a comma, a semicolon, a tab, `|`, a space, or the unit separator (31).
    pub delimiter: u8,
}

impl Default for Text {
    fn default() -> Text {
        Text::HEADED
    }
}

impl Text {
    /// With a line of names, and commas.
    pub const HEADED: Text = Text {
        header: true,
        delimiter: b',',
    };
    /// Without a line of names: nothing but the rows, and commas.
    pub const BARE: Text = Text {
        header: false,
        delimiter: b',',
    };

    /// Whether no number, date or Base64 has the delimiter inside.
    fn is_sound(self) -> bool {
        matches!(self.delimiter, b',' | b';' | b'\t' | b'|' | b' ' | 31)
    }
}

impl Encoding for Text {
    fn name(&self) -> &'static str {
        if self.header { "text" } else { "text-bare" }
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !self.is_sound() {
            return Err(EncodeError::Unsupported {
                form: self.name(),
                what: format!("the delimiter {:?}", char::from(self.delimiter)),
                reason: "take a comma, a semicolon, a tab, '|', a space or the unit separator"
                    .into(),
            });
        }
        if rows.schema().is_empty() {
            return Ok(());
        }
        if self.header {
            for field in rows.schema().fields() {
                write_quoted(field.name().as_bytes(), self.delimiter, out);
                out.push(self.delimiter);
            }
            end_line(out);
        }
        write_rows(*self, rows, out)
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let mut intake = Intake::new(self.name(), schema, limits)?;
        let mut fields = Fields::new(*self, bytes, Start::OF_ALL)?;
        if self.header {
            fields.header(intake.schema())?;
        }
        fields.rows(&mut intake)?;
        intake.finish()
    }
}

/// A line feed instead of the delimiter behind the last field.
fn end_line(out: &mut [u8]) {
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}

/// Whether a text that stands for a null wherever it is does so here.
fn is_null(nulls: &NullTexts, inlet: &Inlet, text: &str, is_quoted: bool) -> bool {
    let is_text = matches!(inlet.kind(), Kind::Text | Kind::Bytes);
    inlet.is_nullable() && !(is_quoted && is_text) && nulls.contains(text)
}

/// What follows a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Field,
    Line,
}

/// Where the text of a field is.
enum Place {
    /// In the input, without quotes.
    Plain(usize, usize),
    /// In the input, between quotes.
    Quoted(usize, usize),
    /// In the scratch, since the input has quotes twice.
    Unescaped,
}

/// Goes through the fields of a text.
pub(crate) struct Fields<'a> {
    form: Text,
    text: &'a str,
    at: usize,
    /// Where this part begins in the whole text.
    start: Start,
    scratch: String,
}

/// Where a part of a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// So many bytes lie before it.
    pub(crate) offset: u64,
    /// In this line, from 1.
    pub(crate) line: u64,
}

impl Start {
    pub(crate) const OF_ALL: Start = Start { offset: 0, line: 1 };

    /// Behind these bytes, which do not end between a carriage return and its line feed.
    pub(crate) fn behind(self, bytes: &[u8]) -> Start {
        let feeds = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let alone = |pair: &&[u8]| pair[0] == b'\r' && pair[1] != b'\n';
        let returns = bytes.windows(2).filter(alone).count();
        let last = usize::from(bytes.last() == Some(&b'\r'));
        Start {
            offset: self.offset + bytes.len() as u64,
            line: self.line + (feeds + returns + last) as u64,
        }
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn new(
        form: Text,
        bytes: &'a [u8],
        start: Start,
    ) -> Result<Fields<'a>, DecodeError> {
        let malformed = |at: Start, reason: String| DecodeError::Malformed {
            form: form.name(),
            at: at.offset,
            reason,
        };
        if !form.is_sound() {
            return Err(malformed(
                start,
                "its delimiter is none of comma, semicolon, tab, '|', space and unit separator"
                    .to_owned(),
            ));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = start.behind(&bytes[..error.valid_up_to()]);
            malformed(at, format!("line {} is not UTF-8; convert it", at.line))
        })?;
        Ok(Fields {
            form,
            text,
            at: if start.offset == 0 && bytes.starts_with(MARK) {
                MARK.len()
            } else {
                0
            },
            start,
            scratch: String::new(),
        })
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The place of the next field in this part, for errors that are found behind it.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The error for what is found at this place.
    #[cold]
    pub(crate) fn malformed(&self, at: usize, reason: &str) -> DecodeError {
        let Start { offset, line } = self.start.behind(&self.text.as_bytes()[..at]);
        DecodeError::Malformed {
            form: self.form.name(),
            at: offset,
            reason: format!("{reason} (line {line})"),
        }
    }

    /// Whether there was an empty line, which is then left behind.
    pub(crate) fn skip_empty_line(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let length = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        };
        self.at += length;
        length > 0
    }

    /// Behind a delimiter or the end of a line, or at the end of the input.
    #[inline]
    fn after(&mut self) -> Result<After, DecodeError> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at) {
            None => Ok(After::Line),
            Some(&byte) if byte == self.form.delimiter => {
                self.at += 1;
                Ok(After::Field)
            }
            Some(b'\n') => {
                self.at += 1;
                Ok(After::Line)
            }
            Some(b'\r') => {
                self.at += 1 + usize::from(bytes.get(self.at + 1) == Some(&b'\n'));
                Ok(After::Line)
            }
            Some(_) => Err(self.malformed(self.at, "text follows the closing quote of a field")),
        }
    }

    /// The next field, and what follows it.
    fn field(&mut self) -> Result<(Place, After), DecodeError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if bytes.get(start) != Some(&b'"') {
            let delimiter = self.form.delimiter;
            let is_end = |&byte: &u8| byte == delimiter || byte == b'\n' || byte == b'\r';
            let length = bytes[start..].iter().position(is_end);
            self.at = length.map_or(bytes.len(), |length| start + length);
            return Ok((Place::Plain(start, self.at), self.after()?));
        }
        let quote = |from: usize| {
            let length = bytes[from..].iter().position(|&byte| byte == b'"');
            length.map(|length| from + length)
        };
        let mut from = start + 1;
        let mut is_unescaped = false;
        loop {
            let Some(end) = quote(from) else {
                return Err(self.malformed(start, "the quote that begins a field is not closed"));
            };
            if bytes.get(end + 1) != Some(&b'"') {
                self.at = end + 1;
                let place = if is_unescaped {
                    self.scratch.push_str(&self.text[from..end]);
                    Place::Unescaped
                } else {
                    Place::Quoted(from, end)
                };
                return Ok((place, self.after()?));
            }
            // Two quotes stand for one.
            if !is_unescaped {
                self.scratch.clear();
                is_unescaped = true;
            }
            self.scratch.push_str(&self.text[from..=end]);
            from = end + 2;
        }
    }

    /// The next field's text, whether it stood in quotes, and whether it was the line's last.
    pub(crate) fn next(&mut self) -> Result<(&str, bool, bool), DecodeError> {
        let (place, after) = self.field()?;
        let is_last = after == After::Line;
        Ok(match place {
            Place::Plain(start, end) => (&self.text[start..end], false, is_last),
            Place::Quoted(start, end) => (&self.text[start..end], true, is_last),
            Place::Unescaped => (&self.scratch, true, is_last),
        })
    }

    /// The first line, whose names must be those of the schema.
    pub(super) fn header(&mut self, schema: &Schema) -> Result<(), DecodeError> {
        let form = self.form.name();
        let differs = |reason: String| Err(DecodeError::Schema { form, reason });
        if schema.is_empty() {
            return Ok(());
        }
        if self.is_at_end() {
            return Err(DecodeError::Truncated {
                form,
                what: "the line of names",
                at: self.start.offset + self.at as u64,
            });
        }
        for (index, field) in schema.fields().iter().enumerate() {
            let (name, _, is_last) = self.next()?;
            if name != field.name() {
                let name = shortened(name);
                let reason = format!("column {index} is called {name:?}, not {:?}", field.name());
                return differs(reason);
            }
            let must_be_last = index + 1 == schema.len();
            if is_last && !must_be_last {
                let reason = format!(
                    "it has {}, not {}",
                    counted(index + 1, "column"),
                    schema.len()
                );
                return differs(reason);
            }
            if must_be_last && !is_last {
                return differs(format!(
                    "it has more than {}",
                    counted(schema.len(), "column")
                ));
            }
        }
        Ok(())
    }

    /// All rows that follow into the columns.
    pub(super) fn rows(&mut self, intake: &mut Intake<'_>) -> Result<(), DecodeError> {
        if intake.columns.is_empty() && !self.is_at_end() {
            return Err(self.malformed(self.at, "there are values, and the table has no columns"));
        }
        while !self.is_at_end() {
            if intake.columns.len() > 1 && self.skip_empty_line() {
                continue;
            }
            self.row(intake)?;
        }
        Ok(())
    }

    /// One row into the columns.
    #[inline]
    fn row(&mut self, intake: &mut Intake<'_>) -> Result<(), DecodeError> {
        let start = self.at;
        let last = intake.columns.len() - 1;
        for index in 0..=last {
            let (after, variable) = self.cell(intake, index)?;
            intake.add_variable(variable);
            if (after == After::Line) != (index == last) {
                return Err(self.another_number(intake, start, index));
            }
        }
        intake.end_row()
    }

    /// One field into its column.
    #[inline]
    fn cell(
        &mut self,
        intake: &mut Intake<'_>,
        index: usize,
    ) -> Result<(After, usize), DecodeError> {
        let inlet = &mut intake.columns[index];
        // Most numbers are read without looking for their end first.
        macro_rules! short {
            ($values:expr) => {
                self.short_integer().map(|(value, after)| {
                    $values.push(value);
                    after
                })
            };
        }
        // A number may stand for a null where that was said.
        let is_integer = inlet.is_integer() && !intake.nulls.is_everywhere();
        let short = match &mut inlet.values {
            _ if !is_integer => None,
            Values::I8(values) => short!(values),
            Values::I16(values) => short!(values),
            Values::I32(values) => short!(values),
            Values::I64(values) => short!(values),
            Values::U8(values) => short!(values),
            Values::U16(values) => short!(values),
            Values::U32(values) => short!(values),
            Values::U64(values) => short!(values),
            _ => None,
        };
        if let Some(after) = short {
            inlet.was_pushed();
            return Ok((after, 0));
        }
        let start = self.at;
        let (place, after) = self.field()?;
        let (text, is_quoted) = match place {
            Place::Plain(start, end) => (&self.text[start..end], false),
            Place::Quoted(start, end) => (&self.text[start..end], true),
            Place::Unescaped => (self.scratch.as_str(), true),
        };
        let result = if text.is_empty() && !is_quoted && inlet.is_nullable()
            || intake.nulls.is_everywhere() && is_null(intake.nulls, inlet, text, is_quoted)
        {
            inlet.push_null().map(|()| 0)
        } else {
            inlet.push_text(text)
        };
        match result {
            Ok(variable) => Ok((after, variable)),
            Err(Refusal::Kind) if inlet.is_nullable() && intake.nulls.contains(text) => {
                inlet.push_null().map_err(|refusal| {
                    let error = intake.refused(index, refusal, text);
                    self.in_line(start, error)
                })?;
                Ok((after, 0))
            }
            Err(refusal) => {
                let error = intake.refused(index, refusal, text);
                Err(self.in_line(start, error))
            }
        }
    }

    /// An integer of at most 18 digits with a comma or a line feed behind it, if that comes next.
    #[inline]
    fn short_integer<T: Integer>(&mut self) -> Option<(T, After)> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_negative = rest.first() == Some(&b'-');
        let start = usize::from(is_negative);
        let mut number = 0_u64;
        let mut at = start;
        let end = loop {
            let byte = *rest.get(at)?;
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break byte;
            }
            number = number.wrapping_mul(10).wrapping_add(digit.into());
            at += 1;
        };
        if at == start || at - start > 18 {
            return None;
        }
        let after = match end {
            b'\n' => After::Line,
            end if end == self.form.delimiter => After::Field,
            _ => return None,
        };
        let value = T::of(is_negative, number)?;
        self.at += at + 1;
        Some((value, after))
    }

    /// The error about the field that begins at this place, with its line.
    #[cold]
    fn in_line(&self, at: usize, mut error: DecodeError) -> DecodeError {
        if let DecodeError::Value { line, .. } = &mut error {
            *line = Some(self.start.behind(&self.text.as_bytes()[..at]).line);
        }
        error
    }

    #[cold]
    fn another_number(&self, intake: &Intake<'_>, start: usize, index: usize) -> DecodeError {
        let (row, columns) = (intake.rows(), intake.columns.len());
        let reason = if index + 1 < columns {
            format!(
                "row {row} has {}, not {columns}",
                counted(index + 1, "value")
            )
        } else {
            format!("row {row} has more than {}", counted(columns, "value"))
        };
        self.malformed(start, &reason)
    }
}

#[cfg(test)]
mod tests {
    use super::Start;

    #[test]
    fn each_kind_of_line_break_counts_once() {
        let line = |text: &str| Start::OF_ALL.behind(text.as_bytes()).line;
        assert_eq!(line(""), 1);
        assert_eq!(line("a\nb\r\nc\rd"), 4);
        assert_eq!(line("\n\r"), 3);
        assert_eq!(line("\r\r\n\n"), 4);
        assert_eq!(Start::OF_ALL.behind(b"a\r\n").behind(b"\n b").line, 3);
    }
}
