//! Where the socket is, and that it is this user's alone.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket in the file system, which is removed when this is dropped.
pub(super) struct SocketPlace {
    pub(super) listener: UnixListener,
    path: PathBuf,
    /// The device and the number of the file, to know it again.
    file: (u64, u64),
}

fn error(kind: ErrorKind, path: &Path, what: &str) -> io::Error {
    io::Error::new(kind, format!("{}: {what}", path.display()))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |why| error(why.kind(), path, &why.to_string())
}

impl SocketPlace {
    /// Where `tamtam top` looks for programs.
    pub(super) fn usual() -> io::Result<Self> {
        let folder = folder()?;
        clear(&folder);
        Self::at(&folder.join(format!("{}.sock", std::process::id())))
    }

    pub(super) fn at(path: &Path) -> io::Result<Self> {
        make_way(path)?;
        let mut hidden = OsString::from(".tamtam-");
        hidden.push(std::process::id().to_string());
        // The socket is made where no other user can reach it, and comes to its place with its mode, listening.
        let private = path.with_file_name(hidden);
        DirBuilder::new()
            .mode(0o700)
            .create(&private)
            .map_err(at(&private))?;
        let made = make(&private.join("s"), path);
        let _ = fs::remove_dir_all(&private);
        let listener = made?;
        let file = fs::symlink_metadata(path).map_err(at(path))?;
        Ok(SocketPlace {
            listener,
            path: path.to_owned(),
            file: (file.dev(), file.ino()),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        // Another program may have put something else there.
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|file| (file.dev(), file.ino()) == self.file);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn make(first: &Path, path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(first).map_err(at(first))?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(first, Permissions::from_mode(0o600)).map_err(at(first))?;
    fs::rename(first, path).map_err(at(path))?;
    Ok(listener)
}

/// Whether there is a socket that a program has left behind.
fn is_left_behind(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Sees to it that nothing is at that path but perhaps a socket that a program of the same user has left behind.
fn make_way(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(at(path))?,
    };
    if !found.file_type().is_socket() {
        let what = "there is a file that is no socket";
        return Err(error(ErrorKind::AlreadyExists, path, what));
    }
    if found.uid() != user() {
        let what = "there is a socket of another user";
        return Err(error(ErrorKind::PermissionDenied, path, what));
    }
    if !is_left_behind(path) {
        let what = "a program serves there already";
        return Err(error(ErrorKind::AddrInUse, path, what));
    }
    Ok(())
}

/// The folder of all sockets of this user, which no other user can look into.
fn folder() -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = match runtime {
        Some(folder) if folder.is_absolute() && folder.is_dir() => folder.join("tamtam"),
        _ => PathBuf::from(format!("/tmp/tamtam-{}", user())),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(at(&folder)(why)),
        _ => {}
    }
    // Not through a link that another user has put there.
    let found = fs::symlink_metadata(&folder).map_err(at(&folder))?;
    if !found.is_dir() || found.uid() != user() {
        let what = "this is not a folder of this user";
        return Err(error(ErrorKind::PermissionDenied, &folder, what));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).map_err(at(&folder))?;
    }
    Ok(folder)
}

/// Removes the sockets that programs have left behind.
fn clear(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path
            .extension()
            .is_some_and(|extension| extension == "sock")
            && is_left_behind(&path)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The user that this program acts for.
pub(super) fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}
