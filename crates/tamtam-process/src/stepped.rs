//! Processes that are none: the worker's side of a process in this one, run by a stepper, for tests.
//!
//! Messages become bytes and are read again, one frame a step in each direction. What a worker does between two messages is done by
//! an actor beside its root, the *driver*: it gives the root its next message, says how far that has got, and begins another worker when
//! one has died. Which of all these has its turn is the stepper's choice.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tamtam_actor::link::RestartPolicy;
use tamtam_actor::{
    Address, Context, EndReason, Overflow, ProcessEnd, Restart, Spawner, Stepper, Time, WeakAddress,
};
use tamtam_link::carrier::Way;
use tamtam_link::{Death, Inbound, Link};

use crate::lock::lock;
use crate::next_life;
use crate::remote::Remote;

/// The signal of a kill.
const KILL: i32 = 9;

/// A process that lives in a [`Stepper`]: see [`ProcessSpawner::spawn_in`](crate::ProcessSpawner::spawn_in). Clones are the same one. It
/// does not keep the actor.
///
/// # Examples
///
/// ```
/// use tamtam_process::SteppedProcess;
///
/// fn end_of_the_third(processes: &[SteppedProcess]) {
///     processes[2].kill();
///     assert_eq!(processes[2].restarts(), 0); // another one begins in a later step
/// }
/// ```
#[derive(Clone)]
pub struct SteppedProcess {
    stage: Arc<dyn Stage>,
    driver: WeakAddress<Drive>,
}

impl SteppedProcess {
    /// Kills the process as it is now, if there is one. What it has sent before still arrives; the message that it has begun is lost.
    pub fn kill(&self) {
        self.stage.end(ProcessEnd::Killed(KILL), false);
        self.tell(Drive::Look);
    }

    /// Kills it after so many steps that do nothing, which the stepper chooses among the others: so when that is depends on its seed.
    pub fn kill_after(&self, steps: u32) {
        self.tell(Drive::Kill(steps));
    }

    /// Cuts its link: what is on its way in both directions is lost, and the process ends by itself, as one does whose program is gone.
    pub fn cut(&self) {
        self.stage.end(ProcessEnd::Exited(0), true);
        self.tell(Drive::Look);
    }

    /// How often another process has taken the place of one that has died.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.stage.begun().saturating_sub(1)
    }

    fn tell(&self, drive: Drive) {
        if let Some(driver) = self.driver.upgrade() {
            // It ends with the stepper.
            let _ = driver.tell(drive);
        }
    }
}

impl fmt::Debug for SteppedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedProcess")
            .field("restarts", &self.restarts())
            .finish_non_exhaustive()
    }
}

/// What the driver is told.
pub(crate) enum Drive {
    /// Something has happened.
    Look,
    /// The pause before the next process is over.
    Begin,
    Kill(u32),
}

/// What a process is made of, whatever its actor is.
trait Stage: Send + Sync {
    /// The process ends now, if there is one; if the link is cut, with all that is on its way.
    fn end(&self, how: ProcessEnd, is_cut: bool);

    /// How many there were.
    fn begun(&self) -> u32;
}

/// What is to be spawned.
pub(crate) struct SteppedPlan {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) config: Vec<u8>,
    pub(crate) restart: Restart,
    pub(crate) limit: Option<(usize, Overflow)>,
}

/// A process of an actor of this type, and those that take its place.
struct Processes<A> {
    /// The parent's end.
    link: Link,
    forth: Arc<Way>,
    back: Arc<Way>,
    spawner: Spawner,
    time: Time,
    name: Option<Arc<str>>,
    config: Vec<u8>,
    policy: RestartPolicy,
    driver: Mutex<Option<Address<Drive>>>,
    state: Mutex<State>,
    actor: PhantomData<fn() -> A>,
}

#[derive(Default)]
struct State {
    begun: u32,
    /// The parent's half for the process that is to begin.
    next: Option<Inbound>,
    worker: Option<Worker>,
    /// How the last one has ended, until all that it has sent has arrived.
    death: Option<(ProcessEnd, u64, u64)>,
}

/// The worker's side of one process.
struct Worker {
    link: Link,
    inbound: Arc<Mutex<Inbound>>,
    /// Stops the root.
    stop: Box<dyn Fn() + Send>,
    /// Messages that the root was given, and those that were confirmed.
    given: u64,
    confirmed: u64,
    /// The driver is told when the root is done.
    is_awaited: Arc<AtomicBool>,
}

/// An actor in a process that is none.
pub(crate) fn spawn<A: Remote + Send>(
    stepper: &Stepper,
    plan: SteppedPlan,
) -> (Address<A::Message>, SteppedProcess) {
    let (forth, back) = (Way::new(stepper), Way::new(stepper));
    let ring = Arc::clone(&forth);
    let (link, inbound) = Link::builder()
        .time(stepper.time().clone())
        .keep_root()
        .call_root(plan.name.clone(), core::any::type_name::<A::Message>())
        .build(move || ring.ring());
    let (limit, overflow) = plan.limit.unwrap_or((0, Overflow::Wait));
    link.limit_root(limit as u64, overflow == Overflow::Wait);
    let processes = Arc::new(Processes::<A> {
        link: link.clone(),
        forth,
        back,
        spawner: stepper.spawner(),
        time: stepper.time().clone(),
        name: plan.name,
        config: plan.config,
        policy: RestartPolicy::new(plan.restart),
        driver: Mutex::default(),
        state: Mutex::new(State {
            next: Some(inbound),
            ..State::default()
        }),
        actor: PhantomData,
    });
    let driven = Arc::clone(&processes);
    let driver = stepper.spawn_fn(move |drive: Drive, here| match drive {
        Drive::Look => driven.look(),
        Drive::Begin => driven.begin(),
        Drive::Kill(0) => {
            driven.end(ProcessEnd::Killed(KILL), false);
            driven.look();
        }
        Drive::Kill(steps) => drop(here.address().tell(Drive::Kill(steps - 1))),
    });
    let process = SteppedProcess {
        driver: driver.downgrade(),
        stage: Arc::clone(&processes) as Arc<dyn Stage>,
    };
    *lock(&processes.driver) = Some(driver);
    processes.begin();
    (link.root(), process)
}

impl<A: Remote + Send> Processes<A> {
    /// The driver looks in a later step.
    fn ring(&self) {
        let driver = lock(&self.driver).clone();
        if let Some(driver) = driver {
            let _ = driver.tell(Drive::Look);
        }
    }

    /// The next process begins.
    fn begin(self: &Arc<Self>) {
        let Some(inbound) = lock(&self.state).next.take() else {
            return;
        };
        // None is made that would end at once.
        if let Some(why) = self.link.root_end_at_once() {
            let death = next_life::unbegun(why.clone());
            return self.link.end_for_good(death, &why);
        }
        let config = self.config.clone();
        let mut spawner = self.spawner.clone();
        if let Some(name) = &self.name {
            spawner = spawner.name(Arc::clone(name));
        }
        let root = spawner.spawn_with(move |cx: &mut Context<A>| {
            let config = match tamtam_actor::link::decode(&config) {
                Ok(config) => config,
                Err(said) => panic!("its configuration is not understood: {said}"),
            };
            match A::create(config, cx) {
                Ok(actor) => actor,
                Err(error) => panic!("it could not be made: {error}"),
            }
        });
        let this: Weak<Self> = Arc::downgrade(self);
        let back = Arc::clone(&self.back);
        let predecessors = lock(&self.state).begun.into();
        let (link, worker_inbound) = Link::builder()
            .program(A::NAME)
            .time(self.time.clone())
            .root(&root)
            .hold_root()
            .predecessors(predecessors)
            .build(move || {
                back.ring();
                if let Some(this) = this.upgrade() {
                    this.ring();
                }
            });
        let stopping = root.downgrade();
        // From now on the parent alone has the actor.
        drop(root);
        let worker_inbound = Arc::new(Mutex::new(worker_inbound));
        let received = Arc::clone(&worker_inbound);
        let this = Arc::downgrade(self);
        self.forth.connect(self.link.clone(), move |frame| {
            let goes_on = lock(&received).receive(frame).is_ok();
            if let Some(this) = Weak::upgrade(&this) {
                this.ring();
            }
            goes_on
        });
        let this = Arc::downgrade(self);
        let mut inbound = inbound;
        self.back.connect(link.clone(), move |frame| {
            let goes_on = inbound.receive(frame).is_ok();
            if let Some(this) = Weak::upgrade(&this) {
                this.ring();
            }
            goes_on
        });
        let mut state = lock(&self.state);
        state.begun += 1;
        state.worker = Some(Worker {
            link,
            inbound: worker_inbound,
            stop: Box::new(move || {
                if let Some(root) = stopping.upgrade() {
                    root.stop();
                }
            }),
            given: 0,
            confirmed: 0,
            is_awaited: Arc::default(),
        });
        drop(state);
        self.ring();
    }

    /// What a worker does between two messages; and what its parent does when it has died.
    fn look(self: &Arc<Self>) {
        let worker = lock(&self.state).worker.take();
        if let Some(mut worker) = worker {
            let has_ended = self.drive(&mut worker);
            let mut state = lock(&self.state);
            if has_ended {
                let code = match worker.link.own_root_end() {
                    Some(EndReason::Panicked(_) | EndReason::GaveUp { .. }) => 101,
                    _ => 0,
                };
                state.death = Some((ProcessEnd::Exited(code), worker.confirmed, worker.given));
                drop(state);
                self.back.take_in();
                self.back.end();
                drop(worker);
            } else {
                state.worker = Some(worker);
            }
        }
        // What it has sent arrives first.
        if self.back.is_empty() {
            let death = lock(&self.state).death.take();
            if let Some((end, done, begun)) = death {
                self.after_death(end, done, begun);
            }
        }
    }

    /// Whether the worker has come to its end.
    fn drive(self: &Arc<Self>, worker: &mut Worker) -> bool {
        let has_ended = worker.link.is_over();
        let (is_idle, holds_any) = {
            let inbound = lock(&worker.inbound);
            (inbound.root_is_idle(), inbound.holds_any())
        };
        if worker.given > worker.confirmed {
            // What it has panicked at it is not done with.
            let has_panicked = || {
                let end = worker.link.own_root_end();
                matches!(end, Some(EndReason::Panicked(_) | EndReason::GaveUp { .. }))
            };
            if is_idle && !(has_ended && has_panicked()) {
                worker.link.confirm_root(worker.given - worker.confirmed);
                worker.confirmed = worker.given;
            }
        }
        // What a message has led to goes before the next is begun.
        self.back.take_in();
        if has_ended {
            return true;
        }
        if is_idle && holds_any {
            let is_given = matches!(lock(&worker.inbound).next_root(), Ok(true));
            worker.given += u64::from(is_given);
        }
        let has_more = worker.given > worker.confirmed || lock(&worker.inbound).holds_any();
        // One receipt at a time: by a second one the root would never be idle.
        if has_more && !worker.is_awaited.swap(true, Ordering::SeqCst) {
            let this = Arc::downgrade(self);
            let is_awaited = Arc::clone(&worker.is_awaited);
            let then = move || {
                is_awaited.store(false, Ordering::SeqCst);
                if let Some(this) = Weak::upgrade(&this) {
                    this.ring();
                }
            };
            lock(&worker.inbound).when_root_is_done(Box::new(then));
        }
        false
    }

    /// Another process begins, or none does.
    fn after_death(self: &Arc<Self>, end: ProcessEnd, done: u64, begun: u64) {
        self.forth.cut();
        self.back.cut();
        if self.link.ended().is_some() {
            return;
        }
        let why = match self.link.root_end() {
            Some(reason) => reason,
            None => EndReason::ProcessEnded(end),
        };
        let decided = next_life::decide(&self.link, &self.policy, &why, self.time.now());
        let death = Death { done, begun, why };
        match decided {
            Err(reason) => self.link.end_for_good(death, &reason),
            Ok(pause) => {
                let Ok(inbound) = self.link.begin_again(death) else {
                    return;
                };
                lock(&self.state).next = Some(inbound);
                let driver = lock(&self.driver).clone();
                if let Some(driver) = driver {
                    if pause.is_zero() {
                        let _ = driver.tell(Drive::Begin);
                    } else {
                        drop(driver.tell_after(pause, Drive::Begin));
                    }
                }
            }
        }
    }
}

impl<A: Remote + Send> Stage for Processes<A> {
    fn end(&self, how: ProcessEnd, is_cut: bool) {
        let mut state = lock(&self.state);
        let Some(worker) = state.worker.take() else {
            return;
        };
        // A message that was handled, and not yet looked after, counts as done: the root is idle then.
        let is_done = worker.given > worker.confirmed && lock(&worker.inbound).root_is_idle();
        let done = if is_done {
            worker.given
        } else {
            worker.confirmed
        };
        state.death = Some((how, done, worker.given));
        drop(state);
        if is_cut {
            self.back.cut();
        } else {
            self.back.take_in();
            self.back.end();
        }
        self.forth.cut();
        worker.link.lose("its process has ended");
        (worker.stop)();
        drop(worker);
    }

    fn begun(&self) -> u32 {
        lock(&self.state).begun
    }
}
