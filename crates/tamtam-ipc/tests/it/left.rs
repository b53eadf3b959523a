//! What processes have left behind that were killed: descriptors and memory of the test's own process, and names anywhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::other::LONG;

/// The folders in which names outlive a process.
const PUBLIC: [&str; 2] = ["/dev/shm", "/tmp"];

/// A folder for what processes of a test have for a while, until it is dropped. No other test uses it.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// For the test of this path.
    pub(crate) fn new(path: &str) -> Self {
        let name = path.replace("::", "-");
        let own = std::process::id();
        let folder = std::env::temp_dir().join(format!("tamtam-ipc-{own}-{name}"));
        fs::create_dir_all(&folder).expect("a folder");
        Temporary(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The descriptors and the shared pieces of memory that this process has.
pub(crate) fn held() -> (usize, usize) {
    let fds = fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    (fds, maps.matches("memfd:tamtam").count())
}

/// All names that there were at one moment.
pub(crate) struct Names(BTreeSet<PathBuf>);

/// Whether a process that is none of this test has its number in the name.
fn is_of_another_test(name: &str) -> bool {
    let numbers = name.split(|letter: char| !letter.is_ascii_digit());
    let mut processes = numbers.filter_map(|number| number.parse::<u32>().ok());
    processes.any(|process| {
        process != std::process::id() && Path::new(&format!("/proc/{process}")).exists()
    })
}

impl Names {
    /// Each name in this test's [folder](Temporary), and those in folders of all that processes of this crate, or of its tests, could have made.
    pub(crate) fn now() -> Self {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let own = entries(&std::env::temp_dir()).map(|entry| entry.path());
        let mut names: BTreeSet<PathBuf> = own.collect();
        for folder in PUBLIC {
            for entry in entries(Path::new(folder)) {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.contains("tamtam") && !is_of_another_test(&name) {
                    names.insert(entry.path());
                }
            }
        }
        Names(names)
    }

    /// The names that have come since. What another test at the same time has made is gone after a while; what a killed process has left is not.
    pub(crate) fn left_since(&self, patience: Duration) -> Vec<PathBuf> {
        let until = Instant::now() + patience;
        loop {
            let left: Vec<PathBuf> = Names::now().0.difference(&self.0).cloned().collect();
            if left.is_empty() || Instant::now() > until {
                return left;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_a_killed_process_has_left_is_found_and_what_another_test_has_is_not() {
    const PATH: &str =
        "left::what_a_killed_process_has_left_is_found_and_what_another_test_has_is_not";
    let temporary = Temporary::new(PATH);
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |command| {
            command.env("TMPDIR", temporary.path());
        },
        || {
            let mut killed = std::process::Command::new("sleep")
                .arg("100")
                .spawn()
                .unwrap();
            let other = std::os::unix::process::parent_id();
            let before = Names::now();
            let anywhere = std::env::temp_dir().join("anything");
            let of_killed = format!("/dev/shm/tamtam-of-{}", killed.id());
            let of_other = format!("/dev/shm/tamtam-of-{other}-and-{}", killed.id());
            let all = [anywhere, of_killed.into(), of_other.into()];
            for name in &all {
                fs::write(name, "").unwrap();
            }
            killed.kill().unwrap();
            killed.wait().unwrap();
            let mut left = before.left_since(Duration::ZERO);
            left.sort();
            all.iter().for_each(|name| fs::remove_file(name).unwrap());
            let mut expected = all[..2].to_vec();
            expected.sort();
            assert_eq!(left, expected);
            assert!(before.left_since(LONG).is_empty());
        },
    );
}
