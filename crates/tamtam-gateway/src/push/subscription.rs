//! A subscription of a client: what it wants, and how far it has come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::channel::{Channel, Waiter};
use super::frame::{events, message, packed_message};
use super::log::{Behind, Cursor, Due, Room};
use super::wish::{Policy, PushForm, Wish};
use crate::admission::Ticket;
use crate::metrics::PushFigures;

/// How often it is looked whether a client that does not read is too far behind.
pub(crate) const LAG_PAUSE: Duration = Duration::from_millis(100);

/// A subscription of a client.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// Its number on its connection.
    pub(crate) id: u64,
    channel: Arc<Channel>,
    wish: Wish,
    cursor: Cursor,
    /// So many values were missed that no message has told of yet.
    carried: u64,
    waiter: Arc<Waiter>,
    /// Before this no look for values begins.
    not_before: Option<Instant>,
    /// So many values are left of a look that had no room for all that was due when it began: they go before the next one.
    left: usize,
    figures: PushFigures,
    /// It counts among the subscriptions of its client.
    _place: Ticket,
}

/// What a subscription has for its connection.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Messages were written.
    Some {
        /// There was no room for all that is to go now.
        is_cut: bool,
    },
    /// Nothing: the connection is told when there is something.
    Nothing,
    /// Nothing before this time.
    NotBefore(Instant),
}

/// Where messages go.
pub(crate) enum Message {
    Text(String),
    Binary(Vec<u8>),
}

impl Subscription {
    /// One that begins now, and gets what is newer than the value of that number, or else the newest first.
    pub(crate) fn new(
        id: u64,
        channel: &Arc<Channel>,
        behind: Option<u64>,
        mut wish: Wish,
        connection: &Arc<Notify>,
        figures: PushFigures,
        place: Ticket,
    ) -> Subscription {
        let cursor = channel.begin(&wish, behind);
        // It has told where to begin, and is as long as its client likes.
        wish.run = None;
        channel.join();
        figures.subscribers.inc();
        Subscription {
            id,
            channel: Arc::clone(channel),
            wish,
            cursor,
            carried: 0,
            waiter: Waiter::new(Arc::clone(connection)),
            not_before: None,
            left: 0,
            figures,
            _place: place,
        }
    }

    /// The run of the server, and the number behind which it begins or has come to.
    pub(crate) fn place(&self) -> (&str, u64) {
        (self.channel.run(), self.cursor.told)
    }

    /// How many values the client was not told of, and the number of the newest.
    pub(crate) fn rest(&self) -> (u64, u64) {
        let (untold, newest) = self.channel.untold(self.cursor);
        (untold + self.carried, newest)
    }

    /// Whether it is to be closed when it is farther behind than it may be.
    pub(crate) fn may_close(&self) -> bool {
        self.wish.closes().is_some()
    }

    /// Whether it is to be closed, since it is farther behind than it may be.
    pub(crate) fn is_behind(&self) -> bool {
        self.channel.is_behind(self.cursor, &self.wish)
    }

    /// Counts that it was closed.
    pub(crate) fn closed(&self) {
        self.figures.closed.inc();
        self.figures.missed.inc_by(self.rest().0);
    }

    /// Messages with what is due, about so many bytes, for a WebSocket. What has no room comes the next time, whatever the interval.
    ///
    /// # Errors
    /// If it is farther behind than it may be, and is to be closed then.
    pub(crate) fn messages(
        &mut self,
        now: Instant,
        bytes: usize,
        mut write: impl FnMut(Message),
    ) -> Result<Taken, Behind> {
        loop {
            let (due, is_cut) = match self.due(now, bytes)? {
                Ok(due) => due,
                Err(nothing) => return Ok(nothing),
            };
            let sent = match self.wish.form {
                PushForm::Json => self.write_json(&due, &mut write),
                PushForm::Packed => self.write_packed(&due, &mut write),
            };
            self.figures.sent.inc_by(sent);
            if sent > 0 {
                return Ok(Taken::Some { is_cut });
            }
            // What was taken was passed over, and the connection is not told of what comes next, since it does not wait for that yet.
            if self.left == 0 {
                self.not_before = None;
            }
        }
    }

    /// Writes values in JSON: how many.
    fn write_json(&self, due: &[Due], write: &mut impl FnMut(Message)) -> u64 {
        let policy = self.wish.policy;
        let in_message = if policy == Policy::Batches {
            due.len()
        } else {
            1
        };
        for due in due.chunks(in_message) {
            write(Message::Text(message(self.id, policy, due)));
        }
        due.len() as u64
    }

    /// Writes values as packed rows: how many. One that was encoded before packed rows were asked for is missed.
    fn write_packed(&mut self, due: &[Due], write: &mut impl FnMut(Message)) -> u64 {
        let mut sent = 0;
        for due in due {
            match &due.encoded.packed {
                Some(rows) => {
                    let frame = packed_message(self.id, due, rows, self.carried);
                    write(Message::Binary(frame));
                    self.carried = 0;
                    sent += 1;
                }
                None => {
                    self.carried += due.missed + 1;
                    self.figures.missed.inc();
                }
            }
        }
        sent
    }

    /// Events with what is due, about so many bytes. What has no room comes the next time, whatever the interval.
    ///
    /// # Errors
    /// As [`messages`](Subscription::messages).
    pub(crate) fn events(
        &mut self,
        now: Instant,
        bytes: usize,
        text: &mut String,
    ) -> Result<Taken, Behind> {
        let (due, is_cut) = match self.due(now, bytes)? {
            Ok(due) => due,
            Err(nothing) => return Ok(nothing),
        };
        self.figures.sent.inc_by(due.len() as u64);
        events(self.channel.run(), self.wish.policy, &due, text);
        Ok(Taken::Some { is_cut })
    }

    /// What is due, and whether there was no room for all of that; or that there is nothing.
    ///
    /// With an interval, a look gives as many values as are due when it begins, in as many parts as these have room in: the next look
    /// begins an interval after that, however long the parts take. So one that reads gets all that came in an interval, and one whose
    /// topic gives more than its connection takes is not sent values without a pause.
    fn due(
        &mut self,
        now: Instant,
        bytes: usize,
    ) -> Result<Result<(Vec<Due>, bool), Taken>, Behind> {
        let is_new = self.left == 0;
        if let Some(not_before) = self.not_before
            && is_new
            && now < not_before
        {
            return Ok(Err(Taken::NotBefore(not_before)));
        }
        let room = Room {
            bytes,
            values: if is_new { usize::MAX } else { self.left },
        };
        let mut due = Vec::new();
        let (cursor, wish) = (&mut self.cursor, &self.wish);
        let has_more = self
            .channel
            .take_or_wait(cursor, wish, room, &self.waiter, &mut due)?;
        let pause = wish.pause();
        if due.is_empty() {
            self.left = 0;
            return Ok(Err(Taken::Nothing));
        }
        if let Some(pause) = pause {
            if is_new {
                self.not_before = Some(now + pause);
            }
            self.left = match (has_more, is_new) {
                (false, _) => 0,
                (true, true) => self.channel.count_due(self.cursor, &self.wish),
                (true, false) => self.left - due.len(),
            };
        }
        let missed = due.iter().map(|due| due.missed).sum();
        self.figures.missed.inc_by(missed);
        let is_cut = match pause {
            Some(_) => self.left > 0,
            None => has_more,
        };
        Ok(Ok((due, is_cut)))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.channel.leave(&self.waiter);
        self.figures.subscribers.dec();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::Value as Json;

    use super::super::log::{Encoded, Most};
    use super::super::wish::WhenBehind;
    use super::*;

    const ROOM: usize = 16 << 10;
    const INTERVAL: Duration = Duration::from_millis(100);
    /// More than three parts have room for.
    const KEYS: usize = 300;

    fn channel(has_keys: bool) -> Arc<Channel> {
        let most = Most {
            messages: 1_000,
            bytes: 1 << 20,
            keys: KEYS,
        };
        Arc::new(Channel::new(has_keys, most))
    }

    fn subscribed(channel: &Arc<Channel>, wish: Wish) -> Subscription {
        let figures = PushFigures {
            subscribers: Default::default(),
            sent: Default::default(),
            missed: Default::default(),
            closed: Default::default(),
        };
        let (behind, connection) = (Some(channel.newest()), Arc::default());
        let wish = wish.interval(INTERVAL);
        Subscription::new(
            1,
            channel,
            behind,
            wish,
            &connection,
            figures,
            Ticket::Refused,
        )
    }

    /// Publishes a value of each key: its number, in 200 bytes.
    fn publish(channel: &Channel) {
        for key in 0..KEYS {
            let encoded = Encoded {
                json: Bytes::from(format!("\"{key:198}\"")),
                packed: None,
            };
            channel.publish(Some(key.to_string().into()), Some(encoded));
        }
    }

    /// The keys of what goes in one look; this happens between its parts.
    fn look(
        subscription: &mut Subscription,
        now: Instant,
        between: impl Fn(),
    ) -> Result<Vec<usize>, Behind> {
        let mut keys = Vec::new();
        let mut write = |message: Message| {
            let Message::Text(text) = message else {
                panic!("it is text");
            };
            let message: Json = serde_json::from_str(&text).unwrap();
            let params = &message["params"];
            let one = std::slice::from_ref(&params["value"]);
            let values = params["values"].as_array().map_or(one, Vec::as_slice);
            let texts = values.iter().map(|value| value.as_str().unwrap());
            keys.extend(texts.map(|text| text.trim().parse::<usize>().unwrap()));
        };
        while let Taken::Some { .. } = subscription.messages(now, ROOM, &mut write)? {
            between();
        }
        Ok(keys)
    }

    #[test]
    fn a_look_gives_all_that_came_in_its_interval_and_one_that_takes_it_is_never_behind() {
        for policy in [Policy::All, Policy::Batches, Policy::LatestOfEachKey] {
            let channel = channel(true);
            let wish = Wish::new()
                .policy(policy)
                .when_behind(WhenBehind::Close)
                .most_messages(KEYS);
            let mut subscription = subscribed(&channel, wish);
            let mut now = Instant::now();
            publish(&channel);
            for interval in 0..20 {
                let keys = look(&mut subscription, now, || {}).expect("it takes all");
                assert!(keys.into_iter().eq(0..KEYS), "{policy:?} {interval}");
                // What comes now is for the next one.
                publish(&channel);
                let early = now + INTERVAL / 2;
                let keys = look(&mut subscription, early, || {}).expect("it takes all");
                assert_eq!(keys, [0; 0], "{policy:?} {interval}");
                now += INTERVAL;
            }
        }
    }

    #[test]
    fn a_look_ends_though_values_come_faster_than_it_gives_them() {
        for policy in [Policy::All, Policy::Batches, Policy::LatestOfEachKey] {
            let channel = channel(true);
            let mut subscription = subscribed(&channel, Wish::new().policy(policy));
            let mut now = Instant::now();
            publish(&channel);
            for _ in 0..3 {
                let due = channel.count_due(subscription.cursor, &subscription.wish);
                let keys = look(&mut subscription, now, || publish(&channel)).unwrap();
                assert_eq!(keys.len(), due, "{policy:?}");
                now += INTERVAL;
            }
        }
    }
}
