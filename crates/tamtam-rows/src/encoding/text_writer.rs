//! Rows as lines of delimited text.

use super::Text;
use crate::cell_text;
use crate::{Column, EncodeError, Encoding, Field, Kind, Rows, Strings, Values};

/// The lines of all rows.
pub(super) fn write_rows(form: Text, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let delimiter = form.delimiter;
    let columns = rows.fields();
    let columns: Vec<_> = columns
        .map(|(field, column)| (Cells::of(field, column, delimiter), field, column))
        .collect();
    out.reserve(rows.len() * columns.len() * 4);
    let mut lines = Lines::new(out);
    for row in 0..rows.len() {
        for (cells, field, column) in &columns {
            if !column.is_null(row) {
                cells
                    .write(row, &mut lines)
                    .map_err(|reason| EncodeError::Value {
                        form: form.name(),
                        column: field.name().to_owned(),
                        row,
                        reason: reason.to_owned(),
                    })?;
            }
            lines.push(delimiter);
        }
        lines.end_line();
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

    #[inline]
    fn write(&self, row: usize, lines: &mut Lines<'_>) -> Result<(), &'static str> {
        match self {
            Cells::I8(values) => lines.signed(values[row].into()),
            Cells::I16(values) => lines.signed(values[row].into()),
            Cells::I32(values) => lines.signed(values[row].into()),
            Cells::I64(values) => lines.signed(values[row]),
            Cells::U8(values) => lines.unsigned(values[row].into()),
            Cells::U16(values) => lines.unsigned(values[row].into()),
            Cells::U32(values) => lines.unsigned(values[row].into()),
            Cells::U64(values) => lines.unsigned(values[row]),
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

    /// The delimiter behind a cell, of which the line's end may take the place.
    #[inline]
    fn push(&mut self, delimiter: u8) {
        self.make_room();
        self.room[self.used] = delimiter;
        self.used += 1;
    }

    /// A line feed instead of the delimiter behind the last cell.
    #[inline]
    fn end_line(&mut self) {
        if let Some(last) = self.used.checked_sub(1) {
            self.room[last] = b'\n';
        }
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        self.make_room();
        if value < 0 {
            self.room[self.used] = b'-';
            self.used += 1;
        }
        self.digits(value.unsigned_abs());
    }

    #[inline]
    fn unsigned(&mut self, value: u64) {
        self.make_room();
        self.digits(value);
    }

    /// The digits of a number for which there is room.
    #[inline]
    fn digits(&mut self, value: u64) {
        if value < 1_000 {
            self.leading(value as usize);
        } else if value < 1_000_000 {
            self.leading(value as usize / 1_000);
            self.following(value as usize % 1_000);
        } else {
            let mut buffer = itoa::Buffer::new();
            let digits = buffer.format(value).as_bytes();
            self.room[self.used..][..digits.len()].copy_from_slice(digits);
            self.used += digits.len();
        }
    }

    /// The first up to three digits.
    #[inline]
    fn leading(&mut self, value: usize) {
        let [digits @ .., count] = LEADING[value];
        self.room[self.used..][..3].copy_from_slice(&digits);
        self.used += usize::from(count);
    }

    /// Three digits behind others.
    #[inline]
    fn following(&mut self, value: usize) {
        self.room[self.used..][..3].copy_from_slice(&FOLLOWING[value]);
        self.used += 3;
    }

    /// A text that needs no quotes.
    #[inline]
    fn text(&mut self, texts: &Strings, row: usize) {
        let all = texts.all().as_bytes();
        let place = texts.ends().range(row);
        let length = place.len();
        if length == 0 {
            self.make_room();
            self.room[self.used..][..2].copy_from_slice(b"\"\"");
            self.used += 2;
        } else if length <= STEP
            // What is copied too much is written over by what follows.
            && let Some(step) = all.get(place.start..place.start + STEP)
        {
            self.make_room();
            self.room[self.used..][..STEP].copy_from_slice(step);
            self.used += length;
        } else {
            self.whole().extend_from_slice(&all[place]);
        }
    }
}

/// Of each number below 1,000 its digits, and how many they are.
const LEADING: [[u8; 4]; 1_000] = {
    let mut all = [[0; 4]; 1_000];
    let mut number = 0;
    while number < 1_000 {
        let [hundreds, tens, ones] = digits_of(number);
        all[number] = match number {
            0..10 => [ones, 0, 0, 1],
            10..100 => [tens, ones, 0, 2],
            _ => [hundreds, tens, ones, 3],
        };
        number += 1;
    }
    all
};

/// Of each number below 1,000 three digits.
const FOLLOWING: [[u8; 3]; 1_000] = {
    let mut all = [[0; 3]; 1_000];
    let mut number = 0;
    while number < 1_000 {
        all[number] = digits_of(number);
        number += 1;
    }
    all
};

const fn digits_of(number: usize) -> [u8; 3] {
    [
        b'0' + (number / 100) as u8,
        b'0' + (number / 10 % 10) as u8,
        b'0' + (number % 10) as u8,
    ]
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
    use crate::Schema;

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
