//! A process that dies while actors are linked with its own, or asked: what the next one hears, and what those hear who wait.

use std::sync::{Mutex, mpsc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::{Address, AskError, Budget, EndReason, Ended, Fate, Frame, ProcessEnd, Reply};
use tamtam_link::{Death, Inbound, Link, LinkEnd};

use crate::suite::partners::{Bond, Partner, chain, partner};

/// A process that takes one message of its root at a time, in memory.
struct Worker {
    frame: Frame,
    link: Link,
    inbound: Inbound,
    _root: Address<Bond>,
}

impl Worker {
    fn new() -> Self {
        let frame = Frame::new();
        let other = frame.spawner().spawn(Partner::default());
        let root = frame.spawner().spawn(Partner {
            known: Some(other),
            ..Partner::default()
        });
        let (link, inbound) = Link::builder().root(&root).hold_root().build(|| {});
        Worker {
            frame,
            link,
            inbound,
            _root: root,
        }
    }

    /// Takes what the parent has said; handles so many messages of the root.
    fn take(&mut self, parent: &Link, messages: usize) {
        let mut bytes = Vec::new();
        parent.take_outgoing(&mut bytes);
        self.inbound.receive(&bytes).unwrap();
        self.frame.pump(Budget::unlimited());
        for _ in 0..messages {
            assert!(self.inbound.next_root().unwrap());
            self.frame.pump(Budget::unlimited());
        }
    }

    fn tell(&mut self, inbound: &mut Inbound) {
        let mut bytes = Vec::new();
        self.link.take_outgoing(&mut bytes);
        inbound.receive(&bytes).unwrap();
    }
}

fn killed() -> EndReason {
    EndReason::ProcessEnded(ProcessEnd::Killed(9))
}

fn death(done: u64, begun: u64) -> Death {
    Death {
        done,
        begun,
        why: killed(),
    }
}

/// An actor of the parent, linked with the root of a process; both have heard of it.
struct Linked {
    home: Frame,
    own: Address<Bond>,
    parent: Link,
    to_parent: Inbound,
    worker: Worker,
}

impl Linked {
    fn new() -> Self {
        Self::watched(|_, _| {})
    }

    /// With something that is done before they are linked.
    fn watched(before: impl FnOnce(&Address<Bond>, &Link)) -> Self {
        let mut home = Frame::new();
        let own = home.spawner().name("own").spawn(Partner::default());
        let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
        before(&own, &parent);
        let mut worker = Worker::new();
        let far = parent.root::<Bond>();
        own.tell(Bond::Link(far, Reply::to(|_| {}))).unwrap();
        home.pump(Budget::unlimited());
        worker.take(&parent, 0);
        worker.tell(&mut to_parent);
        assert_eq!((parent.kept().links, worker.link.kept().links), (1, 1));
        Linked {
            home,
            own,
            parent,
            to_parent,
            worker,
        }
    }

    fn fail(&mut self) {
        let words = "on purpose".to_owned();
        self.own.tell(Bond::Fail(words)).unwrap();
        self.home.pump(Budget::unlimited());
    }

    /// It dies, and another one takes its place.
    fn begin_again(&mut self) {
        self.to_parent = self.parent.begin_again(death(0, 0)).unwrap();
        self.worker = Worker::new();
        self.worker.take(&self.parent, 0);
        self.worker.tell(&mut self.to_parent);
    }

    fn root_has_ended_for_own(&self) {
        let ends = [self.worker.link.own_root_end(), self.parent.root_end()];
        for end in &ends {
            let Some(end) = end else {
                panic!(
                    "it has not ended: {ends:?}, {:?}, {:?}",
                    self.parent.kept(),
                    self.worker.link.kept()
                );
            };
            let (names, last) = chain(end);
            assert_eq!(names, ["own"]);
            assert_eq!(last, EndReason::Panicked("on purpose".into()));
        }
    }
}

#[test]
fn a_link_outlasts_a_process_and_ends_with_the_last() {
    let mut linked = Linked::new();
    linked.begin_again();
    linked.home.pump(Budget::unlimited());
    assert!(!linked.own.is_stopped());
    assert_eq!(linked.parent.kept().links, 1);
    assert_eq!(linked.worker.link.kept().links, 1);
    linked.parent.end_for_good(death(0, 0), &killed());
    linked.home.pump(Budget::unlimited());
    let reason = linked.own.end().wait().reason;
    assert_eq!(partner(&reason).reason, killed());
    assert_eq!(linked.parent.kept().links, 0);
}

#[test]
fn a_linker_takes_the_root_of_the_next_process_along() {
    let mut linked = Linked::new();
    linked.begin_again();
    linked.fail();
    linked.worker.take(&linked.parent, 0);
    linked.worker.tell(&mut linked.to_parent);
    linked.root_has_ended_for_own();
    assert_eq!(linked.worker.link.kept().links, 0);
}

#[test]
fn a_linker_that_ends_as_the_process_dies_is_heard_of_by_the_next() {
    let mut linked = Linked::new();
    // What it says of its end does not arrive.
    linked.fail();
    linked.begin_again();
    linked.root_has_ended_for_own();
}

/// Its end is told to one who has watched it for longer, and the process dies just then: to the next one it is not said that the two are linked, for
/// it has ended, and that it has ended is said to the link only afterwards.
#[test]
fn a_linker_whose_end_is_being_told_as_the_process_dies_is_heard_of_by_the_next() {
    let (give, given) = mpsc::channel();
    let mut watching = None;
    let mut linked = Linked::watched(|own, parent| {
        let dies = parent.clone();
        let tell = move |_: &Ended| {
            let to_parent = dies.begin_again(death(0, 0)).unwrap();
            give.send(to_parent).unwrap();
        };
        watching = Some(tamtam_actor::link::export(own).watch(Box::new(tell)));
    });
    linked.fail();
    linked.to_parent = given.recv().unwrap();
    linked.worker = Worker::new();
    linked.worker.take(&linked.parent, 0);
    linked.worker.tell(&mut linked.to_parent);
    linked.root_has_ended_for_own();
    drop(watching);
}

#[test]
fn an_actor_that_the_root_has_linked_is_linked_with_the_root_of_the_next_process() {
    // Also when no address of the root is left, which then ends behind what it was sent.
    for is_kept in [true, false] {
        let mut home = Frame::new();
        let own = home.spawner().name("own").spawn(Partner::default());
        let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
        let far = parent.root::<Bond>();
        far.tell(Bond::Link(own.clone(), Reply::to(|_| {})))
            .unwrap();
        let kept = is_kept.then_some(far);
        let mut first = Worker::new();
        first.take(&parent, 1);
        first.tell(&mut to_parent);
        assert_eq!(parent.kept().links, 1);
        let mut to_parent = parent.begin_again(death(1, 1)).unwrap();
        let mut second = Worker::new();
        second.take(&parent, 0);
        assert_eq!(second.link.kept().links, 1);
        own.tell(Bond::Fail("on purpose".to_owned())).unwrap();
        home.pump(Budget::unlimited());
        second.take(&parent, 0);
        second.tell(&mut to_parent);
        let end = parent.root_end().expect("it has ended");
        assert_eq!(chain(&end).0, ["own"]);
        drop(kept);
    }
}

#[test]
fn an_actor_that_has_ended_before_is_known_to_the_next_process() {
    let mut home = Frame::new();
    let own = home.spawner().name("own").spawn(Partner::default());
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Bond>();
    let end = own.end();
    // The root is to watch it: the first process does not come to that.
    let (sender, answers) = mpsc::channel();
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    far.tell(Bond::Link(own.clone(), reply)).unwrap();
    let mut first = Worker::new();
    first.take(&parent, 0);
    own.tell(Bond::Fail("on purpose".to_owned())).unwrap();
    home.pump(Budget::unlimited());
    assert_eq!(end.wait().reason, EndReason::Panicked("on purpose".into()));
    first.take(&parent, 0);
    first.tell(&mut to_parent);
    let mut to_parent = parent.begin_again(death(0, 0)).unwrap();
    let mut second = Worker::new();
    second.take(&parent, 1);
    second.tell(&mut to_parent);
    assert_eq!(answers.try_recv(), Ok(Ok(())));
    // What the root has linked has ended, and takes it along.
    second.take(&parent, 0);
    second.tell(&mut to_parent);
    let end = parent.root_end().expect("it has ended");
    let (_, last) = chain(&end);
    assert_eq!(last, EndReason::Panicked("on purpose".into()));
}

#[test]
fn who_asks_learns_how_far_the_question_had_got() {
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Bond>();
    let (sender, answers) = mpsc::channel();
    let ask = |to: &Address<Bond>, name: &'static str| {
        let sender = sender.clone();
        let reply = Reply::to(move |answer: Result<(), AskError>| {
            sender.send((name, answer)).unwrap();
        });
        to.tell(Bond::Here(reply)).unwrap();
    };
    let (give, given) = mpsc::channel();
    let known = Reply::to(move |answer| give.send(answer).unwrap());
    far.tell(Bond::Known(known)).unwrap();
    let mut first = Worker::new();
    first.take(&parent, 1);
    first.tell(&mut to_parent);
    let other: Address<Bond> = given.recv().unwrap().unwrap();
    ask(&far, "begun");
    ask(&far, "kept");
    ask(&other, "sent");
    first.take(&parent, 0);
    ask(&other, "queued");
    // It dies at the second message of the root.
    let to_next = parent.begin_again(death(1, 2)).unwrap();
    let mut heard: Vec<_> = answers.try_iter().collect();
    heard.sort_by_key(|(name, _)| *name);
    let end = ProcessEnd::Killed(9);
    let [
        ("begun", Err(begun @ AskError::ProcessEnded(_))),
        ("queued", Err(queued @ AskError::Unreachable(of_queued))),
        ("sent", Err(sent @ AskError::Unreachable(of_sent))),
    ] = &heard[..]
    else {
        panic!("{heard:?}");
    };
    assert_eq!(begun.fate(), Fate::Begun);
    assert_eq!(queued.fate(), Fate::NotBegun);
    assert_eq!(sent.fate(), Fate::Unknown);
    assert_eq!(of_queued.process_end(), Some(end));
    assert_eq!(of_sent.process_end(), Some(end));
    // What is kept goes to the next process, or to none.
    parent.end_for_good(death(0, 0), &killed());
    let heard: Vec<_> = answers.try_iter().collect();
    let [("kept", Err(kept))] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(kept.fate(), Fate::NotBegun);
    // From now on nothing is sent.
    let refused = far.ask(Bond::Here).unwrap_err();
    assert_eq!(refused.fate(), Fate::NotBegun);
    drop(to_next);
}

#[test]
fn what_was_written_to_a_process_that_is_given_up_has_no_known_fate() {
    let (parent, _to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Bond>();
    let (sender, answers) = mpsc::channel();
    let ask = || {
        let sender = sender.clone();
        let reply = Reply::to(move |answer: Result<(), AskError>| sender.send(answer).unwrap());
        far.tell(Bond::Here(reply)).unwrap();
    };
    ask();
    let mut worker = Worker::new();
    worker.take(&parent, 0);
    ask();
    parent.close();
    let mut fates: Vec<_> = answers
        .try_iter()
        .map(|answer| answer.unwrap_err().fate())
        .collect();
    fates.sort_by_key(|fate| *fate == Fate::Unknown);
    assert_eq!(fates, [Fate::NotBegun, Fate::Unknown]);
}

#[test]
fn a_process_that_breaks_the_protocol_has_failed_and_the_next_one_goes_on() {
    let (parent, mut to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Bond>();
    let here =
        |sender: mpsc::Sender<_>| Bond::Here(Reply::to(move |answer| sender.send(answer).unwrap()));
    let (sender, answers) = mpsc::channel();
    let mut worker = Worker::new();
    for _ in 0..3 {
        far.tell(here(sender.clone())).unwrap();
    }
    worker.take(&parent, 1);
    worker.tell(&mut to_parent);
    assert_eq!(answers.try_recv(), Ok(Ok(())));
    // No frame is of this kind.
    let end = to_parent.receive(b"\x01\0\0\0\x63").unwrap_err();
    assert_eq!(end, LinkEnd::Protocol("no frame is of kind 99".into()));
    assert_eq!(
        parent.violation().as_deref(),
        Some("no frame is of kind 99")
    );
    assert_eq!(parent.ended(), None);
    // What it says further is not heard.
    assert_eq!(to_parent.receive(b"\x01\0\0\0\x63"), Err(end));
    // It had begun the second.
    let mut to_parent = parent.begin_again(death(1, 2)).unwrap();
    assert_eq!(parent.violation(), None);
    assert_eq!(
        answers.try_recv(),
        Ok(Err(AskError::ProcessEnded(ProcessEnd::Killed(9))))
    );
    assert_eq!(far.lost(), 1);
    let mut next = Worker::new();
    next.take(&parent, 1);
    next.tell(&mut to_parent);
    assert_eq!(answers.try_recv(), Ok(Ok(())));
    // One that is of another build from the beginning has no next one.
    let mut to_parent = parent.begin_again(death(1, 1)).unwrap();
    let end = to_parent.receive(b"\x01\0\0\0\x63").unwrap_err();
    assert_eq!(parent.ended(), Some(end));
}

/// An address, and what happens once it is written.
struct Meanwhile(Address<u64>, Act);

#[derive(Default)]
struct Act(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Serialize for Act {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(act) = self.0.lock().unwrap().take() {
            act();
        }
        serializer.serialize_unit()
    }
}

impl Serialize for Meanwhile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.0, &self.1).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meanwhile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (address, ()) = Deserialize::deserialize(deserializer)?;
        Ok(Meanwhile(address, Act::default()))
    }
}

/// It was counted for the process that has died; what the next one sends to it was taken for a breach of the protocol.
#[test]
fn an_address_in_a_message_that_is_written_as_the_process_dies_is_known_to_the_next_one() {
    let mut home = Frame::new();
    let (note, noted) = mpsc::channel();
    let own = home
        .spawner()
        .spawn_fn(move |number: u64, _| note.send(number).unwrap());
    let (parent, _to_parent) = Link::builder().keep_root().build(|| {});
    let far = parent.root::<Meanwhile>();
    let (give, given) = mpsc::channel();
    let dies = parent.clone();
    let act: Box<dyn FnOnce() + Send> = Box::new(move || {
        give.send(dies.begin_again(death(0, 0)).unwrap()).unwrap();
    });
    let message = Meanwhile(own, Act(Mutex::new(Some(act))));
    assert!(far.tell(message).is_ok());
    let mut to_parent = given.recv().unwrap();

    let mut there = Frame::new();
    let root = there
        .spawner()
        .spawn_fn(|message: Meanwhile, _| message.0.tell(7).unwrap());
    let (next, mut inbound) = Link::builder().root(&root).hold_root().build(|| {});
    let mut bytes = Vec::new();
    parent.take_outgoing(&mut bytes);
    inbound.receive(&bytes).unwrap();
    assert!(inbound.next_root().unwrap());
    there.pump(Budget::unlimited());
    bytes.clear();
    next.take_outgoing(&mut bytes);
    to_parent.receive(&bytes).unwrap();
    home.pump(Budget::unlimited());
    assert_eq!(noted.try_recv(), Ok(7));
}
