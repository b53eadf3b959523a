//! A message that is sent later: `Address::tell_after`, `Address::tell_every`, and the same for functions.
//!
//! Where sending it runs nothing of the user's, the clock's thread does. Else it is sent in the actor's own turn, so what makes it, what
//! maps it to another message, and what has to give way in a full mailbox is never the clock's business.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tamtam_wait::contain;

use super::knock::TimerKnock;
use crate::address::{Address, Counted, WeakAddress};
use crate::cell::Door;
use crate::context::Here;
use crate::error::TellError;
use crate::mailbox::Loss;
use crate::reply::refuse;
use crate::time::{Alarm, AnyAlarm, Every, Key, Missed, Rhythm, Timer, elsewhere};

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
        deliver_once(self.clone(), delay, None, message)
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
        deliver_once(to, delay, Some(owner), message)
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
    to: Address<M>,
    delay: Duration,
    owner: Option<Key>,
    message: M,
) -> Timer {
    match to.into_counted() {
        Ok(to) => {
            // It is kept by what is set, and what is set may be over before this returns.
            let time = to.cell().time().clone();
            let key = time.set_after(delay, owner, OnceDelivery { to, message });
            Timer::once(time, key)
        }
        Err(to) => {
            let time = to.with_door(|door| door.time().clone());
            let key = time.set_after(delay, owner, MappedDelivery { to, message });
            Timer::once(time, key)
        }
    }
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
    let missed = Missed::default();
    let key = time.set(
        rhythm.planned(),
        owner,
        RepeatedDelivery {
            door,
            to: to.downgrade(),
            make,
            rhythm,
            missed: missed.clone(),
        },
    );
    Timer::repeats(time, key, missed)
}

/// Sends a message in the turn of the actor that it is for, or of the one that is told for it.
fn deliver<M: Send + 'static>(to: Address<M>, message: M) {
    // What another actor's mapping does wrong is none of this one's business.
    contain(move || {
        let sent = to.tell(message);
        to.with_door(|door| count_if_refused(door, sent));
    });
}

/// Counts a message that was refused as lost.
fn count_if_refused<M>(door: &dyn Door, sent: Result<(), TellError<M>>) {
    if let Err(error) = sent {
        door.count_lost(if error.is_full() {
            Loss::DroppedNewest
        } else {
            Loss::Stopped
        });
        // Who asks in it hears of the reason.
        refuse(error);
    }
}

/// A timer that sends one message.
struct OnceDelivery<M> {
    /// Keeps the actor from stopping for want of addresses.
    to: Counted<M>,
    message: M,
}

impl<M: Send + 'static> Alarm for OnceDelivery<M> {
    fn knock(&self) -> Option<AnyAlarm> {
        let cell = self.to.cell();
        // Nothing of the user's runs where the mailbox takes every message as it is: so there is no need for a turn.
        (!cell.is_plain()).then(|| TimerKnock::<false>::at(Arc::clone(cell) as Arc<dyn Door>))
    }

    fn ring(self, _: Key) {
        let OnceDelivery { to, message } = self;
        // If the actor has stopped meanwhile, the message is dropped where that does not keep the clock.
        if let Err(refused) = to.cell().push_by_clock(message) {
            elsewhere((to, refused), |(to, refused)| {
                count_if_refused(&**to.cell(), Err(refused));
            });
        }
    }

    fn happen(self, _: Key, _: &mut dyn Any) {
        deliver(Address::from(self.to), self.message);
    }

    fn is_open(&self) -> bool {
        !self.to.cell().is_closed()
    }

    fn die(self) {
        self.to.cell().count_lost(Loss::Stopped);
    }
}

/// A timer that sends one message to one that makes another one out of it.
struct MappedDelivery<M> {
    to: Address<M>,
    message: M,
}

impl<M: Send + 'static> Alarm for MappedDelivery<M> {
    fn knock(&self) -> Option<AnyAlarm> {
        Some(TimerKnock::<false>::at(self.to.door()))
    }

    fn happen(self, _: Key, _: &mut dyn Any) {
        deliver(self.to, self.message);
    }

    fn is_open(&self) -> bool {
        self.to.with_door(|door| !door.is_closed())
    }

    fn die(self) {
        self.to.with_door(|door| door.count_lost(Loss::Stopped));
    }
}

/// A timer that sends messages again and again.
struct RepeatedDelivery<M, F> {
    door: Arc<dyn Door>,
    to: WeakAddress<M>,
    make: F,
    rhythm: Rhythm,
    missed: Missed,
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> RepeatedDelivery<M, F> {
    /// Sends a message, and plans the next one: how many were missed. None if there is to be none.
    fn post(&mut self) -> Option<u64> {
        let address = self.to.upgrade()?;
        let make = &mut self.make;
        contain(|| count_if_refused(&*self.door, address.tell(make())))?;
        Some(self.rhythm.plan(self.door.time().now()))
    }
}

impl<M: Send + 'static, F: FnMut() -> M + Send + 'static> Alarm for RepeatedDelivery<M, F> {
    const REPEATS: bool = true;

    fn knock(&self) -> Option<AnyAlarm> {
        Some(TimerKnock::<false>::at(Arc::clone(&self.door)))
    }

    fn happen(mut self, key: Key, _: &mut dyn Any) {
        let door = Arc::clone(&self.door);
        if let Some(missed) = self.post() {
            self.missed.add(missed);
            door.time().set_again(key, self.rhythm.planned(), self);
        } else {
            door.time().remove(key);
        }
    }

    fn is_open(&self) -> bool {
        !self.door.is_closed()
    }
}
