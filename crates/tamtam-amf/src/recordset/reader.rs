//! Reads a RecordSet cell by cell.

use super::blocks::{Block, Blocks, Expected};
use super::{Cell, ServerInfo};
use crate::amf0::{Decoder, Event};
use crate::input::Input;
use crate::{Cause, DecodeError, Limits};

/// Where the cells of a RecordSet go as it is read.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{Block, Cell, CellKind, CellSink, Encoder, Expected, ServerInfo, read_into};
///
/// /// Adds up the numbers of a table of one column.
/// struct Sum(f64);
///
/// impl<'a> CellSink<'a> for Sum {
///     fn cell(&mut self, _row: usize, _column: usize, cell: Cell<'a>) {
///         if let Cell::Number(number) = cell {
///             self.0 += number;
///         }
///     }
///
///     fn expected(&self) -> Vec<Expected> {
///         vec![Expected { kind: CellKind::Number, is_nullable: false }]
///     }
///
///     fn block(&mut self, block: &Block<'a>) -> bool {
///         let mut sum = 0.0;
///         let are_numbers = block.numbers(0, |number| {
///             sum += number.unwrap_or(0.0);
///             true
///         });
///         // All of a block, or nothing.
///         self.0 += if are_numbers { sum } else { 0.0 };
///         are_numbers
///     }
/// }
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["id"], 300), 300)?;
/// for id in 0..300 {
///     encoder.write_row([Cell::Number(f64::from(id))])?;
/// }
/// encoder.finish()?;
///
/// let mut sum = Sum(0.0);
/// read_into(&bytes, Default::default(), &mut sum)?;
/// assert_eq!(sum.0, 44_850.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CellSink<'a> {
    /// One cell with its row and its column, both from 0, row by row.
    fn cell(&mut self, row: usize, column: usize, cell: Cell<'a>);

    /// What the columns are expected to have, if it is known; nothing otherwise. Asked once, before the first row.
    fn expected(&self) -> Vec<Expected> {
        Vec::new()
    }

    /// The next rows, if they begin as expected: takes all cells of all of them out of the block, or none. Rows that are not
    /// taken come cell by cell.
    fn block(&mut self, block: &Block<'a>) -> bool {
        let _ = block;
        false
    }
}

struct Each<F>(F);

impl<'a, F: FnMut(usize, usize, Cell<'a>)> CellSink<'a> for Each<F> {
    #[inline]
    fn cell(&mut self, row: usize, column: usize, cell: Cell<'a>) {
        (self.0)(row, column, cell);
    }
}

/// Reads a RecordSet: hands each cell to `cell` with its row and its column, both from 0, row by row, and returns
/// what else there is. The names of the columns are known afterwards only: they come after the rows.
///
/// # Errors
///
/// What is not AMF0, what exceeds the limits, what is not a RecordSet, rows of another length than there are columns,
/// cells that are objects, arrays or references. `cell` may have seen some cells then.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{Cell, Encoder, ServerInfo, read};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["id"], 3), 3)?;
/// for id in 0..3 {
///     encoder.write_row([Cell::Number(f64::from(id))])?;
/// }
/// encoder.finish()?;
///
/// let mut sum = 0.0;
/// let info = read(&bytes, Default::default(), |_, _, cell| {
///     if let Cell::Number(id) = cell {
///         sum += id;
///     }
/// })?;
/// assert_eq!((sum, info.total), (3.0, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<'a>(
    bytes: &'a [u8],
    limits: Limits,
    cell: impl FnMut(usize, usize, Cell<'a>),
) -> Result<ServerInfo, DecodeError> {
    read_into(bytes, limits, &mut Each(cell))
}

/// Reads a RecordSet like [`read`], into a sink, which may take many rows at a time.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_into<'a>(
    bytes: &'a [u8],
    limits: Limits,
    sink: &mut impl CellSink<'a>,
) -> Result<ServerInfo, DecodeError> {
    let mut reader = Reader {
        decoder: Decoder::new(bytes, limits),
        position: 0,
    };
    let info = reader.record_set(sink)?;
    reader.decoder.finish()?;
    Ok(info)
}

struct Reader<'a> {
    decoder: Decoder<'a>,
    /// Where the last item was.
    position: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    fn next(&mut self) -> Result<Event<'a>, DecodeError> {
        self.position = self.decoder.position();
        match self.decoder.next_event()? {
            Some(event) => Ok(event),
            None => self.error(Cause::Truncated { needed: 1, left: 0 }),
        }
    }

    fn error<T>(&self, cause: Cause) -> Result<T, DecodeError> {
        Input::error_at(self.position, cause)
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, DecodeError> {
        self.error(Cause::Unexpected { expected })
    }

    /// The next property of an object that is open, or its end.
    fn property(&mut self) -> Result<Option<&'a str>, DecodeError> {
        match self.next()? {
            Event::Property(name) => Ok(Some(name)),
            _ => Ok(None),
        }
    }

    /// Reads over a value, whatever it is.
    fn skip(&mut self) -> Result<(), DecodeError> {
        let mut open = 0_usize;
        loop {
            match self.next()? {
                Event::BeginObject
                | Event::BeginTypedObject(_)
                | Event::BeginEcmaArray { .. }
                | Event::BeginStrictArray { .. } => open += 1,
                Event::End => open -= 1,
                _ => {}
            }
            // A name is never last: it is within an object.
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn record_set(&mut self, sink: &mut impl CellSink<'a>) -> Result<ServerInfo, DecodeError> {
        match self.next()? {
            Event::BeginTypedObject(class) if class.eq_ignore_ascii_case("RecordSet") => {}
            _ => return self.unexpected("an object of the class RecordSet"),
        }
        let mut info = None;
        while let Some(name) = self.property()? {
            if name.eq_ignore_ascii_case("serverInfo") && info.is_none() {
                info = Some(self.server_info(sink)?);
            } else {
                self.skip()?;
            }
        }
        match info {
            Some(info) => Ok(info),
            None => self.error(Cause::Missing("serverInfo")),
        }
    }

    fn server_info(&mut self, sink: &mut impl CellSink<'a>) -> Result<ServerInfo, DecodeError> {
        match self.next()? {
            Event::BeginObject | Event::BeginTypedObject(_) | Event::BeginEcmaArray { .. } => {}
            _ => return self.unexpected("an object with the properties of serverInfo"),
        }
        let mut info = ServerInfo::whole(Vec::<String>::new(), 0);
        let mut columns = None;
        // Cells in a row, and the rows: how many there are, and where they begin.
        let mut rows: Option<(Option<usize>, u32, usize)> = None;
        let mut total = None;
        while let Some(name) = self.property()? {
            match name {
                "totalCount" => total = Some(self.count()?),
                "cursor" => info.cursor = self.count()?,
                "version" => info.version = self.number()?,
                "serviceName" => info.service = self.text()?,
                "id" => info.id = self.text()?,
                "columnNames" if columns.is_none() => columns = Some(self.columns()?),
                "initialData" if rows.is_none() => {
                    let start = self.decoder.position();
                    let (width, count) = self.rows(sink)?;
                    rows = Some((width, count, start));
                }
                _ => self.skip()?,
            }
        }
        let Some((width, count, start)) = rows else {
            return self.error(Cause::Missing("initialData"));
        };
        let Some(columns) = columns else {
            return self.error(Cause::Missing("columnNames"));
        };
        if width.is_some_and(|width| width != columns.len()) {
            return Input::error_at(
                start,
                Cause::Unexpected {
                    expected: "a cell in each row for each name of a column",
                },
            );
        }
        info.columns = columns;
        info.total = total.unwrap_or(count);
        Ok(info)
    }

    /// Reads the rows: the number of cells in each, if there is any, and the number of rows.
    fn rows(&mut self, sink: &mut impl CellSink<'a>) -> Result<(Option<usize>, u32), DecodeError> {
        let Event::BeginStrictArray { length: rows } = self.next()? else {
            return self.unexpected("an array of rows");
        };
        let mut width = None;
        let mut row = 0;
        let mut blocks = Blocks::new(&sink.expected());
        while row < rows as usize {
            if let Some((passed, found)) = self.block(&mut blocks, row, width, sink) {
                width = Some(found);
                row += passed;
                continue;
            }
            let Event::BeginStrictArray { length } = self.next()? else {
                return self.unexpected("a row, which is an array of cells");
            };
            if *width.get_or_insert(length) != length {
                return self.unexpected("a row with as many cells as the first one has");
            }
            self.cells(row, 0, length, sink)?;
            row += 1;
            // Rows of numbers and texts alone, as most are, are read as one piece.
            let most = blocks.rows_before_the_next(row);
            let flat = self
                .decoder
                .flat_rows(most, length, |before, column, scalar| {
                    sink.cell(row + before as usize, column as usize, scalar.into());
                });
            row += flat.rows as usize;
            if let Some(begun) = flat.cells {
                self.cells(row, begun, length, sink)?;
                row += 1;
            }
        }
        self.next()?;
        Ok((width.map(|width| width as usize), rows))
    }

    /// Gives the rows from this one on to the sink as a block; how many these were, and their columns, if it took them.
    fn block(
        &mut self,
        blocks: &mut Blocks<'a>,
        row: usize,
        width: Option<u32>,
        sink: &mut impl CellSink<'a>,
    ) -> Option<(usize, u32)> {
        let (block, width) = blocks.at(row, width)?;
        let (bytes, left) = self.decoder.arrays_ahead();
        let taken = block.find(bytes, left as usize);
        let rows = block.rows();
        let is_taken =
            rows > 0 && self.decoder.admits_arrays(rows, width, taken) && sink.block(block);
        if !is_taken {
            blocks.was_refused(row);
            return None;
        }
        self.decoder.pass_arrays(rows, width, taken);
        Some((rows, width))
    }

    /// The cells of a row from this column on, and its end.
    fn cells(
        &mut self,
        row: usize,
        mut column: u32,
        width: u32,
        sink: &mut impl CellSink<'a>,
    ) -> Result<(), DecodeError> {
        while column < width {
            let first = column;
            column += self.decoder.scalars(width - first, |before, scalar| {
                sink.cell(row, (first + before) as usize, scalar.into());
            });
            if column < width {
                let read = self.cell()?;
                sink.cell(row, column as usize, read);
                column += 1;
            }
        }
        self.next()?;
        Ok(())
    }

    #[inline]
    fn cell(&mut self) -> Result<Cell<'a>, DecodeError> {
        Ok(match self.next()? {
            Event::Number(number) => Cell::Number(number),
            Event::String(text) | Event::XmlDocument(text) => Cell::String(text),
            Event::Null | Event::Undefined => Cell::Null,
            Event::Boolean(boolean) => Cell::Boolean(boolean),
            Event::Date { milliseconds, .. } => Cell::Date(milliseconds),
            _ => return self.unexpected("a cell: a number, a text, a boolean, a date or null"),
        })
    }

    fn columns(&mut self) -> Result<Vec<String>, DecodeError> {
        let Event::BeginStrictArray { length } = self.next()? else {
            return self.unexpected("an array of the names of columns");
        };
        // The input can pay for that: see `Input::announce`.
        let mut columns = Vec::with_capacity(length as usize);
        for _ in 0..length {
            columns.push(self.text()?);
        }
        self.next()?;
        Ok(columns)
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        match self.next()? {
            Event::Number(number) => Ok(number),
            _ => self.unexpected("a number"),
        }
    }

    fn count(&mut self) -> Result<u32, DecodeError> {
        let number = self.number()?;
        // Exact, or it was not a count.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = number as u32;
        if f64::from(count) == number {
            Ok(count)
        } else {
            self.unexpected("a whole number of 32 bits")
        }
    }

    fn text(&mut self) -> Result<String, DecodeError> {
        match self.next()? {
            Event::String(text) => Ok(text.to_owned()),
            Event::Null | Event::Undefined => Ok(String::new()),
            _ => self.unexpected("a text"),
        }
    }
}
