//! What the targets of the gateway share: one gateway in memory, a client for it, and what holds after whatever it was sent.

mod services;
mod xml;

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use peak_alloc::PeakAlloc;
use tamtam_gateway::Limits;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

pub use services::{Market, Price, table};
pub use xml::{Answer as XmlAnswer, Sent as XmlSent, answer as xml_answer, call as xml_call};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Small enough to be reached. No time is: a fuzzer says itself what hangs.
pub const LIMITS: Limits = Limits {
    body_bytes: 64 << 10,
    depth: 24,
    values: 1_000,
    batch: 8,
    time: Duration::from_secs(3_600),
    patience: Duration::from_secs(3_600),
    requests: 16,
    requests_of_client: 12,
    subscriptions: 8,
    subscriptions_of_client: 6,
    push_bytes: 64 << 10,
    stalled: Duration::from_secs(3_600),
    ..Limits::USUAL
};

/// Bytes that the gateway and all that is in this process may keep between two requests.
const MOST_KEPT_BYTES: usize = 24 << 20;

/// How often the work on a request may go on.
const MOST_POLLS: usize = 100_000;

/// One gateway that takes requests, and one that has too much to do.
pub struct World {
    pub runtime: Runtime,
    pub routes: Router,
    full: Router,
    pub market: Market,
    /// Calls that were answered when that was looked at last.
    calls: AtomicU64,
}

/// The world of this process, whose gateway has calls that wait where `may_wait`.
pub fn world(may_wait: bool) -> &'static World {
    static HASTY: LazyLock<World> = LazyLock::new(|| World::new(false));
    static WAITING: LazyLock<World> = LazyLock::new(|| World::new(true));
    if may_wait { &WAITING } else { &HASTY }
}

/// The answer to a request.
pub struct Answered {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl World {
    fn new(may_wait: bool) -> World {
        let market = Market::new();
        let full = Limits {
            requests: 0,
            ..LIMITS
        };
        World {
            runtime: Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("a runtime"),
            routes: market.gateway(LIMITS, may_wait).router(),
            full: Market::new().gateway(full, false).router(),
            market,
            calls: AtomicU64::new(0),
        }
    }

    /// What the gateway answers, which takes at most so many bytes of memory meanwhile.
    pub fn answer(&self, request: Request<Body>, most_bytes: usize) -> Answered {
        within(most_bytes, || self.run(answered(&self.routes, request)))
    }

    /// What a gateway answers that has too much to do.
    pub fn answer_when_full(&self, request: Request<Body>) -> Answered {
        self.run(answered(&self.full, request))
    }

    /// Runs some work to its end.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut polls = 0;
        self.runtime.block_on(poll_fn(|context| {
            polls += 1;
            assert!(polls < MOST_POLLS, "the work does not come to its end");
            work.as_mut().poll(context)
        }))
    }

    /// Checks that nothing is left of the requests that were answered, and that so many calls were, since the last time.
    pub fn rests(&self, calls: RangeInclusive<u64>) {
        let request = request("GET", "/metrics", &[], Body::empty());
        let answered = self.run(answered(&self.routes, request));
        let text = std::str::from_utf8(&answered.body).expect("the metrics are text");
        let sum = |name: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            let figures = lines.filter(|line| line.starts_with(['{', ' ']));
            let figures = figures.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
            figures.sum::<u64>()
        };
        for gauge in ["requests_at_work", "push_held_bytes", "subscribers"] {
            assert_eq!(sum(&format!("tamtam_gateway_{gauge}")), 0, "{gauge}");
        }
        let answered = sum("tamtam_gateway_calls_total");
        let now = answered - self.calls.swap(answered, Ordering::Relaxed);
        assert!(calls.contains(&now), "{now} calls, not {calls:?}");
        let kept = MEMORY.current_usage();
        assert!(kept <= MOST_KEPT_BYTES, "{kept} bytes are kept");
    }
}

/// The client that all requests come from.
pub fn client() -> ConnectInfo<SocketAddr> {
    ConnectInfo(SocketAddr::from(([10, 0, 0, 1], 4_000)))
}

/// A request to the gateway.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: Body) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "127.0.0.1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.extension(client());
    request.body(body).expect("a request")
}

/// A POST with this body.
pub fn post(path: &str, content_type: &str, body: &[u8]) -> Request<Body> {
    let body = Body::from(body.to_vec());
    request("POST", path, &[(CONTENT_TYPE.as_str(), content_type)], body)
}

async fn answered(routes: &Router, request: Request<Body>) -> Answered {
    let response = match routes.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let (parts, mut body) = response.into_parts();
    let is_endless = parts
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "text/event-stream");
    let body = if is_endless {
        // What is there at once.
        let mut now = Vec::new();
        let mut frames = pin!(async {
            while let Some(frame) = body.frame().await {
                let frame = frame.expect("the answer goes on");
                now.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            }
        });
        poll_fn(|context| {
            let _ = frames.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
        Bytes::from(now)
    } else {
        body.collect().await.expect("the whole answer").to_bytes()
    };
    Answered {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body,
    }
}

/// Does some work, which has at most so many bytes more of memory at any time than there were before it.
pub fn within<T>(most_bytes: usize, work: impl FnOnce() -> T) -> T {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let done = work();
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(
        taken <= most_bytes,
        "the request has taken {taken} bytes, more than {most_bytes}"
    );
    done
}
