//! Servers in a process of their own, for contenders whose clients each connect for themselves.

use super::{CallServer, Client};
use crate::{Failure, ServerProcess};

/// A server in a process of its own, and how a client connects to it.
#[derive(Debug)]
pub struct ServerApart<C> {
    process: ServerProcess,
    connect: fn(&str) -> Result<C, Failure>,
}

impl<C> ServerApart<C> {
    /// Starts the server of the contender `name`; `connect` is given the address that the server says.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(name: &str, connect: fn(&str) -> Result<C, Failure>) -> Result<Self, Failure> {
        Ok(ServerApart {
            process: ServerProcess::start(name)?,
            connect,
        })
    }
}

impl<C: Client> CallServer for ServerApart<C> {
    type Client = C;

    fn connect(&mut self) -> Result<C, Failure> {
        (self.connect)(self.process.address())
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}
