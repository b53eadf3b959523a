//! How messages are gathered until they are delivered: all, the latest, the latest of each kind.

use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use core::ops::Deref;
use std::collections::HashMap;
use std::sync::Arc;

use tamtam_wait::seam::Mutex;

/// Messages that came in. They do so under a lock, where nothing of the user's may run: so they are only put somewhere.
pub(super) trait Gathered<M>: Default + Send {
    /// Whether a message finds room in any case, in the place of another one.
    const REPLACES: bool;

    /// Takes a message; the one that it replaces comes back.
    fn add(&mut self, message: M) -> Option<M>;

    /// How many messages came in that take room.
    fn count(&self) -> usize;
}

/// All of them, in the order in which they came.
impl<M: Send> Gathered<M> for Vec<M> {
    const REPLACES: bool = false;

    fn add(&mut self, message: M) -> Option<M> {
        self.push(message);
        None
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// The latest one.
impl<M: Send> Gathered<M> for Option<M> {
    const REPLACES: bool = true;

    fn add(&mut self, message: M) -> Option<M> {
        self.replace(message)
    }

    fn count(&self) -> usize {
        usize::from(self.is_some())
    }
}

/// A way to gather messages: what is made of those that came in, under no lock.
pub(super) trait Gathering<M>: Send + Sync + 'static {
    /// What came in.
    type Gathered: Gathered<M>;
    /// What is delivered.
    type Delivery: Send + 'static;

    /// Whether what came in takes less room once it is finished.
    const SHRINKS: bool = false;

    /// Nothing came in yet.
    fn start(&self) -> Self::Gathered {
        Self::Gathered::default()
    }

    /// Adds what came in to what was finished before and not delivered. How many messages were replaced is counted.
    fn finish(
        &self,
        earlier: Option<Self::Delivery>,
        gathered: Self::Gathered,
        replaced: &mut usize,
    ) -> Option<Self::Delivery>;

    /// How many messages are delivered.
    fn size(delivery: &Self::Delivery) -> usize;
}

/// All messages, in a vector.
pub(super) struct All;

impl<M: Send + 'static> Gathering<M> for All {
    type Gathered = Vec<M>;
    type Delivery = Vec<M>;

    fn finish(
        &self,
        earlier: Option<Vec<M>>,
        mut gathered: Vec<M>,
        _: &mut usize,
    ) -> Option<Vec<M>> {
        let all = match earlier {
            None => gathered,
            Some(mut earlier) => {
                earlier.append(&mut gathered);
                earlier
            }
        };
        (!all.is_empty()).then_some(all)
    }

    fn size(delivery: &Vec<M>) -> usize {
        delivery.len()
    }
}

/// The latest message alone.
pub(super) struct Latest;

impl<M: Send + 'static> Gathering<M> for Latest {
    type Gathered = Option<M>;
    type Delivery = M;

    fn finish(&self, earlier: Option<M>, gathered: Option<M>, replaced: &mut usize) -> Option<M> {
        if gathered.is_none() {
            return earlier;
        }
        *replaced += usize::from(earlier.is_some());
        gathered
    }

    fn size(_: &M) -> usize {
        1
    }
}

/// The latest message of each key.
pub(super) struct LatestBy<K, F> {
    key: F,
    keys: PhantomData<fn() -> K>,
}

impl<K, F> LatestBy<K, F> {
    pub(super) fn new(key: F) -> Self {
        LatestBy {
            key,
            keys: PhantomData,
        }
    }
}

impl<M, K, F> Gathering<M> for LatestBy<K, F>
where
    M: Send + 'static,
    K: Eq + Hash + Send + 'static,
    F: Fn(&M) -> K + Send + Sync + 'static,
{
    type Gathered = Vec<M>;
    type Delivery = HashMap<K, M>;

    const SHRINKS: bool = true;

    fn finish(
        &self,
        earlier: Option<HashMap<K, M>>,
        gathered: Vec<M>,
        replaced: &mut usize,
    ) -> Option<HashMap<K, M>> {
        let mut latest = earlier.unwrap_or_default();
        for message in gathered {
            let before = latest.insert((self.key)(&message), message);
            *replaced += usize::from(before.is_some());
        }
        (!latest.is_empty()).then_some(latest)
    }

    fn size(delivery: &HashMap<K, M>) -> usize {
        delivery.len()
    }
}

/// All messages, in vectors that are used again.
pub(super) struct Recycled<M> {
    shelf: Arc<VectorShelf<M>>,
}

/// Where a vector lies until it is used again. One is enough: while one batch is handled the next one is gathered.
type VectorShelf<M> = Mutex<Vec<M>>;

impl<M> Recycled<M> {
    pub(super) fn new() -> Self {
        Recycled {
            shelf: Arc::new(Mutex::new(Vec::new())),
        }
    }
}

/// Puts an empty vector on the shelf, unless a greater one lies there.
fn put_back<M>(shelf: &VectorShelf<M>, mut vector: Vec<M>) {
    debug_assert!(vector.is_empty());
    let mut lying = shelf.lock();
    if vector.capacity() > lying.capacity() {
        core::mem::swap(&mut *lying, &mut vector);
    }
}

impl<M: Send + 'static> Gathering<M> for Recycled<M> {
    type Gathered = Vec<M>;
    type Delivery = Batch<M>;

    fn start(&self) -> Vec<M> {
        core::mem::take(&mut *self.shelf.lock())
    }

    fn finish(
        &self,
        earlier: Option<Batch<M>>,
        mut gathered: Vec<M>,
        _: &mut usize,
    ) -> Option<Batch<M>> {
        if gathered.is_empty() {
            put_back(&self.shelf, gathered);
            return earlier;
        }
        match earlier {
            None => Some(Batch {
                messages: gathered,
                shelf: Arc::clone(&self.shelf),
            }),
            Some(mut earlier) => {
                earlier.messages.append(&mut gathered);
                put_back(&self.shelf, gathered);
                Some(earlier)
            }
        }
    }

    fn size(delivery: &Batch<M>) -> usize {
        delivery.len()
    }
}

/// What was published within an interval, in a vector that is used again when this is dropped: see
/// [`Feed::recycled`](crate::Feed::recycled).
///
/// It is a slice of messages. [`take`](Batch::take) empties it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Batch, Pool, Topic};
///
/// let pool = Pool::new();
/// let prices = Topic::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let chart = pool.spawn_fn(move |mut batch: Batch<u32>, _| {
///     println!("{} prices, the last one is {:?}", batch.len(), batch.last());
///     batch.take().for_each(|price| sender.send(price).unwrap());
/// });
/// let subscription = prices.feed().recycled(Duration::from_millis(1)).subscribe(&chart);
/// prices.publish(31)?;
/// prices.publish(32)?;
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(31), Ok(32)));
/// # drop(subscription);
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
pub struct Batch<M> {
    messages: Vec<M>,
    shelf: Arc<VectorShelf<M>>,
}

impl<M> Batch<M> {
    /// Takes the messages out, in the order in which they came; the vector is used again all the same.
    pub fn take(&mut self) -> impl Iterator<Item = M> + '_ {
        self.messages.drain(..)
    }
}

impl<M> Deref for Batch<M> {
    type Target = [M];

    fn deref(&self) -> &[M] {
        &self.messages
    }
}

impl<'a, M> IntoIterator for &'a Batch<M> {
    type Item = &'a M;
    type IntoIter = core::slice::Iter<'a, M>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.iter()
    }
}

impl<M> Drop for Batch<M> {
    fn drop(&mut self) {
        let mut vector = core::mem::take(&mut self.messages);
        let (used, size) = (vector.len(), vector.capacity());
        vector.clear();
        // What a burst has left behind goes by and by.
        if used < size / 4 && size > 64 {
            vector.shrink_to(size / 2);
        }
        put_back(&self.shelf, vector);
    }
}

impl<M> fmt::Debug for Batch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}
