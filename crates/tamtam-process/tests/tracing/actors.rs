//! The actor whose processes tell events.

use std::error::Error;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Context, Reply};
use tamtam_process::{Process, Remote, Workers};

pub(crate) fn register(workers: &mut Workers) {
    workers.add::<Teller>();
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Tell {
    /// One event of each level, with fields of each kind.
    All,
    /// An event in two spans.
    InSpans,
    /// Whether an event for debugging would be told.
    IsDebugWanted(Reply<bool>),
    /// So many events, and how long the longest of them took, in microseconds.
    Flood(u64, Reply<u64>),
    Large,
    /// An event, and then the end of the process.
    Abort,
    Panic,
    /// The same by a worker of this worker, of this name.
    Below(String, Reply<u32>),
    Pid(Reply<u32>),
}

pub(crate) struct Teller {
    below: Vec<Address<Tell>>,
}

impl Remote for Teller {
    type Config = ();
    const NAME: &'static str = "teller";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        tracing::info!("a teller is made");
        Ok(Teller { below: Vec::new() })
    }
}

impl Actor for Teller {
    type Message = Tell;

    fn handle(&mut self, message: Tell, _: &mut Context<Self>) {
        match message {
            Tell::All => tell_all(),
            Tell::InSpans => {
                let outer = tracing::info_span!("job", number = 7, state = tracing::field::Empty);
                let _outer = outer.enter();
                outer.record("state", "half");
                let inner = tracing::info_span!("step");
                let _inner = inner.enter();
                tracing::info!("in spans");
            }
            Tell::IsDebugWanted(reply) => reply.send(tracing::enabled!(tracing::Level::DEBUG)),
            Tell::Flood(events, reply) => {
                let mut longest = 0;
                for number in 0..events {
                    let start = std::time::Instant::now();
                    tracing::info!(number, "one of many");
                    longest = longest.max(start.elapsed().as_micros());
                }
                reply.send(longest as u64);
            }
            Tell::Large => {
                let text = "x".repeat(1 << 20);
                tracing::info!(text, shown = ?vec![text.clone()], text2 = text, text3 = text, text4 = text, "large");
            }
            Tell::Abort => {
                tracing::error!("the last words");
                std::process::abort();
            }
            Tell::Panic => panic!("told as an event"),
            Tell::Below(name, reply) => {
                // A worker is not asked which actors there are, but its program is.
                let program = std::process::Command::new("/proc/self/exe");
                let below = Process::from(program)
                    .name(name)
                    .spawn::<Teller>(())
                    .unwrap();
                reply.send(below.ask(Tell::Pid).unwrap());
                self.below.push(below);
            }
            Tell::Pid(reply) => reply.send(std::process::id()),
        }
    }
}

fn tell_all() {
    tracing::trace!("a trace");
    tracing::debug!("for debugging");
    tracing::info!(
        target: "teller::figures",
        unsigned = 7_u64,
        signed = -7,
        float = 0.5,
        text = "a \"text\"",
        shown = ?Some(1),
        displayed = %"plain",
        truth = true,
        "information"
    );
    tracing::warn!("a warning");
    tracing::error!(
        error = &std::io::Error::other("no paper") as &dyn Error,
        "an error"
    );
}
