//! Memory in which one process writes what it likes: no call of another one crashes, and each ends in its time.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tamtam_ipc::{
    Arena, ArenaPlace, CarrierReader, CarrierWriter, Condition, Event, Mutex, Properties, Property,
    Sender, SharedBytes, Slot, attach, bytes_channel, carrier, channel,
};

#[cfg(target_arch = "x86_64")]
use crate::other::life_of;
use crate::other::{Numbers, Other, half};
#[cfg(target_arch = "x86_64")]
use crate::traced::{Fate, Traced, traced};

const SOON: Duration = Duration::from_millis(2);
/// What a call with a timeout may take on a machine that is busy.
const LATE: Duration = Duration::from_secs(20);
const SPELL: Duration = Duration::from_millis(600);

/// Writes random bytes all over the memory until it is told to stop.
fn scribble(memory: BorrowedFd<'_>, is_over: &AtomicBool) {
    let file = File::from(memory.try_clone_to_owned().unwrap());
    let len = file.metadata().unwrap().len();
    let mut numbers = Numbers(0xBAD);
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..50 {
            let bytes = numbers.below(u64::MAX).to_le_bytes();
            // Most of it where it hurts: the parties and the words of the protocol.
            let end = [4096 + 600, len][usize::from(numbers.below(4) == 0)].min(len);
            let offset = numbers.below(end - 8);
            let count = 1 + numbers.below(8) as usize;
            file.write_all_at(&bytes[..count], offset).unwrap();
        }
        std::thread::yield_now();
    }
}

/// Calls again and again, each time within its time.
fn calls(mut call: impl FnMut()) {
    let until = Instant::now() + SPELL;
    while Instant::now() < until {
        let began = Instant::now();
        call();
        let took = began.elapsed();
        assert!(took < LATE, "{took:?}");
    }
}

/// Runs `calls` in two processes while a third thread writes nonsense.
fn withstands(path: &str, memory: BorrowedFd<'_>, calls: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    let other = Other::start(path, "calls", memory);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            scribble(memory, &is_over);
        });
        calls();
        other.ends_well();
        is_over.store(true, Ordering::Relaxed);
    });
}

/// What another process has made, unless that was damaged before this one came.
fn found<T>(attach: impl Fn(OwnedFd) -> Result<T, tamtam_ipc::AttachError>) -> Option<T> {
    attach(half("calls")?).ok()
}

/// Both sides of a carrier write and read what they can, and wait for more.
fn carry(writer: &mut CarrierWriter, reader: &mut CarrierReader) {
    let mut bytes = [7; 700];
    calls(|| {
        // The other side may be gone, or its counts may be impossible.
        let _ = writer.write(&bytes);
        let _ = reader.read(&mut bytes);
        let _ = reader.wait(Instant::now().checked_add(SOON), || true);
    });
}

#[test]
fn nonsense_in_a_carrier() {
    if let Some(memory) = half("calls") {
        if let Ok((mut writer, mut reader)) = attach(memory) {
            carry(&mut writer, &mut reader);
        }
        return;
    }
    let (mut writer, mut reader) = carrier(4096).unwrap();
    let memory = reader.memory().try_clone_to_owned().unwrap();
    withstands("hostile::nonsense_in_a_carrier", memory.as_fd(), || {
        carry(&mut writer, &mut reader);
    });
}

#[test]
fn nonsense_in_an_arena() {
    const PATH: &str = "hostile::nonsense_in_an_arena";
    fn use_it(arena: &Arena, numbers: &mut Numbers) {
        // Where a channel was, and anywhere.
        for offset in [0, numbers.below(1 << 17), numbers.below(1 << 10) * 128] {
            let generation = numbers.below(20);
            let place = ArenaPlace { offset, generation };
            if let Ok(sender) = arena.sender::<u64>(place) {
                let _ = sender.send_timeout(1, SOON);
            }
            if let Ok(receiver) = arena.bytes_receiver(place) {
                let _ = receiver.recv_timeout_bytes(&mut Vec::new(), SOON);
            }
        }
    }
    let mut numbers = Numbers(0xF00);
    if half("calls").is_some() {
        if let Some(arena) = found(Arena::attach) {
            calls(|| use_it(&arena, &mut numbers));
        }
        return;
    }
    let arena = Arena::create(60_000).unwrap();
    withstands(PATH, arena.memory(), || {
        let mut ends = Vec::new();
        calls(|| {
            match (arena.channel::<u64>(3), arena.bytes_channel(2, 300)) {
                (Ok(channel), Ok(bytes)) => ends.push((channel, bytes)),
                _ => ends.clear(),
            }
            for ((sender, receiver), (bytes_sender, bytes_receiver)) in &ends {
                let _ = (sender.try_send(1), receiver.try_recv());
                let _ = bytes_sender.try_send(&[2; 100]);
                let _ = bytes_receiver.try_recv_with(|bytes| bytes.len());
            }
            use_it(&arena, &mut numbers);
        });
    });
}

#[test]
fn nonsense_in_a_mutex() {
    const PATH: &str = "hostile::nonsense_in_a_mutex";
    let call = |mutex: &Mutex<[u32; 4]>| {
        if let Ok(mut guard) = mutex.lock_timeout(SOON) {
            guard.update(|[a, ..]| [a.wrapping_add(1); 4]);
            guard.mark_consistent();
        }
        let _ = mutex.try_lock().map(|guard| guard.get());
        let _ = (mutex.holder(), mutex.processes());
    };
    if let Some(memory) = half("calls") {
        let mutex = Mutex::attach(memory);
        return mutex.map_or((), |mutex| calls(|| call(&mutex)));
    }
    let mutex = Mutex::create([0; 4]).unwrap();
    withstands(PATH, mutex.memory(), || calls(|| call(&mutex)));
}

#[test]
fn nonsense_in_a_condition() {
    const PATH: &str = "hostile::nonsense_in_a_condition";
    let call = |condition: &Condition| {
        let mutex = Mutex::create(0_u8).unwrap();
        let guard = mutex.lock().unwrap();
        let _ = condition.wait_timeout(guard, SOON);
        condition.notify_all();
        let _ = condition.processes();
    };
    if let Some(memory) = half("calls") {
        let condition = Condition::attach(memory);
        return condition.map_or((), |condition| calls(|| call(&condition)));
    }
    let condition = Condition::create().unwrap();
    withstands(PATH, condition.memory(), || calls(|| call(&condition)));
}

#[test]
fn nonsense_in_an_event() {
    const PATH: &str = "hostile::nonsense_in_an_event";
    let call = |event: &Event| {
        let _ = event.wait_timeout(SOON);
        event.set();
        let _ = event.try_wait();
        event.reset();
    };
    if half("calls").is_some() {
        return found(Event::attach).map_or((), |event| calls(|| call(&event)));
    }
    for event in [Event::auto(), Event::manual()].map(Result::unwrap) {
        withstands(PATH, event.memory(), || calls(|| call(&event)));
    }
}

#[test]
fn nonsense_in_a_slot() {
    const PATH: &str = "hostile::nonsense_in_a_slot";
    let call = |slot: &Slot<[u8; 100]>| {
        let _ = slot.put_timeout([1; 100], SOON);
        let _ = slot.take_timeout(SOON);
        let _ = slot.try_take();
        let _ = (slot.try_put([1; 100]), slot.is_full());
    };
    if half("calls").is_some() {
        return found(Slot::attach).map_or((), |slot| calls(|| call(&slot)));
    }
    let slot = Slot::create().unwrap();
    withstands(PATH, slot.memory(), || calls(|| call(&slot)));
}

#[test]
fn nonsense_in_a_property() {
    const PATH: &str = "hostile::nonsense_in_a_property";
    let call = |property: &Property<[u16; 50]>| {
        property.set([1; 50]);
        let (version, _) = property.versioned();
        let _ = property.compare_and_set(version, [2; 50]);
        let _ = property.wait_changed_timeout(version, SOON);
    };
    if half("calls").is_some() {
        return found(Property::attach).map_or((), |property| calls(|| call(&property)));
    }
    let property = Property::create([0; 50]).unwrap();
    withstands(PATH, property.memory(), || calls(|| call(&property)));
}

#[test]
fn nonsense_in_properties() {
    const PATH: &str = "hostile::nonsense_in_properties";
    let round = AtomicU32::new(0);
    let call = |properties: &Properties| {
        let name = format!("{}", round.fetch_add(1, Ordering::Relaxed) % 7);
        let _ = properties.set(&name, "value");
        let _ = properties.wait_changed_timeout(&name, 1, SOON);
        let _ = (properties.get(&name), properties.names());
        let _ = properties.remove(&name);
    };
    if half("calls").is_some() {
        return found(Properties::attach).map_or((), |it| calls(|| call(&it)));
    }
    let properties = Properties::create(5, 40).unwrap();
    withstands(PATH, properties.memory(), || calls(|| call(&properties)));
}

/// What attaches to memory full of nonsense gets an error, or something that withstands it.
#[test]
fn nonsense_is_attached_to() {
    let mut numbers = Numbers(0xABC);
    let made = Properties::create(5, 40).unwrap();
    let bytes = SharedBytes::create(5000).unwrap();
    for _ in 0..300 {
        for memory in [made.memory(), bytes.memory()] {
            let copy = memory.try_clone_to_owned().unwrap();
            let file = File::from(copy);
            let offset = numbers.below(4096 + 64);
            let bytes = numbers.below(u64::MAX).to_le_bytes();
            let before = &mut [0; 8];
            file.read_exact_at(before, offset).unwrap();
            file.write_all_at(&bytes, offset).unwrap();
            let memory = || file.as_fd().try_clone_to_owned().unwrap();
            let _ = Properties::attach(memory()).map(|it| it.names());
            let _ = SharedBytes::attach(memory()).map(|it| it.to_vec());
            let _ = Mutex::<u64>::attach(memory()).map(|it| it.holder());
            file.write_all_at(before, offset).unwrap();
        }
    }
}

#[test]
fn nonsense_in_what_a_select_waits_for() {
    const PATH: &str = "hostile::nonsense_in_what_a_select_waits_for";
    let never = tamtam_channel::never::<u32>();
    let call = |event: &Event| {
        tamtam_channel::select! {
            wait(event) => {}
            recv(never) -> _ => panic!("it never comes"),
            default(SOON) => {}
        }
        event.set();
    };
    if half("calls").is_some() {
        if let Some(event) = found(Event::attach) {
            calls(|| call(&event));
        }
        return;
    }
    let event = Event::auto().unwrap();
    withstands(PATH, event.memory(), || calls(|| call(&event)));
}

/// Writes into the memory what lies elsewhere in it, and nonsense, until it is told to stop: words of a channel that were true a moment ago, or are of another slot.
fn mix(memory: BorrowedFd<'_>, seed: u64, is_over: &AtomicBool) {
    let file = File::from(memory.try_clone_to_owned().unwrap());
    let len = file.metadata().unwrap().len();
    let mut numbers = Numbers(0xBAD + seed);
    while !is_over.load(Ordering::Relaxed) {
        let mut word = numbers.below(u64::MAX).to_le_bytes();
        let mut place = || numbers.below(len / 8) * 8;
        let (from, to) = (place(), place());
        match seed % 3 {
            0 => {}
            1 => file.read_exact_at(&mut word, from).unwrap(),
            // Near the truth.
            _ => {
                file.read_exact_at(&mut word, to).unwrap();
                word[from as usize / 8 % 8] ^= 1 << (from / 64 % 8);
            }
        }
        file.write_all_at(&word, to).unwrap();
        std::hint::spin_loop();
    }
}

/// What one side of a channel calls, again and again.
type Calls<'a> = Box<dyn FnMut() + Send + 'a>;

/// One channel after the other, on which both sides do what they can while a third thread writes into its memory: each is soon given up.
fn channels_withstand(make: impl Fn() -> (OwnedFd, [Calls<'static>; 2])) {
    const FEWEST: u64 = 4;
    let until = Instant::now() + 2 * SPELL;
    let mut seed = 0;
    while seed < FEWEST || Instant::now() < until {
        let (memory, sides) = make();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let working = sides.map(|mut call| {
                threads.spawn(move || {
                    for _ in 0..200 {
                        let began = Instant::now();
                        call();
                        let took = began.elapsed();
                        assert!(took < LATE, "{took:?}");
                    }
                })
            });
            threads.spawn(|| mix(memory.as_fd(), seed, &is_over));
            let ended = working.map(|side| side.join());
            is_over.store(true, Ordering::Relaxed);
            ended.into_iter().for_each(Result::unwrap);
        });
        seed += 1;
    }
}

const TINY: Duration = Duration::from_micros(200);

#[test]
fn nonsense_in_a_channel() {
    channels_withstand(|| {
        let (sender, receiver) = channel::<[u64; 3]>(8).unwrap();
        let memory = receiver.memory().try_clone_to_owned().unwrap();
        let other = Sender::<[u64; 3]>::attach(memory.try_clone().unwrap()).unwrap();
        let sends = move || {
            let _ = sender.try_send([1; 3]);
            let _ = other.send_timeout([2; 3], TINY);
            if !sender.is_closed() && sender.try_send([3; 3]).is_ok() {
                let _ = other.clone().try_send([4; 3]);
            }
        };
        let mut buffer = Vec::new();
        let receives = move || {
            buffer.clear();
            let _ = receiver.try_recv_many(&mut buffer, 5);
            let _ = receiver.recv_timeout(TINY);
            let _ = (receiver.len(), receiver.abandoned());
        };
        (memory, [Box::new(sends), Box::new(receives)])
    });
}

#[test]
fn nonsense_in_a_channel_of_bytes() {
    channels_withstand(|| {
        let (sender, receiver) = bytes_channel(8, 500).unwrap();
        let memory = receiver.memory().try_clone_to_owned().unwrap();
        let sends = move || {
            let _ = sender.send_timeout(&[5; 100], TINY);
            if let Ok(mut loan) = sender.try_loan(300) {
                loan.copy_from(&[6; 300]);
                let _ = loan.commit();
            }
            drop(sender.try_loan(500));
        };
        let mut buffer = Vec::new();
        let receives = move || {
            let _ = receiver.try_recv_with(|bytes| bytes.to_vec());
            let _ = receiver.try_recv_many_with(3, |bytes| assert!(bytes.len() <= 500));
            let _ = receiver.recv_timeout_bytes(&mut buffer, TINY);
            assert!(buffer.len() <= 500);
            buffer.clear();
        };
        (memory, [Box::new(sends), Box::new(receives)])
    });
}

#[cfg(feature = "serde")]
#[test]
fn nonsense_in_an_encoded_channel() {
    channels_withstand(|| {
        let (sender, receiver) = tamtam_ipc::encoded_channel::<(String, Vec<u32>)>(8, 500).unwrap();
        let memory = receiver.memory().try_clone_to_owned().unwrap();
        let message = || ("a text, and some numbers".to_owned(), vec![7; 60]);
        let sends = move || {
            let _ = sender.try_send(message());
            let _ = sender.send_timeout(message(), TINY);
        };
        let mut buffer = Vec::new();
        let receives = move || {
            buffer.clear();
            let _ = receiver.try_recv_many(&mut buffer, 5);
            let _ = receiver.recv_timeout(TINY);
        };
        (memory, [Box::new(sends), Box::new(receives)])
    });
}

/// Each look finds a place whose process has died since the last one.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_life_that_changes_all_the_time_ends_each_call() {
    const PATH: &str = "hostile::a_life_that_changes_all_the_time_ends_each_call";
    if let Some(memory) = half("does it") {
        let mutex = Mutex::<u8>::attach(memory).unwrap();
        return traced(|| {
            let _ = mutex.try_lock().map(drop);
            let _ = mutex.lock_timeout(SOON).map(drop);
        });
    }
    let mutex = Mutex::create(0_u8).unwrap();
    let _guard = mutex.lock().unwrap();
    let mut led = Traced::start(PATH, "does it", mutex.memory());
    let mut count = 0_u64;
    let mut life = 0;
    led.lead_against(|memory| {
        if count == 0 {
            life = life_of(std::process::id(), memory);
        }
        count += 1;
        let dead = count << 32 | 0x4000_0001;
        memory.write_all_at(&dead.to_le_bytes(), life).unwrap();
    });
    led.halt(Fate::Stopped).go_on();
}

/// Each look of the process at its own life finds another thread there that keeps it.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_life_that_changes_all_the_time_lets_its_process_leave() {
    const PATH: &str = "hostile::a_life_that_changes_all_the_time_lets_its_process_leave";
    if let Some(memory) = half("does it") {
        let mutex = Mutex::<u8>::attach(memory).unwrap();
        return traced(|| drop(mutex));
    }
    let mutex = Mutex::create(0_u8).unwrap();
    let mut led = Traced::start(PATH, "does it", mutex.memory());
    let other = led.id();
    let (mut keeper, mut life) = (0_u32, 0);
    led.lead_against(|memory| {
        if keeper == 0 {
            life = life_of(other, memory);
        }
        keeper = keeper % 1000 + 1;
        memory.write_all_at(&keeper.to_le_bytes(), life).unwrap();
    });
    led.halt(Fate::Stopped).go_on();
}

/// Each look of the process at the lock that it gives back finds it its own still, and another mark beside that.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_lock_that_changes_all_the_time_is_let_go() {
    const PATH: &str = "hostile::a_lock_that_changes_all_the_time_is_let_go";
    /// The claim of the process that has come second.
    const CLAIM: u32 = 1 << 29 | 1 << 23;
    if let Some(memory) = half("does it") {
        let mutex = Mutex::<u8>::attach(memory).unwrap();
        let guard = mutex.lock().unwrap();
        return traced(|| drop(guard));
    }
    let mutex = Mutex::create(0_u8).unwrap();
    let mut led = Traced::start(PATH, "does it", mutex.memory());
    let (mut marks, mut lock) = (0_u32, 0);
    led.lead_against(|memory| {
        if marks == 0 {
            let len = memory.metadata().unwrap().len();
            let mut bytes = vec![0; len as usize];
            memory.read_exact_at(&mut bytes, 0).unwrap();
            let mut words = bytes.chunks_exact(4);
            let claimed = words.position(|word| word == CLAIM.to_le_bytes());
            lock = 4 * claimed.expect("it has the lock") as u64;
        }
        marks = marks.wrapping_add(1);
        let word = CLAIM | marks << 30;
        memory.write_all_at(&word.to_le_bytes(), lock).unwrap();
    });
    led.halt(Fate::Stopped).go_on();
}
