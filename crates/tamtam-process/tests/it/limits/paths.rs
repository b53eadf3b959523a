//! Paths that stay open: what may be done below them, and that nothing else is reached by them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tamtam_process::limits::Limits;
use tempfile::TempDir;

use super::{Needs, Walls, at, call, in_a_child, text, way_out};

/// A folder to read, one to write, and a secret beside them.
struct Outside {
    folder: TempDir,
    secret: PathBuf,
    reading: PathBuf,
    writing: PathBuf,
}

fn outside() -> Outside {
    let folder = tempfile::Builder::new()
        .prefix("limits-")
        .tempdir()
        .unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (secret, reading, writing) = (
        root.join("secret"),
        root.join("reading"),
        root.join("writing"),
    );
    fs::write(&secret, "secret").unwrap();
    fs::create_dir(&reading).unwrap();
    fs::create_dir(&writing).unwrap();
    fs::write(reading.join("given"), "given").unwrap();
    symlink(&secret, reading.join("link")).unwrap();
    symlink("../secret", writing.join("link")).unwrap();
    Outside {
        folder,
        secret,
        reading,
        writing,
    }
}

fn limits(outside: &Outside) -> Limits {
    Limits::new()
        .untrusted()
        .read(&outside.reading)
        .read_write(&outside.writing)
}

/// The folder of each run has a name of its own, so the limits are made with it and applied by the way.
fn past_the_paths(test: &str, way: impl Fn(&Outside) -> io::Result<()>) {
    super::alone(&format!("paths::{test}"), || {
        let free = outside();
        in_a_child(|| way(&free)).expect("without limits it leads out");
        let held = outside();
        for walls in [Walls::Both, Walls::Landlock] {
            let tried = in_a_child(|| {
                super::apply_behind(&limits(&held), walls)?;
                way(&held)
            });
            let error = tried.expect_err("it leads out");
            assert!(super::is_refusal(&error), "{walls:?}: {error}");
        }
    });
}

#[test]
fn what_is_allowed_works() {
    super::alone("paths::what_is_allowed_works", || {
        let outside = outside();
        in_a_child(|| {
            limits(&outside).apply().map_err(io::Error::other)?;
            assert_eq!(fs::read(outside.reading.join("given"))?, b"given");
            assert_eq!(fs::read_dir(&outside.reading)?.count(), 2);
            let (one, two) = (outside.writing.join("one"), outside.writing.join("two"));
            fs::write(&one, "one")?;
            assert_eq!(fs::read(&one)?, b"one");
            fs::rename(&one, &two)?;
            File::options().write(true).open(&two)?.set_len(1)?;
            fs::create_dir(outside.writing.join("inner"))?;
            fs::rename(&two, outside.writing.join("inner/three"))?;
            fs::remove_file(outside.writing.join("inner/three"))?;
            fs::remove_dir(outside.writing.join("inner"))
        })
        .unwrap();
    });
}

#[test]
fn one_file_is_allowed() {
    super::alone("paths::one_file_is_allowed", || {
        let outside = outside();
        let (given, results) = (
            outside.reading.join("given"),
            outside.writing.join("results"),
        );
        fs::write(&results, "").unwrap();
        let limits = Limits::new().read(&given).read_write(&results);
        in_a_child(|| {
            limits.apply().map_err(io::Error::other)?;
            assert_eq!(fs::read(&given)?, b"given");
            fs::write(&results, "results")?;
            assert!(fs::write(&given, "").is_err());
            assert!(fs::read_dir(&outside.reading).is_err());
            assert!(fs::read(&outside.secret).is_err());
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_link_leads_out() {
    past_the_paths("a_link_leads_out", |outside| {
        fs::read(outside.reading.join("link")).map(drop)
    });
}

#[test]
fn a_relative_link_leads_out() {
    past_the_paths("a_relative_link_leads_out", |outside| {
        fs::write(outside.writing.join("link"), "")
    });
}

#[test]
fn dots_lead_out() {
    past_the_paths("dots_lead_out", |outside| {
        fs::read(outside.reading.join("../secret")).map(drop)
    });
}

#[test]
fn the_root_of_a_process_leads_out() {
    past_the_paths("the_root_of_a_process_leads_out", |outside| {
        let secret = outside.secret.strip_prefix("/").unwrap();
        fs::read(PathBuf::from("/proc/self/root").join(secret)).map(drop)
    });
}

#[test]
fn a_hard_link_leads_in() {
    past_the_paths("a_hard_link_leads_in", |outside| {
        fs::hard_link(&outside.secret, outside.writing.join("mine"))
    });
}

#[test]
fn what_is_read_is_moved_to_be_written() {
    past_the_paths("what_is_read_is_moved_to_be_written", |outside| {
        fs::hard_link(outside.reading.join("given"), outside.writing.join("mine"))
    });
}

#[test]
fn what_is_read_is_written() {
    past_the_paths("what_is_read_is_written", |outside| {
        OpenOptions::new()
            .append(true)
            .open(outside.reading.join("given"))
            .map(drop)
    });
}

#[test]
fn what_is_read_is_emptied() {
    past_the_paths("what_is_read_is_emptied", |outside| {
        let path = text(outside.reading.join("given"));
        let flags = (libc::O_RDONLY | libc::O_TRUNC) as usize;
        let given = [libc::AT_FDCWD as usize, at(path.as_c_str()), flags, 0];
        call(libc::SYS_openat, given).map(drop)
    });
}

#[test]
fn a_link_is_laid_for_readers() {
    past_the_paths("a_link_is_laid_for_readers", |outside| {
        symlink(&outside.secret, outside.writing.join("results"))
    });
}

#[test]
fn a_program_that_may_be_read_is_executed() {
    let test = "paths::a_program_that_may_be_read_is_executed";
    let limits = Limits::new().untrusted().read("/usr").read("/bin");
    let tried = [(limits, &[Walls::Both, Walls::Landlock][..])];
    way_out(
        test,
        Needs::Nothing,
        &tried,
        || (),
        |()| {
            let path = text("/bin/true");
            let arguments = [at(path.as_c_str()), 0];
            call(libc::SYS_execve, [at(path.as_c_str()), at(&arguments), 0]).map(drop)
        },
    );
}

#[test]
fn a_folder_is_left_as_it_was() {
    super::alone("paths::a_folder_is_left_as_it_was", || {
        let outside = outside();
        in_a_child(|| {
            limits(&outside).apply().map_err(io::Error::other)?;
            assert!(fs::remove_file(outside.reading.join("given")).is_err());
            assert!(fs::remove_dir_all(outside.folder.path()).is_err());
            Ok(())
        })
        .unwrap();
        assert!(outside.secret.exists() && outside.reading.join("given").exists());
    });
}
