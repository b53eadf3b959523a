//! Memory of which a process may write any byte, between calls of those who share it: no call fails but by an error, and none waits for ever.

use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use tamtam_ipc::{
    Arena, ArenaPlace, BytesSender, Event, Mutex, Properties, Property, Receiver, Sender,
    SharedBytes, Slot, attach, bytes_channel, carrier, channel,
};

/// What is written where, and which call comes then.
struct Step<'a> {
    call: u8,
    offset: u64,
    bytes: &'a [u8],
}

/// The steps that some bytes stand for: a call, an offset of two bytes, a length, and so many bytes.
fn steps(mut bytes: &[u8]) -> impl Iterator<Item = Step<'_>> {
    std::iter::from_fn(move || {
        let (&[call, low, high, length], rest) = bytes.split_first_chunk()?;
        let (written, rest) = rest.split_at(usize::from(length % 16).min(rest.len()));
        bytes = rest;
        Some(Step {
            call,
            offset: u64::from(u16::from_le_bytes([low, high])),
            bytes: written,
        })
    })
    .take(200)
}

/// Does all steps.
fn spoil(memory: &File, bytes: &[u8], mut call: impl FnMut(u8)) {
    let Ok(size) = memory.metadata().map(|metadata| metadata.len()) else {
        return;
    };
    for step in steps(bytes) {
        // It cannot grow.
        if step.offset + step.bytes.len() as u64 <= size {
            let _ = memory.write_all_at(step.bytes, step.offset);
        }
        call(step.call);
    }
}

/// The memory, for others who share it.
fn memory_of(memory: BorrowedFd<'_>) -> Option<(OwnedFd, File)> {
    let other = memory.try_clone_to_owned().ok()?;
    Some((other, File::from(memory.try_clone_to_owned().ok()?)))
}

fn spoil_carrier(bytes: &[u8]) -> Option<()> {
    let (mut writer, mut reader) = carrier(4096).ok()?;
    let (other, memory) = memory_of(reader.memory())?;
    let mut other = attach(other).ok();
    let mut buffer = [7; 300];
    spoil(&memory, bytes, |call| match (call % 6, &mut other) {
        (0, _) => drop(writer.write(&buffer)),
        (1, _) => drop(reader.read(&mut buffer)),
        (2, Some((writer, _))) => drop(writer.write(&buffer)),
        (3, Some((_, reader))) => drop(reader.read(&mut buffer)),
        (4, _) => drop(reader.len()),
        _ => writer.waker().wake(),
    });
    Some(())
}

fn spoil_channel(bytes: &[u8]) -> Option<()> {
    let (sender, receiver) = channel::<[u32; 3]>(8).ok()?;
    let (other, memory) = memory_of(receiver.memory())?;
    let other = Sender::<[u32; 3]>::attach(other).ok();
    spoil(&memory, bytes, |call| match (call % 7, &other) {
        (0, _) => drop(sender.try_send([1; 3])),
        (1, _) => drop(receiver.try_recv()),
        (2, Some(other)) => drop(other.try_send([2; 3])),
        (3, Some(other)) => drop(other.clone()),
        (4, _) => drop((receiver.len(), receiver.abandoned(), receiver.is_corrupt())),
        (5, _) => drop(sender.is_closed()),
        _ => drop(sender.clone().try_send([3; 3])),
    });
    Some(())
}

fn spoil_bytes_channel(bytes: &[u8]) -> Option<()> {
    let (sender, receiver) = bytes_channel(8, 500).ok()?;
    let (other, memory) = memory_of(receiver.memory())?;
    let other = BytesSender::attach(other).ok();
    let mut buffer = Vec::new();
    spoil(&memory, bytes, |call| match (call % 7, &other) {
        (0, _) => drop(sender.try_send(&[5; 100])),
        (1, _) => drop(receiver.try_recv_bytes(&mut buffer)),
        (2, _) => drop(sender.try_loan(usize::from(call)).map(|mut loan| {
            loan.copy_from(&vec![call; loan.len()]);
            loan.commit()
        })),
        (3, _) => drop(sender.try_loan(usize::from(call))),
        (4, _) => drop(receiver.try_recv_with(|bytes| bytes.len())),
        (5, Some(other)) => drop(other.try_send(&[6; 300])),
        _ => drop((receiver.len(), receiver.is_corrupt())),
    });
    Some(())
}

fn spoil_arena(bytes: &[u8]) -> Option<()> {
    let arena = Arena::create(8_000).ok()?;
    let (other, memory) = memory_of(arena.memory())?;
    let other = Arena::attach(other).ok();
    let mut channels = Vec::new();
    let mut bytes_channels = Vec::new();
    let mut senders = Vec::new();
    let mut receivers = Vec::new();
    spoil(&memory, bytes, |call| {
        let place = ArenaPlace {
            offset: u64::from(call / 16) * 128,
            generation: 1 + u64::from(call / 8 % 4),
        };
        match (call % 9, &other) {
            (0, _) => channels.extend(arena.channel::<u64>(2)),
            (1, _) => bytes_channels.extend(arena.bytes_channel(2, 100)),
            (2, _) => channels.truncate(usize::from(call / 9 % 3)),
            (3, _) => bytes_channels.truncate(usize::from(call / 9 % 3)),
            (4, Some(other)) => senders.extend(other.sender::<u64>(place)),
            (5, Some(other)) => receivers.extend(other.bytes_receiver(place)),
            (6, _) => {
                for (sender, receiver) in &channels {
                    let _ = (sender.try_send(3), receiver.try_recv());
                }
                for (sender, receiver) in &bytes_channels {
                    let _ = (sender.try_send(&[4; 60]), receiver.is_corrupt());
                }
            }
            (7, _) => {
                for sender in &senders {
                    let _ = sender.try_send(5);
                }
                for receiver in &receivers {
                    let _ = receiver.try_recv_with(|bytes| bytes.len());
                }
            }
            _ => drop((senders.pop(), receivers.pop(), arena.processes())),
        }
    });
    Some(())
}

fn spoil_slot(bytes: &[u8]) -> Option<()> {
    let slot = Slot::create().ok()?;
    let (other, memory) = memory_of(slot.memory())?;
    let other = Slot::<[u64; 5]>::attach(other).ok();
    spoil(&memory, bytes, |call| match (call % 4, &other) {
        (0, _) => drop(slot.try_put([u64::from(call); 5])),
        (1, _) => drop(slot.try_take()),
        (2, Some(other)) => drop(other.try_take()),
        _ => drop((slot.is_full(), slot.processes())),
    });
    Some(())
}

fn spoil_property(bytes: &[u8]) -> Option<()> {
    let property = Property::create([1_u64; 6]).ok()?;
    let (other, memory) = memory_of(property.memory())?;
    let other = Property::<[u64; 6]>::attach(other).ok();
    spoil(&memory, bytes, |call| match (call % 5, &other) {
        (0, _) => property.set([u64::from(call); 6]),
        (1, _) => drop(property.get()),
        (2, Some(other)) => drop(other.update(|_| [3; 6])),
        (3, _) => drop(property.compare_and_set(u64::from(call), [4; 6])),
        _ => drop((property.version(), property.processes())),
    });
    Some(())
}

fn spoil_properties(bytes: &[u8]) -> Option<()> {
    const NAMES: [&str; 4] = ["a", "longer than that", "b", "c"];
    let properties = Properties::create(3, 64).ok()?;
    let (other, memory) = memory_of(properties.memory())?;
    let other = Properties::attach(other).ok();
    spoil(&memory, bytes, |call| {
        let name = NAMES[usize::from(call / 8) % NAMES.len()];
        match (call % 6, &other) {
            (0, _) => drop(properties.set(name, i64::from(call))),
            (1, _) => drop(properties.set(name, "a text")),
            (2, _) => drop(properties.get(name)),
            (3, Some(other)) => drop(other.get(name)),
            (4, _) => drop(properties.remove(name)),
            _ => drop((properties.names(), properties.processes())),
        }
    });
    Some(())
}

/// Names that stand for what lies in an arena, of which the other handle is told: what is written goes into the memory of the names, or of the arena.
fn spoil_shared_properties(bytes: &[u8]) -> Option<()> {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let (&which, bytes) = bytes.split_first()?;
    let arena = Arena::create(12_000).ok()?;
    let here = Properties::create(2, 40).ok()?.with_arena(&arena);
    let (other, memory) = memory_of(here.memory())?;
    let (other_arena, arena_memory) = memory_of(arena.memory())?;
    let other_arena = Arena::attach(other_arena).ok()?;
    let other = Properties::attach(other).ok()?.with_arena(&other_arena);
    let mutex = arena.mutex([5_u32; 3]).ok()?;
    let shared = arena.shared_bytes(100).ok()?;
    let (sender, _receiver) = arena.bytes_channel(2, 60).ok()?;
    let memory = if which % 2 == 0 { memory } else { arena_memory };
    spoil(&memory, bytes, |call| {
        let name = NAMES[usize::from(call / 16) % NAMES.len()];
        match call % 10 {
            0 => drop(here.set_shared(name, &mutex)),
            1 => drop(here.set_shared(name, &shared)),
            2 => drop(here.set_shared(name, &sender)),
            3 => drop(arena.channel::<u64>(2).map(|(sender, receiver)| {
                let _ = sender.try_send(4);
                here.set_receiver(name, receiver)
            })),
            4 => drop(other.get_shared::<Mutex<[u32; 3]>>(name).map(|mutex| {
                let _ = mutex.try_lock().map(|mut guard| guard.update(|it| it));
            })),
            5 => drop(other.get_shared::<SharedBytes>(name).map(|bytes| {
                assert_eq!(bytes.to_vec().len(), bytes.len());
                let _ = bytes.write_at(bytes.len() / 2, &[call]);
            })),
            6 => drop(
                other
                    .get_shared::<BytesSender>(name)
                    .map(|sender| sender.try_send(&[7; 50])),
            ),
            7 => drop(
                other
                    .take_receiver::<Receiver<u64>>(name)
                    .map(|receiver| receiver.try_recv()),
            ),
            8 => drop(here.remove(name)),
            _ => drop((other.get(name), other.set(name, i64::from(call)))),
        }
    });
    Some(())
}

fn spoil_mutex(bytes: &[u8]) -> Option<()> {
    let mutex = Mutex::create([0_u32; 4]).ok()?;
    let (other, memory) = memory_of(mutex.memory())?;
    let other = Mutex::<[u32; 4]>::attach(other).ok();
    spoil(&memory, bytes, |call| {
        let mutex = match &other {
            Some(other) if call & 8 != 0 => other,
            _ => &mutex,
        };
        match call % 3 {
            0 => drop(mutex.try_lock().map(|mut guard| {
                guard.set([1; 4]);
                guard.mark_consistent();
            })),
            1 => drop(
                mutex
                    .try_lock()
                    .map(|guard| (guard.get(), guard.is_abandoned())),
            ),
            _ => drop((mutex.holder(), mutex.processes())),
        }
    });
    Some(())
}

fn spoil_event(bytes: &[u8]) -> Option<()> {
    for event in [Event::auto(), Event::manual()] {
        let event = event.ok()?;
        let (other, memory) = memory_of(event.memory())?;
        let other = Event::attach(other).ok();
        spoil(&memory, bytes, |call| match (call % 4, &other) {
            (0, _) => event.set(),
            (1, _) => drop(event.try_wait()),
            (2, Some(other)) => other.reset(),
            _ => drop(event.is_set()),
        });
    }
    Some(())
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else {
        return;
    };
    let _ = match kind % 10 {
        0 => spoil_carrier(bytes),
        1 => spoil_channel(bytes),
        2 => spoil_bytes_channel(bytes),
        3 => spoil_slot(bytes),
        4 => spoil_property(bytes),
        5 => spoil_properties(bytes),
        6 => spoil_mutex(bytes),
        7 => spoil_event(bytes),
        8 => spoil_arena(bytes),
        _ => spoil_shared_properties(bytes),
    };
}
