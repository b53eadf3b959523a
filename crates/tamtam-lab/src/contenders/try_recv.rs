//! A channel that is looked at in a tight loop.

use std::hint::spin_loop;

use tamtam_channel::{Receiver, Sender};

use super::VERSION;
use super::channel::CHANNEL;
use crate::{Card, Contender, End, Handover, Measure, Post, Queue, Retrieve, turns};

/// The channel looked at with `try_recv` in a tight loop, as a reader of article B proposes.
#[derive(Debug, Clone, Copy)]
pub(super) struct TryRecv;

impl Contender for TryRecv {
    fn card(&self) -> Card {
        Card {
            name: "try-recv",
            version: VERSION,
            ours: true,
            about: "a channel of capacity 1 each way, looked at with try_recv in a tight loop",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        measures
    }
}

impl<M: Send + 'static> Handover<M> for TryRecv {
    type End = TryRecvEnd<M>;

    fn connect(&self) -> (TryRecvEnd<M>, TryRecvEnd<M>) {
        let (to_far, from_near) = CHANNEL.open(1);
        let (to_near, from_far) = CHANNEL.open(1);
        (
            TryRecvEnd {
                sender: to_far,
                receiver: from_far,
            },
            TryRecvEnd {
                sender: to_near,
                receiver: from_near,
            },
        )
    }
}

/// One worker's ends of the two channels.
#[derive(Debug)]
pub(super) struct TryRecvEnd<M> {
    sender: Sender<M>,
    receiver: Receiver<M>,
}

impl<M: Send + 'static> End<M> for TryRecvEnd<M> {
    fn send(&mut self, message: M) {
        Post::send(&mut self.sender, message);
    }

    fn receive(&mut self) -> M {
        loop {
            if let Some(message) = self.receiver.try_receive() {
                return message;
            }
            spin_loop();
        }
    }
}
