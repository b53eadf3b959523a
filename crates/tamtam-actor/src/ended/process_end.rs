//! How the process of an actor has ended.

use core::fmt;

/// How a process has ended in which an actor lived.
///
/// # Examples
///
/// ```
/// use tamtam_actor::ProcessEnd;
///
/// assert_eq!(ProcessEnd::Exited(3).to_string(), "it exited with code 3");
/// assert_eq!(ProcessEnd::Killed(9).to_string(), "it was killed by signal 9 (SIGKILL)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProcessEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal of this number.
    Killed(i32),
    /// It was killed by its parent, for its actor was at one message for longer than it may be.
    Hung,
    /// In a way that the system does not tell: the program ignores `SIGCHLD`, or has waited for the process by itself.
    Unknown,
}

/// The names of signals by which processes mostly end; the numbers are those of Linux on x86-64 and most other machines.
const SIGNALS: [(i32, &str); 12] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
];

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEnd::Exited(code) => write!(f, "it exited with code {code}"),
            ProcessEnd::Killed(signal) => {
                write!(f, "it was killed by signal {signal}")?;
                let name = SIGNALS.iter().find(|(number, _)| number == signal);
                name.map_or(Ok(()), |(_, name)| write!(f, " ({name})"))
            }
            ProcessEnd::Hung => f.write_str(
                "it was killed by its parent, since it was at one message for longer than it may be",
            ),
            ProcessEnd::Unknown => f.write_str(
                "how it has ended is not known, since the program ignores SIGCHLD or has waited for it by itself",
            ),
        }
    }
}
