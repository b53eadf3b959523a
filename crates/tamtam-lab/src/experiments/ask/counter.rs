//! The side that is asked.

/// The state of the actor that is told and asked: a contender puts it into its actor and hands it every message.
///
/// It sees whether each message is the one that is due; an answer says so.
#[derive(Debug, Default)]
pub struct Counter {
    told: u64,
    asked: u64,
    unsound: bool,
}

/// The answer of a counter to which something came out of turn.
const OUT_OF_TURN: u64 = u64::MAX;

impl Counter {
    /// Takes a message that wants no answer.
    #[inline]
    pub fn tell(&mut self, number: u64) {
        self.unsound |= number != self.told;
        self.told += 1;
    }

    /// Takes a question; returns the answer to send back.
    #[inline]
    #[must_use = "the asker waits for it"]
    pub fn ask(&mut self, number: u64) -> u64 {
        self.unsound |= number != self.asked;
        self.asked += 1;
        if self.unsound {
            OUT_OF_TURN
        } else {
            answer(number, self.told)
        }
    }
}

/// The right answer to the question `number` behind `told` messages.
pub(super) fn answer(number: u64, told: u64) -> u64 {
    1 + number + told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_out_of_turn_spoils_every_answer_from_there_on() {
        let mut counter = Counter::default();
        counter.tell(0);
        assert_eq!(counter.ask(0), answer(0, 1));
        counter.tell(1);
        assert_eq!(counter.ask(1), answer(1, 2));
        counter.tell(3);
        assert_eq!([counter.ask(2), counter.ask(3)], [OUT_OF_TURN; 2]);
        let mut counter = Counter::default();
        assert_eq!(counter.ask(1), OUT_OF_TURN);
    }
}
