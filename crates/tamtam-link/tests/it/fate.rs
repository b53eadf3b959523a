//! What the one that has sent a message learns of its fate, and how many may be on their way.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tamtam_actor::{
    Address, AskError, Budget, EndReason, Fate, Frame, Loss, Overflow, Pool, ProcessEnd, Reply,
};
use tamtam_link::{Death, Inbound, Link, TakenOut};

use crate::suite::confirmed::letters_of;
use crate::suite::messages::{Count, Counter, counter};
use crate::suite::until;

#[test]
fn what_is_told_is_in_the_links_queue_before_the_other_side_has_said_a_word() {
    let pool = Pool::with_threads(1);
    let actor = counter(&pool);
    let (here, mut to_here) = Link::builder().build(|| {});
    let far = here.root::<Count>();
    for number in 1..=3 {
        far.tell(Count::Add(number)).unwrap();
    }
    assert_eq!(here.unconfirmed(), 3);
    let (there, mut to_there) = Link::builder().root(&actor).build(|| {});
    let mut bytes = Vec::new();
    here.take_outgoing(&mut bytes);
    to_there.receive(&bytes).unwrap();
    assert_eq!(actor.ask(Count::Read), Ok(6));
    until("all are confirmed", || {
        bytes.clear();
        there.take_outgoing(&mut bytes);
        to_here.receive(&bytes).unwrap();
        here.unconfirmed() == 0
    });
}

#[test]
fn what_was_never_sent_is_known_not_to_be_handled() {
    let (here, _to_here) = Link::builder().build(|| {});
    let far = here.root::<Count>();
    let (_watch, letters) = letters_of(&far);
    far.tell(Count::Add(1)).unwrap();
    here.take_outgoing(&mut Vec::new());
    far.tell(Count::Add(2)).unwrap();
    let (sender, answers) = mpsc::channel();
    far.tell(Count::Read(Reply::to(move |it| sender.send(it).unwrap())))
        .unwrap();
    here.lose("the cable");
    let whys: Vec<_> = letters.lock().unwrap().iter().map(|it| it.why).collect();
    assert_eq!(whys, [Loss::FateUnknown, Loss::Unreachable]);
    match answers.recv().unwrap() {
        Err(AskError::Unreachable(failure)) => assert_eq!(
            (failure.text(), failure.fate()),
            (
                "the other side is gone: the cable; the question was not sent",
                Fate::NotBegun
            )
        ),
        other => panic!("{other:?}"),
    }
}

/// The end of a link, in the middle of which `meanwhile` is done on the thread that tells of it.
fn end_with(meanwhile: impl FnOnce(Address<Count>) + Send + 'static) -> (Link, Vec<Loss>) {
    let (here, _to_here) = Link::builder().build(|| {});
    let far = here.root::<Count>();
    let (_watch, letters) = letters_of(&far);
    let watched = far.clone();
    let reply = Reply::to(move |_| meanwhile(watched));
    far.tell(Count::Read(reply)).unwrap();
    far.tell(Count::Add(1)).unwrap();
    here.lose("the cable");
    let letters = letters.lock().unwrap();
    (here, letters.iter().map(|it| it.why).collect())
}

#[test]
fn who_watches_while_fates_are_told_hears_of_the_end_after_them() {
    let (sender, ends) = mpsc::channel();
    let (_link, letters) = end_with(move |far| {
        // Questions are told before the messages are.
        let watching = thread::spawn(move || {
            let mut end = far.end();
            assert_eq!(end.wait_timeout(Duration::ZERO), None);
            end
        });
        sender.send(watching.join().unwrap()).unwrap();
    });
    let end = ends.recv().unwrap().wait();
    assert!(matches!(end.reason, EndReason::LinkLost(_)), "{end:?}");
    assert_eq!(letters, [Loss::Unreachable]);
}

#[test]
fn who_waits_for_the_end_on_the_thread_that_tells_of_it_does_not_wait_for_ever() {
    let (sender, ends) = mpsc::channel();
    let _ended = end_with(move |far| sender.send(far.end().wait()).unwrap());
    let end = ends.recv().unwrap();
    assert!(matches!(end.reason, EndReason::LinkLost(_)), "{end:?}");
}

#[test]
fn who_watches_after_the_end_of_a_process_hears_how_it_ended() {
    let (here, _to_here) = Link::builder().keep_root().build(|| {});
    let far = here.root::<Count>();
    let (sender, reasons) = mpsc::channel();
    let watched = far.clone();
    let reply = Reply::to(move |_| sender.send(watched.end().wait().reason).unwrap());
    far.tell(Count::Read(reply)).unwrap();
    let why = EndReason::ProcessEnded(ProcessEnd::Killed(9));
    let death = Death {
        done: 0,
        begun: 0,
        why: why.clone(),
    };
    here.end_for_good(death, &why);
    assert_eq!(reasons.recv().unwrap(), why);
}

/// A process that takes one message of its root at a time, in memory.
struct Worker {
    frame: Frame,
    link: Link,
    inbound: Inbound,
    _root: Address<Count>,
    done: u64,
}

impl Worker {
    fn new() -> Self {
        let frame = Frame::new();
        let root = frame.spawner().spawn(Counter::default());
        let (link, inbound) = Link::builder().root(&root).hold_root().build(|| {});
        Worker {
            frame,
            link,
            inbound,
            _root: root,
            done: 0,
        }
    }

    fn carry_from(&mut self, parent: &Link) {
        let mut bytes = Vec::new();
        parent.take_outgoing(&mut bytes);
        self.inbound.receive(&bytes).unwrap();
    }

    fn carry_to(&mut self, inbound: &mut Inbound) {
        let mut bytes = Vec::new();
        self.link.take_outgoing(&mut bytes);
        inbound.receive(&bytes).unwrap();
    }

    /// Handles so many messages, and confirms none.
    fn handle(&mut self, messages: u64) {
        for _ in 0..messages {
            assert!(self.inbound.next_root().unwrap());
            self.frame.pump(Budget::unlimited());
            self.done += 1;
        }
    }
}

#[test]
fn what_comes_while_messages_are_taken_out_comes_behind_them() {
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Count>();
    let (sender, answers) = mpsc::channel();
    let tell = |number| {
        let sender = sender.clone();
        far.tell(Count::Add(number)).unwrap();
        let read = Reply::to(move |answer| sender.send(answer).unwrap());
        far.tell(Count::Read(read)).unwrap();
    };
    let mut worker = Worker::new();
    tell(1);
    tell(2);
    worker.carry_from(&parent);
    // It is born.
    worker.frame.pump(Budget::unlimited());
    let mut out = TakenOut::default();
    assert!(!out.has_message() && !out.give_next());
    worker.inbound.take_out(&mut out);
    assert!(!worker.inbound.holds_any() && out.has_message() && out.root_is_idle());
    // One of four; the others come while it is at hand, and the last of them is the end.
    assert!(out.give_next());
    assert!(!out.root_is_idle());
    worker.frame.pump(Budget::unlimited());
    assert!(out.root_is_idle());
    tell(3);
    far.finish();
    drop(far);
    worker.carry_from(&parent);
    assert!(out.give_next());
    worker.frame.pump(Budget::unlimited());
    worker.inbound.put_back(&mut out);
    assert!(!out.has_message());
    while worker.inbound.holds_any() {
        // The end is no message.
        let _ = worker.inbound.next_root().unwrap();
        worker.frame.pump(Budget::unlimited());
    }
    worker.carry_to(&mut to_parent);
    assert_eq!(
        answers.try_iter().collect::<Vec<_>>(),
        [Ok(1), Ok(3), Ok(6)]
    );
    assert!(worker.link.own_root_end().is_some());
}

#[test]
fn what_a_dead_process_has_not_begun_goes_to_the_next_in_order() {
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Count>();
    let (_watch, letters) = letters_of(&far);
    let (sender, answers) = mpsc::channel();
    let read = || {
        let sender = sender.clone();
        Count::Read(Reply::to(move |answer| sender.send(answer).unwrap()))
    };
    let mut first = Worker::new();
    for number in 1..=5 {
        far.tell(Count::Add(number)).unwrap();
        far.tell(read()).unwrap();
    }
    assert_eq!(parent.unconfirmed(), 10);
    first.carry_from(&parent);
    first.carry_to(&mut to_parent);
    // Add(1), Read; both answered, one of them confirmed.
    first.handle(2);
    first.link.confirm_root(1);
    first.carry_to(&mut to_parent);
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), [Ok(1)]);
    assert_eq!(parent.unconfirmed(), 9);
    // It dies at Add(2), the third one.
    let why = EndReason::ProcessEnded(ProcessEnd::Killed(9));
    let death = Death {
        done: first.done,
        begun: first.done + 1,
        why: why.clone(),
    };
    let mut to_parent = parent.begin_again(death).unwrap();
    assert_eq!(parent.unconfirmed(), 7);
    {
        let letters = letters.lock().unwrap();
        let [letter] = &letters[..] else {
            panic!("{letters:?}");
        };
        assert_eq!(letter.why, Loss::ProcessEnded(ProcessEnd::Killed(9)));
        // The first variant, and the number.
        assert_eq!(letter.bytes.as_deref(), Some(&[0, 2][..]));
    }
    // What was asked and not begun is still asked; the next process begins at zero.
    let mut second = Worker::new();
    second.carry_from(&parent);
    second.handle(7);
    second.link.confirm_root(7);
    second.carry_to(&mut to_parent);
    assert_eq!(
        answers.try_iter().collect::<Vec<_>>(),
        [Ok(0), Ok(3), Ok(7), Ok(12)]
    );
    assert_eq!((parent.unconfirmed(), parent.pending()), (0, 0));
    assert_eq!(far.lost(), 1);
    assert!(!far.is_stopped());
    // The dead one's address and answers are of no use, and harm nothing.
    drop(first);
    // And now it dies for good.
    far.tell(read()).unwrap();
    far.tell(Count::Add(1)).unwrap();
    let death = Death {
        done: 7,
        begun: 7,
        why: why.clone(),
    };
    parent.end_for_good(death, &why);
    let answers: Vec<_> = answers.try_iter().collect();
    let [Err(AskError::Unreachable(failure))] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert_eq!(failure.fate(), Fate::NotBegun);
    assert_eq!(failure.process_end(), Some(ProcessEnd::Killed(9)));
    assert_eq!(far.end().wait().reason, why);
    assert_eq!(far.lost(), 3);
    assert_eq!((parent.addresses(), parent.pending()), ((0, 0), 0));
}

#[test]
fn a_question_at_which_a_process_dies_is_told_so_and_not_asked_again() {
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Count>();
    let (sender, answers) = mpsc::channel();
    for question in [Count::Keep, Count::Read, Count::Read] {
        let sender = sender.clone();
        far.tell(question(Reply::to(move |answer| {
            sender.send(answer).unwrap();
        })))
        .unwrap();
    }
    let mut first = Worker::new();
    first.carry_from(&parent);
    // It keeps the first question, and has begun the second.
    first.handle(1);
    first.carry_to(&mut to_parent);
    let death = Death {
        done: 1,
        begun: 2,
        why: EndReason::ProcessEnded(ProcessEnd::Exited(3)),
    };
    let mut to_parent = parent.begin_again(death).unwrap();
    let ended = AskError::ProcessEnded(ProcessEnd::Exited(3));
    assert_eq!(
        answers.try_iter().collect::<Vec<_>>(),
        [Err(ended.clone()), Err(ended)]
    );
    let mut second = Worker::new();
    second.carry_from(&parent);
    second.handle(1);
    second.carry_to(&mut to_parent);
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), [Ok(0)]);
}

#[test]
fn addresses_in_messages_that_go_to_another_process_stay_good() {
    let mut home = Frame::new();
    let (note, noted) = mpsc::channel();
    let own = home.spawn_fn(move |number: u64, _| note.send(number).unwrap());
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Count>();
    for number in [1, 10] {
        far.tell(Count::Add(number)).unwrap();
        far.tell(Count::TellTo(own.clone())).unwrap();
    }
    let mut first = Worker::new();
    first.carry_from(&parent);
    first.carry_to(&mut to_parent);
    first.handle(2);
    let death = Death {
        done: 2,
        begun: 2,
        why: EndReason::ProcessEnded(ProcessEnd::Killed(6)),
    };
    // What it has said last does not arrive.
    let mut to_parent = parent.begin_again(death).unwrap();
    assert_eq!(parent.addresses(), (1, 1));
    let mut second = Worker::new();
    second.carry_from(&parent);
    second.handle(2);
    second.link.confirm_root(2);
    second.carry_to(&mut to_parent);
    home.pump(Budget::unlimited());
    assert_eq!(noted.try_iter().collect::<Vec<_>>(), [10]);
    // It has been released, as often as it was sent to the second.
    assert_eq!(parent.addresses(), (1, 0));
}

/// Until the other side has said hello it is not known whether its root has a limit, and confirms questions, too. Those that go while
/// the hello comes are confirmed as well, and so have to be counted, on one side of it or on the other.
#[test]
fn questions_beside_the_hello_are_counted() {
    let pool = Pool::with_threads(1);
    for _ in 0..300 {
        let limited = pool.spawner().limited(1_000, Overflow::Wait);
        let counter = limited.spawn(Counter::default());
        let (there, mut to_there) = Link::builder().root(&counter).build(|| {});
        let (here, mut to_here) = Link::builder().build(|| {});
        let far = here.root::<Count>();
        let mut hello = Vec::new();
        there.take_outgoing(&mut hello);
        let (begin, begun) = mpsc::channel();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for number in 0..200 {
                    far.tell(Count::Read(Reply::to(|_| {}))).unwrap();
                    if number == 5 {
                        begin.send(()).unwrap();
                    }
                }
            });
            begun.recv().unwrap();
            to_here.receive(&hello).unwrap();
        });
        let mut bytes = Vec::new();
        while (here.pending(), here.unconfirmed()) != (0, 0) {
            here.take_outgoing(&mut bytes);
            to_there.receive(&bytes).unwrap();
            bytes.clear();
            there.take_outgoing(&mut bytes);
            to_here.receive(&bytes).unwrap();
            bytes.clear();
        }
    }
}
