//! One message on its way to all subscribers.

use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::contain;

use super::error::PublishError;
use super::subscriber::{Offered, Subscriber};
use super::{Forget, Roster};

/// How a message is handed out.
pub(super) struct Round<'a, M> {
    roster: &'a Arc<Roster<M>>,
    /// Those without room, who are to have it.
    refused: Vec<Arc<dyn Subscriber<M>>>,
    /// The first message that came back.
    returned: Option<M>,
    taken: usize,
}

/// Whether subscribers without room are waited for.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    None,
    Until(Option<Instant>),
}

impl<'a, M: Clone + Send + 'static> Round<'a, M> {
    pub(super) fn new(roster: &'a Arc<Roster<M>>) -> Self {
        Round {
            roster,
            refused: Vec::new(),
            returned: None,
            taken: 0,
        }
    }

    /// To all who have subscribed.
    pub(super) fn hand_out_all(self, message: M) -> Result<usize, PublishError<M>> {
        let members = self.roster.snapshot();
        let result = self.hand_out(&members, message, Patience::None, |member, message| {
            member.wants(message)
        });
        // Perhaps the last trace of somebody who has left meanwhile, with what that one has brought.
        contain(move || drop(members));
        result
    }

    /// To some, who are known to want it.
    pub(super) fn hand_out_again(
        self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
        patience: Patience,
    ) -> Result<usize, PublishError<M>> {
        self.hand_out(members, message, patience, |_, _| true)
    }

    fn hand_out(
        mut self,
        members: &[Arc<dyn Subscriber<M>>],
        message: M,
        patience: Patience,
        wants: impl Fn(&dyn Subscriber<M>, &M) -> bool,
    ) -> Result<usize, PublishError<M>> {
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
        let offered = match patience {
            Patience::None => member.offer(message),
            Patience::Until(deadline) => member.offer_until(message, deadline),
        };
        match offered {
            Offered::Taken => self.taken += 1,
            Offered::Dropped => {}
            Offered::Refused(message) => {
                self.refused.push(Arc::clone(member));
                self.returned.get_or_insert(message);
            }
            Offered::Over => self.bury(&**member),
        }
    }

    #[cold]
    fn bury(&self, member: &dyn Subscriber<M>) {
        member.clear();
        self.roster.forget(member.ledger().id);
    }
}
