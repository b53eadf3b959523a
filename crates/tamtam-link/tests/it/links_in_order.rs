//! Links of actors that are made, taken back and ended by both sides at once: every order of the steps, up to a length.

use std::time::Duration;

use tamtam_actor::{Address, Budget, End, EndReason, Frame, Reply};
use tamtam_link::{Inbound, Link};

use crate::suite::partners::{Bond, Partner, chain};

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    OneLinks,
    OtherLinks,
    OneUnlinks,
    OtherUnlinks,
    OneFails,
    OneStops,
    /// What waits to go there arrives.
    ToOther,
    ToOne,
}

const STEPS: [Step; 8] = [
    Step::OneLinks,
    Step::OtherLinks,
    Step::OneUnlinks,
    Step::OtherUnlinks,
    Step::OneFails,
    Step::OneStops,
    Step::ToOther,
    Step::ToOne,
];

/// An actor, its side of the link, and what it has of the other one.
struct Side {
    actor: Address<Bond>,
    far: Address<Bond>,
    link: Link,
    inbound: Inbound,
    end: End,
}

struct Stage {
    frame: Frame,
    one: Side,
    other: Side,
}

fn carry(from: &Link, to: &mut Inbound) -> bool {
    let mut bytes = Vec::new();
    from.take_outgoing(&mut bytes);
    to.receive(&bytes).unwrap();
    !bytes.is_empty()
}

impl Stage {
    fn new() -> Self {
        let frame = Frame::new();
        let side = |name| {
            let actor = frame.spawner().name(name).spawn(Partner::default());
            let (link, inbound) = Link::builder().root(&actor).build(|| {});
            Side {
                end: actor.end(),
                far: link.root(),
                actor,
                link,
                inbound,
            }
        };
        let mut stage = Stage {
            one: side("one"),
            other: side("other"),
            frame,
        };
        stage.carry_all();
        stage
    }

    fn carry_all(&mut self) {
        while self.step(Step::ToOther) | self.step(Step::ToOne) {}
    }

    /// `false` if there was nothing to be done.
    fn step(&mut self, step: Step) -> bool {
        let (one, other) = (&self.one, &self.other);
        let tell = |side: &Side, message| side.actor.tell(message).is_ok();
        let link = |side: &Side| {
            let reply = Reply::to(|_| {});
            tell(side, Bond::Link(side.far.clone(), reply))
        };
        let unlink = |side: &Side| {
            let reply = Reply::to(|_| {});
            tell(side, Bond::Unlink(side.far.clone(), reply))
        };
        let is_done = match step {
            Step::OneLinks => link(one),
            Step::OtherLinks => link(other),
            Step::OneUnlinks => unlink(one),
            Step::OtherUnlinks => unlink(other),
            Step::OneFails => tell(one, Bond::Fail("on purpose".to_owned())),
            Step::OneStops => tell(one, Bond::Stop),
            Step::ToOther => carry(&self.one.link, &mut self.other.inbound),
            Step::ToOne => carry(&self.other.link, &mut self.one.inbound),
        };
        self.frame.pump(Budget::unlimited());
        is_done
    }

    fn links(&self) -> (usize, usize) {
        (self.one.link.kept().links, self.other.link.kept().links)
    }

    fn end_of(side: &mut Side) -> Option<EndReason> {
        let ended = side.end.wait_timeout(Duration::ZERO);
        ended.map(|ended| ended.reason)
    }

    /// All that is on its way arrives; how many links there are then.
    fn end(mut self, steps: &[Step]) -> usize {
        self.carry_all();
        let (here, there) = self.links();
        assert_eq!(here, there, "{steps:?}");
        if Self::end_of(&mut self.one).is_none() {
            assert!(!self.other.actor.is_stopped(), "{steps:?}");
            self.step(Step::OneFails);
            self.carry_all();
            let is_over = Self::end_of(&mut self.other);
            assert_eq!(is_over.is_some(), here > 0, "{steps:?}");
            if let Some(reason) = is_over {
                let (names, last) = chain(&reason);
                // Where no link named it, the other side has its address alone.
                assert!(names == ["one"] || names == [""], "{steps:?}: {names:?}");
                assert_eq!(last, EndReason::Panicked("on purpose".into()));
            }
        }
        for side in [&self.one, &self.other] {
            let kept = side.link.kept();
            let left = (kept.links, kept.linkers, kept.watched, kept.orphans);
            assert_eq!(left, (0, 0, 0, 0), "{steps:?}");
        }
        here
    }
}

/// Goes on from these steps in every way that is left.
fn explore(steps: &mut Vec<Step>, left: usize, orders: &mut u64, linked: &mut u64) {
    let mut stage = Stage::new();
    if !steps.iter().all(|step| stage.step(*step)) {
        return;
    }
    *linked += u64::from(stage.end(steps) > 0);
    *orders += 1;
    if left == 0 {
        return;
    }
    for step in STEPS {
        steps.push(step);
        explore(steps, left - 1, orders, linked);
        steps.pop();
    }
}

#[test]
fn links_are_alike_at_both_sides_in_every_order() {
    let (mut orders, mut linked) = (0, 0);
    explore(&mut Vec::new(), 5, &mut orders, &mut linked);
    assert!(
        orders > 3_000 && linked > 500,
        "{orders} orders, {linked} of them with links"
    );
}
