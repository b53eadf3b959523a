//! The timer by which the heads of one connection's requests come in time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

use crate::branch::Branch;

/// The timer of one connection of HTTP/1, which waits for one thing at a time.
///
/// HTTP begins a wait before each request, and ends it when that has come. Each one among the timers of all connections costs what a
/// twentieth of a call does; here they share one, which is set again when it is over and the wait that it is for is not.
#[derive(Clone)]
pub(crate) struct HeadTimer(Arc<Alarm>);

struct Alarm {
    branch: Branch,
    /// Nothing before the first wait.
    sleep: Mutex<Option<Pin<Box<tokio::time::Sleep>>>>,
}

impl HeadTimer {
    pub(crate) fn new() -> HeadTimer {
        HeadTimer(Arc::new(Alarm {
            branch: Branch::new(),
            sleep: Mutex::new(None),
        }))
    }
}

impl fmt::Debug for HeadTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeadTimer")
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until {
            alarm: Arc::clone(&self.0),
            deadline,
            is_new: true,
        })
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        *sleep = self.sleep_until(deadline);
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into()
    }
}

/// A wait until then.
struct Until {
    alarm: Arc<Alarm>,
    deadline: Instant,
    is_new: bool,
}

impl Sleep for Until {}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let until = &mut *self;
        let deadline = tokio::time::Instant::from(until.deadline);
        let is_new = std::mem::take(&mut until.is_new);
        let mut sleep = until
            .alarm
            .sleep
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if is_new && sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
            until.alarm.branch.wake();
        }
        until.alarm.branch.poll(context, |context| {
            loop {
                if sleep.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                if sleep.deadline() >= deadline {
                    // A further poll, and the next wait, find that it is over.
                    until.alarm.branch.wake();
                    return Poll::Ready(());
                }
                // It was for an earlier wait.
                sleep.as_mut().reset(deadline);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(test: impl Future<Output = ()>) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap().block_on(test);
    }

    const HOUR: Duration = Duration::from_secs(3_600);
    const SHORT: Duration = Duration::from_millis(20);

    /// Whether a wait is over.
    async fn is_over(wait: &mut Pin<Box<dyn Sleep>>) -> bool {
        std::future::poll_fn(|context| Poll::Ready(wait.as_mut().poll(context).is_ready())).await
    }

    #[test]
    fn a_wait_is_over_at_its_time_whatever_was_waited_for_before() {
        timed(async {
            let timer = HeadTimer::new();
            let begun = timer.now();
            // Waits that were given up, each later than the one before: the first one is over before the last one is.
            for count in 1..5 {
                let mut wait = timer.sleep_until(begun + SHORT * count);
                let _ = is_over(&mut wait).await;
            }
            let mut wait = timer.sleep_until(begun + SHORT * 6);
            (&mut wait).await;
            assert!(timer.now() - begun >= SHORT * 6);
            assert!(is_over(&mut wait).await);
            // The next one begins anew.
            let begun = timer.now();
            timer.sleep(SHORT).await;
            assert!(timer.now() - begun >= SHORT);
            assert!(!is_over(&mut timer.sleep(HOUR)).await);
        });
    }

    #[test]
    fn a_wait_may_be_shorter_than_the_one_before() {
        timed(async {
            let timer = HeadTimer::new();
            let begun = timer.now();
            let mut wait = timer.sleep(HOUR);
            assert!(!is_over(&mut wait).await);
            timer.reset(&mut wait, begun + SHORT);
            wait.await;
            let mut wait = timer.sleep(HOUR);
            assert!(!is_over(&mut wait).await);
            timer.sleep(SHORT).await;
            let took = timer.now() - begun;
            assert!((SHORT * 2..HOUR).contains(&took), "{took:?}");
        });
    }

    #[test]
    fn a_wait_that_is_over_is_followed_by_one_that_is_not() {
        timed(async {
            let timer = HeadTimer::new();
            let past = timer.now();
            let mut wait = timer.sleep_until(past);
            (&mut wait).await;
            assert!(!is_over(&mut timer.sleep(HOUR)).await);
        });
    }
}
