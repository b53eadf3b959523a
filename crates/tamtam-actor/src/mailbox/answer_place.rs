//! Where an actor or a task finds the answer to its question: filled once, for one who waits.

use core::pin::Pin;
use core::task::{self, Poll};
use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{self, Mutex};
use tamtam_wait::{Context, Operation, Source, TaskWait, Token, Wait, WaitList};

use crate::waits::OpenQuestion;

/// A place for one value that comes once. It is made for each question, so it is small: a slot is several cache lines.
pub(crate) struct AnswerPlace<R> {
    answer: Mutex<Option<R>>,
    /// An answer has come, whether it was taken or not.
    came: AtomicBool,
    /// The asker.
    takers: WaitList,
}

impl<R> AnswerPlace<R> {
    pub(crate) fn new() -> Self {
        AnswerPlace {
            answer: Mutex::new(None),
            came: AtomicBool::new(false),
            takers: WaitList::single(),
        }
    }

    /// Puts the answer in and wakes the asker. Only the first one counts; others come back.
    pub(crate) fn put(&self, answer: R) -> Result<(), R> {
        let mut place = self.answer.lock();
        if self.came.load(Ordering::Relaxed) {
            drop(place);
            return Err(answer);
        }
        *place = Some(answer);
        // SYNC answer-came. Sequentially consistent, as the look for the asker that follows: one that enters the list and then
        // looks sees it, or is seen.
        self.came.store(true, Ordering::SeqCst);
        drop(place);
        self.takers.notify_one();
        Ok(())
    }

    /// Whether an answer has come.
    pub(crate) fn has_come(&self) -> bool {
        seam::model_fence();
        // SYNC answer-came
        self.came.load(Ordering::SeqCst)
    }

    fn take(&self) -> Option<R> {
        // SYNC answer-came
        if self.came.load(Ordering::Acquire) {
            self.answer.lock().take()
        } else {
            None
        }
    }

    /// Takes the answer, on a thread that waits for it: `None` if there was none until the deadline.
    pub(crate) fn take_until(&self, deadline: Option<Instant>) -> Option<R> {
        self.takers.wait_until(
            Wait::Adaptive,
            deadline,
            |_| self.take(),
            || self.has_come(),
        )
    }
}

impl<R: Send> OpenQuestion for AnswerPlace<R> {
    fn is_open(&self) -> bool {
        !self.has_come()
    }
}

/// An answer that a task waits for.
pub(crate) struct AnswerFuture<R> {
    place: Arc<AnswerPlace<R>>,
    wait: TaskWait,
}

impl<R> AnswerFuture<R> {
    pub(crate) fn new(place: Arc<AnswerPlace<R>>) -> Self {
        AnswerFuture {
            place,
            wait: TaskWait::new(),
        }
    }

    /// For those who look who waits for whom.
    pub(crate) fn to_open(&self) -> Arc<dyn OpenQuestion>
    where
        R: Send + 'static,
    {
        Arc::clone(&self.place) as Arc<dyn OpenQuestion>
    }
}

impl<R> Future for AnswerFuture<R> {
    type Output = R;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<R> {
        let AnswerFuture { place, wait } = &mut *self;
        match wait.poll_attempting(&**place, context.waker(), None, |_| place.take()) {
            Poll::Ready(Some(answer)) => Poll::Ready(answer),
            // Without a deadline it is never over.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<R> Drop for AnswerFuture<R> {
    fn drop(&mut self) {
        if self.wait.is_listed() {
            self.wait.cancel(&*self.place);
        }
    }
}

impl<R> Source for AnswerPlace<R> {
    fn try_begin(&self, _: &mut Token) -> bool {
        unreachable!("what waits for an answer takes it itself")
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.takers.register(operation, context);
        self.has_come()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.takers.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        self.has_come()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.takers.watch(operation, context);
        self.has_come()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.takers.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(&self.takers)
    }

    fn looks_ready(&self) -> bool {
        self.has_come()
    }
}
