//! How does one thread wait for several things at once?
//!
//! The collector waits for numbers from two producers, for a clock that ticks, and for the moment
//! when both producers have finished; whichever comes first is handled first.

#![forbid(unsafe_code)]

use std::thread;
use std::time::Duration;

use tamtam::{bounded, never, select, tick};

fn main() {
    let (even, evens) = bounded(4);
    let (odd, odds) = bounded(4);
    let clock = tick(Duration::from_millis(1));

    let sum = thread::scope(|scope| {
        scope.spawn(move || {
            (0..1_000)
                .step_by(2)
                .try_for_each(|number: u64| even.send(number))
        });
        scope.spawn(move || {
            (1..1_000)
                .step_by(2)
                .try_for_each(|number: u64| odd.send(number))
        });

        let (mut evens, mut odds) = (Some(evens), Some(odds));
        let (mut sum, mut ticks) = (0, 0);
        while evens.is_some() || odds.is_some() {
            select! {
                recv(evens.as_ref().unwrap_or(&never())) -> number => match number {
                    Ok(number) => sum += number,
                    Err(_) => evens = None, // this producer has finished: do not listen to it any more
                },
                recv(odds.as_ref().unwrap_or(&never())) -> number => match number {
                    Ok(number) => sum += number,
                    Err(_) => odds = None,
                },
                recv(clock) -> _ => ticks += 1,
                default(Duration::from_secs(10)) => panic!("nothing happened for ten seconds"),
            }
        }
        println!("all numbers arrived, and the clock ticked {ticks} times meanwhile");
        sum
    });
    assert_eq!(sum, 499_500);
    println!("their sum is {sum}");
}
