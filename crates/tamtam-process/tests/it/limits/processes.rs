//! Ways into other processes, and to new ones.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

use rustix::thread::{CapabilitySet, CapabilitySets};
use tamtam_process::limits::Limits;

use super::{Needs, Walls, at, call, doubly_untrusted, text, untrusted, way_out};

/// In the memory of the process that starts the worker, at the same address as in the worker, which is forked from it.
static MEMORY: AtomicU64 = AtomicU64::new(1);

fn parent() -> usize {
    std::process::id() as usize
}

/// Behind both walls, behind each alone, and with `no_processes` alone.
fn into_processes(test: &str, needs: Needs, way: impl Fn(&usize) -> io::Result<()>) {
    let mut tried = doubly_untrusted();
    tried.push((Limits::new().no_processes(), &[Walls::Both, Walls::Filter]));
    way_out(&format!("processes::{test}"), needs, &tried, parent, way);
}

/// Behind the filter: Landlock does not ask about it.
fn past_landlock(test: &str, needs: Needs, way: impl Fn(&usize) -> io::Result<()>) {
    let mut tried = untrusted();
    tried.push((Limits::new().no_processes(), &[Walls::Both, Walls::Filter]));
    way_out(&format!("processes::{test}"), needs, &tried, parent, way);
}

/// Tries to write to [`MEMORY`] of the parent, and looks there what became of it.
fn into_memory(
    test: &str,
    tried: &[(Limits, &[Walls])],
    way: impl Fn(&usize, &AtomicU64) -> io::Result<()>,
) {
    let test = format!("processes::{test}");
    // The first set-up is of the run without limits; what that has written is there when the second one looks.
    let runs = AtomicU64::new(0);
    let set_up = || {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let written = MEMORY.swap(1, Ordering::Relaxed);
        assert_eq!(written, if run == 1 { 2 } else { 1 }, "after run {run}");
        parent()
    };
    way_out(&test, Needs::Nothing, tried, set_up, |parent| {
        way(parent, &MEMORY)
    });
}

#[test]
fn memory_is_written_by_proc() {
    let mut tried = doubly_untrusted();
    // A worker that may read files of `/proc`, and one that may write them.
    tried.push((Limits::new().untrusted().read("/proc"), &[Walls::Both]));
    tried.push((
        Limits::new().untrusted().read_write("/proc"),
        &[Walls::Both, Walls::Landlock],
    ));
    into_memory("memory_is_written_by_proc", &tried, |parent, memory| {
        let file = OpenOptions::new()
            .write(true)
            .open(format!("/proc/{parent}/mem"))?;
        file.write_all_at(&2_u64.to_ne_bytes(), at(memory) as u64)
    });
}

#[test]
fn memory_is_written_by_a_call() {
    let tried = doubly_untrusted();
    into_memory("memory_is_written_by_a_call", &tried, |parent, memory| {
        let new = 2_u64;
        let (mine, theirs) = ([at(&new), 8], [at(memory), 8]);
        let given = [*parent, at(&mine), 1, at(&theirs), 1, 0];
        call(libc::SYS_process_vm_writev, given).map(drop)
    });
}

#[test]
fn memory_is_read_by_a_call() {
    into_processes("memory_is_read_by_a_call", Needs::Nothing, |parent| {
        let old = 0_u64;
        let (mine, theirs) = ([at(&old), 8], [at(&MEMORY), 8]);
        let given = [*parent, at(&mine), 1, at(&theirs), 1, 0];
        call(libc::SYS_process_vm_readv, given).map(drop)
    });
}

#[test]
fn a_process_is_traced() {
    const PTRACE_SEIZE: usize = 0x4206;
    into_processes("a_process_is_traced", Needs::Nothing, |parent| {
        call(libc::SYS_ptrace, [PTRACE_SEIZE, *parent, 0, 0]).map(drop)
    });
}

/// A way into the parent through a descriptor of it, which was there before the limits.
fn by_descriptor(test: &str, way: impl Fn(usize) -> io::Result<()>) {
    let set_up = || call(libc::SYS_pidfd_open, [parent(), 0]);
    let test = format!("processes::{test}");
    way_out(
        &test,
        Needs::Rights,
        &doubly_untrusted(),
        set_up,
        |process| {
            let process = process
                .as_ref()
                .map_err(|error| io::Error::from(error.kind()))?;
            way(*process)
        },
    );
}

#[test]
fn a_descriptor_is_taken() {
    by_descriptor("a_descriptor_is_taken", |process| {
        call(libc::SYS_pidfd_getfd, [process, 0, 0]).map(drop)
    });
}

#[test]
fn a_signal_is_sent() {
    into_processes("a_signal_is_sent", Needs::Nothing, |parent| {
        // One that the parent does not notice.
        call(libc::SYS_kill, [*parent, libc::SIGURG as usize]).map(drop)
    });
}

#[test]
fn a_signal_is_sent_to_a_thread() {
    into_processes("a_signal_is_sent_to_a_thread", Needs::Nothing, |parent| {
        call(libc::SYS_tkill, [*parent, libc::SIGURG as usize]).map(drop)
    });
}

#[test]
fn a_signal_is_sent_by_a_descriptor() {
    by_descriptor("a_signal_is_sent_by_a_descriptor", |process| {
        let signal = libc::SIGURG as usize;
        call(libc::SYS_pidfd_send_signal, [process, signal, 0, 0]).map(drop)
    });
}

#[test]
fn a_signal_is_sent_by_the_kernel() {
    past_landlock("a_signal_is_sent_by_the_kernel", Needs::Nothing, |parent| {
        let (reader, _writer) = io::pipe()?;
        let owner = [
            reader.as_raw_fd() as usize,
            libc::F_SETOWN as usize,
            *parent,
        ];
        call(libc::SYS_fcntl, owner).map(drop)
    });
}

#[test]
fn a_process_is_forked() {
    past_landlock("a_process_is_forked", Needs::Nothing, |_| {
        let forked = call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0])?;
        if forked == 0 {
            call(libc::SYS_exit_group, [0])?;
        }
        Ok(())
    });
}

#[test]
fn a_process_is_forked_by_the_newer_call() {
    past_landlock(
        "a_process_is_forked_by_the_newer_call",
        Needs::Nothing,
        |_| {
            let mut arguments = [0_u64; 8];
            arguments[4] = u64::from(libc::SIGCHLD.cast_unsigned());
            let forked = call(libc::SYS_clone3, [at(&arguments), 64])?;
            if forked == 0 {
                call(libc::SYS_exit_group, [0])?;
            }
            Ok(())
        },
    );
}

#[test]
fn a_program_is_started() {
    past_landlock("a_program_is_started", Needs::Nothing, |_| {
        Command::new("/bin/true").status().map(drop)
    });
}

#[test]
fn a_program_is_executed() {
    past_landlock("a_program_is_executed", Needs::Nothing, |_| {
        let path = text("/bin/true");
        let arguments = [at(path.as_c_str()), 0];
        call(libc::SYS_execve, [at(path.as_c_str()), at(&arguments), 0]).map(drop)
    });
}

#[test]
fn a_program_in_memory_is_executed() {
    let test = "processes::a_program_in_memory_is_executed";
    // The file is made before the limits: what is refused is to execute it.
    let set_up = || {
        let name = text("program");
        let file = call(libc::SYS_memfd_create, [at(name.as_c_str()), 0]).unwrap();
        let mut by_path = OpenOptions::new()
            .write(true)
            .open(format!("/proc/self/fd/{file}"))
            .unwrap();
        by_path
            .write_all(&std::fs::read("/bin/true").unwrap())
            .unwrap();
        file
    };
    way_out(test, Needs::Nothing, &untrusted(), set_up, |file| {
        let nothing = text("");
        let arguments = [at(nothing.as_c_str()), 0];
        let given = [
            *file,
            at(nothing.as_c_str()),
            at(&arguments),
            0,
            libc::AT_EMPTY_PATH as usize,
        ];
        call(libc::SYS_execveat, given).map(drop)
    });
}

/// A thread of the parent without the powers of root, which would keep a worker without them away, filter or not.
fn thread_without_powers() -> usize {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let none = CapabilitySet::empty();
        let none = CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        };
        rustix::thread::set_capabilities(None, none).unwrap();
        sender.send(call(libc::SYS_gettid, []).unwrap()).unwrap();
        loop {
            thread::park();
        }
    });
    receiver.recv().unwrap()
}

fn to_a_thread(test: &str, way: impl Fn(&usize) -> io::Result<()>) {
    let mut tried = untrusted();
    tried.push((Limits::new().no_processes(), &[Walls::Both, Walls::Filter]));
    let test = format!("processes::{test}");
    way_out(&test, Needs::Nothing, &tried, thread_without_powers, way);
}

#[test]
fn a_priority_is_changed() {
    to_a_thread("a_priority_is_changed", |thread| {
        call(libc::SYS_setpriority, [0, *thread, 5]).map(drop)
    });
}

#[test]
fn an_order_of_reading_is_changed() {
    to_a_thread("an_order_of_reading_is_changed", |thread| {
        let (process, idle) = (1, 3 << 13);
        call(libc::SYS_ioprio_set, [process, *thread, idle]).map(drop)
    });
}

#[test]
fn an_affinity_is_changed() {
    to_a_thread("an_affinity_is_changed", |thread| {
        let all = u64::MAX;
        call(libc::SYS_sched_setaffinity, [*thread, 8, at(&all)]).map(drop)
    });
}

#[test]
fn a_way_of_scheduling_is_changed() {
    to_a_thread("a_way_of_scheduling_is_changed", |thread| {
        let priority = 0_i32;
        let given = [*thread, libc::SCHED_BATCH as usize, at(&priority)];
        call(libc::SYS_sched_setscheduler, given).map(drop)
    });
}

#[test]
fn limits_of_the_parent_are_changed() {
    past_landlock(
        "limits_of_the_parent_are_changed",
        Needs::Nothing,
        |parent| {
            let files = rustix::process::getrlimit(rustix::process::Resource::Nofile);
            let same = [files.current, files.maximum].map(|limit| limit.unwrap_or(u64::MAX));
            let given = [*parent, libc::RLIMIT_NOFILE as usize, at(&same), 0];
            call(libc::SYS_prlimit64, given).map(drop)
        },
    );
}

#[test]
fn limits_of_its_own_are_raised() {
    past_landlock("limits_of_its_own_are_raised", Needs::Nothing, |_| {
        let none = [u64::MAX; 2];
        call(libc::SYS_setrlimit, [libc::RLIMIT_CORE as usize, at(&none)]).map(drop)
    });
}

#[test]
fn memory_is_shared_by_a_number() {
    past_landlock("memory_is_shared_by_a_number", Needs::Rights, |_| {
        let flags = (libc::IPC_CREAT | 0o600) as usize;
        let memory = call(libc::SYS_shmget, [libc::IPC_PRIVATE as usize, 4096, flags])?;
        call(libc::SYS_shmctl, [memory, libc::IPC_RMID as usize, 0]).map(drop)
    });
}

/// Threads of the parent that sleep at a word in memory that it shares with the worker.
#[test]
fn sleepers_of_the_parent_are_led_away() {
    past_landlock(
        "sleepers_of_the_parent_are_led_away",
        Needs::Nothing,
        |_| {
            let words = [0_u32; 2];
            let [from, to] = [at(&words[0]), at(&words[1])];
            let operation = libc::FUTEX_REQUEUE as usize;
            call(libc::SYS_futex, [from, operation, 0, 1, to, 0]).map(drop)
        },
    );
}

#[test]
fn it_outlives_its_parent() {
    past_landlock("it_outlives_its_parent", Needs::Nothing, |_| {
        call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, 0]).map(drop)
    });
}

#[test]
fn a_debugger_is_let_in() {
    past_landlock("a_debugger_is_let_in", Needs::Nothing, |_| {
        call(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 1]).map(drop)
    });
}

#[test]
fn a_session_is_begun() {
    past_landlock("a_session_is_begun", Needs::Nothing, |_| {
        call(libc::SYS_setsid, []).map(drop)
    });
}

#[test]
fn a_signal_is_sent_by_the_kernel_for_a_socket() {
    const FIOSETOWN: usize = 0x8901;
    let test = "a_signal_is_sent_by_the_kernel_for_a_socket";
    past_landlock(test, Needs::Nothing, |parent| {
        let (socket, _other) = UnixStream::pair()?;
        let owner = i32::try_from(*parent).unwrap();
        let given = [socket.as_raw_fd() as usize, FIOSETOWN, at(&owner)];
        call(libc::SYS_ioctl, given).map(drop)
    });
}

/// The terminal of this process, as a shell has one, and its outer end.
fn terminal() -> io::Result<(File, File)> {
    let opened = |path: &str| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOCTTY);
        options.open(path)
    };
    let asked = |terminal: &File, operation: libc::Ioctl, place: usize| {
        let given = [terminal.as_raw_fd() as usize, operation as usize, place];
        call(libc::SYS_ioctl, given)
    };
    let outer = opened("/dev/ptmx")?;
    let (mut number, locked) = (0_i32, 0_i32);
    asked(&outer, libc::TIOCSPTLCK, at(&locked))?;
    let place = std::ptr::from_mut(&mut number).expose_provenance();
    asked(&outer, libc::TIOCGPTN, place)?;
    let inner = opened(&format!("/dev/pts/{number}"))?;
    call(libc::SYS_setsid, [])?;
    asked(&inner, libc::TIOCSCTTY, 0)?;
    Ok((outer, inner))
}

#[test]
fn keys_are_typed_into_the_terminal() {
    static TERMINAL: OnceLock<io::Result<(File, File)>> = OnceLock::new();
    let test = "processes::keys_are_typed_into_the_terminal";
    let tried = [
        (Limits::new().untrusted(), &[Walls::Both, Walls::Filter][..]),
        // The powers of root stay, with which any terminal may be typed into.
        (Limits::new().no_network(), &[Walls::Both]),
    ];
    // A process has one terminal.
    let set_up = || TERMINAL.get_or_init(terminal);
    way_out(test, Needs::Rights, &tried, set_up, |terminal| {
        let (_, inner) = terminal
            .as_ref()
            .map_err(|error| io::Error::from(error.kind()))?;
        let key = b'x';
        let given = [inner.as_raw_fd() as usize, libc::TIOCSTI as usize, at(&key)];
        call(libc::SYS_ioctl, given).map(drop)
    });
}
