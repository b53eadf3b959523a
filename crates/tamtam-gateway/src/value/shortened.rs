//! Texts from outside, as an error tells them back.

/// Characters of a text that are told back, at most.
const MOST_SHOWN: usize = 60;

/// The beginning of a text, as it is told back: all of it, if that is short.
pub(crate) fn shortened(text: &str) -> &str {
    text.char_indices()
        .nth(MOST_SHOWN)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let (at, above) = ("\u{e4}".repeat(60), "\u{e4}".repeat(61));
        assert_eq!(shortened(&at), at);
        assert_eq!(shortened(&above), at);
        assert_eq!(shortened(""), "");
    }
}
