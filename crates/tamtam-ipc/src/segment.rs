//! A piece of memory that several processes share.
//!
//! It has no name: it is a descriptor, which goes over a socket, and is gone with the last process that has it. Its size was reserved when it
//! was made, and can never be changed, so no access to it lies beyond its end. Its pages can be given back by any process that has it (`fallocate(2)` punches
//! holes, and no seal that leaves the memory writable forbids it). They read as zeroes then, and are allocated anew for the next process that touches them, on its
//! account: where its memory is limited, such an access can fail as any first touch of memory can.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    fstatfs, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{AttachError, CreateError};
use crate::header::{Header, Kind, Shape};
use crate::party::{Member, Parties};
use crate::tenancy::Entrance;

/// No segment is larger, in bytes.
pub(crate) const LARGEST_SEGMENT: usize = 1 << 40;
/// So often another address is tried for the memory.
const ADDRESSES: usize = 16;

/// Where memory is mapped.
#[derive(Clone, Copy, Debug)]
struct Extent {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address; each access to what lies there is up to the one who makes it.
unsafe impl Send for Extent {}
// SAFETY: it is an address; each access to what lies there is up to the one who makes it.
unsafe impl Sync for Extent {}

/// Memory that is mapped, as long as this is there.
#[derive(Debug)]
pub(crate) struct Mapping(Extent);

impl Mapping {
    fn new(memory: &OwnedFd, len: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the system chooses, which nothing else uses.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                protection,
                MapFlags::SHARED,
                memory,
                0,
            )
        }?;
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Mapping(Extent { address, len }))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and what points there is gone with the segment.
        let _ = unsafe { munmap(self.0.address.as_ptr().cast(), self.0.len) };
    }
}

/// A segment, as one process has it: mapped, and with a place among the parties.
#[derive(Debug)]
pub(crate) struct Segment {
    // In this order they go: the place among the parties is given up while the memory is still there.
    member: Member,
    entrance: Entrance,
    extent: Extent,
    /// The wake thread may have it a moment longer.
    mapping: Arc<Mapping>,
    memory: OwnedFd,
}

/// Memory, and the page of nodes that belongs to the parties in it.
fn map(memory: &OwnedFd, len: usize) -> io::Result<(Mapping, crate::life::NodePage)> {
    // Those that had to be given up stay where they are until there is a better one, so that the next lies elsewhere.
    let mut given_up = Vec::new();
    while given_up.len() < ADDRESSES {
        let mapping = Mapping::new(memory, len)?;
        if let Some(nodes) = crate::life::NodePage::of(mapping.0.address)? {
            return Ok((mapping, nodes));
        }
        given_up.push(mapping);
    }
    Err(io::Error::new(
        io::ErrorKind::AddrNotAvailable,
        "no address for it has a free page 64 GiB or 8 TiB below",
    ))
}

/// In bytes. The system would not refuse to reserve more, but end processes when it finds no more.
pub(crate) fn memory_of_this_machine() -> usize {
    if cfg!(miri) {
        // The interpreter does not say.
        return usize::MAX;
    }
    let system = rustix::system::sysinfo();
    let units = usize::try_from(system.totalram).unwrap_or(usize::MAX);
    units.saturating_mul(system.mem_unit as usize)
}

/// How long memory is of which all is there. Where there is a hole the system would look for memory, and end this process if it finds none; and so it does
/// for what is made of large pages.
pub(crate) fn len_of_what_is_there(memory: &OwnedFd) -> io::Result<Option<usize>> {
    /// The units of a file's `st_blocks`, in bytes.
    const BLOCK: u64 = 512;
    /// The file system of memory in pages of the usual size, by its number (`linux/magic.h`).
    const TMPFS: u64 = 0x0102_1994;
    let stat = fstat(memory)?;
    let len = usize::try_from(stat.st_size).ok();
    let there = u64::try_from(stat.st_blocks)
        .unwrap_or(0)
        .saturating_mul(BLOCK);
    let is_usual = fstatfs(memory)?.f_type as u64 == TMPFS;
    Ok(len.filter(|len| is_usual && there >= *len as u64))
}

impl Segment {
    /// New memory for so many bytes behind the header, filled with zeroes.
    pub(crate) fn create(kind: Kind, shape: Shape, bytes: usize) -> Result<Self, CreateError> {
        let len = bytes
            .checked_add(Header::BYTES)
            .filter(|len| *len <= LARGEST_SEGMENT.min(memory_of_this_machine()))
            .ok_or(CreateError::TooLarge { bytes })?;
        let system = |doing: &'static str| {
            move |source: io::Error| CreateError::System {
                doing,
                bytes,
                source,
            }
        };
        let memory = memfd_create("tamtam", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .map_err(io::Error::from)
            .map_err(system("the system gives no memory to share"))?;
        // All of it is reserved now: what is missing is an error here, and no signal later.
        fallocate(&memory, FallocateFlags::empty(), 0, len as u64)
            .map_err(io::Error::from)
            .map_err(system("there is not enough memory for it"))?;
        fcntl_add_seals(
            &memory,
            SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
        )
        .map_err(io::Error::from)
        .map_err(system("its size cannot be sealed"))?;
        let (mapping, nodes) = map(&memory, len).map_err(system("it cannot be mapped"))?;
        // SAFETY: the memory begins with a page, is at least so large, was filled with zeroes, which is a valid header, and all access to a
        // header is atomic.
        let header = unsafe { mapping.0.address.cast::<Header>().as_ref() };
        header.write(kind, shape, bytes as u64);
        // SAFETY: the parties lie in the first page of the mapping, which is given up after the member is.
        let member = unsafe { Member::join(NonNull::from(header.parties()), nodes) };
        let member = member.map_err(|full| match full {
            None => unreachable!("new memory has room for its first party"),
            Some(source) => system("its end could not be noticed")(source),
        })?;
        Ok(Segment {
            member,
            entrance: Entrance::new(),
            extent: mapping.0,
            mapping: Arc::new(mapping),
            memory,
        })
    }

    /// Memory that another process has made, which should be this.
    pub(crate) fn attach(memory: OwnedFd, kind: Kind, shape: &Shape) -> Result<Self, AttachError> {
        let system =
            |doing: &'static str| move |source: io::Error| AttachError::System { doing, source };
        let seals = fcntl_get_seals(&memory);
        // Who could make it smaller could make each access to it a signal; and who could make it larger, more than was counted when it came.
        if !seals.is_ok_and(|seals| seals.contains(SealFlags::SHRINK | SealFlags::GROW)) {
            return Err(AttachError::NotSealed);
        }
        let len = len_of_what_is_there(&memory)
            .map_err(system("its size cannot be asked for"))?
            .filter(|len| (Header::BYTES..=LARGEST_SEGMENT).contains(len))
            .ok_or(AttachError::NotOurs)?;
        let (mapping, nodes) = map(&memory, len).map_err(system("it cannot be mapped"))?;
        // SAFETY: the memory begins with a page, is at least so large, any bytes are a valid header, and all access to a header is atomic.
        let header = unsafe { mapping.0.address.cast::<Header>().as_ref() };
        header.check(kind, shape, (len - Header::BYTES) as u64)?;
        // SAFETY: the parties lie in the first page of the mapping, which is given up after the member is.
        let member = unsafe { Member::join(NonNull::from(header.parties()), nodes) };
        let member = member.map_err(|full| match full {
            None => AttachError::Full,
            Some(source) => system("the end of this process could not be noticed")(source),
        })?;
        Ok(Segment {
            member,
            entrance: Entrance::new(),
            extent: mapping.0,
            mapping: Arc::new(mapping),
            memory,
        })
    }

    /// What is handed to another process.
    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the memory begins with a header, as was seen when it was made or attached, and is mapped as long as the segment is there.
        unsafe { self.extent.address.cast::<Header>().as_ref() }
    }

    /// The memory, which stays mapped as long as any has this.
    pub(crate) fn mapping(&self) -> Arc<Mapping> {
        Arc::clone(&self.mapping)
    }

    /// Where threads of this process enter what lies in it.
    pub(crate) fn entrance(&self) -> &Entrance {
        &self.entrance
    }

    /// This process among the parties.
    pub(crate) fn member(&self) -> &Member {
        &self.member
    }

    pub(crate) fn parties(&self) -> &Parties {
        self.member.parties()
    }

    /// Whether a process lives that has this place, by the lower bits of how often that was freed before.
    pub(crate) fn stays(&self, place: u32, count: u16) -> bool {
        let party = self.parties().get(place as usize);
        let life = party.and_then(|party| party.look());
        life.is_some_and(|(_, there)| there as u16 == count)
    }

    /// How many bytes lie behind the header.
    pub(crate) fn bytes(&self) -> usize {
        self.extent.len - Header::BYTES
    }

    /// What lies behind the header, so many bytes from there.
    ///
    /// # Panics
    ///
    /// If it would not lie in the segment, or not be aligned.
    pub(crate) fn place<T>(&self, offset: usize) -> NonNull<T> {
        let end = offset.checked_add(size_of::<T>());
        assert!(
            end.is_some_and(|end| end <= self.bytes())
                && offset.is_multiple_of(align_of::<T>())
                && align_of::<T>() <= 4096
        );
        // SAFETY: it lies in the mapping, as was just seen.
        unsafe { self.extent.address.add(Header::BYTES + offset).cast() }
    }
}
