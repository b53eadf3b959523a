//! What stands before all routes: which pages may call, under which names the server is known, and what browsers ask before.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method as HttpMethod, StatusCode, Version};
use axum::response::Response;

use crate::content_type::{NOSNIFF, is_marked};
use crate::http::{Envelope, plain, put, set};
use crate::web_policy::{Verdict, WebPolicy, host_of};

/// A request that may pass.
#[derive(Debug)]
pub(crate) struct Passed {
    /// The origin of the page from which it comes, if that is another one.
    origin: Option<String>,
}

impl Passed {
    /// Lets a request pass.
    ///
    /// # Errors
    /// The answer, if its page may not call, it is for another server, for two, or for none, or it is what browsers ask before.
    pub(crate) fn of(web: &WebPolicy, request: &Envelope<'_>) -> Result<Passed, Box<Response>> {
        let (arrival, parts) = (request.arrival, request.parts);
        // Version 1.1 has it in each request, whatever the target says, and 2 has another one for it.
        let lacks_host = parts.version == Version::HTTP_11 && request.head.host.is_none();
        if request.head.has_two_hosts || lacks_host {
            let reason = "a request has one line Host";
            return Err(plain(StatusCode::BAD_REQUEST, reason));
        }
        let host = host_of(&parts.uri, request.head.host);
        // What is on a Unix socket is not reached by a page, and what this connection was known by before is known.
        let is_trusted = arrival.is_some_and(|arrival| {
            let known = arrival.known_host.get();
            arrival.peer.is_none() || known.is_some_and(|known| **known == *host)
        });
        let origin = match web.judge(host, request.head.origin, is_trusted) {
            Verdict::Fine => None,
            Verdict::From(origin) => Some(origin),
            Verdict::WrongHost => {
                let reason = "the server is not known by this name; whoever runs it can name it";
                return Err(plain(StatusCode::MISDIRECTED_REQUEST, reason));
            }
            Verdict::WrongOrigin => {
                let reason =
                    "pages of this origin may not call; whoever runs the server can allow it";
                return Err(plain(StatusCode::FORBIDDEN, reason));
            }
        };
        if !is_trusted && let Some(arrival) = arrival {
            // Another one at the same time has found one that is known as well.
            let _ = arrival.known_host.set(host.into());
        }
        let passed = Passed { origin };
        let headers = &parts.headers;
        let is_preflight = parts.method == HttpMethod::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_preflight && passed.origin.is_some() {
            let wanted = headers.get(ACCESS_CONTROL_REQUEST_HEADERS);
            let mut response = preflight(wanted.cloned());
            passed.mark(&mut response);
            return Err(Box::new(response));
        }
        Ok(passed)
    }

    /// Says on an answer who may read it, and that what is JSON is not to be taken for a page.
    pub(crate) fn mark(&self, response: &mut Response) {
        if let Some(origin) = &self.origin {
            set(response, ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            put(
                response,
                ACCESS_CONTROL_EXPOSE_HEADERS,
                "etag, content-range, accept-ranges",
            );
            if !response.headers().contains_key(VARY) {
                put(response, VARY, "origin");
            }
        }
        let headers = response.headers_mut();
        if !is_marked(headers) {
            let nosniff = const { HeaderValue::from_static(NOSNIFF) };
            headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        }
    }
}

/// The answer to what a browser asks before it lets a page call.
fn preflight(wanted: Option<HeaderValue>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    put(&mut response, ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
    put(&mut response, ACCESS_CONTROL_MAX_AGE, "600");
    if let Some(wanted) = wanted {
        response
            .headers_mut()
            .insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    }
    response
}
