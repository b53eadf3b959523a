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
use super::sorted::{Sorted, SortedMailbox};

mod places;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

pub(crate) use places::Took;
use places::{Messages, Places, Taken};

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
    /// priority is. Who waits for the answer to a message that is dropped gets [`AskError::Dropped`](crate::AskError::Dropped).
    DropNewest,
    /// It is appended, and the oldest one is dropped; in a mailbox with
    /// [priorities](crate::Spawner::priorities), the oldest one of the lowest priority, which may be this one. Who waits for an answer is told
    /// as by `DropNewest`.
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
        match self.overflow {
            Overflow::Fail | Overflow::Wait => true,
            Overflow::DropNewest | Overflow::DropOldest => false,
        }
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
            Overflow::Fail | Overflow::Wait | Overflow::DropNewest if place != RoomHeld::None => {
                Settled::In(queue.append(letter))
            }
            Overflow::Fail | Overflow::Wait => Settled::Full(letter),
            Overflow::DropNewest => match queue.messages.make_room(&letter, true) {
                Some(victim) => {
                    queue.append(letter);
                    Settled::Out(victim, Loss::DroppedNewest)
                }
                None => Settled::Back(letter, Loss::DroppedNewest),
            },
            Overflow::DropOldest if queue.messages.len() != 0 => {
                match queue.messages.make_room(&letter, false) {
                    Some(victim) => {
                        queue.append(letter);
                        Settled::Out(victim, Loss::DroppedOldest)
                    }
                    None => Settled::Back(letter, Loss::DroppedOldest),
                }
            }
            // All places are kept for others, who then drop the oldest.
            Overflow::DropOldest => Settled::In(queue.append(letter)),
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
        match self.overflow {
            Overflow::Wait => true,
            Overflow::Fail | Overflow::DropNewest | Overflow::DropOldest => false,
        }
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
        if !queue.has_room(self.limit) {
            match self.overflow {
                Overflow::Fail | Overflow::Wait => return Reserved::Full,
                Overflow::DropNewest => return Reserved::Dropped,
                // Who comes with it drops the oldest.
                Overflow::DropOldest => {}
            }
        }
        queue.reserved += 1;
        Reserved::Place
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
