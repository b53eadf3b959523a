use super::{Effort, decode, encode};
use crate::packed::bytes::{Input, Output, Result};

/// Values that a codec cannot hold: where they stand, and what is to be done there.
#[derive(Default)]
pub(in crate::packed) struct Exceptions {
    /// How many others lie before each.
    gaps: Vec<u32>,
    parts: Vec<u64>,
    /// The row behind the last one.
    behind: usize,
}

impl Exceptions {
    /// One more, in a row behind those before.
    pub(in crate::packed) fn push(&mut self, row: usize, part: u64) {
        self.gaps.push((row - self.behind) as u32);
        self.parts.push(part);
        self.behind = row + 1;
    }

    pub(in crate::packed) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Writes how many there are, the gaps, and the parts.
    pub(in crate::packed) fn write(&self, effort: Effort, out: &mut Output<'_>) {
        out.varint(self.gaps.len() as u64);
        encode(&self.gaps, effort.inner(), out);
        encode(&self.parts, effort.inner(), out);
    }
}

/// Reads exceptions, and hands each part to the value that it belongs to.
pub(in crate::packed) fn read_exceptions<T>(
    input: &mut Input<'_>,
    depth: u8,
    values: &mut [T],
    mut hand: impl FnMut(&mut T, u64),
) -> Result<()> {
    let count = input.count(values.len(), "the number of exceptions")?;
    let gaps: Vec<u32> = decode(input, count, depth)?;
    let parts: Vec<u64> = decode(input, count, depth)?;
    let mut row = 0_usize;
    for (gap, part) in gaps.into_iter().zip(parts) {
        row += gap as usize;
        let Some(value) = values.get_mut(row) else {
            return Err(input.malformed("an exception beyond the end"));
        };
        hand(value, part);
        row += 1;
    }
    Ok(())
}
