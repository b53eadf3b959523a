//! What an actor in a process of its own does, as any other.

use std::sync::mpsc;
use std::time::Duration;

use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Overflow, Pool, ProcessEnd, Refusal, Reply,
    Restart,
};
use tamtam_process::{Carrier, Limits, Process, SpawnError};

use crate::actors::{
    Chain, Count, Counter, Death, Hold, Holder, Picky, ReadOn, Unfit, this_program,
};
use crate::until;

crate::tests! { "lives":
    it_is_told_and_asked
    it_knows_that_it_is_a_worker
    its_standard_input_is_empty
    order_holds_in_both_directions
    an_answer_that_does_not_come_of_it_is_heard_all_the_same
    a_reply_that_it_gives_back_is_answered_here
    more_threads_than_seats_are_each_answered
    all_threads_that_wait_hear_of_its_death
    a_thread_gives_up_waiting_among_others
    large_messages_go_both_ways_at_once
    what_cannot_be_sent_comes_back
    what_cannot_be_read_there_is_told_to_who_asked_and_ends_nothing
    an_address_goes_there_and_comes_home_as_itself
    one_without_memory_to_share_is_reached_by_its_socket
    it_is_said_what_carries_its_messages
    its_actor_has_its_turns_on_the_thread_that_reads
    a_handler_may_wait_for_an_actor_of_the_parent
    a_circle_of_waits_through_a_process_ends
    a_question_that_it_refuses_has_its_reason_in_its_parent
    it_ends_with_its_last_address_when_all_is_handled
    an_actor_that_watches_it_hears_how_it_ends_and_lives
    it_stops_and_finishes
    one_that_was_begun_again_is_stopped_by_its_address
    an_actor_that_cannot_be_made_says_why
    an_actor_of_another_program_is_named_if_it_is_unknown
    what_is_not_registered_is_not_spawned
    a_full_one_gives_the_message_back_or_waits
    a_pool_of_processes_shares_the_work
    processes_have_processes
    one_that_holds_gets_no_further_message
    it_works_after_the_file_was_replaced
    limits_hold_in_the_process
    what_is_said_of_its_command_holds_for_each_process
    output_that_is_not_read_is_refused
    one_that_cannot_have_its_limits_says_so
    nothing_is_left_behind
}

fn counter() -> Address<Count> {
    Process::spawn::<Counter>(0).unwrap()
}

fn it_is_told_and_asked() {
    let counter = Process::spawner().name("far").spawn::<Counter>(5).unwrap();
    counter.tell(Count::Add(2)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(7));
    assert_ne!(counter.ask(Count::Pid), Ok(std::process::id()));
    let adder = counter.map(Count::Add);
    adder.tell(3).unwrap();
    assert_eq!(
        counter.ask_timeout(Count::Read, Duration::from_secs(20)),
        Ok(10)
    );
    let pool = Pool::with_threads(1);
    let asked = pool.spawn_fn({
        let counter = counter.clone();
        move |reply: Reply<u64>, _| counter.tell(Count::Read(reply)).unwrap()
    });
    // A reply is passed on as it is.
    assert_eq!(asked.ask(|reply| reply), Ok(10));
}

fn it_knows_that_it_is_a_worker() {
    assert!(tamtam_process::is_primordial());
    assert_eq!(counter().ask(Count::IsPrimordial), Ok(false));
}

fn its_standard_input_is_empty() {
    assert_eq!(counter().ask(Count::Stdin), Ok(0));
}

fn order_holds_in_both_directions() {
    let counter = counter();
    let pool = Pool::with_threads(1);
    let (note, noted) = mpsc::channel();
    let list = pool.spawn_fn(move |number: u64, _| note.send(number).unwrap());
    for _ in 0..100 {
        counter.tell(Count::TellMany(100, list.clone())).unwrap();
    }
    assert!((0..10_000).eq(noted.iter().take(10_000)));
    assert_eq!(counter.ask(Count::Read), Ok(10_000));
}

fn an_answer_that_does_not_come_of_it_is_heard_all_the_same() {
    tamtam_testing::within(Duration::from_secs(60), || {
        let counter = counter();
        let pool = Pool::with_threads(1);
        let elsewhere = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(7));
        for round in 0..20 {
            // The thread that asks again and again reads its answers itself, and nothing comes of the process to this question.
            for _ in 0..20 {
                assert_eq!(counter.ask(Count::Read), Ok(round));
            }
            let answer = counter.ask(|reply| {
                elsewhere.tell_after(Duration::from_millis(2), reply);
                Count::Add(1)
            });
            assert_eq!(answer, Ok(7));
        }
    });
}

fn a_reply_that_it_gives_back_is_answered_here() {
    tamtam_testing::within(Duration::from_secs(60), || {
        let counter = counter();
        let pool = Pool::with_threads(1);
        let late = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(7));
        // By then the process is idle, and says no more.
        let late = pool.spawn_fn(move |reply: Reply<u64>, _| {
            late.tell_after(Duration::from_millis(50), reply);
        });
        for round in 0..5 {
            for _ in 0..20 {
                assert_eq!(counter.ask(Count::Read), Ok(round));
            }
            let passed_on = counter.ask(|reply| Count::PassOn(late.clone(), reply));
            assert_eq!(passed_on, Ok(7));
            counter.tell(Count::Add(1)).unwrap();
        }
    });
}

/// More than there are [seats](tamtam_link::own_seat).
const MANY_THREADS: u64 = 40;

fn more_threads_than_seats_are_each_answered() {
    tamtam_testing::within(Duration::from_secs(120), || {
        let counter = counter();
        std::thread::scope(|threads| {
            for thread in 0..MANY_THREADS {
                let counter = &counter;
                threads.spawn(move || {
                    for number in 0..100_u64 {
                        let bytes = (thread << 32 | number).to_le_bytes().to_vec();
                        let answer = counter.ask(|reply| Count::Bytes(bytes.clone(), reply));
                        assert_eq!(answer, Ok(bytes));
                    }
                });
            }
        });
    });
}

fn all_threads_that_wait_hear_of_its_death() {
    tamtam_testing::within(Duration::from_secs(60), || {
        for _ in 0..5 {
            let counter = counter();
            // The threads read their answers themselves by then, all of them.
            let (waits, waiting) = mpsc::channel();
            std::thread::scope(|threads| {
                for _ in 0..MANY_THREADS {
                    let waits = waits.clone();
                    let counter = &counter;
                    threads.spawn(move || {
                        for _ in 0..20 {
                            assert_eq!(counter.ask(Count::Read), Ok(0));
                        }
                        waits.send(()).unwrap();
                        let killed = AskError::ProcessEnded(ProcessEnd::Killed(8));
                        assert_eq!(counter.ask(Count::Keep), Err(killed));
                    });
                }
                waiting.iter().take(MANY_THREADS as usize).for_each(drop);
                until("all wait", || counter.ask(Count::Kept) == Ok(MANY_THREADS));
                counter.tell(Count::Die(Death::Signal)).unwrap();
            });
        }
    });
}

fn a_thread_gives_up_waiting_among_others() {
    tamtam_testing::within(Duration::from_secs(60), || {
        let counter = counter();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        assert_eq!(counter.ask(Count::Read), Ok(0));
                        let shortly = Duration::from_millis(2);
                        let kept = counter.ask_timeout(Count::Keep, shortly);
                        assert_eq!(kept, Err(AskError::TimedOut));
                    }
                });
            }
        });
    });
}

fn large_messages_go_both_ways_at_once() {
    let counter = counter();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|byte| byte as u8).collect();
    let (sender, answers) = mpsc::channel();
    for _ in 0..8 {
        let sender = sender.clone();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        counter.tell(Count::Bytes(bytes.clone(), reply)).unwrap();
    }
    for answer in answers.iter().take(8) {
        assert!(answer.unwrap() == bytes);
    }
}

fn what_cannot_be_sent_comes_back() {
    let counter = counter();
    let (sender, answers) = mpsc::channel();
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    let picky = Picky {
        is_written: false,
        is_read: true,
    };
    let refused = counter.tell(Count::Try(picky, reply)).unwrap_err();
    assert_eq!(refused.why(), Refusal::NotEncodable);
    let Count::Try(picky, reply) = refused.into_inner() else {
        unreachable!("it comes back as it was");
    };
    let written = Picky {
        is_written: true,
        ..picky
    };
    counter.tell(Count::Try(written, reply)).unwrap();
    assert_eq!(answers.recv().unwrap(), Ok(0));
    // More than a link carries at once.
    let large = |reply| Count::Bytes(vec![0; 17 << 20], reply);
    let refused = counter.tell(large(Reply::to(|_| {}))).unwrap_err();
    assert_eq!(refused.why(), Refusal::TooLarge);
    assert!(matches!(counter.ask(large), Err(AskError::TooLarge(_))));
    assert_eq!(counter.ask(Count::Read), Ok(0));
    // And what its process is too late for.
    counter.stop();
    counter.end().wait();
    let refused = counter.tell(Count::Add(1)).unwrap_err();
    assert_eq!(refused.why(), Refusal::Stopped);
    assert!(matches!(refused.into_inner(), Count::Add(1)));
}

fn what_cannot_be_read_there_is_told_to_who_asked_and_ends_nothing() {
    let counter = counter();
    counter.tell(Count::Add(1)).unwrap();
    let unreadable = |reply| {
        let picky = Picky {
            is_written: true,
            is_read: false,
        };
        Count::Try(picky, reply)
    };
    let process = counter.ask(Count::Pid);
    match counter.ask(unreadable) {
        Err(AskError::NotDecodable(failure)) => assert!(!failure.text().is_empty()),
        other => panic!("{other:?}"),
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
    assert_eq!(counter.ask(Count::Pid), process);
}

fn an_address_goes_there_and_comes_home_as_itself() {
    let counter = counter();
    let pool = Pool::with_threads(1);
    let (note, noted) = mpsc::channel();
    let own = pool.spawn_fn(move |number: u64, _| note.send(number).unwrap());
    counter.tell(Count::TellMany(1, own.clone())).unwrap();
    assert_eq!(noted.recv(), Ok(0));
    let back = counter
        .ask(|reply| Count::Echo(own.clone(), reply))
        .unwrap();
    assert_eq!(back.id(), own.id());
    back.tell(8).unwrap();
    assert_eq!(noted.recv(), Ok(8));
    drop((back, own));
    // Nothing keeps the actor there any more.
    assert!(noted.recv().is_err());
}

/// Whether a process has the memory by which it and its parent send each other messages.
fn shares_memory(process: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    maps.contains("/memfd:tamtam (")
}

/// This program in a process that makes no file as large as the memory, not even one in memory, and that lives on when it tries to.
pub(crate) fn without_memory() -> std::process::Command {
    let mut limited = std::process::Command::new("sh");
    let program = this_program().get_program().to_owned();
    limited.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\""]);
    limited.arg(program);
    limited
}

fn it_is_said_what_carries_its_messages() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(0).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(0));
    assert_eq!(handle.carrier(), Some(Carrier::SharedMemory));
    // Of the process as it is now.
    let first = handle.pid();
    handle.kill();
    // One that runs hears of it a moment later.
    until("the next one begins", || handle.restarts() == 1);
    assert_eq!(counter.ask(Count::Read), Ok(0));
    assert_ne!(handle.pid(), first);
    assert_eq!(handle.carrier(), Some(Carrier::SharedMemory));
    counter.stop();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
    assert_eq!(handle.carrier(), None);

    let limited = Process::from(without_memory()).spawn::<Counter>(0).unwrap();
    let said = limited.ask(Count::CarrierBelow).unwrap();
    assert!(said.starts_with("a socket: no shared memory of "), "{said}");
    assert!(said.contains("File too large"), "{said}");
}

fn its_actor_has_its_turns_on_the_thread_that_reads() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(0).unwrap();
    let threads = || counter.ask(|reply| Count::Threads(ReadOn::this_thread(), reply));
    for _ in 0..100 {
        assert_eq!(threads(), Ok((true, true)));
    }
    // Also of what another thread reads while a handler runs, which waits for an actor here.
    let pool = Pool::with_threads(1);
    let (sender, answers) = mpsc::channel();
    let waited_for = pool.spawn_fn({
        let counter = counter.clone();
        move |reply: Reply<u64>, _| {
            for _ in 0..10 {
                let sender = sender.clone();
                let told = Reply::to(move |answer| sender.send(answer).unwrap());
                let message = Count::Threads(ReadOn::this_thread(), told);
                counter.tell(message).unwrap();
            }
            reply.send(1);
        }
    });
    assert_eq!(
        counter.ask(|reply| Count::AskBack(waited_for, reply)),
        Ok(1)
    );
    for answer in answers.iter().take(10) {
        assert_eq!(answer, Ok((true, true)));
    }
    // And where it is the next process.
    handle.kill();
    until("the next one begins", || handle.restarts() == 1);
    assert_eq!(threads(), Ok((true, true)));
}

fn one_without_memory_to_share_is_reached_by_its_socket() {
    let limited = Process::from(without_memory()).spawn::<Chain>(1).unwrap();
    let processes = limited.ask(|reply| reply).unwrap();
    let [its_child, itself] = processes[..] else {
        panic!("{processes:?}");
    };
    assert!(shares_memory(itself) && !shares_memory(its_child));
    for _ in 0..100 {
        assert_eq!(limited.ask(|reply| reply).as_ref(), Ok(&processes));
    }
}

fn a_handler_may_wait_for_an_actor_of_the_parent() {
    let counter = counter();
    let pool = Pool::with_threads(1);
    let mut number = 0;
    let helper = pool.spawn_fn(move |reply: Reply<u64>, _| {
        number += 1;
        reply.send(number);
    });
    for expected in 1..=200 {
        let answer = counter.ask(|reply| Count::AskBack(helper.clone(), reply));
        assert_eq!(answer, Ok(expected));
    }
}

fn a_question_that_it_refuses_has_its_reason_in_its_parent() {
    let shared = Process::pool(2).spawn::<Counter>(0).unwrap();
    for address in [counter(), shared] {
        match address.ask(|reply| Count::Refuse("the drum is sold".to_owned(), reply)) {
            Err(AskError::Refused(refused)) => assert_eq!(refused.reason(), "the drum is sold"),
            other => panic!("{other:?}"),
        }
        // It goes on.
        assert_eq!(address.ask(Count::Read), Ok(0));
    }
}

fn a_circle_of_waits_through_a_process_ends() {
    let limited = Process::spawner().limits(Limits::new().untrusted());
    for counter in [counter(), limited.spawn::<Counter>(0).unwrap()] {
        meet_in_a_circle(counter);
    }
}

fn meet_in_a_circle(counter: Address<Count>) {
    let pool = Pool::with_threads(1);
    let (told, tells) = mpsc::channel();
    let mut has_asked = false;
    let parent = pool
        .spawner()
        .name("parent")
        .spawn_fn(move |reply: Reply<u64>, here| {
            if std::mem::replace(&mut has_asked, true) {
                return reply.send(1);
            }
            let own = here.address();
            // Which waits for an answer of this one, which waits for that.
            told.send(counter.ask(|reply| Count::AskBack(own, reply)))
                .unwrap();
            reply.send(0);
        });
    parent.tell(Reply::to(|_| {})).unwrap();
    match tells.recv_timeout(Duration::from_secs(20)).unwrap() {
        Err(AskError::Cycle(cycle)) => assert!(cycle.to_string().contains("parent"), "{cycle}"),
        // The other one was told first, and made it a panic.
        Err(AskError::Panicked(panicked)) => {
            assert!(panicked.message().contains("Cycle"), "{panicked}");
        }
        other => panic!("{other:?}"),
    }
}

fn it_ends_with_its_last_address_when_all_is_handled() {
    let counter = counter();
    let end = counter.end();
    let (sender, answers) = mpsc::channel();
    for _ in 0..2_000 {
        counter.tell(Count::Add(1)).unwrap();
    }
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    counter.tell(Count::Read(reply)).unwrap();
    drop(counter);
    assert_eq!(answers.recv(), Ok(Ok(2_000)));
    assert_eq!(end.wait().reason, EndReason::NoAddresses);
}

/// Answers when the other one has ended.
struct Mourner(Address<Count>);

impl Actor for Mourner {
    type Message = Reply<EndReason>;

    fn handle(&mut self, reply: Reply<EndReason>, cx: &mut Context<Self>) {
        cx.watch(&self.0, |_, ended, _| reply.send(ended.reason));
    }
}

fn an_actor_that_watches_it_hears_how_it_ends_and_lives() {
    let pool = Pool::with_threads(1);
    for (message, expected) in [
        (Count::Stop, EndReason::Stopped),
        (
            Count::Die(Death::Exit(3)),
            EndReason::ProcessEnded(ProcessEnd::Exited(3)),
        ),
    ] {
        let spawner = Process::spawner().restart(Restart::never());
        let counter = spawner.spawn::<Counter>(0).unwrap();
        let mourner = pool.spawn(Mourner(counter.clone()));
        let (sender, heard) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        mourner.tell(reply).unwrap();
        counter.tell(message).unwrap();
        assert_eq!(heard.recv().unwrap(), Ok(expected.clone()));
        // It is told of what has ended before, too.
        assert_eq!(mourner.ask(|reply| reply), Ok(expected));
    }
}

fn it_stops_and_finishes() {
    let stopped = counter();
    stopped.tell(Count::Stop).unwrap();
    assert_eq!(stopped.end().wait().reason, EndReason::Stopped);
    until("it takes no more", || stopped.is_stopped());
    assert!(stopped.tell(Count::Add(1)).unwrap_err().is_stopped());

    let stopped = counter();
    stopped.stop();
    assert_eq!(stopped.end().wait().reason, EndReason::Stopped);

    let finished = counter();
    let (sender, answers) = mpsc::channel();
    for _ in 0..100 {
        finished.tell(Count::Add(1)).unwrap();
    }
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    finished.tell(Count::Read(reply)).unwrap();
    finished.finish();
    assert_eq!(answers.recv(), Ok(Ok(100)));
    assert_eq!(finished.end().wait().reason, EndReason::Stopped);
}

fn one_that_was_begun_again_is_stopped_by_its_address() {
    let (counter, process) = Process::spawner().spawn_with_handle::<Counter>(0).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(0));
    process.kill();
    until("it has begun again", || process.restarts() == 1);
    assert_eq!(counter.ask(Count::Read), Ok(0));
    counter.stop();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
    // While it dies it is stopped as well.
    let (counter, process) = Process::spawner().spawn_with_handle::<Counter>(0).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(0));
    process.kill();
    counter.stop();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
}

fn an_actor_that_cannot_be_made_says_why() {
    let restart = tamtam_actor::Restart::on_panic().limit(2, Duration::from_secs(60));
    let unfit = Process::spawner()
        .restart(restart)
        .spawn::<Unfit>("there is no such file".to_owned())
        .unwrap();
    match unfit.end().wait().reason {
        EndReason::GaveUp { restarts, message } => {
            assert_eq!(restarts, 2);
            assert_eq!(&*message, "it could not be made: there is no such file");
        }
        other => panic!("{other:?}"),
    }
}

fn an_actor_of_another_program_is_named_if_it_is_unknown() {
    // This one has no worker's half.
    let other = Process::from(std::process::Command::new("/bin/true"));
    let never = other
        .restart(tamtam_actor::Restart::never())
        .spawn::<Counter>(0)
        .unwrap();
    let asked = never.ask(Count::Read);
    assert!(
        matches!(
            asked,
            Err(AskError::ProcessEnded(_) | AskError::Stopped(_) | AskError::Unreachable(_))
        ),
        "{asked:?}"
    );
    // And this one has, but does not know the actor.
    let stranger = Process::from(this_program()).spawn::<crate::lives::Stranger>(());
    let asked = stranger.unwrap().ask(|reply| reply);
    match asked {
        Err(AskError::Unreachable(failure)) => assert!(
            failure.text().contains(
                "no actor \"stranger\" is registered in this program, only [\"chain\", \"counter\""
            ),
            "{failure}"
        ),
        other => panic!("{other:?}"),
    }
}

/// Of which the worker's half does not know.
pub(crate) struct Stranger;

impl tamtam_process::Remote for Stranger {
    type Config = ();
    const NAME: &'static str = "stranger";

    fn create(
        (): (),
        _: &mut tamtam_actor::Context<Self>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Stranger)
    }
}

impl tamtam_actor::Actor for Stranger {
    type Message = Reply<u64>;

    fn handle(&mut self, _: Reply<u64>, _: &mut tamtam_actor::Context<Self>) {}
}

fn what_is_not_registered_is_not_spawned() {
    match Process::spawn::<Stranger>(()) {
        Err(SpawnError::NotRegistered { name, known }) => {
            assert_eq!(name, "stranger");
            assert_eq!(
                known,
                [
                    "chain", "counter", "flooder", "holder", "lender", "lister", "partner",
                    "speaker", "unfit", "walker"
                ]
            );
        }
        other => panic!("{other:?}"),
    }
}

fn a_full_one_gives_the_message_back_or_waits() {
    for overflow in [Overflow::Fail, Overflow::Wait] {
        let full = Process::spawner()
            .limited(2, overflow)
            .spawn::<Counter>(0)
            .unwrap();
        let pool = Pool::with_threads(1);
        let (begun, has_begun) = mpsc::channel();
        let begun = pool.spawn_fn(move |_: u64, _| begun.send(()).unwrap());
        full.tell(Count::Hang(begun)).unwrap();
        has_begun.recv().unwrap();
        full.tell(Count::Add(1)).unwrap();
        assert!(full.try_tell(Count::Add(2)).unwrap_err().is_full());
        if overflow == Overflow::Fail {
            assert!(full.tell(Count::Add(2)).unwrap_err().is_full());
        } else {
            let refused = full.tell_timeout(Count::Add(2), Duration::from_millis(20));
            assert!(refused.unwrap_err().is_full());
        }
    }
}

fn a_pool_of_processes_shares_the_work() {
    let pool = Process::pool(3)
        .name("sharers")
        .spawn::<Counter>(0)
        .unwrap();
    let (sender, pids) = mpsc::channel();
    for _ in 0..30 {
        let sender = sender.clone();
        let reply = Reply::to(move |pid: Result<u32, _>| sender.send(pid).unwrap());
        pool.tell(Count::Pid(reply)).unwrap();
    }
    let mut pids: Vec<_> = pids.iter().take(30).map(Result::unwrap).collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 3);
    // One that is busy gets no more before the others.
    let actors = Pool::with_threads(1);
    let (begun, has_begun) = mpsc::channel();
    let begun = actors.spawn_fn(move |_: u64, _| begun.send(()).unwrap());
    pool.tell(Count::Hang(begun)).unwrap();
    has_begun.recv().unwrap();
    for _ in 0..50 {
        assert!(pool.ask(Count::Pid).is_ok());
    }
    let end = pool.end();
    pool.stop();
    drop(pool);
    // Two have stopped; the third does not come back from its handler, and is let go.
    drop(end);
}

fn processes_have_processes() {
    let chain = Process::spawn::<Chain>(3).unwrap();
    let mut pids = chain.ask(|reply| reply).unwrap();
    pids.push(std::process::id());
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 5);
}

fn one_that_holds_gets_no_further_message() {
    let holder = Process::spawn::<Holder>(()).unwrap();
    let pool = Pool::with_threads(1);
    let (kept, keeps) = mpsc::channel();
    let late = pool.spawn_fn(move |reply: Reply<u64>, _| kept.send(reply).unwrap());
    holder.tell(Hold::For(late)).unwrap();
    holder.tell(Hold::Note(2)).unwrap();
    let reply: Reply<u64> = keeps.recv().unwrap();
    reply.send(1);
    assert_eq!(holder.ask(Hold::All), Ok(vec![1, 2]));
}

fn it_works_after_the_file_was_replaced() {
    // In a copy of this program, which is run, and then replaced.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let output = std::process::Command::new(&copy)
        .args(["lives::replaced", "--ignored", "--exact"])
        .env("TAMTAM_TEST_REPLACE", &copy)
        .output();
    let output = output.unwrap();
    // It has no test of that name; what it does with the variable is in `main`.
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("replaced: 42"),
        "{output:?}"
    );
}

/// What the copy does, if it is one.
pub(crate) fn replace_if_asked() {
    let Some(path) = std::env::var_os("TAMTAM_TEST_REPLACE") else {
        return;
    };
    if !tamtam_process::is_primordial() {
        return;
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "no program").unwrap();
    let counter = Process::spawn::<Counter>(42).unwrap();
    println!("replaced: {}", counter.ask(Count::Read).unwrap());
    std::process::exit(0);
}

/// Who a process is, and what it has: its user and group, its process group, what it was called, and its environment.
fn who_is(pid: u32) -> (String, String, Vec<u8>, Vec<u8>) {
    let of = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap();
    let status = String::from_utf8(of("status")).unwrap();
    let line = |name| status.lines().find(|line: &&str| line.starts_with(name));
    let ids = [line("Uid:"), line("Gid:")].map(Option::unwrap).join(" ");
    let stat = String::from_utf8(of("stat")).unwrap();
    let group = stat.rsplit_once(')').unwrap().1.split(' ').nth(3).unwrap();
    (ids, group.to_owned(), of("cmdline"), of("environ"))
}

fn what_is_said_of_its_command_holds_for_each_process() {
    use std::os::unix::process::CommandExt;

    let mut output = tempfile::tempfile().unwrap();
    let mut program = std::process::Command::new("/proc/self/exe");
    program
        .arg0("a worker")
        .env_clear()
        .env("SAID", "1")
        .process_group(0)
        .stdout(output.try_clone().unwrap());
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        program.uid(65_534).gid(65_533);
    } else {
        println!("only root can start a process as another user: its user is not looked at");
    }
    let (counter, handle) = Process::from(program)
        .spawn_with_handle::<Counter>(1)
        .unwrap();
    for number in 0..2 {
        let pid = counter.ask(Count::Pid).unwrap();
        assert_eq!(
            counter.ask(|reply| Count::Print("said\n".to_owned(), reply)),
            Ok(())
        );
        let (ids, group, command, environment) = who_is(pid);
        if is_root {
            let nobody = "Uid:\t65534\t65534\t65534\t65534 Gid:\t65533\t65533\t65533\t65533";
            assert_eq!(ids, nobody);
        }
        assert_eq!(group, pid.to_string());
        assert_eq!(command, b"a worker\0");
        let environment = String::from_utf8(environment).unwrap();
        let names = environment
            .split_terminator('\0')
            .map(|it| it.split_once('=').unwrap().0);
        assert_eq!(names.collect::<Vec<_>>(), ["SAID", "TAMTAM_WORKER"]);
        assert_eq!(handle.restarts(), number);
        counter.tell(Count::Die(Death::Abort)).unwrap();
    }
    assert_eq!(counter.ask(Count::Read), Ok(1));
    let mut said = String::new();
    std::io::Seek::rewind(&mut output).unwrap();
    std::io::Read::read_to_string(&mut output, &mut said).unwrap();
    assert_eq!(said, "said\nsaid\n");
}

fn output_that_is_not_read_is_refused() {
    let mut program = this_program();
    program.stdout(std::process::Stdio::piped());
    match Process::from(program).spawn::<Counter>(0) {
        Err(error @ SpawnError::System { .. }) => {
            let why = std::error::Error::source(&error).unwrap().to_string();
            assert!(why.contains("a pipe that is not read"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

fn limits_hold_in_the_process() {
    let reach = |reply| Count::Reach("/etc/passwd".to_owned(), reply);
    assert_eq!(counter().ask(reach), Ok((true, true)));
    let limits = Limits::new().untrusted().memory(1 << 30);
    let (limited, handle) = Process::spawner()
        .limits(limits)
        .spawn_with_handle::<Counter>(5)
        .unwrap();
    assert_eq!(limited.ask(reach), Ok((false, false)));
    // What a worker needs is left to it: memory, threads, the link, and another process after a death.
    let bytes = vec![7; 1_000_000];
    assert_eq!(
        limited.ask(|reply| Count::Bytes(bytes.clone(), reply)),
        Ok(bytes)
    );
    let pool = Pool::with_threads(1);
    let helper = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(11));
    assert_eq!(limited.ask(|reply| Count::AskBack(helper, reply)), Ok(11));
    handle.kill();
    until("the next one begins", || handle.restarts() == 1);
    assert_eq!(limited.ask(reach), Ok((false, false)));
    // More memory than it may have kills it, and not this process.
    let filled = limited.ask(|reply| Count::Fill(2 << 30, reply));
    assert_eq!(
        filled,
        Err(AskError::ProcessEnded(tamtam_actor::ProcessEnd::Killed(6)))
    );
}

fn one_that_cannot_have_its_limits_says_so() {
    let limits = Limits::new().read("/no/such/folder");
    let refused = Process::spawner()
        .limits(limits)
        .spawn::<Counter>(5)
        .unwrap();
    match refused.ask(Count::Read) {
        Err(AskError::Unreachable(failure)) => {
            let text = failure.text();
            assert!(text.contains("its limits cannot be set"), "{text}");
            assert!(text.contains("/no/such/folder"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn nothing_is_left_behind() {
    // Alone, since others have processes and descriptors, too.
    let output = this_program()
        .env("TAMTAM_TEST_LEFT", "1")
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("nothing is left"),
        "{output:?}"
    );
}

/// What the program does that looks for what is left behind, if this is that.
pub(crate) fn look_for_what_is_left() {
    if std::env::var_os("TAMTAM_TEST_LEFT").is_none() || !tamtam_process::is_primordial() {
        return;
    }
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    // The launcher stays, and the thread by which the kernel tells others of this process's end; and so does what hears events of workers, where it
    // is wanted.
    let staying = 3 + usize::from(cfg!(feature = "tracing"));
    drop(counter().ask(Count::Read));
    until("the first is gone", || threads() <= staying);
    let before = (descriptors(), threads());
    for _ in 0..20 {
        let counter = counter();
        assert_eq!(counter.ask(Count::Read), Ok(0));
        let pid = counter.ask(Count::Pid).unwrap();
        let end = counter.end();
        drop(counter);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
        until("the process is reaped", || {
            !std::path::Path::new(&format!("/proc/{pid}")).exists()
        });
    }
    // Not more than before; fewer where what hears reports had not yet let go of the first one's when that was counted.
    until("threads and descriptors are as before", || {
        descriptors() <= before.0 && threads() <= before.1
    });
    println!("nothing is left");
    std::process::exit(0);
}
