//! Supervision trees: who begins actors again that have panicked, together with those that depend on them.
//!
//! A supervised actor begins again in its own cell, so its address stays good. When it panics it pauses, and reports;
//! its supervisor decides who else has to begin again, lets those pause, from the last to the first, and then all of
//! them begin, from the first to the last. That is done in steps, one at a time; each is over when the actor says so,
//! or is gone.

use core::fmt;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::lifeline::WatchKey;
use super::restart::{Born, Call, Once, Policy, gave_up};
use super::{End, EndReason};
use crate::actor::Actor;
use crate::address::{Address, WeakAddress};
use crate::at_work::{ActorId, Place};
use crate::cell::System;
use crate::context::Context;
use crate::mailbox::{Describes, Plain};
use crate::pool::Pool;
use crate::spawner::Spawner;

/// Who begins again when a supervised actor has panicked.
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
/// somebody to handle them. So children can be given the addresses of those before them.
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
    children: Vec<Child>,
    strategy: Strategy,
    limit: u32,
    within: Duration,
    deadline: Duration,
    chief: Chief,
}

/// The supervisor, for its children, as soon as there is one.
type Chief = Arc<OnceLock<WeakAddress<Event>>>;

struct Child {
    place: Arc<dyn Place>,
    /// So long it may take to finish.
    deadline: Duration,
    kind: Kind,
}

enum Kind {
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
    children: Vec<Child>,
    strategy: Strategy,
    limit: u32,
    within: Duration,
    has_parent: bool,
    restarts: AtomicU64,
    /// So many instances of its supervisor there were.
    epochs: AtomicU64,
}

/// What a supervisor hears.
enum Event {
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
    /// Then it is [stopped](Address::stop); if it has not ended after the same time again, nobody waits for it any
    /// more.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Adds an actor that is made by `birth` when the tree begins, and each time when it has to begin again.
    ///
    /// It is [stopped](Address::stop) or finished by whoever likes, and then not begun again. It does not end for want of
    /// addresses before its supervisor does.
    pub fn child<A: Actor + Send, B: Describes<A::Message>>(
        &mut self,
        name: impl Into<Arc<str>>,
        spawner: Spawner<Pool, B>,
        birth: impl FnMut(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        let policy = self.report();
        let birth = Box::new(Born::new(birth, policy));
        // SAFETY: the actor may be used on any thread.
        let address = unsafe { spawner.name(name).settle_birth(birth) };
        self.children.push(Child {
            place: address.place(),
            deadline: self.deadline,
            kind: Kind::Worker {
                _address: Box::new(address.clone()),
            },
        });
        address
    }

    /// Adds a supervisor with children of its own. If it gives up, that is as a panic of a child: it begins again with
    /// all its children, as this one's strategy says.
    pub fn supervisor(&mut self, name: impl Into<Arc<str>>, spawner: Spawner, tree: Supervision) {
        let policy = self.report();
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
        self.children.push(Child {
            place: address.place(),
            deadline: self.deadline,
            kind: Kind::Supervisor { address, tree },
        });
    }

    /// Who is told of the panics of the next child.
    fn report(&self) -> Policy {
        let (chief, number) = (Arc::clone(&self.chief), self.children.len());
        Policy::Reported(Box::new(move |why| {
            tell(&chief, Event::Failed(number, why))
        }))
    }

    fn finished(self, has_parent: bool) -> (Arc<Tree>, Chief) {
        let tree = Tree {
            children: self.children,
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
        // SAFETY: a supervisor may be used on any thread.
        let address = unsafe {
            spawner
                .with_mailbox(|_| Plain::default())
                .settle_birth(Box::new(Once(Some(move |_: &mut Context<_>| overseer))))
        };
        tree.begin(&address, &chief);
        // Nothing but to begin.
        address.place().send(System::Look);
        Supervisor { address, tree }
    }
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
    /// There is a supervisor: it hears of the ends of its children from now on.
    fn begin(&self, address: &Address<Event>, chief: &Chief) {
        let _ = chief.set(address.downgrade());
        for (number, child) in self.children.iter().enumerate() {
            let chief = Arc::clone(chief);
            Arc::clone(&child.place).watch(
                WatchKey::next(),
                Box::new(move |ended| tell(&chief, Event::Ended(number, ended.reason.clone()))),
            );
        }
    }

    /// Lets a child pause, and what is below it.
    fn suspend(self: &Arc<Self>, number: usize, done: Call) {
        let child = &self.children[number];
        let done = match &child.kind {
            Kind::Worker { .. } => done,
            Kind::Supervisor { tree, .. } => {
                let tree = Arc::clone(tree);
                let below = OnDrop::new(move || tree.suspend_first(tree.children.len(), done));
                Box::new(move || drop(below)) as Call
            }
        };
        Arc::clone(&child.place).send(System::Suspend(done));
    }

    /// Lets so many children pause, the last one first.
    fn suspend_first(self: &Arc<Self>, count: usize, done: Call) {
        let Some(last) = count.checked_sub(1) else {
            return done();
        };
        let tree = Arc::clone(self);
        let others = OnDrop::new(move || tree.suspend_first(last, done));
        self.suspend(last, Box::new(move || drop(others)));
    }

    /// Stops a child, and what is below it, after the messages that they are at.
    fn stop(&self, number: usize) {
        let child = &self.children[number];
        if let Kind::Supervisor { tree, .. } = &child.kind {
            for below in (0..tree.children.len()).rev() {
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
#[must_use = "dropping it shuts the tree down"]
pub struct Supervisor {
    address: Address<Event>,
    tree: Arc<Tree>,
}

impl Supervisor {
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
            .field("children", &self.tree.children.len())
            .field("restarts", &self.restarts())
            .finish_non_exhaustive()
    }
}

/// What a supervisor is about.
enum Aim {
    /// Keep its children alive.
    Keep,
    /// End, in order.
    End,
    /// End, since it may not begin them again any more.
    GiveUp(EndReason),
}

/// A supervisor at work.
struct Overseer {
    tree: Arc<Tree>,
    /// It ends by itself, not for want of addresses.
    own: Option<Address<Event>>,
    aim: Aim,
    steps: VecDeque<Step>,
    current: Option<Step>,
    /// Tells its instances apart.
    epoch: u64,
    has_ended: Vec<bool>,
    is_paused: Vec<bool>,
    /// It has been told to stop, since it has not finished in time.
    is_overdue: bool,
    recent: VecDeque<Instant>,
}

impl Overseer {
    fn new(tree: &Arc<Tree>) -> Self {
        let count = tree.children.len();
        let ended = |child: &Child| child.place.life().has_ended();
        Overseer {
            own: None,
            aim: Aim::Keep,
            steps: (0..count).map(Step::Resume).collect(),
            current: None,
            epoch: tree.epochs.fetch_add(1, Ordering::Relaxed),
            is_paused: vec![true; count],
            has_ended: tree.children.iter().map(ended).collect(),
            is_overdue: false,
            recent: VecDeque::new(),
            tree: Arc::clone(tree),
        }
    }

    /// Goes on with the next step, if none is being waited for.
    fn go_on(&mut self, cx: &mut Context<Self>) {
        while self.current.is_none() {
            let Some(step) = self.steps.pop_front() else {
                return self.arrive(cx);
            };
            self.take(step, cx);
        }
    }

    fn take(&mut self, step: Step, cx: &mut Context<Self>) {
        let (Step::Suspend(number) | Step::Resume(number) | Step::Finish(number)) = step;
        if self.has_ended[number] {
            return;
        }
        self.current = Some(step);
        let child = &self.tree.children[number];
        match step {
            Step::Suspend(_) => self.tree.suspend(number, self.when_done(step, cx)),
            Step::Resume(_) => {
                let done = self.when_done(step, cx);
                Arc::clone(&child.place).send(System::Resume(Some(done)));
            }
            // Whether it has finished is told by its end.
            Step::Finish(_) => {
                self.is_overdue = false;
                match &child.kind {
                    // There is nobody who could finish.
                    _ if self.is_paused[number] => self.tree.stop(number),
                    Kind::Supervisor { address, .. } => drop(address.tell(Event::ShutDown)),
                    Kind::Worker { .. } => Arc::clone(&child.place).send(System::Finish),
                }
                let deadline = child.deadline;
                cx.after(deadline, move |this, cx| this.hurry(number, cx));
            }
        }
    }

    fn when_done(&self, step: Step, cx: &mut Context<Self>) -> Call {
        let (own, epoch) = (cx.address().downgrade(), self.epoch);
        let done = OnDrop::new(move || {
            if let Some(own) = own.upgrade() {
                let _ = own.tell(Event::Done(step, epoch));
            }
        });
        Box::new(move || drop(done))
    }

    /// A child's time is over.
    fn hurry(&mut self, number: usize, cx: &mut Context<Self>) {
        if self.current != Some(Step::Finish(number)) {
            return;
        }
        if core::mem::replace(&mut self.is_overdue, true) {
            // It does not come back from what it is at. It has its wish to stop, and we go.
            self.current = None;
            return self.go_on(cx);
        }
        self.tree.stop(number);
        let deadline = self.tree.children[number].deadline;
        cx.after(deadline, move |this, cx| this.hurry(number, cx));
    }

    /// No step is left.
    fn arrive(&mut self, cx: &mut Context<Self>) {
        match &self.aim {
            Aim::Keep => {}
            Aim::End => cx.stop(),
            // As a panic, though without the panic hook: whoever decides what follows a panic decides now.
            Aim::GiveUp(reason) => std::panic::resume_unwind(Box::new(reason.clone())),
        }
    }

    /// A child has failed for good or pauses, and somebody has to begin again.
    fn repair(&mut self, number: usize, why: &EndReason, cx: &mut Context<Self>) {
        let now = cx.now();
        let within = self.tree.within;
        self.recent
            .retain(|then| now.saturating_duration_since(*then) <= within);
        if self.recent.len() >= self.tree.limit as usize {
            return self.give_up(gave_up(self.tree.limit, why));
        }
        self.recent.push_back(now);
        self.tree.restarts.fetch_add(1, Ordering::Relaxed);
        let count = self.tree.children.len();
        let concerned = match self.tree.strategy {
            Strategy::OneForOne => number..number + 1,
            Strategy::OneForAll => 0..count,
            Strategy::RestForOne => number..count,
        };
        let others = concerned.clone().rev().filter(|other| *other != number);
        self.steps.extend(others.map(Step::Suspend));
        self.steps.extend(concerned.map(Step::Resume));
    }

    fn give_up(&mut self, reason: EndReason) {
        self.aim = Aim::GiveUp(reason);
        self.steps.clear();
        let all = (0..self.tree.children.len()).rev();
        if self.tree.has_parent {
            // They may begin again, if it says so.
            self.steps.extend(all.map(Step::Suspend));
        } else {
            self.steps.extend(all.map(Step::Finish));
        }
    }
}

impl Actor for Overseer {
    type Message = Event;

    fn started(&mut self, cx: &mut Context<Self>) {
        self.own = Some(cx.address());
        self.go_on(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut Context<Self>) {
        match event {
            Event::Failed(number, why) => {
                self.is_paused[number] = true;
                let begins = Step::Resume(number);
                match self.aim {
                    Aim::Keep if self.has_ended[number] => {}
                    // With the others; a step is done before the failure of the next one is told.
                    Aim::Keep if self.current == Some(begins) || self.steps.contains(&begins) => {}
                    Aim::Keep => self.repair(number, &why, cx),
                    // It may begin again, if our supervisor says so.
                    Aim::GiveUp(_) if self.tree.has_parent => {}
                    // There is nobody who could finish.
                    Aim::End | Aim::GiveUp(_) => self.tree.stop(number),
                }
            }
            Event::Done(step, epoch) => {
                // An earlier instance of this supervisor may have waited for others.
                if epoch == self.epoch && self.current == Some(step) {
                    self.current = None;
                    match step {
                        Step::Suspend(number) => self.is_paused[number] = true,
                        Step::Resume(number) => self.is_paused[number] = false,
                        Step::Finish(_) => {}
                    }
                }
            }
            Event::Ended(number, reason) => {
                self.has_ended[number] = true;
                if self.current == Some(Step::Finish(number)) {
                    self.current = None;
                }
                if matches!(self.aim, Aim::Keep) && reason.is_abnormal() {
                    // Not by a panic of its own, so it cannot begin again.
                    self.give_up(gave_up(self.tree.limit, &reason));
                }
            }
            Event::ShutDown => {
                if !matches!(self.aim, Aim::End) {
                    self.aim = Aim::End;
                    let all = (0..self.tree.children.len()).rev();
                    self.steps = all.map(Step::Finish).collect();
                }
            }
        }
        self.go_on(cx);
    }
}
