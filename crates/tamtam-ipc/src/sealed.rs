//! Bytes that no process can change any more: written once, then sealed by the kernel, and read in place by all that have them.
//!
//! What other processes can write must be copied before it is used. Where many read the same, or one keeps it, that is one copy too many: then the
//! kernel is asked to refuse all writing. It does so only while no process has the memory mapped for writing, so the writer unmaps it first.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals,
    memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{AttachError, CreateError};
use crate::segment::{LARGEST_SEGMENT, len_of_what_is_there, memory_of_this_machine};

/// What has to be sealed.
fn seals() -> SealFlags {
    SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL
}

/// Bytes in memory of their own, which no process can change: a `&[u8]`, whatever process has sent them. Clones are the same memory.
///
/// One process makes them, and sends the descriptor ([`memory`](SealedBytes::memory)), or the whole in a message to an actor. Any number of processes
/// read them in place; there is no limit, and none of them is a party whose death is noticed. They are gone with the last that has them.
///
/// Making them costs some system calls and pages of their own: they are for what many read, or what is kept.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::SealedBytes;
///
/// let picture = SealedBytes::create(6, |bytes| bytes.copy_from_slice(b"pixels"))?;
/// // The descriptor goes to another process; here it stays in this one.
/// let there = SealedBytes::attach(picture.memory().try_clone_to_owned()?)?;
/// assert_eq!(&there[..3], b"pix");
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct SealedBytes(Arc<Sealed>);

pub(crate) struct Sealed {
    mapping: MappedBytes,
    memory: OwnedFd,
}

/// Memory that is mapped as long as this is there; none if it has no bytes.
struct MappedBytes {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address of memory that belongs to this; what is done there is up to those who have this.
unsafe impl Send for MappedBytes {}
// SAFETY: it is an address of memory that belongs to this; shared references only read there.
unsafe impl Sync for MappedBytes {}

impl MappedBytes {
    fn new(memory: &OwnedFd, len: usize, writes: bool) -> io::Result<Self> {
        let dangling = NonNull::dangling();
        if len == 0 {
            // The system has no mapping without bytes.
            return Ok(MappedBytes {
                address: dangling,
                len,
            });
        }
        // A shared mapping of sealed memory is refused before Linux 6.7, also if it only reads. A private one that only reads is the same memory.
        let (protection, flags) = if writes {
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)
        } else {
            (ProtFlags::READ, MapFlags::PRIVATE)
        };
        // SAFETY: a new mapping, at an address that the system chooses, which nothing else uses.
        let address = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, memory, 0) }?;
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(MappedBytes { address, len })
    }
}

impl Drop for MappedBytes {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: it was mapped so, and what borrows from it is gone.
            let _ = unsafe { munmap(self.address.as_ptr().cast(), self.len) };
        }
    }
}

impl SealedBytes {
    /// So many bytes, which `write` fills in; they are zeroes before. Then they are sealed.
    ///
    /// # Panics
    ///
    /// If `write` does; nothing is left then.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory, or the system does not seal it.
    pub fn create(len: usize, write: impl FnOnce(&mut [u8])) -> Result<Self, CreateError> {
        if len > LARGEST_SEGMENT.min(memory_of_this_machine()) {
            return Err(CreateError::TooLarge { bytes: len });
        }
        let system = |doing: &'static str| {
            move |source: io::Error| CreateError::System {
                doing,
                bytes: len,
                source,
            }
        };
        let memory = memfd_create(
            "tamtam-sealed",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )
        .map_err(io::Error::from)
        .map_err(system("the system gives no memory to share"))?;
        if len > 0 {
            // All of it is reserved now: what is missing is an error here, and no signal later.
            fallocate(&memory, FallocateFlags::empty(), 0, len as u64)
                .map_err(io::Error::from)
                .map_err(system("there is not enough memory for it"))?;
        }
        {
            let mapping = MappedBytes::new(&memory, len, true);
            let mapping = mapping.map_err(system("it cannot be mapped"))?;
            // SAFETY: so many bytes are mapped for writing, and no other process and no other mapping has them: the descriptor is known here alone.
            write(unsafe { std::slice::from_raw_parts_mut(mapping.address.as_ptr(), len) });
        }
        // It is mapped nowhere for writing now.
        fcntl_add_seals(&memory, seals())
            .map_err(io::Error::from)
            .map_err(system("it cannot be sealed"))?;
        let mapping = MappedBytes::new(&memory, len, false);
        let mapping = mapping.map_err(system("it cannot be mapped"))?;
        Ok(SealedBytes(Arc::new(Sealed { mapping, memory })))
    }

    /// A copy of these bytes, sealed.
    ///
    /// # Errors
    ///
    /// As those of [`create`](SealedBytes::create).
    pub fn copy_of(bytes: &[u8]) -> Result<Self, CreateError> {
        SealedBytes::create(bytes.len(), |to| to.copy_from_slice(bytes))
    }

    /// Bytes that another process has sealed, by the descriptor of their memory. It need not be a program of tamtam.
    ///
    /// # Errors
    ///
    /// [`AttachError::NotSealed`] if a process could still change them, or make them fewer; [`AttachError::NotOurs`] if not all of them are there yet, so
    /// that reading could fail; and others.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let system =
            |doing: &'static str| move |source: io::Error| AttachError::System { doing, source };
        if !fcntl_get_seals(&memory).is_ok_and(|has| has.contains(seals())) {
            return Err(AttachError::NotSealed);
        }
        // No process can make a hole any more.
        let len = len_of_what_is_there(&memory)
            .map_err(system("its size cannot be asked for"))?
            .filter(|len| *len <= LARGEST_SEGMENT)
            .ok_or(AttachError::NotOurs)?;
        let mapping =
            MappedBytes::new(&memory, len, false).map_err(system("it cannot be mapped"))?;
        Ok(SealedBytes(Arc::new(Sealed { mapping, memory })))
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.0.memory.as_fd()
    }

    #[cfg(feature = "link")]
    pub(crate) fn lend(&self) -> Arc<Sealed> {
        Arc::clone(&self.0)
    }
}

impl AsFd for Sealed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }
}

impl Deref for SealedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let MappedBytes { address, len } = &self.0.mapping;
        // SAFETY: so many bytes are mapped as long as this is there, and no process can change them, nor make them fewer: they were sealed before they
        // were mapped, which the kernel takes back for none.
        unsafe { std::slice::from_raw_parts(address.as_ptr(), *len) }
    }
}

impl AsRef<[u8]> for SealedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SealedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedBytes")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
