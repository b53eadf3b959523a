//! Steps that look at the source: what is in it, its form, clippy, its documentation, its features.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::rules as source_rules;
use crate::test::alike;
use crate::test::features;
use crate::test::jobs::Job;
use crate::test::libtest::HEADING;
use crate::test::stage::{Stage, find_program, packages_as_arguments, run, run_into, skip};
use crate::test::workspace::Package;

/// The manifests of our workspaces, of which one is the workspace of the crates.
const WORKSPACES: [&str; 5] = [
    "Cargo.toml",
    "peers/rust/Cargo.toml",
    "peers/amf/Cargo.toml",
    "examples/window/Cargo.toml",
    "fuzz/Cargo.toml",
];

/// The crates that have unsafe code.
const MAY_BE_UNSAFE: [&str; 6] = [
    "tamtam-wait",
    "tamtam-channel",
    "tamtam-actor",
    "tamtam-rows",
    "tamtam-process",
    "tamtam-ipc",
];

pub(crate) fn rules(stage: &Stage) -> Result<()> {
    let manifests: &[&str] = if stage.is_whole() {
        &WORKSPACES
    } else {
        &WORKSPACES[..1]
    };
    for manifest in manifests {
        let mut metadata = stage.cargo("metadata --locked --format-version 1 --manifest-path");
        let unread = stage.log("metadata.json");
        run_into(metadata.arg(manifest), &unread).with_context(|| {
            format!(
                "the lock file beside {manifest} is not current: run cargo check there and keep it"
            )
        })?;
        fs::remove_file(unread)?;
    }
    let is_ours = |package: &&Package| package.folder.starts_with("crates");
    for package in stage.packages().filter(is_ours) {
        rules_of(package, stage.root())?;
        if !stage.is_whole() {
            // A test of this crate looks at all crates; for one, it is said here.
            let folder = stage.root().join(&package.folder);
            let (breaches, _) = source_rules::breaches(&package.name, &folder)?;
            ensure!(breaches.is_empty(), "{}", breaches.join("\n"));
        }
    }
    let mut unfinished = Vec::new();
    for folder in ["crates", "examples"] {
        find_unfinished(&stage.root().join(folder), &mut unfinished)?;
    }
    ensure!(
        unfinished.is_empty(),
        "these lines are unfinished:\n{}",
        unfinished.join("\n")
    );
    Ok(())
}

/// The rules of what stands beside the source of one crate, and of its first lines.
fn rules_of(package: &Package, root: &Path) -> Result<()> {
    let folder = root.join(&package.folder);
    let name = &package.name;
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    ensure!(!readme.is_empty(), "{name} has no README.md");
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    let has_description = manifest.lines().any(|line| line.starts_with("description"));
    ensure!(has_description, "{name} has no description");
    if !MAY_BE_UNSAFE.contains(&name.as_str()) {
        for root in ["src/lib.rs", "src/main.rs"] {
            let Ok(source) = fs::read_to_string(folder.join(root)) else {
                continue;
            };
            let forbids = source
                .lines()
                .any(|line| line.starts_with("#![forbid(unsafe_code)]"));
            ensure!(
                forbids,
                "{root} of {name} does not say #![forbid(unsafe_code)]"
            );
        }
    }
    Ok(())
}

/// Lines that say that something is still to be written.
fn find_unfinished(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    const MARKS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                find_unfinished(&path, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            for (number, line) in text.lines().enumerate() {
                if MARKS.iter().any(|mark| has_word(line, mark)) {
                    found.push(format!("{}:{}: {line}", path.display(), number + 1));
                }
            }
        }
    }
    Ok(())
}

/// Whether a line has a macro that no longer name ends with.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}

pub(crate) fn scripts(stage: &Stage) -> Result<()> {
    let mut bash = Vec::new();
    for script in files_in(&stage.root().join("scripts"))?
        .into_iter()
        .chain([stage.root().join(".ci/run")])
    {
        let text = fs::read_to_string(&script)?;
        if text
            .lines()
            .next()
            .is_some_and(|line| line.ends_with("bash"))
        {
            check_script(stage, &script, "bash")?;
            bash.push(script);
        }
    }
    let mut peers = Vec::new();
    for folder in files_in(&stage.root().join("peers"))? {
        for name in ["build", "run"] {
            let script = folder.join(name);
            if script.exists() {
                check_script(stage, &script, "sh")?;
                peers.push(script);
            }
        }
    }
    let Some(shellcheck) = find_program("shellcheck", &[]) else {
        return skip("there is no shellcheck; only the syntax was checked");
    };
    run(stage.command(&shellcheck).args(bash))?;
    // With the file that they have in common.
    peers.push(stage.root().join("peers/common.sh"));
    run(stage
        .command(&shellcheck)
        .arg("--external-sources")
        .args(peers))
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<_> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    Ok(files)
}

fn check_script(stage: &Stage, script: &Path, shell: &str) -> Result<()> {
    let mode = fs::metadata(script)?.permissions().mode();
    ensure!(mode & 0o111 != 0, "{} is not executable", script.display());
    run(stage.command(shell).arg("-n").arg(script))
}

pub(crate) fn format(stage: &Stage) -> Result<()> {
    if !stage.is_whole() {
        // Rustfmt takes crates by name only with -p.
        let packages = packages_as_arguments(stage.packages());
        return run(stage.cargo("fmt --check").args(packages)).context("run cargo fmt");
    }
    run(&mut stage.cargo("fmt --all --check")).context("run cargo fmt --all")?;
    for manifest in &WORKSPACES[1..] {
        run(stage.cargo("fmt --check --manifest-path").arg(manifest))
            .with_context(|| format!("run cargo fmt --manifest-path {manifest}"))?;
    }
    Ok(())
}

pub(crate) fn clippy(stage: &Stage) -> Result<()> {
    if stage.is_whole() {
        return run(
            &mut stage.cargo("clippy --workspace --all-targets --all-features -- -D warnings")
        );
    }
    let packages = packages_as_arguments(stage.packages());
    run(stage
        .cargo("clippy --all-targets --all-features")
        .args(packages)
        .args(["--", "-D", "warnings"]))?;
    // What is built on them still has to compile, but for the programs, whose libraries take minutes.
    let on_them = |package: &&Package| {
        package.is_library
            && !package.is_program
            && stage
                .packages()
                .any(|changed| package.depends_on(&changed.name))
    };
    let dependents = packages_as_arguments(stage.workspace.packages.iter().filter(on_them));
    if dependents.is_empty() {
        return Ok(());
    }
    run(stage
        .cargo("clippy --lib")
        .args(dependents)
        .args(["--", "-D", "warnings"]))
}

pub(crate) fn docs(stage: &Stage) -> Result<()> {
    let packages = if stage.is_whole() {
        vec!["--workspace".to_owned()]
    } else {
        packages_as_arguments(stage.packages().filter(|package| package.is_library))
    };
    let mut cargo = stage.cargo("doc --no-deps --all-features --lib");
    run(cargo.args(packages).env("RUSTDOCFLAGS", "-D warnings"))
}

pub(crate) fn features(stage: &Stage) -> Result<()> {
    // In a run of all crates the oldest Rust has compiled libraries of others for the packages.
    let oldest = stage.is_whole().then(|| stage.oldest()).transpose()?;
    let mut commands = Vec::new();
    let is_ours = |package: &&Package| package.folder.starts_with("crates");
    for package in stage.packages().filter(is_ours) {
        // What a library of another library has to have, that one asks for.
        let alike = alike::but_for_its_own(stage, package)?;
        let mut choices = features::choices(package);
        if oldest.is_some() && package.is_published {
            // The step of packages has compiled it with all of them.
            choices.pop();
        }
        for choice in choices {
            let shown = if choice.is_empty() { "none" } else { &choice };
            let mut echo = stage.command("echo");
            echo.arg(format!("{HEADING}{} with features: {shown}", package.name));
            // Clippy has seen all of the code, with all features, and takes twice as long.
            let arguments = "check --quiet --no-default-features";
            let mut cargo = match &oldest {
                Some(oldest) => stage.oldest_cargo(oldest, arguments),
                None => stage.cargo(arguments),
            };
            cargo.args(["--package", &package.name, "--features"]);
            cargo.arg(features::of(&package.name, &choice));
            cargo.args(&alike);
            commands.extend([echo, cargo]);
        }
    }
    ensure!(
        !commands.is_empty(),
        "there is no crate to choose features of"
    );
    let name = "features".to_owned();
    stage.run_jobs(1, [Job { name, commands }])?;
    let log = fs::read_to_string(stage.log(&format!("{}.log", stage.step)))?;
    match warned_of(&log) {
        None => Ok(()),
        Some(choice) => bail!("the compiler warns of {choice}"),
    }
}

/// The first choice of features with a warning below its heading. `cargo check` itself cannot be told to fail for one, but by
/// flags with which it would compile all libraries again.
fn warned_of(log: &str) -> Option<&str> {
    let mut choice = "";
    log.lines().find_map(|line| {
        if let Some(heading) = line.strip_prefix(HEADING) {
            choice = heading;
        }
        line.starts_with("warning: ").then_some(choice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_lines_are_found_and_longer_names_are_not() {
        assert!(has_word("    todo!(\"later\")", "todo!"));
        assert!(has_word("x = dbg!(y)", "dbg!"));
        assert!(!has_word("my_todo!()", "todo!"));
        assert!(!has_word("// to do", "todo!"));
    }

    #[test]
    fn a_choice_of_features_with_a_warning_is_named() {
        let (none, some) = ("--- a\n--- b\n", "--- a\n--- b\nwarning: unused\n--- c\n");
        assert_eq!(warned_of(none), None);
        assert_eq!(warned_of(some), Some("b"));
    }

    #[test]
    fn a_crate_without_a_readme_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let package = Package {
            name: "tamtam-sea".to_owned(),
            folder: "crates/tamtam-sea".into(),
            ..Package::default()
        };
        let root = folder.path().join("crates/tamtam-sea");
        let error = || rules_of(&package, folder.path()).unwrap_err().to_string();
        fs::create_dir_all(root.join("src")).unwrap();
        assert_eq!(error(), "tamtam-sea has no README.md");
        fs::write(root.join("README.md"), "# Sea").unwrap();
        fs::write(root.join("Cargo.toml"), "[package]\n").unwrap();
        assert_eq!(error(), "tamtam-sea has no description");
        fs::write(root.join("Cargo.toml"), "description = \"\"\n").unwrap();
        fs::write(root.join("src/lib.rs"), "//! Sea.\n").unwrap();
        assert_eq!(
            error(),
            "src/lib.rs of tamtam-sea does not say #![forbid(unsafe_code)]"
        );
        fs::write(
            root.join("src/lib.rs"),
            "#![forbid(unsafe_code)]\n//! Sea.\n",
        )
        .unwrap();
        rules_of(&package, folder.path()).unwrap();
    }
}
