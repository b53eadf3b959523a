//! The filter of system calls: programs for the kernel, made from the lists of calls.
//!
//! Several programs stand one behind the other, because one has a single answer to what it refuses; the kernel runs all and takes
//! the strictest answer. A call that all of them allow whatever its arguments are is looked up in a table of the kernel (since
//! Linux 5.11) without running them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::calls;
use crate::limits::{Limits, LimitsError};

#[cfg(test)]
mod tests;

/// Calls that are refused, each always (no rules) or when one of its rules holds.
#[derive(Default)]
struct Refused(BTreeMap<i64, Vec<SeccompRule>>);

impl Refused {
    fn all(&mut self, calls: &[i64]) {
        for call in calls {
            self.0.insert(*call, Vec::new());
        }
    }

    /// Refuses the call when all of these conditions hold. Said again, it is refused by these, too; one that is always
    /// refused stays so.
    fn when(&mut self, call: i64, conditions: Vec<SeccompCondition>) -> Result<(), BackendError> {
        let rule = SeccompRule::new(conditions)?;
        match self.0.entry(call) {
            Entry::Vacant(entry) => {
                entry.insert(vec![rule]);
            }
            Entry::Occupied(entry) if entry.get().is_empty() => {}
            Entry::Occupied(mut entry) => entry.get_mut().push(rule),
        }
        Ok(())
    }

    fn program(self, errno: i32) -> Result<BpfProgram, BackendError> {
        let answer = SeccompAction::Errno(errno.unsigned_abs());
        SeccompFilter::new(self.0, SeccompAction::Allow, answer, processor()?)?.try_into()
    }
}

fn processor() -> Result<TargetArch, BackendError> {
    std::env::consts::ARCH.try_into()
}

/// A condition on an argument of which the kernel takes the lower 32 bits: a number, a descriptor, flags.
fn number(
    argument: u8,
    comparison: SeccompCmpOp,
    value: i32,
) -> Result<SeccompCondition, BackendError> {
    let value = u64::from(value.cast_unsigned());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
}

/// A condition on an argument that is an address in memory.
fn is_given(argument: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

fn has_flags(argument: u8, flags: i32) -> Result<SeccompCondition, BackendError> {
    let mask = u64::from(flags.cast_unsigned());
    number(argument, SeccompCmpOp::MaskedEq(mask), flags)
}

fn lacks_flags(argument: u8, flags: i32) -> Result<SeccompCondition, BackendError> {
    let mask = u64::from(flags.cast_unsigned());
    number(argument, SeccompCmpOp::MaskedEq(mask), 0)
}

/// The programs that hold these limits, in the order in which they are installed.
pub(super) fn programs(limits: &Limits) -> Result<Vec<BpfProgram>, BackendError> {
    if !limits.walled() {
        return Ok(Vec::new());
    }
    let mut forbidden = Refused::default();
    let mut closed = Refused::default();
    let mut absent = Refused::default();
    forbidden.all(calls::MACHINE);
    absent.all(calls::UNSEEN);
    // Its flags lie in memory.
    absent.all(&[calls::FUTEX_REQUEUE_CALL]);
    refuse_all_but(&mut forbidden, libc::SYS_ioctl, 1, calls::IOCTL_ALLOWED)?;
    refuse_leading_sleepers_away(&mut forbidden)?;
    if limits.no_files {
        forbidden.all(calls::FILES);
        if limits.read.is_empty() && limits.read_write.is_empty() {
            closed.all(calls::PATHS);
        }
    }
    if limits.no_network {
        refuse_network(&mut forbidden)?;
    }
    if limits.no_processes {
        refuse_processes(&mut forbidden)?;
        // Its flags lie in memory. The C library goes on with `clone` where it does not exist.
        absent.all(&[calls::CLONE3]);
    }
    let mut programs = vec![unknown_calls()?, absent.program(libc::ENOSYS)?];
    if !closed.0.is_empty() {
        programs.push(closed.program(libc::EACCES)?);
    }
    programs.push(forbidden.program(libc::EPERM)?);
    Ok(programs)
}

fn refuse_all_but(
    refused: &mut Refused,
    call: i64,
    argument: u8,
    allowed: &[u64],
) -> Result<(), BackendError> {
    let others = allowed.iter().map(|value| {
        SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            *value & u64::from(u32::MAX),
        )
    });
    refused.when(call, others.collect::<Result<_, _>>()?)
}

/// Other processes have threads that sleep at words in the memory which they share with this one.
fn refuse_leading_sleepers_away(refused: &mut Refused) -> Result<(), BackendError> {
    // Which clock it takes is no part of the operation. Whether the word is the own process' alone is one.
    let operation = u64::from(!libc::FUTEX_CLOCK_REALTIME.cast_unsigned());
    for asked in calls::FUTEX_REFUSED {
        let asked = number(1, SeccompCmpOp::MaskedEq(operation), *asked)?;
        refused.when(libc::SYS_futex, vec![asked])?;
    }
    Ok(())
}

fn refuse_network(refused: &mut Refused) -> Result<(), BackendError> {
    refused.all(calls::NETWORK);
    refused.when(libc::SYS_sendto, vec![is_given(4)?])?;
    // Connected pairs stay, if they are streams: a datagram can be sent from a pair to any other socket. Of the kinds that Unix
    // sockets have, datagrams (2) and raw ones (3) have this bit, streams (1) and sequences of packets (5) have not.
    let pair = libc::SYS_socketpair;
    refused.when(pair, vec![number(0, SeccompCmpOp::Ne, libc::AF_UNIX)?])?;
    refused.when(pair, vec![has_flags(1, libc::SOCK_DGRAM)?])
}

fn refuse_processes(refused: &mut Refused) -> Result<(), BackendError> {
    refused.all(calls::PROCESSES);
    refused.when(libc::SYS_clone, vec![lacks_flags(0, libc::CLONE_THREAD)?])?;
    for flag in calls::CLONE_REFUSED {
        refused.when(libc::SYS_clone, vec![has_flags(0, *flag)?])?;
    }
    // A process may signal itself; it has no children that could be it by then.
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for call in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        refused.when(call, vec![number(0, SeccompCmpOp::Ne, own)?])?;
    }
    // Zero is the caller.
    for call in [
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setaffinity,
    ] {
        refused.when(call, vec![number(0, SeccompCmpOp::Ne, 0)?])?;
    }
    refused.when(
        libc::SYS_setpriority,
        vec![number(0, SeccompCmpOp::Ne, libc::PRIO_PROCESS as i32)?],
    )?;
    refused.when(libc::SYS_setpriority, vec![number(1, SeccompCmpOp::Ne, 0)?])?;
    refused.when(libc::SYS_ioprio_set, vec![number(0, SeccompCmpOp::Ne, 1)?])?;
    refused.when(libc::SYS_ioprio_set, vec![number(1, SeccompCmpOp::Ne, 0)?])?;
    refused.when(libc::SYS_prlimit64, vec![is_given(2)?])?;
    for operation in calls::FCNTL_REFUSED {
        let asked = number(1, SeccompCmpOp::Eq, *operation)?;
        refused.when(libc::SYS_fcntl, vec![asked])?;
    }
    let allowed: Vec<u64> = calls::PRCTL_ALLOWED
        .iter()
        .map(|operation| u64::from(operation.cast_unsigned()))
        .collect();
    refuse_all_but(refused, libc::SYS_prctl, 0, &allowed)
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_IF_NOT_LESS: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Calls with numbers that no list can have known do not exist: those behind the last one, among them the calls of x32, which
/// have a high bit, and those in the gap between the processor's own and the common ones. `seccompiler` cannot compare
/// the number of a call but with one; so this one is by hand.
fn unknown_calls() -> Result<BpfProgram, BackendError> {
    let instruction = |code, jump_true, jump_false, value| sock_filter {
        code,
        jt: jump_true,
        jf: jump_false,
        k: value,
    };
    let mut program: BpfProgram = Refused::default().program(libc::ENOSYS)?;
    // Without calls it looks at the processor and allows all: the last instruction.
    let allow = program.pop();
    program.extend([
        instruction(LOAD, 0, 0, 0),
        instruction(JUMP_IF_NOT_LESS, 3, 0, calls::FIRST_UNKNOWN),
        instruction(JUMP_IF_NOT_LESS, 1, 0, calls::FIRST_COMMON),
        instruction(JUMP_IF_NOT_LESS, 1, 0, calls::FIRST_GAP),
    ]);
    program.extend(allow);
    program.push(instruction(
        RETURN,
        0,
        0,
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()).into(),
    ));
    Ok(program)
}

/// Whether the kernel has filters of system calls.
pub(super) fn supported() -> bool {
    rustix::thread::secure_computing_mode().is_ok()
}

pub(super) fn install(programs: &[BpfProgram]) -> Result<(), LimitsError> {
    for program in programs {
        seccompiler::apply_filter_all_threads(program).map_err(|error| {
            LimitsError::system(
                "installing the filter of system calls",
                std::io::Error::other(error),
            )
        })?;
    }
    Ok(())
}
