//! A home for tests: it runs actors one turn at a time, in an order that the test or its seed chooses, under a time of its own.

use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;
use core::pin::pin;
use core::task::{Context as TaskContext, Poll, Waker};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{AnyActor, System};
use crate::context::{Context, Here};
use crate::error::AskError;
use crate::memory::swept::SweptList;
use crate::reply::Reply;
use crate::spawner::Spawner;
use crate::task::{Home, Task, ThreadWait, TurnLimits};
use crate::time::{TICK, Time};

/// A home of actors in which one has its turn after the other, when the caller says so: for tests.
///
/// In each step one actor that has mail, or was just born, begins if it has not begun yet, and handles one message if there
/// is one, after what comes before messages (answers to its own questions, outcomes of its futures). Which actor that is, is the only choice, and it is the stepper's: in the
/// order in which they got mail ([`new`](Stepper::new)), at random but repeatable
/// ([`with_seed`](Stepper::with_seed)), as in a run before ([`replay`](Stepper::replay)), or in every possible way
/// ([`explore`](Stepper::explore)). So a test of actors that depends on nothing else gives the same result on each
/// machine, each time.
///
/// Time is virtual: it passes when the test says so, by [`advance`](Stepper::advance).
///
/// No thread is started. A handler that asks by [`Address::ask`] gets [`AskError::OwnThread`], since no thread would answer.
///
/// Dropping the stepper stops its actors.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Reply, Stepper};
///
/// let stepper = Stepper::new();
/// let mut sum = 0;
/// let adder = stepper.spawn_fn(move |(number, reply): (u32, Reply<u32>), _| {
///     sum += number;
///     reply.send(sum);
/// });
/// let early = adder.ask_async(|reply| (1, reply));
/// assert_eq!(stepper.due(), 1);
/// assert!(stepper.step());
/// assert!(!stepper.step());
/// assert_eq!(stepper.wait_for(early), Some(Ok(1)));
/// assert_eq!(stepper.ask(&adder, |reply| (2, reply)), Ok(3));
/// ```
pub struct Stepper {
    stage: Arc<SteppedStage>,
    choice: RefCell<Choice>,
    /// What was chosen so far, of how many.
    path: RefCell<Vec<(usize, usize)>>,
    /// The actors to be stopped with the stepper, and some that have ended.
    residents: RefCell<SweptList<Weak<dyn AnyActor>>>,
    steps: Cell<usize>,
    thread: PhantomData<*const ()>,
}

/// How the next one is chosen.
enum Choice {
    First,
    Random(u64),
    /// As said, as far as that goes; then the first.
    Path(VecDeque<usize>),
}

struct SteppedStage {
    due: Mutex<SteppedTasks>,
    time: Time,
    thread: ThreadId,
}

#[derive(Default)]
struct SteppedTasks {
    tasks: VecDeque<Task>,
    closed: bool,
}

/// The actor, unless it has ended.
fn living(actor: &Weak<dyn AnyActor>) -> Option<Arc<dyn AnyActor>> {
    actor.upgrade().filter(|actor| !actor.life().has_ended())
}

impl SteppedStage {
    fn lock(&self) -> MutexGuard<'_, SteppedTasks> {
        // No user code runs under the lock, so it is never poisoned half changed.
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Home for SteppedStage {
    fn turn_limits(&self) -> TurnLimits {
        TurnLimits {
            messages: 1,
            // A step is not to depend on a clock.
            counts_answers: false,
            ..TurnLimits::USUAL
        }
    }

    fn schedule(&self, task: Task) {
        let mut due = self.lock();
        if due.closed {
            drop(due);
            task.abandon();
        } else {
            due.tasks.push_back(task);
        }
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
    }

    fn begins_all(&self) -> bool {
        true
    }

    fn time(&self) -> &Time {
        &self.time
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        (self.thread != thread::current().id()).then_some(ThreadWait::PLAIN)
    }
}

impl Default for Stepper {
    fn default() -> Self {
        Self::new()
    }
}

impl Stepper {
    /// Actors have their turns in the order in which they got mail.
    #[must_use]
    pub fn new() -> Self {
        Self::choosing(Choice::First)
    }

    /// Actors have their turns in an order that looks random, and is the same for the same `seed`.
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self::choosing(Choice::Random(seed))
    }

    /// Chooses as in an earlier run: `path` is what [`path`](Stepper::path) gave there, or what
    /// [`explore`](Stepper::explore) has printed of one that failed. What comes after its end goes in the order in which
    /// actors get mail.
    #[must_use]
    pub fn replay(path: &[usize]) -> Self {
        Self::choosing(Choice::Path(path.iter().copied().collect()))
    }

    fn choosing(choice: Choice) -> Self {
        Stepper {
            stage: Arc::new(SteppedStage {
                due: Mutex::default(),
                time: Time::manual(),
                thread: thread::current().id(),
            }),
            choice: RefCell::new(choice),
            path: RefCell::new(Vec::new()),
            residents: RefCell::new(SweptList::new()),
            steps: Cell::new(0),
            thread: PhantomData,
        }
    }

    /// Runs `program` once for each order in which its actors can have their turns, each time with a new stepper; at
    /// most `most` times.
    ///
    /// The number of orders grows very fast, with the factorial of the number of messages that are due at a time:
    /// keep such a program small. What `program` does must depend on nothing but the order: not on time, nor on other
    /// threads, nor on what it remembers of the run before.
    ///
    /// # Panics
    ///
    /// If `program` does: a test that fails for one order fails, and standard error says how to
    /// [repeat](Stepper::replay) it.
    ///
    /// # Examples
    ///
    /// Two actors write to a third one, and each order is seen.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use tamtam_actor::Stepper;
    ///
    /// let mut seen = BTreeSet::new();
    /// let explored = Stepper::explore(1_000, |stepper| {
    ///     let (sender, receiver) = std::sync::mpsc::channel();
    ///     let writer = stepper.spawn_fn(move |name: char, _| sender.send(name).unwrap());
    ///     for name in ['a', 'b'] {
    ///         let writer = writer.clone();
    ///         let actor = stepper.spawn_fn(move |(), _| writer.tell(name).unwrap());
    ///         actor.tell(()).unwrap();
    ///     }
    ///     stepper.run();
    ///     seen.insert(receiver.try_iter().collect::<String>());
    /// });
    /// assert!(explored.is_complete);
    /// assert_eq!(seen, BTreeSet::from(["ab".to_owned(), "ba".to_owned()]));
    /// ```
    pub fn explore(most: usize, mut program: impl FnMut(&Stepper)) -> Explored {
        let mut path: Vec<usize> = Vec::new();
        let mut runs = 0;
        while runs < most {
            let stepper = Self::replay(&path);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| program(&stepper))) {
                eprintln!(
                    "Stepper::explore: run {runs} failed; to repeat it: Stepper::replay(&{:?})",
                    stepper.path()
                );
                // Not the actors' end: that may be what is wrong.
                drop(stepper);
                resume_unwind(panic);
            }
            runs += 1;
            // The next one in order: the last choice that has another possibility.
            let mut chosen = stepper.path.take();
            drop(stepper);
            loop {
                match chosen.pop() {
                    None => {
                        return Explored {
                            runs,
                            is_complete: true,
                        };
                    }
                    Some((choice, of)) if choice + 1 < of => {
                        path = chosen.iter().map(|&(choice, _)| choice).collect();
                        path.push(choice + 1);
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
        Explored {
            runs,
            is_complete: false,
        }
    }

    /// What was chosen so far: of those who were due, which one; for each step in which there was more than one.
    pub fn path(&self) -> Vec<usize> {
        let path = self.path.borrow();
        path.iter().map(|&(choice, _)| choice).collect()
    }

    /// How many actors have mail.
    pub fn due(&self) -> usize {
        self.stage.lock().tasks.len()
    }

    /// How many steps there were.
    pub fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Gives one actor its turn; `false` if none has mail.
    ///
    /// From within a handler it does nothing.
    pub fn step(&self) -> bool {
        let count = self.due();
        let Ok(mut choice) = self.choice.try_borrow_mut() else {
            return false;
        };
        let chosen = match count {
            0 => return false,
            1 => 0,
            _ => {
                let chosen = choice.choose(count);
                self.path.borrow_mut().push((chosen, count));
                chosen
            }
        };
        let task = self.stage.lock().tasks.remove(chosen);
        self.steps.set(self.steps.get() + 1);
        // The choice stays borrowed: a handler that steps would run a turn within a turn.
        if let Some(task) = task {
            task.run();
        }
        true
    }

    /// Steps until no actor has mail, and says how many steps that took.
    ///
    /// Actors that keep each other busy for ever keep this busy, too: [`run_steps`](Stepper::run_steps) ends.
    pub fn run(&self) -> usize {
        self.run_steps(usize::MAX)
    }

    /// Steps until no actor has mail, at most so many times, and says how many steps there were.
    pub fn run_steps(&self, most: usize) -> usize {
        (0..most).take_while(|_| self.step()).count()
    }

    /// The time by which the actors live: it begins when the stepper is made, and passes by
    /// [`advance`](Stepper::advance) only.
    pub fn time(&self) -> &Time {
        &self.stage.time
    }

    /// Lets time pass, and says how many steps there were meanwhile: first those of actors that have mail, and after
    /// each timer that becomes due on the way those that follow from it. One that is set again for now, whenever it has rung, rings once a
    /// millisecond.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::Stepper;
    ///
    /// let stepper = Stepper::new();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let clock = stepper.spawn_fn(move |word: &str, _| sender.send(word).unwrap());
    /// clock.tell_after(Duration::from_secs(3_600), "an hour later");
    /// clock.tell("now")?;
    /// stepper.advance(Duration::from_secs(3_599));
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["now"]);
    /// stepper.advance(Duration::from_secs(1));
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["an hour later"]);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn advance(&self, duration: Duration) -> usize {
        let time = &self.stage.time;
        let mut steps = self.run();
        let mut left = duration;
        let mut has_rung = false;
        while let Some(next) = time.until_next().filter(|&next| next <= left) {
            // One that is set again for now, when it has rung, rings once a tick, as elsewhere.
            let next = if has_rung { next.max(TICK) } else { next };
            if next > left {
                break;
            }
            has_rung = true;
            left -= next;
            time.advance(next);
            steps += self.run();
        }
        time.advance(left);
        steps + self.run()
    }

    /// Asks a question, and steps until the answer is there.
    ///
    /// # Errors
    ///
    /// [`AskError`]: [`AskError::TimedOut`] if no answer has come, and no actor has mail that might send it.
    pub fn ask<M: Send + 'static, R: Send + 'static>(
        &self,
        address: &Address<M>,
        question: impl FnOnce(Reply<R>) -> M,
    ) -> Result<R, AskError> {
        self.wait_for(address.ask_async(question))
            .unwrap_or(Err(AskError::TimedOut))
    }

    /// Steps until a future is ready, and gives its outcome; `None` if it is not, and no actor has mail.
    pub fn wait_for<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut context = TaskContext::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
                return Some(outcome);
            }
            if !self.step() {
                return None;
            }
        }
    }

    fn settle<M: Send + 'static>(&self, address: Address<M>) -> Address<M> {
        let resident = Arc::downgrade(&address.place());
        let mut residents = self.residents.borrow_mut();
        residents.add(resident, |resident| living(resident).is_some());
        drop(residents);
        address
    }

    /// An actor with an unlimited mailbox.
    pub fn spawn<A: Actor + Send>(&self, actor: A) -> Address<A::Message> {
        self.settle(self.spawner().spawn(actor))
    }

    /// An actor that is made in its first step.
    pub fn spawn_with<A: Actor + Send>(
        &self,
        birth: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Address<A::Message> {
        self.settle(self.spawner().spawn_with(birth))
    }

    /// A function as an actor: it is called for each message, one by one.
    pub fn spawn_fn<M: Send + 'static>(
        &self,
        function: impl FnMut(M, &mut Here<M>) + Send + 'static,
    ) -> Address<M> {
        self.settle(self.spawner().spawn_fn(function))
    }

    /// Says more about an actor before it is born. What a spawner has made is not stopped when the stepper is dropped,
    /// but when a message is sent to it after that.
    pub fn spawner(&self) -> Spawner {
        Spawner::on(Arc::clone(&self.stage) as Arc<dyn Home>)
    }
}

impl Choice {
    fn choose(&mut self, count: usize) -> usize {
        match self {
            Choice::First => 0,
            Choice::Random(state) => {
                // Steele, Lea and Flood: SplitMix, 2014.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = *state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^= mixed >> 31;
                usize::try_from(mixed % count as u64).unwrap_or(0)
            }
            Choice::Path(path) => path.pop_front().unwrap_or(0).min(count - 1),
        }
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        // By itself, and not by an address: it may have none, and live by a future that it awaits.
        let residents = self.residents.borrow_mut().take_all();
        for resident in residents.iter().filter_map(living) {
            resident.send(System::Stop);
        }
        // Each of them has its last turn, and what their ends lead to.
        loop {
            let task = self.stage.lock().tasks.pop_front();
            match task {
                Some(task) => task.abandon(),
                None => break,
            }
        }
        let left = {
            let mut due = self.stage.lock();
            due.closed = true;
            core::mem::take(&mut due.tasks)
        };
        left.into_iter().for_each(Task::abandon);
    }
}

impl fmt::Debug for Stepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper")
            .field("due", &self.due())
            .field("steps", &self.steps())
            .finish_non_exhaustive()
    }
}

/// What [`Stepper::explore`] has seen.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Stepper;
///
/// let explored = Stepper::explore(100, |stepper| {
///     let one = stepper.spawn_fn(|(): (), _| {});
///     let other = stepper.spawn_fn(|(): (), _| {});
///     one.tell(()).unwrap();
///     other.tell(()).unwrap();
///     stepper.run();
/// });
/// assert!(explored.is_complete); // each order was tried
/// assert!(explored.runs >= 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How often the program ran.
    pub runs: usize,
    /// Whether those were all orders that there are.
    pub is_complete: bool,
}
