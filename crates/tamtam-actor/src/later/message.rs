//! A message that is sent later: `Address::tell_after`, `Address::tell_every`, and the same for functions.
//!
//! It is sent in the actor's own turn, so what makes it, what maps it to another message, and what has to give way in
//! a full mailbox is never the clock's business.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::contain;
use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};

use super::Stage;
use crate::address::{Address, WeakAddress};
use crate::cell::{Continuation, Door};
use crate::context::Here;
use crate::mailbox::Loss;
use crate::time::{Alarm, Every, Key, Rhythm, Timer, elsewhere};

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
        let door = self.door();
        let due = door.time().now().checked_add(delay);
        deliver(
            door,
            self.downgrade(),
            due,
            None,
            OnceMessage {
                address: self.clone(),
                message,
            },
        )
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
        let door = self.door();
        let rhythm = Rhythm::new(every, door.time().now());
        let due = rhythm.planned();
        deliver(
            door,
            self.downgrade(),
            due,
            None,
            RepeatMessage {
                make: message,
                rhythm,
            },
        )
    }
}

impl<M: Send + 'static> Here<M> {
    /// Sends a message to the actor that this function is, after this delay.
    ///
    /// As [`Address::tell_after`], but the timer belongs to this actor: when the actor stops it ends at once, and the
    /// message is dropped and counted.
    pub fn tell_after(&mut self, delay: Duration, message: M) -> Timer {
        let due = self.now().checked_add(delay);
        let once = OnceMessage {
            address: self.address(),
            message,
        };
        self.deliver(due, once)
    }

    /// Sends a message to the actor that this function is, again and again; `message` makes each.
    ///
    /// As [`Address::tell_every`], but the timer ends with this actor, at once.
    pub fn tell_every(
        &mut self,
        every: Every,
        message: impl FnMut() -> M + Send + 'static,
    ) -> Timer {
        let rhythm = Rhythm::new(every, self.now());
        let due = rhythm.planned();
        self.deliver(
            due,
            RepeatMessage {
                make: message,
                rhythm,
            },
        )
    }

    fn deliver<C: Post<M>>(&mut self, due: Option<Instant>, post: C) -> Timer {
        let owner = self.timers_owner();
        let address = self.address();
        deliver(address.door(), address.downgrade(), due, Some(owner), post)
    }
}

fn deliver<M: Send + 'static, C: Post<M>>(
    door: Arc<dyn Door>,
    to: WeakAddress<M>,
    due: Option<Instant>,
    owner: Option<Key>,
    post: C,
) -> Timer {
    let time = door.time().clone();
    let delivery = |key| {
        Arc::new(Delivery {
            door,
            to,
            key,
            stage: Mutex::new(Stage::Set(post)),
            missed: AtomicU64::new(0),
        })
    };
    Timer::new(time.set(due, C::REPEATS, owner, delivery))
}

/// What is sent when it is due.
trait Post<M>: Sized + Send + 'static {
    /// Whether there is more than one message.
    const REPEATS: bool;

    /// Sends it. If another one is to be sent, then when, and how many were missed.
    fn post(self, delivery: &Delivery<M, Self>) -> Option<PlannedMessage<Self>>;
}

struct PlannedMessage<C> {
    post: C,
    due: Option<Instant>,
    missed: u64,
}

struct OnceMessage<M> {
    /// Keeps the actor from stopping for want of addresses.
    address: Address<M>,
    message: M,
}

impl<M: Send + 'static> Post<M> for OnceMessage<M> {
    const REPEATS: bool = false;

    fn post(self, delivery: &Delivery<M, Self>) -> Option<PlannedMessage<Self>> {
        // What another actor's mapping does wrong is none of this one's business.
        contain(move || delivery.send(&self.address, self.message));
        None
    }
}

struct RepeatMessage<F> {
    make: F,
    rhythm: Rhythm,
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> Post<M> for RepeatMessage<F> {
    const REPEATS: bool = true;

    fn post(mut self, delivery: &Delivery<M, Self>) -> Option<PlannedMessage<Self>> {
        let address = delivery.to.upgrade()?;
        let make = &mut self.make;
        contain(|| delivery.send(&address, make()))?;
        let missed = self.rhythm.plan(delivery.door.time().now());
        Some(PlannedMessage {
            due: self.rhythm.planned(),
            missed,
            post: self,
        })
    }
}

/// A timer that sends messages.
struct Delivery<M, C> {
    door: Arc<dyn Door>,
    to: WeakAddress<M>,
    key: Key,
    /// The one that takes it from here has it: the turn, or the thread that cancels it.
    stage: Mutex<Stage<C>>,
    missed: AtomicU64,
}

impl<M: Send + 'static, C: Post<M>> Delivery<M, C> {
    fn send(&self, address: &Address<M>, message: M) {
        if let Err(error) = address.tell(message) {
            self.door.count_lost(if error.is_full() {
                Loss::DroppedNewest
            } else {
                Loss::Stopped
            });
            drop(error);
        }
    }
}

impl<M: Send + 'static, C: Post<M>> Alarm for Delivery<M, C> {
    fn ring(self: Arc<Self>) {
        let door = Arc::clone(&self.door);
        let knock = Box::new(MessageKnock {
            delivery: Some(self),
        });
        if door.is_closed() {
            // It would not be opened.
            drop(knock);
        } else {
            door.knock(knock);
        }
    }

    fn cancel(&self) -> bool {
        let stage = self.stage.lock().end();
        if let Stage::Over = stage {
            return false;
        }
        let was_in_time = stage.is_pending(C::REPEATS);
        self.door.time().remove(self.key);
        drop(stage);
        was_in_time
    }

    fn die(&self) {
        let stage = self.stage.lock().end();
        if let (Stage::Set(_), false) = (&stage, C::REPEATS) {
            self.door.count_lost(Loss::Stopped);
        }
        // Not every actor owns the timers by which it is told something.
        self.door.time().remove(self.key);
        drop(stage);
    }

    fn is_pending(&self) -> bool {
        let is_set = self.stage.lock().is_pending(C::REPEATS);
        is_set && !self.door.is_closed()
    }

    fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

/// A message that is due, on its way to the actor's turn.
struct MessageKnock<M: Send + 'static, C: Post<M>> {
    delivery: Option<Arc<Delivery<M, C>>>,
}

impl<M: Send + 'static, C: Post<M>> Continuation for MessageKnock<M, C> {
    fn go_on(mut self: Box<Self>, _: &mut dyn Any) {
        let Some(delivery) = self.delivery.take() else {
            return;
        };
        drop(self);
        let post = delivery.stage.lock().begin();
        let Some(post) = post else {
            return;
        };
        let time = delivery.door.time();
        let Some(planned) = post.post(&delivery) else {
            delivery.stage.lock().end();
            if C::REPEATS {
                time.remove(delivery.key);
            }
            return;
        };
        delivery.missed.fetch_add(planned.missed, Ordering::Relaxed);
        let renewed = delivery.stage.lock().renew(planned.post);
        match renewed {
            // If it is cancelled just now its key leads nowhere.
            Ok(()) => time.set_again(delivery.key, planned.due),
            Err(cancelled) => drop(cancelled),
        }
    }
}

impl<M: Send + 'static, C: Post<M>> Drop for MessageKnock<M, C> {
    fn drop(&mut self) {
        // The actor stopped before it opened.
        if let Some(delivery) = self.delivery.take() {
            elsewhere(delivery, |delivery| delivery.die());
        }
    }
}
