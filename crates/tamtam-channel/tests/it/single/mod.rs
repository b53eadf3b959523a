//! The ends that belong to one owner: `spsc` and `mpsc`.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

mod asynchronous;
mod batches;
mod closing;
mod delivery;
mod drops;
mod permits;
mod queries;
mod sinks;
mod stress;
mod weak_senders;

/// Counts how many of its kind were dropped.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn counter() -> (Arc<AtomicUsize>, impl Fn() -> Counted) {
    let count = Arc::new(AtomicUsize::new(0));
    let make = {
        let count = Arc::clone(&count);
        move || Counted(Arc::clone(&count))
    };
    (count, make)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

fn assert_send<T: Send>(_: &T) {}

/// Runs a test body for every way to open such a channel, each within the limit. The name of the way is `open`; it is given the
/// number of messages that the body leaves in the channel at most.
macro_rules! for_each_kind {
    ($($(#[$attribute:meta])* fn $name:ident($open:ident) $body:block)+) => { $(
        $(#[$attribute])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn spsc_bounded() {
                macro_rules! $open { ($room:expr) => { tamtam_channel::spsc::bounded($room) } }
                crate::support::within_limit(|| $body);
            }

            #[test]
            fn spsc_unbounded() {
                macro_rules! $open { ($room:expr) => { { let _: usize = $room; tamtam_channel::spsc::unbounded() } } }
                crate::support::within_limit(|| $body);
            }

            #[test]
            fn mpsc_bounded() {
                macro_rules! $open { ($room:expr) => { tamtam_channel::mpsc::bounded($room) } }
                crate::support::within_limit(|| $body);
            }

            #[test]
            fn mpsc_unbounded() {
                macro_rules! $open { ($room:expr) => { { let _: usize = $room; tamtam_channel::mpsc::unbounded() } } }
                crate::support::within_limit(|| $body);
            }
        }
    )+ };
}
pub(crate) use for_each_kind;
