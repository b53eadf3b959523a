//! Channels whose processes are killed or stopped.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tamtam_channel::{RecvTimeoutError, SendError};
use tamtam_ipc::{BytesReceiver, BytesSender, Receiver, Sender, bytes_channel, channel};

use crate::other::{Other, half};

/// Where a process of a test notes what it has done.
fn note(test: u32, process: u32) -> PathBuf {
    std::env::temp_dir().join(format!("tamtam-ipc-{test}-{process}"))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Senders are killed at any moment: while they write a message, wait for room, or note that one is sent. What was sent is received, once
/// and in order, by a receiver that never stops.
#[test]
fn killed_senders_lose_nothing_that_was_sent() {
    const PATH: &str = "channel_deaths::killed_senders_lose_nothing_that_was_sent";
    const KILLED: usize = 300;
    const LARGEST: usize = 20_000;
    if let Some(memory) = half("victim") {
        let sender = BytesSender::attach(memory).unwrap();
        let own = std::process::id();
        let note = File::create(note(parent_id(), own)).unwrap();
        for count in 0_u64.. {
            let len = [16, 40, 1000, LARGEST][count as usize % 4];
            let mut loan = sender.loan(len).unwrap();
            loan.write_at(0, &u64::from(own).to_le_bytes());
            loan.copy_from(&vec![own as u8; len]);
            loan.write_at(0, &u64::from(own).to_le_bytes());
            loan.write_at(8, &count.to_le_bytes());
            loan.commit().unwrap();
            note.write_all_at(&(count + 1).to_le_bytes(), 0).unwrap();
        }
    }
    let (sender, receiver) = bytes_channel(6, LARGEST).unwrap();
    let mut all = Vec::new();
    let (next, abandoned) = std::thread::scope(|threads| {
        let receiving = threads.spawn(move || {
            let mut next: BTreeMap<u32, u64> = BTreeMap::new();
            let mut buffer = Vec::new();
            while receiver.recv_bytes(&mut buffer).is_ok() {
                let (from, count) = (number(&buffer, 0), number(&buffer, 8));
                let next = next.entry(from as u32).or_default();
                assert_eq!(count, *next, "of {from}");
                assert!(buffer[16..].iter().all(|byte| *byte == from as u8));
                *next += 1;
            }
            assert!(!receiver.is_corrupt());
            (next, receiver.abandoned())
        });
        let mut others = VecDeque::new();
        for round in 0..KILLED as u64 {
            others.push_back(Other::start(PATH, "victim", sender.memory()));
            all.extend(others.back().map(Other::id));
            if others.len() == 3 {
                let mut other = others.pop_front().unwrap();
                let noted = note(std::process::id(), other.id());
                let patience = Instant::now() + Duration::from_secs(30);
                while !File::open(&noted).is_ok_and(|it| it.metadata().unwrap().len() > 0) {
                    assert!(Instant::now() < patience, "a sender sends nothing");
                    std::thread::sleep(Duration::from_micros(100));
                }
                std::thread::sleep(Duration::from_micros(round * 37 % 500));
                other.kill();
            }
        }
        drop(others);
        drop(sender);
        receiving.join().unwrap()
    });
    let mut total = 0;
    let mut noted = 0;
    for (process, received) in next {
        let path = note(std::process::id(), process);
        let mut bytes = [0; 8];
        let is_noted = File::open(&path)
            .unwrap()
            .read_exact_at(&mut bytes, 0)
            .is_ok();
        let sent = if is_noted { number(&bytes, 0) } else { 0 };
        assert!(
            received == sent || received == sent + 1,
            "{process} has sent {sent}, of which {received} came"
        );
        total += received;
        noted += 1;
    }
    for started in all {
        let _ = std::fs::remove_file(note(std::process::id(), started));
    }
    println!("{noted} processes sent {total} messages, {abandoned} were abandoned");
    assert!(noted >= KILLED - 3);
}

/// A sender that waits for room is told of the receiver's death, and a receiver that comes after it goes on where that has stopped.
#[test]
fn the_death_of_the_receiver_ends_sends_at_once() {
    const PATH: &str = "channel_deaths::the_death_of_the_receiver_ends_sends_at_once";
    if let Some(memory) = half("victim") {
        let receiver = Receiver::<u64>::attach(memory).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        loop {
            std::thread::park();
        }
    }
    let mut told = Vec::new();
    for _ in 0..5 {
        let (sender, receiver) = channel::<u64>(4).unwrap();
        let memory = receiver.hand_over().unwrap();
        let mut other = Other::start(PATH, "victim", memory.as_fd());
        for number in 0..5 {
            sender.send(number).unwrap();
        }
        std::thread::scope(|threads| {
            let sending = threads.spawn(|| {
                let refused = sender.send(5);
                assert_eq!(refused, Err(SendError(5)));
                Instant::now()
            });
            std::thread::sleep(Duration::from_millis(20));
            let killed = Instant::now();
            other.kill();
            told.push(sending.join().unwrap() - killed);
        });
        let receiver = Receiver::<u64>::attach(memory).unwrap();
        drop(sender);
        assert!(receiver.iter().eq(1..5));
    }
    println!("told after {told:?}");
    assert!(told.iter().min() < Some(&Duration::from_millis(500)));
}

/// The last sender dies, and the receiver that waits is told.
#[test]
fn the_death_of_the_last_sender_ends_a_receive() {
    const PATH: &str = "channel_deaths::the_death_of_the_last_sender_ends_a_receive";
    if let Some(memory) = half("victim") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        sender.send(1).unwrap();
        loop {
            std::thread::park();
        }
    }
    let (sender, receiver) = channel::<u64>(4).unwrap();
    let mut other = Other::start(PATH, "victim", sender.memory());
    assert_eq!(receiver.recv(), Ok(1));
    drop(sender);
    let soon = Duration::from_millis(20);
    assert_eq!(receiver.recv_timeout(soon), Err(RecvTimeoutError::Timeout));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(soon);
            other.kill();
        });
        let patient = Duration::from_secs(30);
        let end = receiver.recv_timeout(patient);
        assert_eq!(end, Err(RecvTimeoutError::Disconnected));
    });
}

/// Stops this process, and this thread until the test has made the process' note.
fn stop_until_noted() {
    let own = rustix::process::getpid();
    let noted = note(parent_id(), std::process::id());
    kill_process(own, Signal::STOP).unwrap();
    // The signal may have stopped another thread first.
    while !noted.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_file(noted).unwrap();
}

/// A process that is stopped is not dead: what it has begun is waited for, and it goes on. Killed, it is passed over.
#[test]
fn a_stopped_sender_is_waited_for_and_a_killed_one_is_not() {
    const PATH: &str = "channel_deaths::a_stopped_sender_is_waited_for_and_a_killed_one_is_not";
    if let Some(memory) = half("sender") {
        let sender = BytesSender::attach(memory).unwrap();
        sender.send(b"begin").unwrap();
        let mut loan = sender.loan(5).unwrap();
        loan.copy_from(b"later");
        stop_until_noted();
        loan.commit().unwrap();
        return;
    }
    for is_killed in [false, true] {
        let (sender, receiver) = bytes_channel(4, 100).unwrap();
        let mut other = Other::start(PATH, "sender", sender.memory());
        let mut buffer = Vec::new();
        receiver.recv_bytes(&mut buffer).unwrap();
        assert_eq!(buffer, b"begin");
        other.wait_until_stopped();
        sender.send(b"last").unwrap();
        let soon = Duration::from_millis(30);
        let waited = receiver.recv_timeout_bytes(&mut buffer, soon);
        assert_eq!(waited, Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.len(), 2);
        if is_killed {
            other.kill();
        } else {
            File::create(note(std::process::id(), other.id())).unwrap();
            let id = Pid::from_raw(other.id().cast_signed()).unwrap();
            kill_process(id, Signal::CONT).unwrap();
            receiver.recv_bytes(&mut buffer).unwrap();
            assert_eq!(buffer, b"later");
            other.ends_well();
        }
        receiver.recv_bytes(&mut buffer).unwrap();
        assert_eq!(buffer, b"last");
        assert_eq!(receiver.abandoned(), u64::from(is_killed));
    }
}

/// While a message is in use a later one may be received and given back. The next receiver has the first again, then those behind the second.
#[test]
fn a_message_that_was_given_back_before_the_one_in_use_does_not_come_again() {
    const PATH: &str =
        "channel_deaths::a_message_that_was_given_back_before_the_one_in_use_does_not_come_again";
    if let Some(memory) = half("receiver") {
        let receiver = BytesReceiver::attach(memory).unwrap();
        receiver.recv_with(|_| ()).unwrap();
        let nested = receiver.recv_with(|_| {
            for _ in 0..2 {
                receiver.try_recv_with(|_| ()).unwrap();
            }
            stop_until_noted();
        });
        return nested.unwrap();
    }
    let (sender, receiver) = bytes_channel(5, 100).unwrap();
    for message in [b"one", b"two", b"tre", b"fou", b"fiv"] {
        sender.send(message).unwrap();
    }
    let memory = receiver.hand_over().unwrap();
    let mut other = Other::start(PATH, "receiver", memory.as_fd());
    other.wait_until_stopped();
    sender.send(b"six").unwrap();
    other.kill();
    other.wait();
    let receiver = BytesReceiver::attach(memory).unwrap();
    let mut buffer = Vec::new();
    for message in [b"two", b"fiv", b"six"] {
        receiver.recv_bytes(&mut buffer).unwrap();
        assert_eq!(buffer, message);
    }
    for round in 0..20_u8 {
        let count = 1 + round % 5;
        (0..count).for_each(|number| sender.try_send(&[round, number]).unwrap());
        for number in 0..count {
            receiver.recv_bytes(&mut buffer).unwrap();
            assert_eq!(buffer, [round, number]);
        }
    }
    assert!(receiver.is_empty() && !receiver.is_corrupt());
    assert_eq!(receiver.abandoned(), 0);
}

/// A receiver that is stopped is not dead either, and one that was killed while it used a message leaves that to the next.
#[test]
fn a_message_in_use_when_the_receiver_dies_comes_again() {
    const PATH: &str = "channel_deaths::a_message_in_use_when_the_receiver_dies_comes_again";
    if let Some(memory) = half("receiver") {
        let receiver = BytesReceiver::attach(memory).unwrap();
        receiver.recv_with(|_| ()).unwrap();
        receiver.recv_with(|_| stop_until_noted()).unwrap();
        return;
    }
    let (sender, receiver) = bytes_channel(2, 100).unwrap();
    let memory = receiver.hand_over().unwrap();
    let mut other = Other::start(PATH, "receiver", memory.as_fd());
    for message in [b"one", b"two", b"tre"] {
        sender.send(message).unwrap();
    }
    other.wait_until_stopped();
    assert!(!sender.is_closed());
    assert!(sender.try_send(b"no room").is_err());
    other.kill();
    let patience = Instant::now() + Duration::from_secs(30);
    while !sender.is_closed() {
        assert!(Instant::now() < patience, "the dead still receives");
        std::thread::sleep(Duration::from_millis(1));
    }
    let receiver = BytesReceiver::attach(memory).unwrap();
    let mut buffer = Vec::new();
    for message in [b"two", b"tre"] {
        receiver.recv_bytes(&mut buffer).unwrap();
        assert_eq!(buffer, message);
    }
}
