//! How does a program survive a library that crashes? The work lies in a process of its own; the message at which that dies is named.
//!
//!     cargo run -p tamtam --example isolated --features process
//!
//! A decoder is asked for six pictures. The third one makes it abort, as a bug in a decoder may. Its asker hears of it, the others get their
//! answers from the next process, and the bytes of the bad picture are kept.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tamtam::actor::{AskError, Loss, on_dead_letter};
use tamtam::process::{self, Limits, Process, Remote};
use tamtam::{Actor, Context, Reply};

#[derive(Serialize, Deserialize)]
struct Decode(Vec<u8>, Reply<usize>);

/// Counts the bytes of a picture that are not zero; and has a bug.
struct Decoder;

impl Actor for Decoder {
    type Message = Decode;

    fn handle(&mut self, Decode(picture, reply): Decode, _: &mut Context<Self>) {
        if picture.first() == Some(&0xff) {
            std::process::abort();
        }
        reply.send(picture.iter().filter(|byte| **byte != 0).count());
    }
}

impl Remote for Decoder {
    type Config = ();
    const NAME: &'static str = "decoder";

    fn create(
        (): (),
        _: &mut Context<Self>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Decoder)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // First of all: a process that was started for the decoder runs it here, and goes no further.
    process::start(|workers| {
        workers.add::<Decoder>();
    });

    // It may use memory, and nothing else: no file, no network, no other process.
    let decoder = Process::spawner()
        .name("decoder")
        .limits(Limits::new().untrusted())
        .spawn::<Decoder>(())?;

    let bad = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&bad);
    let _watch = on_dead_letter(move |letter| {
        if let (Loss::ProcessEnded(end), Some(bytes)) = (letter.why, &letter.bytes) {
            found.lock().unwrap().push((end, bytes.len()));
        }
    });

    for number in 1..=6_u8 {
        let first = if number == 3 { 0xff } else { number };
        let picture = vec![first, 0, number, 0];
        match decoder.ask(|reply| Decode(picture, reply)) {
            Ok(bytes) => println!("picture {number}: {bytes} bytes"),
            Err(AskError::ProcessEnded(end)) => {
                println!("picture {number}: the decoder died: {end}")
            }
            Err(other) => return Err(other.into()),
        }
    }

    let bad = bad.lock().unwrap();
    assert_eq!(bad.len(), 1, "one message was lost, and named");
    println!(
        "lost, and kept to be looked at: {} message of {} bytes",
        bad.len(),
        bad[0].1
    );
    Ok(())
}
