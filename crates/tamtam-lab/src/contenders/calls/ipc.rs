//! Channels in memory that two processes share.

use std::os::fd::AsFd;
use std::thread;

use tamtam_ipc::{BytesReceiver, BytesSender, LoanError, bytes_channel};

use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::VERSION;
use crate::contenders::shared_memory::{self, unavailable};
use crate::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// One channel for the requests of all clients to one thread of another process, and one for the answers to each.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedChannels;

const NAME: &str = "ipc";

/// How many clients there is a channel of answers for.
const CLIENTS: u8 = 16;
/// How many requests, or answers to one client, may wait.
const CAPACITY: usize = 16;
/// The longest request or answer, in bytes.
const LONGEST_MESSAGE: usize = 32 << 10;

impl Contender for SharedChannels {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: VERSION,
            ours: true,
            about: "a thread of another process, with one channel in shared memory for all requests, and one to each client",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (requests, inbox) = bytes_channel(CAPACITY, LONGEST_MESSAGE).map_err(unavailable)?;
        let (mut outboxes, mut kept) = (Vec::new(), Vec::new());
        for _ in 0..CLIENTS {
            let (outbox, answers) =
                bytes_channel(CAPACITY, LONGEST_MESSAGE).map_err(unavailable)?;
            outboxes.push(outbox);
            // A client takes its place.
            kept.push(answers.hand_over()?);
        }
        let of_clients = kept.iter().map(AsFd::as_fd);
        let address = shared_memory::address([requests.memory()].into_iter().chain(of_clients));
        thread::Builder::new().spawn(move || serve_channels(&inbox, &outboxes))?;
        // The channel of requests stays open while there is no client.
        Ok(Serving::at(address, (requests, kept)))
    }
}

/// Answers all requests. A client that waits is told by its channel if this ends.
fn serve_channels(inbox: &BytesReceiver, outboxes: &[BytesSender]) {
    let mut request = Vec::new();
    while inbox.recv_bytes(&mut request).is_ok() {
        let Some((outbox, asked)) = request.split_first().and_then(|(&client, asked)| {
            let outbox = outboxes.get(usize::from(client))?;
            Some((outbox, asked))
        }) else {
            return;
        };
        if let Err(LoanError::TooLarge { .. }) = outbox.send(&answer(asked)) {
            return;
        }
    }
}

impl Call for SharedChannels {
    type Server = ServerBehindChannels;

    fn open(&self, _threads: usize) -> Result<ServerBehindChannels, Failure> {
        let process = ServerProcess::start(NAME)?;
        let requests = shared_memory::open(process.address(), 0)?;
        let requests = BytesSender::attach(requests).map_err(unavailable)?;
        Ok(ServerBehindChannels {
            process,
            requests,
            clients: 0,
        })
    }
}

/// The server, as its clients see it.
#[derive(Debug)]
pub(super) struct ServerBehindChannels {
    process: ServerProcess,
    requests: BytesSender,
    clients: u8,
}

impl CallServer for ServerBehindChannels {
    type Client = ClientAtChannels;

    fn connect(&mut self) -> Result<ClientAtChannels, Failure> {
        let number = self.clients;
        let memory = shared_memory::open(self.process.address(), 1 + usize::from(number))?;
        self.clients += 1;
        Ok(ClientAtChannels {
            number,
            frame: Vec::new(),
            requests: self.requests.clone(),
            answers: BytesReceiver::attach(memory).map_err(unavailable)?,
        })
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}

/// A client's ends.
#[derive(Debug)]
pub(super) struct ClientAtChannels {
    /// Stands before each request, for the server to know where to answer.
    number: u8,
    frame: Vec<u8>,
    requests: BytesSender,
    answers: BytesReceiver,
}

impl Client for ClientAtChannels {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        self.frame.clear();
        self.frame.push(self.number);
        self.frame.extend_from_slice(&request);
        let sent = self.requests.send(&self.frame);
        sent.map_err(|error| Failure::Unverified(format!("the server takes nothing: {error}")))?;
        let mut answer = Vec::new();
        let received = self.answers.recv_bytes(&mut answer);
        received.map_err(|error| Failure::Unverified(format!("the server is gone: {error}")))?;
        Ok(answer)
    }
}
