use ::flume::TrySendError;
use tamtam_lab::{Card, Contender, Measure, grid};

use crate::ends::{ends, ends_for_tasks};
use crate::select::OfFlume;
use tamtam_lab::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Flume = Flume(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Flume = Flume(Kind::Unbounded);

/// The channel of the crate `flume`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flume(Kind);

impl Contender for Flume {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("flume", "flume's bounded channel"),
            Kind::Unbounded => ("flume-unbounded", "flume's unbounded channel"),
        };
        Card {
            name,
            version: env!("VERSION_OF_FLUME"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, self.0);
        measures.extend(grid::channel(*self, self.0));
        measures.extend(grid::channel_of_tasks(*self, self.0));
        if self.0 == Kind::Bounded {
            measures.extend(grid::selects(OfFlume, &[grid::Selecting::Fresh]));
        }
        measures
    }
}

ends! {
    Flume: flume,
    send: |sender, message| sender.send(message),
    try_send: |sender, message| sender.try_send(message).map_err(TrySendError::into_inner),
    receive: |receiver| receiver.recv(),
    try_receive: |receiver| receiver.try_recv().ok(),
}

ends_for_tasks! {
    Flume,
    send: |sender, message| sender.send_async(message),
    receive: |receiver| receiver.recv_async(),
}
