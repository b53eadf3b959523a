//! A task's side of a wait: what a future does instead of sleeping.

use core::fmt;
use core::task::{Poll, Waker};
use std::time::Instant;

use crate::lone::Ticket;
use crate::{Backoff, Context, Operation, Outcome, Source, TaskDeadline, Token};

const ONLY: Operation = Operation::new(0);

/// How a task's wait for a source ended.
///
/// # Examples
///
/// ```
/// use std::task::{Poll, Waker};
/// use std::time::Instant;
/// use tamtam_wait::{Context, Operation, Polled, Source, TaskWait, Token};
///
/// /// What never comes.
/// struct Never;
///
/// impl Source for Never {
///     fn try_begin(&self, _: &mut Token) -> bool {
///         false
///     }
/// #     fn register(&self, _: Operation, _: &Context) -> bool { false }
/// #     fn unregister(&self, _: Operation, _: &Context) {}
/// #     fn is_ready(&self) -> bool { false }
/// #     fn watch(&self, _: Operation, _: &Context) -> bool { false }
/// #     fn unwatch(&self, _: Operation, _: &Context) {}
///     // And so on: it keeps no list.
/// }
///
/// let (mut wait, mut token) = (TaskWait::new(), Token::default());
/// let over = wait.poll(&Never, &mut token, Waker::noop(), Some(Instant::now()));
/// assert_eq!(over, Poll::Ready(Polled::TimedOut));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The operation has begun: finish it with the token.
    Begun,
    /// The deadline passed before it could begin.
    TimedOut,
}

/// One task's wait for one source, between two polls.
///
/// The owner of one must [`cancel`](TaskWait::cancel) it before it is dropped, with the same source:
/// the source's list holds an entry of it, and may have chosen it already.
///
/// # Examples
///
/// ```
/// use std::task::Waker;
/// use tamtam_wait::{Context, Operation, Source, TaskWait, Token};
///
/// /// What never comes.
/// struct Never;
///
/// impl Source for Never {
///     fn try_begin(&self, _: &mut Token) -> bool {
///         false
///     }
/// #     fn register(&self, _: Operation, _: &Context) -> bool { false }
/// #     fn unregister(&self, _: Operation, _: &Context) {}
/// #     fn is_ready(&self) -> bool { false }
/// #     fn watch(&self, _: Operation, _: &Context) -> bool { false }
/// #     fn unwatch(&self, _: Operation, _: &Context) {}
///     // And so on: it keeps no list.
/// }
///
/// let (mut wait, mut token) = (TaskWait::new(), Token::default());
/// assert!(wait.poll(&Never, &mut token, Waker::noop(), None).is_pending());
/// // The future is dropped.
/// wait.cancel(&Never);
/// assert!(!wait.is_listed());
/// ```
#[derive(Default)]
pub struct TaskWait {
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    /// In the place for one task of the source's list.
    Alone(Ticket),
    /// In the list.
    Listed(Listed),
}

struct Listed {
    context: Context,
    deadline: Option<TaskDeadline>,
}

impl Listed {
    /// How the wait has ended, if it has; else `waker` is woken when it does.
    fn poll(&mut self, waker: &Waker) -> Option<Outcome> {
        let outcome = self.context.renew(waker);
        if outcome.is_none()
            && let Some(deadline) = &mut self.deadline
            && deadline.attend(&self.context, waker)
        {
            return self.context.outcome();
        }
        outcome
    }
}

impl TaskWait {
    /// A wait that has not begun.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: State::Idle }
    }

    /// Begins the operation if that is possible now; else sees to it that `waker` is woken when it is
    /// worth another poll, or when the deadline has passed.
    ///
    /// Between that beginning and the end of the operation user code may run, the drop of a waker:
    /// [`poll_attempting`](TaskWait::poll_attempting) is for operations that hold up others.
    #[inline]
    pub fn poll<S: Source + ?Sized>(
        &mut self,
        source: &S,
        token: &mut Token,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Polled> {
        let attempt = |chosen: Option<&Context>| {
            let begun = match chosen {
                Some(context) => source.accept(token, context),
                None => source.try_begin(token),
            };
            begun.then_some(())
        };
        let polled = self.poll_attempting(source, waker, deadline, attempt);
        polled.map(|begun| begun.map_or(Polled::TimedOut, |()| Polled::Begun))
    }

    /// As [`poll`](TaskWait::poll), for who makes the attempts itself: what one of them brought, or none if the deadline has passed. So
    /// what is received goes through no token, into which a large message would have to be copied.
    ///
    /// An attempt is told by which context the task has been chosen, if it has stood in the source's list and has been; it does what
    /// [`accept`](Source::accept) does then, and what [`try_begin`](Source::try_begin) does otherwise.
    ///
    /// Behind an attempt that brought something a waker may be dropped, which is user code: what other threads would wait for meanwhile is done in the attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::task::{Poll, Waker};
    /// use tamtam_wait::{Context, Operation, Source, TaskWait, Token, WaitList};
    ///
    /// /// A number, for one thread.
    /// #[derive(Default)]
    /// struct Place(Cell<Option<u32>>, WaitList);
    ///
    /// impl Source for Place {
    ///     fn try_begin(&self, _: &mut Token) -> bool {
    ///         unreachable!("it is not asked")
    ///     }
    ///     fn register(&self, operation: Operation, context: &Context) -> bool {
    ///         self.1.register(operation, context);
    ///         self.is_ready()
    ///     }
    ///     fn unregister(&self, operation: Operation, context: &Context) {
    ///         self.1.unregister(operation, context);
    ///     }
    ///     fn is_ready(&self) -> bool {
    ///         self.0.get().is_some()
    ///     }
    /// #     fn watch(&self, _: Operation, _: &Context) -> bool { false }
    /// #     fn unwatch(&self, _: Operation, _: &Context) {}
    ///     // And so on.
    /// }
    ///
    /// let (place, mut wait) = (Place::default(), TaskWait::new());
    /// let mut poll = || wait.poll_attempting(&place, Waker::noop(), None, |_| place.0.take());
    /// assert!(poll().is_pending());
    /// place.0.set(Some(7));
    /// place.1.notify_one();
    /// assert_eq!(poll(), Poll::Ready(Some(7)));
    /// ```
    pub fn poll_attempting<S: Source + ?Sized, R>(
        &mut self,
        source: &S,
        waker: &Waker,
        deadline: Option<Instant>,
        mut attempt: impl FnMut(Option<&Context>) -> Option<R>,
    ) -> Poll<Option<R>> {
        match &mut self.state {
            State::Idle => {}
            State::Alone(ticket) => {
                let ticket = *ticket;
                if self.still_alone(ticket, source, waker) {
                    return Poll::Pending;
                }
                self.state = State::Idle;
            }
            State::Listed(listed) => {
                let Some(outcome) = listed.poll(waker) else {
                    return Poll::Pending;
                };
                if let Some(result) = self.leave(source, outcome, &mut attempt) {
                    return Poll::Ready(Some(result));
                }
            }
        }
        // Turns only while another thread is in the middle of a step.
        let mut backoff = Backoff::new();
        loop {
            if let Some(result) = attempt(None) {
                return Poll::Ready(Some(result));
            }
            if deadline.is_none() {
                if let Some(ticket) = source.list().and_then(|list| list.list_alone(waker)) {
                    if !source.looks_ready() {
                        self.state = State::Alone(ticket);
                        return Poll::Pending;
                    }
                    give_up_place(source, ticket);
                    backoff.pause();
                    continue;
                }
            } else if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Poll::Ready(None);
            }
            let context = Context::for_task(waker);
            let ready = source.register(ONLY, &context);
            if !ready {
                let due = match (deadline, source.deadline()) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
                let deadline = due.map(|due| TaskDeadline::for_task(due, &context, waker));
                self.state = State::Listed(Listed { context, deadline });
                return Poll::Pending;
            }
            context.abort();
            let Some(outcome) = context.outcome() else {
                unreachable!("an aborted wait is over")
            };
            self.state = State::Listed(Listed {
                context,
                deadline: None,
            });
            if let Some(result) = self.leave(source, outcome, &mut attempt) {
                return Poll::Ready(Some(result));
            }
            backoff.pause();
        }
    }

    /// Whether the task stands in no list, or did as the only one and has been chosen: then it may attempt the operation as one that has
    /// not waited, before it polls.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::task::Waker;
    /// use tamtam_wait::{Context, Operation, Source, TaskWait, Token, WaitList};
    ///
    /// #[derive(Default)]
    /// struct Place(WaitList);
    ///
    /// impl Source for Place {
    ///     fn list(&self) -> Option<&WaitList> {
    ///         Some(&self.0)
    ///     }
    ///     fn looks_ready(&self) -> bool {
    ///         false
    ///     }
    /// #     fn try_begin(&self, _: &mut Token) -> bool { false }
    /// #     fn register(&self, _: Operation, _: &Context) -> bool { false }
    /// #     fn unregister(&self, _: Operation, _: &Context) {}
    /// #     fn is_ready(&self) -> bool { false }
    /// #     fn watch(&self, _: Operation, _: &Context) -> bool { false }
    /// #     fn unwatch(&self, _: Operation, _: &Context) {}
    ///     // And so on.
    /// }
    ///
    /// let (place, mut wait, mut token) = (Place::default(), TaskWait::new(), Token::default());
    /// assert!(wait.is_free(&place));
    /// assert!(wait.poll(&place, &mut token, Waker::noop(), None).is_pending());
    /// assert!(!wait.is_free(&place));
    /// place.0.notify_one();
    /// assert!(wait.is_free(&place));
    /// ```
    #[inline]
    pub fn is_free<S: Source + ?Sized>(&mut self, source: &S) -> bool {
        match self.state {
            State::Idle => true,
            State::Alone(ticket) => {
                let waits = source.list().is_some_and(|list| list.lone.waits(ticket));
                if !waits {
                    self.state = State::Idle;
                }
                !waits
            }
            State::Listed(_) => false,
        }
    }

    /// Polled while it stands in the place for one: whether it goes on waiting there.
    #[inline]
    fn still_alone<S: Source + ?Sized>(
        &mut self,
        ticket: Ticket,
        source: &S,
        waker: &Waker,
    ) -> bool {
        let Some(list) = source.list() else {
            return false;
        };
        if !list.lone.waits(ticket) || !list.lone.renew(ticket, waker) {
            return false;
        }
        // Renewing overlooks who comes meanwhile, so it takes another look.
        if source.looks_ready() {
            give_up_place(source, ticket);
            return false;
        }
        true
    }

    /// Leaves the list after a wait that has ended: what an attempt brought, if it was chosen for one.
    fn leave<S: Source + ?Sized, R>(
        &mut self,
        source: &S,
        outcome: Outcome,
        attempt: &mut impl FnMut(Option<&Context>) -> Option<R>,
    ) -> Option<R> {
        let State::Listed(listed) = core::mem::take(&mut self.state) else {
            return None;
        };
        // The deadline first: the clock has a share of the context.
        let Listed { context, deadline } = listed;
        drop(deadline);
        let result = match outcome {
            Outcome::Selected(_) => attempt(Some(&context)),
            Outcome::Aborted | Outcome::Disconnected => {
                source.unregister(ONLY, &context);
                None
            }
        };
        context.recycle();
        result
    }

    /// Ends the wait: nothing was begun, and nothing will be. A wake-up that was meant for this task
    /// goes to another waiter.
    pub fn cancel<S: Source + ?Sized>(&mut self, source: &S) {
        let listed = match core::mem::take(&mut self.state) {
            State::Idle => return,
            State::Alone(ticket) => return give_up_place(source, ticket),
            State::Listed(listed) => listed,
        };
        // The deadline first: the clock has a share of the context.
        let Listed { context, deadline } = listed;
        drop(deadline);
        context.abort();
        match context.outcome() {
            Some(Outcome::Selected(_)) => source.decline(&context),
            _ => source.unregister(ONLY, &context),
        }
        context.recycle();
    }

    /// Whether the task is entered in a list.
    #[must_use]
    #[inline]
    pub fn is_listed(&self) -> bool {
        !matches!(self.state, State::Idle)
    }
}

/// Leaves the place for one task. A wake-up that was meant for it goes to another waiter.
#[cold]
fn give_up_place<S: Source + ?Sized>(source: &S, ticket: Ticket) {
    if let Some(list) = source.list()
        && !list.lone.cancel(ticket)
    {
        list.decline(|| source.looks_ready());
    }
}

impl fmt::Debug for TaskWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskWait")
            .field("listed", &self.is_listed())
            .finish()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use core::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::WaitList;
    use crate::contain::counted;

    /// More attempts than a wait in these tests makes in one poll; one that never comes to rest makes them all.
    const ATTEMPTS_OF_A_POLL: usize = 100;

    /// Things to take, in the place for one or always in the list.
    struct Things {
        attempts: Cell<usize>,
        left: Cell<usize>,
        list: WaitList,
        has_place_for_one: bool,
        due: Option<Instant>,
        declined: Cell<usize>,
    }

    impl Things {
        fn new(has_place_for_one: bool) -> Self {
            Things {
                attempts: Cell::new(0),
                left: Cell::new(0),
                list: WaitList::new(),
                has_place_for_one,
                due: None,
                declined: Cell::new(0),
            }
        }

        fn bring(&self) {
            self.left.set(self.left.get() + 1);
            self.list.notify_one();
        }

        /// Whether a task waits here, in either place.
        fn is_waited_for(&self) -> bool {
            self.list.lone.is_listed() || !self.list.is_empty()
        }
    }

    impl Source for Things {
        fn try_begin(&self, _: &mut Token) -> bool {
            self.attempts.set(self.attempts.get() + 1);
            assert!(
                self.attempts.get() <= ATTEMPTS_OF_A_POLL,
                "neither waits nor begins"
            );
            let left = self.left.get().checked_sub(1);
            left.inspect(|left| self.left.set(*left)).is_some()
        }

        fn register(&self, operation: Operation, context: &Context) -> bool {
            self.list.register(operation, context);
            self.is_ready()
        }

        fn unregister(&self, operation: Operation, context: &Context) {
            self.list.unregister(operation, context);
        }

        fn decline(&self, _: &Context) {
            self.declined.set(self.declined.get() + 1);
            self.list.decline(|| self.is_ready());
        }

        fn is_ready(&self) -> bool {
            self.left.get() > 0
        }

        fn watch(&self, operation: Operation, context: &Context) -> bool {
            self.list.watch(operation, context);
            self.is_ready()
        }

        fn unwatch(&self, operation: Operation, context: &Context) {
            self.list.unwatch(operation, context);
        }

        fn list(&self) -> Option<&WaitList> {
            self.has_place_for_one.then_some(&self.list)
        }

        fn looks_ready(&self) -> bool {
            self.is_ready()
        }

        fn deadline(&self) -> Option<Instant> {
            self.due
        }
    }

    fn poll(wait: &mut TaskWait, things: &Things, deadline: Option<Instant>) -> Poll<Polled> {
        things.attempts.set(0);
        wait.poll(things, &mut Token::default(), Waker::noop(), deadline)
    }

    const BEGUN: Poll<Polled> = Poll::Ready(Polled::Begun);
    const TIMED_OUT: Poll<Polled> = Poll::Ready(Polled::TimedOut);

    fn in_an_hour() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(3600))
    }

    /// With each place that it may wait in, with and without a deadline.
    fn each(test: impl Fn(Things, Option<Instant>)) {
        for has_place_for_one in [true, false] {
            for deadline in [None, in_an_hour()] {
                test(Things::new(has_place_for_one), deadline);
            }
        }
    }

    #[test]
    fn what_is_there_is_taken_at_once_also_after_the_deadline() {
        let past = Some(Instant::now());
        for deadline in [None, past, in_an_hour()] {
            let things = Things::new(true);
            things.bring();
            let mut wait = TaskWait::new();
            assert_eq!(poll(&mut wait, &things, deadline), BEGUN);
            assert!(!wait.is_listed() && !things.is_waited_for());
        }
        let things = Things::new(true);
        let mut wait = TaskWait::new();
        assert_eq!(poll(&mut wait, &things, past), TIMED_OUT);
        assert!(!wait.is_listed() && !things.is_waited_for());
    }

    #[test]
    fn a_task_waits_until_something_is_brought() {
        each(|things, deadline| {
            let mut wait = TaskWait::new();
            for _ in 0..3 {
                assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
                assert!(wait.is_listed() && things.is_waited_for());
                assert_eq!(format!("{wait:?}"), "TaskWait { listed: true }");
            }
            things.bring();
            assert!(!things.is_waited_for());
            assert_eq!(poll(&mut wait, &things, deadline), BEGUN);
            assert!(!wait.is_listed() && things.left.get() == 0);
        });
    }

    #[test]
    fn a_task_that_is_polled_by_another_waker_is_woken_by_that_one() {
        each(|things, deadline| {
            let tasks = [(); 2].map(|()| counted::waker());
            let mut wait = TaskWait::new();
            for (_, waker) in &tasks {
                let polled = wait.poll(&things, &mut Token::default(), waker, deadline);
                assert_eq!(polled, Poll::Pending);
            }
            things.bring();
            let woken = tasks.map(|(count, _)| count.wakes());
            assert_eq!(woken, [0, 1]);
            wait.cancel(&things);
        });
    }

    #[test]
    fn one_that_makes_its_attempts_itself_is_told_whether_it_was_chosen_in_the_list() {
        each(|things, deadline| {
            let mut wait = TaskWait::new();
            let poll = |wait: &mut TaskWait| {
                let mut chosen = Vec::new();
                let polled = wait.poll_attempting(&things, Waker::noop(), deadline, |context| {
                    chosen.push(context.is_some());
                    things.try_begin(&mut Token::default()).then_some("thing")
                });
                (polled, chosen)
            };
            assert!(wait.is_free(&things));
            assert_eq!(poll(&mut wait), (Poll::Pending, vec![false]));
            assert!(!wait.is_free(&things));
            assert_eq!(poll(&mut wait), (Poll::Pending, vec![]));
            things.bring();
            let was_listed = !things.has_place_for_one || deadline.is_some();
            // One that stood alone is free as soon as it has been chosen, and may look before it polls.
            assert_eq!(wait.is_free(&things), !was_listed);
            assert_eq!(wait.is_listed(), was_listed);
            assert_eq!(
                poll(&mut wait),
                (Poll::Ready(Some("thing")), vec![was_listed])
            );
            assert!(wait.is_free(&things) && !things.is_waited_for());
        });
    }

    #[test]
    fn one_who_was_faster_makes_the_chosen_task_wait_again() {
        each(|things, deadline| {
            let mut wait = TaskWait::new();
            assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
            things.bring();
            things.left.set(0);
            assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
            assert!(wait.is_listed() && things.is_waited_for());
            wait.cancel(&things);
        });
    }

    #[test]
    fn a_cancelled_wait_leaves_nothing_and_passes_on_what_it_was_chosen_for() {
        each(|things, deadline| {
            let mut wait = TaskWait::new();
            wait.cancel(&things);
            assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
            wait.cancel(&things);
            assert!(!wait.is_listed() && !things.is_waited_for());
            assert_eq!(things.declined.get(), 0);

            assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
            let other = Context::for_task(Waker::noop());
            things.list.register(Operation::new(1), &other);
            things.bring();
            assert_eq!(other.outcome(), None);
            wait.cancel(&things);
            assert_eq!(other.outcome(), Some(Outcome::Selected(Operation::new(1))));
            assert!(!things.is_waited_for());
        });
    }

    #[test]
    fn a_wait_ends_at_its_deadline_or_looks_again_at_that_of_its_source() {
        let things = Things::new(true);
        let mut wait = TaskWait::new();
        let soon = Instant::now() + Duration::from_millis(2);
        while poll(&mut wait, &things, Some(soon)).is_pending() {
            std::thread::yield_now();
        }
        assert!(Instant::now() >= soon && !wait.is_listed() && !things.is_waited_for());

        // The earlier of the two is kept.
        let mut things = Things::new(false);
        things.due = in_an_hour();
        let due_of = |wait: &TaskWait| match &wait.state {
            State::Listed(listed) => listed.deadline.as_ref().map(TaskDeadline::due),
            _ => None,
        };
        for deadline in [
            None,
            in_an_hour(),
            in_an_hour().map(|at| at + Duration::from_secs(60)),
        ] {
            assert_eq!(poll(&mut wait, &things, deadline), Poll::Pending);
            assert_eq!(due_of(&wait), things.due);
            wait.cancel(&things);
        }
        let earlier = things.due.map(|due| due - Duration::from_secs(60));
        assert_eq!(poll(&mut wait, &things, earlier), Poll::Pending);
        assert_eq!(due_of(&wait), earlier);
        wait.cancel(&things);
    }
}
