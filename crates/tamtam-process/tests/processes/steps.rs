//! Processes that are killed or stopped at each step of a message's way: it is written, read, begun, answered, an address goes out with the
//! answer, another one is given up, the message is done with. They do it themselves, where the step calls what is a message's own: its
//! `Serialize`, its `Deserialize`, its handler, its drop.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::{
    Actor, Address, AskError, Context, Loss, Pool, ProcessEnd, Reply, Restart, on_dead_letter,
};
use tamtam_process::{Process, ProcessHandle, Remote};

use crate::until;

crate::tests! { "steps":
    a_death_or_a_stop_at_any_step_loses_nothing_in_silence
    a_parent_that_dies_at_any_step_leaves_no_process
}

/// What a process does to itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Act {
    Nothing,
    Kill,
    Stop,
}

impl Act {
    fn act(self) {
        let signal = match self {
            Act::Nothing => return,
            Act::Kill => Signal::KILL,
            Act::Stop => Signal::STOP,
        };
        kill_process(getpid(), signal).unwrap();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum When {
    Never,
    Written,
    Read,
    Dropped,
}

/// Acts when it is written, read or dropped.
struct Fuse(When, Act);

const NO_FUSE: Fuse = Fuse(When::Never, Act::Nothing);

impl Fuse {
    fn comes(&self, when: When) {
        if self.0 == when {
            self.1.act();
        }
    }
}

impl Serialize for Fuse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.comes(When::Written);
        (self.0, self.1).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (when, act) = Deserialize::deserialize(deserializer)?;
        let fuse = Fuse(when, act);
        fuse.comes(When::Read);
        Ok(fuse)
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        self.comes(When::Dropped);
    }
}

/// Where on its way a message has its process act.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Step {
    None,
    Read,
    Begin,
    Answer,
    Export,
    Release,
    Confirm,
    /// By the process that has asked.
    ReadAnswer,
}

const STEPS: [Step; 6] = [
    Step::Read,
    Step::Begin,
    Step::Answer,
    Step::Export,
    Step::Release,
    Step::Confirm,
];

#[derive(Serialize, Deserialize)]
pub(crate) enum Walk {
    /// The number, which is noted when it is begun.
    Go(u64, Way),
    /// Has a process of its own. The numbers of both.
    HaveChild(Reply<(u32, u32)>),
    /// Is to die when it writes to that, or reads from it; or only writes and reads.
    DieAt(When),
    /// Asks that for an answer of so many bytes, and does something while it encodes the question; whether the answer has come.
    Pass(Passed, Reply<bool>),
    Here(Reply<()>),
}

/// A question that a walker passes on to its child.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passed {
    pub(crate) number: u64,
    pub(crate) load: usize,
    pub(crate) encoding: Act,
    pub(crate) begun: Act,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Way {
    step: Step,
    act: Act,
    read: Fuse,
    list: Option<Address<u64>>,
    reply: Option<Reply<Arrival>>,
    load: Vec<u8>,
}

impl Way {
    fn plain(reply: Option<Reply<Arrival>>) -> Self {
        Way {
            step: Step::None,
            act: Act::Nothing,
            read: NO_FUSE,
            list: None,
            reply,
            load: Vec::new(),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Arrival {
    address: Option<Address<Walk>>,
    fuse: Fuse,
    load: Vec<u8>,
}

/// Walks the way of each message, and notes in a file which ones it has begun.
pub(crate) struct Walker {
    log: String,
    child: Option<Address<Walk>>,
}

impl Remote for Walker {
    type Config = String;
    const NAME: &'static str = "walker";

    fn create(log: String, _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Walker { log, child: None })
    }
}

impl Actor for Walker {
    type Message = Walk;

    fn handle(&mut self, message: Walk, cx: &mut Context<Self>) {
        match message {
            Walk::Go(number, way) => {
                let file = std::fs::OpenOptions::new().append(true).open(&self.log);
                file.unwrap().write_all(&number.to_le_bytes()).unwrap();
                let (step, act) = (way.step, way.act);
                let at = |it| if it == step { act } else { Act::Nothing };
                at(Step::Begin).act();
                if let Some(reply) = way.reply {
                    let fuse = match step {
                        Step::Answer | Step::Export => Fuse(When::Written, act),
                        Step::ReadAnswer => Fuse(When::Read, act),
                        _ => NO_FUSE,
                    };
                    reply.send(Arrival {
                        address: (step == Step::Export).then(|| cx.address()),
                        fuse,
                        load: way.load,
                    });
                }
                drop(way.list);
                at(Step::Release).act();
                drop(Fuse(When::Dropped, at(Step::Confirm)));
            }
            Walk::HaveChild(reply) => {
                let program = Process::from(crate::actors::this_program());
                let (child, handle) = program
                    .spawn_with_handle::<Walker>(self.log.clone())
                    .unwrap();
                reply.send((std::process::id(), handle.pid().unwrap()));
                self.child = Some(child);
            }
            Walk::DieAt(when) => self.write_and_read(when),
            Walk::Pass(passed, reply) => self.pass(passed, reply),
            Walk::Here(reply) => reply.send(()),
        }
    }
}

impl Walker {
    fn pass(&self, passed: Passed, reply: Reply<bool>) {
        let heard = Reply::to(move |answer: Result<Arrival, AskError>| match answer {
            Ok(_) => reply.send(true),
            Err(AskError::ProcessEnded(ProcessEnd::Killed(9))) => reply.send(false),
            Err(other) => panic!("{other:?}"),
        });
        let way = Way {
            step: Step::Begin,
            act: passed.begun,
            read: Fuse(When::Written, passed.encoding),
            load: vec![7; passed.load],
            ..Way::plain(Some(heard))
        };
        let child = self.child.as_ref().unwrap();
        child.tell(Walk::Go(passed.number, way)).unwrap();
    }

    fn write_and_read(&self, when: When) {
        let child = self.child.as_ref().unwrap();
        if when == When::Written {
            let way = Way {
                read: Fuse(When::Written, Act::Kill),
                ..Way::plain(None)
            };
            child.tell(Walk::Go(1, way)).unwrap();
        }
        loop {
            let way = |reply| Way {
                step: if when == When::Read {
                    Step::ReadAnswer
                } else {
                    Step::None
                },
                act: Act::Kill,
                load: vec![7; 1_000_000],
                ..Way::plain(Some(reply))
            };
            child
                .ask(|reply| Walk::Go(1, way(reply)))
                .map(drop)
                .unwrap();
        }
    }
}

/// What was heard of messages, beside what they have noted themselves.
struct Fates {
    next: u64,
    told: BTreeSet<u64>,
    asked: BTreeSet<u64>,
    /// Whether an answer has come.
    heard: Arc<Mutex<BTreeMap<u64, bool>>>,
}

impl Fates {
    fn send(&mut self, walker: &Address<Walk>, has_reply: bool, change: impl FnOnce(&mut Way)) {
        let number = self.next;
        self.next += 1;
        let reply = has_reply.then(|| {
            let heard = Arc::clone(&self.heard);
            Reply::to(move |answer: Result<Arrival, AskError>| {
                let is_answer = match answer {
                    Ok(_) => true,
                    Err(AskError::ProcessEnded(ProcessEnd::Killed(9))) => false,
                    Err(other) => panic!("{other:?}"),
                };
                let before = heard.lock().unwrap().insert(number, is_answer);
                assert!(before.is_none(), "{number} was answered twice");
            })
        });
        if has_reply {
            self.asked.insert(number);
        } else {
            self.told.insert(number);
        }
        let mut way = Way::plain(reply);
        change(&mut way);
        walker.tell(Walk::Go(number, way)).unwrap();
    }

    fn some(&mut self, walker: &Address<Walk>, load: usize) {
        for number in 0..6 {
            self.send(walker, number % 2 == 0, |way| way.load = vec![1; load]);
        }
    }
}

fn send_signal(handle: &ProcessHandle, signal: Signal) {
    let pid = Pid::from_raw(handle.pid().unwrap().cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

pub(crate) fn is_in_state(pid: u32, state: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(state))
}

/// How often each step is gone through. There are eleven deaths in a round.
pub(crate) fn rounds() -> u64 {
    let is_long = std::env::var_os("TAMTAM_SOAK_SECONDS").is_some();
    if is_long { 200 } else { 6 }
}

fn a_death_or_a_stop_at_any_step_loses_nothing_in_silence() {
    // Alone, since others have processes and descriptors, too.
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = crate::actors::this_program()
        .env("TAMTAM_TEST_STEPS", log.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let is_well = output.status.success() && said.contains("nothing is lost in silence");
    assert!(is_well, "{output:?}");
    print!("{said}");
}

/// What the program does that goes through the steps, if this is that.
pub(crate) fn walk_if_asked() {
    let Ok(log) = std::env::var("TAMTAM_TEST_STEPS") else {
        return;
    };
    if !tamtam_process::is_primordial() {
        return;
    }
    let pool = Pool::with_threads(1);
    walk(&pool, &log, 1);
    let before = what_is_there();
    let memory_before = memory();
    let deaths = walk(&pool, &log, rounds());
    // The first of them may not have been gone as a whole when that was counted.
    until(
        "there are no more threads and descriptors than before",
        || {
            what_is_there()
                .iter()
                .zip(before)
                .all(|(now, before)| *now <= before)
        },
    );
    let more = memory().saturating_sub(memory_before);
    println!("{deaths} deaths, {more} KiB more memory; nothing is lost in silence");
    assert!(more < 16 << 10, "{more} KiB more");
    std::process::exit(0);
}

/// Descriptors and threads of this process, and what it may have left in memory that has names, and among temporary files.
fn what_is_there() -> [usize; 4] {
    let count = |folder: &str, what: &str| {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains(what)).count()
    };
    [
        count("/proc/self/fd", ""),
        count("/proc/self/task", ""),
        count("/dev/shm", "tamtam"),
        count("/tmp", "tamtam-progress"),
    ]
}

/// Resident memory in KiB.
fn memory() -> u64 {
    tamtam_testing::memory("self").0 >> 10
}

/// Goes through all steps so often, and proves what has become of each message. How many deaths there were.
fn walk(pool: &Pool, log: &str, rounds: u64) -> u64 {
    std::fs::write(log, "").unwrap();
    let restart = Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO);
    let (walker, handle) = Process::spawner()
        .restart(restart)
        .spawn_with_handle::<Walker>(log.to_owned())
        .unwrap();
    let (dead, id) = (Arc::new(Mutex::new(Vec::new())), walker.id());
    let seen = Arc::clone(&dead);
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Killed(9)));
            let bytes = letter.bytes.as_deref().unwrap();
            let (_, number) = postcard::take_from_bytes::<(u8, u64)>(bytes).unwrap().0;
            seen.lock().unwrap().push(number);
        }
    });
    let list = pool.spawn_fn(|_: u64, _| {});
    let mut fates = Fates {
        next: 0,
        told: BTreeSet::new(),
        asked: BTreeSet::new(),
        heard: Arc::default(),
    };
    // Those that have killed their process, and those at which it was killed.
    let mut killers = BTreeSet::new();
    for round in 0..rounds {
        for (place, step) in STEPS.into_iter().enumerate() {
            for act in [Act::Kill, Act::Stop] {
                let (restarts, pid) = (handle.restarts(), handle.pid());
                fates.some(&walker, 10);
                let killer = fates.next;
                fates.send(&walker, true, |way| {
                    way.list = Some(list.clone());
                    if step == Step::Read {
                        way.read = Fuse(When::Read, act);
                    } else {
                        (way.step, way.act) = (step, act);
                    }
                });
                fates.some(&walker, 10);
                if act == Act::Stop {
                    until("it is stopped", || is_in_state(pid.unwrap(), ") T "));
                    let asked = walker.ask_timeout(
                        |reply| Walk::Go(u64::MAX, Way::plain(Some(reply))),
                        Duration::from_millis(5),
                    );
                    assert!(matches!(asked, Err(AskError::TimedOut)), "{step:?}");
                }
                if act == Act::Stop && (round + place as u64).is_multiple_of(2) {
                    send_signal(&handle, Signal::CONT);
                    walker
                        .ask(|reply| Walk::Go(u64::MAX, Way::plain(Some(reply))))
                        .map(drop)
                        .unwrap();
                    assert_eq!(handle.restarts(), restarts, "{step:?}");
                } else {
                    if act == Act::Stop {
                        handle.kill();
                    }
                    until("another one has taken its place", || {
                        handle.restarts() > restarts
                    });
                    killers.insert(killer);
                }
            }
        }
        // Somewhere in what is written and read.
        for is_stopped in [false, true] {
            let restarts = handle.restarts();
            fates.some(&walker, 300_000);
            std::thread::sleep(Duration::from_micros(round * 97 % 1_500));
            if is_stopped {
                send_signal(&handle, Signal::STOP);
                std::thread::sleep(Duration::from_micros(round * 31 % 300));
            }
            handle.kill();
            until("another one has taken its place", || {
                handle.restarts() > restarts
            });
        }
    }
    walker
        .ask(|reply| Walk::Go(u64::MAX, Way::plain(Some(reply))))
        .map(drop)
        .unwrap();
    until("all have heard", || {
        fates.heard.lock().unwrap().len() == fates.asked.len()
    });
    let end = walker.end();
    let deaths = handle.restarts();
    drop((walker, list));
    end.wait();
    drop(watch);
    let named = dead.lock().unwrap().clone();
    prove(&fates, log, &named, &killers);
    deaths.into()
}

/// Proves that each message has the fate that it was said to have.
fn prove(fates: &Fates, log: &str, named: &[u64], killers: &BTreeSet<u64>) {
    let bytes = std::fs::read(log).unwrap();
    let (numbers, []) = bytes.as_chunks::<8>() else {
        panic!("a number was cut");
    };
    let numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
    let numbers: Vec<u64> = numbers.filter(|number| *number != u64::MAX).collect();
    assert!(numbers.is_sorted(), "a message overtook another one");
    let begun: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(numbers.len(), begun.len(), "a message was begun twice");
    let dead: BTreeSet<u64> = named
        .iter()
        .copied()
        .filter(|number| *number != u64::MAX)
        .collect();
    let silent = fates
        .told
        .iter()
        .filter(|number| !begun.contains(number) && !dead.contains(number));
    assert_eq!(silent.count(), 0, "told, and lost in silence");
    for killer in killers {
        assert!(
            dead.contains(killer),
            "{killer} has killed, and is no dead letter"
        );
    }
    for (number, is_answered) in &*fates.heard.lock().unwrap() {
        if *is_answered {
            assert!(
                begun.contains(number),
                "{number} was answered and not begun"
            );
        } else {
            // It was at hand, or its answer was not written yet.
            let was_begun = begun.contains(number) || dead.contains(number);
            assert!(was_begun, "{number} has failed, and was not begun");
        }
    }
}

fn a_parent_that_dies_at_any_step_leaves_no_process() {
    let log = tempfile::NamedTempFile::new().unwrap();
    for round in 0..rounds() {
        for when in [When::Written, When::Read, When::Never] {
            let (parent, handle) = Process::spawner()
                .restart(Restart::never())
                .spawn_with_handle::<Walker>(log.path().to_str().unwrap().to_owned())
                .unwrap();
            let (parent_pid, child_pid) = parent.ask(Walk::HaveChild).unwrap();
            parent.tell(Walk::DieAt(when)).unwrap();
            if when == When::Never {
                // Somewhere in what is written.
                std::thread::sleep(Duration::from_micros(2_000 + round * 97 % 3_000));
                handle.kill();
            }
            for pid in [parent_pid, child_pid] {
                until(&format!("{pid} has died with its parent: {when:?}"), || {
                    // It may be left to be reaped by whoever has adopted it.
                    !std::path::Path::new(&format!("/proc/{pid}")).exists()
                        || is_in_state(pid, ") Z ")
                });
            }
        }
    }
}
