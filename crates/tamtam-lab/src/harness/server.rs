//! A server in a process of its own: this program, started again.
//!
//! The process that measures and its server talk by the server's input and output, a line at a time: the server says where it
//! can be reached, and whenever it is asked, what it has used of the machine. It ends when its input does, however the
//! process that measures may have ended.

use std::any::Any;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::usage::Usage;
use crate::{Contender, Failure};

/// The word before a contender's name with which a program of contenders becomes a server.
pub(crate) const COMMAND: &str = "serve";

/// What a server says before its address. Before that, the program's test may have written something.
const READY: &str = "serving ";
/// What a server is asked for.
const USAGE: &str = "usage";

/// The environment variable that names the contender whose server a test is to be, and after a space the part.
const SERVE: &str = "TAMTAM_LAB_SERVE";

/// How long a server may take to end before it is ended.
const FAREWELL: Duration = Duration::from_secs(5);

/// The test that stands in for the command line where the program is one of tests.
static TEST: OnceLock<&'static str> = OnceLock::new();

/// What a contender serves in a process of its own: see [`Contender::serve`].
#[derive(Debug)]
pub struct Serving {
    address: String,
    _server: Box<dyn Any>,
}

impl Serving {
    /// A server that is reached at `address`, one line of text that its clients understand. `server` is dropped at the end:
    /// what is to be removed then, such as a [`PrivateFolder`], belongs in it.
    pub fn at(address: impl Into<String>, server: impl Any) -> Self {
        Serving {
            address: address.into(),
            _server: Box::new(server),
        }
    }
}

/// Serves until the input ends: all that the contender has one server for, or a part of what it takes part in.
pub(crate) fn serve(contender: &dyn Contender, part: Option<&str>) -> Result<(), Failure> {
    let serving = match part {
        Some(part) => contender.serve_part(part)?,
        None => contender.serve()?,
    };
    let mut out = io::stdout();
    // On a line of its own, whatever was written before.
    write!(out, "\n{READY}{}\n", serving.address)?;
    out.flush()?;
    for line in io::stdin().lines() {
        if line? == USAGE {
            let [cpu, voluntary, involuntary] = Usage::of_process().unwrap_or_default().numbers();
            writeln!(out, "{cpu} {voluntary} {involuntary}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Says that this is a program of tests, in which the test `name` calls [`serve_if_asked`]: servers are started by it.
pub fn serve_by_test(name: &'static str) {
    // Each test of a program says the same.
    let _ = TEST.set(name);
}

/// Is the server of one of `contenders`, and ends the process when that has ended; returns at once where a program of tests
/// is no server.
///
/// # Panics
/// The server cannot be started.
pub fn serve_if_asked(contenders: &[&dyn Contender]) {
    let Ok(words) = env::var(SERVE) else { return };
    let (name, part) = match words.split_once(' ') {
        Some((name, part)) => (name, Some(part)),
        None => (&*words, None),
    };
    let contender = contenders
        .iter()
        .find(|contender| contender.card().name == name);
    let contender = contender.expect("a contender asked for its own server");
    if let Err(failure) = serve(*contender, part) {
        panic!("{name}: {failure}");
    }
    std::process::exit(0);
}

/// A server in a process of its own; it ends when this is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    address: String,
}

impl ServerProcess {
    /// Starts this very program again, as the server of the contender `name`, and waits until it serves. It may run on the
    /// processors that the calling thread may use now.
    ///
    /// # Errors
    /// It cannot be started, or it ends before it serves; why, it says itself on the standard error.
    pub fn start(name: &str) -> Result<Self, Failure> {
        Self::start_by(Self::command(name)?)
    }

    /// The same for one `part` of what the contender takes part in: see [`Contender::serve_part`].
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_part(name: &str, part: &str) -> Result<Self, Failure> {
        Self::start_by(Self::command_of(name, Some(part))?)
    }

    fn start_by(mut command: Command) -> Result<Self, Failure> {
        // Ctrl-C is for the lab alone: a server that it ended could not tidy up.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut server = ServerProcess {
            child,
            input,
            output: BufReader::new(output.expect("it was asked for")),
            address: String::new(),
        };
        while server.address.is_empty() {
            let line = server.line()?;
            server.address = line.strip_prefix(READY).unwrap_or_default().to_owned();
        }
        Ok(server)
    }

    /// What starts this very program again, as the server of the contender `name`.
    ///
    /// # Errors
    /// The system does not say where the program is.
    pub fn command(name: &str) -> Result<Command, Failure> {
        Self::command_of(name, None)
    }

    fn command_of(name: &str, part: Option<&str>) -> Result<Command, Failure> {
        let mut command = Command::new(env::current_exe()?);
        let words = iter::once(name).chain(part);
        match TEST.get() {
            None => command.args(["contender", COMMAND]).args(words),
            Some(test) => command
                .args([test, "--exact", "--nocapture", "--test-threads=1"])
                .env(SERVE, words.collect::<Vec<_>>().join(" ")),
        };
        Ok(command)
    }

    /// Where it can be reached, as its contender wrote it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it has used of the machine so far, as it says itself: nanoseconds of processors, voluntary and involuntary switches.
    /// `None` where the system does not tell, and if it has ended.
    pub fn used(&mut self) -> Option<[u64; 3]> {
        self.usage().map(Usage::numbers)
    }

    /// What it and this process have used of the machine so far; `None` where the system does not tell.
    pub(crate) fn usage_with_this(&mut self) -> Option<Usage> {
        Some(Usage::of_process()? + self.usage()?)
    }

    /// What it has used of the machine so far; `None` where the system does not tell.
    pub(crate) fn usage(&mut self) -> Option<Usage> {
        let mut input = self.input.as_ref()?;
        writeln!(input, "{USAGE}").ok()?;
        let line = self.line().ok()?;
        let mut numbers = line.split(' ').map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let usage = Usage::from([next()?, next()?, next()?]);
        // A process that runs has used some.
        (!usage.cpu.is_zero()).then_some(usage)
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(Failure::Unverified("the server's process ended".to_owned()));
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It ends by the end of its input, and tidies up.
        self.input = None;
        let begin = Instant::now();
        while let Ok(None) = self.child.try_wait() {
            if begin.elapsed() > FAREWELL {
                // Both fail only if it has ended after all.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(unix)]
pub use folder::PrivateFolder;

#[cfg(unix)]
mod folder {
    //! Where a server keeps its sockets and pipes.

    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::DirBuilderExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::{env, io, process, thread};

    /// A folder for sockets and named pipes that no other user may enter. It is removed, with all that is in it, when this is
    /// dropped.
    #[derive(Debug)]
    pub struct PrivateFolder(PathBuf);

    impl PrivateFolder {
        /// Makes one with a Unix socket in it, at the path that comes beside it. `serve` is given each connection, in a thread
        /// of its own for all of them.
        ///
        /// # Errors
        /// The system has no folder, no socket or no thread for it.
        pub fn listening(
            mut serve: impl FnMut(UnixStream) + Send + 'static,
        ) -> io::Result<(Self, PathBuf)> {
            let folder = PrivateFolder::new()?;
            let path = folder.path().join("socket");
            let listener = UnixListener::bind(&path)?;
            thread::Builder::new().spawn(move || {
                for socket in listener.incoming().flatten() {
                    serve(socket);
                }
            })?;
            Ok((folder, path))
        }

        /// Makes one where the system keeps what is temporary.
        ///
        /// # Errors
        /// It cannot be made.
        pub fn new() -> io::Result<Self> {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            loop {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let name = format!("tamtam-lab-{}-{number}", process::id());
                let path = env::temp_dir().join(name);
                match DirBuilder::new().mode(0o700).create(&path) {
                    Ok(()) => return Ok(PrivateFolder(path)),
                    // Left by a process of the same number that was ended before it could tidy up.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                }
            }
        }

        /// Where it is.
        #[must_use]
        pub fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for PrivateFolder {
        fn drop(&mut self) {
            // What cannot be removed is left to the system, which empties the folder above.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
