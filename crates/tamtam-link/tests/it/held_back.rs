//! A side that is held back, and of which no more is read: its end is heard nevertheless.

use std::sync::mpsc;

use tamtam_actor::Pool;
use tamtam_link::Link;

use crate::carriers;
use crate::suite::{LONG, until};

/// Bytes that may wait for actors.
const MOST: usize = 16 << 10;

#[test]
fn the_end_of_a_side_that_is_held_back_is_heard() {
    for (name, pair) in carriers::ALL {
        // Two streams of bytes have nothing that could be asked.
        if *name == "streams" {
            continue;
        }
        println!("over {name}");
        let pool = Pool::with_threads(1);
        let (go, gate) = mpsc::channel::<()>();
        // No actor takes what it has sent.
        let stuck = pool.spawn_fn(move |_: Vec<u8>, _| {
            let _ = gate.recv();
        });
        let builder = Link::builder().untrusted().most_unhandled(MOST, LONG);
        let (here, there) = pair(Link::builder(), builder.root(&stuck));
        let far = here.root::<Vec<u8>>();
        for _ in 0..2 * MOST / 1_000 {
            far.tell(vec![1; 1_000]).unwrap();
        }
        until("no more is read", || !there.has_room());
        // More of it lies in the carrier.
        for _ in 0..16 {
            far.tell(vec![1; 1_000]).unwrap();
        }
        here.close();
        until("its end is heard", || there.ended().is_some());
        drop(go);
    }
}
