//! One child process with a time limit: it always ends before we go on, whatever happens to us.
//!
//! While the child measures, this process sleeps: it polls nothing and draws nothing.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::interrupt::Interrupt;

/// Bytes of a line that is heard of while the child runs, at most: a longer one comes in parts.
const LINE_LIMIT: u64 = 64 << 10;

/// Bytes that are read at once.
const PIECE: usize = 16 << 10;

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
pub(super) struct Guard {
    /// The process.
    pub child: Child,
    scope: Scope,
}

/// What ends with a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// It alone.
    Itself,
    /// Its group, which it leads: all that it has started, but for what has left the group.
    Group,
}

impl Guard {
    /// Of this process alone.
    pub(super) fn of(child: Child) -> Self {
        Self {
            child,
            scope: Scope::Itself,
        }
    }

    fn start(command: &mut Command, scope: Scope) -> std::io::Result<Self> {
        #[cfg(unix)]
        if scope == Scope::Group {
            std::os::unix::process::CommandExt::process_group(command, 0);
        }
        let child = command.spawn()?;
        Ok(Self { child, scope })
    }

    /// Asks a group to end; whether there is one.
    fn ask_to_end(&self) -> bool {
        #[cfg(unix)]
        if self.scope == Scope::Group {
            self.signal_group(rustix::process::Signal::TERM);
            return true;
        }
        false
    }

    #[cfg(unix)]
    fn signal_group(&self, signal: rustix::process::Signal) {
        let group = rustix::process::Pid::from_child(&self.child);
        // It fails where all of it has ended.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The number is the group's until its leader is reaped, which was just now if at all, and as long as it has members.
        #[cfg(unix)]
        if self.scope == Scope::Group {
            self.signal_group(rustix::process::Signal::KILL);
        }
        // Both fail only if it has ended and been reaped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What happens while a child runs.
enum Event {
    /// A line of standard output, where lines are heard.
    Line(String),
    /// A piece of standard output.
    Output(Vec<u8>),
    /// A piece of standard error.
    Complaint(Vec<u8>),
    /// One of the two was closed by all that had it, or has said more than is read.
    Closed,
    /// The child has ended; what it has started may still have its outputs.
    Ended,
    Interrupted,
}

/// Runs `command` to its end, or ends it after `limit` or when `interrupt` is raised.
///
/// # Errors
///
/// If the process cannot be started or waited for.
pub(super) fn run(command: Command, limit: Duration, interrupt: &Interrupt) -> Result<Ending> {
    run_in(Scope::Itself, command, limit, interrupt)
}

/// As [`run`], for a program that starts others: with it ends all that it has started. On Unix what is to be ended is asked to first, and has a
/// moment for it.
///
/// # Errors
///
/// As those of `run`.
pub(super) fn run_with_others(
    command: Command,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Ending> {
    run_in(Scope::Group, command, limit, interrupt)
}

fn run_in(
    scope: Scope,
    command: Command,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Ending> {
    let read = |pipe, sender| read_pieces(pipe, Event::Output, sender);
    carry_out(command, scope, limit, interrupt, read, |_| {})
}

/// As [`run_with_others`], with each line of standard output given to `hear` as it comes, and none kept.
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
    carry_out(command, Scope::Group, limit, interrupt, read_lines, hear)
}

fn carry_out(
    mut command: Command,
    scope: Scope,
    limit: Duration,
    interrupt: &Interrupt,
    read_output: impl FnOnce(ChildStdout, mpsc::Sender<Event>),
    hear: impl FnMut(&str),
) -> Result<Ending> {
    let deadline = Instant::now() + limit;
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut guard = Guard::start(&mut command, scope)
        .with_context(|| format!("{program} cannot be started"))?;
    let (sender, events) = mpsc::channel();
    let child = &mut guard.child;
    let stdout = child.stdout.take();
    let stdout = stdout.context("the child has no standard output")?;
    let stderr = child.stderr.take();
    let stderr = stderr.context("the child has no standard error")?;
    read_output(stdout, sender.clone());
    read_pieces(stderr, Event::Complaint, sender.clone());
    tell_end(child, sender.clone());
    interrupt.wake_with(move || {
        // The receiver is gone if the child has ended: nothing is left to interrupt.
        let _ = sender.send(Event::Interrupted);
    });

    let mut heard = Heard::new(hear);
    let is_cut = match heard.listen(&events, deadline) {
        Listened::ToTheEnd => None,
        Listened::TooLong => Some(Ending::TimedOut),
        Listened::Interrupted => Some(Ending::Interrupted),
    };
    if let Some(ending) = is_cut {
        if guard.ask_to_end() {
            // Whether it has ended meanwhile is all the same: what is left is killed.
            heard.listen(&events, Instant::now() + LEAVE);
        }
        return Ok(ending);
    }
    // Both pipes are closed or it has ended; one that closed them and lives on is found at the deadline.
    let status = loop {
        if let Some(status) = guard
            .child
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
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ending::Finished {
        status,
        stdout: text(&heard.output),
        stderr: text(&heard.complaint),
    })
}

/// How long a group has that was asked to end: a browser closes its pages, and removes its folder.
const LEAVE: Duration = Duration::from_secs(5);

/// How long is waited for outputs of a child that has ended, while others that it has started have them, too. Its own words are there.
const HELD: Duration = Duration::from_secs(2);

/// What was heard of a child.
struct Heard<F> {
    hear: F,
    output: Vec<u8>,
    complaint: Vec<u8>,
    /// How many of its outputs are closed.
    closed: usize,
    has_ended: bool,
}

enum Listened {
    /// The child has said all.
    ToTheEnd,
    TooLong,
    Interrupted,
}

impl<F: FnMut(&str)> Heard<F> {
    fn new(hear: F) -> Self {
        Self {
            hear,
            output: Vec::new(),
            complaint: Vec::new(),
            closed: 0,
            has_ended: false,
        }
    }

    /// Listens until the outputs are closed, or the child has ended and others hold them; until `deadline`; or until the next interrupt.
    fn listen(&mut self, events: &mpsc::Receiver<Event>, deadline: Instant) -> Listened {
        let mut until = deadline;
        while self.closed < 2 {
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Line(line)) => (self.hear)(&line),
                Ok(Event::Output(bytes)) => self.output.extend(bytes),
                Ok(Event::Complaint(bytes)) => self.complaint.extend(bytes),
                Ok(Event::Closed) => self.closed += 1,
                Ok(Event::Ended) => {
                    self.has_ended = true;
                    until = until.min(Instant::now() + HELD);
                }
                Ok(Event::Interrupted) => return Listened::Interrupted,
                Err(_) if self.has_ended => break,
                Err(_) => return Listened::TooLong,
            }
        }
        Listened::ToTheEnd
    }
}

/// Tells when the child has ended. It is not reaped: its number belongs to it until its guard goes.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn tell_end(child: &Child, sender: mpsc::Sender<Event>) {
    use rustix::io::Errno;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let process = Pid::from_child(child);
    std::thread::spawn(move || {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(process), ended), Err(Errno::INTR)) {}
        let _ = sender.send(Event::Ended);
    });
}

/// Elsewhere it has ended when its outputs are closed.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn tell_end(_child: &Child, _sender: mpsc::Sender<Event>) {}

#[cfg(unix)]
fn ended_by_interrupt(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(rustix::process::Signal::INT.as_raw())
}

#[cfg(not(unix))]
fn ended_by_interrupt(_status: ExitStatus) -> bool {
    false
}

/// Reads what comes, piece by piece.
fn read_pieces(
    pipe: impl Read + Send + 'static,
    event: fn(Vec<u8>) -> Event,
    sender: mpsc::Sender<Event>,
) {
    std::thread::spawn(move || {
        let mut pipe = pipe.take(OUTPUT_LIMIT);
        let mut piece = vec![0; PIECE];
        loop {
            match pipe.read(&mut piece) {
                Ok(length @ 1..) => {
                    if sender.send(event(piece[..length].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What was read before an error still tells something; the exit status tells the rest.
                Ok(0) | Err(_) => break,
            }
        }
        let _ = sender.send(Event::Closed);
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
        let _ = sender.send(Event::Closed);
    });
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{Ending, run, run_heard, run_with_others};
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

    /// Whether this process runs; one that has ended may wait for ever for who should reap it.
    fn lives(process: &str) -> bool {
        let state = Command::new("ps")
            .args(["-o", "stat=", "-p", process.trim()])
            .output()
            .unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !matches!(state.trim().chars().next(), None | Some('Z'))
    }

    /// The grandchild went on for ten minutes, as a browser did behind npm.
    #[test]
    fn an_interrupt_ends_what_the_child_has_started_too() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("process");
        let script = format!(
            "sleep 600 & echo $! > {0}.part; mv {0}.part {0}; wait",
            told.display()
        );
        let interrupt = Interrupt::default();
        let raiser = interrupt.clone();
        let (path, start) = (told.clone(), Instant::now());
        let thread = std::thread::spawn(move || {
            // Only a file tells: the child's output belongs to who runs it.
            while !path.exists() && start.elapsed() < LONG {
                std::thread::yield_now();
            }
            raiser.raise();
        });
        let ending = run_with_others(shell(&script), 2 * LONG, &interrupt).unwrap();
        thread.join().unwrap();
        assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
        let process = std::fs::read_to_string(told).unwrap();
        while lives(&process) {
            assert!(start.elapsed() < LONG, "{process} is still there");
            std::thread::yield_now();
        }
    }

    /// It was said to give no result within its time, long after it had said why.
    #[test]
    fn a_child_that_has_ended_is_heard_while_others_hold_its_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("process");
        let script = format!(
            "sleep 600 & echo $! > {}; echo complaint >&2; exit 3",
            told.display()
        );
        let start = Instant::now();
        let ending = run(shell(&script), LONG, &Interrupt::default()).unwrap();
        let process = std::fs::read_to_string(told).unwrap();
        let ended = Command::new("kill").arg(process.trim()).status().unwrap();
        let Ending::Finished { status, stderr, .. } = ending else {
            panic!("{ending:?}")
        };
        assert_eq!((status.code(), stderr.as_str()), (Some(3), "complaint\n"));
        assert!(ended.success() && start.elapsed() < LONG);
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
