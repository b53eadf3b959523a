//! The Rust systems that Tamtam's lab measures itself against, each in a small file.
//!
//! The program understands what `tamtam contender` understands (`contender list`, `contender run ...`), and runs the
//! same bodies. A new peer needs its file and a line in [`PEERS`]. The standard
//! library's own ways need no crate: they come with `tamtam-lab`, and run in the program `tamtam`.

mod actix;
mod arc_swap;
mod async_channel;
#[cfg(target_os = "linux")]
mod bare_futex;
mod bare_spin;
mod bitcode;
#[cfg(unix)]
mod capnp_rpc;
mod cast;
mod concurrent_queue;
mod crossbeam;
mod crossfire;
mod delay_queue;
mod ends;
mod farewell;
mod flume;
#[cfg(unix)]
mod iceoryx2;
mod insist;
#[cfg(unix)]
mod ipc_channel;
mod jsonrpsee;
mod kameo;
mod kanal;
mod kanal_drain;
mod may;
mod pco;
mod plain;
mod ractor;
mod row;
mod rtrb;
mod rtrb_chunks;
mod select;
mod stakker;
#[cfg(unix)]
mod tarpc;
mod thingbuf;
mod tiles;
mod tokio_broadcast;
mod tokio_mpsc;
mod tokio_oneshot;
mod tokio_runtime;
mod tokio_tasks;
mod tokio_watch;
mod tonic;
mod xtra;

use std::env;
use std::process::ExitCode;

use tamtam_lab::Contender;

/// All peers, in the order in which lists show them.
const PEERS: &[&dyn Contender] = &[
    &crossbeam::BOUNDED,
    &crossbeam::UNBOUNDED,
    &kanal::BOUNDED,
    &kanal::UNBOUNDED,
    &flume::BOUNDED,
    &flume::UNBOUNDED,
    &async_channel::BOUNDED,
    &async_channel::UNBOUNDED,
    &thingbuf::Thingbuf,
    &concurrent_queue::BOUNDED,
    &concurrent_queue::UNBOUNDED,
    &crossfire::Bounded,
    &crossfire::Unbounded,
    &crossfire::Single,
    &crossfire::Many,
    &tokio_mpsc::BOUNDED,
    &tokio_mpsc::UNBOUNDED,
    &tokio_oneshot::Oneshots,
    &rtrb::Rtrb,
    &kanal_drain::BOUNDED,
    &kanal_drain::UNBOUNDED,
    &rtrb_chunks::RtrbChunks,
    #[cfg(target_os = "linux")]
    &bare_futex::BareFutex,
    &bare_spin::BareSpin,
    &arc_swap::LOAD,
    &arc_swap::CACHE,
    &tokio_watch::Watch,
    &tokio_tasks::TokioTasks,
    &tokio_broadcast::Broadcast,
    &delay_queue::Delays,
    &stakker::OneThread,
    &actix::Arbiters,
    &ractor::Ractor,
    &kameo::Kameo,
    &xtra::Xtra,
    &may::Coroutines,
    #[cfg(unix)]
    &iceoryx2::Iceoryx2,
    #[cfg(unix)]
    &ipc_channel::IpcChannel,
    #[cfg(unix)]
    &capnp_rpc::CapnpRpc,
    #[cfg(unix)]
    &tarpc::Tarpc,
    &tonic::Tonic,
    &jsonrpsee::Jsonrpsee,
    &bitcode::COLUMNS,
    &bitcode::ROWS,
    &pco::Pco,
];

fn main() -> ExitCode {
    // As its documentation advises for the beginning of a program: on one processor it yields instead of spinning.
    ::crossfire::detect_backoff_cfg();
    let mut words = env::args().skip(1);
    if words.next().as_deref() == Some("contender") {
        tamtam_lab::run_command(PEERS, words)
    } else {
        eprintln!(
            "usage: tamtam-peers-rust contender list\n       tamtam-peers-rust contender run EXPERIMENT CONTENDER VARIANT --limit-ms N"
        );
        ExitCode::from(2)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;
    use std::time::Duration;

    use tamtam_lab::{Contender, Failure, Variant};

    use super::PEERS;

    #[test]
    fn names_are_unique_and_no_variant_comes_twice() {
        let mut names = HashSet::new();
        for peer in PEERS {
            let card = peer.card();
            assert!(!card.ours);
            assert!(names.insert(card.name), "{} is there twice", card.name);
            assert!(!card.about.is_empty() && !card.about.contains('\n'));
            let mut variants = HashSet::new();
            for measure in peer.measures() {
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

    /// The server of a peer, when another test has started this program again; by itself it tests nothing.
    #[test]
    fn serves() {
        tamtam_lab::serve_if_asked(PEERS);
    }

    /// Every peer delivers, in one variant of each kind that it takes part in.
    #[test]
    fn everyone_delivers() {
        tamtam_lab::serve_by_test("tests::serves");
        for peer in PEERS {
            let mut done = HashSet::new();
            let kinds: Vec<(&str, Variant)> = peer
                .measures()
                .iter()
                .map(|measure| (measure.experiment(), measure.variant().clone()))
                .filter(|(experiment, variant)| {
                    done.insert((*experiment, variant.kind().to_owned()))
                })
                .collect();
            if peer.card().name == "stakker" {
                // It runs in one thread of a process and in no other; all its variants have the same placement.
                go(*peer, kinds);
            } else {
                // Each in a thread of its own: a variant may pin the thread that runs it, for good.
                for kind in kinds {
                    go(*peer, vec![kind]);
                }
            }
        }
    }

    /// Runs these variants of `peer` in one thread.
    fn go(peer: &'static dyn Contender, kinds: Vec<(&'static str, Variant)>) {
        let name = peer.card().name;
        // There are channels that put a whole block of messages of 16 KiB on the stack.
        let builder = thread::Builder::new().stack_size(16 << 20);
        let thread = builder.spawn(move || {
            // It makes its own list, since a measure stays in its thread.
            let measures = peer.measures();
            for (experiment, variant) in kinds {
                let what = format!("{name} {experiment} {variant}");
                let measure = measures.iter().find(|measure| {
                    measure.experiment() == experiment && *measure.variant() == variant
                });
                let outcome = measure
                    .unwrap_or_else(|| panic!("{what} is gone"))
                    .run(Duration::from_millis(5));
                match outcome {
                    // A machine with one processor, or one where threads cannot be pinned.
                    Err(Failure::Impossible(_)) => {}
                    outcome => assert!(outcome.is_ok(), "{what}: {outcome:?}"),
                }
            }
        });
        let thread = thread.expect("a thread can be started");
        assert!(thread.join().is_ok(), "{name} panicked");
    }
}
