use std::hint::spin_loop;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tamtam_lab::{Card, Contender, End, Handover, Measure, turns};

use crate::plain::{Plain, Words};

/// The limit: flag and payload of both directions in one cache line, and nothing but spinning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BareSpin;

impl Contender for BareSpin {
    fn card(&self) -> Card {
        Card {
            name: "bare-spin",
            version: env!("VERSION_OF_RUST"),
            ours: false,
            about: "a flag and the payload in one cache line, both sides spinning: the limit on two cores",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        turns::measures(*self)
    }
}

/// Whose message is in the line; nobody's at first.
const NOBODY: u32 = 0;
const NEAR: u32 = 1;
const FAR: u32 = 2;

// 128: some processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Line {
    sender: AtomicU32,
    words: Words,
}

impl<M: Plain> Handover<M> for BareSpin {
    type End = SpinEnd<M>;

    fn connect(&self) -> (SpinEnd<M>, SpinEnd<M>) {
        let line = Arc::new(Line {
            sender: AtomicU32::new(NOBODY),
            words: Words::default(),
        });
        (
            SpinEnd {
                line: Arc::clone(&line),
                me: NEAR,
                other: FAR,
                message: PhantomData,
            },
            SpinEnd {
                line,
                me: FAR,
                other: NEAR,
                message: PhantomData,
            },
        )
    }
}

/// One side of the line. Only strict turns can use it: what nobody has read is overwritten.
#[derive(Debug)]
pub(crate) struct SpinEnd<M> {
    line: Arc<Line>,
    me: u32,
    other: u32,
    message: PhantomData<fn() -> M>,
}

impl<M: Plain> End<M> for SpinEnd<M> {
    fn send(&mut self, message: M) {
        self.line.words.write(message);
        // Pairs with the acquire load in `receive` of the other side.
        self.line.sender.store(self.me, Ordering::Release);
    }

    fn receive(&mut self) -> M {
        while self.line.sender.load(Ordering::Acquire) != self.other {
            spin_loop();
        }
        self.line.words.read()
    }
}
