//! What a worker needs goes on behind all limits.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tamtam_actor::{Actor, Context, Pool, Reply};
use tamtam_process::limits::Limits;

use super::{Walls, apply_behind, at, call, in_a_child};

/// Runs a program of a worker behind each wall.
fn works(test: &str, program: impl Fn() -> io::Result<()>) {
    super::alone(&format!("works::{test}"), || {
        let limits = Limits::new()
            .untrusted()
            .memory(2 << 30)
            .cpu_time(Duration::from_secs(60));
        for walls in [Walls::Both, Walls::Filter] {
            let worked = in_a_child(|| {
                apply_behind(&limits, walls)?;
                program()
            });
            worked.unwrap_or_else(|error| panic!("{test}: {walls:?}: {error}"));
        }
    });
}

#[test]
fn threads_locks_and_conditions() {
    works("threads_locks_and_conditions", || {
        let counted = Arc::new((Mutex::new(0), Condvar::new()));
        let threads: Vec<_> = (0..8)
            .map(|index| {
                let counted = counted.clone();
                let builder = thread::Builder::new().name(format!("worker {index}"));
                builder.spawn(move || {
                    *counted.0.lock().unwrap() += 1;
                    counted.1.notify_all();
                })
            })
            .collect::<Result<_, _>>()?;
        let all = counted
            .1
            .wait_while(counted.0.lock().unwrap(), |count| *count < 8);
        assert_eq!(*all.unwrap(), 8);
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(thread::current().id()).unwrap());
        assert_ne!(receiver.recv().unwrap(), thread::current().id());
        thread::park_timeout(Duration::from_millis(1));
        thread::available_parallelism().map(drop)
    });
}

#[test]
fn memory_small_and_large() {
    works("memory_small_and_large", || {
        let mut map = HashMap::new();
        for index in 0..10_000_u32 {
            map.insert(index, vec![1_u8; 100]);
        }
        let large = vec![1_u8; 256 << 20];
        assert_eq!(large[large.len() - 1], 1);
        let thread = thread::spawn(|| vec![2_u8; 64 << 20].len());
        assert_eq!(thread.join().unwrap(), 64 << 20);
        drop(map);
        Ok(())
    });
}

#[test]
fn the_link_that_was_open() {
    super::alone("works::the_link_that_was_open", || {
        let (mut mine, theirs) = UnixStream::pair().unwrap();
        let mut echo = theirs.try_clone().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut bytes = [0; 4];
                mine.read_exact(&mut bytes).unwrap();
                mine.write_all(&bytes).unwrap();
            });
            in_a_child(|| {
                apply_behind(&Limits::new().untrusted(), Walls::Both)?;
                echo.set_nonblocking(true)?;
                echo.set_nonblocking(false)?;
                echo.set_read_timeout(Some(Duration::from_secs(60)))?;
                echo.write_all(b"ping")?;
                let mut bytes = [0; 4];
                echo.read_exact(&mut bytes)?;
                assert_eq!(&bytes, b"ping");
                let pieces = [io::IoSlice::new(b"once"), io::IoSlice::new(b"more")];
                assert_eq!(echo.write_vectored(&pieces)?, 8);
                echo.shutdown(std::net::Shutdown::Both)
            })
            .unwrap();
        });
    });
}

#[test]
fn a_pair_of_sockets_within_the_worker() {
    works("a_pair_of_sockets_within_the_worker", || {
        let (mut one, mut other) = UnixStream::pair()?;
        one.write_all(b"in")?;
        let mut bytes = [0; 2];
        other.read_exact(&mut bytes)?;
        let (mut reader, mut writer) = io::pipe()?;
        writer.write_all(b"in")?;
        reader.read_exact(&mut bytes)
    });
}

#[test]
fn clocks_and_chance() {
    works("clocks_and_chance", || {
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(2));
        assert!(begun.elapsed() >= Duration::from_millis(2));
        assert!(SystemTime::now() > SystemTime::UNIX_EPOCH);
        let chance = [0_u8; 32];
        assert_eq!(call(libc::SYS_getrandom, [at(&chance), 32, 0])?, 32);
        Ok(())
    });
}

#[test]
fn panics_that_are_caught() {
    works("panics_that_are_caught", || {
        let caught = panic::catch_unwind(|| panic!("on purpose"));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"on purpose"));
        let thread = thread::spawn(|| panic!("on purpose, in a thread"));
        assert!(thread.join().is_err());
        Ok(())
    });
}

#[test]
fn output_and_errors_are_written() {
    works("output_and_errors_are_written", || {
        io::stdout().write_all(b" ")?;
        io::stdout().flush()?;
        io::stderr().write_all(b"")
    });
}

#[test]
fn signals_to_itself() {
    works("signals_to_itself", || {
        let own = call(libc::SYS_getpid, [])?;
        let thread = call(libc::SYS_gettid, [])?;
        call(libc::SYS_kill, [own, libc::SIGURG as usize])?;
        call(libc::SYS_tgkill, [own, thread, libc::SIGURG as usize]).map(drop)
    });
}

#[test]
fn exit_by_the_ordinary_way() {
    works("exit_by_the_ordinary_way", || {
        // It says nothing and succeeds, as a program does that is executed in its place.
        std::process::exit(0)
    });
}

struct Sum(u64);

enum Count {
    Add(u64),
    Read(Reply<u64>),
}

impl Actor for Sum {
    type Message = Count;

    fn handle(&mut self, message: Count, _: &mut Context<Self>) {
        match message {
            Count::Add(number) => self.0 += number,
            Count::Read(reply) => reply.send(self.0),
        }
    }
}

#[test]
fn actors_on_a_pool() {
    works("actors_on_a_pool", || {
        let pool = Pool::new();
        let address = pool.spawn(Sum(0));
        for number in 1..=1000 {
            address.tell(Count::Add(number)).map_err(io::Error::other)?;
        }
        assert_eq!(address.ask(Count::Read).map_err(io::Error::other)?, 500_500);
        drop(address);
        pool.shutdown();
        Ok(())
    });
}
