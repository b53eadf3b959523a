//! A column of text.

use crate::ShapeError;
use crate::ends::Ends;
use crate::kernels::join_texts;

/// The texts of a column, one behind the other.
///
/// As long as all have one length, only that length is kept; otherwise four bytes a value say where it ends. All
/// values together are at most 4 GiB.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Strings};
///
/// let mut names = Strings::new();
/// names.push("one")?;
/// names.push("")?;
/// assert_eq!((names.len(), names.get(0), names.get(1)), (2, "one", ""));
/// assert_eq!(names.all(), "one"); // they lie one behind the other
/// let column = Column::from(names);
/// # assert_eq!(column.len(), 2);
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strings {
    text: String,
    ends: Ends,
}

impl Strings {
    /// No values yet.
    pub fn new() -> Strings {
        Strings::default()
    }

    /// Room for this many bytes in all.
    pub fn with_capacity(bytes: usize) -> Strings {
        Strings {
            text: String::with_capacity(bytes),
            ends: Ends::default(),
        }
    }

    /// From text and the place where each value begins and ends: `offsets` has one entry more than there are
    /// values, begins with 0, never falls, and ends with the length of `text`.
    ///
    /// # Errors
    /// [`ShapeError::Utf8`] if an offset is not so, or lies inside a character.
    pub fn from_offsets(text: String, offsets: Vec<u32>) -> Result<Strings, ShapeError> {
        if let Some(&inside) = offsets
            .iter()
            .find(|&&offset| !text.is_char_boundary(offset as usize))
        {
            return Err(ShapeError::Utf8 {
                at: inside as usize,
            });
        }
        let ends =
            Ends::from_offsets(offsets, text.len()).ok_or(ShapeError::Utf8 { at: text.len() })?;
        Ok(Strings { text, ends })
    }

    /// From text that is divided into `count` values of `width` bytes.
    ///
    /// # Errors
    /// [`ShapeError::Utf8`] if it is not as long as that, or a value would begin inside a character.
    pub fn from_fixed(text: String, width: usize, count: usize) -> Result<Strings, ShapeError> {
        let length = text.len();
        if length > u32::MAX as usize {
            return Err(ShapeError::TooLarge);
        }
        if width.checked_mul(count) != Some(length) {
            return Err(ShapeError::Utf8 { at: length });
        }
        if !text.is_ascii() {
            let inside = (1..count)
                .map(|index| index * width)
                .find(|&at| !text.is_char_boundary(at));
            if let Some(at) = inside {
                return Err(ShapeError::Utf8 { at });
            }
        }
        Ok(Strings {
            text,
            ends: Ends::Fixed {
                width: width as u32,
                count,
            },
        })
    }

    /// From bytes that are texts: an error names the place where they are none.
    #[cfg(feature = "arrow")]
    pub(crate) fn from_bytes(bytes: Vec<u8>, ends: Ends) -> Result<Strings, ShapeError> {
        let text = String::from_utf8(bytes).map_err(|error| ShapeError::Utf8 {
            at: error.utf8_error().valid_up_to(),
        })?;
        match ends {
            Ends::Fixed { width, count } => Strings::from_fixed(text, width as usize, count),
            Ends::Each(offsets) => Strings::from_offsets(text, offsets),
        }
    }

    /// From values that all have one short length; `None` if they have not.
    #[inline]
    pub(crate) fn of_one_length<'a>(
        values: impl ExactSizeIterator<Item = &'a str> + Clone,
    ) -> Option<Strings> {
        let (text, width) = join_texts(values)?;
        let ends = Ends::of_one_length(width, text.len() / width)?;
        Some(Strings { text, ends })
    }

    /// One more value.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if all together would exceed 4 GiB; nothing is changed then.
    #[inline]
    pub fn push(&mut self, value: &str) -> Result<(), ShapeError> {
        self.ends.push(self.text.len(), value.len())?;
        self.text.push_str(value);
        Ok(())
    }

    /// More values that lie one behind the other, of these lengths. `None` if one would begin inside a character or all together
    /// would exceed 4 GiB; the list is then to be [truncated](Self::truncate).
    #[cfg(feature = "amf")]
    pub(crate) fn push_joined(
        &mut self,
        joined: &str,
        lengths: impl Iterator<Item = usize>,
    ) -> Option<()> {
        let mut end = 0;
        for length in lengths {
            self.ends.push(self.text.len() + end, length).ok()?;
            end += length;
            joined.is_char_boundary(end).then_some(())?;
        }
        self.text.push_str(joined);
        Some(())
    }

    /// Forgets the values from this one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        let end = self.ends.truncate(len);
        self.text.truncate(end);
    }

    /// Value `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &str {
        &self.text[self.ends.range(index)]
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
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// All values, one behind the other.
    pub fn all(&self) -> &str {
        &self.text
    }

    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    /// The ends must divide it rightly.
    pub(crate) fn from_parts(text: String, ends: Ends) -> Strings {
        Strings { text, ends }
    }

    pub(crate) fn into_parts(self) -> (String, Ends) {
        (self.text, self.ends)
    }

    /// Appends all of another list.
    pub(crate) fn append(&mut self, other: &Strings) -> Result<(), ShapeError> {
        self.ends
            .append(self.text.len(), &other.ends, other.text.len())?;
        self.text.push_str(&other.text);
        Ok(())
    }
}

impl<V: AsRef<str>> FromIterator<V> for Strings {
    /// # Panics
    /// If all together exceed 4 GiB.
    fn from_iter<I: IntoIterator<Item = V>>(iter: I) -> Strings {
        let mut all = Strings::new();
        for value in iter {
            all.push(value.as_ref())
                .expect("a column's text or bytes are at most 4 GiB");
        }
        all
    }
}
