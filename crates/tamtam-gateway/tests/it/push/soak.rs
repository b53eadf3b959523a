//! Subscribers beside others that never read: what the readers notice of these, and what all of them take of memory.
//!
//! `TAMTAM_SOAK_SECONDS` makes it a thousand subscribers, of which a hundred never read, and the test strict. Figures are worth
//! something in a build with optimization on a quiet machine:
//!
//! ```text
//! TAMTAM_SOAK_SECONDS=60 cargo test --release -p tamtam-gateway --test it -- --nocapture push::soak
//! ```

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::{SinkExt, StreamExt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tamtam_actor::Topic;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Publication, Service};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_tungstenite::tungstenite::Message;

use super::Socket;
use crate::apart::{self, Apart, soak_seconds};

/// Values of one tick; a thousand ticks are a second.
const VALUES_A_TICK: u64 = 10;
const KEYS: u64 = 100;
/// Bytes held for one connection, at most.
const BOUND: usize = 64 << 10;
/// What the gateway may take beside.
const BESIDE: usize = 16 << 20;
/// One latency in so many is kept.
const KEPT_ONE_IN: usize = 8;
/// How often each session is repeated in a soak; the middle one counts.
const ROUNDS: usize = 3;

/// How many subscribe.
#[derive(Clone, Copy)]
struct Crowd {
    readers: usize,
    silent: usize,
}

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
struct Tick {
    key: u64,
    /// When it was published.
    nanos: u64,
}

fn nanos_now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_nanos() as u64
}

/// No test: what the other one calls, in a process of its own.
#[test]
#[ignore = "the other test of this module starts it"]
fn serves() {
    allow_descriptors();
    apart::serve(|| {
        let topic = Topic::new();
        let key = |tick: &Tick| tick.key.to_string();
        let ticks = Publication::keyed_topic("ticks", topic.clone(), key);
        let publishes = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&publishes);
        let publisher = std::thread::spawn(move || publish(&topic, &told));
        let publish = Method::blocking("publish", move |(is_to,): (bool,)| {
            publishes.store(is_to, Ordering::SeqCst);
            publisher.thread().unpark();
            Ok::<_, Fault>(())
        });
        let limits = Limits {
            connections: 4_096,
            requests: 4_096,
            requests_of_client: 4_096,
            subscriptions_of_client: 4_096,
            push_bytes: BOUND,
            ..Limits::default()
        };
        let service = Service::new("Market").with_publication(ticks).with(publish);
        Gateway::new().limits(limits).service(service)
    });
}

/// Publishes 10,000 values a second, from when it is told to until it is told not to.
fn publish(topic: &Topic<Tick>, publishes: &AtomicBool) {
    while !publishes.load(Ordering::SeqCst) {
        std::thread::park();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut clock = interval(Duration::from_millis(1));
        clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for number in 0_u64.. {
            if number % VALUES_A_TICK == 0 {
                clock.tick().await;
                if !publishes.load(Ordering::SeqCst) {
                    return;
                }
            }
            let tick = Tick {
                key: number % KEYS,
                nanos: nanos_now(),
            };
            topic.publish(tick).unwrap();
        }
    });
}

/// As many descriptors as the system lets a process have.
fn allow_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// What readers do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    WarmsUp,
    Measures,
    Ends,
}

/// What one reader, or all of them, have seen.
#[derive(Default)]
struct Seen {
    /// From the publication of a value to here, in microseconds; one in [`KEPT_ONE_IN`].
    latencies: Vec<u32>,
    /// Values that came while it was measured.
    received: u64,
}

impl Seen {
    fn percentile(&self, percent: usize) -> u32 {
        self.latencies[self.latencies.len() * percent / 100]
    }
}

/// The number behind this name in the text of a message. Readers share the processors with the gateway, so that is quick.
fn number_of(text: &str, name: &str) -> Option<u64> {
    let place = memchr::memmem::find(text.as_bytes(), name.as_bytes())?;
    let rest = &text[place + name.len()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// Reads until it is told to end; each value that was published has come, or is known to be missed.
async fn read(mut socket: Socket, first: u64, mut stage: watch::Receiver<Stage>) -> Seen {
    let mut seen = Seen::default();
    let (mut received, mut missed) = (0, 0);
    let mut now = Stage::WarmsUp;
    loop {
        let frame = tokio::select! {
            biased;
            Ok(()) = stage.changed() => {
                now = *stage.borrow_and_update();
                if now == Stage::Ends {
                    let end = r#"{"jsonrpc":"2.0","id":99,"method":"unsubscribe","params":[1]}"#;
                    socket.stream.send(Message::text(end)).await.unwrap();
                }
                continue;
            }
            frame = socket.stream.next() => frame,
        };
        let Message::Text(text) = frame.expect("a frame").expect("a frame") else {
            continue;
        };
        missed += number_of(&text, r#""missed":"#).expect("each message says what was missed");
        if !text.starts_with(r#"{"jsonrpc":"2.0","method":"value""#) {
            // The answer to the end.
            let number = number_of(&text, r#""number":"#).expect("it says how far it had got");
            assert_eq!(first + received + missed, number);
            return seen;
        }
        received += 1;
        if now == Stage::Measures {
            if seen.received % KEPT_ONE_IN as u64 == 0 {
                let published = number_of(&text, r#""nanos":"#).expect("a value");
                let latency = nanos_now().saturating_sub(published) / 1_000;
                seen.latencies.push(latency as u32);
            }
            seen.received += 1;
        }
    }
}

/// What the readers saw for so long, and how much memory the gateway has taken for all.
async fn session(crowd: Crowd, time: Duration) -> (Seen, usize) {
    let server = Apart::start("push::soak::serves");
    let (before, _) = server.memory();
    let (stage, _) = watch::channel(Stage::WarmsUp);
    let mut control = Socket::at(server.address, &[]).await.expect("a WebSocket");
    let (mut reading, mut silent) = (Vec::new(), Vec::new());
    for place in 0..crowd.readers + crowd.silent {
        let (socket, first) = subscribed(server.address).await;
        if place < crowd.readers {
            reading.push(tokio::spawn(read(socket, first, stage.subscribe())));
        } else {
            silent.push(socket);
        }
    }
    let publish = control.call("Market.publish", json!([true])).await;
    publish.expect("values");
    sleep(time / 4).await;
    stage.send_replace(Stage::Measures);
    sleep(time).await;
    stage.send_replace(Stage::Ends);
    let end = control.call("Market.publish", json!([false])).await;
    end.expect("no more values");
    let mut all = Seen::default();
    for reader in reading {
        let seen = reader.await.expect("all values are accounted for");
        all.latencies.extend(seen.latencies);
        all.received += seen.received;
    }
    assert!(!all.latencies.is_empty(), "nothing came");
    all.latencies.sort_unstable();
    let (_, most) = server.memory();
    drop(silent);
    server.end();
    (all, most.saturating_sub(before))
}

/// A WebSocket that has subscribed, and the number behind which it begins.
async fn subscribed(address: SocketAddr) -> (Socket, u64) {
    let mut socket = Socket::at(address, &[]).await.expect("a WebSocket");
    let wish = json!({"policy": "latest_of_each_key"});
    let begun = socket.subscribe("Market.ticks", wish).await;
    let first = begun["number"].as_u64().unwrap();
    assert_eq!(begun["subscription"], 1);
    (socket, first)
}

#[test]
fn those_that_never_read_cost_the_others_nothing_and_little_memory() {
    let soak = soak_seconds();
    let (crowd, time, rounds) = match soak {
        Some(seconds) => {
            let crowd = Crowd {
                readers: 900,
                silent: 100,
            };
            let each = seconds as f64 / (2 * ROUNDS) as f64;
            (crowd, Duration::from_secs_f64(each), ROUNDS)
        }
        None => {
            let crowd = Crowd {
                readers: 36,
                silent: 4,
            };
            (crowd, Duration::from_secs(1), 1)
        }
    };
    let test = move || async move {
        allow_descriptors();
        let calm_crowd = Crowd { silent: 0, ..crowd };
        let (mut calm, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            for (crowd, percentiles) in [(calm_crowd, &mut calm), (crowd, &mut beside)] {
                let (seen, memory) = session(crowd, time).await;
                let clients = crowd.readers + crowd.silent;
                let said = format!(
                    "{} readers and {} that never read: median {} µs, p99 {} µs, {} values a second, {} KiB of memory",
                    crowd.readers,
                    crowd.silent,
                    seen.percentile(50),
                    seen.percentile(99),
                    seen.received as f64 / time.as_secs_f64(),
                    memory >> 10,
                );
                println!("{said}");
                assert!(memory <= BOUND * clients + BESIDE, "{said}");
                percentiles.push(seen.percentile(99));
            }
        }
        calm.sort_unstable();
        beside.sort_unstable();
        let (calm, beside) = (calm[rounds / 2], beside[rounds / 2]);
        println!("p99 {calm} µs, and {beside} µs beside those that do not read");
        if soak.is_some() {
            assert!(beside <= 2 * calm, "p99 {beside} µs, and {calm} µs alone");
        }
    };
    tamtam_testing::within(
        4 * rounds as u32 * time + Duration::from_secs(60),
        move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(test());
        },
    );
}
