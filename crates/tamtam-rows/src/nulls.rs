//! Which rows of a column have no value.

/// Which rows of a column are null: one bit a row, the first row in the lowest bit of the first word.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Nulls, Values};
///
/// let nulls: Nulls = [false, true, false].into_iter().collect();
/// assert_eq!((nulls.count(), nulls.rows().next()), (1, Some(1)));
///
/// let column = Column::with_nulls(Values::I32(vec![1, 0, 3]), nulls)?;
/// assert!(column.is_null(1));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Nulls {
    words: Vec<u64>,
    len: usize,
    count: usize,
}

impl Nulls {
    /// For no rows yet.
    pub fn new() -> Nulls {
        Nulls::default()
    }

    /// For this many rows, none of which is null.
    pub fn none(len: usize) -> Nulls {
        Nulls {
            words: vec![0; len.div_ceil(64)],
            len,
            count: 0,
        }
    }

    /// From words of 64 rows each; bits behind the last row are ignored.
    ///
    /// Returns `None` if the words are not as many as the rows need.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Option<Nulls> {
        if words.len() != len.div_ceil(64) {
            return None;
        }
        if !len.is_multiple_of(64)
            && let Some(last) = words.last_mut()
        {
            *last &= (1 << (len % 64)) - 1;
        }
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Some(Nulls { words, len, count })
    }

    /// One more row.
    pub fn push(&mut self, is_null: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        if is_null {
            self.words[self.len / 64] |= 1 << (self.len % 64);
            self.count += 1;
        }
        self.len += 1;
    }

    /// So many more rows, 1 to 64, for which the lowest bits of a word say whether they are null.
    pub(crate) fn push_rows(&mut self, word: u64, rows: usize) {
        let word = word & (u64::MAX >> (64 - rows));
        let used = self.len % 64;
        match self.words.last_mut() {
            Some(last) if used > 0 => {
                *last |= word << used;
                if used + rows > 64 {
                    self.words.push(word >> (64 - used));
                }
            }
            _ => self.words.push(word),
        }
        self.len += rows;
        self.count += word.count_ones() as usize;
    }

    /// So many more rows, none of which is null.
    pub(crate) fn push_none(&mut self, rows: usize) {
        self.len += rows;
        self.words.resize(self.len.div_ceil(64), 0);
    }

    /// The rows of another column behind these.
    pub(crate) fn append(&mut self, other: &Nulls) {
        let mut left = other.len;
        for &word in &other.words {
            self.push_rows(word, left.min(64));
            left = left.saturating_sub(64);
        }
    }

    /// Makes a row null.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn set(&mut self, row: usize) {
        assert!(row < self.len, "row {row} of {}", self.len);
        let bit = 1 << (row % 64);
        let word = &mut self.words[row / 64];
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Forgets the rows from this one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.words.truncate(len.div_ceil(64));
        if let Some(shorter) = Nulls::from_words(std::mem::take(&mut self.words), len.min(self.len))
        {
            *self = shorter;
        }
    }

    /// Whether a row is null.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.len, "row {row} of {}", self.len);
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// How many rows there are, null or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many rows are null.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The words, 64 rows each.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Row by row, whether it is null.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|row| self.words[row / 64] >> (row % 64) & 1 == 1)
    }

    /// The rows that are null, in order.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }

    /// Those of some of the rows.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Nulls {
        range.map(|row| self.is_null(row)).collect()
    }
}

impl FromIterator<bool> for Nulls {
    fn from_iter<I: IntoIterator<Item = bool>>(iter: I) -> Nulls {
        let mut nulls = Nulls::new();
        iter.into_iter().for_each(|is_null| nulls.push(is_null));
        nulls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_null_are_found_in_order() {
        let nulls: Nulls = (0..200).map(|row| row % 63 == 0).collect();
        assert_eq!(nulls.rows().collect::<Vec<_>>(), [0, 63, 126, 189]);
        assert_eq!((nulls.count(), nulls.len()), (4, 200));
        assert!(nulls.is_null(126) && !nulls.is_null(127));
        assert_eq!(nulls.iter().filter(|&is_null| is_null).count(), 4);
    }

    #[test]
    fn columns_of_any_length_are_appended() {
        for before in [0, 1, 37, 63, 64, 65, 128, 200] {
            for more in [0, 1, 2, 27, 63, 64, 65, 130] {
                let is_null = |row: usize| row.is_multiple_of(3) || row % 7 == 1;
                let mut nulls: Nulls = (0..before).map(is_null).collect();
                nulls.append(&(before..before + more).map(is_null).collect());
                nulls.push_none(5);
                let all = (0..before + more).map(is_null).chain([false; 5]);
                assert_eq!(nulls, all.collect::<Nulls>(), "{before} and {more}");
            }
        }
    }

    #[test]
    fn bits_behind_the_last_row_do_not_count() {
        let nulls = Nulls::from_words(vec![u64::MAX], 3).unwrap();
        assert_eq!(nulls.count(), 3);
        assert_eq!(nulls, [true, true, true].into_iter().collect());
        assert!(Nulls::from_words(vec![0, 0], 64).is_none());
    }
}
