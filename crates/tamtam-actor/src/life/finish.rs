//! Ending an actor when it has handled what it has accepted.

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::System;
use crate::context::{Context, Here};

impl<M: Send + 'static> Address<M> {
    /// Lets the actor handle what it has accepted, and then stops it; from about now on it accepts no more. Returns at
    /// once: wait for its [`end`](Address::end).
    ///
    /// Messages that are sent by then are handled, those of this thread at any rate, and answers and futures that it
    /// awaits are gone on with. What others send meanwhile is handled, or comes back to them, or, if it comes in the very moment of
    /// the end, is [lost and counted](Address::lost). To stop it sooner, call [`stop`](Address::stop).
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::Pool;
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let writer = pool.spawn_fn(move |line: u32, _| sender.send(line).unwrap());
    /// for line in 0..100 {
    ///     writer.tell(line)?;
    /// }
    /// writer.finish();
    /// writer.end().wait();
    /// assert_eq!(receiver.iter().count(), 100);
    /// # Ok::<(), tamtam_actor::TellError<u32>>(())
    /// ```
    pub fn finish(&self) {
        let place = self.place();
        if !place.life().has_ended() {
            place.send(System::Finish);
        }
    }
}

impl<A: Actor> Context<A> {
    /// Lets this actor handle what it has accepted, and then stops it: see [`Address::finish`]. It accepts no more
    /// from now on.
    pub fn finish(&mut self) {
        self.here().finish();
    }
}

impl<M: Send + 'static> Here<M> {
    /// As [`Context::finish`].
    pub fn finish(&mut self) {
        self.accept_no_more();
    }
}
