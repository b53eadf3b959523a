//! What one tries a subscriber with: prices that move, and a slider that is set by a method.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_actor::Topic;
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Method, Publication, Service};

/// From one price to the next.
const PAUSE: Duration = Duration::from_millis(100);

/// Metals, and about how many cents a kilogram of each costs.
const METALS: [(&str, f64); 5] = [
    ("copper", 890.0),
    ("lead", 195.0),
    ("nickel", 1_540.0),
    ("tin", 3_120.0),
    ("zinc", 270.0),
];

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Price {
    metal: &'static str,
    /// Of a kilogram.
    cents: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SetArgs {
    /// 0 to 100.
    value: u8,
}

/// Adds the services.
///
/// # Errors
/// If there is no thread on which prices move.
pub(super) fn services(gateway: Gateway) -> Result<Gateway> {
    let prices = Topic::retaining();
    let moved = prices.clone();
    thread::Builder::new()
        .name("prices".to_owned())
        .spawn(move || move_for_ever(&moved))
        .context("there is no thread on which prices move")?;
    let prices = Publication::keyed_topic("prices", prices, |price: &Price| price.metal.to_owned())
        .about("What metals cost: ten prices a second, one metal after the other.");
    let slider = Arc::new(Property::new(50_u8));
    let set = {
        let slider = Arc::clone(&slider);
        Method::new("set", move |args: SetArgs| {
            let result = if args.value <= 100 {
                slider.set(args.value);
                Ok(())
            } else {
                Err(Fault::arguments("the slider goes from 0 to 100"))
            };
            std::future::ready(result)
        })
    };
    let slider = Publication::property("slider", slider).about("Where the slider stands.");
    Ok(gateway
        .service(
            Service::new("Market")
                .about("Values that are pushed.")
                .with_publication(prices),
        )
        .service(
            Service::new("Panel")
                .about("A slider that all who subscribe see.")
                .with_publication(slider)
                .with(set.about("Sets the slider: 0 to 100.")),
        ))
}

/// Publishes one price after the other, as long as the program runs.
fn move_for_ever(prices: &Topic<Price>) {
    for (step, (metal, usual)) in METALS.into_iter().cycle().enumerate() {
        let swing = (step as f64 / 7.0).sin() * 0.1 + 1.0;
        let price = Price {
            metal,
            cents: (usual * swing).round() as u32,
        };
        // A subscriber that has no room counts what it has lost.
        let _ = prices.publish(price);
        thread::sleep(PAUSE);
    }
}
