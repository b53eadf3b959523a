//! A thousand subscribers of which a hundred never read, for a quiet machine:
//!
//! ```text
//! ulimit -n 8192
//! cargo test --release -p tamtam-gateway --test it -- --ignored --nocapture push::soak
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tamtam_actor::Topic;
use tamtam_gateway::{Gateway, Limits, Publication, Service};
use tokio::time::{MissedTickBehavior, interval};

use super::{Socket, figure};
use crate::world::Running;

const SUBSCRIBERS: usize = 1_000;
const SILENT: usize = 100;
/// Values of one tick; a thousand ticks are a second.
const VALUES_A_TICK: u64 = 10;
const KEYS: u64 = 100;
const WARM_UP: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(20);
/// Bytes held for one connection, at most.
const BOUND: usize = 64 << 10;

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
struct Tick {
    key: u64,
    /// Since the session began.
    nanos: u64,
}

/// What the readers saw.
struct Seen {
    /// Of the values that came, in microseconds.
    median: u64,
    p99: u64,
    received: usize,
    held_bytes: u64,
    kept_bytes: u64,
}

async fn session(readers: usize, silent: usize) -> Seen {
    let topic = Topic::new();
    let ticks =
        Publication::keyed_topic("ticks", topic.clone(), |tick: &Tick| tick.key.to_string());
    let limits = Limits {
        connections: 4 * SUBSCRIBERS,
        requests: 4 * SUBSCRIBERS,
        requests_of_client: 4 * SUBSCRIBERS,
        subscriptions_of_client: 2 * SUBSCRIBERS,
        push_bytes: BOUND,
        ..Limits::default()
    };
    let service = Service::new("Market").with_publication(ticks);
    let server = Running::of(Gateway::new().limits(limits).service(service)).await;
    let begun = Instant::now();
    let is_measured = Arc::new(AtomicBool::new(false));
    let mut reading = Vec::new();
    let mut never_read = Vec::new();
    for place in 0..readers + silent {
        let mut socket = Socket::open(&server).await;
        let wish = json!({"policy": "latest_of_each_key"});
        socket.subscribe("Market.ticks", wish).await;
        if place >= readers {
            never_read.push(socket);
            continue;
        }
        let is_measured = Arc::clone(&is_measured);
        reading.push(tokio::spawn(async move {
            let mut took = Vec::new();
            while let Some(Ok(frame)) = socket.stream.next().await {
                if !is_measured.load(Ordering::Relaxed) {
                    continue;
                }
                let text = frame.into_text().unwrap_or_default();
                let Some((_, nanos)) = text.rsplit_once(r#""nanos":"#) else {
                    continue;
                };
                let sent: u64 = nanos.trim_end_matches('}').parse().unwrap();
                took.push((begun.elapsed().as_nanos() as u64 - sent) / 1_000);
            }
            took
        }));
    }
    let publishing = tokio::spawn(async move {
        let mut clock = interval(Duration::from_millis(1));
        clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for number in 0_u64.. {
            if number % VALUES_A_TICK == 0 {
                clock.tick().await;
            }
            let tick = Tick {
                key: number % KEYS,
                nanos: begun.elapsed().as_nanos() as u64,
            };
            topic.publish(tick).unwrap();
        }
    });
    tokio::time::sleep(WARM_UP).await;
    is_measured.store(true, Ordering::Relaxed);
    tokio::time::sleep(MEASURED).await;
    is_measured.store(false, Ordering::Relaxed);
    let held_bytes = figure(&server, "tamtam_gateway_push_held_bytes").await;
    let kept_bytes = figure(&server, "tamtam_gateway_push_kept_bytes").await;
    publishing.abort();
    let mut server = server;
    server.stop();
    server.ended().await;
    drop(never_read);
    let mut took = Vec::new();
    for reader in reading {
        took.extend(reader.await.unwrap());
    }
    took.sort_unstable();
    assert!(!took.is_empty(), "nothing came");
    Seen {
        median: took[took.len() / 2],
        p99: took[took.len() * 99 / 100],
        received: took.len(),
        held_bytes,
        kept_bytes,
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "median {} µs, p99 {} µs, {} values received, {} bytes held for clients, {} kept for all",
            self.median, self.p99, self.received, self.held_bytes, self.kept_bytes
        )
    }
}

/// Kilobytes of memory that the process has in use.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
#[ignore = "it takes a minute, 2,100 descriptors and a quiet machine"]
fn a_hundred_that_never_read_cost_the_others_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let calm = session(SUBSCRIBERS - SILENT, 0).await;
        println!(
            "without the {SILENT}: {calm}, resident {:?} KiB",
            resident()
        );
        let beside = session(SUBSCRIBERS - SILENT, SILENT).await;
        println!("with the {SILENT}: {beside}, resident {:?} KiB", resident());
        let most = (BOUND * SUBSCRIBERS + (16 << 20)) as u64;
        assert!(beside.held_bytes + beside.kept_bytes <= most);
        assert!(
            beside.p99 <= 2 * calm.p99,
            "p99 {} µs, and {} without those that do not read",
            beside.p99,
            calm.p99
        );
    });
}
