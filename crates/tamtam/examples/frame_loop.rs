//! How does a program that draws frames receive messages without ever waiting for them?
//!
//! Once per frame it drains the channel and goes on, as a game or a user interface does. A message
//! waits for the next frame, but the frame waits for nobody. Here an input device reports bursts of
//! events at a pace of its own.

#![forbid(unsafe_code)]

use std::thread;
use std::time::Duration;

use tamtam::{Sender, tick, unbounded};

const FRAMES: usize = 30;

/// Sends numbered events in bursts, 300 bursts a second, until nobody listens any more.
fn input_device(post: Sender<u64>) {
    let pace = tick(Duration::from_micros(3_333));
    let mut number = 0;
    for burst in (1..=20).cycle() {
        if pace.recv().is_err() {
            return;
        }
        for _ in 0..burst {
            if post.send(number).is_err() {
                return;
            }
            number += 1;
        }
    }
}

fn main() {
    let (post, inbox) = unbounded();
    let device = thread::spawn(|| input_device(post));

    let frame_clock = tick(Duration::from_micros(16_667)); // 60 frames a second
    let mut expected = 0;
    for frame in 1..=FRAMES {
        frame_clock.recv().expect("the clock ticks for ever");
        let before = expected;
        for number in inbox.try_iter() {
            assert_eq!(number, expected, "an event is missing or came out of turn");
            expected += 1;
        }
        println!("frame {frame:2}: {} events", expected - before);
        // ... draw the frame here ...
    }
    println!("{expected} events in {FRAMES} frames, in order");

    drop(inbox); // tells the device to end
    device.join().expect("the device did not panic");
}
