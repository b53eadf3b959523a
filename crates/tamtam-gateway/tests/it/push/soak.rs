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

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tamtam_actor::Topic;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Publication, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

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
const ROUNDS: usize = 5;

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
            connections_of_client: 4_096,
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

/// How each message with a value begins, up to its number.
const VALUE: &[u8] = br#"{"jsonrpc":"2.0","method":"value","params":{"subscription":1,"number":"#;

/// What ends the subscription.
const UNSUBSCRIBE: &[u8] = br#"{"jsonrpc":"2.0","id":99,"method":"unsubscribe","params":[1]}"#;

/// The digits at the beginning, as a number, and what comes behind them.
fn number(text: &[u8]) -> (u64, &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits]
        .iter()
        .fold(0, |number, digit| 10 * number + u64::from(digit - b'0'));
    (number, &text[digits..])
}

/// The number behind this name.
fn number_of(text: &[u8], name: &str) -> Option<u64> {
    let place = memchr::memmem::find(text, name.as_bytes())?;
    Some(number(&text[place + name.len()..]).0)
}

/// A subscriber's end of a WebSocket, whose frames are taken apart in place: readers share the processors with the gateway, and a
/// library for any WebSocket takes more of them than the gateway does.
struct Reader {
    stream: TcpStream,
    bytes: Box<[u8; 32 << 10]>,
    /// Of the bytes these are there and not taken.
    filled: std::ops::Range<usize>,
    /// The number of the newest value of which it was told.
    told: u64,
    seen: Seen,
}

impl Reader {
    fn new(stream: TcpStream, first: u64) -> Reader {
        Reader {
            stream,
            bytes: Box::new([0; 32 << 10]),
            filled: 0..0,
            told: first,
            seen: Seen::default(),
        }
    }

    /// Takes what comes until it is told to end; each value that was published has come, or is known to be missed.
    async fn read(mut self, mut stage: watch::Receiver<Stage>) -> Seen {
        let mut now = Stage::WarmsUp;
        loop {
            let room = &mut self.bytes[self.filled.end..];
            tokio::select! {
                biased;
                Ok(()) = stage.changed() => {
                    now = *stage.borrow_and_update();
                    if now == Stage::Ends {
                        self.unsubscribe().await;
                    }
                }
                come = self.stream.read(room) => {
                    let come = come.expect("the connection lasts");
                    assert!(come > 0, "the connection lasts");
                    self.filled.end += come;
                    if self.take(now) {
                        return self.seen;
                    }
                }
            }
        }
    }

    /// A frame of text, masked with zeros.
    async fn unsubscribe(&mut self) {
        let mut frame = vec![0x81, 0x80 | UNSUBSCRIBE.len() as u8, 0, 0, 0, 0];
        frame.extend(UNSUBSCRIBE);
        self.stream.write_all(&frame).await.expect("it is read");
    }

    /// Takes the frames that are there as a whole; whether the last one is the answer to the end.
    fn take(&mut self, now: Stage) -> bool {
        while let [first, second, more @ ..] = &self.bytes[self.filled.clone()] {
            let (head, length) = match (*second, more) {
                (126, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
                (length @ 0..126, _) => (2, usize::from(length)),
                (126, _) => break,
                _ => panic!("no frame of these is masked, or has so many bytes"),
            };
            let frame = self.filled.start + head..self.filled.start + head + length;
            if frame.end > self.filled.end {
                break;
            }
            self.filled.start = frame.end;
            // What is no text asks whether it is there.
            if *first == 0x81 && self.take_message(frame, now) {
                return true;
            }
        }
        self.bytes.copy_within(self.filled.clone(), 0);
        self.filled = 0..self.filled.len();
        false
    }

    /// Takes a message; whether it is the answer to the end.
    fn take_message(&mut self, frame: std::ops::Range<usize>, now: Stage) -> bool {
        let text = &self.bytes[frame];
        let Some(value) = text.strip_prefix(VALUE) else {
            let number = number_of(text, r#""number":"#).expect("it says how far it had got");
            let missed = number_of(text, r#""missed":"#).expect("it says what was missed since");
            assert_eq!(self.told + missed, number);
            return true;
        };
        let (number, value) = self::number(value);
        let value = value.strip_prefix(br#","missed":"#);
        let (missed, value) = self::number(value.expect("each message says what was missed"));
        assert_eq!(self.told + missed + 1, number);
        self.told = number;
        if now == Stage::Measures {
            if self.seen.received.is_multiple_of(KEPT_ONE_IN as u64) {
                let published = number_of(value, r#""nanos":"#).expect("a value");
                let latency = nanos_now().saturating_sub(published) / 1_000;
                self.seen.latencies.push(latency as u32);
            }
            self.seen.received += 1;
        }
        false
    }
}

/// What the readers saw for so long, how much memory the gateway has taken for all, and how many processors meanwhile.
async fn session(crowd: Crowd, time: Duration) -> (Seen, usize, f64) {
    let server = Apart::start("push::soak::serves");
    let (before, _) = server.memory();
    let (stage, _) = watch::channel(Stage::WarmsUp);
    let mut control = Socket::at(server.address, &[]).await.expect("a WebSocket");
    let (mut reading, mut silent) = (Vec::new(), Vec::new());
    for place in 0..crowd.readers + crowd.silent {
        let (socket, first) = subscribed(server.address).await;
        if place < crowd.readers {
            // Nothing was published yet, so nothing has come that is not taken.
            let reader = Reader::new(socket.stream.into_inner(), first);
            reading.push(tokio::spawn(reader.read(stage.subscribe())));
        } else {
            silent.push(socket);
        }
    }
    let publish = control.call("Market.publish", json!([true])).await;
    publish.expect("values");
    sleep(time / 4).await;
    let used_before = server.processor_time();
    stage.send_replace(Stage::Measures);
    sleep(time).await;
    stage.send_replace(Stage::Ends);
    let used = server.processor_time() - used_before;
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
    (
        all,
        most.saturating_sub(before),
        used.as_secs_f64() / time.as_secs_f64(),
    )
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
        for round in 0..rounds {
            let mut sessions = [(calm_crowd, &mut calm), (crowd, &mut beside)];
            // Each begins as often.
            sessions.rotate_left(round % 2);
            for (crowd, percentiles) in sessions {
                let (seen, memory, processors) = session(crowd, time).await;
                let clients = crowd.readers + crowd.silent;
                let said = format!(
                    "{} readers and {} that never read: median {} µs, p99 {} µs, {:.0} values a second, {} KiB of memory, {processors:.2} processors",
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
