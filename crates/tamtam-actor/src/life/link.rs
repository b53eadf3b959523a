//! Two actors that end together.

use std::sync::{Arc, Weak};

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{AnyActor, System, WatchKey, Watched, Watcher};
use crate::context::Context;
use crate::ended::{EndReason, Ended};

impl<A: Actor> Context<A> {
    /// Links this actor with another one: if either ends abnormally, by a panic, because it gave up, or by another
    /// link, the other one ends, too, with [`EndReason::Linked`], after the message that it is at.
    ///
    /// A panic after which an actor is begun again is no end, and a link outlasts it. An end by a link is not
    /// followed by a restart. If the other one has ended abnormally already, this one ends. Linking twice, or from
    /// both sides, is as linking once.
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
        if own.id() == other.id() || find(&own, &other).is_some() {
            return;
        }
        let key = WatchKey::next();
        let (to_own, to_other) = (Arc::downgrade(&own), Arc::downgrade(&other));
        // This actor does not end during its turn, so only the other one may have ended meanwhile; and it tells, or
        // is told of, in any case.
        own.life().add_watched(key, linked(&to_other));
        other.life().add_watched(key, linked(&to_own));
        Arc::clone(&own).watch(key, tell(key, to_other));
        other.watch(key, tell(key, to_own));
    }

    /// Takes a link back, whichever of the two made it: `false` if there is none.
    pub fn unlink<M: Send + 'static>(&mut self, address: &Address<M>) -> bool {
        let own: Arc<dyn AnyActor> = self.here().place();
        let other = address.place();
        let mut was_linked = false;
        // Two, if both have linked with each other at the same time.
        while let Some(key) = find(&own, &other) {
            was_linked = true;
            for place in [&own, &other] {
                place.life().forget_watcher(key);
                place.life().forget_watched(key);
            }
        }
        was_linked
    }
}

fn linked(place: &Weak<dyn AnyActor>) -> Watched {
    Watched {
        place: Weak::clone(place),
        is_linked: true,
    }
}

/// Under which key an actor is linked with another one.
fn find(own: &Arc<dyn AnyActor>, other: &Arc<dyn AnyActor>) -> Option<WatchKey> {
    let links = own.life().links();
    let mut links = links.into_iter();
    links.find_map(|(key, place)| (place.upgrade()?.id() == other.id()).then_some(key))
}

/// Tells one of two of the end of the other one.
fn tell(key: WatchKey, to: Weak<dyn AnyActor>) -> Watcher {
    Box::new(move |ended: &Ended| {
        let Some(place) = to.upgrade() else { return };
        place.life().forget_watched(key);
        place.life().forget_watcher(key);
        if ended.reason.is_abnormal() {
            let reason = EndReason::Linked(Arc::new(ended.clone()));
            place.send(System::End(reason));
        }
    })
}
