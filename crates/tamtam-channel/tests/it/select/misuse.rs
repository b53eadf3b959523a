//! The list of operations and its limits: removing, reusing, misusing.

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Drops, Flavour, LONG, ms, within_limit};
use tamtam_channel::{Receiver, RecvError, Select, SelectedOperation, bounded, never, unbounded};

#[test]
fn remove_takes_an_operation_out_and_never_gives_its_index_again() {
    let (first_sender, first) = unbounded::<u8>();
    let (second_sender, second) = unbounded();
    let mut select = Select::new();
    assert_eq!(select.recv(&first), 0);
    assert_eq!(select.recv(&second), 1);
    first_sender.send(1).unwrap();
    select.remove(0);
    assert!(select.try_select().is_err());
    assert_eq!(select.recv(&first), 2);
    let selected = select.select();
    assert_eq!(selected.index(), 2);
    assert_eq!(selected.recv(&first), Ok(1));
    select.remove(2);
    second_sender.send(2).unwrap();
    assert_eq!(select.select().recv(&second), Ok(2));
    assert_eq!(select.send(&second_sender), 3);
    select.remove(1);
    assert_eq!(select.try_ready(), Ok(3));
}

#[test]
fn removing_ends_one_by_one_until_all_have_gone() {
    within_limit(|| {
        // What the documentation recommends for a disconnected arm.
        let channels: Vec<(_, Receiver<usize>)> =
            (0..10).map(|number| bounded(number % 3)).collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        thread::scope(|scope| {
            for (me, sender) in senders.into_iter().enumerate() {
                scope.spawn(move || (0..me * 10).for_each(|number| sender.send(number).unwrap()));
            }
            let mut select = Select::new();
            for receiver in &receivers {
                select.recv(receiver);
            }
            let (mut open, mut received) = (receivers.len(), 0);
            while open > 0 {
                let selected = select.select();
                let index = selected.index();
                match selected.recv(&receivers[index]) {
                    Ok(_) => received += 1,
                    Err(RecvError) => {
                        select.remove(index);
                        open -= 1;
                    }
                }
            }
            assert_eq!(received, (0..10).map(|me| me * 10).sum::<usize>());
            assert!(select.try_select().is_err());
        });
    });
}

/// The message of the panic of `action`.
fn panic_of(action: impl FnOnce()) -> String {
    let payload = panic::catch_unwind(AssertUnwindSafe(action)).expect_err("a panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .unwrap_or_default(),
    }
}

#[test]
fn removing_what_is_not_there_panics() {
    let (_sender, receiver) = unbounded::<u8>();
    panic_of(|| Select::new().remove(0));
    panic_of(|| {
        let mut select = Select::new();
        select.recv(&receiver);
        select.remove(1);
    });
    panic_of(|| {
        let mut select = Select::new();
        select.recv(&receiver);
        select.remove(0);
        select.remove(0);
    });
}

#[test]
fn an_empty_select_never_succeeds() {
    let mut select = Select::new();
    assert!(select.try_select().is_err());
    assert!(select.try_ready().is_err());
    let start = Instant::now();
    assert!(select.select_timeout(ms(10)).is_err());
    assert!(select.ready_timeout(ms(10)).is_err());
    assert!(start.elapsed() >= ms(20));
    assert!(Select::default().try_select().is_err());
    assert!(Select::new_biased().try_select().is_err());
}

#[test]
fn waiting_for_ever_on_an_empty_select_panics() {
    assert!(panic_of(|| _ = Select::new().ready()).contains("no operations"));
    assert!(panic_of(|| std::mem::forget(Select::new().select())).contains("no operations"));
    // Also when all were removed.
    let receiver = never::<u8>();
    let mut select = Select::new();
    let index = select.recv(&receiver);
    select.remove(index);
    assert!(panic_of(|| _ = select.ready()).contains("no operations"));
}

#[test]
fn a_selected_operation_must_be_completed() {
    let (sender, receiver) = unbounded();
    sender.send(1).unwrap();
    let mut select = Select::new();
    select.recv(&receiver);
    assert!(panic_of(|| drop(select.select())).contains("without completing"));
}

/// Tells a process of this test binary which misuse to commit; such a panic may end the whole process.
const MISUSE: &str = "TAMTAM_TEST_MISUSE";

/// Runs the calling test again in a process of its own, with `misuse` set, and returns what that printed as it failed.
fn fails_in_a_process(test: &str, misuse: &str) -> String {
    let mut process = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(MISUSE, misuse)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let ended = loop {
        if process.try_wait().unwrap().is_some() {
            break true;
        }
        if start.elapsed() > LONG {
            process.kill().unwrap();
            break false;
        }
        thread::yield_now();
    };
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        ended,
        "{misuse}: hangs instead of failing, after: {printed}"
    );
    assert!(!output.status.success(), "{misuse}: no failure");
    printed
}

#[test]
fn completing_with_another_channel_panics() {
    let (sender, receiver) = bounded(2);
    let (other_sender, other_receiver) = bounded(2);
    sender.send(1).unwrap();
    other_sender.send(2).unwrap();
    let mut select = Select::new();
    match env::var(MISUSE).as_deref() {
        Ok("recv") => {
            select.recv(&receiver);
            let _ = select.select().recv(&other_receiver);
        }
        Ok("send") => {
            select.send(&sender);
            let _ = select.select().send(&other_sender, 3);
        }
        _ => {
            for misuse in ["recv", "send"] {
                let printed = fails_in_a_process(
                    "select::misuse::completing_with_another_channel_panics",
                    misuse,
                );
                assert!(printed.contains("wasn't selected"), "{printed}");
            }
        }
    }
}

#[test]
fn an_operation_dropped_with_a_panic_leaves_the_channel_usable() {
    within_limit(|| {
        for flavour in Flavour::ALL {
            if flavour.is_rendezvous() {
                continue;
            }
            let drops = Drops::default();
            let (sender, receiver) = flavour.pair();
            sender.send(drops.numbered(1)).unwrap();
            let mut select = Select::new();
            select.recv(&receiver);
            panic_of(|| drop(select.select()));
            drop(select);
            // The message may be there still or be gone; the channel goes on.
            drop(receiver.try_recv());
            sender.try_send(drops.numbered(2)).unwrap();
            assert_eq!(receiver.try_recv().unwrap().number, 2, "{flavour:?}");

            let mut select = Select::new();
            select.send(&sender);
            panic_of(|| drop(select.select()));
            drop(select);
            drop((sender, receiver));
            assert_eq!(drops.count(), 2, "{flavour:?}");
        }
    });
}

#[test]
fn a_leaked_operation_corrupts_nothing() {
    // An operation that is forgotten may block others for ever (as documented), so the ends are not dropped here;
    // but nothing may be read that was never written, and nothing twice.
    within_limit(|| {
        for flavour in Flavour::ALL {
            if flavour.is_rendezvous() {
                continue;
            }
            let drops = Drops::default();
            let (sender, receiver) = flavour.pair();
            sender.send(drops.numbered(1)).unwrap();
            let mut select = Select::new();
            select.recv(&receiver);
            std::mem::forget(select.select());
            drop(select);
            drop(receiver.try_recv());
            assert!(drops.count() <= 1);
            std::mem::forget((sender, receiver));
        }
    });
}

#[test]
fn select_prints_and_clones() {
    let (sender, receiver) = unbounded();
    let mut select = Select::new();
    assert_eq!(format!("{select:?}"), "Select { .. }");
    assert_eq!(select.recv(&receiver), 0);
    let mut clone = select.clone();
    assert_eq!(clone.recv(&receiver), 1);
    sender.send(1).unwrap();
    let selected: SelectedOperation<'_> = clone.select();
    assert_eq!(format!("{selected:?}"), "SelectedOperation { .. }");
    assert_eq!(selected.recv(&receiver), Ok(1));
    assert!(select.try_select().is_err());
}

#[test]
fn a_select_moves_to_another_thread() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let mut select = Select::new();
        select.recv(&receiver);
        thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut select = select;
                select.select().recv(&receiver)
            });
            sender.send(6).unwrap();
            assert_eq!(taker.join().unwrap(), Ok(6));
        });
    });
}

#[test]
fn huge_timeouts_are_no_overflow() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                sender.send(1).unwrap();
                sender.send(2).unwrap();
            });
            let mut select = Select::new();
            select.recv(&receiver);
            assert_eq!(
                select
                    .select_timeout(Duration::MAX)
                    .unwrap()
                    .recv(&receiver),
                Ok(1)
            );
            assert_eq!(select.ready_timeout(Duration::MAX), Ok(0));
            assert_eq!(receiver.recv(), Ok(2));
        });
    });
}

/// A select may be sent to another thread, and what it takes out of a channel there need not be of a type that
/// may go there. Dropping such an operation must not drop the message on the wrong thread.
#[test]
fn a_message_that_belongs_to_another_thread_is_not_dropped_by_a_lost_operation() {
    use std::rc::Rc;

    for capacity in [Some(1), None] {
        let (sender, receiver) = match capacity {
            Some(capacity) => bounded(capacity),
            None => unbounded(),
        };
        let message = Rc::new(1);
        sender.send(Rc::clone(&message)).unwrap();
        let mut select = Select::new();
        select.recv(&receiver);
        let lost = thread::scope(|threads| {
            let select = &mut select;
            threads
                .spawn(move || {
                    panic::catch_unwind(AssertUnwindSafe(|| drop(select.select()))).is_err()
                })
                .join()
                .unwrap()
        });
        assert!(lost);
        // Leaked, and so still counted.
        assert_eq!(Rc::strong_count(&message), 2);
    }
}
