//! Frames in memory that both processes share, of a slider that is a property, and of one whose every move is queued. The property by itself, too.

use std::thread;

use tamtam_ipc::{Property, Receiver, Sender, channel};

use super::newest::SharedFrames;
use super::value_in_memory::{self, ValueInMemory};
use crate::contenders::VERSION;
use crate::contenders::shared_memory::{self, unavailable};
use crate::pictures::{self, Look, Pictures, Sharpener, Slider, Window};
use crate::property;
use crate::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// Frames in shared memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct InMemory {
    name: &'static str,
    about: &'static str,
    way: Way,
}

/// How the moves of the slider go.
#[derive(Debug, Clone, Copy)]
enum Way {
    Property,
    Queue,
}

pub(super) const BY_PROPERTY: InMemory = InMemory {
    name: "ipc-property",
    about: "a property in memory that two processes share; in frames the slider, beside the newest frame",
    way: Way::Property,
};

pub(super) const BY_QUEUE: InMemory = InMemory {
    name: "ipc-queue",
    about: "a slider whose every move goes through a channel in shared memory, and the newest frame there",
    way: Way::Queue,
};

/// So many moves may wait: more than there are in a measurement.
const QUEUED: usize = 1 << 16;

impl Contender for InMemory {
    fn card(&self) -> Card {
        Card {
            name: self.name,
            version: VERSION,
            ours: true,
            about: self.about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = pictures::measures(*self);
        if let Way::Property = self.way {
            measures.extend(property::between_processes(ValueInMemory(self.name)));
        }
        measures
    }

    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        match (self.way, part) {
            (Way::Property, value_in_memory::WRITER) => value_in_memory::serve(),
            _ => Err(Failure::Impossible(format!(
                "{} has no {part:?}",
                self.name
            ))),
        }
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let frames = SharedFrames::create()?;
        // Both ends of a frame's memory are kept, for the window to open them once more.
        let memory = frames.memory().map(|memory| memory.try_clone_to_owned());
        let [picture, count] = memory;
        let kept = [picture?, count?];
        let of_frames = kept.each_ref().map(std::os::fd::AsFd::as_fd);
        match self.way {
            Way::Property => {
                let slider = Property::create(0).map_err(unavailable)?;
                let memory = slider.memory().try_clone_to_owned()?;
                let address =
                    shared_memory::address([slider.memory()].into_iter().chain(of_frames));
                thread::Builder::new().spawn(move || follow(&slider, frames))?;
                Ok(Serving::at(address, (memory, kept)))
            }
            Way::Queue => {
                let (slider, moves) = channel(QUEUED).map_err(unavailable)?;
                let address =
                    shared_memory::address([slider.memory()].into_iter().chain(of_frames));
                thread::Builder::new().spawn(move || work_off(&moves, frames))?;
                // The channel stays open until the window has its end of it.
                Ok(Serving::at(address, (slider, kept)))
            }
        }
    }
}

/// The worker: frames of the latest move, whenever there is a later one.
fn follow(slider: &Property<u64>, mut frames: SharedFrames) -> Result<(), Failure> {
    let mut sharpener = Sharpener::new();
    let mut seen = 0;
    loop {
        slider.wait_changed(seen);
        let (version, number) = slider.versioned();
        seen = version;
        frames.make(&mut sharpener, number)?;
    }
}

/// The worker: a frame of each move, one after the other.
fn work_off(moves: &Receiver<u64>, mut frames: SharedFrames) -> Result<(), Failure> {
    let mut sharpener = Sharpener::new();
    for number in moves.iter() {
        frames.make(&mut sharpener, number)?;
    }
    Ok(())
}

/// The slider's end, by either way.
#[derive(Debug)]
pub(super) enum SliderInMemory {
    Property(Property<u64>),
    Queue(Sender<u64>),
}

impl Slider for SliderInMemory {
    fn set(&mut self, number: u64) -> Result<(), Failure> {
        match self {
            SliderInMemory::Property(property) => property.set(number),
            SliderInMemory::Queue(queue) => {
                let sent = queue.send(number);
                sent.map_err(|_| Failure::Unverified("the worker is gone".to_owned()))?;
            }
        }
        Ok(())
    }
}

/// The window's end.
#[derive(Debug)]
pub(super) struct WindowAtMemory {
    frames: SharedFrames,
    process: ServerProcess,
}

impl Pictures for InMemory {
    type Slider = SliderInMemory;
    type Window = WindowAtMemory;

    fn open(&self) -> Result<(SliderInMemory, WindowAtMemory), Failure> {
        let process = ServerProcess::start(self.name)?;
        let piece = |place| shared_memory::open(process.address(), place);
        let slider = match self.way {
            Way::Property => Property::attach(piece(0)?).map(SliderInMemory::Property),
            Way::Queue => Sender::attach(piece(0)?).map(SliderInMemory::Queue),
        };
        let slider = slider.map_err(unavailable)?;
        let frames = SharedFrames::attach([piece(1)?, piece(2)?])?;
        Ok((slider, WindowAtMemory { frames, process }))
    }
}

impl Window for WindowAtMemory {
    fn show(&mut self, look: &mut Look) -> Result<(), Failure> {
        self.frames.show(look)
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}
