//! One message on its way to all subscribers.

use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::contain;

use super::error::PublishError;
use super::roster::{Forget, Subscribers};
use super::subscriber::{Offered, Subscriber};

/// How a message is handed out.
pub(super) struct Round<'a, M> {
    roster: &'a Arc<Subscribers<M>>,
    /// Those without room, who are to have it.
    refused: Vec<Arc<dyn Subscriber<M>>>,
    /// Those without room whom a task awaits.
    awaited: Vec<Arc<dyn Subscriber<M>>>,
    /// The first message that came back.
    returned: Option<M>,
    taken: usize,
}

/// What is left of a round for a task to do.
pub(super) struct Awaited<M> {
    pub(super) awaited: Vec<Arc<dyn Subscriber<M>>>,
    /// If a subscriber has not got it.
    pub(super) message: Option<M>,
    pub(super) taken: usize,
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
    pub(super) fn new(roster: &'a Arc<Subscribers<M>>) -> Self {
        Round {
            roster,
            refused: Vec::new(),
            awaited: Vec::new(),
            returned: None,
            taken: 0,
        }
    }

    /// To all who have subscribed.
    pub(super) fn hand_out_all(mut self, message: M) -> Result<usize, PublishError<M>> {
        self.hand_out_to_all(message, Patience::AsMade);
        self.finish()
    }

    /// To all who have subscribed; a task sees to those who are to be awaited.
    pub(super) fn hand_out_and_await(mut self, message: M) -> Awaited<M> {
        self.hand_out_to_all(message, Patience::ForSome);
        Awaited {
            awaited: self.awaited,
            message: self.returned,
            taken: self.taken,
        }
    }

    fn hand_out_to_all(&mut self, message: M, patience: Patience) {
        let members = self.roster.begin_round(&message);
        self.hand_out(&members, message, patience, |member, message| {
            member.wants(message)
        });
        // Perhaps the last trace of a subscriber that has left meanwhile, with what it has brought.
        contain(move || drop(members));
    }

    /// To some, who are known to want it.
    pub(super) fn hand_out_again(
        mut self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
        patience: Patience,
    ) -> Result<usize, PublishError<M>> {
        self.hand_out(members, message, patience, |_, _| true);
        self.finish()
    }

    fn hand_out(
        &mut self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
        patience: Patience,
        wants: impl Fn(&dyn Subscriber<M>, &M) -> bool,
    ) {
        // One gets it when the next one is found who wants it: so it is known who the last one is.
        let mut next: Option<&Arc<dyn Subscriber<M>>> = None;
        for member in members {
            if !member.ledger().is_active() {
                self.bury(&**member);
            } else if wants(&**member, &message) {
                if let Some(one) = next.replace(member) {
                    self.offer(one, message.clone(), patience);
                }
            } else if !member.ledger().is_active() {
                // Its filter has panicked.
                self.bury(&**member);
            }
        }
        if let Some(last) = next {
            self.offer(last, message, patience);
        }
    }

    fn finish(self) -> Result<usize, PublishError<M>> {
        match self.returned {
            None => Ok(self.taken),
            Some(message) => Err(PublishError::new(
                message,
                self.refused,
                self.taken,
                Arc::clone(self.roster),
            )),
        }
    }

    #[inline]
    fn offer(&mut self, member: &Arc<dyn Subscriber<M>>, message: M, patience: Patience) {
        match member.offer(message, patience) {
            Offered::Taken => self.taken += 1,
            Offered::Dropped => {}
            Offered::Refused(message) => {
                self.refused.push(Arc::clone(member));
                self.returned.get_or_insert(message);
            }
            Offered::Awaited(message) => {
                self.awaited.push(Arc::clone(member));
                self.returned.get_or_insert(message);
            }
            Offered::Over => self.bury(&**member),
        }
    }

    #[cold]
    pub(super) fn bury(&self, member: &dyn Subscriber<M>) {
        member.clear();
        self.roster.forget(member.ledger().id);
    }
}
