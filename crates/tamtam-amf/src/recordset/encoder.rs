//! Writes a RecordSet row by row.

use super::{Cell, Column, ServerInfo};
use crate::columns::{Layout, count_rows, write};
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
    /// How many cells the row that was begun still expects.
    left: Option<u32>,
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
            left: None,
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
        // Counted here and not in the encoder, so that a row is written without a look at anything but its cells.
        let mut left = self.columns;
        let out = self.amf0.out();
        for cell in cells {
            if left == 0 {
                self.left = Some(0);
                return Err(EncodeError::MoreThanAnnounced);
            }
            left -= 1;
            write(out, cell)?;
        }
        self.left = Some(left);
        self.end_row()
    }

    /// Writes the rows that columns make, as many as each of them has cells. It takes less time than row by row.
    ///
    /// # Errors
    ///
    /// Another number of columns than the table has, columns of different lengths, more rows than announced, a row that
    /// was not ended, a text of 4 GiB or more.
    pub fn write_columns(&mut self, columns: &[Column<'_>]) -> Result<(), EncodeError> {
        if self.left.is_some() {
            return Err(EncodeError::NotACell);
        }
        let rows = count_rows(columns)?;
        match self.columns as usize {
            expected if columns.len() > expected => return Err(EncodeError::MoreThanAnnounced),
            expected if columns.len() < expected => {
                return Err(EncodeError::FewerThanAnnounced {
                    left: expected - columns.len(),
                });
            }
            _ => {}
        }
        self.amf0.begin_containers(amf0::length_of("rows", rows)?)?;
        let head = amf0::array_head(self.columns);
        let nothing: &[u8] = &[];
        let leads = std::iter::repeat(nothing);
        Layout::new(&head, columns, leads, nothing).write(columns, self.amf0.out())
    }

    /// Begins a row: [`write_cell`](Self::write_cell) for each column, then [`end_row`](Self::end_row).
    ///
    /// # Errors
    ///
    /// More rows than announced; a row that was not ended.
    #[inline]
    pub fn begin_row(&mut self) -> Result<(), EncodeError> {
        if self.left.is_some() {
            return Err(EncodeError::NotACell);
        }
        self.amf0.write_array_head(self.columns)?;
        self.left = Some(self.columns);
        Ok(())
    }

    /// Writes a cell of the row that was begun.
    ///
    /// # Errors
    ///
    /// No row was begun, more cells than columns, a text of 4 GiB or more.
    #[inline]
    pub fn write_cell(&mut self, cell: Cell<'_>) -> Result<(), EncodeError> {
        match &mut self.left {
            None => return Err(EncodeError::NothingOpen),
            Some(0) => return Err(EncodeError::MoreThanAnnounced),
            Some(left) => *left -= 1,
        }
        write(self.amf0.out(), cell)
    }

    /// Ends a row.
    ///
    /// # Errors
    ///
    /// No row was begun, fewer cells than columns.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), EncodeError> {
        match self.left {
            None => Err(EncodeError::NothingOpen),
            Some(0) => {
                self.left = None;
                Ok(())
            }
            Some(left) => Err(EncodeError::FewerThanAnnounced {
                left: left as usize,
            }),
        }
    }

    /// Writes what comes after the rows.
    ///
    /// # Errors
    ///
    /// Fewer rows than announced; a row that was not ended; a text of 4 GiB or more.
    pub fn finish(mut self) -> Result<(), EncodeError> {
        if self.left.is_some() {
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
