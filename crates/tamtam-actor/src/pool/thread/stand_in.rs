//! Threads that stand in for those whose handlers wait.
//!
//! A thread that is about to wait for an actor starts another one in its place, up to a limit, and hands over what it would
//! have done next: mostly that is the very actor for which it waits. So long as one of the pool's threads does not wait, all
//! that is due has its turn at some time.
//!
//! Near the limit the number of threads that do not wait shrinks. When the last one of them is about to wait, the last
//! stand-in is started, the *reserve*. It looks in all queues for the actors for which blocked threads wait, gives those their
//! turns, and what they make due in them its own, and goes when a thread has come back; what is not waited for has to wait for a
//! while. So a long queue of actors that all ask the same one is no reason to give up.
//!
//! If the reserve waits, too, the last thread *watches* while it waits: if it is still the last one after a moment, and an
//! actor is due for which a blocked thread waits, then no thread is left to run that actor, and the wait of the thread that
//! watches ends with [`Stuck`], unless a last look finds that the wait is over, or a thread is back.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{self, Ordering};

use super::Shared;
use super::people::{People, Role};
use super::seat::ThreadSeat;
use super::wait::NoTask;
use crate::cell::AtWork;
use crate::observe::told;
use crate::pool::blocking::BlockedThread;
use crate::pool::stealer::Stealer;
use crate::task::{Blocking, Stuck, Task, Unflushed};
use crate::waits::GRACE;

/// How often the reserve looks whether a thread has come back, or something is due that is waited for.
const POLL: Duration = Duration::from_millis(1);
/// So many tasks in a row the reserve runs because its own turns have made them due.
const MOST_IN_A_ROW: u32 = 16;
/// How often a thread that watches looks, once it has found that nothing could be done by giving up.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a thread that is about to wait has found.
pub(super) enum LeftForWait {
    /// Others run what is due.
    Others,
    /// It is the last one: nothing that is due has a thread any more. It was the so manyth to be blocked.
    Nobody(u64),
}

/// What the last thread finds that seeks another one to run what is due.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relief {
    /// There is one.
    Come,
    /// A stand-in is about to end, so that another one may be started.
    Soon,
    /// There may be another stand-in, and the system has no thread for it.
    NoneBySystem,
    None,
}

impl Shared {
    /// As [`People::resigns`], of this thread.
    pub(super) fn resign(&self, role: Role) -> bool {
        self.people.lock().resigns(role)
    }

    /// A stand-in gives what it has to do to the others.
    pub(super) fn hand_over(&self, ring: usize) {
        let desk = self.desks.at(ring);
        // SAFETY: this thread owns the desk.
        while let Some(task) = unsafe { desk.next.take().or_else(|| desk.ring.pop()) } {
            self.bring(task);
        }
        self.rest();
        if self.ending.load(Ordering::SeqCst) {
            // A thread may wait for the last one that works.
            self.idle.notify_all();
        }
    }

    /// Runs what blocked threads wait for, until another thread has come back, `true`, or the pool ends. As [`take_turns`](Shared::take_turns).
    pub(super) fn serve_as_reserve(&self, ring: usize) -> bool {
        let mut stealer = Stealer::default();
        let mut idle_since = None;
        let mut in_a_row = 0;
        let next = &self.desks.at(ring).next;
        loop {
            // Mostly it is what the awaited actor needs that has just had its turn.
            let own = (in_a_row < MOST_IN_A_ROW)
                // SAFETY: this thread owns the desk.
                .then(|| unsafe { next.take() })
                .flatten();
            in_a_row = if own.is_some() { in_a_row + 1 } else { 0 };
            let task = match own.or_else(|| self.take_awaited(ring)) {
                Some(task) => {
                    idle_since = None;
                    Some(task)
                }
                None if self.resign(Role::Reserve) => return true,
                // If all who waited have their answers by now they are about to come back. Before that this thread does not
                // begin with what might block it, too.
                None if idle_since.get_or_insert_with(Instant::now).elapsed() < GRACE => {
                    std::thread::sleep(POLL);
                    continue;
                }
                // All that is due lies in the injector.
                None => self.injector.pop(),
            };
            let task = match task.map_or_else(|| self.wait(ring, Role::Reserve, &mut stealer), Ok) {
                Ok(task) => task,
                Err(NoTask::End) => return false,
                Err(NoTask::Resigned) => return true,
            };
            self.run(self.desks.at(ring), task);
            Unflushed::flush_all();
            if self.resign(Role::Reserve) {
                return true;
            }
        }
    }

    /// The thread of this ring, this one, is about to wait, for the actor whose tasks are there if that is known.
    pub(super) fn block(self: &Arc<Self>, ring: usize, awaited: Option<usize>) -> LeftForWait {
        self.blocking_asks.fetch_add(1, Ordering::Relaxed);
        told::blocking_ask(AtWork::asker);
        let (stand_in, is_reserve, number) = {
            let mut people = self.people.lock();
            people.blocked += 1;
            people.blocks += 1;
            people.awaited.extend(awaited);
            let is_reserve = people.free_rings.len() == 1;
            let is_wanted = if is_reserve {
                people.at_large() == 0
            } else {
                people.stand_ins < people.blocked
            };
            let stand_in = is_wanted.then(|| self.take_ring(&mut people)).flatten();
            (stand_in, is_reserve, people.blocks)
        };
        // What is due next on this thread is for others now.
        // SAFETY: this thread owns the desk.
        let mut next = unsafe { self.desks.at(ring).next.take() };
        if let Some(stand_in) = stand_in {
            if is_reserve {
                // It looks for itself.
                self.bring_first(next.take());
            } else if let Some(task) = next.take() {
                // SAFETY: no thread owns this desk before its own has started, which makes what was put there visible.
                let left = unsafe { self.desks.at(stand_in).next.put(task) };
                next = left;
            }
            let role = if is_reserve {
                Role::Reserve
            } else {
                Role::StandIn
            };
            if let Err(left) = self.start_stand_in(stand_in, role) {
                next = next.or(left);
            }
        }
        // Before what has been due for longer: a thread waits for it.
        self.bring_first(next);
        atomic::fence(Ordering::SeqCst);
        self.call_one();
        let people = self.people.lock();
        if people.is_last(number) {
            LeftForWait::Nobody(number)
        } else {
            // If all are blocked, one of them was blocked later than this one, and watches.
            LeftForWait::Others
        }
    }

    /// A ring for another stand-in, which is counted from now on, and whose desk is to be looked at: under the lock under which others are not
    /// any more.
    pub(super) fn take_ring(&self, people: &mut People) -> Option<usize> {
        let ring = people.free_rings.pop_first()?;
        people.stand_ins += 1;
        self.desks.note_used(ring);
        Some(ring)
    }

    /// Starts a stand-in that is counted already. If there is no thread for it, so that the others have to do, what lay on its desk comes back.
    fn start_stand_in(self: &Arc<Self>, ring: usize, role: Role) -> Result<(), Option<Task>> {
        self.busy.begin();
        if self.start_thread(ring, role).is_ok() {
            return Ok(());
        }
        // SAFETY: no thread has started at this desk, so this one still owns it: until the ring is given back.
        let left = unsafe { self.desks.at(ring).next.take() };
        self.rest();
        let mut people = self.people.lock();
        people.stand_ins -= 1;
        people.free_rings.insert(ring);
        Err(left)
    }

    /// For the thread that was the so manyth to be blocked: whether it is the last one still, and no stand-in could be started. One that was not
    /// needed any more may have ended meanwhile.
    fn seek_relief(self: &Arc<Self>, number: u64) -> Relief {
        let (free, are_going) = {
            let mut people = self.people.lock();
            if !people.is_last(number) {
                return Relief::Come;
            }
            (self.take_ring(&mut people), people.resigned != 0)
        };
        match free.map(|ring| self.start_stand_in(ring, Role::Reserve)) {
            Some(Ok(())) => Relief::Come,
            _ if are_going => Relief::Soon,
            Some(Err(_)) => Relief::NoneBySystem,
            None => Relief::None,
        }
    }

    pub(super) fn unblock(&self, ring: usize, awaited: Option<usize>) {
        // An actor for which others wait may have come first in the injector meanwhile, by `bring_first`.
        let desk = self.desks.at(ring);
        desk.note(|pace| &pace.was_away);
        let mut people = self.people.lock();
        people.blocked -= 1;
        if let Some(awaited) = awaited
            && let Some(place) = people.awaited.iter().position(|other| *other == awaited)
        {
            people.awaited.swap_remove(place);
        }
    }

    /// Looks in all queues for tasks for which blocked threads wait: one to return, the others first in the injector. All
    /// other tasks go there, too, behind these.
    #[cold]
    fn take_awaited(&self, ring: usize) -> Option<Task> {
        let awaited: HashSet<usize> = self.people.lock().awaited.iter().copied().collect();
        let own = self.desks.at(ring);
        // SAFETY: this thread owns the desk.
        let pop = || unsafe { own.next.take().or_else(|| own.ring.pop()) };
        let mut due: VecDeque<Task> = core::iter::from_fn(pop).collect();
        for (place, desk) in self.desks.used() {
            if place == ring {
                continue;
            }
            due.extend(desk.next.is_full().then(|| desk.next.steal()).flatten());
            // SAFETY: this thread owns its ring.
            while let Some(first) = unsafe { desk.ring.steal_into(&own.ring) } {
                due.push_back(first);
                due.extend(core::iter::from_fn(pop));
            }
        }
        due.extend(self.injector.take());
        self.injector.arrange(|queue| {
            due.append(queue);
            let (mut first, others): (VecDeque<_>, VecDeque<_>) = due
                .into_iter()
                .partition(|task| awaited.contains(&task.location()));
            let task = first.pop_front();
            first.extend(others);
            *queue = first;
            task
        })
    }

    /// Waits as the last thread that is left. Ends without success if that is why an actor has no turn for which a thread
    /// of the pool waits.
    fn watch<R>(
        self: &Arc<Self>,
        ring: usize,
        number: u64,
        deadline: Option<Instant>,
        wait: &mut impl FnMut(Option<Instant>) -> Option<R>,
    ) -> Result<Option<R>, Stuck> {
        // Others may have got what they wait for, and only not come back to their handlers yet.
        let is_alone = self.people.lock().alive == 1;
        let mut pause = if is_alone { Duration::ZERO } else { POLL };
        let gives_up = Instant::now() + if is_alone { Duration::ZERO } else { GRACE };
        let mut is_told = false;
        loop {
            let look = Instant::now() + pause;
            let until = deadline.map_or(look, |deadline| deadline.min(look));
            if let Some(done) = wait(Some(until)) {
                return Ok(Some(done));
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(None);
            }
            let system_has_none = match self.seek_relief(number) {
                Relief::Come => return Ok(wait(deadline)),
                Relief::Soon => {
                    pause = POLL;
                    continue;
                }
                Relief::NoneBySystem => true,
                Relief::None => false,
            };
            if Instant::now() < gives_up {
                pause = (2 * pause).min(LOOK_AGAIN);
                continue;
            }
            let awaited = self.take_awaited(ring);
            let is_stuck = awaited.is_some();
            self.bring_first(awaited);
            if is_stuck {
                // Meanwhile the answer may have come, or a thread be back, or about to be free.
                if let Some(done) = wait(Some(Instant::now())) {
                    return Ok(Some(done));
                }
                let people = self.people.lock();
                let none_may_come =
                    people.resigned == 0 && (system_has_none || people.free_rings.is_empty());
                if !people.is_last(number) || !none_may_come {
                    drop(people);
                    pause = Duration::ZERO;
                    continue;
                }
            }
            if !is_told && (is_stuck || self.has_tasks()) {
                is_told = true;
                told::no_thread_left(&self.name, self.desks.spare(), AtWork::asker);
            }
            if is_stuck {
                return Err(Stuck {
                    pool: self.name.as_str().into(),
                    limit: self.desks.spare(),
                });
            }
            pause = LOOK_AGAIN;
        }
    }
}

/// A thread of a pool, for as long as it waits; also if the wait panics.
struct Blocked {
    shared: Arc<Shared>,
    ring: usize,
    awaited: Option<usize>,
}

impl Drop for Blocked {
    fn drop(&mut self) {
        self.shared.unblock(self.ring, self.awaited);
    }
}

impl Blocked {
    /// `None` if this is no thread of a pool.
    fn begin(awaited: Option<usize>) -> Option<(Self, LeftForWait)> {
        let (shared, ring) = ThreadSeat::pool()?;
        let left = shared.block(ring, awaited);
        let blocked = Blocked {
            shared,
            ring,
            awaited,
        };
        Some((blocked, left))
    }
}

/// What the threads of pools do around a wait: another one stands in.
pub(super) struct PoolThreads;

impl Blocking for PoolThreads {
    fn while_blocked(&self, wait: &mut dyn FnMut()) {
        let _waiter = BlockedThread::begin(None);
        let blocked = Blocked::begin(None);
        if let Some((Blocked { shared, .. }, LeftForWait::Nobody(number))) = &blocked {
            // This wait does not look at the pool.
            let relief = loop {
                match shared.seek_relief(*number) {
                    Relief::Soon => std::thread::sleep(POLL),
                    relief => break relief,
                }
            };
            if relief != Relief::Come && shared.has_tasks() {
                told::no_thread_left(&shared.name, shared.desks.spare(), AtWork::asker);
            }
        }
        wait();
    }

    fn wait_for(
        &self,
        awaited: usize,
        deadline: Option<Instant>,
        wait: &mut dyn FnMut(Option<Instant>) -> bool,
    ) -> Result<(), Stuck> {
        let mut wait = |until| wait(until).then_some(());
        let _waiter = BlockedThread::begin(Some(awaited));
        let blocked = Blocked::begin(Some(awaited));
        let _awaiting = blocked
            .as_ref()
            .and_then(|(blocked, _)| BlockedThread::of_pool(&blocked.shared, awaited));
        match blocked {
            Some((blocked, LeftForWait::Nobody(number))) => {
                let Blocked { shared, ring, .. } = &blocked;
                shared.watch(*ring, number, deadline, &mut wait)?;
            }
            _blocked => drop(wait(deadline)),
        }
        Ok(())
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::{Arc, Mutex, mpsc};
    use std::time::{Duration, Instant};

    use super::super::wait::KEPT_ASLEEP;
    use super::Shared;
    use crate::observe::WatchedHome;
    use crate::pool::{Pool, Threads};
    use crate::{Address, Reply};

    /// An actor that asks the next one, and that one the next.
    fn chain(pool: &Pool, length: usize) -> Address<Reply<usize>> {
        let mut chain = pool.spawn_fn(|reply: Reply<usize>, _| reply.send(0));
        for _ in 0..length {
            let next = chain;
            chain = pool.spawn_fn(move |reply: Reply<usize>, _| {
                reply.send(next.ask(|reply| reply).unwrap() + 1);
            });
        }
        chain
    }

    /// Without stand-ins.
    fn pool(threads: usize) -> Pool {
        let builder = Pool::builder().threads(threads).stand_ins(0);
        builder.build().unwrap()
    }

    fn shared(pool: &Pool) -> Arc<Shared> {
        // Without the feature `tokio` there is no other kind.
        #[allow(irrefutable_let_patterns)]
        let Threads::Own(shared) = &pool.threads else {
            unreachable!("the pool has threads of its own")
        };
        Arc::clone(shared)
    }

    /// A handler on a thread of the pool waits for an actor that is due at those threads: whether it has its result. `look` is given the
    /// time until which it may wait for that.
    fn waits_for_what_is_due(
        pool: &Pool,
        mut look: impl FnMut(Option<Instant>) -> Option<()> + Send + 'static,
    ) -> mpsc::Receiver<bool> {
        let (told, tells) = mpsc::channel();
        let due = pool.spawn_fn(|(): (), _| {});
        let waiter = pool.spawn_fn(move |(): (), _| {
            due.tell(()).unwrap();
            let awaited = Arc::as_ptr(&due.place()).addr();
            let waited = crate::task::wait_for(awaited, None, &mut look);
            told.send(matches!(waited, Ok(Some(())))).unwrap();
        });
        waiter.tell(()).unwrap();
        tells
    }

    #[test]
    fn what_has_come_while_the_last_thread_looked_for_others_ends_its_wait() {
        let pool = pool(1);
        let mut looks = 0;
        let waited = waits_for_what_is_due(&pool, move |_| {
            looks += 1;
            (looks == 2).then_some(())
        });
        assert!(waited.recv().unwrap());
    }

    #[test]
    fn a_thread_that_is_back_while_the_last_one_looked_for_others_is_one_that_is_left() {
        let pool = pool(2);
        let shared = shared(&pool);
        let (gate, gated) = mpsc::channel::<()>();
        let gated = Mutex::new(gated);
        let other = pool.spawn_fn(move |(): (), _| {
            crate::task::while_blocked(|| gated.lock().unwrap().recv().unwrap());
        });
        other.tell(()).unwrap();
        while shared.people.lock().blocked == 0 {
            std::thread::yield_now();
        }
        let mut gate = Some(gate);
        let waited = waits_for_what_is_due(&pool, move |until| {
            let Some(until) = until else {
                // It waits as one of several, for as long as it takes.
                return Some(());
            };
            let until = until.saturating_duration_since(Instant::now());
            if !until.is_zero() {
                std::thread::park_timeout(until);
            } else if let Some(gate) = gate.take() {
                gate.send(()).unwrap();
                while shared.people.lock().blocked == 2 {
                    std::thread::yield_now();
                }
            }
            None
        });
        assert!(waited.recv().unwrap());
    }

    /// Otherwise the pool would take more and more of its threads for gone, and start others in their place.
    #[test]
    #[cfg_attr(miri, ignore = "starts many threads")]
    fn a_stand_in_that_has_resigned_is_counted_until_it_ends() {
        let pool = Pool::with_threads(1);
        let shared = shared(&pool);
        let chain = chain(&pool, 20);
        let (mut most_alive, mut alive) = (0, 0);
        // Until fewer are there than before; on a loaded machine each is called again before it has gone.
        for _ in 0..50 {
            assert_eq!(chain.ask(|reply| reply), Ok(20));
            most_alive = most_alive.max(alive);
            alive = shared.people.lock().alive;
            if alive < most_alive {
                break;
            }
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        // Those that are about to end do so without anything else to do.
        while shared.people.lock().resigned != 0 {
            assert!(
                Instant::now() < deadline,
                "those that have ended are counted still"
            );
            std::thread::yield_now();
        }
    }

    /// Those that have turns do.
    #[test]
    #[cfg_attr(miri, ignore = "starts many threads")]
    fn stand_ins_go_when_those_are_back_whom_they_stand_in_for() {
        let pool = Pool::with_threads(1);
        let shared = shared(&pool);
        let chain = chain(&pool, 20);
        assert_eq!(chain.ask(|reply| reply), Ok(20));
        let busy: Vec<_> = (0..40).map(|_| pool.spawn_fn(|(): (), _| {})).collect();
        let deadline = Instant::now() + Duration::from_secs(60);
        while shared.people.lock().stand_ins > 0 {
            assert!(Instant::now() < deadline, "none goes");
            for actor in &busy {
                actor.tell(()).unwrap();
            }
        }
    }

    /// Otherwise a burst of waits would leave its threads asleep for as long as the pool lives.
    #[test]
    #[cfg_attr(miri, ignore = "starts many threads")]
    fn stand_ins_that_sleep_go_after_a_while() {
        let pool = Pool::with_threads(1);
        let shared = shared(&pool);
        let chain = chain(&pool, 20);
        assert_eq!(chain.ask(|reply| reply), Ok(20));
        let turns = shared.look().turns;
        let deadline = Instant::now() + Duration::from_secs(60);
        while shared.people.lock().alive > 1 {
            assert!(Instant::now() < deadline, "those that sleep stay");
            std::thread::sleep(KEPT_ASLEEP);
        }
        assert_eq!(shared.desks.count_used(), 1);
        // What they have counted counts still.
        let counted = shared.look().turns;
        assert!(counted >= turns && counted > 20, "{counted}");
        assert_eq!(chain.ask(|reply| reply), Ok(20));
    }
}
