//! Rows as lines of delimited text.
//!
//! Most cells of most tables are a few bytes. A block of rows at a time, each column makes of each of its cells, with the delimiter behind
//! it, a word ([`ShortCell`]): of many integers at once, since it does not ask how many digits they have. A number or a date that does not
//! fit into a word is spelled apart, and the word says where. Then the words of all columns are joined, row by row. Only long texts are
//! written from their column when their turn comes.

use std::ops::Range;

use super::Text;
use super::short_cell::{LANES, ShortCell, of_integers, of_texts, of_truths};
use crate::cell_text;
use crate::{Column, EncodeError, Encoding, Field, Kind, Nulls, Rows, Strings, Values};

/// So many words a block has, unless a row or the lanes need more: they stay in the cache nearest to the core.
const BLOCK: usize = 1 << 10;

/// The lines of all rows.
pub(super) fn write_rows(form: Text, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let columns = rows.schema().len();
    if columns == 0 {
        return Ok(());
    }
    let sources: Vec<_> = rows
        .fields()
        .enumerate()
        .map(|(index, (field, column))| {
            let is_last = index + 1 == columns;
            Source::of(field, column, form.delimiter, is_last)
        })
        .collect();
    out.reserve(rows.len() * columns * 4);
    let mut lines = Lines::new(out);
    let height = (BLOCK / columns).max(LANES).min(rows.len());
    let height = height.next_power_of_two();
    let mut block = vec![ShortCell::NONE; height * columns];
    let mut spelled = Vec::with_capacity(ROOM / 4);
    for first in (0..rows.len()).step_by(height) {
        let count = height.min(rows.len() - first);
        spelled.clear();
        // The first row in which a value is refused, and the first such column in it.
        let mut wrong = None;
        for (column, cells) in block.chunks_exact_mut(height).enumerate() {
            let rows = first..first + count;
            let filled = sources[column].fill(rows, &mut cells[..count], &mut spelled);
            if let Err((row, reason)) = filled
                && wrong.is_none_or(|(_, first, _)| row < first)
            {
                wrong = Some((column, row, reason));
            }
        }
        if let Some((column, row, reason)) = wrong {
            return Err(EncodeError::Value {
                form: form.name(),
                column: sources[column].name.to_owned(),
                row,
                reason: reason.to_owned(),
            });
        }
        if !spelled.is_empty() {
            spelled.resize(spelled.len() + STEP, 0);
        }
        lines.join(&block, height, count, |lines, row, column, cell| {
            sources[column].write(first + row, cell, &spelled, lines);
        });
    }
    lines.flush();
    Ok(())
}

/// What the cells of a column are written from.
struct Source<'a> {
    name: &'a str,
    values: &'a Values,
    kind: &'a Kind,
    nulls: Option<&'a Nulls>,
    /// Whether it has texts of which none has a byte for which it needs quotes.
    is_plain: bool,
    delimiter: u8,
    /// What stands behind each cell: the delimiter, or the end of the line.
    behind: u8,
}

impl<'a> Source<'a> {
    fn of(field: &'a Field, column: &'a Column, delimiter: u8, is_last: bool) -> Source<'a> {
        Source {
            name: field.name(),
            values: column.values(),
            kind: field.kind(),
            nulls: column.nulls(),
            is_plain: column
                .texts()
                .is_some_and(|texts| are_plain(texts, delimiter)),
            delimiter,
            behind: if is_last { b'\n' } else { delimiter },
        }
    }

    /// Makes the cells of these rows. What has no word and is no text is spelled.
    ///
    /// # Errors
    /// The first row whose value is refused, and why.
    fn fill(
        &self,
        rows: Range<usize>,
        cells: &mut [ShortCell],
        spelled: &mut Vec<u8>,
    ) -> Result<(), (usize, &'static str)> {
        let (first, behind) = (rows.start, self.behind);
        match (self.values, self.kind) {
            (Values::I8(values), _) => of_integers(&values[rows], cells, behind),
            (Values::I16(values), _) => of_integers(&values[rows], cells, behind),
            (Values::I32(values), Kind::I32) => of_integers(&values[rows], cells, behind),
            (Values::I64(values), Kind::I64) => of_integers(&values[rows], cells, behind),
            (Values::U8(values), _) => of_integers(&values[rows], cells, behind),
            (Values::U16(values), _) => of_integers(&values[rows], cells, behind),
            (Values::U32(values), _) => of_integers(&values[rows], cells, behind),
            (Values::U64(values), _) => of_integers(&values[rows], cells, behind),
            (Values::Bool(values), _) => of_truths(&values[rows], cells, behind),
            (Values::Text(texts), _) if self.is_plain => of_texts(texts, first, cells, behind),
            (Values::Text(_) | Values::Bytes(_), _) => cells.fill(ShortCell::NONE),
            _ => return self.spell(rows, cells, spelled),
        }
        if let Some(nulls) = self.nulls {
            for (row, cell) in (first..).zip(cells) {
                if nulls.is_null(row) {
                    *cell = ShortCell::empty(behind);
                }
            }
        }
        Ok(())
    }

    /// Spells the values of these rows.
    fn spell(
        &self,
        rows: Range<usize>,
        cells: &mut [ShortCell],
        spelled: &mut Vec<u8>,
    ) -> Result<(), (usize, &'static str)> {
        for (row, cell) in rows.zip(cells) {
            if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
                *cell = ShortCell::empty(self.behind);
                continue;
            }
            let start = spelled.len();
            cell_text::write(self.values, self.kind, row, spelled)
                .map_err(|reason| (row, reason))?;
            spelled.push(self.behind);
            *cell = ShortCell::elsewhere(start..spelled.len());
        }
        Ok(())
    }

    /// Writes a value that has no word, or was spelled.
    #[inline(never)]
    fn write(&self, row: usize, cell: ShortCell, spelled: &[u8], lines: &mut Lines<'_>) {
        match (self.values, self.kind) {
            (Values::I32(values), Kind::I32) => lines.integer(values[row]),
            (Values::I64(values), Kind::I64) => lines.integer(values[row]),
            (Values::U32(values), _) => lines.integer(values[row]),
            (Values::U64(values), _) => lines.integer(values[row]),
            (Values::Text(texts), _) if self.is_plain => {
                let (all, part) = (texts.all().as_bytes(), texts.ends().range(row));
                return lines.text(all, part, self.behind);
            }
            (Values::Text(texts), _) => {
                write_quoted(texts.get(row).as_bytes(), self.delimiter, lines.whole());
            }
            (Values::Bytes(slices), _) if slices.get(row).is_empty() => {
                lines.whole().extend_from_slice(b"\"\"");
            }
            (Values::Bytes(slices), _) => {
                cell_text::write_bytes(slices.get(row), lines.whole());
            }
            _ => return lines.short(spelled, cell.place()),
        }
        lines.push(self.behind);
    }
}

/// Whether no value has a byte for which it needs quotes: by one look at all of them together.
fn are_plain(texts: &Strings, delimiter: u8) -> bool {
    let needs = |byte: u8| asks_for_quotes(byte, delimiter) || byte == FIRST_OF_MARK;
    let has_some = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | needs(*byte));
    !texts.all().as_bytes().chunks(COMPARED).any(has_some)
}

/// So many bytes are compared at once.
const COMPARED: usize = 64;

/// So many bytes wait to be appended to the output together.
const ROOM: usize = 2 << 10;
/// So many bytes of a short text are copied, whatever its length.
const STEP: usize = 32;

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

    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        self.out.extend_from_slice(&self.room[..self.used]);
        self.used = 0;
    }

    /// All of the lines, to append to.
    fn whole(&mut self) -> &mut Vec<u8> {
        self.flush();
        self.out
    }

    /// Appends `count` rows of cells that lie column by column, `height` of each. What has no word, `write` appends. A function of its own,
    /// so that there are registers for what each cell needs.
    #[inline(never)]
    fn join(
        &mut self,
        cells: &[ShortCell],
        height: usize,
        count: usize,
        write: impl Fn(&mut Self, usize, usize, ShortCell),
    ) {
        let mut used = self.used;
        for row in 0..count {
            let mut place = row;
            while let Some(&cell) = cells.get(place) {
                let (bytes, length) = cell.bytes();
                if length == 0 {
                    self.used = used;
                    write(self, row, place >> height.trailing_zeros(), cell);
                    used = self.used;
                } else if let Some(room) = self.room.get_mut(used..used + bytes.len()) {
                    // What is behind the cell's own bytes is written over by what follows.
                    room.copy_from_slice(&bytes);
                    used += length;
                } else {
                    self.used = used;
                    self.flush();
                    used = 0;
                    continue;
                }
                place += height;
            }
        }
        self.used = used;
    }

    /// Makes sure that a step has room, and a delimiter behind it.
    #[inline]
    fn make_room(&mut self) {
        if self.used + STEP >= ROOM {
            self.flush();
        }
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

    /// Appends a part of these bytes, mostly a short one.
    #[inline]
    fn short(&mut self, all: &[u8], part: Range<usize>) {
        match all[part.start..].first_chunk::<STEP>() {
            // What is copied too much is written over by what follows.
            Some(step) if part.len() <= STEP => {
                self.make_room();
                self.room[self.used..][..STEP].copy_from_slice(step);
                self.used += part.len();
            }
            _ => self.long(&all[part]),
        }
    }

    fn long(&mut self, text: &[u8]) {
        if text.len() > ROOM / 8 {
            self.whole().extend_from_slice(text);
            return;
        }
        if self.used + text.len() > ROOM {
            self.flush();
        }
        self.room[self.used..][..text.len()].copy_from_slice(text);
        self.used += text.len();
    }

    /// A text that needs no quotes, and has at least one byte, with the delimiter behind it.
    fn text(&mut self, all: &[u8], part: Range<usize>, behind: u8) {
        const WITH_DELIMITER: usize = STEP + 1;
        if let Some(step) = all[part.start..].first_chunk::<STEP>()
            && let Some(room) = self.room[self.used..].first_chunk_mut::<WITH_DELIMITER>()
            && part.len() <= STEP
        {
            // What is copied too much is written over by what follows.
            room[..STEP].copy_from_slice(step);
            room[part.len()] = behind;
            self.used += part.len() + 1;
        } else {
            self.long(&all[part]);
            self.push(behind);
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

/// Of so many bytes at once quotes are doubled.
const DOUBLED: usize = 64;

/// A text, in quotes if it would be taken for something else without.
pub(super) fn write_quoted(text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let needs = |byte: &u8| asks_for_quotes(*byte, delimiter);
    if !text.is_empty() && !text.iter().any(needs) && !text.starts_with(MARK) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for part in text.chunks(DOUBLED) {
        if !part.contains(&b'"') {
            out.extend_from_slice(part);
            continue;
        }
        let mut doubled = [0; 2 * DOUBLED];
        let mut count = 0;
        for &byte in part {
            // The second one is written over by what follows, unless it is a quote.
            doubled[count..][..2].copy_from_slice(&[byte; 2]);
            count += 1 + usize::from(byte == b'"');
        }
        out.extend_from_slice(&doubled[..count]);
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
    fn what_is_spelled_is_in_its_place_among_words_and_texts() {
        let count = 3 * BLOCK;
        let is_null = |row: usize| row.is_multiple_of(7);
        let nulls: Nulls = (0..count).map(is_null).collect();
        let real = |row: usize| match row % 3 {
            0 => row as f64,
            1 => -(row as f64) / 8.0,
            _ => 1e-300 * row as f64,
        };
        let reals = Values::F64((0..count).map(real).collect());
        let text = |row: usize| "x".repeat(row * row % 90 + 1);
        let mut expected = "before\n".to_owned();
        for row in 0..count {
            let real = zmij::Buffer::new().format(real(row)).to_owned();
            let real = if is_null(row) { String::new() } else { real };
            expected += &format!("{},{real},{},1970-01-02,{row}\n", row % 2 == 0, text(row));
        }
        let written = written(vec![
            (
                Field::new("truth", Kind::Bool),
                Column::new(Values::Bool(
                    (0..count).map(|row| row.is_multiple_of(2)).collect(),
                )),
            ),
            (
                Field::nullable("real", Kind::F64),
                Column::with_nulls(reals, nulls).unwrap(),
            ),
            (
                Field::new("text", Kind::Text),
                Column::new(Values::Text((0..count).map(text).collect())),
            ),
            (
                Field::new("date", Kind::Date),
                Column::new(Values::I32(vec![1; count])),
            ),
            (
                Field::new("row", Kind::U64),
                Column::from((0..count as u64).collect::<Vec<_>>()),
            ),
        ]);
        assert!(written == expected);
    }

    #[test]
    fn quotes_are_doubled_wherever_they_are() {
        for length in [1, 2, DOUBLED - 1, DOUBLED, DOUBLED + 1, 3 * DOUBLED] {
            for texts in [
                vec!["\"".repeat(length)],
                (0..length)
                    .map(|place| "a".repeat(place) + "\"" + &"\u{e9}".repeat(length - place))
                    .collect(),
            ] {
                for text in texts {
                    let mut out = Vec::new();
                    write_quoted(text.as_bytes(), b',', &mut out);
                    let expected = format!("\"{}\"", text.replace('"', "\"\""));
                    assert_eq!(String::from_utf8(out).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn an_error_is_about_the_first_row_that_is_refused() {
        let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
        let reals = |refused: &[usize]| {
            let mut values = vec![0.5; 2 * BLOCK];
            refused.iter().for_each(|row| values[*row] = other_nan);
            Column::from(values)
        };
        let schema = ["a", "b", "c"].map(|name| Field::new(name, Kind::F64));
        let columns = [reals(&[7, BLOCK + 9]), reals(&[3, 8]), reals(&[3, 4])];
        let rows = Rows::new(Schema::new(schema).unwrap(), columns).unwrap();
        let error = Text::BARE.encode(&rows, &mut Vec::new()).unwrap_err();
        assert!(
            matches!(&error, EncodeError::Value { column, row: 3, .. } if column == "b"),
            "{error:?}"
        );
    }

    #[test]
    fn a_column_is_plain_unless_a_byte_of_it_asks_for_quotes() {
        let is_plain = |texts: &[&str]| {
            let texts: Strings = texts.iter().copied().collect();
            are_plain(&texts, b';')
        };
        assert!(is_plain(&[]) && is_plain(&["", "a,b", "\u{e9}"]));
        let long = "x".repeat(3 * COMPARED);
        for byte in [";", "\"", "\n", "\r", "\u{feff}"] {
            assert!(!is_plain(&["a", &format!("{long}{byte}")]), "{byte:?}");
            assert!(!is_plain(&[&format!("{byte}{long}"), "a"]), "{byte:?}");
        }
    }
}
