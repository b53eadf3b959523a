//! Writes a RecordSet row by row.

use super::{Cell, ServerInfo};
use crate::{EncodeError, amf0};

/// Writes a RecordSet row by row.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{Cell, Encoder, ServerInfo, RecordSet};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["id", "colour"], 2), 2)?;
/// encoder.write_row([Cell::Number(1.0), Cell::String("red")])?;
/// encoder.write_row([Cell::Number(2.0), Cell::Null])?;
/// encoder.finish()?;
///
/// let table = RecordSet::decode(&bytes, Default::default())?;
/// assert_eq!(table.info.columns, ["id", "colour"]);
/// assert_eq!(table.rows[1][0], 2.0.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'out> {
    amf0: amf0::Encoder<'out>,
    info: ServerInfo,
    columns: u32,
    in_row: bool,
}

impl<'out> Encoder<'out> {
    /// An encoder that writes `rows` rows at the end of `out`.
    ///
    /// # Errors
    ///
    /// More columns than 32 bits can say.
    pub fn new(out: &'out mut Vec<u8>, info: ServerInfo, rows: u32) -> Result<Self, EncodeError> {
        let columns = amf0::length_of("columns", info.columns.len())?;
        let mut amf0 = amf0::Encoder::new(out);
        amf0.begin_typed_object("RecordSet")?;
        amf0.property("serverInfo")?;
        amf0.begin_object()?;
        amf0.property("totalCount")?;
        amf0.write_number(f64::from(info.total))?;
        amf0.property("initialData")?;
        amf0.begin_strict_array(rows)?;
        Ok(Self {
            amf0,
            info,
            columns,
            in_row: false,
        })
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// Another number of cells than there are columns, more rows than announced, a text of 4 GiB or more.
    #[inline]
    pub fn write_row<'c>(
        &mut self,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<(), EncodeError> {
        self.begin_row()?;
        for cell in cells {
            self.write_cell(cell)?;
        }
        self.end_row()
    }

    /// Begins a row: [`write_cell`](Self::write_cell) for each column, then [`end_row`](Self::end_row).
    ///
    /// # Errors
    ///
    /// More rows than announced; a row that was not ended.
    #[inline]
    pub fn begin_row(&mut self) -> Result<(), EncodeError> {
        if self.in_row {
            return Err(EncodeError::NotACell);
        }
        self.amf0.begin_strict_array(self.columns)?;
        self.in_row = true;
        Ok(())
    }

    /// Writes a cell of the row that was begun.
    ///
    /// # Errors
    ///
    /// No row was begun, more cells than columns, a text of 4 GiB or more.
    #[inline]
    pub fn write_cell(&mut self, cell: Cell<'_>) -> Result<(), EncodeError> {
        if !self.in_row {
            return Err(EncodeError::NothingOpen);
        }
        match cell {
            Cell::Number(number) => self.amf0.write_number(number),
            Cell::String(text) => self.amf0.write_string(text),
            Cell::Null => self.amf0.write_null(),
            Cell::Boolean(boolean) => self.amf0.write_boolean(boolean),
            Cell::Date(milliseconds) => self.amf0.write_date(milliseconds, 0),
        }
    }

    /// Ends a row.
    ///
    /// # Errors
    ///
    /// No row was begun, fewer cells than columns.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), EncodeError> {
        if !self.in_row {
            return Err(EncodeError::NothingOpen);
        }
        self.amf0.end()?;
        self.in_row = false;
        Ok(())
    }

    /// Writes what comes after the rows.
    ///
    /// # Errors
    ///
    /// Fewer rows than announced; a row that was not ended; a text of 4 GiB or more.
    pub fn finish(mut self) -> Result<(), EncodeError> {
        if self.in_row {
            return Err(EncodeError::StillOpen { open: 1 });
        }
        let amf0 = &mut self.amf0;
        amf0.end()?;
        amf0.property("cursor")?;
        amf0.write_number(f64::from(self.info.cursor))?;
        amf0.property("serviceName")?;
        amf0.write_string(&self.info.service)?;
        amf0.property("columnNames")?;
        amf0.begin_strict_array(self.columns)?;
        for name in &self.info.columns {
            amf0.write_string(name)?;
        }
        amf0.end()?;
        amf0.property("version")?;
        amf0.write_number(self.info.version)?;
        amf0.property("id")?;
        amf0.write_string(&self.info.id)?;
        amf0.end()?;
        amf0.end()?;
        self.amf0.finish()
    }
}
