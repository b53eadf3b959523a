//! What it costs to look at one answer in a thousand.
//!
//! `TAMTAM_SOAK_SECONDS` makes it longer, and strict. Figures are worth something in a build with optimization on a quiet machine:
//!
//! ```text
//! TAMTAM_SOAK_SECONDS=60 cargo test --release -p tamtam-gateway --test it -- --nocapture advice_cost
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::apart::{self, Apart, soak_seconds};
use crate::world::{kit, request};

/// Clients at a time.
const CLIENTS: usize = 8;
/// Each is called for so long in turn: what else the machine does meanwhile comes to both alike.
const TURN: Duration = Duration::from_millis(200);
/// Pairs of turns where it is no soak.
const FEW_PAIRS: usize = 2;
/// A call whose answer is a small table.
const CALL: &[u8] =
    br#"{"jsonrpc":"2.0","method":"Tiles.list","params":{"set":"palette","count":50},"id":1}"#;

/// No test: what the other one calls, in a process of its own.
#[test]
#[ignore = "the other test of this module starts it"]
fn serves_without() {
    apart::serve(kit);
}

/// No test: what the other one calls, in a process of its own.
#[test]
#[ignore = "the other test of this module starts it"]
fn serves_with_advice() {
    apart::serve(|| kit().advice(1_000));
}

/// Calls until this time; how many there were.
async fn call(address: SocketAddr, until: Instant) -> u64 {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut calls = 0;
    while Instant::now() < until {
        let request = request("POST", "/jsonrpc").header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from_static(CALL))).unwrap();
        sender.ready().await.expect("the connection is kept");
        let answer = sender.send_request(request).await.expect("an answer");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(
            body.starts_with(br#"{"jsonrpc":"2.0","result":["#),
            "{body:?}"
        );
        calls += 1;
    }
    calls
}

/// A server, and what its calls came to.
struct Side {
    server: Apart,
    /// Calls a second and microseconds of the server's processor for one, of each turn.
    turns: Vec<(f64, f64)>,
}

impl Side {
    async fn start(server: &str) -> Side {
        let server = Apart::start(server);
        // What is made once is made before.
        call(server.address, Instant::now() + TURN).await;
        let turns = Vec::new();
        Side { server, turns }
    }

    /// Calls it for one turn.
    async fn turn(&mut self) {
        let (before, begun) = (self.server.processor_time(), Instant::now());
        let clients = (0..CLIENTS).map(|_| tokio::spawn(call(self.server.address, begun + TURN)));
        let mut calls = 0;
        for client in clients.collect::<Vec<_>>() {
            calls += client.await.expect("each answer is right");
        }
        let took = begun.elapsed();
        let used = self.server.processor_time() - before;
        let calls = calls as f64;
        self.turns
            .push((calls / took.as_secs_f64(), used.as_secs_f64() * 1e6 / calls));
    }
}

/// The middle one, and those between which the middle half lies.
fn middle(figures: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    let count = figures.len();
    (
        figures[count / 2],
        figures[count / 4],
        figures[count * 3 / 4],
    )
}

#[test]
fn one_call_in_a_thousand_is_looked_at_for_next_to_nothing() {
    let soak = soak_seconds();
    let pairs = soak.map_or(FEW_PAIRS, |seconds| {
        (Duration::from_secs(seconds).as_millis() / (2 * TURN).as_millis()).max(1) as usize
    });
    let test = move || async move {
        let mut off = Side::start("advice_cost::serves_without").await;
        let mut on = Side::start("advice_cost::serves_with_advice").await;
        for pair in 0..pairs {
            // Each begins as often.
            let [first, then] = match pair % 2 {
                0 => [&mut off, &mut on],
                _ => [&mut on, &mut off],
            };
            first.turn().await;
            then.turn().await;
        }
        for (name, side) in [("off", &off), ("on", &on)] {
            let (rate, ..) = middle(side.turns.iter().map(|turn| turn.0));
            let (cost, ..) = middle(side.turns.iter().map(|turn| turn.1));
            println!(
                "advice {name}: {rate:.0} calls a second, {cost:.2} µs of the server's processor for one"
            );
        }
        let both = || on.turns.iter().zip(&off.turns);
        let (rate, low, high) = middle(both().map(|(on, off)| on.0 / off.0));
        let (cost, ..) = middle(both().map(|(on, off)| on.1 / off.1));
        let said = format!(
            "with advice {rate:.4} [{low:.4}..{high:.4}] of the calls a second, {cost:.4} of the processor's time for one, in {pairs} pairs"
        );
        println!("{said}");
        if soak.is_some() {
            assert!(rate >= 0.99 && cost <= 1.05, "{said}");
        }
        off.server.end();
        on.server.end();
    };
    let limit = 4 * (pairs as u32 + 2) * TURN + Duration::from_secs(60);
    tamtam_testing::within(limit, move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(test());
    });
}
