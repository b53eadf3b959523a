//! Ways to files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use tamtam_process::limits::Limits;
use tempfile::TempDir;

use super::{Needs, Walls, at, call, text, untrusted, way_out};

/// A folder with a secret in it, and folders that the worker may use.
struct Outside {
    folder: TempDir,
    secret: PathBuf,
}

fn outside() -> Outside {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    Outside { folder, secret }
}

/// Without any path, where the filter refuses, and with another path, where Landlock does.
fn behind_each() -> Vec<(Limits, &'static [Walls])> {
    let mut tried = untrusted();
    tried.push((
        Limits::new().no_files(),
        &[Walls::Both, Walls::Filter, Walls::Landlock],
    ));
    tried.push((Limits::new().untrusted().read("/usr"), &[Walls::Both]));
    tried.push((
        Limits::new().read_write("/usr"),
        &[Walls::Both, Walls::Landlock],
    ));
    tried
}

fn to_a_file(test: &str, way: impl Fn(&Outside) -> io::Result<()>) {
    let test = format!("files::{test}");
    way_out(&test, Needs::Nothing, &behind_each(), outside, way);
}

#[test]
fn a_file_is_read() {
    to_a_file("a_file_is_read", |outside| {
        fs::read(&outside.secret).map(drop)
    });
}

#[test]
fn a_file_is_written() {
    to_a_file("a_file_is_written", |outside| {
        OpenOptions::new()
            .append(true)
            .open(&outside.secret)?
            .write_all(b"more")
    });
}

#[test]
fn a_file_is_made() {
    to_a_file("a_file_is_made", |outside| {
        File::create_new(outside.folder.path().join("new")).map(drop)
    });
}

#[test]
fn a_file_is_emptied() {
    to_a_file("a_file_is_emptied", |outside| {
        call(
            libc::SYS_truncate,
            [at(text(&outside.secret).as_c_str()), 0],
        )
        .map(drop)
    });
}

#[test]
fn a_file_is_removed() {
    to_a_file("a_file_is_removed", |outside| {
        fs::remove_file(&outside.secret)
    });
}

#[test]
fn a_file_is_renamed() {
    to_a_file("a_file_is_renamed", |outside| {
        fs::rename(&outside.secret, outside.folder.path().join("found"))
    });
}

#[test]
fn a_folder_is_made() {
    to_a_file("a_folder_is_made", |outside| {
        fs::create_dir(outside.folder.path().join("folder"))
    });
}

#[test]
fn a_folder_is_listed() {
    to_a_file("a_folder_is_listed", |outside| {
        fs::read_dir(outside.folder.path()).map(drop)
    });
}

#[test]
fn a_link_is_made() {
    to_a_file("a_link_is_made", |outside| {
        std::os::unix::fs::symlink("/etc", outside.folder.path().join("link"))
    });
}

#[test]
fn a_hard_link_is_made() {
    to_a_file("a_hard_link_is_made", |outside| {
        fs::hard_link(&outside.secret, outside.folder.path().join("link"))
    });
}

#[test]
fn proc_is_read() {
    to_a_file("proc_is_read", |_| fs::read("/proc/self/maps").map(drop));
}

#[test]
fn shared_memory_is_opened() {
    to_a_file("shared_memory_is_opened", |_| {
        let path = format!("/dev/shm/tamtam-limits-{}", std::process::id());
        File::create_new(&path)?;
        fs::remove_file(path)
    });
}

#[test]
fn a_file_is_opened_below_an_inherited_folder() {
    let test = "files::a_file_is_opened_below_an_inherited_folder";
    let set_up = || {
        let outside = outside();
        let folder = File::open(outside.folder.path()).unwrap();
        (outside, folder)
    };
    way_out(
        test,
        Needs::Nothing,
        &behind_each(),
        set_up,
        |(_, folder)| {
            let name = text("secret");
            let opened = call(
                libc::SYS_openat,
                [folder.as_raw_fd() as usize, at(name.as_c_str()), 0],
            );
            opened.map(drop)
        },
    );
}

#[test]
fn a_file_is_opened_again_by_its_descriptor() {
    let test = "files::a_file_is_opened_again_by_its_descriptor";
    let set_up = || {
        let outside = outside();
        let only_named = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(&outside.secret)
            .unwrap();
        (outside, only_named)
    };
    way_out(
        test,
        Needs::Nothing,
        &behind_each(),
        set_up,
        |(_, named)| File::open(format!("/proc/self/fd/{}", named.as_raw_fd())).map(drop),
    );
}

#[test]
fn a_file_is_opened_by_its_handle() {
    let test = "files::a_file_is_opened_by_its_handle";
    let set_up = || {
        let outside = outside();
        // The length of what follows the two first numbers, its kind, and that.
        let mut handle = [0_u32; 34];
        handle[0] = 128;
        let mount = 0_i32;
        let path = text(&outside.secret);
        let given = [
            libc::AT_FDCWD as usize,
            at(path.as_c_str()),
            at(&handle),
            at(&mount),
            0,
        ];
        let named = call(libc::SYS_name_to_handle_at, given);
        let folder = File::open(outside.folder.path()).unwrap();
        (outside, folder, named.map(|_| handle))
    };
    let behind_filter = [(Limits::new().untrusted().read("/usr"), &[Walls::Both][..])];
    let tried = [untrusted(), behind_filter.to_vec()].concat();
    way_out(
        test,
        Needs::Rights,
        &tried,
        set_up,
        |(_, folder, handle)| {
            let handle = handle
                .as_ref()
                .map_err(|error| io::Error::from(error.kind()))?;
            call(
                libc::SYS_open_by_handle_at,
                [folder.as_raw_fd() as usize, at(handle), 0],
            )
            .map(drop)
        },
    );
}

/// What Landlock does not ask about, below a path that may be written, too.
fn around_landlock(test: &str, needs: Needs, way: impl Fn(&Outside) -> io::Result<()>) {
    let test = format!("files::{test}");
    let mut tried = untrusted();
    tried.push((Limits::new().no_files(), &[Walls::Both]));
    tried.push((
        Limits::new().read_write(std::env::temp_dir()),
        &[Walls::Both],
    ));
    way_out(&test, needs, &tried, outside, way);
}

#[test]
fn permissions_are_changed() {
    around_landlock("permissions_are_changed", Needs::Nothing, |outside| {
        fs::set_permissions(&outside.secret, fs::Permissions::from_mode(0o777))
    });
}

#[test]
fn an_owner_is_changed() {
    around_landlock("an_owner_is_changed", Needs::Nothing, |outside| {
        std::os::unix::fs::lchown(&outside.secret, None, None)
    });
}

#[test]
fn times_are_changed() {
    around_landlock("times_are_changed", Needs::Nothing, |outside| {
        let path = text(&outside.secret);
        let given = [libc::AT_FDCWD as usize, at(path.as_c_str()), 0, 0];
        call(libc::SYS_utimensat, given).map(drop)
    });
}

#[test]
fn attributes_are_changed() {
    around_landlock("attributes_are_changed", Needs::Rights, |outside| {
        let path = text(&outside.secret);
        let (name, value) = (text("user.tamtam"), [0_u8; 1]);
        let given = [at(path.as_c_str()), at(name.as_c_str()), at(&value), 1, 0];
        call(libc::SYS_setxattr, given).map(drop)
    });
}

#[test]
fn a_folder_is_watched() {
    around_landlock("a_folder_is_watched", Needs::Rights, |outside| {
        let watcher = call(libc::SYS_inotify_init1, [0])?;
        let path = text(outside.folder.path());
        let given = [watcher, at(path.as_c_str()), libc::IN_ACCESS as usize];
        call(libc::SYS_inotify_add_watch, given).map(drop)
    });
}

#[test]
fn a_file_in_memory_is_made() {
    around_landlock("a_file_in_memory_is_made", Needs::Nothing, |_| {
        call(libc::SYS_memfd_create, [at(text("memory").as_c_str()), 0]).map(drop)
    });
}

#[test]
fn a_queue_of_messages_is_opened() {
    around_landlock("a_queue_of_messages_is_opened", Needs::Rights, |_| {
        let name = text(format!("tamtam-limits-{}", std::process::id()));
        let flags = libc::O_CREAT | libc::O_RDWR;
        call(
            libc::SYS_mq_open,
            [at(name.as_c_str()), flags as usize, 0o600, 0],
        )?;
        call(libc::SYS_mq_unlink, [at(name.as_c_str())]).map(drop)
    });
}

#[test]
fn a_device_is_made() {
    around_landlock("a_device_is_made", Needs::Rights, |outside| {
        let path = text(outside.folder.path().join("null"));
        let device = libc::makedev(1, 3) as usize;
        let kind = (libc::S_IFCHR | 0o600) as usize;
        let given = [libc::AT_FDCWD as usize, at(path.as_c_str()), kind, device];
        call(libc::SYS_mknodat, given).map(drop)
    });
}
