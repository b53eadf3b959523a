//! What the programs answer, run here instead of in the kernel: so each call can be asked about, whether this kernel has it or not.

use libc::*;

use super::*;

/// What the kernel shows a program of a call.
struct Called {
    number: u32,
    processor: u32,
    arguments: [u64; 6],
}

impl Called {
    /// A word of it, as `struct seccomp_data` lays them out.
    fn word(&self, offset: u32) -> u32 {
        let index = usize::try_from(offset / 4).unwrap();
        match index {
            0 => self.number,
            1 => self.processor,
            2 | 3 => 0,
            _ => {
                let argument = self.arguments[(index - 4) / 2];
                let halves = [argument as u32, (argument >> 32) as u32];
                halves[index % 2]
            }
        }
    }
}

/// Runs a program as the kernel does: its answer.
fn run(program: &BpfProgram, called: &Called) -> u32 {
    let mut accumulator = 0;
    let mut next = 0;
    loop {
        let instruction = &program[next];
        next += 1;
        let mut jump = |holds: bool| {
            next += usize::from(if holds {
                instruction.jt
            } else {
                instruction.jf
            });
        };
        match u32::from(instruction.code) {
            code if code == BPF_LD | BPF_W | BPF_ABS => accumulator = called.word(instruction.k),
            code if code == BPF_ALU | BPF_AND | BPF_K => accumulator &= instruction.k,
            code if code == BPF_JMP | BPF_JA => next += usize::try_from(instruction.k).unwrap(),
            code if code == BPF_JMP | BPF_JEQ | BPF_K => jump(accumulator == instruction.k),
            code if code == BPF_JMP | BPF_JGT | BPF_K => jump(accumulator > instruction.k),
            code if code == BPF_JMP | BPF_JGE | BPF_K => jump(accumulator >= instruction.k),
            code if code == BPF_RET | BPF_K => return instruction.k,
            code => panic!("an instruction that is not known: {code:#x}"),
        }
    }
}

const THIS_PROCESSOR: u32 = if cfg!(target_arch = "x86_64") {
    0xC000_003E
} else if cfg!(target_arch = "aarch64") {
    0xC000_00B7
} else {
    0xC000_00F3
};

/// The error that a call gets, or nothing if it is allowed.
fn refused(limits: &Limits, number: c_long, arguments: [u64; 6]) -> Option<i32> {
    let called = Called {
        number: u32::try_from(number).unwrap(),
        processor: THIS_PROCESSOR,
        arguments,
    };
    // One answer is not allowed by two programs with different errors, so it does not matter which is the strictest.
    let answers = programs(limits).unwrap();
    let mut refusals = answers
        .iter()
        .map(|program| run(program, &called))
        .filter(|answer| *answer != SECCOMP_RET_ALLOW);
    let answer = refusals.next()?;
    assert_eq!(refusals.next(), None, "call {number} has two answers");
    assert_eq!(answer & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
    Some((answer & SECCOMP_RET_DATA) as i32)
}

fn untrusted() -> Limits {
    Limits::new().untrusted()
}

fn with(first: [u64; 3]) -> [u64; 6] {
    let [a, b, c] = first;
    [a, b, c, 0, 0, 0]
}

#[test]
fn calls_that_no_list_can_know_do_not_exist() {
    let x32 = 0x4000_0000;
    for limits in [
        untrusted(),
        Limits::new().no_files(),
        Limits::new().no_network(),
        Limits::new().no_processes(),
    ] {
        let last = c_long::from(calls::FIRST_UNKNOWN);
        for number in [
            last,
            last + 1,
            600,
            10_000,
            x32,
            x32 + SYS_write,
            0xFFFF_FFFF,
        ] {
            assert_eq!(refused(&limits, number, [0; 6]), Some(ENOSYS), "{number}");
        }
        for number in calls::FIRST_GAP..calls::FIRST_COMMON {
            let number = c_long::from(number);
            assert_eq!(refused(&limits, number, [0; 6]), Some(ENOSYS), "{number}");
        }
    }
}

#[test]
fn calls_of_another_processor_end_the_process() {
    for program in programs(&untrusted()).unwrap() {
        let called = Called {
            number: u32::try_from(SYS_write).unwrap(),
            // 32 bits on x86-64.
            processor: 0x4000_0003,
            arguments: [0; 6],
        };
        assert_eq!(run(&program, &called), SECCOMP_RET_KILL_PROCESS);
    }
}

#[test]
fn each_call_of_the_lists_is_refused() {
    for (list, errno) in [
        (calls::UNSEEN, ENOSYS),
        (&[calls::CLONE3], ENOSYS),
        (&[calls::FUTEX_REQUEUE_CALL], ENOSYS),
        (calls::MACHINE, EPERM),
        (calls::FILES, EPERM),
        (calls::PATHS, EACCES),
        (calls::NETWORK, EPERM),
        (calls::PROCESSES, EPERM),
    ] {
        for call in list {
            assert_eq!(
                refused(&untrusted(), *call, [0; 6]),
                Some(errno),
                "call {call}"
            );
        }
    }
}

#[test]
fn what_is_always_refused_stays_so() {
    let mut refusals = Refused::default();
    refusals.all(&[SYS_sendto]);
    refusals
        .when(SYS_sendto, vec![is_given(4).unwrap()])
        .unwrap();
    assert_eq!(refusals.0[&SYS_sendto], []);
}

#[test]
fn a_wall_is_only_where_it_was_asked_for() {
    let files = Limits::new().no_files();
    let paths = Limits::new().read("/usr");
    let network = Limits::new().no_network();
    let processes = Limits::new().no_processes();
    for (call, refusing) in [
        (SYS_openat, [true, false, false, false]),
        (SYS_memfd_create, [true, true, false, false]),
        (SYS_socket, [false, false, true, false]),
        (SYS_execve, [false, false, false, true]),
        (SYS_ptrace, [true, true, true, true]),
        (SYS_read, [false, false, false, false]),
    ] {
        let found = [&files, &paths, &network, &processes]
            .map(|limits| refused(limits, call, [0; 6]).is_some());
        assert_eq!(found, refusing, "call {call}");
    }
    assert!(programs(&Limits::new().memory(1)).unwrap().is_empty());
}

#[test]
fn a_thread_is_a_thread_and_nothing_else() {
    let thread = (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS)
        .cast_unsigned();
    let clone = |flags: u32| refused(&untrusted(), SYS_clone, with([u64::from(flags), 0, 0]));
    assert_eq!(clone(thread), None);
    assert_eq!(clone(SIGCHLD.cast_unsigned()), Some(EPERM));
    assert_eq!(clone((CLONE_VM | CLONE_VFORK).cast_unsigned()), Some(EPERM));
    for flag in calls::CLONE_REFUSED {
        assert_eq!(
            clone(thread | flag.cast_unsigned()),
            Some(EPERM),
            "{flag:#x}"
        );
    }
    let high = (1 << 32) | u64::from(SIGCHLD.cast_unsigned());
    assert_eq!(
        refused(&untrusted(), SYS_clone, with([high, 0, 0])),
        Some(EPERM)
    );
}

#[test]
fn signals_go_to_the_process_itself_only() {
    let own = u64::try_from(rustix::process::getpid().as_raw_nonzero().get()).unwrap();
    for call in [
        SYS_kill,
        SYS_tgkill,
        SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo,
    ] {
        assert_eq!(refused(&untrusted(), call, with([own, own, 6])), None);
        // The group, all processes, its parent.
        for other in [0, u64::MAX, 1, u64::from(u32::MAX)] {
            assert_eq!(
                refused(&untrusted(), call, with([other, own, 6])),
                Some(EPERM)
            );
        }
    }
}

#[test]
fn operations_are_allowed_by_name() {
    let ioctl = |operation| refused(&untrusted(), SYS_ioctl, with([0, operation, 0]));
    for operation in calls::IOCTL_ALLOWED {
        assert_eq!(ioctl(*operation), None);
    }
    let types_into_the_terminal = 0x5412;
    assert_eq!(ioctl(types_into_the_terminal), Some(EPERM));
    // The kernel does not look at the upper half.
    assert_eq!(ioctl(types_into_the_terminal | (1 << 32)), Some(EPERM));

    let prctl = |operation: i32| {
        let operation = u64::from(operation.cast_unsigned());
        refused(&untrusted(), SYS_prctl, with([operation, 1, 0]))
    };
    for operation in calls::PRCTL_ALLOWED {
        assert_eq!(prctl(*operation), None);
    }
    for operation in [PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_PTRACER, PR_SET_MM] {
        assert_eq!(prctl(operation), Some(EPERM));
    }

    let fcntl = |operation: i32| {
        let operation = u64::from(operation.cast_unsigned());
        refused(&untrusted(), SYS_fcntl, with([0, operation, 1]))
    };
    for operation in calls::FCNTL_REFUSED {
        assert_eq!(fcntl(*operation), Some(EPERM));
    }
    assert_eq!(fcntl(F_SETFL), None);
    assert_eq!(fcntl(F_DUPFD_CLOEXEC), None);
}

#[test]
fn sleepers_of_other_processes_stay_where_they_sleep() {
    for limits in [
        untrusted(),
        Limits::new().no_files(),
        Limits::new().no_network(),
        Limits::new().no_processes(),
    ] {
        let futex = |operation: i32| {
            let operation = u64::from(operation.cast_unsigned());
            refused(&limits, SYS_futex, with([0x7000_0000, operation, 1]))
        };
        for operation in calls::FUTEX_REFUSED {
            assert_eq!(futex(*operation), Some(EPERM), "{operation}");
            assert_eq!(futex(operation | FUTEX_CLOCK_REALTIME), Some(EPERM));
            assert_eq!(futex(operation | FUTEX_PRIVATE_FLAG), None, "{operation}");
        }
        for operation in [
            FUTEX_WAIT,
            FUTEX_WAKE,
            FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME,
            FUTEX_WAKE_BITSET,
        ] {
            assert_eq!(futex(operation), None, "{operation}");
        }
    }
}

#[test]
fn datagrams_go_nowhere() {
    let limits = untrusted();
    let unix = u64::from(AF_UNIX.cast_unsigned());
    let pair = |family, kind: i32| {
        refused(
            &limits,
            SYS_socketpair,
            with([family, u64::from(kind.cast_unsigned()), 0]),
        )
    };
    assert_eq!(pair(unix, SOCK_STREAM | SOCK_CLOEXEC), None);
    assert_eq!(pair(unix, SOCK_SEQPACKET | SOCK_NONBLOCK), None);
    assert_eq!(pair(unix, SOCK_DGRAM | SOCK_CLOEXEC), Some(EPERM));
    assert_eq!(pair(unix, SOCK_RAW), Some(EPERM));
    assert_eq!(
        pair(u64::from(AF_TIPC.cast_unsigned()), SOCK_STREAM),
        Some(EPERM)
    );
    let send = |address| refused(&limits, SYS_sendto, [3, 0, 0, 0, address, 16]);
    assert_eq!(send(0), None);
    assert_eq!(send(0x7000_0000_0000), Some(EPERM));
    assert_eq!(send(1 << 32), Some(EPERM));
}

#[test]
fn priorities_and_limits_of_others_stay() {
    let limits = untrusted();
    let none = 0;
    for call in [
        SYS_sched_setparam,
        SYS_sched_setscheduler,
        SYS_sched_setattr,
        SYS_sched_setaffinity,
    ] {
        assert_eq!(refused(&limits, call, with([none, 0, 0])), None);
        assert_eq!(refused(&limits, call, with([1, 0, 0])), Some(EPERM));
    }
    assert_eq!(refused(&limits, SYS_setpriority, with([0, none, 0])), None);
    assert_eq!(
        refused(&limits, SYS_setpriority, with([0, 1, 0])),
        Some(EPERM)
    );
    assert_eq!(
        refused(&limits, SYS_setpriority, with([2, none, 0])),
        Some(EPERM)
    );
    assert_eq!(refused(&limits, SYS_ioprio_set, with([1, none, 0])), None);
    assert_eq!(
        refused(&limits, SYS_ioprio_set, with([3, none, 0])),
        Some(EPERM)
    );
    assert_eq!(refused(&limits, SYS_prlimit64, with([0, 7, none])), None);
    assert_eq!(
        refused(&limits, SYS_prlimit64, with([0, 7, 0x7000_0000])),
        Some(EPERM)
    );
}
