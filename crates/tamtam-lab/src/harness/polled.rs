//! A handover by looking at two places in a loop.

use std::hint::spin_loop;

use crate::{End, GetLatest, Handover, Latest, SetLatest};

/// The handover through two places of the latest value, one for each direction, which are looked at in a tight loop until
/// they have changed. Only strict turns can use it: what was not read is overwritten.
#[derive(Debug, Clone, Copy)]
pub struct Polled<L>(pub L);

impl<M, L> Handover<M> for Polled<L>
where
    M: Default + Send + 'static,
    L: Latest<(u64, M)>,
{
    type End = PolledEnd<L::Writer, L::Reader>;

    fn connect(&self) -> (Self::End, Self::End) {
        let (to_far, from_near) = self.0.open((0, M::default()));
        let (to_near, from_far) = self.0.open((0, M::default()));
        (
            PolledEnd::new(to_far, from_far),
            PolledEnd::new(to_near, from_near),
        )
    }
}

/// The end of a [`Polled`] handover.
#[derive(Debug)]
pub struct PolledEnd<W, R> {
    writer: W,
    reader: R,
    sent: u64,
    seen: u64,
}

impl<W, R> PolledEnd<W, R> {
    fn new(writer: W, reader: R) -> Self {
        PolledEnd {
            writer,
            reader,
            sent: 0,
            seen: 0,
        }
    }
}

impl<M, W, R> End<M> for PolledEnd<W, R>
where
    W: SetLatest<(u64, M)>,
    R: GetLatest<(u64, M)>,
{
    fn send(&mut self, message: M) {
        self.sent += 1;
        self.writer.set((self.sent, message));
    }

    fn receive(&mut self) -> M {
        loop {
            let (version, message) = self.reader.get();
            if version != self.seen {
                self.seen = version;
                return message;
            }
            spin_loop();
        }
    }
}
