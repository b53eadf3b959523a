//! A column of bytes.

use crate::ShapeError;
use crate::ends::Ends;
use crate::kernels::join;

/// The byte strings of a column, one behind the other.
///
/// As long as all have one length, only that length is kept; otherwise four bytes a value say where it ends. All
/// values together are at most 4 GiB.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Slices};
///
/// let mut keys = Slices::new();
/// keys.push(&[1, 2, 3])?;
/// keys.push(&[])?;
/// assert_eq!((keys.len(), keys.get(0), keys.all().len()), (2, &[1_u8, 2, 3][..], 3));
/// let column = Column::from(keys);
/// # assert_eq!(column.len(), 2);
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slices {
    bytes: Vec<u8>,
    ends: Ends,
}

impl Slices {
    /// No values yet.
    pub fn new() -> Slices {
        Slices::default()
    }

    /// Room for this many bytes in all.
    pub fn with_capacity(bytes: usize) -> Slices {
        Slices {
            bytes: Vec::with_capacity(bytes),
            ends: Ends::default(),
        }
    }

    /// From bytes and the place where each value begins and ends: `offsets` has one entry more than there are
    /// values, begins with 0, never falls, and ends with the length of `bytes`. `None` if that is not so.
    pub fn from_offsets(bytes: Vec<u8>, offsets: Vec<u32>) -> Option<Slices> {
        let ends = Ends::from_offsets(offsets, bytes.len())?;
        Some(Slices { bytes, ends })
    }

    /// From bytes that are divided into `count` values of `width` bytes. `None` if they are not as many.
    pub fn from_fixed(bytes: Vec<u8>, width: usize, count: usize) -> Option<Slices> {
        if bytes.len() > u32::MAX as usize || width.checked_mul(count) != Some(bytes.len()) {
            return None;
        }
        Some(Slices {
            bytes,
            ends: Ends::Fixed {
                width: width as u32,
                count,
            },
        })
    }

    /// From values that all have one short length; `None` if they have not.
    #[inline]
    pub(crate) fn of_one_length<'a>(
        values: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Option<Slices> {
        let (bytes, width) = join(values)?;
        let ends = Ends::of_one_length(width, bytes.len() / width)?;
        Some(Slices { bytes, ends })
    }

    /// One more value.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if all together would exceed 4 GiB; nothing is changed then.
    #[inline]
    pub fn push(&mut self, value: &[u8]) -> Result<(), ShapeError> {
        self.ends.push(self.bytes.len(), value.len())?;
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    /// Forgets the values from this one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        let end = self.ends.truncate(len);
        self.bytes.truncate(end);
    }

    /// Value `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends.range(index)]
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one length in bytes that all values have, if they have one.
    pub fn width(&self) -> Option<usize> {
        self.ends.width().map(|width| width as usize)
    }

    /// Each value in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// All values, one behind the other.
    pub fn all(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    /// The ends must divide it rightly.
    pub(crate) fn from_parts(bytes: Vec<u8>, ends: Ends) -> Slices {
        Slices { bytes, ends }
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, Ends) {
        (self.bytes, self.ends)
    }

    /// Appends all of another list.
    pub(crate) fn append(&mut self, other: &Slices) -> Result<(), ShapeError> {
        self.ends
            .append(self.bytes.len(), &other.ends, other.bytes.len())?;
        self.bytes.extend_from_slice(&other.bytes);
        Ok(())
    }

    /// Appends values that end there. The ends must divide the bytes rightly.
    #[cfg(feature = "arrow")]
    pub(crate) fn append_parts(&mut self, bytes: &[u8], ends: Ends) -> Result<(), ShapeError> {
        match self.is_empty() {
            true => self.ends = ends,
            false => self.ends.append(self.bytes.len(), &ends, bytes.len())?,
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl<V: AsRef<[u8]>> FromIterator<V> for Slices {
    /// # Panics
    /// If all together exceed 4 GiB.
    fn from_iter<I: IntoIterator<Item = V>>(iter: I) -> Slices {
        let mut all = Slices::new();
        for value in iter {
            all.push(value.as_ref())
                .expect("a column's text or bytes are at most 4 GiB");
        }
        all
    }
}
