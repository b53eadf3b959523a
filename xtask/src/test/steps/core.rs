//! Steps that look for what plain tests rarely meet: models, stress, sanitizer, fuzzer, Miri.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::test::alike;
use crate::test::jobs::Job;
use crate::test::libtest;
use crate::test::programs::{self, Manner};
use crate::test::stage::{
    Stage, WITHOUT_LINES, cores, has_nightly, output_of, packages_as_arguments, run, skip, succeeds,
};
use crate::test::workspace::Package;

/// Miri, the models and the fuzzer take one core each.
fn lanes() -> usize {
    cores()
}

/// A release that runs for a short while: without lines, and hardly optimized.
const RELEASE_COMPILED_SOON: [(&str, &str); 2] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
];

/// A variable with this value, or with the one that it has.
fn unless_set((name, value): (&'static str, &str)) -> (&'static str, OsString) {
    (name, std::env::var_os(name).unwrap_or_else(|| value.into()))
}

fn manner(arguments: &[&str]) -> Manner {
    Manner {
        arguments: arguments.iter().map(ToString::to_string).collect(),
        is_timed: true,
    }
}

/// A filter that matches nothing passes for a test program; for us it is a failure. It is about the part of the step that began last.
pub(super) fn ensure_ran(stage: &Stage, what: &str) -> Result<()> {
    let sums = libtest::sums_of_last_part(&log(stage)?);
    ensure!(sums.all() > 0, "{what}");
    Ok(())
}

/// As `ensure_ran`, of each program of these crates.
fn ensure_each_ran(stage: &Stage, packages: &[&Package], what: &str) -> Result<()> {
    ensure!(!packages.is_empty(), "{what}");
    let names: Vec<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let log = log(stage)?;
    let idle = libtest::idle(&log, &names);
    ensure!(idle.is_empty(), "{what}: {}", idle.join(", "));
    Ok(())
}

/// What the step has said so far.
fn log(stage: &Stage) -> Result<String> {
    let path = stage.log(&format!("{}.log", stage.step));
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

pub(crate) fn loom(stage: &Stage) -> Result<()> {
    // A depth of two preemptions shows nearly every error of this kind, and the models stay quick.
    let depth = if Stage::soak().is_some() { "3" } else { "2" };
    let with_models = stage.with_models();
    let mut selection = packages_as_arguments(with_models.iter().copied());
    if with_models
        .iter()
        .any(|package| package.name == "tamtam-actor")
    {
        // What waits for actors in other processes has models, too.
        selection.push("--features=tamtam-actor/serde".to_owned());
    }
    let mut cargo = stage.cargo("test --lib");
    cargo
        .args(&selection)
        .args(alike::all(stage, &selection)?)
        .envs([WITHOUT_LINES]);
    // A switch of our own: loom's would change other crates, too. Counters begin near their wrap, so that the models see both sides of
    // it. What more of optimization takes to compile, across the units of a crate too, it does not give back.
    let flags = "--cfg tamtam_loom --cfg tamtam_near_wrap -C opt-level=1 -C lto=off";
    stage.compile_ours_with(&mut cargo, flags)?;
    // Each crate's by itself: one model at a time, since each maps memory for its threads again and again, for which all
    // cores of a process have to wait.
    let manner = manner(&["loom", "--test-threads", "1"]);
    let (name, depth) = unless_set(("LOOM_MAX_PREEMPTIONS", depth));
    stage.side_by_side(lanes(), |queue| {
        programs::build(cargo, |program| {
            let mut job = program.job(&manner);
            job.commands[0].env(name, &depth);
            queue.push(job);
        })
    })?;
    ensure_each_ran(stage, &with_models, "no model ran")
}

pub(crate) fn stress(stage: &Stage) -> Result<()> {
    let packages = stage
        .packages()
        .filter(|package| package.has_test("stress"));
    let packages = packages_as_arguments(packages);
    ensure!(!packages.is_empty(), "there is no stress test");
    let mut cargo = stage.cargo("test --test stress");
    cargo
        .args(&packages)
        .args(alike::all(stage, &packages)?)
        .envs([WITHOUT_LINES]);
    // As in a release; what the tests use beside our crates is only there to be used.
    stage.compile_ours_with(&mut cargo, "-C opt-level=3")?;
    let programs = programs::build_all(cargo)?;
    let one_by_one = || {
        let jobs: Vec<_> = programs
            .iter()
            .map(|program| program.job(&Manner::default()))
            .collect();
        stage.run_jobs(1, jobs)
    };
    println!("=== on all cores");
    one_by_one().context("on all cores")?;
    println!("=== beside one busy loop a core");
    beside_busy_loops(one_by_one).context("beside busy loops")?;
    println!("=== on one core");
    on_one_core(one_by_one)
}

/// Runs `work` while one thread a core does nothing but compute.
fn beside_busy_loops<T>(work: impl FnOnce() -> T) -> T {
    /// Ends the loops, also when the work panics.
    struct Ends(Arc<AtomicBool>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let _ends = Ends(Arc::clone(&is_over));
        for _ in 0..cores() {
            scope.spawn(|| while !is_over.load(Ordering::Relaxed) {});
        }
        work()
    })
}

/// Runs `work`, and all processes that it starts, on the first core that this process may use.
#[cfg(target_os = "linux")]
fn on_one_core(work: impl FnOnce() -> Result<()>) -> Result<()> {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;
    let this = Pid::from_raw(0);
    let all = sched_getaffinity(this)?;
    let first = (0..CpuSet::count()).find(|core| all.is_set(*core).unwrap_or(false));
    let mut one = CpuSet::new();
    one.set(first.context("this process may use no core")?)?;
    sched_setaffinity(this, &one)?;
    let result = work();
    sched_setaffinity(this, &all)?;
    result.context("on one core")
}

#[cfg(not(target_os = "linux"))]
fn on_one_core(_: impl FnOnce() -> Result<()>) -> Result<()> {
    skip("this system pins nothing: stress was not run on one core")
}

pub(crate) fn asan(stage: &Stage) -> Result<()> {
    let version = output_of(stage.command("rustc").arg("-vV"))?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or_default();
    if !["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"].contains(&host) {
        return skip(format!("the address sanitizer is not set up for {host}"));
    }
    let sanitized = |packages: &[&Package], tests: &[&str]| -> Result<Command> {
        let selection = packages_as_arguments(packages.iter().copied());
        let has = |name: &&&str| packages.iter().any(|package| package.has_test(name));
        let tests = tests.iter().filter(has);
        let mut cargo = stage.cargo("test --lib");
        cargo
            .args(tests.map(|name| format!("--test={name}")))
            .args(&selection)
            .args(alike::all(stage, &selection)?)
            // What the sanitizer finds it shows with the names of functions; lines would take a fifth of the time.
            .envs([WITHOUT_LINES]);
        // Counters begin near their wrap: what goes wrong there is what the sanitizer is good at, and the step of plain tests begins
        // at zero. Libraries of others, as the standard library, are not looked at, but for what of them is compiled into our crates;
        // their memory is.
        stage.compile_ours_with(&mut cargo, "-Zsanitizer=address --cfg tamtam_near_wrap")?;
        Ok(cargo)
    };
    // These tests leak on purpose: messages after one whose drop panics, a forgotten operation, and a message that must not be
    // dropped on the thread where an operation was lost. And the sanitizer ends a program that asks for more memory than there
    // can be.
    let manner = manner(&[
        "--skip=a_panicking_drop_is_not_repeated",
        "--skip=a_leaked_operation_corrupts_nothing",
        "--skip=a_message_that_belongs_to_another_thread",
        "--skip=a_message_that_panics_when_dropped",
        "--skip=messages_of_a_broadcast_that_panic_when_they_are_dropped_panic_once",
        "--skip=mail_that_panics_when_it_is_dropped_panics_once",
        "--skip=a_capacity_for_which_there_is_no_memory",
        // They halt a process after each of its instructions, of which the sanitizer makes several.
        "--skip=steps::",
        // A machine of their own, in safe code, goes through states by the hundred thousand.
        "--skip=store_buffers::",
    ]);
    let core = stage.core();
    let is_rows = |package: &&Package| package.name == "tamtam-rows";
    let rows: Vec<_> = stage.packages().filter(is_rows).collect();
    // Many tests wait: three programs at a time.
    stage.side_by_side(3, |queue| {
        if !core.is_empty() {
            // The other tests count what is allocated or look at the clock: what they do with memory, these do, too.
            let cargo = sanitized(&core, &["it", "stress"])?;
            programs::build_into(queue, cargo, &manner)?;
        }
        if !rows.is_empty() {
            // What is unsafe in them are kernels, which their unit tests call with every length and width; the fuzzer has the
            // sanitizer, too, and damages whole tables.
            programs::build_into(queue, sanitized(&rows, &[])?, &manner)?;
        }
        Ok(())
    })?;
    let looked_at = [core, rows].concat();
    ensure_each_ran(stage, &looked_at, "no test ran under the sanitizer")
}

pub(crate) fn fuzz(stage: &Stage) -> Result<()> {
    if !has_nightly(stage) {
        return skip("there is no nightly toolchain here");
    }
    if !succeeds(&mut stage.cargo("fuzz --version")) {
        return skip("there is no cargo-fuzz here");
    }
    let soak = Stage::soak().is_some();
    let listed = output_of(&mut stage.cargo("+nightly fuzz list"))?;
    // Arrow and Parquet take minutes to compile with a sanitizer: only the long run has their targets. A test gives each its seeds.
    let is_due = |target: &str| match target.split_once('_') {
        Some(("arrow" | "parquet", _)) => soak,
        _ => true,
    };
    let targets: Vec<_> = listed
        .lines()
        .filter(|target| is_due(target))
        .filter(|target| {
            stage.is_whole()
                || stage
                    .packages()
                    .any(|package| belongs_to(target, &package.name))
        })
        .collect();
    ensure!(!targets.is_empty(), "there is no fuzz target");
    let seconds = seconds_of_each(targets.len());
    let has_gateway = targets.iter().any(|target| target.starts_with("gateway_"));
    let folder = stage.target.join("fuzz");
    let fuzz = |command: &str| {
        let mut cargo = stage.cargo(&format!("+nightly fuzz {command}"));
        if soak {
            cargo.args(["--features", "arrow,gateway"]);
        } else if has_gateway {
            cargo.args(["--features", "gateway"]);
        }
        cargo.arg("--target-dir").arg(&folder);
        // For a short look they are compiled sooner than that makes them slower. Without lines what fails still names its
        // functions, and its input, with which a longer look at the one target shows the lines.
        if seconds < 30 {
            cargo.envs(RELEASE_COMPILED_SOON.map(unless_set));
        }
        cargo
    };
    run(&mut fuzz("build")).context("the fuzz targets do not compile")?;
    let mut jobs = Vec::new();
    for target in targets {
        // What it finds is kept beside the seeds' folder, not in it.
        let found = folder.join("corpus").join(target);
        fs::create_dir_all(&found)?;
        let mut cargo = fuzz("run");
        cargo
            .arg(target)
            .arg(found)
            .arg(format!("fuzz/corpus/{target}"))
            .arg("--");
        cargo.arg(format!("-max_total_time={seconds}"));
        cargo.args([
            "-timeout=30",
            "-malloc_limit_mb=512",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
        ]);
        if target.starts_with("gateway_") {
            // What it keeps from one input to the next is taken for a leak; the targets have a bound of their own for that.
            cargo.arg("-detect_leaks=0");
        }
        let words = format!("fuzz/dictionaries/{target}");
        if stage.root().join(&words).exists() {
            cargo.arg(format!("-dict={words}"));
        }
        jobs.push(Job::new(format!("{target} for {seconds} s"), cargo));
    }
    stage
        .run_jobs(lanes(), jobs)
        .context("fuzz/artifacts has what made these fail; make a test of it")
}

/// Whether a fuzz target is about a crate.
fn belongs_to(target: &str, package: &str) -> bool {
    let of = match target {
        "link_receive" => "tamtam-link",
        "shared_memory" => "tamtam-ipc",
        target if target.starts_with("gateway_") => "tamtam-gateway",
        target if target.starts_with("amf") => "tamtam-amf",
        _ => "tamtam-rows",
    };
    of == package
}

/// All targets together take a minute, unless more is asked for.
fn seconds_of_each(targets: usize) -> u64 {
    let asked = std::env::var("TAMTAM_FUZZ_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    let share = (60 / targets.max(1) as u64).max(2);
    let usual = if Stage::soak().is_some() { 600 } else { share };
    asked.unwrap_or(usual)
}

pub(crate) fn miri(stage: &Stage) -> Result<()> {
    if !succeeds(&mut stage.cargo("+nightly miri --version")) {
        return skip("there is no Miri here");
    }
    // Timeouts look at the clock, which Miri keeps from a program by default.
    let flags = std::env::var("MIRIFLAGS").unwrap_or_default();
    let flags = format!("-Zmiri-disable-isolation {flags}");
    let jobs = stage.core().into_iter().map(|package| {
        let mut cargo = stage.cargo("+nightly miri test --lib --no-fail-fast");
        cargo
            .args(["--package", &package.name, "--target-dir"])
            .arg(stage.target.join("miri"))
            .env("MIRIFLAGS", &flags)
            // It takes seconds to say where a test has panicked, as some do on purpose.
            .env("RUST_BACKTRACE", "0");
        Job::new(format!("{} under Miri", package.name), cargo)
    });
    stage.run_jobs(lanes(), jobs)?;
    ensure_each_ran(stage, &stage.core(), "no test ran under Miri")
}
