//! Messages that carry a number and show if they were damaged.

/// A message that carries a number, and shows if it was damaged.
pub trait Message: Send + 'static {
    /// The message with this number.
    fn new(number: u64) -> Self;

    /// Its number; `None` if its parts do not fit together.
    fn number(&self) -> Option<u64>;
}

/// The plain message of strict turns: a number of eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn(pub u64);

impl Message for Turn {
    fn new(number: u64) -> Self {
        Turn(number)
    }

    fn number(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A number with a string of one character beside it, which is allocated for every message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    number: u64,
    text: String,
}

impl Text {
    fn letter(number: u64) -> char {
        char::from(b'a' + (number % 26) as u8)
    }
}

impl Message for Text {
    fn new(number: u64) -> Self {
        Text {
            number,
            text: String::from(Text::letter(number)),
        }
    }

    fn number(&self) -> Option<u64> {
        let mut letters = self.text.chars();
        let fits = letters.next() == Some(Text::letter(self.number)) && letters.next().is_none();
        fits.then_some(self.number)
    }
}

/// The message of sparse traffic: a number, and when it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// The position in the sequence for its receiver.
    pub number: u64,
    /// When it was sent, in nanoseconds since a moment that both sides know.
    pub sent: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_whose_letter_does_not_fit_is_noticed() {
        assert_eq!(Text::new(27).number(), Some(27));
        assert_eq!(
            Text {
                number: 27,
                text: "a".to_owned()
            }
            .number(),
            None
        );
        assert_eq!(
            Text {
                number: 27,
                text: "bb".to_owned()
            }
            .number(),
            None
        );
        assert_eq!(
            Text {
                number: 27,
                text: String::new()
            }
            .number(),
            None
        );
    }
}
