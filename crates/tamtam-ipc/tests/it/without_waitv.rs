//! What waits for several words at once, where the system has no call for that (`futex_waitv(2)`, since Linux 5.16), or a filter refuses it: the same
//! tests, in a process to which it is refused.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Says to the tests of the process that they are run so.
const REFUSED: &str = "TAMTAM_IPC_TEST_WITHOUT_WAITV";

/// Those that wait for processes: each kind of what they share, beside other things, as a task, and for deaths.
const TESTS: &[&str] = &[
    "channel_deaths::",
    "condition::",
    "conformance::",
    "event::",
    "hostile::",
    "listening::",
    "property::",
    "slot::",
    "tasks::",
    "together::",
    "without_waitv::the_call_is_refused",
];

/// What they say holds only where a thread sleeps on several words in one sleep, so that it need not look now and then and has no helper.
const ONE_SLEEP: &[&str] = &[
    "listening::a_worker_sleeps_for_other_processes_and_for_its_mail_in_one_sleep",
    "together::the_wake_thread_sleeps",
];

/// Whether the system has the call: without a word it is an error, which says so.
fn has_waitv() -> bool {
    let none = std::ptr::null::<u8>();
    // SAFETY: without a word the kernel reads nothing.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex_waitv,
            none,
            0,
            0,
            none,
            libc::CLOCK_MONOTONIC,
        )
    };
    let error = io::Error::last_os_error().raw_os_error();
    !(result == -1 && error == Some(libc::ENOSYS))
}

/// Refuses the call to this process, and to those that it starts, as a kernel does that does not know it.
fn refuse_waitv() -> io::Result<()> {
    let statement = |code: u32, k: u32, jt, jf| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    // Of `struct seccomp_data` the first word is the call's number.
    let filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            libc::SYS_futex_waitv as u32,
            0,
            1,
        ),
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
            0,
            0,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the call takes numbers only.
    let gains_none = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the kernel copies the program, which is there as long as the call, and only reads it.
    let is_set = gains_none == 0
        && unsafe {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
        } == 0;
    if is_set {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[test]
fn the_call_is_refused() {
    assert!(std::env::var_os(REFUSED).is_none() || !has_waitv());
}

#[test]
fn what_waits_for_several_processes_works_without_the_call_for_it() {
    if !has_waitv() {
        return println!("this kernel does not have it, so all tests run without it");
    }
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests
        .args(["--test-threads", "2"])
        .args(TESTS)
        .args(ONE_SLEEP.iter().flat_map(|test| ["--skip", test]))
        .env(REFUSED, "1")
        .stdin(Stdio::null());
    // SAFETY: it allocates nothing, and makes two calls of the system.
    unsafe { tests.pre_exec(refuse_waitv) };
    let output = tests.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = said.matches(" ... ok\n").count();
    assert!(
        output.status.success() && passed > 60,
        "{said}{:?}",
        output.stderr
    );
    assert!(said.contains("the_call_is_refused ... ok"), "{said}");
    println!("{passed} tests");
}
