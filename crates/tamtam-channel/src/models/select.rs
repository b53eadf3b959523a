//! Waiting for several things at once.

use tamtam_wait::seam::thread;

use super::{Ends, model, wide_model};
use crate::{Select, bounded, unbounded};

/// A selecting thread is woken by either channel and takes what it was woken for.
fn select_takes_from_both(ends: fn() -> Ends<u32>) {
    model(move || {
        let (one, first) = ends();
        let (two, second) = ends();
        let givers = [one, two].map(|sender| thread::spawn(move || sender.send(1).unwrap()));
        let mut got = [0; 2];
        for _ in 0..2 {
            let mut select = Select::new_biased();
            if got[0] == 0 {
                select.recv(&first);
            }
            if got[1] == 0 {
                select.recv(&second);
            }
            let operation = select.select();
            if got[0] == 0 && operation.index() == 0 {
                got[0] += operation.recv(&first).unwrap();
            } else {
                got[1] += operation.recv(&second).unwrap();
            }
        }
        assert_eq!(got, [1, 1]);
        for giver in givers {
            giver.join().unwrap();
        }
    });
}

#[test]
fn loom_select_on_rings() {
    select_takes_from_both(|| bounded(1));
}

#[test]
fn loom_select_on_lists() {
    select_takes_from_both(unbounded);
}

#[test]
fn loom_select_on_rendezvous() {
    select_takes_from_both(|| bounded(0));
}

/// Two selects meet on a channel of capacity zero.
#[test]
fn loom_select_meets_select() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let giver = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&sender);
            select.select().send(&sender, Box::new(5)).unwrap();
        });
        let mut select = Select::new();
        select.recv(&receiver);
        assert_eq!(select.select().recv(&receiver), Ok(Box::new(5)));
        giver.join().unwrap();
    });
}

/// A thread that waits for two things is told by one and leaves the other to whoever waits there.
#[test]
fn loom_select_does_not_keep_what_it_did_not_take() {
    wide_model(|| {
        let (one, first) = bounded(1);
        let (two, second) = bounded(1);
        let rival = second.clone();
        let waiter = thread::spawn(move || rival.recv().is_ok());
        let selector = thread::spawn(move || {
            let mut select = Select::new_biased();
            select.recv(&first);
            select.recv(&second);
            let operation = select.select();
            match operation.index() {
                0 => operation.recv(&first).map(|()| true),
                _ => operation.recv(&second).map(|()| false),
            }
        });
        one.send(()).unwrap();
        two.send(()).unwrap();
        if let Ok(false) = selector.join().unwrap() {
            // The selector took the rival's message: this one is the rival's.
            two.send(()).unwrap();
        }
        assert!(waiter.join().unwrap());
    });
}
