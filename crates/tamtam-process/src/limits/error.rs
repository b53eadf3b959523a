//! What became of limits: in force, left out, or an error.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Limits that are in force, and what was left out of them.
///
/// # Examples
///
/// ```
/// use tamtam_process::limits::Limits;
///
/// let applied = Limits::none().apply()?;
/// assert!(applied.left_out().is_empty());
/// assert!(!applied.has_landlock());
/// # Ok::<(), tamtam_process::limits::LimitsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub(super) left_out: Vec<LeftOut>,
    pub(super) landlock: bool,
}

impl Applied {
    /// What this kernel cannot hold; there is something only where
    /// [`allow_less`](super::Limits::allow_less) was said.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Whether Landlock stands behind the filter of system calls. Limits without paths hold without it, by one wall.
    #[must_use]
    pub fn has_landlock(&self) -> bool {
        self.landlock
    }
}

/// A limit that this kernel cannot hold.
///
/// # Examples
///
/// ```
/// use tamtam_process::limits::LeftOut;
///
/// assert!(LeftOut::Paths.to_string().contains("Landlock"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// Files are not held to the paths that were named: all can be opened, also the memory of other processes.
    Paths,
    /// What may be read can be emptied.
    Truncation,
    /// No system call is refused. Of files, network and processes only that is limited which Landlock knows of.
    SystemCalls,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOut::Paths => {
                "files are not held to the paths that were named, which takes Landlock (Linux 6.2, and not switched off at boot)"
            }
            LeftOut::Truncation => {
                "files that may be read can be emptied, which takes a newer Landlock (Linux 6.2)"
            }
            LeftOut::SystemCalls => {
                "no system call is refused, which takes a kernel with seccomp filters"
            }
        })
    }
}

/// Why limits were not applied.
///
/// # Examples
///
/// ```standalone_crate
/// use tamtam_process::limits::Limits;
///
/// # #[cfg(target_os = "linux")]
/// # {
/// let error = Limits::new().memory(4096).apply().unwrap_err();
/// assert!(error.to_string().contains("more memory"), "{error}");
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// Processes can be limited on Linux only, on x86-64, ARM64 and RISC-V of 64 bits.
    #[error(
        "a worker cannot be limited on {system} ({processor}), only on Linux (x86_64, aarch64, riscv64): start it with Limits::none(), \
         or elsewhere"
    )]
    NotHere {
        /// The system's name.
        system: &'static str,
        /// The processor's name.
        processor: &'static str,
    },
    /// The process has this many threads. The others would stay without limits.
    #[error(
        "limits are applied while the process has one thread, and it has {0}: apply them first in `main`, before anything that \
         starts a thread"
    )]
    Threads(usize),
    /// A path that was allowed cannot be opened.
    #[error(
        "{path:?} is to stay open to the worker and cannot be found there ({cause}): make it first, or leave it out"
    )]
    Path {
        /// The path.
        path: PathBuf,
        /// What opening it has said.
        cause: String,
    },
    /// This kernel cannot hold them.
    #[error("this kernel cannot hold these limits: {}. Use a newer one, or say `allow_less()`", listed(.0))]
    Lacking(Vec<LeftOut>),
    /// The process has more memory already than it is to have.
    #[error(
        "the worker is to have {limit} bytes of address space and has {used} already: give it more memory"
    )]
    MemoryUsed {
        /// What it is to have, in bytes.
        limit: u64,
        /// What it has, in bytes.
        used: u64,
    },
    /// The system has refused a step.
    #[error("{step} was refused by the system: {cause}")]
    System {
        /// What was to be done.
        step: &'static str,
        /// What the system has said.
        cause: io::Error,
    },
}

impl LimitsError {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(super) fn system(step: &'static str, cause: impl Into<io::Error>) -> Self {
        LimitsError::System {
            step,
            cause: cause.into(),
        }
    }
}

fn listed(all: &[LeftOut]) -> String {
    let texts: Vec<String> = all.iter().map(LeftOut::to_string).collect();
    texts.join("; ")
}
