//! Intervals: what comes together, and what two subscriptions of one socket leave each other.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::events::Events;
use super::{Market, Price, Socket, price};
use crate::world::{Running, run};

/// A second look for values comes after the test.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Publishes so many values of about 240 bytes, each with a key of its own.
fn publish(market: &Market, cents: std::ops::RangeInclusive<u64>) {
    for cents in cents {
        let value = Price {
            note: "x".repeat(200),
            ..price(&format!("metal {cents}"), cents)
        };
        market.prices.publish(value).unwrap();
    }
}

/// As that, from 1 on, until all are encoded: one that subscribes behind 0 then gets all of them.
async fn publish_all(server: &Running, market: &Market, values: u64) {
    let mut reader = Socket::open(server).await;
    reader.subscribe("Market.prices", json!({})).await;
    publish(market, 1..=values);
    while reader.value().await["number"] != values {}
}

const POLICIES: [&str; 3] = ["all", "batches", "latest_of_each_key"];

#[test]
fn all_that_waits_comes_in_one_look_to_each_subscription_of_a_socket() {
    const VALUES: u64 = 600;
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        publish_all(&server, &market, VALUES).await;
        let mut socket = Socket::open(&server).await;
        for policy in POLICIES {
            let wish = json!({"policy": policy, "interval_ms": DAY_MS, "after": 0});
            socket.subscribe("Market.prices", wish).await;
        }
        let mut came = [0; POLICIES.len()];
        while came != [VALUES; POLICIES.len()] {
            let message = timeout(Duration::from_secs(30), socket.value()).await;
            let message = message.unwrap_or_else(|_| panic!("{came:?} have come"));
            assert_eq!(message["missed"], 0);
            let subscription = message["subscription"].as_u64().unwrap() as usize - 1;
            came[subscription] += message["values"].as_array().map_or(1, Vec::len) as u64;
            assert_eq!(message["number"], came[subscription]);
        }
    });
}

#[test]
fn all_that_waits_comes_in_one_look_as_events() {
    const VALUES: u64 = 600;
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        publish_all(&server, &market, VALUES).await;
        for policy in POLICIES {
            let path =
                format!("/events/Market.prices?policy={policy}&interval_ms={DAY_MS}&after=0");
            let mut events = Events::open(&server, &path, &[]).await;
            let last = format!(".{VALUES}");
            let coming = async {
                loop {
                    let event = events.next().await.unwrap();
                    assert_eq!(event.kind, "");
                    if event.id.ends_with(&last) {
                        return;
                    }
                }
            };
            let came = timeout(Duration::from_secs(30), coming).await;
            came.unwrap_or_else(|_| panic!("{policy}: the rest does not come"));
        }
    });
}

#[test]
fn a_subscription_loses_nothing_beside_another_one_of_its_socket() {
    /// Those of one subscription leave a third of a write of the socket to the other one.
    const IN_INTERVAL: u64 = 36;
    const ROUNDS: u64 = 60;
    run(|| async {
        let (market, gateway) = Market::new();
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        for _ in 0..2 {
            let wish = json!({"interval_ms": 20, "most_messages": 3 * IN_INTERVAL});
            socket.subscribe("Market.prices", wish).await;
        }
        let (mut last, mut missed) = ([0; 2], [0; 2]);
        for round in 1..=ROUNDS {
            let published = round * IN_INTERVAL;
            publish(&market, published - IN_INTERVAL + 1..=published);
            let is_last = round == ROUNDS;
            // The other one follows.
            while last[0] < published || (is_last && last[1] < published) {
                let value = socket.value().await;
                let subscription = value["subscription"].as_u64().unwrap() as usize - 1;
                last[subscription] = value["number"].as_u64().unwrap();
                missed[subscription] += value["missed"].as_u64().unwrap();
            }
        }
        assert_eq!(missed, [0, 0]);
    });
}
