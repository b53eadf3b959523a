//! The operations of a select.

use core::cell::Cell;

use tamtam_wait::Source;

/// One operation of a select.
#[derive(Clone, Copy)]
pub(super) struct Handle<'a> {
    pub(super) source: &'a dyn Source,
    /// The end that was passed in, by its address.
    pub(super) end: *const (),
    /// The number by which the user knows the operation.
    pub(super) index: u32,
    pub(super) direction: Direction,
    /// The source has a [`mark`](Source::mark).
    pub(super) is_marked: bool,
    /// The thread that added it, by an address of its own: it has the end. Or what the source's mark was when the wait
    /// began: such a source gives no message that another thread must not drop. An operation takes 40 bytes, so that
    /// many have no memory.
    pub(super) thread_or_mark: u64,
}

impl Handle<'_> {
    /// A wait begins.
    pub(super) fn begin(&mut self) {
        if self.is_marked {
            self.thread_or_mark = self.source.mark();
        }
    }

    /// Whether the source has let pass who waited since the wait began, whether it is ready now or not.
    pub(super) fn is_past(&self) -> bool {
        self.is_marked && self.source.mark() != self.thread_or_mark
    }
}

/// What an operation does; two operations on one end differ by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

/// So many operations need no allocation.
pub(super) const INLINE: usize = 8;

/// The operations: the first few inline.
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "sparing the allocation is what the inline variant is for"
)]
pub(super) enum Handles<'a> {
    Inline([Option<Handle<'a>>; INLINE], usize),
    Heap(Vec<Option<Handle<'a>>>),
}

impl<'a> Handles<'a> {
    pub(super) fn as_mut_slice(&mut self) -> &mut [Option<Handle<'a>>] {
        match self {
            Handles::Inline(handles, length) => &mut handles[..*length],
            Handles::Heap(handles) => handles,
        }
    }

    pub(super) fn as_slice(&self) -> &[Option<Handle<'a>>] {
        match self {
            Handles::Inline(handles, length) => &handles[..*length],
            Handles::Heap(handles) => handles,
        }
    }

    /// A place behind the others, in which an operation is made: one that was made elsewhere would be read before its parts are
    /// written, which takes as long as all else.
    #[inline]
    pub(super) fn add(&mut self) -> &mut Option<Handle<'a>> {
        if matches!(self, Handles::Inline(_, INLINE)) {
            self.move_to_heap();
        }
        match self {
            Handles::Inline(handles, length) => {
                *length += 1;
                &mut handles[*length - 1]
            }
            Handles::Heap(handles) => {
                handles.push(None);
                let last = handles.len() - 1;
                &mut handles[last]
            }
        }
    }

    #[cold]
    pub(super) fn move_to_heap(&mut self) {
        // Who has more than a few has many: so they do not move again at once.
        let mut handles = Vec::with_capacity(4 * INLINE);
        handles.extend_from_slice(self.as_slice());
        *self = Handles::Heap(handles);
    }

    pub(super) fn remove(&mut self, position: usize) {
        match self {
            Handles::Inline(handles, length) => {
                handles[position..*length].rotate_left(1);
                *length -= 1;
                handles[*length] = None;
            }
            Handles::Heap(handles) => {
                handles.remove(position);
            }
        }
    }
}

/// Tells this thread from all others that run now. Zero while its locals are being dropped: then it is taken
/// for another one, and what is abandoned is leaked.
#[inline]
pub(super) fn this_thread() -> usize {
    thread_local! {
        static MARK: Cell<u8> = const { Cell::new(0) };
    }
    MARK.try_with(|mark| core::ptr::from_ref(mark).addr())
        .unwrap_or(0)
}
