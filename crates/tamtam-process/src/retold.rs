//! Events of workers, told to the subscriber of this process as if they had happened here.
//!
//! A subscriber knows an event by its place in the source, which never goes. So each place of a worker that has told something is
//! kept here for ever; and since a worker may invent places, no more of them than a few mebibytes. Events from further places go through
//! one place for each level, with their target and their fields as text.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock};

use tracing_core::callsite::{self, Callsite};
use tracing_core::field::{self, Field, FieldSet, Value};
use tracing_core::metadata::Kind;
use tracing_core::{
    Event, Level, LevelFilter, Metadata, dispatcher, identify_callsite, subscriber::Interest,
};

use crate::forwarded::{level_of, number_of};
use crate::lock::lock;
use crate::panics::WorkerPanic;
use crate::report::{EventReport, FieldValue};

/// The target of what this crate tells itself.
const TARGET: &str = "tamtam::process";
/// So many fields an event has at most, with those that are added here.
const MOST_FIELDS: usize = 40;
/// So many bytes of places are kept at most.
const MOST_KEPT: usize = 4 << 20;
/// A place takes so many bytes beside its texts.
const PLACE: usize = 512;

/// The level up to which the subscriber here wants events.
pub(crate) fn wanted_level() -> u8 {
    number_of(LevelFilter::current())
}

/// Calls this while the subscriber changes what it wants.
pub(crate) fn on_change(call: impl Fn() + Send + Sync + 'static) {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    if !IS_SET.swap(true, Ordering::SeqCst) {
        let place: &'static Listening = Box::leak(Box::new(Listening {
            metadata: OnceLock::new(),
            call: Box::new(call),
        }));
        place.metadata.get_or_init(|| {
            let fields = FieldSet::new(&[], identify_callsite!(place));
            // It never tells anything.
            Metadata::new(
                "change",
                TARGET,
                Level::ERROR,
                None,
                None,
                None,
                fields,
                Kind::EVENT,
            )
        });
        callsite::register(place);
    }
}

/// A place that is told when subscribers change.
struct Listening {
    metadata: OnceLock<Metadata<'static>>,
    call: Box<dyn Fn() + Send + Sync>,
}

impl Callsite for Listening {
    fn set_interest(&self, _: Interest) {
        (self.call)();
    }

    fn metadata(&self) -> &Metadata<'_> {
        known(&self.metadata)
    }
}

fn known<'a>(metadata: &'a OnceLock<Metadata<'static>>) -> &'a Metadata<'static> {
    match metadata.get() {
        Some(metadata) => metadata,
        None => unreachable!("it is set before the place is registered"),
    }
}

/// A place in the source of a worker.
struct Place {
    metadata: OnceLock<Metadata<'static>>,
    /// 0 if no subscriber wants its events, else 1.
    interest: AtomicU8,
}

impl Callsite for Place {
    fn set_interest(&self, interest: Interest) {
        let is_wanted = u8::from(!interest.is_never());
        self.interest.store(is_wanted, Ordering::Relaxed);
    }

    fn metadata(&self) -> &Metadata<'_> {
        known(&self.metadata)
    }
}

/// What tells places from each other.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    level: u8,
    name: String,
    target: String,
    module: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    fields: Vec<String>,
}

impl Key {
    fn bytes(&self) -> usize {
        let texts = [Some(&self.name), Some(&self.target)];
        let texts = texts
            .into_iter()
            .chain([self.module.as_ref(), self.file.as_ref()]);
        let texts: usize = texts.flatten().map(String::len).sum();
        let fields: usize = self.fields.iter().map(|name| name.len() + 32).sum();
        // They are kept twice: as the key, and in the place.
        2 * (texts + fields) + PLACE
    }
}

#[derive(Default)]
struct Places {
    by_key: HashMap<Key, &'static Place>,
    bytes: usize,
}

/// The place of this key; `None` if there are too many.
fn place(key: Key) -> Option<&'static Place> {
    static PLACES: OnceLock<Mutex<Places>> = OnceLock::new();
    let places = PLACES.get_or_init(Mutex::default);
    let mut kept = lock(places);
    if let Some(place) = kept.by_key.get(&key) {
        return Some(place);
    }
    let bytes = kept.bytes + key.bytes();
    if bytes > MOST_KEPT {
        return None;
    }
    kept.bytes = bytes;
    let place = new_place(&key);
    kept.by_key.insert(key, place);
    drop(kept);
    // Asks the subscriber, under no lock.
    callsite::register(place);
    Some(place)
}

fn new_place(key: &Key) -> &'static Place {
    let text = |text: &str| -> &'static str { Box::leak(Box::from(text)) };
    let place: &'static Place = Box::leak(Box::new(Place {
        metadata: OnceLock::new(),
        interest: AtomicU8::new(1),
    }));
    let names: Vec<&'static str> = key.fields.iter().map(|name| text(name)).collect();
    let names: &'static [&'static str] = Vec::leak(names);
    place.metadata.get_or_init(|| {
        Metadata::new(
            text(&key.name),
            text(&key.target),
            level_of(key.level).into_level().unwrap_or(Level::ERROR),
            key.file.as_deref().map(text),
            key.line,
            key.module.as_deref().map(text),
            FieldSet::new(names, identify_callsite!(place)),
            Kind::EVENT,
        )
    });
    place
}

/// Tells an event of a worker.
pub(crate) fn event(worker: &str, pid: u32, event: EventReport) {
    if event.level == 0 || level_of(event.level) > LevelFilter::current() {
        return;
    }
    let EventReport {
        level,
        name,
        target,
        module,
        file,
        line,
        mut fields,
        spans,
    } = event;
    fields.truncate(MOST_FIELDS - 3);
    // One that a worker of the worker has told says of which it is.
    let has = |fields: &[(String, FieldValue)], name: &str| fields.iter().any(|it| it.0 == name);
    if !has(&fields, "worker") {
        fields.push(("worker".to_owned(), FieldValue::Text(worker.to_owned())));
        if !has(&fields, "pid") {
            fields.push(("pid".to_owned(), FieldValue::Unsigned(pid.into())));
        }
    }
    if !spans.is_empty() && !has(&fields, "spans") {
        fields.push(("spans".to_owned(), FieldValue::Shown(spans)));
    }
    let key = Key {
        level,
        name,
        target,
        module,
        file,
        line,
        fields: fields.iter().map(|(name, _)| name.clone()).collect(),
    };
    match place(key.clone()) {
        Some(place) => tell(place, &fields),
        None => tell_elsewhere(&key, &fields, worker, pid),
    }
}

/// Tells an event through the one place that there is for its level.
fn tell_elsewhere(key: &Key, fields: &[(String, FieldValue)], worker: &str, pid: u32) {
    static PLACES: [OnceLock<&'static Place>; 5] = [const { OnceLock::new() }; 5];
    let level = key.level.clamp(1, 5);
    let place = PLACES[usize::from(level - 1)].get_or_init(|| {
        let place = new_place(&Key {
            level,
            name: "event of a worker".to_owned(),
            target: TARGET.to_owned(),
            module: None,
            file: None,
            line: None,
            fields: ["message", "origin", "worker", "pid"]
                .map(str::to_owned)
                .to_vec(),
        });
        callsite::register(place);
        place
    });
    let mut message = String::new();
    for (name, value) in fields {
        // Text takes everything.
        let _ = write!(message, "{name}={value:?} ");
    }
    let text = |name: &str, text: &str| (name.to_owned(), FieldValue::Text(text.to_owned()));
    let fields = [
        ("message".to_owned(), FieldValue::Shown(message)),
        text("origin", &key.target),
        text("worker", worker),
        ("pid".to_owned(), FieldValue::Unsigned(pid.into())),
    ];
    tell(place, &fields);
}

/// Events of a worker were dropped there.
pub(crate) fn dropped(worker: &str, pid: u32, count: u64) {
    let message = "events of a worker were dropped: it tells more than is read here";
    own(
        Level::WARN,
        message,
        vec![("events", FieldValue::Unsigned(count))],
        worker,
        pid,
    );
}

/// What a worker is told and says goes over its socket, though it should go through memory.
pub(crate) fn no_shared_memory(worker: &str, pid: u32, why: &str) {
    let message = "the messages of a worker go over its socket, which takes longer: there is no shared memory";
    own(
        Level::WARN,
        message,
        vec![("reason", FieldValue::Text(why.to_owned()))],
        worker,
        pid,
    );
}

/// A thread of a worker has panicked.
pub(crate) fn panicked(panic: &WorkerPanic) {
    let text = |text: &Option<String>| text.clone().map(FieldValue::Text);
    let fields = [
        ("said", Some(FieldValue::Text(panic.message.clone()))),
        ("thread", text(&panic.thread)),
        ("place", text(&panic.place)),
        ("backtrace", panic.backtrace.clone().map(FieldValue::Shown)),
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let message = "a thread of a worker has panicked";
    own(
        Level::ERROR,
        message,
        fields.collect(),
        &panic.worker,
        panic.pid,
    );
}

/// Tells something of a worker that it has not told itself.
fn own(
    level: Level,
    message: &str,
    fields: Vec<(&'static str, FieldValue)>,
    worker: &str,
    pid: u32,
) {
    let message = ("message", FieldValue::Shown(message.to_owned()));
    let all = std::iter::once(message).chain(fields);
    event(
        worker,
        pid,
        EventReport {
            level: number_of(LevelFilter::from_level(level)),
            name: "event of a worker".to_owned(),
            target: TARGET.to_owned(),
            module: None,
            file: None,
            line: None,
            fields: all.map(|(name, value)| (name.to_owned(), value)).collect(),
            spans: String::new(),
        },
    );
}

/// Gives the subscriber an event with these values, which are as many as the place has fields.
fn tell(place: &'static Place, values: &[(String, FieldValue)]) {
    if place.interest.load(Ordering::Relaxed) == 0 {
        return;
    }
    dispatcher::get_default(|dispatch| {
        let metadata = place.metadata();
        if !dispatch.enabled(metadata) {
            return;
        }
        let names: Vec<Field> = metadata.fields().iter().collect();
        let values: Vec<Box<dyn Value + '_>> = values.iter().map(|it| value_of(&it.1)).collect();
        let Some(first) = names.first() else {
            return;
        };
        // A field without a value is not told.
        let mut all: [(&Field, Option<&dyn Value>); MOST_FIELDS] = [(first, None); MOST_FIELDS];
        for ((entry, name), value) in all.iter_mut().zip(&names).zip(&values) {
            *entry = (name, Some(&**value));
        }
        dispatch.event(&Event::new(metadata, &metadata.fields().value_set(&all)));
    });
}

fn value_of(value: &FieldValue) -> Box<dyn Value + '_> {
    match value {
        FieldValue::Signed(value) => Box::new(*value),
        FieldValue::Unsigned(value) => Box::new(*value),
        FieldValue::Float(value) => Box::new(*value),
        FieldValue::Bool(value) => Box::new(*value),
        FieldValue::Text(text) => Box::new(text.as_str()),
        FieldValue::Shown(text) => Box::new(field::display(text)),
    }
}
