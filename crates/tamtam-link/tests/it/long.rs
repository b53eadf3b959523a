//! Words for people that take more than the other side's longest frame: they are cut, and end nothing.

use std::sync::mpsc;

use tamtam_actor::{AskError, EndReason, Pool, Reply};
use tamtam_link::{Link, LinkEnd};

use crate::carriers;
use crate::suite::messages::{Count, counter};
use crate::suite::partners::{Bond, Partner};
use crate::suite::until;

/// No side takes less.
const LEAST: usize = 2 << 10;

fn long() -> String {
    "ä".repeat(100_000)
}

/// That it is the beginning of the text.
fn is_cut(said: &str) {
    assert!(said.len() < LEAST && said.ends_with("ä…"), "{said}");
}

#[test]
fn a_panic_with_a_long_text_is_told_in_what_the_other_side_takes() {
    let pool = Pool::with_threads(1);
    let root = counter(&pool);
    for (_, pair) in carriers::ALL {
        let root = root.clone();
        let offered = pool.spawn_fn(move |message: Count, _| match message {
            Count::Fail(_) => panic!("{}", long()),
            other => root.tell(other).unwrap(),
        });
        let (here, there) = pair(
            Link::builder().longest_frame(LEAST),
            Link::builder().root(&offered),
        );
        let far = here.root::<Count>();
        assert_eq!(far.ask(Count::Read), Ok(0));
        let mut end = far.end();
        let (sender, answers) = mpsc::channel();
        far.tell(Count::Keep(Reply::to(move |answer| {
            sender.send(answer).unwrap()
        })))
        .unwrap();
        far.tell(Count::Fail(String::new())).unwrap();
        let ended = end.wait_timeout(crate::suite::LONG).expect("it ends");
        match &ended.reason {
            EndReason::Panicked(text) => is_cut(text),
            other => panic!("{other}"),
        }
        assert_eq!((here.ended(), there.ended()), (None, None));
        drop(answers);
    }
}

#[test]
fn a_question_that_fails_with_a_long_text_is_told_in_what_the_other_side_takes() {
    let pool = Pool::with_threads(1);
    let offered = pool.spawn_fn(|_: Reply<u64>, _| panic!("{}", long()));
    for (_, pair) in carriers::ALL {
        let offered = offered.clone();
        let between = pool
            .spawner()
            .name(long())
            .spawn_fn(move |reply: Reply<u64>, _| {
                offered
                    .tell(reply)
                    .unwrap_or_else(|error| panic!("{}{error}", long()));
            });
        let (here, there) = pair(
            Link::builder().longest_frame(LEAST),
            Link::builder().root(&between),
        );
        match here.root::<Reply<u64>>().ask(|reply| reply) {
            Err(AskError::Panicked(panicked)) => is_cut(panicked.message()),
            other => panic!("{other:?}"),
        }
        assert_eq!((here.ended(), there.ended()), (None, None));
    }
}

#[test]
fn the_name_of_a_partner_and_how_it_has_ended_are_told_in_what_the_other_side_takes() {
    for (_, pair) in carriers::ALL {
        let pool = Pool::with_threads(1);
        let root = pool.spawn(Partner::default());
        let (here, there) = pair(
            Link::builder().longest_frame(LEAST),
            Link::builder().root(&root).longest_frame(LEAST),
        );
        let own = pool.spawner().name(long()).spawn(Partner::default());
        let mut end = root.end();
        own.ask(|reply| Bond::Link(here.root(), reply)).unwrap();
        own.tell(Bond::Fail(long())).unwrap();
        let ended = end.wait_timeout(crate::suite::LONG).expect("it ends");
        let (names, last) = crate::suite::partners::chain(&ended.reason);
        assert_eq!(names.len(), 1);
        assert!(
            names[0].starts_with("ää") && names[0].len() < LEAST,
            "{names:?}"
        );
        match last {
            EndReason::Panicked(text) => is_cut(&text),
            other => panic!("{other}"),
        }
        assert_eq!((here.ended(), there.ended()), (None, None));
    }
}

#[test]
fn what_a_program_is_called_and_why_it_refuses_go_in_what_the_other_side_takes() {
    for (_, pair) in carriers::ALL {
        let (here, there) = pair(
            Link::builder().longest_frame(LEAST),
            Link::builder().program(long()),
        );
        there.refuse(&long());
        until("it hears of it", || here.ended().is_some());
        match here.ended() {
            Some(LinkEnd::Goodbye(words)) => is_cut(&words),
            other => panic!("{other:?}"),
        }
    }
}
