//! Who waits on either side, and what was left for tasks.

use std::collections::VecDeque;

use tamtam_wait::{Sleeper, WaitQueue};

/// Who waits, under the lock.
pub(super) struct Sides<T> {
    pub(super) senders: WaitQueue,
    /// Threads that receive. While there is mail, none of them waits to be chosen.
    pub(super) receivers: WaitQueue,
    /// Made for the first task that waits.
    pub(super) tasks: Option<Box<Tasks<T>>>,
    /// One side is gone, or the channel was closed while both were there. Then no waiter is chosen
    /// any more: a select may enter its queue before it learns of the end.
    pub(super) closed: bool,
    /// How often they were locked by a thread that may have changed them. Wraps: at full speed after minutes, while only numbers are compared that one
    /// thread reads one after the other.
    pub(super) uses: u32,
    /// Messages that find no receiver are dropped. Never changes.
    pub(super) drops: bool,
}

/// Tasks that receive.
pub(super) struct Tasks<T> {
    pub(super) waiting: WaitQueue,
    /// Messages from senders that do not wait until a task is polled: at most one for each task that waited when
    /// they came. Any receiver takes the oldest one first.
    pub(super) mail: VecDeque<T>,
    /// How many selected operations are going to leave a message for a task that waited.
    pub(super) promised: usize,
}

impl<T> Sides<T> {
    /// The queue of the senders or the receivers, and the other one.
    pub(super) fn of<const SENDERS: bool>(&mut self) -> (&mut WaitQueue, &mut WaitQueue) {
        if SENDERS {
            (&mut self.senders, &mut self.receivers)
        } else {
            (&mut self.receivers, &mut self.senders)
        }
    }

    /// Whether a sender, or else a receiver, could go on at once.
    pub(super) fn is_ready_for<const SENDER: bool>(&mut self) -> bool {
        let beside = if SENDER {
            self.has_task()
        } else {
            self.has_mail()
        };
        self.closed || beside || self.of::<SENDER>().1.has_any()
    }

    pub(super) fn choose_receiver(&mut self) -> Option<(*mut (), Sleeper)> {
        if self.closed {
            return None;
        }
        self.receivers.choose(|_| {})
    }

    /// Whether a task waits that is not promised to a selected operation.
    pub(super) fn has_task(&self) -> bool {
        self.tasks
            .as_ref()
            .is_some_and(|tasks| tasks.waiting.has_more_than(tasks.promised))
    }

    pub(super) fn has_mail(&self) -> bool {
        self.tasks
            .as_ref()
            .is_some_and(|tasks| !tasks.mail.is_empty())
    }

    pub(super) fn take_mail(&mut self) -> Option<T> {
        self.tasks.as_mut()?.mail.pop_front()
    }

    /// Tells one task that there is mail for it.
    pub(super) fn choose_task(&mut self) -> Option<Sleeper> {
        let (_, sleeper) = self.tasks.as_mut()?.waiting.choose(|_| {})?;
        Some(sleeper)
    }

    pub(super) fn tasks(&mut self) -> &mut Tasks<T> {
        self.tasks.get_or_insert_with(|| {
            Box::new(Tasks {
                waiting: WaitQueue::default(),
                mail: VecDeque::new(),
                promised: 0,
            })
        })
    }

    pub(super) fn choose_sender(&mut self) -> Option<(*mut (), Sleeper)> {
        if self.closed {
            return None;
        }
        self.senders.choose(|_| {})
    }
}
