//! Rules for a mailbox, said before its actor is born.

use core::hash::Hash;

use super::Spawner;
use crate::mailbox::{Bounded, Loss, Overflow, Ruled, Untyped};

impl<H, B: Untyped> Spawner<H, B> {
    /// The mailbox holds so many messages, at least one; what becomes of the others is said by `overflow`. With `None`, where it is
    /// known only when the program runs whether there is a limit, it holds as many as come.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Overflow, Pool};
    ///
    /// let pool = Pool::new();
    /// let short = pool.spawner().limited(100, Overflow::Fail).spawn_fn(|_: u32, _| {});
    /// assert_eq!(short.level().unwrap().capacity, Some(100));
    /// let asked_for: Option<usize> = None;
    /// let long = pool.spawner().limited(asked_for, Overflow::Fail).spawn_fn(|_: u32, _| {});
    /// assert_eq!(long.level(), None);
    /// ```
    pub fn limited(
        self,
        messages: impl Into<Option<usize>>,
        overflow: Overflow,
    ) -> Spawner<H, Bounded> {
        let limit = messages.into().map(|messages| (messages, overflow));
        self.with_mailbox(|_| Bounded::new(limit))
    }

    fn ruled<M: Send + 'static>(self) -> Spawner<H, Ruled<M>> {
        self.with_mailbox(B::typed)
    }

    /// In the mailbox only the latest message for each key counts: one whose key is that of a message still there
    /// takes its place, the place in the order too. The older one is dropped, and counted.
    ///
    /// It takes no room, so it is accepted by a full mailbox as well; one with a new key is not, see
    /// [`limited`](Spawner::limited), which may be said before or after. Through a
    /// [mapped](crate::Address::map) address the key of a message is not known before there is room for it. Finding a
    /// key takes the same time however many there are.
    ///
    /// `key` is called by the sender, with no lock held; so are the key's `Hash` and `Eq`.
    ///
    /// # Panics
    ///
    /// A panic in one of these reaches the sender; the message is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Overflow, Pool};
    ///
    /// let pool = Pool::new();
    /// let screen = pool
    ///     .spawner()
    ///     .limited(1_000, Overflow::DropOldest)
    ///     .latest_by(|&(name, _): &(&'static str, f64)| name)
    ///     .spawn_fn(|(name, price), _| println!("{name}: {price}"));
    /// screen.tell(("tea", 3.10))?;
    /// screen.tell(("tea", 3.20))?; // the first one is not shown any more, unless it was at once
    /// # Ok::<(), tamtam_actor::TellError<(&'static str, f64)>>(())
    /// ```
    pub fn latest_by<M, K>(
        self,
        key: impl Fn(&M) -> K + Send + Sync + 'static,
    ) -> Spawner<H, Ruled<M>>
    where
        M: Send + 'static,
        K: Hash + Eq + Send + Sync + 'static,
    {
        self.ruled().latest_by(key)
    }

    /// Messages are handled in the order of their priority, the highest first; and in the order sent where it is
    /// the same.
    ///
    /// No message starves: after 64 messages that have overtaken an older one, the oldest of all is handled.
    ///
    /// A [limit](Spawner::limited) holds for all priorities together. Where a message has to go for another one, it
    /// is one of the lowest priority.
    ///
    /// `priority` is called by the sender, with no lock held.
    ///
    /// # Panics
    ///
    /// A panic in it reaches the sender; the message is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Overflow, Pool};
    ///
    /// enum Order {
    ///     Halt,
    ///     Move(f64),
    /// }
    ///
    /// let pool = Pool::new();
    /// let robot = pool
    ///     .spawner()
    ///     .limited(100, Overflow::DropOldest)
    ///     .priorities(|order| match order {
    ///         Order::Halt => 9,
    ///         Order::Move(_) => 1,
    ///     })
    ///     .spawn_fn(|order, _| match order {
    ///         Order::Halt => println!("stands"),
    ///         Order::Move(metres) => println!("goes {metres} m"),
    ///     });
    /// robot.tell(Order::Move(1.5))?;
    /// robot.tell(Order::Halt)?;
    /// # Ok::<(), tamtam_actor::TellError<Order>>(())
    /// ```
    pub fn priorities<M: Send + 'static>(
        self,
        priority: impl Fn(&M) -> u8 + Send + Sync + 'static,
    ) -> Spawner<H, Ruled<M>> {
        self.ruled().priorities(priority)
    }

    /// What was accepted and is lost goes to `undelivered`, with the reason, after it was counted.
    ///
    /// It is called on the thread that loses the message, under no lock: that of a sender, or one that ends the
    /// actor. A [`Reply`](crate::Reply) in the message may still be answered. What is dropped before it was made
    /// from a message to a [mapped](crate::Address::map) address, or before its [timer](crate::Timer) has sent it, does
    /// not come here.
    ///
    /// # Panics
    ///
    /// A panic in it ends there.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Loss, Pool};
    /// use std::sync::mpsc;
    ///
    /// let pool = Pool::new();
    /// let (sender, left) = mpsc::channel();
    /// let actor = pool
    ///     .spawner()
    ///     .undelivered(move |number: u32, why| drop(sender.send((number, why))))
    ///     .spawn_fn(|_, here| here.stop());
    /// actor.tell(1)?; // stops it
    /// if actor.tell(2).is_ok() {
    ///     assert_eq!(left.recv()?, (2, Loss::Stopped));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn undelivered<M: Send + 'static>(
        self,
        undelivered: impl Fn(M, Loss) + Send + Sync + 'static,
    ) -> Spawner<H, Ruled<M>> {
        self.ruled().undelivered(undelivered)
    }
}

impl<H, M: Send + 'static> Spawner<H, Ruled<M>> {
    fn with_rule(self, rule: impl FnOnce(&mut Ruled<M>)) -> Self {
        self.with_mailbox(|mut mailbox| {
            rule(&mut mailbox);
            mailbox
        })
    }

    /// The mailbox holds so many messages: as [`limited`](Spawner::limited) of a spawner that knows no rules yet.
    pub fn limited(self, messages: impl Into<Option<usize>>, overflow: Overflow) -> Self {
        let limit = messages.into().map(|messages| (messages, overflow));
        self.with_rule(|mailbox| mailbox.limit(limit))
    }

    /// Only the latest message for each key counts: as [`latest_by`](Spawner::latest_by) of a spawner that knows no
    /// rules yet.
    pub fn latest_by<K>(self, key: impl Fn(&M) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        self.with_rule(|mailbox| mailbox.latest_by(key))
    }

    /// Messages are handled in the order of their priority: as [`priorities`](Spawner::priorities) of a spawner that
    /// knows no rules yet.
    pub fn priorities(self, priority: impl Fn(&M) -> u8 + Send + Sync + 'static) -> Self {
        self.with_rule(|mailbox| mailbox.priorities(priority))
    }

    /// What was accepted and is lost goes to `undelivered`: as [`undelivered`](Spawner::undelivered) of a spawner that
    /// knows no rules yet.
    pub fn undelivered(self, undelivered: impl Fn(M, Loss) + Send + Sync + 'static) -> Self {
        self.with_rule(|mailbox| mailbox.undelivered(undelivered))
    }
}
