//! What a mailbox is to be like, and what of it is out of the ordinary.

use core::fmt;
use core::hash::Hash;
use std::sync::Arc;

use super::dead_letter::Loss;
use super::elsewhere::{Downstream, Upstream};
use super::label::Labels;
use super::limited::{Limited, LimitedMailbox, Overflow, Sorting};
use crate::observe::Record;

/// What is done with messages that are lost.
pub(crate) type Undelivered<M> = Arc<dyn Fn(M, Loss) + Send + Sync>;

/// What a [`Spawner`](crate::Spawner) knows of a mailbox at first: that it holds as many messages as come, of whatever type.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Plain, Pool, Spawner};
///
/// /// For actors of all kinds in one part of a program.
/// fn named(pool: &Pool) -> Spawner<Pool, Plain> {
///     pool.spawner().name("importer")
/// }
///
/// let pool = Pool::new();
/// let numbers = named(&pool).spawn_fn(|_: u32, _| {});
/// numbers.tell(1)?;
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain(());

/// What a [`Spawner`](crate::Spawner) knows of a mailbox for messages of whatever type: its limit.
///
/// It is a type of its own, so that what limits take to compile, and of the program's code, is for the actors that have some.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Bounded, Overflow, Pool, Spawner};
///
/// /// For actors of all kinds in one part of a program.
/// fn bounded(pool: &Pool) -> Spawner<Pool, Bounded> {
///     pool.spawner().limited(1_000, Overflow::Wait)
/// }
///
/// let pool = Pool::new();
/// let texts = bounded(&pool).spawn_fn(|_: String, _| {});
/// let numbers = bounded(&pool).spawn_fn(|_: u32, _| {});
/// numbers.tell(1)?;
/// # drop(texts);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    limit: Option<(usize, Overflow)>,
}

/// What a [`Spawner`](crate::Spawner) knows of a mailbox for messages of this type: its limit, and rules.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Ruled, Spawner};
///
/// /// For actors that read texts, short ones first.
/// fn readers(pool: &Pool) -> Spawner<Pool, Ruled<String>> {
///     pool.spawner().priorities(|text: &String| if text.len() < 10 { 1 } else { 0 })
/// }
///
/// let pool = Pool::new();
/// let reader = readers(&pool).spawn_fn(|text: String, _| println!("{text}"));
/// reader.tell("short".to_owned())?;
/// # Ok::<(), tamtam_actor::TellError<String>>(())
/// ```
pub struct Ruled<M> {
    limit: Option<(usize, Overflow)>,
    /// There if messages have labels.
    sorting: Option<Sorting<M>>,
    /// There where a limit or labels may have been said.
    make: Option<MakeLimited<M>>,
    undelivered: Option<Undelivered<M>>,
}

/// Makes a mailbox that counts its messages. A pointer, so that it is compiled for the types of messages of which one is made.
type MakeLimited<M> =
    fn(Option<(usize, Overflow)>, Option<Sorting<M>>) -> Box<dyn LimitedMailbox<M>>;

fn make_limited<M: Send + 'static>(
    limit: Option<(usize, Overflow)>,
    sorting: Option<Sorting<M>>,
) -> Box<dyn LimitedMailbox<M>> {
    let (limit, overflow) = limit.unwrap_or((usize::MAX, Overflow::Fail));
    Box::new(Limited::new(limit, overflow, sorting))
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Plain {}
    impl Sealed for super::Bounded {}
    impl<M> Sealed for super::Ruled<M> {}
}

/// What may be known of a mailbox for such messages: [`Plain`], [`Bounded`] or [`Ruled`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, Describes, Pool, Spawner};
///
/// /// With whatever the spawner says of mailboxes for numbers, or for all.
/// fn counter<B: Describes<u32>>(spawner: Spawner<Pool, B>) -> Address<u32> {
///     spawner.spawn_fn(|_: u32, _| {})
/// }
///
/// let pool = Pool::new();
/// counter(pool.spawner()).tell(1)?;
/// counter(pool.spawner().latest_by(|number: &u32| number % 10)).tell(2)?;
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
pub trait Describes<M>: sealed::Sealed {
    #[doc(hidden)]
    fn ruled(self) -> Ruled<M>;
}

impl<M: Send + 'static, B: Untyped> Describes<M> for B {
    fn ruled(self) -> Ruled<M> {
        self.typed()
    }
}

/// What may be known of a mailbox for messages of whatever type: [`Plain`] or [`Bounded`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Overflow, Pool, Spawner, Untyped};
///
/// /// As it was, and with a limit.
/// fn bounded<B: Untyped>(spawner: Spawner<Pool, B>) -> Spawner<Pool, tamtam_actor::Bounded> {
///     spawner.limited(100, Overflow::DropOldest)
/// }
///
/// let pool = Pool::new();
/// let latest = bounded(pool.spawner()).spawn_fn(|_: u32, _| {});
/// latest.tell(1)?;
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
pub trait Untyped: sealed::Sealed {
    /// As what is known of a mailbox for messages of this type.
    #[doc(hidden)]
    fn typed<M: Send + 'static>(self) -> Ruled<M>;
}

impl Untyped for Plain {
    fn typed<M: Send + 'static>(self) -> Ruled<M> {
        Ruled {
            limit: None,
            sorting: None,
            make: None,
            undelivered: None,
        }
    }
}

impl Untyped for Bounded {
    fn typed<M: Send + 'static>(self) -> Ruled<M> {
        let mut ruled = Plain(()).typed();
        ruled.limit(self.limit);
        ruled
    }
}

impl<M> Describes<M> for Ruled<M> {
    fn ruled(self) -> Ruled<M> {
        self
    }
}

impl Bounded {
    pub(crate) fn new(limit: Option<(usize, Overflow)>) -> Self {
        Bounded { limit }
    }
}

impl<M: Send + 'static> Ruled<M> {
    pub(crate) fn limit(&mut self, limit: Option<(usize, Overflow)>) {
        self.limit = limit;
        self.make = Some(make_limited);
    }

    /// Only the latest message of each key counts.
    pub(crate) fn latest_by<K>(&mut self, key: impl Fn(&M) -> K + Send + Sync + 'static)
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        self.labels().set_key(key);
    }

    /// Messages are handled in the order of their priority.
    pub(crate) fn priorities(&mut self, priority: impl Fn(&M) -> u8 + Send + Sync + 'static) {
        self.labels().set_priority(priority);
    }

    fn labels(&mut self) -> &mut Labels<M> {
        self.make = Some(make_limited);
        let sorting = self
            .sorting
            .get_or_insert_with(|| Sorting::by(Labels::default()));
        &mut sorting.labels
    }

    pub(crate) fn undelivered(&mut self, undelivered: impl Fn(M, Loss) + Send + Sync + 'static) {
        self.undelivered = Some(Arc::new(undelivered));
    }

    /// The same for messages in envelopes, of which `look` shows the message, and `open` takes it out.
    pub(crate) fn within<E: Send + 'static>(
        self,
        look: fn(&E) -> &M,
        open: fn(E) -> M,
    ) -> Ruled<E> {
        Ruled {
            limit: self.limit,
            sorting: self
                .sorting
                .map(|sorting| Sorting::by(sorting.labels.within(look))),
            make: Some(make_limited),
            undelivered: self.undelivered.map(|undelivered| {
                Arc::new(move |envelope, why| undelivered(open(envelope), why)) as Undelivered<E>
            }),
        }
    }
}

impl<M> Clone for Ruled<M> {
    fn clone(&self) -> Self {
        Ruled {
            limit: self.limit,
            sorting: self.sorting.clone(),
            make: self.make,
            undelivered: self.undelivered.clone(),
        }
    }
}

impl<M> fmt::Debug for Ruled<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ruled")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// What is out of the ordinary in a mailbox. An ordinary one has none of this.
pub(crate) struct Special<M> {
    pub(crate) store: Store<M>,
    pub(crate) undelivered: Option<Undelivered<M>>,
    /// What is counted, if the actor's home is observed.
    pub(crate) record: Option<Arc<Record>>,
    /// What takes the messages, if it is not the actor in this cell.
    pub(crate) downstream: Option<Arc<dyn Downstream>>,
}

/// Where messages lie.
pub(crate) enum Store<M> {
    /// In the queue of all mailboxes.
    Queue,
    /// In another one, since there is a limit or an order.
    Limited(Box<dyn LimitedMailbox<M>>),
    /// In that of another cell.
    Upstream(Arc<dyn Upstream<M>>),
}

impl<M: Send + 'static> Special<M> {
    /// A mailbox whose messages are taken by that.
    pub(crate) fn relayed(
        mailbox: Ruled<M>,
        record: Option<Arc<Record>>,
        downstream: Arc<dyn Downstream>,
    ) -> Box<Self> {
        Box::new(Special {
            store: Store::Limited(make_limited(mailbox.limit, mailbox.sorting)),
            undelivered: mailbox.undelivered,
            record,
            downstream: Some(downstream),
        })
    }
}

impl<M> Special<M> {
    pub(crate) fn new(mailbox: Ruled<M>, record: Option<Arc<Record>>) -> Option<Box<Self>> {
        let undelivered = mailbox.undelivered;
        let is_counted = mailbox.limit.is_some() || mailbox.sorting.is_some();
        let store = match mailbox.make {
            Some(make) if is_counted => Store::Limited(make(mailbox.limit, mailbox.sorting)),
            _ => Store::Queue,
        };
        let is_ordinary =
            matches!(store, Store::Queue) && undelivered.is_none() && record.is_none();
        (!is_ordinary).then(|| {
            Box::new(Special {
                store,
                undelivered,
                record,
                downstream: None,
            })
        })
    }

    /// How many messages are counted.
    pub(crate) fn len(&self) -> usize {
        match &self.store {
            Store::Queue => 0,
            Store::Limited(limited) => limited.len(),
            Store::Upstream(upstream) => upstream.len(),
        }
    }

    /// Takes the next of the messages that are counted.
    #[inline]
    pub(crate) fn pop(&self) -> Option<M> {
        match &self.store {
            Store::Queue => None,
            Store::Limited(limited) => limited.pop(),
            Store::Upstream(upstream) => upstream.pop(),
        }
    }

    /// Whether no counted message is left that the actor in this cell would take; then it is to be woken for the next one.
    pub(crate) fn rest(&self) -> bool {
        match &self.store {
            // It is another cell that is to be woken.
            _ if self.downstream.is_some() => true,
            Store::Queue => true,
            Store::Limited(limited) => limited.rest(),
            Store::Upstream(upstream) => upstream.rest(),
        }
    }

    /// No mailbox of its own: the messages lie in that of another cell.
    pub(crate) fn upstream(upstream: Arc<dyn Upstream<M>>) -> Box<Self> {
        Box::new(Special {
            store: Store::Upstream(upstream),
            undelivered: None,
            record: None,
            downstream: None,
        })
    }
}
