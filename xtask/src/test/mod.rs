//! Every test of the project, step by step, or those that a change needs: `cargo xtask test --help`.
//!
//! | module | what |
//! |---|---|
//! | `step` | the steps: what each proves, what it needs, whom it concerns |
//! | `plan` | which of them run, and for which crates |
//! | `schedule` | which run beside which |
//! | `run` | a step is a process with a log and a time limit; what came of it is shown |
//! | `setup` | what is installed meanwhile |
//! | `session` | all processes that a step has started, found and ended |
//! | `stage`, `jobs`, `programs`, `features`, `alike`, `libtest` | what steps are made of |
//! | `steps` | the steps themselves |

mod alike;
mod features;
mod jobs;
mod libtest;
mod plan;
mod programs;
mod run;
mod schedule;
mod session;
mod setup;
mod stage;
mod step;
mod steps;
mod workspace;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use plan::Planned;
use stage::{Skipped, Stage};
use step::Work;
use workspace::Workspace;

/// What to test, and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What has changed: a crate by its short name (wait, channel, actor, link, process, ipc, rows, amf, gateway, lab, cli, tamtam, xtask), docs or web.
    /// Without one, everything is tested
    #[arg(value_name = "CRATE")]
    parts: Vec<String>,
    /// This step alone (may be given several times)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Show the steps that would run, and what each one proves
    #[arg(long)]
    list: bool,
    /// Run the other steps, too, after one has failed
    #[arg(long)]
    keep_going: bool,
    /// Long stress: two minutes a stress test, ten minutes a fuzz target, and deeper models
    #[arg(long)]
    soak: bool,
    /// How long each fuzz target runs; 120 suits a change to a decoder
    #[arg(long, value_name = "SECONDS")]
    fuzz: Option<u64>,
    /// Show each step's whole output while it runs, one step at a time
    #[arg(long)]
    verbose: bool,
    /// Run this step in this process.
    #[arg(long, value_name = "STEP", hide = true)]
    step: Option<String>,
    /// A table of steps in place of ours: the tests of this program bring one.
    #[arg(long, value_name = "FILE", hide = true)]
    table: Option<PathBuf>,
    /// A program in place of `scripts/setup`: the tests of this program bring one.
    #[arg(long, value_name = "FILE", hide = true)]
    setup: Option<PathBuf>,
}

/// Runs the steps asked for, or shows them.
///
/// # Errors
///
/// If what was asked for is not known, or no step can begin. A step that fails is no error: the exit code says so.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the workspace")?;
    let workspace = Workspace::read(root)?;
    let steps = match &arguments.table {
        Some(table) => {
            let text = fs::read_to_string(table).with_context(|| table.display().to_string())?;
            step::read_table(&text).context("the table of steps")?
        }
        None => step::all(),
    };
    if let Some(name) = &arguments.step {
        let step = steps
            .into_iter()
            .find(|step| step.name == *name)
            .context("the step")?;
        let scope = arguments.parts.clone();
        return Ok(run_step(&step.work, workspace, name, scope));
    }
    let is_long = arguments.soak || arguments.fuzz.is_some();
    let plan = plan::plan(
        steps,
        &workspace,
        &arguments.parts,
        &arguments.only,
        is_long,
    )?;
    if arguments.list {
        for planned in &plan {
            println!("{:<10} {}", planned.step.name, planned.step.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let script = || match &arguments.setup {
        Some(script) => Command::new(script),
        None => Command::new(root.join("scripts/setup")),
    };
    let later = if arguments.table.is_some() && arguments.setup.is_none() {
        Vec::new()
    } else {
        setup::require(&mut script(), &plan::needs(&plan))?
    };
    let target = target_folder(root);
    let manner = run::Manner {
        logs: target.join("test-logs"),
        keeps_going: arguments.keep_going,
        is_verbose: arguments.verbose,
        more_time: more_time(arguments),
        later,
    };
    fs::create_dir_all(&manner.logs)?;
    // Cargo may replace the program while it runs: a copy stays.
    let own = manner.logs.join("xtask");
    let _ = fs::remove_file(&own);
    fs::copy(env::current_exe()?, &own).context("a copy of this program")?;
    let command = |planned: &Planned| step_command(&own, arguments, planned, &target);
    let tidy = |planned: &Planned| make_room(&target, planned.step.folders);
    Ok(run::Run::new(&plan, &manner, &command, &script, &tidy)
        .run()?
        .into())
}

/// What runs one step, in the environment of all steps.
fn step_command(own: &Path, arguments: &Arguments, planned: &Planned, target: &Path) -> Command {
    let mut command = Command::new(own);
    command
        .args(["test", "--step", &planned.step.name])
        .args(&planned.scope);
    if let Some(table) = &arguments.table {
        command.arg("--table").arg(table);
    }
    command
        .env("CARGO_TARGET_DIR", target)
        .env("RUST_BACKTRACE", "1");
    for (name, value) in [
        // What only the next compilation of a crate under change would use: gigabytes here, where each is compiled in many
        // ways.
        ("CARGO_INCREMENTAL", "0"),
        // What is compiled with optimization is tested here, not measured: on all cores, so it is sooner done.
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ] {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let is_whole_run = arguments.parts.is_empty() && arguments.only.is_empty();
    if is_whole_run && env::var_os(LINES).is_none() {
        // Lines of backtraces take a sixth of the time in which our own crates compile. Here a test that fails says where it
        // did; with its step alone its backtrace has lines, too.
        command.env(LINES, "0");
    }
    if arguments.soak && Stage::soak().is_none() {
        command.env("TAMTAM_SOAK_SECONDS", DEFAULT_SOAK.to_string());
    }
    if let Some(seconds) = arguments.fuzz {
        command.env("TAMTAM_FUZZ_SECONDS", seconds.to_string());
    }
    command
}

/// What makes cargo leave the lines of our own crates away, or not.
const LINES: &str = "CARGO_PROFILE_DEV_DEBUG";

/// Seconds of each stress test in a soak.
const DEFAULT_SOAK: u64 = 120;

/// A soak runs each of its tests for minutes, several times.
fn more_time(arguments: &Arguments) -> u64 {
    let asked = arguments.soak.then_some(DEFAULT_SOAK);
    Stage::soak().or(asked).map_or(0, |seconds| 60 * seconds)
}

/// Cargo's target folder, as a whole path.
fn target_folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// Runs a step in this process, which begins a session: all that it starts belongs to that.
fn run_step(work: &Work, workspace: Workspace, name: &str, scope: Vec<String>) -> ExitCode {
    // Where this process leads a group already, a person has started it.
    let _ = nix::unistd::setsid();
    let target = target_folder(&workspace.root);
    let stage = Stage {
        logs: target.join("test-logs"),
        target,
        step: name.to_owned(),
        scope,
        workspace,
    };
    let result = match work {
        Work::Ours(work) => work(&stage),
        Work::Shell(line) => {
            let status = stage.command("sh").args(["-c", line]).status();
            return match status.ok().and_then(|status| status.code()) {
                Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
                None => ExitCode::FAILURE,
            };
        }
    };
    if let Ok(used) = stage::core_time_of_children() {
        println!("{}{}", run::CORE_TIME, used.as_secs());
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<Skipped>() {
            Some(why) => {
                println!("skipped: {why}");
                run::SKIPPED.into()
            }
            None => {
                println!("failed: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Where the disk has less than 20 GB left, removes what only one step could use again.
fn make_room(target: &Path, folders: &[&str]) {
    const ENOUGH: u128 = 20_000_000_000;
    let free = nix::sys::statvfs::statvfs(target)
        .map(|disk| u128::from(disk.blocks_available()) * u128::from(disk.fragment_size()));
    if free.is_ok_and(|free| free >= ENOUGH) {
        return;
    }
    for folder in folders {
        let Ok(entries) = fs::read_dir(target.join(folder)) else {
            continue;
        };
        // What the fuzzer has found stays.
        for entry in entries
            .flatten()
            .filter(|entry| entry.file_name() != "corpus")
        {
            let path = entry.path();
            let _ = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
    }
}
