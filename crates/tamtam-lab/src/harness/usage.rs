//! What a thread or the process has used: time, CPU, faults, switches.

use std::ops::{Add, Sub};
use std::time::Duration;

use crate::Metric;
#[cfg(unix)]
use crate::harness::cpu_clock;

/// What a thread or the whole process has used of the machine up to now, or between two such moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// CPU time, user and system together.
    pub(crate) cpu: Duration,
    /// Context switches because the thread had to wait.
    pub(crate) voluntary: u64,
    /// Context switches because the system gave the processor to another thread.
    pub(crate) involuntary: u64,
}

impl Usage {
    /// Of the whole process; `None` where the system does not tell.
    pub(crate) fn of_process() -> Option<Usage> {
        #[cfg(unix)]
        return read(
            nix::sys::resource::UsageWho::RUSAGE_SELF,
            cpu_clock::process_cpu_time()?,
        );
        #[cfg(not(unix))]
        None
    }

    /// Of the calling thread; `None` where the system does not tell.
    pub(crate) fn of_thread() -> Option<Usage> {
        #[cfg(target_os = "linux")]
        return read(
            nix::sys::resource::UsageWho::RUSAGE_THREAD,
            cpu_clock::thread_cpu_time()?,
        );
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// As processes tell it each other: nanoseconds of processors, voluntary and involuntary switches.
    pub(crate) fn numbers(self) -> [u64; 3] {
        let cpu = u64::try_from(self.cpu.as_nanos()).unwrap_or(u64::MAX);
        [cpu, self.voluntary, self.involuntary]
    }

    /// The figures for each of `operations`, this being what they used together.
    pub(crate) fn metrics(self, operations: u64) -> [Metric; 4] {
        let each = |total: f64| total / operations.max(1) as f64;
        [
            Metric::new("cpu_ns_per_op", "ns", each(self.cpu.as_nanos() as f64)),
            Metric::new(
                "switches_per_op",
                "switches",
                each((self.voluntary + self.involuntary) as f64),
            ),
            Metric::new(
                "voluntary_switches_per_op",
                "switches",
                each(self.voluntary as f64),
            ),
            Metric::new(
                "involuntary_switches_per_op",
                "switches",
                each(self.involuntary as f64),
            ),
        ]
    }
}

impl From<[u64; 3]> for Usage {
    /// What another process has told of itself: see [`Usage::numbers`].
    fn from([cpu, voluntary, involuntary]: [u64; 3]) -> Usage {
        Usage {
            cpu: Duration::from_nanos(cpu),
            voluntary,
            involuntary,
        }
    }
}

impl Sub for Usage {
    type Output = Usage;

    /// What was used between the moments `earlier` and `self`; never below zero.
    fn sub(self, earlier: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            cpu: self.cpu + other.cpu,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
        }
    }
}

/// The figures of what was used between two moments, or none where the system does not tell.
pub(crate) fn metrics_between(
    earlier: Option<Usage>,
    later: Option<Usage>,
    operations: u64,
) -> Vec<Metric> {
    match (earlier, later) {
        (Some(earlier), Some(later)) => (later - earlier).metrics(operations).to_vec(),
        _ => Vec::new(),
    }
}

/// The largest memory that this program has occupied so far, in KiB; `None` where the system does not tell.
///
/// Out of `/proc`, since `getrusage` on Linux also knows the peak of the program that started this one.
pub(crate) fn peak_memory() -> Option<Metric> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_in(&status).map(|kib| Metric::new("peak_rss_kib", "KiB", kib))
}

fn peak_in(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The context switches of `who`, with the CPU time from a clock of its own: the one that `getrusage` knows is brought
/// up to date only at the system's next tick.
#[cfg(unix)]
fn read(who: nix::sys::resource::UsageWho, cpu: Duration) -> Option<Usage> {
    let usage = nix::sys::resource::getrusage(who).ok()?;
    Some(Usage {
        cpu,
        voluntary: u64::try_from(usage.voluntary_context_switches()).ok()?,
        involuntary: u64::try_from(usage.involuntary_context_switches()).ok()?,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::harness::cpu_clock::thread_cpu_time;

    #[test]
    fn work_shows_as_cpu_time() {
        let (earlier, start) = (Usage::of_thread().unwrap(), thread_cpu_time().unwrap());
        // Shorter than a tick of the system's clock.
        while thread_cpu_time().unwrap() - start < Duration::from_micros(200) {
            std::hint::spin_loop();
        }
        let used = Usage::of_thread().unwrap() - earlier;
        assert!(used.cpu >= Duration::from_micros(200), "{used:?}");
        assert!(Usage::of_process().unwrap().cpu >= used.cpu);
    }

    #[test]
    fn a_blocked_thread_shows_as_a_voluntary_switch() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            let earlier = Usage::of_thread().unwrap();
            // Again if it was held up until the time was over, and so had nothing to wait for.
            for _ in 0..10 {
                let nothing: Result<(), _> = receiver.recv_timeout(Duration::from_millis(20));
                assert!(nothing.is_err());
                if (Usage::of_thread().unwrap() - earlier).voluntary > 0 {
                    break;
                }
            }
            Usage::of_thread().unwrap() - earlier
        });
        let used = waiter.join().unwrap();
        drop(sender);
        assert!(used.voluntary >= 1, "{used:?}");
    }

    #[test]
    fn the_peak_of_memory_is_read() {
        assert_eq!(
            peak_in("Name:\tx\nVmHWM:\t    5312 kB\nVmRSS:\t 100 kB\n"),
            Some(5312.0)
        );
        assert_eq!(peak_in("Name:\tx\n"), None);
        assert!(peak_memory().unwrap().value > 0.0);
    }

    #[test]
    fn figures_are_per_operation() {
        let used = Usage {
            cpu: Duration::from_micros(10),
            voluntary: 30,
            involuntary: 10,
        };
        assert_eq!(Usage::from(used.numbers()), used);
        let values: Vec<_> = used
            .metrics(20)
            .iter()
            .map(|metric| (metric.metric.clone(), metric.value))
            .collect();
        assert_eq!(values[0], ("cpu_ns_per_op".to_owned(), 500.0));
        assert_eq!(values[1], ("switches_per_op".to_owned(), 2.0));
        assert_eq!(values[2], ("voluntary_switches_per_op".to_owned(), 1.5));
        assert_eq!(values[3], ("involuntary_switches_per_op".to_owned(), 0.5));
    }
}
