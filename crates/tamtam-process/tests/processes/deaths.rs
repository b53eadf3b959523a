//! Processes that die: who hears of it, what is lost, and what goes on.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tamtam_actor::{
    Address, AskError, DeadLetter, DeadLetterWatch, EndReason, Loss, Pool, ProcessEnd, Reply,
    Restart, on_dead_letter,
};
use tamtam_process::Process;

use crate::actors::{Count, Counter, Death, Hold, Holder};
use crate::until;

crate::tests! { "deaths":
    a_message_that_kills_is_named_and_the_others_go_on
    every_way_to_die_is_told
    a_question_at_which_it_dies_is_told_so
    what_was_kept_is_told_of_a_death
    a_killed_one_is_noticed_at_once
    one_that_says_of_itself_that_it_has_died_harms_itself
    one_that_plays_with_its_word_is_heard_of_by_its_socket
    one_that_plays_with_its_word_keeps_no_thread_that_writes_to_it
    one_that_may_not_be_begun_again_ends_for_its_death
    a_process_that_dies_again_and_again_is_given_up
    it_does_not_outlive_its_parent
    a_message_that_waits_behind_a_hold_is_innocent
    random_kills_lose_nothing_in_silence
    an_answer_nested_too_deep_harms_neither_side
    a_panic_whose_text_is_longer_than_a_frame_is_one
    a_message_is_not_done_before_what_it_has_told_is_written
    a_reply_that_asks_the_same_process_holds_up_no_deadline
}

/// The letters that are told of an actor from now on.
fn letters_of<M>(actor: &Address<M>) -> (DeadLetterWatch, Arc<Mutex<Vec<DeadLetter>>>) {
    let (letters, id) = (Arc::new(Mutex::new(Vec::new())), actor.id());
    let seen = Arc::clone(&letters);
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.clone());
        }
    });
    (watch, letters)
}

fn a_message_that_kills_is_named_and_the_others_go_on() {
    let (counter, handle) = Process::spawner()
        .name("poisoned")
        .spawn_with_handle::<Counter>(100)
        .unwrap();
    let (_watch, letters) = letters_of(&counter);
    let (sender, answers) = mpsc::channel();
    for number in 1..=10 {
        counter.tell(Count::Add(number)).unwrap();
        if number == 5 {
            counter.tell(Count::Die(Death::Abort)).unwrap();
        }
        let sender = sender.clone();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        counter.tell(Count::Read(reply)).unwrap();
    }
    let answers: Vec<_> = answers.iter().take(10).collect();
    let sum = |from: u64, to: u64| (from..=to).sum::<u64>();
    // The first instance has seen five; the second begins again, and sees the other five.
    let expected = (1..=4)
        .map(|to| Ok(100 + sum(1, to)))
        .chain((6..=10).map(|to| Ok(100 + sum(6, to))));
    let mut expected: Vec<_> = expected.collect();
    // What was asked behind the killer is asked of the next.
    expected.insert(4, Ok(100));
    assert_eq!(answers, expected);
    assert_eq!(handle.restarts(), 1);
    let letters = letters.lock().unwrap();
    let [letter] = &letters[..] else {
        panic!("{letters:?}");
    };
    assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Killed(6)));
    assert_eq!(letter.name.as_deref(), Some("poisoned"));
    assert!(letter.message_type.ends_with("::Count"));
    // `Die` is the ninth variant, `Abort` the first.
    assert_eq!(letter.bytes.as_deref(), Some(&[8, 0][..]));
    assert_eq!(counter.lost(), 1);
}

/// It counted as done as soon as its handler was: what the handler had told was lost with the process, and nothing said so.
fn a_message_is_not_done_before_what_it_has_told_is_written() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    let (_watch, letters) = letters_of(&counter);
    let pid = counter.ask(Count::Pid).unwrap();
    let (pool, folder) = (Pool::with_threads(1), tempfile::tempdir().unwrap());
    let reader = pool.spawn_fn(|_: String, _| {});
    // What the process says is not read until then.
    let (open, gate) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let reply = Reply::to(move |answer: Result<u64, AskError>| {
        tell.send(answer).unwrap();
        let _ = gate.recv();
    });
    counter.tell(Count::Read(reply)).unwrap();
    assert_eq!(told.recv().unwrap(), Ok(1));
    let file = folder.path().join("made");
    let path = file.to_str().unwrap().to_owned();
    counter
        .tell(Count::MakeAndTell(path, 1 << 20, reader))
        .unwrap();
    until("it waits for room for what it has told", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        file.exists() && stat.contains(") S ")
    });
    handle.kill();
    drop(open);
    assert_eq!(counter.ask(Count::Read), Ok(1));
    let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
    assert_eq!(whys, [Loss::ProcessEnded(ProcessEnd::Killed(9))]);
}

/// The thread that has read its answer asked for the lock under which it had.
fn a_reply_that_asks_the_same_process_holds_up_no_deadline() {
    const SHORT: Duration = Duration::from_millis(50);

    let counter = Process::spawn::<Counter>(1).unwrap();
    let asks_again = counter.clone();
    let (tell, told) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    let reply = Reply::to(move |answer: Result<u64, AskError>| {
        let again = asks_again.ask_timeout(Count::Read, SHORT);
        tell.send((answer, again)).unwrap();
        let _ = gate.recv();
    });
    counter.tell(Count::Read(reply)).unwrap();
    let (answer, again) = told.recv().unwrap();
    assert_eq!((answer, again), (Ok(1), Err(AskError::TimedOut)));
    // It is at work still: others give up in time, too.
    let began = Instant::now();
    let other = counter.ask_timeout(Count::Read, SHORT);
    assert_eq!(other, Err(AskError::TimedOut));
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(open);
    assert_eq!(counter.ask(Count::Read), Ok(1));
}

fn every_way_to_die_is_told() {
    for (death, why) in [
        (Death::Abort, Loss::ProcessEnded(ProcessEnd::Killed(6))),
        (Death::Exit(7), Loss::ProcessEnded(ProcessEnd::Exited(7))),
        (Death::Exit(0), Loss::ProcessEnded(ProcessEnd::Exited(0))),
        (Death::Signal, Loss::ProcessEnded(ProcessEnd::Killed(8))),
        (Death::Stack, Loss::ProcessEnded(ProcessEnd::Killed(6))),
        (Death::Panic, Loss::Panicked),
    ] {
        let counter = Process::spawn::<Counter>(1).unwrap();
        let (_watch, letters) = letters_of(&counter);
        counter.tell(Count::Die(death.clone())).unwrap();
        assert_eq!(counter.ask(Count::Read), Ok(1), "{death:?}");
        let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
        assert_eq!(whys, [why], "{death:?}");
    }
}

fn a_question_at_which_it_dies_is_told_so() {
    let counter = Process::spawn::<Counter>(1).unwrap();
    let answer = counter.ask(|reply| Count::DieAsking(Death::Exit(9), reply));
    assert_eq!(answer, Err(AskError::ProcessEnded(ProcessEnd::Exited(9))));
    let answer = counter.ask(|reply| Count::DieAsking(Death::Panic, reply));
    match answer {
        Err(AskError::Panicked(panicked)) => assert_eq!(panicked.message(), "on purpose"),
        other => panic!("{other:?}"),
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
}

fn what_was_kept_is_told_of_a_death() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    let (sender, answers) = mpsc::channel();
    for _ in 0..3 {
        let sender = sender.clone();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        counter.tell(Count::Keep(reply)).unwrap();
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
    handle.kill();
    for answer in answers.iter().take(3) {
        assert_eq!(answer, Err(AskError::ProcessEnded(ProcessEnd::Killed(9))));
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
    assert_eq!(handle.restarts(), 1);
}

/// How long it takes until a thread that waits for an answer hears that the process is gone, which has touched so much memory; and whether the
/// machine had nothing else to do before.
fn noticed_after(bytes: usize) -> (Duration, bool) {
    let (counter, handle) = Process::spawner()
        .restart(Restart::never())
        .spawn_with_handle::<Counter>(1)
        .unwrap();
    counter.ask(|reply| Count::Fill(bytes, reply)).unwrap();
    let asked = std::thread::spawn({
        let counter = counter.clone();
        move || (counter.ask(Count::Keep), Instant::now())
    });
    until("the question is there", || {
        counter.ask(Count::Kept) == Ok(1)
    });
    // What was asked is over, and all threads sleep.
    std::thread::sleep(Duration::from_millis(20));
    let was_idle = is_idle();
    let killed = Instant::now();
    handle.kill();
    let (answer, told) = asked.join().unwrap();
    assert_eq!(answer, Err(AskError::ProcessEnded(ProcessEnd::Killed(9))));
    (told - killed, was_idle)
}

/// Whether no thread of this machine runs but this one, as far as the system says.
fn is_idle() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = load.split_whitespace().nth(3);
    running.is_some_and(|running| running.starts_with("1/"))
}

/// A number that the environment says, for figures and for long runs.
fn asked_for(variable: &str, usual: usize) -> usize {
    let said = std::env::var(variable).ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(usual)
}

fn a_killed_one_is_noticed_at_once() {
    let bytes = asked_for("TAMTAM_TEST_MIB", 64) << 20;
    let rounds = asked_for("TAMTAM_TEST_ROUNDS", 24);
    let deaths: Vec<_> = (0..rounds).map(|_| noticed_after(bytes)).collect();
    let sorted = |is_wanted: &dyn Fn(bool) -> bool| {
        let wanted = deaths.iter().filter(|(_, was_idle)| is_wanted(*was_idle));
        let mut times: Vec<_> = wanted.map(|(time, _)| *time).collect();
        times.sort_unstable();
        times
    };
    let (times, idle) = (sorted(&|_| true), sorted(&|was_idle| was_idle));
    let median = |times: &[Duration]| times.get(times.len() / 2).copied();
    let (least, most) = (times[0], times[times.len() - 1]);
    let late = times
        .iter()
        .filter(|time| **time > Duration::from_millis(1));
    println!(
        "{rounds} deaths of processes of {bytes} bytes: noticed after {:?} [{least:?}..{most:?}], {} of them later than 1 ms; {} of them on an idle \
         machine, after {:?}",
        median(&times),
        late.count(),
        idle.len(),
        median(&idle),
    );
    // On a busy machine.
    assert!(most < Duration::from_secs(5));
    // On an idle one, if it was one often enough to say so.
    if idle.len() >= 20 {
        assert!(median(&idle) <= Some(Duration::from_millis(1)), "{idle:?}");
    }
}

fn one_that_says_of_itself_that_it_has_died_harms_itself() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    let liar = counter.ask(Count::Pid).unwrap();
    // What a kernel writes there: the owner has died.
    counter.ask(|reply| Count::Life(1 << 30, reply)).unwrap();
    // It is taken as if it had given up its end of the link.
    until("another one has taken its place", || handle.restarts() == 1);
    assert_ne!(counter.ask(Count::Pid), Ok(liar));
    assert!(!std::path::Path::new(&format!("/proc/{liar}")).exists());
}

/// The memory to it is full when it dies, and does not say that it has died.
fn one_that_plays_with_its_word_keeps_no_thread_that_writes_to_it() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    counter.ask(|reply| Count::Life(1, reply)).unwrap();
    // It reads no more.
    let pid = Pid::from_raw(handle.pid().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    // More than the memory takes.
    for _ in 0..8 {
        let path = "x".repeat(100 << 10);
        let unheard = Reply::to(|_: Result<(bool, bool), AskError>| {});
        counter.tell(Count::Reach(path, unheard)).unwrap();
    }
    handle.kill();
    until("another one has taken its place", || handle.restarts() >= 1);
    assert_eq!(counter.ask(Count::Read), Ok(1));
}

fn one_that_plays_with_its_word_is_heard_of_by_its_socket() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    for word in 1..=6 {
        counter.ask(|reply| Count::Life(word, reply)).unwrap();
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
    assert_eq!(handle.restarts(), 0);
    // And its end is heard of nevertheless.
    let answer = counter.ask(|reply| Count::DieAsking(Death::Exit(9), reply));
    assert_eq!(answer, Err(AskError::ProcessEnded(ProcessEnd::Exited(9))));
}

fn one_that_may_not_be_begun_again_ends_for_its_death() {
    let counter = Process::spawner()
        .restart(Restart::never())
        .spawn::<Counter>(1)
        .unwrap();
    let end = counter.end();
    let (_watch, letters) = letters_of(&counter);
    counter.tell(Count::Die(Death::Exit(3))).unwrap();
    // Where its end has been heard of already it is refused.
    let accepted = usize::from(counter.tell(Count::Add(1)).is_ok());
    let reason = EndReason::ProcessEnded(ProcessEnd::Exited(3));
    assert_eq!(end.wait().reason, reason);
    assert!(reason.is_abnormal());
    let told = || letters.lock().unwrap().len();
    until("all are told", || told() == 1 + accepted);
    let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
    // The second was never begun.
    let expected = [Loss::ProcessEnded(ProcessEnd::Exited(3)), Loss::Unreachable];
    assert_eq!(whys, expected[..=accepted]);
    assert!(counter.tell(Count::Add(1)).unwrap_err().is_stopped());
}

fn a_process_that_dies_again_and_again_is_given_up() {
    let restart = Restart::on_panic().limit(3, Duration::from_secs(60));
    let counter = Process::spawner()
        .restart(restart)
        .spawn::<Counter>(1)
        .unwrap();
    let (_watch, letters) = letters_of(&counter);
    let told = (0..6).filter(|_| counter.tell(Count::Die(Death::Abort)).is_ok());
    let told = told.count();
    match counter.end().wait().reason {
        EndReason::GaveUp { restarts, message } => {
            assert_eq!(restarts, 3);
            assert_eq!(
                &*message,
                "its process has ended: it was killed by signal 6 (SIGABRT)"
            );
        }
        other => panic!("{other:?}"),
    }
    until("all are told", || letters.lock().unwrap().len() == told);
}

fn it_does_not_outlive_its_parent() {
    let parent = Process::spawner()
        .restart(Restart::never())
        .spawn_with_handle::<crate::actors::Chain>(2)
        .unwrap();
    let pids = parent.0.ask(|reply| reply).unwrap();
    assert_eq!(pids.len(), 3);
    parent.1.kill();
    for pid in pids {
        until("it has died with its parent", || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            // It may be left to be reaped by whoever has adopted it.
            stat.map_or(true, |stat| stat.contains(") Z "))
        });
    }
}

fn a_message_that_waits_behind_a_hold_is_innocent() {
    let (holder, handle) = Process::spawner().spawn_with_handle::<Holder>(()).unwrap();
    let (_watch, letters) = letters_of(&holder);
    let pool = Pool::with_threads(1);
    let (kept, keeps) = mpsc::channel();
    let late = pool.spawn_fn(move |reply: Reply<u64>, _| kept.send(reply).unwrap());
    holder.tell(Hold::For(late)).unwrap();
    holder.tell(Hold::Note(2)).unwrap();
    holder.tell(Hold::Note(3)).unwrap();
    let _reply: Reply<u64> = keeps.recv().unwrap();
    handle.kill();
    // What held is the one that is not known to be done with; the notes go on.
    assert_eq!(holder.ask(Hold::All), Ok(vec![2, 3]));
    let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
    assert_eq!(whys, [Loss::ProcessEnded(ProcessEnd::Killed(9))]);
    holder.tell(Hold::Die).unwrap();
    assert_eq!(holder.ask(Hold::All), Ok(vec![]));
}

/// Numbers that tell the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn random_kills_lose_nothing_in_silence() {
    let kills: u64 = std::env::var("TAMTAM_TEST_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(if std::env::var_os("TAMTAM_SOAK_SECONDS").is_some() {
            1_000
        } else {
            20
        });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let restart = Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO);
    let (counter, handle) = Process::spawner()
        .restart(restart)
        .spawn_with_handle::<Counter>(0)
        .unwrap();
    let (_watch, letters) = letters_of(&counter);
    // Each message that is begun leaves its number in a file, which outlives the process.
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().to_str().unwrap().to_owned();
    let (asked, answered, failed) = (
        Arc::new(Mutex::new(0_u64)),
        Arc::new(Mutex::new(0_u64)),
        Arc::new(Mutex::new(0_u64)),
    );
    let (mut told, mut killed) = (0_u64, 0_u64);
    // Until one has died at a message: what is to be seen has to be there to be seen.
    while killed < kills || letters.lock().unwrap().is_empty() {
        killed += 1;
        let restarts = handle.restarts();
        // The one that is to be killed is at work: it has nothing left of those before it.
        counter.ask(Count::Read).unwrap();
        let heard = || *answered.lock().unwrap() + *failed.lock().unwrap();
        let heard_before = heard();
        let asked_before = *asked.lock().unwrap();
        for _ in 0..1 + random.below(400) {
            if random.below(2) == 0 {
                counter.tell(Count::Log(path.clone(), told)).unwrap();
                told += 1;
            } else {
                *asked.lock().unwrap() += 1;
                let (answered, failed) = (Arc::clone(&answered), Arc::clone(&failed));
                counter
                    .tell(Count::Read(Reply::to(move |answer| match answer {
                        Ok(_) => *answered.lock().unwrap() += 1,
                        Err(AskError::ProcessEnded(ProcessEnd::Killed(9))) => {
                            *failed.lock().unwrap() += 1;
                        }
                        Err(other) => panic!("{other:?}"),
                    })))
                    .unwrap();
            }
        }
        // Somewhere in the middle of these.
        let asked_now = *asked.lock().unwrap() - asked_before;
        let until_heard = heard_before + random.below(asked_now + 1);
        until("so many are answered", || heard() >= until_heard);
        for _ in 0..random.below(2_000) {
            std::hint::spin_loop();
        }
        handle.kill();
        until("another one has taken its place", || {
            handle.restarts() > restarts
        });
    }
    // All that was not begun is handled in the end.
    counter.ask(Count::Read).unwrap();
    until("all have heard", || {
        *answered.lock().unwrap() + *failed.lock().unwrap() == *asked.lock().unwrap()
    });
    let letters = letters.lock().unwrap();
    let named: BTreeSet<u64> = letters
        .iter()
        .filter_map(|letter| {
            assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Killed(9)));
            let bytes = letter.bytes.as_deref().unwrap();
            // The tenth variant: a path, and the number.
            let (_, _, number): (u8, String, u64) = tamtam_actor::link::decode(bytes).ok()?;
            Some(number)
        })
        .collect();
    // One message at most was at hand at each death, and it is named.
    assert!(letters.len() as u64 <= killed, "{} letters", letters.len());
    let bytes = std::fs::read(log.path()).unwrap();
    let (numbers, []) = bytes.as_chunks::<8>() else {
        panic!("a number was cut");
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .map(|number| u64::from_le_bytes(*number))
        .collect();
    let begun: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(numbers.len(), begun.len(), "a message was begun twice");
    assert!(numbers.is_sorted(), "a message overtook another one");
    let silent: Vec<u64> = (0..told)
        .filter(|number| !begun.contains(number) && !named.contains(number))
        .collect();
    assert!(silent.is_empty(), "lost in silence: {silent:?}");
    println!(
        "{killed} kills: {told} told, {} asked, {} letters, {} questions failed",
        asked.lock().unwrap(),
        letters.len(),
        failed.lock().unwrap()
    );
}

fn an_answer_nested_too_deep_harms_neither_side() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(3).unwrap();
    let nested = |depth| counter.ask(|reply| Count::Nest(depth, reply));
    assert_eq!(nested(100).unwrap().0, 100);
    match nested(4 << 20) {
        Err(AskError::NotDecodable(failure)) => {
            assert!(
                failure
                    .text()
                    .ends_with("it is nested deeper than 128 levels"),
                "{failure:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(counter.ask(Count::Read), Ok(3));
    assert_eq!(handle.restarts(), 0);
}

fn a_panic_whose_text_is_longer_than_a_frame_is_one() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(3).unwrap();
    let (_watch, letters) = letters_of(&counter);
    counter.tell(Count::Add(4)).unwrap();
    counter.tell(Count::FailAt(20 << 20)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(3));
    assert_eq!(handle.restarts(), 1);
    let letters = letters.lock().unwrap();
    let whys: Vec<_> = letters.iter().map(|letter| letter.why).collect();
    assert_eq!(whys, [Loss::Panicked]);
}
