//! Texts of a column that lie one behind the other.

/// Texts that lie one behind the other, as columns of text are mostly kept.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{Column, Texts};
///
/// let colours = Texts::new("redgreenblue", &[0, 3, 8, 12]).unwrap();
/// assert_eq!(Column::Texts(colours).len(), 3);
/// // Behind the end, and inside of a character.
/// assert!(Texts::new("red", &[0, 4]).is_none());
/// assert!(Texts::new("é", &[0, 1, 2]).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    bytes: &'a [u8],
    places: &'a [u32],
}

impl<'a> Texts<'a> {
    /// Texts of which each ends where the next one begins: there is one place more than there are texts. Nothing if the places do not
    /// divide the text so.
    #[must_use]
    pub fn new(text: &'a str, places: &'a [u32]) -> Option<Self> {
        let (&first, &last) = (places.first()?, places.last()?);
        let all = text.get(first as usize..last as usize)?;
        let is_divided = places.is_sorted()
            && (all.is_ascii()
                || places
                    .iter()
                    .all(|&place| text.is_char_boundary(place as usize)));
        is_divided.then_some(Texts {
            bytes: text.as_bytes(),
            places,
        })
    }

    /// How many texts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - 1
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of some of the texts.
    #[inline]
    pub(super) fn some(
        &self,
        rows: std::ops::Range<usize>,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        let pairs = self.places[rows.start..=rows.end].windows(2);
        pairs.map(move |places| &bytes[places[0] as usize..places[1] as usize])
    }
}
