//! A connection whose other side has to read.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop::{has_budget_remaining, poll_proceed};
use tokio::time::{Instant, Sleep, sleep};

/// Bytes that are read for one unit of the budget by which Tokio's tasks give way to each other: of its 128 units a task reads 64 KiB in a turn.
const BYTES_A_UNIT: usize = 512;

/// A connection that fails when the other side reads nothing for too long while there is something to write. Otherwise a
/// client that never reads would hold its answer, and what makes it, for ever.
///
/// What is read is paid for by its bytes, out of the budget of the task's turn. Tokio takes one unit for each read, however long: frames of
/// HTTP/2 that ask for nothing, and take a client a system call for a thousand of them, would be worked on by the megabyte before
/// the connections behind have their turn.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    leniency: Leniency,
    /// What cannot go on since the other side does not read, and until when that is borne.
    stalled: Option<(Step, Pin<Box<Sleep>>)>,
    /// How often that was so.
    stalls: u64,
}

/// Lets a connection wait longer for its other side than others do: one over which values are pushed holds little, and is to
/// be there when its client reads again.
///
/// It also tells whether the other side is waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leniency(Arc<Waits>);

#[derive(Debug, Default)]
struct Waits {
    /// Milliseconds in place of what is usual, while that is asked for.
    longest: AtomicU64,
    /// How many ask for that.
    asking: AtomicUsize,
    /// How often the other side has been waited for; 0 while it is not. A new wait each nanosecond comes to 2^64 in 500 years.
    stall: AtomicU64,
}

impl Leniency {
    /// From the next wait on it is so long, in place of what is usual, until what this gives is dropped.
    pub(crate) fn wait(&self, time: Duration) -> LongerWaits {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.longest.store(milliseconds, Ordering::Relaxed);
        self.0.asking.fetch_add(1, Ordering::Relaxed);
        LongerWaits(Arc::clone(&self.0))
    }

    /// Which wait for the other side to read is going on, if one is: of a client whose link is slower than the server there are many, each of
    /// which is short.
    pub(crate) fn stall(&self) -> Option<u64> {
        Some(self.0.stall.load(Ordering::Relaxed)).filter(|stall| *stall != 0)
    }

    fn or(&self, usual: Duration) -> Duration {
        match self.0.asking.load(Ordering::Relaxed) {
            0 => usual,
            _ => Duration::from_millis(self.0.longest.load(Ordering::Relaxed)),
        }
    }
}

/// Asks a connection to wait longer for its other side, until this is dropped.
#[derive(Debug)]
pub(crate) struct LongerWaits(Arc<Waits>);

impl Drop for LongerWaits {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a future gives until then; nothing if that is too late. No timer is made for one that is ready at once.
pub(crate) async fn in_time<F: Future>(
    deadline: impl FnOnce() -> std::time::Instant,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    if let Poll::Ready(given) = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
    {
        return Some(given);
    }
    tokio::time::timeout_at(deadline().into(), future)
        .await
        .ok()
}

/// What a connection is asked for. That a flush goes on says nothing of a write: a socket has nothing to flush.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Write,
    Flush,
}

/// Takes the units for what was read, or what is left of them, from the turn of this task.
fn pay(bytes: usize, context: &mut Context<'_>) {
    for _ in 0..bytes / BYTES_A_UNIT {
        if !has_budget_remaining() {
            break;
        }
        if let Poll::Ready(unit) = poll_proceed(context) {
            unit.made_progress();
        }
    }
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, patience: Duration, leniency: Leniency) -> Patient<S> {
        Patient {
            stream,
            patience,
            leniency,
            stalled: None,
            stalls: 0,
        }
    }

    /// The outcome of a write, or an error if there has been none for too long.
    fn watched<T>(
        &mut self,
        step: Step,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            let stalled = self.stalled.take_if(|(stalled, _)| *stalled == step);
            if stalled.is_some() {
                self.leniency.0.stall.store(0, Ordering::Relaxed);
            }
            return written;
        }
        let patience = self.leniency.or(self.patience);
        let (stalls, stall) = (&mut self.stalls, &self.leniency.0.stall);
        let begin = || {
            *stalls += 1;
            stall.store(*stalls, Ordering::Relaxed);
            (step, Box::pin(sleep(patience)))
        };
        let (_, stalled) = self.stalled.get_or_insert_with(begin);
        ready!(stalled.as_mut().poll(context));
        // A further poll gets the error again.
        stalled.as_mut().reset(Instant::now());
        let reason = "the client does not read its answer";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, reason)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        pay(buffer.filled().len() - before, context);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(Step::Write, written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watched(Step::Write, written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watched(Step::Flush, flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watched(Step::Flush, shut, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// How many bytes a task reads in a turn, of a client that has sent as many as there is room for.
    async fn read_in_a_turn(part: usize) -> usize {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let zeros = vec![0; 64 << 10];
        let mut sent = 0;
        while let Ok(written) =
            tokio::time::timeout(Duration::from_millis(50), client.write(&zeros)).await
        {
            sent += written.unwrap();
        }
        assert!(sent > 4 * (64 << 10), "{sent} bytes are there");
        let mut server = Patient::new(server, PATIENCE, Leniency::default());
        let reading = tokio::spawn(async move {
            let mut memory = vec![0; part];
            let mut bytes = 0;
            // One turn: the first time that there is nothing is its end.
            poll_fn(|context| {
                loop {
                    let mut buffer = ReadBuf::new(&mut memory);
                    match Pin::new(&mut server).poll_read(context, &mut buffer) {
                        Poll::Ready(read) => read.unwrap(),
                        Poll::Pending => return Poll::Ready(bytes),
                    }
                    bytes += buffer.filled().len();
                }
            })
            .await
        });
        let bytes = reading.await.unwrap();
        drop(client);
        bytes
    }

    #[tokio::test]
    async fn a_turn_is_over_after_so_many_bytes_also_of_long_reads() {
        assert_eq!(read_in_a_turn(100).await, 128 * 100);
        for part in [8 << 10, 64 << 10] {
            let bytes = read_in_a_turn(part).await;
            assert!(
                (64 << 10..=(64 << 10) + part).contains(&bytes),
                "{part}: {bytes}"
            );
        }
    }
}
