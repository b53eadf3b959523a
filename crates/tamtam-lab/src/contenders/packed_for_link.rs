use super::VERSION;
use crate::rows::{self, PackedIn};
use crate::{Card, Contender, Measure};

/// Our packed encoding in the mode that it chooses for a link by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedForLink;

impl Contender for PackedForLink {
    fn card(&self) -> Card {
        Card {
            name: "packed-for-link",
            version: VERSION,
            ours: true,
            about: "our packed encoding in the mode that it chooses for each link; encode, decode and bytes are those at \
                    8 Mbit/s",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_by_link(|link| PackedIn(link.mode()))
    }
}
