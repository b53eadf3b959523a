//! Sixteen bytes there and back.

use std::hint;
use std::os::fd::AsFd;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use rustix::thread::futex;
use tamtam_channel::Slot as ThreadSlot;
use tamtam_ipc::{Receiver, Sender, SharedBytes, Slot, channel, receive_memory, send_memory};
use tamtam_wait::Wait;

use crate::compare::{Outcome, Role, compare, per_one, pin, start};

type Message = [u64; 2];

const CAPACITY: usize = 1024;
/// Where the words of the way there and of the way back lie: on two lines, far apart.
const WORDS: [usize; 2] = [0, 256];
/// What follows a word of those.
const REST: usize = 8;

/// How many times there and back.
fn rounds(cores: usize) -> u64 {
    if cores == 1 { 20_000 } else { 100_000 }
}

/// What the other process does, with a socket as its standard input: it sends back what it gets.
pub(crate) fn other(role: &Role<'_>) -> Outcome {
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let memory = || receive_memory(&socket);
    match role.way {
        "words" => {
            let words = SharedBytes::attach(memory()?)?;
            for number in 1..=role.number {
                let rest = spin(&words, WORDS[0], number)?;
                say(&words, WORDS[1], number, rest)?;
            }
        }
        "futex" => {
            let words = SharedBytes::attach(memory()?)?;
            for number in 1..=role.number {
                let rest = sleep(&words, WORDS[0], number)?;
                say(&words, WORDS[1], number, rest)?;
                wake(&words, WORDS[1])?;
            }
        }
        "slot" => {
            let (there, back) = (Slot::attach(memory()?)?, Slot::attach(memory()?)?);
            for _ in 0..role.number {
                back.put(Slot::<Message>::take(&there));
            }
        }
        way => {
            let wait = wait_of(way);
            let receiver = Receiver::<Message>::attach(memory()?)?.with_wait(wait);
            let sender = Sender::<Message>::attach(memory()?)?.with_wait(wait);
            for message in receiver.iter().take(role.number.try_into()?) {
                sender.send(message)?;
            }
        }
    }
    Ok(())
}

fn wait_of(way: &str) -> Wait {
    if way == "channel spun" {
        Wait::Spin
    } else {
        Wait::Adaptive
    }
}

/// Writes a number and what comes with it.
fn say(words: &SharedBytes, at: usize, number: u64, rest: u64) -> Outcome {
    words.atomic_u64(at + REST)?.store(rest, Ordering::Relaxed);
    words.atomic_u64(at)?.store(number, Ordering::Release);
    Ok(())
}

/// Looks until the number is there, and gives what comes with it.
fn spin(words: &SharedBytes, at: usize, number: u64) -> Outcome<u64> {
    let word = words.atomic_u64(at)?;
    while word.load(Ordering::Acquire) != number {
        hint::spin_loop();
    }
    Ok(words.atomic_u64(at + REST)?.load(Ordering::Relaxed))
}

/// The half of a word that the kernel looks at.
fn half(words: &SharedBytes, at: usize) -> Outcome<&AtomicU32> {
    Ok(words.atomic_u32(if cfg!(target_endian = "little") {
        at
    } else {
        at + 4
    })?)
}

/// Sleeps until the number is there, and gives what comes with it.
fn sleep(words: &SharedBytes, at: usize, number: u64) -> Outcome<u64> {
    let word = half(words, at)?;
    loop {
        let seen = word.load(Ordering::Acquire);
        if u64::from(seen) == number {
            break;
        }
        // Woken, or it was there: the loop looks.
        let _ = futex::wait(word, futex::Flags::empty(), seen, None);
    }
    Ok(words.atomic_u64(at + REST)?.load(Ordering::Relaxed))
}

fn wake(words: &SharedBytes, at: usize) -> Outcome {
    futex::wake(half(words, at)?, futex::Flags::empty(), 1)?;
    Ok(())
}

/// Times there and back with another process that has these segments.
fn timed(
    way: &str,
    cores: usize,
    memories: [BorrowedFd<'_>; 2],
    mut round: impl FnMut(u64) -> Outcome<u64>,
) -> Outcome<Vec<f64>> {
    pin(0);
    let rounds = rounds(cores);
    let (socket, theirs) = UnixStream::pair()?;
    let role = Role {
        section: "round-trip",
        way,
        number: rounds,
    };
    let mut child = start(&role, cores - 1, theirs.as_fd())?;
    for memory in memories {
        send_memory(&socket, memory)?;
    }
    // The first one waits until the other process runs.
    round(1)?;
    let begin = Instant::now();
    for number in 2..=rounds {
        assert_eq!(round(number)?, number ^ 7);
    }
    let time = begin.elapsed();
    assert!(child.wait()?.success());
    Ok(vec![per_one(time, rounds - 1)])
}

fn words(way: &str, cores: usize) -> Outcome<Vec<f64>> {
    let words = SharedBytes::create(4096)?;
    timed(way, cores, [words.memory(); 2], |number| {
        say(&words, WORDS[0], number, number ^ 7)?;
        if way == "words" {
            spin(&words, WORDS[1], number)
        } else {
            wake(&words, WORDS[0])?;
            sleep(&words, WORDS[1], number)
        }
    })
}

fn channels(way: &str, cores: usize) -> Outcome<Vec<f64>> {
    let wait = wait_of(way);
    let (sender, their_receiver) = channel::<Message>(CAPACITY)?;
    let (their_sender, receiver) = channel::<Message>(CAPACITY)?;
    let there: OwnedFd = their_receiver.hand_over()?;
    let (sender, receiver) = (sender.with_wait(wait), receiver.with_wait(wait));
    let memories = [there.as_fd(), their_sender.memory()];
    timed(way, cores, memories, |number| {
        sender.send([number, number ^ 7])?;
        let [came, rest] = receiver.recv()?;
        assert_eq!(came, number);
        Ok(rest)
    })
}

fn slots(cores: usize) -> Outcome<Vec<f64>> {
    let (there, back) = (Slot::<Message>::create()?, Slot::<Message>::create()?);
    timed("slot", cores, [there.memory(), back.memory()], |number| {
        there.put([number, number ^ 7]);
        Ok(back.take()[1])
    })
}

/// The same between two threads of this process.
fn thread_slots(cores: usize) -> Outcome<Vec<f64>> {
    let rounds = rounds(cores);
    let (there, back) = (ThreadSlot::<Message>::new(), ThreadSlot::<Message>::new());
    let time = thread::scope(|scope| {
        scope.spawn(|| {
            pin(cores - 1);
            for _ in 0..rounds {
                back.put(there.take());
            }
        });
        pin(0);
        let mut round = |number| {
            there.put([number, number ^ 7]);
            assert_eq!(back.take()[1], number ^ 7);
        };
        round(1);
        let begin = Instant::now();
        (2..=rounds).for_each(&mut round);
        begin.elapsed()
    });
    Ok(vec![per_one(time, rounds - 1)])
}

pub(crate) fn measure(runs: usize) -> Outcome {
    compare(
        "16 bytes there and back, two cores",
        &[""],
        runs,
        vec![
            ("two lines, spun", Box::new(|| words("words", 2))),
            ("channel, spun", Box::new(|| channels("channel spun", 2))),
            ("Slot of threads", Box::new(|| thread_slots(2))),
            ("channel", Box::new(|| channels("channel", 2))),
            ("Slot", Box::new(|| slots(2))),
        ],
    )?;
    compare(
        "16 bytes there and back, one core",
        &[""],
        runs,
        vec![
            ("two futexes", Box::new(|| words("futex", 1))),
            ("channel", Box::new(|| channels("channel", 1))),
            ("Slot", Box::new(|| slots(1))),
            ("Slot of threads", Box::new(|| thread_slots(1))),
        ],
    )
}
