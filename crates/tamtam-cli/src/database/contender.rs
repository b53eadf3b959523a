//! The databases as contenders of the lab: what rows cost before they take any form.

use tamtam_lab::rows::{self, Origin};
use tamtam_lab::tables::Table;
use tamtam_lab::{Card, Contender, Measure};
use tamtam_rows::Rows;

use super::{Board, Set, Url};
use crate::reason::reason;

/// Those that are to be had, in the order in which lists show them.
pub(crate) fn contenders() -> impl Iterator<Item = &'static dyn Contender> {
    ALL.iter()
        .filter(|database| database.is_named())
        .map(|database| database as &dyn Contender)
}

/// The databases out of which rows come.
const ALL: &[Database] = &[
    Database {
        name: "sqlite",
        about: "rows before they take any form: the article's query, out of SQLite into columns",
        variable: None,
    },
    Database {
        name: "mysql",
        about: "the same out of the MySQL or MariaDB that TAMTAM_MYSQL_URL names",
        variable: Some("TAMTAM_MYSQL_URL"),
    },
    Database {
        name: "postgres",
        about: "the same out of the PostgreSQL that TAMTAM_POSTGRES_URL names",
        variable: Some("TAMTAM_POSTGRES_URL"),
    },
];

/// The article's table in a database, and our way from its cursor into columns.
#[derive(Debug, Clone, Copy)]
struct Database {
    name: &'static str,
    about: &'static str,
    /// The variable whose value is the database's URL; without, it is in the user's folder for caches.
    variable: Option<&'static str>,
}

impl Database {
    /// Whether it is to be had: one that needs a URL only where that is given.
    fn is_named(&self) -> bool {
        self.variable
            .is_none_or(|variable| std::env::var_os(variable).is_some())
    }

    fn open(&self) -> anyhow::Result<Board> {
        match self.variable {
            None => Board::open(None),
            Some(variable) => Board::open(Some(&Url::parse(&std::env::var(variable)?)?)),
        }
    }
}

impl Contender for Database {
    fn card(&self) -> Card {
        Card {
            name: self.name,
            version: env!("CARGO_PKG_VERSION"),
            ours: true,
            about: self.about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        rows::measures_of_origin(*self)
    }
}

impl Origin for Database {
    type Query = (Board, Set);

    fn open(&self, table: &Table, count: usize) -> Result<(Board, Set), String> {
        let filled = Database::open(self).and_then(|mut board| {
            let set = board.fill(table.name, count)?;
            Ok((board, set))
        });
        filled.map_err(|error| reason(&error))
    }

    fn rows(&self, (board, set): &mut (Board, Set)) -> Result<Rows, String> {
        board.select(set).map_err(|error| reason(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::contenders;

    /// Each that is to be had gives its rows, in one variant.
    #[test]
    fn everyone_delivers() {
        for contender in contenders() {
            let name = contender.card().name;
            let measures = contender.measures();
            let measure = measures.first();
            let outcome = measure.map(|measure| measure.run(Duration::from_millis(5)));
            assert!(matches!(outcome, Some(Ok(_))), "{name}: {outcome:?}");
        }
    }
}
