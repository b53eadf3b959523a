//! Words to make texts of.

use std::sync::LazyLock;

use super::random::{Random, Weights};

/// A list that a table draws from.
pub(super) type Words = LazyLock<Vec<&'static str>>;

/// The words of a text in which bars stand between them.
pub(super) fn listed(text: &'static str) -> Vec<&'static str> {
    text.split('|').collect()
}

/// Words of ordinary prose, the most frequent first.
pub(super) static WORDS: Words = LazyLock::new(|| {
    listed(
        "the|to|of|a|and|is|for|in|not|was|on|with|from|after|that|by|request|server|order|customer|please|call|back|\
     before|delivery|user|time|new|account|payment|failed|could|be|than|expected|connection|value|at|retry|again|\
     when|moved|first|cache|invoice|address|until|closed|asked|offer|changed|table|missing|found|slow|query|\
     answer|late|door|left|neighbour|number|wrong|update|morning|index|limit|reached|monday|friday|contract|\
     signed|renewal|because|queue|depth|above|threshold|refused|token|expired|session|started|evening|manager|\
     wants|discount|parcel|damaged|returned|replacement|sent|blue|kitchen|garden|meeting|cancelled|holiday|\
     august|summer",
    )
});

/// What things are called in addresses of programs.
pub(super) static NOUNS: Words = LazyLock::new(|| {
    listed(
        "users|orders|items|carts|sessions|invoices|payments|products|reviews|images|accounts|teams|projects|tasks|\
     comments|files|search|events|devices|reports|stores|addresses|coupons|messages|prices",
    )
});

/// Text of this many words.
pub(super) fn prose(random: &mut Random, frequency: &Weights, words: usize) -> String {
    let mut text = String::new();
    for word in 0..words {
        if word > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[frequency.pick(random)]);
        // Now and then a number or a comma, as people write.
        if random.chance(0.04) {
            text.push_str(&format!(" {}", random.between(2, 4_000)));
        } else if word + 1 < words && random.chance(0.06) {
            text.push(',');
        }
    }
    text
}

/// How frequent the words of ordinary prose are.
pub(super) fn frequency() -> Weights {
    Weights::zipf(WORDS.len(), 1.7)
}
