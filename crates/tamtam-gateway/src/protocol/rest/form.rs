//! The forms in which an answer is sent.

use tamtam_rows::encoding::{ArrowIpc, MessagePack, Parquet, Text};
use tamtam_rows::packed::{Mode, Packed};
use tamtam_rows::{Encoding, Rows};

use crate::buffer;
use crate::content_type::ContentType;
use crate::json::{not_carried, write_rows, write_value};
use crate::table_form::TableForm;
use crate::value::View;
use crate::{Answer, Fault, Typed, Value};

/// A form in which an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Packed,
    Arrow,
    Parquet,
    JsonLines,
    MessagePack,
    Csv,
}

impl Form {
    /// Each form. The first is what a client gets that takes any.
    pub(crate) const ALL: [Form; 7] = [
        Form::Json,
        Form::Packed,
        Form::Arrow,
        Form::Parquet,
        Form::JsonLines,
        Form::MessagePack,
        Form::Csv,
    ];

    /// The types by which it is asked for; the first is what an answer says.
    pub(crate) const fn media_types(self) -> &'static [&'static str] {
        match self {
            Form::Json => const { &[ContentType::Json.name()] },
            Form::Packed => const { &[ContentType::Packed.name()] },
            Form::Arrow => const { &[ContentType::Arrow.name()] },
            Form::Parquet => const { &[ContentType::Parquet.name()] },
            Form::JsonLines => {
                const {
                    &[
                        ContentType::JsonLines.name(),
                        "application/x-ndjson",
                        "application/x-jsonlines",
                    ]
                }
            }
            Form::MessagePack => {
                const {
                    &[
                        ContentType::MessagePack.name(),
                        "application/msgpack",
                        "application/x-msgpack",
                    ]
                }
            }
            Form::Csv => &["text/csv"],
        }
    }

    /// The form of this media type.
    pub(crate) fn named(media_type: &str) -> Option<Form> {
        let is = |form: &Form| {
            let mut types = form.media_types().iter();
            types.any(|known| known.eq_ignore_ascii_case(media_type))
        };
        Form::ALL.into_iter().find(is)
    }

    /// The type of an answer in it.
    pub(crate) const fn content_type(self) -> ContentType {
        match self {
            Form::Json => ContentType::Json,
            Form::Packed => ContentType::Packed,
            Form::Arrow => ContentType::Arrow,
            Form::Parquet => ContentType::Parquet,
            Form::JsonLines => ContentType::JsonLines,
            Form::MessagePack => ContentType::MessagePack,
            Form::Csv => ContentType::Csv,
        }
    }

    /// Whether an answer can be sent so; what cannot is told by another form, or by an error.
    pub(crate) fn carries(self, answer: &Answer) -> bool {
        match answer {
            Answer::Rows(_)
            | Answer::Cached(_)
            | Answer::Stream(_)
            | Answer::Value(Value::Rows(_)) => true,
            Answer::Value(_) | Answer::Typed(_) => matches!(self, Form::Json | Form::MessagePack),
        }
    }

    /// Whether a table can be sent so part by part.
    pub(crate) fn takes_parts(self) -> bool {
        self != Form::MessagePack
    }

    /// The bytes of a table.
    ///
    /// # Errors
    /// If the form cannot carry it.
    pub(crate) fn encode(self, rows: &Rows) -> Result<Vec<u8>, Fault> {
        let mut out = buffer::begin();
        match self {
            Form::Json => write_rows(rows, &mut out)?,
            Form::JsonLines => write_lines(rows, &mut out)?,
            Form::Packed => Packed { mode: Mode::Packed }
                .encode(rows, &mut out)
                .map_err(not_carried)?,
            Form::Arrow => ArrowIpc::PLAIN
                .encode(rows, &mut out)
                .map_err(not_carried)?,
            Form::Parquet => Parquet::ZSTD.encode(rows, &mut out).map_err(not_carried)?,
            Form::MessagePack => MessagePack.encode(rows, &mut out).map_err(not_carried)?,
            Form::Csv => Text::HEADED.encode(rows, &mut out).map_err(not_carried)?,
        }
        Ok(buffer::finish(out))
    }

    /// What a table is in it that goes as a whole.
    pub(crate) fn of_table(self) -> TableForm {
        match self {
            Form::Json => TableForm::Json,
            Form::JsonLines => TableForm::JsonLines,
            Form::Csv => TableForm::Csv,
            Form::MessagePack => TableForm::MessagePack,
            Form::Packed | Form::Arrow | Form::Parquet => TableForm::Columns,
        }
    }

    /// The bytes of a value that is no table.
    ///
    /// # Errors
    /// If the form cannot carry it.
    pub(crate) fn encode_value(self, value: &Value) -> Result<Vec<u8>, Fault> {
        let mut out = buffer::begin();
        match self {
            Form::MessagePack => {
                rmp_serde::encode::write_named(&mut out, &View(value)).map_err(not_carried)?
            }
            _ => write_value(value, &mut out)?,
        }
        Ok(buffer::finish(out))
    }

    /// The bytes of what serde writes.
    ///
    /// # Errors
    /// If the form cannot carry it.
    pub(crate) fn encode_typed(self, typed: &Typed) -> Result<Vec<u8>, Fault> {
        let mut out = buffer::begin();
        match self {
            Form::MessagePack => typed.write_message_pack(&mut out)?,
            _ => typed.write_json(&mut out)?,
        }
        Ok(buffer::finish(out))
    }
}

/// An object a line.
pub(super) fn write_lines(rows: &Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut line = Vec::new();
    for row in 0..rows.len() {
        line.clear();
        write_rows(&rows.part(row..row + 1), &mut line)?;
        // The object, without the brackets around it.
        out.extend_from_slice(line.get(1..line.len() - 1).unwrap_or_default());
        out.push(b'\n');
    }
    Ok(())
}
