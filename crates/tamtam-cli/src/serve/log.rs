//! What the server tells of its work, on the standard error.

use std::io::stderr;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::arguments::LogLevel;

/// From now on events of this level and those before it are written, a line each. What libraries tell is of interest where all is: otherwise
/// their warnings alone are written.
pub(super) fn begin(level: LogLevel) {
    let level = filter(level);
    let others = match level {
        LevelFilter::TRACE => level,
        _ => level.min(LevelFilter::WARN),
    };
    let targets = Targets::new()
        .with_target("tamtam", level)
        .with_default(others);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(stderr)
        .with_filter(targets);
    // A program that calls this as a library may have its events written elsewhere already.
    let _ = tracing_subscriber::registry().with(lines).try_init();
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
