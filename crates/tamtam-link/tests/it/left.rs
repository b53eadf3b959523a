//! Watches and links that are taken back, again and again: nothing is left behind at either side.

use std::sync::mpsc;
use std::time::Duration;

use tamtam_actor::{Address, AskError, Budget, End, EndReason, Frame, Reply};
use tamtam_link::{Inbound, Kept, Link};

use crate::suite::partners::{Bond, Partner};

/// Two ends in one thread, with an actor at either.
struct Stage {
    frame: Frame,
    own: Address<Bond>,
    far: Address<Bond>,
    here: (Link, Inbound),
    there: (Link, Inbound),
}

impl Stage {
    fn new() -> Self {
        let frame = Frame::new();
        let own = frame.spawner().spawn(Partner::default());
        let target = frame.spawner().spawn(Partner::default());
        let giver = frame.spawner().spawn(Partner {
            known: Some(target),
            ..Partner::default()
        });
        let here = Link::builder().build(|| {});
        let there = Link::builder().root(&giver).build(|| {});
        let mut stage = Stage {
            far: here.0.root(),
            frame,
            own,
            here,
            there,
        };
        stage.carry_all();
        stage
    }

    fn carry_all(&mut self) {
        loop {
            self.frame.pump(Budget::unlimited());
            let mut bytes = Vec::new();
            self.here.0.take_outgoing(&mut bytes);
            self.there.1.receive(&bytes).unwrap();
            let sent = bytes.len();
            bytes.clear();
            self.there.0.take_outgoing(&mut bytes);
            self.here.1.receive(&bytes).unwrap();
            if sent + bytes.len() == 0 {
                return;
            }
        }
    }

    fn ask<R: Send + 'static>(
        &mut self,
        whom: &Address<Bond>,
        question: impl FnOnce(Reply<R>) -> Bond,
    ) -> R {
        let (sender, answers) = mpsc::channel();
        let reply = move |answer: Result<R, AskError>| sender.send(answer).unwrap();
        whom.tell(question(Reply::to(reply))).unwrap();
        self.carry_all();
        answers.try_recv().unwrap().unwrap()
    }

    /// All that is to go from here arrives there: how many frames of that kind were among it.
    fn frames_that_go(&mut self, kind: u8) -> usize {
        let mut bytes = Vec::new();
        self.here.0.take_outgoing(&mut bytes);
        self.there.1.receive(&bytes).unwrap();
        let mut rest = &bytes[..];
        let mut count = 0;
        while let Some((length, more)) = rest.split_first_chunk::<4>() {
            count += usize::from(more[0] == kind);
            rest = &more[u32::from_le_bytes(*length) as usize..];
        }
        count
    }

    fn kept(&self) -> [Kept; 2] {
        [self.here.0.kept(), self.there.0.kept()]
    }
}

#[test]
fn watches_that_are_taken_back_leave_nothing_behind() {
    let mut stage = Stage::new();
    let (own, far) = (stage.own.clone(), stage.far.clone());
    let before = stage.kept();
    for round in 0..10_000 {
        let address: Address<Bond> = stage.ask(&far, Bond::Known);
        let in_vain = |reply| Bond::WatchInVain(address.clone(), reply);
        assert!(stage.ask(&own, in_vain));
        let end = address.end();
        stage.carry_all();
        assert_eq!(stage.kept()[0].watched, 1);
        // The address is given up before the watch, or behind it.
        if round % 2 == 0 {
            drop(address);
            stage.carry_all();
            assert_eq!(stage.kept()[1].orphans, 1);
            drop(end);
        } else {
            drop(end);
            stage.carry_all();
            drop(address);
        }
        stage.carry_all();
        assert_eq!(stage.kept(), before);
    }
}

#[test]
fn links_that_are_taken_back_leave_nothing_behind() {
    let mut stage = Stage::new();
    let (own, far) = (stage.own.clone(), stage.far.clone());
    let before = stage.kept();
    for _ in 0..10_000 {
        let address: Address<Bond> = stage.ask(&far, Bond::Known);
        stage.ask(&own, |reply| Bond::Link(address.clone(), reply));
        assert_eq!(stage.kept().map(|kept| kept.links), [1, 1]);
        assert!(stage.ask(&own, |reply| Bond::Unlink(address.clone(), reply)));
        drop(address);
        stage.carry_all();
        assert_eq!(stage.kept(), before);
    }
}

#[test]
fn an_end_is_told_to_each_who_waits_for_it_also_if_the_address_came_again() {
    let mut stage = Stage::new();
    let (sender, ends) = mpsc::channel::<End>();
    // The second address is on its way when the first is given up: it is of the same actor, and of another one here.
    for _ in 0..2 {
        let sender = sender.clone();
        let reply = Reply::to(move |address: Result<Address<Bond>, AskError>| {
            sender.send(address.unwrap().end()).unwrap();
        });
        stage.far.tell(Bond::Known(reply)).unwrap();
    }
    stage.carry_all();
    assert_eq!(stage.kept().map(|kept| kept.watched), [2, 0]);
    let target: Address<Bond> = stage.ask(&stage.far.clone(), Bond::Known);
    target.tell(Bond::Fail("on purpose".to_owned())).unwrap();
    stage.carry_all();
    for _ in 0..2 {
        let ended = ends.recv().unwrap().wait_timeout(Duration::ZERO);
        let reason = ended.expect("it was told").reason;
        assert_eq!(reason, EndReason::Panicked("on purpose".into()));
    }
    assert_eq!(stage.kept()[0].watched, 0);
}

/// Each time it got a number of its own, under which it was watched once more.
#[test]
fn an_actor_that_is_watched_and_sent_again_and_again_is_watched_once() {
    let mut stage = Stage::new();
    let far = stage.far.clone();
    let before = stage.kept();
    let mut ends = Vec::new();
    for _ in 0..1_000 {
        let address: Address<Bond> = stage.ask(&far, Bond::Known);
        ends.push(address.end());
        drop(address);
        stage.carry_all();
        let kept = stage.kept()[1];
        assert_eq!((kept.exports, kept.orphans), (before[1].exports, 1));
    }
    // Watched or not, it is given up as often as it was sent.
    let target: Address<Bond> = stage.ask(&far, Bond::Known);
    let mut last = ends.pop().expect("there were some");
    drop(ends);
    stage.carry_all();
    target.tell(Bond::Fail("on purpose".to_owned())).unwrap();
    drop(target);
    stage.carry_all();
    let ended = last.wait_timeout(Duration::ZERO);
    let reason = ended.expect("it was told").reason;
    assert_eq!(reason, EndReason::Panicked("on purpose".into()));
    assert_eq!(stage.kept(), before);
}

#[test]
fn an_end_goes_to_the_other_side_once_however_many_actors_there_are_linked_with_the_one() {
    for has_address in [false, true] {
        let mut stage = Stage::new();
        let (own, far) = (stage.own.clone(), stage.far.clone());
        let target: Address<Bond> = stage.ask(&far, Bond::Known);
        for linked in [&far, &target] {
            stage.ask(&own, |reply| Bond::Link(linked.clone(), reply));
        }
        assert_eq!(stage.kept().map(|kept| kept.links), [2, 2]);
        assert_eq!(stage.kept().map(|kept| kept.linkers), [1, 2]);
        if has_address {
            stage.ask(&far, |reply| Bond::Keep(own.clone(), reply));
        }
        let ends = [far.end(), target.end()];
        own.tell(Bond::Fail("on purpose".to_owned())).unwrap();
        stage.frame.pump(Budget::unlimited());
        // `Ended` is the seventh kind.
        assert_eq!(stage.frames_that_go(7), 1);
        stage.carry_all();
        for mut end in ends {
            let ended = end.wait_timeout(Duration::ZERO).expect("it was linked");
            assert!(matches!(ended.reason, EndReason::Linked(_)), "{ended:?}");
        }
    }
}
