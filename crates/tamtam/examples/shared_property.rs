//! How do two threads share values by name, without a queue in between?
//!
//! Like two workers that write shared properties and look at them: the main thread writes a number, the
//! worker finds it, and answers by writing the next one, in strict turns. Neither knows more of the other
//! than names and types; each looks a name up once and then uses the property itself.

#![forbid(unsafe_code)]

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tamtam::Properties;

const TURNS: u64 = 1_000;

/// The question that ends the worker.
const QUIT: u64 = 0;

/// Answers each question with its double, until told to quit.
fn worker(shared: &Properties) {
    // Whoever starts first: the name appears when the other side sets it.
    let question = shared
        .wait_for::<u64>("question")
        .expect("questions are numbers");
    let answer = shared
        .property_or("answer", 0_u64)
        .expect("answers are numbers");
    let mut seen = 0;
    loop {
        // Not a value that is there already, but a change: the same question may be asked twice.
        seen = question.wait_changed(seen);
        match question.get() {
            QUIT => return,
            number => answer.set(number * 2),
        }
    }
}

fn main() {
    let shared = Arc::new(Properties::new());
    let other = shared.clone();
    let thread = thread::spawn(move || worker(&other));

    let question = shared.property_or("question", QUIT).expect("a new name");
    let answer = shared
        .wait_for::<u64>("answer")
        .expect("answers are numbers");
    let started = Instant::now();
    let mut seen = answer.version();
    for number in 1..=TURNS {
        question.set(number);
        seen = answer.wait_changed(seen);
        assert_eq!(answer.get(), number * 2);
    }
    let each = started.elapsed() / TURNS as u32;
    println!("{TURNS} turns, {each:?} each");
    question.set(QUIT);
    thread.join().expect("the worker did not panic");

    // A name has one type, and an error says what to do.
    let error = shared.set("question", "why?").expect_err("it is a number");
    println!("{error}");
    println!("names: {:?}", shared.names());
}
