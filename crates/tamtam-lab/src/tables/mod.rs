//! The tables that the experiment `rows` sends: the article's, and others on which no encoding was designed.
//!
//! Each is made of numbers that look random and are the same everywhere: nothing is taken from the machine, and no
//! function is used whose last digit differs between systems' mathematics libraries. A table of fewer rows is the
//! beginning of the same table with more. The tables that are not the article's were made before any codec was tuned.

mod article;
mod events;
mod layout;
mod logs;
mod orders;
mod people;
mod prices;
mod random;
mod sensors;
mod survey;
#[cfg(test)]
mod tests;
mod words;

use tamtam_rows::{Rows, ShapeError};

/// A table that can be made with any number of rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, as it stands in a variant.
    pub name: &'static str,
    /// What is in it, in one line.
    pub about: &'static str,
    /// Whether it is the article's, whose five columns some contenders know beforehand.
    pub of_the_article: bool,
    /// How many columns it has.
    pub columns: u64,
    make: fn(usize) -> Result<Rows, ShapeError>,
}

impl Table {
    /// Its first `count` rows.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the texts of a column would exceed 4 GiB.
    pub fn rows(&self, count: usize) -> Result<Rows, ShapeError> {
        (self.make)(count)
    }
}

/// The table of this name.
pub fn find(name: &str) -> Option<&'static Table> {
    ALL.iter().find(|table| table.name == name)
}

/// Each table: those of the article first.
pub static ALL: &[Table] = &[
    Table {
        name: "random",
        about: "the article's five columns: any colour, any rotation",
        of_the_article: true,
        columns: 5,
        make: article::random,
    },
    Table {
        name: "palette",
        about: "the article's five columns: one of 64 colours, quarter turns",
        of_the_article: true,
        columns: 5,
        make: article::palette,
    },
    Table {
        name: "rotation",
        about: "the article's five columns: any colour, quarter turns",
        of_the_article: true,
        columns: 5,
        make: article::rotation,
    },
    Table {
        name: "logs",
        about: "lines of servers' logs: bursts, few services and agents, paths, UUIDs, free text",
        of_the_article: false,
        columns: 12,
        make: logs::rows,
    },
    Table {
        name: "sensors",
        about: "measurements every ten seconds: random walks of few decimals, gaps",
        of_the_article: false,
        columns: 8,
        make: sensors::rows,
    },
    Table {
        name: "orders",
        about: "a shop's orders: days with a rhythm, frequent customers, decimals, short texts",
        of_the_article: false,
        columns: 12,
        make: orders::rows,
    },
    Table {
        name: "survey",
        about: "200 columns of answers, most of them not given",
        of_the_article: false,
        columns: 200,
        make: survey::rows,
    },
    Table {
        name: "prices",
        about: "quotes of an exchange: ticks, heavy-tailed volumes, one column of full precision",
        of_the_article: false,
        columns: 8,
        make: prices::rows,
    },
    Table {
        name: "people",
        about: "names, e-mail addresses, streets and notes: text above all",
        of_the_article: false,
        columns: 10,
        make: people::rows,
    },
    Table {
        name: "events",
        about: "events whose payload is JSON in a column of text",
        of_the_article: false,
        columns: 5,
        make: events::rows,
    },
];
