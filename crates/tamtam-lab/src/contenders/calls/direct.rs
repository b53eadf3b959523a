//! No server at all: a function.

use crate::calls::{self, Call, CallServer, Client, answer};
use crate::contenders::standard;
use crate::{Card, Contender, Failure, Measure};

/// The function that makes the answer, called with the bytes of the request: what all others cost is above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direct;

impl Contender for Direct {
    fn card(&self) -> Card {
        Card {
            name: "direct",
            version: standard::VERSION,
            ours: false,
            about: "a call of the function that makes the answer, marshalling included: what the others add to",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }
}

impl Call for Direct {
    type Server = Direct;

    fn open(&self, _threads: usize) -> Result<Direct, Failure> {
        Ok(*self)
    }
}

impl CallServer for Direct {
    type Client = Direct;

    fn connect(&mut self) -> Result<Direct, Failure> {
        Ok(*self)
    }
}

impl Client for Direct {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        Ok(answer(&request))
    }
}
