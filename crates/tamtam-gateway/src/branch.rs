//! One future among several of a task, polled when it was woken itself.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use tamtam_wait::Woken;

/// One future among several of a task, polled when it was woken itself.
///
/// A task that waits for several things at once is woken by each of them, and polls all of them. To poll a timer, or a channel that
/// tells of a stop, costs what a tenth of a call does; and a connection is woken by each piece of a body that is taken from it, the last
/// one too, while it is polled anyway: see [`HeldBack`].
#[derive(Debug)]
pub(crate) struct Branch(Arc<Wakes>);

/// What the future is polled with.
#[derive(Debug)]
struct Wakes(Woken);

impl Branch {
    pub(crate) fn new() -> Branch {
        Branch(Arc::new(Wakes(Woken::new(true))))
    }

    /// Polls by this, if the branch was woken since it did so before; the first time in any case.
    pub(crate) fn poll<T>(
        &self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if !self.0.0.is_due(context.waker()) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.0));
        poll(&mut Context::from_waker(&waker))
    }

    /// The next poll is one.
    pub(crate) fn wake(&self) {
        self.0.0.set_due();
    }

    /// What the future gives. It is polled once to begin with.
    pub(crate) fn run<'f, F: Future>(&'f self, future: Pin<&'f mut F>) -> Run<'f, F> {
        self.wake();
        Run {
            woken: &self.0.0,
            waker: Waker::from(Arc::clone(&self.0)),
            future,
        }
    }
}

/// A branch on its way.
pub(crate) struct Run<'f, F> {
    woken: &'f Woken,
    waker: Waker,
    future: Pin<&'f mut F>,
}

impl<F: Future> Future for Run<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let run = &mut *self;
        if !run.woken.is_due(context.waker()) {
            return Poll::Pending;
        }
        run.future
            .as_mut()
            .poll(&mut Context::from_waker(&run.waker))
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !Held::take_in(self) {
            self.0.wake();
        }
    }
}

thread_local! {
    static HELD: RefCell<Held> = const { RefCell::new(Held::Not) };
}

/// Whether wakes of branches on this thread are held back, and which one is.
#[derive(Debug, Default)]
enum Held {
    #[default]
    Not,
    None,
    One(Arc<Wakes>),
}

impl Held {
    /// Whether a wake is held back.
    fn take_in(wakes: &Arc<Wakes>) -> bool {
        let taken = HELD.try_with(|held| match &mut *held.borrow_mut() {
            Held::Not => false,
            Held::One(other) => Arc::ptr_eq(wakes, other),
            none @ Held::None => {
                *none = Held::One(Arc::clone(wakes));
                true
            }
        });
        taken.unwrap_or(false)
    }

    fn replace(with: Held) -> Held {
        HELD.try_with(|held| held.replace(with)).unwrap_or_default()
    }
}

/// Holds back a wake of a branch that this thread causes, until this is dropped.
///
/// HTTP's channel of a body wakes the connection for whatever is taken out of it, so that it reads more; when there is no more, that
/// makes it be polled for nothing, once for each request.
#[derive(Debug)]
pub(crate) struct HeldBack(());

impl HeldBack {
    pub(crate) fn begin() -> HeldBack {
        Held::replace(Held::None);
        HeldBack(())
    }

    /// The task has nothing to do for it.
    pub(crate) fn forget(self) {
        Held::replace(Held::Not);
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        if let Held::One(wakes) = Held::replace(Held::Not) {
            wakes.0.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::sync::Notify;

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(future)
    }

    /// Counts how often it is polled, and is ready when it was told so.
    async fn counted(polls: &AtomicUsize, end: &Notify) {
        let mut ended = pin!(end.notified());
        poll_fn(|context| {
            polls.fetch_add(1, Ordering::SeqCst);
            ended.as_mut().poll(context)
        })
        .await;
    }

    #[test]
    fn a_branch_is_polled_for_its_own_wakes_alone() {
        block_on(async {
            let (polls, end) = (AtomicUsize::new(0), Notify::new());
            let (branch, mut branched) = (Branch::new(), pin!(counted(&polls, &end)));
            let others = async {
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                () = branch.run(branched.as_mut()) => panic!("it was not told to end"),
                () = others => {}
            }
            assert_eq!(polls.load(Ordering::SeqCst), 1);
            // It goes on where it was, and is polled once for that.
            end.notify_one();
            branch.run(branched).await;
            assert_eq!(polls.load(Ordering::SeqCst), 2);
        });
    }

    #[test]
    fn a_branch_may_go_on_in_another_task() {
        block_on(async {
            let end = Arc::new(Notify::new());
            let ended = Arc::clone(&end);
            let branch = Arc::new(Branch::new());
            let mut branched = Box::pin(async move { ended.notified().await });
            let first = poll_fn(|context| {
                Poll::Ready(Pin::new(&mut branch.run(branched.as_mut())).poll(context))
            });
            assert!(first.await.is_pending());
            let here = Arc::clone(&branch);
            let other = tokio::spawn(async move { here.run(branched.as_mut()).await });
            tokio::task::yield_now().await;
            end.notify_one();
            let ended = tokio::time::timeout(Duration::from_secs(60), other).await;
            ended.expect("it is woken").unwrap();
        });
    }

    #[test]
    fn no_wake_is_lost_from_another_thread() {
        block_on(async {
            let (there, back) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let other = tokio::spawn({
                let (there, back) = (Arc::clone(&there), Arc::clone(&back));
                async move {
                    for _ in 0..10_000 {
                        there.notified().await;
                        back.notify_one();
                    }
                }
            });
            let (branch, never) = (Branch::new(), Branch::new());
            let mut rounds = pin!(async {
                for _ in 0..10_000 {
                    there.notify_one();
                    back.notified().await;
                }
            });
            let mut silent = pin!(std::future::pending::<()>());
            let all = async {
                tokio::select! {
                    () = branch.run(rounds.as_mut()) => {}
                    () = never.run(silent.as_mut()) => {}
                }
            };
            let ended = tokio::time::timeout(Duration::from_secs(60), all).await;
            assert!(ended.is_ok(), "a wake was lost");
            other.await.unwrap();
        });
    }

    #[test]
    fn a_wake_is_held_back_on_this_thread_until_it_is_known_whether_it_counts() {
        let wakes = || Arc::new(Wakes(Woken::new(false)));
        let is_due = |wakes: &Wakes| wakes.0.is_due(Waker::noop());
        let (one, other) = (wakes(), wakes());
        let held = HeldBack::begin();
        one.wake_by_ref();
        one.wake_by_ref();
        other.wake_by_ref();
        assert!(!is_due(&one) && is_due(&other));
        drop(held);
        assert!(is_due(&one));

        let (one, other) = (wakes(), wakes());
        let held = HeldBack::begin();
        one.wake_by_ref();
        let elsewhere = Arc::clone(&other);
        std::thread::spawn(move || elsewhere.wake()).join().unwrap();
        assert!(is_due(&other));
        held.forget();
        assert!(!is_due(&one));
        one.wake_by_ref();
        assert!(is_due(&one));
    }
}
