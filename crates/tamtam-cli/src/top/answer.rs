//! What a program answers: a line of JSON. Nothing of it is trusted.

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use crate::printable::printable;

/// The version of what is asked and answered that this program knows.
pub(crate) const VERSION: u64 = 1;

/// An answer, as far as it is shown. What a program does not say is 0, or nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    pub(crate) program: String,
    pub(crate) pid: u64,
    pub(crate) version: String,
    pub(crate) now_ns: u64,
    /// The time since the look before; 0 if this is the first one.
    pub(crate) since_ns: u64,
    /// What it uses of the machine, in bytes and in nanoseconds, if the system says.
    pub(crate) memory: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) homes: Vec<Home>,
    /// Those that it has for its actors.
    pub(crate) processes: Vec<Process>,
    pub(crate) actors_observed: u64,
    /// How many of them are those that were asked for.
    pub(crate) actors_matching: Option<u64>,
    pub(crate) actors: Vec<Actor>,
}

/// A process of an actor, as its program knows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) pid: Option<u64>,
    pub(crate) restarts: u64,
    /// Messages to its actor that are not done with.
    pub(crate) queued: u64,
    /// What carries its messages, and why that is not shared memory.
    pub(crate) carrier: Option<String>,
    pub(crate) carrier_refused: Option<String>,
    pub(crate) memory: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
    /// How long ago it has said what it says.
    pub(crate) age_ns: u64,
    /// An answer of its own, until it is read.
    pub(super) answer: Option<String>,
    #[serde(skip)]
    pub(crate) below: Option<Box<Answer>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Home {
    pub(crate) number: u64,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) threads: u64,
    pub(crate) stand_ins: u64,
    pub(crate) blocking_threads: u64,
    pub(crate) left_behind: u64,
    pub(crate) idle_threads: u64,
    pub(crate) due: u64,
    pub(crate) turns: u64,
    pub(crate) steals: u64,
    pub(crate) sleeps: u64,
    pub(crate) entered: u64,
    pub(crate) blocking_asks: u64,
    pub(crate) actors: Option<Totals>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    pub(crate) living: u64,
    pub(crate) born: u64,
    pub(crate) handled: u64,
    pub(crate) queued: u64,
    pub(crate) lost: u64,
    pub(crate) restarts: u64,
    pub(crate) turn_ns: u64,
    pub(crate) long_turns: u64,
    pub(crate) in_long_turn: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Actor {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    pub(crate) message: String,
    pub(crate) home: String,
    pub(crate) may_block: bool,
    pub(crate) handled: u64,
    pub(crate) queued: u64,
    pub(crate) most_queued: u64,
    pub(crate) lost: u64,
    pub(crate) restarts: u64,
    pub(crate) turns: u64,
    pub(crate) turn_ns: u64,
    pub(crate) longest_ns: u64,
    pub(crate) at_work_ns: Option<u64>,
    pub(crate) handled_since: Option<u64>,
    pub(crate) turn_ns_since: Option<u64>,
}

#[derive(Deserialize)]
struct Head {
    tamtam: u64,
    error: Option<String>,
}

impl Answer {
    /// # Errors
    ///
    /// If the line is no answer, is one of another version, or says that the program refuses to answer.
    pub(crate) fn read(line: &str) -> Result<Self> {
        Self::read_at(line, 0)
    }

    /// As `read`, of a process so deep below the program.
    pub(super) fn read_at(line: &str, depth: usize) -> Result<Self> {
        let head: Head = serde_json::from_str(line).context(
            "what answers there is no program with Tamtam: its answer is no such line of JSON",
        )?;
        ensure!(
            head.tamtam == VERSION,
            "the program speaks version {} of the protocol, this tamtam speaks version {VERSION}: install the tamtam \
             that belongs to the program's version of the library",
            head.tamtam
        );
        if let Some(error) = head.error {
            bail!("the program refuses: {}", printable(&error));
        }
        let mut answer: Answer =
            serde_json::from_str(line).context("the program's answer is damaged")?;
        for process in &mut answer.processes {
            process.read_answer(depth);
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn hostile_lines_are_errors_and_no_more() {
        let deep = "[".repeat(100_000);
        let lines = [
            "",
            "{}",
            "[]",
            "null",
            "{\"tamtam\":1",
            "{\"tamtam\":-1}",
            "{\"tamtam\":1e400}",
            "{\"tamtam\":\"1\"}",
            "{\"tamtam\":1,\"homes\":7}",
            "{\"tamtam\":1,\"homes\":[{\"threads\":99999999999999999999999}]}",
            "{\"tamtam\":1,\"actors\":[{\"id\":-1}]}",
            "{\"tamtam\":1,\"program\":\"\\ud800\"}",
            &deep,
        ];
        for line in lines {
            assert!(Answer::read(line).is_err(), "{line:.80}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let error = Answer::read("{\"tamtam\":2,\"new\":true}").unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }

    #[test]
    fn a_refusal_is_passed_on_and_cannot_steer_the_terminal() {
        let error = Answer::read("{\"tamtam\":1,\"error\":\"no\\u001b[2J\"}").unwrap_err();
        assert_eq!(error.to_string(), "the program refuses: no·[2J");
    }

    #[test]
    fn what_is_not_known_is_no_error() {
        let line = "{\"tamtam\":1,\"program\":\"p\",\"moon\":[1],\"homes\":[{\"kind\":\"boat\"}]}";
        let answer = Answer::read(line).unwrap();
        assert_eq!((answer.program.as_str(), answer.homes.len()), ("p", 1));
    }
}
