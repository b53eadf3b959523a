//! Models of what an actor gets from its own thread, beside what others send.

use std::sync::Mutex as Unlocked;

use super::*;
use crate::actor::Actor;
use crate::address::Address;
use crate::context::Context;
use crate::models::Gate;

/// What an actor is told to do, and what it is told to note.
enum Step {
    Note(u32),
    Stop,
    /// Keeps messages back until the gate is open.
    Hold,
}

/// What became of messages. Not loom's counts: they add nothing to what threads know of each other.
#[derive(Default)]
struct Noted {
    order: Unlocked<Vec<u32>>,
    gone: Flag,
}

impl Noted {
    fn order(&self) -> Vec<u32> {
        // All turns are on one thread, so this never waits.
        self.order.try_lock().unwrap().clone()
    }
}

struct Noting(Arc<Noted>, Gate);

impl Actor for Noting {
    type Message = Step;

    fn handle(&mut self, step: Step, cx: &mut Context<Self>) {
        match step {
            Step::Note(number) => self.0.order.try_lock().unwrap().push(number),
            Step::Stop => cx.stop(),
            Step::Hold => cx.hold(self.1.clone(), |this, (), _| {
                this.0.order.try_lock().unwrap().push(100);
            }),
        }
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        self.0.gone.store(true, Relaxed);
    }
}

/// As `model`, for one of more steps than are allowed otherwise.
fn long_model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 5_000;
    builder.check(program);
}

/// A line that this thread keeps, with an actor that has had its turn at birth.
fn begin() -> (Arc<Line>, Address<Step>, Arc<Noted>, Gate) {
    let line = Arc::new(Line::new(Wait::Adaptive, true, None));
    line.keep();
    let (noted, gate) = (Arc::new(Noted::default()), Gate::new());
    let actor =
        Spawner::<FrameHandle>::on_line(&line).spawn(Noting(Arc::clone(&noted), gate.clone()));
    while pump(&line) {}
    (line, actor, noted, gate)
}

fn pump(line: &Line) -> bool {
    let allowed = Allowed {
        time: None,
        messages: None,
    };
    // SAFETY: this thread is the keeper: it has made the line and pumps it alone.
    unsafe { line.pump(&allowed) }.1
}

fn pump_until(line: &Line, is_done: impl Fn() -> bool) {
    while pump(line) || !is_done() {
        thread::yield_now();
    }
}

fn end(line: &Line) {
    // How a line ends has models of its own.
    loom::stop_exploring();
    // SAFETY: this thread is the keeper, and no turn is under way.
    unsafe { line.end() };
}

#[test]
fn loom_own_messages_beside_those_of_another_thread_are_handled_in_order() {
    model(2, || {
        let (line, actor, noted, _) = begin();
        let other = {
            let actor = actor.clone();
            thread::spawn(move || {
                actor.tell(Step::Note(11)).unwrap();
                actor.tell(Step::Note(12)).unwrap();
            })
        };
        actor.tell(Step::Note(1)).unwrap();
        pump(&line);
        actor.tell(Step::Note(2)).unwrap();
        actor.tell(Step::Note(3)).unwrap();
        other.join().unwrap();
        pump_until(&line, || noted.order().len() == 5);
        let order = noted.order();
        let of = |all: &[u32]| -> Vec<u32> {
            let of = order.iter().filter(|number| all.contains(number));
            of.copied().collect()
        };
        assert_eq!(of(&[1, 2, 3]), [1, 2, 3]);
        assert_eq!(of(&[11, 12]), [11, 12]);
        assert!(!pump(&line));
        end(&line);
        assert_eq!(actor.lost(), 0);
    });
}

/// What the actor's own thread has sent, and then told another one of, comes before what that one sends.
#[test]
fn loom_an_own_message_comes_before_what_it_has_led_to() {
    model(3, || {
        let (line, actor, noted, _) = begin();
        actor.tell(Step::Note(1)).unwrap();
        let other = {
            let actor = actor.clone();
            thread::spawn(move || actor.tell(Step::Note(11)).unwrap())
        };
        actor.tell(Step::Note(2)).unwrap();
        pump(&line);
        other.join().unwrap();
        pump_until(&line, || noted.order().len() == 3);
        let order = noted.order();
        assert_eq!(order[0], 1, "{order:?}");
        end(&line);
    });
}

#[test]
fn loom_a_stop_in_an_own_turn_against_another_sender() {
    model(3, || {
        let (line, actor, noted, _) = begin();
        let other = {
            let actor = actor.clone();
            thread::spawn(move || u32::from(actor.tell(Step::Note(11)).is_err()))
        };
        actor.tell(Step::Stop).unwrap();
        actor.tell(Step::Note(1)).unwrap();
        pump(&line);
        let refused = other.join().unwrap();
        pump_until(&line, || noted.gone.load(Relaxed));
        assert!(actor.is_stopped());
        assert!(actor.tell(Step::Note(2)).is_err());
        let handled = noted.order().len() as u64;
        assert_eq!(handled + actor.lost() + u64::from(refused), 2);
        end(&line);
        drop(actor);
        // No turn and no cell has the line any more.
        assert_eq!(Arc::strong_count(&line), 1);
    });
}

/// Messages are kept back in an own turn, while another thread sends, and opens the gate.
#[test]
fn loom_a_hold_in_an_own_turn_against_another_sender() {
    long_model(2, || {
        let (line, actor, noted, gate) = begin();
        let other = {
            let actor = actor.clone();
            thread::spawn(move || {
                actor.tell(Step::Note(11)).unwrap();
                gate.open();
            })
        };
        actor.tell(Step::Hold).unwrap();
        actor.tell(Step::Note(1)).unwrap();
        pump(&line);
        other.join().unwrap();
        pump_until(&line, || noted.order().len() == 3);
        let order = noted.order();
        let place = |number| order.iter().position(|it| *it == number).unwrap();
        assert!(place(100) < place(1), "{order:?}");
        end(&line);
        assert_eq!(actor.lost(), 0);
    });
}

/// The last address goes on another thread, after it was sent by, while an own turn is due.
#[test]
fn loom_the_last_address_goes_while_an_own_turn_is_due() {
    model(3, || {
        let (line, actor, noted, _) = begin();
        // It keeps the cell until both threads are through: loom does not see that the counts of an `Arc` order them.
        let kept = actor.place();
        actor.tell(Step::Note(1)).unwrap();
        let other = thread::spawn(move || {
            actor.tell(Step::Note(11)).unwrap();
            drop(actor);
        });
        pump(&line);
        other.join().unwrap();
        pump_until(&line, || noted.gone.load(Relaxed));
        assert_eq!(noted.order(), [1, 11]);
        end(&line);
        drop(kept);
        assert_eq!(Arc::strong_count(&line), 1);
    });
}
