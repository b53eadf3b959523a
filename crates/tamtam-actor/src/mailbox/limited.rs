//! A mailbox with a limit, and what happens to a message for which there is no room.

use std::collections::VecDeque;
use std::time::Instant;

use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{self, Ordering};
use tamtam_wait::{Source, WaitList, contain, or_undo};

use super::dead_letter::Loss;
use super::label::{Label, Labels, Letter};
use super::mute::{Mute, MutedSenders};
use super::room::Room;

use super::sorted::{Entry, MOST_KEPT, Sorted, SortedMailbox};

/// What becomes of a message for which a limited mailbox has no room.
///
/// Each message that is dropped is counted, see [`Address::lost`](crate::Address::lost).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Frame, Overflow};
///
/// let mut frame = Frame::new();
/// let full = frame.spawner().limited(1, Overflow::Fail).spawn_fn(|_: u32, _| {});
/// full.tell(1)?;
/// assert_eq!(full.tell(2).unwrap_err().into_inner(), 2); // it comes back
///
/// let latest = frame.spawner().limited(1, Overflow::DropOldest).spawn_fn(|_: u32, _| {});
/// latest.tell(1)?;
/// latest.tell(2)?; // 1 is dropped for it
/// assert_eq!(latest.lost(), 1);
/// # frame.pump(tamtam_actor::Budget::unlimited());
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// It comes back to the sender as a [`TellError`](crate::TellError).
    #[default]
    Fail,
    /// Its sender waits for room: see [`Address::tell`](crate::Address::tell).
    Wait,
    /// It is dropped; in a mailbox with [priorities](crate::Spawner::priorities), the newest one of the lowest
    /// priority is.
    DropNewest,
    /// It is appended, and the oldest one is dropped; in a mailbox with
    /// [priorities](crate::Spawner::priorities), the oldest one of the lowest priority, which may be this one.
    DropOldest,
}

/// A mailbox that counts its messages: [`Limited`], as cells know it of which few have one. What is behind this is compiled for the types
/// of messages of which such a mailbox is made, and not for each one.
pub(crate) trait LimitedMailbox<M>: Send + Sync {
    fn level(&self) -> Level;

    /// Whether senders are to wait for room.
    fn waits(&self) -> bool;

    /// Whether messages come out in the order in which they went in.
    #[cfg(feature = "serde")]
    fn is_in_line(&self) -> bool;

    /// Sees to it that this is called when all messages that are in have left: taken out, or dropped for others.
    #[cfg(feature = "serde")]
    fn when_gone(&self, then: super::Receipt);

    fn push(&self, message: M) -> Pushed<M>;

    /// As `push`, but puts a message in where it would fail: the limit is exceeded, and its sender muted.
    fn push_above(&self, message: M, mute: Option<Mute>) -> Pushed<M>;

    /// As `push`, but where a message would fail it waits for room; until the deadline, if there is one.
    /// `closed` tells that the actor takes no more.
    fn push_waiting(
        &self,
        message: M,
        deadline: Option<Instant>,
        closed: &dyn Fn() -> bool,
    ) -> Pushed<M>;

    /// Keeps a place for a message that is still to be made.
    fn reserve(&self) -> Reserved;

    /// Keeps a place where there may be none: the limit is exceeded, and who wants it is muted.
    fn reserve_above(&self, mute: Option<Mute>) -> Reserved;

    /// As `reserve`, but where there is no room it waits.
    fn reserve_until(&self, deadline: Option<Instant>, closed: &dyn Fn() -> bool) -> Reserved;

    /// Puts a message into a place that was kept.
    fn push_reserved(&self, message: M) -> Pushed<M>;

    /// Gives a place back that was kept.
    fn release(&self);

    /// Shows the room, for senders that wait for it; `closed` tells that the actor takes no more.
    fn with_room(&self, closed: &dyn Fn() -> bool, look: &mut dyn FnMut(&dyn Source));

    /// How many messages there are.
    fn len(&self) -> usize;

    /// Whether there is none; then the receiver is to be woken for the next one.
    fn rest(&self) -> bool;

    /// Takes the next message. If there is none the receiver is to be woken for the next one.
    fn pop(&self) -> Option<M> {
        self.finish(self.take())
    }

    /// As `pop`, but does nothing that may run user code: that is left to [`finish`](Self::finish).
    fn take(&self) -> Took<M>;

    /// The message that was taken. Those who wait for its room are told.
    fn finish(&self, took: Took<M>) -> Option<M>;

    /// The actor takes no more messages: those who wait for room have to learn it.
    fn close(&self);
}

/// A queue for so many messages and no more.
pub(crate) struct Limited<M> {
    queue: Mutex<Places<M>>,
    limit: usize,
    overflow: Overflow,
    /// Senders that wait for room.
    senders: WaitList,
    /// There if messages have labels.
    sorting: Option<Sorting<M>>,
}

/// What is to be known of a message before it goes in, and what a mailbox does with that. Pointers, so that it is compiled for the types of
/// messages of which such a mailbox is made, and not for each one.
pub(crate) struct Sorting<M> {
    pub(crate) labels: Labels<M>,
    make: fn() -> Box<dyn SortedMailbox<M>>,
    /// Decides what becomes of a message with a key.
    settle: fn(&Limited<M>, Letter<M>, RoomHeld) -> Settled<M>,
}

impl<M> Clone for Sorting<M> {
    fn clone(&self) -> Self {
        Sorting {
            labels: self.labels.clone(),
            ..*self
        }
    }
}

impl<M: Send + 'static> Sorting<M> {
    pub(crate) fn by(labels: Labels<M>) -> Self {
        Sorting {
            labels,
            make: || Box::new(Sorted::new()),
            settle: Limited::settle_latest,
        }
    }
}

struct Places<M> {
    messages: Messages<M>,
    /// The receiver knows that there is something.
    awake: bool,
    /// Places that are kept for messages on their way.
    reserved: usize,
    /// The most messages that there ever were.
    high_water: usize,
    /// Actors that have sent more than there was room for.
    muted: MutedSenders,
    /// So many messages were ever put in.
    #[cfg(feature = "serde")]
    appended: u64,
    /// For those before so many.
    #[cfg(feature = "serde")]
    receipts: super::receipt::Receipts,
}

enum Messages<M> {
    /// In the order in which they came.
    InLine(VecDeque<M>),
    /// In lanes, or with keys.
    Sorted(Box<dyn SortedMailbox<M>>),
}

/// What a message has that is to go in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoomHeld {
    /// Nothing: it depends on whether there is room.
    None,
    /// A place that was kept.
    Kept,
}

/// What became of a message, with all that is still to be dropped.
enum Settled<M> {
    In(bool),
    Replaced(M),
    Out(Taken<M>, Loss),
    Back(Letter<M>, Loss),
    Full(Letter<M>),
}

impl<M> From<Settled<M>> for Pushed<M> {
    /// Keys go: user code runs, and a panic in it ends here, since it is decided what becomes of the message.
    fn from(settled: Settled<M>) -> Self {
        match settled {
            Settled::In(wake) => Pushed::In(wake),
            Settled::Replaced(older) => Pushed::InsteadOf(older, Loss::Replaced),
            Settled::Out(victim, why) => Pushed::InsteadOf(victim.into_inner(), why),
            Settled::Back(letter, why) => Pushed::Dropped(letter.into_message(), why),
            Settled::Full(letter) => Pushed::Full(letter.into_message()),
        }
    }
}

/// A message that was taken out, and what is to be dropped with it without a lock.
enum Taken<M> {
    FromLine(M),
    Sorted(Entry<M>),
}

impl<M> Taken<M> {
    /// The message. Its key goes: user code runs, and a panic in it ends here.
    fn into_inner(self) -> M {
        match self {
            Taken::FromLine(message) => message,
            Taken::Sorted(entry) => entry.into_message(),
        }
    }
}

/// Memory that is to be given back without a lock.
#[expect(dead_code, reason = "kept until it is dropped")]
enum Memory<M> {
    OfLine(VecDeque<M>),
    OfSorted(Box<dyn SortedMailbox<M>>),
}

impl<M> Messages<M> {
    fn len(&self) -> usize {
        match self {
            Messages::InLine(line) => line.len(),
            Messages::Sorted(sorted) => sorted.len(),
        }
    }

    fn append(&mut self, letter: Letter<M>) {
        match self {
            Messages::InLine(line) => line.push_back(letter.message),
            Messages::Sorted(sorted) => sorted.append(letter),
        }
    }

    fn take(&mut self) -> Option<Taken<M>> {
        match self {
            Messages::InLine(line) => line.pop_front().map(Taken::FromLine),
            Messages::Sorted(sorted) => sorted.take().map(Taken::Sorted),
        }
    }

    /// Takes out what has to go for another message, if that is not itself the one.
    fn make_room(&mut self, letter: &Letter<M>, newest: bool) -> Option<Taken<M>> {
        match self {
            Messages::InLine(_) if newest => None,
            Messages::InLine(line) => line.pop_front().map(Taken::FromLine),
            Messages::Sorted(sorted) => sorted
                .make_room(letter.label.priority, newest)
                .map(Taken::Sorted),
        }
    }

    fn spare(&mut self) -> Option<Memory<M>> {
        match self {
            Messages::InLine(line) if line.is_empty() && line.capacity() > MOST_KEPT => {
                Some(Memory::OfLine(core::mem::take(line)))
            }
            Messages::InLine(_) => None,
            Messages::Sorted(sorted) => sorted.spare().map(Memory::OfSorted),
        }
    }
}

impl<M> Places<M> {
    fn has_room(&self, limit: usize) -> bool {
        self.messages.len() + self.reserved < limit
    }

    /// Who may go on, to be dropped without the lock.
    fn unmuted(&mut self, limit: usize) -> MutedSenders {
        // Not for one message at a time: a turn is worth more than that.
        if !self.muted.is_empty() && self.messages.len() + self.reserved <= limit / 2 {
            core::mem::take(&mut self.muted)
        } else {
            MutedSenders::default()
        }
    }

    /// Keeps who has sent more than there is room for; gives it back if that is not to be.
    fn mute(&mut self, mute: Option<Mute>, limit: usize) -> Option<Mute> {
        let mute = mute?;
        if self.has_room(limit) {
            return Some(mute);
        }
        self.muted.keep(mute)
    }

    /// How many messages came before the oldest one that is there.
    #[cfg(feature = "serde")]
    fn oldest(&self) -> Option<u64> {
        match &self.messages {
            Messages::InLine(line) if line.is_empty() => None,
            Messages::InLine(line) => Some(self.appended - line.len() as u64),
            Messages::Sorted(sorted) => sorted.oldest(),
        }
    }

    /// The receipts for what has left, to be dropped without the lock.
    #[cfg(feature = "serde")]
    fn due(&mut self) -> super::receipt::Receipts {
        if self.receipts.is_empty() {
            return Default::default();
        }
        let oldest = self.oldest().unwrap_or(u64::MAX);
        self.receipts.due(oldest)
    }

    /// Whether the receiver has to be woken.
    fn append(&mut self, letter: Letter<M>) -> bool {
        #[cfg(feature = "serde")]
        {
            self.appended += 1;
        }
        self.messages.append(letter);
        self.high_water = self.high_water.max(self.messages.len());
        !core::mem::replace(&mut self.awake, true)
    }
}

/// What is to be done when there is no room.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WhenNoRoom {
    /// Nothing: the message comes back, whatever the policy is, unless one is dropped.
    GiveBack,
    /// What the mailbox was made for.
    AsMade,
    /// Wait until then, if it is given.
    WaitUntil(Option<Instant>),
    /// If senders are to wait: the message is taken in beyond the limit. The one that sends it waits where it comes from.
    #[cfg_attr(not(feature = "serde"), allow(dead_code))]
    Above,
}

/// What became of a wish for a place.
pub(crate) enum Reserved {
    /// A place is kept, for [`Limited::push_reserved`].
    Place,
    /// There is no room, and a message is to be dropped.
    Dropped,
    /// There is no room.
    Full,
}

/// What became of a message that was sent.
pub(crate) enum Pushed<M> {
    /// It is in the queue; whether the receiver has to be woken for it.
    In(bool),
    /// It is in the queue, and this one, older, is not any more.
    InsteadOf(M, Loss),
    /// There is no room, and it is to be dropped.
    Dropped(M, Loss),
    /// There is no room.
    Full(M),
}

/// What [`Limited::take`] has taken, with all that is to be dropped without a lock.
#[must_use]
pub(crate) struct Took<M> {
    taken: Option<Taken<M>>,
    unmuted: MutedSenders,
    memory: Option<Memory<M>>,
    #[cfg(feature = "serde")]
    due: super::receipt::Receipts,
}

impl<M> Took<M> {
    /// The message, if there was one.
    pub(crate) fn message(&self) -> Option<&M> {
        match self.taken.as_ref()? {
            Taken::FromLine(message) => Some(message),
            Taken::Sorted(entry) => Some(&entry.message),
        }
    }
}

/// How full a mailbox is: see [`Address::level`](crate::Address::level).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Budget, Frame, Overflow};
///
/// let mut frame = Frame::new();
/// let actor = frame.spawner().limited(10, Overflow::Fail).spawn_fn(|_: u32, _| {});
/// for number in 0..3 {
///     actor.tell(number)?;
/// }
/// assert_eq!(actor.level().unwrap().queued, 3);
/// frame.pump(Budget::unlimited());
/// let level = actor.level().unwrap();
/// assert_eq!((level.queued, level.high_water, level.capacity), (0, 3, Some(10)));
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Level {
    /// Messages in the mailbox now.
    pub queued: usize,
    /// The most messages that were ever in it at once.
    pub high_water: usize,
    /// The limit; `None` if it has none.
    pub capacity: Option<usize>,
}

impl<M: Send + 'static> Limited<M> {
    pub(crate) fn new(limit: usize, overflow: Overflow, sorting: Option<Sorting<M>>) -> Self {
        let messages = match &sorting {
            None => Messages::InLine(VecDeque::new()),
            Some(sorting) => Messages::Sorted((sorting.make)()),
        };
        Limited {
            queue: Mutex::new(Places {
                messages,
                awake: false,
                reserved: 0,
                high_water: 0,
                muted: MutedSenders::default(),
                #[cfg(feature = "serde")]
                appended: 0,
                #[cfg(feature = "serde")]
                receipts: Default::default(),
            }),
            limit: limit.max(1),
            overflow,
            senders: WaitList::new(),
            sorting,
        }
    }

    /// Whether a sender may find no room.
    fn refuses(&self) -> bool {
        matches!(self.overflow, Overflow::Fail | Overflow::Wait)
    }

    /// Asks the user's code what is to be known of a message.
    fn label(&self, message: M) -> Letter<M> {
        let Some(sorting) = &self.sorting else {
            let label = Label::default();
            return Letter { message, label };
        };
        // The sender whose closure panics may have been called here because there is room: another one is.
        or_undo(|| sorting.labels.put_on(message), || self.tell_of_room())
    }

    /// Decides what becomes of a message, and does it.
    fn settle(&self, letter: Letter<M>, place: RoomHeld) -> Settled<M> {
        match &self.sorting {
            Some(sorting) if letter.label.key.is_some() => (sorting.settle)(self, letter, place),
            _ => self.put_in(&mut self.queue.lock(), letter, place),
        }
    }

    /// The same where the latest message of each key counts.
    fn settle_latest(&self, mut letter: Letter<M>, place: RoomHeld) -> Settled<M> {
        // Those whose keys look the same, and are not.
        let mut others = Vec::new();
        loop {
            let mut queue = self.queue.lock();
            let twin = match (&queue.messages, &letter.label.key) {
                (Messages::Sorted(sorted), Some(key)) => sorted.twin(key.hash, &others),
                _ => None,
            };
            let (Some(twin), Some(key)) = (twin, letter.label.key.clone()) else {
                return self.put_in(&mut queue, letter, place);
            };
            // It is for the user's code to say whether they are the same.
            drop(queue);
            if !twin.key.is_same(&key) {
                others.push(twin.stamp);
                // Its message may have gone meanwhile.
                twin.key.go();
                continue;
            }
            let mut queue = self.queue.lock();
            let replaced = match &mut queue.messages {
                Messages::Sorted(sorted) => sorted.replace(key.hash, twin.stamp, letter.message),
                Messages::InLine(_) => Err(letter.message),
            };
            match replaced {
                Ok(older) => {
                    queue.reserved -= usize::from(place == RoomHeld::Kept);
                    drop(queue);
                    // The keys are the user's, and the message is in: a panic in their drop ends here.
                    contain(move || drop((letter.label, key, twin)));
                    return Settled::Replaced(older);
                }
                // It has been handled meanwhile.
                Err(message) => {
                    drop(queue);
                    twin.key.go();
                    letter.message = message;
                }
            }
        }
    }

    /// What becomes of a message that is about something new. Called under the lock: nothing is dropped here.
    fn put_in(&self, queue: &mut Places<M>, letter: Letter<M>, place: RoomHeld) -> Settled<M> {
        queue.reserved -= usize::from(place == RoomHeld::Kept);
        if queue.has_room(self.limit) {
            return Settled::In(queue.append(letter));
        }
        match self.overflow {
            Overflow::Fail | Overflow::Wait if place == RoomHeld::None => Settled::Full(letter),
            Overflow::DropNewest if place == RoomHeld::None => {
                match queue.messages.make_room(&letter, true) {
                    Some(victim) => {
                        queue.append(letter);
                        Settled::Out(victim, Loss::DroppedNewest)
                    }
                    None => Settled::Back(letter, Loss::DroppedNewest),
                }
            }
            Overflow::DropOldest if queue.messages.len() != 0 => {
                match queue.messages.make_room(&letter, false) {
                    Some(victim) => {
                        queue.append(letter);
                        Settled::Out(victim, Loss::DroppedOldest)
                    }
                    None => Settled::Back(letter, Loss::DroppedOldest),
                }
            }
            // It has a place; or all places are kept for others, who then drop the oldest.
            _ => Settled::In(queue.append(letter)),
        }
    }

    /// Attempts something while messages are taken out, at least once.
    fn wait_until<R>(
        &self,
        deadline: Option<Instant>,
        attempt: impl FnMut() -> Option<R>,
        closed: &dyn Fn() -> bool,
    ) -> Option<R> {
        self.room(closed).wait_until(deadline, attempt)
    }

    /// The room, for senders that wait for it; `closed` tells that the actor takes no more.
    fn room(&self, closed: &dyn Fn() -> bool) -> Room<'_, impl Fn() -> bool> {
        Room {
            senders: &self.senders,
            ready: move || closed() || self.has_room(),
        }
    }

    /// As `settle`, for a message that has no place. Its sender may have been called because there is room: if it uses none, another one is.
    fn settle_freely(&self, letter: Letter<M>) -> Settled<M> {
        let settled = or_undo(
            || self.settle(letter, RoomHeld::None),
            || self.pass_room_on(),
        );
        if let Settled::Replaced(_) | Settled::Back(..) = settled {
            self.pass_room_on();
        }
        settled
    }

    /// Calls another sender if there is room.
    fn pass_room_on(&self) {
        if self.refuses() && self.has_room() {
            self.tell_of_room();
        }
    }

    fn settle_in_place(&self, letter: Letter<M>) -> Pushed<M> {
        let settled = or_undo(|| self.settle(letter, RoomHeld::Kept), || self.release());
        if let Settled::Replaced(_) | Settled::Back(..) = settled {
            self.tell_of_room();
        }
        settled.into()
    }

    fn has_room(&self) -> bool {
        self.queue.lock().has_room(self.limit)
    }

    fn tell_of_room(&self) {
        if self.refuses() {
            // A sender that waits for room registers and then looks into the queue.
            atomic::fence(Ordering::SeqCst);
            self.senders.notify_one();
        }
    }
}

impl<M: Send + 'static> LimitedMailbox<M> for Limited<M> {
    fn level(&self) -> Level {
        let (queued, high_water) = {
            let queue = self.queue.lock();
            (queue.messages.len(), queue.high_water)
        };
        Level {
            queued,
            high_water,
            capacity: (self.limit != usize::MAX).then_some(self.limit),
        }
    }

    fn waits(&self) -> bool {
        self.overflow == Overflow::Wait
    }

    #[cfg(feature = "serde")]
    fn is_in_line(&self) -> bool {
        self.sorting.is_none()
    }

    #[cfg(feature = "serde")]
    fn when_gone(&self, then: super::Receipt) {
        let mut queue = self.queue.lock();
        if queue.messages.len() != 0 {
            let before = queue.appended;
            queue.receipts.keep(before, then);
            return;
        }
        drop(queue);
        contain(then);
    }

    fn push(&self, message: M) -> Pushed<M> {
        self.settle_freely(self.label(message)).into()
    }

    fn push_above(&self, message: M, mute: Option<Mute>) -> Pushed<M> {
        let letter = self.label(message);
        // A place first, so that the last message is not taken out, and no sender found muted, before all is done.
        self.reserve_above(mute);
        self.settle_in_place(letter)
    }

    fn push_waiting(
        &self,
        message: M,
        deadline: Option<Instant>,
        closed: &dyn Fn() -> bool,
    ) -> Pushed<M> {
        let mut letter = Some(self.label(message));
        let attempt = || {
            if closed() {
                return letter
                    .take()
                    .map(|letter| Pushed::Full(letter.into_message()));
            }
            match self.settle_freely(letter.take()?) {
                Settled::Full(refused) => {
                    letter = Some(refused);
                    None
                }
                decided => Some(decided.into()),
            }
        };
        let pushed = self.wait_until(deadline, attempt, closed);
        match (pushed, letter) {
            (Some(pushed), _) => pushed,
            (None, Some(letter)) => Pushed::Full(letter.into_message()),
            (None, None) => unreachable!("a message is either in hand or decided upon"),
        }
    }

    fn reserve(&self) -> Reserved {
        let mut queue = self.queue.lock();
        let has_room = queue.has_room(self.limit);
        match self.overflow {
            Overflow::Fail | Overflow::Wait if !has_room => Reserved::Full,
            Overflow::DropNewest if !has_room => Reserved::Dropped,
            _ => {
                queue.reserved += 1;
                Reserved::Place
            }
        }
    }

    fn reserve_above(&self, mute: Option<Mute>) -> Reserved {
        let superfluous = {
            let mut queue = self.queue.lock();
            let superfluous = queue.mute(mute, self.limit);
            queue.reserved += 1;
            superfluous
        };
        drop(superfluous);
        Reserved::Place
    }

    fn reserve_until(&self, deadline: Option<Instant>, closed: &dyn Fn() -> bool) -> Reserved {
        let attempt = || match self.reserve() {
            Reserved::Full if !closed() => None,
            decided => Some(decided),
        };
        self.wait_until(deadline, attempt, closed)
            .unwrap_or(Reserved::Full)
    }

    fn push_reserved(&self, message: M) -> Pushed<M> {
        let letter = or_undo(|| self.label(message), || self.release());
        self.settle_in_place(letter)
    }

    fn release(&self) {
        let unmuted = {
            let mut queue = self.queue.lock();
            queue.reserved -= 1;
            queue.unmuted(self.limit)
        };
        drop(unmuted);
        self.tell_of_room();
    }

    fn with_room(&self, closed: &dyn Fn() -> bool, look: &mut dyn FnMut(&dyn Source)) {
        look(&self.room(closed));
    }

    fn len(&self) -> usize {
        self.queue.lock().messages.len()
    }

    fn rest(&self) -> bool {
        let (rests, memory) = {
            let mut queue = self.queue.lock();
            queue.awake = queue.messages.len() != 0;
            // What a rush has left, once it is over for sure.
            (!queue.awake, queue.messages.spare())
        };
        drop(memory);
        rests
    }

    fn take(&self) -> Took<M> {
        let mut queue = self.queue.lock();
        let taken = queue.messages.take();
        queue.awake = taken.is_some();
        // What a rush has left, once it is over for sure.
        let memory = match taken {
            Some(_) => None,
            None => queue.messages.spare(),
        };
        Took {
            taken,
            unmuted: queue.unmuted(self.limit),
            memory,
            #[cfg(feature = "serde")]
            due: queue.due(),
        }
    }

    fn finish(&self, took: Took<M>) -> Option<M> {
        drop(took.unmuted);
        drop(took.memory);
        #[cfg(feature = "serde")]
        drop(took.due);
        let message = took.taken?.into_inner();
        self.tell_of_room();
        Some(message)
    }

    fn close(&self) {
        self.senders.notify_all();
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A mailbox in line.
    fn in_line<M: Send + 'static>(limit: usize) -> Limited<M> {
        Limited::new(limit, Overflow::Wait, None)
    }

    /// A sender that sleeps until there is room.
    fn sender(limited: &Arc<Limited<u32>>, message: u32) -> mpsc::Receiver<bool> {
        let (told, is_in) = mpsc::channel();
        let limited = Arc::clone(limited);
        thread::spawn(move || {
            let pushed = limited.push_waiting(message, None, &|| false);
            told.send(matches!(pushed, Pushed::In(_))).unwrap();
        });
        // Long enough for it to sleep; if it is late it finds the room by itself.
        thread::sleep(Duration::from_millis(50));
        is_in
    }

    const LONG: Duration = Duration::from_secs(20);

    /// So many messages are for the turn that begins: a place that is kept is none of them.
    #[test]
    fn the_messages_are_counted_and_not_the_places_that_are_kept() {
        let limited = in_line(4);
        assert_eq!(limited.len(), 0);
        assert!(matches!(limited.reserve(), Reserved::Place));
        for number in 1..=3 {
            assert!(matches!(limited.push(number), Pushed::In(_)));
            assert_eq!(limited.len(), number);
        }
        assert_eq!((limited.pop(), limited.len()), (Some(1), 2));
        limited.release();
        assert_eq!(limited.len(), 2);
    }

    #[test]
    fn a_place_that_is_given_back_wakes_a_sender() {
        let limited = Arc::new(in_line(1));
        assert!(matches!(limited.reserve(), Reserved::Place));
        let is_in = sender(&limited, 7);
        limited.release();
        assert_eq!(is_in.recv_timeout(LONG), Ok(true));
    }

    /// It was called for the room, and needed none: the others slept on beside it.
    #[test]
    fn a_sender_that_waits_and_needs_no_room_in_the_end_calls_another_one() {
        let mut labels = Labels::default();
        labels.set_key(|message: &u32| message % 10);
        let limited = Arc::new(Limited::new(2, Overflow::Wait, Some(Sorting::by(labels))));
        for number in [1, 2] {
            assert!(matches!(limited.push(number), Pushed::In(_)));
        }
        // Senders are called in the order in which they came; and each call comes as room does.
        let (told, is_through) = mpsc::channel();
        let senders: Vec<_> = [3, 13, 4]
            .into_iter()
            .map(|message| {
                let (limited, told) = (Arc::clone(&limited), told.clone());
                let sender = thread::spawn(move || {
                    let pushed = limited.push_waiting(message, None, &|| false);
                    told.send((message, matches!(pushed, Pushed::InsteadOf(..))))
                        .unwrap();
                });
                // Long enough for it to sleep; if it is late it finds the room by itself.
                thread::sleep(Duration::from_millis(50));
                sender
            })
            .collect();
        // The first one has the room of 1, the second one takes the first one's place, and the third one has the room of 2.
        for _ in 0..2 {
            assert!(limited.pop().is_some());
        }
        let mut through: Vec<_> = (0..3)
            .map(|_| is_through.recv_timeout(LONG).unwrap())
            .collect();
        through.sort_unstable();
        assert_eq!(through[2].0, 13);
        assert_eq!(through.iter().filter(|(_, replaces)| *replaces).count(), 1);
        senders
            .into_iter()
            .for_each(|sender| sender.join().unwrap());
    }

    #[test]
    fn a_place_that_is_not_needed_for_a_message_that_replaces_another_one_wakes_a_sender() {
        let mut labels = Labels::default();
        labels.set_key(|message: &u32| message % 10);
        let limited = Arc::new(Limited::new(2, Overflow::Wait, Some(Sorting::by(labels))));
        assert!(matches!(limited.push(1), Pushed::In(true)));
        assert!(matches!(limited.reserve(), Reserved::Place));
        let is_in = sender(&limited, 2);
        assert!(matches!(
            limited.push_reserved(11),
            Pushed::InsteadOf(1, Loss::Replaced)
        ));
        assert_eq!(is_in.recv_timeout(LONG), Ok(true));
    }
}
