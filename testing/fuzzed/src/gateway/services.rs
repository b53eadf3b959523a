//! The services of the gateway that is fuzzed: a method of each kind, a topic, a property.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_actor::Topic;
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Publication, RowStream, Service, Value};
use tamtam_rows::Rows;
use tokio::sync::watch;

use crate::forms::tables;

/// Rows of a table, at most.
const MOST_ROWS: usize = 200;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    value: Value,
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    left: i64,
    right: i64,
}

#[derive(Serialize, JsonSchema)]
struct Added {
    sum: i64,
    is_even: bool,
}

#[derive(Deserialize, JsonSchema)]
struct ListOf {
    table: Option<String>,
    count: u16,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { width: u8, height: Option<u8> },
}

/// A field of each kind that serde knows.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Everything {
    flag: bool,
    small: Option<i8>,
    #[serde(default)]
    large: u64,
    at: f64,
    letter: char,
    text: String,
    pair: (u8, String),
    shapes: Vec<Shape>,
    names: BTreeMap<String, i32>,
}

/// What is published, with as large a note as its publisher likes.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    pub metal: String,
    pub cents: u32,
    #[serde(default)]
    pub note: String,
}

/// What the methods work on.
#[derive(Clone)]
pub struct Market {
    pub prices: Topic<Price>,
    pub boards: Topic<Rows>,
    pub slider: Arc<Property<u32>>,
    /// Calls of `Kit.wait` wait until this is so.
    pub goes_on: watch::Sender<bool>,
}

impl Market {
    pub(super) fn new() -> Market {
        Market {
            prices: Topic::new(),
            boards: Topic::new(),
            slider: Arc::new(Property::new(5)),
            goes_on: watch::Sender::new(false),
        }
    }

    /// The services within these limits. One method waits for another caller, where `may_wait`.
    pub fn gateway(&self, limits: Limits, may_wait: bool) -> Gateway {
        let gateway = Gateway::new()
            .limits(limits)
            .origin("https://example.org")
            .compress_above(256)
            .service(Service::new("Echo").with(Method::new("echo", echo).safe()))
            .service(sums())
            .service(tables_by_name())
            .service(self.market());
        gateway.service(self.kit(may_wait))
    }

    fn market(&self) -> Service {
        let (topic, property) = (self.prices.clone(), Arc::clone(&self.slider));
        let publish = Method::new("publish", move |price: Price| {
            let published = topic.publish(price);
            async move { published.map_err(|_| Fault::new("Market.Full", "it is not taken")) }
        });
        let set = Method::new("set", move |(value,): (u32,)| {
            property.set(value);
            async { Ok(()) }
        });
        let prices = Publication::keyed_topic("prices", self.prices.clone(), |price: &Price| {
            price.metal.clone()
        });
        Service::new("Market")
            .with_publication(prices.keep_messages(16).keep_bytes(16 << 10))
            .topic("boards", self.boards.clone())
            .property("slider", Arc::clone(&self.slider))
            .with(publish)
            .with(set)
    }

    fn kit(&self, may_wait: bool) -> Service {
        let everything = Method::new("everything", |it: Everything| async move { Ok(it) });
        let refuse = Method::new("refuse", |it: Echo| async move {
            let text = it.value.to_json();
            Err::<(), _>(Fault::new(text.clone(), text).detail(it.value))
        });
        let secret = Method::new("secret", |(): ()| async { Ok("a secret") });
        let secret = secret.authorize(|caller| match (caller.bearer(), caller.credentials()) {
            (Some("let me in"), _) | (_, Some(("ada", "let me in"))) => Ok(()),
            _ => Err(Fault::unauthenticated("say who you are")),
        });
        let kit = Service::new("Kit")
            .with(everything.safe())
            .with(refuse.safe())
            .with(secret.safe());
        if !may_wait {
            return kit;
        }
        let goes_on = self.goes_on.clone();
        kit.with(Method::new("wait", move |(): ()| {
            let mut goes_on = goes_on.subscribe();
            async move {
                // Its sender lives as long as the service.
                let _ = goes_on.wait_for(|goes_on| *goes_on).await;
                Ok(())
            }
        }))
    }
}

async fn echo(echo: Echo) -> Result<Value, Fault> {
    Ok(echo.value)
}

fn add(sum: Sum) -> Result<Added, Fault> {
    let sum = sum.left.checked_add(sum.right);
    let sum = sum.ok_or_else(|| Fault::new("Sums.TooLarge", "it has more bits").number(7))?;
    Ok(Added {
        sum,
        is_even: sum % 2 == 0,
    })
}

fn sums() -> Service {
    Service::new("Sums")
        .with(Method::new("add", |sum: Sum| async move { add(sum) }).safe())
        .with(Method::blocking("add_on_a_thread", add).safe())
}

fn tables_by_name() -> Service {
    let list = Method::new("list", |of: ListOf| async move { part_of_table(&of) });
    let stream = Method::new("stream", |of: ListOf| async move {
        let rows = part_of_table(&of)?;
        let schema = rows.schema().clone();
        Ok(RowStream::new(schema, move |sink| {
            for first in (0..rows.len()).step_by(7) {
                sink.send(rows.part(first..rows.len().min(first + 7)))?;
            }
            Ok(())
        }))
    });
    Service::new("Tables").with(list.safe()).with(stream.safe())
}

/// The table of this name.
pub fn table(name: &str) -> Option<Rows> {
    // Made once: a fuzzer asks often.
    static TABLES: LazyLock<Vec<(&str, Rows)>> = LazyLock::new(tables);
    let found = TABLES.iter().find(|(known, _)| *known == name)?;
    Some(found.1.clone())
}

fn part_of_table(of: &ListOf) -> Result<Rows, Fault> {
    let rows = table(of.table.as_deref().unwrap_or("tiles"))
        .ok_or_else(|| Fault::new("Tables.None", "there is no such table"))?;
    let count = usize::from(of.count).min(MOST_ROWS);
    let mut all = rows.part(0..rows.len().min(count));
    while all.len() < count && !rows.is_empty() {
        let more = rows.part(0..rows.len().min(count - all.len()));
        all.append(&more).expect("the columns are the same");
    }
    Ok(all)
}
