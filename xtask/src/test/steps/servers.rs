//! Servers of a step: each a process with a folder of its own, ended and removed however the step ends.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid, User, chown};

use crate::test::stage::succeeds;

/// The folders that a step has made and not yet removed: what a signal would leave.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static ON_SIGNAL: Once = Once::new();

/// A folder for a server's data and its socket, whose path may have no more than 107 bytes. It goes when this goes.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one, which belongs to the user that the server runs as.
    pub(crate) fn new(name: &str, user: Option<&User>) -> Result<Self> {
        ON_SIGNAL.call_once(|| {
            // The servers get the same signal, and are done with their files soon.
            let remove = || {
                std::thread::sleep(Duration::from_millis(500));
                for folder in FOLDERS.lock().unwrap().iter() {
                    let _ = fs::remove_dir_all(folder);
                }
                std::process::exit(1);
            };
            ctrlc::set_handler(remove).expect("this process has no other handler");
        });
        let path = std::env::temp_dir().join(format!("tamtam-{name}-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        FOLDERS.lock().unwrap().push(path.clone());
        if let Some(user) = user {
            chown(&path, Some(user.uid), Some(user.gid))?;
        }
        Ok(Folder(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        FOLDERS.lock().unwrap().retain(|folder| *folder != self.0);
    }
}

/// A server that runs until this goes.
#[derive(Debug)]
pub(crate) struct Server {
    name: &'static str,
    process: Child,
    log: PathBuf,
}

impl Server {
    /// Starts it; what it prints is added to `log`.
    pub(crate) fn start(name: &'static str, command: &mut Command, log: &Path) -> Result<Self> {
        let output = File::options().create(true).append(true).open(log)?;
        let process = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .context(name)?;
        Ok(Server {
            name,
            process,
            log: log.to_path_buf(),
        })
    }

    /// Waits until `is_ready`.
    pub(crate) fn wait_for(&mut self, mut is_ready: impl FnMut() -> bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline && self.process.try_wait()?.is_none() {
            if is_ready() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        bail!("{} did not start", self.name)
    }

    /// Waits until a command succeeds.
    pub(crate) fn wait_until(&mut self, mut command: Command) -> Result<()> {
        self.wait_for(|| succeeds(&mut command))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends its own children, which it could not if it were killed. One that has ended has no number any more.
        if let (Ok(None), Ok(id)) = (self.process.try_wait(), i32::try_from(self.process.id())) {
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
        let _ = self.process.wait();
    }
}

/// The user as which a server runs where this is root, as which it refuses to run: the one that its package has made.
pub(crate) fn server_user(name: &str) -> Result<Option<User>> {
    if !Uid::effective().is_root() {
        return Ok(None);
    }
    let user = User::from_name(name)?;
    user.map(Some)
        .with_context(|| format!("there is no user {name}"))
}

/// Lets a command run as this user.
pub(crate) fn run_as(command: &mut Command, user: Option<&User>) {
    if let Some(user) = user {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
}

/// A port on loopback that was free just now; below those that the system gives to who asks for any.
pub(crate) fn free_port() -> Result<u16> {
    let begin = u16::try_from(std::process::id() % 10_000)?;
    let ports = (0..10_000).map(|at| 20_000 + (begin + at) % 10_000);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = ports.into_iter().find(is_free);
    port.context("no port is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_server() {
        let folder = Folder::new("test", None).unwrap();
        let path = folder.path().to_path_buf();
        let log = path.join("log");
        let ready = path.join("ready");
        let mut command = Command::new("sh");
        command
            .args(["-c", "touch \"$0\"; exec sleep 1000"])
            .arg(&ready);
        let mut server = Server::start("a sleeper", &mut command, &log).unwrap();
        server.wait_for(|| ready.exists()).unwrap();
        let id = Pid::from_raw(i32::try_from(server.process.id()).unwrap());
        drop(server);
        assert!(kill(id, None).is_err(), "it still runs");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_server_that_ends_at_once_did_not_start() {
        let folder = Folder::new("ends", None).unwrap();
        let log = folder.path().join("log");
        let mut server = Server::start("a quitter", &mut Command::new("false"), &log).unwrap();
        let error = server.wait_for(|| false).unwrap_err();
        assert_eq!(error.to_string(), "a quitter did not start");
    }

    #[test]
    fn a_free_port_can_be_had() {
        let port = free_port().unwrap();
        assert!((20_000..30_000).contains(&port));
        TcpListener::bind(("127.0.0.1", port)).unwrap();
    }
}
