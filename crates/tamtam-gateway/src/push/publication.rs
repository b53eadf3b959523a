//! A topic or a property whose values are pushed to subscribers.

use std::any::{Any, TypeId};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use tamtam_actor::{Address, Overflow, Subscription, Topic};
use tamtam_channel::Property;
use tamtam_rows::packed::{Mode, Packed};
use tamtam_rows::{Encoding, Rows};

use super::channel::Channel;
use super::encoders::Encoders;
use super::log::{Encoded, Most};
use crate::caller::Authorize;
use crate::{Answer, Caller, Fault, IntoAnswer, json};

/// So many messages of a topic may wait to be encoded, or as many as are kept, if these are more. Beyond them the oldest is dropped,
/// and counts as missed by all: where messages come faster than they can be encoded, no one waits for those that are old.
const FEWEST_WAITING: usize = 1_000;

/// After so many messages of a topic the connections are told at the latest, though more wait to be encoded.
const MOST_UNTOLD: u32 = 64;

/// And at the latest so long after the first of them.
const LONGEST_UNTOLD: Duration = Duration::from_micros(500);

/// So many keys of a topic have a newest value that is kept.
const MOST_KEYS: usize = 10_000;

/// From one value of a property to the next, at least: one that is set without a pause is not encoded without one.
const PROPERTY_PAUSE: Duration = Duration::from_millis(1);

/// A topic or a property whose values are pushed to those who subscribe, over a WebSocket or as events of a server.
///
/// Each value is encoded once, by the form that subscribers want, and kept once for all of them, within a bound. A
/// subscriber has no queue of its own: it takes what is newer than what it has when its connection has room. So one
/// that does not read costs the others nothing, and learns from the numbers of the values how many it has missed.
///
/// Nothing is encoded before the first subscriber has come. Numbers begin then, with 1.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Topic;
/// use tamtam_gateway::{Publication, Service};
///
/// #[derive(Clone, serde::Serialize, schemars::JsonSchema)]
/// struct Price { metal: &'static str, cents: u32 }
///
/// let prices = Topic::new();
/// let publication = Publication::keyed_topic("prices", prices.clone(), |price: &Price| price.metal.to_owned())
///     .about("What metals cost.")
///     .keep_messages(10_000);
/// let service = Service::new("Market").with_publication(publication);
/// prices.publish(Price { metal: "tin", cents: 3_100 })?;
/// # drop(service);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Publication {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) authorize: Option<Authorize>,
    /// The type of its values.
    pub(crate) gives: Schema,
    pub(crate) kind: Kind,
    pub(crate) is_table: bool,
    has_keys: bool,
    most: Most,
    /// Whether a new subscriber gets the newest value first.
    greets: Box<dyn Fn() -> bool + Send + Sync>,
    start: Start,
    started: OnceLock<(Arc<Channel>, Started)>,
}

/// Where the values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Topic,
    Property,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Topic => "topic",
            Kind::Property => "property",
        }
    }
}

type Start = Box<dyn Fn(&Arc<Channel>, &Encoders, Bounds) -> io::Result<Started> + Send + Sync>;

/// What holds for values on their way to the log.
#[derive(Clone, Copy)]
struct Bounds {
    /// Bytes of a value, at most.
    bytes: usize,
    /// Values that wait to be encoded, at most.
    waiting: usize,
}

/// What brings the values to a channel, until this is dropped.
struct Started {
    /// Brings the newest value at once.
    refresh: Option<Box<dyn Fn() + Send + Sync>>,
    #[allow(dead_code, reason = "it ends when it is dropped")]
    source: Box<dyn Any + Send + Sync>,
}

/// Values of which connections have not been told. What comes together is told of together: to wake a connection costs more than to
/// encode a small message.
#[derive(Debug, Default)]
struct Untold {
    count: u32,
    /// When the first of them was begun.
    since: Option<Instant>,
}

impl Untold {
    /// One is begun.
    fn begin(&mut self, now: impl FnOnce() -> Instant) {
        self.since.get_or_insert_with(now);
    }

    /// One is encoded: whether the connections are told now.
    fn add(&mut self, more_wait: bool, now: impl FnOnce() -> Instant) -> bool {
        self.count += 1;
        let is_long = |since| now().saturating_duration_since(since) >= LONGEST_UNTOLD;
        let is_due = !more_wait || self.count >= MOST_UNTOLD || self.since.is_some_and(is_long);
        if is_due {
            *self = Untold::default();
        }
        is_due
    }
}

/// The actor that encodes the messages of a topic. It ends when this is dropped, whatever waits for it.
struct Encoder<M: Send + 'static> {
    #[allow(dead_code, reason = "it ends when it is dropped")]
    subscription: Subscription,
    address: Address<M>,
}

impl<M: Send + 'static> Drop for Encoder<M> {
    fn drop(&mut self) {
        self.address.stop();
    }
}

/// Ends its task when it is dropped.
struct Ends(tokio::task::JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Publication {
    /// How many values are kept, unless others are asked for.
    pub const USUAL_MESSAGES: usize = 1_000;
    /// How many bytes of values are kept, unless others are asked for. With keys, as many again for the newest of each.
    pub const USUAL_BYTES: usize = 1 << 20;

    /// The messages of a topic. A new subscriber of a topic that retains one gets that first.
    pub fn topic<M, Way>(name: impl Into<String>, topic: Topic<M>) -> Publication
    where
        M: IntoAnswer<Way> + Clone,
    {
        Publication::of_topic(name.into(), topic, None::<fn(&M) -> String>)
    }

    /// The messages of a topic, each of which has a key: a subscriber may ask for the newest of each.
    pub fn keyed_topic<M, Way>(
        name: impl Into<String>,
        topic: Topic<M>,
        key: impl Fn(&M) -> String + Send + Sync + 'static,
    ) -> Publication
    where
        M: IntoAnswer<Way> + Clone,
    {
        Publication::of_topic(name.into(), topic, Some(key))
    }

    fn of_topic<M, Way, K>(name: String, topic: Topic<M>, key: Option<K>) -> Publication
    where
        M: IntoAnswer<Way> + Clone,
        K: Fn(&M) -> String + Send + Sync + 'static,
    {
        let has_keys = key.is_some();
        let key = key.map(Arc::new);
        let retained = topic.clone();
        let start: Start = Box::new(move |channel, encoders, bounds| {
            let channel = Arc::clone(channel);
            let key = key.clone();
            let mut lost_before = 0;
            let mut untold = Untold::default();
            let spawner = encoders.spawner()?;
            let spawner = spawner.limited(bounds.waiting, Overflow::DropOldest);
            let address = spawner.spawn_fn(move |message: M, here| {
                untold.begin(Instant::now);
                let lost = here.address().lost();
                if lost > lost_before {
                    channel.skip(lost - lost_before);
                    lost_before = lost;
                }
                let wants_packed = channel.is_packed_wanted();
                let encoded = guarded(|| {
                    let key: Option<Arc<str>> = key.as_ref().map(|key| key(&message).into());
                    let encoded = encode(message.into_answer(), wants_packed, bounds.bytes)?;
                    Ok((key, encoded))
                });
                match encoded {
                    Some((key, encoded)) => channel.publish(key, Some(encoded)),
                    None => channel.publish(None, None),
                }
                let more_wait = here.address().level().is_some_and(|level| level.queued > 0);
                if untold.add(more_wait, Instant::now) {
                    channel.tell();
                }
            });
            let subscription = topic.subscribe(&address);
            Ok(Started {
                refresh: None,
                source: Box::new(Encoder {
                    subscription,
                    address,
                }),
            })
        });
        let greets = Box::new(move || retained.retained().is_some());
        Publication::new::<M, Way>(name, Kind::Topic, has_keys, greets, start)
    }

    /// The values of a property, whose versions are their numbers. A new subscriber gets the newest one first; values that
    /// are replaced within a millisecond may be passed over.
    pub fn property<T, Way>(name: impl Into<String>, property: Arc<Property<T>>) -> Publication
    where
        T: IntoAnswer<Way> + Clone + Sync,
    {
        let start: Start = Box::new(move |channel, _, bounds| {
            let publish = {
                let (channel, property) = (Arc::clone(channel), Arc::clone(&property));
                Arc::new(move || {
                    let (version, value) = property.versioned();
                    if channel.has(version + 1) {
                        return version;
                    }
                    let wants_packed = channel.is_packed_wanted();
                    let encoded = guarded(|| {
                        encode(T::clone(&value).into_answer(), wants_packed, bounds.bytes)
                    });
                    channel.publish_as(version + 1, encoded);
                    version
                })
            };
            let (channel, property) = (Arc::clone(channel), Arc::clone(&property));
            let refresh = Arc::clone(&publish);
            let task = tokio::spawn(async move {
                loop {
                    channel.wanted().await;
                    let seen = publish();
                    tokio::time::sleep(PROPERTY_PAUSE).await;
                    property.wait_changed_async(seen).await;
                }
            });
            Ok(Started {
                refresh: Some(Box::new(move || {
                    refresh();
                })),
                source: Box::new(Ends(task)),
            })
        });
        let greets = Box::new(|| true);
        Publication::new::<T, Way>(name.into(), Kind::Property, false, greets, start)
    }

    fn new<T: IntoAnswer<Way>, Way>(
        name: String,
        kind: Kind,
        has_keys: bool,
        greets: Box<dyn Fn() -> bool + Send + Sync>,
        start: Start,
    ) -> Publication {
        let mut generator = SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        Publication {
            name,
            about: String::new(),
            authorize: None,
            gives: T::schema(&mut generator),
            kind,
            is_table: TypeId::of::<T>() == TypeId::of::<Rows>(),
            has_keys,
            most: Most {
                messages: Publication::USUAL_MESSAGES,
                bytes: Publication::USUAL_BYTES,
                keys: MOST_KEYS,
            },
            greets,
            start,
            started: OnceLock::new(),
        }
    }

    /// With words on what it is, for people.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Publication {
        self.about = text.into();
        self
    }

    /// Keeps so many values, for subscribers that are behind or come back. As many messages of a topic may wait to be encoded, and
    /// at least 1,000.
    #[must_use]
    pub fn keep_messages(mut self, messages: usize) -> Publication {
        self.most.messages = messages;
        self
    }

    /// Keeps so many bytes of values, and always the newest one.
    #[must_use]
    pub fn keep_bytes(mut self, bytes: usize) -> Publication {
        self.most.bytes = bytes;
        self
    }

    /// Asked before each subscription, in place of what the gateway asks for all methods.
    #[must_use]
    pub fn authorize(
        mut self,
        check: impl Fn(&Caller) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Publication {
        self.authorize = Some(Arc::new(check));
        self
    }

    pub(crate) fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// Whether a new subscriber gets the newest value first.
    pub(crate) fn greets(&self) -> bool {
        (self.greets)()
    }

    /// Bytes of values that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.started.get().map_or(0, |(channel, _)| channel.bytes())
    }

    /// What is pushed, from the first call of this on; on a runtime of tokio. Values of more than so many bytes are passed
    /// over.
    ///
    /// # Errors
    /// If the system starts no thread to encode it.
    pub(crate) fn channel(
        &self,
        encoders: &Encoders,
        most_bytes: usize,
        wants_packed: bool,
    ) -> io::Result<&Arc<Channel>> {
        let (channel, started) = match self.started.get() {
            Some(started) => started,
            None => {
                let channel = Arc::new(Channel::new(self.has_keys, self.most));
                if wants_packed {
                    channel.want_packed();
                }
                let bounds = Bounds {
                    bytes: most_bytes,
                    waiting: self.most.messages.max(FEWEST_WAITING),
                };
                let started = (self.start)(&channel, encoders, bounds)?;
                self.started.get_or_init(|| (channel, started))
            }
        };
        if wants_packed {
            channel.want_packed();
        }
        if let Some(refresh) = &started.refresh {
            refresh();
        }
        Ok(channel)
    }
}

impl fmt::Debug for Publication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publication")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// What the user's code makes of a value; nothing, and a word in the log, if it fails or panics.
fn guarded<T>(make: impl FnOnce() -> Result<T, Fault>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(Ok(made)) => Some(made),
        Ok(Err(fault)) => {
            tracing::warn!(%fault, "a value was not pushed");
            None
        }
        Err(_) => {
            tracing::error!("a value was not pushed: what writes it panicked");
            None
        }
    }
}

/// A table in JSON, and packed if that is wanted.
fn encode_rows(
    rows: &Rows,
    wants_packed: bool,
    json: &mut Vec<u8>,
) -> Result<Option<Bytes>, Fault> {
    json::write_rows(rows, json)?;
    if !wants_packed {
        return Ok(None);
    }
    let mut packed = Vec::new();
    let written = Packed { mode: Mode::Packed }.encode(rows, &mut packed);
    written.map_err(json::not_carried)?;
    Ok(Some(packed.into()))
}

/// The forms of a value.
fn encode(answer: Answer, wants_packed: bool, most_bytes: usize) -> Result<Encoded, Fault> {
    let mut out = Vec::new();
    let mut packed = None;
    match answer {
        Answer::Typed(typed) => {
            typed.write_json(&mut out)?;
        }
        Answer::Rows(rows) => packed = encode_rows(&rows, wants_packed, &mut out)?,
        Answer::Cached(table) => packed = encode_rows(table.rows(), wants_packed, &mut out)?,
        Answer::Value(value) => json::write_value(&value, &mut out)?,
        Answer::Stream(_) => return Err(json::not_carried("a table that comes part by part")),
    }
    let encoded = Encoded {
        json: Bytes::from(out),
        packed,
    };
    if encoded.len() > most_bytes {
        return Err(json::not_carried(format!(
            "it has {} bytes, and {most_bytes} are allowed",
            encoded.len()
        )));
    }
    Ok(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_together_is_told_of_together_and_soon() {
        let begun = Instant::now();
        let at = |micros| move || begun + Duration::from_micros(micros);
        let mut untold = Untold::default();
        let mut add = |more_wait, from, to| {
            untold.begin(at(from));
            untold.add(more_wait, at(to))
        };
        // When it was begun and when it is encoded, whether more wait, whether it is told of.
        for (from, to, more_wait, is_told) in [
            (0, 10, false, true),
            (20, 30, true, false),
            (30, 519, true, false),
            // Since the first of them, and at the moment.
            (519, 520, true, true),
            (600, 1_099, true, false),
            (1_099, 1_099, false, true),
            // One alone that takes long.
            (2_000, 2_500, true, true),
        ] {
            assert_eq!(add(more_wait, from, to), is_told, "{from} to {to}");
        }
        for number in 1..=3 * 64 {
            assert_eq!(add(true, 3_000, 3_000), number % 64 == 0, "{number}");
        }
    }
}
