//! Processes that this program has for its actors: what a crate above knows of them, and what of it is told to those who look.

use std::string::String;
use std::sync::OnceLock;
use std::time::Duration;
use std::vec::Vec;

use super::answer::{self, Before};
use super::usage;
use crate::observe::json::Json;

/// A process of an actor, as its program knows it.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct ProcessBelow {
    /// What its actor is called.
    pub name: String,
    /// The system's number; `None` if there is none at this time.
    pub pid: Option<u32>,
    /// How often another one has taken its place.
    pub restarts: u32,
    /// Messages to its actor that are not done with.
    pub queued: u64,
    /// What carries its messages, in a word or two; `None` if there is no process, or it has not begun yet.
    pub carrier: Option<&'static str>,
    /// Why that is not what carries them faster.
    pub refused: Option<String>,
    /// What it has said last of what it does, and how long ago that was.
    pub answer: Option<(Duration, String)>,
}

/// Asks all of them with the words of a request.
type Ask = fn(&str) -> Vec<ProcessBelow>;

static ASK: OnceLock<Ask> = OnceLock::new();

/// Calls this for each request, with its words, on the thread that answers it.
#[doc(hidden)]
pub fn look_below(ask: Ask) {
    // It is always the same one.
    let _ = ASK.set(ask);
}

/// Answers the requests of a program above, which passes on those that it gets itself.
#[derive(Default)]
#[doc(hidden)]
pub struct Answerer(Before);

impl Answerer {
    /// The answer to the words of a request, a line of JSON.
    pub fn answer(&mut self, request: &str) -> String {
        answer::answer(request, &mut self.0)
    }
}

impl core::fmt::Debug for Answerer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Answerer").finish()
    }
}

/// Those that there are, as members of the answer to a request.
pub(super) fn show(json: &mut Json, request: &str) {
    let Some(ask) = ASK.get() else {
        return;
    };
    let all = ask(request);
    json.list("processes", |json| {
        for process in &all {
            json.object(|json| {
                json.text("name", answer::short(&process.name));
                if let Some(pid) = process.pid {
                    json.plain("pid", pid);
                    usage::show(json, pid);
                }
                json.plain("restarts", process.restarts);
                json.plain("queued", process.queued);
                if let Some(carrier) = process.carrier {
                    json.text("carrier", carrier);
                }
                if let Some(why) = &process.refused {
                    json.text("carrier_refused", answer::short(why));
                }
                if let Some((age, answer)) = &process.answer {
                    json.plain("age_ns", age.as_nanos());
                    // As a text: what a worker says is not trusted to be JSON.
                    json.text("answer", answer);
                }
            });
        }
    });
}
