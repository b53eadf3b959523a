//! Which requests of a connection are under way, and since when there is none.

use std::future::{Future, pending};
use std::mem::replace;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::patient::Leniency;

/// Who writes less than so many bytes while its patience passes sends no answer: that much are pings, and what is answered to those.
const SLIGHT_BYTES: u64 = 1 << 10;

/// The requests of one connection that are under way.
///
/// Those of HTTP/1 are not counted: its own timer, which begins when an answer has gone, bounds the time until the next one has come.
/// That timer does not run before the version is known; and HTTP/2 has none, but pings, which a client answers that asks for nothing.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay(Arc<Seen>);

#[derive(Debug)]
struct Seen {
    is_http1: AtomicBool,
    streams: Mutex<Streams>,
    leniency: Leniency,
}

/// The requests of HTTP/2.
#[derive(Debug)]
struct Streams {
    open: usize,
    /// When the last one ended; before there was one, when the connection began.
    last_ended: Instant,
}

impl UnderWay {
    /// Of a connection that begins now, whose written bytes are counted there.
    pub(crate) fn new(leniency: Leniency) -> UnderWay {
        UnderWay(Arc::new(Seen {
            is_http1: AtomicBool::new(false),
            streams: Mutex::new(Streams {
                open: 0,
                last_ended: Instant::now(),
            }),
            leniency,
        }))
    }

    /// A request has come, of this version.
    pub(crate) fn came(&self, version: hyper::Version) {
        if version < hyper::Version::HTTP_2 {
            self.0.is_http1.store(true, Ordering::Relaxed);
        }
    }

    /// Ready when no request has been under way for so long, from now on at the least, and next to nothing was written meanwhile.
    /// Never, if requests come by HTTP/1.
    pub(crate) async fn none_for(&self, time: Duration) {
        let mut written = self.0.leniency.written();
        let mut look = Instant::now() + time;
        loop {
            sleep_until(look).await;
            if self.0.is_http1.load(Ordering::Relaxed) {
                return pending().await;
            }
            let before = replace(&mut written, self.0.leniency.written());
            // An answer that is handed over, and under way no more, may be on its way still.
            let is_writing = written - before >= SLIGHT_BYTES;
            let now = Instant::now();
            let earliest = {
                let streams = self.streams();
                if is_writing || streams.open > 0 {
                    now + time
                } else {
                    streams.last_ended + time
                }
            };
            if earliest <= now {
                return;
            }
            look = earliest;
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries a request of HTTP/2 until its answer is handed over.
impl<F> hyper::rt::Executor<F> for UnderWay
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, request: F) {
        let open = Open::new(self.clone());
        tokio::spawn(async move {
            request.await;
            drop(open);
        });
    }
}

/// One of them; it ends when this is dropped.
struct Open(UnderWay);

impl Open {
    fn new(all: UnderWay) -> Open {
        all.streams().open += 1;
        Open(all)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut streams = self.0.streams();
        streams.open -= 1;
        streams.last_ended = Instant::now();
    }
}
