//! The different values of a list of texts, found until it is clear that there are too many.

use super::identity::Identity;
use super::sample::Repetitions;
use super::{Collected, Texts};
use crate::kernels::vectorised;

/// How many values are looked at together: their identities stay in the nearest cache.
const STRETCH: usize = 256;

/// The different values of a list.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// Where each stands for the first time.
    firsts: Vec<u32>,
    /// Which of them each value is.
    pub(super) codes: Vec<u16>,
}

impl Dictionary {
    /// `None` where it turns out not to be worth it. What a sample found says what is `expected`.
    pub(super) fn of(texts: Texts<'_>, expected: Repetitions) -> Option<Dictionary> {
        if texts.ends.longest() <= u64::LONGEST_VALUE {
            Builder::<u64>::new(texts).build(expected)
        } else {
            Builder::<u128>::new(texts).build(expected)
        }
    }

    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The values, in the order in which they come.
    pub(super) fn entries(&self, texts: Texts<'_>) -> Collected {
        let mut entries = Collected::default();
        for &first in &self.firsts {
            entries.push(texts.get(first as usize));
        }
        entries
    }
}

/// What is known of the values so far.
struct Builder<'a, I> {
    texts: Texts<'a>,
    /// The identity of each entry.
    known: Vec<I>,
    found: Dictionary,
    /// The entry at each place that an identity leads to. A free place holds the first entry, too: one comparison
    /// finds both that the entry there is the one looked for, and that it is not. At most half full.
    table: Vec<u16>,
    /// How far an identity is moved to be a place.
    shift: u32,
    /// The place of the first entry.
    home: usize,
    /// Whether some identities are hashes.
    has_hashes: bool,
    /// The bytes of all entries.
    bytes: usize,
    /// Values made so that they meet in one place must not cost time without end.
    patience: usize,
}

/// It is not worth it.
struct GivenUp;

/// How a dictionary grows with the rows: by a power of their number (Heaps, "Information Retrieval", 1978), until all
/// values have been seen.
struct Growth {
    rows: usize,
    room: usize,
    expected: Repetitions,
    /// Whether the first rows are like all others. Where they repeat less, the rest may repeat them.
    is_steady: bool,
    /// Its bytes after an eighth of the rows, and after a quarter.
    eighth: usize,
    quarter: usize,
}

/// What has fewer values takes little time anyway, and a sample of it says less.
const SAMPLED_FROM: usize = 4096;

impl Growth {
    fn new(rows: usize, room: usize, expected: Repetitions) -> Growth {
        Growth {
            rows,
            room,
            expected,
            is_steady: true,
            eighth: 0,
            quarter: 0,
        }
    }

    /// Gives up early on what will not fit the room.
    fn look(&mut self, rows: usize, entries: usize, bytes: usize) -> Result<(), GivenUp> {
        let will_take = |before: usize, doublings: i32| {
            let factor = bytes as f64 / before.max(1) as f64;
            bytes as f64 * factor.powi(doublings)
        };
        let room = self.room as f64;
        if self.rows < SAMPLED_FROM || !self.is_steady {
            return Ok(());
        }
        if rows == self.expected.among {
            self.is_steady = 2.0 * (rows - entries) as f64 >= self.expected.count;
        }
        if self.eighth == 0 && rows >= self.rows / 8 {
            self.eighth = bytes;
        } else if self.quarter == 0 && rows >= self.rows / 4 {
            self.quarter = bytes;
            if will_take(self.eighth, 2) > 1.2 * room {
                return Err(GivenUp);
            }
        } else if self.quarter > 0 && rows >= self.rows / 2 {
            // That was the last look.
            self.is_steady = false;
            if will_take(self.quarter, 1) > room {
                return Err(GivenUp);
            }
        }
        Ok(())
    }
}

/// Finds the codes of values that stand where they belong, until one does not: how many were found. Alone in a function,
/// the loop has the registers for itself.
#[inline(never)]
fn hits<I: Identity>(
    identities: &[I],
    table: &[u16],
    shift: u32,
    known: &[I],
    codes: &mut [u16],
) -> usize {
    let last = table.len() - 1;
    for (at, (&identity, place)) in identities.iter().zip(codes).enumerate() {
        let code = table[(identity.mixed() >> shift) as usize & last];
        if known.get(code as usize) != Some(&identity) {
            return at;
        }
        *place = code;
    }
    identities.len()
}

impl<'a, I: Identity> Builder<'a, I> {
    fn new(texts: Texts<'a>) -> Builder<'a, I> {
        let size = (Self::most(texts) * 2).next_power_of_two();
        Builder {
            texts,
            known: Vec::new(),
            found: Dictionary {
                firsts: Vec::new(),
                codes: vec![0; texts.len()],
            },
            table: vec![0; size],
            shift: u64::BITS - size.trailing_zeros(),
            home: usize::MAX,
            has_hashes: texts.ends.longest() > I::EXACT,
            bytes: 0,
            patience: texts.len() * 16,
        }
    }

    /// The most entries. The last code is that of the entry before.
    fn most(texts: Texts<'_>) -> usize {
        (texts.len() / 2).clamp(1, 1 << 16)
    }

    /// The most bytes that entries may take together.
    fn room(texts: Texts<'_>) -> usize {
        texts.all.len() / 2 + 64
    }

    fn build(mut self, expected: Repetitions) -> Option<Dictionary> {
        let mut identities = [I::default(); STRETCH];
        let mut starts = [0; STRETCH + 1];
        let mut growth = Growth::new(self.texts.len(), Self::room(self.texts), expected);
        for from in (0..self.texts.len()).step_by(STRETCH) {
            let count = STRETCH.min(self.texts.len() - from);
            let all = self.texts.all;
            let identities = &mut identities[..count];
            if let Some(width) = self.texts.ends.width() {
                let width = width as usize;
                vectorised(|| {
                    for (row, identity) in (from..).zip(identities.iter_mut()) {
                        *identity = I::of(all, row * width, width);
                    }
                });
            } else {
                let starts = self.texts.ends.starts(from, &mut starts[..=count]);
                vectorised(|| {
                    let lengths = starts.iter().zip(&starts[1..]);
                    for (identity, (&start, &end)) in identities.iter_mut().zip(lengths) {
                        *identity = I::of(all, start as usize, (end - start) as usize);
                    }
                });
            }
            self.stretch(from, identities).ok()?;
            growth
                .look(from + count, self.known.len(), self.bytes)
                .ok()?;
        }
        Some(self.found)
    }

    fn stretch(&mut self, from: usize, identities: &[I]) -> Result<(), GivenUp> {
        let mut left = identities;
        let mut row = from;
        while !left.is_empty() {
            if !self.has_hashes {
                let codes = &mut self.found.codes[row..row + left.len()];
                let seen = hits(left, &self.table, self.shift, &self.known, codes);
                left = &left[seen..];
                row += seen;
            }
            let Some((&identity, behind)) = left.split_first() else {
                break;
            };
            let place = (identity.mixed() >> self.shift) as usize;
            let code = self.table[place];
            let is_it = self.known.get(code as usize) == Some(&identity)
                && (!identity.is_hash() || self.is_entry(code, row));
            self.found.codes[row] = if is_it {
                code
            } else {
                self.search(place, identity, row)?
            };
            left = behind;
            row += 1;
        }
        Ok(())
    }

    fn is_entry(&self, code: u16, row: usize) -> bool {
        let first = self.found.firsts[code as usize];
        self.texts.get(first as usize) == self.texts.get(row)
    }

    /// The entry that is not where it belongs, or a new one.
    fn search(&mut self, mut place: usize, identity: I, row: usize) -> Result<u16, GivenUp> {
        loop {
            let code = self.table[place];
            if code == 0 && place != self.home {
                return self.add(place, identity, row);
            }
            if self.known[code as usize] == identity
                && (!identity.is_hash() || self.is_entry(code, row))
            {
                return Ok(code);
            }
            self.patience = self.patience.checked_sub(1).ok_or(GivenUp)?;
            place = (place + 1) & (self.table.len() - 1);
        }
    }

    fn add(&mut self, place: usize, identity: I, row: usize) -> Result<u16, GivenUp> {
        let code = self.known.len();
        self.bytes += self.texts.ends.range(row).len();
        if code == Self::most(self.texts) || self.bytes > Self::room(self.texts) {
            return Err(GivenUp);
        }
        if code == 0 {
            self.home = place;
        }
        self.known.push(identity);
        self.found.firsts.push(row as u32);
        self.table[place] = code as u16;
        Ok(code as u16)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::sample::Sample;
    use super::*;

    fn collected<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Collected {
        let mut all = Collected::default();
        values
            .into_iter()
            .for_each(|value| all.push(value.as_ref()));
        all
    }

    /// Each value in the order in which it came first, and the codes, by the standard library.
    fn expected(texts: Texts<'_>) -> (Vec<Vec<u8>>, Vec<u16>) {
        let mut entries = Vec::new();
        let mut known = HashMap::new();
        let codes = (0..texts.len())
            .map(|row| {
                let value = texts.get(row).to_vec();
                *known.entry(value.clone()).or_insert_with(|| {
                    entries.push(value);
                    (entries.len() - 1) as u16
                })
            })
            .collect();
        (entries, codes)
    }

    fn check(found: Dictionary, texts: Texts<'_>) -> usize {
        let entries = found.entries(texts);
        let list: Vec<Vec<u8>> = (0..found.len())
            .map(|code| entries.texts().get(code).to_vec())
            .collect();
        assert_eq!((list, found.codes), expected(texts));
        entries.ends.len()
    }

    /// How many entries there are; both ways to tell values apart find the same.
    fn entries<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Option<usize> {
        let all = collected(values);
        let texts = all.texts();
        let expected = Sample::of(texts).repetitions();
        let found = Dictionary::of(texts, expected).map(|found| check(found, texts));
        let by_any = Builder::<u128>::new(texts).build(expected);
        assert_eq!(by_any.map(|found| check(found, texts)), found);
        found
    }

    #[test]
    fn values_of_every_length_are_told_apart() {
        assert_eq!(entries(["a"; 9]), Some(1));
        assert_eq!(entries([""; 9]), Some(1));
        assert_eq!(entries(["", "a", "", "a", "\0", "\0\0", "\0", ""]), Some(4));
        let repeated = |values: &[String]| {
            let count = values.len();
            let rows = (0..count * 5).map(|row| &values[row * 11 % count]);
            assert_eq!(entries(rows.clone()), Some(count));
            // The same without an order.
            let mixed = (0..count * 5).map(|row| &values[row * row % count]);
            assert!(entries(mixed).is_some_and(|found| found <= count));
        };
        for most in [6, 7, 8, 15, 16, 17, 40, 300] {
            repeated(
                &(0..=most)
                    .map(|length| "x".repeat(length))
                    .collect::<Vec<_>>(),
            );
            let prefix = "x".repeat(most - 4);
            let values = (0..1000).map(|n| format!("{prefix}{n:03}{}", "y".repeat(n % 2)));
            repeated(&values.collect::<Vec<_>>());
        }
        let umlauts = [
            "ä", "ö", "Grüße", "äöüß", "🥁", "鼓", "äö", "öö", "a\u{308}",
        ];
        repeated(&umlauts.map(|value| format!("{value} {}", value.repeat(9))));
        assert_eq!(entries(umlauts.iter().cycle().take(90)), Some(9));
    }

    #[test]
    fn as_many_entries_as_codes_can_name_and_no_more() {
        let numbered = |kinds: usize| {
            let rows = (0..kinds * 3).map(move |row| format!("{:07}", row % kinds));
            entries(rows)
        };
        assert_eq!(numbered(1 << 16), Some(1 << 16));
        assert_eq!(numbered((1 << 16) + 1), None);
        assert_eq!(entries([""; 0]), Some(0));
    }

    #[test]
    fn half_of_the_values_or_of_the_bytes_is_too_much() {
        let rows = |kinds: usize| (0..6000).map(move |row| format!("value {}", row % kinds));
        assert_eq!(entries(rows(2000)), Some(2000));
        assert_eq!(entries(rows(3001)), None);
        assert_eq!(entries(rows(6000)), None);
        // Few, but long.
        let long = (0..1000).map(|row| match row % 10 {
            0 => format!("{row}{}", "x".repeat(1000)),
            _ => "y".to_owned(),
        });
        assert_eq!(entries(long), None);
    }

    #[test]
    fn what_grows_too_fast_is_given_up_early_unless_it_comes_again() {
        let mixed = |n: usize| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        // Two of three values are new, the others are one of ten.
        let growing = collected((0..10_000).map(|row| match mixed(row) % 3 {
            0 => format!("value {:06}", mixed(row) % 10),
            _ => format!("value {row:06}"),
        }));
        let texts = growing.texts();
        let mut builder = Builder::<u128>::new(texts);
        let mut growth = Growth::new(10_000, 60_000, Sample::of(texts).repetitions());
        let identities: Vec<u128> = (0..10_000)
            .map(|row| texts.ends.range(row))
            .map(|range| u128::of(texts.all, range.start, range.len()))
            .collect();
        let given_up_at = (0..10_000).step_by(STRETCH).find(|&from| {
            let count = STRETCH.min(10_000 - from);
            builder
                .stretch(from, &identities[from..from + count])
                .is_err()
                || growth
                    .look(from + count, builder.known.len(), builder.bytes)
                    .is_err()
        });
        assert!(given_up_at.is_some_and(|row| row < 2600), "{given_up_at:?}");
        // As many in the beginning, and then the same again, as a sample says.
        for period in [644, 2576, 4186] {
            let again = (0..10_000).map(|row| format!("value {:06}", row % period));
            let list = collected(again.clone());
            assert!(Sample::of(list.texts()).repetitions().count > 20.0);
            assert_eq!(entries(again), Some(period));
        }
        // Drawn from so many.
        for kinds in [600, 2000, 4000] {
            let drawn = (0..10_000).map(|row| format!("value {:06}", mixed(row) % kinds));
            assert!(entries(drawn).is_some_and(|found| found <= kinds));
        }
    }

    #[test]
    fn values_that_meet_in_one_place_are_told_apart() {
        let size = (2000_usize * 2).next_power_of_two();
        let place = |value: &String| u64::of(value.as_bytes(), 0, value.len()).mixed() >> 52;
        assert_eq!(size, 1 << 12);
        let meeting: Vec<String> = (0..400_000)
            .map(|n| format!("{n}"))
            .filter(|value| place(value) == 0xfff)
            .take(20)
            .collect();
        assert_eq!(meeting.len(), 20);
        let rows = (0..4000).map(|row| &meeting[row * 7 % 20]);
        assert_eq!(entries(rows), Some(20));
    }

    #[test]
    fn long_values_of_one_hash_are_told_apart_until_that_takes_too_long() {
        // Their first eight bytes make the first product zero, whatever the next eight are.
        let value = |n: u64| {
            let mut value = 0x9e37_79b9_7f4a_7c15_u64.to_le_bytes().to_vec();
            value.extend(n.to_le_bytes());
            value.extend([b'x'; 16]);
            value
        };
        let identity = |n| u128::of(&value(n), 0, 32);
        assert!((1..100).all(|n| identity(n) == identity(0)));
        assert_eq!(entries((0..1000).map(|row| value(row * row % 20))), Some(6));
        assert_eq!(entries((0..1000).map(|row| value(row * 7 % 20))), Some(20));
        assert_eq!(entries((0..60_000).map(|row| value(row % 20_000))), None);
    }
}
