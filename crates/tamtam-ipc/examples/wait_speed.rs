//! How long after a message was sent by another process does a thread run that slept until then? By a blocking receive, in a select with a
//! channel of threads beside it, and as a task. Run it in release mode, on a machine with two idle cores:
//!
//!     cargo run --release -p tamtam-ipc --example wait_speed
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    match std::env::args().nth(1) {
        Some(_) => linux::other(),
        None => linux::measure(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    //! The two processes.

    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use futures::executor::block_on;
    use rustix::time::{ClockId, clock_gettime};
    use tamtam_channel::{select, unbounded};
    use tamtam_ipc::{Receiver, Sender, channel};

    type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    const MESSAGES: usize = 2_000;
    const RUNS: usize = 5;
    /// Between two messages, so that the receiver sleeps.
    const PAUSE: Duration = Duration::from_micros(700);

    /// A clock that both processes have in common, in nanoseconds.
    fn now() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
    }

    /// What the other process does.
    pub(crate) fn other() -> Outcome {
        let memory = std::io::stdin().as_fd().try_clone_to_owned()?;
        let sender = Sender::<u64>::attach(memory)?;
        for _ in 0..MESSAGES {
            std::thread::sleep(PAUSE);
            sender.send(now())?;
        }
        Ok(())
    }

    /// The median and the 99th of a hundred, in microseconds, of messages that `receive` waits for.
    fn latency(mut receive: impl FnMut(&mut Receiver<u64>) -> Outcome<u64>) -> Outcome<[f64; 2]> {
        let (sender, mut receiver) = channel::<u64>(16)?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("other")
            .stdin(Stdio::from(sender.memory().try_clone_to_owned()?))
            .spawn()?;
        let mut late = Vec::with_capacity(MESSAGES);
        for _ in 0..MESSAGES {
            let sent = receive(&mut receiver)?;
            late.push(now() - sent);
        }
        child.wait()?;
        late.sort_unstable();
        Ok([MESSAGES / 2, MESSAGES * 99 / 100].map(|at| late[at] as f64 / 1e3))
    }

    pub(crate) fn measure() -> Outcome {
        println!(
            "microseconds from the send to the receiver, median and 99th of a hundred, each the median of {RUNS} runs"
        );
        let (_thread, of_threads) = unbounded::<u64>();
        type Receive<'a> = &'a dyn Fn(&mut Receiver<u64>) -> Outcome<u64>;
        let ways: [(&str, Receive<'_>); 3] = [
            ("recv", &|receiver| Ok(receiver.recv()?)),
            ("select", &|receiver| {
                let end = receiver.selectable();
                select! {
                    wait(end) => Ok(end.try_recv()?),
                    recv(of_threads) -> number => Ok(number?),
                }
            }),
            ("recv_async", &|receiver| {
                Ok(block_on(receiver.recv_async())?)
            }),
        ];
        let mut runs = ways.map(|(name, _)| (name, Vec::new()));
        // In turn, so that a busy moment of the machine touches all.
        for _ in 0..RUNS {
            for ((_, receive), (_, runs)) in ways.iter().zip(&mut runs) {
                runs.push(latency(receive)?);
            }
        }
        for (name, mut runs) in runs {
            let figures = [0, 1].map(|which| {
                runs.sort_unstable_by(|one, other| one[which].total_cmp(&other[which]));
                runs[RUNS / 2][which]
            });
            println!("{name:12} {:7.1} {:7.1}", figures[0], figures[1]);
        }
        Ok(())
    }
}
