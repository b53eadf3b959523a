//! The standard library's own ways of passing messages, and what one makes of its locks by hand: what all programs have without
//! any dependency. They run in the program itself, so that the first table already compares with this machine today.

mod locks;
mod mpsc;
mod mutex_condvar;
mod mutex_swap;
mod park;
mod shared_atomic;
#[cfg(unix)]
mod socket_bytes;

use crate::Contender;

/// All of them, in the order in which lists show them.
pub(crate) const ALL: &[&dyn Contender] = &[
    &mpsc::BOUNDED,
    &mpsc::UNBOUNDED,
    &mutex_condvar::MutexCondvar,
    &park::Parked,
    &mutex_swap::BOUNDED,
    &mutex_swap::UNBOUNDED,
    &locks::RWLOCK,
    &locks::MUTEX,
    &shared_atomic::SharedAtomic,
    #[cfg(unix)]
    &socket_bytes::SocketBytes,
];

/// The compiler's version, which is the standard library's, too.
pub(super) const VERSION: &str = env!("VERSION_OF_RUST");
