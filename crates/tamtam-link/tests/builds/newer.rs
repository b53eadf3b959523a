//! The newer build of a program, which draws circles: what becomes of what it says of them to the older one.

use std::sync::mpsc;

use tamtam_actor::{Address, AskError, Pool, Reply};

use crate::program::{LONG, end, link_to};

messages! {
    Draw { Circle(u64, Reply<Shape>), Erase(u64), }
    Shape { Circle(u64), }
}

pub(crate) fn newest() -> Shape {
    Shape::Circle(1)
}

pub(crate) fn send_newest(to: &Address<Draw>) {
    to.tell(Draw::Erase(9)).unwrap();
}

pub(crate) const TESTS: &[(&str, fn())] = &[(
    "what_the_older_build_cannot_read_is_told_to_who_asked_and_is_kept_as_bytes_there",
    what_the_older_build_cannot_read_is_told_to_who_asked_and_is_kept_as_bytes_there,
)];

fn what_the_older_build_cannot_read_is_told_to_who_asked_and_is_kept_as_bytes_there() {
    let pool = Pool::with_threads(1);
    let (link, older) = link_to("older", &pool);
    let far: Address<Draw> = link.root();
    // The bytes of what it cannot read come here.
    let (note, unread) = mpsc::channel();
    let to = pool.spawn_fn(move |bytes: Vec<u8>, _| drop(note.send(bytes)));
    far.tell(Draw::Unread(to)).unwrap();
    assert_eq!(far.ask(|reply| Draw::Line(3, reply)), Ok(Shape::Line(3)));
    match far.ask(|reply| Draw::Circle(5, reply)) {
        Err(AskError::NotDecodable(failure)) => assert!(!failure.text().is_empty()),
        other => panic!("{other:?}"),
    }
    far.tell(Draw::Erase(7)).unwrap();
    // The fifth variant, what is in it, and the number of the reply, of which the line had the first.
    assert_eq!(unread.recv_timeout(LONG), Ok(vec![4, 5, 2]));
    assert_eq!(unread.recv_timeout(LONG), Ok(vec![5, 7]));
    // All else goes on, both ways.
    assert_eq!(far.ask(|reply| Draw::Line(4, reply)), Ok(Shape::Line(4)));
    assert_eq!(far.ask(Draw::Newest), Ok(Shape::Line(1)));
    assert_eq!((link.ended(), link.pending()), (None, 0));
    end(&link, older);
}
