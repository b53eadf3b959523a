//! Test programs: cargo builds them, and each begins as soon as it is there and a lane is free.
//!
//! Cargo itself would compile all of them first and then start one after the other.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::jobs::{Job, Queue};

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) package: String,
    pub(crate) kind: Kind,
    /// The name of the target: the library's, or `it`.
    pub(crate) name: String,
    /// The folder in which it runs.
    pub(crate) folder: PathBuf,
    pub(crate) path: PathBuf,
}

/// What a program tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A library or a program from inside.
    Unit,
    /// A crate from outside.
    Integration,
    /// Nothing: it is the crate's own program, which its integration tests run.
    Own,
}

/// How programs are run.
#[derive(Debug, Default, Clone)]
pub(crate) struct Manner {
    /// Arguments for each.
    pub(crate) arguments: Vec<String>,
    /// Whether each test says how long it took. Stable test programs print that only to those who insist.
    pub(crate) is_timed: bool,
}

/// The command `cargo test --no-run` with the arguments given; calls `found` with each program when it is compiled, and
/// with those that run their crate's own program when that is compiled, too: cargo links both side by side.
///
/// # Errors
///
/// If something does not compile.
pub(crate) fn build(mut cargo: Command, mut found: impl FnMut(Program)) -> Result<()> {
    cargo
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = cargo.spawn().context("cargo")?;
    let output = child.stdout.take().context("cargo's output")?;
    let mut held = Held::default();
    for line in BufReader::new(output).lines() {
        let Some(program) = program_of(&line?) else {
            continue;
        };
        held.pass(program, &mut found);
    }
    let status = child.wait()?;
    ensure!(status.success(), "it does not compile");
    // What is no longer built, such as a program that needs a feature, is not waited for.
    held.tests.into_iter().for_each(found);
    Ok(())
}

/// Tests that wait for the program which they run.
#[derive(Debug, Default)]
struct Held {
    /// The folders of the crates whose own program is compiled.
    built: Vec<PathBuf>,
    tests: Vec<Program>,
}

impl Held {
    /// Calls `found` with the tests that can run now that this program is compiled.
    fn pass(&mut self, program: Program, mut found: impl FnMut(Program)) {
        match program.kind {
            Kind::Own => {
                self.tests
                    .extract_if(.., |test| test.folder == program.folder)
                    .for_each(found);
                self.built.push(program.folder);
            }
            Kind::Integration
                if program.folder.join("src/main.rs").exists()
                    && !self.built.contains(&program.folder) =>
            {
                self.tests.push(program);
            }
            Kind::Integration | Kind::Unit => found(program),
        }
    }
}

/// Builds, and gives all programs.
pub(crate) fn build_all(cargo: Command) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    build(cargo, |program| programs.push(program))?;
    Ok(programs)
}

/// The test program, or program of a crate's own, that a line of cargo's speaks of.
fn program_of(line: &str) -> Option<Program> {
    // Most lines are about libraries; reading all of each would take a while.
    if !line.contains(r#""executable":""#) {
        return None;
    }
    let message: Value = serde_json::from_str(line).ok()?;
    let target = &message["target"];
    let kind = match (
        target["kind"][0].as_str()?,
        message["profile"]["test"].as_bool()?,
    ) {
        ("bin", false) => Kind::Own,
        ("test", true) => Kind::Integration,
        (_, true) => Kind::Unit,
        (_, false) => return None,
    };
    let folder = PathBuf::from(message["manifest_path"].as_str()?)
        .parent()?
        .to_path_buf();
    Some(Program {
        package: folder.file_name()?.to_str()?.to_owned(),
        kind,
        name: target["name"].as_str()?.to_owned(),
        folder,
        path: message["executable"].as_str()?.into(),
    })
}

impl Program {
    /// Its name for the reader.
    pub(crate) fn title(&self) -> String {
        match self.kind {
            Kind::Unit => format!("{} (unit tests of {})", self.package, self.name),
            Kind::Integration | Kind::Own => format!("{} {}", self.package, self.name),
        }
    }

    /// What runs it, as cargo would.
    pub(crate) fn command(&self, manner: &Manner) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .args(&manner.arguments);
        if manner.is_timed {
            command
                .env("RUSTC_BOOTSTRAP", "1")
                .args(["-Zunstable-options", "--report-time"]);
        }
        command
    }

    pub(crate) fn job(&self, manner: &Manner) -> Job {
        Job::new(self.title(), self.command(manner))
    }
}

/// Puts each program into the queue as soon as it is compiled.
pub(crate) fn build_into(queue: &Queue<'_>, cargo: Command, manner: &Manner) -> Result<()> {
    build(cargo, |program| queue.push(program.job(manner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///home/crates/tamtam-wait#0.1.0","manifest_path":"/home/crates/tamtam-wait/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"it","src_path":"/home/crates/tamtam-wait/tests/it/main.rs","test":true},"profile":{"opt_level":"0","test":true},"features":[],"filenames":["/target/debug/deps/it-1"],"executable":"/target/debug/deps/it-1","fresh":true}"#;

    #[test]
    fn a_test_program_is_found_in_what_cargo_says() {
        let program = program_of(TEST).unwrap();
        assert_eq!(program.title(), "tamtam-wait it");
        assert_eq!(program.kind, Kind::Integration);
        assert_eq!(program.path, PathBuf::from("/target/debug/deps/it-1"));
        assert_eq!(program.folder, PathBuf::from("/home/crates/tamtam-wait"));

        let unit = TEST
            .replace(r#"["test"]"#, r#"["lib"]"#)
            .replace(r#""name":"it""#, r#""name":"tamtam_wait""#);
        let program = program_of(&unit).unwrap();
        assert_eq!(program.title(), "tamtam-wait (unit tests of tamtam_wait)");
    }

    /// Cargo links a program and the tests that run it side by side; a test that was ready first found no program.
    #[test]
    fn a_test_waits_for_the_program_that_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let of = |kind, name: &str, folder: &std::path::Path| Program {
            package: "tamtam-cli".to_owned(),
            kind,
            name: name.to_owned(),
            folder: folder.to_path_buf(),
            path: PathBuf::new(),
        };
        let library = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/main.rs"), "").unwrap();
        let mut found = Vec::new();
        let mut held = Held::default();
        let mut pass = |kind, name, folder| {
            held.pass(of(kind, name, folder), |program| found.push(program.name));
            found.clone()
        };
        assert_eq!(pass(Kind::Unit, "tamtam", folder.path()), ["tamtam"]);
        assert_eq!(pass(Kind::Integration, "stream", folder.path()), ["tamtam"]);
        assert_eq!(
            pass(Kind::Integration, "other", library.path()),
            ["tamtam", "other"]
        );
        assert_eq!(
            pass(Kind::Own, "tamtam", folder.path()),
            ["tamtam", "other", "stream"]
        );
        assert_eq!(
            pass(Kind::Integration, "it", folder.path()),
            ["tamtam", "other", "stream", "it"]
        );
    }

    #[test]
    fn programs_that_are_no_tests_are_passed_over() {
        let example = TEST
            .replace(r#","test":true},"features"#, r#","test":false},"features"#)
            .replace(r#"["test"]"#, r#"["example"]"#);
        assert_eq!(program_of(&example), None);
        assert_eq!(
            program_of(&TEST.replace(r#""/target/debug/deps/it-1","fresh"#, r#"null,"fresh"#)),
            None
        );
        assert_eq!(
            program_of(r#"{"reason":"build-finished","success":true}"#),
            None
        );
        assert_eq!(program_of("not json"), None);
    }

    #[test]
    fn a_program_runs_in_its_folder() {
        let manner = Manner {
            arguments: vec!["loom".to_owned()],
            is_timed: true,
        };
        let command = program_of(TEST).unwrap().command(&manner);
        assert_eq!(
            command.get_current_dir().unwrap(),
            "/home/crates/tamtam-wait"
        );
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["loom", "-Zunstable-options", "--report-time"]);
    }
}
