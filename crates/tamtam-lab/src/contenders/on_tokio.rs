//! Our actors on the threads of a runtime of tokio.

use tamtam_actor::{Actor, Address, Pool};
use tokio::runtime::{Builder, Runtime};

use super::home::Home;
use super::players::Players;
use super::{VERSION, asked};
use crate::ask::{Ask, Asker, Origin, Teller};
use crate::{Card, Contender, Measure, Part, Troupe, grid};

/// Actors on tokio's threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorsOnTokio;

impl Contender for ActorsOnTokio {
    fn card(&self) -> Card {
        Card {
            name: "pool-on-tokio",
            version: VERSION,
            ours: true,
            about: "actors on the threads of a runtime of tokio",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = grid::actors(*self, true);
        let origins = &[Origin::Handler, Origin::Thread, Origin::Task];
        measures.extend(grid::asks(*self, origins, true));
        measures.push(grid::quiet_beside_flood(*self));
        measures
    }
}

/// A pool on a runtime, which ends with it.
#[derive(Debug)]
pub(super) struct PoolOnTokio {
    pool: Pool,
    runtime: Runtime,
}

impl PoolOnTokio {
    fn new(threads: usize) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .build()
            .expect("a runtime without timers and sockets needs its threads only");
        PoolOnTokio {
            pool: Pool::on_tokio(runtime.handle()),
            runtime,
        }
    }
}

impl Home for PoolOnTokio {
    fn spawn<A: Actor + Send>(&mut self, actor: A) -> Address<A::Message> {
        self.pool.spawn(actor)
    }
}

impl Troupe for ActorsOnTokio {
    type Stage<P: Part> = Players<PoolOnTokio, P>;

    fn open<P: Part>(&self, threads: usize) -> Players<PoolOnTokio, P> {
        Players::at(PoolOnTokio::new(threads))
    }
}

impl Ask for ActorsOnTokio {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        let mut home = PoolOnTokio::new(threads);
        let server = asked::server(&mut home);
        match origin {
            Origin::Handler | Origin::OtherPool => asked::from_actor(&mut home, server, asker),
            Origin::Thread => asked::from_thread(&server, asker),
            // A task beside the actors, on the same threads.
            Origin::Task => {
                let asking = home.runtime.spawn(asked::in_task(server, asker));
                home.runtime
                    .block_on(asking)
                    .expect("the asking task does not panic")
            }
        }
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let mut home = PoolOnTokio::new(threads);
        asked::tell(&asked::server(&mut home), teller);
    }
}
