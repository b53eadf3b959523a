//! Any bytes as the other side of a link with live actors: no panic, no wait, no more memory than was sent; a link that ends says why, and
//! nothing is left of it then; no message is nested deeper than a stack has room for. Also where what the other side's root is sent is kept for
//! another process, which takes the place of the first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Budget, Context, EndReason, Frame, ProcessEnd, Reply};
use tamtam_link::{Death, Encoding, Inbound, Kept, Link, LinkEnd};

#[derive(Serialize, Deserialize)]
enum Message {
    Read(Reply<u64>),
    Drop(Reply<u64>),
    Echo(Address<Message>, Reply<Address<Message>>),
    Forward(Address<Reply<u64>>, Reply<u64>),
    Nested(Address<Message>, Box<Message>),
    Bytes(Vec<u8>, Reply<Vec<u8>>),
    Keep(Address<Message>),
    Link(Address<Message>),
    Unlink(Address<Message>),
    Watch(Address<Message>, bool),
    Ask(Address<Message>),
    Fail,
    New(Reply<Address<Message>>),
    Tree(Tree),
}

#[derive(Serialize, Deserialize)]
enum Tree {
    Leaf,
    Node(Vec<Tree>),
}

/// As the message is a level, and a node is two.
const DEEPEST_TREE: usize = 64;

impl Tree {
    fn depth(&self) -> usize {
        match self {
            Tree::Leaf => 0,
            Tree::Node(trees) => 1 + trees.iter().map(Tree::depth).max().unwrap_or_default(),
        }
    }
}

struct Subject {
    kept: Rc<RefCell<Vec<Address<Message>>>>,
    /// Given to who asks for a new one.
    other: Option<Address<Message>>,
    /// How deep a tree there was.
    deepest: Rc<Cell<usize>>,
}

impl Actor for Subject {
    type Message = Message;

    fn handle(&mut self, message: Message, cx: &mut Context<Self>) {
        match message {
            Message::Read(reply) => reply.send(7),
            Message::Drop(reply) => drop(reply),
            Message::Echo(address, reply) => reply.send(address),
            Message::Forward(address, reply) => drop(address.tell(reply)),
            Message::Nested(address, message) => drop(address.tell(*message)),
            Message::Bytes(bytes, reply) => reply.send(bytes),
            Message::Keep(address) => self.kept.borrow_mut().push(address),
            Message::Link(address) => cx.link(&address),
            Message::Unlink(address) => drop(cx.unlink(&address)),
            Message::Watch(address, stays) => {
                let watch = cx.watch(&address, |_, _, _| {});
                if !stays {
                    watch.cancel();
                }
            }
            Message::Ask(address) => cx.ask(&address, Message::Read, |_, _: Result<u64, _>, _| {}),
            Message::Fail => cx.stop(),
            Message::New(reply) => match &self.other {
                Some(other) => reply.send(other.clone()),
                None => drop(reply),
            },
            Message::Tree(tree) => self.deepest.set(self.deepest.get().max(tree.depth())),
        }
    }
}

/// Where a hello says how messages are written.
const ENCODING_AT: usize = 13;

/// What an end that has received so many bytes may have in its tables: a constant, and an entry for a byte.
fn within_bounds(link: &Link, received: usize) {
    let kept = link.kept();
    let Kept {
        imports,
        exports,
        orphans,
        watched,
        links,
        linkers,
        pending,
        unconfirmed,
        lent,
        later,
        outgoing,
    } = kept;
    let entries = [
        imports,
        exports,
        orphans,
        watched,
        links,
        linkers,
        pending,
        unconfirmed,
        lent,
        later,
    ];
    assert!(
        entries.iter().all(|entries| *entries <= 8 + received),
        "after {received} bytes: {kept:?}"
    );
    assert!(linkers <= links, "{kept:?}");
    assert!(outgoing <= (1 << 20) + (1 << 17), "{kept:?}");
}

/// That the last frame of what goes is a goodbye with these words.
fn ends_with_goodbye(outgoing: &[u8], words: &str) {
    let said = outgoing.ends_with(words.as_bytes());
    assert!(said, "the other side is not told: {words}");
}

/// Gives these bytes to one end; `false` if the link has ended by that.
fn feed(
    link: &Link,
    inbound: &mut Inbound,
    frame: &mut Frame,
    bytes: &[u8],
    portion: usize,
    total: &mut usize,
) -> bool {
    let mut outgoing = Vec::new();
    for now in bytes.chunks(portion) {
        *total += now.len();
        let received = inbound.receive(now);
        // It says of its end what its carrier hears, and a link that goes on has not ended, but for what nobody reads.
        match (&received, link.ended()) {
            (Ok(()), None | Some(LinkEnd::Unread(_))) => {}
            // Another process may take the place of one that breaks the protocol.
            (Err(LinkEnd::Protocol(words)), None) => {
                assert_eq!(link.violation().as_ref(), Some(words));
                return false;
            }
            (Err(end), ended) => assert_eq!(ended.as_ref(), Some(end)),
            (Ok(()), Some(end)) => panic!("it has ended in silence: {end}"),
        }
        frame.pump(Budget::messages(1_000));
        within_bounds(link, *total);
        outgoing.clear();
        link.take_outgoing(&mut outgoing);
        match received {
            Ok(()) => {}
            Err(LinkEnd::Protocol(words)) => {
                ends_with_goodbye(&outgoing, &words);
                return false;
            }
            Err(LinkEnd::Goodbye(_)) => return false,
            Err(other) => panic!("{other}"),
        }
        // It may have been ended by what the actors have sent, which nobody reads.
        if let Some(end) = link.ended() {
            assert!(matches!(end, LinkEnd::Unread(_)), "{end}");
            return false;
        }
    }
    true
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let mut frame = Frame::new();
    let kept = Rc::new(RefCell::new(Vec::new()));
    let deepest = Rc::new(Cell::new(0));
    let subject = |other| {
        let (kept, deepest) = (Rc::clone(&kept), Rc::clone(&deepest));
        frame.spawner().spawn(Subject {
            kept,
            other,
            deepest,
        })
    };
    let other = subject(None);
    let actor = subject(Some(other.clone()));
    // As JSON it is a page, which is not trusted and has no process that another one takes the place of.
    let is_page = first & 0x80 != 0;
    let keeps_root = first & 3 == 3 && !is_page;
    let mut builder = Link::builder()
        .longest_frame(1 << 16)
        .most_unread(1 << 20)
        .root(&actor);
    if is_page {
        builder = builder.encoding(Encoding::Json).untrusted();
    }
    if keeps_root {
        builder = builder.keep_root();
    }
    let (link, mut inbound) = builder.build(|| {});
    let far = link.root::<Message>();
    let mut end = far.end();
    let asked = far.ask_async(Message::Read);
    let _ = far.tell(Message::Keep(other.clone()));
    let _ = other.tell(Message::Link(far.clone()));
    frame.pump(Budget::messages(1_000));
    let hello: &[u8] = match first & 3 {
        1 | 3 => b"\x12\0\0\0\x01TTLK\x03\x80\x80\x04\x00\x00\x01\x04Type\x05",
        2 => b"\x0c\0\0\0\x01TTLK\x03\x80\x80\x04\x00\x00\x00",
        _ => b"",
    };
    let mut hello = hello.to_vec();
    if let Some(encoding) = hello.get_mut(ENCODING_AT) {
        *encoding = u8::from(is_page);
    }
    let hello = hello.as_slice();
    inbound.receive(hello).expect("a right hello is taken");
    let portion = usize::from((first & 0x7f) >> 2) + 1;
    let mut total = hello.len();
    if keeps_root {
        // What comes behind half of the bytes is another process's.
        let (now, later) = bytes.split_at(bytes.len() / 2);
        let goes_on = feed(&link, &mut inbound, &mut frame, now, portion, &mut total);
        let death = Death {
            done: later.first().copied().unwrap_or_default().into(),
            begun: later.last().copied().unwrap_or_default().into(),
            why: EndReason::ProcessEnded(ProcessEnd::Killed(9)),
        };
        let is_broken = link.violation().is_some();
        match link.begin_again(death) {
            Ok(mut next) => {
                assert!(goes_on || is_broken, "a link that has ended begins again");
                within_bounds(&link, total);
                next.receive(hello).expect("a right hello is taken");
                feed(&link, &mut next, &mut frame, later, portion, &mut total);
            }
            Err(ended) => assert_eq!(link.ended(), Some(ended)),
        }
    } else {
        feed(&link, &mut inbound, &mut frame, bytes, portion, &mut total);
    }
    link.close();
    frame.pump(Budget::messages(1_000));
    assert!(link.ended().is_some());
    let mut outgoing = Vec::new();
    link.take_outgoing(&mut outgoing);
    assert_eq!(link.kept(), Kept::default());
    assert_eq!(link.unhandled(), 0);
    assert!(end.wait_timeout(Duration::ZERO).is_some());
    // The question has its fate, so nobody waits.
    let mut asked = std::pin::pin!(asked);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(asked.as_mut().poll(&mut context).is_ready());
    assert!(deepest.get() <= DEEPEST_TREE, "nested {}", deepest.get());
    drop(kept.take());
}
