//! What senders write to by themselves, while it is lent to the link.

use std::sync::{Arc, Mutex, mpsc};

use tamtam_actor::link::Call;
use tamtam_actor::{Address, Budget, Frame, Reply};
use tamtam_link::{DirectOutlet, Link, LinkEnd, Seats};

type Question = (u64, Reply<u64>);

/// Memory at which the other side looks; to show it what it has seen would only take the line from it at which it looks.
#[derive(Default)]
struct Memory {
    put: Vec<u8>,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl DirectOutlet for Memory {
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.put.extend_from_slice(bytes);
        true
    }

    fn show(&mut self, _: Seats) -> Option<Call> {
        assert!(!self.put.is_empty(), "nothing new is shown");
        self.shown.lock().unwrap().append(&mut self.put);
        None
    }
}

#[test]
fn the_other_side_is_shown_only_what_is_new_also_when_it_confirms() {
    let mut frame = Frame::new();
    let root = frame
        .spawner()
        .spawn_fn(|(number, reply): Question, _| reply.send(2 * number));
    let (there, mut to_there) = Link::builder().root(&root).hold_root().build(|| {});
    let (here, mut to_here) = Link::builder().keep_root().build(|| {});
    let mut bytes = Vec::new();
    here.take_outgoing(&mut bytes);
    to_there.receive(&bytes).unwrap();
    bytes.clear();
    there.take_outgoing(&mut bytes);
    to_here.receive(&bytes).unwrap();

    let memory = Memory::default();
    let shown = Arc::clone(&memory.shown);
    here.lend_direct(Box::new(memory));
    let far: Address<Question> = here.root();
    let (answers, answered) = mpsc::channel();
    for number in 0..300 {
        let answers = answers.clone();
        let reply = Reply::to(move |answer| answers.send(answer).unwrap());
        far.tell((number, reply)).unwrap();
        let question = std::mem::take(&mut *shown.lock().unwrap());
        to_there.receive(&question).unwrap();
        assert!(to_there.next_root().unwrap());
        frame.pump(Budget::unlimited());
        // Now and then many at once, whose count takes more bytes.
        let is_many = number >= 200;
        if !is_many || number == 299 {
            there.confirm_root(if is_many { 100 } else { 1 });
        }
        bytes.clear();
        there.take_outgoing(&mut bytes);
        // In whatever parts it comes.
        for byte in bytes.chunks(1 + number as usize % 40) {
            to_here.receive(byte).unwrap();
        }
        assert_eq!(answered.try_recv(), Ok(Ok(2 * number)));
    }
    assert_eq!(here.unconfirmed(), 0);
}

#[test]
fn more_confirmed_than_was_sent_is_nonsense() {
    let (here, mut to_here) = Link::builder().keep_root().build(|| {});
    let (there, _to_there) = Link::builder().hold_root().build(|| {});
    for count in [1, 1_000] {
        there.confirm_root(count);
    }
    let mut bytes = Vec::new();
    there.take_outgoing(&mut bytes);
    let end = to_here.receive(&bytes).unwrap_err();
    assert!(end.to_string().contains("it confirms 1 messages"), "{end}");
    // Another process may take the place of the one that says so.
    let violation = here.violation().expect("it breaks the protocol");
    assert_eq!(end, LinkEnd::Protocol(violation));
    assert_eq!(here.ended(), None);
}
