//! The experiment `rows`: a table, encoded, sent and decoded, until it is ready to use in the client.
//!
//! A contender is a [`Form`], alone or with a [`Compressor`]. What is timed is its work with the table in memory:
//! from typed columns to bytes, and from bytes to typed columns again, each many times and warm; the times on links of
//! several speeds follow from the bytes. A figure counts only if the table that was decoded equals the one sent.
//!
//! What comes before, the same for every form, is a contender of another kind: an [`Origin`], a database whose rows
//! become such a table in memory.

mod arrived;
mod by_link;
mod cell;
mod links;
mod origin;
mod packed_in;
mod samples;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use tamtam_rows::{Rows, Schema};

use crate::tables::{self, Table};
use crate::{Failure, Measure, Variant};

pub use links::{LINKS, Link};
pub use origin::{Origin, measures_of_origin};
pub use packed_in::PackedIn;

/// How many rows the article's tables have.
const COUNTS_OF_THE_ARTICLE: [u64; 4] = [100, 1_000, 10_000, 1_000_000];

/// How many rows the others have.
const OTHER_COUNTS: [u64; 3] = [1_000, 10_000, 100_000];

/// So many values a table may have: a table with hundreds of columns has fewer rows.
const MOST_VALUES: u64 = 6_000_000;

/// Longer than this nothing is measured: the figures are steady by then, and there are many cells.
const LONGEST_MEASUREMENT: Duration = Duration::from_millis(250);

/// A form that a table takes as bytes on its way to a client.
///
/// What a library wants to be given and gives back is prepared and read outside the measured time; it must hold every
/// value ready to use.
pub trait Form: fmt::Debug + Clone + 'static {
    /// The table as it is encoded.
    type Source;
    /// The table as it was decoded; it may lean on the bytes.
    type Decoded<'a>;

    /// The table as this form takes it.
    ///
    /// # Errors
    /// Why it cannot carry such a table.
    fn source(&self, rows: &Rows) -> Result<Self::Source, String>;

    /// Writes the table behind what is in `out`.
    ///
    /// # Errors
    /// Why it could not.
    fn encode(&self, source: &Self::Source, out: &mut Vec<u8>) -> Result<(), String>;

    /// The table in these bytes, which has this schema.
    ///
    /// # Errors
    /// Why it could not be read.
    fn decode<'a>(&self, bytes: &'a [u8], schema: &Schema) -> Result<Self::Decoded<'a>, String>;

    /// What was decoded, to be compared with what was sent.
    ///
    /// # Errors
    /// Why it is no table of this schema.
    fn rows(&self, decoded: Self::Decoded<'_>, schema: &Schema) -> Result<Rows, String>;
}

/// Makes bytes fewer, whatever they mean.
pub trait Compressor: fmt::Debug + Sync {
    /// What is sent instead of these bytes.
    ///
    /// # Errors
    /// Why it could not be compressed.
    fn compress(&self, bytes: Vec<u8>) -> Result<Sent, String>;

    /// The bytes of which something was sent; there are `length`.
    ///
    /// # Errors
    /// Why they could not be had.
    fn expand<'a>(&self, sent: &'a Sent, length: usize) -> Result<Cow<'a, [u8]>, String>;
}

/// What goes over the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether they are compressed: what would get larger is not.
    pub is_compressed: bool,
}

/// Every table and count, for a form that carries any table.
pub fn measures<F: Form>(form: F, compressor: Option<&'static dyn Compressor>) -> Vec<Measure> {
    variants(|_| true)
        .map(|(table, variant)| measure(&form, compressor, table, variant))
        .collect()
}

/// What is chosen for a table and a link: a form, and the compressor behind it; or why there is none.
pub type Chosen<F, C> = Result<(F, Option<C>), String>;

/// Every table and count, for a form and a compressor that are others for each table and link.
pub fn measures_by_link<F, C>(choose: fn(&Rows, Link) -> Chosen<F, C>) -> Vec<Measure>
where
    F: Form + PartialEq,
    C: Compressor + PartialEq + 'static,
{
    variants(|_| true)
        .map(|(table, variant)| {
            Measure::new("rows", variant, move |conditions| {
                let rows = made(table, &conditions.variant)?;
                by_link::run(choose, &rows, conditions)
            })
        })
        .collect()
}

/// The article's tables alone, for a form that knows their five columns.
pub fn measures_of_the_article<F: Form>(
    form: F,
    compressor: Option<&'static dyn Compressor>,
) -> Vec<Measure> {
    variants(|table| table.of_the_article)
        .map(|(table, variant)| measure(&form, compressor, table, variant))
        .collect()
}

/// Those of the tables that are `wanted`, with their counts.
fn variants(wanted: impl Fn(&Table) -> bool) -> impl Iterator<Item = (&'static Table, Variant)> {
    tables::ALL
        .iter()
        .filter(move |table| wanted(table))
        .flat_map(|table| {
            let counts = if table.of_the_article {
                &COUNTS_OF_THE_ARTICLE[..]
            } else {
                &OTHER_COUNTS[..]
            };
            counts
                .iter()
                .filter(|&&count| count * table.columns <= MOST_VALUES)
                .map(move |&count| (table, Variant::of_table(count, table)))
        })
}

fn measure<F: Form>(
    form: &F,
    compressor: Option<&'static dyn Compressor>,
    table: &'static Table,
    variant: Variant,
) -> Measure {
    let form = form.clone();
    Measure::new("rows", variant, move |conditions| {
        let rows = made(table, &conditions.variant)?;
        cell::run(&form, compressor, &rows, conditions)
    })
}

/// The table that a variant is about.
fn made(table: &Table, variant: &Variant) -> Result<Rows, Failure> {
    let count = usize::try_from(variant.count)
        .map_err(|_| Failure::Impossible("so many rows do not fit into memory".to_owned()))?;
    table
        .rows(count)
        .map_err(|error| Failure::Impossible(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_there_and_none_is_too_large() {
        let all: Vec<String> = variants(|_| true)
            .map(|(_, variant)| variant.to_string())
            .collect();
        for table in tables::ALL {
            assert!(all.contains(&format!("1000/{}", table.name)));
        }
        assert!(all.contains(&"1000000/palette".to_owned()));
        assert!(all.contains(&"10000/survey".to_owned()));
        assert!(!all.contains(&"100000/survey".to_owned()));
        assert_eq!(variants(|table| table.of_the_article).count(), 12);
    }
}
