//! `calls`: a server is called for a document of JSON of about 4.7 KB, in the same process and in another one.
//!
//! `60/PLACEMENT/1client` and `60/PLACEMENT/8clients` call for as long as the limit says; the count is that of the records
//! in an answer. A call is the whole way: the client writes its request as JSON, the server reads it, makes the records,
//! and writes its answer as JSON, and the client reads that into structs and looks at every field of each record. All that
//! is the same for every contender, also for one that only calls a function.
//!
//! `ops_per_s` is how many calls all clients make in a second, together; each client calls again as soon as it has its
//! answer. `mb_per_s` are the bytes of requests and answers, in millions, without what a contender puts around them.
//! `cpu_ns_per_op` is the CPU time of both processes for each call: of this one as its clock says, of the server's as that
//! itself tells, by lines of its input and output, just before and after what is measured.
//!
//! `first_call_us` is the time until the first answer was verified, from before anything was there: before the server's
//! process or thread was started, before there was a connection, with a cold cache. What a process takes to start and to end
//! is in no other figure. Further clients connect after it; each then calls for a tenth of the limit before the clock starts.
//!
//! Everything runs on the cores of the placement, the server's process, too.

mod apart;
mod caller;
mod framed;
mod work;

#[cfg(test)]
mod tests;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::pace::Pace;
use crate::measure::passes::LONGEST_CHUNK;
use crate::measure::seats::Seats;
use crate::measure::usage::{Usage, metrics_between};
use crate::{Conditions, Failure, Measure, Measurement, Metric, Placement, ServerProcess, Variant};
use caller::CallingClient;

pub use apart::ServerApart;
pub use framed::{Framed, serve_frames};
pub use work::answer;
#[cfg(all(feature = "contenders", feature = "gateway"))]
pub(crate) use work::{Page, Request};

/// The experiment's name.
const EXPERIMENT: &str = "calls";

/// How many records an answer has: 4.7 KB of JSON, the 4.8 KB of article E within some per cent.
const RECORDS: u64 = 60;

/// A way of calling a server.
pub trait Call: Copy + 'static {
    /// The server, as its clients see it.
    type Server: CallServer;

    /// Starts a server that answers each request by [`answer`]. One in this process that has a pool for it gives that
    /// `threads` threads.
    ///
    /// # Errors
    /// The server cannot be started.
    fn open(&self, threads: usize) -> Result<Self::Server, Failure>;
}

/// A server that runs; it ends when it is dropped.
pub trait CallServer {
    /// What calls it.
    type Client: Client;

    /// Connects a client.
    ///
    /// # Errors
    /// There is no connection.
    fn connect(&mut self) -> Result<Self::Client, Failure>;

    /// The server's process, if that is another one.
    fn process(&mut self) -> Option<&mut ServerProcess> {
        None
    }

    /// What its processes have used of the machine so far, if they are others and not [that](CallServer::process): nanoseconds of
    /// processors, voluntary and involuntary switches.
    fn used(&mut self) -> Option<[u64; 3]> {
        None
    }
}

/// What calls a server, in a thread of its own.
pub trait Client: Send {
    /// Sends a request, and waits for its answer.
    ///
    /// # Errors
    /// There is none.
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure>;

    /// What its answers have around their page.
    fn around(&self) -> Around {
        Around::Nothing
    }
}

/// What an answer has around its page. Both are read at once, as a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// The answer is the page.
    Nothing,
    /// An answer of JSON-RPC 2.0 to the call of number 1.
    JsonRpc,
}

/// One client and eight, on any core, and one on two cores and on one: `60/free/1client`, `60/free/8clients`,
/// `60/2cores/1client`, `60/1core/1client`.
pub fn measures<C: Call>(contender: C) -> Vec<Measure> {
    let measure = |placement, clients, extra: &str| {
        let variant = Variant::new(RECORDS, placement).with_extra(extra);
        Measure::new(EXPERIMENT, variant, move |conditions| {
            run(contender, clients, conditions)
        })
    };
    vec![
        measure(Placement::Free, 1, "1client"),
        measure(Placement::Free, 8, "8clients"),
        measure(Placement::TwoCores, 1, "1client"),
        measure(Placement::OneCore, 1, "1client"),
    ]
}

fn run<C: Call>(
    contender: C,
    clients: usize,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;

    let begin = Instant::now();
    let mut server = contender.open(placement.threads())?;
    let caller = |number, client| CallingClient::new(client, number, conditions.variant.count);
    let mut callers = vec![caller(0, server.connect()?)];
    callers[0].call()?;
    let first_call = begin.elapsed();
    for number in 1..clients {
        callers.push(caller(number, server.connect()?));
    }

    let Passed {
        done,
        elapsed,
        used,
    } = pass(&mut server, &mut callers, conditions.limit)?;
    // Clients hang up before their server ends.
    drop(callers);

    let a_second = |count: f64| count / elapsed.as_secs_f64();
    let mut metrics = vec![
        Metric::new("ops_per_s", "1/s", a_second(done.calls as f64)),
        Metric::new("first_call_us", "µs", first_call.as_nanos() as f64 / 1e3),
        Metric::new("mb_per_s", "MB/s", a_second(done.bytes as f64 / 1e6)),
    ];
    metrics.extend(metrics_between(Some(Usage::default()), used, done.calls));
    Ok(Measurement {
        operations: done.calls,
        elapsed,
        metrics,
        note: None,
    })
}

/// What came of all clients calling at once.
struct Passed {
    done: Done,
    elapsed: Duration,
    /// By both processes; `None` where the system does not tell.
    used: Option<Usage>,
}

/// What clients have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Done {
    /// Calls whose answers were verified.
    calls: u64,
    /// Bytes of their requests and answers.
    bytes: u64,
}

/// Lets all `callers` call at once, each in a thread of its own, for as long as `limit`.
fn pass<S: CallServer>(
    server: &mut S,
    callers: &mut [CallingClient<S::Client>],
    limit: Duration,
) -> Result<Passed, Failure> {
    thread::scope(|scope| {
        // A client that fails, or panics, says nothing more: its channels are closed.
        let mut threads = Vec::new();
        for caller in callers {
            let (warm, is_warm) = mpsc::channel();
            let (start, starts) = mpsc::channel();
            let thread = scope.spawn(move || {
                call_for(caller, limit / 10)?;
                let before = caller.done();
                let _ = warm.send(());
                let _ = starts.recv();
                let ended = call_for(caller, limit)?;
                Ok((caller.since(before), ended))
            });
            threads.push((thread, is_warm, start));
        }
        for (_, is_warm, _) in &threads {
            let _ = is_warm.recv();
        }
        let before = usage(server);
        let begin = Instant::now();
        for (_, _, start) in &threads {
            let _ = start.send(());
        }
        let mut done = Done::default();
        let mut last = begin;
        let mut outcome = Ok(());
        for (thread, ..) in threads {
            match thread.join() {
                Ok(Ok((of_one, ended))) => {
                    done.calls += of_one.calls;
                    done.bytes += of_one.bytes;
                    last = last.max(ended);
                }
                Ok(Err(failure)) => outcome = Err(failure),
                Err(_) => outcome = Err(Failure::Unverified("a client panicked".to_owned())),
            }
        }
        outcome?;
        let after = usage(server);
        Ok(Passed {
            done,
            elapsed: last - begin,
            used: after
                .zip(before)
                .map(|(after, before): (Usage, Usage)| after - before),
        })
    })
}

/// Calls for as long as `limit`, at least once; returns when the last answer had come.
fn call_for<C: Client>(caller: &mut CallingClient<C>, limit: Duration) -> Result<Instant, Failure> {
    let begin = Instant::now();
    // All calls are one batch: what counts is how many there are.
    let mut pace = Pace::start(u64::MAX, limit, LONGEST_CHUNK);
    loop {
        let chunk = pace.chunk();
        for _ in 0..chunk {
            caller.call()?;
        }
        if !pace.done(chunk) {
            return Ok(begin + pace.elapsed());
        }
    }
}

/// What this process and the server's have used so far.
fn usage(server: &mut impl CallServer) -> Option<Usage> {
    if let Some(process) = server.process() {
        return process.usage_with_this();
    }
    let here = Usage::of_process()?;
    match server.used() {
        Some(there) => Some(here + Usage::from(there)),
        None => Some(here),
    }
}

/// What this process has used so far, as [`CallServer::used`] says it.
#[cfg(all(feature = "contenders", target_os = "linux"))]
pub(crate) fn used() -> Option<[u64; 3]> {
    Usage::of_process().map(Usage::numbers)
}
