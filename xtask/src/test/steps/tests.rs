//! Steps that run tests as a user's machine would: all tests, the guide, the examples.

use std::ffi::OsStr;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::test::jobs::Job;
use crate::test::programs::{self, Manner};
use crate::test::stage::{Stage, cargo_programs, find_program, output_of, run, skip};
use crate::test::workspace::Package;

/// How many test programs run at a time: many tests wait.
const LANES: usize = 3;

/// Crates whose examples are run.
const WITH_EXAMPLES: [&str; 2] = ["tamtam", "tamtam-ipc"];
/// What measures for minutes, and says nothing without optimization.
const MEASURING: [&str; 2] = ["channel_speed", "wait_speed"];

pub(crate) fn tests(stage: &Stage) -> Result<()> {
    let selection = stage.selection();
    let manner = Manner {
        is_timed: true,
        ..Manner::default()
    };
    stage.side_by_side(LANES, |queue| {
        let mut cargo = stage.cargo_for_debug("test")?;
        cargo.args(&selection);
        programs::build_into(queue, cargo, &manner)?;
        // What the documentation shows is compiled while tests still run.
        let with_docs = stage.packages().filter(|package| package.is_library);
        if stage.is_whole() || with_docs.count() > 0 {
            let mut cargo = stage.cargo_for_debug("test --no-fail-fast --doc")?;
            cargo.args(&selection);
            if stage.is_whole() {
                stage.document_what_is_tested(&mut cargo)?;
            }
            queue.push_first(Job::new("documentation", cargo));
        }
        Ok(())
    })
}

pub(crate) fn guide(stage: &Stage) -> Result<()> {
    let is_guide = |package: &Package| package.name == "tamtam-guide";
    if !stage.is_whole() && !stage.packages().any(is_guide) {
        // What a crate promises is proved by tests that it has.
        return run(&mut stage.cargo("test --package tamtam-guide --test guide promises"));
    }
    run(&mut stage.cargo_for_debug("test --package tamtam-guide --no-fail-fast")?)
}

pub(crate) fn book(stage: &Stage) -> Result<()> {
    let Some(mdbook) = find_program("mdbook", &cargo_programs()) else {
        return skip("there is no mdbook; scripts/guide installs it");
    };
    let mut build = stage.command(mdbook);
    let output = build
        .args(["build", "docs", "--dest-dir"])
        .arg(stage.target.join("guide"))
        .output()?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    print!("{said}");
    ensure!(output.status.success(), "the book: {}", output.status);
    let complaints = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        line.starts_with("WARN") || line.starts_with("ERROR")
    };
    ensure!(
        !said.lines().any(complaints),
        "mdbook complains as shown above"
    );
    Ok(())
}

pub(crate) fn examples(stage: &Stage) -> Result<()> {
    let mut cargo = stage.cargo_for_debug("build --examples")?;
    run(cargo.args(stage.selection()))?;
    let mut examples = Vec::new();
    for package in stage.packages() {
        if !WITH_EXAMPLES.contains(&&*package.name) {
            continue;
        }
        let crates = stage.root().join("crates");
        let sources = crates.join(&package.name).join("examples");
        let files = fs::read_dir(&sources)?.map(|entry| Ok(entry?.path()));
        let mut files: Vec<_> = files.collect::<Result<_>>()?;
        files.sort();
        files.retain(|file| {
            let measures = |name: &OsStr| MEASURING.iter().any(|measuring| name == *measuring);
            file.extension() == Some(OsStr::new("rs")) && !file.file_stem().is_some_and(measures)
        });
        examples.extend(files);
    }
    ensure!(!examples.is_empty(), "there is no example");
    for source in examples {
        let name = source
            .file_stem()
            .and_then(OsStr::to_str)
            .context("the name of an example")?;
        println!("--- {name}");
        let mut example = stage.command(stage.target.join("debug/examples").join(name));
        // Threads or not, it says the same each time.
        let Ok(expected) = fs::read_to_string(source.with_extension("txt")) else {
            run(&mut example)?;
            continue;
        };
        let printed = output_of(&mut example)?;
        if printed != expected {
            bail!("the example {name} prints something else than the file beside it:\n{printed}");
        }
    }
    Ok(())
}
