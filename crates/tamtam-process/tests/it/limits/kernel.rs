//! Ways into the kernel: namespaces, mounts, and parts of it that have had flaws.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use tamtam_process::limits::Limits;

use super::{Needs, Walls, at, call, text, untrusted, way_out};

/// Each wall alone refuses these.
fn into_the_kernel<S>(test: &str, set_up: impl Fn() -> S, way: impl Fn(&S) -> io::Result<()>) {
    let mut tried = untrusted();
    for limits in [
        Limits::new().no_files(),
        Limits::new().no_network(),
        Limits::new().no_processes(),
        Limits::new().untrusted().read("/"),
    ] {
        tried.push((limits, &[Walls::Both]));
    }
    way_out(
        &format!("kernel::{test}"),
        Needs::Rights,
        &tried,
        set_up,
        way,
    );
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_file_system_is_mounted() {
    into_the_kernel("a_file_system_is_mounted", folder, |folder| {
        let (path, kind) = (text(folder.path()), text("tmpfs"));
        let (path, kind) = (at(path.as_c_str()), at(kind.as_c_str()));
        call(libc::SYS_mount, [kind, path, kind, 0, 0])?;
        call(libc::SYS_umount2, [path, 0]).map(drop)
    });
}

#[test]
fn a_file_system_is_opened() {
    into_the_kernel(
        "a_file_system_is_opened",
        || (),
        |()| call(libc::SYS_fsopen, [at(text("tmpfs").as_c_str()), 0]).map(drop),
    );
}

#[test]
fn a_tree_is_cloned() {
    into_the_kernel("a_tree_is_cloned", folder, |folder| {
        let path = text(folder.path());
        let clone = 1;
        let given = [libc::AT_FDCWD as usize, at(path.as_c_str()), clone];
        call(libc::SYS_open_tree, given).map(drop)
    });
}

#[test]
fn the_root_is_changed() {
    into_the_kernel("the_root_is_changed", folder, |folder| {
        call(libc::SYS_chroot, [at(text(folder.path()).as_c_str())]).map(drop)
    });
}

#[test]
fn a_namespace_of_users_is_made() {
    into_the_kernel(
        "a_namespace_of_users_is_made",
        || (),
        |()| call(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize]).map(drop),
    );
}

#[test]
fn a_namespace_of_mounts_is_made() {
    into_the_kernel(
        "a_namespace_of_mounts_is_made",
        || (),
        |()| call(libc::SYS_unshare, [libc::CLONE_NEWNS as usize]).map(drop),
    );
}

#[test]
fn a_namespace_is_entered() {
    let parents = || File::open("/proc/self/ns/uts").unwrap();
    into_the_kernel("a_namespace_is_entered", parents, |namespace| {
        let given = [namespace.as_raw_fd() as usize, libc::CLONE_NEWUTS as usize];
        call(libc::SYS_setns, given).map(drop)
    });
}

#[test]
fn the_machine_is_renamed() {
    into_the_kernel(
        "the_machine_is_renamed",
        || (),
        |()| {
            let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            let name = name.trim();
            call(libc::SYS_sethostname, [at(name), name.len()]).map(drop)
        },
    );
}

#[test]
fn a_ring_of_calls_is_made() {
    into_the_kernel(
        "a_ring_of_calls_is_made",
        || (),
        |()| {
            let parameters = [0_u8; 120];
            call(libc::SYS_io_uring_setup, [1, at(&parameters)]).map(drop)
        },
    );
}

#[test]
fn performance_is_watched() {
    into_the_kernel(
        "performance_is_watched",
        || (),
        |()| {
            // Of software, which every machine has; the second is the length.
            let mut event = [0_u32; 32];
            (event[0], event[1]) = (1, 128);
            let any = usize::MAX;
            call(libc::SYS_perf_event_open, [at(&event), 0, any, any, 0]).map(drop)
        },
    );
}

#[test]
fn a_map_of_the_kernel_is_made() {
    into_the_kernel(
        "a_map_of_the_kernel_is_made",
        || (),
        |()| {
            let (create, array) = (0, 2);
            let attributes = [array, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0_u32];
            call(libc::SYS_bpf, [create, at(&attributes), 72]).map(drop)
        },
    );
}

#[test]
fn a_key_is_kept_in_the_kernel() {
    into_the_kernel(
        "a_key_is_kept_in_the_kernel",
        || (),
        |()| {
            let (kind, name) = (text("user"), text("tamtam"));
            let ring_of_the_process = (-2_isize).cast_unsigned();
            let given = [
                at(kind.as_c_str()),
                at(name.as_c_str()),
                at(b"x"),
                1,
                ring_of_the_process,
            ];
            call(libc::SYS_add_key, given).map(drop)
        },
    );
}

#[test]
fn keys_of_the_kernel_are_asked_for() {
    into_the_kernel(
        "keys_of_the_kernel_are_asked_for",
        || (),
        |()| {
            let (get_the_ring, of_the_session) = (0, (-3_isize).cast_unsigned());
            call(libc::SYS_keyctl, [get_the_ring, of_the_session, 1]).map(drop)
        },
    );
}

#[test]
fn faults_of_memory_are_handled() {
    into_the_kernel(
        "faults_of_memory_are_handled",
        || (),
        |()| call(libc::SYS_userfaultfd, [libc::O_CLOEXEC as usize]).map(drop),
    );
}

/// As if a newer kernel had it, and the call that this kernel has last.
#[test]
fn a_call_that_is_not_known_is_made() {
    super::alone("kernel::a_call_that_is_not_known_is_made", || {
        super::applied_in_a_child(
            &Limits::new().untrusted(),
            || (),
            |applied| {
                applied.unwrap();
                for number in [471, 472, 1000] {
                    let error = call(number, [0; 6]).unwrap_err();
                    assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
                }
                Ok(())
            },
        );
    });
}

#[test]
fn no_powers_of_root_are_left() {
    super::alone("kernel::no_powers_of_root_are_left", || {
        super::applied_in_a_child(
            &Limits::new().no_processes(),
            || (),
            |applied| {
                applied.unwrap();
                let left = rustix::thread::capabilities(None)?;
                assert!(left.effective.is_empty() && left.permitted.is_empty());
                assert!(left.inheritable.is_empty());
                assert!(rustix::thread::no_new_privs()?);
                Ok(())
            },
        );
    });
}
