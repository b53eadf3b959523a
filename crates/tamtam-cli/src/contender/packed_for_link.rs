use tamtam_rows::packed::{Mode, Packed};

use super::VERSION;
use super::row_form::RowForm;
use crate::drive::rows::{self, Link};
use crate::drive::{Card, Contender, Measure};

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
        rows::measures_by_link(form)
    }
}

fn form(link: Link) -> RowForm {
    RowForm::plain(match Mode::for_link(link.bits_per_second()) {
        Mode::Packed => &Packed { mode: Mode::Packed },
        Mode::Small => &Packed { mode: Mode::Small },
        Mode::Plain => &Packed { mode: Mode::Plain },
    })
}
