#![doc = include_str!("../README.md")]
// Processes are for Linux so far; what is said of them is there everywhere.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 8 | process | an actor in a process of its own, as its users have it |
// | 7 | pool | one address for several |
// | 6 | monitor | the parent's side of a process |
// | 5 | shown, stepped, workers | the processes as `tamtam top` is told of them; processes of tests; which actors this program can be the process of |
// | 4 | collector, worker | what hears the reports of workers; a process that runs one actor |
// | 3 | begin, line, reporter, retold | what a worker is told before its link begins; its end of the link, with its turns; what reports to the parent; events of workers told here |
// | 2 | courier, figures, forwarded, reading | what writes; what workers say that they do; events on their way to the parent; what reads |
// | 1 | carried, child, hang_watch, launcher, next_life, panics, pause, progress, remote, report, supervised | what carries a link's bytes; a process as it is ended and waited for; what kills those that hang; the thread that starts processes; whether there is a next one; panics of workers; the time without a process; how far a worker has got; the actor; what is said beside the link; what a supervisor wants |
// | 0 | carrier, descriptors, error, inherited, limits, lock, origin, rhythm, status, timed | what carries messages, as users are told; descriptors beside shared memory; why there is no process; descriptors that nothing has given to a process; what a process may do; locks; whether this is a worker; how often a thread looks whether it is needed; what the system says of a process; sockets with deadlines |

#[cfg(target_os = "linux")]
mod begin;
#[cfg(target_os = "linux")]
mod carried;
mod carrier;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod collector;
#[cfg(all(test, target_os = "linux"))]
mod conformance;
#[cfg(target_os = "linux")]
mod courier;
#[cfg(target_os = "linux")]
mod descriptors;
mod error;
#[cfg(all(target_os = "linux", feature = "top"))]
mod figures;
#[cfg(all(target_os = "linux", feature = "tracing"))]
mod forwarded;
#[cfg(target_os = "linux")]
mod hang_watch;
#[cfg(target_os = "linux")]
mod inherited;
#[cfg(target_os = "linux")]
mod launcher;
#[forbid(unsafe_code)]
pub mod limits;
#[cfg(target_os = "linux")]
mod line;
mod lock;
#[cfg(target_os = "linux")]
mod monitor;
mod next_life;
#[cfg(target_os = "linux")]
mod origin;
mod panics;
#[cfg(target_os = "linux")]
mod pause;
#[cfg(target_os = "linux")]
mod pool;
mod process;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(target_os = "linux")]
mod reading;
mod remote;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod reporter;
#[cfg(all(target_os = "linux", feature = "tracing"))]
mod retold;
#[cfg(target_os = "linux")]
mod rhythm;
#[cfg(all(target_os = "linux", feature = "top"))]
mod shown;
#[cfg(target_os = "linux")]
mod status;
mod stepped;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "linux")]
mod timed;
#[cfg(target_os = "linux")]
mod worker;
mod workers;

pub use carrier::Carrier;
pub use error::SpawnError;
pub use limits::Limits;
pub use panics::{PanicWatch, WorkerPanic, on_panic};
pub use process::{Process, ProcessHandle, ProcessPool, ProcessSpawner};
pub use remote::Remote;
pub use stepped::SteppedProcess;
pub use workers::{Workers, is_primordial, start};
