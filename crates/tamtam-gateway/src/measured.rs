//! What stands around the routes where requests are measured: the header `Server-Timing`, and answers that are looked at later.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Method as HttpMethod, request};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::advice::{Advisor, Job};
use crate::exchange::Exchange;
use crate::http::Arrival;
use crate::link_meter::LinkMeter;

/// What is done with the measurements.
#[derive(Debug)]
pub(crate) struct Measuring {
    pub(crate) tells_times: bool,
    pub(crate) advisor: Option<Advisor>,
}

/// A request that is measured.
pub(crate) struct Measured {
    measuring: Arc<Measuring>,
    exchange: Arc<Exchange>,
    tells_times: bool,
    link: Option<Arc<LinkMeter>>,
}

impl Measured {
    /// Measures a request, if a page of this server asks, whose reader is shown the times, or its turn has come.
    pub(crate) fn begin(
        measuring: &Arc<Measuring>,
        request: &request::Parts,
        arrival: Option<&Arrival>,
    ) -> Option<Measured> {
        let is_of_page = |headers: &HeaderMap| {
            headers
                .get("sec-fetch-site")
                .is_some_and(|site| site == "same-origin")
        };
        let tells_times = measuring.tells_times && is_of_page(&request.headers);
        let advisor = measuring.advisor.as_ref();
        let is_sampled = advisor.is_some_and(|advisor| is_call(request) && advisor.is_next());
        (tells_times || is_sampled).then(|| Measured {
            measuring: Arc::clone(measuring),
            exchange: Exchange::begin(is_sampled),
            tells_times,
            link: arrival.map(|arrival| Arc::clone(&arrival.meter)),
        })
    }

    /// Answers the request, and does what is done with the measurement.
    pub(crate) async fn answer(self, answering: impl Future<Output = Response>) -> Response {
        let Measured {
            measuring,
            exchange,
            link,
            ..
        } = self;
        let mut response = Arc::clone(&exchange).measure(answering).await;
        if self.tells_times
            && let Ok(times) = HeaderValue::from_str(&exchange.server_timing())
        {
            response.headers_mut().insert("server-timing", times);
        }
        match exchange.take_sample() {
            Some((sample, sent)) if measuring.advisor.is_some() => {
                let job = Some(Job { sample, sent, link });
                response.map(|body| {
                    Body::new(Looked {
                        body,
                        job,
                        measuring,
                    })
                })
            }
            _ => response,
        }
    }
}

/// Whether a request is one to a method, whose answer goes out.
fn is_call(request: &request::Parts) -> bool {
    let path = request.uri.path();
    (path.starts_with("/rest/") && request.method != HttpMethod::HEAD)
        || (request.method == HttpMethod::POST && !path.starts_with("/page/"))
}

/// A body that is looked at when it has been handed to the socket.
struct Looked {
    body: Body,
    job: Option<Job>,
    measuring: Arc<Measuring>,
}

impl HttpBody for Looked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Looked {
    fn drop(&mut self) {
        if let (Some(job), Some(advisor)) = (self.job.take(), &self.measuring.advisor) {
            advisor.submit(job);
        }
    }
}
