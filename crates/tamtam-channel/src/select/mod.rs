//! Waiting for the first of several operations that are known only when the program runs; [`select!`](crate::select!) expands to
//! this.

mod handles;
mod moment;
mod order;
mod selected;
mod sleep;
mod waitable;

use core::fmt;
use std::time::{Duration, Instant};

use tamtam_wait::{CAN_BLOCK, Context, Habit, Patience, Source, Token, Wait};

use crate::error::{ReadyTimeoutError, SelectTimeoutError, TryReadyError, TrySelectError};
use crate::flavor::pace::Pace;
use crate::{Changed, Receiver, Sender, Slot};
use handles::{Direction, Handle, Handles, INLINE, this_thread};
use moment::none_was_ready;
use order::Order;
pub use selected::SelectedOperation;
use sleep::{Interest, Slept, sleep};
pub use waitable::{Sealed, Waitable};

/// Waits for several operations at once and carries out one that is ready.
///
/// The operations may be of any kind: receiving and sending, also on one and the same channel, with
/// any capacity; timers; taking from and putting into slots; events and latches. For a fixed set of
/// operations the [`select!`](crate::select) macro is shorter.
///
/// An operation is *ready* if it can be completed without waiting, which includes completing it with
/// an error because the channel is disconnected. If several are ready, one of them is chosen at
/// random, or by [`new_biased`](Select::new_biased) the first.
///
/// There are two ways: [`select`](Select::select) reserves the operation, and it *must* then be
/// completed through the [`SelectedOperation`]; [`ready`](Select::ready) only says which operation
/// seems to be ready, and the operation itself may fail or wait, since another thread may be faster.
///
/// Up to 8 operations need no allocation.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Select, unbounded};
///
/// let (s1, r1) = unbounded();
/// let (_s2, r2) = unbounded::<i32>();
/// s1.send(10).unwrap();
///
/// let mut select = Select::new();
/// let first = select.recv(&r1);
/// let second = select.recv(&r2);
/// let operation = select.select();
/// match operation.index() {
///     index if index == first => assert_eq!(operation.recv(&r1), Ok(10)),
///     index if index == second => unreachable!("nothing is sent"),
///     _ => unreachable!(),
/// }
/// ```
pub struct Select<'a> {
    handles: Handles<'a>,
    /// How many operations were added, ever. Their indices have 32 bits and begin anew then, without those that
    /// operations have.
    next_index: u64,
    /// A source has a [`mark`](Source::mark), or had.
    has_marks: bool,
    biased: bool,
}

// SAFETY: a select only compares addresses and registers waits through the sources, which are
// synchronised themselves. A message can only be completed through the end itself, which the other
// thread can only have if the end may be shared.
unsafe impl Send for Select<'_> {}
// SAFETY: every operation takes `&mut self`, so a shared reference alone only compares addresses.
unsafe impl Sync for Select<'_> {}

/// How long a select may take.
#[derive(Clone, Copy)]
enum Limit {
    Now,
    Never,
    At(Instant),
}

impl Limit {
    fn after(timeout: Duration) -> Self {
        Instant::now()
            .checked_add(timeout)
            .map_or(Limit::Never, Limit::At)
    }
}

impl<'a> Select<'a> {
    /// No operations yet.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut select = tamtam_channel::Select::new();
    /// let receiver = tamtam_channel::never::<i32>();
    /// assert_eq!(select.recv(&receiver), 0);
    /// assert!(select.try_select().is_err());
    /// ```
    #[must_use]
    pub fn new() -> Select<'a> {
        Select {
            handles: Handles::Inline([None; INLINE], 0),
            next_index: 0,
            has_marks: false,
            biased: false,
        }
    }

    /// No operations yet; of several that are ready, the one that was added first will be chosen.
    #[must_use]
    pub fn new_biased() -> Select<'a> {
        Select {
            biased: true,
            ..Select::new()
        }
    }

    #[inline]
    fn add<T, S: Source + 'a>(&mut self, source: &'a S, end: &'a T, direction: Direction) -> usize {
        let mut index = self.next_index as u32;
        if self.next_index > u64::from(u32::MAX) {
            index = self.unused_index(index);
        }
        let is_marked = source.mark() != 0;
        self.has_marks |= is_marked;
        *self.handles.add() = Some(Handle {
            source,
            end: core::ptr::from_ref(end).cast(),
            index,
            direction,
            is_marked,
            thread_or_mark: if is_marked { 0 } else { this_thread() as u64 },
        });
        self.next_index += 1;
        index as usize
    }

    /// The first number from this one on that no operation has: there are more of them than operations.
    #[cold]
    fn unused_index(&self, mut index: u32) -> u32 {
        let is_used = |index| self.position(index).is_some();
        while is_used(index) {
            index = index.wrapping_add(1);
        }
        index
    }

    /// Where the operation with this index lies.
    fn position(&self, index: u32) -> Option<usize> {
        let handles = self.handles.as_slice();
        let is_it = |handle: &Option<Handle<'_>>| handle.is_some_and(|it| it.index == index);
        handles.iter().position(is_it)
    }

    /// Adds sending on a channel. Returns the operation's index: they count from 0.
    pub fn send<T>(&mut self, sender: &'a Sender<T>) -> usize {
        self.add(sender, sender, Direction::In)
    }

    /// Adds receiving from a channel. Returns the operation's index.
    pub fn recv<T>(&mut self, receiver: &'a Receiver<T>) -> usize {
        self.add(receiver, receiver, Direction::Out)
    }

    /// Adds putting a value into a slot. Returns the operation's index.
    pub fn put<T>(&mut self, slot: &'a Slot<T>) -> usize {
        self.add(slot.putting::<true>(), slot, Direction::In)
    }

    /// Adds taking the value out of a slot. Returns the operation's index.
    pub fn take<T>(&mut self, slot: &'a Slot<T>) -> usize {
        self.add(slot.taking::<true>(), slot, Direction::Out)
    }

    /// Adds waiting for an event, a latch or a property's change. Returns the operation's index.
    pub fn wait<W: Waitable>(&mut self, waitable: &'a W) -> usize {
        self.add(waitable, waitable, Direction::Out)
    }

    /// Adds waiting until a property has another version: as [`wait`](Select::wait), and completed by
    /// [`SelectedOperation::changed`], which tells the version. Returns the operation's index.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Property, Select};
    ///
    /// let speed = Property::new(1);
    /// let seen = speed.version();
    /// speed.set(2);
    /// let changed = speed.changed_since(seen);
    /// let mut select = Select::new();
    /// select.changed(&changed);
    /// assert_eq!(select.select().changed(&changed), speed.version());
    /// ```
    pub fn changed<T>(&mut self, changed: &'a Changed<'_, T>) -> usize {
        self.wait(changed)
    }

    /// Removes an operation; the other ones keep their indices. Its own index is given again only after 2³² others.
    ///
    /// # Panics
    ///
    /// If there is no operation with this index: it was removed before or never added.
    pub fn remove(&mut self, index: usize) {
        assert!(
            (index as u64) < self.next_index,
            "index out of bounds; {index} >= {}",
            self.next_index
        );
        let position = u32::try_from(index)
            .ok()
            .and_then(|index| self.position(index))
            .expect("no operation with this index");
        self.handles.remove(position);
    }

    /// Chooses an operation that is ready, without waiting.
    ///
    /// # Errors
    ///
    /// [`TrySelectError`] if none is ready: there was a moment during this call at which none of them was. A message that goes from one channel to another
    /// meanwhile, and is always in one of the two, is found.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.run(Limit::Now).ok_or(TrySelectError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// Chooses an operation, after waiting until one is ready.
    ///
    /// # Blocking
    ///
    /// While no operation is ready.
    ///
    /// # Panics
    ///
    /// If no operation has been added.
    pub fn select(&mut self) -> SelectedOperation<'a> {
        self.assert_some();
        match self.run(Limit::Never) {
            Some(operation) => operation,
            None => unreachable!("a select without a limit has ended with nothing"),
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`select`](Select::select), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`SelectTimeoutError`] if no operation became ready in time.
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.run(Limit::after(timeout)).ok_or(SelectTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`select`](Select::select), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`SelectTimeoutError`] if no operation became ready in time.
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.run(Limit::At(deadline)).ok_or(SelectTimeoutError)
    }

    /// The index of an operation that is ready, without waiting.
    ///
    /// # Errors
    ///
    /// [`TryReadyError`] if none is ready.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.run_ready(Limit::Now).ok_or(TryReadyError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// The index of an operation that is ready, after waiting for one.
    ///
    /// By the time of the operation itself another thread may have been faster; so use its `try_`
    /// form and come back if it fails.
    ///
    /// # Blocking
    ///
    /// While no operation is ready.
    ///
    /// # Panics
    ///
    /// If no operation has been added.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Select, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// std::thread::spawn(move || sender.send("hello"));
    /// let mut select = Select::new();
    /// select.recv(&receiver);
    /// loop {
    ///     select.ready();
    ///     if let Ok(message) = receiver.try_recv() {
    ///         assert_eq!(message, "hello");
    ///         break;
    ///     }
    /// }
    /// ```
    pub fn ready(&mut self) -> usize {
        self.assert_some();
        match self.run_ready(Limit::Never) {
            Some(index) => index,
            None => unreachable!("a select without a limit has ended with nothing"),
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`ready`](Select::ready), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`ReadyTimeoutError`] if no operation became ready in time.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        self.run_ready(Limit::after(timeout))
            .ok_or(ReadyTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`ready`](Select::ready), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`ReadyTimeoutError`] if no operation became ready in time.
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.run_ready(Limit::At(deadline)).ok_or(ReadyTimeoutError)
    }

    fn assert_some(&self) {
        assert!(
            !self.handles.as_slice().is_empty(),
            "no operations have been added to `Select`"
        );
    }

    /// Chooses an operation and begins it.
    fn run(&mut self, limit: Limit) -> Option<SelectedOperation<'a>> {
        let mut token = Token::default();
        self.begin();
        let handle = loop {
            let found = self.wait_for(
                limit,
                |handle, look| match look {
                    Look::Light => handle.source.try_begin_lightly(&mut token),
                    Look::Thorough => handle.source.try_begin(&mut token),
                },
                Interest::Operation,
            )?;
            match found {
                Found::Attempted(handle) => break handle,
                Found::Selected(handle, context) => {
                    if handle.source.accept(&mut token, &context) {
                        break handle;
                    }
                    // Another thread was faster.
                }
            }
        };
        // While the thread's locals are being dropped there is nothing to learn any more.
        let _ = PACE.try_with(|pace| pace.count(1));
        Some(SelectedOperation { token, handle })
    }

    /// A wait begins. It goes on while what has woken it turns out to be gone.
    #[inline]
    fn begin(&mut self) {
        if self.has_marks {
            let handles = self.handles.as_mut_slice().iter_mut();
            handles.flatten().for_each(Handle::begin);
        }
    }

    fn run_ready(&mut self, limit: Limit) -> Option<usize> {
        self.begin();
        loop {
            match self.wait_for(
                limit,
                |handle, _| handle.source.is_ready(),
                Interest::Readiness,
            )? {
                Found::Attempted(handle) => return Some(handle.index as usize),
                // Told of readiness: look which it is.
                Found::Selected(..) => {}
            }
        }
    }

    /// Attempts each operation until one succeeds, one is selected by its source, or the limit is
    /// reached.
    fn wait_for(
        &mut self,
        limit: Limit,
        mut attempt: impl FnMut(&Handle<'a>, Look) -> bool,
        interest: Interest,
    ) -> Option<Found<'a>> {
        let deadline = match limit {
            Limit::At(deadline) => Some(deadline),
            Limit::Now | Limit::Never => None,
        };
        let (biased, has_marks) = (self.biased, self.has_marks);
        let mut order = Order::of(&self.handles, biased);
        let handles = self.handles.as_mut_slice();
        let mut attempt_all = |handles: &mut [Option<Handle<'a>>], order: &mut Order, look| {
            let found = (0..handles.len()).find_map(|turn| {
                let place = order.place(turn, handles);
                let handle = handles[place].as_ref()?;
                attempt(handle, look).then_some(*handle)
            });
            if found.is_none() && has_marks {
                return handles
                    .iter()
                    .flatten()
                    .find(|handle| handle.is_past())
                    .copied();
            }
            found
        };
        // What is passed over by a light look may come first in the order.
        let light = if biased { Look::Thorough } else { Look::Light };
        if let Some(handle) = attempt_all(handles, &mut order, light) {
            return Some(Found::Attempted(handle));
        }
        if matches!(limit, Limit::Now) && none_was_ready(handles) {
            return None;
        }
        let rest = PACE.try_with(Pace::rest).unwrap_or(Patience::REST);
        HABIT_OF_SELECTS.with(|habit| {
            let mut patience = habit.begin(Wait::Adaptive, deadline).resting(rest);
            let mut looks = 0_u32;
            loop {
                let look = if looks.is_multiple_of(LOOKS_TO_A_THOROUGH_ONE) {
                    Look::Thorough
                } else {
                    light
                };
                if let Some(handle) = attempt_all(handles, &mut order, look) {
                    patience.rewarded();
                    return Some(Found::Attempted(handle));
                }
                looks = looks.wrapping_add(1);
                if matches!(limit, Limit::Now) || !patience.look_again() {
                    break;
                }
            }
            if matches!(limit, Limit::Now) && (handles.len() < 2 || !CAN_BLOCK) {
                return None;
            }
            // Several failed attempts, one after the other, do not mean that there was a moment at which nothing was ready, and not all
            // sources tell more. Being registered with all of them and finding none ready does, so even a select that may not wait goes to
            // sleep, for no time.
            let until = match limit {
                Limit::Now => Some(Instant::now()),
                Limit::At(_) | Limit::Never => deadline,
            };
            patience.sleeps();
            let arranged = order.arranged(handles);
            loop {
                let in_order = match &arranged {
                    Some(arranged) => &arranged[..handles.len()],
                    None => &*handles,
                };
                match sleep(in_order, until, interest) {
                    Slept::Selected(handle, context) => {
                        patience.woken();
                        return Some(Found::Selected(handle, context));
                    }
                    Slept::Ready => {}
                    Slept::TimedOut if matches!(limit, Limit::Now) => return None,
                    Slept::TimedOut => {
                        // A timer may be the reason.
                        let found =
                            attempt_all(handles, &mut order, Look::Thorough).map(Found::Attempted);
                        if found.is_some()
                            || deadline.is_some_and(|deadline| deadline <= Instant::now())
                        {
                            return found;
                        }
                    }
                }
                if let Some(handle) = attempt_all(handles, &mut order, Look::Thorough) {
                    return Some(Found::Attempted(handle));
                }
            }
        })
    }
}

/// How closely a select looks at its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// As far as it costs the other side nothing.
    Light,
    Thorough,
}

/// Of so many looks one is thorough.
const LOOKS_TO_A_THOROUGH_ONE: u32 = 16;

enum Found<'a> {
    /// An attempt succeeded.
    Attempted(Handle<'a>),
    /// The source selected this thread while it slept; the context holds what it left.
    Selected(Handle<'a>, Context),
}

thread_local! {
    /// What this thread has learned about waiting in selects.
    static HABIT: Habit = const { Habit::new() };
    /// How long this thread leaves those alone for which it waits in selects.
    static PACE: Pace = const { Pace::new(usize::MAX) };
}

struct HabitOfSelects;
static HABIT_OF_SELECTS: HabitOfSelects = HabitOfSelects;

impl HabitOfSelects {
    fn with<R>(&self, mut wait: impl FnMut(&Habit) -> R) -> R {
        // While the thread's locals are being dropped there is nothing to learn any more.
        match HABIT.try_with(&mut wait) {
            Ok(result) => result,
            Err(_) => wait(&Habit::new()),
        }
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Select<'_> {
    fn clone(&self) -> Self {
        Select {
            handles: self.handles.clone(),
            next_index: self.next_index,
            has_marks: self.has_marks,
            biased: self.biased,
        }
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests;
