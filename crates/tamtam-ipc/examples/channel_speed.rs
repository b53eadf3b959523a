//! How fast are channels between two processes? Run it in release mode, on a machine with two idle cores:
//!
//!     cargo run --release -p tamtam-ipc --example channel_speed
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    match std::env::args().nth(1) {
        Some(half) => linux::other(&half),
        None => linux::measure(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    //! The two processes.

    use std::os::fd::{AsFd, BorrowedFd};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use rustix::thread::{CpuSet, sched_setaffinity};
    use tamtam_ipc::{BytesSender, Plain, Receiver, Sender, bytes_channel, channel};

    type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    const CAPACITY: usize = 1024;
    const RUNS: usize = 7;
    const MESSAGES: u64 = 1_000_000;
    const ROUNDS: u64 = 100_000;

    /// This process runs on one core from now on.
    fn pin(core: usize) {
        let mut cores = CpuSet::new();
        cores.set(core);
        // With one core the two share it.
        let _ = sched_setaffinity(None, &cores);
    }

    fn start(half: &str, memory: BorrowedFd<'_>) -> Outcome<Child> {
        let child = Command::new(std::env::current_exe()?)
            .arg(half)
            .stdin(Stdio::from(memory.try_clone_to_owned()?))
            .spawn()?;
        Ok(child)
    }

    /// What the other process does.
    pub(crate) fn other(half: &str) -> Outcome {
        pin(1);
        let memory = std::io::stdin().as_fd().try_clone_to_owned()?;
        match half {
            "16" => send::<[u64; 2]>(Sender::attach(memory)?, [7; 2]),
            "16 many" => {
                let sender = Sender::<[u64; 2]>::attach(memory)?;
                sender.send_many((0..MESSAGES).map(|number| [number, 7]))?;
                Ok(())
            }
            "1024" => send::<[u64; 128]>(Sender::attach(memory)?, [7; 128]),
            "bytes" => {
                let sender = BytesSender::attach(memory)?;
                let bytes = [7; 1024];
                for _ in 0..MESSAGES {
                    sender.send(&bytes)?;
                }
                Ok(())
            }
            _ => {
                // The way back is a channel of this process, whose memory comes through the first message's place: a file's path.
                let receiver = Receiver::<[u64; 2]>::attach(memory)?;
                let path = std::env::args().nth(2).ok_or("no path")?;
                let back = std::fs::OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(path)?;
                let sender = Sender::<[u64; 2]>::attach(back.into())?;
                for message in receiver.iter() {
                    sender.send(message)?;
                }
                Ok(())
            }
        }
    }

    fn send<T: Plain + Copy>(sender: Sender<T>, message: T) -> Outcome {
        for _ in 0..MESSAGES {
            sender.send(message).map_err(|_| "no receiver")?;
        }
        Ok(())
    }

    /// Nanoseconds a message: the best and the median of some runs, each from the first message that came to the last.
    fn show(what: &str, mut run: impl FnMut() -> Outcome<f64>) -> Outcome {
        let mut times = (0..RUNS).map(|_| run()).collect::<Outcome<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        let (best, median) = (times[0], times[RUNS / 2]);
        let rate = 1_000.0 / median;
        println!("{what:40} {median:8.1} ns (best {best:.1}), {rate:.2} million a second");
        Ok(())
    }

    fn per_message(time: Duration, messages: u64) -> f64 {
        time.as_secs_f64() * 1e9 / messages as f64
    }

    fn one_way<T: Plain>(half: &str) -> Outcome<f64> {
        let (sender, receiver) = channel::<T>(CAPACITY)?;
        let mut child = start(half, sender.memory())?;
        receiver.recv()?;
        let begin = Instant::now();
        for _ in 1..MESSAGES {
            receiver.recv()?;
        }
        let time = begin.elapsed();
        child.wait()?;
        Ok(per_message(time, MESSAGES - 1))
    }

    fn many() -> Outcome<f64> {
        let (sender, receiver) = channel::<[u64; 2]>(CAPACITY)?;
        let mut child = start("16 many", sender.memory())?;
        receiver.recv()?;
        let mut buffer = Vec::with_capacity(CAPACITY);
        let begin = Instant::now();
        let mut count = 1;
        while count < MESSAGES {
            buffer.clear();
            count += receiver.recv_many(&mut buffer, CAPACITY)? as u64;
        }
        let time = begin.elapsed();
        child.wait()?;
        Ok(per_message(time, MESSAGES - 1))
    }

    fn bytes() -> Outcome<f64> {
        let (sender, receiver) = bytes_channel(CAPACITY, 1024)?;
        let mut child = start("bytes", sender.memory())?;
        let mut buffer = Vec::new();
        receiver.recv_bytes(&mut buffer)?;
        let begin = Instant::now();
        for _ in 1..MESSAGES {
            receiver.recv_bytes(&mut buffer)?;
        }
        let time = begin.elapsed();
        child.wait()?;
        Ok(per_message(time, MESSAGES - 1))
    }

    fn round_trip() -> Outcome<f64> {
        use std::os::fd::AsRawFd;
        let (sender, receiver) = channel::<[u64; 2]>(CAPACITY)?;
        let (back_sender, back) = channel::<[u64; 2]>(CAPACITY)?;
        let memory = receiver.hand_over()?;
        let path = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            back_sender.memory().as_raw_fd()
        );
        let mut child = Command::new(std::env::current_exe()?)
            .args(["echo", &path])
            .stdin(Stdio::from(memory))
            .spawn()?;
        sender.send([0; 2])?;
        back.recv()?;
        let begin = Instant::now();
        for number in 1..ROUNDS {
            sender.send([number, 7])?;
            assert_eq!(back.recv()?, [number, 7]);
        }
        let time = begin.elapsed();
        drop(sender);
        child.wait()?;
        Ok(per_message(time, ROUNDS - 1))
    }

    pub(crate) fn measure() -> Outcome {
        pin(0);
        show("one way, 16 bytes", || one_way::<[u64; 2]>("16"))?;
        show("one way, 16 bytes, send_many, recv_many", many)?;
        show("one way, 1 KB, plain", || one_way::<[u64; 128]>("1024"))?;
        show("one way, 1 KB, bytes", bytes)?;
        show("round trip, 16 bytes", round_trip)?;
        Ok(())
    }
}
