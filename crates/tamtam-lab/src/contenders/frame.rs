//! Our actors in a loop of the thread that measures.

use std::thread;
use std::time::{Duration, Instant};

use tamtam_actor::{Actor, Address, Budget, Frame};
use tamtam_channel::Latch;

use super::home::Home;
use super::players::Players;
use super::{VERSION, asked};
use crate::ask::{Ask, Asker, Origin, Teller};
use crate::{Card, Contender, Measure, Part, Troupe, grid};

/// Actors in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorsInFrame;

impl Contender for ActorsInFrame {
    fn card(&self) -> Card {
        Card {
            name: "frame",
            version: VERSION,
            ours: true,
            about: "actors in a frame, which the thread that measures pumps",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = grid::actors(*self, false);
        measures.extend(grid::asks(*self, &[Origin::Handler, Origin::Thread], false));
        measures
    }
}

/// How long a frame without mail waits before it looks again whether it is done.
const LOOK: Duration = Duration::from_millis(1);

/// Pumps until `is_done`, or until `patience` is over.
fn pump(frame: &mut Frame, patience: Duration, is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() && begin.elapsed() < patience {
        let pumped = frame.pump(Budget::unlimited());
        if !pumped.left && !is_done() {
            frame.wait(LOOK);
        }
    }
}

impl Home for Frame {
    fn spawn<A: Actor + Send>(&mut self, actor: A) -> Address<A::Message> {
        Frame::spawn(self, actor)
    }

    fn wait(&mut self, latch: &Latch, patience: Duration) {
        pump(self, patience, || latch.is_open());
    }
}

impl Troupe for ActorsInFrame {
    type Stage<P: Part> = Players<Frame, P>;

    fn open<P: Part>(&self, _threads: usize) -> Players<Frame, P> {
        Players::at(Frame::new())
    }
}

/// Lets `ask` run in a thread of its own while the calling one pumps.
fn beside<R: Send>(frame: &mut Frame, ask: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let asking = scope.spawn(ask);
        pump(frame, Duration::MAX, || asking.is_finished());
        asking.join().expect("the asking thread does not panic")
    })
}

impl Ask for ActorsInFrame {
    fn ask(&self, origin: Origin, _threads: usize, asker: Asker) -> Asker {
        let mut frame = Frame::new();
        let server = asked::server(&mut frame);
        match origin {
            Origin::Handler => {
                let asking = asked::asking_actor(&mut frame, server);
                beside(&mut frame, move || asked::let_ask(&asking, asker))
            }
            Origin::OtherPool | Origin::Thread | Origin::Task => {
                beside(&mut frame, move || asked::from_thread(&server, asker))
            }
        }
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let mut frame = Frame::new();
        let server = asked::server(&mut frame);
        beside(&mut frame, || asked::tell(&server, teller));
    }
}
