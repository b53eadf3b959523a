//! Models of timers: by a time that one thread moves while another one cancels, or stops the actor.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use tamtam_wait::seam::{Mutex, thread};

use crate::actor::Actor;
use crate::context::{Context, Here};
use crate::models::{ModelHome, model};
use crate::time::{Every, Timer};

const SECOND: Duration = Duration::from_secs(1);

/// What became of a timer. Not loom's counts: they add nothing to what threads know of each other.
#[derive(Default)]
struct Fate {
    happened: Count,
    dropped: Count,
}

/// What a timer keeps.
struct Kept(Arc<Fate>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }
}

/// Sets a timer for its first message, and leaves it where others find it.
struct Sleeper {
    fate: Arc<Fate>,
    timer: Arc<Mutex<Option<Timer>>>,
    repeats: bool,
}

impl Actor for Sleeper {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        let kept = Kept(Arc::clone(&self.fate));
        let happen = move |this: &mut Sleeper, _: &mut Context<Sleeper>| {
            let _ = &kept;
            this.fate.happened.fetch_add(1, Relaxed);
        };
        let timer = if self.repeats {
            cx.every(Every::rate(SECOND), happen)
        } else {
            cx.after(SECOND, happen)
        };
        *self.timer.lock() = Some(timer);
    }
}

/// One thread moves the time, the other one cancels; both run what is due.
fn cancel_against_fire(repeats: bool) {
    model(2, move || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let place = Arc::new(Mutex::new(None));
        let address = stage.spawner().spawn(Sleeper {
            fate: Arc::clone(&fate),
            timer: Arc::clone(&place),
            repeats,
        });
        address.tell(()).unwrap();
        stage.run();
        let timer = place.lock().take().unwrap();
        let mover = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                stage.time.advance(SECOND);
                stage.run();
            })
        };
        let in_time = timer.cancel();
        stage.run();
        mover.join().unwrap();
        let happened = fate.happened.load(Relaxed);
        if repeats {
            assert!(in_time && happened <= 1);
        } else {
            assert_eq!(happened, u32::from(!in_time));
        }
        assert_eq!(fate.dropped.load(Relaxed), 1, "what it kept is gone");
        assert_eq!(stage.time.timers(), 0);
        // Nothing comes of it any more.
        stage.time.advance(10 * SECOND);
        stage.run();
        assert_eq!(fate.happened.load(Relaxed), happened);
        assert!(!timer.cancel());
    });
}

#[test]
fn loom_cancel_against_fire() {
    cancel_against_fire(false);
}

#[test]
fn loom_cancel_against_fire_of_what_repeats() {
    cancel_against_fire(true);
}

/// One thread moves the time, the other one stops the actor.
fn fire_against_stop(repeats: bool) {
    model(2, move || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let place = Arc::new(Mutex::new(None));
        let address = stage.spawner().spawn(Sleeper {
            fate: Arc::clone(&fate),
            timer: Arc::clone(&place),
            repeats,
        });
        address.tell(()).unwrap();
        stage.run();
        let mover = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                stage.time.advance(SECOND);
                stage.run();
            })
        };
        address.stop();
        stage.run();
        mover.join().unwrap();
        assert!(address.is_stopped());
        assert!(fate.happened.load(Relaxed) <= 1);
        assert_eq!(fate.dropped.load(Relaxed), 1, "what it kept is gone");
        assert_eq!(stage.time.timers(), 0);
        let timer = place.lock().take().unwrap();
        assert!(!timer.is_pending());
        drop((timer, address, place));
        // The cell is gone, too: its home is ours alone.
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

#[test]
fn loom_fire_against_stop() {
    fire_against_stop(false);
}

#[test]
fn loom_fire_of_what_repeats_against_stop() {
    fire_against_stop(true);
}

/// A message that is due while the actor stops is handled, or counted and dropped.
#[test]
fn loom_a_message_that_is_due_against_stop() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage
            .spawner()
            .spawn_fn(|message: Kept, _: &mut Here<Kept>| {
                message.0.happened.fetch_add(1, Relaxed);
            });
        address.tell_after(SECOND, Kept(Arc::clone(&fate)));
        let mover = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                stage.time.advance(SECOND);
                stage.run();
            })
        };
        address.stop();
        stage.run();
        mover.join().unwrap();
        assert_eq!(u64::from(fate.happened.load(Relaxed)) + address.lost(), 1);
        assert_eq!(fate.dropped.load(Relaxed), 1, "the message is gone");
        assert_eq!(stage.time.timers(), 0);
        drop(address);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// Cancelling the last timer that keeps an actor ends it, also while that timer is due.
#[test]
fn loom_an_actor_without_addresses_ends_with_its_timer() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let place = Arc::new(Mutex::new(None));
        let address = stage.spawner().spawn(Sleeper {
            fate: Arc::clone(&fate),
            timer: Arc::clone(&place),
            repeats: false,
        });
        address.tell(()).unwrap();
        stage.run();
        let timer = place.lock().take().unwrap();
        drop((address, place));
        let mover = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                stage.time.advance(SECOND);
                stage.run();
            })
        };
        let in_time = timer.cancel();
        stage.run();
        mover.join().unwrap();
        stage.run();
        assert_eq!(fate.happened.load(Relaxed), u32::from(!in_time));
        drop(timer);
        // The actor is gone, and its cell: its home is ours alone.
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}
