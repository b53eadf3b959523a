//! Reads scalars that lie one after the other, without a look at what is around them.
//!
//! What is not one, or is wrong, is left to the decoder, which says so.

use super::decoder::{Decoder, Frame};
use super::marker::{BOOLEAN, NULL, NUMBER, STRICT_ARRAY, STRING, UNDEFINED};
use crate::input::Input;
use crate::scalar::Scalar;

/// The scalar that bytes begin with, and what follows it.
#[inline]
pub(super) fn scalar(bytes: &[u8]) -> Option<(Scalar<'_>, &[u8])> {
    let (&marker, rest) = bytes.split_first()?;
    Some(match marker {
        NUMBER => {
            let (number, rest) = rest.split_first_chunk()?;
            (Scalar::Number(f64::from_be_bytes(*number)), rest)
        }
        STRING => {
            let (length, rest) = rest.split_first_chunk()?;
            let (text, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
            (Scalar::Text(std::str::from_utf8(text).ok()?), rest)
        }
        BOOLEAN => {
            let (&boolean, rest) = rest.split_first()?;
            (Scalar::Boolean(boolean != 0), rest)
        }
        NULL | UNDEFINED => (Scalar::Null, rest),
        _ => return None,
    })
}

/// Hands out the scalars that come next, at most so many, which were announced; how many these were.
#[inline]
fn take<'a>(input: &mut Input<'a>, most: u32, mut each: impl FnMut(u32, Scalar<'a>)) -> u32 {
    let whole = input.rest();
    let mut rest = whole;
    let mut read = 0;
    while read < most
        && let Some((value, after)) = scalar(rest)
    {
        rest = after;
        each(read, value);
        read += 1;
    }
    input.advance(whole.len() - rest.len(), read as usize);
    read
}

/// Begins an array of so many values, if that is what comes next and is within the limits.
#[inline]
fn begin(input: &mut Input<'_>, length: u32) -> bool {
    let [a, b, c, d] = length.to_be_bytes();
    let start = input.position();
    if !input.rest().starts_with(&[STRICT_ARRAY, a, b, c, d]) {
        return false;
    }
    input.advance(5, 1);
    input.announce(length as usize, start).is_ok()
        && input.enter(start).is_ok()
        && input.admits_announced()
}

/// What [`Decoder::flat_rows`] has read.
pub(crate) struct FlatRows {
    /// Whole rows.
    pub(crate) rows: u32,
    /// Of the next one, if it has begun.
    pub(crate) cells: Option<u32>,
}

impl<'a> Decoder<'a> {
    /// Hands out the scalars that come next in an array, at most so many, each with how many were before it; how many
    /// these were.
    #[inline]
    pub(crate) fn scalars(&mut self, most: u32, each: impl FnMut(u32, Scalar<'a>)) -> u32 {
        let Frame::Strict { left } = &mut self.frame else {
            return 0;
        };
        if !self.input.admits_announced() {
            return 0;
        }
        let read = take(&mut self.input, most.min(*left), each);
        *left -= read;
        read
    }

    /// What is left to read, where the arrays that an array announces come next: how many of these.
    pub(crate) fn arrays_ahead(&self) -> (&'a [u8], u32) {
        match self.frame {
            Frame::Strict { left } => (self.input.rest(), left),
            _ => (&[], 0),
        }
    }

    /// Whether so many arrays of `width` values [ahead](Self::arrays_ahead) are within the limits if they take these bytes.
    pub(crate) fn admits_arrays(&self, count: usize, width: u32, bytes: usize) -> bool {
        self.input.admits_containers(count, width as usize, bytes)
    }

    /// Goes over arrays that were [admitted](Self::admits_arrays).
    pub(crate) fn pass_arrays(&mut self, count: usize, width: u32, bytes: usize) {
        if let Frame::Strict { left } = &mut self.frame {
            *left -= count as u32;
            self.begun += count;
            self.input.pass_containers(count, width as usize, bytes);
        }
    }

    /// Hands out the scalars of the arrays of `width` values that come next in an array, at most so many, each with the
    /// arrays and the scalars before it.
    #[inline]
    pub(crate) fn flat_rows(
        &mut self,
        most: u32,
        width: u32,
        mut each: impl FnMut(u32, u32, Scalar<'a>),
    ) -> FlatRows {
        let mut read = FlatRows {
            rows: 0,
            cells: None,
        };
        let Frame::Strict { left } = self.frame else {
            return read;
        };
        // On a copy that nothing else refers to, whose numbers stay in registers.
        let mut input = self.input;
        while read.rows < left.min(most) {
            let mut within = input;
            if !begin(&mut within, width) {
                break;
            }
            let cells = take(&mut within, width, |cell, value| {
                each(read.rows, cell, value);
            });
            input = within;
            if cells < width {
                read.cells = Some(cells);
                break;
            }
            input.leave();
            read.rows += 1;
        }
        self.input = input;
        let begun = read.rows + u32::from(read.cells.is_some());
        self.begun += begun as usize;
        self.frame = Frame::Strict { left: left - begun };
        if let Some(cells) = read.cells {
            self.around.push(self.frame);
            self.frame = Frame::Strict {
                left: width - cells,
            };
        }
        read
    }
}
