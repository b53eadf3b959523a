//! A link over a WebSocket: an actor of the server for the page, and those of the page for that one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::extract::ws::close_code;
use tamtam_link::{Encoding, Inbound, Link, LinkBuilder, LinkEnd};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::paced::End;
use crate::admission::Ticket;
use crate::gateway::Shared;
use crate::value::shortened;
use crate::{Caller, Fault, FaultKind, Limits};

/// Says that the caller has not said who it is, or may not: numbers of the registry of WebSocket's close codes.
const UNAUTHORIZED: u16 = 3000;
const FORBIDDEN: u16 = 3003;

/// What clients of a server that ends are told.
pub(super) const SERVER_ENDS: &str = "the server ends";

/// Bytes that the link is given at once.
const PIECE_BYTES: usize = 16 << 10;

/// The end of a link whose other end is a page.
pub(super) struct CarriedLink {
    link: Link,
    inbound: Inbound,
    /// Told when there is something to send, when an actor is done with messages, and when the link has ended.
    pub(super) rung: Arc<Notify>,
    /// Of what has come and is not done with, so many bytes at most when more is read.
    most_unhandled: usize,
    /// Since when nothing is read, as too much waits for actors, and how much that was.
    full_since: Option<(Instant, usize)>,
    _place: Ticket,
}

/// Opens a link to the root of this name. One that is refused tells the page why, and the socket is to be closed so.
pub(super) fn open(shared: &Shared, caller: &Caller, name: &str) -> (CarriedLink, Option<End>) {
    let place = shared.links.admit(caller.peer());
    let builder = || Link::builder().encoding(Encoding::Json).untrusted();
    let (builder, refused) = match offer(shared, caller, name, &place, builder()) {
        Ok(offered) => (offered, None),
        Err(fault) => (builder(), Some(fault)),
    };
    let rung = Arc::new(Notify::new());
    let ring = Arc::clone(&rung);
    let (link, inbound) = builder.build(move || ring.notify_one());
    link.expect_hello(shared.gateway.limits.patience);
    let carried = CarriedLink {
        link,
        inbound,
        rung,
        most_unhandled: shared.gateway.limits.push_bytes,
        full_since: None,
        _place: place,
    };
    let end = refused.map(|fault| {
        carried.link.refuse(fault.description());
        end_of_fault(&fault)
    });
    (carried, end)
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
        let short = shortened(name);
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

impl CarriedLink {
    /// How the socket is to be closed, once the link has ended.
    pub(super) fn ended(&self) -> Option<End> {
        self.link.ended().map(|end| end_of_link(&end))
    }

    /// Whether actors are done with all that has come.
    pub(super) fn is_handled(&self) -> bool {
        self.link.unhandled() == 0
    }

    /// Looks how much waits for actors: whether more may be read, and until when one of them has to have taken something, if not.
    pub(super) fn look(&mut self, limits: &Limits) -> (bool, Option<Instant>) {
        let unhandled = self.link.unhandled();
        let has_room = unhandled < self.most_unhandled;
        self.full_since = match self.full_since {
            _ if has_room => None,
            Some((since, before)) if before == unhandled => Some((since, before)),
            _ => Some((Instant::now(), unhandled)),
        };
        (
            has_room,
            self.full_since.map(|(since, _)| since + limits.time),
        )
    }

    /// What the link has to say, if that is anything.
    pub(super) fn outgoing(&mut self) -> Option<Vec<u8>> {
        let mut outgoing = Vec::new();
        self.link.take_outgoing(&mut outgoing);
        (!outgoing.is_empty()).then_some(outgoing)
    }

    /// Takes what has come.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<(), End> {
        // Each piece is confirmed by itself, so that it shows that an actor goes on.
        for piece in bytes.chunks(PIECE_BYTES) {
            let received = self.inbound.receive(piece);
            received.map_err(|end| end_of_link(&end))?;
        }
        Ok(())
    }

    /// Ends the link, since this server wants no more of it.
    pub(super) fn refuse(&self, reason: &str) {
        self.link.refuse(reason);
    }

    /// Ends the link, since its page is not there any more.
    pub(super) fn lose(&self, reason: &str) {
        self.link.lose(reason);
    }

    /// Says that the page is gone for those who have its addresses, and gives what is still to be said to it.
    pub(super) fn close(mut self, end: &End) -> Vec<u8> {
        // What has ended it before counts.
        match end.reason() {
            Some(reason) => self.link.refuse(reason),
            None => self.link.lose("the page has gone"),
        }
        self.outgoing().unwrap_or_default()
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
        LinkEnd::Silent(_) => {
            End::because(close_code::POLICY, "the page has not said hello in time")
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
