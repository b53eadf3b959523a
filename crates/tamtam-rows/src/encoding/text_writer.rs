//! Rows as lines of delimited text.
//!
//! Most cells of most tables are a few bytes. A block of rows at a time, each column makes of each of its cells, with the delimiter behind
//! it, a word ([`ShortCell`]): of several integers at once, since it does not ask how many digits they have. Then the words of all columns
//! are joined, row by row. What does not fit into a word is written where it comes.

use super::Text;
use super::short_cell::ShortCell;
use crate::cell_text;
use crate::kernels::vectorised;
use crate::{Column, EncodeError, Encoding, Field, Kind, Rows, Strings, Values};

/// So many words a block has at most, unless a row has more: they stay in the cache nearest to the core.
const BLOCK: usize = 1 << 10;

/// The lines of all rows.
pub(super) fn write_rows(form: Text, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let columns: Vec<_> = rows.fields().collect();
    let Some(last) = columns.len().checked_sub(1) else {
        return Ok(());
    };
    let behind = |index: usize| if index == last { b'\n' } else { form.delimiter };
    let sources: Vec<_> = columns
        .iter()
        .map(|(field, column)| Cells::of(field, column, form.delimiter))
        .collect();
    out.reserve(rows.len() * columns.len() * 4);
    let mut lines = Lines::new(out);
    let height = (BLOCK / columns.len()).max(1);
    let mut block = vec![ShortCell::NONE; height.min(rows.len()) * columns.len()];
    for first in (0..rows.len()).step_by(height) {
        let count = height.min(rows.len() - first);
        let block = &mut block[..count * columns.len()];
        for (index, cells) in block.chunks_exact_mut(count).enumerate() {
            sources[index].fill(first, cells, behind(index));
            if let Some(nulls) = columns[index].1.nulls() {
                for (row, cell) in cells.iter_mut().enumerate() {
                    if nulls.is_null(first + row) {
                        *cell = ShortCell::of(b"", behind(index));
                    }
                }
            }
        }
        for row in 0..count {
            let mut index = 0;
            loop {
                index += lines.join(block, row + index * count, count);
                if index == columns.len() {
                    break;
                }
                // One that has no word.
                sources[index]
                    .write(first + row, &mut lines)
                    .map_err(|reason| EncodeError::Value {
                        form: form.name(),
                        column: columns[index].0.name().to_owned(),
                        row: first + row,
                        reason: reason.to_owned(),
                    })?;
                lines.push(behind(index));
                index += 1;
            }
        }
    }
    lines.flush();
    Ok(())
}

/// What the values of a column are written from.
enum Cells<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    /// Texts of which none has a byte for which it needs quotes.
    Plain(&'a Strings),
    Quoted(&'a Strings, u8),
    Other(&'a Values, &'a Kind),
}

impl<'a> Cells<'a> {
    fn of(field: &'a Field, column: &'a Column, delimiter: u8) -> Cells<'a> {
        match (column.values(), field.kind()) {
            (Values::I8(values), _) => Cells::I8(values),
            (Values::I16(values), _) => Cells::I16(values),
            (Values::I32(values), Kind::I32) => Cells::I32(values),
            (Values::I64(values), Kind::I64) => Cells::I64(values),
            (Values::U8(values), _) => Cells::U8(values),
            (Values::U16(values), _) => Cells::U16(values),
            (Values::U32(values), _) => Cells::U32(values),
            (Values::U64(values), _) => Cells::U64(values),
            (Values::Text(texts), _) if are_plain(texts, delimiter) => Cells::Plain(texts),
            (Values::Text(texts), _) => Cells::Quoted(texts, delimiter),
            (values, kind) => Cells::Other(values, kind),
        }
    }

    /// The words of as many rows as there are cells, also of those that are null.
    fn fill(&self, first: usize, cells: &mut [ShortCell], behind: u8) {
        let rows = first..first + cells.len();
        match self {
            Cells::I8(values) => signed(&values[rows], cells, behind),
            Cells::I16(values) => signed(&values[rows], cells, behind),
            Cells::I32(values) => signed(&values[rows], cells, behind),
            Cells::I64(values) => signed(&values[rows], cells, behind),
            Cells::U8(values) => unsigned(&values[rows], cells, behind),
            Cells::U16(values) => unsigned(&values[rows], cells, behind),
            Cells::U32(values) => unsigned(&values[rows], cells, behind),
            Cells::U64(values) => unsigned(&values[rows], cells, behind),
            Cells::Plain(texts) => {
                let all = texts.all().as_bytes();
                for (cell, row) in cells.iter_mut().zip(rows) {
                    let place = texts.ends().range(row);
                    *cell = if place.is_empty() {
                        ShortCell::of(b"\"\"", behind)
                    } else {
                        ShortCell::of_part(all, place, behind)
                    };
                }
            }
            Cells::Quoted(..) | Cells::Other(..) => cells.fill(ShortCell::NONE),
        }
    }

    /// Writes a value that has no word.
    fn write(&self, row: usize, lines: &mut Lines<'_>) -> Result<(), &'static str> {
        match self {
            Cells::I8(values) => lines.integer(values[row]),
            Cells::I16(values) => lines.integer(values[row]),
            Cells::I32(values) => lines.integer(values[row]),
            Cells::I64(values) => lines.integer(values[row]),
            Cells::U8(values) => lines.integer(values[row]),
            Cells::U16(values) => lines.integer(values[row]),
            Cells::U32(values) => lines.integer(values[row]),
            Cells::U64(values) => lines.integer(values[row]),
            Cells::Plain(texts) => lines.text(texts, row),
            Cells::Quoted(texts, delimiter) => {
                write_quoted(texts.get(row).as_bytes(), *delimiter, lines.whole());
            }
            Cells::Other(Values::Bytes(slices), _) if slices.get(row).is_empty() => {
                lines.whole().extend_from_slice(b"\"\"");
            }
            Cells::Other(values, kind) => cell_text::write(values, kind, row, lines.whole())?,
        }
        Ok(())
    }
}

fn signed<N: Copy + Into<i64>>(values: &[N], cells: &mut [ShortCell], behind: u8) {
    vectorised(|| {
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = ShortCell::of_signed((*value).into(), behind);
        }
    });
}

fn unsigned<N: Copy + Into<u64>>(values: &[N], cells: &mut [ShortCell], behind: u8) {
    vectorised(|| {
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = ShortCell::of_unsigned((*value).into(), behind);
        }
    });
}

/// Whether no value has a byte for which it needs quotes: by one look at all of them together.
fn are_plain(texts: &Strings, delimiter: u8) -> bool {
    let needs = |byte: u8| asks_for_quotes(byte, delimiter) || byte == FIRST_OF_MARK;
    let has_some = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | needs(*byte));
    !texts.all().as_bytes().chunks(LANES).any(has_some)
}

/// So many bytes are compared at once.
const LANES: usize = 64;

/// So many bytes wait to be appended to the output together.
const ROOM: usize = 4 << 10;
/// No number takes more, with its sign, nor a text that is copied in one step; and a delimiter behind it.
const LONGEST: usize = 32;
/// So many bytes of a short text are copied, whatever its length.
const STEP: usize = 16;

/// Lines, the last bytes of which are in a buffer of their own: to write there takes no call.
struct Lines<'o> {
    out: &'o mut Vec<u8>,
    room: [u8; ROOM],
    /// So many bytes are in it.
    used: usize,
}

impl<'o> Lines<'o> {
    fn new(out: &'o mut Vec<u8>) -> Lines<'o> {
        Lines {
            out,
            room: [0; ROOM],
            used: 0,
        }
    }

    fn flush(&mut self) {
        self.out.extend_from_slice(&self.room[..self.used]);
        self.used = 0;
    }

    /// All of the lines, to append to.
    fn whole(&mut self) -> &mut Vec<u8> {
        self.flush();
        self.out
    }

    /// Makes sure that a number or a short text has room, and a delimiter behind it.
    #[inline]
    fn make_room(&mut self) {
        if self.used + LONGEST > ROOM {
            self.flush();
        }
    }

    /// Appends each `step`th of these cells, from the `place`th on, up to the first one that has no word; how many.
    #[inline]
    fn join(&mut self, cells: &[ShortCell], mut place: usize, step: usize) -> usize {
        let mut used = self.used;
        let mut count = 0;
        while let Some((bytes, length)) = cells.get(place).and_then(|cell| cell.bytes()) {
            // What is behind the cell's own bytes is written over by what follows.
            if let Some(room) = self.room.get_mut(used..used + bytes.len()) {
                room.copy_from_slice(&bytes);
                used += length;
                place += step;
                count += 1;
            } else {
                self.out.extend_from_slice(&self.room[..used]);
                used = 0;
            }
        }
        self.used = used;
        count
    }

    /// The delimiter behind a cell, or the line's end.
    fn push(&mut self, delimiter: u8) {
        self.make_room();
        self.room[self.used] = delimiter;
        self.used += 1;
    }

    fn integer(&mut self, value: impl itoa::Integer) {
        let mut buffer = itoa::Buffer::new();
        self.make_room();
        let digits = buffer.format(value).as_bytes();
        self.room[self.used..][..digits.len()].copy_from_slice(digits);
        self.used += digits.len();
    }

    /// A text that needs no quotes, and has at least one byte.
    fn text(&mut self, texts: &Strings, row: usize) {
        let all = texts.all().as_bytes();
        let place = texts.ends().range(row);
        match all[place.start..].first_chunk::<STEP>() {
            // What is copied too much is written over by what follows.
            Some(step) if place.len() <= STEP => {
                self.make_room();
                self.room[self.used..][..STEP].copy_from_slice(step);
                self.used += place.len();
            }
            _ => self.whole().extend_from_slice(&all[place]),
        }
    }
}

/// Whether a text with this byte anywhere needs quotes.
#[inline]
fn asks_for_quotes(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r')
}

pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();
const FIRST_OF_MARK: u8 = MARK[0];

/// A text, in quotes if it would be taken for something else without.
pub(super) fn write_quoted(text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let needs = |byte: &u8| asks_for_quotes(*byte, delimiter);
    if !text.is_empty() && !text.iter().any(needs) && !text.starts_with(MARK) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for (index, part) in text.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nulls, Schema};

    fn written(columns: Vec<(Field, Column)>) -> String {
        let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let rows = Rows::new(Schema::new(fields).unwrap(), columns).unwrap();
        let mut out = b"before\n".to_vec();
        Text::BARE.encode(&rows, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_of_each_number_of_digits_are_as_the_standard_library_writes_them() {
        let mut values = vec![0, i64::MIN, i64::MAX];
        for exponent in 0..19 {
            let power = 10_i64.pow(exponent);
            values.extend([
                power - 1,
                power,
                power + 1,
                -power,
                1 - power,
                7 * (power / 10),
            ]);
        }
        values.extend(-1_100..1_100);
        values.extend((0..2_000_000).step_by(997));
        let unsigned: Vec<_> = values.iter().map(|value| *value as u64).collect();
        let short: Vec<_> = values.iter().map(|value| *value as i16).collect();
        let mut expected = "before\n".to_owned();
        for ((value, unsigned), short) in values.iter().zip(&unsigned).zip(&short) {
            expected += &format!("{value},{unsigned},{short}\n");
        }
        let text = written(vec![
            (Field::new("signed", Kind::I64), Column::from(values)),
            (Field::new("unsigned", Kind::U64), Column::from(unsigned)),
            (Field::new("short", Kind::I16), Column::from(short)),
        ]);
        assert!(text == expected);
    }

    #[test]
    fn texts_of_each_length_are_whole_wherever_they_lie() {
        for longest in [0, 1, 15, 16, 17, 40, ROOM + 10] {
            let lengths = (0..=longest.min(40)).chain([0, 1, longest]);
            let texts: Vec<_> = lengths
                .map(|length| "abcdefghij".repeat(length / 10 + 1)[..length].to_owned())
                .collect();
            let mut expected = "before\n".to_owned();
            for text in &texts {
                let quotes = if text.is_empty() { "\"\"" } else { "" };
                expected += &format!("{quotes}{text},{quotes}{text}\n");
            }
            let column = || Column::from_iter(texts.iter().map(String::as_str));
            let text = written(vec![
                (Field::new("one", Kind::Text), column()),
                (Field::new("other", Kind::Text), column()),
            ]);
            assert!(text == expected, "up to {longest}");
        }
    }

    #[test]
    fn each_cell_is_in_its_place_however_many_columns_there_are() {
        for (columns, count) in [(1, BLOCK + 1), (3, BLOCK), (BLOCK + 1, 3), (500, 5)] {
            let value = |column: usize, row: usize| {
                let value = (column * 7_919 + row * 104_729) as i32 - 1_000_000;
                (value % 5 != 0).then_some(value)
            };
            let mut expected = "before\n".to_owned();
            for row in 0..count {
                let cells: Vec<_> = (0..columns)
                    .map(|column| {
                        value(column, row).map_or(String::new(), |value| value.to_string())
                    })
                    .collect();
                expected += &(cells.join(",") + "\n");
            }
            let field = |column: usize| Field::nullable(format!("c{column}"), Kind::I32);
            let values = |column| {
                let values: Vec<_> = (0..count).map(|row| value(column, row)).collect();
                let nulls: Nulls = values.iter().map(Option::is_none).collect();
                let values = values
                    .into_iter()
                    .map(|value| value.unwrap_or(77))
                    .collect();
                Column::with_nulls(Values::I32(values), nulls).unwrap()
            };
            let text = written(
                (0..columns)
                    .map(|column| (field(column), values(column)))
                    .collect(),
            );
            assert!(text == expected, "{columns} columns");
        }
    }

    #[test]
    fn a_column_is_plain_unless_a_byte_of_it_asks_for_quotes() {
        let is_plain = |texts: &[&str]| {
            let texts: Strings = texts.iter().copied().collect();
            are_plain(&texts, b';')
        };
        assert!(is_plain(&[]) && is_plain(&["", "a,b", "\u{e9}"]));
        let long = "x".repeat(3 * LANES);
        for byte in [";", "\"", "\n", "\r", "\u{feff}"] {
            assert!(!is_plain(&["a", &format!("{long}{byte}")]), "{byte:?}");
            assert!(!is_plain(&[&format!("{byte}{long}"), "a"]), "{byte:?}");
        }
    }
}
