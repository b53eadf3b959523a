//! Steps that look at the project from elsewhere: from a new program, a package, another platform, an older compiler, another
//! library's tests.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::test::features;
use crate::test::stage::{Stage, core_time_of_children, output_of, run, skip};

/// Makes a crate that depends on `tamtam` as it is here. It takes the versions that our lock file names, so that there is
/// nothing to ask a registry for.
fn new_program(stage: &Stage, name: &str, features: &str) -> Result<std::path::PathBuf> {
    let folder = stage.target.join(name);
    fs::create_dir_all(folder.join("src"))?;
    let tamtam = stage.root().join("crates/tamtam");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         tamtam = {{ path = {:?}, features = [{features}] }}\n",
        tamtam.display().to_string()
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(stage.root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder)
}

fn build_program(stage: &Stage, folder: &Path, more: &[&str]) -> Command {
    let mut cargo = stage.cargo("build --quiet --manifest-path");
    cargo
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.join("target"))
        .args(more);
    cargo
}

pub(crate) fn newcomer(stage: &Stage) -> Result<()> {
    const CRATES: usize = 10;
    const LIMIT: Duration = Duration::from_secs(15);
    let tree = output_of(
        &mut stage.cargo("tree --package tamtam --edges normal,build --prefix none --format {p}"),
    )?;
    let crates: std::collections::BTreeSet<_> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    println!("{}", crates.iter().copied().collect::<Vec<_>>().join("\n"));
    println!(
        "tamtam with default features compiles {} crates",
        crates.len()
    );
    ensure!(
        crates.len() <= CRATES,
        "{} crates are more than {CRATES}",
        crates.len()
    );

    let folder = new_program(stage, "newcomer", "")?;
    fs::write(
        folder.join("src/main.rs"),
        "fn main() { let (s, r) = tamtam::bounded(1); s.send(1).unwrap(); assert_eq!(r.recv(), Ok(1)); }\n",
    )?;
    for attempt in 1..=2 {
        let _ = fs::remove_dir_all(folder.join("target"));
        let (began, used) = (Instant::now(), core_time_of_children()?);
        run(&mut build_program(stage, &folder, &[])).context("a new program with tamtam")?;
        let (passed, used) = (began.elapsed(), core_time_of_children()? - used);
        // Beside busy neighbours the time that passes says little; then the core time counts, all cores together.
        println!(
            "a new program with tamtam compiled in {passed:.1?}, {used:.1?} of cores (attempt {attempt})"
        );
        if passed.min(used) < LIMIT {
            run(&mut stage.command(folder.join("target/debug/newcomer")))
                .context("the new program")?;
            return length_with_actors(stage);
        }
    }
    bail!("compiling tamtam takes {LIMIT:?} or more")
}

/// A program that tells and asks `actors` actors, each with messages of its own.
fn program_with_actors(actors: usize) -> String {
    let mut program = "fn main() {\n    let pool = tamtam::Pool::new();\n".to_owned();
    for actor in 0..actors {
        program += &format!("    actor{actor}::run(&pool);\n");
    }
    program += "}\n";
    for actor in 0..actors {
        program += &format!(
            "mod actor{actor} {{
    use tamtam::{{Actor, Context, Pool, Reply}};
    struct Counter(u64);
    enum Count {{ Add(u64), Read(Reply<u64>) }}
    impl Actor for Counter {{
        type Message = Count;
        fn handle(&mut self, message: Count, _: &mut Context<Self>) {{
            match message {{ Count::Add(number) => self.0 += number, Count::Read(reply) => reply.send(self.0) }}
        }}
    }}
    pub fn run(pool: &Pool) {{
        let counter = pool.spawn(Counter(0));
        counter.tell(Count::Add(1)).unwrap();
        assert_eq!(counter.ask(Count::Read), Ok(1));
    }}
}}
"
        );
    }
    program
}

/// How much longer actors make a program, in a release without names and lines: what is compiled anew for each type of messages
/// grows in silence otherwise.
fn length_with_actors(stage: &Stage) -> Result<()> {
    const FIRST: u64 = 520_000;
    const EACH: u64 = 60_000;
    const MORE: usize = 2;
    let folder = new_program(stage, "newcomer", "\"actor\"")?;
    let main = folder.join("src/main.rs");
    let length = |source: &str| -> Result<u64> {
        fs::write(&main, source)?;
        let mut cargo = build_program(stage, &folder, &["--release"]);
        run(cargo.env("CARGO_PROFILE_RELEASE_STRIP", "true")).context("a release")?;
        let program = folder.join("target/release/newcomer");
        run(&mut stage.command(&program)).context("the release")?;
        Ok(fs::metadata(program)?.len())
    };
    let none = length("fn main() { println!(\"done\"); }\n")?;
    let one = length(&program_with_actors(1))?;
    let all = length(&program_with_actors(1 + MORE))?;
    let first = one - none;
    let each = (all - one) / MORE as u64;
    println!(
        "a pool and an actor make a program longer by {first} bytes, each further actor by {each}"
    );
    ensure!(first <= FIRST, "{first} bytes are more than {FIRST}");
    ensure!(each <= EACH, "{each} bytes are more than {EACH}");
    Ok(())
}

pub(crate) fn package(stage: &Stage) -> Result<()> {
    let version = output_of(&mut stage.cargo("--version"))?;
    // Crates of one workspace that are not published yet can be packaged together since then.
    if minor_version(&version).is_none_or(|minor| minor < 90) {
        return skip("cargo is older than 1.90 and cannot package crates that need each other");
    }
    let folder = stage.target.join("package");
    let packages = folder.join("package");
    let _ = fs::remove_dir_all(&packages);
    let mut cargo = stage.cargo("package --workspace --allow-dirty --no-verify --target-dir");
    cargo.arg(&folder);
    for package in stage.packages().filter(|package| !package.is_published) {
        cargo.args(["--exclude", &package.name]);
    }
    run(&mut cargo)?;
    // Cargo would compile each of them by itself, with all that it needs, and as if published crates never changed: a workspace
    // of what was unpacked compiles each once, and only what has changed.
    let ours = fs::read_to_string(stage.root().join("Cargo.toml"))?;
    // Libraries of others are compiled as for the step of features, which finds them.
    let mut manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"tamtam*/\", \"alike\"]\n{}[patch.crates-io]\n",
        usual_profile(&ours)
    );
    let unpacked = folder.join("unpacked");
    let _ = fs::remove_dir_all(&unpacked);
    fs::create_dir_all(&unpacked)?;
    for entry in fs::read_dir(&packages)? {
        let archive = entry?.path();
        if archive.extension() != Some(OsStr::new("crate")) {
            continue;
        }
        run(stage
            .command("tar")
            .arg("-xzf")
            .arg(&archive)
            .arg("-C")
            .arg(&unpacked))?;
        let folder = archive
            .file_stem()
            .and_then(OsStr::to_str)
            .context("the name of a package")?;
        // Its version is behind the last hyphen.
        let (name, _) = folder.rsplit_once('-').context("the name of a package")?;
        manifest += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    fs::write(unpacked.join("Cargo.toml"), manifest)?;
    fs::copy(stage.root().join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    make_alike(&stage.root().join("testing/alike"), &unpacked.join("alike"))?;
    // Cargo goes by the times of files, and in a package all are of one day long ago. What has changed since the last run is of
    // now, and what has not was compiled then.
    let workspace = folder.join("workspace");
    make_alike(&unpacked, &workspace)?;
    let oldest = stage.oldest()?;
    let mut cargo = stage.oldest_cargo(&oldest, "check --workspace --all-features");
    let manifest = workspace.join("Cargo.toml");
    run(cargo.arg("--manifest-path").arg(manifest)).context("compiling what is in the packages")?;
    if !oldest.is_installed {
        return skip(format!(
            "Rust {} is not installed; what is in the packages was compiled with another one",
            oldest.version
        ));
    }
    Ok(())
}

/// The sections of a manifest about the usual profile.
fn usual_profile(manifest: &str) -> String {
    let sections = manifest.split("\n[").skip(1);
    let of_it = sections.filter(|section| {
        section.starts_with("profile.dev]") || section.starts_with("profile.dev.package.\"*\"]")
    });
    of_it.map(|section| format!("[{section}\n")).collect()
}

/// Makes a folder have the files of another one, and no others; those that are in it with the same bytes stay as old as they are.
fn make_alike(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(to)? {
        let path = entry?.path();
        let there = from.join(path.file_name().context("the name of a file")?);
        if path.is_dir() && !there.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if !path.is_dir() && !there.is_file() {
            fs::remove_file(&path)?;
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            make_alike(&from, &to)?;
            continue;
        }
        let bytes = fs::read(&from)?;
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            fs::write(&to, bytes).with_context(|| to.display().to_string())?;
        }
    }
    Ok(())
}

/// `90` of `cargo 1.90.2 (..)`.
fn minor_version(version: &str) -> Option<u32> {
    let mut parts = version.split_whitespace().nth(1)?.split('.');
    (parts.next()? == "1").then_some(())?;
    parts.next()?.parse().ok()
}

/// The features of tamtam-rows that need a C compiler for the platform, or sockets; they are not compiled for others.
const NEEDS_THE_PLATFORM: [&str; 6] = [
    "arrow",
    "compression",
    "mysql",
    "parquet",
    "postgres",
    "sqlite",
];

/// The libraries that are to compile everywhere, each with the features that are left out there.
const EVERYWHERE: [(&str, &[&str]); 9] = [
    ("tamtam-amf", &[]),
    ("tamtam-wait", &[]),
    ("tamtam-channel", &[]),
    ("tamtam-actor", &[]),
    ("tamtam-ipc", &[]),
    ("tamtam-process", &[]),
    // Its TLS needs a C compiler for each platform.
    ("tamtam-link", &["tls"]),
    ("tamtam-rows", &NEEDS_THE_PLATFORM),
    // The gateway has forms of rows that need a C compiler, and sockets.
    ("tamtam", &["gateway"]),
];

/// What cargo is told to compile all of these at once: each library of ours, and of others, once a platform.
fn everywhere(stage: &Stage) -> Result<Vec<String>> {
    let mut arguments = vec!["--no-default-features".to_owned()];
    for (name, left_out) in EVERYWHERE {
        let package = stage.workspace.package(name).context(name)?;
        let mut kept = package.features.clone();
        kept.retain(|feature| !left_out.contains(&feature.as_str()));
        arguments.push(format!("--package={name}"));
        arguments.push(format!(
            "--features={}",
            features::of(name, &kept.join(","))
        ));
    }
    Ok(arguments)
}

pub(crate) fn targets(stage: &Stage) -> Result<()> {
    let installed = output_of(
        stage
            .command("rustup")
            .args(["target", "list", "--installed"]),
    )
    .unwrap_or_default();
    let wanted = output_of(stage.command("scripts/setup").arg("--targets"))?;
    let libraries = everywhere(stage)?;
    let mut checked = 0;
    for platform in wanted.lines() {
        if !installed.lines().any(|line| line == platform) {
            println!("{platform} skipped: never compiled there");
            continue;
        }
        println!("--- {platform}");
        let mut check = stage.cargo(&format!("check --target {platform} --target-dir"));
        check
            .arg(stage.target.join("targets"))
            .args(&libraries)
            .env("RUSTFLAGS", "-D warnings");
        run(&mut check)?;
        if platform == "wasm32-unknown-unknown" {
            without_threads(stage)?;
        }
        checked += 1;
    }
    if checked == 0 {
        return skip("never compiled there (no other platform's standard library is installed)");
    }
    Ok(())
}

/// A program for WebAssembly that does not block.
const DOES_NOT_BLOCK: &str = "fn main() {
    if let Ok(pool) = tamtam::Pool::builder().build() {
        let numbers = pool.spawn_fn(|_: u64, _| {});
        numbers.map(u64::from).tell(1_u8).unwrap();
    }
    let (sender, receiver) = tamtam::bounded(1);
    sender.try_send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    let _ = (sender.send_async(2), receiver.recv_async());
    let mut select = tamtam::Select::new();
    select.recv(&receiver);
    assert!(select.try_select().is_err());
}
";

/// What blocks, each in its way.
const BLOCKS: [&str; 7] = [
    "tamtam::bounded::<u8>(1).1.recv()",
    "tamtam::bounded(0).0.send(1)",
    "tamtam::Slot::<u8>::new().take()",
    "tamtam::Event::auto().wait()",
    "tamtam::spsc::unbounded::<u8>().1.recv()",
    "tamtam::Property::new(1).wait_changed(0)",
    "tamtam::Pool::new().spawn_fn(|reply: tamtam::Reply<u8>, _| reply.send(1)).ask(|reply| reply)",
];

/// Without threads nothing could end a wait, so what blocks must not compile there; the rest must.
fn without_threads(stage: &Stage) -> Result<()> {
    let folder = new_program(stage, "wasm", "\"actor\"")?;
    let main = folder.join("src/main.rs");
    let build = || build_program(stage, &folder, &["--target", "wasm32-unknown-unknown"]);
    fs::write(&main, DOES_NOT_BLOCK)?;
    run(&mut build()).context("a program for wasm32 that does not block")?;
    for blocking in BLOCKS {
        fs::write(&main, format!("fn main() {{ let _ = {blocking}; }}\n"))?;
        let output = build().output()?;
        ensure!(
            !output.status.success(),
            "'{blocking}' blocks, and compiles for wasm32 without threads"
        );
        let said = String::from_utf8_lossy(&output.stderr);
        if !said.contains("would block") && !said.contains("no method named") {
            bail!("'{blocking}' fails for another reason:\n{said}");
        }
    }
    println!("what blocks does not compile for wasm32 without threads");
    Ok(())
}

pub(crate) fn drop_in(stage: &Stage) -> Result<()> {
    run(&mut stage.command("scripts/drop-in"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_the_same_stay_and_others_go_or_come() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        let write = |root: &Path, name: &str, text: &str| {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        for (name, before, after) in [
            ("same/a.rs", Some("a"), Some("a")),
            ("same/b.rs", Some("b"), Some("c")),
            ("new/c.rs", None, Some("c")),
            ("old/d.rs", Some("d"), None),
            ("same/old.rs", Some("e"), None),
            // What was a file is a folder now, and the other way round.
            ("turned", Some("f"), None),
            ("turned/g.rs", None, Some("g")),
            ("back/h.rs", Some("h"), None),
            ("back", None, Some("h")),
        ] {
            if let Some(text) = before {
                write(&to, name, text);
            }
            if let Some(text) = after {
                write(&from, name, text);
            }
        }
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for name in ["same/a.rs", "same/b.rs"] {
            let file = fs::File::options().append(true).open(to.join(name));
            file.unwrap().set_modified(long_ago).unwrap();
        }
        make_alike(&from, &to).unwrap();
        let is_old = |name| fs::metadata(to.join(name)).unwrap().modified().unwrap() == long_ago;
        assert!(is_old("same/a.rs") && !is_old("same/b.rs"));
        for (name, text) in [
            ("same/b.rs", "c"),
            ("new/c.rs", "c"),
            ("turned/g.rs", "g"),
            ("back", "h"),
        ] {
            assert_eq!(fs::read_to_string(to.join(name)).unwrap(), text);
        }
        assert!(!to.join("old").exists() && !to.join("same/old.rs").exists());
    }

    #[test]
    fn of_the_profiles_the_usual_one_is_taken() {
        let manifest = "[a]\nx = 1\n\n[profile.dev]\ndebug = 1\n\n[profile.dev.package.\"*\"]\ndebug = 0\n\n[profile.dev.package.b]\ny = 1\n\n\
                        [profile.release]\nz = 1\n";
        let taken: String = usual_profile(manifest).lines().collect();
        let expected = "[profile.dev]debug = 1[profile.dev.package.\"*\"]debug = 0";
        assert_eq!(taken, expected);
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(
            minor_version("cargo 1.95.0 (f2d3ce0bd 2026-03-21)\n"),
            Some(95)
        );
        assert_eq!(minor_version("cargo 1.88.0-nightly (x)"), Some(88));
        assert_eq!(minor_version("cargo"), None);
    }
}
