//! How do two processes work on the same bytes without getting into each other's way? Under a lock that they share.
//!
//!     cargo run -p tamtam --example double --features ipc
//!
//! The program starts itself again, and sends the other process the memory of a mutex and of two slots over a Unix socket. In each round the first
//! process puts the round's number into a slot, then both double one byte under the lock: it goes from 1 to 4, and never stays at 2, as it would
//! where both read 1. The number comes back, squared, through the other slot.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use tamtam::ipc::{Mutex, Slot, receive_memory, send_memory};

    const ROUNDS: u64 = 10_000;
    /// The argument of the second process.
    const SECOND: &str = "second";

    fn double(byte: &Mutex<u8>) -> Result<(), Box<dyn Error>> {
        let mut byte = byte.lock()?;
        let was = byte.get();
        byte.set(was * 2);
        Ok(())
    }

    fn first() -> Result<(), Box<dyn Error>> {
        let byte = Mutex::create(0_u8)?;
        let (there, back) = (Slot::<u64>::create()?, Slot::<u64>::create()?);

        // The other process has its end of the socket as its standard input.
        let (socket, its_end) = UnixStream::pair()?;
        let mut second = Command::new(std::env::current_exe()?)
            .arg(SECOND)
            .stdin(Stdio::from(OwnedFd::from(its_end)))
            .spawn()?;
        for memory in [byte.memory(), there.memory(), back.memory()] {
            send_memory(&socket, memory)?;
        }

        let (mut doubled_by_both, mut sum) = (0, 0);
        for round in 1..=ROUNDS {
            byte.lock()?.set(1);
            there.put(round);
            double(&byte)?;
            sum += back.take();
            doubled_by_both += u64::from(byte.lock()?.get() == 4);
        }
        println!("the byte went from 1 to 4 in {doubled_by_both} rounds of {ROUNDS}");
        println!("the sum of the squares that came back is {sum}");
        assert!(second.wait()?.success());
        Ok(())
    }

    fn second() -> Result<(), Box<dyn Error>> {
        let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        let byte = Mutex::<u8>::attach(receive_memory(&socket)?)?;
        let numbers = Slot::<u64>::attach(receive_memory(&socket)?)?;
        let squares = Slot::<u64>::attach(receive_memory(&socket)?)?;
        for _ in 0..ROUNDS {
            let number = numbers.take();
            double(&byte)?;
            squares.put(number * number);
        }
        Ok(())
    }

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        if std::env::args().nth(1).is_some_and(|it| it == SECOND) {
            second()
        } else {
            first()
        }
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("memory between processes is for Linux so far");
}
