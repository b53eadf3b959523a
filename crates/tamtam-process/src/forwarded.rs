//! Events of `tracing` in a worker, on their way to its parent.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};

use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, LevelFilter, Metadata, Subscriber, callsite, dispatcher};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::report::{EventReport, FieldValue, Report, cut};

/// So much of a name or a path is told, in bytes.
const LONGEST_NAME: usize = 1 << 10;
/// And of the name of a field.
const LONGEST_FIELD_NAME: usize = 256;
/// So much of a text is told, in bytes.
const LONGEST_TEXT: usize = 8 << 10;
/// And so much of all fields of an event, or of its spans.
const LONGEST_FIELDS: usize = 24 << 10;
/// So many fields of an event are told; the macros of `tracing` take no more.
const MOST_FIELDS: usize = 32;

/// Up to which level events are of interest to the parent.
static WANTED: AtomicU8 = AtomicU8::new(0);

/// The parent wants events up to this level.
pub(crate) fn want(level: u8) {
    if WANTED.swap(level, Ordering::Relaxed) != level {
        callsite::rebuild_interest_cache();
    }
}

/// From now on the events of this process go to the parent, unless the program has told them to go elsewhere.
pub(crate) fn begin(tell: impl Fn(&Report) + Send + Sync + 'static) {
    let subscriber = Registry::default().with(Forward(tell));
    // If there is one already that one gets them.
    let _ = dispatcher::set_global_default(subscriber.into());
}

/// A level as a number; that of no event is 0.
pub(crate) fn number_of(level: LevelFilter) -> u8 {
    level.into_level().map_or(0, |level| match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        _ => 5,
    })
}

/// The level of a number.
pub(crate) fn level_of(number: u8) -> LevelFilter {
    match number {
        0 => LevelFilter::OFF,
        1 => LevelFilter::ERROR,
        2 => LevelFilter::WARN,
        3 => LevelFilter::INFO,
        4 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    }
}

/// Sends them, by what it has.
struct Forward<T>(T);

/// The name and the fields of a span, as they are told.
struct Told(String);

impl<S, T> Layer<S> for Forward<T>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    T: Fn(&Report) + Send + Sync + 'static,
{
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= level_of(WANTED.load(Ordering::Relaxed))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(level_of(WANTED.load(Ordering::Relaxed)))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            let mut told = attributes.metadata().name().to_owned();
            fields.write(&mut told);
            span.extensions_mut().insert(Told(told));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(Told(told)) = span.extensions_mut().get_mut()
        {
            let mut fields = Fields::default();
            values.record(&mut fields);
            if told.len() < LONGEST_TEXT {
                fields.write(told);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut spans = String::new();
        let scope = context.event_scope(event);
        for span in scope.into_iter().flat_map(|scope| scope.from_root()) {
            if !spans.is_empty() {
                spans.push(':');
            }
            match span.extensions().get() {
                Some(Told(told)) => spans.push_str(told),
                None => spans.push_str(span.name()),
            }
        }
        let metadata = event.metadata();
        let text = |text: Option<&str>| text.map(|text| cut(text.to_owned(), LONGEST_NAME));
        (self.0)(&Report::Event(EventReport {
            level: number_of(LevelFilter::from_level(*metadata.level())),
            name: text(Some(metadata.name())).unwrap_or_default(),
            target: text(Some(metadata.target())).unwrap_or_default(),
            module: text(metadata.module_path()),
            file: text(metadata.file()),
            line: metadata.line(),
            fields: fields.all,
            spans: cut(spans, LONGEST_FIELDS),
        }));
    }
}

/// What a span or an event has, as far as it is told.
#[derive(Default)]
struct Fields {
    all: Vec<(String, FieldValue)>,
    bytes: usize,
}

impl Fields {
    fn push(&mut self, field: &Field, value: FieldValue) {
        if self.all.len() < MOST_FIELDS {
            let name = cut(field.name().to_owned(), LONGEST_FIELD_NAME);
            self.bytes += name.len();
            self.all.push((name, value));
        }
    }

    /// As much of a text as there is room for.
    fn text(&mut self, text: String) -> String {
        let room = LONGEST_FIELDS.saturating_sub(self.bytes);
        let text = cut(text, room.min(LONGEST_TEXT));
        self.bytes += text.len();
        text
    }

    /// Appends them as `{one=1 two="2"}`.
    fn write(&self, text: &mut String) {
        if self.all.is_empty() {
            return;
        }
        text.push('{');
        for (place, (name, value)) in self.all.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            // Text takes everything.
            let _ = match value {
                FieldValue::Signed(value) => write!(text, "{gap}{name}={value}"),
                FieldValue::Unsigned(value) => write!(text, "{gap}{name}={value}"),
                FieldValue::Float(value) => write!(text, "{gap}{name}={value}"),
                FieldValue::Bool(value) => write!(text, "{gap}{name}={value}"),
                FieldValue::Text(value) => write!(text, "{gap}{name}={value:?}"),
                FieldValue::Shown(value) => write!(text, "{gap}{name}={value}"),
            };
        }
        text.push('}');
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, FieldValue::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, FieldValue::Signed(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, FieldValue::Unsigned(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, FieldValue::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let text = self.text(cut(value.to_owned(), LONGEST_TEXT));
        self.push(field, FieldValue::Text(text));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut said = value.to_string();
        let mut source = value.source();
        while let Some(cause) = source
            && said.len() < LONGEST_TEXT
        {
            let _ = write!(said, ": {cause}");
            source = cause.source();
        }
        let text = self.text(said);
        self.push(field, FieldValue::Shown(text));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut shown = Bounded(String::new());
        // It ends with an error where the text is full.
        let _ = write!(shown, "{value:?}");
        let text = self.text(shown.0);
        self.push(field, FieldValue::Shown(text));
    }
}

/// A text that grows to a limit.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.len() > LONGEST_TEXT {
            return Err(fmt::Error);
        }
        Ok(())
    }
}
