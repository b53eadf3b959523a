//! What a worker process may do: memory, time on the processor, files, network, other processes.
//!
//! A worker applies its [`Limits`] to itself while it has one thread, before it reads any message, and cannot take them back.
//! Linux holds them, by three means:
//!
//! - **Resource limits** (`setrlimit`) for memory and time on the processor.
//! - **A filter of system calls** (seccomp) that refuses each way out by its name.
//! - **Landlock**, a second wall behind the filter, and the only one that knows paths: it holds files to those that
//!   [`Limits::read`] and [`Limits::read_write`] name.
//!
//! # Why the filter lists what is refused
//!
//! A filter that lists what is allowed breaks as soon as the C library, the allocator or a dependency begins to use a call that
//! the list does not have, and what breaks is a worker in production. A filter that lists what is refused forgets calls that are
//! yet to be made. So this one does both: known calls are allowed unless they are a way out, and each number that was unknown
//! when the list was written answers `ENOSYS`, as it would on an older kernel, which every program has to expect. Where one
//! call has many operations (`ioctl`, `prctl`), the list is of those that are allowed. Calls of another architecture
//! (32 bits on a processor of 64) end the process.
//!
//! A call that is refused gives an error (`EPERM`, `EACCES`), it does not end the worker: a library that only tries to read a
//! file of settings goes on without it.

mod error;
#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod linux;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::{Applied, LeftOut, LimitsError};

/// What a worker process may do.
///
/// Limits are said by the process that starts a worker, travel to it (they are `Serialize`), and are applied there by
/// [`apply`](Self::apply). Nothing is limited unless it is said.
///
/// Each of [`no_files`](Self::no_files), [`no_network`](Self::no_network) and [`no_processes`](Self::no_processes) alone keeps a
/// program from mistakes. Against code that means harm they hold together only, as [`untrusted`](Self::untrusted) says them:
/// what may write files writes the memory of the process that has started it, and opens sockets there.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_process::limits::Limits;
///
/// let limits = Limits::new()
///     .untrusted()
///     .memory(512 << 20)
///     .cpu_time(Duration::from_secs(10));
/// assert!(!limits.is_none());
/// assert_eq!(Limits::new(), Limits::none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    memory: Option<u64>,
    cpu_time: Option<Duration>,
    no_files: bool,
    read: Vec<PathBuf>,
    read_write: Vec<PathBuf>,
    no_network: bool,
    no_processes: bool,
    allow_less: bool,
}

impl Limits {
    /// No limits, the same as [`none`](Self::none): where a chain of what is to be limited begins.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_process::limits::Limits;
    ///
    /// assert!(Limits::new().is_none());
    /// assert!(!Limits::new().no_network().is_none());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No limits: the worker may do what the process that starts it may do. The only ones that apply on every system.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_process::limits::Limits;
    ///
    /// let applied = Limits::none().apply()?;
    /// assert!(applied.left_out().is_empty());
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether nothing is limited.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_process::limits::Limits;
    ///
    /// assert!(Limits::none().is_none());
    /// assert!(Limits::none().allow_less().is_none());
    /// assert!(!Limits::none().memory(1 << 30).is_none());
    /// ```
    #[must_use]
    pub fn is_none(&self) -> bool {
        let Limits {
            memory, cpu_time, ..
        } = self;
        memory.is_none() && cpu_time.is_none() && !self.walled()
    }

    /// Whether all is said that [`untrusted`](Self::untrusted) says.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.no_files && self.no_network && self.no_processes
    }

    /// At most this many bytes of address space (`RLIMIT_AS`).
    ///
    /// At the limit an allocation fails: `Vec::try_reserve` says so, an ordinary allocation aborts the worker, which dies by
    /// `SIGABRT`. A thread that cannot get its stack is not started; a stack that cannot grow ends the worker by `SIGSEGV`.
    ///
    /// Address space is what counts, not memory in use. Memory in use (`RLIMIT_RSS`) is not limited by Linux, and the limit of
    /// private data (`RLIMIT_DATA`) leaves out shared mappings, by which a worker would have as much as it likes. So code,
    /// libraries, stacks (2 MiB a thread) and what allocators reserve count: give some hundred MiB more than
    /// the data needs. The C library reserves 64 MiB for each thread that allocates, and does without where they are not to be had.
    ///
    /// As root, a worker can take the limit back, unless [`no_processes`](Self::no_processes) is said, too. Files in memory
    /// (`memfd_create`, `/dev/shm`) do not count; [`no_files`](Self::no_files) refuses them.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// Limits::new().memory(1 << 30).apply()?;
    /// assert!(Vec::<u8>::new().try_reserve(2 << 30).is_err());
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// At most this much time on processors (`RLIMIT_CPU`), of all threads of the worker together and since it began. Time in
    /// which it waits does not count.
    ///
    /// Whole seconds, rounded up, and at least one. When it is over the worker is sent `SIGXCPU`, by which it dies; should it
    /// handle that signal, it is killed a second later.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_process::limits::Limits;
    ///
    /// let limits = Limits::new().cpu_time(Duration::from_secs(60));
    /// assert!(!limits.is_none());
    /// ```
    #[must_use]
    pub fn cpu_time(mut self, time: Duration) -> Self {
        self.cpu_time = Some(time);
        self
    }

    /// No file is opened, made, renamed, removed or changed, apart from those that [`read`](Self::read) and
    /// [`read_write`](Self::read_write) name. `/proc`, `/dev` and files in memory (`memfd_create`) are files.
    ///
    /// What is open already stays so: standard input, output and error, the link, and descriptors that the worker has inherited.
    /// A folder among them opens nothing; the names in it can be listed.
    ///
    /// Whether a path exists, how large and how old it is can still be asked. Permissions, owners, times and extended attributes
    /// can be changed nowhere, also not below a path of [`read_write`](Self::read_write); so [`std::fs::copy`] fails.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::fs::File;
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// assert!(File::open("/proc/self/status").is_ok());
    /// Limits::new().no_files().apply()?;
    /// assert!(File::open("/proc/self/status").is_err());
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn no_files(mut self) -> Self {
        self.no_files = true;
        self
    }

    /// No files but this one, or those below this folder, to be read. Says [`no_files`](Self::no_files), too.
    ///
    /// The path must exist when the limits are applied, and is UTF-8, as it travels to the worker. A relative one begins where the
    /// worker's folder is. Symbolic links in it are followed once, then; what a link below it points to is not allowed by
    /// it. Nothing can be executed. Needs Landlock as Linux 6.2 has it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_process::limits::Limits;
    ///
    /// let limits = Limits::new().read("/usr/share/zoneinfo").no_network();
    /// assert_eq!(limits, Limits::new().no_network().no_files().read("/usr/share/zoneinfo"));
    /// ```
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self.no_files()
    }

    /// No files but this one, or those below this folder, to be read, written, made, renamed and removed. Says
    /// [`no_files`](Self::no_files), too; for the path the same holds as for [`read`](Self::read).
    ///
    /// Files and folders are made, but no symbolic links, devices, sockets and pipes: what reads the folder afterwards, with more
    /// rights than the worker, would follow a link. Nothing limits how much is written; a disk of its own size does.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_process::limits::Limits;
    ///
    /// let limits = Limits::new().untrusted().read("/srv/fonts").read_write("/srv/thumbnails");
    /// assert!(!limits.is_none());
    /// ```
    #[must_use]
    pub fn read_write(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_write.push(path.into());
        self.no_files()
    }

    /// No sockets: none is opened, connected, bound or listened at, of any family, and no datagram is sent to an address.
    ///
    /// What is connected already, as the link is, goes on: it is read and written as a stream. `sendmsg` is refused, because
    /// its address cannot be looked at, and with it descriptors are passed on; they can be received. Connected pairs of Unix
    /// sockets (`UnixStream::pair`) can be made, for libraries that wake their threads by one.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::net::UdpSocket;
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// Limits::new().no_network().apply()?;
    /// assert!(UdpSocket::bind("127.0.0.1:0").is_err());
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn no_network(mut self) -> Self {
        self.no_network = true;
        self
    }

    /// No other processes: none is started, no program is executed, none is sent a signal, traced, or given another priority, and
    /// what processes share by name (System V memory, semaphores and queues) is out of reach. Root's powers over
    /// the machine (capabilities) are given up. Limits of resources cannot be changed.
    ///
    /// Threads are started as ever.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::process::Command;
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// Limits::new().no_processes().apply()?;
    /// assert!(Command::new("true").spawn().is_err());
    /// assert_eq!(std::thread::spawn(|| 2 + 2).join().unwrap(), 4);
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn no_processes(mut self) -> Self {
        self.no_processes = true;
        self
    }

    /// No files, no network, no other processes: what is left to the worker is to compute, and to talk over its link.
    ///
    /// Memory and time on the processor have no limit that suits all: say [`memory`](Self::memory) and
    /// [`cpu_time`](Self::cpu_time) as well, since a worker without them can fill the machine.
    ///
    /// Neither the number of threads is limited, nor what pipes and pairs of sockets have in their buffers: a cgroup does that.
    ///
    /// This keeps a worker in that runs what an attacker has sent it, as far as the kernel is without flaws. It does not
    /// hide what the worker itself has in memory, nor what can be learnt of other processes by measuring time (as by the
    /// processor's speculation). A worker that handles secrets of several users is one worker for each.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// Limits::new().untrusted().memory(1 << 30).apply()?;
    /// assert!(std::fs::read("/etc/passwd").is_err());
    /// assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err());
    /// assert!(std::process::Command::new("true").spawn().is_err());
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn untrusted(self) -> Self {
        self.no_files().no_network().no_processes()
    }

    /// Limits that this kernel cannot hold are left out, and [`apply`](Self::apply) says which. Without this they are an error.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use tamtam_process::limits::Limits;
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// let limits = Limits::new().read("/usr").allow_less();
    /// for left_out in limits.apply()?.left_out() {
    ///     eprintln!("the worker is not limited in this: {left_out}");
    /// }
    /// # }
    /// # Ok::<(), tamtam_process::limits::LimitsError>(())
    /// ```
    #[must_use]
    pub fn allow_less(mut self) -> Self {
        self.allow_less = true;
        self
    }

    /// Limits this process, for good, and tells what was left out.
    ///
    /// To be called in the worker, while it has one thread, and before it reads anything that it is not to trust. With any of
    /// [`no_files`](Self::no_files), [`no_network`](Self::no_network) and [`no_processes`](Self::no_processes) the process also
    /// gains no rights by what it executes (`PR_SET_NO_NEW_PRIVS`), and leaves no core dump and no door for debuggers
    /// (`PR_SET_DUMPABLE`).
    ///
    /// # Errors
    ///
    /// [`LimitsError`], if there are limits that cannot be held. Some others may be in force by then: end the process.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use tamtam_process::limits::{Limits, LimitsError};
    ///
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// let nowhere = Limits::new().read("/no/such/folder").apply();
    /// assert!(matches!(nowhere, Err(LimitsError::Path { .. })));
    /// # }
    /// ```
    pub fn apply(&self) -> Result<Applied, LimitsError> {
        if self.is_none() {
            return Ok(Applied::default());
        }
        self.apply_here()
    }

    #[cfg(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    ))]
    fn apply_here(&self) -> Result<Applied, LimitsError> {
        linux::apply(self)
    }

    #[cfg(not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    )))]
    fn apply_here(&self) -> Result<Applied, LimitsError> {
        Err(LimitsError::NotHere {
            system: std::env::consts::OS,
            processor: std::env::consts::ARCH,
        })
    }

    /// Whether there is more than limits of resources.
    pub(crate) fn walled(&self) -> bool {
        self.no_files || self.no_network || self.no_processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_travel_as_they_are() {
        let limits = Limits::new()
            .untrusted()
            .memory(1 << 30)
            .cpu_time(Duration::from_millis(1500))
            .read("/usr")
            .read_write("/tmp/results")
            .allow_less();
        let text = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), limits);
        let bytes = postcard::to_allocvec(&limits).unwrap();
        assert_eq!(postcard::from_bytes::<Limits>(&bytes).unwrap(), limits);
    }

    /// Limits that are written by hand must not become weaker by a letter.
    #[test]
    fn a_limit_that_is_misspelt_or_missing_is_an_error() {
        let text = serde_json::to_string(&Limits::none()).unwrap();
        let misspelt = text.replace("no_network", "no_netwrok");
        assert!(serde_json::from_str::<Limits>(&misspelt).is_err());
        let more = text.replace('{', "{\"no_fun\":true,");
        assert!(serde_json::from_str::<Limits>(&more).is_err());
    }

    #[test]
    fn any_limit_is_one() {
        assert!(Limits::none().is_none());
        for limits in [
            Limits::new().memory(1),
            Limits::new().cpu_time(Duration::ZERO),
            Limits::new().no_files(),
            Limits::new().read("/"),
            Limits::new().read_write("/"),
            Limits::new().no_network(),
            Limits::new().no_processes(),
            Limits::new().untrusted(),
        ] {
            assert!(!limits.is_none(), "{limits:?}");
        }
    }
}
