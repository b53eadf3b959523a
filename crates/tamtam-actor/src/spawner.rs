//! How an actor is to be spawned: its name, mailbox, restarts, and where its turns are.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::{Actor, Function};
use crate::address::Address;
use crate::cell::{Cell, Own};
use crate::context::{Context, Here};
use crate::first_turn::FirstTurn;
use crate::id::remember_name;
use crate::line::Line;
use crate::mailbox::{Describes, Plain};
use crate::pool::Pool;
use crate::restart::{Birth, Once, Policy};
use crate::runner::ActorRunner;
use crate::task::Home;

mod mailbox;

/// A home on which actors of type `A` can live: each type on a [`Worker`](crate::Worker) and in a [`Frame`](crate::Frame), which their actors never leave,
/// and on a [`Pool`] those that are `Send`.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Address, Context, Hosts, Pool, Spawner, Supervision, Worker};
///
/// struct Greeter;
///
/// impl Actor for Greeter {
///     type Message = String;
///
///     fn handle(&mut self, _name: String, _: &mut Context<Self>) {}
/// }
///
/// /// Greeters, wherever they are to live.
/// fn greeter<H: Hosts<Greeter>>(tree: &mut Supervision, spawner: Spawner<H>) -> Address<String> {
///     tree.child("greeter", spawner, |_| Greeter)
/// }
///
/// let (pool, worker) = (Pool::new(), Worker::new());
/// let mut tree = Supervision::new(Default::default());
/// greeter(&mut tree, pool.spawner());
/// greeter(&mut tree, worker.spawner());
/// let supervisor = tree.start(pool.spawner());
/// assert_eq!(supervisor.children(), 2);
/// ```
pub trait Hosts<A>: Sealed {}

/// Only our own homes can host: unsafe code relies on what they host.
pub trait Sealed: Sized {
    /// Whether its actors live on a line, each kind of them: then nothing is compiled of how they would live elsewhere.
    const IS_LINE: bool;

    /// Gives an actor that can be made again a cell.
    ///
    /// # Safety
    ///
    /// The actor may be used and dropped on each thread on which its home has turns.
    unsafe fn settle_birth<A: Actor, B: Describes<A::Message>>(
        spawner: Spawner<Self, B>,
        birth: Birth<A>,
    ) -> Address<A::Message> {
        // SAFETY: what the caller promises of the actor is what is asked for.
        unsafe { spawner.settle_birth(birth) }
    }
}

/// What an actor is to be like, before it is born: see [`Pool::spawner`], [`Worker::spawner`](crate::Worker::spawner),
/// [`Frame::spawner`](crate::Frame::spawner) and
/// [`FrameHandle::spawner`](crate::FrameHandle::spawner).
///
/// `H` is where the actor is going to live. It says which actors may: on a pool those that may be sent between
/// threads; on a worker, and in a frame, also others, provided that they are made there.
///
/// `B` is what was said of its mailbox. As soon as there are rules for messages of one type, they are [`Ruled`](crate::Ruled).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Overflow, Pool};
///
/// let pool = Pool::new();
/// let logger = pool
///     .spawner()
///     .limited(10_000, Overflow::DropOldest)
///     .spawn_fn(|line: String, _| println!("{line}"));
/// logger.tell("started".to_owned())?;
/// # Ok::<(), tamtam_actor::TellError<String>>(())
/// ```
#[must_use]
pub struct Spawner<H = Pool, B = Plain> {
    place: Place,
    mailbox: B,
    /// A spawner may be sent where its home may: that of a [`Frame`] stays on its thread.
    home: PhantomData<H>,
    pub(crate) name: Option<Arc<str>>,
    /// How long a turn may last before the actor is replaced, where it can be.
    pub(crate) replace_after: Option<Duration>,
}

/// What a spawner knows of an actor on several threads.
pub(crate) struct Parts<B> {
    pub(crate) home: Arc<dyn Home>,
    pub(crate) mailbox: B,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) replace_after: Option<Duration>,
}

#[derive(Clone)]
enum Place {
    /// On several threads.
    Home(Arc<dyn Home>),
    /// On one.
    Line(Arc<Line>),
}

impl<H> Spawner<H> {
    pub(crate) fn on(home: Arc<dyn Home>) -> Self {
        Spawner {
            place: Place::Home(home),
            mailbox: Plain::default(),
            name: None,
            replace_after: None,
            home: PhantomData,
        }
    }

    pub(crate) fn on_line(line: &Arc<Line>) -> Self {
        Spawner {
            place: Place::Line(Arc::clone(line)),
            mailbox: Plain::default(),
            name: None,
            replace_after: None,
            home: PhantomData,
        }
    }
}

impl<H, B> Spawner<H, B> {
    /// Says more of the mailbox.
    pub(crate) fn with_mailbox<C>(self, change: impl FnOnce(B) -> C) -> Spawner<H, C> {
        Spawner {
            place: self.place,
            mailbox: change(self.mailbox),
            name: self.name,
            replace_after: self.replace_after,
            home: PhantomData,
        }
    }

    /// The same place, where handlers may block; itself where that makes no difference.
    pub(crate) fn into_blocking(mut self) -> Self {
        if let Place::Home(home) = &self.place
            && let Some(home) = Arc::clone(home).blocking()
        {
            self.place = Place::Home(home);
        }
        self
    }

    /// The same place, as a home that hosts otherwise.
    pub(crate) fn into_home<K>(self) -> Spawner<K, B> {
        Spawner {
            place: self.place,
            mailbox: self.mailbox,
            name: self.name,
            replace_after: self.replace_after,
            home: PhantomData,
        }
    }

    /// `None` if the actor is to live on one thread.
    pub(crate) fn into_parts(self) -> Option<Parts<B>> {
        let Place::Home(home) = self.place else {
            return None;
        };
        Some(Parts {
            home,
            mailbox: self.mailbox,
            name: self.name,
            replace_after: self.replace_after,
        })
    }
}

impl<H: Sealed, B> Spawner<H, B> {
    /// # Safety
    ///
    /// The actor may be used and dropped on each thread on which its home has turns, and what `make` returns dropped
    /// on this one.
    pub(crate) unsafe fn settle<A: Actor>(
        self,
        first: FirstTurn,
        make: impl FnOnce(Own<A::Message>) -> ActorRunner<A>,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        let mailbox = self.mailbox.ruled();
        // SAFETY: the caller vouches that the actor may be used and dropped on each thread on which its home has turns.
        let cell = unsafe {
            match self.place {
                Place::Line(line) if H::IS_LINE => line.settle(mailbox, make),
                Place::Home(home) if !H::IS_LINE => Cell::new(home, mailbox, make),
                _ => unreachable!("a spawner is for a place of the other kind"),
            }
        };
        set_name(&cell, self.name);
        if first == FirstTurn::Soon {
            cell.nudge();
        }
        Address::first(cell)
    }

    /// # Safety
    ///
    /// As for `settle`.
    pub(crate) unsafe fn settle_born<A: Actor>(self, actor: A) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        let first = match &self.place {
            Place::Home(home) if home.begins_all() => FirstTurn::Soon,
            Place::Line(line) if line.begins_all() => FirstTurn::Soon,
            _ => FirstTurn::of::<A>(),
        };
        // SAFETY: the caller vouches for the actor, which is all that `settle` asks for.
        unsafe { self.settle(first, |cell| ActorRunner::born(cell, actor)) }
    }

    /// # Safety
    ///
    /// As for `settle`.
    pub(crate) unsafe fn settle_fn<M: Send + 'static>(
        self,
        function: impl FnMut(M, &mut Here<M>) + 'static,
    ) -> Address<M>
    where
        B: Describes<M>,
    {
        // SAFETY: the caller vouches for the function, which is all of the actor. It has nothing to do before its first
        // message.
        unsafe {
            self.settle(FirstTurn::WhenCalled, |cell| {
                ActorRunner::born(cell, Function::new(function))
            })
        }
    }

    /// # Safety
    ///
    /// The actor may be used and dropped on each thread on which its home has turns.
    pub(crate) unsafe fn settle_with<A: Actor>(
        self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        // SAFETY: the caller vouches for the actor; `birth` is `Send`.
        unsafe { self.settle_birth(Box::new(Once(Some(birth)))) }
    }

    /// # Safety
    ///
    /// The actor may be used and dropped on each thread on which its home has turns.
    pub(crate) unsafe fn settle_birth<A: Actor>(self, mut birth: Birth<A>) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        let first = match birth.again().map(|again| &again.policy) {
            // It begins when it is told to.
            Some(Policy::Reported(_)) => FirstTurn::WhenCalled,
            _ => FirstTurn::Soon,
        };
        // SAFETY: the caller vouches for the actor; before its first turn there is only `birth`, which may be dropped
        // anywhere.
        unsafe { self.settle(first, |cell| ActorRunner::unborn(cell, birth)) }
    }
}

/// Gives an actor its name, before its address is known.
pub(crate) fn set_name<M>(cell: &Cell<M>, name: Option<Arc<str>>) {
    if let Some(name) = name {
        cell.show_name(&name);
        remember_name(cell.id(), &name);
        cell.life().set_name(name);
    }
}

/// What the spawners of a home have whose actors may come from another thread.
macro_rules! spawns_what_is_sent {
    ($home:ty) => {
        impl<B> $crate::Spawner<$home, B> {
            /// The actor.
            pub fn spawn<A: $crate::Actor + Send>(self, actor: A) -> $crate::Address<A::Message>
            where
                B: $crate::mailbox::Describes<A::Message>,
            {
                // SAFETY: the actor may be used on any thread.
                unsafe { self.settle_born(actor) }
            }

            /// A function as an actor: it is called for each message, one by one.
            pub fn spawn_fn<M: Send + 'static>(
                self,
                function: impl FnMut(M, &mut $crate::Here<M>) + Send + 'static,
            ) -> $crate::Address<M>
            where
                B: $crate::mailbox::Describes<M>,
            {
                // SAFETY: the function may be used on any thread.
                unsafe { self.settle_fn(function) }
            }
        }
    };
}

/// What the spawners of a home have whose actors never leave its thread.
macro_rules! makes_on_its_thread {
    ($home:ty) => {
        impl<B> $crate::Spawner<$home, B> {
            /// An actor that is made where it lives, soon after this and before its first message. It never leaves that thread, so it
            /// need not be `Send`.
            pub fn spawn_with<A: $crate::Actor>(
                self,
                birth: impl FnOnce(&mut $crate::Context<A>) -> A + Send + 'static,
            ) -> $crate::Address<A::Message>
            where
                B: $crate::mailbox::Describes<A::Message>,
            {
                // SAFETY: all turns are on one thread, where the actor is dropped, too.
                unsafe { self.settle_with(birth) }
            }
        }
    };
}

pub(crate) use {makes_on_its_thread, spawns_what_is_sent};

impl<H, B: Clone> Clone for Spawner<H, B> {
    fn clone(&self) -> Self {
        Spawner {
            place: self.place.clone(),
            mailbox: self.mailbox.clone(),
            name: self.name.clone(),
            replace_after: self.replace_after,
            home: PhantomData,
        }
    }
}

impl<H, B: fmt::Debug> fmt::Debug for Spawner<H, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner")
            .field("name", &self.name)
            .field("mailbox", &self.mailbox)
            .finish_non_exhaustive()
    }
}
