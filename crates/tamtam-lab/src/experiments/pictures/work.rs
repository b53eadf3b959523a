//! The work: a frame sharpened in a worker process, row by row, such that the window can tell of which move of the slider it
//! was made, and that it is whole.

use std::iter;

/// How wide a frame is, in pixels.
const WIDTH: usize = 1920;
/// How many rows a frame has.
pub const ROWS: usize = 1080;
/// How many bytes a row has: four for each pixel.
pub const ROW: usize = WIDTH * PIXEL;
/// How many bytes a frame has.
pub const FRAME: usize = ROWS * ROW;

const PIXEL: usize = 4;
/// So many bytes at the beginning of a row are the number of the move, and as many at its end a sum over all others.
const WORD: usize = 8;
/// How many strengths there are: the number of a move tells which one it stands for.
const STRENGTHS: u64 = 32;

/// Sharpens one picture over and over, each time with the strength that the slider asks for.
#[derive(Debug)]
pub struct Sharpener {
    source: Vec<u8>,
    row: Vec<u8>,
}

impl Sharpener {
    /// One with a picture of smooth waves and hard edges.
    #[must_use]
    pub fn new() -> Self {
        let mut source = Vec::with_capacity(FRAME);
        for y in 0..ROWS {
            for x in 0..WIDTH {
                let edge = if (x / 60 + y / 60) % 2 == 0 { 40 } else { 0 };
                let wave = |speed: usize| ((x * speed + y * 3) / 16 % 160) as u8 + 24 + edge;
                source.extend_from_slice(&[wave(1), wave(2), wave(3), u8::MAX]);
            }
        }
        Sharpener {
            source,
            row: vec![0; ROW],
        }
    }

    /// Makes the frame of the slider's move `number`; `put` is given each row with its place, from the first to the last.
    ///
    /// # Errors
    /// Those of `put`, which end it.
    pub fn make<E>(
        &mut self,
        number: u64,
        mut put: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let strength = (number % STRENGTHS) as i16;
        for place in 0..ROWS {
            let of = |place: usize| &self.source[place * ROW..][..ROW];
            let (above, below) = (place.saturating_sub(1), (place + 1).min(ROWS - 1));
            sharpen([of(above), of(place), of(below)], strength, &mut self.row);
            self.row[..WORD].copy_from_slice(&number.to_le_bytes());
            let (bytes, sum) = self.row.split_at_mut(ROW - WORD);
            sum.copy_from_slice(&sum_of(place, bytes).to_le_bytes());
            put(place, &self.row)?;
        }
        Ok(())
    }
}

impl Default for Sharpener {
    fn default() -> Self {
        Sharpener::new()
    }
}

/// Adds to each byte of the middle row what it differs from its four neighbours, `strength` times 1/32.
fn sharpen([above, middle, below]: [&[u8]; 3], strength: i16, to: &mut [u8]) {
    let inner = PIXEL..ROW - PIXEL;
    let neighbours = iter::zip(&above[inner.clone()], &below[inner.clone()])
        .zip(iter::zip(&middle[..ROW - 2 * PIXEL], &middle[2 * PIXEL..]));
    let inputs = iter::zip(&middle[inner.clone()], neighbours);
    for (to, (&byte, ((&above, &below), (&left, &right)))) in iter::zip(&mut to[inner], inputs) {
        let byte = i16::from(byte);
        let around = i16::from(above) + i16::from(below) + i16::from(left) + i16::from(right);
        // At most 1,020 times 31.
        let more = ((4 * byte - around) * strength) >> 5;
        *to = (byte + more).clamp(0, 255) as u8;
    }
}

/// A sum over the bytes of the row at `place`, which is another one at each place.
fn sum_of(place: usize, bytes: &[u8]) -> u64 {
    let seed = (place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let words = bytes.as_chunks::<WORD>().0.iter();
    words.fold(seed, |sum, &word| {
        sum.wrapping_add(u64::from_le_bytes(word))
    })
}

/// A frame that is being looked at, row by row.
#[derive(Debug, Default)]
pub struct Look {
    rows: usize,
    number: u64,
    fault: Option<String>,
}

impl Look {
    /// Looks at the next row, at every byte of it.
    pub fn row(&mut self, bytes: &[u8]) {
        let place = self.rows;
        self.rows += 1;
        let mut fault = |what: String| {
            self.fault.get_or_insert(what);
        };
        if bytes.len() != ROW {
            return fault(format!("row {place} has {} bytes, not {ROW}", bytes.len()));
        }
        let (bytes, sum) = bytes.split_at(ROW - WORD);
        let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("it is longer"));
        if sum_of(place, bytes) != word(sum) {
            fault(format!("row {place} is not as it was made"));
        }
        let number = word(bytes);
        match place {
            0 => self.number = number,
            _ if self.number == number => {}
            _ => fault(format!(
                "row {place} was made of move {number}, those above of {}",
                self.number
            )),
        }
    }

    /// Of which move of the slider the frame was made, if it was whole.
    ///
    /// # Errors
    /// It was not; says what was wrong first.
    pub fn finish(self) -> Result<u64, String> {
        match self.fault {
            Some(fault) => Err(fault),
            None if self.rows != ROWS => {
                Err(format!("a frame came with {} rows, not {ROWS}", self.rows))
            }
            None => Ok(self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn frame(number: u64) -> Vec<u8> {
        let mut frame = Vec::new();
        let made = Sharpener::new().make(number, |place, row| {
            assert_eq!(frame.len(), place * ROW);
            frame.extend_from_slice(row);
            Ok::<_, Infallible>(())
        });
        made.unwrap();
        frame
    }

    fn look_at(frame: &[u8]) -> Result<u64, String> {
        let mut look = Look::default();
        frame.chunks(ROW).for_each(|row| look.row(row));
        look.finish()
    }

    #[test]
    fn a_frame_tells_of_which_move_it_was_made() {
        let (weak, strong) = (frame(32), frame(63));
        assert_eq!(look_at(&weak), Ok(32));
        assert_eq!(look_at(&strong), Ok(63));
        // Without strength a pixel is what it was.
        assert_eq!(weak[ROW + 20], Sharpener::new().source[ROW + 20]);
        assert_ne!(weak[ROW + 8..][..4000], strong[ROW + 8..][..4000]);
    }

    #[test]
    fn a_frame_that_is_not_whole_is_noticed() {
        let (first, second) = (frame(5), frame(6));
        let torn = [&first[..FRAME / 2], &second[FRAME / 2..]].concat();
        assert!(look_at(&torn).unwrap_err().contains("move 6"));
        let mut damaged = first.clone();
        damaged[FRAME / 3] ^= 1;
        assert!(look_at(&damaged).is_err());
        let mut swapped = first.clone();
        swapped.copy_within(ROW..2 * ROW, 2 * ROW);
        assert!(look_at(&swapped).is_err());
        assert!(look_at(&first[ROW..]).is_err());
        assert!(look_at(&first[..FRAME - ROW]).is_err());
        assert!(look_at(&[]).is_err());
    }
}
