//! Where readers say what they read: *hazard slots* (Michael, "Hazard Pointers: Safe Memory
//! Reclamation for Lock-Free Objects", 2004).
//!
//! A thread that reads has a record with a few slots of its own, one for each read that is going on
//! at once. Records are never freed: a thread that ends leaves its record to a later one. A writer that
//! has replaced a value looks at the slots of all records.

use core::ptr;

use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

#[cfg(tamtam_loom)]
pub(super) use model::{ClaimedRecord, Registry, is_time_to_calm_down};
#[cfg(not(tamtam_loom))]
pub(super) use system::{ClaimedRecord, Registry, is_time_to_calm_down};

/// What one read holds. `held` and `of` are written by the thread that has claimed the slot.
#[derive(Debug)]
pub(super) struct HazardSlot {
    /// The address of the value that is being read, or null.
    pub(super) held: AtomicPtr<()>,
    /// The property that was read last. Without it a value of another property, at an address where
    /// there was one of ours a moment ago, would look as if it were being read.
    pub(super) of: AtomicPtr<()>,
    /// The address of a replaced value of which the reader was given a share, to be dropped when
    /// it leaves; or null. Written under the lock of [`Registry::paying`], and taken out by a
    /// compare-and-swap.
    pub(super) paid: AtomicPtr<()>,
    /// The property whose value was paid. Written under the same lock.
    pub(super) payer: AtomicPtr<()>,
}

impl HazardSlot {
    #[cfg(tamtam_loom)]
    fn new() -> Self {
        let [held, of, paid, payer] = core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        HazardSlot {
            held,
            of,
            paid,
            payer,
        }
    }

    #[cfg(not(tamtam_loom))]
    const fn new() -> Self {
        HazardSlot {
            held: AtomicPtr::new(ptr::null_mut()),
            of: AtomicPtr::new(ptr::null_mut()),
            paid: AtomicPtr::new(ptr::null_mut()),
            payer: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Whether no read of the owning thread uses the slot: asked by that thread alone.
    #[inline(always)]
    fn is_free(&self) -> bool {
        self.held.load(Ordering::Relaxed).is_null()
    }
}

#[cfg(not(tamtam_loom))]
mod system {
    use core::ptr;
    use std::cell::Cell;

    use tamtam_wait::seam::atomic::{AtomicBool, AtomicPtr, Ordering};
    use tamtam_wait::seam::{Mutex, MutexGuard};

    use super::HazardSlot;

    /// Reads that one record has room for at once; those beyond claim a record for a moment.
    const SLOTS: usize = 3;

    /// A thread's slots: 128 bytes, which no other thread writes.
    #[repr(align(128))]
    struct Record {
        slots: [HazardSlot; SLOTS],
        /// The record that was made before this one. Never changes once the record is in the list.
        next: *const Record,
        claimed: AtomicBool,
    }

    const _: () = assert!(size_of::<Record>() == 128);

    // SAFETY: `next` is written before the record is shared; everything else is atomic.
    unsafe impl Send for Record {}
    // SAFETY: `next` is written before the record is shared, and not afterwards; everything else is atomic.
    unsafe impl Sync for Record {}

    /// The record that was made last; all others follow it.
    static RECORDS: AtomicPtr<Record> = AtomicPtr::new(ptr::null_mut());

    /// Held while payments are made: two writers that met at a slot would not know whose is whose.
    static PAYING: Mutex<()> = Mutex::new(());

    thread_local! {
        /// Apart from `HELD`, because a thread-local that has nothing to drop is read in one
        /// instruction.
        static RECORD: Cell<Option<&'static Record>> = const { Cell::new(None) };
        static HELD: HeldRecord = HeldRecord::take();
        static READS: Cell<u32> = const { Cell::new(0) };
    }

    /// Keeps the record for the thread until it ends.
    struct HeldRecord(&'static Record);

    impl HeldRecord {
        fn take() -> Self {
            let record = Record::claim();
            RECORD.set(Some(record));
            HeldRecord(record)
        }
    }

    impl Drop for HeldRecord {
        fn drop(&mut self) {
            // First of all: what is dropped after this may read, too.
            RECORD.set(None);
            self.0.give_back();
        }
    }

    fn records() -> impl Iterator<Item = &'static Record> {
        // SYNC records. Sequentially consistent, because a writer's look at the list is its first
        // look at the slots of a record that it does not know yet.
        let newest = RECORDS.load(Ordering::SeqCst).cast_const();
        // SAFETY: records in the list were leaked and are never freed.
        core::iter::successors(unsafe { newest.as_ref() }, |record| {
            // SAFETY: `next` is a record of the list, which was leaked and is never freed, or null.
            unsafe { record.next.as_ref() }
        })
    }

    impl Record {
        /// A record that no other thread has.
        #[cold]
        fn claim() -> &'static Record {
            for record in records() {
                // SYNC record-claimed
                if !record.claimed.load(Ordering::Relaxed)
                    && record
                        .claimed
                        .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok()
                {
                    return record;
                }
            }
            let new = Box::into_raw(Box::new(Record {
                slots: [const { HazardSlot::new() }; SLOTS],
                next: RECORDS.load(Ordering::Relaxed),
                claimed: AtomicBool::new(true),
            }));
            loop {
                // SAFETY: no other thread knows the record before it is in the list.
                let next = unsafe { (*new).next }.cast_mut();
                // SYNC records
                match RECORDS.compare_exchange_weak(next, new, Ordering::SeqCst, Ordering::Relaxed)
                {
                    // SAFETY: records are leaked and never freed.
                    Ok(_) => return unsafe { &*new },
                    Err(newest) => {
                        // SAFETY: the exchange has failed, so the record is not in the list yet, and this thread alone has
                        // it.
                        unsafe { (*new).next = newest };
                    }
                }
            }
        }

        fn give_back(&self) {
            // SYNC record-claimed
            self.claimed.store(false, Ordering::Release);
        }

        fn free_slot(&'static self) -> Option<&'static HazardSlot> {
            self.slots.iter().find(|slot| slot.is_free())
        }
    }

    /// All readers of the process.
    #[derive(Debug, Default)]
    pub(in super::super) struct Registry;

    /// A slot that this thread may write.
    pub(in super::super) struct ClaimedRecord<'a> {
        slot: &'a HazardSlot,
        /// To be given back at the end.
        temporary: Option<&'static Record>,
    }

    impl Registry {
        pub(in super::super) const fn new() -> Self {
            Registry
        }

        /// A slot for a read that begins.
        #[inline(always)]
        #[allow(
            clippy::unused_self,
            reason = "in the models each property has slots of its own"
        )]
        pub(in super::super) fn claim(&self) -> ClaimedRecord<'_> {
            if let Some(record) = RECORD.get()
                && record.slots[0].is_free()
            {
                return ClaimedRecord {
                    slot: &record.slots[0],
                    temporary: None,
                };
            }
            Self::claim_elsewhere()
        }

        /// The thread has no record yet, or reads within a read, or is ending.
        #[cold]
        #[inline(never)]
        fn claim_elsewhere() -> ClaimedRecord<'static> {
            let own = RECORD
                .get()
                .or_else(|| HELD.try_with(|held| held.0).ok())
                .and_then(Record::free_slot);
            match own {
                Some(slot) => ClaimedRecord {
                    slot,
                    temporary: None,
                },
                None => {
                    let record = Record::claim();
                    ClaimedRecord {
                        slot: &record.slots[0],
                        temporary: Some(record),
                    }
                }
            }
        }

        /// The slots of all readers, claimed or not.
        #[allow(
            clippy::unused_self,
            reason = "in the models each property has slots of its own"
        )]
        pub(in super::super) fn slots(&self) -> impl Iterator<Item = &HazardSlot> {
            records().flat_map(|record| record.slots.iter())
        }

        /// Waits for the right to write payments.
        #[allow(
            clippy::unused_self,
            reason = "in the models each property has slots of its own"
        )]
        pub(in super::super) fn paying(&self) -> MutexGuard<'_, ()> {
            PAYING.lock()
        }
    }

    impl ClaimedRecord<'_> {
        #[inline(always)]
        pub(in super::super) fn slot(&self) -> &HazardSlot {
            self.slot
        }
    }

    impl Drop for ClaimedRecord<'_> {
        #[inline(always)]
        fn drop(&mut self) {
            if let Some(record) = self.temporary {
                record.give_back();
            }
        }
    }

    /// True at every sixty-first call of a thread. A prime number, so that a thread that reads
    /// several properties in turn does not always ask for the same one.
    #[inline]
    pub(in super::super) fn is_time_to_calm_down() -> bool {
        let reads = READS.get().wrapping_add(1);
        READS.set(reads);
        reads.is_multiple_of(61)
    }
}

/// In the models the slots belong to a few properties, and reads claim them one by one.
#[cfg(tamtam_loom)]
mod model {
    use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
    use tamtam_wait::seam::{Arc, Mutex, MutexGuard};

    use super::HazardSlot;

    const SLOTS: usize = 2;

    #[derive(Debug)]
    struct ModelRecord {
        slot: HazardSlot,
        claimed: AtomicBool,
    }

    #[derive(Clone, Debug)]
    pub(in super::super) struct Registry(Arc<Shared>);

    #[derive(Debug)]
    struct Shared {
        places: [ModelRecord; SLOTS],
        paying: Mutex<()>,
    }

    pub(in super::super) struct ClaimedRecord<'a>(&'a ModelRecord);

    impl Registry {
        pub(in super::super) fn new() -> Self {
            Registry(Arc::new(Shared {
                places: core::array::from_fn(|_| ModelRecord {
                    slot: HazardSlot::new(),
                    claimed: AtomicBool::new(false),
                }),
                paying: Mutex::new(()),
            }))
        }

        pub(in super::super) fn claim(&self) -> ClaimedRecord<'_> {
            let place = self
                .0
                .places
                .iter()
                .find(|place| {
                    // SYNC record-claimed
                    place
                        .claimed
                        .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok()
                })
                .expect("the model has more reads at once than slots");
            assert!(place.slot.is_free());
            ClaimedRecord(place)
        }

        pub(in super::super) fn slots(&self) -> impl Iterator<Item = &HazardSlot> {
            self.0.places.iter().map(|place| &place.slot)
        }

        pub(in super::super) fn paying(&self) -> MutexGuard<'_, ()> {
            self.0.paying.lock()
        }

        /// At the end of a model: there are no readers, and no share was left behind.
        pub(in super::super) fn assert_empty(&self) {
            for slot in self.slots() {
                assert!(slot.held.load(Ordering::Relaxed).is_null());
                assert!(slot.paid.load(Ordering::Relaxed).is_null());
            }
        }
    }

    impl ClaimedRecord<'_> {
        pub(in super::super) fn slot(&self) -> &HazardSlot {
            &self.0.slot
        }
    }

    impl Drop for ClaimedRecord<'_> {
        fn drop(&mut self) {
            // SYNC record-claimed
            self.0.claimed.store(false, Ordering::Release);
        }
    }

    /// Models calm a property down themselves, where they want to.
    pub(in super::super) fn is_time_to_calm_down() -> bool {
        false
    }
}
