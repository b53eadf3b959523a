//! So many bytes that processes share.

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use crate::arena::{Arena, ArenaPlace};
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::home::Allocation;

/// So many bytes in memory that several processes share.
///
/// Another process may write there at any time, so there is no `&[u8]` to it: bytes are copied, or read and written as atomic numbers. A copy is
/// not one step for those who write meanwhile; where that matters, a [`Mutex`](crate::Mutex) or an atomic number says whose turn it is.
///
/// Each process has it mapped where there is room. It is gone with the last process that has it.
///
/// # Ordering
///
/// Copies order nothing. What one process has written is seen by another one that has learned of it in an orderly way: by an atomic number here, or
/// by a lock, an event or a message.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::sync::atomic::Ordering;
/// use tamtam_ipc::SharedBytes;
///
/// let picture = SharedBytes::create(1 << 20)?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = SharedBytes::attach(picture.memory().try_clone_to_owned()?)?;
///
/// picture.write_at(4096, b"pixels")?;
/// picture.atomic_u64(0)?.store(6, Ordering::Release);
///
/// let count = there.atomic_u64(0)?.load(Ordering::Acquire);
/// let mut bytes = vec![0; count as usize];
/// there.read_at(4096, &mut bytes)?;
/// assert_eq!(bytes, b"pixels");
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// There is no safe way to a slice:
///
/// ```compile_fail,E0133
/// let bytes = tamtam_ipc::SharedBytes::create(16).unwrap();
/// let slice: &[u8] = bytes.as_slice(0..16).unwrap();
/// ```
///
/// ```compile_fail,E0277
/// fn is_slice<T: AsRef<[u8]>>() {}
/// is_slice::<tamtam_ipc::SharedBytes>();
/// ```
pub struct SharedBytes {
    allocation: Allocation,
}

impl SharedBytes {
    fn shape(len: u64) -> Shape {
        Shape {
            size: 1,
            align: 1,
            capacity: len,
            name: "u8".to_owned(),
        }
    }

    fn created(arena: Option<&Arena>, len: usize) -> Result<Self, CreateError> {
        let shape = Self::shape(len as u64);
        let allocation = Allocation::create(arena, Kind::Bytes, shape, len)?;
        Ok(SharedBytes { allocation })
    }

    /// So many new bytes, all zero, in memory of their own. [`Arena::shared_bytes`] makes some beside other things.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create(len: usize) -> Result<Self, CreateError> {
        Self::created(None, len)
    }

    /// The bytes that another process has made, by the descriptor of their memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let allocation = Allocation::attach(memory, Kind::Bytes, &Self::shape(0))?;
        Ok(SharedBytes { allocation })
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        let shape = Self::shape(0);
        let allocation = Allocation::attach_at(arena, place, Kind::Bytes, &shape)?;
        Ok(SharedBytes { allocation })
    }

    /// Where they lie in their [`Arena`]; none if they have memory of their own.
    #[must_use]
    pub fn place(&self) -> Option<ArenaPlace> {
        self.allocation.home().place()
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// The memory, for another process; that of their arena if they lie in one.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.allocation.memory()
    }

    /// The number of type `T` at an offset, which was checked.
    fn number<T>(&self, offset: usize) -> NonNull<T> {
        let place = self.allocation.begin() + offset;
        self.allocation.segment().place(place)
    }

    fn read_checked(&self, offset: usize, to: &mut [u8]) {
        let place = self.allocation.begin() + offset;
        self.allocation.segment().read_bytes(place, to);
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.allocation.bytes()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn check(&self, offset: usize, len: usize, align: usize) -> Result<(), RangeError> {
        let end = offset.checked_add(len);
        if end.is_some_and(|end| end <= self.len()) && offset.is_multiple_of(align) {
            return Ok(());
        }
        Err(RangeError {
            offset,
            len,
            align,
            of: self.len(),
        })
    }

    /// Copies bytes out, from `offset` on. What another process writes meanwhile is seen, or not, byte by byte.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if not all of them lie here; then none is copied.
    pub fn read_at(&self, offset: usize, to: &mut [u8]) -> Result<(), RangeError> {
        self.check(offset, to.len(), 1)?;
        self.read_checked(offset, to);
        Ok(())
    }

    /// Copies bytes in, from `offset` on.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if they would not all lie here; then none is copied.
    pub fn write_at(&self, offset: usize, from: &[u8]) -> Result<(), RangeError> {
        self.check(offset, from.len(), 1)?;
        let place = self.allocation.begin() + offset;
        self.allocation.segment().write_bytes(place, from);
        Ok(())
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len()];
        self.read_checked(0, &mut bytes);
        bytes
    }

    /// The byte at `offset`, as an atomic number.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if it does not lie here.
    pub fn atomic_u8(&self, offset: usize) -> Result<&AtomicU8, RangeError> {
        self.check(offset, 1, 1)?;
        // SAFETY: it lies in the mapping, which lives as long as the segment that is borrowed; any byte is a number, and this crate writes it atomically
        // or by copies that the language does not see.
        Ok(unsafe { self.number::<AtomicU8>(offset).as_ref() })
    }

    /// The four bytes at `offset`, which is a multiple of four, as an atomic number in the machine's order of bytes.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if they do not all lie here, or `offset` is no multiple of four.
    pub fn atomic_u32(&self, offset: usize) -> Result<&AtomicU32, RangeError> {
        self.check(offset, 4, 4)?;
        // SAFETY: it lies in the mapping, aligned, which lives as long as the segment that is borrowed; any four bytes are a number, and this crate
        // writes them atomically or by copies that the language does not see.
        Ok(unsafe { self.number::<AtomicU32>(offset).as_ref() })
    }

    /// The eight bytes at `offset`, which is a multiple of eight, as an atomic number in the machine's order of bytes.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if they do not all lie here, or `offset` is no multiple of eight.
    pub fn atomic_u64(&self, offset: usize) -> Result<&AtomicU64, RangeError> {
        self.check(offset, 8, 8)?;
        // SAFETY: it lies in the mapping, aligned, which lives as long as the segment that is borrowed; any eight bytes are a number, and this crate
        // writes them atomically or by copies that the language does not see.
        Ok(unsafe { self.number::<AtomicU64>(offset).as_ref() })
    }

    /// A range of the bytes in place, without a copy.
    ///
    /// # Errors
    ///
    /// [`RangeError`] if not all of it lies here.
    ///
    /// # Safety
    ///
    /// - No process writes to any of these bytes while the slice is there: no one by [`write_at`](SharedBytes::write_at), none by an atomic number, and
    ///   none that has the descriptor by other means. So each process that has it is trusted.
    /// - What was written before has happened before, in the sense of the language: learned of by an acquire of a release.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// let bytes = tamtam_ipc::SharedBytes::create(64)?;
    /// bytes.write_at(10, b"read only from now on")?;
    /// // SAFETY: no other process has the memory, and this one writes no more.
    /// let words = unsafe { bytes.as_slice(10..14)? };
    /// assert_eq!(words, b"read");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub unsafe fn as_slice(&self, range: std::ops::Range<usize>) -> Result<&[u8], RangeError> {
        let len = range.end.saturating_sub(range.start);
        self.check(range.start, len, 1)?;
        if len == 0 {
            return Ok(&[]);
        }
        let first = self.number::<u8>(range.start).as_ptr();
        // SAFETY: so many bytes from there lie in the mapping, which lives as long as the segment that is borrowed; none of them is written to while
        // the slice is there, says the caller.
        Ok(unsafe { std::slice::from_raw_parts(first, len) })
    }
}

impl Arena {
    /// Makes [`SharedBytes`] in the arena: so many, all zero.
    ///
    /// # Errors
    ///
    /// [`CreateError::ArenaFull`] if there is no room for them, and [`CreateError::NotTheMaker`] if another process has made the arena.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::Arena;
    ///
    /// let arena = Arena::create(1 << 16)?;
    /// let picture = arena.shared_bytes(1000)?;
    /// let place = picture.place().unwrap();
    /// // The arena's descriptor and the place go to another process; here they stay in this one.
    /// let there = Arena::attach(arena.memory().try_clone_to_owned()?)?;
    /// there.shared_bytes_at(place)?.write_at(990, b"pixels")?;
    /// assert_eq!(picture.to_vec()[990..996], *b"pixels");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn shared_bytes(&self, len: usize) -> Result<SharedBytes, CreateError> {
        SharedBytes::created(Some(self), len)
    }

    /// The bytes at a place, which another process has [said](SharedBytes::place).
    ///
    /// # Errors
    ///
    /// [`AttachError`] if there are no such bytes, or none any more.
    pub fn shared_bytes_at(&self, place: ArenaPlace) -> Result<SharedBytes, AttachError> {
        SharedBytes::attach_at(self, place)
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.len();
        f.debug_struct("SharedBytes").field("len", &len).finish()
    }
}

/// The error of an access that would not lie in the [`SharedBytes`], or not be aligned.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// let bytes = tamtam_ipc::SharedBytes::create(64)?;
/// let error = bytes.atomic_u64(60).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "8 bytes at 60, aligned to 8, do not lie in 64 bytes"
/// );
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{len} bytes at {offset}, aligned to {align}, do not lie in {of} bytes")]
pub struct RangeError {
    /// Where the access begins, in bytes.
    pub offset: usize,
    /// How many bytes it is.
    pub len: usize,
    /// What `offset` is to be a multiple of.
    pub align: usize,
    /// How many bytes there are.
    pub of: usize,
}
