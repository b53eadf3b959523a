//! Our actors on a pool.

use tamtam_actor::Pool;

use super::nodes::Nodes;
use super::players::Players;
use super::subscribers::Audience;
use super::told_later::ToldLater;
use super::{VERSION, asked};
use crate::ask::{Ask, Asker, Origin, Teller};
use crate::grid::{Publish, Subscriber, Timers};
use crate::ring::Ring;
use crate::{
    Card, Contender, Measure, Part, Placement, Troupe, ask, flood, grid, ring, savina, sparse,
};

/// Actors on a pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorsOnPool;

impl Contender for ActorsOnPool {
    fn card(&self) -> Card {
        Card {
            name: "pool",
            version: VERSION,
            ours: true,
            about: "actors with unlimited mailboxes on a pool of threads",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::measures(*self);
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        let origins = [Origin::OF_POOLS.as_slice(), &[Origin::Task]].concat();
        measures.extend(ask::measures(*self, &origins));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures.extend(grid::actors(*self, true));
        let origins = &[Origin::Handler, Origin::Thread, Origin::Task];
        measures.extend(grid::asks(*self, origins, true));
        measures.push(grid::quiet_beside_flood(*self));
        measures.extend(grid::topics(*self, true));
        measures.extend(grid::timers(*self));
        measures
    }
}

impl Publish for ActorsOnPool {
    type Topic = Audience<Pool>;

    fn open(&self, threads: usize, subscribers: Vec<Subscriber>) -> Audience<Pool> {
        Audience::at(Pool::with_threads(threads), subscribers)
    }
}

impl Timers for ActorsOnPool {
    type Clockwork = ToldLater;

    fn open(&self) -> ToldLater {
        ToldLater::new()
    }
}

impl Troupe for ActorsOnPool {
    type Stage<P: Part> = Players<Pool, P>;

    fn open<P: Part>(&self, threads: usize) -> Players<Pool, P> {
        Players::at(Pool::with_threads(threads))
    }
}

impl<const WORDS: usize> Ring<WORDS> for ActorsOnPool {
    type Pool = Nodes<Pool, WORDS>;

    fn open(&self, threads: usize) -> Nodes<Pool, WORDS> {
        Nodes::at(Pool::with_threads(threads))
    }
}

impl Ask for ActorsOnPool {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        let other_pool = origin == Origin::OtherPool;
        let mut far = Pool::with_threads(if other_pool { 1 } else { threads });
        let server = asked::server(&mut far);
        match origin {
            Origin::Thread => asked::from_thread(&server, asker),
            Origin::Task => asked::from_task(&server, asker),
            Origin::Handler => asked::from_actor(&mut far, server, asker),
            Origin::OtherPool => {
                let mut near = Pool::with_threads(1);
                asked::from_actor(&mut near, server, asker)
            }
        }
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let mut pool = Pool::with_threads(threads);
        asked::tell(&asked::server(&mut pool), teller);
    }
}
