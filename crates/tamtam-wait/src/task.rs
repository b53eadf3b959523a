//! A task's side of a wait: what a future does instead of sleeping.

use core::fmt;
use core::task::{Poll, Waker};
use std::time::Instant;

use crate::lone::Ticket;
use crate::{Backoff, Context, Operation, Outcome, Source, TaskDeadline, Token};

const ONLY: Operation = Operation::new(0);

/// How a task's wait for a source ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The operation has begun: finish it with the token.
    Begun,
    /// The deadline passed before it could begin.
    TimedOut,
}

/// One task's wait for one source, between two polls.
///
/// Whoever owns one must [`cancel`](TaskWait::cancel) it before it is dropped, with the same source:
/// the source's list holds an entry of it, and may have chosen it already.
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
    #[inline]
    pub fn poll<S: Source + ?Sized>(
        &mut self,
        source: &S,
        token: &mut Token,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Polled> {
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
                if self.leave(source, outcome, token) {
                    return Poll::Ready(Polled::Begun);
                }
            }
        }
        // Turns only while somebody else is in the middle of a step.
        let mut backoff = Backoff::new();
        loop {
            if source.try_begin(token) {
                return Poll::Ready(Polled::Begun);
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
                return Poll::Ready(Polled::TimedOut);
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
            if self.leave(source, outcome, token) {
                return Poll::Ready(Polled::Begun);
            }
            backoff.pause();
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

    /// Leaves the list after a wait that has ended; `true` if the operation has begun.
    fn leave<S: Source + ?Sized>(
        &mut self,
        source: &S,
        outcome: Outcome,
        token: &mut Token,
    ) -> bool {
        let State::Listed(listed) = core::mem::take(&mut self.state) else {
            return false;
        };
        // The deadline first: the clock has a share of the context.
        let Listed { context, deadline } = listed;
        drop(deadline);
        let begun = match outcome {
            Outcome::Selected(_) => source.accept(token, &context),
            Outcome::Aborted | Outcome::Disconnected => {
                source.unregister(ONLY, &context);
                false
            }
        };
        context.recycle();
        begun
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
