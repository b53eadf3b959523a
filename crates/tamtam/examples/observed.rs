//! A program that can be looked at while it runs.
//!
//! It serves its figures for `tamtam top`, lets some actors work, and prints what it has seen of them itself.
//! With `--stay` it works on until its input ends, so that there is something to look at:
//!
//! ```text
//! cargo run --features actor,top --example observed -- --stay
//! tamtam top observed
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tamtam::actor::observe::{self, Order};
use tamtam::{Actor, Address, Context, Pool, Reply};

/// Counts words, some slower than others.
struct Counter {
    delay: Duration,
    words: usize,
}

enum Text {
    Line(String),
    Words(Reply<usize>),
}

impl Actor for Counter {
    type Message = Text;

    fn handle(&mut self, message: Text, _: &mut Context<Self>) {
        match message {
            Text::Line(line) => {
                thread::sleep(self.delay);
                self.words += line.split_whitespace().count();
            }
            Text::Words(reply) => reply.send(self.words),
        }
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // First, so that the pools count what their actors do. Without a place for the socket the program works all the same.
    let serving = observe::serve();
    let pool = Pool::builder().threads(2).name("counters").build()?;
    let delays = [0, 20, 200].map(Duration::from_micros);
    let counters = delays.map(|delay| pool.spawn(Counter { delay, words: 0 }));

    for counter in &counters {
        for _ in 0..100 {
            counter.tell(Text::Line("one two three".to_owned()))?;
        }
    }
    for counter in &counters {
        assert_eq!(counter.ask(Text::Words)?, 300);
    }

    // What `tamtam top` shows, the program can read itself.
    for actor in pool.busiest(10, Order::Handled) {
        println!("{} has handled {} messages", actor.id, actor.handled);
    }
    let totals = pool.snapshot().actors.unwrap_or_default();
    println!("{} actors have handled {}", totals.living, totals.handled);

    if std::env::args().any(|word| word == "--stay") {
        match &serving {
            Ok(serving) => eprintln!("look at it by: tamtam top {}", serving.path().display()),
            Err(error) => eprintln!("nobody can look at it: {error}"),
        }
        work_until_input_ends(&counters)?;
    }
    Ok(())
}

fn work_until_input_ends(counters: &[Address<Text>]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The text does not matter, only its end; an error is an end, too.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            for counter in counters {
                counter.tell(Text::Line("to be or not to be".to_owned()))?;
            }
            thread::sleep(Duration::from_micros(150));
        }
        Ok(())
    })
}
