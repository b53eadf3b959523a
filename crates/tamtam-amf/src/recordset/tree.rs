//! A RecordSet as a tree.

use super::{Cell, Encoder, ServerInfo, read};
use crate::amf0::Value;
use crate::{DecodeError, EncodeError, Limits};

/// A RecordSet with all its rows.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{ServerInfo, RecordSet};
///
/// let table = RecordSet {
///     info: ServerInfo::whole(["id", "colour"], 1),
///     rows: vec![vec![1.0.into(), "red".into()]],
/// };
/// let bytes = table.encode()?;
/// assert_eq!(RecordSet::decode(&bytes, Default::default())?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSet {
    /// What it says beside its rows.
    pub info: ServerInfo,
    /// The cells of each row.
    pub rows: Vec<Vec<Value>>,
}

impl RecordSet {
    /// The RecordSet that `bytes` hold.
    ///
    /// # Errors
    ///
    /// See [`read`].
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        let mut rows: Vec<Vec<Value>> = Vec::new();
        let info = read(bytes, limits, |row, _, cell| {
            // Rows come one after the other; those without cells are not told of.
            if rows.len() <= row {
                rows.resize_with(row + 1, Vec::new);
            }
            rows[row].push(cell.into());
        })?;
        Ok(Self { info, rows })
    }

    /// The bytes of this RecordSet.
    ///
    /// # Errors
    ///
    /// A row of another length than there are columns; a cell that is an object, an array or a reference; more rows
    /// than 32 bits can say.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let rows = crate::amf0::length_of("rows", self.rows.len())?;
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, self.info.clone(), rows)?;
        for row in &self.rows {
            encoder.begin_row()?;
            for value in row {
                encoder.write_cell(cell(value)?)?;
            }
            encoder.end_row()?;
        }
        encoder.finish()?;
        Ok(bytes)
    }
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Value::Null,
            Cell::Number(number) => Value::Number(number),
            Cell::Boolean(boolean) => Value::Boolean(boolean),
            Cell::String(text) => Value::String(text.into()),
            Cell::Date(milliseconds) => Value::Date {
                milliseconds,
                time_zone: 0,
            },
        }
    }
}

fn cell(value: &Value) -> Result<Cell<'_>, EncodeError> {
    Ok(match value {
        Value::Null | Value::Undefined => Cell::Null,
        Value::Number(number) => Cell::Number(*number),
        Value::Boolean(boolean) => Cell::Boolean(*boolean),
        Value::String(text) | Value::XmlDocument(text) => Cell::String(text),
        Value::Date { milliseconds, .. } => Cell::Date(*milliseconds),
        Value::Object(_)
        | Value::Reference(_)
        | Value::EcmaArray(_)
        | Value::StrictArray(_)
        | Value::Unsupported
        | Value::TypedObject(_)
        | Value::Avmplus(_) => return Err(EncodeError::NotACell),
    })
}
