//! Memory and time on the processor: what becomes of a worker that wants more.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tamtam_process::limits::Limits;

use super::{applied_in_a_child, call};

const BEYOND: &str = "TAMTAM_TEST_BEYOND";
const MEBIBYTE: u64 = 1 << 20;

/// Runs a test of this program, which is to die, in a process of its own: how it died, and what it said.
///
/// In that process `beyond` runs, with limits or without.
fn death(test: &str, limits: &Limits, beyond: impl FnOnce()) -> (ExitStatus, String) {
    if let Ok(limited) = std::env::var(BEYOND) {
        if limited == "limited" {
            limits.apply().expect("limits of resources");
        }
        beyond();
        std::process::exit(0);
    }
    let run = |limited: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                &format!("limits::resources::{test}"),
                "--nocapture",
            ])
            .env(BEYOND, limited)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (
            output.status,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (free, said) = run("free");
    assert!(free.success(), "without limits: {free}: {said}");
    run("limited")
}

#[test]
fn memory_beyond_the_limit_aborts() {
    let limits = Limits::new().memory(512 * MEBIBYTE);
    let (status, said) = death("memory_beyond_the_limit_aborts", &limits, || {
        let mut all = Vec::new();
        for _ in 0..64 {
            let mut piece = Vec::with_capacity(16 << 20);
            piece.push(1_u8);
            all.push(piece);
        }
        assert_eq!(std::hint::black_box(all).len(), 64);
    });
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{status}: {said}");
    assert!(said.contains("memory allocation"), "{said}");
    assert!(!status.core_dumped());
}

#[test]
fn time_beyond_the_limit_kills() {
    let limits = Limits::new().cpu_time(Duration::from_millis(700));
    let (status, said) = death("time_beyond_the_limit_kills", &limits, || {
        let begun = cpu_time();
        while cpu_time() - begun < Duration::from_millis(2500) {
            std::hint::black_box(Instant::now());
        }
    });
    assert_eq!(status.signal(), Some(libc::SIGXCPU), "{status}: {said}");
}

/// What this process has used of processors.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).unwrap()
}

#[test]
fn time_in_which_a_worker_waits_does_not_count() {
    super::alone(
        "resources::time_in_which_a_worker_waits_does_not_count",
        || {
            let limits = Limits::new().untrusted().cpu_time(Duration::from_secs(1));
            applied_in_a_child(
                &limits,
                || (),
                |applied| {
                    applied.unwrap();
                    std::thread::sleep(Duration::from_millis(1500));
                    Ok(())
                },
            );
        },
    );
}

#[test]
fn memory_of_each_kind_counts() {
    super::alone("resources::memory_of_each_kind_counts", || {
        let limits = Limits::new().untrusted().memory(512 * MEBIBYTE);
        applied_in_a_child(
            &limits,
            || (),
            |applied| {
                applied.unwrap();
                assert!(Vec::<u8>::new().try_reserve(256 << 20).is_ok());
                assert!(Vec::<u8>::new().try_reserve(1 << 30).is_err());
                let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
                for kind in [libc::MAP_PRIVATE, libc::MAP_SHARED] {
                    let flags = (kind | libc::MAP_ANONYMOUS) as usize;
                    let nowhere = usize::MAX;
                    let given = [0, 1 << 30, protection, flags, nowhere, 0];
                    let error = call(libc::SYS_mmap, given).unwrap_err();
                    assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
                }
                let large = std::thread::Builder::new().stack_size(1 << 30);
                assert!(large.spawn(|| ()).is_err());
                std::io::stdout().flush()
            },
        );
    });
}

#[test]
fn a_limit_of_memory_stays_where_root_would_raise_it() {
    super::alone(
        "resources::a_limit_of_memory_stays_where_root_would_raise_it",
        || {
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

            let limits = Limits::new().no_processes().memory(512 * MEBIBYTE);
            applied_in_a_child(
                &limits,
                || (),
                |applied| {
                    applied.unwrap();
                    for resource in [Resource::As, Resource::Core] {
                        let more = Rlimit {
                            current: None,
                            maximum: None,
                        };
                        assert!(setrlimit(resource, more).is_err());
                    }
                    assert_eq!(getrlimit(Resource::As).maximum, Some(512 * MEBIBYTE));
                    assert_eq!(getrlimit(Resource::Core).current, Some(0));
                    Ok(())
                },
            );
        },
    );
}

#[test]
fn a_limit_that_is_stricter_already_stays() {
    super::alone("resources::a_limit_that_is_stricter_already_stays", || {
        use rustix::process::{Resource, getrlimit};

        let strict = Limits::new().memory(512 * MEBIBYTE);
        let before = || drop(strict.apply().unwrap());
        let lax = Limits::new().memory(1024 * MEBIBYTE);
        applied_in_a_child(&lax, before, |applied| {
            applied.unwrap();
            assert_eq!(getrlimit(Resource::As).current, Some(512 * MEBIBYTE));
            Ok(())
        });
    });
}

#[test]
fn no_core_is_dumped() {
    super::alone("resources::no_core_is_dumped", || {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

        for limits in [
            Limits::new().no_files(),
            Limits::new().no_network(),
            Limits::new().no_processes(),
        ] {
            applied_in_a_child(
                &limits,
                || (),
                |applied| {
                    assert_eq!(dumpable_behavior()?, DumpableBehavior::NotDumpable);
                    applied.unwrap();
                    let cores = getrlimit(Resource::Core);
                    assert_eq!((cores.current, cores.maximum), (Some(0), Some(0)));
                    Ok(())
                },
            );
        }
    });
}
