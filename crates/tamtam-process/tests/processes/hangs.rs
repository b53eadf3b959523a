//! Processes whose actors do not come back from a message, and that are killed for it.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tamtam_actor::{
    Address, AskError, EndReason, Loss, Overflow, Pool, ProcessEnd, Reply, Restart, on_dead_letter,
};
use tamtam_process::{Process, ProcessHandle};

use crate::actors::{Count, Counter, Picky, Unfit};

crate::tests! { "hangs":
    a_message_that_hangs_is_named_and_the_others_go_on
    a_question_that_waits_for_too_long_in_its_handler_is_told_so
    one_that_has_nothing_to_do_is_left_alone
    one_that_is_killed_by_others_has_not_hung
    one_of_a_pool_that_hangs_leaves_its_work_to_the_others
    one_that_hangs_again_and_again_is_given_up
    one_that_waits_for_room_has_not_hung
    one_whose_actor_is_never_made_is_given_up_with_words
}

/// What a message may take here: on a busy machine an innocent one takes some of it.
const TIME: Duration = Duration::from_secs(3);
const HUNG: AskError = AskError::ProcessEnded(ProcessEnd::Hung);

fn watched(time: Duration) -> (Address<Count>, ProcessHandle) {
    let spawner = Process::spawner().name("slow").handles_within(time);
    spawner.spawn_with_handle::<Counter>(1).unwrap()
}

/// An actor that takes replies and keeps them.
fn silent(pool: &Pool) -> Address<Reply<u64>> {
    let mut kept = Vec::new();
    pool.spawn_fn(move |reply, _| kept.push(reply))
}

fn a_message_that_hangs_is_named_and_the_others_go_on() {
    let (counter, handle) = watched(TIME);
    let pool = Pool::with_threads(1);
    let (note, noted) = mpsc::channel();
    let hanging = pool.spawn_fn(move |number: u64, _| note.send(number).unwrap());
    let (letters, id) = (Arc::new(Mutex::new(Vec::new())), counter.id());
    let seen = Arc::clone(&letters);
    let _watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.clone());
        }
    });
    counter.tell(Count::Add(4)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(5));
    let begun = Instant::now();
    counter.tell(Count::Hang(hanging)).unwrap();
    counter.tell(Count::Add(1)).unwrap();
    assert_eq!(noted.recv(), Ok(1));
    // What waits behind it goes to the next process.
    assert_eq!(counter.ask(Count::Read), Ok(2));
    assert!(begun.elapsed() >= TIME);
    assert_eq!(handle.restarts(), 1);
    let letters = letters.lock().unwrap();
    let [letter] = &letters[..] else {
        panic!("{letters:?}");
    };
    assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Hung));
    assert_eq!(letter.name.as_deref(), Some("slow"));
    assert!(letter.bytes.is_some());
}

fn a_question_that_waits_for_too_long_in_its_handler_is_told_so() {
    let (counter, _) = watched(TIME);
    let pool = Pool::with_threads(1);
    let silent = silent(&pool);
    let answer = counter.ask(|reply| Count::AskBack(silent, reply));
    assert_eq!(answer, Err(HUNG));
    let said = HUNG.to_string();
    assert!(said.contains("at one message for longer"), "{said}");
    assert_eq!(counter.ask(Count::Read), Ok(1));
}

fn one_that_has_nothing_to_do_is_left_alone() {
    let (idle, process) = watched(TIME);
    let unreadable = |reply| {
        let picky = Picky {
            is_written: true,
            is_read: false,
        };
        Count::Try(picky, reply)
    };
    assert!(matches!(
        idle.ask(unreadable),
        Err(AskError::NotDecodable(_))
    ));
    // What is kept is no message that it is at.
    idle.tell(Count::Keep(Reply::to(|_| {}))).unwrap();
    // Another one shows that the time is over.
    let (counter, _) = watched(TIME * 2);
    let pool = Pool::with_threads(1);
    let silent = silent(&pool);
    let answer = counter.ask(|reply| Count::AskBack(silent, reply));
    assert_eq!(answer, Err(HUNG));
    assert_eq!(idle.ask(Count::Kept), Ok(1));
    assert_eq!(process.restarts(), 0);
}

fn one_that_is_killed_by_others_has_not_hung() {
    let (counter, handle) = watched(Duration::from_secs(3_600));
    let pool = Pool::with_threads(1);
    let (note, noted) = mpsc::channel();
    let hanging = pool.spawn_fn(move |number: u64, _| note.send(number).unwrap());
    let (letter, letters) = mpsc::channel();
    let id = counter.id();
    let _watch = on_dead_letter(move |lost| {
        if lost.actor == id {
            letter.send(lost.why).unwrap();
        }
    });
    counter.tell(Count::Hang(hanging)).unwrap();
    assert_eq!(noted.recv(), Ok(1));
    handle.kill();
    assert_eq!(
        letters.recv(),
        Ok(Loss::ProcessEnded(ProcessEnd::Killed(9)))
    );
    assert_eq!(counter.ask(Count::Read), Ok(1));
}

fn one_of_a_pool_that_hangs_leaves_its_work_to_the_others() {
    let counters = Process::pool(2)
        .handles_within(TIME)
        .spawn::<Counter>(1)
        .unwrap();
    let pool = Pool::with_threads(1);
    let silent = silent(&pool);
    let (sender, hung) = mpsc::channel();
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    counters.tell(Count::AskBack(silent, reply)).unwrap();
    // Answered by the other one, which has less in hand.
    assert_eq!(counters.ask(Count::Read), Ok(1));
    assert_eq!(hung.recv(), Ok(Err(HUNG)));
    for _ in 0..2 {
        assert_eq!(counters.ask(Count::Read), Ok(1));
    }
}

fn one_that_hangs_again_and_again_is_given_up() {
    let counter = Process::spawner()
        .restart(Restart::never())
        .handles_within(TIME)
        .spawn::<Counter>(1)
        .unwrap();
    let pool = Pool::with_threads(1);
    let silent = silent(&pool);
    let answer = counter.ask(|reply| Count::AskBack(silent, reply));
    assert_eq!(answer, Err(HUNG));
    let end = counter.end().wait();
    let hung = EndReason::ProcessEnded(ProcessEnd::Hung);
    assert_eq!(end.reason, hung);
}

fn one_that_waits_for_room_has_not_hung() {
    let (counter, handle) = watched(TIME);
    let pool = Pool::with_threads(2);
    let (go, goes) = mpsc::channel::<()>();
    let (note, noted) = mpsc::channel();
    let slow = pool.spawner().limited(1, Overflow::Wait);
    let slow = slow.spawn_fn(move |number: u64, _| {
        // For the first time until it may, then at once.
        let _ = goes.recv();
        note.send(number).unwrap();
    });
    counter.tell(Count::TellMany(10, slow)).unwrap();
    // Another one shows that the time is over.
    let (other, _) = watched(TIME * 2);
    let silent = silent(&pool);
    let answer = other.ask(|reply| Count::AskBack(silent, reply));
    assert_eq!(answer, Err(HUNG));
    drop(go);
    let numbers: Vec<_> = noted.iter().take(10).collect();
    assert_eq!(numbers, (1..11).collect::<Vec<_>>());
    assert_eq!(counter.ask(Count::Read), Ok(11));
    assert_eq!(handle.restarts(), 0);
}

fn one_whose_actor_is_never_made_is_given_up_with_words() {
    let (unfit, handle) = Process::spawner()
        .begins_within(TIME)
        .spawn_with_handle::<Unfit>(Unfit::NEVER_MADE.to_owned())
        .unwrap();
    let error = unfit.ask(|reply| reply).unwrap_err();
    let words = "its actor takes longer to be made";
    assert!(error.to_string().contains(words), "{error}");
    assert!(matches!(unfit.end().wait().reason, EndReason::LinkLost(_)));
    assert_eq!(handle.restarts(), 0);
}
