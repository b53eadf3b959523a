//! A program on a plain link that is killed or stopped at each step of a message's way: it is read, begun, another one is written because of it, an answer to
//! that is read, it is answered, an address goes out with the answer, another one is given up, the message is done with. It does so itself, where the step
//! calls what is a message's own: its `Serialize`, its `Deserialize`, its handler, its drop.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, getpid, kill_process};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Loss, Pool, Reply, on_dead_letter,
};
use tamtam_link::{Link, LinkEnd, carrier};

use crate::kills::{LONG, begin};
use crate::resources::Resources;
use crate::victim::{Does, Role};

pub(crate) const TESTS: &[(&str, fn())] = &[(
    "steps::a_death_or_a_stop_of_a_program_at_any_step_loses_nothing_in_silence",
    a_death_or_a_stop_of_a_program_at_any_step_loses_nothing_in_silence,
)];

/// What the program does to itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Act {
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
enum When {
    Written,
    Read,
}

/// Acts when it is written or read.
struct Fuse(When, Act);

const NO_FUSE: Fuse = Fuse(When::Written, Act::Nothing);

impl Serialize for Fuse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 == When::Written {
            self.1.act();
        }
        (self.0, self.1).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (when, act): (When, Act) = Deserialize::deserialize(deserializer)?;
        if when == When::Read {
            act.act();
        }
        Ok(Fuse(when, act))
    }
}

/// Where on the way of a message the program acts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Step {
    Read,
    Begin,
    /// It writes a message to the other side.
    Encode,
    /// It reads the answer to that.
    ReadAnswer,
    Answer,
    Export,
    Release,
    Confirm,
    /// Somewhere in an answer that is larger than a socket takes at once: the test does it.
    Write,
}

const STEPS: [Step; 9] = [
    Step::Read,
    Step::Begin,
    Step::Encode,
    Step::ReadAnswer,
    Step::Answer,
    Step::Export,
    Step::Release,
    Step::Confirm,
    Step::Write,
];

/// More than a socket takes at once.
const LARGE: usize = 4 << 20;

#[derive(Serialize, Deserialize)]
struct Walk {
    /// Is noted when it is begun.
    number: u64,
    step: Option<Step>,
    act: Act,
    read: Fuse,
    list: Option<Address<u64>>,
    reply: Option<Reply<Arrival>>,
}

#[derive(Serialize, Deserialize)]
struct Arrival {
    address: Option<Address<Walk>>,
    fuse: Fuse,
    load: Vec<u8>,
}

/// What the program asks the other side meanwhile: a number, and at what it acts.
#[derive(Serialize, Deserialize)]
struct Question(u64, Fuse, Act, Reply<Arrival>);

/// Goes the way of each message.
struct Walker {
    log: File,
    back: Arc<OnceLock<Address<Question>>>,
}

impl Actor for Walker {
    type Message = Walk;

    fn handle(&mut self, walk: Walk, cx: &mut Context<Self>) {
        self.log.write_all(&walk.number.to_ne_bytes()).unwrap();
        let at = |step| {
            if walk.step == Some(step) {
                walk.act
            } else {
                Act::Nothing
            }
        };
        at(Step::Begin).act();
        if matches!(walk.step, Some(Step::Encode | Step::ReadAnswer)) {
            let fuse = Fuse(When::Written, at(Step::Encode));
            let read = at(Step::ReadAnswer);
            let back = self.back.wait();
            let answer = back.ask(|reply| Question(walk.number, fuse, read, reply));
            drop(answer.unwrap());
        }
        if let Some(reply) = walk.reply {
            let is_large = walk.step == Some(Step::Write);
            let act = match walk.step {
                Some(step @ (Step::Answer | Step::Export)) => at(step),
                _ => Act::Nothing,
            };
            reply.send(Arrival {
                // It is exported by the time that the fuse burns.
                address: (walk.step == Some(Step::Export)).then(|| cx.address()),
                fuse: Fuse(When::Written, act),
                load: vec![7; if is_large { LARGE } else { 10 }],
            });
        }
        drop(walk.list);
        at(Step::Release).act();
        // The last thing before the link hears that the message is done with.
        at(Step::Confirm).act();
    }
}

/// Is the other program, until it is killed.
pub(crate) fn walk(pool: &Pool, log: File, socket: UnixStream) {
    let back = Arc::new(OnceLock::new());
    let walker = pool.spawn(Walker {
        log,
        back: Arc::clone(&back),
    });
    let link = carrier::unix(Link::builder().root(&walker), socket).unwrap();
    back.set(link.root()).unwrap();
    link.root::<Question>().end().wait();
    std::process::exit(0);
}

/// What follows a stop, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Killed,
    StoppedAndKilled,
    StoppedAndContinued,
}

fn a_death_or_a_stop_of_a_program_at_any_step_loses_nothing_in_silence() {
    let is_long = std::env::var_os("TAMTAM_SOAK_SECONDS").is_some();
    let rounds = if is_long { 100 } else { 3 };
    let pool = Pool::with_threads(1);
    let mut before = None;
    for round in 0..rounds {
        for step in STEPS {
            for then in [
                Then::Killed,
                Then::StoppedAndKilled,
                Then::StoppedAndContinued,
            ] {
                go(&pool, step, then, round);
                let before = *before.get_or_insert_with(Resources::at_rest);
                before.wait_for(&format!("{step:?}, {then:?}: all is given back"));
            }
        }
    }
    println!("{} lives, and nothing was lost in silence", 27 * rounds);
}

/// Messages before the one at which the program acts, and as many behind it; each second one is a question.
const BESIDE: u64 = 6;

fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()));
    stat.unwrap().contains(") T ")
}

/// One life of the other program.
fn go(pool: &Pool, step: Step, then: Then, round: u64) {
    let case = format!("{step:?}, {then:?}");
    let role = Role {
        name: format!(
            "tamtam-link-{}-{step:?}-{then:?}-{round}",
            std::process::id()
        ),
        listens: round.is_multiple_of(2),
        room: None,
        does: Does::Steps,
    };
    let log = File::from(memfd_create("handled", MemfdFlags::empty()).unwrap());
    let (mut child, socket) = begin(&role, &log);
    let pid = Pid::from_child(&child);
    let (note, noted) = mpsc::channel();
    let root = pool.spawn_fn(move |Question(number, _, act, reply): Question, _| {
        note.send(number).unwrap();
        reply.send(Arrival {
            address: None,
            fuse: Fuse(When::Read, act),
            load: Vec::new(),
        });
    });
    let list = pool.spawn_fn(|_: u64, _| {});
    let (root_end, list_end) = (root.end(), list.end());
    let link = carrier::unix(Link::builder().root(&root), socket).unwrap();
    let far: Address<Walk> = link.root();
    let (letters, id) = (Arc::new(Mutex::new(Vec::new())), far.id());
    let seen = Arc::clone(&letters);
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.why);
        }
    });

    let (answer, answers) = mpsc::channel();
    let send = |number: u64, has_reply: bool, change: &dyn Fn(&mut Walk)| {
        let answer = answer.clone();
        let reply = move || Reply::to(move |it| answer.send((number, it)).unwrap());
        let mut walk = Walk {
            number,
            step: None,
            act: Act::Nothing,
            read: NO_FUSE,
            list: None,
            reply: has_reply.then(reply),
        };
        change(&mut walk);
        far.tell(walk).unwrap();
    };
    let is_question = |number: u64| number == BESIDE || number.is_multiple_of(2);
    let act = match (step, then) {
        (Step::Write, _) => Act::Nothing,
        (_, Then::Killed) => Act::Kill,
        _ => Act::Stop,
    };
    // All are accepted before it comes to the one at which it dies.
    kill_process(pid, Signal::STOP).unwrap();
    until("it is stopped", || is_stopped(&child));
    for number in 0..=2 * BESIDE {
        send(number, is_question(number), &|walk| {
            if number == BESIDE {
                walk.list = Some(list.clone());
                walk.step = Some(step);
                walk.act = act;
                if step == Step::Read {
                    walk.read = Fuse(When::Read, act);
                }
            }
        });
    }
    kill_process(pid, Signal::CONT).unwrap();
    if step == Step::Write {
        // Once it has begun that one.
        until("it is begun", || log.metadata().unwrap().len() > 8 * BESIDE);
        thread::sleep(Duration::from_micros(round * 97 % 700));
        let signal = match then {
            Then::Killed => Signal::KILL,
            _ => Signal::STOP,
        };
        kill_process(pid, signal).unwrap();
    }
    if then != Then::Killed {
        until("it is stopped", || is_stopped(&child));
        // One that does not answer is not gone.
        thread::sleep(Duration::from_millis(2));
        assert_eq!(link.ended(), None, "{case}");
        let signal = match then {
            Then::StoppedAndContinued => Signal::CONT,
            _ => Signal::KILL,
        };
        kill_process(pid, signal).unwrap();
    }

    let mut ends = [0; 2 * BESIDE as usize + 1];
    let mut hear = |number: u64, answer: Result<Arrival, AskError>| {
        ends[number as usize] += 1;
        match answer {
            Ok(arrival) => {
                let is_large = step == Step::Write && number == BESIDE;
                assert_eq!(arrival.load.len(), if is_large { LARGE } else { 10 });
                Some(arrival)
            }
            Err(AskError::Unreachable(_)) => None,
            Err(other) => panic!("{case}: {other:?}"),
        }
    };
    let questions = (0..=2 * BESIDE)
        .filter(|number| is_question(*number))
        .count();
    if then == Then::StoppedAndContinued {
        for _ in 0..questions {
            let (number, answer) = answers.recv_timeout(LONG).unwrap();
            let arrival = hear(number, answer).unwrap();
            // The address that has come with it works.
            if let Some(address) = arrival.address {
                let (answer, answered) = mpsc::channel();
                let reply = Reply::to(move |it| answer.send(it.is_ok()).unwrap());
                let walk = Walk {
                    number: 2 * BESIDE + 1,
                    step: None,
                    act: Act::Nothing,
                    read: NO_FUSE,
                    list: None,
                    reply: Some(reply),
                };
                address.tell(walk).unwrap();
                assert_eq!(answered.recv_timeout(LONG), Ok(true));
            }
        }
        // What it was lent, and what it has done, comes back.
        until("all is confirmed", || link.unconfirmed() == 0);
        until("the address is given up", || link.addresses().1 == 1);
        child.kill().unwrap();
    }
    let end = far.end().wait();
    assert!(
        matches!(end.reason, EndReason::LinkLost(_)),
        "{case}: {end:?}"
    );
    assert!(matches!(link.ended(), Some(LinkEnd::Lost(_))), "{case}");
    assert!(!child.wait().unwrap().success());
    drop(answer);
    while let Ok((number, answer)) = answers.recv_timeout(LONG) {
        hear(number, answer);
    }
    for number in 0..=2 * BESIDE {
        let expected = usize::from(is_question(number));
        assert_eq!(ends[number as usize], expected, "{case}: question {number}");
    }
    assert_eq!((link.pending(), link.unconfirmed()), (0, 0), "{case}");
    assert_eq!(link.addresses(), (0, 0), "{case}");
    drop(watch);

    // What it has begun, in order: all before the one at which it has died, and that one.
    let mut bytes = vec![0; log.metadata().unwrap().len() as usize];
    log.read_exact_at(&mut bytes, 0).unwrap();
    let (numbers, []) = bytes.as_chunks::<8>() else {
        panic!("{case}: a number was cut");
    };
    let begun: Vec<u64> = numbers.iter().map(|it| u64::from_ne_bytes(*it)).collect();
    assert!(
        (0..begun.len() as u64).eq(begun.iter().copied()),
        "{case}: {begun:?}"
    );
    let at_death = BESIDE + 1;
    match (step, then) {
        (_, Then::StoppedAndContinued) => assert!(begun.len() as u64 > 2 * BESIDE, "{case}"),
        // It is read by another thread than the one that handles those before it.
        (Step::Read, Then::StoppedAndKilled) => {}
        (Step::Read, _) => assert!(begun.len() as u64 <= BESIDE, "{case}: {begun:?}"),
        // The thread that writes goes on with it while others are begun.
        (Step::Write, _) => assert!(begun.len() as u64 >= at_death, "{case}: {begun:?}"),
        // A stop reaches a thread a little after the call that has asked for it.
        (_, Then::StoppedAndKilled) => assert!(begun.len() as u64 >= at_death, "{case}"),
        _ => assert_eq!(begun.len() as u64, at_death, "{case}"),
    }
    // What it was told and has not begun is a dead letter, and what it has not surely not handled is none that says so.
    let letters = letters.lock().unwrap();
    let told =
        |numbers: std::ops::RangeInclusive<u64>| numbers.filter(|it| !is_question(*it)).count();
    let lost = told(begun.len() as u64..=2 * BESIDE);
    assert!(letters.len() >= lost, "{case}: {letters:?} of {lost}");
    assert!(
        letters
            .iter()
            .all(|why| matches!(why, Loss::FateUnknown | Loss::Unreachable))
    );
    // What it has said here came as a whole, or not at all.
    let asked: Vec<u64> = noted.try_iter().collect();
    match (step, then) {
        (Step::Encode, Then::Killed) => assert!(asked.is_empty(), "{case}"),
        (Step::Encode, Then::StoppedAndKilled) => assert!(asked.is_empty() || asked == [BESIDE]),
        (Step::Encode | Step::ReadAnswer, _) => assert_eq!(asked, [BESIDE], "{case}"),
        _ => assert!(asked.is_empty(), "{case}"),
    }

    drop((link, far, root, list));
    assert_eq!(root_end.wait().reason, EndReason::NoAddresses);
    assert_eq!(list_end.wait().reason, EndReason::NoAddresses);
}

fn until(what: &str, is: impl Fn() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < LONG, "{what}");
        thread::yield_now();
    }
}
