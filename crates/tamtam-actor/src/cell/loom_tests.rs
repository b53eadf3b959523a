//! Models of actors: the whole way from an address to a handler, and to the end of the actor.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Unlocked};
use std::time::Duration;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{self, Mutex, thread};

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{Muted, State, System, WatchKey};
use crate::context::{Context, Here};
use crate::ended::EndReason;
use crate::error::AskError;
use crate::mailbox::Overflow;
use crate::models::{ModelHome, model};
use crate::reply::Reply;
use crate::restart::{Born, Policy, Restart};

mod addresses;
mod ask;
mod birth;
#[cfg(feature = "serde")]
mod far;
mod hold;
mod restart;
mod room;
mod watch;

/// What became of messages. Not loom's counts: they add nothing to what threads know of each other.
#[derive(Default)]
struct Fate {
    handled: Count,
    dropped: Count,
    order: Unlocked<Vec<u32>>,
}

/// A message that tells what became of it.
struct Told(u32, Arc<Fate>);

impl Told {
    fn handled(self) {
        self.1.handled.fetch_add(1, Relaxed);
        // Turns never overlap, so this never waits.
        self.1.order.try_lock().unwrap().push(self.0);
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Relaxed);
    }
}

fn handle(message: Told, _: &mut Here<Told>) {
    message.handled();
}

/// So many messages were refused; each of the others was handled, or is counted as lost; and none of them lies
/// anywhere, though the address is still there.
fn check(address: &Address<Told>, fate: &Fate, sent: u32, refused: u32) {
    assert_eq!(fate.dropped.load(Relaxed), sent, "a message lies about");
    assert_eq!(
        u64::from(fate.handled.load(Relaxed) + refused) + address.lost(),
        u64::from(sent),
        "handled, lost and refused"
    );
}

#[test]
fn loom_two_senders_are_handled_in_order() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, Arc::clone(&fate))).unwrap();
                address.tell(Told(2, Arc::clone(&fate))).unwrap();
                stage.run();
            })
        };
        address.tell(Told(11, Arc::clone(&fate))).unwrap();
        stage.run();
        other.join().unwrap();
        check(&address, &fate, 3, 0);
        assert_eq!(address.lost(), 0);
        let order = fate.order.lock().unwrap();
        let place = |number| order.iter().position(|it| *it == number).unwrap();
        assert!(place(1) < place(2));
    });
}

fn stop_against_senders(preemptions: usize, senders: u32) {
    model(preemptions, move || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let others: Vec<_> = (0..senders)
            .map(|number| {
                let (stage, fate, address) =
                    (Arc::clone(&stage), Arc::clone(&fate), address.clone());
                thread::spawn(move || {
                    let refused = address.tell(Told(number, fate)).is_err();
                    stage.run();
                    u32::from(refused)
                })
            })
            .collect();
        address.stop();
        stage.run();
        let refused = others.into_iter().map(|it| it.join().unwrap()).sum();
        assert!(address.is_stopped());
        check(&address, &fate, senders, refused);
    });
}

#[test]
fn loom_stop_against_tell() {
    stop_against_senders(3, 1);
}

#[test]
fn loom_stop_against_two_who_tell() {
    stop_against_senders(2, 2);
}

#[test]
fn loom_the_last_address_goes_after_what_was_sent() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let weak = address.downgrade();
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, fate)).unwrap();
                drop(address);
                stage.run();
            })
        };
        address.tell(Told(2, Arc::clone(&fate))).unwrap();
        drop(address);
        stage.run();
        other.join().unwrap();
        assert_eq!(fate.handled.load(Relaxed), 2);
        assert!(weak.upgrade().is_none());
        // The actor itself is gone, too.
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// An actor that has lost its last address makes one of its own, somebody sends through that, and drops it.
#[test]
fn loom_an_address_that_an_orphan_makes_is_good_for_a_message() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let place: Arc<Mutex<Option<Address<Told>>>> = Arc::new(Mutex::new(None));
        let address = {
            let place = Arc::clone(&place);
            stage
                .spawner()
                .spawn_fn(move |message: Told, here: &mut Here<Told>| {
                    if message.0 == 0 {
                        *place.lock() = Some(here.address());
                    }
                    message.handled();
                })
        };
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        drop(address);
        let told = {
            let (stage, fate, place) = (Arc::clone(&stage), Arc::clone(&fate), Arc::clone(&place));
            move || {
                let address = place.lock().take();
                let told = address.map(|address| address.tell(Told(1, fate)).unwrap());
                stage.run();
                u32::from(told.is_some())
            }
        };
        let other = thread::spawn(told.clone());
        stage.run();
        let told = other.join().unwrap() + told();
        assert_eq!(told, 1);
        assert_eq!(fate.handled.load(Relaxed), 2);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

#[test]
fn loom_the_end_of_the_home_against_tell() {
    model(3, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        stage.close();
        let refused = u32::from(address.tell(Told(2, Arc::clone(&fate))).is_err());
        let refused = refused + other.join().unwrap();
        check(&address, &fate, 2, refused);
    });
}

/// One that finishes handles what it has accepted; what comes meanwhile is handled, comes back, or is counted.
#[test]
fn loom_finish_against_tell() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        address.tell(Told(2, Arc::clone(&fate))).unwrap();
        address.finish();
        stage.run();
        let refused = other.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        check(&address, &fate, 2, refused);
        assert!(fate.order.lock().unwrap().contains(&2), "it came before");
    });
}

/// A home that takes no more messages gives them back, and the actor is as idle as before.
#[test]
fn loom_a_home_that_refuses_against_a_message_from_within() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        stage.refuses.store(true, Relaxed);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                // What comes before messages still wakes.
                address.place().send(System::Look);
                stage.run();
                u32::from(refused)
            })
        };
        let refused = u32::from(address.tell(Told(2, Arc::clone(&fate))).is_err());
        stage.run();
        let refused = refused + other.join().unwrap();
        stage.run();
        check(&address, &fate, 2, refused);
        stage.refuses.store(false, Relaxed);
        address.tell(Told(3, Arc::clone(&fate))).unwrap();
        stage.run();
        check(&address, &fate, 3, refused);
        assert_eq!(address.lost(), 0);
    });
}
