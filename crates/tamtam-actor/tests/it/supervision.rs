//! Supervision trees.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Answers, Hold, LONG, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{
    Actor, Address, AskError, Budget, Context, EndReason, Frame, Pool, Reply, Stepper, Strategy,
    Supervision, Supervisor,
};

/// What happens in a tree, in order, and how many were counted.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>, Arc<AtomicU32>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn counted(&self) -> u32 {
        self.1.load(Ordering::SeqCst)
    }

    fn take(&self) -> Vec<String> {
        core::mem::take(&mut *self.0.lock().unwrap())
    }
}

struct Worker {
    name: &'static str,
    log: Log,
    count: u32,
}

enum Job {
    Count,
    Read(Reply<u32>),
    Panic,
    Hold(Hold),
    Finish,
    Link(Address<Job>, Reply<()>),
}

impl Actor for Worker {
    type Message = Job;

    fn started(&mut self, _: &mut Context<Self>) {
        self.log.add(format!("+{}", self.name));
    }

    fn handle(&mut self, job: Job, cx: &mut Context<Self>) {
        match job {
            Job::Count => {
                self.count += 1;
                self.log.1.fetch_add(1, Ordering::SeqCst);
            }
            Job::Read(reply) => reply.send(self.count),
            Job::Panic => panic_on_purpose(),
            Job::Hold(hold) => hold.wait(),
            Job::Finish => cx.stop(),
            Job::Link(other, reply) => {
                cx.link(&other);
                reply.send(());
            }
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.add(format!("-{}", self.name));
    }
}

fn add(tree: &mut Supervision, pool: &Pool, log: &Log, name: &'static str) -> Address<Job> {
    let log = log.clone();
    tree.child(name, pool.spawner(), move |_| Worker {
        name,
        log: log.clone(),
        count: 0,
    })
}

const HOUR: Duration = Duration::from_secs(3_600);

/// A tree of three, begun.
fn three(pool: &Pool, strategy: Strategy) -> (Supervisor, [Address<Job>; 3], Log) {
    let log = Log::default();
    let mut tree = Supervision::new(strategy).limit(100, HOUR);
    let children = ["a", "b", "c"].map(|name| add(&mut tree, pool, &log, name));
    let supervisor = tree.start(pool.spawner().name("three"));
    for child in &children {
        child.tell(Job::Count).unwrap();
        assert_eq!(child.ask(Job::Read), Ok(1));
    }
    assert_eq!(log.take(), ["+a", "+b", "+c"]);
    (supervisor, children, log)
}

fn counts(children: &[Address<Job>; 3]) -> [u32; 3] {
    [0, 1, 2].map(|number| children[number].ask(Job::Read).unwrap())
}

#[test]
fn children_begin_in_order_and_what_came_before_waits() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let mut tree = Supervision::new(Strategy::OneForOne);
        let a = add(&mut tree, &pool, &log, "a");
        let b = add(&mut tree, &pool, &log, "b");
        assert_eq!(b.name().as_deref(), Some("b"));
        b.tell(Job::Count).unwrap();
        a.tell(Job::Count).unwrap();
        let answers = Answers::new();
        a.tell(Job::Read(answers.reply())).unwrap();
        assert!(answers.are_out());
        let supervisor = tree.start(pool.spawner());
        assert_eq!(answers.next(), Ok(1));
        assert_eq!(b.ask(Job::Read), Ok(1));
        assert_eq!(log.take(), ["+a", "+b"]);
        drop(supervisor);
        assert_eq!(b.end().wait().reason, EndReason::Stopped);
        assert_eq!(a.end().wait().reason, EndReason::Stopped);
        assert_eq!(log.take(), ["-b", "-a"]);
    });
}

#[test]
fn a_tree_that_never_begins_ends_with_its_addresses() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let log = Log::default();
        let mut tree = Supervision::new(Strategy::OneForOne);
        let a = add(&mut tree, &pool, &log, "a");
        a.tell(Job::Count).unwrap();
        let end = a.end();
        drop(tree);
        drop(a);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
        assert!(log.take().is_empty());
    });
}

#[test]
fn one_for_one_begins_one_again() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (supervisor, children, log) = three(&pool, Strategy::OneForOne);
        children[1].tell(Job::Panic).unwrap();
        assert_eq!(counts(&children), [1, 0, 1]);
        assert_eq!(log.take(), ["+b"]);
        assert_eq!(supervisor.restarts(), 1);
        supervisor.shutdown();
        assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
        assert_eq!(log.take(), ["-c", "-b", "-a"]);
    });
}

#[test]
fn one_for_all_begins_all_again_in_order() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (supervisor, children, log) = three(&pool, Strategy::OneForAll);
        for child in &children {
            child.tell(Job::Count).unwrap();
        }
        assert_eq!(counts(&children), [2, 2, 2]);
        children[1].tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 1 && counts(&children) == [0, 0, 0]);
        assert_eq!(log.take(), ["-c", "-a", "+a", "+b", "+c"]);
    });
}

#[test]
fn rest_for_one_begins_again_those_that_come_later() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (_supervisor, children, log) = three(&pool, Strategy::RestForOne);
        children[1].tell(Job::Panic).unwrap();
        until(|| counts(&children) == [1, 0, 0]);
        assert_eq!(log.take(), ["-c", "+b", "+c"]);
        children[2].tell(Job::Panic).unwrap();
        assert_eq!(children[2].ask(Job::Read), Ok(0));
        assert_eq!(log.take(), ["+c"]);
    });
}

#[test]
fn a_child_that_stops_is_not_begun_again() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (_supervisor, children, log) = three(&pool, Strategy::OneForAll);
        children[0].tell(Job::Finish).unwrap();
        children[0].end().wait();
        children[1].stop();
        children[1].end().wait();
        assert_eq!(log.take(), ["-a", "-b"]);
        children[2].tell(Job::Panic).unwrap();
        assert_eq!(children[2].ask(Job::Read), Ok(0));
        assert_eq!(log.take(), ["+c"]);
    });
}

#[test]
fn a_supervisor_gives_up_after_too_many_restarts() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let mut tree = Supervision::new(Strategy::OneForOne).limit(2, HOUR);
        let a = add(&mut tree, &pool, &log, "a");
        let b = add(&mut tree, &pool, &log, "b");
        let supervisor = tree.start(pool.spawner());
        let end = supervisor.end();
        for _ in 0..2 {
            a.tell(Job::Panic).unwrap();
            assert_eq!(a.ask(Job::Read), Ok(0));
        }
        assert_eq!(b.ask(Job::Read), Ok(0));
        a.tell(Job::Panic).unwrap();
        let answers = Answers::new();
        // It lies behind, and is counted when the actor ends.
        let told = a.tell(Job::Read(answers.reply())).is_ok();
        let reason = end.wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 2, .. }),
            "{reason}"
        );
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        assert_eq!(b.end().wait().reason, EndReason::Stopped);
        assert_eq!(a.end().wait().reason, EndReason::Stopped);
        assert_eq!(a.lost(), 3 + u64::from(told));
        assert_eq!(log.take().last().unwrap(), "-b");
    });
}

#[test]
fn a_child_that_cannot_be_made_makes_its_supervisor_give_up() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let mut tree = Supervision::new(Strategy::OneForAll);
        let never = tree.child("never", pool.spawner(), |_| -> Worker {
            panic_on_purpose()
        });
        let supervisor = tree.start(pool.spawner());
        assert!(matches!(
            supervisor.end().wait().reason,
            EndReason::GaveUp { restarts: 3, .. }
        ));
        assert!(never.is_stopped());
    });
}

/// The tree: a, then a supervisor with b and c, then d.
fn nested(pool: &Pool, log: &Log, limit: u32) -> (Supervision, [Address<Job>; 4]) {
    let mut tree = Supervision::new(Strategy::RestForOne).limit(limit, HOUR);
    let a = add(&mut tree, pool, log, "a");
    let mut below = Supervision::new(Strategy::OneForOne).limit(1, HOUR);
    let b = add(&mut below, pool, log, "b");
    let c = add(&mut below, pool, log, "c");
    tree.supervisor("below", pool.spawner(), below);
    let d = add(&mut tree, pool, log, "d");
    (tree, [a, b, c, d])
}

#[test]
fn a_supervisor_that_gives_up_is_begun_again_by_its_own() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let (tree, [a, b, c, d]) = nested(&pool, &log, 2);
        let supervisor = tree.start(pool.spawner());
        for child in [&a, &b, &c, &d] {
            assert_eq!(child.ask(Job::Read), Ok(0));
        }
        until(|| log.0.lock().unwrap().len() == 4);
        let mut begun = log.take();
        // A supervisor has begun before its children have.
        begun.retain(|line| line != "+d");
        assert_eq!(begun, ["+a", "+b", "+c"]);
        c.tell(Job::Panic).unwrap();
        assert_eq!(c.ask(Job::Read), Ok(0));
        assert_eq!(log.take(), ["+c"]);
        assert_eq!(supervisor.restarts(), 0);
        for child in [&a, &b, &d] {
            child.tell(Job::Count).unwrap();
            // What it has not handled when it begins again is for the next instance.
            assert_eq!(child.ask(Job::Read), Ok(1));
        }
        // Once more than is allowed: it begins again, with b and c, and so does d.
        c.tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 1 && d.ask(Job::Read) == Ok(0));
        until(|| b.ask(Job::Read) == Ok(0));
        assert_eq!(c.ask(Job::Read), Ok(0));
        assert_eq!(a.ask(Job::Read), Ok(1));
        let lines = log.take();
        let at = |line: &str| lines.iter().position(|it| it == line).unwrap();
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert!(at("-b") < at("+b") && at("+b") < at("+c") && at("-d") < at("+d"));
        // All of them end from the last to the first.
        supervisor.shutdown();
        assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
        assert_eq!(log.take(), ["-d", "-c", "-b", "-a"]);
    });
}

#[test]
fn when_the_topmost_gives_up_all_have_ended() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let (tree, [a, b, c, d]) = nested(&pool, &log, 1);
        let supervisor = tree.start(pool.spawner());
        let end = supervisor.end();
        // One restart is allowed below, and one above.
        for _ in 0..4 {
            let _ = b.tell(Job::Panic);
        }
        let reason = end.wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 1, .. }),
            "{reason}"
        );
        for child in [a, b, c, d] {
            assert_eq!(child.end().wait().reason, EndReason::Stopped);
        }
    });
}

#[test]
fn a_child_that_is_ended_by_a_link_makes_its_supervisor_give_up() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (supervisor, children, _) = three(&pool, Strategy::OneForOne);
        let outsider = pool.spawn(Worker {
            name: "outsider",
            log: Log::default(),
            count: 0,
        });
        children[0]
            .ask(|reply| Job::Link(outsider.clone(), reply))
            .unwrap();
        outsider.tell(Job::Panic).unwrap();
        assert!(matches!(
            supervisor.end().wait().reason,
            EndReason::GaveUp { .. }
        ));
        assert_eq!(children[2].end().wait().reason, EndReason::Stopped);
    });
}

#[test]
fn a_child_finishes_what_it_has_accepted_or_is_stopped_at_its_deadline() {
    within_limit(|| {
        let pool = Pool::with_threads(3);
        // In time.
        let (supervisor, children, log) = three(&pool, Strategy::OneForOne);
        for _ in 0..1_000 {
            children[0].tell(Job::Count).unwrap();
        }
        supervisor.shutdown();
        supervisor.end().wait();
        assert_eq!(children[0].lost(), 0);
        assert_eq!(log.take(), ["-c", "-b", "-a"]);
        // Not in time: the one that is held has more to do than its deadline allows; nobody waits for it.
        let log = Log::default();
        let mut tree = Supervision::new(Strategy::OneForOne).deadline(Duration::from_millis(5));
        let a = add(&mut tree, &pool, &log, "a");
        let b = add(&mut tree, &pool, &log, "b");
        let supervisor = tree.start(pool.spawner());
        let (wait, gate) = hold();
        b.tell(Job::Hold(wait)).unwrap();
        gate.until_entered();
        b.tell(Job::Count).unwrap();
        supervisor.shutdown();
        assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
        assert_eq!(a.end().wait().reason, EndReason::Stopped);
        gate.open();
        assert_eq!(b.end().wait().reason, EndReason::Stopped);
        assert_eq!(b.lost(), 1);
    });
}

/// It waited for the step for ever, and began with no child's end.
#[test]
fn a_tree_ends_within_its_deadlines_though_a_child_does_not_come_to_its_beginning_or_pause() {
    const DEADLINE: Duration = Duration::from_millis(5);

    /// Is held where it begins.
    struct Late;

    impl Actor for Late {
        type Message = Job;

        fn handle(&mut self, _: Job, _: &mut Context<Self>) {}
    }

    fn ends(supervisor: &Supervisor) -> EndReason {
        let ended = supervisor.end().wait_timeout(LONG);
        ended.expect("an end within the deadlines").reason
    }

    within_limit(|| {
        let pool = Pool::with_threads(4);
        // A frame that is not pumped: no child of it begins.
        let frame = Frame::new();
        let mut tree = Supervision::new(Strategy::OneForOne).deadline(DEADLINE);
        let before = add(&mut tree, &pool, &Log::default(), "before");
        tree.child("in a frame", frame.spawner(), |_| Late);
        let supervisor = tree.start(pool.spawner());
        // So the step of the other one is under way.
        assert_eq!(before.ask(Job::Read), Ok(0));
        supervisor.shutdown();
        assert_eq!(ends(&supervisor), EndReason::Stopped);
        // It was told to stop, and not waited for longer than that.
        assert_eq!(before.end().wait().reason, EndReason::Stopped);

        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let mut tree = Supervision::new(Strategy::OneForOne).deadline(DEADLINE);
        tree.child("late", pool.spawner(), move |_| {
            wait.take().into_iter().for_each(Hold::wait);
            Late
        });
        let supervisor = tree.start(pool.spawner());
        gate.until_entered();
        supervisor.shutdown();
        assert_eq!(ends(&supervisor), EndReason::Stopped);
        gate.open();

        // One that is to pause with another one, and does not come back from its handler; the tree is shut down, or gives up.
        for gives_up in [false, true] {
            let log = Log::default();
            let tree = Supervision::new(Strategy::OneForAll).limit(100, HOUR);
            let mut tree = tree.deadline(DEADLINE);
            let [a, b, c] = ["a", "b", "c"].map(|name| add(&mut tree, &pool, &log, name));
            let supervisor = tree.start(pool.spawner());
            let outsider = pool.spawn(Worker {
                name: "outsider",
                log: log.clone(),
                count: 0,
            });
            a.ask(|reply| Job::Link(outsider.clone(), reply)).unwrap();
            let (wait, gate) = hold();
            b.tell(Job::Hold(wait)).unwrap();
            gate.until_entered();
            c.tell(Job::Panic).unwrap();
            until(|| supervisor.restarts() == 1);
            if gives_up {
                outsider.tell(Job::Panic).unwrap();
                assert!(matches!(ends(&supervisor), EndReason::GaveUp { .. }));
            } else {
                supervisor.shutdown();
                assert_eq!(ends(&supervisor), EndReason::Stopped);
            }
            gate.open();
            assert_eq!(b.end().wait().reason, EndReason::Stopped);
        }
    });
}

/// It was told to finish once more, and had its deadlines a second time.
#[test]
fn a_child_that_is_about_to_end_as_its_tree_is_given_up_and_shut_down_has_its_deadlines_once() {
    const DEADLINE: Duration = Duration::from_secs(1);

    let stepper = Stepper::new();
    let mut frame = Frame::new();
    let log = Log::default();
    let worker = |name| {
        let log = log.clone();
        move |_: &mut Context<Worker>| Worker {
            name,
            log: log.clone(),
            count: 0,
        }
    };
    let tree = Supervision::new(Strategy::OneForOne).limit(0, HOUR);
    let mut tree = tree.deadline(DEADLINE);
    let panics = tree.child("panics", stepper.spawner(), worker("panics"));
    // In a frame that is not pumped when it is to end.
    tree.child("hangs", frame.spawner(), worker("hangs"));
    let supervisor = tree.start(stepper.spawner());
    stepper.run();
    frame.pump(Budget::unlimited());
    stepper.run();
    assert_eq!(log.take(), ["+panics", "+hangs"]);
    panics.tell(Job::Panic).unwrap();
    stepper.run();
    supervisor.shutdown();
    stepper.run();
    // One to finish, and one to stop.
    for _ in 0..2 {
        assert!(supervisor.end().wait_timeout(Duration::ZERO).is_none());
        stepper.advance(DEADLINE);
        stepper.run();
    }
    let ended = supervisor.end().wait_timeout(Duration::ZERO);
    assert_eq!(ended.unwrap().reason, EndReason::Stopped);
}

/// Panics in the middle of a restart, and a shutdown in the middle of it all.
#[test]
fn a_storm_of_panics_ends_in_order() {
    within_limit(|| {
        for strategy in [
            Strategy::OneForOne,
            Strategy::OneForAll,
            Strategy::RestForOne,
        ] {
            for round in 0..30_u32 {
                let pool = Pool::with_threads(1 + round as usize % 3);
                let log = Log::default();
                let mut tree = Supervision::new(strategy).limit(100_000, HOUR);
                let children: Vec<_> = ["a", "b", "c", "d"]
                    .map(|name| add(&mut tree, &pool, &log, name))
                    .into();
                let supervisor = tree.start(pool.spawner());
                let accepted = AtomicU32::new(0);
                std::thread::scope(|scope| {
                    let (children, accepted) = (&children, &accepted);
                    for teller in 0..2 {
                        scope.spawn(move || {
                            let mut random =
                                crate::support::Random::new(u64::from(round) * 2 + teller);
                            for _ in 0..150 {
                                let number = random.below(4) as usize;
                                let job = match random.below(4) {
                                    0 => Job::Panic,
                                    _ => Job::Count,
                                };
                                if children[number].tell(job).is_ok() {
                                    accepted.fetch_add(1, Ordering::SeqCst);
                                }
                            }
                        });
                    }
                    scope.spawn(|| {
                        if round % 2 == 0 {
                            supervisor.shutdown();
                        }
                    });
                });
                supervisor.shutdown();
                assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
                for child in &children {
                    assert_eq!(child.end().wait().reason, EndReason::Stopped);
                    assert!(child.tell(Job::Count).is_err());
                }
                let lost: u64 = children.iter().map(Address::lost).sum();
                assert_eq!(
                    u64::from(log.counted()) + lost,
                    u64::from(accepted.into_inner())
                );
                // Each instance that has ended in order had begun.
                let lines = log.take();
                let begun = lines.iter().filter(|line| line.starts_with('+')).count();
                let ended = lines.len() - begun;
                assert!(begun >= ended, "{lines:?}");
                pool.shutdown();
            }
        }
    });
}

/// One that is added to a tree at work.
fn add_later(to: &Supervisor, pool: &Pool, log: &Log, name: &'static str) -> Address<Job> {
    let log = log.clone();
    to.child(name, pool.spawner(), move |_| Worker {
        name,
        log: log.clone(),
        count: 0,
    })
}

#[test]
fn children_that_come_later_are_as_the_others_and_behind_them() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (supervisor, [a, b, c], log) = three(&pool, Strategy::RestForOne);
        let d = add_later(&supervisor, &pool, &log, "d");
        // Its address is good at once.
        d.tell(Job::Count).unwrap();
        assert_eq!(d.ask(Job::Read), Ok(1));
        assert_eq!((supervisor.children(), d.name().as_deref()), (4, Some("d")));
        let e = add_later(&supervisor, &pool, &log, "e");
        assert_eq!(e.ask(Job::Read), Ok(0));
        assert_eq!(log.take(), ["+d", "+e"]);
        // It panics itself, and those before it go on.
        d.tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 1);
        assert_eq!((d.ask(Job::Read), e.ask(Job::Read)), (Ok(0), Ok(0)));
        assert_eq!(counts(&[a.clone(), b.clone(), c]), [1; 3]);
        assert_eq!(log.take(), ["-e", "+d", "+e"]);
        // And one before it.
        b.tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 2);
        // It answers when all behind it pause.
        assert_eq!(b.ask(Job::Read), Ok(0));
        assert_eq!((d.ask(Job::Read), e.ask(Job::Read)), (Ok(0), Ok(0)));
        assert_eq!(log.take(), ["-e", "-d", "-c", "+b", "+c", "+d", "+e"]);
        assert_eq!(a.ask(Job::Read), Ok(1));
        supervisor.shutdown();
        assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
        assert_eq!(log.take(), ["-e", "-d", "-c", "-b", "-a"]);
        assert_eq!(supervisor.children(), 0);
        // Too late.
        let late = add_later(&supervisor, &pool, &log, "late");
        assert_eq!(late.end().wait().reason, EndReason::Stopped);
        assert_eq!((supervisor.children(), log.take().len()), (0, 0));
    });
}

#[test]
fn children_that_come_and_go_leave_nothing_behind() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let empty = Supervision::new(Strategy::OneForAll);
        let supervisor = empty.start(pool.spawner());
        for _ in 0..300 {
            let child = add_later(&supervisor, &pool, &log, "guest");
            child.tell(Job::Count).unwrap();
            child.tell(Job::Finish).unwrap();
            child.end().wait();
        }
        until(|| supervisor.children() == 0);
        assert_eq!((log.counted(), supervisor.restarts()), (300, 0));
    });
}

/// Children come from several threads while others panic, and at last while the tree ends: all have ended then.
#[test]
fn children_that_come_beside_panics_and_the_end_are_all_ended() {
    within_limit(|| {
        for round in 0..10 {
            let pool = Pool::with_threads(2);
            let log = Log::default();
            let tree = Supervision::new(Strategy::OneForAll).limit(1_000, HOUR);
            let supervisor = tree.start(pool.spawner());
            let children: Vec<Address<Job>> = std::thread::scope(|scope| {
                let adders = [0, 1].map(|_| {
                    scope.spawn(|| {
                        let add = |number| {
                            let child = add_later(&supervisor, &pool, &log, "guest");
                            if number % 3 == 0 {
                                let _ = child.tell(Job::Panic);
                            }
                            child
                        };
                        (0..20).map(add).collect::<Vec<_>>()
                    })
                });
                if round % 2 == 0 {
                    supervisor.shutdown();
                }
                adders
                    .into_iter()
                    .flat_map(|adder| adder.join().unwrap())
                    .collect()
            });
            assert_eq!(children.len(), 40);
            supervisor.shutdown();
            supervisor.end().wait();
            for child in &children {
                child.end().wait();
            }
            until(|| supervisor.children() == 0);
        }
    });
}

/// Both the end of a child and the coming of another one wait in the mailbox of a supervisor that ends without looking.
#[test]
fn children_whose_supervisor_ends_before_it_hears_of_them_are_forgotten() {
    within_limit(|| {
        let office = Pool::with_threads(1);
        let elsewhere = Pool::with_threads(1);
        let log = Log::default();
        let mut tree = Supervision::new(Strategy::OneForOne);
        let early = add(&mut tree, &elsewhere, &log, "early");
        let (wait, gate) = hold();
        let holder = office.spawn_fn(|hold: Hold, _| hold.wait());
        holder.tell(wait).unwrap();
        gate.until_entered();
        let supervisor = tree.start(office.spawner());
        supervisor.shutdown();
        early.stop();
        early.end().wait();
        let late = add_later(&supervisor, &elsewhere, &log, "late");
        assert!(!late.is_stopped());
        gate.open();
        assert_eq!(supervisor.end().wait().reason, EndReason::Stopped);
        assert_eq!(late.end().wait().reason, EndReason::Stopped);
        until(|| supervisor.children() == 0);
        assert_eq!(log.take().len(), 0);
    });
}

/// Where actors stay on their thread they are begun again there; they need not be `Send`.
#[test]
fn children_on_a_worker_and_in_a_frame_begin_again_where_they_live() {
    use std::rc::Rc;
    use std::thread::{self, ThreadId};

    struct Local {
        _stays: Rc<()>,
        instance: u32,
    }

    enum Ask {
        Where(Reply<(ThreadId, u32)>),
        Panic,
    }

    impl Actor for Local {
        type Message = Ask;

        fn handle(&mut self, ask: Ask, _: &mut Context<Self>) {
            match ask {
                Ask::Where(reply) => reply.send((thread::current().id(), self.instance)),
                Ask::Panic => panic_on_purpose(),
            }
        }
    }

    fn birth() -> impl FnMut(&mut Context<Local>) -> Local + Send + 'static {
        let mut instance = 0;
        move |_| {
            instance += 1;
            Local {
                _stays: Rc::new(()),
                instance,
            }
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let worker = tamtam_actor::Worker::new();
        let mut frame = Frame::new();
        let mut tree = Supervision::new(Strategy::OneForAll);
        let on_worker = tree.child("on a worker", worker.spawner(), birth());
        let in_frame = tree.child("in a frame", frame.spawner(), birth());
        let supervisor = tree.start(pool.spawner());
        let later = supervisor.child("later", frame.handle().spawner(), birth());
        let mut ask = |child: &Address<Ask>| {
            let mut asked = std::pin::pin!(child.ask_async(Ask::Where));
            loop {
                frame.pump(Budget::unlimited());
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                if let std::task::Poll::Ready(answer) = asked.as_mut().poll(&mut context) {
                    return answer.unwrap();
                }
                thread::yield_now();
            }
        };
        let here = thread::current().id();
        let home = ask(&on_worker).0;
        assert_ne!(home, here);
        assert_eq!((ask(&in_frame), ask(&later)), ((here, 1), (here, 1)));
        on_worker.tell(Ask::Panic).unwrap();
        // What waits is for the next instance.
        assert_eq!(ask(&on_worker), (home, 2));
        assert_eq!((ask(&in_frame), ask(&later)), ((here, 2), (here, 2)));
        later.tell(Ask::Panic).unwrap();
        assert_eq!(ask(&later), (here, 3));
        assert_eq!((ask(&on_worker), ask(&in_frame)), ((home, 3), (here, 3)));
        assert_eq!(supervisor.restarts(), 2);
        supervisor.shutdown();
        let mut end = supervisor.end();
        while end.wait_timeout(Duration::ZERO).is_none() {
            frame.pump(Budget::unlimited());
            thread::yield_now();
        }
        assert!(on_worker.is_stopped() && in_frame.is_stopped() && later.is_stopped());
    });
}
