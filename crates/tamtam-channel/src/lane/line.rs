//! What the lanes of one receiver share: its bell, the lanes that it has not seen yet, and how many senders there are.

use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};
use tamtam_wait::seam::{self, Arc, CacheAligned, Mutex, ORIGIN};
use tamtam_wait::{Attention, Wait, WaitList};

use super::queue::Lane;
use super::{LaneSender, Receiver};

/// What all senders of one receiver have in common.
pub(super) struct Line<T> {
    /// Whether the receiver wants to be looked for. Closed when it takes no more messages. Every sender
    /// reads it with each message.
    pub(super) attention: CacheAligned<Attention>,
    /// The receiver, while it waits for messages.
    pub(super) receivers: WaitList,
    senders: AtomicUsize,
    /// How many lanes were opened, ever; tells the receiver to look into `opened`.
    version: AtomicUsize,
    opened: Mutex<Opened<T>>,
    /// Held by the side that takes a message out of a lane after the receiver has closed the line.
    pub(super) closing: Mutex<()>,
    pub(super) capacity: usize,
}

/// Lanes that the receiver has not seen yet.
struct Opened<T> {
    lanes: Vec<Arc<Lane<T>>>,
    /// So many senders of whatever lane have gone since those of lanes in here were looked for.
    gone: usize,
}

/// So many lanes without a use may be kept beside those with one, and then half as many as those.
pub(super) const UNUSED_KEPT: usize = if cfg!(tamtam_loom) { 0 } else { 16 };

/// A channel with one sender, which has room for `capacity` messages.
pub(crate) fn open<T, K>(capacity: usize) -> (LaneSender<T, K>, Receiver<T>) {
    let line = Arc::new(Line {
        attention: CacheAligned(Attention::new()),
        receivers: WaitList::single(),
        senders: AtomicUsize::new(1),
        version: AtomicUsize::new(ORIGIN),
        opened: Mutex::new(Opened {
            lanes: Vec::new(),
            gone: 0,
        }),
        closing: Mutex::new(()),
        capacity,
    });
    let lane = Arc::new(Lane::new(capacity));
    (
        LaneSender::new(Arc::clone(&line), Arc::clone(&lane), Wait::Adaptive),
        Receiver::new(line, lane),
    )
}

impl<T> Line<T> {
    /// Opens a lane for another sender.
    pub(super) fn open_lane(&self) -> Arc<Lane<T>> {
        if self.senders.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            // Only by leaking clones can one get here, and a panic could be caught and repeated.
            std::process::abort();
        }
        self.add_lane()
    }

    /// As [`open_lane`](Line::open_lane), unless no sender is left, or no message is taken any more.
    pub(super) fn open_lane_if_open(&self) -> Option<Arc<Lane<T>>> {
        if self.attention.is_closed() {
            return None;
        }
        // Once there is none there never will be one: a receiver may rely on what `has_senders` says. What
        // this sender's messages are ordered by comes with its going, as in `open_lane`.
        let more = |senders: usize| senders.checked_add(1).filter(|_| senders != 0);
        self.senders
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(self.add_lane())
    }

    fn add_lane(&self) -> Arc<Lane<T>> {
        let lane = Arc::new(Lane::new(self.capacity));
        if self.attention.is_closed() {
            // Its sender will take back what it writes, and no receiver comes for the lane.
            return lane;
        }
        self.opened.lock().lanes.push(Arc::clone(&lane));
        // SYNC line-version
        self.version.fetch_add(1, Ordering::Release);
        lane
    }

    /// A sender goes; `true` if it was the last one.
    pub(super) fn remove_sender(&self) -> bool {
        // SYNC line-senders: what the others have sent. Sequentially consistent for the sake of a
        // receiver that registers and then looks.
        self.senders.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Gives up lanes that nothing will come from, while the receiver does not come for them: it may sleep
    /// for as long as senders come and go without a message. For a sender that has finished its lane.
    pub(super) fn sweep(&self) {
        if self.version() == ORIGIN {
            // No lane was ever opened but the first one, which the receiver has.
            return;
        }
        let mut opened = self.opened.lock();
        opened.gone += 1;
        // Each look at all of them is paid for by the half as many senders that have gone.
        if opened.gone > UNUSED_KEPT + opened.lanes.len() / 2 {
            opened.gone = 0;
            let over: Vec<_> = opened.lanes.extract_if(.., |lane| lane.is_over()).collect();
            let enough = 2 * (UNUSED_KEPT + opened.lanes.len());
            opened.lanes.shrink_to(enough);
            drop(opened);
            // Without the lock: a lane may have the waker of its sender, whose drop is user code.
            drop(over);
        }
    }

    pub(super) fn has_senders(&self) -> bool {
        // SYNC line-senders
        self.senders.load(Ordering::SeqCst) != 0
    }

    pub(super) fn version(&self) -> usize {
        // SYNC line-version
        self.version.load(Ordering::Acquire)
    }

    /// As [`version`](Line::version), for the second look of a receiver that has registered: a sender that opens a lane later, and sends, sees it there.
    pub(super) fn version_once_registered(&self) -> usize {
        seam::model_fence();
        // SYNC line-version. Sequentially consistent, as the registration: a load that acquires may come before that is seen.
        self.version.load(Ordering::SeqCst)
    }

    /// The lanes that were opened since this was asked last, and the version that this is.
    pub(super) fn take_opened(&self) -> (Vec<Arc<Lane<T>>>, usize) {
        let mut opened = self.opened.lock();
        let version = self.version();
        opened.gone = 0;
        (core::mem::take(&mut opened.lanes), version)
    }

    /// The lanes that the receiver has not seen yet.
    pub(super) fn opened(&self) -> Vec<Arc<Lane<T>>> {
        self.opened.lock().lanes.clone()
    }
}
