//! The lab as its user starts it, and the systems that it compares with.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::test::stage::{Stage, run};

pub(crate) fn peers(stage: &Stage) -> Result<()> {
    for manifest in ["peers/rust/Cargo.toml", "peers/amf/Cargo.toml"] {
        let mut cargo = stage.cargo("clippy --all-targets --manifest-path");
        cargo.arg(manifest).arg("--target-dir").arg(&stage.target);
        // Many of the libraries are those of our own crates: with the same profile they are there already.
        cargo
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .args(["--", "-D", "warnings"]);
        run(&mut cargo)?;
    }
    Ok(())
}

/// Builds the program as steps use it, as `debug/tamtam`.
pub(super) fn program(stage: &Stage) -> Result<Command> {
    // It is to work here, not to say how fast: optimizing the libraries of other forms took three quarters of the time.
    // Beside the examples it has the features that the tests brought with them, and is there already.
    stage.cargo_for_debug("build --workspace --all-features --bins --examples")
}

pub(crate) fn lab(stage: &Stage) -> Result<()> {
    let results = stage.log("lab.jsonl");
    let _ = fs::remove_file(&results);
    run(&mut program(stage)?)?;
    let lab = |arguments: &[&str]| {
        let mut command = stage.command("scripts/lab");
        command
            .env("TAMTAM_PROGRAM", stage.target.join("debug/tamtam"))
            .args(arguments);
        command
    };
    run(&mut lab(&["list"]))?;
    // A first look at each experiment, as a newcomer takes it.
    run(lab(&["--against", "none", "--runs", "1", "--json"]).arg(&results))?;
    let figures = fs::read_to_string(&results)?;
    ensure!(!figures.is_empty(), "the lab wrote no results");
    // A contender whose deliveries were not verified has failed, and the lab with it.
    println!("{} figures, all verified", figures.lines().count());
    run(lab(&["report"])
        .arg(&results)
        .arg("--out")
        .arg(results.with_extension("html")))
}
