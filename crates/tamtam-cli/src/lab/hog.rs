//! Busy neighbours: in the placement `hog` one process a core loops without a pause beside the contender.
//!
//! A hog is this same program with another command. It ends when its standard input closes, so it ends with us however
//! we end; when all goes well it is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};

use super::child::Guard;
use crate::standard_output;

/// The hidden command that makes a process a hog.
pub const COMMAND: &str = "hog";

/// What a hog prints once it is busy.
const READY: &str = "busy\n";

/// The hogs beside one run; dropping it ends them.
#[derive(Debug)]
pub(super) struct Hogs {
    _hogs: Vec<Guard>,
}

impl Hogs {
    /// Starts one hog on each core that this process may use and waits until all are busy.
    ///
    /// # Errors
    ///
    /// If `program`, this very program, cannot be started as a hog.
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut hogs = Vec::new();
        for core in usable_cores() {
            let mut command = Command::new(program);
            command.arg(COMMAND);
            if let Some(core) = core {
                command.arg("--cpu").arg(core.to_string());
            }
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            hogs.push(Guard::of(
                command.spawn().context("a hog cannot be started")?,
            ));
        }
        for hog in &mut hogs {
            let mut answer = String::new();
            let stdout = hog
                .child
                .stdout
                .take()
                .context("a hog has no standard output")?;
            BufReader::new(stdout)
                .read_line(&mut answer)
                .context("a hog does not answer")?;
            ensure!(answer == READY, "a hog did not start");
        }
        Ok(Self { _hogs: hogs })
    }
}

/// The processors that this process may use, by number where the system numbers them for us.
#[cfg(target_os = "linux")]
fn usable_cores() -> Vec<Option<usize>> {
    use rustix::thread::CpuSet;
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU)
            .filter(|core| set.is_set(*core))
            .map(Some)
            .collect(),
        Err(_) => vec![None; super::machine::usable_cores()],
    }
}

#[cfg(not(target_os = "linux"))]
fn usable_cores() -> Vec<Option<usize>> {
    vec![None; super::machine::usable_cores()]
}

#[cfg(target_os = "linux")]
fn pin(core: usize) -> Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    rustix::thread::sched_setaffinity(None, &set)
        .with_context(|| format!("CPU {core} is not to be had"))
}

#[cfg(not(target_os = "linux"))]
fn pin(_core: usize) -> Result<()> {
    anyhow::bail!("hogs are pinned on Linux only")
}

/// Is a hog, pinned to `core` if one is given, until standard input closes.
///
/// # Errors
///
/// If it cannot be pinned, or what it writes when it is ready cannot be read.
pub fn be(core: Option<usize>) -> Result<ExitCode> {
    if let Some(core) = core {
        pin(core)?;
    }
    let closed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&closed);
    std::thread::spawn(move || {
        // Whether by its end or by an error, the other end is not held any more.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        seen.store(true, Ordering::Relaxed);
    });
    let mut stdout = standard_output::lock();
    stdout.write_all(READY.as_bytes())?;
    stdout.flush()?;
    // No `spin_loop` hint here: a hog is work that does not know that others wait.
    while !closed.load(Ordering::Relaxed) {}
    Ok(ExitCode::SUCCESS)
}
