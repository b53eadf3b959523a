//! Answers that cannot go back, and what actors and timers do with far actors.

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, AskError, Context, Every, Fate, Overflow, Pool, Reply};
use tamtam_link::Link;

use super::confirmed::block_on;
use super::messages::{Count, counter};
use super::on_each;

/// What can be read and not be written: a map whose length is not known, which postcard does not have, with a key that JSON does not have.
#[derive(Debug, PartialEq, Deserialize)]
struct Endless;

impl Serialize for Endless {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serde::ser::SerializeMap::serialize_entry(&mut map, &(0, 0), &0)?;
        serde::ser::SerializeMap::end(map)
    }
}

#[derive(Serialize, Deserialize)]
enum Give {
    Bytes(usize, Reply<Vec<u8>>),
    Endless(Reply<Endless>),
    /// An address in an answer that does not go.
    Address(usize, Reply<(Address<u64>, Vec<u8>)>),
}

/// An actor that gives what it is asked for, and the address that it gives.
fn giver(pool: &Pool) -> (Address<Give>, Address<u64>) {
    let number = pool.spawn_fn(|_: u64, _| {});
    let own = number.clone();
    let giver = pool.spawn_fn(move |message: Give, _| match message {
        Give::Bytes(count, reply) => reply.send(vec![7; count]),
        Give::Endless(reply) => reply.send(Endless),
        Give::Address(count, reply) => reply.send((own.clone(), vec![7; count])),
    });
    (giver, number)
}

/// Also one that is not trusted: it is said for the one who asks.
#[test]
fn a_question_that_is_refused_has_its_reason_at_who_asked() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let counter = counter(&pool);
        let builder = || Link::builder().longest_frame(2_048);
        let (here, there) = pair(builder(), builder().untrusted().root(&counter));
        let far = here.root::<Count>();
        let refused = |words: &str, times| match far
            .ask(|reply| Count::Refuse(words.to_owned(), times, reply))
        {
            Err(error @ AskError::Refused(_)) => {
                assert_eq!(error.fate(), Fate::Begun);
                let AskError::Refused(refused) = error else {
                    unreachable!()
                };
                refused
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(refused("the drum is sold", 1).reason(), "the drum is sold");
        assert_eq!(refused("", 0).reason(), "");
        // One that is longer than this side takes is cut, at a character, and shows it.
        let long = refused("ü", 2_000);
        let (reason, more) = long.reason().split_at(long.reason().len() - "…".len());
        assert!(reason.len() > 2_000 - 16 && reason.chars().all(|it| it == 'ü'));
        assert_eq!(more, "…");
        // And one that an actor of this side has refused, to which that one has passed it on.
        let strict = pool.spawn_fn(|reply: Reply<u64>, _| reply.refuse("not here"));
        let answer = far.ask(|reply| Count::Forward(strict.clone(), reply));
        assert!(
            matches!(&answer, Err(AskError::Refused(why)) if why.reason() == "not here"),
            "{answer:?}"
        );
        assert_eq!(far.ask(Count::Read), Ok(0));
        assert_eq!(
            (here.ended(), there.ended(), here.pending()),
            (None, None, 0)
        );
        here.close();
    });
}

#[test]
fn a_question_that_a_mailbox_drops_for_others_is_told_to_who_asked() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (begin, begun) = mpsc::channel();
        let (release, until) = mpsc::channel::<()>();
        let spawner = pool.spawner().limited(1, Overflow::DropOldest);
        let busy = spawner.spawn_fn(move |reply: Reply<u64>, _| {
            begin.send(()).unwrap();
            until.recv().unwrap();
            reply.send(7);
        });
        let (here, _there) = pair(Link::builder(), Link::builder().root(&busy));
        let far = here.root::<Reply<u64>>();
        let held = far.ask_async(|reply| reply);
        begun.recv().unwrap();
        let [dropped, last] = [(); 2].map(|()| far.ask_async(|reply| reply));
        let error = block_on(dropped).unwrap_err();
        assert_eq!(error, AskError::Dropped(far.id()));
        assert_eq!(error.fate(), Fate::Unknown);
        (0..2).for_each(|_| release.send(()).unwrap());
        assert_eq!((block_on(held), block_on(last)), (Ok(7), Ok(7)));
        here.close();
    });
}

#[test]
fn an_answer_that_is_too_large_is_told_to_who_asked_and_ends_nothing() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (giver, number) = giver(&pool);
        // What this side takes is less than what the other one does.
        let (here, there) = pair(
            Link::builder().longest_frame(25_000),
            Link::builder().longest_frame(100_000).root(&giver),
        );
        let far = here.root::<Give>();
        for _ in 0..2 {
            match far.ask(|reply| Give::Bytes(30_000, reply)) {
                Err(error @ AskError::TooLarge(_)) => {
                    assert_eq!(error.fate(), Fate::Begun);
                    let said = error.to_string();
                    assert!(said.contains("the link carries 25000 at once"), "{said}");
                }
                other => panic!("{other:?}"),
            }
            let answer = far.ask(|reply| Give::Address(30_000, reply));
            assert!(matches!(answer, Err(AskError::TooLarge(_))), "{answer:?}");
            // What was in it is not lent any more.
            assert_eq!(there.addresses().1, 1);
            let answer = far.ask(|reply| Give::Bytes(9_000, reply));
            assert_eq!(answer.map(|bytes| bytes.len()), Ok(9_000));
        }
        let (address, _) = far.ask(|reply| Give::Address(9, reply)).unwrap();
        assert!(address.tell(1).is_ok());
        assert_eq!(
            (here.ended(), there.ended(), here.pending()),
            (None, None, 0)
        );
        drop(number);
        here.close();
    });
}

#[test]
fn an_answer_that_cannot_be_written_is_told_to_who_asked_and_ends_nothing() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (giver, _number) = giver(&pool);
        let (here, there) = pair(Link::builder(), Link::builder().root(&giver));
        let far = here.root::<Give>();
        for _ in 0..2 {
            match far.ask(Give::Endless) {
                Err(error @ AskError::NotEncodable(_)) => assert_eq!(error.fate(), Fate::Begun),
                other => panic!("{other:?}"),
            }
            let answer = far.ask(|reply| Give::Bytes(3, reply));
            assert_eq!(answer, Ok(vec![7; 3]));
        }
        assert_eq!(
            (here.ended(), there.ended(), here.pending()),
            (None, None, 0)
        );
        here.close();
    });
}

/// Asks a far actor in its handler, and goes on with messages meanwhile.
struct Asker {
    far: Address<Count>,
    log: Sender<Result<u64, AskError>>,
}

enum Asked {
    Read,
    Keep,
    Note(u64),
}

impl Actor for Asker {
    type Message = Asked;

    fn handle(&mut self, message: Asked, cx: &mut Context<Self>) {
        let note = |asker: &mut Asker, answer, _: &mut Context<Asker>| {
            asker.log.send(answer).unwrap();
        };
        match message {
            Asked::Read => cx.ask(&self.far, Count::Read, note),
            Asked::Keep => cx.ask(&self.far, Count::Keep, note),
            Asked::Note(number) => self.log.send(Ok(number)).unwrap(),
        }
    }
}

#[test]
fn an_actor_asks_a_far_one_and_goes_on() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (here, there) = pair(Link::builder(), Link::builder().root(&counter(&pool)));
        let far = here.root::<Count>();
        far.tell(Count::Add(5)).unwrap();
        let (log, noted) = mpsc::channel();
        let asker = pool.spawn(Asker {
            far: far.clone(),
            log,
        });
        asker.tell(Asked::Read).unwrap();
        assert_eq!(noted.recv(), Ok(Ok(5)));
        // No answer comes to this one, and the next message has its turn.
        asker.tell(Asked::Keep).unwrap();
        asker.tell(Asked::Note(6)).unwrap();
        assert_eq!(noted.recv(), Ok(Ok(6)));
        assert_eq!(here.pending(), 1);
        // It has come there when what was sent behind it has been answered.
        assert_eq!(far.ask(Count::Read), Ok(5));
        there.close();
        match noted.recv().unwrap() {
            Err(error @ AskError::Unreachable(_)) => assert_eq!(error.fate(), Fate::Unknown),
            other => panic!("{other:?}"),
        }
        // And of one that is asked behind the end.
        asker.tell(Asked::Read).unwrap();
        match noted.recv().unwrap() {
            Err(error @ AskError::Unreachable(_)) => assert_eq!(error.fate(), Fate::NotBegun),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_timer_tells_a_far_actor_again_and_again() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (sender, received) = mpsc::channel();
        let list = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
        let (here, _there) = pair(Link::builder(), Link::builder().root(&list));
        let far = here.root::<u64>();
        for every in [Every::rate, Every::delay] {
            let mut number = 0;
            let (kept, dropped) = mpsc::channel::<()>();
            let timer = far.tell_every(every(Duration::from_millis(1)), move || {
                let _ = &kept;
                number += 1;
                number
            });
            let numbers: Vec<_> = received.iter().take(5).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 5]);
            assert!(timer.cancel());
            // A message that is being made right now is sent before the function goes.
            assert_eq!(dropped.recv(), Err(mpsc::RecvError));
            // What was on its way arrives; behind it comes nothing of the timer.
            far.tell(0).unwrap();
            let rest: Vec<_> = received.iter().take_while(|number| *number != 0).collect();
            assert!((6..).take(rest.len()).eq(rest.iter().copied()), "{rest:?}");
        }
        let timer = far.tell_every(Every::rate(Duration::from_millis(1)), || 9);
        assert_eq!(received.recv(), Ok(9));
        here.close();
        // It ends with its actor.
        super::until("the timer has ended", || !timer.is_pending());
    });
}

/// A thread of a pool sends the first answer of a batch at once, and leaves the others until it is through with what is due. If it is not for
/// long, they go without it.
#[test]
fn a_handler_that_goes_on_keeps_no_answer_and_no_question() {
    on_each(|pair| {
        let pool = Pool::with_threads(1);
        let (go_on, goes_on) = mpsc::channel::<()>();
        let answerer = pool.spawn_fn(move |replies: Vec<Reply<u32>>, _| {
            for (number, reply) in (0..).zip(replies) {
                reply.send(number);
            }
            // The turn is not over before all of them have come.
            goes_on.recv().unwrap();
        });
        let (here, there) = pair(Link::builder(), Link::builder().root(&answerer));
        let far: Address<Vec<Reply<u32>>> = here.root();

        let own = Pool::with_threads(1);
        let (say, said) = mpsc::channel();
        let (all_came, all) = mpsc::channel();
        let asker = own.spawn_fn(move |count: u32, _| {
            for question in 0..count {
                let say = say.clone();
                let first = Reply::to(|answer| assert_eq!(answer, Ok(0)));
                let last = Reply::to(move |answer| say.send((question, answer)).unwrap());
                far.tell(vec![first, last]).unwrap();
            }
            for question in 0..count {
                assert_eq!(said.recv().unwrap(), (question, Ok(1)));
                go_on.send(()).unwrap();
            }
            all_came.send(()).unwrap();
        });
        asker.tell(20).unwrap();
        all.recv().unwrap();
        drop((here, there));
    });
}
