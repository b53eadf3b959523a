//! An actor that is told of the end of another one.

use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use std::sync::{Arc, Weak};

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{AnyActor, Continuation, System, WatchKey, Watched};
use crate::context::Context;
use crate::ended::Ended;
use crate::runner::ActorRunner;

impl<A: Actor> Context<A> {
    /// Tells this actor of the end of another one, once, in a turn of its own, before its messages.
    ///
    /// One that has ended already is told of at once, though not within this call. Watching does not keep the
    /// other one from ending for want of addresses, nor this one: an actor that has ended is told of nothing. A
    /// restart is no end; if this actor is begun again itself, its watches are over.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Address, Context, EndReason, Pool, Reply};
    ///
    /// /// Answers when the other one has ended.
    /// struct Mourner(Address<()>);
    ///
    /// impl Actor for Mourner {
    ///     type Message = Reply<EndReason>;
    ///
    ///     fn handle(&mut self, reply: Reply<EndReason>, cx: &mut Context<Self>) {
    ///         cx.watch(&self.0, |_mourner, ended, _cx| reply.send(ended.reason));
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let other = pool.spawn_fn(|(): (), _| {});
    /// let mourner = pool.spawn(Mourner(other.clone()));
    /// other.stop();
    /// assert_eq!(mourner.ask(|reply| reply), Ok(EndReason::Stopped));
    /// ```
    pub fn watch<M: Send + 'static>(
        &mut self,
        address: &Address<M>,
        then: impl FnOnce(&mut A, Ended, &mut Context<A>) + Send + 'static,
    ) -> Watch {
        let key = WatchKey::next();
        let own: Arc<dyn AnyActor> = self.here().to_arc();
        let watcher = Arc::downgrade(&own);
        let place = address.place();
        let watched = Arc::downgrade(&place);
        own.life().add_watched(
            key,
            Watched {
                place: Weak::clone(&watched),
                is_linked: false,
            },
        );
        let to = Weak::clone(&watcher);
        place.watch(
            key,
            Box::new(move |ended| {
                let Some(watcher) = to.upgrade() else { return };
                watcher.send(System::Continue(Box::new(Notice {
                    key,
                    then,
                    ended: ended.clone(),
                    actor: PhantomData::<fn(A)>,
                })));
            }),
        );
        Watch {
            key,
            watcher,
            watched,
        }
    }
}

/// That an actor is watched by another one: see [`Context::watch`]. Dropping this changes nothing.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Address, Context, Pool, Reply};
///
/// struct Guard(Address<()>);
///
/// impl Actor for Guard {
///     type Message = Reply<bool>;
///
///     fn handle(&mut self, reply: Reply<bool>, cx: &mut Context<Self>) {
///         let watch = cx.watch(&self.0, |_guard, _ended, _cx| unreachable!("it was cancelled"));
///         reply.send(watch.cancel());
///     }
/// }
///
/// let pool = Pool::new();
/// let other = pool.spawn_fn(|(): (), _| {});
/// let guard = pool.spawn(Guard(other.clone()));
/// assert_eq!(guard.ask(|reply| reply), Ok(true));
/// other.stop();
/// ```
pub struct Watch {
    key: WatchKey,
    watcher: Weak<dyn AnyActor>,
    watched: Weak<dyn AnyActor>,
}

impl Watch {
    /// Ends the watch: `true` unless the watcher has gone on with the news already. From then on it does not.
    pub fn cancel(self) -> bool {
        if let Some(watched) = self.watched.upgrade() {
            watched.forget_watcher(self.key);
        }
        self.watcher
            .upgrade()
            .is_some_and(|watcher| watcher.life().forget_watched(self.key))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The news of an end, and what a watcher does with it.
struct Notice<A, F> {
    key: WatchKey,
    then: F,
    ended: Ended,
    actor: PhantomData<fn(A)>,
}

impl<A, F> Continuation for Notice<A, F>
where
    A: Actor,
    F: FnOnce(&mut A, Ended, &mut Context<A>) + Send + 'static,
{
    fn go_on(self: Box<Self>, running: &mut dyn Any) {
        let running = running.downcast_mut::<ActorRunner<A>>();
        let Some((actor, context)) = running.and_then(ActorRunner::parts) else {
            return;
        };
        // Otherwise the watch was cancelled, or was of one who has been begun again since.
        if context.here().cell().life().forget_watched(self.key) {
            let this = *self;
            (this.then)(actor, this.ended, context);
        }
    }
}
