//! The article's table: tiles on a board. `slot_number` is a `smallint` there and here, as far as it reaches: with more
//! than 32,767 rows it has 32 bits.

use tamtam_rows::{Column, Kind, Rows, ShapeError, Strings};

use super::layout::Layout;
use super::random::Random;

/// How wide and how high the board is.
const BOARD: (u64, u64) = (1100, 1000);

/// How many colours the palette has.
const PALETTE: usize = 64;

/// Any colour of 24 bits, any rotation in degrees: 6.57 bytes a row cannot be spared by any encoding.
pub(super) fn random(count: usize) -> Result<Rows, ShapeError> {
    tiles(count, Random::new(0x7461_6d74_616d_0001), color, |random| {
        random.below(360) as i16
    })
}

/// One of 64 colours, drawn once, and quarter turns: 3.51 bytes a row.
pub(super) fn palette(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x7461_6d74_616d_0002);
    let palette: [u32; PALETTE] = std::array::from_fn(|_| color(&mut random));
    tiles(
        count,
        random,
        move |random| *random.one_of(&palette),
        quarter_turns,
    )
}

/// Any colour and quarter turns: 5.76 bytes a row.
pub(super) fn rotation(count: usize) -> Result<Rows, ShapeError> {
    tiles(
        count,
        Random::new(0x7461_6d74_616d_0003),
        color,
        quarter_turns,
    )
}

fn color(random: &mut Random) -> u32 {
    random.below(1 << 24) as u32
}

fn quarter_turns(random: &mut Random) -> i16 {
    90 * random.below(4) as i16
}

fn tiles(
    count: usize,
    mut random: Random,
    mut color: impl FnMut(&mut Random) -> u32,
    mut rotation: impl FnMut(&mut Random) -> i16,
) -> Result<Rows, ShapeError> {
    let (mut across, mut down, mut turned) = (Vec::new(), Vec::new(), Vec::new());
    let mut colors = Strings::with_capacity(6 * count);
    for _ in 0..count {
        across.push(random.below(BOARD.0) as i16);
        down.push(random.below(BOARD.1) as i16);
        colors.push(&format!("{:06x}", color(&mut random)))?;
        turned.push(rotation(&mut random));
    }
    let (kind, slots): (Kind, Column) = match i16::try_from(count) {
        Ok(last) => (Kind::I16, (1..=last).collect::<Vec<i16>>().into()),
        Err(_) => (Kind::I32, (1..=count as i32).collect::<Vec<i32>>().into()),
    };
    Layout::default()
        .with("slot_number", kind, slots)
        .with("x", Kind::I16, across)
        .with("y", Kind::I16, down)
        .with("color", Kind::Text, colors)
        .with("rotation", Kind::I16, turned)
        .rows()
}
