//! Our actors on threads of their own.

use super::home::Workers;
use super::nodes::Nodes;
use super::players::Players;
use super::subscribers::Audience;
use super::{VERSION, asked};
use crate::ask::{Ask, Asker, Origin, Teller};
use crate::grid::{Publish, Subscriber};
use crate::ring::Ring;
use crate::{Card, Contender, Measure, Part, Placement, Troupe, ask, grid, ring, savina, sparse};

/// Actors on threads of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorsOnWorkers;

impl Contender for ActorsOnWorkers {
    fn card(&self) -> Card {
        Card {
            name: "worker",
            version: VERSION,
            ours: true,
            about: "actors on a worker, which is one thread; in sparse traffic each has its own",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::on_one_core(*self);
        measures.extend(ring::sizes(*self, Placement::OneCore));
        let origins = [Origin::OF_POOLS.as_slice(), &[Origin::Task]].concat();
        measures.extend(ask::measures(*self, &origins));
        measures.extend(savina::on_one_core(*self));
        measures.extend(sparse::to_actors(*self));
        measures.extend(grid::actors(*self, false));
        // On two cores the one that asks has the other.
        let origins = &[Origin::Handler, Origin::Thread, Origin::Task];
        measures.extend(grid::asks(*self, origins, true));
        measures.extend(grid::topics(*self, false));
        measures
    }
}

impl Publish for ActorsOnWorkers {
    type Topic = Audience<Workers>;

    fn open(&self, _threads: usize, subscribers: Vec<Subscriber>) -> Audience<Workers> {
        Audience::at(Workers::one_for_all(), subscribers)
    }
}

impl Troupe for ActorsOnWorkers {
    type Stage<P: Part> = Players<Workers, P>;

    fn open<P: Part>(&self, _threads: usize) -> Players<Workers, P> {
        Players::at(Workers::one_for_all())
    }

    fn open_apart<P: Part>(&self, _threads: usize) -> Players<Workers, P> {
        Players::at(Workers::default())
    }
}

impl<const WORDS: usize> Ring<WORDS> for ActorsOnWorkers {
    type Pool = Nodes<Workers, WORDS>;

    fn open(&self, _threads: usize) -> Nodes<Workers, WORDS> {
        Nodes::at(Workers::one_for_all())
    }
}

impl Ask for ActorsOnWorkers {
    fn ask(&self, origin: Origin, _threads: usize, asker: Asker) -> Asker {
        let mut far = Workers::one_for_all();
        let server = asked::server(&mut far);
        match origin {
            Origin::Thread => asked::from_thread(&server, asker),
            Origin::Task => asked::from_task(&server, asker),
            Origin::Handler => asked::from_actor(&mut far, server, asker),
            Origin::OtherPool => asked::from_actor(&mut Workers::one_for_all(), server, asker),
        }
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let mut worker = Workers::one_for_all();
        asked::tell(&asked::server(&mut worker), teller);
    }
}
