//! Runs the steps of a plan: each in a process and a session of its own, so that all it starts can be found and ended.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::jobs;
use super::libtest::{self, Sums, Timed};
use super::plan::Planned;
use super::schedule::{Load, Schedule};
use super::session;
use super::setup::{Later, Said};

/// The exit code of a step that this machine cannot run; the last line of its log says why.
pub(crate) const SKIPPED: u8 = 77;
/// What stands before the seconds that all processes of a step have used of all cores, in its log.
pub(crate) const CORE_TIME: &str = "seconds of cores: ";
/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;
/// How long a step that is ended may take to end its servers.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the processes of a step may live after it on a loaded machine.
const AFTER: Duration = Duration::from_secs(10);

/// How a plan is run.
#[derive(Debug)]
pub(crate) struct Manner {
    /// The folder of the logs.
    pub(crate) logs: PathBuf,
    /// Run the other steps, too, after one has failed.
    pub(crate) keeps_going: bool,
    /// Show the whole output of each step while it runs, one step at a time.
    pub(crate) is_verbose: bool,
    /// Seconds that a soak adds to the limit of each step.
    pub(crate) more_time: u64,
    /// What is seen to while steps run.
    pub(crate) later: Vec<String>,
}

enum Event {
    Ended { step: usize, how: How },
    Setup(Said),
    Interrupted,
}

#[derive(Debug, PartialEq, Eq)]
enum How {
    Passed,
    Skipped,
    Failed,
}

/// A step that runs.
struct Running {
    step: usize,
    session: i32,
    began: Instant,
    /// When its time is over; none once it has been told.
    deadline: Option<Instant>,
}

/// A run of a plan.
pub(crate) struct Run<'a> {
    plan: &'a [Planned],
    manner: &'a Manner,
    /// What runs a step, but for its output.
    command: &'a dyn Fn(&Planned) -> Command,
    /// The script that sees to what steps need.
    script: &'a dyn Fn() -> Command,
    /// Called when a step has passed.
    tidy: &'a dyn Fn(&Planned),
    running: Vec<Running>,
    sums: Sums,
    times: Vec<Timed>,
    skipped: Vec<&'a str>,
    failed: Vec<&'a str>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        plan: &'a [Planned],
        manner: &'a Manner,
        command: &'a dyn Fn(&Planned) -> Command,
        script: &'a dyn Fn() -> Command,
        tidy: &'a dyn Fn(&Planned),
    ) -> Self {
        Run {
            plan,
            manner,
            command,
            script,
            tidy,
            running: Vec::new(),
            sums: Sums::default(),
            times: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Runs all steps and says what came of them. The exit code is 0, 1 if a step failed, 130 after Ctrl-C.
    pub(crate) fn run(mut self) -> Result<u8> {
        fs::create_dir_all(&self.manner.logs)?;
        let began = Instant::now();
        let (events, inbox) = mpsc::channel();
        let on_signal = events.clone();
        ctrlc::set_handler(move || {
            // The run may be over.
            let _ = on_signal.send(Event::Interrupted);
        })?;
        let on_setup = events.clone();
        let mut setup = Later::begin((self.script)(), &self.manner.later, move |said| {
            // The run may be over.
            let _ = on_setup.send(Event::Setup(said));
        })?;
        let lanes = if self.manner.is_verbose { 1 } else { 2 };
        let loads = self.plan.iter().map(|planned| planned.step.load);
        let mut schedule = Schedule::new(loads.enumerate(), lanes);
        while !schedule.is_done() {
            // What is measured has the machine to itself.
            let is_ready = |step: &usize, load| {
                setup.has(&self.plan[*step].step.needs) && (load != Load::Alone || setup.is_done())
            };
            while let Some(step) = schedule.begin(is_ready) {
                // What cannot even begin ends the run with all that runs.
                self.begin(step, &events).inspect_err(|_| self.end_all())?;
            }
            match self.next(&inbox) {
                Event::Ended { step, how } => {
                    schedule.end(self.plan[step].step.load);
                    self.ended(step, &how)?;
                    if !self.failed.is_empty() && !self.manner.keeps_going {
                        schedule.stop();
                        self.end_all();
                    }
                }
                Event::Setup(said) => setup.hear(said).inspect_err(|_| self.end_all())?,
                Event::Interrupted => {
                    self.end_all();
                    println!("interrupted");
                    return Ok(INTERRUPTED);
                }
            }
        }
        self.summarize(began.elapsed());
        Ok(u8::from(!self.failed.is_empty()))
    }

    fn log(&self, step: usize) -> PathBuf {
        self.manner
            .logs
            .join(format!("{}.log", self.plan[step].step.name))
    }

    fn begin(&mut self, step: usize, events: &Sender<Event>) -> Result<()> {
        let planned = &self.plan[step];
        println!("{:<10} {} ...", planned.step.name, planned.step.about);
        let path = self.log(step);
        let log = File::create(&path).with_context(|| path.display().to_string())?;
        let child = (self.command)(planned)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("the step {}", planned.step.name))?;
        let began = Instant::now();
        let limit = Duration::from_secs(planned.step.limit + self.manner.more_time);
        self.running.push(Running {
            step,
            session: i32::try_from(child.id())?,
            began,
            deadline: Some(began + limit),
        });
        let (is_verbose, events) = (self.manner.is_verbose, events.clone());
        thread::spawn(move || {
            let how = follow(child, &path, is_verbose);
            let _ = events.send(Event::Ended { step, how });
        });
        Ok(())
    }

    /// Waits for what happens next, and ends steps whose time is over.
    fn next(&mut self, inbox: &Receiver<Event>) -> Event {
        loop {
            let now = Instant::now();
            let deadline = self
                .running
                .iter()
                .filter_map(|running| running.deadline)
                .min();
            let patience = deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_duration_since(now)
            });
            match inbox.recv_timeout(patience) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Disconnected) => unreachable!("this run has a sender, too"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            for at in 0..self.running.len() {
                let running = &mut self.running[at];
                if running
                    .deadline
                    .is_some_and(|deadline| deadline <= Instant::now())
                {
                    running.deadline = None;
                    let (step, session) = (running.step, running.session);
                    let took = running.began.elapsed().as_secs();
                    session::end(session, PATIENCE);
                    let log = self.log(step);
                    let unfinished = outputs_of_unfinished(&log);
                    let _ = append(
                        &log,
                        &format!("{unfinished}failed: not done after {took} s\n"),
                    );
                }
            }
        }
    }

    fn end_all(&mut self) {
        for running in &mut self.running {
            running.deadline = None;
            session::end(running.session, PATIENCE);
        }
    }

    fn ended(&mut self, step: usize, how: &How) -> Result<()> {
        let planned = &self.plan[step];
        let name = planned.step.name.as_str();
        let at = self.running.iter().position(|running| running.step == step);
        let running = self.running.remove(at.context("it ran")?);
        let path = self.log(step);
        let log = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let sums = libtest::sums(&log);
        // Ended because another one failed, which says why; unless it had failed by itself.
        let is_cut = !self.failed.is_empty() && !self.manner.keeps_going && sums.failed == 0;
        self.times.extend(libtest::times(&log));
        self.sums.passed += sums.passed;
        let mut note = format!("{} s", running.began.elapsed().as_secs());
        if let Some(used) = core_time(&log) {
            note += &format!(", {used} s of cores");
        }
        if sums != Sums::default() {
            note += &format!(", {} tests passed, {} failed", sums.passed, sums.failed);
        }
        match how {
            How::Passed => {
                println!("{name:<10} ok ({note})");
                (self.tidy)(planned);
                // What a platform was not compiled for is worth a line, also where the step passed.
                let partly = |line: &&str| line.contains(" skipped: ");
                log.lines()
                    .filter(partly)
                    .for_each(|line| println!("{line}"));
            }
            How::Skipped => {
                println!(
                    "{name:<10} {} ({note})",
                    log.lines().last().unwrap_or_default()
                );
                self.skipped.push(name);
            }
            How::Failed if is_cut => println!("{name:<10} ended before it was done ({note})"),
            How::Failed => {
                // A step without tests, or one that broke beside its tests, counts as one failure.
                self.sums.failed += sums.failed.max(1);
                self.failed.push(name);
                if !self.manner.is_verbose {
                    println!("---------- out of {}", path.display());
                    println!("{}", libtest::excerpt(&log));
                    println!("----------");
                }
                let scope: String = planned
                    .scope
                    .iter()
                    .map(|name| format!(" {name}"))
                    .collect();
                println!("{name:<10} FAILED ({note}); again: scripts/test{scope} --only {name}");
            }
        }
        io::stdout().flush()?;
        Ok(())
    }

    fn summarize(&mut self, took: Duration) {
        const SHOWN: usize = 10;
        println!();
        self.times
            .sort_by_key(|timed| std::cmp::Reverse(timed.took));
        if !self.times.is_empty() {
            println!("the slowest tests:");
        }
        for timed in self.times.iter().take(SHOWN) {
            println!("{:>8.1} s  {}", timed.took.as_secs_f64(), timed.name);
        }
        println!("all of it took {} s", took.as_secs());
        if !self.skipped.is_empty() {
            println!("steps skipped: {}", self.skipped.join(" "));
        }
        if !self.failed.is_empty() {
            println!("steps failed: {}", self.failed.join(" "));
        }
        // Continuous integration reads this line.
        println!("{} passed, {} failed", self.sums.passed, self.sums.failed);
    }
}

/// What a step's log says of the time that it used of all cores.
fn core_time(log: &str) -> Option<&str> {
    // One of its last lines: others may come out of what it tests.
    let mut last = log.lines().rev().take(3);
    last.find_map(|line| line.strip_prefix(CORE_TIME))
}

/// Waits for a step's process and for all that it has started.
fn follow(mut child: Child, log: &Path, is_verbose: bool) -> How {
    let session = i32::try_from(child.id()).expect("the numbers of processes are small");
    let status = if is_verbose {
        show_while(&mut child, log)
    } else {
        child.wait()
    };
    let code = status.ok().and_then(|status| status.code());
    let is_skipped = code == Some(i32::from(SKIPPED));
    // What is about to end by itself may need a moment.
    let is_alone = !(is_skipped || code == Some(0)) || session::await_end(session, AFTER);
    // A failed step leaves nothing either.
    let left = session::end(session, Duration::ZERO);
    if !is_alone && !left.is_empty() {
        let left: String = left
            .iter()
            .map(|member| format!("{} {}\n", member.id, member.command))
            .collect();
        let _ = append(
            log,
            &format!("failed: the step left processes behind:\n{left}"),
        );
        return How::Failed;
    }
    match code {
        Some(0) => How::Passed,
        Some(_) if is_skipped => How::Skipped,
        _ => How::Failed,
    }
}

/// Shows a log while the process writes it.
fn show_while(child: &mut Child, log: &Path) -> io::Result<std::process::ExitStatus> {
    let mut log = File::open(log)?;
    loop {
        // First, so that nothing is missed that was written before the end.
        let status = child.try_wait()?;
        let mut text = Vec::new();
        log.read_to_end(&mut text)?;
        let mut out = io::stdout().lock();
        out.write_all(&text)?;
        out.flush()?;
        if let Some(status) = status {
            return Ok(status);
        }
        drop(out);
        thread::sleep(Duration::from_millis(100));
    }
}

fn append(log: &Path, text: &str) -> io::Result<()> {
    File::options()
        .append(true)
        .open(log)?
        .write_all(text.as_bytes())
}

/// The ends of the outputs of jobs that had not ended when the step was.
fn outputs_of_unfinished(log: &Path) -> String {
    const SHOWN: u64 = 4_000;
    let Ok(files) = fs::read_dir(jobs::folder_of(log)) else {
        return String::new();
    };
    let mut outputs = String::new();
    for file in files.flatten() {
        let Ok(mut file) = File::open(file.path()) else {
            continue;
        };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let mut text = Vec::new();
        if file
            .seek(SeekFrom::Start(length.saturating_sub(SHOWN)))
            .is_ok()
            && file.read_to_end(&mut text).is_ok()
        {
            outputs += &format!(
                "this had not ended:\n{}\n",
                String::from_utf8_lossy(&text).trim_end()
            );
        }
    }
    outputs
}
