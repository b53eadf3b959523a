//! How the bodies of `post` move their packets: one by one through a [`Queue`], or many at a time through a
//! [`BatchQueue`].
//!
//! The bodies are written once, over [`Flow`]; what differs is here.

use std::ops::Range;

use crate::{BatchQueue, Failure, Packet, Post, PostMany, Queue, Retrieve, RetrieveMany};

/// How many messages a batch has at most where its way can limit it: few enough that they stay in the nearest cache.
pub(crate) const BATCH: usize = 256;

/// A way of moving packets, as the bodies see it.
pub(crate) trait Flow<P>: Copy + 'static {
    /// The sending side.
    type Feed: Feed<P>;
    /// The receiving side.
    type Draw: Draw<P>;

    /// A fresh queue, for `capacity` messages if it is bounded.
    fn open(&self, capacity: usize) -> (Self::Feed, Self::Draw);
}

/// The sending side of a [`Flow`].
pub(crate) trait Feed<P>: Send + 'static {
    /// Sends the packets of `sender` with these numbers, and waits as long as the queue is full.
    fn feed(&mut self, sender: u64, numbers: Range<u64>);
}

/// The receiving side of a [`Flow`].
pub(crate) trait Draw<P>: Send + 'static {
    /// Receives, waiting if need be, until `accept` says that it has enough by `false`.
    ///
    /// # Errors
    /// Those of `accept`.
    fn draw(&mut self, accept: impl FnMut(&P) -> Result<bool, Failure>) -> Result<(), Failure>;

    /// Whether a message is there that is not waited for.
    fn has_more(&mut self) -> bool;
}

/// A queue used one message at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneByOne<Q>(pub(crate) Q);

impl<P: Packet, Q: Queue<P>> Flow<P> for OneByOne<Q> {
    type Feed = Singly<Q::Sender>;
    type Draw = Singly<Q::Receiver>;

    fn open(&self, capacity: usize) -> (Self::Feed, Self::Draw) {
        let (sender, receiver) = self.0.open(capacity);
        (Singly(sender), Singly(receiver))
    }
}

/// One end of a queue that is used one message at a time.
#[derive(Debug, Clone)]
pub(crate) struct Singly<S>(pub(crate) S);

impl<P: Packet, S: Post<P>> Feed<P> for Singly<S> {
    fn feed(&mut self, sender: u64, numbers: Range<u64>) {
        for number in numbers {
            self.0.send(P::new(sender, number));
        }
    }
}

impl<P: Packet, R: Retrieve<P>> Draw<P> for Singly<R> {
    fn draw(&mut self, mut accept: impl FnMut(&P) -> Result<bool, Failure>) -> Result<(), Failure> {
        while accept(&self.0.receive())? {}
        Ok(())
    }

    fn has_more(&mut self) -> bool {
        self.0.try_receive().is_some()
    }
}

/// A queue used in batches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InBatches<Q>(pub(crate) Q);

impl<P: Packet, Q: BatchQueue<P>> Flow<P> for InBatches<Q> {
    type Feed = BatchFeed<Q::Sender>;
    type Draw = BatchDraw<P, Q::Receiver>;

    fn open(&self, capacity: usize) -> (Self::Feed, Self::Draw) {
        let (sender, receiver) = self.0.open(capacity);
        (BatchFeed(sender), BatchDraw::new(receiver))
    }
}

/// The sending side of batches.
#[derive(Debug, Clone)]
pub(crate) struct BatchFeed<S>(pub(crate) S);

impl<P: Packet, S: PostMany<P>> Feed<P> for BatchFeed<S> {
    fn feed(&mut self, sender: u64, numbers: Range<u64>) {
        let mut first = numbers.start;
        while first < numbers.end {
            let count = (numbers.end - first).min(BATCH as u64);
            // Over usize, of which a range knows its length.
            self.0
                .send_many((0..count as usize).map(|place| P::new(sender, first + place as u64)));
            first += count;
        }
    }
}

/// The receiving side of batches, with what it has taken and not yet looked at.
#[derive(Debug)]
pub(crate) struct BatchDraw<P, R> {
    receiver: R,
    taken: Vec<P>,
    // How many of the taken ones were looked at.
    seen: usize,
}

impl<P, R> BatchDraw<P, R> {
    pub(crate) fn new(receiver: R) -> Self {
        BatchDraw {
            receiver,
            taken: Vec::with_capacity(BATCH),
            seen: 0,
        }
    }
}

impl<P: Packet, R: RetrieveMany<P>> Draw<P> for BatchDraw<P, R> {
    fn draw(&mut self, mut accept: impl FnMut(&P) -> Result<bool, Failure>) -> Result<(), Failure> {
        loop {
            for packet in &self.taken[self.seen..] {
                self.seen += 1;
                if !accept(packet)? {
                    return Ok(());
                }
            }
            self.taken.clear();
            self.seen = 0;
            self.receiver.receive_many(&mut self.taken, BATCH);
            if self.taken.is_empty() {
                return Err(Failure::Unverified(
                    "a wait for messages ended without one".to_owned(),
                ));
            }
        }
    }

    fn has_more(&mut self) -> bool {
        if self.seen == self.taken.len() {
            self.taken.clear();
            self.seen = 0;
            self.receiver.try_receive_many(&mut self.taken, BATCH);
        }
        self.seen < self.taken.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::Packet16;

    /// Gives out batches of the given sizes, the last one when asked without waiting.
    struct Batches {
        sizes: VecDeque<usize>,
        next: u64,
    }

    impl RetrieveMany<Packet16> for Batches {
        fn receive_many(&mut self, buffer: &mut Vec<Packet16>, _limit: usize) {
            assert!(buffer.is_empty(), "it is the drive's to empty the buffer");
            for _ in 0..self.sizes.pop_front().unwrap_or(0) {
                buffer.push(Packet16::new(0, self.next));
                self.next += 1;
            }
        }

        fn try_receive_many(&mut self, buffer: &mut Vec<Packet16>, limit: usize) {
            self.receive_many(buffer, limit);
        }
    }

    fn draw(batches: &mut BatchDraw<Packet16, Batches>, count: u64) -> Result<Vec<u64>, Failure> {
        let mut numbers = Vec::new();
        batches.draw(|packet| {
            numbers.push(packet.open().unwrap().1);
            Ok(numbers.len() < count as usize)
        })?;
        Ok(numbers)
    }

    #[test]
    fn what_was_taken_beyond_the_wish_is_seen_next() {
        let mut batches = BatchDraw::new(Batches {
            sizes: [3, 4, 1].into(),
            next: 0,
        });
        assert_eq!(draw(&mut batches, 5).unwrap(), [0, 1, 2, 3, 4]);
        assert!(batches.has_more());
        assert_eq!(draw(&mut batches, 2).unwrap(), [5, 6]);
        assert!(batches.has_more(), "one is left in the queue");
        assert_eq!(draw(&mut batches, 1).unwrap(), [7]);
        assert!(!batches.has_more());
    }

    #[test]
    fn a_wait_that_brings_nothing_is_noticed() {
        let mut batches = BatchDraw::new(Batches {
            sizes: [1, 0].into(),
            next: 0,
        });
        let failure = draw(&mut batches, 2).unwrap_err();
        assert!(failure.to_string().contains("without one"), "{failure}");
    }

    #[test]
    fn a_feed_in_batches_sends_every_number_once() {
        struct Sizes(Vec<usize>, Vec<u64>);
        impl PostMany<Packet16> for Sizes {
            fn send_many(&mut self, messages: impl ExactSizeIterator<Item = Packet16>) {
                self.0.push(messages.len());
                self.1
                    .extend(messages.map(|packet| packet.open().unwrap().1));
            }
        }
        let mut feed = BatchFeed(Sizes(Vec::new(), Vec::new()));
        feed.feed(0, 10..10 + 2 * BATCH as u64 + 5);
        assert_eq!(feed.0.0, [BATCH, BATCH, 5]);
        assert!(feed.0.1.into_iter().eq(10..10 + 2 * BATCH as u64 + 5));
    }
}
