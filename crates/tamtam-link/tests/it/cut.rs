//! A link that is cut, after each of its bytes: nobody waits for ever, nothing is kept, nothing that was not sent is handled, and who is
//! linked or watches hears of it.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use tamtam_actor::{
    Address, AskError, Budget, EndReason, Fate, Frame, Loss, Refusal, Reply, on_dead_letter,
};
use tamtam_link::{Inbound, Link};

use crate::suite::messages::{Count, Counter};
use crate::suite::partners::{Bond, Partner, chain};

/// What goes from one side to the other, of which only so much arrives.
struct Direction {
    left: usize,
    carried: usize,
}

impl Direction {
    /// Carries what is there, and loses the link where it is cut: `false`.
    fn carry(&mut self, from: &Link, to: &mut Inbound) -> bool {
        let mut bytes = Vec::new();
        from.take_outgoing(&mut bytes);
        let arriving = bytes.len().min(self.left);
        self.left -= arriving;
        self.carried += arriving;
        let received = to.receive(&bytes[..arriving]);
        arriving == bytes.len() && received.is_ok()
    }
}

/// Two ends of a link of which so much arrives in each direction.
struct Cut {
    frame: Frame,
    here: Link,
    there: Link,
    to_here: Inbound,
    to_there: Inbound,
    /// There to here, and back.
    directions: [Direction; 2],
}

impl Cut {
    fn carry(&mut self) {
        for _ in 0..20 {
            let [back, forth] = &mut self.directions;
            if !forth.carry(&self.here, &mut self.to_there)
                || !back.carry(&self.there, &mut self.to_here)
            {
                self.here.lose("it was cut");
                self.there.lose("it was cut");
            }
            self.frame.pump(Budget::unlimited());
        }
    }

    /// Nothing is left of it; how much was carried.
    fn end(&mut self) -> [usize; 2] {
        self.here.lose("it was cut");
        self.there.lose("it was cut");
        self.frame.pump(Budget::unlimited());
        for link in [&self.here, &self.there] {
            let kept = tamtam_link::Kept {
                outgoing: 0,
                ..link.kept()
            };
            assert_eq!(kept, tamtam_link::Kept::default());
            assert_eq!(link.unconfirmed(), 0);
        }
        self.directions
            .each_ref()
            .map(|direction| direction.carried)
    }
}

fn directions(there_to_here: usize, here_to_there: usize) -> [Direction; 2] {
    [there_to_here, here_to_there].map(|left| Direction { left, carried: 0 })
}

/// Runs this for each place at which a link may be cut, in either direction, of which so much is carried if it is not.
fn at_each_place(carried: [usize; 2], mut run: impl FnMut(usize, usize)) {
    let [back, forth] = carried;
    for place in 0..back {
        run(place, usize::MAX);
    }
    for place in 0..forth {
        run(usize::MAX, place);
    }
}

fn answers_of(answers: Receiver<Result<u64, AskError>>) -> Vec<Result<u64, AskError>> {
    answers.try_iter().collect()
}

/// Asks and tells over a link of which so much arrives in each direction; how much was carried, and the answers.
fn ask(there_to_here: usize, here_to_there: usize) -> ([usize; 2], Vec<Result<u64, AskError>>) {
    let frame = Frame::new();
    let actor = frame.spawner().spawn(Counter::default());
    let (here, to_here) = Link::builder().build(|| {});
    let (there, to_there) = Link::builder().root(&actor).build(|| {});
    let far = here.root::<Count>();
    let (sender, answers) = mpsc::channel();
    let ask = || {
        let sender = sender.clone();
        Reply::to(move |answer| sender.send(answer).unwrap())
    };
    let helper = frame
        .spawner()
        .spawn_fn(|reply: Reply<u64>, _| reply.send(5));
    let questions = [
        Count::Add(3),
        Count::Read(ask()),
        Count::Ignore(ask()),
        Count::Forward(helper, ask()),
        Count::Text("x".repeat(300), ask()),
    ];
    for question in questions {
        far.tell(question).unwrap();
    }
    drop(sender);
    let mut cut = Cut {
        frame,
        here,
        there,
        to_here,
        to_there,
        directions: directions(there_to_here, here_to_there),
    };
    cut.carry();
    cut.here.close();
    cut.there.close();
    cut.frame.pump(Budget::unlimited());
    drop(far);
    // Each has an answer or a reason, once: all senders are gone.
    (cut.end(), answers_of(answers))
}

#[test]
fn a_link_that_is_cut_after_any_byte_answers_everyone() {
    let (carried, answers) = ask(usize::MAX, usize::MAX);
    let mut sorted = answers.clone();
    sorted.sort_by_key(|answer| answer.clone().ok());
    assert_eq!(sorted, [Err(AskError::Unanswered), Ok(3), Ok(5), Ok(300)]);
    assert!(carried[0] > 50 && carried[1] > 350, "{carried:?} bytes");
    at_each_place(carried, |back, forth| {
        let (_, answers) = ask(back, forth);
        assert_eq!(answers.len(), 4, "cut after {back} and {forth} bytes");
        for answer in answers {
            let is_right = match &answer {
                Ok(number) => [3, 5, 300].contains(number),
                Err(AskError::Unanswered) => true,
                Err(AskError::Unreachable(failure)) => {
                    failure.text().contains("it was cut") && failure.fate() == Fate::Unknown
                }
                Err(_) => false,
            };
            assert!(is_right, "cut after {back} and {forth} bytes: {answer:?}");
        }
    });
}

/// Tells numbers over a link of which so much arrives; how much was carried, what was handled, what was confirmed, and the letters of the
/// others.
fn tell(there_to_here: usize, here_to_there: usize) -> ([usize; 2], Vec<u64>, u64, Vec<Loss>) {
    let frame = Frame::new();
    let (handle, handled) = mpsc::channel();
    let actor = frame.spawn_fn(move |number: u64, _| handle.send(number).unwrap());
    let (here, to_here) = Link::builder().build(|| {});
    let (there, to_there) = Link::builder().root(&actor).build(|| {});
    let far = here.root::<u64>();
    let letters = Arc::new(Mutex::new(Vec::new()));
    let (seen, id) = (Arc::clone(&letters), far.id());
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock().unwrap().push(letter.why);
        }
    });
    let mut cut = Cut {
        frame,
        here,
        there,
        to_here,
        to_there,
        directions: directions(there_to_here, here_to_there),
    };
    let mut told = 0;
    for number in 0..6 {
        told += u64::from(far.tell(number).is_ok());
        if number % 2 == 1 {
            cut.carry();
        }
    }
    let confirmed = told - cut.here.unconfirmed() - letters.lock().unwrap().len() as u64;
    // Not sent, and known not to be.
    told += u64::from(far.tell(6).is_ok());
    let carried = cut.end();
    drop(watch);
    let letters = letters.lock().unwrap().clone();
    assert_eq!(letters.len() as u64 + confirmed, told);
    assert_eq!(far.lost(), letters.len() as u64);
    (carried, handled.try_iter().collect(), confirmed, letters)
}

#[test]
fn a_link_that_is_cut_after_any_byte_confirms_what_was_handled_and_nothing_else() {
    let (carried, handled, confirmed, letters) = tell(usize::MAX, usize::MAX);
    assert_eq!((handled.len(), confirmed), (6, 6));
    assert_eq!(letters, [Loss::Unreachable]);
    at_each_place(carried, |back, forth| {
        let place = format!("cut after {back} and {forth} bytes");
        let (_, handled, confirmed, letters) = tell(back, forth);
        // In order and none twice, from the first on.
        assert!(
            (0..).take(handled.len()).eq(handled.iter().copied()),
            "{place}"
        );
        assert!(confirmed <= handled.len() as u64, "{place}");
        // What may have been handled is not said to be unhandled.
        let unsent = letters.iter().filter(|why| **why == Loss::Unreachable);
        let unknown = letters.iter().filter(|why| **why == Loss::FateUnknown);
        let (unsent, unknown) = (unsent.count() as u64, unknown.count() as u64);
        assert_eq!(unsent + unknown, letters.len() as u64, "{place}");
        assert!(confirmed + unknown >= handled.len() as u64, "{place}");
    });
}

/// Watches, and links in both directions, over a link of which so much arrives; how much was carried, and how all have ended.
fn tie(there_to_here: usize, here_to_there: usize, fails: bool) -> ([usize; 2], Vec<EndReason>) {
    let frame = Frame::new();
    let actors = ["own", "there", "linked back"].map(|name| {
        let actor: Address<Bond> = frame.spawner().name(name).spawn(Partner::default());
        actor
    });
    let [own, actor, back] = &actors;
    let (here, to_here) = Link::builder().build(|| {});
    let (there, to_there) = Link::builder().root(actor).build(|| {});
    let far = here.root::<Bond>();
    let mut ends = vec![far.end()];
    ends.extend(actors.iter().map(Address::end));
    let unheard = || Reply::to(|_| {});
    own.tell(Bond::Link(far.clone(), unheard())).unwrap();
    far.tell(Bond::Link(back.clone(), unheard())).unwrap();
    let mut cut = Cut {
        frame,
        here,
        there,
        to_here,
        to_there,
        directions: directions(there_to_here, here_to_there),
    };
    cut.frame.pump(Budget::unlimited());
    cut.carry();
    if fails && !own.is_stopped() {
        own.tell(Bond::Fail("on purpose".to_owned())).unwrap();
        cut.frame.pump(Budget::unlimited());
        cut.carry();
    }
    let carried = cut.end();
    let ended = ends
        .iter_mut()
        .filter_map(|end| end.wait_timeout(Duration::ZERO))
        .map(|ended| ended.reason);
    (carried, ended.collect())
}

#[test]
fn a_link_that_is_cut_after_any_byte_ends_who_is_linked_and_tells_who_watches() {
    for fails in [false, true] {
        let (carried, ended) = tie(usize::MAX, usize::MAX, fails);
        assert_eq!(ended.len(), 4);
        if fails {
            for reason in &ended {
                let (_, last) = chain(reason);
                assert_eq!(last, EndReason::Panicked("on purpose".into()));
            }
        }
        at_each_place(carried, |back, forth| {
            let place = format!("cut after {back} and {forth} bytes");
            let (_, ended) = tie(back, forth, fails);
            // Those there are not linked if that was not heard of; here the watcher and the linker are told in any case.
            assert!(ended.len() >= 2, "{place}: {ended:?}");
            for reason in &ended {
                let (_, last) = chain(reason);
                let is_right = match &last {
                    EndReason::LinkLost(text) => text.contains("it was cut"),
                    EndReason::Panicked(words) => fails && &**words == "on purpose",
                    _ => false,
                };
                assert!(is_right, "{place}: {ended:?}");
            }
        });
    }
}

/// A message that is refused just when the link ends is refused for that, and not as if the actor had stopped.
#[test]
fn who_tells_while_a_link_ends_hears_that_it_is_lost() {
    for _ in 0..3_000 {
        let (link, _inbound) = Link::builder().build(|| {});
        let far: Address<u32> = link.root();
        let is_there = Barrier::new(2);
        thread::scope(|threads| {
            threads.spawn(|| {
                is_there.wait();
                while !far.is_stopped() {
                    std::hint::spin_loop();
                }
                let refused = far.tell(1).unwrap_err();
                assert_eq!(refused.why(), Refusal::Unreachable);
            });
            is_there.wait();
            link.close();
        });
    }
}
