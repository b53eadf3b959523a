//! Two actors that end together.

use std::sync::Arc;

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{AnyActor, find, tie, untie};
use crate::context::Context;

impl<A: Actor> Context<A> {
    /// Links this actor with another one: if either ends abnormally, by a panic, because it gave up, or by another
    /// link, the other one ends, too, with [`EndReason::Linked`](crate::EndReason::Linked), after the message that it is at.
    ///
    /// A panic after which an actor is begun again is no end, and a link outlasts it. An end by a link is not
    /// followed by a restart. If the other one has ended abnormally already, this one ends. Linking twice, or from
    /// both sides, is as linking once.
    ///
    /// The other one may be in another process: then the link holds there, too, and both end if the link between the processes does.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Address, Context, EndReason, Pool};
    ///
    /// struct Reader(Address<u32>);
    ///
    /// impl Actor for Reader {
    ///     type Message = ();
    ///
    ///     fn started(&mut self, cx: &mut Context<Self>) {
    ///         cx.link(&self.0);
    ///     }
    ///
    ///     fn handle(&mut self, (): (), _: &mut Context<Self>) {
    ///         panic!("no more to read");
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let parser = pool.spawn_fn(|_: u32, _| {});
    /// let reader = pool.spawn(Reader(parser.clone()));
    /// reader.tell(())?;
    /// let EndReason::Linked(other) = parser.end().wait().reason else { panic!() };
    /// assert_eq!(other.id, reader.id());
    /// # Ok::<(), tamtam_actor::TellError<()>>(())
    /// ```
    pub fn link<M: Send + 'static>(&mut self, address: &Address<M>) {
        let own: Arc<dyn AnyActor> = self.here().place();
        let other = address.place();
        if own.id() == other.id() || find(&*own, &*other).is_some() {
            return;
        }
        let key = tie(&own, &other);
        other.link_made(key, &own);
    }

    /// Takes a link back, whichever of the two made it: `false` if there is none.
    pub fn unlink<M: Send + 'static>(&mut self, address: &Address<M>) -> bool {
        let own: Arc<dyn AnyActor> = self.here().place();
        let other = address.place();
        let mut was_linked = false;
        // Two, if both have linked with each other at the same time.
        while let Some((key, other)) = find(&*own, &*other) {
            was_linked = true;
            untie(key, [&own, &other]);
            other.unlinked(key);
        }
        was_linked
    }
}
