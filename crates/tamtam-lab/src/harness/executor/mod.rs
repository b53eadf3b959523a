//! What runs the tasks of the asynchronous experiments.

mod small;
#[cfg(feature = "tokio")]
mod tokio;

use crate::Failure;

pub(crate) use small::Small;
#[cfg(feature = "tokio")]
pub(crate) use tokio::Tokio;
#[cfg(feature = "tokio")]
pub(crate) use tokio::runtime;

/// An executor whose tasks run in the thread that calls it.
pub(crate) trait Executor {
    /// The word that stands for it in a variant's name.
    const WORD: &'static str;

    /// Runs two tasks side by side until both have ended, or until `near` has failed: `far` is dropped then, wherever it
    /// stands, since a message that was lost would keep it for ever.
    fn run_pair<T, U>(
        near: impl Future<Output = Result<T, Failure>> + Send + 'static,
        far: impl Future<Output = U> + Send + 'static,
    ) -> Result<(T, U), Failure>
    where
        T: Send + 'static,
        U: Send + 'static;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Poll;
    use std::thread;

    use super::*;

    fn pairs_run<E: Executor>() {
        // Each waits for the other twice, with wakers that work across threads too.
        let (to_far, mut from_near) = mpsc::channel();
        let (to_near, mut from_far) = mpsc::channel();
        let outcome = E::run_pair(
            async move {
                for number in 0..100 {
                    to_far.send(number).unwrap();
                    assert_eq!(next(&mut from_far).await, number + 1000);
                }
                Ok("near")
            },
            async move {
                for number in 0..100 {
                    assert_eq!(next(&mut from_near).await, number);
                    to_near.send(number + 1000).unwrap();
                }
                "far"
            },
        );
        assert_eq!(outcome, Ok(("near", "far")));
    }

    /// Looks again and again, by way of the executor's queue.
    async fn next(receiver: &mut mpsc::Receiver<u32>) -> u32 {
        std::future::poll_fn(move |context| match receiver.try_recv() {
            Ok(number) => Poll::Ready(number),
            Err(_) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }

    fn a_failure_ends_both<E: Executor>() {
        let failure = Failure::Unverified("lost".to_owned());
        let near = {
            let failure = failure.clone();
            async move { Err::<(), _>(failure) }
        };
        let outcome = E::run_pair(near, std::future::pending::<()>());
        assert_eq!(outcome, Err(failure));
    }

    fn a_waker_of_another_thread_is_heard<E: Executor>() {
        let mut waiter = None;
        let near = std::future::poll_fn(move |context| match waiter.take() {
            None => {
                let waker = context.waker().clone();
                waiter = Some(thread::spawn(move || waker.wake()));
                Poll::Pending
            }
            Some(_) => Poll::Ready(Ok(7)),
        });
        assert_eq!(E::run_pair(near, async { 8 }), Ok((7, 8)));
    }

    #[test]
    fn the_small_one_runs_pairs() {
        pairs_run::<Small>();
        a_failure_ends_both::<Small>();
        a_waker_of_another_thread_is_heard::<Small>();
    }

    #[cfg(feature = "tokio")]
    #[test]
    fn tokio_runs_pairs() {
        pairs_run::<Tokio>();
        a_failure_ends_both::<Tokio>();
        a_waker_of_another_thread_is_heard::<Tokio>();
    }
}
