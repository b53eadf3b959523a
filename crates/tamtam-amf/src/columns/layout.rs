//! Where the cells of a row lie, and what lies between them.

use std::ops::Range;

use super::Column;
use super::cell::write;
use crate::EncodeError;
use crate::amf0::{put_bytes, put_string, string_bytes};

/// How many rows are written together: what is noted of them, and mostly their bytes, stays in the nearest cache.
const ROWS_TOGETHER: usize = 128;

/// What is the same in each row: some bytes, with the cells of a fixed length among them, up to a cell of changing length or to
/// the end of the row.
#[derive(Debug)]
struct Segment {
    /// Zeros where the cells are.
    same: Vec<u8>,
    /// The bytes of a cell at their end.
    last_cell: usize,
    /// How long the cell behind it is in each row; then where it begins itself.
    places: [usize; ROWS_TOGETHER],
}

impl Segment {
    fn new() -> Self {
        Segment {
            same: Vec::new(),
            last_cell: 0,
            places: [0; ROWS_TOGETHER],
        }
    }

    fn push(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.same.extend(bytes);
        self.last_cell = 0;
    }

    fn push_cell(&mut self, width: usize) {
        self.same.resize(self.same.len() + width, 0);
        self.last_cell = width;
    }

    /// Puts its bytes into their places in so many rows; its cells are put later.
    fn put(&self, rows: usize, out: &mut [u8]) {
        let (whole, places) = (&self.same[..], &self.places[..rows]);
        let needed = &whole[..whole.len() - self.last_cell];
        // Whatever takes fewer pieces.
        match pieces_of(needed.len()) < pieces_of(whole.len()) {
            true => put_same(needed, places, out),
            false => put_same(whole, places, out),
        }
    }
}

/// Where a column is in each row: so many bytes behind the beginning of a segment.
#[derive(Clone, Copy, Debug)]
struct Spot {
    segment: usize,
    offset: usize,
}

/// How rows of some columns lie.
#[derive(Debug)]
pub(crate) struct Layout {
    segments: Vec<Segment>,
    spots: Vec<Spot>,
    /// Cells of columns of any kind, as they are written.
    cells: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// A row without its cells, if the rows have one length.
    row: Vec<u8>,
}

impl Layout {
    /// Of rows that begin with a head and end with a tail; each cell has its column's lead before it.
    pub(crate) fn new<'l>(
        head: &[u8],
        columns: &[Column<'_>],
        leads: impl IntoIterator<Item = &'l [u8]>,
        tail: &[u8],
    ) -> Self {
        let mut segments = Vec::new();
        let mut segment = Segment::new();
        segment.push(head.iter().copied());
        let spots = columns
            .iter()
            .zip(leads)
            .map(|(column, lead)| {
                segment.push(lead.iter().copied().chain(column.marker()));
                let spot = Spot {
                    segment: segments.len(),
                    offset: segment.same.len(),
                };
                match column.width() {
                    Some(width) => segment.push_cell(width),
                    None => segments.push(std::mem::replace(&mut segment, Segment::new())),
                }
                spot
            })
            .collect();
        if !tail.is_empty() {
            segment.push(tail.iter().copied());
        }
        segments.push(segment);
        Layout {
            segments,
            spots,
            cells: Vec::new(),
            ends: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Writes all rows of these columns, which have one length.
    ///
    /// # Errors
    ///
    /// A text of 4 GiB or more; some rows were written then.
    pub(crate) fn write(
        &mut self,
        columns: &[Column<'_>],
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let rows = columns.first().map_or(0, Column::len);
        for first in (0..rows).step_by(ROWS_TOGETHER) {
            self.write_some(columns, first..rows.min(first + ROWS_TOGETHER), out)?;
        }
        Ok(())
    }

    fn write_some(
        &mut self,
        columns: &[Column<'_>],
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.note_lengths(columns, rows.clone())?;
        if self.are_even(rows.len()) {
            self.put_even(rows.len(), out);
        } else {
            let end = self.find_places(rows.len(), out.len());
            out.resize(end, 0);
            for segment in &self.segments {
                segment.put(rows.len(), out);
            }
        }
        let mut any = Any {
            cells: &self.cells,
            ends: &self.ends,
            begin: 0,
        };
        for (column, spot) in columns.iter().zip(&self.spots) {
            let places = &self.segments[spot.segment].places[..rows.len()];
            let out = &mut out[spot.offset..];
            match column {
                Column::Boolean(cells) => {
                    for (&place, &cell) in places.iter().zip(&cells[rows.clone()]) {
                        out[place] = u8::from(cell);
                    }
                }
                Column::I8(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::I16(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::I32(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U8(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U16(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U32(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::Number(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::Text(cells) => {
                    for (&place, cell) in places.iter().zip(&cells[rows.clone()]) {
                        put_string(&mut out[place..], cell.as_bytes());
                    }
                }
                Column::Texts(cells) => {
                    for (&place, cell) in places.iter().zip(cells.some(rows.clone())) {
                        put_string(&mut out[place..], cell);
                    }
                }
                Column::Any(_) => any.put(places, out),
            }
        }
        Ok(())
    }

    /// Notes how long the cells of changing length are, and writes the cells of any kind, which are put into the rows later.
    fn note_lengths(
        &mut self,
        columns: &[Column<'_>],
        rows: Range<usize>,
    ) -> Result<(), EncodeError> {
        self.cells.clear();
        self.ends.clear();
        for (column, spot) in columns.iter().zip(&self.spots) {
            let lengths = &mut self.segments[spot.segment].places;
            match column {
                Column::Text(cells) => {
                    for (length, cell) in lengths.iter_mut().zip(&cells[rows.clone()]) {
                        *length = string_bytes(cell.len())?;
                    }
                }
                Column::Texts(cells) => {
                    for (length, cell) in lengths.iter_mut().zip(cells.some(rows.clone())) {
                        *length = string_bytes(cell.len())?;
                    }
                }
                Column::Any(cells) => {
                    for (length, &cell) in lengths.iter_mut().zip(&cells[rows.clone()]) {
                        let begin = self.cells.len();
                        write(&mut self.cells, cell)?;
                        self.ends.push(self.cells.len());
                        *length = self.cells.len() - begin;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether so many rows have one length, since the cells of each column have.
    fn are_even(&self, rows: usize) -> bool {
        // The last segment has no such cell.
        let mut others = self.segments.iter().rev().skip(1);
        others.all(|segment| {
            let lengths = &segment.places[..rows];
            lengths.iter().all(|&length| length == lengths[0])
        })
    }

    /// Puts the bytes of all segments into so many rows of one length, and finds where each segment begins.
    fn put_even(&mut self, rows: usize, out: &mut Vec<u8>) {
        let begin = out.len();
        self.row.clear();
        let last = self.segments.len() - 1;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            let cell = if number < last { segment.places[0] } else { 0 };
            segment.places[0] = begin + self.row.len();
            self.row.extend_from_slice(&segment.same);
            self.row.resize(self.row.len() + cell, 0);
        }
        for segment in &mut self.segments {
            let mut next = segment.places[0];
            for place in &mut segment.places[..rows] {
                *place = next;
                next += self.row.len();
            }
        }
        // Rows that are there are copied: twice as many each time.
        out.extend_from_slice(&self.row);
        let mut done = 1;
        while done < rows {
            let more = done.min(rows - done);
            out.extend_from_within(begin..begin + more * self.row.len());
            done += more;
        }
    }

    /// Finds where each segment begins in so many rows, the first of which begins here; where the last of them ends.
    fn find_places(&mut self, rows: usize, begin: usize) -> usize {
        let Some((last, others)) = self.segments.split_last_mut() else {
            return begin;
        };
        // Of all rows that there can be, for loops of a known length are faster.
        let mut places = [last.same.len(); ROWS_TOGETHER];
        for segment in &*others {
            for (bytes, length) in places.iter_mut().zip(&segment.places) {
                *bytes += segment.same.len() + length;
            }
        }
        let mut end = begin;
        for place in &mut places[..rows] {
            end += std::mem::replace(place, end);
        }
        for segment in others {
            for (next, place) in places.iter_mut().zip(&mut segment.places) {
                let length = std::mem::replace(place, *next);
                *next += segment.same.len() + length;
            }
        }
        last.places = places;
        end
    }
}

/// The lengths of pieces in which bytes are put, the longest first: a call that copies a few bytes takes longer.
const PIECES: [usize; 5] = [32, 16, 8, 4, 1];

/// In how many pieces so many bytes are put.
fn pieces_of(bytes: usize) -> usize {
    let piece = PIECES.iter().find(|&&piece| piece <= bytes);
    piece.map_or(0, |piece| bytes.div_ceil(*piece))
}

/// Puts the same bytes into all places, in pieces of one length, of which the last two may overlap.
fn put_same(same: &[u8], places: &[usize], out: &mut [u8]) {
    macro_rules! by_pieces_of {
        ($length:expr) => {
            if let Some(last) = same.last_chunk::<{ $length }>() {
                let (pieces, rest) = same.as_chunks::<{ $length }>();
                for (number, piece) in pieces.iter().enumerate() {
                    put_piece(piece, $length * number, places, out);
                }
                if !rest.is_empty() {
                    put_piece(last, same.len() - $length, places, out);
                }
                return;
            }
        };
    }
    by_pieces_of!(PIECES[0]);
    by_pieces_of!(PIECES[1]);
    by_pieces_of!(PIECES[2]);
    by_pieces_of!(PIECES[3]);
    by_pieces_of!(PIECES[4]);
}

#[inline]
fn put_piece<const N: usize>(piece: &[u8; N], offset: usize, places: &[usize], out: &mut [u8]) {
    let out = &mut out[offset..];
    for &place in places {
        out[place..][..N].copy_from_slice(piece);
    }
}

#[inline]
fn put_numbers<T: Copy + Into<f64>>(cells: &[T], places: &[usize], out: &mut [u8]) {
    for (&place, &cell) in places.iter().zip(cells) {
        let number: f64 = cell.into();
        out[place..][..8].copy_from_slice(&number.to_be_bytes());
    }
}

/// Cells that are written and still to be put into their rows.
struct Any<'b> {
    cells: &'b [u8],
    ends: &'b [usize],
    /// Where the first of them begins.
    begin: usize,
}

impl Any<'_> {
    /// Puts the next column's.
    fn put(&mut self, places: &[usize], out: &mut [u8]) {
        let (ends, others) = self.ends.split_at(places.len());
        for (&place, &end) in places.iter().zip(ends) {
            let cell = &self.cells[self.begin..end];
            put_bytes(&mut out[place..][..cell.len()], cell);
            self.begin = end;
        }
        self.ends = others;
    }
}
