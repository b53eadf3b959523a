//! Models of what both ends of a link know of each other's actors: addresses that are given up while they are sent again, and links of
//! actors that both sides make at once. Real ends, over which threads carry what these have to say.

use std::sync::{Arc, Mutex as Unlocked};

use serde::{Deserialize, Serialize};
use tamtam_actor::models::{ModelHome, model};
use tamtam_actor::{Actor, Address, Context, EndReason};
use tamtam_wait::seam::{Mutex, thread};

use crate::inbound::Inbound;
use crate::link::{Death, Link, LinkBuilder};

/// One side: its end of the link, and where its actors have their turns.
struct Side {
    stage: Arc<ModelHome>,
    link: Link,
    inbound: Mutex<Inbound>,
}

impl Side {
    fn new(
        build: impl FnOnce(&ModelHome, LinkBuilder) -> LinkBuilder,
        stage: Arc<ModelHome>,
    ) -> Arc<Self> {
        let builder = Link::builder().time(stage.time.clone());
        let (link, inbound) = build(&stage, builder).build(|| {});
        let inbound = Mutex::new(inbound);
        Arc::new(Side {
            stage,
            link,
            inbound,
        })
    }

    /// What it has to say arrives at the other side, whose actors then have their turns; `false` if it is nothing.
    fn says(&self, to: &Side) -> bool {
        let mut inbound = to.inbound.lock();
        let mut bytes = Vec::new();
        self.link.take_outgoing(&mut bytes);
        let received = inbound.receive(&bytes);
        drop(inbound);
        received.unwrap();
        to.stage.run();
        !bytes.is_empty()
    }
}

/// Until nothing is on its way.
fn settle(one: &Side, other: &Side) {
    while one.says(other) | other.says(one) {}
}

/// Who owns an actor, and another side that keeps the addresses that it is sent.
struct Lending {
    owner: Arc<Side>,
    other: Arc<Side>,
    keeper: Address<Address<u64>>,
    target: Address<u64>,
    handled: Arc<Unlocked<u64>>,
    /// Not loom's lock: what is kept is seen by all threads.
    kept: Arc<Unlocked<Vec<Address<u64>>>>,
}

impl Lending {
    /// The address has been sent once.
    fn new() -> Self {
        let (handled, kept) = (Arc::default(), Arc::default());
        let (owners, others) = (ModelHome::new(), ModelHome::new());
        let target = {
            let handled: Arc<Unlocked<u64>> = Arc::clone(&handled);
            let count = move |more: u64, _: &mut _| *handled.lock().unwrap() += more;
            owners.spawner().spawn_fn(count)
        };
        let keeps = {
            let kept: Arc<Unlocked<Vec<Address<u64>>>> = Arc::clone(&kept);
            let keep = move |address, _: &mut _| kept.lock().unwrap().push(address);
            others.spawner().spawn_fn(keep)
        };
        let owner = Side::new(|_, builder| builder, owners);
        let other = Side::new(|_, builder| builder.root(&keeps), others);
        let lending = Lending {
            keeper: owner.link.root(),
            owner,
            other,
            target,
            handled,
            kept,
        };
        lending.send();
        settle(&lending.owner, &lending.other);
        lending
    }

    /// The owner sends its actor's address.
    fn send(&self) {
        self.keeper.tell(self.target.clone()).unwrap();
    }

    /// The other side gives up all addresses that it has.
    fn give_up(&self) {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap());
        drop(kept);
    }

    /// What the other side has reaches the actor, and once it has nothing, the owner keeps nothing for it.
    fn ends_well(&self) {
        settle(&self.owner, &self.other);
        assert_eq!(
            (self.owner.link.ended(), self.other.link.ended()),
            (None, None)
        );
        let kept = self.kept.lock().unwrap().last().cloned();
        let has_one = usize::from(kept.is_some());
        assert_eq!(self.owner.link.addresses().1, has_one);
        // And its own root.
        assert_eq!(self.other.link.addresses(), (1 + has_one, 1));
        if let Some(address) = kept {
            address.tell(5).unwrap();
            settle(&self.owner, &self.other);
            assert_eq!(*self.handled.lock().unwrap(), 5);
        }
        self.give_up();
        settle(&self.owner, &self.other);
        assert_eq!(self.owner.link.addresses().1, 0);
        assert_eq!(self.other.link.addresses(), (1, 1));
        assert_eq!(
            (self.owner.link.ended(), self.other.link.ended()),
            (None, None)
        );
        assert_eq!(self.owner.link.unconfirmed(), 0);
    }
}

/// An address comes once more while the last one of that actor is given up.
#[test]
fn loom_an_address_that_comes_again_against_its_release() {
    model(3, || {
        let lending = Arc::new(Lending::new());
        lending.send();
        let user = {
            let lending = Arc::clone(&lending);
            thread::spawn(move || lending.give_up())
        };
        lending.owner.says(&lending.other);
        user.join().unwrap();
        lending.ends_well();
    });
}

/// An address is sent once more while the owner reads that those before it were given up.
#[test]
fn loom_a_release_against_sending_again() {
    model(3, || {
        let lending = Arc::new(Lending::new());
        lending.give_up();
        let reader = {
            let lending = Arc::clone(&lending);
            thread::spawn(move || lending.other.says(&lending.owner))
        };
        lending.send();
        reader.join().unwrap();
        lending.ends_well();
    });
}

/// All of it at once: an address goes once more, and comes; the other side gives up what it has, and says so.
#[test]
fn loom_a_release_on_its_way_against_an_address_on_its_way() {
    model(2, || {
        let lending = Arc::new(Lending::new());
        let user = {
            let lending = Arc::clone(&lending);
            thread::spawn(move || {
                lending.give_up();
                lending.other.says(&lending.owner);
            })
        };
        lending.send();
        lending.owner.says(&lending.other);
        user.join().unwrap();
        lending.ends_well();
    });
}

/// What an actor that links is told.
#[derive(Serialize, Deserialize)]
enum Bond {
    Link(Address<Bond>),
    Unlink(Address<Bond>),
}

struct Partner;

impl Actor for Partner {
    type Message = Bond;

    fn handle(&mut self, message: Bond, cx: &mut Context<Self>) {
        match message {
            Bond::Link(with) => cx.link(&with),
            Bond::Unlink(from) => drop(cx.unlink(&from)),
        }
    }
}

/// A side with an actor, and the address that it has of the other side's one.
struct Linking {
    side: Arc<Side>,
    actor: Address<Bond>,
    far: Address<Bond>,
}

impl Linking {
    fn new() -> Arc<Self> {
        let stage = ModelHome::new();
        let actor = stage.spawner().spawn(Partner);
        let side = Side::new(|_, builder| builder.root(&actor), stage);
        let far = side.link.root();
        Arc::new(Linking { side, actor, far })
    }

    fn link(&self) {
        self.actor.tell(Bond::Link(self.far.clone())).unwrap();
        self.side.stage.run();
    }

    fn unlink(&self) {
        self.actor.tell(Bond::Unlink(self.far.clone())).unwrap();
        self.side.stage.run();
    }

    fn links(&self) -> usize {
        self.side.link.kept().links
    }
}

/// Two actors, each of which knows the other one.
fn two() -> (Arc<Linking>, Arc<Linking>) {
    let (one, other) = (Linking::new(), Linking::new());
    settle(&one.side, &other.side);
    (one, other)
}

/// Both sides know of the same links; if there are any, the actors end with what carries these, and else they live.
fn are_alike(one: &Linking, other: &Linking) {
    settle(&one.side, &other.side);
    let links = one.links();
    assert_eq!(links, other.links());
    one.side.link.close();
    one.side.stage.run();
    let mut bytes = Vec::new();
    one.side.link.take_outgoing(&mut bytes);
    other.side.inbound.lock().receive(&bytes).unwrap_err();
    other.side.stage.run();
    for it in [one, other] {
        assert_eq!(it.actor.is_stopped(), links > 0);
        let kept = it.side.link.kept();
        let left = (kept.links, kept.linkers, kept.watched, kept.orphans);
        assert_eq!(left, (0, 0, 0, 0));
    }
}

/// Both make a link at once; when each knows of both, one of them takes the link back, and there is none.
#[test]
fn loom_two_links_made_at_once_are_taken_back_as_one() {
    model(2, || {
        let (one, other) = two();
        let beside = {
            let (one, other) = (Arc::clone(&one), Arc::clone(&other));
            thread::spawn(move || {
                other.link();
                other.side.says(&one.side);
            })
        };
        one.link();
        one.side.says(&other.side);
        beside.join().unwrap();
        settle(&one.side, &other.side);
        let links = one.links();
        assert!(
            links == other.links() && (1..=2).contains(&links),
            "{links}"
        );
        one.unlink();
        settle(&one.side, &other.side);
        assert_eq!((one.links(), other.links()), (0, 0));
        are_alike(&one, &other);
    });
}

/// Both make a link at once, and one of them takes it back at once: what is left is the same at both.
#[test]
fn loom_a_link_taken_back_against_one_that_is_made() {
    model(3, || {
        let (one, other) = two();
        let beside = {
            let (one, other) = (Arc::clone(&one), Arc::clone(&other));
            thread::spawn(move || {
                other.link();
                other.side.says(&one.side);
            })
        };
        one.link();
        one.side.says(&other.side);
        one.unlink();
        beside.join().unwrap();
        are_alike(&one, &other);
    });
}

/// Both know of two links, and both take them back at once.
#[test]
fn loom_two_links_are_taken_back_by_both_at_once() {
    model(2, || {
        let (one, other) = two();
        one.link();
        other.link();
        settle(&one.side, &other.side);
        assert_eq!((one.links(), other.links()), (2, 2));
        let beside = {
            let (one, other) = (Arc::clone(&one), Arc::clone(&other));
            thread::spawn(move || {
                other.unlink();
                other.side.says(&one.side);
            })
        };
        one.unlink();
        one.side.says(&other.side);
        beside.join().unwrap();
        settle(&one.side, &other.side);
        assert_eq!((one.links(), other.links()), (0, 0));
        are_alike(&one, &other);
    });
}

/// An actor links the root of a process that dies meanwhile: the next one hears of that once.
#[test]
fn loom_a_link_with_the_root_against_the_next_process() {
    model(2, || {
        let home = ModelHome::new();
        let actor = home.spawner().spawn(Partner);
        let side = Side::new(|_, builder| builder.keep_root(), home);
        let root = side.link.root::<Bond>();
        let monitor = {
            let side = Arc::clone(&side);
            thread::spawn(move || {
                let death = Death {
                    done: 0,
                    begun: 0,
                    why: EndReason::HomeEnded,
                };
                *side.inbound.lock() = side.link.begin_again(death).unwrap();
            })
        };
        actor.tell(Bond::Link(root.clone())).unwrap();
        side.stage.run();
        monitor.join().unwrap();
        let next = Linking::new();
        settle(&side, &next.side);
        assert_eq!((side.link.kept().links, next.links()), (1, 1));
        actor.tell(Bond::Unlink(root.clone())).unwrap();
        side.stage.run();
        settle(&side, &next.side);
        for link in [&side.link, &next.side.link] {
            let kept = link.kept();
            assert_eq!((kept.links, kept.linkers), (0, 0));
        }
    });
}
