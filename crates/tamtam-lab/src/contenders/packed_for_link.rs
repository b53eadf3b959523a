//! Our packed encoding by the plan that it makes for each table and link by itself.

use tamtam_rows::{Plan, Rows};

use super::VERSION;
use super::compression::ByLibrary;
use crate::rows::{self, Link, PackedIn};
use crate::{Card, Contender, Measure};

/// Our packed encoding by the plan that it makes for each table and link by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedForLink;

impl Contender for PackedForLink {
    fn card(&self) -> Card {
        Card {
            name: "packed-for-link",
            version: VERSION,
            ours: true,
            about: "our packed encoding in the mode and behind the compressor that it plans for each table and link; encode, \
                    decode and bytes are those at 8 Mbit/s",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_by_link(planned)
    }
}

fn planned(rows: &Rows, link: Link) -> Result<(PackedIn, Option<ByLibrary>), String> {
    let plan = Plan::for_link(rows, link.bits_per_second()).map_err(|error| error.to_string())?;
    Ok((PackedIn(plan.mode), ByLibrary::of(plan.compression)))
}
