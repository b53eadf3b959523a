//! A spawner whose actors are begun again when they end.

use core::fmt;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::Context;
use crate::frame::{Frame, FrameHandle};
use crate::mailbox::{Describes, Plain};
use crate::pool::Pool;
use crate::restart::{Born, Policy, Restart};
use crate::spawner::{Sealed, Spawner};
use crate::worker::Worker;

impl<H, B> Spawner<H, B> {
    /// Lets the actor begin again after a panic, in the same mailbox: all addresses stay good.
    ///
    /// The message that it panicked at is lost and counted, and the one who waits for an answer to it hears so at
    /// once. Messages that wait are for the new instance, in their order. What the old one went on with later is
    /// forgotten: questions, futures, watches.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Context, Pool, Reply, Restart};
    ///
    /// struct Divider;
    ///
    /// impl Actor for Divider {
    ///     type Message = (u32, u32, Reply<u32>);
    ///
    ///     fn handle(&mut self, (a, b, reply): Self::Message, _: &mut Context<Self>) {
    ///         reply.send(a / b);
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let divider = pool
    ///     .spawner()
    ///     .restart(Restart::on_panic())
    ///     .spawn_with(|_| Divider);
    /// assert!(divider.ask(|reply| (1, 0, reply)).is_err());
    /// assert_eq!(divider.ask(|reply| (6, 3, reply)), Ok(2));
    /// ```
    pub fn restart(self, restart: Restart) -> Restarting<H, B> {
        Restarting {
            spawner: self,
            restart,
        }
    }
}

/// What an actor that may be begun again is to be like, before it is born: see [`Spawner::restart`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Context, Pool, Reply, Restart};
///
/// struct Fragile(u32);
///
/// impl Actor for Fragile {
///     type Message = (u32, Reply<u32>);
///
///     fn handle(&mut self, (by, reply): Self::Message, _: &mut Context<Self>) {
///         reply.send(self.0 / by);
///     }
/// }
///
/// let pool = Pool::new();
/// let restarting = pool.spawner().name("fragile").restart(Restart::on_panic());
/// let fragile = restarting.spawn_with(|_| Fragile(12)); // made anew at each start
/// assert!(fragile.ask(|reply| (0, reply)).is_err());
/// assert_eq!(fragile.ask(|reply| (3, reply)), Ok(4));
/// ```
#[must_use]
pub struct Restarting<H = Pool, B = Plain> {
    spawner: Spawner<H, B>,
    restart: Restart,
}

impl<H: Sealed, B> Restarting<H, B> {
    /// # Safety
    ///
    /// The actor may be used and dropped on each thread on which its home has turns.
    pub(crate) unsafe fn settle<A: Actor>(
        self,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        let birth = Box::new(Born::new(birth, Policy::own(self.restart)));
        // SAFETY: the caller promises that the actor may be used on each thread on which its home gives turns.
        unsafe { H::settle_birth(self.spawner, birth) }
    }
}

impl<B> Restarting<Pool, B> {
    /// An actor that is made where it lives, soon after this and before its first message, and each time when it is begun again. A
    /// panic of `birth` counts as one of the actor.
    pub fn spawn_with<A: Actor + Send>(
        self,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        // SAFETY: the actor may be used on any thread.
        unsafe { self.settle(birth) }
    }
}

macro_rules! makes_on_its_thread {
    ($($home:ty),+) => {$(
        impl<B> Restarting<$home, B> {
            /// An actor that is made where it lives, soon after this and before its first message, and each time when it is begun again.
            /// It never leaves that thread, so it need not be `Send`. A panic of `birth` counts as one of the actor.
            pub fn spawn_with<A: Actor>(
                self,
                birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
            ) -> Address<A::Message>
            where
                B: Describes<A::Message>,
            {
                // SAFETY: all turns are on one thread, where the actor is dropped, too.
                unsafe { self.settle(birth) }
            }
        }
    )+};
}

makes_on_its_thread!(Worker, FrameHandle, Frame);

impl<H, B: Clone> Clone for Restarting<H, B> {
    fn clone(&self) -> Self {
        Restarting {
            spawner: self.spawner.clone(),
            restart: self.restart.clone(),
        }
    }
}

impl<H, B: fmt::Debug> fmt::Debug for Restarting<H, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restarting")
            .field("spawner", &self.spawner)
            .field("restart", &self.restart)
            .finish()
    }
}
