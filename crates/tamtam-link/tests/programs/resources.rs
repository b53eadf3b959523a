//! What a process has of the system, and waiting until it has given that back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Threads and descriptors of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
}

impl Resources {
    fn now() -> Self {
        Self {
            threads: fs::read_dir("/proc/self/task").unwrap().count(),
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }

    /// Those that there are when the threads of all links have ended, as they do soon after these.
    pub(crate) fn at_rest() -> Self {
        let start = Instant::now();
        while threads().iter().any(|name| name.starts_with("tamtam-link")) {
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", threads());
            std::thread::yield_now();
        }
        Self::now()
    }

    /// Waits until there are not more. Fewer are right where something had not yet been let go of when these were counted.
    pub(crate) fn wait_for(self, when: &str) {
        let start = Instant::now();
        let is_more = |now: Self| now.threads > self.threads || now.descriptors > self.descriptors;
        while is_more(Self::now()) {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{when}: {:?} instead of {self:?}; threads {:?}, descriptors {:?}",
                Self::now(),
                threads(),
                opened("self"),
            );
            std::thread::yield_now();
        }
    }
}

/// The threads' names.
fn threads() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = threads.map(|thread| fs::read_to_string(thread.path().join("comm")));
    names
        .map(|name| name.unwrap_or_default().trim().to_owned())
        .collect()
}

/// What the descriptors of a process lead to, but for the standard streams: these are what its starter has given it.
fn opened(process: &str) -> Vec<PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let is_own = |it: &fs::DirEntry| {
        let name = it.file_name();
        !["0", "1", "2"].iter().any(|standard| name == **standard)
    };
    let links = descriptors
        .flatten()
        .filter(is_own)
        .map(|it| fs::read_link(it.path()));
    links.flatten().collect()
}

/// The files for temporary use that a process has open or mapped.
pub(crate) fn temporary_files(process: &str) -> Vec<PathBuf> {
    // This program itself may stand in such a folder.
    let program = std::env::current_exe().unwrap();
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let mapped = maps.lines().filter_map(|line| line.split_once('/'));
    let mut files = opened(process);
    files.extend(mapped.map(|(_, path)| PathBuf::from(format!("/{path}"))));
    files.retain(|path| {
        let is_temporary = ["/tmp", "/var/tmp", "/dev/shm"].map(Path::new);
        *path != program && is_temporary.iter().any(|folder| path.starts_with(folder))
    });
    files
}
