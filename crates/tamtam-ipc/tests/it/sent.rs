//! Ends of shared memory in messages to actors at the other side of a link.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tamtam_actor::{Address, AskError, Loss, Pool, Refusal, Reply, on_dead_letter};
use tamtam_ipc::{
    BytesReceiver, BytesSender, Condition, EncodedReceiver, EncodedSender, Event, Mutex,
    Properties, Property, Receiver, SealedBytes, SealedReceiver, SealedSender, Sender, SharedBytes,
    Slot, bytes_channel, channel, encoded_channel, sealed_channel,
};
use tamtam_link::{Link, LinkBuilder, carrier};
use tamtam_testing::{in_a_process_of_its_own, within};

/// All that can be sent.
#[derive(Serialize, Deserialize)]
struct All {
    sender: Sender<u64>,
    receiver: Receiver<u64>,
    bytes_sender: BytesSender,
    bytes_receiver: BytesReceiver,
    encoded_sender: EncodedSender<String>,
    encoded_receiver: EncodedReceiver<String>,
    slot: Slot<u64>,
    property: Property<[u32; 2]>,
    properties: Properties,
    event: Event,
    mutex: Mutex<u64>,
    condition: Condition,
    bytes: SharedBytes,
    sealed: SealedBytes,
    sealed_sender: SealedSender,
    sealed_receiver: SealedReceiver,
    done: Reply<()>,
}

fn use_all(all: All) {
    all.sender.send(all.receiver.recv().unwrap() + 1).unwrap();
    let mut bytes = Vec::new();
    all.bytes_receiver.recv_bytes(&mut bytes).unwrap();
    all.bytes_sender.send(&vec![7; bytes.len()]).unwrap();
    let text = all.encoded_receiver.recv().unwrap();
    all.encoded_sender.send(text + "!").unwrap();
    all.slot.put(all.slot.take() + 1);
    all.property.set([3, 4]);
    all.properties.set("there", 5_i64).unwrap();
    all.event.set();
    all.mutex.lock().unwrap().update(|value| value * 2);
    all.condition.notify_all();
    all.bytes.write_at(0, &all.sealed).unwrap();
    let picture = all.sealed_receiver.recv().unwrap();
    all.sealed_sender.send(picture).unwrap();
    all.done.send(());
}

fn unix(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (here, there) = UnixStream::pair().unwrap();
    (
        carrier::unix(one, here).unwrap(),
        carrier::unix(other, there).unwrap(),
    )
}

fn tcp(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    (
        carrier::tcp(one, here).unwrap(),
        carrier::tcp(other, there).unwrap(),
    )
}

fn pipes(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (to_other, from_one) = std::io::pipe().unwrap();
    let (to_one, from_other) = std::io::pipe().unwrap();
    (
        carrier::streams(one, to_one, from_one, || {}).unwrap(),
        carrier::streams(other, to_other, from_other, || {}).unwrap(),
    )
}

/// Until it holds, which it does at once or soon.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn every_end_goes_in_one_message_and_is_the_same_there() {
    within(Duration::from_secs(60), || {
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|all, _| use_all(all));
        let (here, _there) = unix(Link::builder(), Link::builder().root(&actor));
        let far: Address<All> = here.root();

        let (to_there, receiver) = channel::<u64>(4).unwrap();
        let (sender, from_there) = channel::<u64>(4).unwrap();
        let (bytes_to_there, bytes_receiver) = bytes_channel(4, 64).unwrap();
        let (bytes_sender, bytes_from_there) = bytes_channel(4, 64).unwrap();
        let (encoded_to_there, encoded_receiver) = encoded_channel(4, 64).unwrap();
        let (encoded_sender, encoded_from_there) = encoded_channel::<String>(4, 64).unwrap();
        let slot = Slot::<u64>::create().unwrap();
        let property = Property::create([1_u32, 2]).unwrap();
        let properties = Properties::create(4, 64).unwrap();
        let event = Event::manual().unwrap();
        let mutex = Mutex::create(21_u64).unwrap();
        let condition = Condition::create().unwrap();
        let bytes = SharedBytes::create(16).unwrap();
        let again = |memory: std::os::fd::BorrowedFd<'_>| memory.try_clone_to_owned().unwrap();
        let (pictures, sealed_receiver) = sealed_channel().unwrap();
        let (sealed_sender, pictures_back) = sealed_channel().unwrap();
        let picture = SealedBytes::copy_of(b"pixels").unwrap();
        pictures.send(picture).unwrap();
        to_there.send(41).unwrap();
        bytes_to_there.send(b"five!").unwrap();
        encoded_to_there.send("text".to_owned()).unwrap();
        slot.put(1);
        let all = |done| All {
            sender,
            receiver,
            bytes_sender,
            bytes_receiver,
            encoded_sender,
            encoded_receiver,
            slot: Slot::attach(again(slot.memory())).unwrap(),
            property: Property::attach(again(property.memory())).unwrap(),
            properties: Properties::attach(again(properties.memory())).unwrap(),
            event: Event::attach(again(event.memory())).unwrap(),
            mutex: Mutex::attach(again(mutex.memory())).unwrap(),
            condition: Condition::attach(again(condition.memory())).unwrap(),
            bytes: SharedBytes::attach(again(bytes.memory())).unwrap(),
            sealed: SealedBytes::copy_of(b"there").unwrap(),
            sealed_sender,
            sealed_receiver,
            done,
        };
        assert_eq!(far.ask(all), Ok(()));
        assert_eq!(from_there.recv(), Ok(42));
        let mut received = Vec::new();
        bytes_from_there.recv_bytes(&mut received).unwrap();
        assert_eq!(received, [7; 5]);
        assert_eq!(encoded_from_there.recv().unwrap(), "text!");
        assert_eq!(slot.take(), 2);
        assert_eq!(property.get(), [3, 4]);
        assert_eq!(properties.get("there"), Some(5_i64.into()));
        assert!(event.is_set());
        assert_eq!(&bytes.to_vec()[..5], b"there");
        assert_eq!(mutex.lock().unwrap().get(), 42);
        assert_eq!(&*pictures_back.recv().unwrap(), b"pixels");
        // Its ends are gone there, and none is here.
        assert!(from_there.recv().is_err());
        until("the receiver is known to be gone", || to_there.is_closed());
        here.close();
    });
}

#[derive(Serialize, Deserialize)]
enum Work {
    /// Doubles what it receives, until there is no more.
    Double(Receiver<u64>, Sender<u64>),
    /// Gives an end back.
    Give(Reply<Receiver<u64>>),
    Drop(Receiver<u64>),
    Slots(Vec<Slot<u64>>, Reply<usize>),
    Ping(Reply<()>),
}

fn worker(pool: &Pool) -> Address<Work> {
    pool.spawn_fn(|work: Work, _| match work {
        Work::Double(from, to) => from.iter().for_each(|number| to.send(2 * number).unwrap()),
        Work::Give(reply) => {
            let (sender, receiver) = channel(4).unwrap();
            sender.send(11).unwrap();
            reply.send(receiver);
        }
        Work::Drop(_) => {}
        Work::Slots(slots, reply) => reply.send(slots.len()),
        Work::Ping(reply) => reply.send(()),
    })
}

#[test]
fn an_end_stays_an_end_while_it_is_on_its_way() {
    // Nothing carries the bytes yet.
    let (here, _inbound) = Link::builder().carry_descriptors().build(|| {});
    let far: Address<Work> = here.root();
    let (sender, receiver) = channel::<u64>(1).unwrap();
    let (results, from_there) = channel::<u64>(1).unwrap();
    far.tell(Work::Double(receiver, results)).unwrap();
    assert!(!sender.is_closed());
    sender.send(1).unwrap();
    assert_eq!(
        from_there.try_recv(),
        Err(tamtam_channel::TryRecvError::Empty)
    );
    // It never comes there.
    here.lose("the cable");
    assert!(sender.is_closed());
    assert!(sender.send(2).is_err());
    assert!(from_there.recv().is_err());
}

#[test]
fn streams_through_ends_that_were_sent_end_in_order() {
    within(Duration::from_secs(60), || {
        let pool = Pool::with_threads(1);
        let (here, _there) = unix(Link::builder(), Link::builder().root(&worker(&pool)));
        let far: Address<Work> = here.root();
        for _ in 0..50 {
            let (sender, receiver) = channel::<u64>(2).unwrap();
            let (results, from_there) = channel::<u64>(2).unwrap();
            far.tell(Work::Double(receiver, results)).unwrap();
            for number in 0..20 {
                sender.send(number).unwrap();
                assert_eq!(from_there.recv(), Ok(2 * number));
            }
            drop(sender);
            assert!(from_there.recv().is_err());
        }
        here.close();
    });
}

#[test]
fn an_end_comes_in_an_answer() {
    within(Duration::from_secs(60), || {
        let pool = Pool::with_threads(1);
        let (here, _there) = unix(Link::builder(), Link::builder().root(&worker(&pool)));
        let far: Address<Work> = here.root();
        let receiver = far.ask(Work::Give).unwrap();
        assert_eq!(receiver.recv(), Ok(11));
        assert!(receiver.recv().is_err());
        here.close();
    });
}

#[test]
fn what_carries_bytes_only_refuses_and_the_end_comes_back() {
    for (name, pair) in [("TCP", tcp as fn(_, _) -> _), ("pipes", pipes)] {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&worker(&pool)));
        let far: Address<Work> = here.root();
        let (sender, receiver) = channel::<u64>(2).unwrap();
        sender.send(1).unwrap();
        let refused = far.tell(Work::Drop(receiver)).unwrap_err();
        assert_eq!(refused.why(), Refusal::NotEncodable, "{name}");
        let text = refused.failure().unwrap().text().to_owned();
        assert_eq!(
            text,
            "a Receiver in it cannot be sent: it goes over a link on a Unix socket of this machine, or to a Process, and this \
             link carries bytes only"
        );
        let Work::Drop(receiver) = refused.into_inner() else {
            panic!("it comes back as it was");
        };
        assert_eq!(receiver.recv(), Ok(1));
        sender.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(2));
        // The link goes on.
        assert_eq!(far.ask(Work::Ping), Ok(()));
        drop(receiver);
        assert!(sender.is_closed());
        here.close();
    }
}

#[test]
fn outside_of_a_link_an_end_is_an_error_that_says_so() {
    let slot = Slot::<u64>::create().unwrap();
    let (sender, _receiver) = encoded_channel::<Slot<u64>>(1, 64).unwrap();
    assert!(sender.send(slot).is_err());
}

#[test]
fn a_message_has_no_more_descriptors_than_it_may_have() {
    within(Duration::from_secs(60), || {
        let pool = Pool::with_threads(1);
        let (here, _there) = unix(Link::builder(), Link::builder().root(&worker(&pool)));
        let far: Address<Work> = here.root();
        let slots = |count| (0..count).map(|_| Slot::create().unwrap()).collect();
        assert_eq!(far.ask(|reply| Work::Slots(slots(16), reply)), Ok(16));
        match far.ask(|reply| Work::Slots(slots(17), reply)) {
            Err(AskError::NotEncodable(failure)) => assert_eq!(
                failure.text(),
                "a Slot in it cannot be sent: a message has 16 descriptors at most: send it in parts"
            ),
            other => panic!("{other:?}"),
        }
        here.close();
    });
}

#[test]
fn so_many_are_on_their_way_and_no_more() {
    let (here, _inbound) = Link::builder().carry_descriptors().build(|| {});
    let far: Address<Work> = here.root();
    let slots = |count| (0..count).map(|_| Slot::create().unwrap()).collect();
    let tell = |count| {
        let (sender, _) = mpsc::channel::<()>();
        let reply = Reply::to(move |_| drop(sender));
        far.tell(Work::Slots(slots(count), reply))
    };
    (0..8).for_each(|_| tell(16).unwrap());
    let refused = tell(1).unwrap_err();
    assert_eq!(refused.why(), Refusal::NotEncodable);
    assert!(
        refused
            .to_string()
            .contains("128 descriptors are on their way")
    );
}

/// The same messages as another program has them.
#[derive(Serialize, Deserialize)]
enum Other {
    Double(Slot<u64>, Sender<u64>),
    Give(Reply<()>),
    Drop(Sender<u32>),
    Slots(Vec<Slot<u32>>, Reply<usize>),
    Ping(Reply<()>),
}

#[test]
fn an_end_of_another_kind_is_not_decodable_and_ends_nothing() {
    within(Duration::from_secs(60), || {
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|other: Other, _| {
            if let Other::Ping(reply) = other {
                reply.send(());
            }
        });
        let id = actor.id();
        let (letter, letters) = mpsc::channel();
        let _watch = on_dead_letter(move |dead| {
            if dead.actor == id {
                let _ = letter.send(dead.why);
            }
        });
        let (here, _there) = unix(Link::builder(), Link::builder().root(&actor));
        let far: Address<Work> = here.root();
        let slot = Slot::<u64>::create().unwrap();
        match far.ask(|reply| Work::Slots(vec![slot], reply)) {
            Err(AskError::NotDecodable(failure)) => assert!(
                failure
                    .text()
                    .starts_with("a Slot in it cannot be had: the memory holds 1 of u64"),
                "{failure}"
            ),
            other => panic!("{other:?}"),
        }
        assert_eq!(letters.recv(), Ok(Loss::NotDecodable));
        let (sender, receiver) = channel::<u64>(1).unwrap();
        far.tell(Work::Drop(receiver)).unwrap();
        assert_eq!(letters.recv(), Ok(Loss::NotDecodable));
        until("the receiver is known to be gone", || sender.is_closed());
        assert_eq!(far.ask(Work::Ping), Ok(()));
        here.close();
    });
}

#[test]
fn a_frame_without_its_descriptors_is_told_to_who_asks() {
    let pool = Pool::with_threads(1);
    let (there, mut to_there) = Link::builder().root(&worker(&pool)).build(|| {});
    let (here, mut to_here) = Link::builder().carry_descriptors().build(|| {});
    let far: Address<Work> = here.root();
    let carry = |to_there: &mut tamtam_link::Inbound, extra: Vec<OwnedFd>| {
        let (mut bytes, mut attached) = (Vec::new(), Vec::new());
        here.take_outgoing_with(&mut bytes, &mut attached);
        to_there.receive_with(&bytes, extra)
    };
    let (answer, answers) = mpsc::channel();
    let ask = || {
        let answer = answer.clone();
        let reply = Reply::to(move |it| answer.send(it).unwrap());
        let slots = vec![Slot::create().unwrap()];
        far.tell(Work::Slots(slots, reply)).unwrap();
    };
    let some = || {
        Slot::<u64>::create()
            .unwrap()
            .memory()
            .try_clone_to_owned()
            .unwrap()
    };
    // None has come; some have come with another frame; too many have come.
    for extra in [0, 1, 40] {
        ask();
        carry(&mut to_there, (0..extra).map(|_| some()).collect()).unwrap();
        let mut bytes = Vec::new();
        there.take_outgoing(&mut bytes);
        to_here.receive(&bytes).unwrap();
        match answers.try_recv() {
            Ok(Err(AskError::NotDecodable(failure))) => assert_eq!(
                failure.text(),
                "a Slot in it cannot be had: its descriptor has not come: the limit of open files is reached here, or it was not sent"
            ),
            other => panic!("{extra}: {other:?}"),
        }
    }
    assert_eq!(here.ended(), None);
}

/// What a hostile side writes, behind its hello.
fn hostile(frames: &[&[u8]]) -> String {
    let (link, mut inbound) = Link::builder().build(|| {});
    let mut bytes = Vec::new();
    let (other, _inbound) = Link::builder().build(|| {});
    other.take_outgoing(&mut bytes);
    for frame in frames {
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend_from_slice(frame);
    }
    inbound.receive(&bytes).unwrap_err();
    link.ended().unwrap().to_string()
}

#[test]
fn a_side_that_breaks_the_rules_is_told_which() {
    assert!(
        hostile(&[&[13, 1, 0]])
            .ends_with("it announces 0 descriptors for a message, which has 1 to 16")
    );
    assert!(
        hostile(&[&[13, 1, 17]])
            .ends_with("it announces 17 descriptors for a message, which has 1 to 16")
    );
    assert!(hostile(&[&[13, 1, 1], &[6, 0]]).ends_with("neither a message nor an answer follows"));
    assert!(
        hostile(&[&[13, 1, 1], &[13, 2, 1]]).ends_with("neither a message nor an answer follows")
    );
    assert!(
        hostile(&[&[14, 5]])
            .ends_with("it has received descriptors of number 5, which were not sent")
    );
}

/// How many descriptors this process has.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn no_descriptor_is_left_whatever_becomes_of_the_message() {
    const PATH: &str = "sent::no_descriptor_is_left_whatever_becomes_of_the_message";
    in_a_process_of_its_own(
        PATH,
        Duration::from_secs(120),
        |_| (),
        || {
            let pool = Pool::with_threads(1);
            let work = |times: u32, close: fn(Link, Link)| {
                let (here, there) = unix(Link::builder(), Link::builder().root(&worker(&pool)));
                let far: Address<Work> = here.root();
                for _ in 0..times {
                    // Read; not decodable; refused; dropped there; with an answer for none.
                    let slots = (0..3).map(|_| Slot::create().unwrap()).collect();
                    assert_eq!(far.ask(|reply| Work::Slots(slots, reply)), Ok(3));
                    let other: Address<Other> = here.root();
                    let slots = (0..3).map(|_| Slot::create().unwrap()).collect();
                    assert!(other.ask(|reply| Other::Slots(slots, reply)).is_err());
                    let slots = (0..17).map(|_| Slot::create().unwrap()).collect();
                    assert!(far.ask(|reply| Work::Slots(slots, reply)).is_err());
                    let (_sender, receiver) = channel(1).unwrap();
                    far.tell(Work::Drop(receiver)).unwrap();
                    drop(far.ask_async(Work::Give));
                }
                // These may be anywhere when the link ends.
                for _ in 0..5 {
                    let (_sender, receiver) = channel(1).unwrap();
                    let _ = far.tell(Work::Drop(receiver));
                }
                close(here, there);
            };
            work(1, |here, _| here.close());
            let settled = |before: usize| until("all are closed", || descriptors() <= before);
            std::thread::sleep(Duration::from_millis(100));
            let before = descriptors();
            for close in [
                (|here, _| here.close()) as fn(Link, Link),
                |_, there| there.close(),
                |here, _| here.lose("the cable"),
                |_, there| there.lose("the cable"),
            ] {
                work(20, close);
                settled(before);
            }
        },
    );
}
