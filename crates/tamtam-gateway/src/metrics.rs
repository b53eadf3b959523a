//! What a gateway counts, in the text that Prometheus reads.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::Semaphore;

use crate::unsent::placed;
use crate::{Fault, Protocol};

/// So many texts have not gone to their clients at a time; those that come beyond share one.
const MOST_TEXTS: usize = 64;

/// So old is that one at most.
const LONGEST_SHARED: Duration = Duration::from_secs(1);

/// The counters of a gateway.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    seconds: Family<MethodLabels, Histogram>,
    at_work: Gauge,
    refused: Counter,
    connections: Gauge,
    connections_refused: Counter,
    subscribers: Family<PushLabels, Gauge>,
    sent: Family<PushLabels, Counter>,
    missed: Family<PushLabels, Counter>,
    closed: Family<PushLabels, Counter>,
    links: Family<PushLabels, Gauge>,
    /// Bytes that connections with subscriptions hold for clients that have not taken them.
    pub(crate) held: Gauge,
    kept: Gauge,
    texts: Arc<Semaphore>,
    /// The latest one that was shared, and when it was made.
    shared_text: Mutex<Option<(Instant, Bytes)>>,
}

/// What is counted of one topic or property.
#[derive(Clone, Debug)]
pub(crate) struct PushFigures {
    pub(crate) subscribers: Gauge,
    pub(crate) sent: Counter,
    pub(crate) missed: Counter,
    pub(crate) closed: Counter,
}

/// What is counted of one method, found once: a call does not look for it among those of all.
#[derive(Debug, Default)]
pub(crate) struct MethodFigures {
    seconds: OnceLock<Histogram>,
    /// Calls that have succeeded, by protocol.
    answered: [OnceLock<Counter>; Protocol::COUNT],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    protocol: &'static str,
    /// Empty for methods that there are not: their names come from outside, and there is no end of them.
    method: String,
    /// `ok`, or the code of the fault's kind.
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PushLabels {
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    method: String,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("tamtam_gateway");
        let calls = Family::default();
        registry.register("calls", "Calls that were answered", calls.clone());
        let seconds: Family<MethodLabels, Histogram> =
            // From 50 microseconds to 26 seconds.
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(5e-5, 3.0, 13)));
        registry.register_with_unit(
            "call",
            "Time from a call to its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        let at_work = Gauge::default();
        registry.register(
            "requests_at_work",
            "Requests that are worked on",
            at_work.clone(),
        );
        let refused = Counter::default();
        registry.register(
            "requests_refused",
            "Requests beyond the limits, told at once",
            refused.clone(),
        );
        let connections = Gauge::default();
        registry.register(
            "connections",
            "Connections that are open",
            connections.clone(),
        );
        let connections_refused = Counter::default();
        registry.register(
            "connections_refused",
            "Connections beyond the limits, told so and closed",
            connections_refused.clone(),
        );
        let subscribers = Family::default();
        registry.register(
            "subscribers",
            "Subscriptions of a topic or property",
            subscribers.clone(),
        );
        let sent = Family::default();
        registry.register(
            "values_sent",
            "Values that were handed to a subscriber's connection",
            sent.clone(),
        );
        let missed = Family::default();
        registry.register(
            "values_missed",
            "Values that a subscriber was told it has missed",
            missed.clone(),
        );
        let closed = Family::default();
        registry.register(
            "subscriptions_closed",
            "Subscriptions that were closed since they were too far behind",
            closed.clone(),
        );
        let links = Family::default();
        registry.register("links", "Links of pages to an actor", links.clone());
        let held = Gauge::default();
        registry.register_with_unit(
            "push_held",
            "On their way to clients with subscriptions or links",
            Unit::Bytes,
            held.clone(),
        );
        let kept = Gauge::default();
        registry.register_with_unit(
            "push_kept",
            "Values of topics and properties that are kept for all subscribers",
            Unit::Bytes,
            kept.clone(),
        );
        Metrics {
            registry,
            calls,
            seconds,
            at_work,
            refused,
            connections,
            connections_refused,
            subscribers,
            sent,
            missed,
            closed,
            links,
            held,
            kept,
            texts: Arc::new(Semaphore::new(MOST_TEXTS)),
            shared_text: Mutex::default(),
        }
    }

    /// What is counted of this topic or property.
    pub(crate) fn push(&self, name: &str) -> PushFigures {
        let labels = PushLabels {
            name: name.to_owned(),
        };
        PushFigures {
            subscribers: self.subscribers.get_or_create(&labels).clone(),
            sent: self.sent.get_or_create(&labels).clone(),
            missed: self.missed.get_or_create(&labels).clone(),
            closed: self.closed.get_or_create(&labels).clone(),
        }
    }

    /// How many links there are to the actor of this name.
    pub(crate) fn links(&self, name: &str) -> Gauge {
        let name = name.to_owned();
        self.links.get_or_create(&PushLabels { name }).clone()
    }

    pub(crate) fn answered(
        &self,
        protocol: Protocol,
        method: Option<(&str, &MethodFigures)>,
        took: Duration,
        fault: Option<&Fault>,
    ) {
        let name = method.map_or("", |(name, _)| name);
        let calls = |outcome| {
            let labels = CallLabels {
                protocol: protocol.name(),
                method: name.to_owned(),
                outcome,
            };
            self.calls.get_or_create(&labels).clone()
        };
        if let Some((name, figures)) = method {
            let seconds = figures.seconds.get_or_init(|| {
                let method = name.to_owned();
                self.seconds.get_or_create(&MethodLabels { method }).clone()
            });
            seconds.observe(took.as_secs_f64());
        }
        match (fault, method) {
            (None, Some((_, figures))) => {
                let answered = &figures.answered[protocol as usize];
                answered.get_or_init(|| calls("ok")).inc();
            }
            (fault, _) => {
                let outcome = fault.map_or("ok", |fault| fault.kind().code());
                calls(outcome).inc();
            }
        }
    }

    pub(crate) fn refused(&self) {
        self.refused.inc();
    }

    pub(crate) fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// All of them as text.
    pub(crate) fn text(&self, at_work: usize, connections: usize, kept_bytes: usize) -> String {
        self.at_work.set(at_work as i64);
        self.connections.set(connections as i64);
        self.kept.set(kept_bytes as i64);
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// A text as an answer, which takes no place among requests: a client that reads none of however many it asks for has a bound here.
    pub(crate) fn answer(&self, now: Instant, make: impl FnOnce() -> String) -> Bytes {
        if let Ok(place) = Arc::clone(&self.texts).try_acquire_owned() {
            return placed(make().into(), place);
        }
        let latest = self.shared_text.lock();
        let mut latest = latest.unwrap_or_else(PoisonError::into_inner);
        if let Some((made, text)) = &*latest
            && now.saturating_duration_since(*made) < LONGEST_SHARED
        {
            return text.clone();
        }
        let text = Bytes::from(make());
        *latest = Some((now, text.clone()));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_do_not_go_have_a_bound_and_those_beyond_it_share_one_of_their_second() {
        let (metrics, now) = (Metrics::new(), Instant::now());
        let text = |after: Duration| {
            let make = || metrics.text(after.as_secs() as usize, 0, 0);
            metrics.answer(now + after, make)
        };
        let tells = |text: &Bytes, level: &str| {
            let text = std::str::from_utf8(text).unwrap();
            text.contains(&format!("requests_at_work {level}\n"))
        };
        let mut unread: Vec<Bytes> = (0..MOST_TEXTS).map(|_| text(Duration::ZERO)).collect();
        let first = text(Duration::ZERO);
        let same = text(LONGEST_SHARED / 2);
        assert_eq!(first.as_ptr(), same.as_ptr(), "it is there once");
        assert!(tells(&same, "0"));
        assert!(tells(&text(LONGEST_SHARED), "1"));
        // Where one of them has gone, the next is made anew.
        unread.pop();
        let own = text(LONGEST_SHARED * 2);
        assert!(tells(&own, "2"));
        assert_ne!(own.as_ptr(), text(LONGEST_SHARED * 2).as_ptr());
    }
}
