//! An actor of another process, behind a link.

use std::os::unix::net::UnixStream;

use serde_bytes::ByteBuf;
use tamtam_actor::{Address, Pool, Reply};
use tamtam_link::{Link, carrier};

use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::VERSION;
use crate::{Card, Contender, Failure, Measure, Placement, PrivateFolder, ServerProcess, Serving};

/// One actor in another process, and one link to it for all clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorBehindLink;

const NAME: &str = "link";

impl Contender for ActorBehindLink {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: VERSION,
            ours: true,
            about: "one actor of another process, which all clients ask through one link over a Unix socket",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let pool = Pool::with_threads(Placement::Free.threads());
        let address =
            pool.spawn_fn(|(request, reply): LinkQuestion, _| reply.send(answer(&request).into()));
        let (folder, path) = PrivateFolder::listening(move |socket| {
            // A link that is lost is the other side's to tell.
            let _ = carrier::unix(Link::builder().root(&address), socket);
        })?;
        Ok(Serving::at(path.to_string_lossy(), (folder, pool)))
    }
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

/// What it is asked.
type LinkQuestion = (ByteBuf, Reply<ByteBuf>);

impl Client for Address<LinkQuestion> {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let answer = self.ask(|reply| (request.into(), reply));
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
    type Client = Address<LinkQuestion>;

    fn connect(&mut self) -> Result<Address<LinkQuestion>, Failure> {
        Ok(self.link.root())
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
