//! Each way out of a limited process is tried by a process: without limits, where it has to lead out, and with them, where it is
//! refused. Where there are two walls, each is tried alone, too.

mod errors;
mod files;
mod kernel;
mod network;
mod paths;
mod processes;
mod resources;
mod works;

use std::collections::BTreeMap;
use std::ffi::{CString, c_long};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use tamtam_process::limits::{Applied, Limits, LimitsError};
use tamtam_testing::{in_a_process_of_its_own, succeeds_in_a_forked_child};

const PATIENCE: Duration = Duration::from_secs(120);

/// What a test needs to show that a way leads out without limits.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    /// Nothing that a machine could lack: the way must lead out.
    Nothing,
    /// Rights, or a part of the kernel: where they are missing, the test says so, and sees only that the way leads nowhere.
    Rights,
}

/// What stands in the way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Walls {
    Both,
    /// As on a kernel without Landlock.
    Filter,
    /// As on a kernel without filters of system calls.
    Landlock,
}

/// Tries a way out, in processes of its own: without limits, and with each of these limits behind each of these walls.
///
/// `test` is the path of the test that calls this, below `limits`. `set_up` makes what the way needs, outside.
fn way_out<S>(
    test: &str,
    needs: Needs,
    tried: &[(Limits, &[Walls])],
    set_up: impl Fn() -> S,
    way: impl Fn(&S) -> io::Result<()>,
) {
    alone(test, || {
        let outside = set_up();
        if let Err(error) = in_a_child(|| way(&outside)) {
            assert!(
                needs == Needs::Rights,
                "{test}: the way leads nowhere without limits: {error}"
            );
            say(&format!(
                "limits::{test}: not possible here without limits either ({error}), so it shows little"
            ));
        }
        for (limits, walls) in tried {
            for walls in *walls {
                let outside = set_up();
                let tried = in_a_child(|| {
                    apply_behind(limits, *walls)?;
                    match way(&outside) {
                        Ok(()) => Ok(()),
                        Err(error) if is_refusal(&error) => Err(refusal()),
                        Err(error) => Err(error),
                    }
                });
                let error =
                    tried.expect_err(&format!("{test}: it leads out: {walls:?} {limits:?}"));
                assert_eq!(
                    error.raw_os_error(),
                    refusal().raw_os_error(),
                    "{test}: not refused, but {error}: {walls:?} {limits:?}"
                );
            }
        }
    });
}

/// Runs the body of a test below `limits` in a process that runs nothing else.
fn alone(test: &str, body: impl FnOnce()) {
    in_a_process_of_its_own(&format!("limits::{test}"), PATIENCE, |_| {}, body);
}

/// Behind both walls, and behind the filter alone.
fn untrusted() -> Vec<(Limits, &'static [Walls])> {
    vec![(Limits::new().untrusted(), &[Walls::Both, Walls::Filter])]
}

/// Behind both walls, and behind each alone.
fn doubly_untrusted() -> Vec<(Limits, &'static [Walls])> {
    let each = &[Walls::Both, Walls::Filter, Walls::Landlock];
    vec![(Limits::new().untrusted(), each)]
}

fn apply_behind(limits: &Limits, walls: Walls) -> io::Result<()> {
    let limits = match walls {
        Walls::Both => limits.clone(),
        Walls::Filter => {
            hide_landlock();
            limits.clone()
        }
        Walls::Landlock => {
            hide_filters();
            limits.clone().allow_less()
        }
    };
    let applied = limits.apply().map_err(io::Error::other)?;
    if walls == Walls::Landlock && !applied.has_landlock() {
        say("this kernel has no Landlock: a wall could not be tried alone");
        return Err(refusal());
    }
    Ok(())
}

/// From here on, this process finds no Landlock in its kernel.
fn hide_landlock() {
    answer(
        libc::SYS_landlock_create_ruleset,
        Vec::new(),
        libc::EOPNOTSUPP,
    );
}

/// From here on, this process finds no filters of system calls in its kernel when it asks.
fn hide_filters() {
    let asks = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        libc::PR_GET_SECCOMP as u64,
    );
    let rule = SeccompRule::new(vec![asks.unwrap()]).unwrap();
    answer(libc::SYS_prctl, vec![rule], libc::EINVAL);
}

fn answer(call: c_long, rules: Vec<SeccompRule>, errno: i32) {
    let program: BpfProgram = SeccompFilter::new(
        BTreeMap::from([(call, rules)]),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    )
    .unwrap()
    .try_into()
    .unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

fn refusal() -> io::Error {
    io::Error::from_raw_os_error(libc::EPERM)
}

fn is_refusal(error: &io::Error) -> bool {
    // The last is Landlock's answer to a link or a move from one folder to another.
    let refusals = [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EXDEV];
    error
        .raw_os_error()
        .is_some_and(|errno| refusals.contains(&errno))
}

/// Says it whatever the test harness does with output.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Runs `program` in a child that has one thread: what came of it. A program that is executed in its place, and succeeds, says
/// nothing.
fn in_a_child(program: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let (mut reader, mut writer) = io::pipe()?;
    let ended = succeeds_in_a_forked_child(PATIENCE, || {
        let text = match program() {
            Ok(()) => "done".to_owned(),
            Err(error) => match error.raw_os_error() {
                Some(errno) => errno.to_string(),
                None => error.to_string(),
            },
        };
        writer.write_all(text.as_bytes()).is_ok()
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    if !ended {
        return Err(io::Error::other(format!(
            "the child has not ended well: {text}"
        )));
    }
    match (text.as_str(), text.parse()) {
        ("done" | "", _) => Ok(()),
        (_, Ok(errno)) => Err(io::Error::from_raw_os_error(errno)),
        _ => Err(io::Error::other(text)),
    }
}

/// Applies limits in a child with one thread: what that gave, as text where it is an error.
fn applied_in_a_child(
    limits: &Limits,
    before: impl FnOnce(),
    then: impl FnOnce(Result<Applied, LimitsError>) -> io::Result<()>,
) {
    in_a_child(|| {
        before();
        then(limits.apply())
    })
    .unwrap();
}

/// A system call by its number, which libraries would not make, or make otherwise.
fn call<const COUNT: usize>(number: c_long, given: [usize; COUNT]) -> io::Result<usize> {
    let mut all = [0; 6];
    all[..COUNT].copy_from_slice(&given);
    let [a, b, c, d, e, f] = all;
    // SAFETY: addresses among the arguments are those of buffers that the tests keep meanwhile, as large as the call needs;
    // calls that change this process are made in a child that tries nothing else.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// A path or a name for a system call.
fn text(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap()
}

/// The address of something that a system call reads or writes.
fn at<T: ?Sized>(thing: &T) -> usize {
    std::ptr::from_ref(thing).cast::<u8>().expose_provenance()
}
