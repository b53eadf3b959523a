use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;
use tamtam_lab::{Card, Contender, End, Handover, Measure, crowd, idle, sparse, turns};

use crate::plain::{Plain, Words};

/// A state word with the payload beside it, and the system's futex to wait on the word: no spinning at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BareFutex;

impl Contender for BareFutex {
    fn card(&self) -> Card {
        Card {
            name: "bare-futex",
            version: env!("VERSION_OF_RUST"),
            ours: false,
            about: "a state word and the payload each way, asleep on the futex at once; wakes only who sleeps",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.extend(sparse::measures(*self));
        measures.push(crowd::measure(*self));
        measures.push(idle::measure(*self));
        measures
    }
}

/// The place is empty.
const EMPTY: u32 = 0;
/// The place is full.
const FULL: u32 = 1;
/// The place is empty and the receiver sleeps.
const EMPTY_AWAITED: u32 = 2;
/// The place is full and the sender sleeps.
const FULL_AWAITED: u32 = 3;

// 128: some processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Place {
    state: AtomicU32,
    words: Words,
}

impl Place {
    /// Sleeps until the state is neither `unwanted` nor `awaited`; says `awaited` before it sleeps.
    fn wait_while(&self, unwanted: u32, awaited: u32) {
        loop {
            // Pairs with the swap in `turn`.
            match self.state.load(Ordering::Acquire) {
                state if state == unwanted => {
                    // A failure means that the other side was faster: look again.
                    let _ = self.state.compare_exchange(
                        unwanted,
                        awaited,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                }
                state if state == awaited => {
                    // Any error means that the state has changed or a signal came: look again.
                    let _ = futex::wait(&self.state, futex::Flags::PRIVATE, awaited, None);
                }
                _ => return,
            }
        }
    }

    /// Goes on to `state`, and wakes the other side if it sleeps, which `awaited` says.
    fn turn(&self, state: u32, awaited: u32) {
        if self.state.swap(state, Ordering::AcqRel) == awaited {
            futex::wake(&self.state, futex::Flags::PRIVATE, 1).expect("the address is valid");
        }
    }
}

impl<M: Plain> Handover<M> for BareFutex {
    type End = FutexEnd<M>;

    fn connect(&self) -> (FutexEnd<M>, FutexEnd<M>) {
        let [there, back] = [(), ()].map(|()| {
            Arc::new(Place {
                state: AtomicU32::new(EMPTY),
                words: Words::default(),
            })
        });
        (
            FutexEnd {
                outgoing: Arc::clone(&there),
                incoming: Arc::clone(&back),
                message: PhantomData,
            },
            FutexEnd {
                outgoing: back,
                incoming: there,
                message: PhantomData,
            },
        )
    }
}

/// One side's two places.
#[derive(Debug)]
pub(crate) struct FutexEnd<M> {
    outgoing: Arc<Place>,
    incoming: Arc<Place>,
    message: PhantomData<fn() -> M>,
}

impl<M: Plain> End<M> for FutexEnd<M> {
    fn send(&mut self, message: M) {
        self.outgoing.wait_while(FULL, FULL_AWAITED);
        self.outgoing.words.write(message);
        self.outgoing.turn(FULL, EMPTY_AWAITED);
    }

    fn receive(&mut self) -> M {
        self.incoming.wait_while(EMPTY, EMPTY_AWAITED);
        let message = self.incoming.words.read();
        self.incoming.turn(EMPTY, FULL_AWAITED);
        message
    }
}
