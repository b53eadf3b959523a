//! A WebSocket: what comes is answered, what is due goes out, and no more is held than the limit allows.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::extract::ws::{Message, WebSocket, close_code};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::calls::{Answered, Client, refusal};
use super::link::{CarriedLink, SERVER_ENDS};
use super::paced::{End, Moved, PacedSocket};
use crate::Caller;
use crate::gateway::Shared;
use crate::http::Held;
use crate::lasting::{Lasts, Stage};
use crate::patient::LongerWaits;
use crate::push::{self, LAG_PAUSE, Taken, closed_message};

/// Calls of a connection at the same time; no frame is read while there are as many.
const MOST_CALLS: usize = 8;

/// Bytes of messages that go to the socket in one write, about.
const CHUNK_BYTES: usize = 16 << 10;

/// A WebSocket: calls and subscriptions in frames of text, and a link in binary ones where it has one.
pub(super) struct Connection {
    client: Arc<Client>,
    socket: PacedSocket,
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = Answered> + Send>>>,
    /// Answers that have not been handed to the socket.
    answers: VecDeque<Vec<u8>>,
    /// There is an answer in what the socket has.
    holds_answer: bool,
    /// The subscription that comes first the next time.
    turn: u64,
    link: Option<CarriedLink>,
    /// The connection that this is, if the server is ours.
    held: Option<Held>,
    longer_waits: Option<LongerWaits>,
    lasts: Lasts,
}

/// What happens on a connection.
enum Happened {
    Moved(Result<Moved, End>),
    Answered(Answered),
}

impl Connection {
    pub(super) fn new(
        shared: Arc<Shared>,
        caller: Caller,
        socket: WebSocket,
        link: Option<CarriedLink>,
        held: Option<Held>,
        lasts: Lasts,
    ) -> Connection {
        Connection {
            socket: PacedSocket::new(socket, shared.metrics.held.clone()),
            client: Client::new(shared, caller, link.is_some()),
            calls: FuturesUnordered::new(),
            answers: VecDeque::new(),
            holds_answer: false,
            turn: 0,
            link,
            held,
            longer_waits: None,
            lasts,
        }
    }

    /// Its client may read nothing for as long as one with subscriptions may.
    pub(super) fn be_lenient(&mut self) {
        if let (Some(held), None) = (&self.held, &self.longer_waits) {
            let stalled = self.client.shared.gateway.limits.stalled;
            self.longer_waits = Some(held.be_lenient(stalled));
        }
    }

    /// Serves until the client goes, one side ends the link, or the server ends.
    pub(super) async fn run(mut self) {
        let end = match self.serve().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.close(end).await;
    }

    /// Closes the socket, and the link with it.
    pub(super) async fn close(self, end: End) {
        let rest = self.link.map(|link| link.close(&end));
        self.socket.close(end, rest.unwrap_or_default()).await;
    }

    async fn serve(&mut self) -> Result<std::convert::Infallible, End> {
        let shared = Arc::clone(&self.client.shared);
        let limits = &shared.gateway.limits;
        let patience = limits.patience;
        let more = Arc::clone(&self.client.more);
        let rung = self.link.as_ref().map(|link| Arc::clone(&link.rung));
        let mut was_heard = true;
        let mut was_asked = false;
        let mut look_again = tokio::time::Instant::now() + patience;
        let mut look_at_lag = None;
        loop {
            let is_stopping = self.lasts.stage() > Stage::Serving;
            let not_before = if self.socket.is_flushing() {
                None
            } else {
                self.fill(is_stopping)?
            };
            // What has come since the last flush began is not in the socket.
            let is_answered = self.calls.is_empty()
                && self.answers.is_empty()
                && !(self.socket.is_flushing() && self.holds_answer);
            if is_stopping && is_answered {
                match &self.link {
                    Some(link) if link.is_handled() => link.refuse(SERVER_ENDS),
                    Some(_) => {}
                    None => return Err(End::because(close_code::AWAY, SERVER_ENDS)),
                }
            }
            if let Some(end) = self.link.as_ref().and_then(CarriedLink::ended) {
                return Err(end);
            }
            let (has_room, give_up) = match &mut self.link {
                Some(link) => link.look(limits),
                None => (true, None),
            };
            // It is the same one until then, whatever the client says meanwhile.
            let may_lag = self.socket.is_flushing() && self.may_close();
            look_at_lag =
                may_lag.then(|| look_at_lag.unwrap_or_else(|| Instant::now() + LAG_PAUSE));
            let next_stage = if is_stopping {
                Stage::Cut
            } else {
                Stage::Stopping
            };
            let Connection {
                socket,
                calls,
                answers,
                lasts,
                ..
            } = self;
            let is_flushing = socket.is_flushing();
            let may_read =
                has_room && !is_stopping && answers.is_empty() && calls.len() < MOST_CALLS;
            let happens = poll_fn(|context| happened(socket, calls, may_read, context));
            tokio::select! {
                biased;
                () = lasts.reached(next_stage) => {
                    if next_stage == Stage::Cut {
                        return Err(End::GONE);
                    }
                }
                () = until(look_at_lag), if may_lag => {
                    look_at_lag = None;
                    self.close_those_behind()?;
                }
                happened = happens => match happened {
                    Happened::Moved(moved) => match moved? {
                        Moved::Flushed => {}
                        Moved::Came(frame) => {
                            was_heard = true;
                            self.take_in(frame)?;
                        }
                    },
                    Happened::Answered(answered) => self.answered(answered),
                },
                () = more.notified(), if !is_flushing => {}
                () = rang(rung.as_deref()) => {}
                () = sleep_until(give_up.unwrap_or(look_again)), if give_up.is_some() => {
                    return Err(End::because(
                        close_code::POLICY,
                        "its messages wait, and no actor takes one",
                    ));
                }
                () = until(not_before), if not_before.is_some() => {}
                () = sleep_until(look_again) => {
                    // From now on: of what was late the client has not had its time.
                    look_again = tokio::time::Instant::now() + patience;
                    self.check_heard(may_read, was_asked, &mut was_heard)?;
                    was_asked = self.socket.ping()?;
                }
            }
        }
    }

    /// Ends the connection if its client may be gone: nothing was heard of it since it was asked, not even that it has got the ping. One that takes
    /// long to read its answer was not asked meanwhile; how long it may read nothing is seen to below.
    fn check_heard(
        &self,
        may_read: bool,
        was_asked: bool,
        was_heard: &mut bool,
    ) -> Result<(), End> {
        let Some(link) = &self.link else {
            let is_idle = self.client.subscriptions().is_empty()
                && self.calls.is_empty()
                && self.answers.is_empty()
                && !self.socket.is_flushing();
            if is_idle && !std::mem::take(was_heard) && was_asked {
                return Err(End::because(close_code::NORMAL, "nothing is asked for"));
            }
            return Ok(());
        };
        // What is not read is not heard.
        if may_read && !std::mem::take(was_heard) && was_asked {
            let reason = "the page answers no ping";
            link.lose(reason);
            return Err(End::because(close_code::POLICY, reason));
        }
        Ok(())
    }

    /// Hands the socket what is due: answers first, then what the subscriptions have, by turns and a piece at a time, then all that the link
    /// has. Says until when the subscriptions have nothing, if that is known.
    fn fill(&mut self, is_stopping: bool) -> Result<Option<Instant>, End> {
        self.holds_answer = !self.answers.is_empty();
        while let Some(answer) = self.answers.pop_front() {
            let bytes = answer.len();
            // It was written as text.
            let text = String::from_utf8(answer).unwrap_or_default();
            self.socket.hand_over(Message::text(text), bytes)?;
        }
        let mut not_before: Option<Instant> = None;
        if !is_stopping {
            let client = Arc::clone(&self.client);
            let mut subscriptions = client.subscriptions();
            let now = Instant::now();
            let ids: Vec<u64> = {
                let behind = subscriptions.range(self.turn..).map(|(&id, _)| id);
                behind
                    .chain(subscriptions.range(..self.turn).map(|(&id, _)| id))
                    .collect()
            };
            for (place, id) in ids.into_iter().enumerate() {
                let room = CHUNK_BYTES.saturating_sub(self.socket.held());
                if room == 0 {
                    self.turn = id;
                    break;
                }
                let Some(subscription) = subscriptions.get_mut(&id) else {
                    continue;
                };
                let mut handed = Ok(());
                let taken = subscription.messages(now, room, |message| {
                    let (bytes, message) = match message {
                        push::Message::Text(text) => (text.len(), Message::text(text)),
                        push::Message::Binary(rows) => (rows.len(), Message::binary(rows)),
                    };
                    if handed.is_ok() {
                        handed = self.socket.hand_over(message, bytes);
                    }
                });
                handed?;
                match taken {
                    Ok(Taken::Some { is_cut: true }) => {
                        // It goes on with the next write, unless it was the first in this one.
                        self.turn = if place > 0 { id } else { id + 1 };
                        break;
                    }
                    Ok(Taken::Some { is_cut: false } | Taken::Nothing) => {}
                    Ok(Taken::NotBefore(time)) => {
                        not_before = Some(not_before.map_or(time, |earlier| earlier.min(time)));
                    }
                    Err(_) => {
                        subscription.closed();
                        let message = closed_message(id, subscription.rest().0);
                        let bytes = message.len();
                        self.socket.hand_over(Message::text(message), bytes)?;
                        return Err(TOO_FAR_BEHIND);
                    }
                }
            }
        }
        if let Some(outgoing) = self.link.as_mut().and_then(CarriedLink::outgoing) {
            let bytes = outgoing.len();
            self.socket.hand_over(Message::binary(outgoing), bytes)?;
        }
        self.socket.flush();
        Ok(not_before)
    }

    fn take_in(&mut self, frame: Message) -> Result<(), End> {
        match frame {
            Message::Text(text) => {
                let answering = Arc::clone(&self.client).answer(text.into());
                self.calls.push(Box::pin(answering));
                Ok(())
            }
            Message::Binary(bytes) => match &mut self.link {
                Some(link) => link.receive(&bytes),
                None => Err(End::because(
                    close_code::UNSUPPORTED,
                    "calls are frames of text",
                )),
            },
            // What follows a frame that closes is found by the reading.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    fn answered(&mut self, mut answered: Answered) {
        if let Some(mut body) = answered.body {
            let waiting: usize = self.answers.iter().map(Vec::len).sum();
            let most = self.client.shared.gateway.limits.push_bytes / 4;
            if waiting > 0 && waiting + body.len() > most {
                body = refusal("more answers wait than there is room for", &body);
                // The client would not know which they are.
                answered.begun.clear();
            }
            self.answers.push_back(body);
        }
        if !answered.begun.is_empty() {
            self.be_lenient();
        }
        let mut subscriptions = self.client.subscriptions();
        subscriptions.extend(answered.begun.into_iter().map(|begun| (begun.id, begun)));
    }

    /// Whether one of its subscriptions asked that it be closed when that is too far behind.
    fn may_close(&self) -> bool {
        let subscriptions = self.client.subscriptions();
        subscriptions.values().any(push::Subscription::may_close)
    }

    /// Ends the connection if one of its subscriptions asked for that.
    fn close_those_behind(&self) -> Result<(), End> {
        let subscriptions = self.client.subscriptions();
        let behind = subscriptions.values().find(|one| one.is_behind());
        match behind {
            Some(subscription) => {
                subscription.closed();
                Err(TOO_FAR_BEHIND)
            }
            None => Ok(()),
        }
    }
}

const TOO_FAR_BEHIND: End = End::because(close_code::POLICY, "a subscription is too far behind");

/// Looks at a connection: which calls have their answers, and what happens on the socket.
fn happened(
    socket: &mut PacedSocket,
    calls: &mut FuturesUnordered<Pin<Box<dyn Future<Output = Answered> + Send>>>,
    may_read: bool,
    context: &mut Context<'_>,
) -> Poll<Happened> {
    if let Poll::Ready(Some(answered)) = calls.poll_next_unpin(context) {
        return Poll::Ready(Happened::Answered(answered));
    }
    socket.poll_moved(may_read, context).map(Happened::Moved)
}

async fn rang(link: Option<&Notify>) {
    match link {
        Some(rung) => rung.notified().await,
        None => std::future::pending().await,
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}
