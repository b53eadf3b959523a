//! The program as a person runs it: the real binary, its output and its exit code.
//!
//! Peers are played by `stand-in-peers.sh`, which breaks the contract in ways that real ones should not.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::program::{Ended, Place};

mod figures;
mod peers;
mod runs;

/// The fields of a result, in order.
const FIELDS: [&str; 13] = [
    "experiment",
    "variant",
    "contender",
    "version",
    "ours",
    "metric",
    "unit",
    "median",
    "min",
    "max",
    "runs",
    "verified",
    "machine",
];

impl Place {
    /// With the stand-in peers in it.
    fn with_peers() -> Self {
        let place = Self::empty();
        let programs = place.path("peers/rust/target/release");
        fs::create_dir_all(&programs).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-peers.sh");
        symlink(script, programs.join("tamtam-peers-rust")).unwrap();
        place
    }

    /// `tamtam lab run` of the stand-ins named in `only`.
    fn drum(&self, only: &[&str], words: &[&str]) -> Ended {
        let mut all = vec!["lab", "run", "drumming/10/free", "--peers", "peers"];
        all.extend(only.iter().flat_map(|name| ["--only", name]));
        all.extend(words);
        self.run(&all)
    }

    /// What the stand-ins wrote down: contender, variant, process, hogs beside it.
    fn log(&self) -> Vec<(String, String, u32, usize)> {
        let text =
            fs::read_to_string(self.path("peers/rust/target/release/log")).unwrap_or_default();
        text.lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (
                    words[0].to_owned(),
                    words[1].to_owned(),
                    words[2].parse().unwrap(),
                    words[3].parse().unwrap(),
                )
            })
            .collect()
    }

    fn json(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn the_list_shows_experiments_contenders_and_variants() {
    let ended = Place::with_peers().run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for words in [
        "handover  (articles A and B, 2013)",
        "* slot",
        "1000/2cores",
        "drumming",
        "steady",
        "a stand-in (7.0)",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(
        ended.stdout.lines().all(|line| line.chars().count() <= 100),
        "{}",
        ended.stdout
    );
}

/// How a command ends whose output is read by none.
fn unread(mut command: Command) -> (Option<i32>, String) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

/// The reader's going was all that was told, and the end was that of a run in which all is well.
#[test]
fn a_reader_that_goes_away_hides_no_failure() {
    let place = Place::with_peers();
    let run = |words: &[&str]| {
        let drumming = ["lab", "run", "drumming/10/free", "--peers", "peers"];
        unread(place.command(&[&drumming, words].concat()))
    };
    let quick = ["--only", "quick", "--runs", "1"];
    let (code, stderr) = run(&[&quick[..], &["--json", "/dev/full"]].concat());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("/dev/full cannot be written"), "{stderr}");
    let (code, stderr) = run(&["--only", "broken", "--runs", "1"]);
    assert_eq!(code, Some(1), "{stderr}");
    let (code, stderr) = run(&[&quick[..], &["--json", "out.json"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(place.json("out.json").len(), 1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::with_peers();
    let (code, stderr) = unread(place.command(&["lab", "list"]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        !stderr.contains("Broken pipe") && !stderr.contains("panicked"),
        "{stderr}"
    );
}
