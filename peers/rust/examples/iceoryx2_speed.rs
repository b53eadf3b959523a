//! How fast is iceoryx2 between two processes? It asks what `speed` of `tamtam-ipc` asks. Run it on a machine with two idle cores:
//!
//!     cargo run --release --example iceoryx2_speed

use std::hint;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::PortFactory as _;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
type Way = PortFactory<ipc::Service, [u8], ()>;

const CAPACITY: usize = 1024;
const RUNS: usize = 5;
const ROUNDS: u64 = 100_000;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [half, name, size, count] => other(half, name, size.parse()?, count.parse()?),
        _ => measure(),
    }
}

/// A way for bytes in one direction, on which nothing is lost: a sender waits for room.
fn way(node: &Node<ipc::Service>, name: &str, size: usize) -> Outcome<Way> {
    Ok(node
        .service_builder(&name.try_into()?)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(capacity(size))
        .open_or_create()?)
}

/// So many messages may be on their way: the fewer, the longer they are.
fn capacity(size: usize) -> usize {
    CAPACITY.min((1 << 20) / size).max(2)
}

struct Sender(iceoryx2::port::publisher::Publisher<ipc::Service, [u8], ()>);

impl Sender {
    fn new(way: &Way, size: usize) -> Outcome<Self> {
        let publisher = way
            .publisher_builder()
            .initial_max_slice_len(size)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        Ok(Sender(publisher))
    }

    /// Sends until it is delivered: also where a sender is to wait for room, version 0.9 drops what has none, and says so by the number of those
    /// that have got it.
    fn send(&self, bytes: &[u8]) -> Outcome {
        loop {
            let sample = self.0.loan_slice_uninit(bytes.len())?;
            if sample.write_from_slice(bytes).send()? > 0 {
                return Ok(());
            }
            hint::spin_loop();
        }
    }
}

struct Receiver(iceoryx2::port::subscriber::Subscriber<ipc::Service, [u8], ()>);

impl Receiver {
    fn new(way: &Way) -> Outcome<Self> {
        Ok(Receiver(way.subscriber_builder().create()?))
    }

    /// Looks until there is a message, and copies it out.
    fn receive(&self, bytes: &mut [u8]) -> Outcome {
        loop {
            if let Some(sample) = self.0.receive()? {
                bytes.copy_from_slice(sample.payload());
                return Ok(());
            }
            hint::spin_loop();
        }
    }
}

/// What the other process does: it sends, or sends back what it gets.
fn other(half: &str, name: &str, size: usize, count: u64) -> Outcome {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let mut bytes = vec![7; size];
    let sender = Sender::new(&way(&node, name, size)?, size)?;
    if half == "send" {
        for number in 0..count {
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            sender.send(&bytes)?;
        }
        // What lies in memory of a sender that is gone is gone.
        thread::sleep(Duration::from_millis(500));
        return Ok(());
    }
    let receiver = Receiver::new(&way(&node, &format!("{name}/there"), size)?)?;
    // The other side begins when there is something to send to.
    for _ in 0..count {
        receiver.receive(&mut bytes)?;
        sender.send(&bytes)?;
    }
    thread::sleep(Duration::from_millis(500));
    Ok(())
}

fn start(half: &str, name: &str, size: usize, count: u64) -> Outcome<Child> {
    let words = [
        half.to_owned(),
        name.to_owned(),
        size.to_string(),
        count.to_string(),
    ];
    Ok(Command::new(std::env::current_exe()?).args(words).spawn()?)
}

/// Nanoseconds a message: the best and the median of some runs.
fn show(what: &str, size: usize, mut run: impl FnMut(&str) -> Outcome<f64>) -> Outcome {
    let mut times = (0..RUNS)
        .map(|number| run(&format!("speed-{}-{what}-{number}", std::process::id())))
        .collect::<Outcome<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[RUNS / 2]);
    let rate = size as f64 / median;
    println!("{what:24} {size:9} bytes {median:12.1} ns (best {best:.1}), {rate:.2} GB/s");
    Ok(())
}

fn one_way(name: &str, size: usize) -> Outcome<f64> {
    let count = (512_u64 << 20).min(size as u64 * 400_000) / size as u64;
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let receiver = Receiver::new(&way(&node, name, size)?)?;
    let mut child = start("send", name, size, count)?;
    let mut bytes = vec![0; size];
    receiver.receive(&mut bytes)?;
    let begin = Instant::now();
    for number in 1..count {
        receiver.receive(&mut bytes)?;
        assert_eq!(bytes[..8], number.to_le_bytes());
    }
    let time = begin.elapsed();
    assert_eq!(bytes[size - 1], 7);
    child.wait()?;
    Ok(time.as_secs_f64() * 1e9 / (count - 1) as f64)
}

fn round_trip(name: &str) -> Outcome<f64> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let receiver = Receiver::new(&way(&node, name, 16)?)?;
    let there = way(&node, &format!("{name}/there"), 16)?;
    let mut child = start("echo", name, 16, ROUNDS)?;
    let sender = Sender::new(&there, 16)?;
    while there.dynamic_config().number_of_subscribers() == 0 {
        thread::yield_now();
    }
    let mut bytes = [0; 16];
    sender.send(&bytes)?;
    receiver.receive(&mut bytes)?;
    let begin = Instant::now();
    for number in 1..ROUNDS {
        let sent = [number.to_le_bytes(), [7; 8]].concat();
        sender.send(&sent)?;
        receiver.receive(&mut bytes)?;
        assert_eq!(bytes[..], sent[..]);
    }
    let time = begin.elapsed();
    child.wait()?;
    Ok(time.as_secs_f64() * 1e9 / (ROUNDS - 1) as f64)
}

fn measure() -> Outcome {
    for size in [16, 1 << 10, 64 << 10, 1 << 20] {
        show("one way", size, |name| one_way(name, size))?;
    }
    show("round trip", 16, round_trip)
}
