//! A subscription of a client: what it wants, and how far it has come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::channel::{Channel, Waiter};
use super::frame::{event, message, packed_message};
use super::log::{Behind, Cursor, Due};
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
    /// Before this nothing is sent.
    not_before: Option<Instant>,
    figures: PushFigures,
    /// It counts among the subscriptions of its client.
    _place: Ticket,
}

/// What a subscription has for its connection.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Messages were written.
    Some,
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

    /// Messages with what is due, about so many bytes, for a WebSocket.
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
            let due = match self.due(now, bytes)? {
                Ok(due) => due,
                Err(nothing) => return Ok(nothing),
            };
            let sent = match self.wish.form {
                PushForm::Json => self.write_json(&due, &mut write),
                PushForm::Packed => self.write_packed(&due, &mut write),
            };
            self.figures.sent.inc_by(sent);
            if sent > 0 {
                return Ok(Taken::Some);
            }
            // What was taken was passed over, and the connection is not told of what comes next, since it does not wait for that yet.
            self.not_before = None;
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

    /// Events with what is due, about so many bytes.
    ///
    /// # Errors
    /// As [`messages`](Subscription::messages).
    pub(crate) fn events(
        &mut self,
        now: Instant,
        bytes: usize,
        text: &mut String,
    ) -> Result<Taken, Behind> {
        let due = match self.due(now, bytes)? {
            Ok(due) => due,
            Err(nothing) => return Ok(nothing),
        };
        self.figures.sent.inc_by(due.len() as u64);
        let policy = self.wish.policy;
        if policy == Policy::Batches {
            event(self.channel.run(), policy, &due, text);
        } else {
            for due in due.chunks(1) {
                event(self.channel.run(), policy, due, text);
            }
        }
        Ok(Taken::Some)
    }

    /// What is due, or that there is nothing.
    fn due(&mut self, now: Instant, bytes: usize) -> Result<Result<Vec<Due>, Taken>, Behind> {
        if let Some(not_before) = self.not_before
            && now < not_before
        {
            return Ok(Err(Taken::NotBefore(not_before)));
        }
        let mut due = Vec::new();
        self.channel
            .take_or_wait(&mut self.cursor, &self.wish, bytes, &self.waiter, &mut due)?;
        if due.is_empty() {
            return Ok(Err(Taken::Nothing));
        }
        self.not_before = self.wish.pause().map(|pause| now + pause);
        let missed = due.iter().map(|due| due.missed).sum();
        self.figures.missed.inc_by(missed);
        Ok(Ok(due))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.channel.leave(&self.waiter);
        self.figures.subscribers.dec();
    }
}
