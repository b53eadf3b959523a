//! How do two threads take strict turns, one value at a time?
//!
//! Each direction has a slot: one place, handed over. The answer to a question is its square, and
//! the asker checks every one, so a lost, doubled or stale value would be noticed.

#![forbid(unsafe_code)]

use std::thread;
use std::time::Instant;

use tamtam::Slot;

const TURNS: u64 = 100_000;

fn main() {
    let question = Slot::new();
    let answer = Slot::new();

    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..TURNS {
                let number: u64 = question.take();
                answer.put(number * number);
            }
        });

        let start = Instant::now();
        for number in 0..TURNS {
            question.put(number);
            assert_eq!(
                answer.take(),
                number * number,
                "an answer to another question"
            );
        }
        let round_trip = start.elapsed().as_nanos() / u128::from(TURNS);
        println!("{TURNS} questions and answers, each checked: {round_trip} ns a round trip");
    });
}
