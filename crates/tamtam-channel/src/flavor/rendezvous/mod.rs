//! Channels of capacity zero: a message changes hands only when both sides are there.
//!
//! Both sides' wait queues are under one lock. The side that comes second finds the partner there, chooses
//! it, and exchanges the message through the *packet* of the one who came first: on its stack if it is
//! blocked in `send` or `recv`, on the heap if it is in a select, where the exchange comes after the
//! choice. The message itself moves outside of the lock.
//!
//! A task that receives is never chosen for an exchange: it may be cancelled at any moment, and would lose the
//! message. A sender that can wait enters its packet and tells the tasks, and one of them takes the message
//! while it is polled. A sender that cannot wait (`try_send`, a selected operation, a channel that drops) leaves the
//! message in the *mail* of the tasks, if one of them waits: the next to receive takes it from there, so a task
//! that is cancelled meanwhile takes nothing with it.

mod packet;
mod selected;
mod sides;
mod tasks;

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::seam::{Mutex, MutexGuard};
use tamtam_wait::{CAN_BLOCK, Context, Entry, Habit, Operation, Outcome, Sleeper, Wait, WaitQueue};

use super::{Nothing, Refusal, drop_each};
use crate::overflow::Overflow;
use packet::Packet;
pub(crate) use selected::{Exchange, Side};
use sides::Sides;
pub(crate) use tasks::{Meeting, Offer};

/// A channel of capacity zero.
pub(crate) struct Rendezvous<T> {
    sides: Mutex<Sides<T>>,
    sender_habit: Habit,
    receiver_habit: Habit,
    /// How many messages were dropped for want of a receiver.
    dropped: AtomicU64,
    message: core::marker::PhantomData<Box<T>>,
}

// SAFETY: messages move from one thread to another through packets, each accessed by one side at a
// time; everything else is under the lock.
unsafe impl<T: Send> Send for Rendezvous<T> {}
// SAFETY: messages only move, through packets that one side accesses at a time; everything else is under the lock.
unsafe impl<T: Send> Sync for Rendezvous<T> {}

const ONLY: Operation = Operation::new(0);

impl<T> Rendezvous<T> {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Rendezvous {
            sides: Mutex::new(Sides {
                senders: WaitQueue::default(),
                receivers: WaitQueue::default(),
                tasks: None,
                closed: false,
                uses: 0,
                drops: overflow.drops(),
            }),
            sender_habit: Habit::new(),
            receiver_habit: Habit::new(),
            dropped: AtomicU64::new(0),
            message: core::marker::PhantomData,
        }
    }

    /// The sides, which may be other ones afterwards.
    #[inline]
    fn lock(&self) -> MutexGuard<'_, Sides<T>> {
        let mut sides = self.sides.lock();
        sides.uses = sides.uses.wrapping_add(1);
        sides
    }

    /// Gives the message to the partner that was chosen.
    ///
    /// # Safety
    ///
    /// The exchange was begun by this thread as the sender.
    unsafe fn give(exchange: *const Packet<T>, message: T) {
        // SAFETY: the packet lives until it is done, and only the chooser accesses the message
        // before.
        unsafe {
            (*exchange).fill(message);
            (*exchange).end();
        }
    }

    /// As [`give`](Rendezvous::give), for a selected operation, which holds the packet.
    ///
    /// # Safety
    ///
    /// As for [`give`](Rendezvous::give).
    unsafe fn give_held(exchange: *const Packet<T>, message: T) {
        // SAFETY: the packet lives until it is done, and only the chooser accesses the message
        // before.
        unsafe {
            (*exchange).fill(message);
            (*exchange).end_held();
        }
    }

    /// Takes the message of the partner that was chosen, and wakes it.
    ///
    /// # Safety
    ///
    /// The exchange was begun by this thread as the receiver.
    ///
    /// Nothing if the sender, in a select, gave the exchange up.
    unsafe fn take(exchange: *const Packet<T>, sleeper: Option<Sleeper>) -> Option<T> {
        // SAFETY: the packet lives until it is done or, on the heap, until it is freed here.
        let packet = unsafe { &*exchange };
        if packet.blocked {
            // SAFETY: the owner is blocked and waits for us.
            let message = unsafe { packet.take() };
            packet.end();
            // Not earlier: it would wake up to wait for us.
            drop(sleeper);
            message
        } else {
            // A sender in a select has to wake up before it can give.
            drop(sleeper);
            packet.wait_until_done();
            // SAFETY: done: the sender is through with it, and has left the box to us.
            unsafe { Box::from_raw(exchange.cast_mut()) }
                .message
                .into_inner()
        }
    }

    /// Ends an exchange without a message, so that the partner does not wait for it.
    ///
    /// # Safety
    ///
    /// The exchange was begun by this thread and not finished yet.
    unsafe fn abandon(exchange: *const Packet<T>, sends: bool) {
        if sends {
            // SAFETY: the packet lives until it is done, and this is the last access.
            unsafe { (*exchange).end_held() };
        } else {
            // SAFETY: this thread began the exchange and has not finished it, so the packet lives and its message is this
            // thread's. The message has no receiver.
            drop(unsafe { Self::take(exchange, None) });
        }
    }

    /// Gives the message to a receiver that waits; it comes back in `Ok` if it was dropped for want of one.
    pub(crate) fn try_send(&self, message: T) -> Result<Option<T>, (T, Refusal)> {
        let sides = self.lock();
        if sides.closed {
            return Err((message, Refusal::Closed));
        }
        let drops = sides.drops;
        match Self::hand_over(sides, message) {
            Ok(()) => Ok(None),
            Err((_, message)) if drops => Ok(Some(self.displace(message))),
            Err((_, message)) => Err((message, Refusal::Full)),
        }
    }

    /// Gives the message to a thread that waits for one, or puts it into the mail of a task that does.
    fn hand_over(
        mut sides: MutexGuard<'_, Sides<T>>,
        message: T,
    ) -> Result<(), (MutexGuard<'_, Sides<T>>, T)> {
        if let Some((packet, sleeper)) = sides.choose_receiver() {
            drop(sides);
            // SAFETY: begun just now; every entry of this channel has a packet of this type.
            unsafe { Self::give(packet.cast(), message) };
            drop(sleeper);
            return Ok(());
        }
        if !sides.has_task() {
            return Err((sides, message));
        }
        let sleeper = sides.choose_task();
        Self::put_mail(sides, message);
        drop(sleeper);
        Ok(())
    }

    /// Leaves a message for the next one to receive.
    fn put_mail(mut sides: MutexGuard<'_, Sides<T>>, message: T) {
        let mut sleepers = Vec::new();
        sides.tasks().mail.push_back(message);
        sides.receivers.tell_watchers(&mut sleepers);
        drop(sides);
        drop(sleepers);
    }

    /// A selected operation that was to bring mail is over: its task is there for another sender.
    fn release_task(&self) -> MutexGuard<'_, Sides<T>> {
        let mut sleepers = Vec::new();
        let mut sides = self.lock();
        let senders_wait = sides.senders.has_any();
        sides.senders.tell_watchers(&mut sleepers);
        let tasks = sides.tasks();
        tasks.promised -= 1;
        if senders_wait {
            // A sender that found each task promised has told none of them.
            tasks.waiting.tell_all(&mut sleepers);
        }
        if sleepers.is_empty() {
            return sides;
        }
        drop(sides);
        drop(sleepers);
        self.lock()
    }

    /// A task that was told of mail does not come: the next one is told.
    fn pass_mail_on(&self) {
        let mut sides = self.lock();
        let chosen = if sides.has_mail() {
            sides.choose_task()
        } else {
            None
        };
        drop(sides);
        drop(chosen);
    }

    /// Drops the mail of a channel without receivers.
    pub(crate) fn discard(&self) {
        let mut sides = self.lock();
        let mail = sides
            .tasks
            .as_mut()
            .map(|tasks| core::mem::take(&mut tasks.mail));
        drop(sides);
        drop_each(mail.into_iter().flatten());
    }

    /// Counts a message that is dropped for want of a receiver.
    fn displace(&self, message: T) -> T {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        message
    }

    /// Whether messages are dropped when there is no receiver.
    pub(crate) fn drops(&self) -> bool {
        // It never changes, and this is no use of the sides.
        self.sides.lock().drops
    }

    /// How many messages were dropped, ever.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// As [`try_send`](Rendezvous::try_send), but waits for a receiver.
    pub(crate) fn send(
        &self,
        message: T,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<Option<T>, (T, Refusal)> {
        const {
            assert!(
                CAN_BLOCK,
                "this call would block: use its `try_` or `_async` form"
            )
        };
        Context::with(|context| {
            let mut sides = self.lock();
            if let Some((packet, sleeper)) = sides.choose_receiver() {
                drop(sides);
                // SAFETY: begun just now; every entry of this channel has a packet of this type.
                unsafe { Self::give(packet.cast(), message) };
                drop(sleeper);
                return Ok(None);
            }
            if sides.closed {
                return Err((message, Refusal::Closed));
            }
            if sides.drops || (sides.has_task() && is_over(deadline)) {
                // Nothing to wait for, or no time for it.
                let drops = sides.drops;
                return match Self::hand_over(sides, message) {
                    Ok(()) => Ok(None),
                    Err((_, message)) if drops => Ok(Some(self.displace(message))),
                    Err((_, message)) => Err((message, Refusal::Full)),
                };
            }
            let packet = Packet::on_stack(Some(message));
            let refusal = match self.wait_as::<true>(sides, &packet, context, wait, deadline) {
                Outcome::Selected(_) => return Ok(None),
                Outcome::Aborted => Refusal::Full,
                Outcome::Disconnected => Refusal::Closed,
            };
            // SAFETY: this thread was not chosen, and the entry is gone.
            match unsafe { packet.take() } {
                Some(message) => Err((message, refusal)),
                None => unreachable!("nobody took a message that was not chosen"),
            }
        })
    }

    /// How many messages can be received now: of the senders that wait for a receiver, and in the mail.
    pub(crate) fn waiting_messages(&self) -> usize {
        let sides = self.lock();
        let mail = sides.tasks.as_ref().map_or(0, |tasks| tasks.mail.len());
        if sides.closed {
            return mail;
        }
        mail + sides.senders.waiting()
    }

    pub(crate) fn try_receive(&self) -> Result<T, Nothing> {
        loop {
            if let Some(result) = self.try_meet_sender() {
                return result;
            }
        }
    }

    /// `None` if a sender was met that then gave up.
    fn try_meet_sender(&self) -> Option<Result<T, Nothing>> {
        match Self::meet_sender(self.lock()) {
            Ok(met) => met.map(Ok),
            Err(sides) if sides.closed => Some(Err(Nothing::Closed)),
            Err(_) => Some(Err(Nothing::Empty)),
        }
    }

    /// Takes the message that was left for the next one to receive, or that of a sender that waits: `None` if the sender then
    /// gave up. The lock comes back if there is neither.
    #[inline]
    fn meet_sender(
        mut sides: MutexGuard<'_, Sides<T>>,
    ) -> Result<Option<T>, MutexGuard<'_, Sides<T>>> {
        if let Some(message) = sides.take_mail() {
            return Ok(Some(message));
        }
        let Some((packet, sleeper)) = sides.choose_sender() else {
            return Err(sides);
        };
        drop(sides);
        // SAFETY: begun just now; every entry of this channel has a packet of this type.
        Ok(unsafe { Self::take(packet.cast(), Some(sleeper)) })
    }

    pub(crate) fn receive(&self, wait: Wait, deadline: Option<Instant>) -> Result<T, Nothing> {
        loop {
            if let Some(result) = self.wait_for_sender(wait, deadline) {
                return result;
            }
        }
    }

    /// `None` if a sender was met that then gave up.
    fn wait_for_sender(&self, wait: Wait, deadline: Option<Instant>) -> Option<Result<T, Nothing>> {
        Context::with(|context| {
            let sides = match Self::meet_sender(self.lock()) {
                Ok(met) => return met.map(Ok),
                Err(sides) => sides,
            };
            if sides.closed {
                return Some(Err(Nothing::Closed));
            }
            let packet = Packet::<T>::on_stack(None);
            match self.wait_as::<false>(sides, &packet, context, wait, deadline) {
                // SAFETY: done: the sender is through with the packet.
                Outcome::Selected(_) => unsafe { packet.take() }.map(Ok),
                Outcome::Aborted => Some(Err(Nothing::Empty)),
                Outcome::Disconnected => Some(Err(Nothing::Closed)),
            }
        })
    }

    /// Waits with a packet as a sender or as a receiver. If it was chosen, the packet is done by now; else
    /// no other thread has the packet's address any more.
    #[inline]
    fn wait_as<const SENDS: bool>(
        &self,
        sides: MutexGuard<'_, Sides<T>>,
        packet: &Packet<T>,
        context: &Context,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Outcome {
        Self::enter::<SENDS>(
            sides,
            Entry {
                packet: packet.address(),
                ..Entry::new(ONLY, context)
            },
        );
        let habit = if SENDS {
            &self.sender_habit
        } else {
            &self.receiver_habit
        };
        let mut patience = habit.begin(wait, deadline);
        let outcome = context.wait(&mut patience, deadline);
        match outcome {
            Outcome::Selected(_) => packet.wait_until_done(),
            Outcome::Aborted | Outcome::Disconnected => {
                let mut sides = self.lock();
                sides.of::<SENDS>().0.unregister(ONLY, context);
            }
        }
        outcome
    }

    /// Enters a packet on one side, tells those who watch for it, and gives the lock back.
    #[inline]
    fn enter<const SENDS: bool>(mut sides: MutexGuard<'_, Sides<T>>, entry: Entry) {
        let mut sleepers = Vec::new();
        let (own, others) = sides.of::<SENDS>();
        own.register(entry);
        others.tell_watchers(&mut sleepers);
        if SENDS && let Some(tasks) = &mut sides.tasks {
            tasks.waiting.tell_all(&mut sleepers);
        }
        drop(sides);
        drop(sleepers);
    }

    /// Closes the channel for both sides; `false` if it was closed.
    pub(crate) fn close(&self) -> bool {
        let mut sleepers = Vec::new();
        let mut sides = self.lock();
        let closes = !sides.closed;
        if closes {
            sides.closed = true;
            sides.senders.disconnect(&mut sleepers);
            sides.receivers.disconnect(&mut sleepers);
            if let Some(tasks) = &mut sides.tasks {
                tasks.waiting.disconnect(&mut sleepers);
            }
        }
        drop(sides);
        drop(sleepers);
        closes
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Receiving as a task does it: not by being chosen, but by choosing a sender.
    ///
    /// A task that is cancelled after a sender has given it a message would lose the message, or the
    /// sender would have returned before a receiver had it. So a task is only told that a sender has come,
    /// and the exchange takes place while it is polled.
    pub(crate) fn meeting(&self) -> Meeting<'_, T> {
        Meeting(self)
    }

    pub(crate) fn sending(&self) -> Side<'_, T, true> {
        Side(self)
    }

    pub(crate) fn receiving(&self) -> Side<'_, T, false> {
        Side(self)
    }
}

/// Whether the deadline has passed.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}
