//! Supervision trees: who begins actors again that have panicked, together with those that depend on them.
//!
//! A supervised actor begins again in its own cell, so its address stays good. When it panics it pauses, and reports;
//! its supervisor decides who else has to begin again, lets those pause, from the last to the first, and then all of
//! them begin, from the first to the last. That is done in steps, one at a time; each is over when the actor says so,
//! or is gone.

#[cfg(feature = "serde")]
mod far_child;
mod overseer;

use core::fmt;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tamtam_wait::seam::Mutex;

use super::End;
use crate::actor::Actor;
use crate::address::{Address, WeakAddress};
use crate::cell::{AnyActor, Call, System, WatchKey};
use crate::context::Context;
use crate::ended::{EndReason, Ended};
use crate::first_turn::FirstTurn;
use crate::id::ActorId;
use crate::mailbox::{Describes, Plain};
use crate::pool::Pool;
use crate::restart::{Born, Once, Policy};
use crate::runner::ActorRunner;
use crate::spawner::{Hosts, Spawner};
#[cfg(feature = "serde")]
pub use far_child::ReportFailure;
use overseer::Overseer;

/// Who begins again when a supervised actor has panicked.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Strategy, Supervision};
///
/// let pool = Pool::new();
/// // Connections come and go by themselves; a cache is worthless without its database.
/// let connections = Supervision::new(Strategy::OneForOne);
/// let storage = Supervision::new(Strategy::OneForAll);
/// let mut tree = Supervision::new(Strategy::RestForOne);
/// tree.supervisor("storage", pool.spawner(), storage);
/// tree.supervisor("connections", pool.spawner(), connections);
/// let supervisor = tree.start(pool.spawner());
/// # supervisor.shutdown();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// That one.
    #[default]
    OneForOne,
    /// All.
    OneForAll,
    /// That one, and those that were added after it.
    RestForOne,
}

/// A supervision tree that has not begun yet: a supervisor is made of it by [`start`](Supervision::start).
///
/// Children are added in the order in which they are to begin; they end in the opposite one. Their addresses are good
/// from the moment at which they are added, and stay so however often they begin again: messages wait until there is
/// a child to handle them. So children can be given the addresses of those before them.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Actor, Address, Context, Pool, Reply, Strategy, Supervision};
///
/// struct Stock(u32);
///
/// impl Actor for Stock {
///     type Message = Reply<u32>;
///
///     fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
///         self.0 = self.0.checked_sub(1).expect("an empty stock");
///         reply.send(self.0);
///     }
/// }
///
/// let pool = Pool::new();
/// let mut tree = Supervision::new(Strategy::OneForOne).limit(3, Duration::from_secs(5));
/// let stock = tree.child("stock", pool.spawner(), |_| Stock(1));
/// let shop = tree.start(pool.spawner().name("shop"));
///
/// assert_eq!(stock.ask(|reply| reply), Ok(0));
/// assert!(stock.ask(|reply| reply).is_err(), "it panics, and begins again");
/// assert_eq!(stock.ask(|reply| reply), Ok(0));
/// shop.shutdown();
/// shop.end().wait();
/// ```
#[must_use]
pub struct Supervision {
    children: Vec<Arc<Child>>,
    strategy: Strategy,
    limit: u32,
    within: Duration,
    deadline: Duration,
    chief: Chief,
}

/// The supervisor, for its children, as soon as there is one.
type Chief = Arc<OnceLock<WeakAddress<Event>>>;

struct Child {
    place: Arc<dyn AnyActor>,
    /// So long it may take to finish.
    deadline: Duration,
    kind: ChildKind,
}

enum ChildKind {
    Worker {
        /// Supervised actors do not end for want of addresses.
        _address: Box<dyn Send + Sync>,
    },
    Supervisor {
        address: Address<Event>,
        tree: Arc<Tree>,
    },
}

struct Tree {
    children: Mutex<Children>,
    strategy: Strategy,
    limit: u32,
    within: Duration,
    /// Of children that are added later.
    deadline: Duration,
    has_parent: bool,
    restarts: AtomicU64,
    /// So many instances of its supervisor there were.
    epochs: AtomicU64,
}

/// Those that have not ended, by their numbers, which are in the order in which they were added.
#[derive(Default)]
struct Children {
    by_number: BTreeMap<usize, Arc<Child>>,
    next: usize,
}

/// A child that was added to a tree at work. If its supervisor does not take it any more it is stopped.
struct Newcomer(Option<Arc<dyn AnyActor>>);

impl Newcomer {
    /// The supervisor looks after it from now on.
    fn accept(mut self) {
        self.0 = None;
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            place.send(System::Stop);
        }
    }
}

/// What a supervisor hears.
enum Event {
    /// There is another child.
    Added(usize, Newcomer),
    /// A child has panicked, and pauses.
    Failed(usize, EndReason),
    /// The step that was asked for is done.
    Done(Step, u64),
    Ended(usize, EndReason),
    ShutDown,
}

/// What a supervisor does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Suspend(usize),
    Resume(usize),
    Finish(usize),
}

impl Supervision {
    /// No children yet. If more than 3 restarts are needed within 5 seconds, the supervisor gives up; a child has 5
    /// seconds to finish.
    pub fn new(strategy: Strategy) -> Self {
        Supervision {
            children: Vec::new(),
            strategy,
            limit: 3,
            within: Duration::from_secs(5),
            deadline: Duration::from_secs(5),
            chief: Arc::default(),
        }
    }

    /// At most so many restarts within so much time, those of several children after one panic counted as one. With one
    /// more the supervisor gives up: it ends its children and then itself, with [`EndReason::GaveUp`]; if it has a
    /// supervisor, that one decides.
    pub fn limit(mut self, restarts: u32, within: Duration) -> Self {
        self.limit = restarts;
        self.within = within;
        self
    }

    /// How long each child that is added from now on may take to [finish](Address::finish) when the tree is shut down.
    /// Then it is [stopped](Address::stop); if it has not ended after the same time again, it is not waited for any
    /// more, and the thread of one that is [replaceable](Spawner::replaceable) is left behind.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Adds an actor that is made by `birth` when the tree begins, and each time when it has to begin again. It lives where
    /// its spawner says: on a pool, on a [`Worker`](crate::Worker), or in a [`Frame`](crate::Frame); on the last two it need
    /// not be `Send`. In a frame it begins, ends and begins again when that is pumped, and those behind it wait for that.
    ///
    /// It may be [stopped](Address::stop) or finished by any address, and is then not begun again. It does not end for want of
    /// addresses before its supervisor does.
    pub fn child<A: Actor, H: Hosts<A>, B: Describes<A::Message>>(
        &mut self,
        name: impl Into<Arc<str>>,
        spawner: Spawner<H, B>,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        let policy = report(&self.chief, self.children.len());
        let (address, child) = Child::bear(name.into(), spawner, birth, policy, self.deadline);
        self.children.push(Arc::new(child));
        address
    }

    /// Adds a supervisor with children of its own. If it gives up, that is as a panic of a child: it begins again with
    /// all its children, as this one's strategy says.
    pub fn supervisor(&mut self, name: impl Into<Arc<str>>, spawner: Spawner, tree: Supervision) {
        let policy = report(&self.chief, self.children.len());
        let (tree, chief) = tree.finished(true);
        let birth = {
            let tree = Arc::clone(&tree);
            Born::new(
                move |_: &mut Context<Overseer>| Overseer::new(&tree),
                policy,
            )
        };
        // SAFETY: a supervisor may be used on any thread.
        let address = unsafe { spawner.name(name).settle_birth(Box::new(birth)) };
        tree.begin(&address, &chief);
        self.children.push(Arc::new(Child {
            place: address.place(),
            deadline: self.deadline,
            kind: ChildKind::Supervisor { address, tree },
        }));
    }

    fn finished(self, has_parent: bool) -> (Arc<Tree>, Chief) {
        let tree = Tree {
            children: Mutex::new(Children {
                next: self.children.len(),
                by_number: self.children.into_iter().enumerate().collect(),
            }),
            deadline: self.deadline,
            strategy: self.strategy,
            limit: self.limit,
            within: self.within,
            has_parent,
            restarts: AtomicU64::new(0),
            epochs: AtomicU64::new(0),
        };
        (Arc::new(tree), self.chief)
    }

    /// Makes the supervisor, which lets its children begin, one after the other.
    pub fn start(self, spawner: Spawner<Pool>) -> Supervisor {
        let (tree, chief) = self.finished(false);
        let overseer = Overseer::new(&tree);
        let birth = Box::new(Once(Some(move |_: &mut Context<_>| overseer)));
        let spawner = spawner.with_mailbox(|_| Plain::default());
        // Not before its children know it: else one that cannot be made would tell of that in vain.
        // SAFETY: a supervisor may be used on any thread.
        let address = unsafe {
            spawner.settle(FirstTurn::WhenCalled, |cell| {
                ActorRunner::unborn(cell, birth)
            })
        };
        tree.begin(&address, &chief);
        // Nothing but to begin.
        address.place().send(System::Look);
        Supervisor {
            address,
            tree,
            chief,
        }
    }
}

impl Child {
    fn bear<A: Actor, H: Hosts<A>, B: Describes<A::Message>>(
        name: Arc<str>,
        spawner: Spawner<H, B>,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
        policy: Policy,
        deadline: Duration,
    ) -> (Address<A::Message>, Self) {
        let birth = Box::new(Born::new(birth, policy));
        // SAFETY: `H` hosts `A`: either the actor is `Send`, or its home, a worker or a frame, has turns on one thread only.
        let address = unsafe { H::settle_birth(spawner.name(name), birth) };
        let child = Child {
            place: address.place(),
            deadline,
            kind: ChildKind::Worker {
                _address: Box::new(address.clone()),
            },
        };
        (address, child)
    }
}

/// Who is told of the panics of the child with this number.
fn report(chief: &Chief, number: usize) -> Policy {
    let chief = Arc::clone(chief);
    Policy::Reported(Arc::new(move |why| {
        tell(&chief, Event::Failed(number, why))
    }))
}

impl fmt::Debug for Supervision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervision")
            .field("children", &self.children.len())
            .field("strategy", &self.strategy)
            .finish_non_exhaustive()
    }
}

fn tell(chief: &Chief, event: Event) {
    if let Some(chief) = chief.get().and_then(WeakAddress::upgrade) {
        // One that has ended needs no news.
        let _ = chief.tell(event);
    }
}

impl Tree {
    /// The child with this number, unless it has ended.
    fn child(&self, number: usize) -> Option<Arc<Child>> {
        self.children.lock().by_number.get(&number).map(Arc::clone)
    }

    /// The numbers of those that have not ended, in the order in which they were added.
    fn numbers(&self) -> Vec<usize> {
        self.children.lock().by_number.keys().copied().collect()
    }

    /// The child with this number has ended.
    fn forget(&self, number: usize) {
        let gone = self.children.lock().by_number.remove(&number);
        // With it may go the last trace of an actor: not under the lock.
        drop(gone);
    }

    /// There is a supervisor: it hears of the ends of its children from now on.
    fn begin(self: &Arc<Self>, address: &Address<Event>, chief: &Chief) {
        let _ = chief.set(address.downgrade());
        for number in self.numbers() {
            self.watch(number, chief);
        }
    }

    /// Forgets a child when it has ended, and tells the supervisor.
    fn watch(self: &Arc<Self>, number: usize, chief: &Chief) {
        let Some(child) = self.child(number) else {
            return;
        };
        let (tree, chief) = (Arc::downgrade(self), Arc::clone(chief));
        let watcher = move |ended: &Ended| {
            // First, and not by the supervisor: that may end before it hears of it.
            if let Some(tree) = tree.upgrade() {
                tree.forget(number);
            }
            tell(&chief, Event::Ended(number, ended.reason.clone()));
        };
        Arc::clone(&child.place).watch(WatchKey::next(), Box::new(watcher));
    }

    /// Lets a child pause, and what is below it. If it has ended that is done.
    fn suspend(self: &Arc<Self>, number: usize, done: Call) {
        let Some(child) = self.child(number) else {
            return done();
        };
        let done = match &child.kind {
            ChildKind::Worker { .. } => done,
            ChildKind::Supervisor { tree, .. } => {
                let tree = Arc::clone(tree);
                let below = OnDrop::new(move || tree.suspend_all(tree.numbers(), done));
                Box::new(move || drop(below)) as Call
            }
        };
        Arc::clone(&child.place).send(System::Suspend(done));
    }

    /// Lets these children pause, the last one first.
    fn suspend_all(self: &Arc<Self>, mut numbers: Vec<usize>, done: Call) {
        let Some(last) = numbers.pop() else {
            return done();
        };
        let tree = Arc::clone(self);
        let others = OnDrop::new(move || tree.suspend_all(numbers, done));
        self.suspend(last, Box::new(move || drop(others)));
    }

    /// Stops a child, and what is below it, after the messages that they are at.
    fn stop(&self, number: usize) {
        let Some(child) = self.child(number) else {
            return;
        };
        if let ChildKind::Supervisor { tree, .. } = &child.kind {
            for below in tree.numbers().into_iter().rev() {
                tree.stop(below);
            }
        }
        if !child.place.life().has_ended() {
            Arc::clone(&child.place).send(System::Stop);
        }
    }
}

/// Calls something when it is dropped: so it is also called if an actor ends that was to call it.
struct OnDrop(Option<Call>);

impl OnDrop {
    fn new(call: impl FnOnce() + Send + 'static) -> Self {
        OnDrop(Some(Box::new(call)))
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|call| call());
    }
}

/// A supervisor: the actor that looks after a tree. See [`Supervision`].
///
/// Dropping it shuts the tree down, as [`shutdown`](Supervisor::shutdown) does.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, Context, Pool, Strategy, Supervision};
///
/// struct Child;
///
/// impl Actor for Child {
///     type Message = ();
///
///     fn handle(&mut self, (): (), _: &mut Context<Self>) {
///         panic!("as children do");
///     }
/// }
///
/// let pool = Pool::new();
/// let mut tree = Supervision::new(Strategy::OneForOne);
/// let child = tree.child("child", pool.spawner(), |_| Child);
/// let supervisor = tree.start(pool.spawner());
/// child.tell(())?;
/// while supervisor.restarts() == 0 {
///     std::thread::yield_now();
/// }
/// supervisor.shutdown();
/// supervisor.end().wait();
/// # Ok::<(), tamtam_actor::TellError<()>>(())
/// ```
#[must_use = "dropping it shuts the tree down"]
pub struct Supervisor {
    address: Address<Event>,
    tree: Arc<Tree>,
    chief: Chief,
}

impl Supervisor {
    /// Adds a child to the tree at work: as [`Supervision::child`], and behind all others. It begins soon after this; its
    /// address is good at once.
    ///
    /// A child that ends is forgotten, so that there may be any number of them, one after the other. If the supervisor
    /// shuts down, or has ended, the new child is stopped, as its address then says.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Actor, Context, Pool, Reply, Strategy, Supervision};
    ///
    /// /// Looks after one guest.
    /// struct Session(u32);
    ///
    /// impl Actor for Session {
    ///     type Message = Reply<u32>;
    ///
    ///     fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
    ///         reply.send(self.0);
    ///     }
    /// }
    ///
    /// let pool = Pool::new();
    /// let hotel = Supervision::new(Strategy::OneForOne).start(pool.spawner().name("hotel"));
    /// let guests: Vec<_> = (0..3)
    ///     .map(|room| hotel.child(format!("room {room}"), pool.spawner(), move |_| Session(room)))
    ///     .collect();
    /// assert_eq!(guests[2].ask(|reply| reply), Ok(2));
    /// guests[2].stop(); // has left, and is not begun again
    /// # Ok::<(), tamtam_actor::AskError>(())
    /// ```
    pub fn child<A: Actor, H: Hosts<A>, B: Describes<A::Message>>(
        &self,
        name: impl Into<Arc<str>>,
        spawner: Spawner<H, B>,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        let number = self.next_number();
        let policy = report(&self.chief, number);
        let (address, child) = Child::bear(name.into(), spawner, birth, policy, self.tree.deadline);
        self.add(number, child);
        address
    }

    fn next_number(&self) -> usize {
        let mut children = self.tree.children.lock();
        children.next += 1;
        children.next - 1
    }

    /// Adds a child of this number, which begins soon after this.
    fn add(&self, number: usize, child: Child) {
        let newcomer = Newcomer(Some(Arc::clone(&child.place)));
        let mut children = self.tree.children.lock();
        children.by_number.insert(number, Arc::new(child));
        drop(children);
        self.tree.watch(number, &self.chief);
        if self.address.tell(Event::Added(number, newcomer)).is_err() {
            // The supervisor has ended; with the event the newcomer was dropped, and so the child is stopped.
            self.tree.forget(number);
        }
    }

    /// How many children there are that have not ended, without those of the supervisors below it.
    #[must_use]
    pub fn children(&self) -> usize {
        self.tree.children.lock().by_number.len()
    }

    /// Lets the children finish, the last one first, each within its deadline, and then ends the supervisor. Returns at
    /// once: wait for its [`end`](Supervisor::end).
    pub fn shutdown(&self) {
        let _ = self.address.tell(Event::ShutDown);
    }

    /// The end of the supervisor, to be waited for or awaited. Its children have ended before.
    pub fn end(&self) -> End {
        self.address.end()
    }

    /// How often it has begun children again, those after one panic counted as one, without those of the supervisors
    /// below it.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.tree.restarts.load(Ordering::Relaxed)
    }

    /// The number of the supervisor itself: see [`Address::id`].
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.address.id()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("children", &self.children())
            .field("restarts", &self.restarts())
            .finish_non_exhaustive()
    }
}
