//! The newest frame, in memory that a worker and a window share.
//!
//! There is room for three frames: the worker has one, in which it makes the next; the window has one, which it looks at; the third lies
//! between them. Each exchanges its own for that one, in one step, so that none waits for the other, and none sees a frame that is being made.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tamtam_ipc::{Property, RangeError, SharedBytes};

use crate::Failure;
use crate::contenders::shared_memory::unavailable;
use crate::pictures::{FRAME, Look, ROW, ROWS, Sharpener};

/// Where the first of the three frames begins; before that is the word that says which one lies between.
const FRAMES: usize = 4096;
const BYTES: usize = FRAMES + 3 * FRAME;
/// The frame between was not looked at yet.
const FRESH: u32 = 4;
/// So long a window waits for a frame: one that does not come by then never does.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// One side's hold of the three frames.
#[derive(Debug)]
pub(super) struct SharedFrames {
    memory: SharedBytes,
    /// How many frames were made so far.
    count: Property<u64>,
    /// Which of the three this side has.
    own: u32,
}

impl SharedFrames {
    /// New ones: the worker's side.
    pub(super) fn create() -> Result<Self, Failure> {
        let frames = SharedFrames {
            memory: SharedBytes::create(BYTES).map_err(unavailable)?,
            count: Property::create(0).map_err(unavailable)?,
            own: 0,
        };
        frames.between()?.store(1, Ordering::Relaxed);
        Ok(frames)
    }

    /// Those that a worker has made: the window's side.
    pub(super) fn attach([frames, count]: [OwnedFd; 2]) -> Result<Self, Failure> {
        Ok(SharedFrames {
            memory: SharedBytes::attach(frames).map_err(unavailable)?,
            count: Property::attach(count).map_err(unavailable)?,
            own: 2,
        })
    }

    /// Their memory, for the other side.
    pub(super) fn memory(&self) -> [BorrowedFd<'_>; 2] {
        [self.memory.memory(), self.count.memory()]
    }

    fn between(&self) -> Result<&AtomicU32, Failure> {
        self.memory.atomic_u32(0).map_err(unavailable)
    }

    /// Exchanges this side's frame for the one between.
    fn exchange(&mut self, mark: u32) -> Result<(), Failure> {
        // Acquires what the other side has done with its frame, and releases what this one has done; both do so here.
        let got = self.between()?.swap(self.own | mark, Ordering::AcqRel);
        self.own = (got & !FRESH).min(2);
        Ok(())
    }

    fn place(&self, row: usize) -> usize {
        FRAMES + self.own as usize * FRAME + row * ROW
    }

    /// Makes a frame of the slider's move `number`, which is the newest then.
    pub(super) fn make(&mut self, sharpener: &mut Sharpener, number: u64) -> Result<(), Failure> {
        let made = sharpener.make(number, |row, bytes| {
            self.memory.write_at(self.place(row), bytes)
        });
        made.map_err(|error: RangeError| unavailable(error))?;
        self.exchange(FRESH)?;
        // Wakes the window if it sleeps.
        self.count.update(|count| count + 1);
        Ok(())
    }

    /// Waits for a frame that was not looked at yet, and looks at it.
    pub(super) fn show(&mut self, look: &mut Look) -> Result<(), Failure> {
        loop {
            let count = self.count.version();
            if self.between()?.load(Ordering::Relaxed) & FRESH != 0 {
                break;
            }
            let waited = self.count.wait_changed_timeout(count, LONGEST_WAIT);
            waited.map_err(|_| Failure::Unverified("no frame comes any more".to_owned()))?;
        }
        self.exchange(0)?;
        // A row at a time stays in the processor's nearest memory.
        let mut bytes = [0; ROW];
        for row in 0..ROWS {
            let read = self.memory.read_at(self.place(row), &mut bytes);
            read.map_err(unavailable)?;
            look.row(&bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frame_is_shown_and_no_other() {
        let mut worker = SharedFrames::create().unwrap();
        let memory = worker.memory().map(|fd| fd.try_clone_to_owned().unwrap());
        let mut window = SharedFrames::attach(memory).unwrap();
        let mut sharpener = Sharpener::new();
        let mut due = 0;
        for made in [1, 3, 1, 2] {
            for _ in 0..made {
                due += 1;
                worker.make(&mut sharpener, due).unwrap();
            }
            let mut look = Look::default();
            window.show(&mut look).unwrap();
            assert_eq!(look.finish(), Ok(due));
            assert_ne!(worker.own, window.own);
        }
    }
}
