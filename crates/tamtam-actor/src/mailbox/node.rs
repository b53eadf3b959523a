//! The memory that messages lie in: one node a message, kept by threads for the next one.
//!
//! A message between two actors of one thread allocates nothing: the node that the receiver has emptied is
//! the next one that a sender on that thread fills. Where one thread fills and another one empties, nodes
//! travel back through a shared store, 64 at a time, so that its lock is taken once for so many messages
//! (the idea is that of the magazines in Bonwick and Adams, *Magazines and Vmem*, 2001).

use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::AtomicPtr;

/// A message in a mailbox, and the way to the one behind it.
#[repr(C)]
pub(super) struct Node<M> {
    pub(super) next: AtomicPtr<Node<M>>,
    message: UnsafeCell<MaybeUninit<M>>,
}

impl<M> Node<M> {
    /// Puts a message into a node, if there is one. The thread that gets the node owns both.
    #[inline(always)]
    pub(super) fn new(message: Option<M>) -> NonNull<Self> {
        // So that there is nothing to be dropped should there be no memory: it would have to lie in memory for that.
        let message = message.map(ManuallyDrop::new);
        let node = memory::take::<Self>();
        // SAFETY: fresh memory of this layout, which no other thread knows.
        unsafe {
            node.as_ptr().write(Node {
                next: AtomicPtr::new(ptr::null_mut()),
                message: UnsafeCell::new(match message {
                    Some(message) => MaybeUninit::new(ManuallyDrop::into_inner(message)),
                    None => MaybeUninit::uninit(),
                }),
            });
        }
        node
    }

    /// A node without a message, which this thread is likely to [take back](Node::keep_own) itself.
    #[inline(always)]
    pub(super) fn new_own() -> *mut Self {
        let node = memory::take_own::<Self>().as_ptr();
        // SAFETY: fresh memory of this layout, which no other thread knows.
        unsafe {
            node.write(Node {
                next: AtomicPtr::new(ptr::null_mut()),
                message: UnsafeCell::new(MaybeUninit::uninit()),
            });
        }
        node
    }

    /// Where the message of a node lies.
    ///
    /// # Safety
    ///
    /// The node is alive, and the caller's.
    #[inline(always)]
    pub(super) unsafe fn place(node: *mut Self) -> *mut M {
        // SAFETY: the node is alive, says the caller.
        unsafe { &*node }.message.with_mut(<*mut _>::cast)
    }

    /// Gives the node's memory back.
    ///
    /// # Safety
    ///
    /// The node is in the caller's hands alone; its message, if there was one, was taken.
    #[inline]
    pub(super) unsafe fn free(node: *mut Self) {
        // SAFETY: the node is the caller's alone, and its message is out. Nothing in a node needs a drop, but loom counts
        // what it tracks.
        unsafe {
            ptr::drop_in_place(node);
            memory::give_back(NonNull::new_unchecked(node));
        }
    }

    /// Keeps a node as this thread's spare one; `false` if it is not to be kept. What is in its memory stays until the next one is [made](Node::new_own)
    /// on this thread.
    ///
    /// # Safety
    ///
    /// As for `free`; its message may be taken out just afterwards.
    #[inline(always)]
    pub(super) unsafe fn keep_own(node: *mut Self) -> bool {
        // SAFETY: it is the caller's, and not used any more but for its message.
        unsafe { memory::keep_own(NonNull::new_unchecked(node)) }
    }
}

/// The message in a place of its own. Where a function is called only sometimes that takes it in memory, the message
/// need not lie in memory otherwise.
#[inline(always)]
pub(crate) fn apart<M>(message: M) -> M {
    let message = ManuallyDrop::new(message);
    // SAFETY: a value of this type, which is not used afterwards.
    unsafe { ptr::read(&*message) }
}

/// Models and Miri look at each allocation on its own.
#[cfg(any(tamtam_loom, miri))]
pub(super) mod memory {
    use core::ptr::NonNull;

    pub(in crate::mailbox) use crate::memory::plain::{give_back, take, take as take_own};

    /// Each one is given back at once.
    pub(in crate::mailbox) unsafe fn keep_own<N>(_: NonNull<N>) -> bool {
        false
    }
}

#[cfg(not(any(tamtam_loom, miri)))]
pub(super) mod memory {
    use core::cell::{Cell, UnsafeCell};
    use core::ptr::{self, NonNull};
    use std::alloc::Layout;

    use tamtam_wait::seam::Mutex;

    use crate::memory::plain;
    use crate::memory::slabs::{ALIGN, Slabs};

    /// Sizes for which nodes are kept, in bytes; larger ones are the allocator's business.
    const SIZES: [usize; 4] = [64, 128, 192, 256];
    /// So many nodes travel at once between a thread and the store.
    const BATCH: usize = 64;
    /// The store keeps so many batches of each size; with them 1,024 nodes. They are those of 17 slabs if nodes came
    /// back in the order in which they were taken, and of as many slabs as nodes at worst.
    const MOST_BATCHES: usize = 16;

    /// Batches on their way from threads that empty mailboxes to those that fill them, and where more come from.
    struct NodeStore {
        batches: Vec<NodeBatch>,
        slabs: Slabs,
    }

    /// Nodes that are not in use. In an array, not a list: the next one is known without a look at memory that is still in
    /// another core's cache.
    struct NodeBatch(Box<[*mut u8; BATCH]>);

    // SAFETY: the nodes of a batch are in no thread's hands; the thread that takes the batch out has them alone.
    unsafe impl Send for NodeBatch {}

    static STORES: [Mutex<NodeStore>; SIZES.len()] = [
        new_store(SIZES[0]),
        new_store(SIZES[1]),
        new_store(SIZES[2]),
        new_store(SIZES[3]),
    ];

    const fn new_store(size: usize) -> Mutex<NodeStore> {
        Mutex::new(NodeStore {
            batches: Vec::new(),
            slabs: Slabs::new(size),
        })
    }

    /// What a thread keeps of one size: one batch to take from, in the order in which the nodes were kept, so
    /// that those that were neighbours in memory stay so; one to put into; and a full one besides, so that a
    /// thread that takes as many as it keeps never goes to the store, where it would get nodes out of other
    /// cores' caches.
    struct Shelf {
        taking: UnsafeCell<[*mut u8; BATCH]>,
        taken: Cell<usize>,
        spare: UnsafeCell<[*mut u8; BATCH]>,
        has_spare: Cell<bool>,
        keeping: UnsafeCell<[*mut u8; BATCH]>,
        kept: Cell<usize>,
    }

    /// What a thread keeps of all sizes. Without a destructor, so that each message finds it without a look whether that has run.
    struct Shelves {
        sizes: [Shelf; SIZES.len()],
        /// A node of the smallest size that this thread has kept last for itself, [`NO_SPARE`] if it is to keep none.
        spare: Cell<*mut u8>,
        stage: Cell<ShelfStage>,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum ShelfStage {
        NotBegun,
        Begun,
        /// The thread is ending: it keeps nothing any more.
        Ended,
    }

    /// In place of a number of kept nodes: none is kept before the shelves are begun, or when the thread is ending.
    const CLOSED: usize = BATCH + 1;

    /// In place of a spare node: see [`CLOSED`].
    const NO_SPARE: *mut u8 = ptr::without_provenance_mut(1);

    /// Empties the shelves.
    struct EndOfShelves;

    impl Drop for EndOfShelves {
        fn drop(&mut self) {
            SHELVES.with(Shelves::end);
        }
    }

    thread_local! {
        static SHELVES: Shelves = const {
            Shelves {
                sizes: [const {
                    Shelf {
                        taking: UnsafeCell::new([ptr::null_mut(); BATCH]),
                        taken: Cell::new(BATCH),
                        spare: UnsafeCell::new([ptr::null_mut(); BATCH]),
                        has_spare: Cell::new(false),
                        keeping: UnsafeCell::new([ptr::null_mut(); BATCH]),
                        kept: Cell::new(CLOSED),
                    }
                }; SIZES.len()],
                spare: Cell::new(NO_SPARE),
                stage: Cell::new(ShelfStage::NotBegun),
            }
        };
        static END: EndOfShelves = const { EndOfShelves };
    }

    /// This thread's, to be used there and then.
    #[inline(always)]
    fn shelves() -> NonNull<Shelves> {
        SHELVES.with(|shelves| NonNull::from(shelves))
    }

    /// As [`take`]: mostly what this thread has [kept](keep_own) last, which is in its core's cache.
    #[inline(always)]
    pub(in crate::mailbox) fn take_own<N>() -> NonNull<N> {
        if const { matches!(place_of(Layout::new::<N>()), Some(0)) } {
            // SAFETY: this thread's, used here and now.
            let place = unsafe { &shelves().as_ref().spare };
            let spare = place.get();
            if spare.addr() > NO_SPARE.addr() {
                place.set(ptr::null_mut());
                // SAFETY: it is no null.
                return unsafe { NonNull::new_unchecked(spare.cast()) };
            }
        }
        take()
    }

    /// Keeps a node to be taken next on this thread; `false` if it is not to be kept.
    ///
    /// # Safety
    ///
    /// As for `give_back`, if so.
    #[inline(always)]
    pub(in crate::mailbox) unsafe fn keep_own<N>(node: NonNull<N>) -> bool {
        // SAFETY: this thread's, used here and now.
        let place = unsafe { &shelves().as_ref().spare };
        let fits = const { matches!(place_of(Layout::new::<N>()), Some(0)) };
        if fits && place.get().is_null() {
            place.set(node.as_ptr().cast());
            return true;
        }
        false
    }

    /// The place of a layout among the sizes; known at compile time.
    const fn place_of(layout: Layout) -> Option<usize> {
        if layout.align() > ALIGN {
            return None;
        }
        let mut place = 0;
        while place < SIZES.len() {
            if layout.size() <= SIZES[place] {
                return Some(place);
            }
            place += 1;
        }
        None
    }

    /// One that was on no shelf.
    #[cold]
    fn take_one(place: usize) -> *mut u8 {
        let mut node = [ptr::null_mut()];
        STORES[place].lock().slabs.take(&mut node);
        node[0]
    }

    /// # Safety
    ///
    /// These nodes are of this place, and in no thread's hands.
    #[cold]
    unsafe fn free_all(nodes: &[*mut u8], place: usize) {
        if !nodes.is_empty() {
            // SAFETY: these nodes are from the slabs of this place, and no other thread has them.
            unsafe { STORES[place].lock().slabs.give_back(nodes) };
        }
    }

    /// Memory for a node.
    #[inline(always)]
    pub(in crate::mailbox) fn take<N>() -> NonNull<N> {
        let memory = match const { place_of(Layout::new::<N>()) } {
            None => return plain::take(),
            // SAFETY: this thread's, used here and now.
            Some(place) => unsafe { shelves().as_ref() }.sizes[place].take(place),
        };
        // SAFETY: allocators return no null; that was checked.
        unsafe { NonNull::new_unchecked(memory.cast()) }
    }

    /// Takes a node's memory back.
    ///
    /// # Safety
    ///
    /// It came from [`take`] of the same type, and is not used any more.
    #[inline]
    pub(in crate::mailbox) unsafe fn give_back<N>(node: NonNull<N>) {
        let memory = node.as_ptr().cast::<u8>();
        match const { place_of(Layout::new::<N>()) } {
            // SAFETY: the memory came from `plain::take`, as that of each type without a place does, and is not used any
            // more.
            None => unsafe { plain::give_back(node) },
            Some(place) => {
                // SAFETY: these are this thread's, used here and now; memory of this size, in no other thread's hands.
                unsafe { shelves().as_ref().sizes[place].keep(memory, place) };
            }
        }
    }

    impl Shelf {
        #[inline(always)]
        fn take(&self, place: usize) -> *mut u8 {
            let taken = self.taken.get();
            if taken == BATCH {
                return self.fetch(place);
            }
            self.taken.set(taken + 1);
            // SAFETY: a shelf is used by its thread only, and never while it is being used.
            unsafe { (*self.taking.get())[taken] }
        }

        /// From elsewhere than the batch to take from, which is used up.
        #[inline(never)]
        fn fetch(&self, place: usize) -> *mut u8 {
            let kept = self.kept.get();
            // SAFETY: these arrays are this thread's own, and no other reference to one is alive: neither `take` nor `keep`
            // keeps any.
            let taking = unsafe { &mut *self.taking.get() };
            if self.has_spare.replace(false) {
                // SAFETY: the two are different arrays of this thread's own, and no other reference to one is alive.
                core::mem::swap(taking, unsafe { &mut *self.spare.get() });
            } else if kept == BATCH {
                // SAFETY: the two are different arrays of this thread's own, and no other reference to one is alive.
                core::mem::swap(taking, unsafe { &mut *self.keeping.get() });
                self.kept.set(0);
            } else if kept != 0 && kept != CLOSED {
                // Where few go round, the one that was kept last is the next: without a look at the store.
                self.kept.set(kept - 1);
                // SAFETY: the array is this thread's own, no reference to it is alive, and `kept - 1` is below its length.
                return unsafe { (*self.keeping.get())[kept - 1] };
            } else {
                return self.fetch_stored(place);
            }
            self.taken.set(0);
            self.take(place)
        }

        /// This thread has none.
        #[cold]
        #[inline(never)]
        fn fetch_stored(&self, place: usize) -> *mut u8 {
            if !Shelves::are_begun() {
                return take_one(place);
            }
            // SAFETY: the array is this thread's own, and no other reference to it is alive.
            let taking = unsafe { &mut *self.taking.get() };
            let stored = {
                let mut store = STORES[place].lock();
                let stored = store.batches.pop();
                if stored.is_none() {
                    store.slabs.take(taking);
                }
                stored
            };
            if let Some(batch) = stored {
                *taking = *batch.0;
            }
            self.taken.set(0);
            self.take(place)
        }

        /// # Safety
        ///
        /// Memory of this place that is not in use.
        #[inline]
        unsafe fn keep(&self, memory: *mut u8, place: usize) {
            if self.kept.get() >= BATCH && !self.store(place) {
                // SAFETY: the memory is from the slabs of this place, and no other thread has it.
                return unsafe { free_all(&[memory], place) };
            }
            let kept = self.kept.get();
            // SAFETY: the array is this thread's own, no reference to it is alive, and `kept` is below its length: a full
            // one was stored.
            unsafe { (*self.keeping.get())[kept] = memory };
            self.kept.set(kept + 1);
        }

        /// What was kept is a batch: it is to be taken from here, or goes to the store. `false` if nothing is to be kept.
        #[cold]
        #[inline(never)]
        fn store(&self, place: usize) -> bool {
            if self.kept.get() == CLOSED {
                return Shelves::are_begun();
            }
            // SAFETY: the array is this thread's own, and no other reference to it is alive.
            let keeping = unsafe { &mut *self.keeping.get() };
            self.kept.set(0);
            // SAFETY: the two are different arrays of this thread's own, and no other reference to one is alive.
            let spare = unsafe { &mut *self.spare.get() };
            core::mem::swap(keeping, spare);
            if !self.has_spare.replace(true) {
                return true;
            }
            // There was one already: that is one too many.
            let batch = NodeBatch(Box::new(*keeping));
            let mut store = STORES[place].lock();
            if store.batches.len() < MOST_BATCHES {
                store.batches.push(batch);
            } else {
                // SAFETY: the batch is this thread's.
                unsafe { store.slabs.give_back(&*batch.0) };
            }
            true
        }
    }

    impl Shelves {
        /// Whether this thread keeps nodes: from the first time that it is asked until the thread ends.
        #[cold]
        fn are_begun() -> bool {
            SHELVES.with(|shelves| {
                if shelves.stage.get() == ShelfStage::NotBegun {
                    // So that they are emptied; not if it is too late for that.
                    shelves.open(END.try_with(|_| ()).is_ok());
                }
                shelves.stage.get() == ShelfStage::Begun
            })
        }

        fn open(&self, is_in_time: bool) {
            if !is_in_time {
                return self.stage.set(ShelfStage::Ended);
            }
            self.stage.set(ShelfStage::Begun);
            self.spare.set(ptr::null_mut());
            for shelf in &self.sizes {
                shelf.kept.set(0);
            }
        }

        /// Gives back what is kept.
        fn end(&self) {
            self.stage.set(ShelfStage::Ended);
            let spare = self.spare.replace(NO_SPARE);
            if !spare.is_null() {
                // SAFETY: it is of this place, and was this thread's.
                unsafe { free_all(&[spare], 0) };
            }
            for (place, shelf) in self.sizes.iter().enumerate() {
                let (taken, kept) = (shelf.taken.replace(BATCH), shelf.kept.replace(CLOSED));
                let spare = if shelf.has_spare.replace(false) {
                    BATCH
                } else {
                    0
                };
                // SAFETY: these arrays are this thread's own, and no reference to one is alive; the nodes in them are this thread's.
                unsafe {
                    free_all(&(&*shelf.taking.get())[taken..], place);
                    free_all(&(&*shelf.keeping.get())[..kept], place);
                    free_all(&(&*shelf.spare.get())[..spare], place);
                }
            }
        }
    }
}
