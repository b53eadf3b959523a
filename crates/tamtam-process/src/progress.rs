//! How far a worker has got, in memory that outlives it: which message it has begun, and how many it is done with.
//!
//! The two words are written for each message, so they are stores to memory that the parent shares, and no system calls. The parent reads
//! them when the worker has died, by a call and not by a mapping: a worker that cuts its memory short harms itself alone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};

/// A page on the machines that there are, or a part of one.
const BYTES: usize = 4096;

/// The words, one behind the other.
#[repr(C)]
struct Words {
    /// Messages that were begun.
    begun: AtomicU64,
    /// Messages that were done with.
    done: AtomicU64,
}

/// The parent's side.
#[derive(Debug)]
pub(crate) struct Watched(OwnedFd);

impl Watched {
    /// New memory, of a worker that has begun nothing.
    pub(crate) fn new() -> io::Result<Self> {
        let memory = memfd_create("tamtam-progress", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, BYTES as u64)?;
        Ok(Watched(memory))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// How many messages the worker was done with, and how many it had begun. A worker may have written what it likes: see
    /// [`Death`](tamtam_link::Death).
    pub(crate) fn read(&self) -> (u64, u64) {
        let mut words = [0; 16];
        match rustix::io::pread(&self.0, &mut words, 0) {
            Ok(16) => {}
            // It was cut short.
            _ => return (0, 0),
        }
        let (begun, done) = words.split_at(8);
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        (word(done), word(begun))
    }
}

/// The worker's side.
#[derive(Debug)]
pub(crate) struct Progress {
    words: NonNull<Words>,
}

// SAFETY: the words are atomic, and stay mapped.
unsafe impl Send for Progress {}
// SAFETY: the words are atomic, and stay mapped.
unsafe impl Sync for Progress {}

impl Progress {
    /// Maps the memory, for as long as the process lives.
    pub(crate) fn map(memory: &OwnedFd) -> io::Result<Self> {
        let is_large_enough = rustix::fs::fstat(memory)?.st_size >= BYTES as i64;
        if !is_large_enough {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the memory for the worker's progress is too small",
            ));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the system chooses, which nothing else uses.
        let words = unsafe {
            mmap(
                std::ptr::null_mut(),
                BYTES,
                protection,
                MapFlags::SHARED,
                memory,
                0,
            )
        }?;
        let words = NonNull::new(words.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Progress { words })
    }

    fn words(&self) -> &Words {
        // SAFETY: the mapping is larger than the words, begins at a page, was filled with zeroes, is never undone, and all access to it
        // is atomic.
        unsafe { self.words.as_ref() }
    }

    /// So many messages were begun; before the last of them is.
    pub(crate) fn begin(&self, messages: u64) {
        // Whatever the message does comes behind it, also if it kills the process: a signal does not overtake a store.
        self.words().begun.store(messages, Ordering::Release);
    }

    /// So many messages were done with.
    pub(crate) fn done(&self, messages: u64) {
        self.words().done.store(messages, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_says_is_read_by_its_parent() {
        let watched = Watched::new().unwrap();
        assert_eq!(watched.read(), (0, 0));
        let memory = watched.fd().try_clone_to_owned().unwrap();
        let progress = Progress::map(&memory).unwrap();
        progress.begin(7);
        progress.done(6);
        assert_eq!(watched.read(), (6, 7));
    }

    #[test]
    fn memory_that_was_cut_short_says_nothing() {
        let watched = Watched::new().unwrap();
        ftruncate(watched.fd(), 3).unwrap();
        assert_eq!(watched.read(), (0, 0));
        let memory = watched.fd().try_clone_to_owned().unwrap();
        assert!(Progress::map(&memory).is_err());
    }
}
