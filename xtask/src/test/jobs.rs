//! Several commands at a time, whose output does not mix: each is shown as one piece when it has ended.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::thread;

use anyhow::{Context, Result, bail};

use super::libtest::HEADING;

/// Commands that run one after the other until one fails.
#[derive(Debug)]
pub(crate) struct Job {
    /// What stands above its output.
    pub(crate) name: String,
    pub(crate) commands: Vec<Command>,
}

impl Job {
    pub(crate) fn new(name: impl Into<String>, command: Command) -> Self {
        Job {
            name: name.into(),
            commands: vec![command],
        }
    }
}

/// Where the outputs of jobs go, each when it has ended.
pub(crate) type Shows<'a> = &'a (dyn Fn(&mut File) -> io::Result<()> + Sync);

/// What is to run, and what has failed.
pub(crate) struct Queue<'a> {
    state: Mutex<State>,
    changed: Condvar,
    /// Where the output of what runs is kept.
    folder: &'a Path,
    shows: Shows<'a>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    is_closed: bool,
    failed: Vec<String>,
    begun: usize,
}

impl Queue<'_> {
    /// Adds a job, which begins when one of those that run has ended.
    pub(crate) fn push(&self, job: Job) {
        self.state.lock().unwrap().waiting.push_back(job);
        self.changed.notify_one();
    }

    /// Adds a job that begins before all others that wait: a long one, so that it is not the last to end.
    pub(crate) fn push_first(&self, job: Job) {
        self.state.lock().unwrap().waiting.push_front(job);
        self.changed.notify_one();
    }

    /// The next job and its number; waits for one unless there will be none.
    fn next(&self) -> Option<(Job, usize)> {
        let state = self.state.lock().unwrap();
        let is_empty = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let mut state = self.changed.wait_while(state, is_empty).unwrap();
        state.begun += 1;
        Some((state.waiting.pop_front()?, state.begun))
    }

    fn close(&self) {
        self.state.lock().unwrap().is_closed = true;
        self.changed.notify_all();
    }

    fn work(&self) {
        while let Some((job, number)) = self.next() {
            let log = self.folder.join(format!("{number}.log"));
            let name = job.name.clone();
            let result = run_into(job, &log);
            let mut state = self.state.lock().unwrap();
            // Under the lock, so that two outputs do not mix.
            let shown = File::open(&log).and_then(|mut file| (self.shows)(&mut file));
            if result.is_err() || shown.is_err() {
                state.failed.push(name);
            }
            let _ = fs::remove_file(log);
        }
    }
}

/// Where the outputs of jobs that run are kept, for the step whose log is `log`.
pub(crate) fn folder_of(log: &Path) -> PathBuf {
    log.with_extension("running")
}

/// Runs what `fill` puts into the queue, at most `lanes` at a time; `fill` may take its time while they run. All of them run,
/// also after one has failed.
///
/// # Errors
///
/// Names the jobs that have failed, or says what `fill` did.
pub(crate) fn side_by_side(
    folder: &Path,
    lanes: usize,
    shows: Shows<'_>,
    fill: impl FnOnce(&Queue<'_>) -> Result<()>,
) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let queue = Queue {
        state: Mutex::default(),
        changed: Condvar::new(),
        folder,
        shows,
    };
    let filled = thread::scope(|scope| {
        for _ in 0..lanes.max(1) {
            scope.spawn(|| queue.work());
        }
        // Also if it panics: the threads would wait for ever.
        let closes = Closes(&queue);
        let filled = fill(closes.0);
        drop(closes);
        filled
    });
    fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    filled?;
    let failed = queue.state.into_inner().unwrap().failed;
    if !failed.is_empty() {
        bail!("{}", failed.join(", "));
    }
    Ok(())
}

/// Closes the queue when it goes.
struct Closes<'a>(&'a Queue<'a>);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn run_into(job: Job, log: &Path) -> Result<()> {
    let mut file = File::create(log).with_context(|| log.display().to_string())?;
    writeln!(file, "{HEADING}{}", job.name)?;
    for mut command in job.commands {
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file.try_clone()?);
        let failure = match command.status() {
            Ok(status) if status.success() => continue,
            Ok(status) => status.to_string(),
            Err(error) => format!("{command:?}: {error}"),
        };
        writeln!(file, "failed: {}: {failure}", job.name)?;
        bail!("{failure}");
    }
    Ok(())
}

/// Shows an output where the step shows its own.
pub(crate) fn show(output: &mut File) -> io::Result<()> {
    io::copy(output, &mut io::stdout().lock()).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job::new(name, command)
    }

    /// What two lanes show, and how it ended.
    fn run(
        lanes: usize,
        fill: impl FnOnce(&Queue<'_>, &Path) -> Result<()>,
    ) -> (String, Result<()>) {
        let folder = tempfile::tempdir().unwrap();
        let seen = Mutex::new(String::new());
        let shows = |file: &mut File| file.read_to_string(&mut seen.lock().unwrap()).map(drop);
        let jobs = folder.path().join("jobs");
        let result = side_by_side(&jobs, lanes, &shows, |queue| fill(queue, folder.path()));
        (seen.into_inner().unwrap(), result)
    }

    #[test]
    fn all_run_and_those_that_fail_are_named() {
        let (shown, result) = run(2, |queue, _| {
            queue.push(shell("one", "echo a; sleep 0.01; echo b"));
            queue.push(shell("two", "echo a; exit 3"));
            queue.push(shell("three", "kill -9 $$"));
            queue.push(shell("four", "echo a; echo b >&2"));
            queue.push(Job::new("five", Command::new("/no/such/program")));
            Ok(())
        });
        let error = result.unwrap_err().to_string();
        let mut failed: Vec<_> = error.split(", ").collect();
        failed.sort_unstable();
        assert_eq!(failed, ["five", "three", "two"]);
        for piece in [
            "--- one\na\nb\n",
            "--- two\na\nfailed: two: exit status: 3\n",
            "--- three\nfailed: three: signal: 9 (SIGKILL)\n",
            "--- four\na\nb\n",
            "--- five\nfailed: five: ",
        ] {
            assert!(shown.contains(piece), "{piece} in {shown}");
        }
    }

    #[test]
    fn a_job_ends_with_its_first_command_that_fails() {
        let (shown, result) = run(1, |queue, _| {
            let mut job = shell("all", "echo a");
            job.commands.extend(shell("", "false").commands);
            job.commands.extend(shell("", "echo b").commands);
            queue.push(job);
            Ok(())
        });
        assert_eq!(result.unwrap_err().to_string(), "all");
        assert_eq!(shown, "--- all\na\nfailed: all: exit status: 1\n");
    }

    #[test]
    fn two_lanes_run_two_at_a_time() {
        let (_, result) = run(2, |queue, folder| {
            // Each waits for the other one's file.
            let meet = |own: &str, other: &str| {
                let folder = folder.display();
                shell(
                    own,
                    &format!(
                        "touch {folder}/{own}; until [ -e {folder}/{other} ]; do sleep 0.01; done"
                    ),
                )
            };
            queue.push(meet("one", "two"));
            queue.push(meet("two", "one"));
            Ok(())
        });
        result.unwrap();
    }

    #[test]
    fn what_is_long_begins_first() {
        let (shown, result) = run(1, |queue, folder| {
            let holds = format!("until [ -e {}/go ]; do sleep 0.01; done", folder.display());
            queue.push(shell("holds", &holds));
            while queue.state.lock().unwrap().begun == 0 {
                thread::yield_now();
            }
            queue.push(shell("short", "true"));
            queue.push_first(shell("long", "true"));
            fs::write(folder.join("go"), "")?;
            Ok(())
        });
        result.unwrap();
        assert_eq!(shown, "--- holds\n--- long\n--- short\n");
    }

    #[test]
    fn what_fills_may_fail_while_others_run() {
        let (shown, result) = run(2, |queue, _| {
            queue.push(shell("one", "echo a"));
            bail!("it does not compile")
        });
        assert_eq!(result.unwrap_err().to_string(), "it does not compile");
        assert_eq!(shown, "--- one\na\n");
    }
}
