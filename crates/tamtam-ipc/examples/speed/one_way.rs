//! A stream of messages of several sizes, copied in and out or in alone, beside a copy within one process.

use std::hint;
use std::os::fd::AsFd;
use std::time::Instant;

use tamtam_ipc::{BytesSender, Plain, Sender, bytes_channel, channel};

use crate::compare::{Outcome, Role, Way, compare, per_one, pin, start};

const CAPACITY: usize = 1024;
/// Messages of so many bytes in all are on their way at most.
const ON_THEIR_WAY: usize = 1 << 20;
const SMALL: u64 = 1_000_000;
const SIZES: [usize; 4] = [16, 1 << 10, 64 << 10, 1 << 20];

fn capacity(size: usize) -> usize {
    (ON_THEIR_WAY / size).clamp(2, CAPACITY)
}

fn count(size: usize) -> u64 {
    SMALL.min((2 << 30) / size as u64)
}

/// What the other process does: it sends.
pub(crate) fn other(role: &Role<'_>) -> Outcome {
    let memory = std::io::stdin().as_fd().try_clone_to_owned()?;
    match role.way {
        "plain 16" => send::<2>(Sender::attach(memory)?, role.number),
        "plain 1024" => send::<128>(Sender::attach(memory)?, role.number),
        "many" => {
            let sender = Sender::<[u64; 2]>::attach(memory)?;
            sender.send_many((0..role.number).map(|number| [number; 2]))?;
            Ok(())
        }
        size => {
            let sender = BytesSender::attach(memory)?;
            let mut bytes = vec![7; size.parse()?];
            for number in 0..role.number {
                bytes[..8].copy_from_slice(&number.to_ne_bytes());
                sender.send(&bytes)?;
            }
            Ok(())
        }
    }
}

fn send<const N: usize>(sender: Sender<[u64; N]>, count: u64) -> Outcome
where
    [u64; N]: Plain,
{
    for number in 0..count {
        sender.send([number; N]).map_err(|_| "no receiver")?;
    }
    Ok(())
}

/// Times a stream, from the first message that came to the last.
fn timed(
    way: &str,
    size: usize,
    memory: std::os::fd::BorrowedFd<'_>,
    mut receive: impl FnMut() -> Outcome<u64>,
) -> Outcome<Vec<f64>> {
    pin(0);
    let count = count(size);
    let role = Role {
        section: "one-way",
        way,
        number: count,
    };
    let mut child = start(&role, 1, memory)?;
    assert_eq!(receive()?, 0);
    let begin = Instant::now();
    let mut next = 1;
    while next < count {
        assert_eq!(receive()?, next);
        next += 1;
    }
    let time = begin.elapsed();
    assert!(child.wait()?.success());
    Ok(vec![per_one(time, count - 1)])
}

fn plain<const N: usize>(way: &str) -> Outcome<Vec<f64>>
where
    [u64; N]: Plain,
{
    let (sender, receiver) = channel::<[u64; N]>(CAPACITY)?;
    let memory = sender.memory();
    timed(way, size_of::<[u64; N]>(), memory, || {
        Ok(receiver.recv()?[N - 1])
    })
}

fn many() -> Outcome<Vec<f64>> {
    let (sender, receiver) = channel::<[u64; 2]>(CAPACITY)?;
    let mut buffer = Vec::with_capacity(CAPACITY);
    let mut at = 0;
    timed("many", 16, sender.memory(), || {
        if at == buffer.len() {
            buffer.clear();
            receiver.recv_many(&mut buffer, CAPACITY)?;
            at = 0;
        }
        at += 1;
        Ok(buffer[at - 1][1])
    })
}

fn bytes(size: usize) -> Outcome<Vec<f64>> {
    let (sender, receiver) = bytes_channel(capacity(size), size)?;
    let mut buffer = Vec::new();
    timed(&size.to_string(), size, sender.memory(), || {
        receiver.recv_bytes(&mut buffer)?;
        Ok(u64::from_ne_bytes(buffer[..8].try_into()?))
    })
}

/// As `bytes`, but the receiver looks at them where they lie: one copy, that of the sender.
fn in_place(size: usize) -> Outcome<Vec<f64>> {
    let (sender, receiver) = bytes_channel(capacity(size), size)?;
    timed(&size.to_string(), size, sender.memory(), || {
        let number = receiver.recv_with(|bytes| {
            let mut number = [0; 8];
            bytes.read_at(0, &mut number);
            number
        })?;
        Ok(u64::from_ne_bytes(number))
    })
}

/// Copies between the places of as many messages, one after the other.
fn memcpy(size: usize) -> Outcome<Vec<f64>> {
    pin(0);
    let from = vec![7_u8; size];
    let mut to = vec![0_u8; size * capacity(size)];
    let count = count(size);
    let mut copy = |count| {
        for (place, _) in (0..capacity(size)).cycle().zip(0..count) {
            to[place * size..][..size].copy_from_slice(hint::black_box(&from));
            hint::black_box(&mut to);
        }
    };
    // The memory is there.
    copy(capacity(size) as u64);
    let begin = Instant::now();
    copy(count);
    Ok(vec![per_one(begin.elapsed(), count)])
}

pub(crate) fn measure(runs: usize) -> Outcome {
    for size in SIZES {
        let mut ways: Vec<Way<'_>> = vec![
            ("a copy in one process", Box::new(move || memcpy(size))),
            ("channel of bytes", Box::new(move || bytes(size))),
            (
                "channel of bytes, looked at in place",
                Box::new(move || in_place(size)),
            ),
        ];
        match size {
            16 => {
                ways.push(("channel", Box::new(|| plain::<2>("plain 16"))));
                ways.push(("channel, send_many and recv_many", Box::new(many)));
            }
            1024 => ways.push(("channel", Box::new(|| plain::<128>("plain 1024")))),
            _ => {}
        }
        compare(&format!("one way, {size} bytes"), &[""], runs, ways)?;
    }
    Ok(())
}
