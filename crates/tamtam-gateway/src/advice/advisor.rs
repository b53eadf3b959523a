//! The thread that looks at answers which were sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tamtam_rows::{CompressionKind, Rows};

use super::ledger::{Estimate, Ledger, Seen};
use super::report;
use super::share::Share;
use crate::AmfClasses;
use crate::exchange::{Sample, Sent, Source, thread_cpu};
use crate::link_meter::LinkMeter;
use crate::weigh::Scale;

/// Answers that wait to be looked at. A further one is left out: none is ever delayed, and none is kept for long.
const MOST_WAITING: usize = 1;

/// Bytes of an answer that is looked at, at most.
const MOST_BYTES: usize = 16 << 20;

/// The least that a thread can be given of a processor that others want.
#[cfg(target_os = "linux")]
const LOWEST_PRIORITY: i32 = 19;

/// An answer that was sent.
pub(crate) struct Job {
    pub(crate) sample: Sample,
    pub(crate) sent: Sent,
    /// Nothing where the connection is not ours.
    pub(crate) link: Option<Arc<LinkMeter>>,
}

/// Looks at answers that were sent, and knows what would have been cheaper.
#[derive(Debug)]
pub(crate) struct Advisor {
    one_in: u64,
    threshold_bytes: usize,
    jobs: SyncSender<Job>,
    ledger: Arc<Mutex<Ledger>>,
    left_out: AtomicU64,
    requests: AtomicU64,
    share: Arc<Share>,
}

impl Advisor {
    /// One with a thread, which ends with it; nothing if there is no thread.
    pub(crate) fn start(
        one_in: u64,
        threshold_bytes: usize,
        classes: AmfClasses,
    ) -> Option<Advisor> {
        let (jobs, waiting) = sync_channel(MOST_WAITING);
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let learned = Arc::clone(&ledger);
        let share = Arc::new(Share::new(Instant::now()));
        let taken = Arc::clone(&share);
        let thread = thread::Builder::new().name("tamtam-advice".into());
        let started = thread.spawn(move || work(&waiting, &learned, &taken, &classes));
        if let Err(error) = started {
            tracing::warn!(%error, "there is no advice: its thread cannot start");
            return None;
        }
        Some(Advisor {
            one_in,
            threshold_bytes,
            jobs,
            ledger,
            left_out: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            share,
        })
    }

    /// Counts a request, and says whether its answer is to be looked at: the first, and then one in so many, unless that would take
    /// too much of a processor.
    pub(crate) fn is_next(&self) -> bool {
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        if !before.is_multiple_of(self.one_in) {
            return false;
        }
        let is_left = self.share.is_left(Instant::now());
        if !is_left {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        is_left
    }

    /// Takes an answer, unless another one waits already.
    pub(crate) fn submit(&self, job: Job) {
        let is_stream = matches!(job.sample.source, Source::Stream(_));
        let is_taken = (is_stream || job.sent.plain_bytes <= MOST_BYTES)
            && match self.jobs.try_send(job) {
                Ok(()) => true,
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
            };
        if !is_taken {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was learned, and what follows from it.
    pub(crate) fn report(&self) -> Json {
        json!({
            "one_call_in": self.one_in,
            "left_out": self.left_out.load(Ordering::Relaxed),
            "compress_above_bytes": self.threshold_bytes,
            "methods": report::of(&lock(&self.ledger), self.threshold_bytes),
        })
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(waiting: &Receiver<Job>, ledger: &Mutex<Ledger>, share: &Share, classes: &AmfClasses) {
    // Of this thread alone, in Linux.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, LOWEST_PRIORITY);
    while let Ok(job) = waiting.recv() {
        let method = job.sample.method.clone();
        let (begun, cpu_before) = (Instant::now(), thread_cpu());
        // What an encoder does of an odd answer must not end the advice.
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(job, classes)));
        match looked {
            Ok(Some(seen)) => lock(ledger).add(seen),
            Ok(None) => {}
            Err(_) => tracing::error!(method, "an answer could not be looked at"),
        }
        let now = Instant::now();
        let used = match thread_cpu() {
            // The system does not tell.
            Duration::ZERO => now - begun,
            cpu => cpu.saturating_sub(cpu_before),
        };
        share.take(used, now);
    }
}

fn look(job: Job, classes: &AmfClasses) -> Option<Seen> {
    let Job {
        sample,
        mut sent,
        link,
    } = job;
    let mut estimate = None;
    let scale = if let Source::Stream(head) = &sample.source {
        let seen = head.seen()?;
        // A short one was an answer like any other.
        if sent.wire_bytes == 0 {
            (sent.plain_bytes, sent.wire_bytes) = (seen.plain_bytes, seen.wire_bytes);
        }
        let rows = seen.head.iter().map(Rows::len).sum::<usize>() as u64;
        let of_rows = seen.rows;
        estimate = Some(Estimate { rows, of_rows });
        Scale::of_parts(seen.head)?
    } else {
        Scale::of(sample.source)?
    };
    let kind = match sent.accepted {
        CompressionKind::None => CompressionKind::Zstd,
        kind => kind,
    };
    let mut forms = scale.weigh(kind, classes);
    if let Some(estimate) = estimate {
        let all = forms.into_iter().map(|form| form.times(estimate.factor()));
        forms = all.collect();
    }
    Some(Seen {
        method: sample.method,
        protocol: sample.protocol,
        could_be_table: scale.rows().is_some() && !scale.is_table(),
        bytes_per_second: link.and_then(|link| link.counted().bytes_per_second()),
        sent,
        compression: kind,
        forms,
        estimate,
    })
}
