//! One message on its way to all subscribers.

use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::contain;

use super::error::PublishError;
use super::roster::Subscribers;
use super::subscriber::{Interest, Offered, Subscriber};
use crate::mailbox::StreakGuard;

/// How a message is handed out.
pub(super) struct Round<'a, M> {
    roster: &'a Arc<Subscribers<M>>,
    patience: Patience,
    /// Those without room, who are to have it.
    without_room: Vec<Arc<dyn Subscriber<M>>>,
    /// The first message that came back.
    returned: Option<M>,
    taken: usize,
    /// No other round uses the streaks to the subscribers: not one of another thread, and not one that this one is part of,
    /// since a filter or a clone may publish.
    streaks: Option<StreakGuard<'a>>,
}

/// Whether subscribers without room are waited for.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    /// Where their mailboxes have it so, on this thread.
    AsMade,
    /// All, on this thread.
    Until(Option<Instant>),
    /// By a task, but for those who would rather lose the message, or their place: the message comes back meanwhile.
    ForSome,
    /// All, by a task.
    ForAll,
}

impl<'a, M: Clone + Send + 'static> Round<'a, M> {
    pub(super) fn new(roster: &'a Arc<Subscribers<M>>, patience: Patience) -> Self {
        Round {
            roster,
            patience,
            without_room: Vec::new(),
            returned: None,
            taken: 0,
            streaks: roster.streaks.try_lock(),
        }
    }

    /// To all who have subscribed. Those that a task is to await are in the error.
    pub(super) fn hand_out_to_all(mut self, message: M) -> Result<usize, PublishError<M>> {
        let members = self.roster.begin_round(&message);
        self.hand_out(&members, message, |member, message| {
            member.interest(message)
        });
        // Perhaps the last trace of a subscriber that has left meanwhile, with what it has brought.
        contain(move || drop(members));
        self.finish()
    }

    /// To some, who are known to want it.
    pub(super) fn hand_out_to(
        mut self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
    ) -> Result<usize, PublishError<M>> {
        self.hand_out(members, message, |member, _| {
            if member.ledger().is_active() {
                Interest::Wants
            } else {
                Interest::Over
            }
        });
        self.finish()
    }

    fn hand_out(
        &mut self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
        interest: impl Fn(&dyn Subscriber<M>, &M) -> Interest,
    ) {
        // One gets it when the next one is found who wants it: so it is known who the last one is.
        let mut next: Option<&Arc<dyn Subscriber<M>>> = None;
        for member in members {
            match interest(&**member, &message) {
                Interest::Wants => {
                    if let Some(one) = next.replace(member) {
                        self.offer(one, message.clone());
                    }
                }
                Interest::Not => {}
                Interest::Over => self.roster.bury(&**member),
            }
        }
        if let Some(last) = next {
            self.offer(last, message);
        }
    }

    #[inline]
    fn offer(&mut self, member: &Arc<dyn Subscriber<M>>, message: M) {
        match member.offer(message, self.patience, self.streaks.as_ref()) {
            Offered::Taken => self.taken += 1,
            Offered::NoRoom(message) => {
                self.without_room.push(Arc::clone(member));
                self.returned.get_or_insert(message);
            }
            Offered::Dropped => {}
            Offered::Over => self.roster.bury(&**member),
        }
    }

    fn finish(self) -> Result<usize, PublishError<M>> {
        match self.returned {
            None => Ok(self.taken),
            Some(message) => Err(PublishError::new(
                message,
                self.without_room,
                self.taken,
                Arc::clone(self.roster),
            )),
        }
    }
}
