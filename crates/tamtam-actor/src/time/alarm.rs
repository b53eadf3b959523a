//! What a timer is for, whatever its type is: in the timer's entry if it is small, else in a box of its own.

use core::any::Any;
use core::cell::Cell;
use core::marker::PhantomData;

use tamtam_wait::Inline;

use super::slab::Key;

/// So many words of a timer's entry are for what it is for: with them an entry is as long as a cache line.
const WORDS: usize = 3;

/// What happens when a timer is due.
///
/// What is called under the lock of the time runs nothing of the user's, and drops nothing.
pub(crate) trait Alarm: Send + Sized + 'static {
    /// Whether it happens more than once.
    const REPEATS: bool = false;

    /// It is due. `None`: it is taken out of the wheel, and rings itself. Else it stays there, where it can be cancelled, until
    /// its actor's turn has come; and what rings is this, which knocks at the actor. Called under the lock of the time.
    fn knock(&self) -> Option<AnyAlarm> {
        None
    }

    /// It was due, and was taken out; or it knocks for the one with this key. This may be the clock's thread.
    fn ring(self, _: Key) {}

    /// It has knocked, and `running` is the runner of its actor, which has its turn.
    fn happen(self, _: Key, _running: &mut dyn Any) {}

    /// Whether its actor has not stopped. Called under the lock of the time.
    fn is_open(&self) -> bool {
        true
    }

    /// The actor that it belongs to is gone.
    fn die(self) {}
}

/// An alarm of any type, or none.
#[derive(Default)]
pub(crate) struct AnyAlarm {
    kind: Option<&'static AlarmKind>,
    place: Inline<WORDS>,
    /// Alarms may go to other threads, but not be used by several.
    not_shared: PhantomData<Cell<()>>,
}

/// What is done with an alarm of one type. What they are called with has such an alarm inside; those that get it as `&mut`
/// use it up.
struct AlarmKind {
    repeats: bool,
    knock: unsafe fn(&Inline<WORDS>) -> Option<AnyAlarm>,
    is_open: unsafe fn(&Inline<WORDS>) -> bool,
    ring: unsafe fn(&mut Inline<WORDS>, Key),
    happen: unsafe fn(&mut Inline<WORDS>, Key, &mut dyn Any),
    die: unsafe fn(&mut Inline<WORDS>),
    drop: unsafe fn(&mut Inline<WORDS>),
}

/// The kind of alarms of this type.
struct KindOf<A>(PhantomData<A>);

impl<A: Alarm> KindOf<A> {
    const KIND: &'static AlarmKind = &AlarmKind {
        repeats: A::REPEATS,
        // SAFETY: the caller has an `A` in there.
        knock: |place| unsafe { place.get::<A>() }.knock(),
        // SAFETY: the caller has an `A` in there.
        is_open: |place| unsafe { place.get::<A>() }.is_open(),
        // SAFETY: the caller has an `A` in there, and does not use it afterwards.
        ring: |place, key| unsafe { place.take::<A>() }.ring(key),
        // SAFETY: the caller has an `A` in there, and does not use it afterwards.
        happen: |place, key, running| unsafe { place.take::<A>() }.happen(key, running),
        // SAFETY: the caller has an `A` in there, and does not use it afterwards.
        die: |place| unsafe { place.take::<A>() }.die(),
        // SAFETY: the caller has an `A` in there, and does not use it afterwards.
        drop: |place| unsafe { place.drop::<A>() },
    };
}

impl AnyAlarm {
    #[inline(always)]
    pub(crate) fn new<A: Alarm>(alarm: A) -> Self {
        let mut place = AnyAlarm::default();
        place.put(alarm);
        place
    }

    /// Puts an alarm where none is.
    #[inline(always)]
    pub(super) fn put<A: Alarm>(&mut self, alarm: A) {
        debug_assert!(self.kind.is_none());
        self.place.put(alarm);
        self.kind = Some(KindOf::<A>::KIND);
    }

    /// Takes the alarm out.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Self {
        core::mem::take(self)
    }

    pub(super) fn is_some(&self) -> bool {
        self.kind.is_some()
    }

    pub(super) fn repeats(&self) -> bool {
        self.kind.is_some_and(|kind| kind.repeats)
    }

    /// See [`Alarm::knock`].
    #[inline]
    pub(super) fn knock(&self) -> Option<AnyAlarm> {
        // SAFETY: the kind is that of the alarm inside.
        self.kind
            .and_then(|kind| unsafe { (kind.knock)(&self.place) })
    }

    /// See [`Alarm::is_open`].
    pub(super) fn is_open(&self) -> bool {
        // SAFETY: the kind is that of the alarm inside.
        (self.kind).is_none_or(|kind| unsafe { (kind.is_open)(&self.place) })
    }

    /// See [`Alarm::ring`].
    #[inline]
    pub(super) fn ring(mut self, key: Key) {
        if let Some(kind) = self.kind.take() {
            // SAFETY: the kind is that of the alarm inside, which is used up.
            unsafe { (kind.ring)(&mut self.place, key) }
        }
    }

    /// See [`Alarm::happen`].
    pub(crate) fn happen(mut self, key: Key, running: &mut dyn Any) {
        if let Some(kind) = self.kind.take() {
            // SAFETY: the kind is that of the alarm inside, which is used up.
            unsafe { (kind.happen)(&mut self.place, key, running) }
        }
    }

    /// See [`Alarm::die`].
    pub(crate) fn die(mut self) {
        if let Some(kind) = self.kind.take() {
            // SAFETY: the kind is that of the alarm inside, which is used up.
            unsafe { (kind.die)(&mut self.place) }
        }
    }
}

impl Drop for AnyAlarm {
    #[inline]
    fn drop(&mut self) {
        if let Some(kind) = self.kind.take() {
            // SAFETY: the kind is that of the alarm inside, which is used up.
            unsafe { (kind.drop)(&mut self.place) }
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts what becomes of it; `SIZE` bytes longer than it has to be.
    struct CountedAlarm<const SIZE: usize> {
        counts: Arc<[AtomicUsize; 4]>,
        _more: [u8; SIZE],
    }

    impl<const SIZE: usize> CountedAlarm<SIZE> {
        fn count(&self, place: usize) {
            self.counts[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    impl<const SIZE: usize> Alarm for CountedAlarm<SIZE> {
        fn ring(self, _: Key) {
            self.count(0);
        }

        fn happen(self, _: Key, running: &mut dyn Any) {
            assert_eq!(running.downcast_ref(), Some(&'r'));
            self.count(1);
        }

        fn die(self) {
            self.count(2);
        }
    }

    impl<const SIZE: usize> Drop for CountedAlarm<SIZE> {
        fn drop(&mut self) {
            self.count(3);
        }
    }

    fn each_is_dropped_once<const SIZE: usize>() {
        let counts: Arc<[AtomicUsize; 4]> = Arc::default();
        let alarm = || {
            AnyAlarm::new(CountedAlarm {
                counts: Arc::clone(&counts),
                _more: [0; SIZE],
            })
        };
        let (ringing, happening, dying) = (alarm(), alarm(), alarm());
        assert!(ringing.is_open() && !ringing.repeats());
        ringing.ring(Key::first());
        happening.happen(Key::first(), &mut 'r');
        dying.die();
        drop(alarm());
        let counts: Vec<_> = counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        assert_eq!(counts, [1, 1, 1, 4]);
    }

    #[test]
    fn alarms_in_place_and_in_boxes_ring_happen_die_and_are_dropped_once() {
        each_is_dropped_once::<0>();
        each_is_dropped_once::<16>();
        each_is_dropped_once::<17>();
        each_is_dropped_once::<1_000>();
    }
}
