//! Py3AMF, in a process of Python's that takes its own time.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::Outcome;
use crate::tile::Tile;

pub(crate) struct Answer {
    pub(crate) tiles: Vec<Tile>,
    /// What each run took.
    pub(crate) times: Vec<Duration>,
}

#[derive(Deserialize)]
struct Said {
    tiles: Vec<Tile>,
    seconds: Vec<f64>,
}

/// What the program `python` reads of a packet, with Py3AMF in that many runs.
pub(crate) fn read(python: &str, packet: &[u8], runs: usize) -> Outcome<Answer> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/py3amf.py");
    let mut command = Command::new(python);
    command.arg(script).arg(runs.to_string());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("there is no pipe")?
        .write_all(packet)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{python} {script} has failed: {}", output.status).into());
    }
    let said: Said = serde_json::from_slice(&output.stdout)?;
    let times = said.seconds.into_iter().map(Duration::from_secs_f64);
    Ok(Answer {
        tiles: said.tiles,
        times: times.collect(),
    })
}
