//! A table written part by part.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tamtam_rows::encoding::{Parquet, ParquetWriter, Text};
use tamtam_rows::packed::{Mode, Writer};
use tamtam_rows::{Encoding, Rows, Schema};

use super::Form;
use super::form::write_lines;
use crate::json::{ObjectArray, not_carried};
use crate::row_stream::{range_too_large, write_gathered};
use crate::table_form::TableForm;
use crate::{Fault, buffer};

/// Writes a table part by part, and gives its bytes away as they are there.
pub(crate) struct PartWriter {
    out: Out,
    state: State,
}

enum State {
    Packed(Writer<Out>),
    Arrow(Box<arrow_ipc::writer::StreamWriter<Out>>),
    Parquet(Box<ParquetWriter<Out>>),
    Json(ObjectArray),
    JsonLines,
    Csv,
}

impl PartWriter {
    /// For a table with these columns, in a form that takes parts.
    ///
    /// # Errors
    /// If the form cannot carry them.
    pub(crate) fn new(form: Form, schema: &Schema) -> Result<PartWriter, Fault> {
        let mut out = Out::default();
        let state = match form {
            Form::Packed => {
                State::Packed(Writer::new(out.clone(), schema, Mode::Packed).map_err(not_carried)?)
            }
            Form::Arrow => {
                let schema = tamtam_rows::arrow::schema_to_arrow(schema);
                let writer = arrow_ipc::writer::StreamWriter::try_new(out.clone(), &schema);
                State::Arrow(Box::new(writer.map_err(not_carried)?))
            }
            Form::Parquet => {
                let writer = ParquetWriter::new(out.clone(), Parquet::ZSTD, schema);
                State::Parquet(Box::new(writer.map_err(not_carried)?))
            }
            Form::Csv => {
                let mut line = Vec::new();
                let head = Rows::empty(schema.clone());
                Text::HEADED.encode(&head, &mut line).map_err(not_carried)?;
                out.put(&line);
                State::Csv
            }
            Form::JsonLines => State::JsonLines,
            Form::Json | Form::MessagePack => State::Json(ObjectArray::default()),
        };
        Ok(PartWriter { out, state })
    }

    /// Writes a part, and gives the bytes that are there.
    ///
    /// # Errors
    /// If the form cannot carry it.
    pub(crate) fn write(&mut self, part: &Rows) -> Result<Vec<u8>, Fault> {
        match &mut self.state {
            State::Packed(writer) => writer.write(part).map_err(not_carried)?,
            State::Arrow(writer) => {
                let batch = part.to_record_batch().map_err(not_carried)?;
                writer.write(&batch).map_err(not_carried)?;
            }
            State::Parquet(writer) => writer.write(part).map_err(not_carried)?,
            State::Json(array) => {
                let mut objects = Vec::new();
                array.write(part, &mut objects)?;
                self.out.put(&objects);
            }
            State::JsonLines => {
                let mut lines = Vec::new();
                write_lines(part, &mut lines)?;
                self.out.put(&lines);
            }
            State::Csv => {
                let mut lines = Vec::new();
                Text::BARE.encode(part, &mut lines).map_err(not_carried)?;
                self.out.put(&lines);
            }
        }
        Ok(self.out.take())
    }

    /// Ends the table, and gives the bytes that are left.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Fault> {
        match self.state {
            State::Packed(writer) => {
                writer.finish().map_err(not_carried)?;
            }
            State::Arrow(mut writer) => writer.finish().map_err(not_carried)?,
            State::Parquet(writer) => {
                writer.finish().map_err(not_carried)?;
            }
            State::Json(array) => {
                let mut end = Vec::new();
                array.finish(&mut end);
                self.out.put(&end);
            }
            State::JsonLines | State::Csv => {}
        }
        Ok(self.out.take())
    }
}

/// The bytes of a range that was gathered out of a table which comes part by part: those of one part, unless they are too many.
///
/// # Errors
/// If the form cannot carry it, or it has too many bytes.
pub(crate) fn encode_range(form: Form, rows: &Rows) -> Result<Vec<u8>, Fault> {
    let table_form = form.of_table();
    if matches!(table_form, TableForm::Columns | TableForm::MessagePack) {
        // They have little more than the columns, and are written at once.
        return form.encode(rows);
    }
    let mut out = buffer::begin();
    let mut writer = PartWriter::new(form, rows.schema())?;
    write_gathered(rows, table_form, range_too_large, &mut out, |some, out| {
        out.extend_from_slice(&writer.write(some)?);
        Ok(())
    })?;
    out.extend_from_slice(&writer.finish()?);
    Ok(buffer::finish(out))
}

/// Bytes on their way from a writer, which keeps its end.
#[derive(Clone, Default)]
struct Out(Arc<Mutex<Vec<u8>>>);

impl Out {
    fn put(&mut self, bytes: &[u8]) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.extend_from_slice(bytes);
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
