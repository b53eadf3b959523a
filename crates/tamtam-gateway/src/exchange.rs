//! What is measured of a request on its way: how long each step took, and of one call in many the answer itself.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_rows::{CompressionKind, Rows};

use crate::Value;
use crate::stream_head::StreamHead;

tokio::task_local! {
    static CURRENT: Arc<Exchange>;
}

/// A step of a request on the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Its body is taken in.
    Receive,
    /// The method is at work.
    Call,
    /// Of that, what it says that its database took.
    Cursor,
    /// Of that, what it says that rows took.
    Rows,
    /// The answer is compressed.
    Compress,
}

const STEPS: usize = 5;

/// One request, as far as it is measured.
#[derive(Debug)]
pub(crate) struct Exchange {
    begun: Instant,
    nanoseconds: [AtomicU64; STEPS],
    cpu_nanoseconds: AtomicU64,
    calls: AtomicUsize,
    is_sampled: bool,
    sample: Mutex<Option<Sample>>,
    sent: Mutex<Option<Sent>>,
}

/// An answer that is looked at after it was sent.
#[derive(Debug)]
pub(crate) struct Sample {
    /// `SERVICE.METHOD`.
    pub(crate) method: String,
    /// The name of the protocol.
    pub(crate) protocol: &'static str,
    pub(crate) source: Source,
}

/// An answer, before a protocol writes it.
#[derive(Debug)]
pub(crate) enum Source {
    /// What serde writes, and has not written yet, or a table that has not begun.
    Unwritten,
    /// The body of an answer in JSON.
    Json(Vec<u8>),
    Value(Value),
    Rows(Rows),
    /// The beginning of a table that is on its way, or is large.
    Stream(Arc<StreamHead>),
}

impl Source {
    /// Of a table that is there as a whole. How many bytes it has where it goes says little of it: rows that are alike are packed to nothing, and
    /// each of them is written in other forms.
    pub(crate) fn of_table(rows: &Rows) -> Source {
        if rows.memory() <= StreamHead::MOST_BYTES {
            return Source::Rows(rows.clone());
        }
        let head = StreamHead::default();
        head.take(rows);
        Source::Stream(Arc::new(head))
    }
}

/// What went out.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) content_type: String,
    pub(crate) plain_bytes: usize,
    pub(crate) wire_bytes: usize,
    pub(crate) compression: CompressionKind,
    /// By what this client would have it compressed.
    pub(crate) accepted: CompressionKind,
    pub(crate) compress: Duration,
}

impl Exchange {
    /// One whose answer is looked at later, or not.
    pub(crate) fn begin(is_sampled: bool) -> Arc<Exchange> {
        Arc::new(Exchange {
            begun: Instant::now(),
            nanoseconds: Default::default(),
            cpu_nanoseconds: AtomicU64::new(0),
            calls: AtomicUsize::new(0),
            is_sampled,
            sample: Mutex::default(),
            sent: Mutex::default(),
        })
    }

    /// Runs what answers the request, and counts its CPU time.
    pub(crate) async fn measure<F: Future>(self: Arc<Self>, answering: F) -> F::Output {
        let exchange = Arc::clone(&self);
        let counted = Counted {
            exchange,
            future: Box::pin(answering),
        };
        CURRENT.scope(self, counted).await
    }

    /// The value of the header `Server-Timing`, in milliseconds. What nothing was told of is not in it.
    pub(crate) fn server_timing(&self) -> String {
        let total = self.begun.elapsed();
        let of = |step: Step| {
            Duration::from_nanos(self.nanoseconds[step as usize].load(Ordering::Relaxed))
        };
        let (receive, call, compress) = (of(Step::Receive), of(Step::Call), of(Step::Compress));
        let encode = total.saturating_sub(receive + call + compress);
        let cpu = Duration::from_nanos(self.cpu_nanoseconds.load(Ordering::Relaxed));
        let told = |step: Step| Some(of(step)).filter(|took| !took.is_zero());
        let steps = [
            ("receive", Some(receive)),
            ("call", Some(call)),
            ("cursor", told(Step::Cursor)),
            ("rows", told(Step::Rows)),
            ("encode", Some(encode)),
            ("compress", Some(compress)),
            ("cpu", Some(cpu)),
            ("total", Some(total)),
        ];
        let steps = steps.into_iter().filter_map(|(name, took)| {
            took.map(|took| format!("{name};dur={:.3}", took.as_secs_f64() * 1e3))
        });
        steps.collect::<Vec<_>>().join(", ")
    }

    /// The answer that is to be looked at, and what went out of it; nothing if the request had other calls, too.
    pub(crate) fn take_sample(&self) -> Option<(Sample, Sent)> {
        let sample = lock(&self.sample).take()?;
        let sent = lock(&self.sent).take()?;
        let is_known = !matches!(sample.source, Source::Unwritten);
        (is_known && self.calls.load(Ordering::Relaxed) == 1).then_some((sample, sent))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The request that this task answers, if it is measured.
fn current() -> Option<Arc<Exchange>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Whether the current request is measured.
pub(crate) fn is_measured() -> bool {
    CURRENT.try_with(|_| ()).is_ok()
}

/// When a step begins; nothing if the current request is not measured, so that no clock is read for it.
pub(crate) fn begin() -> Option<Instant> {
    is_measured().then(Instant::now)
}

/// Ends a step that has begun then, and gives how long it took.
pub(crate) fn end(step: Step, begun: Option<Instant>) -> Duration {
    let took = begun.map_or(Duration::ZERO, |begun| begun.elapsed());
    add(step, took);
    took
}

/// Adds the time of a step of the current request.
pub(crate) fn add(step: Step, took: Duration) {
    let _ = CURRENT.try_with(|exchange| {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        exchange.nanoseconds[step as usize].fetch_add(nanoseconds, Ordering::Relaxed);
    });
}

/// Notes that a call has been answered; `sample` is made if the answer is to be looked at.
pub(crate) fn called(sample: impl FnOnce() -> Sample) {
    let _ = CURRENT.try_with(|exchange| {
        if exchange.is_sampled && exchange.calls.fetch_add(1, Ordering::Relaxed) == 0 {
            *lock(&exchange.sample) = Some(sample());
        }
    });
}

/// Notes that what goes out is not the answer of the call: it is not looked at.
pub(crate) fn differs() {
    let _ = CURRENT.try_with(|exchange| lock(&exchange.sample).take());
}

/// Gives the answer that is to be looked at, once it is known, if there is one.
pub(crate) fn known(source: impl FnOnce() -> Source) {
    let _ = CURRENT.try_with(|exchange| {
        if let Some(sample) = &mut *lock(&exchange.sample)
            && matches!(sample.source, Source::Unwritten)
        {
            sample.source = source();
        }
    });
}

/// What keeps the beginning of a table on its way, if it is to be looked at.
pub(crate) fn stream_head() -> Option<Arc<StreamHead>> {
    let mut head = None;
    known(|| {
        let new = Arc::<StreamHead>::default();
        head = Some(Arc::clone(&new));
        Source::Stream(new)
    });
    head
}

/// Notes what goes out.
pub(crate) fn sending(sent: impl FnOnce() -> Sent) {
    let _ = CURRENT.try_with(|exchange| *lock(&exchange.sent) = Some(sent()));
}

/// Work for another thread, which belongs to the current request there, and to the span of its call.
pub(crate) fn belonging<T>(work: impl FnOnce() -> T + Send) -> impl FnOnce() -> T + Send {
    let exchange = current();
    let span = tracing::Span::current();
    move || {
        span.in_scope(|| match exchange {
            Some(exchange) => CURRENT.sync_scope(exchange, work),
            None => work(),
        })
    }
}

/// Work for another thread, which belongs to the current request there, and whose CPU time counts for it.
pub(crate) fn on_thread<T>(work: impl FnOnce() -> T + Send) -> impl FnOnce() -> T + Send {
    belonging(move || {
        let begun = thread_cpu();
        let result = work();
        let _ = CURRENT.try_with(|exchange| exchange.add_cpu(begun));
        result
    })
}

impl Exchange {
    fn add_cpu(&self, begun: Duration) {
        let took = thread_cpu().saturating_sub(begun).as_nanos();
        let took = u64::try_from(took).unwrap_or(u64::MAX);
        self.cpu_nanoseconds.fetch_add(took, Ordering::Relaxed);
    }
}

/// The CPU time of this thread; 0 where the system does not tell.
pub(crate) fn thread_cpu() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// A future whose polls are counted as CPU time.
struct Counted<F> {
    exchange: Arc<Exchange>,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let begun = thread_cpu();
        let polled = self.future.as_mut().poll(context);
        self.exchange.add_cpu(begun);
        polled
    }
}
