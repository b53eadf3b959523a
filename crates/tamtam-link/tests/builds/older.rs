//! The older build of a program, which draws lines: what becomes of circles that the newer one sends and answers.

use std::sync::mpsc;

use tamtam_actor::{Address, AskError, Loss, Pool, Reply, on_dead_letter};

use crate::program::{LONG, end, link_to};

messages! { Draw {} Shape {} }

pub(crate) fn newest() -> Shape {
    Shape::Line(1)
}

pub(crate) fn send_newest(to: &Address<Draw>) {
    to.tell(Draw::Line(1, Reply::to(|_| {}))).unwrap();
}

pub(crate) const TESTS: &[(&str, fn())] = &[
    (
        "an_answer_of_the_newer_build_that_cannot_be_read_is_told_to_who_asked",
        an_answer_of_the_newer_build_that_cannot_be_read_is_told_to_who_asked,
    ),
    (
        "a_message_of_the_newer_build_that_cannot_be_read_is_kept_as_bytes_here",
        a_message_of_the_newer_build_that_cannot_be_read_is_kept_as_bytes_here,
    ),
];

fn an_answer_of_the_newer_build_that_cannot_be_read_is_told_to_who_asked() {
    let pool = Pool::with_threads(1);
    let (link, newer) = link_to("newer", &pool);
    let far: Address<Draw> = link.root();
    match far.ask(Draw::Newest) {
        Err(AskError::NotDecodable(failure)) => assert!(!failure.text().is_empty()),
        other => panic!("{other:?}"),
    }
    assert_eq!(far.ask(|reply| Draw::Line(4, reply)), Ok(Shape::Line(4)));
    assert_eq!((link.ended(), link.pending()), (None, 0));
    end(&link, newer);
}

fn a_message_of_the_newer_build_that_cannot_be_read_is_kept_as_bytes_here() {
    let pool = Pool::with_threads(1);
    let (link, newer) = link_to("newer", &pool);
    let far: Address<Draw> = link.root();
    let lines = pool.spawn_fn(|message: Draw, _| match message {
        Draw::Line(length, reply) => reply.send(Shape::Line(length)),
        other => panic!("{other:?}"),
    });
    let (own, (note, letters)) = (lines.id(), mpsc::channel());
    let _watch = on_dead_letter(move |letter| {
        if letter.actor == own {
            let _ = note.send((letter.why, letter.bytes.as_deref().map(<[u8]>::to_vec)));
        }
    });
    far.tell(Draw::Send(lines.clone())).unwrap();
    let letter = letters.recv_timeout(LONG).unwrap();
    // The sixth variant, which this build does not have, and what is in it.
    assert_eq!(letter, (Loss::NotDecodable, Some(vec![5, 9])));
    // The actor goes on, and so does the link.
    assert_eq!(lines.ask(|reply| Draw::Line(2, reply)), Ok(Shape::Line(2)));
    assert_eq!(far.ask(|reply| Draw::Line(4, reply)), Ok(Shape::Line(4)));
    assert_eq!((link.ended(), link.pending()), (None, 0));
    end(&link, newer);
}
