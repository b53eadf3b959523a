//! Delimited text by loops for the article's five columns.

use tamtam_rows::{Column, Kind, Rows, Schema, Strings};

use super::VERSION;
use crate::rows::{self, Form};
use crate::{Card, Contender, Measure};

/// The article's string, as one writes it by hand who knows the table: `n,x,y,c,r\n` for each row, without a heading,
/// written and read by loops for just these five columns. What any encoding has to beat.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextByHand;

impl Contender for TextByHand {
    fn card(&self) -> Card {
        Card {
            name: "text-by-hand",
            version: VERSION,
            ours: false,
            about: "the article's string, written and read by loops for its five columns alone",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_of_the_article(*self, None)
    }
}

/// The article's columns.
#[derive(Debug)]
pub(super) struct Tiles {
    slots: Slots,
    x: Vec<i16>,
    y: Vec<i16>,
    colors: Strings,
    rotations: Vec<i16>,
}

/// They have 32 bits if there are very many.
#[derive(Debug)]
enum Slots {
    Small(Vec<i16>),
    Large(Vec<i32>),
}

/// A row takes no more: an integer of 32 bits, three of 16, six letters, five separators.
const LONGEST_ROW: usize = 11 + 3 * 6 + 6 + 5;

const PAIRS: &[u8; 200] = b"\
    0001020304050607080910111213141516171819\
    2021222324252627282930313233343536373839\
    4041424344454647484950515253545556575859\
    6061626364656667686970717273747576777879\
    8081828384858687888990919293949596979899";

impl Form for TextByHand {
    type Source = Tiles;
    type Decoded<'a> = Tiles;

    fn source(&self, rows: &Rows) -> Result<Tiles, String> {
        let small = |name: &str| {
            rows.column(name)
                .and_then(|column| column.slice::<i16>())
                .map(<[i16]>::to_vec)
                .ok_or_else(|| format!("the column {name} is not the article's"))
        };
        let colors = rows
            .column("color")
            .and_then(Column::texts)
            .filter(|colors| colors.is_empty() || colors.width() == Some(6))
            .ok_or("the column color is not the article's")?;
        let slots = match rows
            .column("slot_number")
            .and_then(|column| column.slice::<i32>())
        {
            Some(slots) => Slots::Large(slots.to_vec()),
            None => Slots::Small(small("slot_number")?),
        };
        Ok(Tiles {
            slots,
            x: small("x")?,
            y: small("y")?,
            colors: colors.clone(),
            rotations: small("rotation")?,
        })
    }

    fn encode(&self, tiles: &Tiles, out: &mut Vec<u8>) -> Result<(), String> {
        out.reserve(LONGEST_ROW * tiles.x.len());
        match &tiles.slots {
            Slots::Small(slots) => write(slots, tiles, out),
            Slots::Large(slots) => write(slots, tiles, out),
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8], schema: &Schema) -> Result<Tiles, String> {
        let is_large = schema
            .fields()
            .first()
            .is_some_and(|field| *field.kind() == Kind::I32);
        if is_large {
            let mut slots = Vec::new();
            let mut tiles = read(bytes, &mut slots)?;
            tiles.slots = Slots::Large(slots);
            Ok(tiles)
        } else {
            let mut slots = Vec::new();
            let mut tiles = read(bytes, &mut slots)?;
            tiles.slots = Slots::Small(slots);
            Ok(tiles)
        }
    }

    fn rows(&self, tiles: Tiles, schema: &Schema) -> Result<Rows, String> {
        let slots = match tiles.slots {
            Slots::Small(slots) => Column::from(slots),
            Slots::Large(slots) => Column::from(slots),
        };
        Rows::new(
            schema.clone(),
            [
                slots,
                tiles.x.into(),
                tiles.y.into(),
                tiles.colors.into(),
                tiles.rotations.into(),
            ],
        )
        .map_err(|error| error.to_string())
    }
}

fn write<N: Copy + Into<i32>>(slots: &[N], tiles: &Tiles, out: &mut Vec<u8>) {
    let numbers = slots.iter().zip(&tiles.x).zip(&tiles.y);
    let colors = tiles.colors.all().as_bytes().chunks_exact(6);
    for (((slot, x), y), (color, rotation)) in numbers.zip(colors.zip(&tiles.rotations)) {
        let mut row = [0; LONGEST_ROW];
        let mut end = 0;
        for number in [(*slot).into(), i32::from(*x), i32::from(*y)] {
            end = write_number(&mut row, end, number);
            row[end] = b',';
            end += 1;
        }
        row[end..end + 6].copy_from_slice(color);
        row[end + 6] = b',';
        end = write_number(&mut row, end + 7, i32::from(*rotation));
        row[end] = b'\n';
        out.extend_from_slice(&row[..=end]);
    }
}

/// Writes a number in decimal from this place on, two digits at a time, and says where it ends.
#[inline]
fn write_number(row: &mut [u8; LONGEST_ROW], mut at: usize, number: i32) -> usize {
    if number < 0 {
        row[at] = b'-';
        at += 1;
    }
    let mut rest = number.unsigned_abs();
    let digits = rest.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut place = at + digits;
    while rest >= 100 {
        let pair = 2 * (rest % 100) as usize;
        rest /= 100;
        place -= 2;
        row[place..place + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if rest >= 10 {
        let pair = 2 * rest as usize;
        row[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        row[at] = b'0' + rest as u8;
    }
    at + digits
}

/// Reads the lines; the slots are left out of the tiles.
fn read<N: TryFrom<i32>>(bytes: &[u8], slots: &mut Vec<N>) -> Result<Tiles, String> {
    // No row is shorter than its separators, a digit each and the colour.
    let most = bytes.len() / 15 + 1;
    slots.reserve(most);
    let (mut across, mut down, mut turns) = (
        Vec::with_capacity(most),
        Vec::with_capacity(most),
        Vec::with_capacity(most),
    );
    let mut colors = Vec::with_capacity(6 * most);
    let mut at = 0;
    while at < bytes.len() {
        slots.push(read_number(bytes, &mut at, b',')?);
        across.push(read_number(bytes, &mut at, b',')?);
        down.push(read_number(bytes, &mut at, b',')?);
        let Some([color @ .., b',']) = bytes.get(at..at + 7) else {
            return Err(Damaged { at }.into());
        };
        colors.extend_from_slice(color);
        at += 7;
        turns.push(read_number(bytes, &mut at, b'\n')?);
    }
    let colors = String::from_utf8(colors).map_err(|error| error.to_string())?;
    Ok(Tiles {
        slots: Slots::Small(Vec::new()),
        colors: Strings::from_fixed(colors, 6, turns.len()).map_err(|error| error.to_string())?,
        x: across,
        y: down,
        rotations: turns,
    })
}

/// Text that is not what it should be; small, so that the way without errors is fast.
#[derive(Debug)]
struct Damaged {
    at: usize,
}

impl From<Damaged> for String {
    fn from(damaged: Damaged) -> String {
        format!("the text is damaged at byte {}", damaged.at)
    }
}

/// The number at this place and its separator, behind which the place is then.
///
/// Almost all have one to four digits: where the separator stands decides, and the digits are put together at once.
#[inline(always)]
fn read_number<N: TryFrom<i32>>(bytes: &[u8], at: &mut usize, separator: u8) -> Result<N, Damaged> {
    if let Some(next) = bytes.get(*at..).and_then(<[u8]>::first_chunk::<5>) {
        let digit = |place: usize| i32::from(next[place].wrapping_sub(b'0'));
        let [a, b, c, d] = [digit(0), digit(1), digit(2), digit(3)];
        let (number, digits, is_right) = if next[1] == separator {
            (a, 1, a < 10)
        } else if next[2] == separator {
            (a * 10 + b, 2, (a < 10) & (b < 10))
        } else if next[3] == separator {
            (a * 100 + b * 10 + c, 3, (a < 10) & (b < 10) & (c < 10))
        } else if next[4] == separator {
            let is_right = (a < 10) & (b < 10) & (c < 10) & (d < 10);
            (a * 1000 + b * 100 + c * 10 + d, 4, is_right)
        } else {
            (0, 0, false)
        };
        if is_right {
            let number = N::try_from(number).map_err(|_| Damaged { at: *at })?;
            *at += digits + 1;
            return Ok(number);
        }
    }
    read_any_number(bytes, at, separator)
}

/// A number with a sign or more digits.
fn read_any_number<N: TryFrom<i32>>(
    bytes: &[u8],
    at: &mut usize,
    separator: u8,
) -> Result<N, Damaged> {
    let rest = &bytes[*at..];
    let end = rest.iter().take(12).position(|byte| *byte == separator);
    let number = end
        .and_then(|end| std::str::from_utf8(&rest[..end]).ok())
        .and_then(|text| text.parse::<i32>().ok())
        .and_then(|number| N::try_from(number).ok());
    match (number, end) {
        (Some(number), Some(end)) => {
            *at += end + 1;
            Ok(number)
        }
        _ => Err(Damaged { at: *at }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    fn schema(kind: Kind) -> Schema {
        let rows = tables::find("random").unwrap().rows(0).unwrap();
        let fields = rows
            .schema()
            .fields()
            .iter()
            .enumerate()
            .map(|(place, field)| {
                if place == 0 {
                    tamtam_rows::Field::new(field.name(), kind.clone())
                } else {
                    field.clone()
                }
            });
        Schema::new(fields).unwrap()
    }

    #[test]
    fn numbers_of_every_length_are_written_as_they_are() {
        let mut row = [0; LONGEST_ROW];
        let mut numbers = vec![0, i32::MIN, i32::MAX];
        numbers.extend((0..10).flat_map(|power| {
            let ten = 10_i32.pow(power);
            [ten, -ten, ten - 1, 1 - ten, ten.saturating_mul(3)]
        }));
        for number in numbers {
            let end = write_number(&mut row, 2, number);
            assert_eq!(
                std::str::from_utf8(&row[2..end]).unwrap(),
                number.to_string()
            );
        }
    }

    #[test]
    fn tables_are_written_as_in_the_article_and_read_back() {
        for (kind, slots) in [
            (Kind::I16, Column::from(vec![1_i16, -32_768, 32_767])),
            (Kind::I32, Column::from(vec![1_i32, i32::MIN, i32::MAX])),
        ] {
            let numbers = vec![0_i16, i16::MIN, i16::MAX];
            let rows = Rows::new(
                schema(kind),
                [
                    slots,
                    numbers.clone().into(),
                    numbers.clone().into(),
                    Column::from_iter(["ff8800", "000000", "abcdef"]),
                    numbers.into(),
                ],
            )
            .unwrap();
            let mut text = Vec::new();
            let source = TextByHand.source(&rows).unwrap();
            TextByHand.encode(&source, &mut text).unwrap();
            assert!(text.starts_with(b"1,0,0,ff8800,0\n-"));
            let decoded = TextByHand.decode(&text, rows.schema()).unwrap();
            assert_eq!(TextByHand.rows(decoded, rows.schema()).unwrap(), rows);
        }
    }

    #[test]
    fn damaged_text_is_refused() {
        for text in [
            "1,2,3,ff8800,4",
            "1,2,3,ff88,4\n",
            "1,2,x,ff8800,4\n",
            "1,2,,ff8800,4\n",
            "1,2,40000,ff8800,4\n",
            "99999999999,2,3,ff8800,4\n",
            "1,2,3,ff8800,4\n5",
            "1,2,3,ff88é0,4\n",
        ] {
            assert!(
                TextByHand
                    .decode(text.as_bytes(), &schema(Kind::I16))
                    .is_err(),
                "{text:?}"
            );
        }
    }
}
