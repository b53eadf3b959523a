//! The latest value in memory that two processes share, beside which the signals of the experiment lie.

use std::thread;

use tamtam_ipc::{Property, SharedBytes};

use crate::contenders::shared_memory::{self, unavailable};
use crate::property::{APART, ProcessLatest, ShareSignals, Signals, first_value, write_when_told};
use crate::{Failure, GetLatest, Latest, Packet16, ServerProcess, Serving, SetLatest};

/// The part of the server that sets values.
pub(super) const WRITER: &str = "writer";

/// The latest value, by the server of the contender with this name.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueInMemory(pub(super) &'static str);

/// One side's end of the property.
#[derive(Debug)]
pub(super) struct ValueEnd(Property<[u64; 2]>);

/// The memory of the signals.
#[derive(Debug)]
pub(super) struct SignalsInMemory(SharedBytes);

/// The server: sets values when it is told to.
pub(super) fn serve() -> Result<Serving, Failure> {
    let Packet16(first) = first_value();
    let property = Property::create(first).map_err(unavailable)?;
    let shared = SharedBytes::create(3 * APART).map_err(unavailable)?;
    let memory = [property.memory(), shared.memory()].map(|memory| memory.try_clone_to_owned());
    let [value, signals] = memory;
    let kept = [value?, signals?];
    let address = shared_memory::address([property.memory(), shared.memory()]);
    let shared = SignalsInMemory(shared);
    thread::Builder::new().spawn(move || write_when_told(ValueEnd(property), &shared))?;
    // What the client opens stays open.
    Ok(Serving::at(address, kept))
}

impl ShareSignals for SignalsInMemory {
    fn signals(&self) -> Signals<'_> {
        let [published, order, set_nanoseconds] = [0, 1, 2].map(|place| {
            let signal = self.0.atomic_u64(place * APART);
            signal.expect("the memory is as long as its server has made it")
        });
        Signals {
            published,
            order,
            set_nanoseconds,
        }
    }
}

impl ProcessLatest<Packet16> for ValueInMemory {
    type Reader = ValueEnd;
    type Shared = SignalsInMemory;

    fn open(&self) -> Result<(ServerProcess, ValueEnd, SignalsInMemory), Failure> {
        let process = ServerProcess::start_part(self.0, WRITER)?;
        let memory = |place| shared_memory::open(process.address(), place);
        let property = Property::attach(memory(0)?).map_err(unavailable)?;
        let shared = SharedBytes::attach(memory(1)?).map_err(unavailable)?;
        Ok((process, ValueEnd(property), SignalsInMemory(shared)))
    }
}

/// Both ends in this process, each with a mapping of its own, as a writer in another process has one.
impl Latest<Packet16> for ValueInMemory {
    type Writer = ValueEnd;
    type Reader = ValueEnd;

    fn open(&self, Packet16(first): Packet16) -> (ValueEnd, ValueEnd) {
        let writer = Property::create(first).expect("there is shared memory");
        let memory = writer.memory().try_clone_to_owned();
        let reader = Property::attach(memory.expect("there is a descriptor"));
        let reader = reader.expect("it is a property");
        (ValueEnd(writer), ValueEnd(reader))
    }
}

impl SetLatest<Packet16> for ValueEnd {
    fn set(&mut self, Packet16(words): Packet16) {
        self.0.set(words);
    }
}

impl GetLatest<Packet16> for ValueEnd {
    fn get(&mut self) -> Packet16 {
        Packet16(self.0.get())
    }
}
