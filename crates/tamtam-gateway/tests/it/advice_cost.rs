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
/// How often each session is repeated in a soak; the middle one counts.
const ROUNDS: usize = 7;
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

/// Calls a second, and microseconds of the server's processor for one.
async fn session(server: &str, time: Duration) -> (f64, f64) {
    let server = Apart::start(server);
    // What is made once is made before.
    call(server.address, Instant::now() + time / 10).await;
    let (before, begun) = (server.processor_time(), Instant::now());
    let clients = (0..CLIENTS).map(|_| tokio::spawn(call(server.address, begun + time)));
    let mut calls = 0;
    for client in clients.collect::<Vec<_>>() {
        calls += client.await.expect("each answer is right");
    }
    let took = begun.elapsed();
    let used = server.processor_time() - before;
    server.end();
    let calls = calls as f64;
    (calls / took.as_secs_f64(), used.as_secs_f64() * 1e6 / calls)
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[test]
fn one_call_in_a_thousand_is_looked_at_for_next_to_nothing() {
    let soak = soak_seconds();
    let (time, rounds) = match soak {
        Some(seconds) => (Duration::from_secs(seconds) / (2 * ROUNDS as u32), ROUNDS),
        None => (Duration::from_millis(500), 1),
    };
    let test = move || async move {
        let (mut off, mut on) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for _ in 0..rounds {
            for (server, (rates, costs)) in [
                ("advice_cost::serves_without", &mut off),
                ("advice_cost::serves_with_advice", &mut on),
            ] {
                let (rate, cost) = session(server, time).await;
                println!(
                    "{server}: {rate:.0} calls a second, {cost:.2} µs of the server's processor for one"
                );
                rates.push(rate);
                costs.push(cost);
            }
        }
        let rates = middle(on.0) / middle(off.0);
        let costs = middle(on.1) / middle(off.1);
        let said = format!(
            "with advice {rates:.4} of the calls a second, {costs:.4} of the processor's time for one"
        );
        println!("{said}");
        if soak.is_some() {
            assert!(costs <= 1.05, "{said}");
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
