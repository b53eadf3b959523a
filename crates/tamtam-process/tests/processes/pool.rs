//! One address for several processes: who gets what, what a death costs, and how all of them end.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tamtam_actor::{
    Actor, Address, AskError, Context, DeadLetter, DeadLetterWatch, EndReason, Fate, Loss, Pool,
    ProcessEnd, Reply, Restart, on_dead_letter,
};
use tamtam_process::{Limits, Process};

use crate::actors::{Count, Counter, Death, Written};
use crate::{LONG, until};

crate::tests! { "pool":
    those_that_are_busy_get_nothing_while_another_one_is_free
    one_that_has_answered_counts_for_freer_than_one_that_hangs
    one_that_pauses_gets_nothing_while_another_one_is_there
    a_message_that_kills_one_of_a_pool_is_the_only_one_that_is_lost
    each_of_a_pool_has_the_limits_also_the_one_that_was_begun_again
    each_of_a_pool_is_begun_again
    those_that_are_left_do_the_work_until_none_is
    a_pool_that_is_stopped_leaves_no_process
    a_pool_ends_with_its_last_address_when_all_is_handled
    a_pool_finishes_what_each_has
    a_linker_that_ends_takes_each_of_a_pool_along
    a_pool_takes_its_linker_along_with_the_last_of_its_processes
    who_hears_of_a_death_finds_those_that_are_left
    a_message_at_whose_writing_a_process_dies_goes_to_another_one
    a_wait_of_one_of_a_pool_is_no_circle_of_a_question_that_another_one_has
    a_circle_of_waits_through_a_pool_is_found_once_the_others_are_done
}

/// The processes of a pool of so many: each is asked while the others are, too.
fn pids(pool: &Address<Count>, processes: usize) -> BTreeSet<u32> {
    let mut pids = BTreeSet::new();
    until("all have answered", || {
        let questions: Vec<_> = (0..4 * processes)
            .map(|_| pool.ask_async(Count::Pid))
            .collect();
        let answers = questions.into_iter().map(crate::memory::futures_block_on);
        pids.extend(answers.filter_map(Result::ok));
        pids.len() >= processes
    });
    assert_eq!(pids.len(), processes);
    pids
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

fn until_gone(pids: &BTreeSet<u32>) {
    for pid in pids {
        until("it is gone", || {
            !std::path::Path::new(&format!("/proc/{pid}")).exists()
        });
    }
}

/// The letters to the processes of a pool of this name, from now on.
fn letters_of(pool: &'static str) -> (DeadLetterWatch, Arc<Mutex<Vec<DeadLetter>>>) {
    let letters = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&letters);
    let watch = on_dead_letter(move |letter| {
        let name = letter.name.as_deref().unwrap_or_default();
        if name.rsplit_once('-').is_some_and(|(name, _)| name == pool) {
            seen.lock().unwrap().push(letter.clone());
        }
    });
    (watch, letters)
}

/// Lets one process of a pool hang; it is there when this comes back.
fn hang_one(pool: &Address<Count>, actors: &Pool) {
    let (begun, has_begun) = mpsc::channel();
    let begun = actors.spawn_fn(move |_: u64, _| begun.send(()).unwrap());
    pool.tell(Count::Hang(begun)).unwrap();
    has_begun.recv().unwrap();
}

fn those_that_are_busy_get_nothing_while_another_one_is_free() {
    let pool = Process::pool(3).name("busy").spawn::<Counter>(0).unwrap();
    let all = pids(&pool, 3);
    let actors = Pool::with_threads(1);
    hang_one(&pool, &actors);
    hang_one(&pool, &actors);
    let free = pool.ask(Count::Pid).unwrap();
    for _ in 0..200 {
        assert_eq!(pool.ask(Count::Pid), Ok(free));
    }
    // None does two things at once, and none has begun anew.
    assert!(all.contains(&free));
    for pid in all {
        kill(pid);
    }
}

/// That a message is done with may be heard some time after its answer: here as long as the test likes.
fn one_that_has_answered_counts_for_freer_than_one_that_hangs() {
    let pool = Process::pool(2).spawn::<Counter>(0).unwrap();
    let all = pids(&pool, 2);
    let actors = Pool::with_threads(1);
    hang_one(&pool, &actors);
    let (sender, asked) = mpsc::channel();
    let parent = actors.spawn_fn(move |reply: Reply<u64>, _| sender.send(reply).unwrap());
    let answered = pool
        .ask(|reply| Count::AnswerAndAskBack(reply, parent.clone()))
        .unwrap();
    let goes_on = asked.recv().unwrap();
    let next = pool.ask_async(Count::Pid);
    goes_on.send(0);
    assert_eq!(crate::memory::futures_block_on(next), Ok(answered));
    for pid in all {
        kill(pid);
    }
}

fn one_that_pauses_gets_nothing_while_another_one_is_there() {
    let pause = 2 * LONG;
    let restart = Restart::on_panic().backoff(pause, 1.0, pause);
    let pool = Process::pool(3).restart(restart);
    let pool = pool.spawn::<Counter>(0).unwrap();
    let mut all = pids(&pool, 3);
    while all.len() > 1 {
        // The first of those that are idle, and so the one that would be asked next.
        let pid = pool.ask(Count::Pid).unwrap();
        kill(pid);
        until_gone(&[pid].into());
        all.remove(&pid);
        for _ in 0..100 {
            let answer = pool
                .ask_timeout(Count::Pid, LONG)
                .expect("another one is idle");
            assert!(all.contains(&answer));
        }
    }
    pool.stop();
}

fn a_message_that_kills_one_of_a_pool_is_the_only_one_that_is_lost() {
    let pool = Process::pool(3).name("poisoned-pool").spawn::<Counter>(0);
    let pool = pool.unwrap();
    let before = pids(&pool, 3);
    let (_watch, letters) = letters_of("poisoned-pool");
    let (sender, answers) = mpsc::channel();
    for number in 0..300 {
        if number == 100 {
            pool.tell(Count::Die(Death::Abort)).unwrap();
        }
        let sender = sender.clone();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        pool.tell(Count::IsPrimordial(reply)).unwrap();
    }
    for answer in answers.iter().take(300) {
        assert_eq!(answer, Ok(false));
    }
    let after = pids(&pool, 3);
    assert_eq!(before.intersection(&after).count(), 2);
    let died = Err(AskError::ProcessEnded(ProcessEnd::Exited(9)));
    assert_eq!(
        pool.ask(|reply| Count::DieAsking(Death::Exit(9), reply)),
        died
    );
    let letters = letters.lock().unwrap();
    let [letter, asked] = &letters[..] else {
        panic!("{letters:?}");
    };
    assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Killed(6)));
    // `Die` is the ninth variant, `Abort` the first.
    assert_eq!(letter.bytes.as_deref(), Some(&[8, 0][..]));
    assert!(letter.message_type.ends_with("::Count"));
    // The question is a letter as well, beside its answer: the tenth variant, how, and the number of its reply.
    assert_eq!(asked.why, Loss::ProcessEnded(ProcessEnd::Exited(9)));
    assert_eq!(asked.bytes.as_deref().unwrap()[..3], [9, 1, 18]);
}

/// Whether a process has a filter of system calls, and how much memory it may have.
fn limits_of(pid: u32) -> (bool, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let is_filtered = status.lines().any(|line| {
        line.strip_prefix("Seccomp:")
            .is_some_and(|mode| mode.trim() == "2")
    });
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let memory = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"));
    let soft = memory.unwrap().split_whitespace().next().unwrap();
    (is_filtered, soft.parse().unwrap_or(u64::MAX))
}

fn each_of_a_pool_has_the_limits_also_the_one_that_was_begun_again() {
    let unlimited = Process::pool(2).name("unlimited").spawn::<Counter>(0);
    for pid in pids(&unlimited.unwrap(), 2) {
        assert_eq!(limits_of(pid), (false, u64::MAX));
    }
    let limits = Limits::new().untrusted().memory(3 << 30);
    let pool = Process::pool(3).name("within-limits").limits(limits);
    let pool = pool.spawn::<Counter>(0).unwrap();
    let first = pids(&pool, 3);
    for pid in &first {
        assert_eq!(limits_of(*pid), (true, 3 << 30));
    }
    for pid in &first {
        kill(*pid);
    }
    until_gone(&first);
    for pid in pids(&pool, 3) {
        assert_eq!(limits_of(pid), (true, 3 << 30));
    }
    let reach = |reply| Count::Reach("/etc/passwd".to_owned(), reply);
    for _ in 0..6 {
        assert_eq!(pool.ask(reach), Ok((false, false)));
    }
}

fn each_of_a_pool_is_begun_again() {
    let pool = Process::pool(2)
        .name("again")
        .spawn::<Counter>(100)
        .unwrap();
    let mut all = BTreeSet::new();
    for _ in 0..3 {
        let now = pids(&pool, 2);
        assert!(all.is_disjoint(&now));
        now.iter().copied().for_each(kill);
        until_gone(&now);
        all.extend(now);
        assert_eq!(pool.ask(Count::Read), Ok(100));
    }
    assert!(!pool.is_stopped());
}

fn those_that_are_left_do_the_work_until_none_is() {
    let pool = Process::pool(3).name("fewer").restart(Restart::never());
    let pool = pool.spawn::<Counter>(0).unwrap();
    let end = pool.end();
    let (_watch, letters) = letters_of("fewer");
    let mut left: Vec<u32> = pids(&pool, 3).into_iter().collect();
    let last = left.pop().unwrap();
    let telling = thread::spawn({
        let pool = pool.clone();
        move || {
            let mut told = 0_u64;
            // None is refused while one of them lives.
            while pool.tell(Count::Add(1)).is_ok() {
                told += 1;
                // So that they have work, and not more and more of it.
                if told.is_multiple_of(100) && pool.ask(Count::Read).is_err() && pool.is_stopped() {
                    break;
                }
            }
            told
        }
    });
    for pid in left {
        kill(pid);
        until_gone(&BTreeSet::from([pid]));
        // Those that are left answer.
        until("another one answers", || pool.ask(Count::Read).is_ok());
        assert!(!telling.is_finished() && !pool.is_stopped());
    }
    assert_eq!(pids(&pool, 1), BTreeSet::from([last]));
    kill(last);
    let killed = ProcessEnd::Killed(9);
    assert_eq!(end.wait().reason, EndReason::ProcessEnded(killed));
    assert!(telling.join().unwrap() > 0);
    until("it takes no more", || pool.is_stopped());
    assert!(pool.tell(Count::Add(1)).unwrap_err().is_stopped());
    // What each had in hand is named, and what it had not begun was not handled.
    let letters = letters.lock().unwrap();
    let begun = letters
        .iter()
        .filter(|it| it.why == Loss::ProcessEnded(killed));
    assert!(begun.count() <= 3);
    assert!(letters.iter().all(|letter| {
        let is_known = [Loss::ProcessEnded(killed), Loss::Unreachable].contains(&letter.why);
        is_known && letter.bytes.is_some()
    }));
}

fn a_pool_that_is_stopped_leaves_no_process() {
    let pool = Process::pool(3)
        .name("stopped")
        .spawn::<Counter>(0)
        .unwrap();
    let all = pids(&pool, 3);
    pool.stop();
    assert_eq!(pool.end().wait().reason, EndReason::Stopped);
    until_gone(&all);
    until("it takes no more", || pool.is_stopped());
    assert!(pool.tell(Count::Add(1)).unwrap_err().is_stopped());
}

fn a_pool_ends_with_its_last_address_when_all_is_handled() {
    let pool = Process::pool(3)
        .name("dropped")
        .spawn::<Counter>(0)
        .unwrap();
    let all = pids(&pool, 3);
    let (end, (sender, answers)) = (pool.end(), mpsc::channel());
    for _ in 0..3_000 {
        let sender = sender.clone();
        let reply = Reply::to(move |answer: Result<bool, AskError>| sender.send(answer).unwrap());
        pool.tell(Count::IsPrimordial(reply)).unwrap();
    }
    drop((pool, sender));
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers.len(), 3_000);
    assert!(answers.into_iter().all(|answer| answer == Ok(false)));
    assert_eq!(end.wait().reason, EndReason::NoAddresses);
    until_gone(&all);
}

fn a_pool_finishes_what_each_has() {
    let pool = Process::pool(2)
        .name("finished")
        .spawn::<Counter>(0)
        .unwrap();
    let all = pids(&pool, 2);
    let (sender, answers) = mpsc::channel();
    for _ in 0..1_000 {
        let sender = sender.clone();
        let reply = Reply::to(move |answer: Result<bool, AskError>| sender.send(answer).unwrap());
        pool.tell(Count::IsPrimordial(reply)).unwrap();
    }
    pool.finish();
    for answer in answers.iter().take(1_000) {
        assert_eq!(answer, Ok(false));
    }
    assert_eq!(pool.end().wait().reason, EndReason::Stopped);
    until_gone(&all);
}

/// Is linked with a pool from its beginning.
struct Linker(Address<Count>);

enum Word {
    Here(Reply<()>),
    Fail,
    Stop,
}

impl Actor for Linker {
    type Message = Word;

    fn started(&mut self, cx: &mut Context<Self>) {
        cx.link(&self.0);
    }

    fn handle(&mut self, word: Word, cx: &mut Context<Self>) {
        match word {
            Word::Here(reply) => reply.send(()),
            Word::Fail => panic!("on purpose"),
            Word::Stop => cx.stop(),
        }
    }
}

/// A linker of this name that has made its link.
fn linker(name: &str, pool: &Address<Count>, actors: &Pool) -> Address<Word> {
    let linker = actors.spawner().name(name).spawn(Linker(pool.clone()));
    linker.ask(Word::Here).unwrap();
    linker
}

fn a_linker_that_ends_takes_each_of_a_pool_along() {
    let actors = Pool::with_threads(1);
    let pool = Process::pool(3).name("linked").restart(Restart::on_panic());
    let pool = pool.spawn::<Counter>(0).unwrap();
    let all = pids(&pool, 3);
    let (orderly, own) = (
        linker("orderly", &pool, &actors),
        linker("own", &pool, &actors),
    );
    orderly.tell(Word::Stop).unwrap();
    assert_eq!(orderly.end().wait().reason, EndReason::Stopped);
    // An end in order is that of the link alone.
    assert_eq!(pids(&pool, 3), all);
    let end = pool.end();
    // One of them does not hear of it; the process that takes its place does.
    let deaf = *all.first().unwrap();
    signal(deaf, Signal::STOP);
    own.tell(Word::Fail).unwrap();
    own.end().wait();
    kill(deaf);
    let EndReason::Linked(linked) = end.wait().reason else {
        panic!("it was linked");
    };
    assert_eq!(linked.name.as_deref(), Some("own"));
    assert_eq!(linked.reason, EndReason::Panicked("on purpose".into()));
    until_gone(&all);
    until("it takes no more", || pool.is_stopped());
}

fn a_pool_takes_its_linker_along_with_the_last_of_its_processes() {
    let actors = Pool::with_threads(1);
    let pool = Process::pool(2).name("linking").restart(Restart::never());
    let pool = pool.spawn::<Counter>(0).unwrap();
    let all: Vec<u32> = pids(&pool, 2).into_iter().collect();
    let own = linker("own", &pool, &actors);
    kill(all[0]);
    until_gone(&BTreeSet::from([all[0]]));
    assert_eq!(pids(&pool, 1), BTreeSet::from([all[1]]));
    own.ask(Word::Here).unwrap();
    kill(all[1]);
    let EndReason::Linked(linked) = own.end().wait().reason else {
        panic!("it was linked");
    };
    assert_eq!(linked.name.as_deref(), Some("linking"));
    let killed = EndReason::ProcessEnded(ProcessEnd::Killed(9));
    assert_eq!(linked.reason, killed);
}

/// The process that gets what is sent while all are idle.
fn first_pid(pool: &Address<Count>) -> u32 {
    pool.ask(Count::Pid).unwrap()
}

fn who_hears_of_a_death_finds_those_that_are_left() {
    let pool = Process::pool(2).name("heard").restart(Restart::never());
    let pool = pool.spawn::<Counter>(0).unwrap();
    let actors = Pool::with_threads(1);
    let mut left = pids(&pool, 2);
    let first = first_pid(&pool);
    assert!(left.remove(&first));
    hang_one(&pool, &actors);
    hang_one(&pool, &actors);
    // Behind those at which both hang, so that it is told of when all that one had is over.
    let (sender, heard) = mpsc::channel();
    for _ in 0..2 {
        let (sender, again) = (sender.clone(), pool.clone());
        let reply = Reply::to(move |answer: Result<bool, AskError>| {
            let told = again.tell(Count::Add(1)).map_err(|refused| refused.why());
            let _ = sender.send((answer.unwrap_err().fate(), told));
        });
        pool.tell(Count::IsPrimordial(reply)).unwrap();
    }
    kill(first);
    assert_eq!(heard.recv().unwrap(), (Fate::NotBegun, Ok(())));
    left.into_iter().for_each(kill);
    pool.end().wait();
}

fn a_message_at_whose_writing_a_process_dies_goes_to_another_one() {
    let pool = Process::pool(2).name("written").restart(Restart::never());
    let pool = pool.spawn::<Counter>(0).unwrap();
    let first = first_pid(&pool);
    let dying = pool.clone();
    let written = Written::then(move || {
        kill(first);
        // It is the one that would be asked as long as it is not known to be dead.
        until("the other one is asked", || {
            dying.ask(Count::Pid).is_ok_and(|pid| pid != first)
        });
    });
    pool.tell(Count::Note(written)).unwrap();
    assert_eq!(pool.ask(Count::Read), Ok(1));
}

/// An actor that asks the pool in its handler, and passes on what it hears; what it asks has to be answered by an actor of this kind.
fn asks_back(
    pool: &Pool,
    processes: Address<Count>,
    of: Address<Reply<u64>>,
) -> (Address<Reply<u64>>, mpsc::Receiver<Result<u64, AskError>>) {
    let (heard, hears) = mpsc::channel();
    let asker = pool.spawner().name("asker").spawn_fn(move |reply, _| {
        let answer = processes.ask(|reply| Count::AskBack(of.clone(), reply));
        heard.send(answer).unwrap();
        let reply: Reply<u64> = reply;
        reply.send(1);
    });
    (asker, hears)
}

fn a_wait_of_one_of_a_pool_is_no_circle_of_a_question_that_another_one_has() {
    let processes = Process::pool(2).spawn::<Counter>(0).unwrap();
    // Both have begun.
    pids(&processes, 2);
    let pool = Pool::with_threads(2);
    let slow = pool.spawn_fn(|reply: Reply<u64>, _| {
        // Longer than it takes until a circle is looked for.
        thread::sleep(Duration::from_secs(1));
        reply.send(7);
    });
    let (asker, hears) = asks_back(&pool, processes.clone(), slow);
    // The one waits for the asker, which waits for the other, which answers.
    let answer = processes.ask(|reply| Count::AskBack(asker, reply));
    assert_eq!(hears.recv(), Ok(Ok(7)));
    assert_eq!(answer, Ok(1));
}

fn a_circle_of_waits_through_a_pool_is_found_once_the_others_are_done() {
    let processes = Process::pool(1).spawn::<Counter>(0).unwrap();
    let pool = Pool::with_threads(2);
    let nothing = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(0));
    let (asker, hears) = asks_back(&pool, processes.clone(), nothing);
    let answer = processes.ask(|reply| Count::AskBack(asker, reply));
    // Who looks first names it: the asker, or the process, whose handler panics with it.
    let heard = hears.recv().unwrap();
    let said = format!("{heard:?} {answer:?}");
    assert!(
        said.contains("Cycle(") && said.contains("\"asker\""),
        "{said}"
    );
}
