//! How much of what the other side has sent beside the frames is open in this process, and how much may be.
//!
//! What is made of a descriptor that has come keeps it open as long as it is there: the end of a channel, say, or sealed bytes. So what a link has
//! attached is known by the descriptors that it has received, as far as their numbers still stand for the same files. A number that comes
//! again was closed before. The others are looked at when the bound is reached.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
use rustix::{
    fs::{Stat, fstat, stat},
    process::{Resource, getrlimit},
    system::sysinfo,
};
use tamtam_actor::link::TakenDescriptor;

/// What a link may have attached here at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MostAttached {
    pub(crate) descriptors: usize,
    /// What they are of, in all.
    pub(crate) bytes: u64,
}

impl MostAttached {
    pub(crate) const NONE: Self = MostAttached {
        descriptors: 0,
        bytes: 0,
    };

    /// Half of what this process may have open, and half of the memory of this machine.
    #[cfg(target_os = "linux")]
    pub(crate) fn usual() -> Self {
        let open = getrlimit(Resource::Nofile).current;
        let open = open.and_then(|open| usize::try_from(open).ok());
        let system = sysinfo();
        let memory = u64::from(system.mem_unit).saturating_mul(system.totalram as u64);
        MostAttached {
            descriptors: open.map_or(usize::MAX, |open| open / 2),
            bytes: memory / 2,
        }
    }

    /// Elsewhere no descriptors come.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn usual() -> Self {
        Self::NONE
    }
}

impl fmt::Display for MostAttached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} descriptors of {} bytes",
            self.descriptors, self.bytes
        )
    }
}

/// What a link has attached here.
#[derive(Debug)]
pub(crate) struct Attachments {
    most: MostAttached,
    open: Mutex<Open>,
}

/// Descriptors that have come, by their numbers. Some may have been closed since.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<i32, OpenFile>,
    bytes: u128,
}

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenFile {
    device: u64,
    inode: u64,
    bytes: u64,
}

impl Attachments {
    pub(crate) fn new(most: MostAttached) -> Self {
        Attachments {
            most,
            open: Mutex::default(),
        }
    }

    /// Counts descriptors that have come, as long as they are open. They are not to be kept if this says why they are too many.
    pub(crate) fn add(&self, descriptors: &[TakenDescriptor]) -> Result<(), String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for descriptor in descriptors {
            let (number, file) = open_file(descriptor)?;
            open.insert(number, file);
        }
        if open.is_within(self.most) {
            return Ok(());
        }
        open.look();
        if open.is_within(self.most) {
            return Ok(());
        }
        let Open { files, bytes } = &*open;
        let text = format!(
            "with it {} descriptors of {bytes} bytes that have come over this link would be open here, and {} are the most: drop some of what \
             came before, or allow more by `most_attached` at this side",
            files.len(),
            self.most
        );
        for descriptor in descriptors {
            if let Ok((number, _)) = open_file(descriptor) {
                open.remove(number);
            }
        }
        Err(text)
    }
}

impl Open {
    fn insert(&mut self, number: i32, file: OpenFile) {
        self.remove(number);
        self.bytes += u128::from(file.bytes);
        self.files.insert(number, file);
    }

    fn remove(&mut self, number: i32) {
        if let Some(file) = self.files.remove(&number) {
            self.bytes -= u128::from(file.bytes);
        }
    }

    fn is_within(&self, most: MostAttached) -> bool {
        self.files.len() <= most.descriptors && self.bytes <= u128::from(most.bytes)
    }

    /// Forgets those that were closed, and sees how large the others are now.
    fn look(&mut self) {
        self.files.retain(|number, file| file.is_still(*number));
        let bytes = self.files.values().map(|file| u128::from(file.bytes));
        self.bytes = bytes.sum();
    }
}

#[cfg(target_os = "linux")]
fn open_file(descriptor: &TakenDescriptor) -> Result<(i32, OpenFile), String> {
    use std::os::fd::AsRawFd;
    let stat = fstat(descriptor).map_err(|error| format!("its size cannot be had: {error}"))?;
    Ok((descriptor.as_raw_fd(), file_of(&stat)))
}

#[cfg(target_os = "linux")]
fn file_of(stat: &Stat) -> OpenFile {
    OpenFile {
        device: stat.st_dev,
        inode: stat.st_ino,
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
    }
}

#[cfg(target_os = "linux")]
impl OpenFile {
    /// Whether a descriptor of this process still stands for it, and how large it is now. It does if the system does not say.
    fn is_still(&mut self, number: i32) -> bool {
        let Ok(now) = stat(format!("/proc/self/fd/{number}")) else {
            return stat("/proc/self/fd").is_err();
        };
        let now = file_of(&now);
        self.bytes = now.bytes;
        *self == now
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open_file(_: &TakenDescriptor) -> Result<(i32, OpenFile), String> {
    Err("no descriptors come on this system".to_owned())
}

#[cfg(not(unix))]
fn open_file(descriptor: &TakenDescriptor) -> Result<(i32, OpenFile), String> {
    match *descriptor {}
}

#[cfg(not(target_os = "linux"))]
impl OpenFile {
    fn is_still(&mut self, _: i32) -> bool {
        true
    }
}
