//! A supervised tree: a counter, and a parser that panics at bad input and passes what it has read to the counter.
//!
//! The parser begins again, behind the same address, with the line after the bad one; the counter keeps what it has.
//! `cargo run -p tamtam --features actor --example supervised`

#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Duration;

use tamtam::actor::{AskError, EndReason, Registry, Strategy, Supervision};
use tamtam::{Actor, Address, Context, Pool, Reply};

/// Adds up what it is told.
struct Sum(u64);

enum Count {
    Add(u64),
    Read(Reply<u64>),
}

impl Actor for Sum {
    type Message = Count;

    fn handle(&mut self, message: Count, _: &mut Context<Self>) {
        match message {
            Count::Add(number) => self.0 += number,
            Count::Read(reply) => reply.send(self.0),
        }
    }
}

/// Reads numbers. It trusts its input, and its supervisor.
struct Parser {
    sum: Address<Count>,
    instance: u32,
}

struct Line(&'static str, Reply<u32>);

impl Actor for Parser {
    type Message = Line;

    fn handle(&mut self, Line(line, reply): Line, _: &mut Context<Self>) {
        let number = line.parse().expect("a number");
        // The sum lives at least as long as its supervisor does.
        let _ = self.sum.tell(Count::Add(number));
        reply.send(self.instance);
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // A panic is reported as everywhere; here that is expected, and not to be seen.
    std::panic::set_hook(Box::new(|_| {}));

    let pool = Pool::new();
    let mut tree = Supervision::new(Strategy::OneForOne).limit(2, Duration::from_secs(3_600));
    let sum = tree.child("sum", pool.spawner(), |_| Sum(0));
    let parser = {
        let sum = sum.clone();
        let mut instance = 0;
        tree.child("parser", pool.spawner(), move |_| {
            instance += 1;
            Parser {
                sum: sum.clone(),
                instance,
            }
        })
    };
    let supervisor = tree.start(pool.spawner().name("sums"));
    Registry::global().register("parser", &parser)?;

    let parser = Registry::global().find::<Line>("parser")?;
    for line in ["1", "20", "many", "300", "some", "4000"] {
        match parser.ask(|reply| Line(line, reply)) {
            Ok(instance) => println!("{line:>5}: read by instance {instance}"),
            Err(AskError::Panicked(_)) => println!("{line:>5}: the parser has panicked"),
            Err(error) => return Err(error.into()),
        }
    }
    println!("the sum is {}", sum.ask(Count::Read)?);
    println!("{} restarts", supervisor.restarts());

    // Once more than is allowed: the supervisor gives up, and ends its children.
    let end = supervisor.end();
    let _ = parser.ask(|reply| Line("too many", reply));
    match end.wait().reason {
        EndReason::GaveUp { message, .. } => println!("the supervisor gave up: {message}"),
        other => return Err(format!("the supervisor ended otherwise: {other}").into()),
    }
    assert!(sum.is_stopped() && parser.is_stopped());
    Ok(())
}
