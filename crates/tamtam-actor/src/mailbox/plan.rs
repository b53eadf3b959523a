//! What a mailbox is to be like, and what of it is out of the ordinary.

use core::fmt;
use std::sync::Arc;

use super::dead_letter::Loss;
use super::label::Labels;
use super::limited::{Limited, Overflow};
use crate::observe::Record;

/// What is done with messages that are lost.
pub(crate) type Undelivered<M> = Arc<dyn Fn(M, Loss) + Send + Sync>;

/// What a [`Spawner`](crate::Spawner) knows of a mailbox for messages of whatever type: its limit.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Overflow, Pool, Spawner};
///
/// /// For actors of all kinds in one part of a program.
/// fn bounded(pool: &Pool) -> Spawner {
///     // Which is `Spawner<Pool, Plain>`.
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain {
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
    labels: Labels<M>,
    undelivered: Option<Undelivered<M>>,
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Plain {}
    impl<M> Sealed for super::Ruled<M> {}
}

/// What may be known of a mailbox for such messages: [`Plain`] or [`Ruled`].
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

impl<M> Describes<M> for Plain {
    fn ruled(self) -> Ruled<M> {
        Ruled {
            limit: self.limit,
            labels: Labels::default(),
            undelivered: None,
        }
    }
}

impl<M> Describes<M> for Ruled<M> {
    fn ruled(self) -> Ruled<M> {
        self
    }
}

impl Plain {
    pub(crate) fn limit(&mut self, messages: usize, overflow: Overflow) {
        self.limit = Some((messages, overflow));
    }
}

impl<M> Ruled<M> {
    pub(crate) fn limit(&mut self, messages: usize, overflow: Overflow) {
        self.limit = Some((messages, overflow));
    }

    pub(crate) fn labels(&mut self) -> &mut Labels<M> {
        &mut self.labels
    }

    pub(crate) fn undelivered(&mut self, undelivered: impl Fn(M, Loss) + Send + Sync + 'static) {
        self.undelivered = Some(Arc::new(undelivered));
    }
}

impl<M> Clone for Ruled<M> {
    fn clone(&self) -> Self {
        Ruled {
            limit: self.limit,
            labels: self.labels.clone(),
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
    /// What messages lie in instead, if there is a limit or an order.
    pub(crate) limited: Option<Limited<M>>,
    pub(crate) undelivered: Option<Undelivered<M>>,
    /// What is counted, if the actor's home is observed.
    pub(crate) record: Option<Arc<Record>>,
}

impl<M> Special<M> {
    pub(crate) fn new(mailbox: Ruled<M>, record: Option<Arc<Record>>) -> Option<Box<Self>> {
        let Ruled {
            limit,
            labels,
            undelivered,
        } = mailbox;
        let limited = match limit {
            Some((limit, overflow)) => Some(Limited::new(limit, overflow, labels)),
            None if labels.is_empty() => None,
            None => Some(Limited::new(usize::MAX, Overflow::Fail, labels)),
        };
        (limited.is_some() || undelivered.is_some() || record.is_some()).then(|| {
            Box::new(Special {
                limited,
                undelivered,
                record,
            })
        })
    }
}
