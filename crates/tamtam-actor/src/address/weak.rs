//! An address that does not keep its actor from ending.

use core::fmt;
use std::sync::{Arc, Weak};

use super::recipient::{Counted, WeakRecipient};
use super::{Address, Way};
use crate::cell::Cell;

/// An address that does not keep its actor from stopping: see [`Address::downgrade`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|(): (), _| {});
/// let weak = actor.downgrade();
/// weak.upgrade().expect("it has an address").tell(())?;
///
/// let end = actor.end();
/// drop(actor); // the last one: the actor ends
/// end.wait();
/// assert!(weak.upgrade().is_none());
/// # Ok::<(), tamtam_actor::TellError<()>>(())
/// ```
pub struct WeakAddress<M> {
    way: WeakWay<M>,
}

enum WeakWay<M> {
    Here(Weak<Cell<M>>),
    Through(Arc<dyn WeakRecipient<M> + Send + Sync>),
}

impl<M> WeakAddress<M> {
    /// An address that counts, if there is another one that does.
    pub fn upgrade(&self) -> Option<Address<M>> {
        let way = match &self.way {
            WeakWay::Here(cell) => Way::Here(Counted::upgraded(cell)?),
            WeakWay::Through(recipient) => Way::Through(recipient.upgrade()?),
        };
        Some(Address { way })
    }
}

impl<M> Clone for WeakAddress<M> {
    fn clone(&self) -> Self {
        WeakAddress {
            way: match &self.way {
                WeakWay::Here(cell) => WeakWay::Here(Weak::clone(cell)),
                WeakWay::Through(recipient) => WeakWay::Through(Arc::clone(recipient)),
            },
        }
    }
}

impl<M> fmt::Debug for WeakAddress<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakAddress").finish_non_exhaustive()
    }
}

impl<M> Address<M> {
    /// An address that does not keep the actor from stopping. That of a [mapped](Address::map) one keeps the function.
    pub fn downgrade(&self) -> WeakAddress<M> {
        WeakAddress {
            way: match &self.way {
                Way::Here(cell) => WeakWay::Here(Arc::downgrade(&cell.0)),
                Way::Through(recipient) => WeakWay::Through(recipient.downgrade()),
            },
        }
    }
}
