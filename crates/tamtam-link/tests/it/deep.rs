//! Values in values in values: the other side is told, and no stack overflows, whatever it sends.

use serde::{Deserialize, Serialize};
use tamtam_actor::{AskError, Fate, Pool, Refusal, Reply};
use tamtam_link::{Inbound, Link};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    Leaf,
    Node(Vec<Tree>),
}

impl Tree {
    fn of_depth(depth: usize) -> Self {
        (0..depth).fold(Tree::Leaf, |tree, _| Tree::Node(vec![tree]))
    }
}

/// A node that has a node, and so on, in so many bytes.
fn deep_bytes(bytes: usize) -> Vec<u8> {
    let mut deep = vec![1; bytes];
    deep.push(0);
    deep
}

fn frame(head: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = (head.len() + payload.len()) as u32;
    [&length.to_le_bytes(), head, payload].concat()
}

fn greet(from: &Link, to: &mut Inbound) {
    let mut bytes = Vec::new();
    from.take_outgoing(&mut bytes);
    to.receive(&bytes).unwrap();
}

#[test]
fn a_message_that_is_too_deep_is_told_to_who_asks_and_ends_nothing() {
    let pool = Pool::with_threads(1);
    let actor = pool.spawn_fn(|(_, reply): (Tree, Reply<u64>), _| reply.send(7));
    let (there, mut to_there) = Link::builder().root(&actor).build(|| {});
    let (here, _) = Link::builder().build(|| {});
    greet(&here, &mut to_there);
    // A message to the root that lends the reply 1.
    let head = [2, 0, 1, 1, 0];
    let deep = [deep_bytes(8 << 20), vec![1]].concat();
    to_there.receive(&frame(&head, &deep)).unwrap();
    let mut said = Vec::new();
    there.take_outgoing(&mut said);
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        said.contains("it is nested deeper than 128 levels"),
        "{said}"
    );
    assert_eq!(there.ended(), None);
}

#[test]
fn an_answer_that_is_too_deep_is_told_to_who_asks_and_ends_nothing() {
    let pool = Pool::with_threads(1);
    let actor = pool.spawn_fn(|_: Reply<Tree>, _| unreachable!("it is not asked"));
    let (here, mut to_here) = Link::builder().build(|| {});
    let (there, _) = Link::builder().root(&actor).build(|| {});
    greet(&there, &mut to_here);
    let far = here.root::<Reply<Tree>>();
    let asked = std::thread::spawn(move || far.ask(|reply| reply));
    while here.pending() == 0 {
        std::thread::yield_now();
    }
    let answer = frame(&[3, 1, 0, 0], &deep_bytes(8 << 20));
    to_here.receive(&answer).unwrap();
    match asked.join().unwrap() {
        Err(AskError::NotDecodable(failure)) => {
            assert!(
                failure
                    .text()
                    .ends_with("it is nested deeper than 128 levels"),
                "{failure:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((here.ended(), here.pending()), (None, 0));
}

#[test]
fn what_the_other_side_would_not_read_is_not_sent() {
    let (here, _) = Link::builder().build(|| {});
    let far = here.root::<(Tree, Option<Reply<u64>>)>();
    // The pair is a level, each node is two, and the leaf is one.
    far.tell((Tree::of_depth(63), None)).unwrap();
    let refused = far.tell((Tree::of_depth(64), None)).unwrap_err();
    assert_eq!(refused.why(), Refusal::NotEncodable);
    assert_eq!(refused.into_inner().0, Tree::of_depth(64));
    match far.ask(|reply| (Tree::of_depth(64), Some(reply))) {
        Err(AskError::NotEncodable(failure)) => {
            assert!(
                failure
                    .text()
                    .ends_with("it is nested deeper than 128 levels"),
                "{failure:?}"
            );
            assert_eq!(failure.fate(), Fate::NotBegun);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(here.pending(), 0);
}
