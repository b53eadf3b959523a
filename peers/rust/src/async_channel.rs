use ::async_channel::TrySendError;
use tamtam_lab::{Card, Contender, Measure, grid};

use crate::ends::{ends, ends_for_tasks};
use tamtam_lab::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: AsyncChannel = AsyncChannel(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: AsyncChannel = AsyncChannel(Kind::Unbounded);

/// The channel of the crate `async-channel`. Threads use its `send_blocking` and `recv_blocking`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsyncChannel(Kind);

impl Contender for AsyncChannel {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("async-channel", "async-channel's bounded channel"),
            Kind::Unbounded => (
                "async-channel-unbounded",
                "async-channel's unbounded channel",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_ASYNC_CHANNEL"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, self.0);
        measures.extend(grid::channel(*self, self.0));
        measures.extend(grid::channel_of_tasks(*self, self.0));
        measures
    }
}

ends! {
    AsyncChannel: async_channel,
    send: |sender, message| sender.send_blocking(message),
    try_send: |sender, message| sender.try_send(message).map_err(TrySendError::into_inner),
    receive: |receiver| receiver.recv_blocking(),
    try_receive: |receiver| receiver.try_recv().ok(),
}

ends_for_tasks! {
    AsyncChannel,
    send: |sender, message| sender.send(message),
    receive: |receiver| receiver.recv(),
}
