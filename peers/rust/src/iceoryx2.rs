//! iceoryx2: requests and answers in shared memory, looked for without sleeping, as its benchmarks do.

use std::hint;
use std::thread;

use ::iceoryx2::port::client::Client as RequestPort;
use ::iceoryx2::port::server::Server;
use ::iceoryx2::prelude::*;
use tamtam_lab::calls::{self, Call, CallServer, Client, answer};
use tamtam_lab::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// A service for each client, and a thread of the server for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Iceoryx2;

const NAME: &str = "iceoryx2";

/// So many clients at most.
const CLIENTS: usize = 8;
/// No request or answer is expected to be longer; others make it grow.
const LONGEST: usize = 8 << 10;
/// So many looks in vain before a thread gives way: there may be more threads than processors.
const LOOKS: u32 = 1_000;

type Bytes = [u8];
type ThreadService = ipc_threadsafe::Service;

impl Contender for Iceoryx2 {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_ICEORYX2"),
            ours: false,
            about: "iceoryx2: a service of requests and answers for each client, and a thread of the server for each, both looking again and again",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let name = format!("tamtam-lab-{}", std::process::id());
        for client in 0..CLIENTS {
            let server = open(&name, client)?
                .1
                .server_builder()
                .initial_max_slice_len(LONGEST)
                .allocation_strategy(AllocationStrategy::PowerOfTwo)
                .create()
                .map_err(lost)?;
            thread::Builder::new().spawn(move || serve_one(&server))?;
        }
        Ok(Serving::at(name, ()))
    }
}

type Requests = ::iceoryx2::service::port_factory::request_response::PortFactory<
    ThreadService,
    Bytes,
    (),
    Bytes,
    (),
>;

/// The service of a client, which ends with its node.
fn open(name: &str, client: usize) -> Result<(Node<ThreadService>, Requests), Failure> {
    let node = NodeBuilder::new().create::<ThreadService>().map_err(lost)?;
    let name = format!("{name}/{client}");
    let service = node
        .service_builder(&name.as_str().try_into().map_err(lost)?)
        .request_response::<Bytes, Bytes>()
        .max_clients(1)
        .max_servers(1)
        .open_or_create()
        .map_err(lost)?;
    Ok((node, service))
}

fn serve_one(server: &Server<ThreadService, Bytes, (), Bytes, ()>) {
    let mut looks = 0;
    loop {
        match server.receive() {
            Ok(Some(request)) => {
                looks = 0;
                let bytes = answer(&request);
                let Ok(response) = request.loan_slice_uninit(bytes.len()) else {
                    return;
                };
                if response.write_from_slice(&bytes).send().is_err() {
                    return;
                }
            }
            Ok(None) => look_again(&mut looks),
            Err(_) => return,
        }
    }
}

fn look_again(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(LOOKS) {
        thread::yield_now();
    } else {
        hint::spin_loop();
    }
}

impl Call for Iceoryx2 {
    type Server = Clients;

    fn open(&self, _threads: usize) -> Result<Clients, Failure> {
        let process = ServerProcess::start(NAME)?;
        Ok(Clients {
            process,
            clients: 0,
        })
    }
}

pub(crate) struct Clients {
    process: ServerProcess,
    clients: usize,
}

impl CallServer for Clients {
    type Client = Iceoryx2Client;

    fn connect(&mut self) -> Result<Iceoryx2Client, Failure> {
        let (node, service) = open(self.process.address(), self.clients)?;
        self.clients += 1;
        let requests = service
            .client_builder()
            .initial_max_slice_len(LONGEST)
            .allocation_strategy(AllocationStrategy::PowerOfTwo)
            .create()
            .map_err(lost)?;
        Ok(Iceoryx2Client {
            requests,
            _node: node,
        })
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}

pub(crate) struct Iceoryx2Client {
    requests: RequestPort<ThreadService, Bytes, (), Bytes, ()>,
    _node: Node<ThreadService>,
}

impl Client for Iceoryx2Client {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let loaned = self
            .requests
            .loan_slice_uninit(request.len())
            .map_err(lost)?;
        let pending = loaned.write_from_slice(&request).send().map_err(lost)?;
        let mut looks = 0;
        loop {
            if let Some(response) = pending.receive().map_err(lost)? {
                return Ok(response.payload().to_vec());
            }
            look_again(&mut looks);
        }
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
