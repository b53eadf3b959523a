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
    /// The asker; several threads, or places of one select, where it [waits for other things, too](crate::PendingAnswer).
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

    /// Puts the answer in and wakes those who wait for it. Only the first one counts; others come back.
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
        self.takers.notify_all();
        Ok(())
    }

    /// Whether an answer has come.
    pub(crate) fn has_come(&self) -> bool {
        seam::model_fence();
        // SYNC answer-came
        self.came.load(Ordering::SeqCst)
    }

    /// Takes the answer if it has come and was not taken.
    pub(crate) fn take(&self) -> Option<R> {
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
        self.has_come()
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

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counted() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (Arc::clone(&count), Waker::from(count))
    }

    fn poll<R>(future: &mut AnswerFuture<R>, waker: &Waker) -> Poll<R> {
        Pin::new(future).poll(&mut task::Context::from_waker(waker))
    }

    #[test]
    fn the_first_answer_counts_and_others_come_back() {
        let place = Arc::new(AnswerPlace::new());
        assert!(place.is_open());
        assert_eq!(place.take_until(Some(Instant::now())), None);
        assert_eq!(place.put(1), Ok(()));
        assert!(!place.is_open());
        assert_eq!(place.put(2), Err(2));
        assert_eq!(place.take_until(None), Some(1));
        // It has been answered, even if the answer is gone.
        assert!(!place.is_open());
        assert_eq!(place.put(3), Err(3));
    }

    #[test]
    fn a_task_is_woken_once_by_the_waker_of_its_last_poll() {
        let place = Arc::new(AnswerPlace::new());
        let mut future = AnswerFuture::new(Arc::clone(&place));
        let ((one, first), (other, second)) = (counted(), counted());
        assert!(poll(&mut future, &first).is_pending());
        assert!(poll(&mut future, &first).is_pending());
        assert!(poll(&mut future, &second).is_pending());
        place.put("answer").unwrap();
        assert_eq!(one.0.load(Ordering::Relaxed), 0);
        assert_eq!(other.0.load(Ordering::Relaxed), 1);
        assert_eq!(poll(&mut future, &second), Poll::Ready("answer"));
    }

    #[test]
    fn what_is_given_up_takes_no_answer_and_keeps_no_waker() {
        let place = Arc::new(AnswerPlace::new());
        let (count, waker) = counted();
        let mut future = AnswerFuture::new(Arc::clone(&place));
        assert!(poll(&mut future, &waker).is_pending());
        drop(future);
        assert_eq!(Arc::strong_count(&count), 2);
        place.put(7).unwrap();
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        let mut next = AnswerFuture::new(Arc::clone(&place));
        assert_eq!(poll(&mut next, &waker), Poll::Ready(7));
    }

    #[test]
    fn a_thread_waits_for_it_until_its_deadline() {
        let place = Arc::new(AnswerPlace::new());
        let early = place.take_until(Some(Instant::now() + Duration::from_millis(1)));
        assert_eq!(early, None);
        std::thread::scope(|scope| {
            scope.spawn(|| place.put(5).unwrap());
            assert_eq!(place.take_until(None), Some(5));
        });
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_models {
    use tamtam_wait::seam::{Task, thread};

    use super::*;

    /// An answer, and the news that there will be none, meet a task that waits: it has one of the two, and is not left asleep.
    #[test]
    fn loom_an_answer_meets_the_task_that_waits_for_it() {
        loom::model(|| {
            let place = Arc::new(AnswerPlace::new());
            let others = [1, 2].map(|answer| {
                let place = Arc::clone(&place);
                thread::spawn(move || place.put(answer).is_ok())
            });
            let task = Task::new();
            let mut future = AnswerFuture::new(place);
            let answer =
                task.run(|waker| Pin::new(&mut future).poll(&mut task::Context::from_waker(waker)));
            let counted = others.map(|other| other.join().unwrap());
            assert_eq!(counted, [answer == 1, answer == 2]);
        });
    }

    /// A thread that waits is not left asleep.
    #[test]
    fn loom_an_answer_meets_the_thread_that_waits_for_it() {
        loom::model(|| {
            let place = Arc::new(AnswerPlace::new());
            let other = {
                let place = Arc::clone(&place);
                thread::spawn(move || place.put(1).unwrap())
            };
            assert_eq!(place.take_until(None), Some(1));
            other.join().unwrap();
        });
    }

    /// One that gives up while it is answered leaves the answer where it is.
    #[test]
    fn loom_giving_up_meets_an_answer() {
        loom::model(|| {
            let place = Arc::new(AnswerPlace::new());
            let other = {
                let place = Arc::clone(&place);
                thread::spawn(move || place.put(1).unwrap())
            };
            let task = Task::new();
            let mut future = AnswerFuture::new(Arc::clone(&place));
            let polled = Pin::new(&mut future).poll(&mut task::Context::from_waker(task.waker()));
            drop(future);
            other.join().unwrap();
            assert_eq!(place.take().is_some(), polled.is_pending());
        });
    }
}
