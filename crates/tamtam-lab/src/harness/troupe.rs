//! Systems of actors, as the experiments with many actors use them.

use std::time::Duration;

use tamtam_channel::Latch;

/// A way of running actors that know each other, each by its position.
///
/// A contender implements it once, and takes part in every experiment that is written with it: [`savina`](crate::savina),
/// [`flood`](crate::flood), and [`sparse`](crate::sparse) traffic to actors.
pub trait Troupe: Copy + 'static {
    /// What runs actors that play `P`.
    type Stage<P: Part>: Stage<P>;

    /// Starts `threads` threads for actors, or prepares to run them in the calling thread. The threads may run on the
    /// processors that the calling thread may use now.
    fn open<P: Part>(&self, threads: usize) -> Self::Stage<P>;

    /// The same, but with threads of its own, so that actors run while no thread waits.
    fn open_apart<P: Part>(&self, threads: usize) -> Self::Stage<P> {
        self.open(threads)
    }
}

/// Threads with actors on them.
pub trait Stage<P: Part> {
    /// Makes an actor for each of `parts`, in the order of their positions. Each hands its part every message, and sends
    /// what the part tells to the actor at the position that it names.
    fn build(&mut self, parts: Vec<P>);

    /// Sends `message` to the actor at `position`.
    fn send(&mut self, position: usize, message: P::Message);

    /// Waits until `latch` is open; gives up after `patience`. Who runs its actors in the calling thread does so here.
    fn wait(&mut self, latch: &Latch, patience: Duration) {
        // Whether it is open is seen by the experiment.
        let _ = latch.wait_timeout(patience);
    }

    /// Ends the actors; when it returns, they handle nothing any more, and their parts are dropped. The threads stay.
    fn clear(&mut self);
}

/// What one actor of an experiment does. There are systems that ask for [`Unpin`].
pub trait Part: Send + Unpin + 'static {
    /// What it is told.
    type Message: Copy + Send + 'static;

    /// Handles a message.
    fn handle(&mut self, message: Self::Message, others: &impl Others<Self::Message>);
}

/// All who are on the stage, the actor itself included.
pub trait Others<M> {
    /// Sends `message` to the actor at `position`, and does not wait. One that is lost is missed at the end.
    fn tell(&self, position: usize, message: M);
}
