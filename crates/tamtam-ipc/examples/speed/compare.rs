//! Two processes, several ways in turn, and a table.

use std::error::Error;
use std::os::fd::BorrowedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The first argument of the other process.
const OTHER: &str = "--other";

/// What the other process is to do.
pub(crate) struct Role<'a> {
    pub(crate) section: &'a str,
    pub(crate) way: &'a str,
    pub(crate) number: u64,
}

/// What these arguments ask of the other process, which runs on the core that they name from now on.
pub(crate) fn role(words: &[String]) -> Option<Role<'_>> {
    let [other, section, way, core, number] = words else {
        return None;
    };
    if other != OTHER {
        return None;
    }
    pin(core.parse().ok()?);
    Some(Role {
        section,
        way,
        number: number.parse().ok()?,
    })
}

/// Starts the other process on a core, with memory as its standard input.
pub(crate) fn start(role: &Role<'_>, core: usize, memory: BorrowedFd<'_>) -> Outcome<Child> {
    let child = Command::new(std::env::current_exe()?)
        .args([OTHER, role.section, role.way])
        .args([core.to_string(), role.number.to_string()])
        .stdin(Stdio::from(memory.try_clone_to_owned()?))
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(child)
}

/// This thread runs on one core from now on.
pub(crate) fn pin(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    // On a machine with one core the two share it.
    let _ = sched_setaffinity(None, &cores);
}

/// A clock that all processes have in common, in nanoseconds.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Nanoseconds of each of so many.
pub(crate) fn per_one(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e9 / count as f64
}

/// The median, and the 99th of a hundred, of times in nanoseconds.
pub(crate) fn middle_and_late(mut times: Vec<u64>) -> Vec<f64> {
    times.sort_unstable();
    let count = times.len();
    [count / 2, count * 99 / 100]
        .map(|at| times[at] as f64)
        .into()
}

/// A way to do the same: its name, and what runs it once and gives a figure for each column.
pub(crate) type Way<'a> = (&'a str, Box<dyn FnMut() -> Outcome<Vec<f64>> + 'a>);

/// Runs all ways in turn, as often as asked for, and shows of each column the median, the least and the most, and how that median stands to the
/// first way's, which is what the machine itself takes.
pub(crate) fn compare(
    title: &str,
    columns: &[&str],
    runs: usize,
    mut ways: Vec<Way<'_>>,
) -> Outcome {
    println!("{title}");
    let mut figures = vec![Vec::new(); ways.len()];
    for _ in 0..runs {
        for ((_, run), figures) in ways.iter_mut().zip(&mut figures) {
            figures.push(run()?);
        }
    }
    let mut machine = Vec::new();
    for ((name, _), figures) in ways.iter().zip(&figures) {
        let mut line = format!("  {name:34}");
        for (at, column) in columns.iter().enumerate() {
            let mut times: Vec<f64> = figures.iter().map(|figures| figures[at]).collect();
            times.sort_by(f64::total_cmp);
            let (least, median, most) = (times[0], times[runs / 2], times[runs - 1]);
            if machine.len() == at {
                machine.push(median);
            }
            line += &format!(
                " {column} {median:9.1} ns [{least:.1}..{most:.1}] {:5.2} x",
                median / machine[at]
            );
        }
        println!("{line}");
    }
    Ok(())
}
