//! One child process with a time limit: it always ends before we go on, whatever happens to us.
//!
//! While the child measures, this process sleeps: it polls nothing and draws nothing.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::interrupt::Interrupt;

/// Bytes of a line that is heard of while the child runs, at most: a longer one comes in parts.
const LINE_LIMIT: u64 = 64 << 10;

/// More output than any contender has reason to print: what is above it is not read.
const OUTPUT_LIMIT: u64 = 4 << 20;

/// How a child ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// By itself.
    Finished {
        /// Its exit status.
        status: ExitStatus,
        /// What it printed.
        stdout: String,
        /// What it complained of.
        stderr: String,
    },
    /// It was ended at the time limit.
    TimedOut,
    /// It was ended because this program was asked to stop.
    Interrupted,
}

/// A process that is killed and reaped when it goes out of scope, also in a panic.
#[derive(Debug)]
pub(super) struct Guard(pub Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // Both fail only if it has ended and been reaped already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

enum Event {
    /// A line of standard output, where lines are heard.
    Line(String),
    Stdout(String),
    Stderr(String),
    Interrupted,
}

/// Runs `command` to its end, or ends it after `limit` or when `interrupt` is raised.
///
/// # Errors
///
/// If the process cannot be started or waited for.
pub(super) fn run(command: Command, limit: Duration, interrupt: &Interrupt) -> Result<Ending> {
    let read = |pipe, sender| read_to_end(pipe, Event::Stdout, sender);
    carry_out(command, limit, interrupt, read, |_| {})
}

/// As [`run`], with each line of standard output given to `hear` as it comes, and none kept.
///
/// # Errors
///
/// As those of `run`.
#[cfg_attr(
    not(feature = "gateway"),
    allow(
        dead_code,
        reason = "what is measured through a gateway alone has lines to hear"
    )
)]
pub(super) fn run_heard(
    command: Command,
    limit: Duration,
    interrupt: &Interrupt,
    hear: impl FnMut(&str),
) -> Result<Ending> {
    carry_out(command, limit, interrupt, read_lines, hear)
}

fn carry_out(
    mut command: Command,
    limit: Duration,
    interrupt: &Interrupt,
    read_output: impl FnOnce(ChildStdout, mpsc::Sender<Event>),
    mut hear: impl FnMut(&str),
) -> Result<Ending> {
    let deadline = Instant::now() + limit;
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = Guard(
        command
            .spawn()
            .with_context(|| format!("{program} cannot be started"))?,
    );
    let (sender, events) = mpsc::channel();
    let stdout = child
        .0
        .stdout
        .take()
        .context("the child has no standard output")?;
    let stderr = child
        .0
        .stderr
        .take()
        .context("the child has no standard error")?;
    read_output(stdout, sender.clone());
    read_to_end(stderr, Event::Stderr, sender.clone());
    interrupt.wake_with(move || {
        // The receiver is gone if the child has ended: nothing is left to interrupt.
        let _ = sender.send(Event::Interrupted);
    });

    let (mut output, mut complaint) = (None, None);
    while output.is_none() || complaint.is_none() {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Line(line)) => hear(&line),
            Ok(Event::Stdout(text)) => output = Some(text),
            Ok(Event::Stderr(text)) => complaint = Some(text),
            Ok(Event::Interrupted) => return Ok(Ending::Interrupted),
            Err(_) => return Ok(Ending::TimedOut),
        }
    }
    // Both pipes are closed, so the child is ending; one that closed them and lives on is found at the deadline.
    let status = loop {
        if let Some(status) = child
            .0
            .try_wait()
            .with_context(|| format!("{program} cannot be waited for"))?
        {
            break status;
        }
        if interrupt.is_raised() {
            return Ok(Ending::Interrupted);
        }
        if Instant::now() >= deadline {
            return Ok(Ending::TimedOut);
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    if interrupt.is_raised() || ended_by_interrupt(status) {
        // The terminal sends Ctrl-C to the child as well, perhaps sooner: its end is no failure of its own.
        return Ok(Ending::Interrupted);
    }
    Ok(Ending::Finished {
        status,
        stdout: output.unwrap_or_default(),
        stderr: complaint.unwrap_or_default(),
    })
}

#[cfg(unix)]
fn ended_by_interrupt(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(rustix::process::Signal::INT.as_raw())
}

#[cfg(not(unix))]
fn ended_by_interrupt(_status: ExitStatus) -> bool {
    false
}

fn read_to_end(
    pipe: impl Read + Send + 'static,
    event: fn(String) -> Event,
    sender: mpsc::Sender<Event>,
) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error still tells something; the exit status tells the rest.
        let _ = pipe.take(OUTPUT_LIMIT).read_to_end(&mut bytes);
        let _ = sender.send(event(String::from_utf8_lossy(&bytes).into_owned()));
    });
}

/// Reads lines as they come; at the end there is no other output.
fn read_lines(pipe: ChildStdout, sender: mpsc::Sender<Event>) {
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        // An error ends the output as well; the exit status tells the rest.
        while let Ok(1..) = pipe.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if sender.send(Event::Line(text)).is_err() {
                return;
            }
        }
        let _ = sender.send(Event::Stdout(String::new()));
    });
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{Ending, run, run_heard};
    use crate::lab::interrupt::Interrupt;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_status_are_returned() {
        let ending = run(
            shell("echo out; echo complaint >&2; exit 3"),
            LONG,
            &Interrupt::default(),
        )
        .unwrap();
        let Ending::Finished {
            status,
            stdout,
            stderr,
        } = ending
        else {
            panic!("{ending:?}")
        };
        assert_eq!(
            (status.code(), stdout.as_str(), stderr.as_str()),
            (Some(3), "out\n", "complaint\n")
        );
    }

    #[test]
    fn lines_are_heard_while_the_child_runs() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        // It goes on when the first line was heard, and has more to say than what is kept of a child that is not heard.
        let script = format!(
            "echo first; until [ -e {} ]; do sleep 0.01; done; yes 0123456789 | head -n 500000; printf last",
            told.display()
        );
        let mut heard = Vec::new();
        let hear = |line: &str| {
            if heard.is_empty() {
                std::fs::write(&told, "").unwrap();
            }
            heard.push(line.to_owned());
        };
        let ending = run_heard(shell(&script), LONG, &Interrupt::default(), hear).unwrap();
        let Ending::Finished { status, stdout, .. } = ending else {
            panic!("{ending:?}")
        };
        assert!(status.success() && stdout.is_empty());
        assert_eq!(
            (heard.len(), &*heard[0], &*heard[500_001]),
            (500_002, "first\n", "last")
        );
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let start = Instant::now();
        let ending = run(
            shell("exec sleep 600"),
            Duration::from_millis(50),
            &Interrupt::default(),
        )
        .unwrap();
        assert!(matches!(ending, Ending::TimedOut), "{ending:?}");
        assert!(start.elapsed() < LONG);
    }

    #[test]
    fn a_child_that_hangs_with_closed_pipes_is_ended() {
        let script = "exec sleep 600 >/dev/null 2>&1";
        let ending = run(
            shell(script),
            Duration::from_millis(50),
            &Interrupt::default(),
        )
        .unwrap();
        assert!(matches!(ending, Ending::TimedOut), "{ending:?}");
    }

    #[test]
    fn an_interrupt_ends_the_child() {
        let interrupt = Interrupt::default();
        let raiser = interrupt.clone();
        let thread = std::thread::spawn(move || raiser.raise());
        let ending = run(shell("exec sleep 600"), LONG, &interrupt).unwrap();
        thread.join().unwrap();
        assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(
            Command::new("./no-such-program"),
            LONG,
            &Interrupt::default(),
        )
        .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no-such-program cannot be started"),
            "{error}"
        );
    }
}
