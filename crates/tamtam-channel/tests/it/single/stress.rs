use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{Wait, mpsc, spsc};

use super::counter;

/// How long each test goes on.
fn limit() -> Duration {
    let seconds = std::env::var("TAMTAM_SOAK_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.3);
    Duration::from_secs_f64(seconds)
}

/// A number that looks like chance, the same in every run.
fn chance(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// In every round, by chance: how many senders, in what batches, how they wait, when the receiver closes.
/// What was accepted is received or dropped, and nothing twice.
#[test]
fn rounds_of_everything() {
    let start = Instant::now();
    let mut seed = 0x5eed_1234_u64;
    while start.elapsed() < limit() {
        let (dropped, message) = counter();
        let message = std::sync::Arc::new(message);
        let bounded = chance(&mut seed).is_multiple_of(2);
        let (sender, receiver) = if bounded {
            mpsc::bounded(1 + chance(&mut seed) as usize % 200)
        } else {
            mpsc::unbounded()
        };
        let wait = [Wait::Adaptive, Wait::Yield, Wait::Park][chance(&mut seed) as usize % 3];
        let receiver = receiver.with_wait(wait);
        let senders = 1 + chance(&mut seed) % 4;
        let threads: Vec<_> = (0..senders)
            .map(|_| {
                let sender = sender.clone().with_wait(wait);
                let message = std::sync::Arc::clone(&message);
                let mut seed = chance(&mut seed) | 1;
                thread::spawn(move || {
                    let (mut made, mut accepted) = (0, 0);
                    for _ in 0..chance(&mut seed) % 100 {
                        let size = chance(&mut seed) as usize % 150;
                        if size < 75 {
                            made += 1;
                            accepted += usize::from(sender.send(message()).is_ok());
                        } else {
                            let mut yielded = 0;
                            let sent = sender.send_many((0..size).map(|_| {
                                yielded += 1;
                                message()
                            }));
                            made += yielded;
                            accepted += sent.unwrap_or_else(|error| error.sent);
                        }
                    }
                    (made, accepted)
                })
            })
            .collect();
        drop(sender);
        let stop_after = if chance(&mut seed).is_multiple_of(3) {
            chance(&mut seed) as usize % 2000
        } else {
            usize::MAX
        };
        let mut received = 0;
        let mut buffer = Vec::new();
        loop {
            if received >= stop_after {
                receiver.close();
            }
            let taken = if chance(&mut seed).is_multiple_of(2) {
                receiver.recv().map(|_| 1)
            } else {
                receiver.recv_many(&mut buffer, 1 + chance(&mut seed) as usize % 300)
            };
            buffer.clear();
            match taken {
                Ok(taken) => received += taken,
                Err(_) => break,
            }
        }
        let (mut made, mut accepted) = (0, 0);
        for thread in threads {
            let (more_made, more_accepted) = thread.join().unwrap();
            made += more_made;
            accepted += more_accepted;
        }
        received += receiver.try_iter().count();
        assert_eq!(received, accepted);
        drop(receiver);
        assert_eq!(dropped.load(Ordering::SeqCst), made);
    }
}

/// Strict turns, so that each side sleeps and is woken all the time, with pauses of every length between.
#[test]
fn no_wake_up_is_missed() {
    let start = Instant::now();
    let (ask, asked) = spsc::bounded(1);
    let (answer, answered) = spsc::bounded(1);
    let worker = thread::spawn(move || {
        let mut seed = 7_u64;
        for number in asked.iter() {
            for _ in 0..chance(&mut seed) % 3000 {
                std::hint::spin_loop();
            }
            answer.send(number).unwrap();
        }
    });
    let mut number = 0_u64;
    let mut seed = 3_u64;
    while start.elapsed() < limit() {
        ask.send(number).unwrap();
        for _ in 0..chance(&mut seed) % 3000 {
            std::hint::spin_loop();
        }
        assert_eq!(answered.recv_timeout(Duration::from_secs(60)), Ok(number));
        number += 1;
    }
    drop(ask);
    worker.join().unwrap();
}
