//! Asks other software what it makes of the bytes of `tamtam-amf`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::core::ensure_ran;
use crate::test::libtest::PART;
use crate::test::programs::{self, Manner, Program};
use crate::test::stage::{Stage, find_program, run, skip, succeeds};

pub(crate) fn witnesses(stage: &Stage) -> Result<()> {
    let cargo = stage.cargo_for_debug("test -p tamtam-amf --all-features --test it")?;
    let programs = programs::build_all(cargo)?;
    // Where `scripts/setup` has put them.
    let folder = stage.root().join("target/witnesses");
    let mut asked = Vec::new();
    let witness = "crates/tamtam-amf/tests/witnesses/blazeds/Witness.java";
    if let Some(classpath) = blazeds(stage, witness)? {
        let variable = ("TAMTAM_AMF_BLAZEDS", classpath);
        ask(stage, "BlazeDS", variable, &programs, "blazeds")?;
        asked.push("BlazeDS");
    }
    let python = folder.join("python/bin/python");
    if succeeds(stage.command(&python).args(["-c", "import pyamf"])) {
        let variable = ("TAMTAM_AMF_PY3AMF", python.into_os_string());
        ask(stage, "Py3AMF", variable, &programs, "py3amf")?;
        asked.push("Py3AMF");
    }
    match asked.as_slice() {
        [] => skip("there is neither BlazeDS nor Py3AMF here"),
        ["BlazeDS"] => skip("there is no Py3AMF here; BlazeDS was asked"),
        ["Py3AMF"] => skip("there is no BlazeDS here; Py3AMF was asked"),
        _ => Ok(()),
    }
}

/// Compiles a program that uses BlazeDS, and the classes beside it; where they are, or `None` where there is no Java or no BlazeDS.
pub(super) fn blazeds(stage: &Stage, program: &str) -> Result<Option<OsString>> {
    let folder = stage.root().join("target/witnesses/blazeds");
    let (Some(_), Some(javac)) = (find_program("java", &[]), find_program("javac", &[])) else {
        return Ok(None);
    };
    let mut path = jars(&folder);
    if path.len() < 2 {
        return Ok(None);
    }
    let classes = folder.join("classes");
    fs::create_dir_all(&classes)?;
    let mut compile = stage.command(javac);
    compile.arg("-cp").arg(std::env::join_paths(&path)?);
    compile.arg("-d").arg(&classes);
    let beside = Path::new(program).parent();
    compile.arg("-sourcepath").args(beside);
    compile.arg(program);
    run(&mut compile).with_context(|| format!("{program} does not compile"))?;
    path.push(classes);
    Ok(Some(std::env::join_paths(path)?))
}

fn jars(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "jar"))
        .collect()
}

/// Runs the tests that are for this witness alone.
fn ask(
    stage: &Stage,
    name: &str,
    (variable, place): (&str, OsString),
    programs: &[Program],
    filter: &str,
) -> Result<()> {
    println!("{PART}{name}");
    let manner = Manner {
        arguments: vec!["--ignored".to_owned(), filter.to_owned()],
        is_timed: true,
    };
    let jobs: Vec<_> = programs
        .iter()
        .map(|program| {
            let mut job = program.job(&manner);
            job.commands[0].env(variable, &place);
            job
        })
        .collect();
    stage
        .run_jobs(1, jobs)
        .with_context(|| format!("{name} differs"))?;
    ensure_ran(stage, &format!("no test asked {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jars_are_on_the_path() {
        let folder = super::super::servers::Folder::new("jars", None).unwrap();
        for name in ["a.jar", "b.pom", "c.jar"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let mut found = jars(folder.path());
        found.sort();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.jar", "c.jar"]);
        assert!(jars(Path::new("/nowhere")).is_empty());
    }
}
