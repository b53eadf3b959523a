//! When a message is done with, how many may be on their way, and what is lost with a link.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tamtam_actor::{
    Address, DeadLetter, DeadLetterWatch, Loss, Overflow, Pool, Refusal, on_dead_letter,
};
use tamtam_link::Link;

use super::messages::{Count, counter};
use super::{on_each, until};

/// The letters that are told of an actor from now on.
pub(crate) fn letters_of<M>(actor: &Address<M>) -> (DeadLetterWatch, Arc<Mutex<Vec<DeadLetter>>>) {
    let (letters, id) = (Arc::new(Mutex::new(Vec::new())), actor.id());
    let seen = Arc::clone(&letters);
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.clone());
        }
    });
    (watch, letters)
}

/// An actor that takes a message when it is let, on a pool of its own.
struct Gate {
    open: Sender<()>,
    passed: Receiver<u64>,
    address: Address<u64>,
    /// Behind what opens the gate: it waits for its actor.
    _pool: Pool,
}

fn gate(limit: usize, overflow: Overflow) -> Gate {
    let pool = Pool::with_threads(1);
    let (open, opened) = mpsc::channel();
    let (pass, passed) = mpsc::channel();
    let address = pool
        .spawner()
        .limited(limit, overflow)
        .spawn_fn(move |number: u64, _| {
            let _ = opened.recv();
            let _ = pass.send(number);
        });
    Gate {
        _pool: pool,
        open,
        passed,
        address,
    }
}

/// Sends until there is no room; how many messages it took. Until the other side has said how much room there is, nothing is counted.
fn fill(here: &Link, far: &Address<u64>) -> u64 {
    until("it has said hello", || far.try_tell(0).is_err());
    here.unconfirmed()
}

#[test]
fn messages_are_confirmed_when_they_are_done_with() {
    on_each(|pair| {
        let gate = gate(usize::MAX, Overflow::Fail);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&gate.address));
        let far = here.root::<u64>();
        for number in 0..3 {
            far.tell(number).unwrap();
        }
        gate.open.send(()).unwrap();
        assert_eq!(gate.passed.recv(), Ok(0));
        // The first is done with at most; the second is at hand.
        assert!((2..=3).contains(&here.unconfirmed()));
        gate.open.send(()).unwrap();
        gate.open.send(()).unwrap();
        until("all are confirmed", || here.unconfirmed() == 0);
        assert_eq!(far.lost(), 0);
        here.close();
    });
}

#[test]
fn a_message_at_which_an_actor_panics_is_done_with() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        far.tell(Count::Add(1)).unwrap();
        far.tell(Count::Fail("on purpose".to_owned())).unwrap();
        // It is lost there, in the open; or refused here, where the end has been heard of already.
        let _ = far.tell(Count::Add(1));
        until("all are confirmed", || here.unconfirmed() == 0);
        here.close();
        assert_eq!(far.lost(), 0);
    });
}

#[test]
fn a_sender_waits_for_room_at_the_other_side() {
    on_each(|pair| {
        let gate = gate(2, Overflow::Wait);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&gate.address));
        let far = here.root::<u64>();
        let early = fill(&here, &far);
        let refused = far.try_tell(7).unwrap_err();
        assert_eq!((refused.why(), refused.into_inner()), (Refusal::Full, 7));
        let refused = far.tell_timeout(7, Duration::from_millis(10)).unwrap_err();
        assert!(refused.is_full());
        let told = std::thread::spawn({
            let far = far.clone();
            move || far.tell(8)
        });
        for _ in 0..early {
            gate.open.send(()).unwrap();
        }
        told.join().unwrap().unwrap();
        gate.open.send(()).unwrap();
        let passed: Vec<_> = gate.passed.iter().take(early as usize + 1).collect();
        assert_eq!(passed.last(), Some(&8));
        until("all are confirmed", || here.unconfirmed() == 0);
        // It never comes above its limit by more than the window.
        let level = gate.address.level().unwrap();
        assert!(level.high_water <= early as usize + 2, "{level:?}");
        here.close();
        assert_eq!(gate.address.lost(), 0);
    });
}

#[test]
fn a_task_waits_for_room_at_the_other_side() {
    let gate = gate(1, Overflow::Wait);
    on_each(|pair| {
        let (here, _there) = pair(Link::builder(), Link::builder().root(&gate.address));
        let far = here.root::<u64>();
        let early = fill(&here, &far);
        let told = std::thread::spawn({
            let far = far.clone();
            move || block_on(far.tell_async(9))
        });
        for _ in 0..=early {
            gate.open.send(()).unwrap();
        }
        assert!(told.join().unwrap().is_ok());
        let passed: Vec<_> = gate.passed.iter().take(early as usize + 1).collect();
        assert_eq!(passed.last(), Some(&9));
        here.close();
    });
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        let mut context = std::task::Context::from_waker(&waker);
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::park();
    }
}

#[test]
fn an_actor_that_sends_beyond_the_window_is_muted_and_goes_on() {
    on_each(|pair| {
        let gate = gate(2, Overflow::Wait);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&gate.address));
        let far = here.root::<u64>();
        let early = fill(&here, &far);
        let pool = Pool::with_threads(1);
        let (note, noted) = mpsc::channel();
        let sender = pool.spawn_fn(move |number: u64, _| {
            far.tell(number).unwrap();
            note.send(number).unwrap();
        });
        for number in 1..=3 {
            sender.tell(number).unwrap();
        }
        // Its handler does not wait, and then it has no further turn before there is room.
        assert_eq!(noted.recv(), Ok(1));
        assert!(noted.recv_timeout(Duration::from_millis(20)).is_err());
        for _ in 0..early + 3 {
            gate.open.send(()).unwrap();
        }
        assert_eq!(noted.iter().take(2).collect::<Vec<_>>(), [2, 3]);
        let passed: Vec<_> = gate.passed.iter().take(early as usize + 3).collect();
        assert!(passed.ends_with(&[1, 2, 3]), "{passed:?}");
        here.close();
    });
}

#[test]
fn what_a_lost_link_had_in_hand_is_lost_in_the_open() {
    on_each(|pair| {
        let gate = gate(usize::MAX, Overflow::Fail);
        let (here, there) = pair(Link::builder(), Link::builder().root(&gate.address));
        let far = here.root::<u64>();
        let (_watch, letters) = letters_of(&far);
        for number in 0..5 {
            far.tell(number).unwrap();
        }
        gate.open.send(()).unwrap();
        gate.open.send(()).unwrap();
        assert_eq!(gate.passed.iter().take(2).collect::<Vec<_>>(), [0, 1]);
        until("all are on their way", || here.kept().outgoing == 0);
        let mut end = far.end();
        there.close();
        // Told behind all that is lost with it.
        until("it is lost", || end.wait_timeout(Duration::ZERO).is_some());
        let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
        // Of one batch nothing is confirmed before all of it is done with.
        assert!((3..=5).contains(&whys.len()), "{whys:?}");
        assert!(whys.iter().all(|why| *why == Loss::FateUnknown), "{whys:?}");
        assert_eq!(far.lost(), whys.len() as u64);
        assert_eq!(here.unconfirmed(), 0);
    });
}
