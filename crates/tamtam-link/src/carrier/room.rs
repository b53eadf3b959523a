//! Where the thread that reads waits while too much of what a side has sent that is not trusted waits for actors.

#[cfg(unix)]
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{Condvar, Mutex, model_fence};

use crate::link::Link;

/// So often the thread looks whether its wait is of use.
const LOOK: Duration = Duration::from_millis(100);

/// How a wait for room has ended.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomWait {
    /// There is room.
    HasRoom,
    /// The other side is gone: there will be no more than lies in the carrier.
    IsLast,
    /// The link has ended, or has to.
    IsOver,
}

/// Whether the other side has closed this socket or pipe, so that no more than lies in it will come. Where the system is not Linux, a socket of which
/// it has closed only its own direction looks open.
#[cfg(unix)]
#[doc(hidden)]
pub fn has_closed(stream: impl AsFd) -> bool {
    // The end of a pipe, and of both directions of a socket, is told without being asked for.
    #[cfg(target_os = "linux")]
    let asked = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    let asked = PollFlags::empty();
    let mut closed = [PollFd::new(&stream, asked)];
    matches!(poll(&mut closed, Some(&Timespec::default())), Ok(1))
}

/// Where the thread that reads for a link waits until the actors here are done with enough of what has come: see [`Link::has_room`].
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tamtam_link::Link;
/// use tamtam_link::carrier::{Room, RoomWait};
///
/// let room = Arc::new(Room::default());
/// let ring = Arc::clone(&room);
/// let (link, inbound) = Link::builder().untrusted().build(move || ring.ring());
/// assert_eq!(room.wait(&link, || false), RoomWait::HasRoom); // Nothing has come.
/// # drop(inbound);
/// ```
#[doc(hidden)]
#[derive(Debug)]
pub struct Room {
    is_awaited: AtomicBool,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Default for Room {
    fn default() -> Self {
        Room {
            is_awaited: AtomicBool::new(false),
            lock: Mutex::new(()),
            rung: Condvar::new(),
        }
    }
}

impl Room {
    /// The actors may be done with something, or the link has ended. A carrier calls this wherever the link wakes it.
    pub fn ring(&self) {
        // SYNC room: what was done is seen by the thread that waits, or that one is seen here.
        model_fence();
        if self.is_awaited.load(Ordering::SeqCst) {
            drop(self.lock.lock());
            self.rung.notify_one();
        }
    }

    /// Waits until the link has room or has ended, or the other side is gone, of which it is asked now and then. One thread at a time.
    ///
    /// A link on which an answer is awaited that cannot come, since nothing before it is handled, is ended when its patience is over.
    pub fn wait(&self, link: &Link, is_gone: impl FnMut() -> bool) -> RoomWait {
        if link.has_room() {
            return RoomWait::HasRoom;
        }
        // SYNC room
        self.is_awaited.store(true, Ordering::SeqCst);
        model_fence();
        let waited = self.wait_long(link, is_gone);
        self.is_awaited.store(false, Ordering::SeqCst);
        waited
    }

    fn wait_long(&self, link: &Link, mut is_gone: impl FnMut() -> bool) -> RoomWait {
        let mut before = (link.unhandled(), Instant::now());
        loop {
            let is_full = |_: &mut ()| !link.has_room() && link.ended().is_none();
            let waited = self
                .rung
                .wait_timeout_while(self.lock.lock(), LOOK, is_full);
            let is_late = waited.1;
            drop(waited);
            if link.ended().is_some() {
                return RoomWait::IsOver;
            }
            if !is_late {
                return RoomWait::HasRoom;
            }
            if is_gone() {
                return RoomWait::IsLast;
            }
            let unhandled = link.unhandled();
            if unhandled != before.0 {
                before = (unhandled, Instant::now());
            } else if link.is_stuck_since(before.1) {
                return RoomWait::IsOver;
            }
        }
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use tamtam_actor::models::model;
    use tamtam_wait::seam::{Arc, thread};

    use super::*;

    /// The actors are done with what was too much just when the thread that reads is about to wait.
    #[test]
    fn loom_a_thread_that_waits_for_room_is_woken_when_there_is_some() {
        model(3, || {
            let room = Arc::new(Room::default());
            let ring = Arc::clone(&room);
            let builder = Link::builder().untrusted().most_unhandled(1, LOOK);
            let (link, _inbound) = builder.build(move || ring.ring());
            let counted = link.count_given(10);
            let actors = {
                let link = link.clone();
                thread::spawn(move || link.count_handled(counted))
            };
            assert_eq!(room.wait(&link, || false), RoomWait::HasRoom);
            actors.join().unwrap();
        });
    }
}
