use std::cell::RefCell;
use std::fmt;

use ::bitcode::{Buffer, Decode, Encode};
use tamtam_lab::rows::{self, Form};
use tamtam_lab::{Card, Contender, Measure};
use tamtam_rows::{Kind, Rows, Schema};

use crate::tiles::{Slots, Tiles};

/// A struct of columns, as one writes who wants columns.
pub(crate) const COLUMNS: Bitcode = Bitcode(Shape::Columns);
/// A vector of structs, as its documentation has it.
pub(crate) const ROWS: Bitcode = Bitcode(Shape::Rows);

/// The crate `bitcode`, with types made for the article's table. Texts lean on the bytes, and its buffers are kept from
/// one table to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bitcode(Shape);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Columns,
    Rows,
}

impl Contender for Bitcode {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Shape::Columns => ("bitcode", "bitcode, a struct of the article's five columns"),
            Shape::Rows => ("bitcode-rows", "bitcode, a vector of the article's rows"),
        };
        Card {
            name,
            version: env!("VERSION_OF_BITCODE"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        match self.0 {
            Shape::Columns => rows::measures_of_the_article(InColumns::default(), None),
            Shape::Rows => rows::measures_of_the_article(InRows::default(), None),
        }
    }
}

/// The buffers that the crate reuses.
#[derive(Default)]
struct Buffers {
    encoding: RefCell<Buffer>,
    decoding: RefCell<Buffer>,
}

impl fmt::Debug for Buffers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Buffers")
    }
}

impl Clone for Buffers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct InColumns(Buffers);

#[derive(Debug, Clone, Default)]
pub(crate) struct InRows(Buffers);

#[derive(Debug, Encode, Decode)]
pub(crate) struct Columns<N, T> {
    slots: Vec<N>,
    x: Vec<i16>,
    y: Vec<i16>,
    colors: Vec<T>,
    rotations: Vec<i16>,
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct Tile<N, T> {
    slot: N,
    x: i16,
    y: i16,
    color: T,
    rotation: i16,
}

/// By how many bits the slots have.
#[derive(Debug)]
pub(crate) enum Either<S, L> {
    Small(S),
    Large(L),
}

fn is_large(schema: &Schema) -> bool {
    schema
        .fields()
        .first()
        .is_some_and(|field| *field.kind() == Kind::I32)
}

impl Form for InColumns {
    type Source = Either<Columns<i16, String>, Columns<i32, String>>;
    type Decoded<'a> = Either<Columns<i16, &'a str>, Columns<i32, &'a str>>;

    fn source(&self, rows: &Rows) -> Result<Self::Source, String> {
        fn columns<N>(slots: Vec<N>, tiles: Tiles) -> Columns<N, String> {
            Columns {
                slots,
                x: tiles.x,
                y: tiles.y,
                colors: tiles.colors.iter().map(str::to_owned).collect(),
                rotations: tiles.rotations,
            }
        }
        let mut tiles = Tiles::of(rows)?;
        let slots = std::mem::replace(&mut tiles.slots, Slots::Small(Vec::new()));
        Ok(match slots {
            Slots::Small(slots) => Either::Small(columns(slots, tiles)),
            Slots::Large(slots) => Either::Large(columns(slots, tiles)),
        })
    }

    fn encode(&self, source: &Self::Source, out: &mut Vec<u8>) -> Result<(), String> {
        let mut buffer = self.0.encoding.borrow_mut();
        out.extend_from_slice(match source {
            Either::Small(columns) => buffer.encode(columns),
            Either::Large(columns) => buffer.encode(columns),
        });
        Ok(())
    }

    fn decode<'a>(&self, bytes: &'a [u8], schema: &Schema) -> Result<Self::Decoded<'a>, String> {
        let mut buffer = self.0.decoding.borrow_mut();
        let decoded = if is_large(schema) {
            buffer.decode(bytes).map(Either::Large)
        } else {
            buffer.decode(bytes).map(Either::Small)
        };
        decoded.map_err(|error| error.to_string())
    }

    fn rows(&self, decoded: Self::Decoded<'_>, schema: &Schema) -> Result<Rows, String> {
        fn tiles<N>(slots: Slots, columns: Columns<N, &str>) -> Tiles {
            Tiles {
                slots,
                x: columns.x,
                y: columns.y,
                colors: columns.colors.iter().collect(),
                rotations: columns.rotations,
            }
        }
        match decoded {
            Either::Small(mut columns) => {
                let slots = Slots::Small(std::mem::take(&mut columns.slots));
                tiles(slots, columns).rows(schema)
            }
            Either::Large(mut columns) => {
                let slots = Slots::Large(std::mem::take(&mut columns.slots));
                tiles(slots, columns).rows(schema)
            }
        }
    }
}

impl Form for InRows {
    type Source = Either<Vec<Tile<i16, String>>, Vec<Tile<i32, String>>>;
    type Decoded<'a> = Either<Vec<Tile<i16, &'a str>>, Vec<Tile<i32, &'a str>>>;

    fn source(&self, rows: &Rows) -> Result<Self::Source, String> {
        fn all<N: Copy>(slots: &[N], tiles: &Tiles) -> Vec<Tile<N, String>> {
            (0..slots.len())
                .map(|row| Tile {
                    slot: slots[row],
                    x: tiles.x[row],
                    y: tiles.y[row],
                    color: tiles.colors.get(row).to_owned(),
                    rotation: tiles.rotations[row],
                })
                .collect()
        }
        let tiles = Tiles::of(rows)?;
        Ok(match &tiles.slots {
            Slots::Small(slots) => Either::Small(all(slots, &tiles)),
            Slots::Large(slots) => Either::Large(all(slots, &tiles)),
        })
    }

    fn encode(&self, source: &Self::Source, out: &mut Vec<u8>) -> Result<(), String> {
        let mut buffer = self.0.encoding.borrow_mut();
        out.extend_from_slice(match source {
            Either::Small(rows) => buffer.encode(rows),
            Either::Large(rows) => buffer.encode(rows),
        });
        Ok(())
    }

    fn decode<'a>(&self, bytes: &'a [u8], schema: &Schema) -> Result<Self::Decoded<'a>, String> {
        let mut buffer = self.0.decoding.borrow_mut();
        let decoded = if is_large(schema) {
            buffer.decode(bytes).map(Either::Large)
        } else {
            buffer.decode(bytes).map(Either::Small)
        };
        decoded.map_err(|error| error.to_string())
    }

    fn rows(&self, decoded: Self::Decoded<'_>, schema: &Schema) -> Result<Rows, String> {
        fn tiles<N>(slots: Slots, rows: &[Tile<N, &str>]) -> Tiles {
            Tiles {
                slots,
                x: rows.iter().map(|tile| tile.x).collect(),
                y: rows.iter().map(|tile| tile.y).collect(),
                colors: rows.iter().map(|tile| tile.color).collect(),
                rotations: rows.iter().map(|tile| tile.rotation).collect(),
            }
        }
        match decoded {
            Either::Small(rows) => {
                let slots = Slots::Small(rows.iter().map(|tile| tile.slot).collect());
                tiles(slots, &rows).rows(schema)
            }
            Either::Large(rows) => {
                let slots = Slots::Large(rows.iter().map(|tile| tile.slot).collect());
                tiles(slots, &rows).rows(schema)
            }
        }
    }
}
