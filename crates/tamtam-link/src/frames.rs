//! Frames one behind the other, as they go over a link, from which they are taken in the order in which they came.
//!
//! They lie in blocks, so that to keep one is to append its bytes, and to write many is to copy their bytes.

use std::collections::VecDeque;

use crate::frame::{
    Body, For, Frame, LENGTH, PLAIN_HEAD, ROOT, is_message, plain_head, plain_message, read_body,
};

/// No frame is appended to a block beyond so many bytes, unless it is the block's first.
const LONGEST_BLOCK: usize = 16 << 10;

/// Frames with their lengths, the oldest first; few of them have something beside them that is no bytes.
pub(crate) struct Frames<A> {
    blocks: VecDeque<Block>,
    /// What is beside frames, with their numbers, in their order.
    beside: VecDeque<(u64, A)>,
    /// The number of the first frame: so many were before it.
    first: u64,
    /// So many blocks were given back. At 2^64 there was one a nanosecond for 500 years.
    gone: u64,
    /// Where the first frame begins in the first block, but for those that were [discarded](Frames::discard).
    start: usize,
    /// So many frames from there on were discarded; fewer than are in the first block.
    discarded: usize,
    len: usize,
    /// The memory of a block that was given back, for the next.
    spare: Vec<u8>,
}

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// So many frames begin at the start of the block, or of what is left of it.
    frames: usize,
}

/// Where a frame begins, or the next one will.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    block: u64,
    at: usize,
}

/// The frame that begins these bytes, with its length, if there is one.
fn first_of(bytes: &[u8]) -> Option<&[u8]> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    bytes.get(..LENGTH + length)
}

impl<A> Default for Frames<A> {
    fn default() -> Self {
        Frames {
            blocks: VecDeque::new(),
            beside: VecDeque::new(),
            first: 0,
            gone: 0,
            start: 0,
            discarded: 0,
            len: 0,
            spare: Vec::new(),
        }
    }
}

impl<A> Frames<A> {
    /// Appends a frame, which with its length takes so many bytes at most.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, most: usize) {
        frame.write(&mut self.room(most).bytes);
        self.len += 1;
    }

    /// Appends a message to the root, with what is beside it.
    pub(crate) fn push_message(&mut self, body: &Body<'_>, beside: Option<A>) {
        self.put_beside(beside);
        body.write_message(ROOT, &mut self.room(LENGTH + body.most()).bytes);
        self.len += 1;
    }

    fn put_beside(&mut self, beside: Option<A>) {
        if let Some(beside) = beside {
            let number = self.end();
            self.beside.push_back((number, beside));
        }
    }

    /// What is beside the frame before which there are so many.
    pub(crate) fn beside(&self, before: usize) -> Option<&A> {
        if self.beside.is_empty() {
            return None;
        }
        let number = self.first + before as u64;
        let found = self
            .beside
            .binary_search_by_key(&number, |(number, _)| *number);
        found.ok().map(|place| &self.beside[place].1)
    }

    /// What is beside frames, in their order.
    pub(crate) fn all_beside(&self) -> impl Iterator<Item = &A> {
        self.beside.iter().map(|(_, beside)| beside)
    }

    /// Takes what is beside the oldest frame.
    pub(crate) fn take_beside(&mut self) -> Option<A> {
        self.take_beside_if(|number, first| number == first)
    }

    fn take_beside_if(&mut self, is_due: impl Fn(u64, u64) -> bool) -> Option<A> {
        let (number, _) = self.beside.front()?;
        if !is_due(*number, self.first) {
            return None;
        }
        self.beside.pop_front().map(|(_, beside)| beside)
    }

    /// Appends a frame that was read, from its bytes without the length, with what is beside it.
    pub(crate) fn push_bytes(&mut self, frame: &[u8], beside: Option<A>) {
        self.put_beside(beside);
        let room = &mut self.room(LENGTH + frame.len()).bytes;
        room.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        room.extend_from_slice(frame);
        self.len += 1;
    }

    /// Appends a message to the root that has nothing beside it.
    pub(crate) fn push_plain(&mut self, payload: &[u8]) {
        let room = &mut self.room(PLAIN_HEAD + payload.len()).bytes;
        room.extend_from_slice(&plain_head(payload.len()));
        room.extend_from_slice(payload);
        self.len += 1;
    }

    /// A block for one more frame, of so many bytes.
    fn room(&mut self, most: usize) -> &mut Block {
        let fits = |block: &Block| {
            let length = block.bytes.len();
            length == 0 || length + most <= LONGEST_BLOCK
        };
        if !self.blocks.back().is_some_and(fits) {
            let mut bytes = std::mem::take(&mut self.spare);
            if most > LONGEST_BLOCK {
                bytes.reserve_exact(most);
            }
            self.blocks.push_back(Block { bytes, frames: 0 });
        }
        match self.blocks.back_mut() {
            Some(block) => {
                block.frames += 1;
                block
            }
            None => unreachable!("there is one now"),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of the oldest frame, or of the next one if there is none: those before it are gone.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number of the frame that is appended next.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.len as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn start(&self) -> Place {
        Place {
            block: self.gone,
            at: self.start,
        }
    }

    /// The frame at this place with its length, behind which the place then is; one that is gone stands for the first.
    pub(crate) fn next(&self, place: &mut Place) -> Option<&[u8]> {
        *place = (*place).max(self.start());
        let index = usize::try_from(place.block - self.gone).ok()?;
        let block = self.blocks.get(index)?;
        if let Some(frame) = first_of(&block.bytes[place.at..]) {
            place.at += frame.len();
            return Some(frame);
        }
        // The last block may grow behind the place.
        let frame = first_of(&self.blocks.get(index + 1)?.bytes)?;
        *place = Place {
            block: place.block + 1,
            at: frame.len(),
        };
        Some(frame)
    }

    /// The oldest frame.
    pub(crate) fn front(&self) -> Option<KeptFrame<'_>> {
        self.iter().next()
    }

    /// Gives back the oldest frame.
    pub(crate) fn pop_front(&mut self) {
        self.discard(1, &mut Vec::new());
        self.find_start();
    }

    /// Gives back the oldest frames, of which there are so many at least, and what is beside them. How many bytes were freed by that: those
    /// of whole blocks.
    pub(crate) fn discard(&mut self, frames: usize, beside: &mut Vec<A>) -> usize {
        self.len -= frames;
        self.first += frames as u64;
        while let Some(gone) = self.take_beside_if(|number, first| number < first) {
            beside.push(gone);
        }
        self.discarded += frames;
        let mut freed = 0;
        while let Some(block) = self.blocks.front()
            && block.frames <= self.discarded
        {
            self.discarded -= block.frames;
            freed += block.bytes.len();
            self.start = 0;
            self.gone += 1;
            let block = self.blocks.pop_front().unwrap_or_default();
            // Its memory is for the next one, unless a large frame has taken it.
            if block.bytes.capacity() <= 2 * LONGEST_BLOCK {
                self.spare = block.bytes;
                self.spare.clear();
            }
        }
        freed
    }

    /// So many bytes of frames that are gone are freed with the first block.
    pub(crate) fn unfreed(&self) -> usize {
        self.start
    }

    /// Finds the first frame behind those that were discarded: to be called before frames are read from the first one on.
    pub(crate) fn find_start(&mut self) {
        if let Some(block) = self.blocks.front_mut() {
            block.frames -= self.discarded;
            for _ in 0..std::mem::take(&mut self.discarded) {
                let frame = first_of(&block.bytes[self.start..]);
                self.start += frame.map_or(0, <[u8]>::len);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = KeptFrame<'_>> {
        let mut place = self.start();
        std::iter::from_fn(move || {
            self.next(&mut place)
                .map(|frame| KeptFrame(&frame[LENGTH..]))
        })
    }

    /// Moves all frames of another one behind these.
    pub(crate) fn append(&mut self, other: &mut Self) {
        other.find_start();
        let (end, first) = (self.end(), other.first);
        let beside = other.beside.drain(..);
        let moved = beside.map(|(number, beside)| (end + (number - first), beside));
        self.beside.extend(moved);
        other.first += other.len as u64;
        if let Some(first) = other.blocks.front_mut() {
            first.bytes.drain(..std::mem::take(&mut other.start));
        }
        self.len += std::mem::take(&mut other.len);
        other.gone += other.blocks.len() as u64;
        self.blocks.append(&mut other.blocks);
    }
}

/// A frame that was written here, or read before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptFrame<'a>(&'a [u8]);

impl<'a> KeptFrame<'a> {
    pub(crate) fn is_message(self) -> bool {
        is_message(self.0)
    }

    pub(crate) fn read(self) -> Frame<'a> {
        match Frame::read(self.0) {
            Ok(frame) => frame,
            Err(end) => unreachable!("it was written here, or read before: {end}"),
        }
    }

    /// See [`plain_message`].
    pub(crate) fn plain_message(self) -> Option<&'a [u8]> {
        plain_message(self.0)
    }

    /// What is in it, if it is a message.
    pub(crate) fn message(self) -> Option<Body<'a>> {
        match read_body(self.0) {
            Ok(Some((For::Actor(_), body))) => Some(body),
            Ok(_) => None,
            Err(end) => unreachable!("it was written here, or read before: {end}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(frames: &mut Frames<u32>, payload: &[u8]) {
        frames.push_message(&Body::plain(payload), None);
    }

    fn payloads(frames: &Frames<u32>) -> Vec<Vec<u8>> {
        let messages = frames.iter().filter_map(KeptFrame::message);
        messages.map(|body| body.payload.to_vec()).collect()
    }

    #[test]
    fn frames_of_all_sizes_come_out_in_order() {
        let sizes = [
            0,
            1,
            LONGEST_BLOCK,
            3,
            LONGEST_BLOCK - 30,
            5,
            100,
            3 * LONGEST_BLOCK,
            0,
            7,
        ];
        let mut frames = Frames::default();
        let mut expected = VecDeque::new();
        let mut place = Place::default();
        for round in 0..200_usize {
            let payload = vec![round as u8; sizes[round % sizes.len()]];
            tell(&mut frames, &payload);
            expected.push_back(payload);
            // A place behind the last frame is before the one that comes.
            let next = frames.next(&mut place).map(<[u8]>::len);
            assert!(next.is_some(), "in round {round}");
            assert_eq!(frames.next(&mut place), None);
            if round % 3 != 0 {
                let front = frames.front().and_then(KeptFrame::message);
                assert_eq!(
                    front.map(|body| body.payload.to_vec()),
                    expected.pop_front()
                );
                frames.pop_front();
            }
        }
        assert_eq!(payloads(&frames), Vec::from(expected.clone()));
        assert_eq!(frames.len(), expected.len());
        while !frames.is_empty() {
            frames.pop_front();
        }
        assert_eq!(frames.blocks.len(), 0);
    }

    #[test]
    fn frames_are_discarded_without_a_look_at_each() {
        let mut frames = Frames::default();
        let (mut pushed, mut first) = (0_u32, 0_u32);
        let mut place = Place::default();
        let mut bytes = 0;
        for round in 0..500 {
            for _ in 0..round % 40 {
                tell(&mut frames, &pushed.to_le_bytes());
                pushed += 1;
                bytes += frames.next(&mut place).map_or(0, <[u8]>::len);
            }
            let count = (round % 37).min(frames.len());
            bytes -= frames.discard(count, &mut Vec::new());
            first += count as u32;
            assert_eq!(frames.next(&mut place), None);
            if round % 5 == 0 && !frames.is_empty() {
                frames.find_start();
                let front = frames.front().and_then(KeptFrame::message).unwrap();
                assert_eq!(front.payload, first.to_le_bytes());
            }
            // What is not said to be freed are the bytes of less than a block.
            let left: usize = frames.blocks.iter().map(|block| block.bytes.len()).sum();
            assert_eq!(left, bytes);
        }
        bytes -= frames.discard(frames.len(), &mut Vec::new());
        assert_eq!(bytes, 0);
    }

    #[test]
    fn a_place_that_is_gone_stands_for_the_first_frame() {
        let mut frames = Frames::default();
        for number in 0..10_000_u32 {
            tell(&mut frames, &number.to_le_bytes());
        }
        let mut place = Place::default();
        for _ in 0..5_000 {
            frames.pop_front();
        }
        let frame = frames.next(&mut place).unwrap();
        assert!(frame.ends_with(&5_000_u32.to_le_bytes()));
    }

    #[test]
    fn what_is_beside_a_frame_goes_with_it() {
        let (mut one, mut other) = (Frames::default(), Frames::default());
        let message = Body::plain(b"");
        for number in 0..100_u32 {
            one.push_message(&message, (number % 10 == 0).then_some(number));
            other.push_message(&message, (number % 7 == 0).then_some(100 + number));
        }
        assert_eq!((one.beside(30), one.beside(31)), (Some(&30), None));
        assert_eq!(one.take_beside(), Some(0));
        one.pop_front();
        assert_eq!(one.take_beside(), None);
        // The frame 30 is the 29th from here.
        assert_eq!(one.beside(29), Some(&30));
        other.pop_front();
        one.append(&mut other);
        assert_eq!(other.beside(0), None);
        let mut gone = Vec::new();
        one.discard(99 + 19, &mut gone);
        assert_eq!(gone, [10, 20, 30, 40, 50, 60, 70, 80, 90, 107, 114]);
        assert_eq!(one.take_beside(), None);
        one.pop_front();
        assert_eq!(one.take_beside(), Some(121));
    }

    #[test]
    fn what_is_appended_comes_behind_and_the_memory_of_many_is_given_back() {
        let (mut one, mut other) = (Frames::default(), Frames::default());
        for number in 0..3_000_u32 {
            tell(&mut one, &number.to_le_bytes());
            tell(&mut other, &(3_000 + number).to_le_bytes());
        }
        one.pop_front();
        other.pop_front();
        one.append(&mut other);
        assert!(other.is_empty());
        tell(&mut other, b"again");
        assert_eq!(payloads(&other), [b"again"]);
        let numbers: Vec<_> = payloads(&one)
            .iter()
            .map(|payload| u32::from_le_bytes(payload[..].try_into().unwrap()))
            .collect();
        let expected: Vec<_> = (1..3_000).chain(3_001..6_000).collect();
        assert_eq!(numbers, expected);
        one.discard(one.len(), &mut Vec::new());
        let kept: usize = one.blocks.iter().map(|block| block.bytes.capacity()).sum();
        assert!(kept + one.spare.capacity() <= 2 * LONGEST_BLOCK);
    }
}
