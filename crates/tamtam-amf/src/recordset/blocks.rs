//! Many rows at a time, column by column, where it is known what the columns have.

use crate::amf0::{
    ARRAY_HEAD_BYTES, BOOLEAN, BOOLEAN_BYTES, NULL, NUMBER, NUMBER_BYTES, STRING, array_head,
    boolean_at, number_at, push_bytes, string_bytes_at,
};

/// What the cells of a column are expected to be.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{CellKind, Expected};
///
/// let names = Expected { kind: CellKind::Text, is_nullable: true };
/// assert_ne!(names, Expected { kind: CellKind::Text, is_nullable: false });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// All that are not null.
    pub kind: CellKind,
    /// Whether there may be nulls.
    pub is_nullable: bool,
}

/// The kinds of cells that columns of a [`Block`] have.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::CellKind;
///
/// // Integers are numbers, too: the format has no others.
/// assert_ne!(CellKind::Number, CellKind::Text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellKind {
    /// Numbers.
    Number,
    /// Yes or no.
    Boolean,
    /// Texts of less than 64 KiB.
    Text,
}

/// How many rows a block has at most: what is noted of their places stays in the nearest cache.
pub(super) const ROWS_IN_A_BLOCK: usize = 128;

/// The blocks of a table.
pub(super) struct Blocks<'a> {
    /// None where it is not known what the columns have.
    block: Option<Block<'a>>,
    width: u32,
    /// The row from which on a block may be tried again.
    next_at: usize,
    /// How many rows are read cell by cell after the next refusal.
    pause: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(expected: &[Expected]) -> Self {
        let width = u32::try_from(expected.len())
            .ok()
            .filter(|width| *width > 0);
        Blocks {
            block: width.map(|_| Block::new(expected)),
            width: width.unwrap_or(0),
            next_at: 0,
            pause: ROWS_IN_A_BLOCK,
        }
    }

    /// The block for rows from this one on, with the number of their columns, if it is to be tried: where the rows before have
    /// as many.
    pub(super) fn at(&mut self, row: usize, width: Option<u32>) -> Option<(&mut Block<'a>, u32)> {
        let is_due = row >= self.next_at && width.is_none_or(|width| width == self.width);
        let block = self.block.as_mut().filter(|_| is_due)?;
        Some((block, self.width))
    }

    /// The block from this row on was not as expected. The more often that happens, the more rows are read before the next
    /// try.
    pub(super) fn was_refused(&mut self, row: usize) {
        self.next_at = row + self.pause;
        self.pause *= 2;
    }

    /// How many rows from this one on are to be read cell by cell.
    pub(super) fn rows_before_the_next(&self, row: usize) -> u32 {
        let rows = match self.block {
            Some(_) => self.next_at.saturating_sub(row),
            None => usize::MAX,
        };
        u32::try_from(rows).unwrap_or(u32::MAX)
    }
}

/// Columns beside each other, of which the last alone has cells of changing length.
#[derive(Debug)]
struct Stretch {
    /// The bytes of the others.
    fixed: usize,
    /// None for what is behind the last column of changing length.
    last: Option<Expected>,
    /// Where it begins in each row.
    places: [usize; ROWS_IN_A_BLOCK],
}

impl Stretch {
    fn new(fixed: usize, last: Option<Expected>) -> Self {
        Stretch {
            fixed,
            last,
            places: [0; ROWS_IN_A_BLOCK],
        }
    }
}

/// Where a column is.
#[derive(Clone, Copy, Debug)]
struct ColumnPlace {
    expected: Expected,
    stretch: usize,
    /// How many bytes behind the stretch's beginning.
    offset: usize,
}

/// Rows that were found to begin as expected; their cells are yet to be read.
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
#[derive(Debug)]
pub struct Block<'a> {
    bytes: &'a [u8],
    columns: Vec<ColumnPlace>,
    stretches: Vec<Stretch>,
    rows: usize,
}

impl<'a> Block<'a> {
    pub(super) fn new(expected: &[Expected]) -> Self {
        let mut stretches = Vec::new();
        let mut fixed = 0;
        let columns = expected
            .iter()
            .map(|&expected| {
                let column = ColumnPlace {
                    expected,
                    stretch: stretches.len(),
                    offset: fixed,
                };
                match expected.width() {
                    Some(width) => fixed += width,
                    None => {
                        stretches.push(Stretch::new(std::mem::take(&mut fixed), Some(expected)));
                    }
                }
                column
            })
            .collect();
        stretches.push(Stretch::new(fixed, None));
        Block {
            bytes: &[],
            columns,
            stretches,
            rows: 0,
        }
    }

    /// Finds the rows at the beginning of these bytes, at most so many; how many bytes they take.
    pub(super) fn find(&mut self, bytes: &'a [u8], most: usize) -> usize {
        let head = array_head(self.columns.len().try_into().unwrap_or(u32::MAX));
        self.bytes = bytes;
        self.rows = 0;
        let mut end = 0;
        while self.rows < most.min(ROWS_IN_A_BLOCK) {
            match self.end_of_row(end, head) {
                Some(behind) => end = behind,
                None => break,
            }
            self.rows += 1;
        }
        end
    }

    /// Where the row ends that begins at a place, if it is as expected.
    #[inline]
    fn end_of_row(&mut self, begin: usize, head: [u8; ARRAY_HEAD_BYTES]) -> Option<usize> {
        if !self.bytes[begin..].starts_with(&head) {
            return None;
        }
        let mut place = begin + head.len();
        for stretch in &mut self.stretches {
            stretch.places[self.rows] = place;
            place += stretch.fixed;
            if let Some(expected) = stretch.last {
                place += expected.bytes_of(self.bytes.get(place..)?)?;
            }
        }
        (place <= self.bytes.len()).then_some(place)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Hands out the cells of a column as `read` finds them at the beginning of their bytes, and `None` for what is null, until one is
    /// not wanted; whether all were, and were of this kind.
    #[inline]
    fn cells<T>(
        &self,
        column: usize,
        kind: CellKind,
        read: impl Fn(&'a [u8]) -> Option<T>,
        mut is_wanted: impl FnMut(Option<T>) -> bool,
    ) -> bool {
        let column = self.columns.get(column).copied();
        let Some(column) = column.filter(|column| column.expected.kind == kind) else {
            return false;
        };
        let places = &self.stretches[column.stretch].places[..self.rows];
        places.iter().all(|place| {
            let bytes = &self.bytes[place + column.offset..];
            match read(bytes) {
                Some(cell) => is_wanted(Some(cell)),
                None => {
                    column.expected.is_nullable && bytes.first() == Some(&NULL) && is_wanted(None)
                }
            }
        })
    }

    /// Hands out the numbers of a column, and `None` for what is null, until one is not wanted; whether all were.
    #[inline]
    pub fn numbers(&self, column: usize, is_wanted: impl FnMut(Option<f64>) -> bool) -> bool {
        self.cells(column, CellKind::Number, number_at, is_wanted)
    }

    /// Hands out the booleans of a column, and `None` for what is null, until one is not wanted; whether all were.
    #[inline]
    pub fn booleans(&self, column: usize, is_wanted: impl FnMut(Option<bool>) -> bool) -> bool {
        self.cells(column, CellKind::Boolean, boolean_at, is_wanted)
    }

    /// Hands out the texts of a column, and `None` for what is null, until one is not wanted; whether all were. Whether they
    /// are UTF-8 is for the caller to see.
    #[inline]
    pub fn texts(&self, column: usize, is_wanted: impl FnMut(Option<&'a [u8]>) -> bool) -> bool {
        self.cells(column, CellKind::Text, string_bytes_at, is_wanted)
    }

    /// Appends the texts of a column, one behind the other, and their lengths, `None` for what is null; whether all cells are
    /// texts or null. That they are UTF-8 the caller sees of all together in less time than of each.
    #[inline]
    pub fn join_texts(
        &self,
        column: usize,
        joined: &mut Vec<u8>,
        lengths: &mut Vec<Option<usize>>,
    ) -> bool {
        self.texts(column, |text| {
            push_bytes(joined, text.unwrap_or_default());
            lengths.push(text.map(<[u8]>::len));
            true
        })
    }
}

impl Expected {
    /// The bytes that each cell takes, where all take the same.
    fn width(self) -> Option<usize> {
        match self.kind {
            _ if self.is_nullable => None,
            CellKind::Number => Some(NUMBER_BYTES),
            CellKind::Boolean => Some(BOOLEAN_BYTES),
            CellKind::Text => None,
        }
    }

    /// How many bytes of these are a cell as expected.
    #[inline]
    fn bytes_of(self, bytes: &[u8]) -> Option<usize> {
        match (*bytes.first()?, self.kind) {
            (STRING, CellKind::Text) => {
                let length = *bytes[1..].first_chunk()?;
                Some(3 + usize::from(u16::from_be_bytes(length)))
            }
            (NUMBER, CellKind::Number) => Some(NUMBER_BYTES),
            (BOOLEAN, CellKind::Boolean) => Some(BOOLEAN_BYTES),
            (NULL, _) if self.is_nullable => Some(1),
            _ => None,
        }
    }
}
