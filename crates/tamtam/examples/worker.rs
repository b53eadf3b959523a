//! How does one give a thread a queue of messages, a limit, and an orderly end?
//!
//! The worker handles one message after another until it is told to quit. Its queue holds at most
//! 10,000 unread messages: the next is refused, and the error gives it back. After the end, too,
//! nobody's message is lost in silence.

#![forbid(unsafe_code)]

use std::thread;

use tamtam::channel::{RecvError, TrySendError};
use tamtam::{Event, Receiver, bounded};

const LIMIT: usize = 10_000;

enum Message {
    Add(u64),
    Quit,
}

/// Handles messages until `Quit`, and returns the sum of what was added.
fn work(inbox: Receiver<Message>) -> Result<u64, RecvError> {
    let mut sum = 0;
    loop {
        match inbox.recv()? {
            Message::Add(number) => sum += number,
            Message::Quit => return Ok(sum),
        }
    }
}

fn main() {
    let (post, inbox) = bounded(LIMIT);
    let open = Event::manual();

    let sum = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            open.wait();
            work(inbox)
        });

        // The worker still waits for the event, so the queue fills up to its limit.
        for _ in 0..LIMIT {
            post.try_send(Message::Add(2))
                .expect("there is room up to the limit");
        }
        match post.try_send(Message::Add(1)) {
            Err(TrySendError::Full(Message::Add(number))) => {
                println!("the queue is full at {}; {number} came back", post.len());
            }
            _ => panic!("the message after the limit was not refused"),
        }

        open.set();
        post.send(Message::Quit)
            .expect("the worker listens until it is told to quit");
        worker.join().expect("the worker did not panic")
    });
    assert_eq!(sum, Ok(2 * LIMIT as u64));
    println!("the worker added {} messages up to {}", LIMIT, 2 * LIMIT);

    match post.send(Message::Add(3)) {
        Err(error) => println!("after its end: {error}"),
        Ok(()) => panic!("a message was accepted that nobody can receive"),
    }
}
