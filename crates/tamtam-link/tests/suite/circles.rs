//! Actors that wait for each other through a link.

use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, AskError, Context, Pool, Reply};
use tamtam_link::{Link, LinkBuilder};

use super::on_each;

#[derive(Serialize, Deserialize)]
enum Ring {
    Meet(Address<Ring>),
    /// Asks the next one in turn, and waits in the handler; what it hears is told.
    Ask(Reply<String>),
    /// The same, and waits for half a second at most.
    AskBriefly(Reply<String>),
    /// The same, and holds for it.
    Hold(Reply<String>),
}

#[derive(Default)]
struct Member {
    next: Option<Address<Ring>>,
}

fn heard(answer: Result<String, AskError>) -> String {
    match answer {
        Ok(said) => said,
        Err(AskError::Cycle(cycle)) => format!("a circle: {cycle}"),
        Err(other) => format!("no circle: {other}"),
    }
}

impl Actor for Member {
    type Message = Ring;

    fn handle(&mut self, message: Ring, cx: &mut Context<Self>) {
        match message {
            Ring::Meet(next) => self.next = Some(next),
            Ring::Ask(reply) => {
                let next = self.next.clone().unwrap();
                reply.send(heard(next.ask(Ring::Ask)));
            }
            Ring::AskBriefly(reply) => {
                let next = self.next.clone().unwrap();
                let half = Duration::from_millis(500);
                reply.send(heard(next.ask_timeout(Ring::Ask, half)));
            }
            Ring::Hold(reply) => {
                let answer = self.next.as_ref().unwrap().ask_async(Ring::Hold);
                cx.hold(answer, |_, answer, _| reply.send(heard(answer)));
            }
        }
    }
}

/// Two that ask each other over a link whose first end is made so.
fn meet_in_a_circle(builder: impl Fn() -> LinkBuilder) {
    for question in [Ring::Ask, Ring::Hold] {
        on_each(|pair| {
            let pool = Pool::with_threads(2);
            let [one, other] =
                ["one", "other"].map(|name| pool.spawner().name(name).spawn(Member::default()));
            let (here, there) = pair(builder().root(&one), Link::builder().root(&other));
            one.tell(Ring::Meet(here.root())).unwrap();
            other.tell(Ring::Meet(there.root())).unwrap();
            let (said, says) = mpsc::channel();
            one.tell(question(Reply::to(move |answer: Result<String, _>| {
                said.send(answer.unwrap()).unwrap();
            })))
            .unwrap();
            let said = says.recv_timeout(Duration::from_secs(20)).unwrap();
            assert!(said.starts_with("a circle: "), "{said}");
            assert!(
                said.contains("\"one\"") && said.contains("\"other\""),
                "{said}"
            );
            here.close();
        });
    }
}

#[test]
fn a_circle_of_waits_through_a_link_is_found_and_named() {
    meet_in_a_circle(Link::builder);
}

#[test]
fn a_circle_of_waits_through_a_side_that_is_not_trusted_is_found_and_named() {
    meet_in_a_circle(|| Link::builder().untrusted());
}

#[test]
fn a_circle_is_named_also_where_its_wait_ends_before_another_probe() {
    on_each(|pair| {
        let pool = Pool::with_threads(2);
        let [one, other] = [(); 2].map(|()| pool.spawn(Member::default()));
        let (here, there) = pair(Link::builder().root(&one), Link::builder().root(&other));
        one.tell(Ring::Meet(here.root())).unwrap();
        other.tell(Ring::Meet(there.root())).unwrap();
        // On a machine that is busy with other things a probe may take as long as the wait.
        let is_named = (0..20).any(|_| {
            let said = one.ask(Ring::AskBriefly).unwrap();
            said.contains("a circle: ")
        });
        assert!(is_named);
        here.close();
    });
}

#[test]
fn a_long_wait_for_an_actor_that_waits_for_no_one_is_no_circle() {
    on_each(|pair| {
        let pool = Pool::with_threads(2);
        let slow = pool.spawn_fn(|message: Ring, _| {
            std::thread::sleep(Duration::from_millis(700));
            if let Ring::Ask(reply) = message {
                reply.send("late".to_owned());
            }
        });
        let one = pool.spawn(Member::default());
        let (here, _there) = pair(Link::builder().root(&one), Link::builder().root(&slow));
        one.tell(Ring::Meet(here.root())).unwrap();
        assert_eq!(one.ask(Ring::Ask), Ok("late".to_owned()));
        here.close();
    });
}
