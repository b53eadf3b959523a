use ::pco::ChunkConfig;
use ::pco::data_types::Number;
use ::pco::standalone::{simple_compress, simple_decompress};
use tamtam_lab::rows::{self, Form};
use tamtam_lab::{Card, Contender, Measure};
use tamtam_rows::{Kind, Rows, Schema, Strings};

use crate::tiles::{Slots, Tiles};

/// The crate `pco`, which compresses columns of numbers: each of the article's columns by itself, with its length before
/// it. It has no text, so the colours are read as numbers before and written as text again behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pco;

impl Contender for Pco {
    fn card(&self) -> Card {
        Card {
            name: "pco",
            version: env!("VERSION_OF_PCO"),
            ours: false,
            about: "pco, column by column; colours as numbers, which the article's reader knows them to be",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_of_the_article(*self, None)
    }
}

impl Form for Pco {
    type Source = Tiles;
    type Decoded<'a> = Tiles;

    fn source(&self, rows: &Rows) -> Result<Tiles, String> {
        Tiles::of(rows)
    }

    fn encode(&self, tiles: &Tiles, out: &mut Vec<u8>) -> Result<(), String> {
        match &tiles.slots {
            Slots::Small(slots) => write(slots, out)?,
            Slots::Large(slots) => write(slots, out)?,
        }
        write(&tiles.x, out)?;
        write(&tiles.y, out)?;
        let colors: Result<Vec<u32>, String> = tiles.colors.iter().map(number).collect();
        write(&colors?, out)?;
        write(&tiles.rotations, out)
    }

    fn decode(&self, bytes: &[u8], schema: &Schema) -> Result<Tiles, String> {
        let is_large = schema
            .fields()
            .first()
            .is_some_and(|field| *field.kind() == Kind::I32);
        let mut rest = bytes;
        let slots = if is_large {
            Slots::Large(read(&mut rest)?)
        } else {
            Slots::Small(read(&mut rest)?)
        };
        let (x, y) = (read(&mut rest)?, read(&mut rest)?);
        let colors = texts(&read(&mut rest)?)?;
        Ok(Tiles {
            slots,
            x,
            y,
            colors,
            rotations: read(&mut rest)?,
        })
    }

    fn rows(&self, tiles: Tiles, schema: &Schema) -> Result<Rows, String> {
        tiles.rows(schema)
    }
}

fn write<N: Number>(numbers: &[N], out: &mut Vec<u8>) -> Result<(), String> {
    let column =
        simple_compress(numbers, &ChunkConfig::default()).map_err(|error| error.to_string())?;
    let length = u32::try_from(column.len()).map_err(|error| error.to_string())?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&column);
    Ok(())
}

fn read<N: Number>(rest: &mut &[u8]) -> Result<Vec<N>, String> {
    let (length, behind) = rest
        .split_first_chunk::<4>()
        .ok_or("the length of a column is missing")?;
    let (column, behind) = behind
        .split_at_checked(u32::from_le_bytes(*length) as usize)
        .ok_or("a column is cut off")?;
    *rest = behind;
    simple_decompress(column).map_err(|error| error.to_string())
}

/// Six hexadecimal digits as a number.
fn number(color: &str) -> Result<u32, String> {
    let wrong = || format!("{color} is no colour");
    let digits = <&[u8; 6]>::try_from(color.as_bytes()).map_err(|_| wrong())?;
    let mut number = 0;
    for digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err(wrong()),
        };
        number = number << 4 | u32::from(value);
    }
    Ok(number)
}

/// Numbers of 24 bits as six hexadecimal digits each.
fn texts(numbers: &[u32]) -> Result<Strings, String> {
    let mut text = vec![0; 6 * numbers.len()];
    for (number, digits) in numbers.iter().zip(text.chunks_exact_mut(6)) {
        for (place, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(number >> (20 - 4 * place) & 15) as usize];
        }
    }
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    Strings::from_fixed(text, 6, numbers.len()).map_err(|error| error.to_string())
}
