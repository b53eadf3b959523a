//! What a step works with: the workspace, the folders, what was asked for; and how it ends.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};

use super::jobs::{self, Job, Queue};
use super::workspace::{Package, Workspace};

/// A test that fails says where without them, too, and a backtrace has the names of functions. They take a quarter of the time in which our
/// crates and their tests are compiled.
pub(crate) const WITHOUT_LINES: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "0");

/// Makes the documentation of what cargo has rustdoc test, with the same libraries, and then has it tested.
const DOCUMENTS: &str = r#"made=()
is_test=
is_value=
for argument in "$@"; do
    if [[ $is_value ]]; then
        is_value=
        continue
    fi
    case $argument in
    --test) is_test=1 ;;
    --test-run-directory | --test-args | --test-builder | --runtool | --runtool-arg) is_value=1 ;;
    --test-*=* | --runtool*=* | --no-run | --no-capture | --nocapture) ;;
    *) made+=("$argument") ;;
    esac
done
if [[ $is_test ]]; then
    rustdoc "${made[@]}" -D warnings --out-dir "$TAMTAM_DOCUMENTATION" || exit
fi
exec rustdoc "$@""#;

/// The oldest Rust that is promised.
#[derive(Debug)]
pub(crate) struct Oldest {
    pub(crate) version: String,
    pub(crate) is_installed: bool,
}

/// What a step knows.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) workspace: Workspace,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// The folder of the logs.
    pub(crate) logs: PathBuf,
    /// The step's name.
    pub(crate) step: String,
    /// The crates that it is about; all where there are none.
    pub(crate) scope: Vec<String>,
}

/// An error that is none: this machine cannot run the step, or a part of it.
#[derive(Debug)]
pub(crate) struct Skipped(pub(crate) String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Skipped {}

/// Ends a step that this machine cannot run.
pub(crate) fn skip<T>(why: impl Into<String>) -> Result<T> {
    Err(Skipped(why.into()).into())
}

impl Stage {
    pub(crate) fn root(&self) -> &Path {
        &self.workspace.root
    }

    /// Whether the step is about all crates.
    pub(crate) fn is_whole(&self) -> bool {
        self.scope.is_empty()
    }

    /// The crates that it is about.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Package> {
        let packages = self.workspace.packages.iter();
        packages.filter(|package| self.is_whole() || self.scope.contains(&package.name))
    }

    /// Those of them whose protocols have models.
    pub(crate) fn with_models(&self) -> Vec<&Package> {
        self.packages()
            .filter(|package| package.has_models())
            .collect()
    }

    /// Those of them that are of the core.
    pub(crate) fn core(&self) -> Vec<&Package> {
        self.packages()
            .filter(|package| package.is_core())
            .collect()
    }

    /// Long stress was asked for: the seconds of each stress test.
    pub(crate) fn soak() -> Option<u64> {
        std::env::var("TAMTAM_SOAK_SECONDS").ok()?.parse().ok()
    }

    /// A file beside the step's log.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(name)
    }

    /// A command in the root.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root());
        command
    }

    /// `cargo` with arguments, which a blank separates.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        let mut command = self.command("cargo");
        command.args(arguments.split_whitespace());
        command
    }

    /// Cargo's names for what the step is about: the crates in scope, or all. Steps that name the same crates and features find what
    /// an earlier one has compiled.
    pub(crate) fn selection(&self) -> Vec<String> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        if self.is_whole() {
            return words("--workspace --all-features");
        }
        let mut selection = packages_as_arguments(self.packages());
        selection.push("--all-features".to_owned());
        selection
    }

    /// `cargo` to compile what runs as it is, in the debug folder. In a run of all crates clippy looks at ours meanwhile: a look of its own
    /// would read them, and what they need, once more; and they are compiled without lines. All steps that share the folder compile by
    /// this, so that each finds what another one has compiled.
    pub(crate) fn cargo_for_debug(&self, arguments: &str) -> Result<Command> {
        let mut cargo = self.cargo(arguments);
        if self.is_whole() {
            self.look_at_ours(&mut cargo)?;
            cargo.envs([WITHOUT_LINES]);
        }
        Ok(cargo)
    }

    /// Has cargo compile our own crates with these flags, and libraries of others as without them: `RUSTFLAGS` would have those compiled
    /// again. Flags that only a nightly compiler takes are taken by any one.
    pub(crate) fn compile_ours_with(&self, cargo: &mut Command, flags: &str) -> Result<()> {
        let unstable = if flags.contains("-Z") {
            "RUSTC_BOOTSTRAP=1 "
        } else {
            ""
        };
        self.compile_ours_by(cargo, &format!("{unstable}exec \"$@\" {flags}"))
    }

    /// Has clippy look at our own crates, of which a warning is an error, while cargo compiles them.
    pub(crate) fn look_at_ours(&self, cargo: &mut Command) -> Result<()> {
        self.compile_ours_by(cargo, "exec clippy-driver \"$@\" -D warnings")
    }

    /// Has cargo compile our own crates by a line for bash, whose arguments are the compiler and its arguments. Other shells lose variables
    /// with a hyphen in their names, of which cargo has some.
    ///
    /// Cargo tells what is compiled in one way from what is compiled in another by the name of the compiler, so each way has one.
    fn compile_ours_by(&self, cargo: &mut Command, line: &str) -> Result<()> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let words = line.split(|character| !is_plain(character));
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let compiler = self.compiler(&words.join("-"), line)?;
        cargo.env("RUSTC_WORKSPACE_WRAPPER", compiler);
        Ok(())
    }

    /// Has rustdoc document each library before it tests what the documentation shows, and fail for a warning. `cargo doc` would have what
    /// they are built on compiled once more, in its own way.
    pub(crate) fn document_what_is_tested(&self, cargo: &mut Command) -> Result<()> {
        cargo.env("RUSTDOC", self.compiler("documents", DOCUMENTS)?);
        cargo.env("TAMTAM_DOCUMENTATION", self.target.join("doc"));
        Ok(())
    }

    /// A program in bash for cargo to call.
    fn compiler(&self, name: &str, text: &str) -> Result<PathBuf> {
        let folder = self.target.join("compilers");
        fs::create_dir_all(&folder)?;
        let compiler = folder.join(name);
        let script = format!("#!/usr/bin/env bash\n{text}\n");
        if fs::read_to_string(&compiler).ok().as_ref() != Some(&script) {
            fs::write(&compiler, script)?;
            fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
        }
        Ok(compiler)
    }

    /// The oldest Rust that the workspace promises.
    pub(crate) fn oldest(&self) -> Result<Oldest> {
        let manifest = fs::read_to_string(self.root().join("Cargo.toml"))?;
        let version = oldest_rust(&manifest).context("the workspace names no oldest Rust")?;
        Ok(Oldest {
            version: version.to_owned(),
            is_installed: succeeds(&mut self.cargo(&format!("+{version} --version"))),
        })
    }

    /// `cargo` of that, in a folder of its own; of the usual one where that is not installed.
    pub(crate) fn oldest_cargo(&self, oldest: &Oldest, arguments: &str) -> Command {
        let mut cargo = if oldest.is_installed {
            self.cargo(&format!("+{} {arguments}", oldest.version))
        } else {
            self.cargo(arguments)
        };
        cargo.arg("--target-dir").arg(self.target.join("oldest"));
        cargo
    }

    /// Runs jobs, at most `lanes` at a time; see [`jobs::side_by_side`].
    pub(crate) fn side_by_side(
        &self,
        lanes: usize,
        fill: impl FnOnce(&Queue<'_>) -> Result<()>,
    ) -> Result<()> {
        let folder = jobs::folder_of(&self.log(&format!("{}.log", self.step)));
        jobs::side_by_side(&folder, lanes, &jobs::show, fill)
    }

    /// Runs these jobs, at most `lanes` at a time.
    pub(crate) fn run_jobs(&self, lanes: usize, all: impl IntoIterator<Item = Job>) -> Result<()> {
        self.side_by_side(lanes, |queue| {
            all.into_iter().for_each(|job| queue.push(job));
            Ok(())
        })
    }
}

fn oldest_rust(manifest: &str) -> Option<&str> {
    let mut lines = manifest.lines();
    let version = lines.find_map(|line| line.strip_prefix("rust-version"))?;
    version.split('"').nth(1)
}

/// `--package NAME` for each.
pub(crate) fn packages_as_arguments<'a>(
    packages: impl IntoIterator<Item = &'a Package>,
) -> Vec<String> {
    let packages = packages.into_iter();
    packages
        .map(|package| format!("--package={}", package.name))
        .collect()
}

/// How many cores there are.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs a command; an error says which one failed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| shown(command))?;
    ensure!(status.success(), "{}: {status}", shown(command));
    Ok(())
}

/// Runs a command whose output goes to a file.
pub(crate) fn run_into(command: &mut Command, file: &Path) -> Result<()> {
    let output = File::create(file).with_context(|| file.display().to_string())?;
    run(command.stdout(output))
}

/// What a command prints.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| shown(command))?;
    if !output.status.success() {
        bail!("{}: {}", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be run and succeeds; it shows nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Where a program is, by `PATH` and then in the folders given.
pub(crate) fn find_program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(folders.iter().cloned())
        .map(|folder| folder.join(name))
        .find(|file| nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok())
}

/// Where `cargo install` puts programs.
pub(crate) fn cargo_programs() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let own = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    home.or_else(own)
        .map(|home| home.join("bin"))
        .into_iter()
        .collect()
}

/// The core time of all processes that were started here and have ended.
pub(crate) fn core_time_of_children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| {
        let seconds = Duration::from_secs(time.tv_sec().unsigned_abs());
        seconds + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    Ok(micros(usage.user_time()) + micros(usage.system_time()))
}

/// Whether a nightly toolchain is there.
pub(crate) fn has_nightly(stage: &Stage) -> bool {
    succeeds(&mut stage.cargo("+nightly --version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(scope: &[&str]) -> Stage {
        let package = |name: &str, loom: bool| Package {
            name: name.to_owned(),
            dependencies: if loom {
                vec!["loom".to_owned()]
            } else {
                Vec::new()
            },
            ..Package::default()
        };
        Stage {
            workspace: Workspace {
                root: "/".into(),
                packages: vec![package("tamtam-amf", false), package("tamtam-wait", true)],
            },
            target: "/target".into(),
            logs: "/target/test-logs".into(),
            step: "clippy".to_owned(),
            scope: scope.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_step_is_about_all_crates_or_those_named() {
        let names = |stage: &Stage| stage.packages().map(|p| p.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&stage(&[])), ["tamtam-amf", "tamtam-wait"]);
        assert_eq!(names(&stage(&["tamtam-amf"])), ["tamtam-amf"]);
        assert_eq!(stage(&[]).core().len(), 1);
        assert_eq!(stage(&["tamtam-amf"]).core().len(), 0);
        assert!(stage(&[]).selection().contains(&"--workspace".to_owned()));
        assert_eq!(
            stage(&["tamtam-wait"]).selection(),
            ["--package=tamtam-wait", "--all-features"]
        );
    }

    #[test]
    fn flags_of_ours_are_added_by_a_compiler_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut stage = stage(&[]);
        stage.target = folder.path().to_path_buf();
        let mut compilers = Vec::new();
        for (flags, said) in [
            (
                "--cfg one -C opt-level=1",
                "a b --cfg one -C opt-level=1 -\n",
            ),
            ("-Zsanitizer=address", "a b -Zsanitizer=address 1\n"),
        ] {
            let mut cargo = Command::new("cargo");
            stage.compile_ours_with(&mut cargo, flags).unwrap();
            let (_, compiler) = cargo.get_envs().next().unwrap();
            let compiler = compiler.unwrap().to_owned();
            let mut command = Command::new(&compiler);
            command.args(["sh", "-c", "echo \"$@\" \"${RUSTC_BOOTSTRAP:--}\"", "sh"]);
            let output = output_of(command.args(["a", "b"]).env_remove("RUSTC_BOOTSTRAP"));
            assert_eq!(output.unwrap(), said);
            // Cargo names a program of a crate by such a variable.
            let mut command = Command::new(&compiler);
            command.args(["bash", "-c", "env", "bash"]);
            let output = output_of(command.env("BIN_EXE_a-b", "there"));
            assert!(
                output
                    .unwrap()
                    .lines()
                    .any(|line| line == "BIN_EXE_a-b=there")
            );
            compilers.push(compiler);
        }
        assert_ne!(compilers[0], compilers[1]);
    }

    #[test]
    fn what_all_crates_are_compiled_by_looks_at_them_and_what_one_is_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = |scope: &[&str]| {
            let mut stage = stage(scope);
            stage.target = folder.path().to_path_buf();
            let cargo = stage.cargo_for_debug("test").unwrap();
            let mut variables = cargo.get_envs();
            let (_, compiler) = variables.find(|(name, _)| *name == "RUSTC_WORKSPACE_WRAPPER")?;
            Some(fs::read_to_string(compiler?).unwrap())
        };
        let whole = compiler(&[]).unwrap();
        assert!(whole.contains("clippy-driver") && whole.contains("-D warnings"));
        assert_eq!(compiler(&["tamtam-wait"]), None);
    }

    #[test]
    fn a_library_is_documented_before_its_documentation_is_tested() {
        let folder = tempfile::tempdir().unwrap();
        let mut stage = stage(&[]);
        stage.target = folder.path().to_path_buf();
        let source = folder.path().join("lib.rs");
        let rustdoc = |text: &str| {
            fs::write(&source, text).unwrap();
            let mut cargo = Command::new("cargo");
            stage.document_what_is_tested(&mut cargo).unwrap();
            let set: Vec<_> = cargo.get_envs().collect();
            let mut rustdoc = Command::new(set[0].1.unwrap());
            rustdoc.env(set[1].0, set[1].1.unwrap());
            // As cargo calls it.
            rustdoc.args([
                "--edition=2024",
                "--crate-type",
                "lib",
                "--crate-name",
                "sea",
            ]);
            rustdoc.arg("--test").arg(&source);
            rustdoc.arg("--test-run-directory").arg(folder.path());
            rustdoc.output().unwrap()
        };
        let good = rustdoc(
            "//! See [`wave`].\n//! ```\n//! assert!(true);\n//! ```\n\n/// A wave.\npub fn wave() {}\n",
        );
        let tested = String::from_utf8_lossy(&good.stdout).into_owned();
        assert!(tested.contains("1 passed"), "{tested}");
        assert!(folder.path().join("doc/sea/fn.wave.html").exists());
        let bad = rustdoc("//! See [`wage`].\n");
        assert!(!bad.status.success());
        assert!(String::from_utf8_lossy(&bad.stderr).contains("wage"));
    }

    #[test]
    fn the_oldest_rust_is_what_the_workspace_says() {
        let manifest = "[workspace]\nrust-version = \"1.88\"\n";
        assert_eq!(oldest_rust(manifest), Some("1.88"));
        assert_eq!(oldest_rust("[workspace]\n"), None);
    }

    #[test]
    fn a_failed_command_is_named() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh -c exit 3: exit status: 3");
        assert!(run(&mut Command::new("/no/such/program")).is_err());
        assert_eq!(output_of(Command::new("echo").arg("one")).unwrap(), "one\n");
        assert!(succeeds(&mut Command::new("true")));
        assert!(!succeeds(&mut Command::new("/no/such/program")));
    }

    #[test]
    fn programs_are_found_in_path_and_elsewhere() {
        assert!(find_program("sh", &[]).is_some());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("no-program"), "").unwrap();
        assert_eq!(
            find_program("no-program", &[folder.path().to_path_buf()]),
            None
        );
    }
}
