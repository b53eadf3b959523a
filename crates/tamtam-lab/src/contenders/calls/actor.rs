//! An actor on a pool, asked by threads.

use tamtam_actor::{Address, Pool, Reply};

use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::VERSION;
use crate::{Card, Contender, Failure, Measure};

/// What it is asked.
pub(super) type PageQuestion = (Vec<u8>, Reply<Vec<u8>>);

/// One actor for all clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedActor;

impl Contender for AskedActor {
    fn card(&self) -> Card {
        Card {
            name: "actor",
            version: VERSION,
            ours: true,
            about: "one actor on a pool, which all clients ask, each from a thread that blocks",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }
}

impl Call for AskedActor {
    type Server = OnPool;

    fn open(&self, threads: usize) -> Result<OnPool, Failure> {
        Ok(OnPool::with_threads(threads))
    }
}

/// The actor and its pool.
#[derive(Debug)]
pub(super) struct OnPool {
    pub(super) address: Address<PageQuestion>,
    _pool: Pool,
}

impl OnPool {
    /// The actor that answers, on a pool of so many threads.
    pub(super) fn with_threads(threads: usize) -> Self {
        let pool = Pool::with_threads(threads);
        let address =
            pool.spawn_fn(|(request, reply): PageQuestion, _| reply.send(answer(&request)));
        OnPool {
            address,
            _pool: pool,
        }
    }
}

impl CallServer for OnPool {
    type Client = Address<PageQuestion>;

    fn connect(&mut self) -> Result<Address<PageQuestion>, Failure> {
        Ok(self.address.clone())
    }
}

/// Here, and behind a link.
impl Client for Address<PageQuestion> {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        self.ask(|reply| (request, reply))
            .map_err(|error| Failure::Unverified(format!("the actor does not answer: {error}")))
    }
}
