//! Actors that can be replaced while a handler does not come back.
//!
//! What runs a handler that hangs cannot be taken away from it: its thread is inside, and may come back at any time. So such an
//! actor has two cells. Others send to the *public* one, which has the address, the name, the mailbox and its limits. In it is the
//! [`Foreman`](foreman::Foreman), which has no messages, only what comes before them: it makes *instances*, passes on what
//! is said to the actor, and ends when an instance does. An instance has a cell of its own, with the number and name of the public one,
//! and takes its messages out of the public mailbox, one by one, under the lock of their [`Succession`](succession::Succession).
//!
//! To replace an instance is a step under that lock: from then on its number is not the present one, so that it takes no message any
//! more, and nothing that it still does is done in the actor's name. Its thread is left behind, which the home counts; the message
//! that it has taken is lost, and all who have asked it are told. The foreman makes the next one, which begins with the message behind
//! that. When the handler comes back, its instance finds itself replaced, and ends where it is.

mod foreman;
mod instance;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod succession;

use std::sync::Arc;
use std::time::Duration;

use crate::actor::Actor;
use crate::address::{Address, Counted, Envelope};
use crate::cell::Cell;
use crate::context::Context;
use crate::life::Restarting;
use crate::mailbox::{Describes, Downstream};
use crate::pool::Pool;
use crate::restart::{Birth, Born, Policy, Restart};
use crate::spawner::{Hosts, Parts, Sealed, Spawner, set_name};
use foreman::Foreman;
use succession::Succession;

/// Where actors live whose handlers may block, and that can be [replaced](Address::replace) when one does not come back: see
/// [`Spawner::replaceable`]. They are `Send`.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Address, Context, Pool, Replaceable, Spawner, Supervision};
///
/// struct Importer;
///
/// impl Actor for Importer {
///     type Message = std::path::PathBuf;
///
///     fn handle(&mut self, path: Self::Message, _: &mut Context<Self>) {
///         let _ = std::fs::read(path); // perhaps from a server that does not answer
///     }
/// }
///
/// fn importer(tree: &mut Supervision, on: Spawner<Replaceable>) -> Address<std::path::PathBuf> {
///     tree.child("importer", on, |_| Importer)
/// }
///
/// let pool = Pool::new();
/// let mut tree = Supervision::new(Default::default());
/// let importer = importer(&mut tree, pool.spawner().replaceable());
/// let supervisor = tree.start(pool.spawner());
/// importer.tell("/no/such/file".into())?;
/// # Ok::<(), tamtam_actor::TellError<std::path::PathBuf>>(())
/// ```
#[derive(Debug)]
pub enum Replaceable {}

impl<A: Actor + Send> Hosts<A> for Replaceable {}

impl Sealed for Replaceable {
    const IS_LINE: bool = false;

    unsafe fn settle_birth<A: Actor, B: Describes<A::Message>>(
        spawner: Spawner<Self, B>,
        birth: Birth<A>,
    ) -> Address<A::Message> {
        let Some(parts) = spawner.into_parts() else {
            unreachable!("only the spawners of pools are made replaceable");
        };
        // SAFETY: what the caller promises of the actor is what is asked for.
        unsafe { settle(parts, birth) }
    }
}

/// # Safety
///
/// The actor may be used and dropped on each thread on which its home has turns.
unsafe fn settle<A: Actor, B: Describes<A::Message>>(
    parts: Parts<B>,
    birth: Birth<A>,
) -> Address<A::Message> {
    let Parts {
        home,
        mailbox,
        name,
        replace_after,
    } = parts;
    let succession = Arc::new(Succession::new(replace_after));
    let mailbox = mailbox.ruled().within(Envelope::look, Envelope::open);
    let downstream = Arc::clone(&succession) as Arc<dyn Downstream>;
    // SAFETY: the foreman may be used on any thread; the instances that it makes live on this home, too, for which the caller
    // vouches.
    let cell = unsafe {
        Cell::relayed(home, mailbox, downstream, |own| {
            Foreman::new(own, Arc::clone(&succession), birth)
        })
    };
    succession.begin(&cell);
    set_name(&cell, name);
    // An instance may keep mail back when the home ends.
    cell.be_told_of_close();
    cell.nudge();
    Address::noting(Counted::first(cell))
}

impl<B> Spawner<Pool, B> {
    /// The actor's handlers may [block](Spawner::blocking), and when one does not come back the actor can be
    /// [replaced](Address::replace): another instance goes on with its mailbox, and the thread that hangs is left behind.
    ///
    /// It is made by a function, which is called for each instance. What lies in its mailbox waits there, under a lock, until an
    /// instance takes it. On [a runtime of tokio's](Pool::on_tokio), whose threads are not ours to leave, only an actor that is
    /// in no turn can be replaced.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, AskError, Context, Pool, Reply};
    ///
    /// /// Reads what another program is to write, and may never do.
    /// struct Reader;
    ///
    /// impl Actor for Reader {
    ///     type Message = (std::sync::mpsc::Receiver<u32>, Reply<u32>);
    ///
    ///     fn handle(&mut self, (source, reply): Self::Message, _: &mut Context<Self>) {
    ///         if let Ok(number) = source.recv() {
    ///             reply.send(number);
    ///         }
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let reader = pool
    ///     .spawner()
    ///     .name("reader")
    ///     .replaceable()
    ///     .replace_after(Duration::from_millis(50))
    ///     .spawn_with(|_| Reader);
    ///
    /// let (never, silent) = std::sync::mpsc::channel();
    /// let answer = reader.ask(|reply| (silent, reply));
    /// assert_eq!(answer, Err(AskError::Hung(reader.id())));
    /// assert_eq!(pool.snapshot().left_behind, 1); // its thread still waits
    ///
    /// let (sender, source) = std::sync::mpsc::channel();
    /// sender.send(7)?;
    /// assert_eq!(reader.ask(|reply| (source, reply)), Ok(7)); // by another instance
    /// # drop(never);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn replaceable(self) -> Spawner<Replaceable, B> {
        self.blocking().into_home()
    }
}

impl<B> Spawner<Replaceable, B> {
    /// The actor is [replaced](Address::replace) when a turn of it has lasted so long, by the time of its home: a handler, what it goes on
    /// with after a question or a future, its birth, or its end. Turns are looked at when that time has passed, so it may be as
    /// long again before it is done.
    pub fn replace_after(mut self, limit: Duration) -> Self {
        self.replace_after = Some(limit);
        self
    }

    /// An actor that is made where it lives, soon after this and before its first message, and again each time when it is replaced.
    ///
    /// A panic ends it; see [`restart`](Spawner::restart). While `birth` itself does not come back no other instance can be made:
    /// the attempt is as a panic.
    pub fn spawn_with<A: Actor + Send>(
        self,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message>
    where
        B: Describes<A::Message>,
    {
        let birth = Born::new(birth, Policy::own(Restart::never()));
        // SAFETY: the actor may be used on any thread.
        unsafe { Replaceable::settle_birth(self, Box::new(birth)) }
    }
}

impl<B> Restarting<Replaceable, B> {
    /// An actor that is made where it lives, soon after this and before its first message, and again each time when it is replaced or
    /// begun again. A panic of `birth` counts as one of the actor. To be replaced is no restart: it counts for no limit of
    /// [`Restart`].
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

impl<M: Send + 'static> Address<M> {
    /// Lets another instance take the place of the actor's present one, whatever that is at: `false` if the actor was not spawned as
    /// [replaceable](Spawner::replaceable), has ended, or if as many threads of its pool are left behind as there
    /// [may be](crate::PoolBuilder::blocking_threads). Returns at once.
    ///
    /// If a handler is at work its thread is left behind: it is counted by [`HomeSnapshot`](crate::observe::HomeSnapshot), keeps no
    /// place in the limit of the pool's threads, and its end is not waited for, by the pool neither. The message that it handles is lost: it
    /// is counted, and told as [`Loss::Hung`](crate::Loss::Hung). All who have asked that instance and have no answer yet get
    /// [`AskError::Hung`](crate::AskError::Hung), at once; if it has passed a question on, the answer goes nowhere. A
    /// [`Reply`](crate::Reply) that came to it otherwise than by a question to this actor is out of reach: its asker hears when the
    /// handler comes back.
    ///
    /// All other messages are for the next instance, in their order. When the handler does come back, what it has left is
    /// dropped there, without [`stopped`](Actor::stopped), and the thread ends. What it does until then it does: it is still a thread
    /// of this process.
    ///
    /// A supervised actor reports to its supervisor as after a panic, and begins when that says so.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Context, Loss, Pool, Reply, on_dead_letter};
    ///
    /// struct Sleeper(std::sync::Arc<std::sync::Barrier>);
    ///
    /// impl Actor for Sleeper {
    ///     type Message = Option<Reply<&'static str>>;
    ///
    ///     fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
    ///         match reply {
    ///             Some(reply) => reply.send("awake"),
    ///             None => drop(self.0.wait()),
    ///         }
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let bell = std::sync::Arc::new(std::sync::Barrier::new(2));
    /// let own = bell.clone();
    /// let sleeper = pool.spawner().replaceable().spawn_with(move |_| Sleeper(own.clone()));
    /// sleeper.tell(None)?;
    /// let end = sleeper.end();
    /// # while sleeper.level().unwrap().queued != 0 {
    /// #     std::thread::yield_now();
    /// # }
    /// assert!(sleeper.replace());
    /// assert_eq!(sleeper.ask(Some), Ok("awake"));
    /// assert_eq!(sleeper.lost(), 1);
    /// bell.wait(); // it wakes up, and finds itself replaced
    /// # drop(end);
    /// # Ok::<(), tamtam_actor::TellError<Option<Reply<&'static str>>>>(())
    /// ```
    pub fn replace(&self) -> bool {
        self.place().replace()
    }
}
