//! An answer that has not gone keeps its place among the requests that are worked on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::admission::Ticket;

/// A shorter answer holds so little memory that its place is given to the next request as soon as it is made: so many streams as a
/// connection of HTTP/2 may have hold 400 KiB of these.
const SHORT_BYTES: u64 = 4 << 10;

/// The answer, which keeps the place of its request until its last byte was written, or it was dropped. Otherwise a client that reads
/// nothing could have more answers wait in memory than requests may be worked on.
pub(crate) fn keeping(ticket: Ticket, answer: Response) -> Response {
    let length = answer.body().size_hint().exact();
    if length.is_some_and(|length| length <= SHORT_BYTES) {
        return answer;
    }
    let ticket = Arc::new(ticket);
    answer.map(|body| Body::new(Unsent { body, ticket }))
}

/// A body whose bytes keep a place.
#[derive(Debug)]
struct Unsent {
    body: Body,
    ticket: Arc<Ticket>,
}

impl HttpBody for Unsent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let unsent = self.get_mut();
        let polled = Pin::new(&mut unsent.body).poll_frame(context);
        polled.map_ok(|frame| {
            frame.map_data(|bytes| {
                Bytes::from_owner(Placed {
                    bytes,
                    _ticket: Arc::clone(&unsent.ticket),
                })
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct Placed {
    bytes: Bytes,
    _ticket: Arc<Ticket>,
}

impl AsRef<[u8]> for Placed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
