//! An answer that has not gone keeps its place among the requests that are worked on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

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
    answer.map(|mut body| {
        // Mostly all of it is there: then its bytes keep the place by themselves, without a layer that looks at each.
        let first = length.and_then(|_| at_hand(&mut body));
        match first {
            Some(bytes) if length == Some(bytes.len() as u64) => Body::from(placed(bytes, ticket)),
            first => Body::new(Unsent {
                first,
                body,
                ticket: Arc::new(ticket),
            }),
        }
    })
}

/// The next bytes, if they need not be waited for.
fn at_hand(body: &mut Body) -> Option<Bytes> {
    let mut unheard = Context::from_waker(Waker::noop());
    match Pin::new(body).poll_frame(&mut unheard) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        // A body that has ended, or has failed, gives nothing behind that.
        _ => None,
    }
}

/// A body whose bytes keep a place.
#[derive(Debug)]
struct Unsent {
    /// What it has given already.
    first: Option<Bytes>,
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
        let polled = match unsent.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Pin::new(&mut unsent.body).poll_frame(context),
        };
        polled.map_ok(|frame| frame.map_data(|bytes| placed(bytes, Arc::clone(&unsent.ticket))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let first = self.first.as_ref().map_or(0, |first| first.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + first);
        }
        hint.set_lower(hint.lower() + first);
        hint
    }
}

/// These bytes, which keep a place until they are dropped.
pub(crate) fn placed<T: Send + 'static>(bytes: Bytes, place: T) -> Bytes {
    Bytes::from_owner(Placed {
        bytes,
        _place: place,
    })
}

/// Bytes that keep a place.
struct Placed<T> {
    bytes: Bytes,
    _place: T,
}

impl<T> AsRef<[u8]> for Placed<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
