//! The figures of homes and actors, for a recorder of the crate `metrics`.
//!
//! They are read as a [`snapshot`](super::snapshot()) reads them, when it is asked for: an actor sends nothing, and never
//! waits.

use core::fmt;
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use metrics::{Label, Unit, counter, describe_counter, describe_gauge, gauge};
use tamtam_wait::contain;

use super::snapshot::HomeSnapshot;
use super::watched;

/// Gives the figures of all homes of this process, and of their observed actors, to the recorder of `metrics` that the
/// program has installed (feature `metrics`).
///
/// It is to be called again and again: by what collects the figures, before each time, or by a
/// [`Metrics::every`] of its own. It takes about 50 ns for each observed actor, and none of them waits for it.
///
/// | name | kind | what it says |
/// |---|---|---|
/// | `tamtam_threads`, `tamtam_stand_ins`, `tamtam_blocking_threads`, `tamtam_left_behind`, `tamtam_idle_threads` | gauge | threads of a home |
/// | `tamtam_due` | gauge | actors that wait for a thread |
/// | `tamtam_turns_total`, `tamtam_steals_total`, `tamtam_sleeps_total`, `tamtam_entered_total`, `tamtam_blocking_asks_total` | counter | see [`HomeSnapshot`](super::HomeSnapshot) |
/// | `tamtam_actors`, `tamtam_queued`, `tamtam_in_long_turn` | gauge | observed actors, their messages, those in a long turn |
/// | `tamtam_born_total`, `tamtam_handled_total`, `tamtam_lost_total`, `tamtam_restarts_total`, `tamtam_long_turns_total` | counter | see [`ActorTotals`](super::ActorTotals) |
/// | `tamtam_turn_seconds_total` | counter | whole seconds that turns took |
/// | `tamtam_actor_queued` | gauge | messages of actors with a name |
/// | `tamtam_actor_handled_total`, `tamtam_actor_lost_total`, `tamtam_actor_restarts_total` | counter | of actors with a name, as long as they live |
///
/// The labels are `home` and `kind`, and for actors with a name `actor`. Those of the same labels count together. Actors
/// without a name are in the sums of their home alone, so that there are no more series than names.
///
/// # Panics
///
/// A panic in the recorder ends there; the figures that were not recorded then are missing until the next call.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, observe};
///
/// // First, once: install a recorder, such as that of metrics-exporter-prometheus.
/// let pool = Pool::builder().name("shop").observe(true).build()?;
/// observe::record_metrics();
/// # drop(pool);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn record_metrics() {
    static DESCRIBED: Once = Once::new();
    let _ = contain(|| {
        DESCRIBED.call_once_force(|_| describe());
        record();
    });
}

/// Records the figures again and again, on a thread of its own, as long as it is kept: see [`record_metrics`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::observe::Metrics;
///
/// let metrics = Metrics::every(Duration::from_secs(5))?;
/// // what the program does
/// drop(metrics); // records once more, and ends
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "dropping it ends the recording"]
pub struct Metrics {
    /// Dropped, it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Metrics {
    /// Records them now, and then each time when the interval is over.
    ///
    /// # Errors
    ///
    /// If the system starts no thread.
    pub fn every(interval: Duration) -> io::Result<Self> {
        let (end, ended) = channel();
        let thread = thread::Builder::new()
            .name("tamtam-metrics".to_owned())
            .spawn(move || {
                loop {
                    record_metrics();
                    if ended.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                        return record_metrics();
                    }
                }
            })?;
        Ok(Metrics {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // What a recorder does wrong ends within.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

const GAUGES: &[(&str, &str)] = &[
    ("tamtam_threads", "Threads of a home"),
    ("tamtam_stand_ins", "Threads that stand in for blocked ones"),
    (
        "tamtam_blocking_threads",
        "Threads for handlers that may block",
    ),
    (
        "tamtam_left_behind",
        "Threads that were left behind by actors that were replaced",
    ),
    ("tamtam_idle_threads", "Threads that have nothing to do"),
    ("tamtam_due", "Actors that wait for a thread"),
    ("tamtam_actors", "Observed actors that there are"),
    ("tamtam_queued", "Messages in mailboxes of observed actors"),
    (
        "tamtam_in_long_turn",
        "Observed actors whose turn is long and goes on",
    ),
    (
        "tamtam_actor_queued",
        "Messages in the mailboxes of actors with this name",
    ),
];

const COUNTERS: &[(&str, &str)] = &[
    ("tamtam_turns_total", "Turns that actors have had"),
    (
        "tamtam_steals_total",
        "How often a thread took over what was due on another one",
    ),
    ("tamtam_sleeps_total", "How often a thread went to sleep"),
    (
        "tamtam_entered_total",
        "Turns that were asked for from outside",
    ),
    (
        "tamtam_blocking_asks_total",
        "How often a handler waited for an answer on its thread",
    ),
    (
        "tamtam_born_total",
        "Observed actors that there were and are",
    ),
    (
        "tamtam_handled_total",
        "Messages that observed actors have handled",
    ),
    (
        "tamtam_lost_total",
        "Messages that were accepted and never handled",
    ),
    (
        "tamtam_restarts_total",
        "How often observed actors were begun again",
    ),
    (
        "tamtam_long_turns_total",
        "Turns of observed actors that were long",
    ),
    (
        "tamtam_actor_handled_total",
        "Messages that actors with this name have handled",
    ),
    (
        "tamtam_actor_lost_total",
        "Messages to actors with this name that were never handled",
    ),
    (
        "tamtam_actor_restarts_total",
        "How often actors with this name were begun again",
    ),
];

fn describe() {
    for (name, what) in GAUGES {
        describe_gauge!(*name, Unit::Count, *what);
    }
    for (name, what) in COUNTERS {
        describe_counter!(*name, Unit::Count, *what);
    }
    let what = "The time that turns of observed actors took";
    describe_counter!("tamtam_turn_seconds_total", Unit::Seconds, what);
}

/// What is recorded for one set of labels.
#[derive(Default)]
struct LabelFigures {
    gauges: BTreeMap<&'static str, u64>,
    counters: BTreeMap<&'static str, u64>,
}

impl LabelFigures {
    fn gauge(&mut self, name: &'static str, value: u64) {
        let sum = self.gauges.entry(name).or_default();
        *sum = sum.saturating_add(value);
    }

    fn count(&mut self, name: &'static str, value: u64) {
        let sum = self.counters.entry(name).or_default();
        *sum = sum.saturating_add(value);
    }

    fn add_home(&mut self, home: &HomeSnapshot) {
        self.gauge("tamtam_threads", home.threads as u64);
        self.gauge("tamtam_stand_ins", home.stand_ins as u64);
        self.gauge("tamtam_blocking_threads", home.blocking_threads as u64);
        self.gauge("tamtam_left_behind", home.left_behind as u64);
        self.gauge("tamtam_idle_threads", home.idle_threads as u64);
        self.gauge("tamtam_due", home.due as u64);
        self.count("tamtam_turns_total", home.turns);
        self.count("tamtam_steals_total", home.steals);
        self.count("tamtam_sleeps_total", home.sleeps);
        self.count("tamtam_entered_total", home.entered);
        self.count("tamtam_blocking_asks_total", home.blocking_asks);
        let Some(actors) = &home.actors else { return };
        self.gauge("tamtam_actors", actors.living);
        self.gauge("tamtam_queued", actors.queued);
        self.gauge("tamtam_in_long_turn", actors.in_long_turn);
        self.count("tamtam_born_total", actors.born);
        self.count("tamtam_handled_total", actors.handled);
        self.count("tamtam_lost_total", actors.lost);
        self.count("tamtam_restarts_total", actors.restarts);
        self.count("tamtam_long_turns_total", actors.long_turns);
        self.count("tamtam_turn_seconds_total", actors.turn_time.as_secs());
    }

    /// The recorder is the user's: called under no lock of ours.
    fn record(&self, labels: &[Label]) {
        for (name, value) in &self.gauges {
            gauge!(*name, labels.iter()).set(*value as f64);
        }
        for (name, value) in &self.counters {
            counter!(*name, labels.iter()).absolute(*value);
        }
    }
}

fn record() {
    let mut homes: BTreeMap<(String, String), LabelFigures> = BTreeMap::new();
    let mut named: BTreeMap<(String, String, Arc<str>), LabelFigures> = BTreeMap::new();
    for (_, home) in watched::all() {
        let shown = home.look();
        let key = (shown.name.clone(), shown.kind.to_string());
        homes.entry(key.clone()).or_default().add_home(&shown);
        let Some(ledger) = home.ledger() else {
            continue;
        };
        ledger.visit(|record| {
            let Some(name) = record.name() else { return };
            let figures = record.figures();
            let key = (key.0.clone(), key.1.clone(), Arc::clone(name));
            let sums = named.entry(key).or_default();
            sums.gauge("tamtam_actor_queued", figures.queued);
            sums.count("tamtam_actor_handled_total", figures.handled);
            sums.count("tamtam_actor_lost_total", figures.lost);
            sums.count("tamtam_actor_restarts_total", figures.restarts);
        });
    }
    for ((home, kind), figures) in homes {
        figures.record(&[Label::new("home", home), Label::new("kind", kind)]);
    }
    for ((home, kind, actor), figures) in named {
        figures.record(&[
            Label::new("home", home),
            Label::new("kind", kind),
            Label::new("actor", actor.to_string()),
        ]);
    }
}
