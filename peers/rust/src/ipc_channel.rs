//! ipc-channel, of Servo.

use std::thread;

use ipc_channel::ipc::{
    IpcBytesReceiver, IpcBytesSender, IpcOneShotServer, IpcSender, bytes_channel,
};
use tamtam_lab::calls::{self, Call, CallServer, Client, answer};
use tamtam_lab::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// A channel of bytes each way for each client, and a thread of the server for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IpcChannel;

const NAME: &str = "ipc-channel";

/// The server's ends of a client's channels.
type Ends = (IpcBytesReceiver, IpcBytesSender);

impl Contender for IpcChannel {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_IPC_CHANNEL"),
            ours: false,
            about: "ipc-channel: a channel of bytes each way for each client, and a thread of the server for each",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (server, name) = IpcOneShotServer::<Ends>::new()?;
        thread::Builder::new().spawn(move || {
            let Ok((clients, first)) = server.accept() else {
                return;
            };
            let mut next = Some(first);
            while let Some((requests, answers)) = next {
                thread::spawn(move || {
                    while let Ok(request) = requests.recv() {
                        if answers.send(&answer(&request)).is_err() {
                            return;
                        }
                    }
                });
                next = clients.recv().ok();
            }
        })?;
        Ok(Serving::at(name, ()))
    }
}

impl Call for IpcChannel {
    type Server = Clients;

    fn open(&self, _threads: usize) -> Result<Clients, Failure> {
        let process = ServerProcess::start(NAME)?;
        let clients = IpcSender::connect(process.address().to_owned())?;
        Ok(Clients { clients, process })
    }
}

pub(crate) struct Clients {
    clients: IpcSender<Ends>,
    process: ServerProcess,
}

impl CallServer for Clients {
    type Client = IpcClient;

    fn connect(&mut self) -> Result<IpcClient, Failure> {
        let (requests, inbox) = bytes_channel()?;
        let (outbox, answers) = bytes_channel()?;
        self.clients.send((inbox, outbox)).map_err(lost)?;
        Ok(IpcClient { requests, answers })
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}

pub(crate) struct IpcClient {
    requests: IpcBytesSender,
    answers: IpcBytesReceiver,
}

impl Client for IpcClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        self.requests.send(&request).map_err(lost)?;
        self.answers.recv().map_err(lost)
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
