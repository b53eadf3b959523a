//! Waiting for the first of several operations that are known only when the program runs; [`select!`](crate::select!) expands to
//! this.

use core::cell::Cell;
use core::fmt;
use core::mem;
use std::time::{Duration, Instant};

use tamtam_wait::{
    CAN_BLOCK, Context, Habit, Operation, Outcome, Patience, SharedWords, Source, Token, Wait,
};

use crate::error::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError,
};
use crate::flavor::pace::Pace;
use crate::{Changed, Event, Latch, Receiver, Sender, Slot};

/// One operation of a select.
#[derive(Clone, Copy)]
struct Handle<'a> {
    source: &'a dyn Source,
    /// The end that was passed in, by its address.
    end: *const (),
    /// The number by which the user knows the operation.
    index: u32,
    direction: Direction,
    /// The thread that added it, by an address of its own: it has the end.
    thread: usize,
}

/// What an operation does; two operations on one end differ by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// So many operations need no allocation.
const INLINE: usize = 8;

/// The operations: the first few inline.
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "sparing the allocation is what the inline variant is for"
)]
enum Handles<'a> {
    Inline([Option<Handle<'a>>; INLINE], usize),
    Heap(Vec<Option<Handle<'a>>>),
}

impl<'a> Handles<'a> {
    fn as_mut_slice(&mut self) -> &mut [Option<Handle<'a>>] {
        match self {
            Handles::Inline(handles, length) => &mut handles[..*length],
            Handles::Heap(handles) => handles,
        }
    }

    fn as_slice(&self) -> &[Option<Handle<'a>>] {
        match self {
            Handles::Inline(handles, length) => &handles[..*length],
            Handles::Heap(handles) => handles,
        }
    }

    /// A place behind the others, in which an operation is made: one that was made elsewhere would be read before its parts are
    /// written, which takes as long as all else.
    #[inline]
    fn add(&mut self) -> &mut Option<Handle<'a>> {
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
    fn move_to_heap(&mut self) {
        // Who has more than a few has many: so they do not move again at once.
        let mut handles = Vec::with_capacity(4 * INLINE);
        handles.extend_from_slice(self.as_slice());
        *self = Handles::Heap(handles);
    }

    fn remove(&mut self, position: usize) {
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
    next_index: usize,
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
    fn add<T>(&mut self, source: &'a dyn Source, end: &'a T, direction: Direction) -> usize {
        let index = self.next_index;
        *self.handles.add() = Some(Handle {
            source,
            end: core::ptr::from_ref(end).cast(),
            // An operation takes 40 bytes, so that many have no memory.
            index: index as u32,
            direction,
            thread: this_thread(),
        });
        self.next_index += 1;
        index
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

    /// Removes an operation; the other ones keep their indices.
    ///
    /// # Panics
    ///
    /// If there is no operation with this index: it was removed before or never added.
    pub fn remove(&mut self, index: usize) {
        assert!(
            index < self.next_index,
            "index out of bounds; {index} >= {}",
            self.next_index
        );
        let position = self
            .handles
            .as_slice()
            .iter()
            .position(|handle| handle.is_some_and(|handle| handle.index as usize == index))
            .expect("no operation with this index");
        self.handles.remove(position);
    }

    /// Chooses an operation that is ready, without waiting.
    ///
    /// # Errors
    ///
    /// [`TrySelectError`] if none is ready.
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

    /// In which order the operations are looked at and entered into lists: at random, unless the order counts.
    fn order(&self) -> Order {
        if self.biased {
            return Order::AsTheyLie;
        }
        match self.handles {
            Handles::Inline(_, count) => Order::Of(Places {
                places: core::array::from_fn(|place| place as u8),
                count,
                chosen: 0,
                random: random(),
            }),
            Handles::Heap(_) => Order::Moved { chosen: 0 },
        }
    }

    /// Chooses an operation and begins it.
    fn run(&mut self, limit: Limit) -> Option<SelectedOperation<'a>> {
        let mut token = Token::default();
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

    fn run_ready(&mut self, limit: Limit) -> Option<usize> {
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
        let mut order = self.order();
        let biased = self.biased;
        let handles = self.handles.as_mut_slice();
        let mut attempt_all = |handles: &mut [Option<Handle<'a>>], order: &mut Order, look| {
            (0..handles.len()).find_map(|turn| {
                let place = order.place(turn, handles);
                let handle = handles[place].as_ref()?;
                attempt(handle, look).then_some(*handle)
            })
        };
        // What is passed over by a light look may come first in the order.
        let light = if biased { Look::Thorough } else { Look::Light };
        if let Some(handle) = attempt_all(handles, &mut order, light) {
            return Some(Found::Attempted(handle));
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
            // Several failed attempts, one after the other, do not mean that there was a moment at
            // which nothing was ready. Being registered with all sources and finding none ready does,
            // so even a select that may not wait goes to sleep, for no time.
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

/// In which order a select looks at its operations.
enum Order {
    AsTheyLie,
    /// As they lie, where each is exchanged for a later one when its turn comes: so many are where they stay.
    Moved {
        chosen: usize,
    },
    /// These places, one after the other: their numbers are moved sooner than the operations.
    Of(Places),
}

/// Places in random order, of which each is chosen when its turn comes: mostly the first few bring something.
struct Places {
    places: [u8; INLINE],
    count: usize,
    /// So many are where they stay.
    chosen: usize,
    /// The part of the random number that has not decided yet: there are 40,320 orders of eight.
    random: u32,
}

impl Order {
    /// The place of the operation that has this turn; no turn before it was left out.
    #[inline]
    fn place(&mut self, turn: usize, handles: &mut [Option<Handle<'_>>]) -> usize {
        match self {
            Order::AsTheyLie => turn,
            Order::Moved { chosen } => {
                if turn == *chosen {
                    // Fisher and Yates, from the other end: mostly the first few bring something.
                    handles.swap(turn, turn + random_below(handles.len() - turn));
                    *chosen += 1;
                }
                turn
            }
            Order::Of(places) => places.place(turn),
        }
    }

    /// The operations in this order, if that is another than that in which they lie.
    #[cold]
    fn arranged<'a>(
        &mut self,
        handles: &[Option<Handle<'a>>],
    ) -> Option<[Option<Handle<'a>>; INLINE]> {
        let Order::Of(places) = self else { return None };
        let mut arranged = [None; INLINE];
        for (turn, place) in arranged.iter_mut().enumerate().take(handles.len()) {
            *place = handles[places.place(turn)];
        }
        Some(arranged)
    }
}

impl Places {
    /// The place that has this turn; no turn before it was left out.
    #[inline]
    fn place(&mut self, turn: usize) -> usize {
        if turn == self.chosen {
            // Fisher and Yates, from the other end.
            let product = u64::from(self.random) * (self.count - turn) as u64;
            self.random = product as u32;
            self.places.swap(turn, turn + (product >> 32) as usize);
            self.chosen += 1;
        }
        usize::from(self.places[turn])
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

/// How a sleep in all wait lists ended.
enum Slept<'a> {
    /// A source selected this thread; the context holds what it left.
    Selected(Handle<'a>, Context),
    /// An operation was ready by itself.
    Ready,
    /// The deadline came, of the select or of a timer, and nothing was ready at some moment since the
    /// sleep began.
    TimedOut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Interest {
    /// To carry out an operation.
    Operation,
    /// To hear that one is ready.
    Readiness,
}

enum Found<'a> {
    /// An attempt succeeded.
    Attempted(Handle<'a>),
    /// The source selected this thread while it slept; the context holds what it left.
    Selected(Handle<'a>, Context),
}

thread_local! {
    /// What this thread has learned about waiting in selects.
    static HABIT: Habit = const { Habit::new() };
    static RANDOM: Cell<u32> = const { Cell::new(0) };
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

/// Enters the thread into all wait lists and sleeps.
#[cold]
fn sleep<'a>(
    handles: &[Option<Handle<'a>>],
    deadline: Option<Instant>,
    interest: Interest,
) -> Slept<'a> {
    Context::with(|context| {
        let mut registered = 0;
        let mut any_ready = false;
        let mut words = SharedWords::new();
        // Where this thread sleeps at words of other processes: it is in no list there.
        let mut by_words: Vec<usize> = Vec::new();
        let mut until = deadline;
        for (position, handle) in handles.iter().flatten().enumerate() {
            let operation = Operation::new(position as u32);
            let source: &'a dyn Source = handle.source;
            let ready = match source.sleep_at(&mut words) {
                Some(ready) => {
                    by_words.push(position);
                    ready
                }
                None if interest == Interest::Operation => source.register(operation, context),
                None => source.watch(operation, context),
            };
            registered = position + 1;
            if ready {
                any_ready = true;
                context.abort();
            }
            if context.outcome().is_some() {
                break;
            }
            if let Some(due) = handle.source.deadline() {
                until = Some(until.map_or(due, |until| until.min(due)));
            }
        }
        let outcome = context.park_at(words, until);
        let mut by_words = by_words.into_iter().peekable();
        for (position, handle) in handles.iter().flatten().take(registered).enumerate() {
            let operation = Operation::new(position as u32);
            match interest {
                _ if by_words.next_if_eq(&position).is_some() => handle.source.woken_at(),
                // The source that has selected us is left to `accept`.
                Interest::Operation if outcome == Outcome::Selected(operation) => {}
                Interest::Operation => handle.source.unregister(operation, context),
                Interest::Readiness => handle.source.unwatch(operation, context),
            }
        }
        match outcome {
            Outcome::Aborted if any_ready => Slept::Ready,
            Outcome::Aborted => Slept::TimedOut,
            Outcome::Disconnected => Slept::Ready,
            Outcome::Selected(operation) => {
                match handles.iter().flatten().nth(operation.index() as usize) {
                    Some(handle) => Slept::Selected(*handle, context.clone()),
                    None => unreachable!("an operation was selected that nobody registered"),
                }
            }
        }
    })
}

/// Tells this thread from all others that run now. Zero while its locals are being dropped: then it is taken
/// for another one, and what is abandoned is leaked.
#[inline]
fn this_thread() -> usize {
    thread_local! {
        static MARK: Cell<u8> = const { Cell::new(0) };
    }
    MARK.try_with(|mark| core::ptr::from_ref(mark).addr())
        .unwrap_or(0)
}

/// A random number, by Marsaglia's xorshift.
fn random() -> u32 {
    RANDOM
        .try_with(|state| {
            let mut random = state.get();
            if random == 0 {
                // Each thread starts elsewhere: its own stack tells it from the others.
                random = (core::ptr::from_ref(&random).addr() >> 4) as u32 | 1;
            }
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            state.set(random);
            random
        })
        .unwrap_or(0)
}

/// A random number below `bound`, by Lemire's multiplication.
fn random_below(bound: usize) -> usize {
    ((u64::from(random()) * bound as u64) >> 32) as usize
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
            biased: self.biased,
        }
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

/// An operation that a [`Select`] has chosen and reserved: it must be completed.
///
/// Until it is completed, it holds the room for its message, or its place in the slot, which others may have to
/// wait for; with capacity zero it holds a receiver, which sleeps. It has no place in the order yet. So complete it
/// soon, with the very end that was added to the select.
///
/// # Panics
///
/// Dropping it without completing it panics. What was reserved is given back, but a message that was
/// to be received is dropped.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Select, bounded};
///
/// let (one, ones) = bounded(1);
/// let (_other, others) = bounded::<u32>(1);
/// one.send(1)?;
/// let mut select = Select::new();
/// let (from_one, _) = (select.recv(&ones), select.recv(&others));
/// let operation = select.select();
/// assert_eq!(operation.index(), from_one);
/// assert_eq!(operation.recv(&ones), Ok(1)); // completed with the end that was added
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
#[must_use = "a selected operation must be completed"]
pub struct SelectedOperation<'a> {
    token: Token,
    handle: Handle<'a>,
}

impl SelectedOperation<'_> {
    /// The index that adding the operation returned.
    pub fn index(&self) -> usize {
        self.handle.index as usize
    }

    fn is<T>(&self, end: &T, direction: Direction) -> bool {
        core::ptr::from_ref(end).cast() == self.handle.end && direction == self.handle.direction
    }

    /// Completes sending.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if all receivers are gone.
    ///
    /// # Panics
    ///
    /// If this is not the sender that was selected.
    pub fn send<T>(mut self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        assert!(
            self.is(sender, Direction::In),
            "passed a sender that wasn't selected"
        );
        // SAFETY: this sender's source has filled the token, and it is used up here.
        let result = unsafe { sender.finish(&mut self.token, message) };
        mem::forget(self);
        result
    }

    /// Completes receiving.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no sender is left.
    ///
    /// # Panics
    ///
    /// If this is not the receiver that was selected.
    pub fn recv<T>(mut self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        assert!(
            self.is(receiver, Direction::Out),
            "passed a receiver that wasn't selected"
        );
        // SAFETY: this receiver's source has filled the token, and it is used up here.
        let result = unsafe { receiver.finish(&mut self.token) };
        mem::forget(self);
        result
    }

    /// Completes putting into a slot.
    ///
    /// # Panics
    ///
    /// If this is not the slot that was selected.
    pub fn put<T>(self, slot: &Slot<T>, value: T) {
        assert!(
            self.is(slot, Direction::In),
            "passed a slot that wasn't selected for putting"
        );
        slot.putting::<true>().finish(value);
        mem::forget(self);
    }

    /// Completes taking from a slot.
    ///
    /// # Panics
    ///
    /// If this is not the slot that was selected.
    pub fn take<T>(self, slot: &Slot<T>) -> T {
        assert!(
            self.is(slot, Direction::Out),
            "passed a slot that wasn't selected for taking"
        );
        mem::forget(self);
        slot.taking::<true>().finish()
    }

    /// Completes waiting for an event, a latch or a property's change.
    ///
    /// # Panics
    ///
    /// If this is not what was selected.
    pub fn wait<W: Waitable>(self, waitable: &W) {
        assert!(
            self.is(waitable, Direction::Out),
            "passed an event or a latch that wasn't selected"
        );
        mem::forget(self);
    }
}

impl SelectedOperation<'_> {
    /// Completes waiting for a property's change: the property's version now.
    ///
    /// # Panics
    ///
    /// If this is not what was selected.
    pub fn changed<T>(self, changed: &Changed<'_, T>) -> u64 {
        self.wait(changed);
        changed.version()
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        // A select may be sent to another thread, and what it takes out of a channel there may be of a type
        // that must stay on the thread of the channel's end.
        if self.handle.thread == this_thread() {
            // SAFETY: this source has filled the token, and what completes the operation forgets it.
            unsafe { self.handle.source.abandon(&mut self.token) };
        } else {
            // SAFETY: this source has filled the token, and whatever completes the operation forgets it.
            unsafe { self.handle.source.abandon_elsewhere(&mut self.token) };
        }
        // A second panic while the first one unwinds would end the program without a word.
        if !std::thread::panicking() {
            panic!("dropped `SelectedOperation` without completing the operation");
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}

/// What can be waited for without taking anything: [`Event`], [`Latch`], [`Changed`], and the ends of
/// `spsc` and `mpsc` channels as [`Selectable`](crate::spsc::Selectable).
///
/// # Examples
///
/// A function that waits for the first of two things, of whatever kind:
///
/// ```
/// use tamtam_channel::{Event, Latch, Select, Waitable};
///
/// fn first(one: &impl Waitable, other: &impl Waitable) -> usize {
///     let mut select = Select::new();
///     select.wait(one);
///     select.wait(other);
///     select.ready()
/// }
///
/// let (quit, loaded) = (Event::manual(), Latch::new(1));
/// loaded.count_down();
/// assert_eq!(first(&quit, &loaded), 1);
/// ```
pub trait Waitable: Source + sealed::Sealed {}

mod sealed {
    /// What this project alone implements.
    pub trait Sealed {}
}

pub use sealed::Sealed;

impl Sealed for Event {}
impl Waitable for Event {}
impl Sealed for Latch {}
impl Waitable for Latch {}
impl<T> Sealed for Changed<'_, T> {}
impl<T> Waitable for Changed<'_, T> {}
