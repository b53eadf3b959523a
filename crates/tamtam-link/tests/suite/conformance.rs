//! What holds over every carrier.

use std::sync::mpsc;
use std::time::Duration;

use tamtam_actor::{AskError, EndReason, Fate, Pool, Refusal, Reply, Restart};
use tamtam_link::{Link, LinkEnd};

use super::messages::{Count, Counter, counter};
use super::{on_each, until};

#[test]
fn messages_arrive_in_order_and_questions_are_answered() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        for number in 1..=1_000 {
            far.tell(Count::Add(number)).unwrap();
        }
        assert_eq!(far.ask(Count::Read), Ok(500_500));
        here.close();
    });
}

#[test]
fn order_holds_over_a_link() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let list = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
        let (here, there) = pair(Link::builder(), Link::builder().root(&list));
        let far = here.root::<u32>();
        for number in 0..10_000 {
            far.tell(number).unwrap();
        }
        assert!((0..10_000).eq(receiver.iter().take(10_000)));
        there.close();
    });
}

#[test]
fn an_address_reaches_back_and_comes_home_as_the_local_one() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        let (sender, receiver) = mpsc::channel();
        let own = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
        far.tell(Count::Add(7)).unwrap();
        far.tell(Count::TellTo(own.clone())).unwrap();
        assert_eq!(receiver.recv(), Ok(7));
        let back = far.ask(|reply| Count::Echo(own.clone(), reply)).unwrap();
        assert_eq!(back.id(), own.id());
        back.tell(8).unwrap();
        assert_eq!(receiver.recv(), Ok(8));
        drop((back, own));
        // What was exported is released, and the actor ends with its last address.
        until("the address is released", || here.addresses().1 == 0);
        assert!(receiver.recv().is_err());
        there.close();
    });
}

#[test]
fn two_copies_of_a_far_address_are_one_actor() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let target = pool.spawn_fn(|_: u64, _| {});
        let keeper = {
            let target = target.clone();
            pool.spawn_fn(move |reply: Reply<(_, _)>, _| {
                reply.send((target.clone(), target.clone()))
            })
        };
        let (here, there) = pair(Link::builder(), Link::builder().root(&keeper));
        let far = here.root::<Reply<(tamtam_actor::Address<u64>, tamtam_actor::Address<u64>)>>();
        let (one, other) = far.ask(|reply| reply).unwrap();
        assert_eq!(one.id(), other.id());
        let (again, _) = far.ask(|reply| reply).unwrap();
        assert_eq!(again.id(), one.id());
        drop((one, other, again));
        until("all are released", || there.addresses().1 == 1);
        assert_eq!(here.addresses().0, 1);
        here.close();
    });
}

#[test]
fn a_reply_may_be_answered_by_an_actor_of_the_asker() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        let helper = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(11));
        let answer = far.ask(|reply| Count::Forward(helper.clone(), reply));
        assert_eq!(answer, Ok(11));
        assert_eq!(here.pending(), 0);
        here.close();
    });
}

#[test]
fn who_gets_no_answer_hears_why() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let actor = counter(&pool);
        let (here, there) = pair(Link::builder(), Link::builder().root(&actor));
        let far = here.root::<Count>();
        assert_eq!(far.ask(Count::Ignore), Err(AskError::Unanswered));
        let kept = std::thread::spawn({
            let far = far.clone();
            move || far.ask(Count::Keep)
        });
        until("the question is there", || here.pending() == 1);
        let end = far.end();
        far.tell(Count::Fail("no more ink".to_owned())).unwrap();
        match kept.join().unwrap() {
            Err(AskError::Panicked(panicked)) => {
                assert_eq!(panicked.message(), "no more ink");
                assert_eq!(panicked.name(), Some("counter"));
            }
            other => panic!("{other:?}"),
        }
        let reason = end.wait().reason;
        assert_eq!(reason, EndReason::Panicked("no more ink".into()));
        until("it is known to have ended", || far.is_stopped());
        let refused = far.tell(Count::Add(1)).unwrap_err();
        assert_eq!(refused.why(), Refusal::Stopped);
        assert!(matches!(refused.into_inner(), Count::Add(1)));
        there.close();
    });
}

#[test]
fn a_far_actor_that_panics_is_begun_again_by_its_rule() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let once = Restart::on_panic().limit(1, Duration::from_secs(3600));
        let spawner = pool.spawner().restart(once);
        let actor = spawner.spawn_with(|_| Counter::default());
        let (here, _there) = pair(Link::builder(), Link::builder().root(&actor));
        let far = here.root::<Count>();
        let end = far.end();
        let (sender, answers) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        far.tell(Count::Keep(reply)).unwrap();
        far.tell(Count::Add(1)).unwrap();
        far.tell(Count::Fail("the first time".to_owned())).unwrap();
        far.tell(Count::Add(2)).unwrap();
        // The next one has nothing of the first, and what waited.
        assert_eq!(far.ask(Count::Read), Ok(2));
        match answers.recv().unwrap() {
            Err(AskError::Panicked(panicked)) => assert_eq!(panicked.message(), "the first time"),
            other => panic!("{other:?}"),
        }
        assert!(!far.is_stopped());
        far.tell(Count::Fail("the second time".to_owned())).unwrap();
        let message = "the second time".into();
        let reason = EndReason::GaveUp {
            restarts: 1,
            message,
        };
        assert_eq!(end.wait().reason, reason);
        here.close();
    });
}

#[test]
fn a_far_actor_is_stopped_and_finished() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        let end = far.end();
        far.tell(Count::Add(2)).unwrap();
        let read = far.ask_async(Count::Read);
        far.finish();
        assert_eq!(end.wait().reason, EndReason::Stopped);
        drop(read);
        assert!(matches!(far.ask(Count::Read), Err(AskError::Stopped(id)) if id == far.id()));
        here.close();
    });
}

#[test]
fn an_end_is_told_also_where_no_address_is_left() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let target = pool.spawn_fn(|_: u64, _| {});
        let giver = {
            let target = target.clone();
            pool.spawn_fn(move |reply: Reply<tamtam_actor::Address<u64>>, _| {
                reply.send(target.clone());
            })
        };
        let (here, there) = pair(Link::builder(), Link::builder().root(&giver));
        let far = here.root::<Reply<tamtam_actor::Address<u64>>>();
        let end = far.ask(|reply| reply).unwrap().end();
        until("the address is released", || there.addresses().1 == 1);
        target.stop();
        assert_eq!(end.wait().reason, EndReason::Stopped);
        here.close();
    });
}

#[test]
fn a_message_that_is_too_large_comes_back_and_can_still_be_answered() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(
            Link::builder().longest_frame(25_000),
            Link::builder().longest_frame(25_000).root(&counter(&pool)),
        );
        let far = here.root::<Count>();
        assert_eq!(
            far.ask(|reply| Count::Text("x".repeat(9_000), reply)),
            Ok(9_000)
        );
        let (sender, receiver) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        let refused = far
            .tell(Count::Text("x".repeat(30_000), reply))
            .unwrap_err();
        assert_eq!(refused.why(), Refusal::TooLarge);
        assert!(
            refused
                .to_string()
                .contains("the link carries 25000 at once")
        );
        let Count::Text(_, reply) = refused.into_inner() else {
            unreachable!("it comes back as it was");
        };
        assert!(reply.is_awaited());
        far.tell(Count::Text("x".to_owned(), reply)).unwrap();
        assert_eq!(receiver.recv(), Ok(Ok(1)));
        let asked = far.ask(|reply| Count::Text("x".repeat(30_000), reply));
        assert!(matches!(asked, Err(AskError::TooLarge(_))), "{asked:?}");
        assert_eq!(here.pending(), 0);
        here.close();
    });
}

#[test]
fn everyone_who_waits_hears_of_the_links_end() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let actor = counter(&pool);
        let (here, there) = pair(Link::builder(), Link::builder().root(&actor));
        let far = here.root::<Count>();
        let end = far.end();
        let waiting = std::thread::spawn({
            let far = far.clone();
            move || far.ask(Count::Keep)
        });
        // It has come there when what was sent behind it has been answered.
        until("the question is asked", || here.pending() == 1);
        assert_eq!(far.ask(Count::Read), Ok(0));
        there.close();
        match waiting.join().unwrap() {
            Err(AskError::Unreachable(failure)) => {
                assert_eq!(failure.fate(), Fate::Unknown);
                let words = "whether the question was handled is not known";
                assert!(failure.text().contains(words), "{failure}");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(end.wait().reason, EndReason::LinkLost(_)));
        assert!(here.ended().is_some());
        assert_eq!(there.ended(), Some(LinkEnd::Closed));
        let refused = far.tell(Count::Add(1)).unwrap_err();
        assert_eq!(refused.why(), Refusal::Unreachable);
        let said = refused.to_string();
        assert!(said.contains("the link to its process has ended"), "{said}");
        let mapped = far.map(Count::Add).tell(1).unwrap_err();
        assert_eq!(mapped.why(), Refusal::Unreachable);
        let unasked = far.ask(Count::Read);
        assert!(
            matches!(unasked, Err(AskError::Unreachable(_))),
            "{unasked:?}"
        );
        // The actor itself goes on.
        assert_eq!(actor.ask(Count::Read), Ok(0));
        assert_eq!(there.addresses(), (0, 0));
    });
}

#[test]
fn timers_and_maps_reach_far_actors() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        let numbers = far.map(Count::Add);
        numbers.tell(5).unwrap();
        numbers.tell_after(Duration::from_millis(1), 6);
        until("the timer's message is there", || {
            far.ask(Count::Read) == Ok(11)
        });
        here.close();
    });
}

#[test]
fn a_side_that_offers_nothing_says_so() {
    on_each(|pair| {
        let (here, there) = pair(Link::builder(), Link::builder());
        let far = here.root::<Count>();
        let reason = far.end().wait().reason;
        assert_eq!(
            reason,
            EndReason::LinkLost("the other side offers no actor".into())
        );
        match far.ask(Count::Read) {
            Err(AskError::Unreachable(failure)) => assert!(
                failure.text().contains("the other side offers no actor"),
                "{failure}"
            ),
            other => panic!("{other:?}"),
        }
        there.close();
    });
}

/// More than a socket or a pipe takes at once, so that what a sender began another thread has to go on with.
#[test]
fn questions_and_messages_of_many_threads_arrive_whole_also_if_they_are_large() {
    on_each(|pair| {
        let pool = Pool::with_threads(2);
        let (here, _there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = &here.root::<Count>();
        std::thread::scope(|scope| {
            for thread in 0..6_u64 {
                scope.spawn(move || {
                    for round in 0..4 {
                        let most = if thread % 2 == 0 { 300_000 } else { 3_000 };
                        let text = thread.to_string().repeat(most + round as usize);
                        let length = text.len() as u64;
                        far.tell(Count::Add(1)).unwrap();
                        let answer = far.ask(|reply| Count::Text(text, reply));
                        assert_eq!(answer, Ok(length));
                        far.tell(Count::Add(1)).unwrap();
                    }
                });
            }
        });
        assert_eq!(far.ask(Count::Read), Ok(2 * 6 * 4));
        here.close();
    });
}
