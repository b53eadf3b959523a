//! What must be known beside a table: notes on its figures, and the versions of what was measured.

use crate::lab::browser;
use crate::lab::end_to_end;
use crate::lab::experiment::{Experiment, limit};
use crate::lab::standings::Standings;

/// What must be known to read more than one of the tables rightly.
pub(in crate::lab) fn notes<'a>(standings: impl IntoIterator<Item = &'a Standings>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for standings in standings {
        let experiment = Experiment::find(&standings.experiment);
        for published in experiment
            .iter()
            .flat_map(|experiment| experiment.published_beside(&standings.variant))
        {
            published
                .note
                .into_iter()
                .for_each(|note| add(note.to_owned()));
        }
        browser::note(standings).into_iter().for_each(&mut add);
        end_to_end::note(standings).into_iter().for_each(&mut add);
        for row in standings.ranked() {
            if let Some(shows) = limit(&row.contender) {
                add(format!("{} {shows}.", row.contender));
            }
        }
    }
    notes
}

/// The contenders' versions, those of ours as one.
pub(in crate::lab) fn versions(standings: &[Standings]) -> String {
    let mut versions: Vec<String> = Vec::new();
    let rows = standings
        .iter()
        .flat_map(|standings| standings.rows.iter().map(move |row| (standings, row)));
    for (standings, row) in rows {
        let version = if row.ours {
            format!("ours {}", row.version)
        } else if standings.experiment == "rows" && row.version == env!("CARGO_PKG_VERSION") {
            // Forms of others that come with our program.
            format!("forms in tamtam-rows {}", row.version)
        } else if row.version.starts_with("Chromium ") {
            // Whatever was read there.
            row.version.clone()
        } else {
            // The two kinds of one crate's channel have one version.
            let name = row.contender.trim_end_matches("-unbounded");
            format!("{name} {}", row.version)
        };
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions.join(", ")
}
