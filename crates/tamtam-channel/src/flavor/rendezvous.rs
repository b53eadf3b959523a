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

use core::ptr::{self, NonNull};
use core::task::Waker;
use std::collections::VecDeque;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicPtr, AtomicU64, Ordering};
use tamtam_wait::seam::{Mutex, MutexGuard, UnsafeCell};
use tamtam_wait::{
    Backoff, CAN_BLOCK, Context, Entry, Habit, Operation, Outcome, Sleeper, Source, TaskDeadline,
    Token, Wait, WaitQueue,
};

use super::{Nothing, Refusal};
use crate::error::RecvError;
use crate::overflow::Overflow;

/// Where one message changes hands.
pub(crate) struct Packet<T> {
    /// Whether the owner is blocked until the exchange is over, so that the packet can be on its
    /// stack.
    blocked: bool,
    /// [`OPEN`], [`HELD`], [`DONE`], or the context of the thread that sleeps until it is done.
    ///
    /// Done means, of a sender's packet: the message is out. Of a receiver's: the message is in. Of the
    /// packet of a sender in a select: the message is in.
    state: AtomicPtr<Context>,
    message: UnsafeCell<Option<T>>,
}

/// The exchange takes a few instructions from the choice to its end.
const OPEN: *mut Context = ptr::null_mut();
/// A sender in a select finishes the exchange: the user's code runs before, so it may take any time.
const HELD: *mut Context = ptr::without_provenance_mut(1);
/// The exchange is over.
const DONE: *mut Context = ptr::without_provenance_mut(2);

/// So many looks at a packet that is held come before sleeping.
const LOOKS_BEFORE_SLEEP: u32 = if cfg!(tamtam_loom) { 1 } else { 64 };

impl<T> Packet<T> {
    fn on_stack(message: Option<T>) -> Self {
        Packet {
            blocked: true,
            state: AtomicPtr::new(OPEN),
            message: UnsafeCell::new(message),
        }
    }

    fn on_heap(state: *mut Context) -> *mut Self {
        Box::into_raw(Box::new(Packet {
            blocked: false,
            state: AtomicPtr::new(state),
            message: UnsafeCell::new(None),
        }))
    }

    fn address(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    fn wait_until_done(&self) {
        let mut backoff = Backoff::new();
        let mut looks = 0;
        loop {
            // SYNC packet-done
            match self.state.load(Ordering::Acquire) {
                DONE => return,
                HELD if looks >= LOOKS_BEFORE_SLEEP && CAN_BLOCK => return self.sleep_until_done(),
                _ => {}
            }
            looks += 1;
            backoff.pause();
        }
    }

    /// Sleeps until a packet that is held is done.
    #[cold]
    fn sleep_until_done(&self) {
        Context::with(|context| {
            let sleeper = Box::into_raw(Box::new(context.clone()));
            // SYNC packet-sleeper: the context is written. SYNC packet-done
            if self
                .state
                .compare_exchange(HELD, sleeper, Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                // SAFETY: made above, and the other side has not seen it. The packet is done.
                return drop(unsafe { Box::from_raw(sleeper) });
            }
            // SYNC packet-done by the context's word, which is decided after the state.
            context.park(None);
        });
    }

    /// # Safety
    ///
    /// No other thread accesses the message.
    unsafe fn take(&self) -> Option<T> {
        self.message.with_mut(|message| {
            // SAFETY: no other thread accesses the message, says the caller.
            unsafe { (*message).take() }
        })
    }

    /// Puts the message in. The packet is not done by that.
    ///
    /// # Safety
    ///
    /// No other thread accesses the message.
    unsafe fn fill(&self, message: T) {
        self.message.with_mut(|place| {
            // SAFETY: no other thread accesses the message, says the caller.
            unsafe { *place = Some(message) };
        });
    }

    /// Ends an exchange that is not held; the owner may be gone right afterwards.
    fn end(&self) {
        // SYNC packet-done
        self.state.store(DONE, Ordering::Release);
    }

    /// Ends an exchange that is held, and wakes the thread that sleeps until then; the owner may be gone right
    /// after the change of the state.
    fn end_held(&self) {
        // SYNC packet-done, SYNC packet-sleeper
        let before = self.state.swap(DONE, Ordering::AcqRel);
        if before == HELD {
            return;
        }
        debug_assert!(before != OPEN && before != DONE, "the packet is held");
        // SAFETY: the thread that sleeps has left its context in a box, and the swap has taken it out.
        let sleeper = unsafe { Box::from_raw(before) };
        if sleeper.select(ONLY) == Some(true) {
            sleeper.wake();
        }
    }
}

struct Sides<T> {
    senders: WaitQueue,
    /// Threads that receive. While there is mail, none of them waits to be chosen.
    receivers: WaitQueue,
    /// Made for the first task that waits.
    tasks: Option<Box<Tasks<T>>>,
    /// One side is gone, or the channel was closed while both were there. Then no waiter is chosen
    /// any more: a select may enter its queue before it learns of the end.
    closed: bool,
    /// Messages that find no receiver are dropped. Never changes.
    drops: bool,
}

/// Tasks that receive.
struct Tasks<T> {
    waiting: WaitQueue,
    /// Messages from senders that do not wait until a task is polled: at most one for each task that waited when
    /// they came. Any receiver takes the oldest one first.
    mail: VecDeque<T>,
}

impl<T> Sides<T> {
    /// The queue of the senders or the receivers, and the other one.
    fn of<const SENDERS: bool>(&mut self) -> (&mut WaitQueue, &mut WaitQueue) {
        if SENDERS {
            (&mut self.senders, &mut self.receivers)
        } else {
            (&mut self.receivers, &mut self.senders)
        }
    }

    fn choose_receiver(&mut self) -> Option<(Entry, Option<Sleeper>)> {
        if self.closed {
            return None;
        }
        self.receivers.choose()
    }

    fn has_task(&self) -> bool {
        self.tasks
            .as_ref()
            .is_some_and(|tasks| tasks.waiting.has_any())
    }

    fn has_mail(&self) -> bool {
        self.tasks
            .as_ref()
            .is_some_and(|tasks| !tasks.mail.is_empty())
    }

    fn take_mail(&mut self) -> Option<T> {
        self.tasks.as_mut()?.mail.pop_front()
    }

    /// Tells one task that there is mail for it.
    fn choose_task(&mut self) -> Option<Option<Sleeper>> {
        let (_, sleeper) = self.tasks.as_mut()?.waiting.choose()?;
        Some(sleeper)
    }

    fn tasks(&mut self) -> &mut Tasks<T> {
        self.tasks.get_or_insert_with(|| {
            Box::new(Tasks {
                waiting: WaitQueue::default(),
                mail: VecDeque::new(),
            })
        })
    }

    fn choose_sender(&mut self) -> Option<(Entry, Option<Sleeper>)> {
        if self.closed {
            return None;
        }
        self.senders.choose()
    }
}

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

/// An exchange that has begun.
pub(crate) enum Exchange<T> {
    /// The channel is closed.
    Closed,
    /// Through the packet at this address.
    Packet(*const Packet<T>),
    /// By the mail of the tasks: one was waiting.
    Mail,
    /// The receiver has the message already. It was waiting in the sender's packet, and a sender is not
    /// held up until this operation is finished; or it was mail.
    Taken(Option<T>),
}

const ONLY: Operation = Operation::new(0);

impl<T> Rendezvous<T> {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Rendezvous {
            sides: Mutex::new(Sides {
                senders: WaitQueue::default(),
                receivers: WaitQueue::default(),
                tasks: None,
                closed: false,
                drops: overflow != Overflow::Wait,
            }),
            sender_habit: Habit::new(),
            receiver_habit: Habit::new(),
            dropped: AtomicU64::new(0),
            message: core::marker::PhantomData,
        }
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
        let sides = self.sides.lock();
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
        if let Some((entry, sleeper)) = sides.choose_receiver() {
            drop(sides);
            // SAFETY: begun just now; every entry of this channel has a packet of this type.
            unsafe { Self::give(entry.packet.cast(), message) };
            drop(sleeper);
            return Ok(());
        }
        let Some(sleeper) = sides.choose_task() else {
            return Err((sides, message));
        };
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

    /// A task that was told of mail does not come: the next one is told.
    fn pass_mail_on(&self) {
        let mut sides = self.sides.lock();
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
        let mut sides = self.sides.lock();
        let mail = sides
            .tasks
            .as_mut()
            .map(|tasks| core::mem::take(&mut tasks.mail));
        drop(sides);
        drop(mail);
    }

    /// Counts a message that is dropped for want of a receiver.
    fn displace(&self, message: T) -> T {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        message
    }

    /// Whether messages are dropped when there is no receiver.
    pub(crate) fn drops(&self) -> bool {
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
            let mut sides = self.sides.lock();
            if let Some((entry, sleeper)) = sides.choose_receiver() {
                drop(sides);
                // SAFETY: begun just now; every entry of this channel has a packet of this type.
                unsafe { Self::give(entry.packet.cast(), message) };
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
        let sides = self.sides.lock();
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
        let mut sides = self.sides.lock();
        if let Some(message) = sides.take_mail() {
            return Some(Ok(message));
        }
        if let Some((entry, sleeper)) = sides.choose_sender() {
            drop(sides);
            // SAFETY: begun just now; every entry of this channel has a packet of this type.
            return unsafe { Self::take(entry.packet.cast(), sleeper) }.map(Ok);
        }
        Some(Err(if sides.closed {
            Nothing::Closed
        } else {
            Nothing::Empty
        }))
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
            let mut sides = self.sides.lock();
            if let Some(message) = sides.take_mail() {
                return Some(Ok(message));
            }
            if let Some((entry, sleeper)) = sides.choose_sender() {
                drop(sides);
                // SAFETY: begun just now; every entry of this channel has a packet of this type.
                return unsafe { Self::take(entry.packet.cast(), sleeper) }.map(Ok);
            }
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
                let mut sides = self.sides.lock();
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
        let mut sides = self.sides.lock();
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
        self.sides.lock().closed
    }

    /// Receiving as a task does it: not by being chosen, but by choosing a sender.
    ///
    /// A task that is cancelled after a sender has given it a message would lose the message, or the
    /// sender would have returned before anybody had it. So a task is only told that a sender has come,
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

/// A task's receiving from a rendezvous, as something to wait for.
pub(crate) struct Meeting<'a, T>(&'a Rendezvous<T>);

impl<T> Source for Meeting<'_, T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        match self.0.try_receive() {
            Ok(message) => token.put(Some(message)),
            Err(Nothing::Closed) => token.put(None::<T>),
            Err(Nothing::Empty | Nothing::Busy) => return false,
        }
        true
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        let mut sleepers = Vec::new();
        let mut sides = self.0.sides.lock();
        let ready = sides.closed || sides.has_mail() || sides.senders.has_any();
        if !ready {
            let entry = Entry::new(operation, context);
            sides.tasks().waiting.register(entry);
            sides.senders.tell_watchers(&mut sleepers);
        }
        drop(sides);
        drop(sleepers);
        ready
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.sides.lock();
        if let Some(tasks) = &mut sides.tasks {
            let entry = tasks.waiting.unregister(operation, context);
            drop(sides);
            drop(entry);
        }
    }

    fn decline(&self, _: &Context) {
        self.0.pass_mail_on();
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` puts into a token.
        drop(unsafe { token.take::<Option<T>>() });
    }

    fn is_ready(&self) -> bool {
        let sides = self.0.sides.lock();
        sides.closed || sides.has_mail() || sides.senders.has_any()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.register(operation, context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.unregister(operation, context);
    }
}

/// A task's sending into a rendezvous. The message waits in a packet until a receiver takes it, which
/// may be while the task does not run; so a sender never has to be polled for a receiver to get on.
pub(crate) struct Offer<T> {
    /// Owned by this offer; a receiver that has chosen us uses it until it is done.
    packet: NonNull<Packet<T>>,
    context: Context,
    deadline: Option<TaskDeadline>,
}

// SAFETY: an offer is a message on its way, and the receiver that takes it synchronises through the
// packet's flag.
unsafe impl<T: Send> Send for Offer<T> {}

impl<T> Rendezvous<T> {
    /// Gives the message to a receiver that waits, or enters an offer of it; else the message stays
    /// where it is.
    pub(crate) fn offer(
        &self,
        message: &mut Option<T>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Result<Option<Offer<T>>, Refusal> {
        let late = is_over(deadline);
        // The waker's clone may panic: the message is still its future's then.
        let context = Context::for_task(waker);
        let mut sides = self.sides.lock();
        let met = sides.choose_receiver();
        let closed = sides.closed;
        if late
            && met.is_none()
            && !closed
            && let Some(offered) = message.take()
        {
            // No time to wait until a task is polled.
            let handed_over = Self::hand_over(sides, offered);
            context.recycle();
            return handed_over.map(|()| None).map_err(|(sides, back)| {
                drop(sides);
                *message = Some(back);
                Refusal::Full
            });
        }
        if met.is_some() || closed {
            drop(sides);
            context.recycle();
            let Some((entry, sleeper)) = met else {
                return Err(Refusal::Closed);
            };
            match message.take() {
                // SAFETY: begun just now; every entry of this channel has a packet of this type.
                Some(message) => unsafe { Self::give(entry.packet.cast(), message) },
                None => unreachable!("a message is offered once"),
            }
            drop(sleeper);
            return Ok(None);
        }
        // The one address for both sides; a reference made later would claim the packet for us alone.
        let packet = NonNull::from(Box::leak(Box::new(Packet::on_stack(message.take()))));
        Self::enter::<true>(
            sides,
            Entry {
                packet: packet.as_ptr().cast(),
                ..Entry::new(ONLY, &context)
            },
        );
        Ok(Some(Offer {
            packet,
            deadline: deadline.map(|due| TaskDeadline::for_task(due, &context, waker)),
            context,
        }))
    }

    /// How the offer has ended, if it has; else `waker` is woken when it does.
    ///
    /// Once it has ended, [`end_offer`](Rendezvous::end_offer) tells what became of the message.
    pub(crate) fn poll_offer(offer: &mut Offer<T>, waker: &Waker) -> bool {
        let Offer {
            context, deadline, ..
        } = offer;
        context.renew(waker).is_some()
            || (deadline.as_mut()).is_some_and(|deadline| deadline.attend(context, waker))
    }

    /// Ends an offer: sent, or the message and why no receiver has taken it.
    pub(crate) fn end_offer(&self, offer: Offer<T>) -> Result<(), (T, Refusal)> {
        let Offer {
            packet,
            context,
            deadline,
        } = offer;
        drop(deadline);
        context.abort();
        // SAFETY: the offer owns the packet.
        let shared = unsafe { packet.as_ref() };
        let refusal = match context.outcome() {
            Some(Outcome::Selected(_)) => {
                shared.wait_until_done();
                None
            }
            outcome => {
                self.sides.lock().senders.unregister(ONLY, &context);
                Some(match outcome {
                    Some(Outcome::Disconnected) => Refusal::Closed,
                    _ => Refusal::Full,
                })
            }
        };
        context.recycle();
        // SAFETY: either the receiver that chose this sender is done with it, or none has chosen it and the
        // entry is gone.
        let message = unsafe { Box::from_raw(packet.as_ptr()) }
            .message
            .into_inner();
        match (message, refusal) {
            (Some(message), Some(refusal)) => Err((message, refusal)),
            _ => Ok(()),
        }
    }
}

/// Whether the deadline has passed.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

impl<T> Rendezvous<T> {
    /// Finishes a selected sending: gives the message, or gives it back if the channel is closed.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the sender, and not finished yet.
    pub(crate) unsafe fn finish_sending(&self, exchange: Exchange<T>, message: T) -> Result<(), T> {
        match exchange {
            Exchange::Packet(packet) => {
                // SAFETY: this thread began the exchange as the sender and has not finished it, so the packet lives and
                // waits for the message.
                unsafe { Self::give_held(packet, message) };
                Ok(())
            }
            Exchange::Mail => {
                let sides = self.sides.lock();
                if sides.closed {
                    return Err(message);
                }
                if let Err((sides, message)) = Self::hand_over(sides, message) {
                    // The task that was there is not waiting now; the next receiver takes it.
                    Self::put_mail(sides, message);
                }
                Ok(())
            }
            Exchange::Closed | Exchange::Taken(_) => Err(message),
        }
    }
}

impl<T> Exchange<T> {
    /// Finishes receiving: takes the message. `Err` if the channel is closed, `Ok(None)` if the
    /// sender gave up.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the receiver, and not finished yet.
    pub(crate) unsafe fn take(self) -> Result<Option<T>, RecvError> {
        match self {
            Exchange::Closed | Exchange::Mail => Err(RecvError),
            // SAFETY: this thread began the exchange as the receiver and has not finished it, so the packet lives and holds
            // the message.
            Exchange::Packet(packet) => Ok(unsafe { Rendezvous::take(packet, None) }),
            Exchange::Taken(message) => Ok(message),
        }
    }
}

/// One side of a rendezvous, as something to wait for.
pub(crate) struct Side<'a, T, const SENDS: bool>(&'a Rendezvous<T>);

impl<T, const SENDS: bool> Source for Side<'_, T, SENDS> {
    fn try_begin(&self, token: &mut Token) -> bool {
        let mut sides = self.0.sides.lock();
        if !SENDS && let Some(message) = sides.take_mail() {
            token.put(Exchange::Taken(Some(message)));
            return true;
        }
        let chosen = if SENDS {
            sides.choose_receiver()
        } else {
            sides.choose_sender()
        };
        if let Some((entry, sleeper)) = chosen {
            drop(sides);
            let packet: *const Packet<T> = entry.packet.cast();
            if SENDS {
                // SAFETY: chosen just now; a packet lives until its exchange is done.
                // SYNC packet-done: nothing is published by this.
                unsafe { (*packet).state.store(HELD, Ordering::Relaxed) };
            }
            // SAFETY: chosen just now; a packet lives until its exchange is done.
            if !SENDS && unsafe { (*packet).blocked } {
                // SAFETY: this thread has begun the exchange by choosing the packet, which lives until that is done.
                let message = unsafe { Rendezvous::take(packet, sleeper) };
                token.put(Exchange::Taken(message));
            } else {
                drop(sleeper);
                token.put(Exchange::Packet(packet));
            }
            true
        } else if sides.closed {
            token.put(Exchange::<T>::Closed);
            true
        } else if SENDS && sides.has_task() {
            token.put(Exchange::<T>::Mail);
            true
        } else {
            false
        }
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        let packet = Packet::<T>::on_heap(if SENDS { HELD } else { OPEN });
        let mut sides = self.0.sides.lock();
        let waits_here = if SENDS {
            sides.has_task()
        } else {
            sides.has_mail()
        };
        if waits_here {
            // Not entered, so that a sender that came later does not choose this receiver before the mail, and no
            // task is told of a sender that is about to leave again.
            drop(sides);
            // SAFETY: boxed above, and not seen by the other side.
            drop(unsafe { Box::from_raw(packet) });
            return true;
        }
        let mut sleepers = Vec::new();
        let closed = sides.closed;
        let (own, others) = sides.of::<SENDS>();
        own.register(Entry {
            packet: packet.cast(),
            ..Entry::new(operation, context)
        });
        others.tell_watchers(&mut sleepers);
        let ready = closed || others.has_other(context);
        drop(sides);
        drop(sleepers);
        ready
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.sides.lock();
        let entry = sides.of::<SENDS>().0.unregister(operation, context);
        drop(sides);
        if let Some(entry) = entry {
            // SAFETY: `register` boxed it, and it left the queue without being chosen.
            drop(unsafe { Box::from_raw(entry.packet.cast::<Packet<T>>()) });
        }
    }

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        token.put(Exchange::<T>::Packet(context.packet().cast()));
        true
    }

    fn decline(&self, context: &Context) {
        let mut token = Token::default();
        if self.accept(&mut token, context) {
            // SAFETY: `accept` has filled the token just now.
            unsafe { self.abandon(&mut token) };
        }
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` and `accept` put into a token.
        if let Exchange::Packet(packet) = unsafe { token.take::<Exchange<T>>() } {
            // SAFETY: this thread has begun the exchange and not finished it: the token was filled and not used since.
            unsafe { Rendezvous::abandon(packet, SENDS) };
        }
    }

    unsafe fn abandon_elsewhere(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` and `accept` put into a token.
        match unsafe { token.take::<Exchange<T>>() } {
            Exchange::Packet(packet) if SENDS => {
                // SAFETY: begun by this thread; there is no message yet.
                unsafe { Rendezvous::abandon(packet, SENDS) };
            }
            Exchange::Packet(packet) => {
                // SAFETY: this thread has begun the exchange as the receiver, and not finished it.
                core::mem::forget(unsafe { Rendezvous::take(packet, None) });
            }
            taken => core::mem::forget(taken),
        }
    }

    fn is_ready(&self) -> bool {
        let mut sides = self.0.sides.lock();
        let beside = if SENDS {
            sides.has_task()
        } else {
            sides.has_mail()
        };
        sides.closed || beside || sides.of::<SENDS>().1.has_any()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        let mut sides = self.0.sides.lock();
        let beside = if SENDS {
            sides.has_task()
        } else {
            sides.has_mail()
        };
        let closed = sides.closed;
        let (own, others) = sides.of::<SENDS>();
        own.watch(Entry::new(operation, context));
        closed || beside || others.has_other(context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.sides.lock();
        sides.of::<SENDS>().0.unwatch(operation, context);
    }
}
