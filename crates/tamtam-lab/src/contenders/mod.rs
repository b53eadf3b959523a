//! The contenders that come with the lab, one small file each: Tamtam's own ways of passing messages, those of the
//! standard library (`standard`), and the forms of tables.
//!
//! A new one needs its file and a line in [`all`].

mod asked;
mod batches;
#[cfg(target_os = "linux")]
mod between_processes;
mod calls;
mod channel;
mod channel_ask;
#[cfg(feature = "tables")]
mod compression;
mod event;
mod frame;
mod gate;
mod home;
mod latch;
mod link_in_memory;
mod mutex_published;
mod nodes;
mod offer;
mod on_tokio;
#[cfg(feature = "tables")]
mod packed_for_link;
mod packed_from_structs;
mod per_frame;
#[cfg(target_os = "linux")]
mod pictures;
mod players;
mod polled_value;
mod pool;
mod property;
mod row_form;
mod select;
#[cfg(target_os = "linux")]
mod shared_memory;
mod single;
mod sliced;
mod slot;
mod standard;
mod subscribers;
mod text_by_hand;
mod told_later;
mod try_recv;
mod worker;

use std::sync::LazyLock;

use crate::Contender;

/// All of them, in the order in which lists show them: our ways of passing messages, ways to call a server and to
/// show frames, the standard library's, then the forms of tables, of which those that are not Tamtam's own are here, too: they come with it.
#[must_use]
pub fn all() -> &'static [&'static dyn Contender] {
    &ALL
}

static ALL: LazyLock<Vec<&'static dyn Contender>> = LazyLock::new(|| {
    let mut all = OF_MESSAGES.to_vec();
    all.extend(calls::ALL);
    #[cfg(target_os = "linux")]
    {
        all.extend(pictures::ALL);
        all.extend(between_processes::ALL);
    }
    all.extend(standard::ALL);
    all.push(&text_by_hand::TextByHand);
    all.push(&packed_from_structs::PackedFromStructs);
    #[cfg(feature = "tables")]
    all.push(&packed_for_link::PackedForLink);
    all.extend(row_form::ALL.iter().map(|form| form as &dyn Contender));
    all
});

const OF_MESSAGES: &[&dyn Contender] = &[
    &slot::SLOT,
    &slot::SLOT_SPIN,
    &slot::SLOT_YIELD,
    &slot::SLOT_PARK,
    &channel::CHANNEL,
    &channel::CHANNEL_UNBOUNDED,
    &channel::CHANNEL_RENDEZVOUS,
    &single::Spsc,
    &single::SpscUnbounded,
    &single::Mpsc,
    &single::MPSC_BOUNDED,
    &batches::CHANNEL,
    &batches::CHANNEL_UNBOUNDED,
    &batches::MPSC,
    &batches::MPSC_BOUNDED,
    &batches::SpscBatches,
    &property::PropertyPolled,
    &property::PropertyWaited,
    &event::EventPair,
    &polled_value::PolledValue,
    &try_recv::TryRecv,
    &sliced::Sliced,
    &per_frame::PerFrame,
    &mutex_published::MutexPublished,
    &latch::LatchCountdown,
    &pool::ActorsOnPool,
    &worker::ActorsOnWorkers,
    &frame::ActorsInFrame,
    &on_tokio::ActorsOnTokio,
    &link_in_memory::LinkInMemory,
];

/// Ours are released together, under one version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Failure, Measure, Measurement};

    #[test]
    fn names_are_unique_and_everyone_takes_part_in_something() {
        let mut names = HashSet::new();
        for contender in all() {
            let card = contender.card();
            let measures = contender.measures();
            let is_standard = standard::ALL
                .iter()
                .any(|other| other.card().name == card.name);
            assert!(
                card.ours
                    || is_standard
                    || measures
                        .iter()
                        .all(|measure| ["calls", "frames", "handover", "post", "rows"]
                            .contains(&measure.experiment()))
            );
            assert!(names.insert(card.name), "{} is there twice", card.name);
            assert!(!card.about.is_empty() && !card.about.contains('\n'));
            let mut variants = HashSet::new();
            for measure in contender.measures() {
                let variant = (measure.experiment(), measure.variant().to_string());
                assert!(
                    variants.insert(variant.clone()),
                    "{} has {variant:?} twice",
                    card.name
                );
            }
            assert!(!variants.is_empty(), "{} takes part in nothing", card.name);
        }
    }

    /// The server of a contender, when another test has started this program again; by itself it tests nothing.
    #[test]
    fn serves() {
        crate::serve_if_asked(all());
    }

    /// What comes of a contender's `measure` with at most so many messages, in a thread of its own: a variant may pin the thread
    /// that runs it, for good.
    fn tried(
        contender: &'static dyn Contender,
        measure: &Measure,
        most: u64,
    ) -> Result<Measurement, Failure> {
        let index = contender.measures().iter().position(|other| {
            other.experiment() == measure.experiment() && other.variant() == measure.variant()
        });
        std::thread::spawn(move || {
            contender.measures()[index.expect("it is one of them")].try_out(most)
        })
        .join()
        .expect("no contender panics")
    }

    /// The most memory is told only where it is that of all processes that take part.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_actor_in_another_process_is_asked_with_what_that_uses() {
        crate::serve_by_test("contenders::tests::serves");
        for (name, is_elsewhere) in [
            ("link", true),
            ("process", true),
            ("socket-bytes", true),
            ("link-memory", false),
        ] {
            let contender = all().iter().find(|other| other.card().name == name);
            let contender = *contender.expect("it is on offer");
            for measure in contender.measures() {
                if measure.experiment() != "ask" {
                    continue;
                }
                let measurement = match tried(contender, &measure, 20_000) {
                    // A machine with one processor, or one where threads cannot be pinned.
                    Err(Failure::Impossible(_)) => continue,
                    outcome => outcome.unwrap(),
                };
                let has = |metric| measurement.value(metric).is_some();
                assert!(has("cpu_ns_per_op"), "{name} {}", measure.variant());
                assert_eq!(has("peak_rss_kib"), !is_elsewhere, "{name}");
            }
        }
    }

    /// Every contender delivers, in one variant of each kind that it takes part in.
    #[test]
    fn everyone_delivers() {
        crate::serve_by_test("contenders::tests::serves");
        for contender in all() {
            let mut done = HashSet::new();
            let mut measures = contender.measures();
            // Of a kind, the variant that is done soonest.
            measures.sort_by_key(|measure| measure.variant().count);
            for measure in measures {
                // Of two that are one body one.
                let (experiment, kind) = match (measure.experiment(), measure.variant().kind()) {
                    ("grid", "tells") => ("ask", "tells"),
                    ("ring", "last") => ("ring", "token"),
                    own => own,
                };
                if !done.insert((experiment, kind.to_owned())) {
                    continue;
                }
                // What is compressed is tried alone, too: one table is enough.
                if contender.card().name.contains('+') && measure.variant().kind() == "other" {
                    continue;
                }
                // Where a variant may have any number of messages it takes millions.
                let most = match kind {
                    "tells" | "token" => 20_000,
                    _ => u64::MAX,
                };
                let name = contender.card().name;
                let variant = measure.variant().to_string();
                match tried(*contender, &measure, most) {
                    // A machine with one processor, or one where threads cannot be pinned.
                    Err(Failure::Impossible(_)) => {}
                    outcome => assert!(outcome.is_ok(), "{name} {variant}: {outcome:?}"),
                }
            }
        }
    }
}
