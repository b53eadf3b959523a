//! How far a worker has got, in memory that outlives it: which message it has begun, how many it is done with, and whether it waits for room.
//!
//! The words are written for each message, so they are stores to memory that the parent shares, and no system calls. The parent reads
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
    /// 1 while the actor handles no message, since there is no room for what it has sent.
    waits_for_room: AtomicU64,
}

/// What the words say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) begun: u64,
    pub(crate) done: u64,
    pub(crate) waits_for_room: bool,
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

    /// How far the worker has got. It may have written what it likes: see [`Death`](tamtam_link::Death).
    pub(crate) fn read(&self) -> Reached {
        let mut words = [0; 24];
        match rustix::io::pread(&self.0, &mut words, 0) {
            Ok(24) => {}
            // It was cut short.
            _ => return Reached::default(),
        }
        let word = |at: usize| {
            let bytes = words[at * 8..].first_chunk();
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        Reached {
            begun: word(0),
            done: word(1),
            waits_for_room: word(2) != 0,
        }
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

    /// The actor handles no message until there is room for what it has sent, or does again.
    pub(crate) fn wait_for_room(&self, waits: bool) {
        let word = &self.words().waits_for_room;
        let waits = u64::from(waits);
        // Mostly it is as it was.
        if word.load(Ordering::Relaxed) != waits {
            word.store(waits, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_says_is_read_by_its_parent() {
        let watched = Watched::new().unwrap();
        assert_eq!(watched.read(), Reached::default());
        let memory = watched.fd().try_clone_to_owned().unwrap();
        let progress = Progress::map(&memory).unwrap();
        progress.begin(7);
        progress.done(6);
        let mut reached = Reached {
            begun: 7,
            done: 6,
            waits_for_room: false,
        };
        assert_eq!(watched.read(), reached);
        for waits in [true, true, false] {
            progress.wait_for_room(waits);
            reached.waits_for_room = waits;
            assert_eq!(watched.read(), reached);
        }
    }

    #[test]
    fn memory_that_was_cut_short_says_nothing() {
        let watched = Watched::new().unwrap();
        ftruncate(watched.fd(), 3).unwrap();
        assert_eq!(watched.read(), Reached::default());
        let memory = watched.fd().try_clone_to_owned().unwrap();
        assert!(Progress::map(&memory).is_err());
    }
}
