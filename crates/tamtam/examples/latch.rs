//! How does one thread wait until many pieces of work are done, wherever they are done?
//!
//! A latch counts down from the number of pieces and opens at zero, exactly. Here four threads
//! count the primes below 200,000; whoever takes a piece of the range counts it down when it is done.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tamtam::{Latch, bounded};

const PIECES: u64 = 100;
const PIECE: u64 = 2_000;

fn is_prime(number: u64) -> bool {
    number >= 2
        && (2..)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| !number.is_multiple_of(divisor))
}

fn main() {
    let done = Latch::new(PIECES);
    let primes = AtomicU64::new(0);
    let (pieces, work) = bounded(PIECES as usize);

    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for start in work.iter() {
                    let found = (start..start + PIECE)
                        .filter(|number| is_prime(*number))
                        .count();
                    primes.fetch_add(found as u64, Ordering::Relaxed);
                    done.count_down();
                }
            });
        }
        for piece in 0..PIECES {
            pieces.send(piece * PIECE).expect("the workers listen");
        }
        drop(pieces); // no more work: the workers end when the channel is empty

        while done.wait_timeout(Duration::from_millis(10)).is_err() {
            println!("{} of {PIECES} pieces still to do", done.remaining());
        }
        // All that was done before a count is seen by who waited for the last.
        println!(
            "{} primes below {}",
            primes.load(Ordering::Relaxed),
            PIECES * PIECE
        );
        assert_eq!(primes.load(Ordering::Relaxed), 17_984);
    });
}
