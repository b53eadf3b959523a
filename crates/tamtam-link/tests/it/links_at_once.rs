//! Links of the same two actors that both sides make at once, or make and take back, on a stepper: in which order turns and frames come is
//! its seed's choice.

use std::collections::BTreeMap;
use std::time::Duration;

use tamtam_actor::{Address, EndReason, Ended, Reply, Stepper};
use tamtam_link::carrier::SteppedLink;
use tamtam_link::{Link, carrier};

use crate::suite::partners::{Bond, Partner, chain};

const SEEDS: u64 = 200;

/// One actor at each side, and the address that it has of the other one.
struct Partners {
    actors: [Address<Bond>; 2],
    fars: [Address<Bond>; 2],
    link: SteppedLink,
    stepper: Stepper,
}

impl Partners {
    fn new(seed: u64) -> Self {
        let stepper = Stepper::with_seed(seed);
        let spawn = |name| stepper.spawner().name(name).spawn(Partner::default());
        let actors = [spawn("one"), spawn("other")];
        let [one, other] = actors.each_ref().map(|it| Link::builder().root(it));
        let link = carrier::stepped(&stepper, one, other);
        let fars = [link.one().root(), link.other().root()];
        stepper.run();
        Partners {
            actors,
            fars,
            link,
            stepper,
        }
    }

    /// An actor is told to link the other one, in a turn to come.
    fn link(&self, side: usize) {
        let link = Bond::Link(self.fars[side].clone(), Reply::to(|_| {}));
        self.actors[side].tell(link).unwrap();
    }

    /// Both have made a link, and what they say of it has come.
    fn link_at_once(&self) -> usize {
        self.link(0);
        self.link(1);
        self.stepper.run();
        self.links()
    }

    /// An actor is told to take its links back.
    fn unlink(&self, side: usize) {
        let unlink = Bond::Unlink(self.fars[side].clone(), Reply::to(|_| {}));
        self.actors[side].tell(unlink).unwrap();
    }

    /// Whether the actor had a link to take back.
    fn was_linked(&self, side: usize) -> bool {
        let unlink = |reply| Bond::Unlink(self.fars[side].clone(), reply);
        let answer = self.stepper.ask(&self.actors[side], unlink);
        self.stepper.run();
        answer.unwrap()
    }

    /// How many links there are, of which both sides know the same.
    fn links(&self) -> usize {
        let [one, other] = [self.link.one(), self.link.other()].map(|it| it.kept().links);
        assert_eq!(one, other);
        one
    }

    /// An actor fails; how the other one has ended by that, if it has.
    fn fail(&self, side: usize) -> Option<Ended> {
        let mut end = self.actors[1 - side].end();
        let fail = Bond::Fail("on purpose".to_owned());
        self.actors[side].tell(fail).unwrap();
        self.stepper.run();
        assert!(self.actors[side].is_stopped());
        end.wait_timeout(Duration::ZERO)
    }

    /// Nothing is left of links and watches at either side.
    fn assert_forgotten(&self) {
        for link in [self.link.one(), self.link.other()] {
            let kept = link.kept();
            let left = (kept.links, kept.linkers, kept.watched, kept.orphans);
            assert_eq!(left, (0, 0, 0, 0));
        }
    }
}

fn assert_ended_with(ended: Option<Ended>, name: &str) {
    let (names, reason) = chain(&ended.expect("both end").reason);
    assert_eq!(reason, EndReason::Panicked("on purpose".into()));
    assert!(names == [name] || names == [""], "{names:?}");
}

/// How often there were so many links: both made theirs before they heard of the other one's, or one of them did not need to.
fn assert_both(seen: &BTreeMap<usize, u64>) {
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [1, 2], "{seen:?}");
    assert!(seen.values().all(|times| *times > SEEDS / 20), "{seen:?}");
}

#[test]
fn links_made_by_both_at_once_are_taken_back_as_one() {
    let mut seen = BTreeMap::<usize, u64>::new();
    for seed in 0..SEEDS {
        for side in [0, 1] {
            let partners = Partners::new(seed);
            *seen.entry(partners.link_at_once()).or_default() += 1;
            assert!(partners.was_linked(side));
            assert_eq!(partners.links(), 0);
            partners.assert_forgotten();
            assert!(!partners.was_linked(side) && !partners.was_linked(1 - side));
            assert_eq!(partners.fail(side), None);
            let here = partners.stepper.ask(&partners.actors[1 - side], Bond::Here);
            assert_eq!(here, Ok(()));
            partners.assert_forgotten();
        }
    }
    assert_both(&seen);
}

#[test]
fn links_made_by_both_at_once_end_both() {
    let mut seen = BTreeMap::<usize, u64>::new();
    for seed in 0..SEEDS {
        let partners = Partners::new(seed);
        *seen.entry(partners.link_at_once()).or_default() += 1;
        assert_ended_with(partners.fail(0), "one");
        partners.assert_forgotten();
    }
    assert_both(&seen);
}

#[test]
fn a_link_taken_back_while_the_other_side_makes_one_leaves_both_alike() {
    let mut seen = BTreeMap::<usize, u64>::new();
    for seed in 0..SEEDS {
        let partners = Partners::new(seed);
        partners.link(0);
        partners.link(1);
        partners.unlink(0);
        partners.stepper.run();
        let links = partners.links();
        *seen.entry(links).or_default() += 1;
        match links {
            0 => assert_eq!(partners.fail(0), None),
            _ => assert_ended_with(partners.fail(0), "one"),
        }
        partners.assert_forgotten();
    }
    // What the other side makes later than it is taken back stays.
    assert!(seen.contains_key(&0) && seen.contains_key(&1), "{seen:?}");
}
