//! Where the values of a column of text or bytes end.

use crate::ShapeError;
use crate::kernels::vectorised;

/// Where the values of a column of text or bytes end. As long as all have one length, that is all that is kept.
#[derive(Clone, Debug)]
pub(crate) enum Ends {
    /// All values have this length.
    Fixed { width: u32, count: usize },
    /// Value `i` is from `offsets[i]` to `offsets[i + 1]`; the first offset is 0.
    Each(Vec<u32>),
}

impl Default for Ends {
    fn default() -> Ends {
        Ends::Fixed { width: 0, count: 0 }
    }
}

impl Ends {
    pub(crate) fn len(&self) -> usize {
        match self {
            Ends::Fixed { count, .. } => *count,
            Ends::Each(offsets) => offsets.len() - 1,
        }
    }

    /// From where to where value `index` is. Panics if there is none.
    #[inline]
    pub(crate) fn range(&self, index: usize) -> std::ops::Range<usize> {
        match self {
            Ends::Fixed { width, count } => {
                assert!(index < *count, "value {index} of {count}");
                index * *width as usize..(index + 1) * *width as usize
            }
            Ends::Each(offsets) => offsets[index] as usize..offsets[index + 1] as usize,
        }
    }

    /// One more value of this length, behind `before` bytes.
    #[inline]
    pub(crate) fn push(&mut self, before: usize, length: usize) -> Result<(), ShapeError> {
        let end = before + length;
        if end > u32::MAX as usize {
            return Err(ShapeError::TooLarge);
        }
        match self {
            Ends::Fixed { width, count } if *count == 0 => {
                *width = length as u32;
                *count = 1;
            }
            Ends::Fixed { width, count } if *width as usize == length => *count += 1,
            Ends::Fixed { .. } => self.offsets_mut()?.push(end as u32),
            Ends::Each(offsets) => offsets.push(end as u32),
        }
        Ok(())
    }

    /// Forgets the values from this one on, and returns where the rest ends.
    pub(crate) fn truncate(&mut self, len: usize) -> usize {
        match self {
            Ends::Fixed { width, count } => {
                *count = len.min(*count);
                *count * *width as usize
            }
            Ends::Each(offsets) => {
                offsets.truncate(len + 1);
                offsets.last().map_or(0, |&end| end as usize)
            }
        }
    }

    /// The end of each, where no more than 2^32 of them fit: values without a byte may be more.
    fn offsets_mut(&mut self) -> Result<&mut Vec<u32>, ShapeError> {
        if let Ends::Fixed { width, count } = *self {
            let count = u32::try_from(count).map_err(|_| ShapeError::TooLarge)?;
            *self = Ends::Each((0..=count).map(|index| index * width).collect());
        }
        match self {
            Ends::Each(offsets) => Ok(offsets),
            Ends::Fixed { .. } => unreachable!("replaced above"),
        }
    }

    /// The lengths, value by value.
    pub(crate) fn lengths(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        (0..self.len()).map(move |index| match self {
            Ends::Fixed { width, .. } => *width,
            Ends::Each(offsets) => offsets[index + 1] - offsets[index],
        })
    }

    /// Where values begin from `from` on, and where the last of them ends: as many places as `room` has.
    #[inline]
    pub(crate) fn starts<'a>(&'a self, from: usize, room: &'a mut [u32]) -> &'a [u32] {
        match self {
            Ends::Fixed { width, count } => {
                assert!(from + room.len() <= count + 1, "{from} and more of {count}");
                for (index, place) in room.iter_mut().enumerate() {
                    *place = (from + index) as u32 * width;
                }
                room
            }
            Ends::Each(offsets) => &offsets[from..from + room.len()],
        }
    }

    /// The greatest length; 0 if there are no values.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Ends::Fixed { width, .. } => *width as usize,
            Ends::Each(offsets) => vectorised(|| {
                let pairs = offsets.iter().zip(&offsets[1..]);
                pairs.fold(0, |most, (start, end)| most.max(end - start)) as usize
            }),
        }
    }

    /// The one length of all values, if they have one; there may be none.
    pub(crate) fn width(&self) -> Option<u32> {
        match self {
            Ends::Fixed { width, .. } => Some(*width),
            Ends::Each(_) => None,
        }
    }

    /// From offsets that must begin with 0, never fall, and end at `total`.
    pub(crate) fn from_offsets(offsets: Vec<u32>, total: usize) -> Option<Ends> {
        let sound = offsets.first() == Some(&0)
            && offsets.last().is_some_and(|&last| last as usize == total)
            && offsets.is_sorted();
        sound.then_some(Ends::Each(offsets))
    }

    /// From offsets that begin with 0 and never fall.
    #[cfg(feature = "arrow")]
    pub(crate) fn of_offsets(offsets: Vec<u32>) -> Ends {
        let width = offsets.get(1).copied().unwrap_or(0);
        match offsets.windows(2).all(|ends| ends[1] - ends[0] == width) {
            true => Ends::Fixed {
                width,
                count: offsets.len() - 1,
            },
            false => Ends::Each(offsets),
        }
    }

    /// Of values of one length; `None` if all together exceed 4 GiB.
    #[inline]
    pub(crate) fn of_one_length(width: usize, count: usize) -> Option<Ends> {
        u32::try_from(width.checked_mul(count)?).ok()?;
        let width = width as u32;
        Some(Ends::Fixed { width, count })
    }

    /// Whether each value of this text begins and ends between characters.
    pub(crate) fn divide(&self, text: &str) -> bool {
        text.is_ascii()
            || match self {
                Ends::Fixed { width, count } => {
                    (1..*count).all(|index| text.is_char_boundary(index * *width as usize))
                }
                Ends::Each(offsets) => offsets
                    .iter()
                    .all(|&offset| text.is_char_boundary(offset as usize)),
            }
    }

    /// Appends the ends of other values, which take `added` bytes behind `before`.
    pub(crate) fn append(
        &mut self,
        before: usize,
        other: &Ends,
        added: usize,
    ) -> Result<(), ShapeError> {
        if before + added > u32::MAX as usize {
            return Err(ShapeError::TooLarge);
        }
        match (&mut *self, other) {
            (Ends::Fixed { count: 0, .. }, other) => *self = other.clone(),
            (
                Ends::Fixed { width, count },
                Ends::Fixed {
                    width: others,
                    count: more,
                },
            ) if *more == 0 || width == others => *count += more,
            _ => {
                let mut end = before as u32;
                self.offsets_mut()?.extend(other.lengths().map(|length| {
                    end += length;
                    end
                }));
            }
        }
        Ok(())
    }

    /// The bytes that the ends take in memory.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Ends::Fixed { .. } => 0,
            Ends::Each(offsets) => offsets.len() * 4,
        }
    }
}

impl PartialEq for Ends {
    fn eq(&self, other: &Ends) -> bool {
        match (self, other) {
            (Ends::Each(mine), Ends::Each(theirs)) => mine == theirs,
            _ => self.len() == other.len() && self.lengths().eq(other.lengths()),
        }
    }
}
