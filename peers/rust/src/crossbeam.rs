use ::crossbeam_channel::TrySendError;
use tamtam_lab::{Card, Contender, Measure, grid};

use crate::ends::ends;
use crate::select::OfCrossbeam;
use tamtam_lab::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Crossbeam = Crossbeam(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Crossbeam = Crossbeam(Kind::Unbounded);

/// The channel of the crate `crossbeam-channel`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossbeam(Kind);

impl Contender for Crossbeam {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("crossbeam-channel", "crossbeam-channel's bounded channel"),
            Kind::Unbounded => (
                "crossbeam-channel-unbounded",
                "crossbeam-channel's unbounded channel",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_CROSSBEAM_CHANNEL"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel(*self, self.0);
        measures.extend(offer::asks(*self));
        measures.extend(grid::channel(*self, self.0));
        if self.0 == Kind::Bounded {
            let ways = &[grid::Selecting::Fresh, grid::Selecting::Kept];
            measures.extend(grid::selects(OfCrossbeam, ways));
            measures.extend(grid::empty_selects(OfCrossbeam));
        }
        measures
    }
}

ends! {
    Crossbeam: crossbeam_channel,
    send: |sender, message| sender.send(message),
    try_send: |sender, message| sender.try_send(message).map_err(TrySendError::into_inner),
    receive: |receiver| receiver.recv(),
    try_receive: |receiver| receiver.try_recv().ok(),
}
