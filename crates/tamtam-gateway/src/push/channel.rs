//! What is pushed under one name: its log, and the connections that wait for more.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use uuid::Uuid;

use super::log::{Behind, Cursor, Due, Encoded, Log, Most, Room};
use super::wish::{Lag, Policy, Wish};

/// What is pushed under one name.
#[derive(Debug)]
pub(crate) struct Channel {
    state: Mutex<State>,
    /// By this a client that comes back knows whether its number is of this run.
    run: String,
    is_packed_wanted: AtomicBool,
    subscribers: AtomicUsize,
    /// The first subscriber has come.
    joined: Notify,
}

#[derive(Debug)]
struct State {
    log: Log,
    waiters: Vec<Arc<Waiter>>,
}

/// A subscription of a connection that has room for more.
#[derive(Debug)]
pub(crate) struct Waiter {
    connection: Arc<Notify>,
    /// It is among those that are told of the next value.
    is_waiting: AtomicBool,
}

impl Waiter {
    pub(crate) fn new(connection: Arc<Notify>) -> Arc<Waiter> {
        Arc::new(Waiter {
            connection,
            is_waiting: AtomicBool::new(false),
        })
    }
}

impl Channel {
    pub(crate) fn new(has_keys: bool, most: Most) -> Channel {
        let run = Uuid::new_v4().simple().to_string();
        Channel {
            state: Mutex::new(State {
                log: Log::new(has_keys, most),
                waiters: Vec::new(),
            }),
            run: run[..8].to_owned(),
            is_packed_wanted: AtomicBool::new(false),
            subscribers: AtomicUsize::new(0),
            joined: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Bytes of what is kept.
    pub(crate) fn bytes(&self) -> usize {
        self.state().log.bytes()
    }

    // ---------------------------------------------------------------------------- publishing

    /// Whether values are encoded as packed rows, too.
    pub(crate) fn is_packed_wanted(&self) -> bool {
        self.is_packed_wanted.load(Ordering::Relaxed)
    }

    /// Takes a value; nothing: it is passed over. Connections that have room for it are not told: see [`tell`](Channel::tell).
    pub(crate) fn publish(&self, key: Option<Arc<str>>, encoded: Option<Encoded>) {
        let mut state = self.state();
        match encoded {
            Some(encoded) => state.log.push(key, encoded),
            None => state.log.skip(1),
        }
    }

    /// Whether a value with this number is of no use: it has come, and is there as packed rows if these are wanted.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.state().log.has(number, self.is_packed_wanted())
    }

    /// As [`publish`](Channel::publish), for a value that has its number, of which connections are told. One that has come before is
    /// taken as it is now if that has packed rows; nothing if there is a later one.
    pub(crate) fn publish_as(&self, number: u64, encoded: Option<Encoded>) {
        {
            let log = &mut self.state().log;
            let Some(between) = number.checked_sub(log.head() + 1) else {
                if let Some(encoded) = encoded.filter(|encoded| encoded.packed.is_some()) {
                    log.complete(number, encoded);
                }
                return;
            };
            log.skip(between);
            match encoded {
                Some(encoded) => log.push(None, encoded),
                None => log.skip(1),
            }
        }
        self.tell();
    }

    /// So many values were lost on their way here.
    pub(crate) fn skip(&self, values: u64) {
        self.state().log.skip(values);
    }

    /// Wakes the connections that have room for more.
    pub(crate) fn tell(&self) {
        let mut state = self.state();
        let waiters = std::mem::take(&mut state.waiters);
        for waiter in &waiters {
            waiter.is_waiting.store(false, Ordering::Relaxed);
        }
        drop(state);
        for waiter in waiters {
            waiter.connection.notify_one();
        }
    }

    /// Ready when there is a subscriber.
    pub(crate) async fn wanted(&self) {
        loop {
            let joined = self.joined.notified();
            if self.subscribers.load(Ordering::Acquire) > 0 {
                return;
            }
            joined.await;
        }
    }

    // --------------------------------------------------------------------------- subscribing

    /// From now on values are encoded as packed rows, too.
    pub(crate) fn want_packed(&self) {
        self.is_packed_wanted.store(true, Ordering::Relaxed);
    }

    /// A subscriber has come.
    pub(crate) fn join(&self) {
        self.subscribers.fetch_add(1, Ordering::AcqRel);
        self.joined.notify_one();
    }

    /// A subscriber has gone.
    pub(crate) fn leave(&self, waiter: &Arc<Waiter>) {
        self.subscribers.fetch_sub(1, Ordering::AcqRel);
        if waiter.is_waiting.load(Ordering::Relaxed) {
            let mut state = self.state();
            state.waiters.retain(|known| !Arc::ptr_eq(known, waiter));
        }
    }

    /// The number of the newest value.
    pub(crate) fn newest(&self) -> u64 {
        self.state().log.head()
    }

    /// Where a subscriber begins: behind the number in its wish, or else behind this one, or else with the newest value.
    pub(crate) fn begin(&self, wish: &Wish, behind: Option<u64>) -> Cursor {
        let state = self.state();
        match (wish.after, behind) {
            // Its number is of another run: all that is kept is new to it.
            (Some(_), _) if wish.run.as_ref().is_some_and(|run| *run != self.run) => {
                state.log.begin(0, wish.policy, wish.lag())
            }
            (Some(after), _) | (None, Some(after)) => {
                state.log.begin(after, wish.policy, wish.lag())
            }
            (None, None) => state.log.begin_with_newest(),
        }
    }

    /// What is due for a subscriber, as far as there is room for it; if that is nothing, it is told of the next value. Says whether more is due.
    ///
    /// # Errors
    /// As [`Log::take`].
    pub(crate) fn take_or_wait(
        &self,
        cursor: &mut Cursor,
        wish: &Wish,
        room: Room,
        waiter: &Arc<Waiter>,
        due: &mut Vec<Due>,
    ) -> Result<bool, Behind> {
        let mut state = self.state();
        let before = due.len();
        state
            .log
            .take(cursor, wish.policy, wish.closes(), wish.lag(), room, due)?;
        if due.len() == before && !waiter.is_waiting.swap(true, Ordering::Relaxed) {
            state.waiters.push(Arc::clone(waiter));
        }
        Ok(state.log.has_more(*cursor, wish.policy))
    }

    /// How many values are due for a subscriber.
    pub(crate) fn count_due(&self, cursor: Cursor, wish: &Wish) -> usize {
        self.state().log.count_due(cursor, wish.policy)
    }

    /// Whether a subscriber that is to be closed then is farther behind than it may be.
    pub(crate) fn is_behind(&self, cursor: Cursor, wish: &Wish) -> bool {
        matches!(wish.policy, Policy::All | Policy::Batches)
            && wish
                .closes()
                .is_some_and(|lag: Lag| self.state().log.is_behind(cursor, lag))
    }

    /// How many values came of which a client was not told, and the number of the newest.
    pub(crate) fn untold(&self, cursor: Cursor) -> (u64, u64) {
        let state = self.state();
        (state.log.untold(cursor), state.log.head())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        bytes: 1_000,
        values: usize::MAX,
    };

    #[test]
    fn a_subscriber_that_is_not_greeted_gets_what_has_come_since_that_was_decided() {
        let most = Most {
            messages: 10,
            bytes: 1_000,
            keys: 10,
        };
        let channel = Channel::new(false, most);
        let wish = Wish::new();
        let newest = channel.newest();
        channel.publish(None, Some(Encoded::default()));
        let waiter = Waiter::new(Arc::default());
        let (mut cursor, mut due) = (channel.begin(&wish, Some(newest)), Vec::new());
        let taken = channel.take_or_wait(&mut cursor, &wish, ROOM, &waiter, &mut due);
        assert!(taken.is_ok());
        assert_eq!(due.len(), 1);
    }

    #[test]
    fn a_subscriber_waits_once_and_no_more_when_it_has_gone_or_was_told() {
        let most = Most {
            messages: 10,
            bytes: 1_000,
            keys: 10,
        };
        let channel = Channel::new(false, most);
        let waiting = || channel.state().waiters.len();
        let wish = Wish::new();
        let subscriber = || {
            (
                Waiter::new(Arc::default()),
                channel.begin(&wish, Some(channel.newest())),
            )
        };
        let take = |(waiter, cursor): &mut (Arc<Waiter>, Cursor)| {
            let mut due = Vec::new();
            let taken = channel.take_or_wait(cursor, &wish, ROOM, waiter, &mut due);
            assert!(taken.is_ok());
            due.len()
        };
        let (mut one, mut other) = (subscriber(), subscriber());
        for subscriber in [&mut one, &mut other] {
            channel.join();
            for _ in 0..3 {
                assert_eq!(take(subscriber), 0);
            }
        }
        assert_eq!(waiting(), 2);
        channel.leave(&one.0);
        assert_eq!(waiting(), 1);
        let encoded = Encoded {
            json: "1".into(),
            packed: None,
        };
        channel.publish(None, Some(encoded));
        // It is told of with those that come with it.
        assert_eq!(waiting(), 1);
        channel.tell();
        assert_eq!((waiting(), take(&mut other)), (0, 1));
        assert_eq!((take(&mut other), waiting()), (0, 1));
    }
}
