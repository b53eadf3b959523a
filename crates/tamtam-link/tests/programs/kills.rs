//! Two programs on a plain link, of which one is killed at a random moment under load from both sides.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};
use tamtam_actor::{
    Address, AskError, EndReason, Loss, Overflow, Pool, Refusal, Reply, on_dead_letter,
};
use tamtam_link::{Link, LinkEnd, carrier};
use tamtam_testing::ChildGuard;

use crate::resources::{Resources, temporary_files};
use crate::victim::{ASKED, Does, Load, ROLE, Role, address};

pub(crate) const TESTS: &[(&str, fn())] = &[(
    "kills::a_program_that_is_killed_on_a_link_loses_nothing_in_silence",
    a_program_that_is_killed_on_a_link_loses_nothing_in_silence,
)];

/// So much more memory may be in use after all kills than after the first ones: what the allocator keeps of the largest burst.
const MORE_MEMORY: u64 = 48 << 20;
pub(crate) const LONG: Duration = Duration::from_secs(30);

fn a_program_that_is_killed_on_a_link_loses_nothing_in_silence() {
    let kills = std::env::var("TAMTAM_TEST_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok());
    let is_long = std::env::var_os("TAMTAM_SOAK_SECONDS").is_some();
    let kills = kills.unwrap_or(if is_long { 3_000 } else { 100 });
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let pool = Pool::with_threads(1);
    let resident = || tamtam_testing::memory("self").0;
    let (mut sums, mut before) = (Sums::default(), None);
    for kill in 0..kills {
        sums.add(&round(kill, &mut random, &pool));
        // The first ones have started what stays: the pool's thread, the system's clock.
        let (resources, _) = *before.get_or_insert_with(|| (Resources::at_rest(), resident()));
        resources.wait_for("threads and descriptors are as before");
        if kill == kills.min(20) - 1 {
            before = Some((resources, resident()));
        }
    }
    let (_, memory) = before.unwrap();
    let grown = resident().saturating_sub(memory);
    println!("{kills} kills: {sums:?}, {grown} bytes more in use");
    assert!(grown < MORE_MEMORY, "{grown} bytes more are in use");
    // What is to be seen was there to be seen.
    assert!(
        sums.answered > kills && sums.failed > 0 && sums.unknown > 0 && sums.handled_here > kills
    );
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn pause(&mut self, most: Duration) {
        let most = most.as_nanos() as u64;
        thread::sleep(Duration::from_nanos(self.below(most)));
    }
}

/// What has become of messages.
#[derive(Default, Debug)]
struct Sums {
    told: u64,
    answered: u64,
    failed: u64,
    unreachable: u64,
    unknown: u64,
    handled_there: u64,
    handled_here: u64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.told += other.told;
        self.answered += other.answered;
        self.failed += other.failed;
        self.unreachable += other.unreachable;
        self.unknown += other.unknown;
        self.handled_there += other.handled_there;
        self.handled_here += other.handled_here;
    }
}

/// So many questions are not answered yet, and no more.
const MOST_ASKED: usize = 32;

/// What has become of questions: their numbers.
#[derive(Default)]
struct Questions {
    answered: BTreeSet<u64>,
    /// Whose error says that they were not sent.
    not_sent: BTreeSet<u64>,
    /// Whose error says that it is not known whether they were handled.
    unknown: BTreeSet<u64>,
    /// Those that came back, of which there is one at most: it is asked no more then.
    dropped: BTreeSet<u64>,
}

impl Questions {
    fn note(&mut self, number: u64, answer: Result<u64, AskError>) {
        let those = match answer {
            Ok(answer) => {
                assert_eq!(answer, number);
                &mut self.answered
            }
            Err(AskError::Unanswered) => &mut self.dropped,
            Err(AskError::Unreachable(failure)) => {
                let text = failure.text();
                if text.contains("the question was not sent") {
                    &mut self.not_sent
                } else {
                    assert!(
                        text.contains("whether the question was handled is not known"),
                        "{text}"
                    );
                    &mut self.unknown
                }
            }
            Err(other) => panic!("a question has failed for {other:?}"),
        };
        assert!(those.insert(number), "question {number} has two ends");
    }

    fn failed(&self) -> usize {
        self.not_sent.len() + self.unknown.len()
    }
}

/// Asks until that is refused; how many were not.
fn ask_on(
    far: &Address<Load>,
    questions: &Arc<Mutex<Questions>>,
    answered: &mpsc::Sender<()>,
) -> u64 {
    let (room, taken) = mpsc::sync_channel(MOST_ASKED);
    let taken = Arc::new(Mutex::new(taken));
    let refused = |number: &u64| {
        let number = *number;
        let (questions, answered) = (Arc::clone(questions), answered.clone());
        let taken = Arc::clone(&taken);
        let reply = Reply::to(move |answer: Result<u64, AskError>| {
            questions.lock().unwrap().note(number, answer);
            let _ = (taken.lock().unwrap().try_recv(), answered.send(()));
        });
        room.send(()).unwrap();
        far.tell(Load::Ask(number, reply)).is_err()
    };
    (0..).find(refused).unwrap()
}

/// Tells until that is refused; how many were not.
fn tell_on(far: &Address<Load>) -> u64 {
    let refused = |number: &u64| {
        let refused = far.tell(Load::Tell(*number)).err();
        refused.is_some_and(|refused| {
            assert_eq!(refused.why(), Refusal::Unreachable);
            true
        })
    };
    (0..).find(refused).unwrap()
}

/// The numbers that the other program has handled: what was told, and what was asked.
fn handled_in(log: &File) -> [Vec<u64>; 2] {
    let mut bytes = vec![0; log.metadata().unwrap().len() as usize];
    log.read_exact_at(&mut bytes, 0).unwrap();
    let (numbers, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty(), "a number was cut");
    let numbers = numbers.iter().map(|number| u64::from_ne_bytes(*number));
    let (asked, told): (Vec<_>, Vec<_>) = numbers.partition(|number| number & ASKED != 0);
    [
        told,
        asked.into_iter().map(|number| number & !ASKED).collect(),
    ]
}

/// The other program, connected; it is killed if the test fails before it has been.
pub(crate) fn begin(role: &Role, log: &File) -> (ChildGuard, UnixStream) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .env(ROLE, serde_json::to_string(role).unwrap())
        .stdin(log.try_clone().unwrap())
        .stdout(Stdio::piped());
    if role.listens {
        let mut child = ChildGuard::from(command.spawn().unwrap());
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        let socket = UnixStream::connect_addr(&address(&role.name)).unwrap();
        return (child, socket);
    }
    let listener = UnixListener::bind_addr(&address(&role.name)).unwrap();
    let child = ChildGuard::from(command.spawn().unwrap());
    (child, listener.accept().unwrap().0)
}

/// One life of the other program.
fn round(kill: u64, random: &mut Random, pool: &Pool) -> Sums {
    let role = Role {
        name: format!("tamtam-link-{}-{kill}", std::process::id()),
        listens: kill.is_multiple_of(2),
        room: [Some(64), None][kill as usize / 2 % 2],
        does: Does::Load,
    };
    let is_stopped = kill % 5 == 4;
    let log = File::from(memfd_create("handled", MemfdFlags::empty()).unwrap());
    let (mut child, socket) = begin(&role, &log);
    let pid = Pid::from_child(&child);

    let handled_here = Arc::new(AtomicU64::new(0));
    let handled = Arc::clone(&handled_here);
    let (mut next_told, mut next_asked) = (0, 0);
    let root = pool.spawner().limited(64, Overflow::Wait);
    let root = root.spawn_fn(move |message: Load, _| {
        handled.fetch_add(1, Ordering::Relaxed);
        let (number, next) = match &message {
            Load::Tell(number) => (*number, &mut next_told),
            Load::Ask(number, _) => (*number, &mut next_asked),
        };
        assert_eq!(
            number, *next,
            "a message was lost, came twice or overtook another one"
        );
        *next += 1;
        if let Load::Ask(number, reply) = message {
            reply.send(number);
        }
    });
    let root_end = root.end();
    let link = carrier::unix(Link::builder().program("survivor").root(&root), socket).unwrap();
    let far: Address<Load> = link.root();
    let (letters, id) = (Arc::new(Mutex::new(Vec::new())), far.id());
    let seen = Arc::clone(&letters);
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.why);
        }
    });

    let questions = Arc::new(Mutex::new(Questions::default()));
    let (answered, first_answer) = mpsc::channel();
    let asking = thread::spawn({
        let (far, questions) = (far.clone(), Arc::clone(&questions));
        move || ask_on(&far, &questions, &answered)
    });
    let telling = thread::spawn({
        let far = far.clone();
        move || tell_on(&far)
    });

    first_answer.recv_timeout(LONG).unwrap();
    random.pause(Duration::from_millis(8));
    let files = [
        temporary_files("self"),
        temporary_files(&child.id().to_string()),
    ]
    .concat();
    assert!(files.is_empty(), "{files:?}");
    if is_stopped {
        kill_process(pid, Signal::STOP).unwrap();
        random.pause(Duration::from_millis(8));
        // One that does not answer is not gone.
        assert_eq!(link.ended(), None);
    }
    child.kill().unwrap();

    let end = far.end().wait();
    assert!(matches!(end.reason, EndReason::LinkLost(_)), "{end:?}");
    let ended = link.ended();
    assert!(
        matches!(ended, Some(LinkEnd::Lost(_))),
        "{ended:?}, {end:?}"
    );
    let (asked, told) = (asking.join().unwrap(), telling.join().unwrap());
    assert!(!child.wait().unwrap().success());
    assert_eq!((link.pending(), link.unconfirmed()), (0, 0));
    drop((link, far, root));
    assert_eq!(root_end.wait().reason, EndReason::NoAddresses);

    drop(watch);

    // What was asked: each has its end, and that is true.
    let questions = questions.lock().unwrap();
    assert!(
        questions.dropped.iter().eq([&asked]),
        "{:?}",
        questions.dropped
    );
    let ends = questions.answered.len() + questions.failed();
    assert_eq!(ends as u64, asked, "a question has no end");
    let [told_there, asked_there] = handled_in(&log);
    let (tells, asks) = (told_there.len() as u64, asked_there.len() as u64);
    assert!(
        told_there.into_iter().eq(0..tells),
        "lost, handled twice or overtaken"
    );
    assert!(
        asked_there.into_iter().eq(0..asks),
        "lost, handled twice or overtaken"
    );
    assert!(questions.answered.iter().all(|number| *number < asks));
    assert!(questions.not_sent.iter().all(|number| *number >= asks));

    // What was accepted was handled, or is a dead letter. Questions are among those where the mailbox has room for so many.
    let letters = letters.lock().unwrap();
    let of = |why| letters.iter().filter(|it| **it == why).count() as u64;
    let (unreachable, unknown) = (of(Loss::Unreachable), of(Loss::FateUnknown));
    assert_eq!(unreachable + unknown, letters.len() as u64, "{letters:?}");
    let with_asks = u64::from(role.room.is_some());
    let (sent, handled_there) = (told + with_asks * asked, tells + with_asks * asks);
    assert!(
        sent <= handled_there + unreachable + unknown,
        "lost in silence: {sent} sent, {handled_there} handled, {unreachable} + {unknown} letters"
    );
    assert!(
        handled_there + unreachable <= sent,
        "handled nevertheless: {handled_there} of {sent}, and {unreachable} were told to be unreachable"
    );
    Sums {
        told,
        answered: questions.answered.len() as u64,
        failed: questions.failed() as u64,
        unreachable,
        unknown,
        handled_there,
        handled_here: handled_here.load(Ordering::Relaxed),
    }
}
