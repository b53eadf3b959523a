//! How long after a message was sent by another process does a thread run that slept until then?

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use rustix::thread::{ClockId, futex};
use tamtam_channel::{select, unbounded};
use tamtam_ipc::{Receiver, Sender, SharedBytes, channel};

use crate::compare::{Outcome, Role, Way, compare, middle_and_late, now, pin, start};

const MESSAGES: u64 = 1_000;
/// Between two messages, so that the receiver sleeps.
const PAUSE: Duration = Duration::from_micros(700);
/// Where the time of a message lies, behind the number that the kernel looks at.
const TIME: usize = 8;
/// Where a word lies that stays as it is.
const OTHER: usize = 64;

/// What the other process does.
pub(crate) fn other(role: &Role<'_>) -> Outcome {
    let memory = std::io::stdin().as_fd().try_clone_to_owned()?;
    if role.way == "futex" {
        let words = SharedBytes::attach(memory)?;
        let word = words.atomic_u32(0)?;
        for number in 1..=u32::try_from(role.number)? {
            std::thread::sleep(PAUSE);
            words.atomic_u64(TIME)?.store(now(), Ordering::Relaxed);
            word.store(number, Ordering::Release);
            futex::wake(word, futex::Flags::empty(), 1)?;
        }
        return Ok(());
    }
    let sender = Sender::<u64>::attach(memory)?;
    for _ in 0..role.number {
        std::thread::sleep(PAUSE);
        sender.send(now())?;
    }
    Ok(())
}

fn timed(
    way: &str,
    cores: usize,
    memory: std::os::fd::BorrowedFd<'_>,
    mut receive: impl FnMut() -> Outcome<u64>,
) -> Outcome<Vec<f64>> {
    pin(0);
    let role = Role {
        section: "wake",
        way,
        number: MESSAGES,
    };
    let mut child = start(&role, cores - 1, memory)?;
    let mut late = Vec::with_capacity(MESSAGES as usize);
    for _ in 0..MESSAGES {
        let sent = receive()?;
        late.push(now() - sent);
    }
    assert!(child.wait()?.success());
    Ok(middle_and_late(late))
}

/// A sleep at one word, or at two, as at a bell and the life of the process that rings it.
fn bare_futex(cores: usize, of_words: usize) -> Outcome<Vec<f64>> {
    let words = SharedBytes::create(4096)?;
    let word = words.atomic_u32(0)?;
    let other = words.atomic_u32(OTHER)?;
    let mut number = 0;
    timed("futex", cores, words.memory(), || {
        number += 1;
        loop {
            // A receiver that is late finds a later one.
            let seen = word.load(Ordering::Acquire);
            if seen >= number {
                break;
            }
            // Woken, or it was there: the loop looks.
            if of_words == 1 {
                let _ = futex::wait(word, futex::Flags::empty(), seen, None);
            } else {
                let none = futex::WaitvFlags::empty();
                let both = [at(word, seen), at(other, 0)];
                let _ = futex::waitv(&both, none, None, ClockId::Monotonic);
            }
        }
        Ok(words.atomic_u64(TIME)?.load(Ordering::Relaxed))
    })
}

fn at(word: &AtomicU32, seen: u32) -> futex::Wait {
    let mut wait = futex::Wait::new();
    wait.val = seen.into();
    wait.uaddr = futex::WaitPtr::new(word.as_ptr().cast());
    wait.flags = futex::WaitFlags::SIZE_U32;
    wait
}

fn by_channel(
    cores: usize,
    receive: impl Fn(&mut Receiver<u64>) -> Outcome<u64>,
) -> Outcome<Vec<f64>> {
    let (sender, mut receiver) = channel::<u64>(16)?;
    timed("channel", cores, sender.memory(), || receive(&mut receiver))
}

pub(crate) fn measure(runs: usize) -> Outcome {
    let (_thread, of_threads) = unbounded::<u64>();
    for cores in [2, 1] {
        let of_threads = &of_threads;
        let ways: Vec<Way<'_>> = vec![
            ("a futex", Box::new(move || bare_futex(cores, 1))),
            ("two futexes", Box::new(move || bare_futex(cores, 2))),
            (
                "recv",
                Box::new(move || by_channel(cores, |receiver| Ok(receiver.recv()?))),
            ),
            (
                "select, beside a channel of threads",
                Box::new(move || {
                    by_channel(cores, |receiver| {
                        let end = receiver.selectable();
                        select! {
                            wait(end) => Ok(end.try_recv()?),
                            recv(of_threads) -> number => Ok(number?),
                        }
                    })
                }),
            ),
            (
                "recv_async",
                Box::new(move || {
                    by_channel(cores, |receiver| Ok(block_on(receiver.recv_async())?))
                }),
            ),
        ];
        let title = format!("from the send to a thread that slept, cores: {cores}");
        compare(&title, &["median", "99 of 100"], runs, ways)?;
    }
    Ok(())
}
