//! Models of senders that wait for room: threads, tasks, and actors that are muted.

use core::task::{Context as TaskContext, Waker};
use std::pin::pin;

use super::*;

/// Runs what is due until the others are through.
fn run_until(stage: &ModelHome, done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        stage.run();
        seam::yield_now();
    }
    stage.run();
}

#[test]
fn loom_a_sender_that_waits_gets_room() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, Overflow::Wait).spawn_fn(handle);
        let done = seam::Arc::new(AtomicBool::new(false));
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (fate, address) = (Arc::clone(&fate), address.clone());
            let done = seam::Arc::clone(&done);
            thread::spawn(move || {
                address.tell(Told(2, fate)).unwrap();
                done.store(true, Ordering::Release);
            })
        };
        run_until(&stage, &done);
        other.join().unwrap();
        check(&address, &fate, 2, 0);
        assert_eq!(*fate.order.lock().unwrap(), [1, 2]);
    });
}

#[test]
fn loom_a_sender_that_waits_against_stop() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, Overflow::Wait).spawn_fn(handle);
        let done = seam::Arc::new(AtomicBool::new(false));
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (fate, address) = (Arc::clone(&fate), address.clone());
            let done = seam::Arc::clone(&done);
            thread::spawn(move || {
                let refused = address.tell(Told(2, fate)).is_err();
                done.store(true, Ordering::Release);
                u32::from(refused)
            })
        };
        address.stop();
        run_until(&stage, &done);
        let refused = other.join().unwrap();
        check(&address, &fate, 2, refused);
    });
}

/// A task that gives up, perhaps when it was already told of the room, and a thread that waits beside it.
#[test]
fn loom_a_task_that_gives_up_passes_the_room_on() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, Overflow::Wait).spawn_fn(handle);
        let done = seam::Arc::new(AtomicBool::new(false));
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let thread = {
            let (fate, address) = (Arc::clone(&fate), address.clone());
            let done = seam::Arc::clone(&done);
            thread::spawn(move || {
                address.tell(Told(2, fate)).unwrap();
                done.store(true, Ordering::Release);
            })
        };
        let given_up = {
            let mut told = pin!(address.tell_async(Told(3, Arc::clone(&fate))));
            let mut cx = TaskContext::from_waker(Waker::noop());
            let told = told.as_mut().poll(&mut cx);
            // Its room comes while it waits.
            stage.run();
            u32::from(told.is_pending())
        };
        run_until(&stage, &done);
        thread.join().unwrap();
        check(&address, &fate, 3, given_up);
    });
}

/// An actor that sends more than there is room for gets its next message when there is room again.
#[test]
fn loom_a_muted_actor_goes_on() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let receiver = stage.spawner().limited(1, Overflow::Wait).spawn_fn(handle);
        let sender = {
            let (fate, receiver) = (Arc::clone(&fate), receiver.clone());
            stage
                .spawner()
                .spawn_fn(move |first: u32, _: &mut Here<u32>| {
                    for number in first..first + 2 {
                        receiver.tell(Told(number, Arc::clone(&fate))).unwrap();
                    }
                })
        };
        sender.tell(1).unwrap();
        sender.tell(11).unwrap();
        let other = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.run())
        };
        stage.run();
        other.join().unwrap();
        check(&receiver, &fate, 4, 0);
        assert_eq!(*fate.order.lock().unwrap(), [1, 2, 11, 12]);
    });
}

/// An actor that is muted by one that stops.
#[test]
fn loom_a_muted_actor_against_stop() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let receiver = stage.spawner().limited(1, Overflow::Wait).spawn_fn(handle);
        let refused = Arc::new(Count::new(0));
        let sender = {
            let (fate, receiver) = (Arc::clone(&fate), receiver.clone());
            let refused = Arc::clone(&refused);
            stage.spawner().spawn_fn(move |(): (), _: &mut Here<()>| {
                for number in 0..2 {
                    if receiver.tell(Told(number, Arc::clone(&fate))).is_err() {
                        refused.fetch_add(1, Relaxed);
                    }
                }
            })
        };
        sender.tell(()).unwrap();
        sender.tell(()).unwrap();
        let other = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.run())
        };
        receiver.stop();
        stage.run();
        other.join().unwrap();
        check(&receiver, &fate, 4, refused.load(Relaxed));
    });
}

fn limited(overflow: Overflow) {
    model(2, move || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, overflow).spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        let mut refused = 0;
        for number in 2..4 {
            let message = Told(number, Arc::clone(&fate));
            refused += u32::from(address.tell(message).is_err());
        }
        stage.run();
        refused += other.join().unwrap();
        check(&address, &fate, 3, refused);
    });
}

#[test]
fn loom_a_limited_mailbox_that_refuses() {
    limited(Overflow::Fail);
}

#[test]
fn loom_a_limited_mailbox_that_drops_the_oldest() {
    limited(Overflow::DropOldest);
}

#[test]
fn loom_a_limited_mailbox_against_stop() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, Overflow::Fail).spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        address.stop();
        stage.run();
        let refused = other.join().unwrap();
        check(&address, &fate, 1, refused);
    });
}
