use std::sync::atomic::{AtomicU64, Ordering};

use tamtam_lab::{Stamp, Turn};

/// A message that is two words and nothing else, so that the bare contenders can pass it through atomic words: plain
/// loads and stores to the machine, without unsafe code here.
pub(crate) trait Plain: Copy + Send + 'static {
    /// The message as words.
    fn to_words(self) -> [u64; 2];

    /// The message out of its words.
    fn from_words(words: [u64; 2]) -> Self;
}

impl Plain for Turn {
    fn to_words(self) -> [u64; 2] {
        [self.0, 0]
    }

    fn from_words([number, _]: [u64; 2]) -> Self {
        Turn(number)
    }
}

impl Plain for Stamp {
    fn to_words(self) -> [u64; 2] {
        [self.number, self.sent]
    }

    fn from_words([number, sent]: [u64; 2]) -> Self {
        Stamp { number, sent }
    }
}

/// The place of a plain message. Whoever uses it orders its reads and writes by a flag beside it.
#[derive(Debug, Default)]
pub(crate) struct Words([AtomicU64; 2]);

impl Words {
    /// Writes a message; the flag's release store comes after it.
    pub(crate) fn write(&self, message: impl Plain) {
        for (place, word) in self.0.iter().zip(message.to_words()) {
            place.store(word, Ordering::Relaxed);
        }
    }

    /// Reads the message; the flag's acquire load comes before it.
    pub(crate) fn read<P: Plain>(&self) -> P {
        P::from_words([
            self.0[0].load(Ordering::Relaxed),
            self.0[1].load(Ordering::Relaxed),
        ])
    }
}
