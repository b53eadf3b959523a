//! The subscribers of our topics.

use std::fmt;

use tamtam_actor::{Actor, Address, Context, Subscription, Topic};
use tamtam_channel::Latch;

use super::home::Home;
use crate::grid::{Publisher, Subscriber};

/// An actor that gets what is published.
struct TopicListener(Subscriber);

impl Actor for TopicListener {
    type Message = u64;

    fn handle(&mut self, number: u64, _: &mut Context<Self>) {
        self.0.receive(number);
    }
}

/// A topic whose subscribers live in one home.
pub(super) struct Audience<H> {
    topic: Topic<u64>,
    /// A subscription keeps no actor alive.
    _subscribed: Vec<(Address<u64>, Subscription)>,
    home: H,
}

impl<H: Home> Audience<H> {
    /// A topic with these subscribers, in `home`.
    pub(super) fn at(mut home: H, subscribers: Vec<Subscriber>) -> Self {
        let topic = Topic::new();
        let subscribe = |subscriber| {
            let address = home.spawn(TopicListener(subscriber));
            let subscription = topic.subscribe(&address);
            (address, subscription)
        };
        Audience {
            _subscribed: subscribers.into_iter().map(subscribe).collect(),
            topic,
            home,
        }
    }
}

impl<H> fmt::Debug for Audience<H> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Audience").finish_non_exhaustive()
    }
}

impl<H: Home> Publisher for Audience<H> {
    fn publish(&mut self, number: u64) {
        let published = self.topic.publish(number);
        assert!(published.is_ok(), "a mailbox without limit has room");
    }

    fn wait(&mut self, latch: &Latch, patience: std::time::Duration) {
        self.home.wait(latch, patience);
    }
}
