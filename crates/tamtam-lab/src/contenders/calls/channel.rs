//! A thread for each client, with a channel each way.

use std::thread;

use tamtam_channel::{Receiver, Sender, bounded};

use crate::Failure;
use crate::calls::{Call, CallServer, Client, answer};

/// A thread for each client, which takes requests out of one channel and puts its answers into another.
#[derive(Debug, Clone, Copy)]
pub(in crate::contenders) struct ThreadForEachClient;

impl Call for ThreadForEachClient {
    type Server = ThreadForEachClient;

    fn open(&self, _threads: usize) -> Result<ThreadForEachClient, Failure> {
        Ok(*self)
    }
}

impl CallServer for ThreadForEachClient {
    type Client = Channels;

    fn connect(&mut self) -> Result<Channels, Failure> {
        let (requests, inbox) = bounded::<Vec<u8>>(1);
        let (outbox, answers) = bounded(1);
        thread::Builder::new().spawn(move || {
            for request in inbox {
                if outbox.send(answer(&request)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Channels { requests, answers })
    }
}

/// A client's ends.
#[derive(Debug)]
pub(in crate::contenders) struct Channels {
    requests: Sender<Vec<u8>>,
    answers: Receiver<Vec<u8>>,
}

impl Client for Channels {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let sent = self.requests.send(request).is_ok();
        let answer = sent.then(|| self.answers.recv().ok()).flatten();
        answer.ok_or_else(|| Failure::Unverified("the serving thread is gone".to_owned()))
    }
}
