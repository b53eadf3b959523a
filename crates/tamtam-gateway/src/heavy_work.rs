//! Work that keeps a processor busy for a while, as to encode or compress what is large.

use tamtam_rows::{CompressionKind, Rows};
use tokio::sync::Semaphore;

use crate::buffer;
use crate::cached_rows::CachedRows;
use crate::exchange::on_thread;
use crate::table_form::TableForm;
use crate::typed::guarded;
use crate::{Fault, FaultKind};

/// From this size on a body is encoded or compressed on another thread than that which serves the sockets.
pub(crate) const LARGE_BYTES: usize = 256 << 10;

/// So many pieces of it are done at once for all clients of this process, those that have left included.
const MOST_PIECES: usize = 64;

/// Whole answers of this process.
pub(crate) static HEAVY_WORK: HeavyWork = HeavyWork::new(MOST_PIECES);

/// Pieces that are short each: bodies, which have a limit, and parts of a long answer. They do not wait behind whole answers.
pub(crate) static SHORT_WORK: HeavyWork = HeavyWork::new(MOST_PIECES);

/// Work on threads of the runtime, beside those that serve sockets.
///
/// It cannot be stopped where its client leaves, whose place among the requests is free from then on: one that calls and leaves, again and
/// again, would have more and more of it done. So a piece that was begun has its room here until it is done. One that waits for room is a
/// request with a place, and is given up with that.
#[derive(Debug)]
pub(crate) struct HeavyWork {
    room: Semaphore,
}

impl HeavyWork {
    const fn new(most: usize) -> HeavyWork {
        HeavyWork {
            room: Semaphore::const_new(most),
        }
    }

    /// What a piece of work for the current request gives; nothing if it panics.
    pub(crate) async fn done<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let room = self.room.acquire().await.ok()?;
        let working = tokio::task::spawn_blocking(on_thread(move || {
            let _room = room;
            work()
        }));
        working.await.ok()
    }
}

/// Whether a table is large where it is, or where it goes in this form.
pub(crate) fn is_large(rows: &Rows, form: TableForm) -> bool {
    rows.memory() > LARGE_BYTES || form.least_bytes(rows) > LARGE_BYTES
}

/// As [`is_large`], of a table that is kept by this name: what is kept so already is copied.
pub(crate) fn is_large_anew(table: &CachedRows, name: &'static str, form: TableForm) -> bool {
    is_large(table.rows(), form) && table.get(name, CompressionKind::None).is_none()
}

/// What a piece of work gives, which is done beside the sockets if it is large.
///
/// # Errors
/// If it panics there.
pub(crate) async fn worked<T: Send + 'static>(
    is_large: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    if !is_large {
        return Ok(work());
    }
    // In a box: what is small has no room for it.
    let worked = Box::pin(HEAVY_WORK.done(work)).await;
    worked.ok_or_else(|| Fault::of(FaultKind::Internal, "the method failed"))
}

/// Writes behind what is in `out`, which is away meanwhile if that is large: it is written beside the sockets then.
///
/// # Errors
/// What `write` gives, or that it panicked; a part of it may be in `out` then.
pub(crate) async fn written(
    is_large: bool,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault> + Send + 'static,
) -> Result<(), Fault> {
    if !is_large {
        return write(out);
    }
    let mut away = std::mem::take(out);
    let (back, written) = worked(true, move || {
        let written = guarded(|| write(&mut away));
        // It may be moved for that, here and not where it goes on.
        buffer::give_back_room(&mut away);
        (away, written)
    })
    .await?;
    *out = back;
    written
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_of_clients_that_have_left_has_its_room_until_it_is_done() {
        static OF_TWO: HeavyWork = HeavyWork::new(2);
        let mut releases = Vec::new();
        for _ in 0..2 {
            let (begin, begun) = oneshot::channel();
            let (release, released) = mpsc::channel::<()>();
            let request = tokio::spawn(OF_TWO.done(move || {
                begin.send(()).unwrap();
                released.recv()
            }));
            begun.await.unwrap();
            // The client leaves.
            request.abort();
            assert!(request.await.unwrap_err().is_cancelled());
            releases.push(release);
        }
        assert_eq!(OF_TWO.room.available_permits(), 0);
        let mut next = Box::pin(OF_TWO.done(|| 7));
        assert_eq!(next.as_mut().now_or_never(), None, "there is no room");
        // One that leaves as it waits takes none.
        assert_eq!(OF_TWO.done(|| 8).now_or_never(), None);
        drop(releases.pop());
        assert_eq!(next.await, Some(7));
        drop(releases);
        let all = OF_TWO.room.acquire_many(2).await;
        assert!(all.is_ok(), "what is done gives its room back");
    }

    #[tokio::test]
    async fn what_stands_before_what_is_written_is_there_still_when_that_panics() {
        for is_large in [false, true] {
            let mut out = b"before".to_vec();
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(b" and behind");
                Ok(())
            };
            written(is_large, &mut out, write).await.unwrap();
            assert_eq!(out, b"before and behind");
        }
        let mut out = b"before".to_vec();
        let broken = written(true, &mut out, |_| panic!("of the test")).await;
        assert_eq!(broken.unwrap_err().kind(), FaultKind::Internal);
        assert_eq!(out, b"before");
    }

    #[tokio::test]
    async fn work_that_panics_gives_nothing_and_its_room_back() {
        static OF_ONE: HeavyWork = HeavyWork::new(1);
        let broken = OF_ONE.done(|| -> u8 { panic!("of the test") });
        assert_eq!(broken.await, None);
        assert_eq!(OF_ONE.done(|| 7).await, Some(7));
    }
}
