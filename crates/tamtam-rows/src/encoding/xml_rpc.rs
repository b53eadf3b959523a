//! XML-RPC: an array of structs, as the article's server sent it.

use std::borrow::Cow;
use std::io::Write;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::Encoding;
use super::inlet::{Inlet, Refusal};
use super::intake::Intake;
use super::names::{Names, check_names};
use crate::shortened::shortened;
use crate::{
    DecodeError, EncodeError, Field, Kind, Limits, Rows, Schema, Unit, Values, Zone, cell_text,
};

/// XML-RPC: the answer of a method that returns an array of structs, each a row with its columns by name. Named
/// `xml-rpc`.
///
/// Truth values are `boolean`; integers of up to 32 bits with a sign `i4`; larger ones `i8`, an extension that Apache's
/// and other libraries have; floats `double`, without an exponent as the specification wants it; bytes `base64`. What
/// is null is `nil`, another such extension. The rest is `string`: text, decimals, UUIDs, and dates and times as ISO
/// 8601 has them, since the type `dateTime.iso8601` has neither fractions nor zones. It is read, though, as a
/// timestamp in seconds of no zone.
///
/// It cannot carry two columns of one name, infinity and NaN, integers of 2^63 and above, and the characters that XML
/// 1.0 does not have: most control characters, U+FFFE and U+FFFF.
///
/// # Examples
///
/// ```
/// use tamtam_rows::encoding::XmlRpc;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8])])?;
/// let mut bytes = Vec::new();
/// XmlRpc.encode(&rows, &mut bytes)?;
/// let text = String::from_utf8(bytes)?;
/// assert!(text.contains("<name>n</name><value><i4>7</i4></value>"));
/// // All integers of up to 32 bits look the same in it, so the schema says of which type they are.
/// assert_eq!(XmlRpc.decode(text.as_bytes(), Some(rows.schema()), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XmlRpc;

const FORM: &str = "xml-rpc";
const HEAD: &[u8] = b"<?xml version=\"1.0\"?>\n<methodResponse><params><param><value><array><data>";
const TAIL: &[u8] = b"</data></array></value></param></params></methodResponse>\n";

impl Encoding for XmlRpc {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_names(FORM, rows.schema())?;
        // What stands before each value.
        let mut names = Vec::new();
        let mut columns = Vec::new();
        for (field, column) in rows.fields() {
            let start = names.len();
            names.extend_from_slice(b"<member><name>");
            write_text(field.name(), &mut names).map_err(|reason| EncodeError::Unsupported {
                form: FORM,
                what: format!("the column's name {:?}", field.name()),
                reason: reason.to_owned(),
            })?;
            names.extend_from_slice(b"</name><value>");
            columns.push((field, column, start..names.len()));
        }
        out.extend_from_slice(HEAD);
        out.reserve(rows.len() * (names.len() + columns.len() * 40));
        for row in 0..rows.len() {
            out.extend_from_slice(b"<value><struct>");
            for (field, column, name) in &columns {
                out.extend_from_slice(&names[name.clone()]);
                if column.is_null(row) {
                    out.extend_from_slice(b"<nil/>");
                } else {
                    write(field, column.values(), row, out).map_err(|reason| {
                        EncodeError::Value {
                            form: FORM,
                            column: field.name().to_owned(),
                            row,
                            reason: reason.to_owned(),
                        }
                    })?;
                }
                out.extend_from_slice(b"</value></member>");
            }
            out.extend_from_slice(b"</struct></value>");
        }
        out.extend_from_slice(TAIL);
        Ok(())
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let mut intake = Intake::new(FORM, schema, limits)?;
        let mut names = Names::new(FORM, intake.schema())?;
        let text = std::str::from_utf8(bytes).map_err(|error| DecodeError::Malformed {
            form: FORM,
            at: error.valid_up_to() as u64,
            reason: "it is not UTF-8".into(),
        })?;
        let mut source = Source::new(text);
        for tag in [
            "methodResponse",
            "params",
            "param",
            "value",
            "array",
            "data",
        ] {
            source.open(tag)?;
        }
        // Of each column the row, counted from 1, in which it was seen last.
        let mut last_row = vec![0; intake.schema().len()];
        while source.opens("value")? {
            source.row(&mut intake, &mut names, &mut last_row)?;
        }
        // The end of `data` was read where a further row could have been.
        for tag in ["array", "value", "param", "params", "methodResponse"] {
            source.close(tag)?;
        }
        match source.markup()? {
            Event::Eof => intake.finish(),
            _ => Err(source.malformed("more follows behind the answer".into())),
        }
    }
}

const NO_CHARACTER: &str =
    "it has a character that XML 1.0 cannot write; take it out, or send the column as bytes";

/// A text with what must be escaped escaped.
fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escaped: &[u8] = match byte {
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'&' => b"&amp;",
            // A reader would make a line feed of it.
            b'\r' => b"&#13;",
            b'\t' | b'\n' | b' '..=0xee | 0xf0.. => continue,
            // U+FFFE and U+FFFF.
            0xef if !matches!(bytes[at + 1..], [0xbf, 0xbe | 0xbf, ..]) => continue,
            _ => return Err(NO_CHARACTER),
        };
        out.extend_from_slice(&bytes[written..at]);
        out.extend_from_slice(escaped);
        written = at + 1;
    }
    out.extend_from_slice(&bytes[written..]);
    Ok(())
}

#[inline]
fn write(
    field: &Field,
    values: &Values,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    const NOT_FINITE: &str =
        "XML-RPC has no number for infinity or NaN; use null, or a binary form";
    let tag: &[u8] = match values {
        Values::Bool(values) => {
            out.extend_from_slice(b"<boolean>");
            out.push(b'0' + u8::from(values[row]));
            out.extend_from_slice(b"</boolean>");
            return Ok(());
        }
        Values::F32(values) => {
            let value = values[row];
            if !value.is_finite() {
                return Err(NOT_FINITE);
            }
            write!(out, "<double>{value}</double>").expect("a vector takes all that is written");
            return Ok(());
        }
        Values::F64(values) => {
            let value = values[row];
            if !value.is_finite() {
                return Err(NOT_FINITE);
            }
            write!(out, "<double>{value}</double>").expect("a vector takes all that is written");
            return Ok(());
        }
        Values::Text(texts) => {
            out.extend_from_slice(b"<string>");
            write_text(texts.get(row), out)?;
            out.extend_from_slice(b"</string>");
            return Ok(());
        }
        Values::U64(values) if values[row] > i64::MAX as u64 => {
            return Err("XML-RPC has integers of 64 bits with a sign at most; send it as text");
        }
        Values::Bytes(_) => b"base64>",
        Values::I8(_) | Values::I16(_) | Values::U8(_) | Values::U16(_) => b"i4>",
        Values::I32(_) if *field.kind() == Kind::I32 => b"i4>",
        Values::U32(_) | Values::U64(_) => b"i8>",
        Values::I64(_) if *field.kind() == Kind::I64 => b"i8>",
        _ => b"string>",
    };
    out.push(b'<');
    out.extend_from_slice(tag);
    cell_text::write(values, field.kind(), row, out)?;
    out.extend_from_slice(b"</");
    out.extend_from_slice(tag);
    Ok(())
}

/// XML to be read.
struct Source<'a> {
    reader: Reader<&'a [u8]>,
    length: usize,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Source<'a> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Source {
            reader,
            length: text.len(),
        }
    }

    #[cold]
    fn malformed(&self, reason: String) -> DecodeError {
        DecodeError::Malformed {
            form: FORM,
            at: self.reader.buffer_position(),
            reason,
        }
    }

    #[cold]
    fn truncated(&self) -> DecodeError {
        DecodeError::Truncated {
            form: FORM,
            what: "the end of the answer",
            at: self.length as u64,
        }
    }

    #[inline]
    fn event(&mut self) -> Result<Event<'a>, DecodeError> {
        self.reader.read_event().map_err(|error| {
            if self.reader.buffer_position() >= self.length as u64 {
                return self.truncated();
            }
            DecodeError::Malformed {
                form: FORM,
                at: self.reader.error_position(),
                reason: error.to_string(),
            }
        })
    }

    /// The next that is not white space, a comment, a declaration or an instruction.
    #[inline]
    fn markup(&mut self) -> Result<Event<'a>, DecodeError> {
        loop {
            match self.event()? {
                Event::Text(text) if is_white(&text) => {}
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                other => return Ok(other),
            }
        }
    }

    #[cold]
    fn unexpected(&self, found: &Event<'_>, expected: &str) -> DecodeError {
        let found = match found {
            Event::Eof => return self.truncated(),
            Event::Start(tag) if tag.name().as_ref() == "fault" => {
                return self.malformed("the answer is a fault, not a table".into());
            }
            Event::Start(tag) => format!("<{}>", shortened(tag.name().as_ref())),
            Event::End(tag) => format!("</{}>", shortened(tag.name().as_ref())),
            Event::DocType(_) => "a document type".into(),
            _ => "text".into(),
        };
        self.malformed(format!("{found} stands where {expected} is expected"))
    }

    fn open(&mut self, tag: &str) -> Result<(), DecodeError> {
        match self.markup()? {
            Event::Start(start) if start.name().as_ref() == tag => Ok(()),
            other => Err(self.unexpected(&other, &format!("<{tag}>"))),
        }
    }

    fn close(&mut self, tag: &str) -> Result<(), DecodeError> {
        match self.markup()? {
            Event::End(end) if end.name().as_ref() == tag => Ok(()),
            other => Err(self.unexpected(&other, &format!("</{tag}>"))),
        }
    }

    /// Whether another element of this name begins; otherwise the element around has ended.
    fn opens(&mut self, tag: &str) -> Result<bool, DecodeError> {
        match self.markup()? {
            Event::Start(start) if start.name().as_ref() == tag => Ok(true),
            Event::End(_) => Ok(false),
            other => Err(self.unexpected(&other, &format!("<{tag}>"))),
        }
    }

    /// The text up to the end of the element that is open.
    fn content(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let mut content: Cow<'a, str> = Cow::Borrowed("");
        loop {
            let more = match self.event()? {
                Event::End(_) => return Ok(content),
                Event::Text(text) => text.xml10_content(),
                Event::CData(text) => text.xml10_content(),
                Event::GeneralRef(name) => {
                    let character = match &*name {
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "amp" => Some('&'),
                        "apos" => Some('\''),
                        "quot" => Some('"'),
                        _ => name.resolve_char_ref().ok().flatten(),
                    };
                    let Some(character) = character else {
                        let name = shortened(&name);
                        return Err(self.malformed(format!("there is no character &{name};")));
                    };
                    content.to_mut().push(character);
                    continue;
                }
                Event::Comment(_) | Event::PI(_) => continue,
                other => return Err(self.unexpected(&other, "text")),
            };
            if content.is_empty() {
                content = more;
            } else {
                content.to_mut().push_str(&more);
            }
        }
    }

    /// One row, behind `<value>`.
    fn row(
        &mut self,
        intake: &mut Intake<'_>,
        names: &mut Names<'_>,
        last_row: &mut [u64],
    ) -> Result<(), DecodeError> {
        self.open("struct")?;
        let fields = intake.schema().fields();
        if fields.is_empty() {
            return Err(self.malformed("there is a row, and the table has no columns".into()));
        }
        let this_row = intake.rows() + 1;
        let (mut expected, mut seen) = (0, 0);
        let differs = |reason: String| DecodeError::Schema { form: FORM, reason };
        while self.opens("member")? {
            self.open("name")?;
            let name = self.content()?;
            let index = names.find(&name, expected).ok_or_else(|| {
                let name = shortened(&name);
                differs(format!(
                    "it has a column {name:?}, which the schema does not have"
                ))
            })?;
            if last_row[index] == this_row {
                let (row, name) = (intake.rows(), fields[index].name());
                return Err(self.malformed(format!("row {row} has {name:?} twice")));
            }
            last_row[index] = this_row;
            self.open("value")?;
            self.cell(intake, index)?;
            self.close("member")?;
            expected = index + 1;
            seen += 1;
        }
        self.close("value")?;
        if seen < fields.len() {
            for (index, inlet) in intake.columns.iter_mut().enumerate() {
                if last_row[index] != this_row && inlet.push_null().is_err() {
                    let (row, name) = (this_row - 1, fields[index].name());
                    return Err(differs(format!(
                        "row {row} has no {name:?}, a column without nulls"
                    )));
                }
            }
        }
        intake.end_row()
    }

    /// A value behind `<value>`, up to and with `</value>`.
    fn cell(&mut self, intake: &mut Intake<'_>, index: usize) -> Result<(), DecodeError> {
        let field = &intake.schema().fields()[index];
        // What has no type is a string.
        let mut untyped: Cow<'a, str> = Cow::Borrowed("");
        let tag = loop {
            match self.event()? {
                Event::Start(tag) if is_white(&untyped) => break Some(tag),
                Event::Text(text) if untyped.is_empty() => untyped = text.xml10_content(),
                Event::End(_) => break None,
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => return Err(self.truncated()),
                Event::GeneralRef(_) | Event::CData(_) | Event::Text(_) => {
                    let reason = "a value that is text must stand in <string>";
                    return Err(self.malformed(reason.into()));
                }
                other => return Err(self.unexpected(&other, "</value>")),
            }
        };
        let inlet = &mut intake.columns[index];
        let (result, content) = match &tag {
            None => (push_string(inlet, &untyped), untyped),
            Some(tag) => {
                let content = self.content()?;
                self.close("value")?;
                let result = push(inlet, field, tag.name().as_ref(), &content);
                (result, content)
            }
        };
        match result {
            Ok(variable) => {
                intake.add_variable(variable);
                Ok(())
            }
            Err(refusal) => Err(intake.refused(index, refusal, &content)),
        }
    }
}

fn is_white(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// A value of type string.
fn push_string(inlet: &mut Inlet, content: &str) -> Result<usize, Refusal> {
    if !inlet.is_written_as_text() || matches!(inlet.values, Values::Bytes(_)) {
        return Err(Refusal::Kind);
    }
    inlet.push_text(content)
}

/// A value of the type that this tag means.
fn push(inlet: &mut Inlet, field: &Field, tag: &str, content: &str) -> Result<usize, Refusal> {
    let is_real = matches!(field.kind(), Kind::F32 | Kind::F64);
    match tag {
        "string" => push_string(inlet, content),
        "i4" | "int" | "i8" | "ex:i8" | "i1" | "i2" | "ex:i1" | "ex:i2" if inlet.is_integer() => {
            inlet.push_text(content.trim())
        }
        "double" if is_real => inlet.push_text(content.trim()),
        "boolean" => match content.trim() {
            "1" => inlet.push_bool(true).map(|()| 0),
            "0" => inlet.push_bool(false).map(|()| 0),
            _ => Err(Refusal::Kind),
        },
        "base64" if *field.kind() == Kind::Bytes => {
            if content.contains(|character: char| character.is_ascii_whitespace()) {
                let content: String = content
                    .chars()
                    .filter(|character| !character.is_ascii_whitespace())
                    .collect();
                inlet.push_text(&content)
            } else {
                inlet.push_text(content)
            }
        }
        "nil" | "ex:nil" if content.is_empty() => inlet.push_null().map(|()| 0),
        "dateTime.iso8601"
            if *field.kind() == Kind::Timestamp(Unit::Second, Zone::Local)
                && content.is_ascii()
                && content.len() == 17 =>
        {
            // 19980717T14:08:55
            let (year, month, rest) = (&content[..4], &content[4..6], &content[6..]);
            inlet.push_text(&format!("{year}-{month}-{rest}"))
        }
        _ => Err(Refusal::Kind),
    }
}
