//! What stands around the routes where requests are measured: the header `Server-Timing`, and answers that are looked at later.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method as HttpMethod};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::advice::{Advisor, Job};
use crate::exchange::Exchange;
use crate::link_meter::LinkMeter;

/// What is done with the measurements.
#[derive(Debug)]
pub(crate) struct Measuring {
    pub(crate) tells_times: bool,
    pub(crate) advisor: Option<Advisor>,
}

/// Measures a request, if a page of this server asks, whose reader is shown the times, or its turn has come.
pub(crate) async fn measured(
    State(measuring): State<Arc<Measuring>>,
    request: Request,
    next: Next,
) -> Response {
    let is_of_page = |headers: &HeaderMap| {
        headers
            .get("sec-fetch-site")
            .is_some_and(|site| site == "same-origin")
    };
    let tells_times = measuring.tells_times && is_of_page(request.headers());
    let is_sampled = is_call(&request) && measuring.advisor.as_ref().is_some_and(Advisor::is_next);
    if !tells_times && !is_sampled {
        return next.run(request).await;
    }
    let link = request.extensions().get::<Arc<LinkMeter>>().cloned();
    let exchange = Exchange::begin(is_sampled);
    let answering = Arc::clone(&exchange).measure(next.run(request));
    let mut response = answering.await;
    if tells_times && let Ok(times) = HeaderValue::from_str(&exchange.server_timing()) {
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

/// Whether a request is one to a method.
fn is_call(request: &Request) -> bool {
    let path = request.uri().path();
    path.starts_with("/rest/")
        || (request.method() == HttpMethod::POST && !path.starts_with("/page/"))
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
