//! An actor of another process, behind a link.

use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use tamtam_actor::{Address, Pool, Reply, Spawner};
use tamtam_link::{Link, carrier};

use crate::ask::{self, Ask, Asker, Counter, Origin, Teller};
use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::{VERSION, asked};
use crate::{Card, Contender, Failure, Measure, Placement, PrivateFolder, ServerProcess, Serving};

/// One link to another process for all clients, and an actor there for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorBehindLink;

const NAME: &str = "link";

impl Contender for ActorBehindLink {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: VERSION,
            ours: true,
            about: "an actor of another process for each client, and one link over a Unix socket for all",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = calls::measures(*self);
        measures.extend(ask::by_carrier(*self));
        measures
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let pool = Pool::with_threads(Placement::Free.threads());
        let address = answerer(&pool.spawner());
        let (folder, path) = PrivateFolder::listening(move |socket| {
            // A link that is lost is the other side's to tell.
            let _ = carrier::unix(Link::builder().root(&address), socket);
        })?;
        Ok(Serving::at(path.to_string_lossy(), (folder, pool)))
    }
}

/// An actor that answers, and has others that do.
fn answerer(spawner: &Spawner) -> Address<LinkMessage> {
    let (mut counter, others) = (Counter::default(), spawner.clone());
    spawner.clone().spawn_fn(move |message, _| match message {
        LinkMessage::Call(request, reply) => reply.send(answer(&request).into()),
        LinkMessage::Tell(number) => counter.tell(number),
        LinkMessage::Ask(number, reply) => reply.send(counter.ask(number)),
        LinkMessage::Another(reply) => reply.send(answerer(&others)),
    })
}

impl Call for ActorBehindLink {
    type Server = Linked;

    fn open(&self, _threads: usize) -> Result<Linked, Failure> {
        let process = ServerProcess::start(NAME)?;
        let socket = UnixStream::connect(process.address())?;
        let link = carrier::unix(Link::builder(), socket)?;
        Ok(Linked { link, process })
    }
}

/// What it gets.
#[derive(Serialize, Deserialize)]
pub(super) enum LinkMessage {
    Call(ByteBuf, Reply<ByteBuf>),
    Tell(u64),
    Ask(u64, Reply<u64>),
    Another(Reply<Address<LinkMessage>>),
}

impl Ask for ActorBehindLink {
    fn ask(&self, _: Origin, threads: usize, mut asker: Asker) -> Asker {
        let mut server = self.open(threads).expect("a server behind a link");
        let actor = server.link.root();
        asker.count_process(move || server.process()?.used());
        asked::ask_by(&actor, LinkMessage::Ask, asker)
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let mut server = self.open(threads).expect("a server behind a link");
        let actor = server.link.root();
        teller.count_process(move || server.process()?.used());
        asked::tell_by(&actor, LinkMessage::Tell, LinkMessage::Ask, teller);
    }
}

impl Client for Address<LinkMessage> {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let answer = self.ask(|reply| LinkMessage::Call(request.into(), reply));
        let answer = answer
            .map_err(|error| Failure::Unverified(format!("the actor does not answer: {error}")))?;
        Ok(answer.into_vec())
    }
}

/// This side of the link.
#[derive(Debug)]
pub(super) struct Linked {
    link: Link,
    process: ServerProcess,
}

impl CallServer for Linked {
    type Client = Address<LinkMessage>;

    fn connect(&mut self) -> Result<Address<LinkMessage>, Failure> {
        let another = self.link.root().ask(LinkMessage::Another);
        another.map_err(|error| {
            Failure::Unverified(format!("there is no actor for a client: {error}"))
        })
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        self.link.close();
    }
}
