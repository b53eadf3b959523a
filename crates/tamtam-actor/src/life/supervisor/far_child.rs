//! Children that are not of this process: for `tamtam-process`, no promise is made to others.

use std::sync::Arc;
use std::time::Duration;

use super::{Chief, Child, ChildKind, Event, Supervision, Supervisor, tell};
use crate::address::Address;
use crate::ended::EndReason;

/// Tells the supervisor that its child has failed, and pauses.
#[doc(hidden)]
pub type ReportFailure = Arc<dyn Fn(EndReason) + Send + Sync>;

fn report(chief: &Chief, number: usize) -> ReportFailure {
    let chief = Arc::clone(chief);
    Arc::new(move |why| tell(&chief, Event::Failed(number, why)))
}

fn child<M: Send + 'static>(address: &Address<M>, deadline: Duration) -> Child {
    Child {
        place: address.place(),
        deadline,
        kind: ChildKind::Worker {
            _address: Box::new(address.clone()),
        },
    }
}

impl Supervision {
    /// Adds a child that is elsewhere. It pauses from its birth on; it is told how long it may take to finish.
    ///
    /// # Errors
    ///
    /// Why it cannot be born; then it is not added.
    #[doc(hidden)]
    pub fn far_child<M: Send + 'static, E>(
        &mut self,
        bear: impl FnOnce(ReportFailure, Duration) -> Result<Address<M>, E>,
    ) -> Result<Address<M>, E> {
        let failed = report(&self.chief, self.children.len());
        let address = bear(failed, self.deadline)?;
        self.children.push(Arc::new(child(&address, self.deadline)));
        Ok(address)
    }
}

impl Supervisor {
    /// As [`Supervision::far_child`], to a tree at work.
    ///
    /// # Errors
    ///
    /// Why it cannot be born; then it is not added.
    #[doc(hidden)]
    pub fn far_child<M: Send + 'static, E>(
        &self,
        bear: impl FnOnce(ReportFailure, Duration) -> Result<Address<M>, E>,
    ) -> Result<Address<M>, E> {
        let number = self.next_number();
        let deadline = self.tree.deadline;
        let address = bear(report(&self.chief, number), deadline)?;
        self.add(number, child(&address, deadline));
        Ok(address)
    }
}
