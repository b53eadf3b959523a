//! Channels of capacity zero: a message changes hands only when both sides are there.
//!
//! Both sides' wait queues are under one lock. Whoever comes second finds the partner there, chooses
//! it, and exchanges the message through the *packet* of the one who came first: on its stack if it is
//! blocked in `send` or `recv`, on the heap if it is in a select, where the exchange comes after the
//! choice. The message itself moves outside of the lock.

use core::ptr::{self, NonNull};
use core::task::Waker;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU64, Ordering};
use tamtam_wait::seam::{Mutex, MutexGuard, UnsafeCell};
use tamtam_wait::{
    Backoff, CAN_BLOCK, Context, Entry, Habit, Operation, Outcome, Sleeper, Source, TaskDeadline,
    Token, Wait, WaitQueue,
};

use super::{Nothing, Refusal};
use crate::builder::Overflow;
use crate::error::RecvError;

/// Where one message changes hands.
pub(crate) struct Packet<T> {
    /// Whether the owner is blocked until the exchange is over, so that the packet can be on its
    /// stack.
    blocked: bool,
    /// From a sender's packet: the message is out. From a receiver's: the message is in. From the
    /// packet of a sender in a select: the message is in.
    done: AtomicBool,
    message: UnsafeCell<Option<T>>,
}

impl<T> Packet<T> {
    fn on_stack(message: Option<T>) -> Self {
        Packet {
            blocked: true,
            done: AtomicBool::new(false),
            message: UnsafeCell::new(message),
        }
    }

    fn on_heap() -> *mut Self {
        Box::into_raw(Box::new(Packet {
            blocked: false,
            done: AtomicBool::new(false),
            message: UnsafeCell::new(None),
        }))
    }

    fn address(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    fn wait_until_done(&self) {
        let mut backoff = Backoff::new();
        // SYNC packet-done
        while !self.done.load(Ordering::Acquire) {
            backoff.pause();
        }
    }

    /// # Safety
    ///
    /// Nobody else accesses the message.
    unsafe fn take(&self) -> Option<T> {
        self.message.with_mut(|message| {
            // SAFETY: by the caller's promise.
            unsafe { (*message).take() }
        })
    }

    /// Puts the message in and says so; the owner may be gone right afterwards.
    ///
    /// # Safety
    ///
    /// Nobody else accesses the message.
    unsafe fn give(&self, message: T) {
        self.message.with_mut(|place| {
            // SAFETY: by the caller's promise.
            unsafe { *place = Some(message) };
        });
        // SYNC packet-done
        self.done.store(true, Ordering::Release);
    }
}

struct Sides {
    senders: WaitQueue,
    receivers: WaitQueue,
    /// One side is gone, or somebody closed the channel while both were there. Then nobody is chosen
    /// any more: a select may enter its queue before it learns of the end.
    closed: bool,
    /// Messages that find no receiver are dropped. Never changes.
    drops: bool,
}

impl Sides {
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

    fn choose_sender(&mut self) -> Option<(Entry, Option<Sleeper>)> {
        if self.closed {
            return None;
        }
        self.senders.choose()
    }
}

/// A channel of capacity zero.
pub(crate) struct Rendezvous<T> {
    sides: Mutex<Sides>,
    sender_habit: Habit,
    receiver_habit: Habit,
    /// How many messages were dropped for want of a receiver.
    dropped: AtomicU64,
    message: core::marker::PhantomData<Box<T>>,
}

// SAFETY: messages move from one thread to another through packets, each accessed by one side at a
// time; everything else is under the lock.
unsafe impl<T: Send> Send for Rendezvous<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Rendezvous<T> {}

/// An exchange that has begun.
pub(crate) enum Exchange<T> {
    /// The channel is closed.
    Closed,
    /// Through the packet at this address.
    Packet(*const Packet<T>),
    /// The receiver has the message already. It was waiting in the sender's packet, and a sender is not
    /// held up until this operation is finished.
    Taken(Option<T>),
}

const ONLY: Operation = Operation::new(0);

impl<T> Rendezvous<T> {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Rendezvous {
            sides: Mutex::new(Sides {
                senders: WaitQueue::default(),
                receivers: WaitQueue::default(),
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
        unsafe { (*exchange).give(message) };
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
            // SYNC packet-done
            packet.done.store(true, Ordering::Release);
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
            // SYNC packet-done
            unsafe { (*exchange).done.store(true, Ordering::Release) };
        } else {
            // SAFETY: by the caller's promise. The message has nobody to go to.
            drop(unsafe { Self::take(exchange, None) });
        }
    }

    /// Gives the message to a receiver that waits; it comes back in `Ok` if it was dropped for want of one.
    pub(crate) fn try_send(&self, message: T) -> Result<Option<T>, (T, Refusal)> {
        let mut sides = self.sides.lock();
        if let Some((entry, sleeper)) = sides.choose_receiver() {
            drop(sides);
            // SAFETY: begun just now; every entry of this channel has a packet of this type.
            unsafe { Self::give(entry.packet.cast(), message) };
            drop(sleeper);
            return Ok(None);
        }
        if sides.closed {
            Err((message, Refusal::Closed))
        } else if sides.drops {
            Ok(Some(self.displace(message)))
        } else {
            Err((message, Refusal::Full))
        }
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
            if sides.drops {
                return Ok(Some(self.displace(message)));
            }
            let packet = Packet::on_stack(Some(message));
            let refusal = match self.wait_as::<true>(sides, &packet, context, wait, deadline) {
                Outcome::Selected(_) => return Ok(None),
                Outcome::Aborted => Refusal::Full,
                Outcome::Disconnected => Refusal::Closed,
            };
            // SAFETY: nobody has chosen us, and the entry is gone.
            match unsafe { packet.take() } {
                Some(message) => Err((message, refusal)),
                None => unreachable!("nobody took a message that was not chosen"),
            }
        })
    }

    /// How many senders wait for a receiver.
    pub(crate) fn waiting_senders(&self) -> usize {
        let sides = self.sides.lock();
        if sides.closed {
            return 0;
        }
        sides.senders.waiting()
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
    /// nobody has the packet's address any more.
    #[inline]
    fn wait_as<const SENDS: bool>(
        &self,
        sides: MutexGuard<'_, Sides>,
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
    fn enter<const SENDS: bool>(mut sides: MutexGuard<'_, Sides>, entry: Entry) {
        let mut sleepers = Vec::new();
        let (own, others) = sides.of::<SENDS>();
        own.register(entry);
        others.tell_watchers(&mut sleepers);
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
        sides.receivers.watch(Entry::new(operation, context));
        sides.senders.tell_watchers(&mut sleepers);
        let ready = sides.closed || sides.senders.has_any();
        drop(sides);
        drop(sleepers);
        ready
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.0.sides.lock().receivers.unwatch(operation, context);
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` puts into a token.
        drop(unsafe { token.take::<Option<T>>() });
    }

    fn is_ready(&self) -> bool {
        let sides = self.0.sides.lock();
        sides.closed || sides.senders.has_any()
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
        let late = deadline.is_some_and(|deadline| deadline <= Instant::now());
        // The waker's clone may panic: the message is still its future's then.
        let context = Context::for_task(waker);
        let mut sides = self.sides.lock();
        let met = sides.choose_receiver();
        let closed = sides.closed;
        if met.is_some() || closed || late {
            drop(sides);
            context.recycle();
            let Some((entry, sleeper)) = met else {
                return Err(if closed {
                    Refusal::Closed
                } else {
                    Refusal::Full
                });
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
            deadline: deadline.map(|due| TaskDeadline::new(due, &context)),
            context,
        }))
    }

    /// How the offer has ended, if it has; else `waker` is woken when it does.
    ///
    /// Once it has ended, [`end_offer`](Rendezvous::end_offer) tells what became of the message.
    pub(crate) fn poll_offer(offer: &Offer<T>, waker: &Waker) -> bool {
        offer.context.renew(waker).is_some()
    }

    /// Ends an offer: sent, or the message and why nobody has taken it.
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
        // SAFETY: either the receiver that chose us is done with it, or nobody has chosen us and the
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

impl<T> Exchange<T> {
    /// Finishes sending: gives the message, or gives it back if the channel is closed.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the sender, and not finished yet.
    pub(crate) unsafe fn give(self, message: T) -> Result<(), T> {
        match self {
            Exchange::Packet(packet) => {
                // SAFETY: by the caller's promise.
                unsafe { Rendezvous::give(packet, message) };
                Ok(())
            }
            Exchange::Closed | Exchange::Taken(_) => Err(message),
        }
    }

    /// Finishes receiving: takes the message. `Err` if the channel is closed, `Ok(None)` if the
    /// sender gave up.
    ///
    /// # Safety
    ///
    /// Begun by this thread as the receiver, and not finished yet.
    pub(crate) unsafe fn take(self) -> Result<Option<T>, RecvError> {
        match self {
            Exchange::Closed => Err(RecvError),
            // SAFETY: by the caller's promise.
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
        let chosen = if SENDS {
            sides.choose_receiver()
        } else {
            sides.choose_sender()
        };
        if let Some((entry, sleeper)) = chosen {
            drop(sides);
            let packet: *const Packet<T> = entry.packet.cast();
            // SAFETY: chosen just now; a packet lives until its exchange is done.
            if !SENDS && unsafe { (*packet).blocked } {
                // SAFETY: begun just now.
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
        } else {
            false
        }
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        let packet = Packet::<T>::on_heap();
        let mut sleepers = Vec::new();
        let mut sides = self.0.sides.lock();
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
            // SAFETY: filled just now.
            unsafe { self.abandon(&mut token) };
        }
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: this is what `try_begin` and `accept` put into a token.
        if let Exchange::Packet(packet) = unsafe { token.take::<Exchange<T>>() } {
            // SAFETY: begun by this thread.
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
                // SAFETY: begun by this thread.
                core::mem::forget(unsafe { Rendezvous::take(packet, None) });
            }
            taken => core::mem::forget(taken),
        }
    }

    fn is_ready(&self) -> bool {
        let mut sides = self.0.sides.lock();
        let closed = sides.closed;
        closed || sides.of::<SENDS>().1.has_any()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        let mut sides = self.0.sides.lock();
        let closed = sides.closed;
        let (own, others) = sides.of::<SENDS>();
        own.watch(Entry::new(operation, context));
        closed || others.has_other(context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        let mut sides = self.0.sides.lock();
        sides.of::<SENDS>().0.unwatch(operation, context);
    }
}
