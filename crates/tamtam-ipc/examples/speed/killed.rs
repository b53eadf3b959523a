//! A mutex whose holder is killed.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use tamtam_ipc::Mutex;

use crate::compare::{Outcome, Role, compare, middle_and_late, pin, start};

const DEATHS: u64 = 30;

/// What the other process does: it locks the mutex, says so, and waits for its end.
pub(crate) fn other(_: &Role<'_>) -> Outcome {
    let mutex = Mutex::<u64>::attach(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    let _guard = mutex.lock()?;
    std::io::stdout().write_all(&[0])?;
    std::io::stdout().flush()?;
    loop {
        std::thread::park();
    }
}

fn timed() -> Outcome<Vec<f64>> {
    pin(0);
    let mut times = Vec::new();
    for _ in 0..DEATHS {
        let mutex = Mutex::create(0_u64)?;
        let role = Role {
            section: "killed",
            way: "mutex",
            number: 0,
        };
        let mut child = start(&role, 1, mutex.memory())?;
        let output = child.stdout.as_mut().ok_or("no output")?;
        output.read_exact(&mut [0])?;
        let begin = Instant::now();
        child.kill()?;
        let guard = mutex.lock()?;
        times.push(begin.elapsed().as_nanos().try_into()?);
        assert!(guard.is_abandoned());
        drop(guard);
        child.wait()?;
    }
    Ok(middle_and_late(times))
}

pub(crate) fn measure(runs: usize) -> Outcome {
    compare(
        "from the kill of its holder until a mutex is locked",
        &["median", "99 of 100"],
        runs,
        vec![("Mutex", Box::new(timed))],
    )
}
