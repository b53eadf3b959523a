//! An actor in a process of its own, or in several that share the calls.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use tamtam_actor::{Actor, Address, Context, Reply};
use tamtam_process::{Process, Remote};

use crate::ask::{self, Ask, Asker, Counter, Origin, Teller};
use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::{VERSION, asked};
use crate::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// As many processes as the placement has processors, behind one address.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorInProcess;

const NAME: &str = "process";

impl Contender for ActorInProcess {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: VERSION,
            ours: true,
            about: "an actor in a process of its own for each processor, behind one address, which all clients ask",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = calls::measures(*self);
        measures.extend(ask::by_carrier(*self));
        measures
    }

    fn serve(&self) -> Result<Serving, Failure> {
        // In a worker this does not return.
        tamtam_process::start(|workers| {
            workers.add::<Answerer>();
        });
        Err(Failure::Unverified(
            "this process was started by hand, and not for an actor".to_owned(),
        ))
    }
}

impl Call for ActorInProcess {
    type Server = Answerers;

    fn open(&self, threads: usize) -> Result<Answerers, Failure> {
        let workers = (0..threads.max(1)).map(|_| worker());
        Ok(Answerers {
            workers: workers.collect::<Result<_, _>>()?,
            clients: 0,
        })
    }
}

fn worker() -> Result<Address<Asked>, Failure> {
    let worker = Process::from(ServerProcess::command(NAME)?).spawn::<Answerer>(());
    worker.map_err(|error| Failure::Unverified(error.to_string()))
}

/// What the process of a worker has used so far.
fn used_by(worker: &Address<Asked>) -> Option<[u64; 3]> {
    worker.ask(Asked::Usage).ok()?
}

/// One process, whatever the placement has: there is one actor to ask.
impl Ask for ActorInProcess {
    fn ask(&self, _: Origin, _: usize, mut asker: Asker) -> Asker {
        let worker = worker().expect("a process of its own");
        let its_process = worker.clone();
        asker.count_process(move || used_by(&its_process));
        asked::ask_by(&worker, Asked::Ask, asker)
    }

    fn tell(&self, _: usize, teller: &mut Teller) {
        let worker = worker().expect("a process of its own");
        let its_process = worker.clone();
        teller.count_process(move || used_by(&its_process));
        asked::tell_by(&worker, Asked::Tell, Asked::Ask, teller);
    }
}

#[derive(Serialize, Deserialize)]
pub(super) enum Asked {
    Call(ByteBuf, Reply<ByteBuf>),
    Usage(Reply<Option<[u64; 3]>>),
    Tell(u64),
    Ask(u64, Reply<u64>),
}

/// The actor in the process.
struct Answerer(Counter);

impl Remote for Answerer {
    type Config = ();
    const NAME: &'static str = NAME;

    fn create(
        (): (),
        _: &mut Context<Self>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Answerer(Counter::default()))
    }
}

impl Actor for Answerer {
    type Message = Asked;

    fn handle(&mut self, message: Asked, _: &mut Context<Self>) {
        match message {
            Asked::Call(request, reply) => reply.send(answer(&request).into()),
            Asked::Usage(reply) => reply.send(calls::used()),
            Asked::Tell(number) => self.0.tell(number),
            Asked::Ask(number, reply) => reply.send(self.0.ask(number)),
        }
    }
}

/// The processes, of which each client calls one.
#[derive(Debug)]
pub(super) struct Answerers {
    workers: Vec<Address<Asked>>,
    clients: usize,
}

impl CallServer for Answerers {
    type Client = Address<Asked>;

    fn connect(&mut self) -> Result<Address<Asked>, Failure> {
        self.clients += 1;
        Ok(self.workers[self.clients % self.workers.len()].clone())
    }

    fn used(&mut self) -> Option<[u64; 3]> {
        let mut sum = [0; 3];
        for worker in &self.workers {
            for (sum, used) in sum.iter_mut().zip(used_by(worker)?) {
                *sum += used;
            }
        }
        Some(sum)
    }
}

impl Client for Address<Asked> {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let answer = self.ask(|reply| Asked::Call(request.into(), reply));
        let answer = answer.map_err(|error| {
            Failure::Unverified(format!("the process does not answer: {error}"))
        })?;
        Ok(answer.into_vec())
    }
}
