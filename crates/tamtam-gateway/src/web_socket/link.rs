//! A link over a WebSocket: an actor of the server for the page, and those of the page for that one.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, close_code};
use tamtam_link::{Encoding, Inbound, Link, LinkBuilder, LinkEnd};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::paced::{End, Moved, PacedSocket};
use crate::admission::Ticket;
use crate::gateway::Shared;
use crate::lasting::{Lasts, Stage};
use crate::{Caller, Fault, FaultKind};

/// Says that the caller has not said who it is, or may not: numbers of the registry of WebSocket's close codes.
const UNAUTHORIZED: u16 = 3000;
const FORBIDDEN: u16 = 3003;

/// What clients of a server that ends are told.
pub(super) const SERVER_ENDS: &str = "the server ends";

/// Bytes that the link is given at once.
const PIECE_BYTES: usize = 16 << 10;

/// The end of a link whose other end is a page.
struct LinkConnection {
    link: Link,
    inbound: Inbound,
    socket: PacedSocket,
    /// Told when there is something to send, when an actor is done with messages, and when the link has ended.
    rung: Arc<Notify>,
    /// Of what has come and is not done with, so many bytes at most when more is read.
    most_unhandled: usize,
    /// Bytes of messages that go to the socket.
    outgoing: Vec<u8>,
}

/// Serves a link to the root of this name, or tells the page why there is none.
pub(super) async fn serve_link(
    shared: Arc<Shared>,
    caller: Caller,
    name: String,
    socket: WebSocket,
    mut lasts: Lasts,
) {
    let place = shared.links.admit(caller.peer());
    let builder = || Link::builder().encoding(Encoding::Json).untrusted();
    let (builder, refused) = match offer(&shared, &caller, &name, &place, builder()) {
        Ok(offered) => (offered, None),
        Err(fault) => (builder(), Some(fault)),
    };
    let rung = Arc::new(Notify::new());
    let ring = Arc::clone(&rung);
    let (link, inbound) = builder.build(move || ring.notify_one());
    let mut connection = LinkConnection {
        link,
        inbound,
        socket: PacedSocket::new(socket, shared.metrics.held.clone()),
        rung,
        most_unhandled: shared.gateway.limits.push_bytes,
        outgoing: Vec::new(),
    };
    let end = match &refused {
        Some(fault) => {
            connection.link.refuse(fault.description());
            end_of_fault(fault)
        }
        None => {
            let open = shared.metrics.links(&name);
            open.inc();
            let ended = connection.run(&shared, &mut lasts).await;
            open.dec();
            match ended {
                Ok(never) => match never {},
                Err(end) => end,
            }
        }
    };
    connection.close(end).await;
    drop(place);
}

/// What a link of this caller is to be like.
///
/// # Errors
/// If there is no root of this name, the caller may not, or there are too many links.
fn offer(
    shared: &Shared,
    caller: &Caller,
    name: &str,
    place: &Ticket,
    builder: LinkBuilder,
) -> Result<LinkBuilder, Fault> {
    let Some(root) = shared.gateway.links.get(name) else {
        let short: String = name.chars().take(60).collect();
        let text = format!("there is no link {short:?}");
        return Err(Fault::of(FaultKind::NoMethod, text));
    };
    shared.may(root.authorize.as_ref(), caller, name)?;
    if matches!(place, Ticket::Refused) {
        let text = "there are too many links; close another one, or try again later";
        return Err(Fault::busy(text));
    }
    // What waits for the page; as much again is in the socket.
    let most_unread = shared.gateway.limits.push_bytes / 2;
    let builder = builder
        .longest_frame(most_unread / 2)
        .most_unread(most_unread);
    // What gives the actor is the user's.
    let offered = catch_unwind(AssertUnwindSafe(|| root.offer(caller, builder)));
    offered.map_err(|_| {
        tracing::error!(name, "what gives a page its actor panicked");
        Fault::of(FaultKind::Internal, "the link could not be opened")
    })
}

impl LinkConnection {
    /// Carries the link until one of its sides ends it.
    async fn run(&mut self, shared: &Shared, lasts: &mut Lasts) -> Result<Infallible, End> {
        let limits = &shared.gateway.limits;
        let rung = Arc::clone(&self.rung);
        let mut was_heard = true;
        let mut look_again = Instant::now() + limits.patience;
        // Since when nothing is read, as too much waits for actors.
        let mut full_since: Option<(Instant, usize)> = None;
        loop {
            let is_stopping = lasts.stage() > Stage::Serving;
            let unhandled = self.link.unhandled();
            if is_stopping && unhandled == 0 {
                self.link.refuse(SERVER_ENDS);
            }
            if let Some(end) = self.link.ended() {
                return Err(end_of_link(&end));
            }
            if !self.socket.is_flushing() {
                self.fill()?;
            }
            let has_room = unhandled < self.most_unhandled;
            full_since = match full_since {
                _ if has_room => None,
                Some((since, before)) if before == unhandled => Some((since, before)),
                _ => Some((Instant::now(), unhandled)),
            };
            let give_up = full_since.map(|(since, _)| since + limits.time);
            let may_read = has_room && !is_stopping;
            let next_stage = if is_stopping {
                Stage::Cut
            } else {
                Stage::Stopping
            };
            let socket = &mut self.socket;
            tokio::select! {
                biased;
                () = lasts.reached(next_stage) => {
                    if next_stage == Stage::Cut {
                        return Err(End::GONE);
                    }
                }
                moved = poll_fn(|context| socket.poll_moved(may_read, context)) => match moved? {
                    Moved::Flushed => {}
                    Moved::Came(message) => {
                        was_heard = true;
                        self.take_in(message)?;
                    }
                },
                () = rung.notified() => {}
                () = sleep_until(give_up.unwrap_or(look_again)), if give_up.is_some() => {
                    let reason = "its messages wait, and no actor takes one";
                    self.link.refuse(reason);
                    return Err(End::because(close_code::POLICY, reason));
                }
                () = sleep_until(look_again) => {
                    look_again += limits.patience;
                    // What is not read is not heard.
                    if may_read && !std::mem::take(&mut was_heard) {
                        let reason = "the page answers no ping";
                        self.link.lose(reason);
                        return Err(End::because(close_code::POLICY, reason));
                    }
                    self.socket.ping()?;
                }
            }
        }
    }

    /// Hands the socket what the link has to say.
    fn fill(&mut self) -> Result<(), End> {
        self.link.take_outgoing(&mut self.outgoing);
        if self.outgoing.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.outgoing);
        let count = bytes.len();
        self.socket.hand_over(Message::binary(bytes), count)?;
        self.socket.flush();
        Ok(())
    }

    fn take_in(&mut self, message: Message) -> Result<(), End> {
        match message {
            Message::Binary(bytes) => {
                // Each piece is confirmed by itself, so that it shows that an actor goes on.
                for piece in bytes.chunks(PIECE_BYTES) {
                    let received = self.inbound.receive(piece);
                    received.map_err(|end| end_of_link(&end))?;
                }
                Ok(())
            }
            Message::Text(_) => {
                let reason = "a link goes in frames that are binary";
                self.link.refuse(reason);
                Err(End::because(close_code::UNSUPPORTED, reason))
            }
            // What follows a frame that closes is found by the reading.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    /// Says the rest, why the connection ends, and that the page is gone for those who have its addresses.
    async fn close(self, end: End) {
        // What has ended it before counts.
        match end.reason() {
            Some(reason) => self.link.refuse(reason),
            None => self.link.lose("the page has gone"),
        }
        let mut rest = self.outgoing;
        self.link.take_outgoing(&mut rest);
        drop(self.inbound);
        self.socket.close(end, rest).await;
    }
}

/// How a link that has ended closes its socket.
fn end_of_link(end: &LinkEnd) -> End {
    match end {
        LinkEnd::Refused(text) if &**text == SERVER_ENDS => {
            End::because(close_code::AWAY, SERVER_ENDS)
        }
        LinkEnd::Goodbye(_) => End::because(close_code::NORMAL, "the page has closed the link"),
        LinkEnd::Protocol(text) => End::said(close_code::PROTOCOL, text),
        LinkEnd::Unread(_) => {
            End::because(close_code::POLICY, "the page does not read what it is sent")
        }
        other => End::said(close_code::NORMAL, &other.to_string()),
    }
}

/// How a socket is closed whose link is refused.
fn end_of_fault(fault: &Fault) -> End {
    let code = match fault.kind() {
        FaultKind::Unauthenticated => UNAUTHORIZED,
        FaultKind::Forbidden => FORBIDDEN,
        FaultKind::Busy | FaultKind::Unavailable | FaultKind::TimedOut => close_code::AGAIN,
        FaultKind::Internal => close_code::ERROR,
        _ => close_code::POLICY,
    };
    End::said(code, fault.description())
}
