//! Our packed encoding from a list of structs, and back to it.

use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{Limits, Record, Rows, Schema, record};

use super::VERSION;
use crate::rows::{self, Form};
use crate::{Card, Contender, Measure};

/// Our packed encoding for a program that has its table as structs: turning them into columns is in the time, and so is
/// turning columns into structs again.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedFromStructs;

record! {
    /// A row of the article's table.
    #[derive(Debug)]
    pub(super) struct Tile {
        slot_number: i16,
        x: i16,
        y: i16,
        color: String,
        rotation: i16,
    }
}

record! {
    /// The same with many rows.
    #[derive(Debug)]
    pub(super) struct LargeTile {
        slot_number: i32,
        x: i16,
        y: i16,
        color: String,
        rotation: i16,
    }
}

/// By how many bits the slots have.
#[derive(Debug)]
pub(super) enum Tiles {
    Small(Vec<Tile>),
    Large(Vec<LargeTile>),
}

impl Contender for PackedFromStructs {
    fn card(&self) -> Card {
        Card {
            name: "packed-from-structs",
            version: VERSION,
            ours: true,
            about: "our packed encoding, from a vector of structs to a vector of structs",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_of_the_article(*self, None)
    }
}

impl Form for PackedFromStructs {
    type Source = Tiles;
    type Decoded<'a> = Tiles;

    fn source(&self, rows: &Rows) -> Result<Tiles, String> {
        structs(rows)
    }

    fn encode(&self, tiles: &Tiles, out: &mut Vec<u8>) -> Result<(), String> {
        match tiles {
            Tiles::Small(tiles) => packed::encode_records(tiles, Mode::Packed, out),
            Tiles::Large(tiles) => packed::encode_records(tiles, Mode::Packed, out),
        }
        .map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8], _schema: &Schema) -> Result<Tiles, String> {
        let rows = packed::decode(bytes, &Limits::NONE).map_err(|error| error.to_string())?;
        structs(&rows)
    }

    fn rows(&self, tiles: Tiles, _schema: &Schema) -> Result<Rows, String> {
        columns(&tiles)
    }
}

fn structs(rows: &Rows) -> Result<Tiles, String> {
    let is_large = rows
        .column("slot_number")
        .is_some_and(|column| column.slice::<i32>().is_some());
    let tiles = if is_large {
        LargeTile::from_rows(rows).map(|tiles| Tiles::Large(tiles.collect()))
    } else {
        Tile::from_rows(rows).map(|tiles| Tiles::Small(tiles.collect()))
    };
    tiles.map_err(|error| error.to_string())
}

fn columns(tiles: &Tiles) -> Result<Rows, String> {
    match tiles {
        Tiles::Small(tiles) => Tile::to_rows(tiles),
        Tiles::Large(tiles) => LargeTile::to_rows(tiles),
    }
    .map_err(|error| error.to_string())
}
