use tamtam_lab::{Card, Contender, Measure, grid};

use crate::ends::{ends, ends_for_tasks};
use tamtam_lab::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Kanal = Kanal(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Kanal = Kanal(Kind::Unbounded);

/// The channel of the crate `kanal`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kanal(Kind);

impl Contender for Kanal {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("kanal", "kanal's bounded channel"),
            Kind::Unbounded => ("kanal-unbounded", "kanal's unbounded channel"),
        };
        Card {
            name,
            version: env!("VERSION_OF_KANAL"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, self.0);
        measures.extend(offer::asks(*self));
        measures.extend(grid::channel(*self, self.0));
        measures.extend(grid::channel_of_tasks(*self, self.0));
        measures
    }
}

ends! {
    Kanal: kanal,
    send: |sender, message| sender.send(message),
    try_send: |sender, message| {
        // The plain `try_send` drops a refused message; this one leaves it in its place.
        let mut place = Some(message);
        let sent = sender
            .try_send_option(&mut place)
            .expect("the receiver is there");
        match place {
            Some(message) if !sent => Err(message),
            _ => Ok(()),
        }
    },
    receive: |receiver| receiver.recv(),
    try_receive: |receiver| receiver.try_recv().ok().flatten(),
}

ends_for_tasks! {
    Kanal,
    send: |sender, message| sender.as_async().send(message),
    receive: |receiver| receiver.as_async().recv(),
}
