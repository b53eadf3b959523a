//! Actors of two sides that end together, and watches that leave nothing behind.

use std::sync::mpsc;

use tamtam_actor::{Address, EndReason, Pool, Reply};
use tamtam_link::{Kept, Link};

use super::partners::{Bond, Partner, chain, partner};
use super::{Pair, on_each, until};

/// Two actors, one at each end of a link.
struct Stage {
    own: Address<Bond>,
    /// As this side has it, and as it is.
    far: Address<Bond>,
    there: Address<Bond>,
    links: (Link, Link),
    pool: Pool,
}

impl Stage {
    fn new(pair: Pair) -> Self {
        let pool = Pool::with_threads(1);
        let own = named(&pool, "own");
        let there = named(&pool, "there");
        let links = pair(Link::builder(), Link::builder().root(&there));
        Stage {
            own,
            far: links.0.root(),
            there,
            links,
            pool,
        }
    }

    /// Both sides keep nothing of links and watches any more.
    fn is_forgotten(&self) -> bool {
        [&self.links.0, &self.links.1]
            .iter()
            .all(|link| is_clean(&link.kept()))
    }

    fn close(&self) {
        self.links.0.close();
    }
}

fn is_clean(kept: &Kept) -> bool {
    (kept.links, kept.linkers, kept.watched, kept.orphans) == (0, 0, 0, 0)
}

fn named(pool: &Pool, name: &str) -> Address<Bond> {
    pool.spawner().name(name).spawn(Partner::default())
}

fn fail(actor: &Address<Bond>) {
    actor.tell(Bond::Fail("on purpose".to_owned())).unwrap();
}

fn link(one: &Address<Bond>, other: &Address<Bond>) {
    one.ask(|reply| Bond::Link(other.clone(), reply)).unwrap();
}

fn unlink(one: &Address<Bond>, other: &Address<Bond>) -> bool {
    one.ask(|reply| Bond::Unlink(other.clone(), reply)).unwrap()
}

fn lives(actor: &Address<Bond>) {
    actor.ask(Bond::Here).unwrap();
}

fn panicked() -> EndReason {
    EndReason::Panicked("on purpose".into())
}

#[test]
fn an_actor_that_watches_a_far_one_hears_how_it_ends_and_lives() {
    on_each(|pair| {
        for (end, expected) in [
            (Some(Bond::Fail("on purpose".to_owned())), "Panicked"),
            (Some(Bond::Stop), "Stopped"),
            (None, "LinkLost"),
        ] {
            let stage = Stage::new(pair);
            let (sender, heard) = mpsc::channel();
            let reply = Reply::to(move |answer| sender.send(answer).unwrap());
            let watch = Bond::Watch(stage.far.clone(), reply);
            stage.own.tell(watch).unwrap();
            lives(&stage.own);
            match end {
                Some(end) => stage.there.tell(end).unwrap(),
                None => stage.close(),
            }
            let reason = heard.recv().unwrap().unwrap();
            assert!(reason.starts_with(expected), "{reason}");
            until("nothing is left of the watch", || stage.is_forgotten());
            lives(&stage.own);
            stage.close();
        }
    });
}

#[test]
fn a_far_actor_ends_with_the_one_that_has_linked_it() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        link(&stage.own, &stage.far);
        // Twice is once.
        link(&stage.own, &stage.far);
        assert_eq!(stage.links.0.kept().links, 1);
        fail(&stage.own);
        let reason = stage.there.end().wait().reason;
        assert_eq!(chain(&reason), (vec!["own".to_owned()], panicked()));
        // That is heard where the link was made, too.
        let heard = stage.far.end().wait().reason;
        assert_eq!(chain(&heard), (vec!["own".to_owned()], panicked()));
        until("nothing is left of the link", || stage.is_forgotten());
        stage.close();
    });
}

#[test]
fn an_actor_ends_with_a_far_one_that_it_has_linked() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        link(&stage.own, &stage.far);
        fail(&stage.there);
        let reason = stage.own.end().wait().reason;
        assert_eq!(partner(&reason).reason, panicked());
        assert_eq!(partner(&reason).id, stage.far.id());
        until("nothing is left of the link", || stage.is_forgotten());
        stage.close();
    });
}

#[test]
fn a_far_actor_may_link_one_of_this_side() {
    on_each(|pair| {
        for own_fails in [true, false] {
            let stage = Stage::new(pair);
            let keep = |reply| Bond::Keep(stage.own.clone(), reply);
            stage.far.ask(keep).unwrap();
            let id = |reply| Bond::Id(stage.own.clone(), reply);
            let id = stage.far.ask(id).unwrap();
            link(&stage.far, &stage.own);
            let (first, second) = match own_fails {
                true => (&stage.own, &stage.there),
                false => (&stage.there, &stage.own),
            };
            fail(first);
            let reason = second.end().wait().reason;
            assert_eq!(partner(&reason).reason, panicked());
            if own_fails {
                // It is the one whose address is there.
                assert_eq!(partner(&reason).id.get(), id);
            } else {
                assert_eq!(partner(&reason).name.as_deref(), Some("there"));
            }
            until("nothing is left of the link", || stage.is_forgotten());
            stage.close();
        }
    });
}

#[test]
fn an_address_that_comes_after_the_link_is_of_the_linked_one() {
    on_each(|pair| {
        for own_unlinks in [true, false] {
            let stage = Stage::new(pair);
            link(&stage.own, &stage.far);
            // The other side had no address of it until now; either of the two takes the link back.
            let was_linked = match own_unlinks {
                true => unlink(&stage.own, &stage.far),
                false => unlink(&stage.far, &stage.own),
            };
            assert!(was_linked);
            assert!(!unlink(&stage.own, &stage.far) || !own_unlinks);
            until("nothing is left of the link", || stage.is_forgotten());
            assert!(!unlink(&stage.far, &stage.own));
            fail(&stage.own);
            stage.own.end().wait();
            lives(&stage.far);
            lives(&stage.there);
            assert!(stage.is_forgotten());
            stage.close();
        }
    });
}

#[test]
fn an_end_in_order_ends_the_link_alone() {
    on_each(|pair| {
        for own_stops in [true, false] {
            let stage = Stage::new(pair);
            link(&stage.own, &stage.far);
            let (first, second) = match own_stops {
                true => (&stage.own, &stage.there),
                false => (&stage.there, &stage.own),
            };
            first.tell(Bond::Stop).unwrap();
            first.end().wait();
            until("nothing is left of the link", || stage.is_forgotten());
            lives(second);
            stage.close();
        }
    });
}

#[test]
fn the_ones_on_both_sides_hear_of_the_end_of_a_link_that_carried_theirs() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        let other = named(&stage.pool, "other");
        link(&stage.own, &stage.far);
        link(&stage.far, &other);
        stage.close();
        for actor in [&stage.own, &stage.there, &other] {
            let reason = actor.end().wait().reason;
            let lost = &partner(&reason).reason;
            assert!(
                matches!(lost, EndReason::LinkLost(_)) || partner(lost).name.is_some(),
                "{reason:?}"
            );
        }
        until("nothing is left", || stage.is_forgotten());
    });
}

#[test]
fn one_that_ends_right_behind_its_link_takes_the_far_one_along() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        stage
            .own
            .tell(Bond::LinkAndFail(stage.far.clone()))
            .unwrap();
        let reason = stage.there.end().wait().reason;
        let (names, last) = chain(&reason);
        assert_eq!(names, ["own"]);
        assert_eq!(last, EndReason::Panicked("right behind the link".into()));
        until("nothing is left of the link", || stage.is_forgotten());
        stage.close();
    });
}

#[test]
fn a_link_with_one_that_has_ended_is_told_of_its_end() {
    on_each(|pair| {
        for (end, is_abnormal) in [
            (Bond::Fail("on purpose".to_owned()), true),
            (Bond::Stop, false),
        ] {
            let stage = Stage::new(pair);
            stage.there.tell(end).unwrap();
            stage.there.end().wait();
            // Whether this side has heard of it by now or not.
            let linked = stage.own.ask(|reply| Bond::Link(stage.far.clone(), reply));
            if is_abnormal {
                let reason = stage.own.end().wait().reason;
                assert_eq!(partner(&reason).reason, panicked());
            } else {
                linked.unwrap();
                until("nothing is left of the link", || stage.is_forgotten());
                lives(&stage.own);
            }
            stage.close();
        }
    });
}

#[test]
fn a_chain_of_three_over_two_links_ends_for_one_reason() {
    on_each(|pair| {
        for from_the_first in [true, false] {
            let stage = Stage::new(pair);
            let last = named(&stage.pool, "last");
            let further = pair(Link::builder(), Link::builder().root(&last));
            link(&stage.own, &stage.far);
            link(&stage.there, &further.0.root());
            let (first, end, name) = match from_the_first {
                true => (&stage.own, &last, "own"),
                false => (&last, &stage.own, ""),
            };
            fail(first);
            let (names, reason) = chain(&end.end().wait().reason);
            assert_eq!(reason, panicked());
            assert_eq!(names.len(), 2, "{names:?}");
            assert_eq!(names[1], name);
            until("nothing is left of both", || {
                stage.is_forgotten() && is_clean(&further.0.kept()) && is_clean(&further.1.kept())
            });
            stage.close();
            further.0.close();
        }
    });
}

#[test]
fn a_link_goes_through_a_process_in_between() {
    on_each(|pair| {
        for own_fails in [true, false] {
            let stage = Stage::new(pair);
            let last = named(&stage.pool, "last");
            let further = pair(Link::builder(), Link::builder().root(&last));
            let known = Partner {
                known: Some(further.0.root()),
                ..Partner::default()
            };
            let giver = stage.pool.spawn(known);
            let to_giver = pair(Link::builder(), Link::builder().root(&giver));
            let through = to_giver.0.root::<Bond>().ask(Bond::Known).unwrap();
            link(&stage.own, &through);
            assert!(unlink(&stage.own, &through));
            link(&stage.own, &through);
            let (first, second) = match own_fails {
                true => (&stage.own, &last),
                false => (&last, &stage.own),
            };
            fail(first);
            let (names, reason) = chain(&second.end().wait().reason);
            assert_eq!((names.len(), reason), (1, panicked()));
            // The one in between is not concerned.
            lives(&giver);
            drop(through);
            until("nothing is left of both", || {
                [&to_giver.0, &to_giver.1, &further.0, &further.1]
                    .iter()
                    .all(|link| is_clean(&link.kept()))
            });
            stage.close();
            to_giver.0.close();
            further.0.close();
        }
    });
}

#[test]
fn the_names_of_a_chain_come_in_its_order() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        let (next, last) = (named(&stage.pool, "next"), named(&stage.pool, "last"));
        link(&stage.own, &stage.far);
        link(&stage.there, &next);
        link(&next, &last);
        fail(&last);
        let (names, reason) = chain(&stage.own.end().wait().reason);
        assert_eq!(reason, panicked());
        // The first of them has no name on this side.
        assert_eq!(names, ["", "next", "last"]);
        stage.close();
    });
}

#[test]
fn a_long_name_goes_along_as_far_as_it_may() {
    on_each(|pair| {
        let stage = Stage::new(pair);
        // Cut between two of its letters, of two bytes each.
        let own = named(&stage.pool, &format!("x{}", "\u{e9}".repeat(2_000)));
        link(&own, &stage.far);
        fail(&own);
        let (names, reason) = chain(&stage.there.end().wait().reason);
        assert_eq!(reason, panicked());
        assert_eq!(names, [format!("x{}", "\u{e9}".repeat(511))]);
        assert_eq!(stage.links.1.ended(), None);
        stage.close();
    });
}
