//! A message that is sent later: `Address::tell_after`, `Address::tell_every`, and the same for functions.
//!
//! Where sending it runs nothing of the user's, the clock's thread does. Else it is sent in the actor's own turn, so what makes it, what
//! maps it to another message, and what has to give way in a full mailbox is never the clock's business.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tamtam_wait::contain;
use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};

use super::Stage;
use crate::address::{Address, WeakAddress};
use crate::cell::{Continuation, Door};
use crate::context::Here;
use crate::error::TellError;
use crate::mailbox::Loss;
use crate::time::{Alarm, Every, Key, Rhythm, Time, Timer, elsewhere};

impl<M: Send + 'static> Address<M> {
    /// Sends a message after this delay, by the time of the actor's home.
    ///
    /// The message goes behind what lies in the mailbox when the delay is over. If there is no room for it then, it
    /// is dropped and counted by [`lost`](Address::lost), unless the mailbox's policy drops another one for it; so it
    /// is if the actor has stopped. Until it is sent the timer counts as an address, so an actor does not stop for
    /// want of addresses before. Delays beyond all times are never over.
    ///
    /// An actor that has stopped meanwhile gets no message; the timer keeps it until the delay is over.
    ///
    /// # Ordering
    ///
    /// Two messages whose delays end in different milliseconds are sent in that order, and two of the same
    /// millisecond in the order of these calls.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use tamtam_actor::Pool;
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = mpsc::channel();
    /// let actor = pool.spawn_fn(move |word: &str, _| sender.send(word).unwrap());
    /// actor.tell_after(Duration::from_millis(5), "later");
    /// let never = actor.tell_after(Duration::from_millis(2_000), "never");
    /// actor.tell("now")?;
    /// assert_eq!(receiver.recv()?, "now");
    /// assert_eq!(receiver.recv()?, "later");
    /// assert!(never.cancel());
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn tell_after(&self, delay: Duration, message: M) -> Timer {
        self.with_door(|door| deliver_once(door.time(), self.clone(), delay, None, message))
    }

    /// Sends a message again and again, by the time of the actor's home. `message` makes each, in a turn of the
    /// actor's, before its messages.
    ///
    /// What is said of full mailboxes for [`tell_after`](Address::tell_after) holds here, too. But this timer does not
    /// count as an address: when there is no other one left it ends with the actor. A panic in `message` ends the
    /// timer, and nothing else.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use tamtam_actor::{Every, Pool};
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = mpsc::channel();
    /// let actor = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
    /// let mut number = 0;
    /// let numbers = actor.tell_every(Every::delay(Duration::from_millis(1)), move || {
    ///     number += 1;
    ///     number
    /// });
    /// assert_eq!((receiver.recv()?, receiver.recv()?), (1, 2));
    /// assert!(numbers.cancel());
    /// # Ok::<(), mpsc::RecvError>(())
    /// ```
    pub fn tell_every(&self, every: Every, message: impl FnMut() -> M + Send + 'static) -> Timer {
        deliver_every(self, every, None, message)
    }
}

impl<M: Send + 'static> Here<M> {
    /// Sends a message to the actor that this function is, after this delay.
    ///
    /// As [`Address::tell_after`], but the timer belongs to this actor: when the actor stops it ends at once, and the
    /// message is dropped and counted.
    pub fn tell_after(&mut self, delay: Duration, message: M) -> Timer {
        let owner = self.timers_owner();
        let to = self.address();
        deliver_once(self.cell().time(), to, delay, Some(owner), message)
    }

    /// Sends a message to the actor that this function is, again and again; `message` makes each.
    ///
    /// As [`Address::tell_every`], but the timer ends with this actor, at once.
    pub fn tell_every(
        &mut self,
        every: Every,
        message: impl FnMut() -> M + Send + 'static,
    ) -> Timer {
        let owner = self.timers_owner();
        deliver_every(&self.address(), every, Some(owner), message)
    }
}

fn deliver_once<M: Send + 'static>(
    time: &Time,
    to: Address<M>,
    delay: Duration,
    owner: Option<Key>,
    message: M,
) -> Timer {
    let due = time.now().checked_add(delay);
    Timer::new(time.set(due, false, owner, |key| {
        Arc::new(OnceDelivery {
            key,
            waiting: Mutex::new(Some(OnceMessage {
                address: to,
                message,
            })),
        })
    }))
}

fn deliver_every<M: Send + 'static>(
    to: &Address<M>,
    every: Every,
    owner: Option<Key>,
    make: impl FnMut() -> M + Send + 'static,
) -> Timer {
    let door = to.door();
    let time = door.time().clone();
    let rhythm = Rhythm::new(every, time.now());
    let due = rhythm.planned();
    Timer::new(time.set(due, true, owner, |key| {
        Arc::new(RepeatedDelivery {
            door,
            to: to.downgrade(),
            key,
            stage: Mutex::new(Stage::Set(RepeatedMessage { make, rhythm })),
            missed: AtomicU64::new(0),
        })
    }))
}

/// Something that is due, and sends its message in the actor's turn.
trait Delivery: Alarm + 'static {
    /// Sends the message, unless that was cancelled.
    fn deliver(self: Arc<Self>);
}

/// Knocks at the actor, for the message to be sent in its turn.
fn knock(door: Arc<dyn Door>, delivery: Arc<impl Delivery>) {
    let knock = Box::new(MessageKnock {
        delivery: Some(delivery),
    });
    if door.is_closed() {
        // It would not be opened.
        drop(knock);
    } else {
        door.knock(knock);
    }
}

/// Counts a message that was refused as lost.
fn count_if_refused<M>(door: &dyn Door, sent: Result<(), TellError<M>>) {
    if let Err(error) = sent {
        door.count_lost(if error.is_full() {
            Loss::DroppedNewest
        } else {
            Loss::Stopped
        });
        drop(error);
    }
}

/// A timer that sends one message.
struct OnceDelivery<M> {
    key: Key,
    /// The one that takes it from here has it: the clock, the turn, or the thread that cancels it.
    waiting: Mutex<Option<OnceMessage<M>>>,
}

struct OnceMessage<M> {
    /// Keeps the actor from stopping for want of addresses.
    address: Address<M>,
    message: M,
}

impl<M: Send + 'static> OnceDelivery<M> {
    /// Ends it: what it was to send is the caller's to drop.
    fn end(&self) -> Option<OnceMessage<M>> {
        self.waiting.lock().take()
    }
}

impl<M: Send + 'static> Delivery for OnceDelivery<M> {
    fn deliver(self: Arc<Self>) {
        let Some(OnceMessage { address, message }) = self.end() else {
            return;
        };
        // What another actor's mapping does wrong is none of this one's business.
        contain(move || {
            let sent = address.tell(message);
            address.with_door(|door| count_if_refused(door, sent));
        });
    }
}

impl<M: Send + 'static> Alarm for OnceDelivery<M> {
    fn ring(self: Arc<Self>) {
        let mut waiting = self.waiting.lock();
        // Nothing of the user's runs where the mailbox takes every message as it is: so there is no need for a turn.
        if let Some(once) = waiting.take_if(|once| once.address.is_plain()) {
            drop(waiting);
            return put_into_mailbox(once);
        }
        let door = waiting.as_ref().map(|once| once.address.door());
        drop(waiting);
        if let Some(door) = door {
            knock(door, self);
        }
    }

    fn cancel(&self) -> bool {
        let Some(once) = self.end() else {
            return false;
        };
        once.address.with_door(|door| door.time().remove(self.key));
        true
    }

    fn die(&self) {
        if let Some(once) = self.end() {
            once.address.with_door(|door| {
                door.count_lost(Loss::Stopped);
                // Not every actor owns the timers by which it is told something.
                door.time().remove(self.key);
            });
        }
    }

    fn is_pending(&self) -> bool {
        let waiting = self.waiting.lock();
        let is_open = |once: &OnceMessage<M>| once.address.with_door(|door| !door.is_closed());
        waiting.as_ref().is_some_and(is_open)
    }

    fn missed(&self) -> u64 {
        0
    }
}

/// Sends a message to a mailbox that takes it as it is. If the actor has stopped meanwhile, it is dropped where that does not keep
/// the clock.
fn put_into_mailbox<M: Send + 'static>(once: OnceMessage<M>) {
    let OnceMessage { address, message } = once;
    if let Err(refused) = address.tell_by_clock(message) {
        elsewhere((address, refused), |(address, refused)| {
            address.with_door(|door| count_if_refused(door, Err(refused)));
        });
    }
}

/// A timer that sends messages again and again.
struct RepeatedDelivery<M, F> {
    door: Arc<dyn Door>,
    to: WeakAddress<M>,
    key: Key,
    /// The one that takes it from here has it: the turn, or the thread that cancels it.
    stage: Mutex<Stage<RepeatedMessage<F>>>,
    missed: AtomicU64,
}

struct RepeatedMessage<F> {
    make: F,
    rhythm: Rhythm,
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> RepeatedDelivery<M, F> {
    /// Sends a message, and plans the next one: how many were missed. None if there is to be none.
    fn post(&self, message: &mut RepeatedMessage<F>) -> Option<u64> {
        let address = self.to.upgrade()?;
        let make = &mut message.make;
        contain(|| count_if_refused(&*self.door, address.tell(make())))?;
        Some(message.rhythm.plan(self.door.time().now()))
    }

    fn end(&self) -> Stage<RepeatedMessage<F>> {
        let stage = self.stage.lock().end();
        // Not every actor owns the timers by which it is told something.
        self.door.time().remove(self.key);
        stage
    }
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> Delivery for RepeatedDelivery<M, F> {
    fn deliver(self: Arc<Self>) {
        let message = self.stage.lock().begin();
        let Some(mut message) = message else {
            return;
        };
        let Some(missed) = self.post(&mut message) else {
            self.end();
            return;
        };
        let due = message.rhythm.planned();
        self.missed.fetch_add(missed, Ordering::Relaxed);
        let renewed = self.stage.lock().renew(message);
        match renewed {
            // If it is cancelled just now its key leads nowhere.
            Ok(()) => self.door.time().set_again(self.key, due),
            Err(cancelled) => drop(cancelled),
        }
    }
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> Alarm for RepeatedDelivery<M, F> {
    fn ring(self: Arc<Self>) {
        knock(Arc::clone(&self.door), self);
    }

    fn cancel(&self) -> bool {
        self.end().is_pending(true)
    }

    fn die(&self) {
        self.end();
    }

    fn is_pending(&self) -> bool {
        let is_set = self.stage.lock().is_pending(true);
        is_set && !self.door.is_closed()
    }

    fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

/// A message that is due, on its way to the actor's turn.
struct MessageKnock<D: Delivery> {
    delivery: Option<Arc<D>>,
}

impl<D: Delivery> Continuation for MessageKnock<D> {
    fn go_on(mut self: Box<Self>, _: &mut dyn Any) {
        let delivery = self.delivery.take();
        drop(self);
        if let Some(delivery) = delivery {
            delivery.deliver();
        }
    }
}

impl<D: Delivery> Drop for MessageKnock<D> {
    fn drop(&mut self) {
        // The actor stopped before it opened.
        if let Some(delivery) = self.delivery.take() {
            elsewhere(delivery, |delivery| delivery.die());
        }
    }
}
