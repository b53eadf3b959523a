//! Two streams of bytes between two processes.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use tamtam_ipc::{CarrierError, CarrierReader, CarrierWriter, Wait, attach, carrier};

use crate::other::{LONG, Other, Waiting, half, memory_of};

fn write_all(writer: &mut CarrierWriter, mut bytes: &[u8]) -> Result<(), CarrierError> {
    while !bytes.is_empty() {
        match writer.write(bytes)? {
            0 => writer.wait(|| true)?,
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}

fn read_exact(reader: &mut CarrierReader, mut bytes: &mut [u8]) -> Result<(), CarrierError> {
    while !bytes.is_empty() {
        match reader.read(bytes)? {
            0 => assert!(reader.wait(None, || true)?),
            count => bytes = &mut bytes[count..],
        }
    }
    Ok(())
}

#[test]
fn what_one_process_writes_comes_back_from_the_other() {
    const PATH: &str = "carrier::what_one_process_writes_comes_back_from_the_other";
    if let Some(memory) = half("echo") {
        let (mut writer, mut reader) = attach(memory).unwrap();
        let mut bytes = [0; 3000];
        loop {
            match reader.read(&mut bytes) {
                Ok(0) => assert!(reader.wait(None, || true).unwrap()),
                Ok(count) => write_all(&mut writer, &bytes[..count]).unwrap(),
                Err(error) => return assert_eq!(error, CarrierError::Closed),
            }
        }
    }
    let (mut writer, mut reader) = carrier(4096).unwrap();
    let other = Other::start(PATH, "echo", reader.memory());
    let mut round = |count: usize| {
        let sent: Vec<u8> = (0..count).map(|at| (at * 7 + count) as u8).collect();
        let mut back = vec![0; count];
        for (sent, back) in sent.chunks(3500).zip(back.chunks_mut(3500)) {
            write_all(&mut writer, sent).unwrap();
            read_exact(&mut reader, back).unwrap();
        }
        assert_eq!(sent, back);
    };
    for count in [1, 16, 100, 4095, 4096, 4097, 100_000] {
        round(count);
    }
    for count in 0..2000 {
        round(count % 37);
    }
    drop((writer, reader));
    other.ends_well();
}

/// Whoever waits hears of a process that was killed, and reads first what that had written.
#[test]
fn a_killed_process_is_noticed_and_what_it_wrote_is_there() {
    const PATH: &str = "carrier::a_killed_process_is_noticed_and_what_it_wrote_is_there";
    if let Some(memory) = half("victim") {
        let (mut writer, reader) = attach(memory).unwrap();
        let large = vec![1_u8; 64 << 20];
        write_all(&mut writer, b"last words").unwrap();
        // It is killed while it waits.
        let _ = reader.wait(None, || true);
        drop(large);
        return;
    }
    let mut noticed = Vec::new();
    for _ in 0..5 {
        let (mut writer, mut reader) = carrier(4096).unwrap();
        let mut other = Other::start(PATH, "victim", reader.memory());
        let mut words = [0; 10];
        read_exact(&mut reader, &mut words[..4]).unwrap();
        let waits = std::thread::scope(|threads| {
            let waiting = threads.spawn(|| {
                assert!(reader.len() == Ok(6));
                read_exact(&mut reader, &mut words[4..]).unwrap();
                assert_eq!(reader.wait(None, || true), Ok(true));
                let at = Instant::now();
                assert_eq!(reader.read(&mut [0; 4]), Err(CarrierError::Closed));
                at
            });
            std::thread::sleep(Duration::from_millis(20));
            let killed = Instant::now();
            other.kill();
            waiting.join().unwrap() - killed
        });
        assert_eq!(&words, b"last words");
        noticed.push(waits);
        // So does a writer, once there is no room.
        while writer.write(&[0; 4096]).unwrap() > 0 {}
        assert_eq!(writer.wait(|| true), Err(CarrierError::Closed));
    }
    println!("told after {noticed:?}");
    assert!(noticed.iter().min() < Some(&Duration::from_millis(500)));
}

#[test]
fn a_waiting_thread_is_woken_by_another_of_its_process() {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    let (mut writer, reader) = carrier(4096).unwrap();
    while writer.write(&[0; 4096]).unwrap() > 0 {}
    let is_done = AtomicBool::new(false);
    let (to_read, to_write) = (reader.waker(), writer.waker());
    std::thread::scope(|threads| {
        threads.spawn(|| reader.wait(None, || !is_done.load(SeqCst)).unwrap());
        threads.spawn(|| writer.wait(|| !is_done.load(SeqCst)).unwrap());
        std::thread::sleep(Duration::from_millis(10));
        is_done.swap(true, SeqCst);
        to_read.wake();
        to_write.wake();
    });
    let soon = Instant::now() + Duration::from_millis(5);
    assert_eq!(reader.wait(Some(soon), || true), Ok(false));
    assert!(Instant::now() >= soon);
}

/// A process that is not to be trusted writes into the memory what stood there before the thread went to sleep.
#[test]
fn a_waiting_thread_is_woken_by_its_process_whatever_the_other_has_written() {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    // Some of them wait without an end: then it is this that ends the test.
    tamtam_testing::within(4 * LONG, || {
        for number in 0..5 {
            let (mut writer, reader) = carrier(4096).unwrap();
            while writer.write(&[0; 4096]).unwrap() > 0 {}
            let memory = memory_of(reader.memory());
            let mut before = vec![0; memory.metadata().unwrap().len() as usize];
            memory.read_exact_at(&mut before, 0).unwrap();
            let (seats, is_done) = (reader.seats(), AtomicBool::new(false));
            let (to_all, to_read, to_write) = (seats.waker(), reader.waker(), writer.waker());
            std::thread::scope(|threads| {
                let (seats, reader, writer) = (&seats, &reader, &mut writer);
                let is_done = &is_done;
                let over = || is_done.load(SeqCst);
                let waiting = Waiting::start(threads, move || match number {
                    0 => reader.wait(None, || !over()).unwrap(),
                    1 => writer.wait(|| !over()).is_ok(),
                    2 => seats.wait(7, Wait::Park, None, over),
                    3 => seats.wait_for_any(None, over),
                    _ => seats.rest(Instant::now() + LONG, over),
                });
                waiting.sleeps();
                memory.write_all_at(&before, 0).unwrap();
                is_done.swap(true, SeqCst);
                match number {
                    0 => to_read.wake(),
                    1 => to_write.wake(),
                    _ => to_all.wake(),
                }
                assert!(waiting.join(), "the wait of number {number}");
            });
        }
    });
}

#[test]
fn other_memory_is_refused_with_what_it_is() {
    use std::os::fd::OwnedFd;
    let file: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    let error = attach(file).unwrap_err().to_string();
    assert!(error.contains("no memory whose size is sealed"), "{error}");
}

/// The program at the other side is of another version, which writes the memory in another way.
#[test]
fn memory_of_another_layout_is_refused_and_both_are_named() {
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::os::unix::fs::FileExt;
    use tamtam_ipc::{AttachError, Slot};

    // Behind eight bytes that say that it is memory of tamtam.
    const PLACE: u64 = 8;
    let change = |memory: BorrowedFd<'_>| -> OwnedFd {
        let memory = memory.try_clone_to_owned().unwrap();
        let file = std::fs::File::from(memory.try_clone().unwrap());
        let mut layout = [0; 4];
        file.read_exact_at(&mut layout, PLACE).unwrap();
        let next = u32::from_le_bytes(layout) + 1;
        file.write_all_at(&next.to_le_bytes(), PLACE).unwrap();
        memory
    };
    let told = |error: AttachError| match &error {
        AttachError::Layout { theirs, ours } => {
            assert_eq!(*theirs, ours + 1);
            let said = error.to_string();
            let both = format!("has layout {theirs}, and this program reads layout {ours}");
            assert!(said.contains(&both), "{said}");
            assert!(
                said.contains("build both programs with one version"),
                "{said}"
            );
        }
        other => panic!("{other:?}"),
    };
    let (_writer, reader) = carrier(4096).unwrap();
    told(attach(change(reader.memory())).unwrap_err());
    let slot = Slot::<u64>::create().unwrap();
    told(Slot::<u64>::attach(change(slot.memory())).unwrap_err());
}
