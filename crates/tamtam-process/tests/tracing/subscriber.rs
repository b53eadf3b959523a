//! What hears events in the tests, and what it wants.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

/// An event as it was heard.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) level: Level,
    pub(crate) target: String,
    pub(crate) file: Option<String>,
    pub(crate) fields: BTreeMap<String, String>,
}

static HEARD: Mutex<Vec<Heard>> = Mutex::new(Vec::new());
/// As many levels are wanted: 3 up to info, 5 all.
static WANTED: AtomicU8 = AtomicU8::new(3);
/// While this is set the subscriber does not come back.
static IS_HELD: AtomicBool = AtomicBool::new(false);

const LEVELS: [LevelFilter; 6] = [
    LevelFilter::OFF,
    LevelFilter::ERROR,
    LevelFilter::WARN,
    LevelFilter::INFO,
    LevelFilter::DEBUG,
    LevelFilter::TRACE,
];

fn wanted() -> LevelFilter {
    LEVELS[usize::from(WANTED.load(Ordering::SeqCst))]
}

struct Hearing;

impl<S: Subscriber> Layer<S> for Hearing {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= wanted()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(wanted())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        while IS_HELD.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut fields = Fields(BTreeMap::new());
        event.record(&mut fields);
        let metadata = event.metadata();
        all().push(Heard {
            level: *metadata.level(),
            target: metadata.target().to_owned(),
            file: metadata.file().map(str::to_owned),
            fields: fields.0,
        });
    }
}

struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let before = self.0.insert(field.name().to_owned(), format!("{value:?}"));
        assert!(before.is_none(), "{field} twice");
    }
}

fn all() -> std::sync::MutexGuard<'static, Vec<Heard>> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This program's subscriber.
pub(crate) fn begin() {
    tracing::subscriber::set_global_default(Registry::default().with(Hearing)).unwrap();
}

/// Wants so many levels from now on.
pub(crate) fn want(levels: u8) {
    WANTED.store(levels, Ordering::SeqCst);
    tracing::callsite::rebuild_interest_cache();
}

/// Whether the subscriber keeps the thread that tells it something.
pub(crate) fn hold(is_held: bool) {
    IS_HELD.store(is_held, Ordering::SeqCst);
}

/// What workers of this name have told so far.
pub(crate) fn heard(worker: &str) -> Vec<Heard> {
    let worker = format!("{worker:?}");
    let is_its = |heard: &&Heard| heard.fields.get("worker") == Some(&worker);
    all().iter().filter(is_its).cloned().collect()
}

/// Waits until workers of this name have told what is asked for, and gives that.
pub(crate) fn wait_for<R>(worker: &str, mut find: impl FnMut(&[Heard]) -> Option<R>) -> R {
    let start = Instant::now();
    loop {
        let heard = heard(worker);
        if let Some(found) = find(&heard) {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{heard:#?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The event with this message.
pub(crate) fn event(worker: &str, message: &str) -> Heard {
    wait_for(worker, |heard| {
        let said = |heard: &&Heard| {
            heard
                .fields
                .get("message")
                .is_some_and(|said| said == message)
        };
        heard.iter().find(said).cloned()
    })
}
