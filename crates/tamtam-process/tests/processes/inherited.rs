//! What a process has open that other code of its parent has opened without `O_CLOEXEC`: nothing, where it has limits.

use std::error::Error;
use std::fs::File;
use std::io::{PipeWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Context, Reply};
use tamtam_process::{Limits, Process, ProcessSpawner, Remote, is_primordial};

use crate::actors::this_program;

crate::tests! { "inherited":
    one_that_is_limited_has_nothing_open_that_it_was_not_given
}

const LEAKS: &str = "TAMTAM_TEST_LEAKS";

/// Says what it has open, by the numbers of the files.
pub(crate) struct Lister;

type Open = Vec<u64>;

#[derive(Serialize, Deserialize)]
pub(crate) struct List(Reply<Open>);

impl Remote for Lister {
    type Config = ();
    const NAME: &'static str = "lister";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Lister)
    }
}

impl Actor for Lister {
    type Message = List;

    fn handle(&mut self, List(reply): List, _: &mut Context<Self>) {
        reply.send(open_in("self"));
    }
}

fn open_in(process: &str) -> Open {
    let names = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let open = names.flatten().map(|name| std::fs::metadata(name.path()));
    open.flatten().map(|file| file.ino()).collect()
}

fn one_that_is_limited_has_nothing_open_that_it_was_not_given() {
    // Alone: the workers of other tests would inherit them, too.
    let output = this_program().env(LEAKS, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("nothing was inherited"), "{output:?}");
}

/// A file and a pipe as code in C opens them.
fn opened_without_care() -> (File, PipeWriter, [u64; 2]) {
    let file = tempfile::tempfile().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for fd in [file.as_fd(), writer.as_fd()] {
        fcntl_setfd(fd, FdFlags::empty()).unwrap();
    }
    let inodes = [file.as_fd(), writer.as_fd()].map(|fd| rustix::fs::fstat(fd).unwrap().st_ino);
    (file, writer, inodes)
}

/// What the program does that opens something without care, and has processes then, if this is that.
pub(crate) fn leak_if_asked() {
    if std::env::var_os(LEAKS).is_none() || !is_primordial() {
        return;
    }
    let (mut file, _writer, inodes) = opened_without_care();
    file.write_all(b"secret").unwrap();
    let leaked = |open: &Open| inodes.map(|inode| open.contains(&inode));
    let spawner = |limits| -> ProcessSpawner { Process::spawner().limits(limits) };

    // Without limits it has all of this program's own.
    let free = spawner(Limits::none()).spawn::<Lister>(()).unwrap();
    assert_eq!(leaked(&free.ask(List).unwrap()), [true, true]);

    for limits in [Limits::new().no_network(), Limits::new().no_processes()] {
        let (lister, handle) = spawner(limits).spawn_with_handle::<Lister>(()).unwrap();
        for begun in 0..2 {
            crate::until("it begins", || handle.restarts() == begun);
            let open = lister.ask(List).unwrap();
            assert_eq!(leaked(&open), [false, false], "{open:?}");
            // And so has the next one.
            handle.kill();
        }
    }

    // One that is not trusted cannot look; its parent can.
    let limits = Limits::new().untrusted();
    let (_lister, handle) = spawner(limits).spawn_with_handle::<Lister>(()).unwrap();
    while handle.carrier().is_none() {
        std::thread::yield_now();
    }
    let pid = handle.pid().unwrap().to_string();
    if std::fs::read_dir(format!("/proc/{pid}/fd")).is_ok() {
        assert_eq!(leaked(&open_in(&pid)), [false, false]);
    } else {
        println!("only root sees what one that is not trusted has open");
    }
    println!("nothing was inherited");
    std::process::exit(0);
}
