//! How fast a client takes what is sent to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection has taken while it held the server up: a socket that is full takes as many bytes as have left it. What fits
/// into its buffer says nothing of the link.
#[derive(Debug, Default)]
pub(crate) struct LinkMeter {
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

/// What a meter has counted up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    bytes: u64,
    nanoseconds: u64,
}

impl LinkMeter {
    pub(crate) fn counted(&self) -> Counted {
        Counted {
            bytes: self.bytes.load(Ordering::Relaxed),
            nanoseconds: self.nanoseconds.load(Ordering::Relaxed),
        }
    }

    fn add(&self, bytes: usize, since: Instant) {
        let took = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(took, Ordering::Relaxed);
    }
}

impl Counted {
    /// Bytes a second; nothing if the link has never held the server up.
    pub(crate) fn bytes_per_second(self) -> Option<f64> {
        let seconds = self.nanoseconds as f64 / 1e9;
        (self.bytes > 0 && seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }
}

/// A connection with a meter.
pub(crate) struct Metered<S> {
    stream: S,
    meter: Arc<LinkMeter>,
    full_since: Option<Instant>,
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, meter: Arc<LinkMeter>) -> Metered<S> {
        Metered {
            stream,
            meter,
            full_since: None,
        }
    }

    fn metered(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => {
                self.full_since.get_or_insert_with(Instant::now);
            }
            Poll::Ready(Ok(bytes)) => {
                if let Some(since) = self.full_since.take() {
                    self.meter.add(*bytes, since);
                }
            }
            Poll::Ready(Err(_)) => self.full_since = None,
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.metered(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.metered(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn only_what_a_full_connection_takes_says_how_fast_it_is() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let meter = Arc::new(LinkMeter::default());
            let (near, mut far) = tokio::io::duplex(1_000);
            let mut near = Metered::new(near, Arc::clone(&meter));
            near.write_all(&[0; 1_000]).await.unwrap();
            assert_eq!(meter.counted().bytes_per_second(), None);
            let begun = Instant::now();
            let mut writing = Box::pin(near.write_all(&[0; 3_000]));
            for _ in 0..6 {
                // It is full before the time begins, however long this thread has no turn in between.
                assert!(writing.as_mut().now_or_never().is_none());
                tokio::time::sleep(Duration::from_millis(5)).await;
                far.read_exact(&mut [0; 500]).await.unwrap();
            }
            writing.await.unwrap();
            let slowest = 3_000.0 / begun.elapsed().as_secs_f64();
            let seen = meter.counted().bytes_per_second().unwrap();
            // Not more than 500 bytes each 5 ms, and not slower than all of it was.
            assert!(
                (slowest * 0.9..=100_001.0).contains(&seen),
                "{slowest} {seen}"
            );
        });
    }
}
