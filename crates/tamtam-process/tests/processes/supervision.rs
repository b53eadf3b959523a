//! Processes among the children of a supervision tree.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Pool, ProcessEnd, Reply, Strategy, Supervision,
};
use tamtam_process::{Process, ProcessSpawner};

use crate::actors::{Count, Counter, Death, Unfit};
use crate::until;

crate::tests! { "supervision":
    a_process_that_dies_is_begun_again_and_its_messages_go_on
    a_process_begins_with_the_tree_and_in_its_order
    all_begin_again_when_a_process_dies_or_another_child_does
    those_behind_a_process_begin_again_with_it
    a_supervisor_gives_up_a_process_that_dies_too_often
    a_process_that_cannot_be_made_is_given_up
    a_tree_that_is_shut_down_lets_its_process_finish
    a_process_that_does_not_come_back_is_killed_when_the_tree_ends
    a_process_that_does_not_come_back_is_killed_when_it_has_to_pause
    a_process_is_added_to_a_tree_at_work
    a_process_that_is_stopped_is_not_begun_again
    a_tree_that_never_begins_leaves_no_process
}

const LONG: Duration = Duration::from_secs(20);

/// A child of this process that notes its births.
struct Local {
    births: u64,
}

enum Told {
    Births(Reply<u64>),
    Panic,
}

impl Actor for Local {
    type Message = Told;

    fn handle(&mut self, message: Told, _: &mut Context<Self>) {
        match message {
            Told::Births(reply) => reply.send(self.births),
            Told::Panic => panic!("as children do"),
        }
    }
}

fn local(tree: &mut Supervision, pool: &Pool, name: &str) -> Address<Told> {
    let mut births = 0;
    tree.child(name.to_owned(), pool.spawner(), move |_| {
        births += 1;
        Local { births }
    })
}

fn called(name: &str) -> ProcessSpawner {
    Process::spawner().name(name)
}

fn pid(counter: &Address<Count>) -> u32 {
    counter.ask(Count::Pid).unwrap()
}

fn lives(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

fn a_process_that_dies_is_begun_again_and_its_messages_go_on() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne);
    let counter = called("child").child::<Counter>(&mut tree, 100).unwrap();
    let other = local(&mut tree, &pool, "other");
    let supervisor = tree.start(pool.spawner());
    let first = pid(&counter);
    assert_eq!(
        counter.ask(|reply| Count::DieAsking(Death::Abort, reply)),
        Err(AskError::ProcessEnded(ProcessEnd::Killed(6)))
    );
    counter.tell(Count::Add(1)).unwrap();
    counter.tell(Count::Die(Death::Panic)).unwrap();
    counter.tell(Count::Add(2)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(102));
    assert_ne!(pid(&counter), first);
    assert_eq!(supervisor.restarts(), 2);
    assert_eq!(other.ask(Told::Births), Ok(1));
    supervisor.shutdown();
    supervisor.end().wait();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
}

fn a_process_begins_with_the_tree_and_in_its_order() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne);
    let counter = called("first").child::<Counter>(&mut tree, 1).unwrap();
    // It is there already when the next one is born.
    let asked = counter.clone();
    let (born, births): (Sender<u32>, Receiver<u32>) = mpsc::channel();
    let _second = tree.child("second", pool.spawner(), move |_| {
        let children = children_of_this_process();
        born.send(children).unwrap();
        Local { births: 0 }
    });
    counter.tell(Count::Add(2)).unwrap();
    let supervisor = tree.start(pool.spawner());
    assert!(births.recv_timeout(LONG).unwrap() > 0);
    assert_eq!(asked.ask(Count::Read), Ok(3));
    drop(supervisor);
}

fn children_of_this_process() -> u32 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("children")).ok()?;
        Some(text.split_whitespace().count() as u32)
    });
    children.sum()
}

fn all_begin_again_when_a_process_dies_or_another_child_does() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForAll);
    let before = local(&mut tree, &pool, "before");
    let counter = called("one of all").child::<Counter>(&mut tree, 0).unwrap();
    let after = local(&mut tree, &pool, "after");
    let supervisor = tree.start(pool.spawner());
    let first = pid(&counter);
    counter.tell(Count::Die(Death::Signal)).unwrap();
    until("all have begun again", || {
        before.ask(Told::Births) == Ok(2) && after.ask(Told::Births) == Ok(2)
    });
    let second = pid(&counter);
    assert_ne!(first, second);
    // And the other way round; what it was sent meanwhile is not lost.
    counter.tell(Count::Add(5)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(5));
    after.tell(Told::Panic).unwrap();
    until("it is another process", || pid(&counter) != second);
    until("all have begun again", || before.ask(Told::Births) == Ok(3));
    assert_eq!(counter.ask(Count::Read), Ok(0));
    assert_eq!(supervisor.restarts(), 2);
    assert!(!lives(first) && !lives(second));
}

fn those_behind_a_process_begin_again_with_it() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::RestForOne);
    let before = local(&mut tree, &pool, "before");
    let counter = called("middle").child::<Counter>(&mut tree, 0).unwrap();
    let after = local(&mut tree, &pool, "after");
    let _supervisor = tree.start(pool.spawner());
    let first = pid(&counter);
    after.tell(Told::Panic).unwrap();
    until("it has begun again", || after.ask(Told::Births) == Ok(2));
    assert_eq!(pid(&counter), first);
    counter.tell(Count::Die(Death::Exit(3))).unwrap();
    until("it has begun again", || after.ask(Told::Births) == Ok(3));
    assert_ne!(pid(&counter), first);
    assert_eq!(before.ask(Told::Births), Ok(1));
}

fn a_supervisor_gives_up_a_process_that_dies_too_often() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne).limit(2, Duration::from_secs(60));
    let other = local(&mut tree, &pool, "other");
    let counter = called("weak").child::<Counter>(&mut tree, 0).unwrap();
    let supervisor = tree.start(pool.spawner());
    for _ in 0..3 {
        counter.tell(Count::Die(Death::Abort)).unwrap();
    }
    let end = supervisor.end().wait();
    assert!(
        matches!(end.reason, EndReason::GaveUp { restarts: 2, .. }),
        "{end:?}"
    );
    assert!(counter.ask(Count::Read).is_err());
    assert!(counter.is_stopped() && other.is_stopped());
}

fn a_process_that_cannot_be_made_is_given_up() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne).limit(1, Duration::from_secs(60));
    let unfit = called("unfit").child::<Unfit>(&mut tree, "no paper".to_owned());
    let _unfit = unfit.unwrap();
    let supervisor = tree.start(pool.spawner());
    match &supervisor.end().wait().reason {
        EndReason::GaveUp { message, .. } => assert!(message.contains("no paper"), "{message}"),
        other => panic!("{other:?}"),
    }
}

fn a_tree_that_is_shut_down_lets_its_process_finish() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne);
    let counter = called("finishing").child::<Counter>(&mut tree, 0).unwrap();
    let supervisor = tree.start(pool.spawner());
    let pid = pid(&counter);
    let (sender, answers) = mpsc::channel();
    for _ in 0..100 {
        let sender = sender.clone();
        counter.tell(Count::Add(1)).unwrap();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        counter.tell(Count::Read(reply)).unwrap();
    }
    supervisor.shutdown();
    supervisor.end().wait();
    assert!((1..=100).map(Ok).eq(answers.try_iter()));
    until("the process is reaped", || !lives(pid));
}

fn a_process_that_does_not_come_back_is_killed_when_the_tree_ends() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForOne).deadline(Duration::from_millis(50));
    let counter = called("hanging").child::<Counter>(&mut tree, 0).unwrap();
    let supervisor = tree.start(pool.spawner());
    let pid = pid(&counter);
    hang(&counter, &pool);
    supervisor.shutdown();
    supervisor.end().wait();
    until("the process is killed", || !lives(pid));
    assert!(counter.end().wait_timeout(LONG).is_some());
}

/// Has it in a handler that does not come back.
fn hang(counter: &Address<Count>, pool: &Pool) {
    let (sender, begun) = mpsc::channel();
    let note = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
    counter.tell(Count::Hang(note)).unwrap();
    begun.recv_timeout(LONG).unwrap();
}

fn a_process_that_does_not_come_back_is_killed_when_it_has_to_pause() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForAll).deadline(Duration::from_millis(50));
    let counter = called("kept").child::<Counter>(&mut tree, 3).unwrap();
    let other = local(&mut tree, &pool, "other");
    let _supervisor = tree.start(pool.spawner());
    hang(&counter, &pool);
    counter.tell(Count::Add(4)).unwrap();
    other.tell(Told::Panic).unwrap();
    // The message at which it was killed is lost, the others are not.
    assert_eq!(counter.ask_timeout(Count::Read, LONG), Ok(7));
    assert_eq!(other.ask(Told::Births), Ok(2));
}

fn a_process_is_added_to_a_tree_at_work() {
    let pool = Pool::with_threads(1);
    let supervisor = Supervision::new(Strategy::OneForOne).start(pool.spawner());
    let counter = called("added").child_of::<Counter>(&supervisor, 6).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(6));
    counter.tell(Count::Die(Death::Abort)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(6));
    assert_eq!(supervisor.restarts(), 1);
    supervisor.shutdown();
    supervisor.end().wait();
    // One that comes too late is stopped.
    let late = called("late").child_of::<Counter>(&supervisor, 6).unwrap();
    assert_eq!(late.end().wait().reason, EndReason::Stopped);
}

fn a_process_that_is_stopped_is_not_begun_again() {
    let pool = Pool::with_threads(1);
    let mut tree = Supervision::new(Strategy::OneForAll);
    let counter = called("stopped").child::<Counter>(&mut tree, 0).unwrap();
    let other = local(&mut tree, &pool, "other");
    let supervisor = tree.start(pool.spawner());
    pid(&counter);
    counter.stop();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
    until("it is forgotten", || supervisor.children() == 1);
    assert_eq!((supervisor.restarts(), other.ask(Told::Births)), (0, Ok(1)));
}

fn a_tree_that_never_begins_leaves_no_process() {
    let mut tree = Supervision::new(Strategy::OneForOne);
    let counter = called("never").child::<Counter>(&mut tree, 0).unwrap();
    let end = counter.end();
    drop((tree, counter));
    let start = Instant::now();
    assert_eq!(end.wait().reason, EndReason::Stopped);
    assert!(start.elapsed() < LONG);
}
