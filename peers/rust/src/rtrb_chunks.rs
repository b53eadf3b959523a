use ::rtrb::chunks::ChunkError;
use ::rtrb::{Consumer, Producer, RingBuffer};
use tamtam_lab::{
    BatchQueue, Card, Contender, Measure, PostMany, RetrieveMany, StdGate, grid, offer::Kind, post,
    stream,
};

use crate::insist::insist;

/// The ring buffer of the crate `rtrb`, written and read in chunks. It cannot wait; here it spins for a moment and then
/// yields, for as long as it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RtrbChunks;

impl Contender for RtrbChunks {
    fn card(&self) -> Card {
        Card {
            name: "rtrb-chunks",
            version: env!("VERSION_OF_RTRB"),
            ours: false,
            about: "rtrb's ring for one sender and one receiver, both in chunks of up to 256; it cannot wait: spins 32 \
                    times, then yields for ever",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = post::batched::<_, StdGate>(*self);
        measures.extend(stream::batched(*self));
        measures.extend(grid::batches_by_value(*self, Kind::Bounded));
        measures
    }
}

impl<M: Copy + Send + 'static> BatchQueue<M> for RtrbChunks {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (producer, consumer) = RingBuffer::new(capacity);
        (Sending(producer), Receiving(consumer))
    }
}

#[derive(Debug)]
pub(crate) struct Sending<M>(Producer<M>);

impl<M: Copy + Send + 'static> PostMany<M> for Sending<M> {
    fn send_many(&mut self, mut messages: impl ExactSizeIterator<Item = M>) {
        while messages.len() > 0 {
            // Asking for what is wanted looks at the other side's index only if it must; `slots` does so every time.
            let room = match self.0.write_chunk_uninit(messages.len()) {
                Ok(chunk) => {
                    chunk.fill_from_iter(&mut messages);
                    return;
                }
                Err(ChunkError::TooFewSlots(0)) => insist(|| {
                    let room = self.0.slots();
                    (room > 0).then_some(room)
                }),
                Err(ChunkError::TooFewSlots(room)) => room,
            };
            let chunk = self
                .0
                .write_chunk_uninit(room.min(messages.len()))
                .expect("there is room");
            chunk.fill_from_iter(&mut messages);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Consumer<M>);

impl<M: Copy + Send + 'static> RetrieveMany<M> for Receiving<M> {
    fn receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
        insist(|| {
            self.try_receive_many(buffer, limit);
            (!buffer.is_empty()).then_some(())
        });
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
        let chunk = match self.0.read_chunk(limit) {
            Ok(chunk) => chunk,
            Err(ChunkError::TooFewSlots(0)) => return,
            Err(ChunkError::TooFewSlots(there)) => {
                self.0.read_chunk(there).expect("they are there")
            }
        };
        let (first, second) = chunk.as_slices();
        buffer.extend_from_slice(first);
        buffer.extend_from_slice(second);
        chunk.commit_all();
    }
}
