use std::time::Duration;

use tamtam_channel::Latch;
use tamtam_lab::grid::{MOST_AT_ONCE, Publish, Publisher, Subscriber};
use tamtam_lab::{Card, Contender, Measure, grid};
use tokio::sync::broadcast;

use crate::tokio_runtime::TokioRuntime;

/// `tokio::sync::broadcast`, with a task for each subscriber.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Broadcast;

impl Contender for Broadcast {
    fn card(&self) -> Card {
        Card {
            name: "tokio-broadcast",
            version: env!("VERSION_OF_TOKIO"),
            ours: false,
            about: "tokio's broadcast channel, a task for each subscriber; who is too late loses messages",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        grid::topics(*self, true)
    }
}

impl Publish for Broadcast {
    type Topic = Subscribed;

    fn open(&self, threads: usize, subscribers: Vec<Subscriber>) -> Subscribed {
        let runtime = TokioRuntime::new(threads);
        let (sender, _) = broadcast::channel(MOST_AT_ONCE as usize);
        for mut subscriber in subscribers {
            let mut receiver = sender.subscribe();
            runtime.get().spawn(async move {
                // One that has lost messages ends, and is missed.
                while let Ok(number) = receiver.recv().await {
                    subscriber.receive(number);
                }
            });
        }
        Subscribed { sender, runtime }
    }
}

#[derive(Debug)]
pub(crate) struct Subscribed {
    sender: broadcast::Sender<u64>,
    runtime: TokioRuntime,
}

impl Publisher for Subscribed {
    fn publish(&mut self, number: u64) {
        assert!(self.sender.send(number).is_ok(), "the subscribers are gone");
    }

    fn wait(&mut self, latch: &Latch, patience: Duration) {
        self.runtime.wait(latch, patience);
    }
}
