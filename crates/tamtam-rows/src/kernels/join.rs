//! Values of one length, gathered from where they are.

/// All values one behind the other, and the length of each in bytes. `None` unless there are some and all have one
/// length of 1 to 16 bytes.
#[inline]
pub(crate) fn join<'a>(
    values: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) -> Option<(Vec<u8>, usize)> {
    let width = values.clone().next()?.len();
    /// Copies of a length that the compiler knows are one or two instructions.
    #[inline]
    fn copies<'a, const WIDTH: usize>(
        mut values: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Option<Vec<u8>> {
        let count = values.len();
        let mut all: Vec<[u8; WIDTH]> = Vec::with_capacity(count);
        for place in &mut all.spare_capacity_mut()[..count] {
            place.write(values.next()?.try_into().ok()?);
        }
        // SAFETY: the first `count` places have been written by the loop.
        unsafe { all.set_len(count) };
        values.next().is_none().then(|| all.into_flattened())
    }
    macro_rules! widths {
        ($($width:literal)*) => {
            match width {
                $($width => copies::<$width>(values),)*
                _ => None,
            }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16).map(|all| (all, width))
}

/// The same for texts.
#[inline]
pub(crate) fn join_texts<'a>(
    values: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Option<(String, usize)> {
    let (all, width) = join(values.map(str::as_bytes))?;
    // SAFETY: it consists of whole texts, one behind the other.
    Some((unsafe { String::from_utf8_unchecked(all) }, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_length_lie_one_behind_the_other() {
        for width in 1..=16 {
            let texts: Vec<String> = (0..50)
                .map(|n| format!("{n:02}").repeat(8)[..width].to_owned())
                .collect();
            let found = join_texts(texts.iter().map(String::as_str));
            assert_eq!(found, Some((texts.concat(), width)));
        }
        let umlauts = ["ää", "öö"];
        assert_eq!(
            join_texts(umlauts.into_iter()),
            Some(("ääöö".to_owned(), 4))
        );
    }

    #[test]
    fn others_are_left_to_others() {
        assert_eq!(join([].into_iter()), None);
        assert_eq!(join([&b""[..], b""].into_iter()), None);
        assert_eq!(join([&b"ab"[..], b"cd", b"e"].into_iter()), None);
        assert_eq!(join([&b"ab"[..], b"cde"].into_iter()), None);
        assert_eq!(join([&[7; 17][..]].into_iter()), None);
    }
}
