//! Where a thing lies that processes share: in memory of its own, or in a region of an arena, beside others.

use std::os::fd::{BorrowedFd, OwnedFd};

use crate::arena::{Arena, ArenaPlace, Identity, Region};
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::party::Stay;
use crate::segment::Segment;
use crate::tenancy::{Tenancy, Tenant};

/// The generation of what has a segment of its own.
const ONLY: u64 = 1;
/// So much of a region is filled with zeroes at a time.
const ZEROES: [u8; 4096] = [0; 4096];

/// Where a thing lies.
#[derive(Debug)]
pub(crate) enum Home {
    /// In memory of its own.
    Segment(Segment),
    /// Among others.
    Region(Region),
}

impl Home {
    #[inline]
    pub(crate) fn segment(&self) -> &Segment {
        match self {
            Home::Segment(segment) => segment,
            Home::Region(region) => region.segment(),
        }
    }

    /// Where in the segment it begins, and how many bytes it has.
    pub(crate) fn extent(&self) -> (usize, usize) {
        match self {
            Home::Segment(segment) => (0, segment.bytes()),
            Home::Region(region) => (region.begin(), region.bytes()),
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        match self {
            Home::Segment(_) => ONLY,
            Home::Region(region) => region.generation(),
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Home::Segment(segment) => segment.header().shape().capacity,
            Home::Region(region) => region.shape().capacity,
        }
    }

    /// Where it lies in its arena, if it lies in one.
    pub(crate) fn place(&self) -> Option<ArenaPlace> {
        match self {
            Home::Segment(_) => None,
            Home::Region(region) => Some(region.place()),
        }
    }

    /// Which arena it lies in.
    pub(crate) fn arena(&self) -> Option<Identity> {
        match self {
            Home::Segment(_) => None,
            Home::Region(region) => Some(region.arena()),
        }
    }

    /// Who has it, of one that begins with that and is large enough for it.
    pub(crate) fn tenancy(&self) -> &Tenancy {
        // SAFETY: `place` sees that it lies in the segment; zeroes and any other bytes are a tenancy, and all access to it is atomic.
        unsafe { self.segment().place::<Tenancy>(self.extent().0).as_ref() }
    }

    /// This process has it from now on; `false` if it is over.
    pub(crate) fn enter(&self) -> bool {
        let entrance = self.segment().entrance();
        self.tenancy()
            .enter(entrance, self.generation(), self.tenant())
    }

    pub(crate) fn tenant(&self) -> Tenant {
        let Stay { place, count } = self.segment().member().stay();
        Tenant { place, count }
    }
}

/// Memory for one thing that has no ends, as this process holds it: all of a segment, or a region behind the words that say who has it.
#[derive(Debug)]
pub(crate) struct Allocation {
    home: Home,
    /// Where in the segment the thing begins, as seen once.
    begin: usize,
    bytes: usize,
    /// It is counted among those that have the region.
    holds: bool,
}

/// What a region has in front of the thing.
const FRONT: usize = size_of::<Tenancy>();

impl Allocation {
    fn of(segment: Segment) -> Self {
        Allocation {
            begin: 0,
            bytes: segment.bytes(),
            home: Home::Segment(segment),
            holds: false,
        }
    }

    /// Of a region that is at least as large as its front.
    fn in_region(region: Region) -> Self {
        let home = Home::Region(region);
        let (begin, bytes) = home.extent();
        let holds = home.enter();
        Allocation {
            home,
            begin: begin + FRONT,
            bytes: bytes - FRONT,
            holds,
        }
    }

    /// So many new bytes, all zero, in memory of their own or in an arena.
    pub(crate) fn create(
        arena: Option<&Arena>,
        kind: Kind,
        shape: Shape,
        bytes: usize,
    ) -> Result<Self, CreateError> {
        let Some(arena) = arena else {
            return Ok(Self::of(Segment::create(kind, shape, bytes)?));
        };
        let Some(needed) = bytes.checked_add(FRONT) else {
            return Err(CreateError::TooLarge { bytes });
        };
        let home = Home::Region(arena.take(kind, shape, needed)?);
        let begin = home.extent().0 + FRONT;
        for done in (0..bytes).step_by(ZEROES.len()) {
            let some = ZEROES.len().min(bytes - done);
            home.segment().write_bytes(begin + done, &ZEROES[..some]);
        }
        home.tenancy().begin(home.generation());
        // A process that writes there now keeps it from being held, and gets at no more than it has: the maker has not left the region.
        let holds = home.enter();
        Ok(Allocation {
            home,
            begin,
            bytes,
            holds,
        })
    }

    /// Memory that another process has made, which should be this.
    pub(crate) fn attach(memory: OwnedFd, kind: Kind, shape: &Shape) -> Result<Self, AttachError> {
        Ok(Self::of(Segment::attach(memory, kind, shape)?))
    }

    /// What is at a place of an arena, which should be this.
    pub(crate) fn attach_at(
        arena: &Arena,
        place: ArenaPlace,
        kind: Kind,
        shape: &Shape,
    ) -> Result<Self, AttachError> {
        let region = arena.region(place, kind, shape)?;
        if region.bytes() < FRONT {
            return Err(AttachError::NotOurs);
        }
        Self::in_region(region).held()
    }

    /// Unless there is something else by now.
    fn held(self) -> Result<Self, AttachError> {
        if self.holds {
            Ok(self)
        } else {
            Err(AttachError::Over)
        }
    }

    /// The same once more; `None` if it has memory of its own.
    pub(crate) fn again(&self) -> Option<Result<Self, AttachError>> {
        match &self.home {
            Home::Segment(_) => None,
            Home::Region(region) => Some(Self::in_region(region.again()).held()),
        }
    }

    #[inline]
    pub(crate) fn segment(&self) -> &Segment {
        self.home.segment()
    }

    /// Where in the segment the thing begins.
    #[inline]
    pub(crate) fn begin(&self) -> usize {
        self.begin
    }

    /// How many bytes it has.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.segment().memory()
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.holds {
            self.home.tenancy().leave(self.home.tenant());
        }
    }
}
