//! `cargo xtask test` from outside, with tables of steps that are lines for the shell: what is shown, the exit code, and that
//! nothing that a step has started outlives it.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// A table of steps, and a folder for what they write.
struct Place {
    folder: TempDir,
}

struct Shown {
    code: Option<i32>,
    text: String,
}

impl Shown {
    /// Whether this was said, in which each `N s` stands for however long something took: beside others the shortest step may take a second.
    fn says(&self, what: &str) -> bool {
        let mut timeless = String::new();
        for part in self.text.split(" s") {
            let is_time = part.ends_with(|last: char| last.is_ascii_digit());
            let kept = part.trim_end_matches(|digit: char| is_time && digit.is_ascii_digit());
            timeless += kept;
            timeless += if is_time { "N s" } else { " s" };
        }
        timeless.contains(what)
    }
}

impl Place {
    fn new(table: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("table"), table).unwrap();
        Place { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn log(&self, step: &str) -> String {
        fs::read_to_string(self.path().join(format!("test-logs/{step}.log"))).unwrap()
    }

    /// Starts the program; its steps write into the folder.
    fn start(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("test")
            .arg("--table")
            .arg(self.path().join("table"))
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.path())
            .env("FOLDER", self.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Shown {
        shown(self.start(arguments))
    }
}

fn shown(child: Child) -> Shown {
    let output = child.wait_with_output().unwrap();
    Shown {
        code: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
    }
}

/// Waits for a file and gives what is in it, which ends with a line.
fn wait_for(file: &PathBuf) -> String {
    loop {
        match fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn runs(process: &str) -> bool {
    let id = process.trim().parse().unwrap();
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    kill(Pid::from_raw(id), None).is_ok() && !stat.contains(") Z ")
}

/// A line for the shell that says its process, and sleeps until it is ended.
const SLEEPS: &str =
    "sh -c 'echo $$ > $FOLDER/NAME.part; mv $FOLDER/NAME.part $FOLDER/NAME; exec sleep 1000'";

fn sleeps(name: &str) -> String {
    SLEEPS.replace("NAME", name)
}

#[test]
fn what_passed_is_added_up() {
    let place = Place::new(
        "one|60|whole|counts|echo 'test a ... ok <0.500s>'; echo 'test result: ok. 3 passed; 0 failed; 1 ignored'\n\
         two|60|half|counts too|echo '--- sea it'; echo 'test b ... ok <2.250s>'; echo '4 passed, 0 failed'; echo 'seconds of cores: 5'\n",
    );
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(0), "{}", shown.text);
    assert!(
        shown.text.ends_with("\n7 passed, 0 failed\n"),
        "{}",
        shown.text
    );
    assert!(
        shown.says("one        ok (N s, 3 tests passed, 0 failed)"),
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .contains(" s, 5 s of cores, 4 tests passed, 0 failed)"),
        "{}",
        shown.text
    );
    let slowest: Vec<_> = shown
        .text
        .lines()
        .skip_while(|line| *line != "the slowest tests:")
        .collect();
    assert_eq!(slowest[1].trim(), "2.2 s  sea it: b");
    assert_eq!(slowest[2].trim(), "0.5 s  : a");
}

#[test]
fn the_first_step_that_fails_ends_the_run() {
    let place = Place::new(
        "good|60|whole|passes|true\n\
         bad|60|whole|fails|echo all is lost; exit 3\n\
         later|60|whole|is never begun|touch $FOLDER/later\n",
    );
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.text.contains("all is lost"), "{}", shown.text);
    assert!(
        shown.says("bad        FAILED (N s); again: scripts/test --only bad"),
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .contains("steps failed: bad\n0 passed, 1 failed\n"),
        "{}",
        shown.text
    );
    assert!(!place.path().join("later").exists());
}

#[test]
fn the_others_run_on_with_keep_going() {
    let place = Place::new(
        "bad|60|whole|fails|echo 'test result: FAILED. 5 passed; 2 failed; 0 ignored'; exit 101\n\
         worse|60|whole|fails|kill -9 $$\n\
         later|60|whole|passes|touch $FOLDER/later\n",
    );
    let shown = place.run(&["--keep-going"]);
    assert_eq!(shown.code, Some(1));
    assert!(place.path().join("later").exists());
    assert!(
        shown
            .text
            .contains("steps failed: bad worse\n5 passed, 3 failed\n"),
        "{}",
        shown.text
    );
}

#[test]
fn a_step_that_fails_ends_the_one_beside_it() {
    let beside = sleeps("beside");
    let place = Place::new(&format!(
        "beside|60|half|waits|{beside}\n\
         bad|60|whole|fails|until [ -e $FOLDER/beside ]; do sleep 0.01; done; exit 1\n"
    ));
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(1));
    assert!(
        shown.text.contains("beside     ended before it was done"),
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .ends_with("steps failed: bad\n0 passed, 1 failed\n"),
        "{}",
        shown.text
    );
    assert!(!runs(&wait_for(&place.path().join("beside"))));
}

#[test]
fn what_cannot_be_run_here_is_said_and_passes() {
    let place = Place::new(
        "part|60|whole|is left out|echo much else; echo 'skipped: there is no sea'; exit 77\n\
         told|60|whole|passes in part|echo 'wasm skipped: never compiled there'\n",
    );
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(0), "{}", shown.text);
    assert!(
        shown.says("part       skipped: there is no sea (N s)"),
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .contains("\nwasm skipped: never compiled there\n"),
        "{}",
        shown.text
    );
    assert!(
        shown.text.contains("steps skipped: part\n"),
        "{}",
        shown.text
    );
}

#[test]
fn a_step_that_hangs_is_ended_with_all_that_it_has_started() {
    let hangs = sleeps("hangs");
    let place = Place::new(&format!("slow|3|whole|hangs|echo begun; {hangs}\n"));
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(1));
    let (_, said) = shown
        .text
        .split_once("begun\nfailed: not done after ")
        .expect(&shown.text);
    // How long it took: on a busy machine it may be ended late.
    let (seconds, _) = said.split_once(" s").expect(&shown.text);
    assert!(seconds.parse::<u64>().unwrap() >= 3, "{}", shown.text);
    assert!(!runs(&wait_for(&place.path().join("hangs"))));
}

#[test]
fn a_process_that_a_step_leaves_behind_is_a_failure() {
    let left = sleeps("left");
    let place = Place::new(&format!(
        "leaves|60|whole|leaves one|{left} & until [ -e $FOLDER/left ]; do sleep 0.01; done\n"
    ));
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(1));
    assert!(
        shown
            .text
            .contains("failed: the step left processes behind:"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("sleep 1000"), "{}", shown.text);
    assert!(!runs(&wait_for(&place.path().join("left"))));
}

/// It was said to be skipped, and went on.
#[test]
fn a_process_that_a_skipped_step_leaves_behind_is_a_failure_too() {
    let left = sleeps("left");
    let place = Place::new(&format!(
        "leaves|60|whole|leaves one|{left} & until [ -e $FOLDER/left ]; do sleep 0.01; done; echo 'skipped: no sea'; exit 77\n"
    ));
    let shown = place.run(&[]);
    assert_eq!(shown.code, Some(1), "{}", shown.text);
    assert!(
        shown
            .text
            .contains("failed: the step left processes behind:"),
        "{}",
        shown.text
    );
    assert!(!runs(&wait_for(&place.path().join("left"))));
}

#[test]
fn an_interrupt_ends_what_runs() {
    let (one, two) = (sleeps("one"), sleeps("two"));
    let place = Place::new(&format!(
        "one|60|whole|waits|{one}\ntwo|60|half|waits too|{two}\n"
    ));
    let child = place.start(&[]);
    let processes = [
        wait_for(&place.path().join("one")),
        wait_for(&place.path().join("two")),
    ];
    kill(
        Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let shown = shown(child);
    assert_eq!(shown.code, Some(130), "{}", shown.text);
    assert!(
        processes.iter().all(|process| !runs(process)),
        "{processes:?}"
    );
}

#[test]
fn a_verbose_run_shows_each_line_as_it_comes() {
    let place = Place::new(
        "one|60|half|is watched|echo seen; until [ -e $FOLDER/go ]; do sleep 0.01; done; echo seen later\n\
         two|60|half|comes after it|echo second\n",
    );
    let mut child = place.start(&["--verbose"]);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().starts_with("one "));
    assert_eq!(lines.next().unwrap().unwrap(), "seen");
    fs::write(place.path().join("go"), "").unwrap();
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    let order = rest.join("\n");
    assert!(
        order.find("seen later").unwrap() < order.find("second").unwrap(),
        "{order}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(place.log("one"), "seen\nseen later\n");
}

#[test]
fn only_what_is_named_is_run_or_shown() {
    let place = Place::new(
        "one|60|half|is first|touch $FOLDER/one\ntwo|60|half|is second|touch $FOLDER/two\n",
    );
    let shown = place.run(&["--only", "two", "--list"]);
    assert_eq!(
        (shown.code, shown.text.as_str()),
        (Some(0), "two        is second\n")
    );
    assert_eq!(place.run(&["--only", "two"]).code, Some(0));
    assert!(place.path().join("two").exists() && !place.path().join("one").exists());
}

/// A place with a script in place of `scripts/setup`, which gets to its second need when the pipe `go` is read from, and with what is to run.
fn place_with_setup(table: &str, at_the_end: &str) -> (Place, String) {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(table);
    let script = place.path().join("setup");
    let text = format!(
        "#!/bin/sh\n\
         if [ \"$1\" != --tell ]; then echo \"$*\" > $FOLDER/required; exit; fi\n\
         shift\n\
         for need; do cat $FOLDER/go; echo $need; done\n\
         {at_the_end}\n"
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    nix::unistd::mkfifo(&place.path().join("go"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let script = script.to_str().unwrap().to_owned();
    (place, script)
}

#[test]
fn a_step_waits_for_what_it_needs_while_others_run() {
    let (place, script) = place_with_setup(
        "later|60|half rust web|needs|echo later >> $FOLDER/order\n\
         measures|60|alone|is alone|echo measures >> $FOLDER/order; cat $FOLDER/is-done\n\
         first|60|half rust lint|needs nothing more|echo first >> $FOLDER/order; echo > $FOLDER/go\n",
        "echo > $FOLDER/is-done",
    );
    let shown = place.run(&["--setup", &script]);
    assert_eq!(shown.code, Some(0), "{}", shown.text);
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(read("required"), "rust lint\n");
    assert_eq!(read("order"), "first\nlater\nmeasures\n");
}

#[test]
fn setup_that_fails_ends_the_run() {
    let (place, script) = place_with_setup(
        "later|60|half web|needs|echo later >> $FOLDER/order\n\
         first|60|half|needs nothing|echo > $FOLDER/go\n",
        "exit 1",
    );
    // The need is not said to have been seen to.
    let text = fs::read_to_string(&script).unwrap();
    fs::write(&script, text.replace("echo $need; ", "")).unwrap();
    let shown = place.run(&["--setup", &script]);
    assert_eq!(shown.code, Some(1), "{}", shown.text);
    assert!(!place.path().join("order").exists());
}
