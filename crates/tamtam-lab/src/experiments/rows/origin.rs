//! Where a table is before it takes a form: a database.

use std::fmt;

use tamtam_rows::Rows;

use super::samples::Samples;
use super::{LONGEST_MEASUREMENT, arrived, made, variants};
use crate::tables::Table;
use crate::{Conditions, Failure, Measure, Measurement, Metric};

/// Where a table is before it takes a form: a database, whose rows become columns in memory.
pub trait Origin: fmt::Debug + Clone + 'static {
    /// The query for one table, which can be asked again and again.
    type Query;

    /// The query for so many rows of one of the article's tables, which are there when this returns.
    ///
    /// # Errors
    /// Why they cannot be had here.
    fn open(&self, table: &Table, count: usize) -> Result<Self::Query, String>;

    /// All its rows, each value in its column.
    ///
    /// # Errors
    /// Why they could not be read.
    fn rows(&self, query: &mut Self::Query) -> Result<Rows, String>;
}

/// The article's tables, out of a database.
pub fn measures_of_origin<O: Origin>(origin: O) -> Vec<Measure> {
    variants(|table| table.of_the_article)
        .map(|(table, variant)| {
            let origin = origin.clone();
            Measure::new("rows", variant, move |conditions| {
                run(&origin, table, conditions)
            })
        })
        .collect()
}

/// Asks for the rows of a variant as long as it may.
fn run<O: Origin>(
    origin: &O,
    table: &Table,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let rows = made(table, &conditions.variant)?;
    let mut query = origin
        .open(table, rows.len())
        .map_err(Failure::Impossible)?;
    let mut asked = || origin.rows(&mut query).map_err(Failure::Unverified);
    // Once before the clock runs: then the database has its pages in memory.
    arrived::check(&asked()?, &rows)?;
    let samples = Samples::take(
        conditions.limit.min(LONGEST_MEASUREMENT) / 2,
        asked,
        |found| arrived::check(&found, &rows),
    )?;
    Ok(Measurement {
        operations: samples.operations * conditions.variant.count,
        elapsed: samples.elapsed,
        metrics: vec![
            Metric::new("rows_us", "µs", samples.median_microseconds()),
            Metric::new("rows_mean_us", "µs", samples.mean_microseconds()),
            Metric::new("rows_deviation_us", "µs", samples.deviation_microseconds()),
        ],
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tables;

    /// Gives what it is asked for so often, and then another table.
    #[derive(Clone, Debug)]
    struct Forgetful(usize);

    impl Origin for Forgetful {
        type Query = (Rows, usize);

        fn open(&self, table: &Table, count: usize) -> Result<(Rows, usize), String> {
            let rows = table.rows(count).map_err(|error| error.to_string())?;
            Ok((rows, 0))
        }

        fn rows(&self, (rows, asked): &mut (Rows, usize)) -> Result<Rows, String> {
            *asked += 1;
            if *asked <= self.0 {
                return Ok(rows.clone());
            }
            let other = tables::find("palette").ok_or("there is no palette")?;
            other.rows(rows.len()).map_err(|error| error.to_string())
        }
    }

    fn measured(origin: Forgetful) -> Result<Measurement, Failure> {
        let measures = measures_of_origin(origin);
        let wanted = measures
            .iter()
            .find(|measure| measure.variant().to_string() == "100/random");
        wanted.unwrap().run(Duration::from_millis(2))
    }

    #[test]
    fn rows_are_timed_again_and_again() {
        let measurement = measured(Forgetful(usize::MAX)).unwrap();
        assert!(measurement.value("rows_us").unwrap() > 0.0);
        assert!(measurement.value("rows_deviation_us").unwrap() >= 0.0);
        assert!(measurement.operations >= 300);
    }

    #[test]
    fn another_table_is_no_figure() {
        for right in [0, 1, 2] {
            let failure = measured(Forgetful(right)).unwrap_err();
            assert!(
                matches!(&failure, Failure::Unverified(reason) if reason.contains("arrived as")),
                "{failure:?}"
            );
        }
    }
}
