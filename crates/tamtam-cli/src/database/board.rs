//! The article's table in a database: made and filled where it is missing.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use tamtam_rows::database::ReadTimes;
use tamtam_rows::{Column, Rows};

use super::{Database, Url};
use tamtam_lab::tables::{self, Table};

/// The article's table `tiles` in a database, with the article's query.
///
/// A set of it is one of the article's three tables with one number of rows. What is not there is made and filled, with the
/// same rows on each machine.
///
/// `slot_number` is a `smallint`, as in the article. Sets with more rows than that counts are in a table `tiles_large`, in
/// which it is an `int`.
#[derive(Debug)]
pub struct Board {
    database: Database,
    dialect: Dialect,
}

/// Where the databases differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    MySql,
    Postgres,
}

/// How many rows one statement inserts. A statement stays well below the megabyte that some servers take.
const ROWS_AT_ONCE: usize = 1_000;

impl Board {
    /// The one in this database; without, in a file of SQLite in the user's folder for caches.
    ///
    /// # Errors
    /// If the database cannot be opened, or its tables cannot be made.
    pub fn open(url: Option<&Url>) -> Result<Board> {
        let default;
        let url = match url {
            Some(url) => url,
            None => {
                let path = usual_file();
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)
                        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
                }
                default = Url::Sqlite(path);
                &default
            }
        };
        let dialect = match url {
            Url::Sqlite(_) => Dialect::Sqlite,
            Url::MySql(_) => Dialect::MySql,
            Url::Postgres(_) => Dialect::Postgres,
        };
        let mut board = Board {
            database: Database::open_or_make(url)?,
            dialect,
        };
        for (name, slot) in [("tiles", "smallint"), ("tiles_large", "int")] {
            let statement = board.definition(name, slot);
            board
                .database
                .execute(&statement)
                .with_context(|| format!("cannot make the table {name}"))?;
        }
        Ok(board)
    }

    /// The article's query on one of its tables with so many rows, which are inserted first if they are not there.
    ///
    /// # Errors
    /// If there is no such table, or the database fails.
    pub fn rows(&mut self, table: &str, count: usize) -> Result<Rows> {
        let set = self.fill(table, count)?;
        self.select(&set)
    }

    /// As [`rows`](Board::rows), with how long they took.
    ///
    /// # Errors
    /// As [`rows`](Board::rows).
    pub fn rows_timed(&mut self, table: &str, count: usize) -> Result<(Rows, ReadTimes)> {
        let begun = Instant::now();
        let set = self.fill(table, count)?;
        let filled = begun.elapsed();
        let query = self.query(&set);
        let (rows, mut times) = self.database.rows_timed(&query, Some(set.schema))?;
        times.cursor += filled;
        Ok((rows, times))
    }

    /// Sees to it that this set is there.
    ///
    /// # Errors
    /// If there is no such table, or the database fails.
    pub fn fill(&mut self, table: &str, count: usize) -> Result<Set> {
        let Some(table) = tables::find(table).filter(|table| table.of_the_article) else {
            bail!("the article has no table {table:?}; it has random, palette and rotation");
        };
        let set = Set::new(table, count)?;
        if self.count(&set)? != count as u64 {
            self.insert(&set, &table.rows(count)?)
                .with_context(|| format!("cannot fill the set {}", set.id))?;
        }
        Ok(set)
    }

    /// The rows of a set that is there, by the article's query: what the experiment times.
    ///
    /// # Errors
    /// If the database fails.
    pub fn select(&mut self, set: &Set) -> Result<Rows> {
        self.database
            .rows(&self.query(set), Some(set.schema.clone()))
    }

    fn query(&self, set: &Set) -> String {
        // SQLite and InnoDB keep rows in the order of the primary key; PostgreSQL does not.
        let order = match self.dialect {
            Dialect::Postgres => " ORDER BY slot_number",
            _ => "",
        };
        format!(
            "SELECT slot_number, x, y, color, rotation FROM {} WHERE set_id = {}{order}",
            set.name, set.id
        )
    }

    fn definition(&self, name: &str, slot: &str) -> String {
        let (unsigned, behind) = match self.dialect {
            // As InnoDB keeps its tables: in the order of the primary key.
            Dialect::Sqlite => ("int unsigned", " WITHOUT ROWID"),
            Dialect::MySql => ("int unsigned", ""),
            Dialect::Postgres => ("bigint", ""),
        };
        format!(
            "CREATE TABLE IF NOT EXISTS {name} (set_id int, slot_number {slot}, x smallint, y smallint, \
             move_number {unsigned}, color char(6), rotation smallint, PRIMARY KEY (set_id, slot_number)){behind}"
        )
    }

    fn count(&mut self, set: &Set) -> Result<u64> {
        let sql = format!(
            "SELECT count(*) FROM {} WHERE set_id = {}",
            set.name, set.id
        );
        let counted = self.database.rows(&sql, None)?;
        let count = counted.column("count(*)").or(counted.columns().first());
        match count.and_then(Column::slice::<i64>) {
            Some([count]) => Ok(*count as u64),
            _ => bail!(
                "the database does not say how many rows the set {} has",
                set.id
            ),
        }
    }

    /// All or nothing: others may look at the same time, or insert the same rows.
    fn insert(&mut self, set: &Set, rows: &Rows) -> Result<()> {
        let begin = match self.dialect {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::MySql => "START TRANSACTION",
            Dialect::Postgres => "BEGIN",
        };
        self.database.execute(begin)?;
        let inserted = self.insert_within(set, rows);
        let end = if inserted.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        inserted.and(self.database.execute(end))
    }

    fn insert_within(&mut self, set: &Set, rows: &Rows) -> Result<()> {
        if self.count(set)? == rows.len() as u64 {
            return Ok(());
        }
        self.database.execute(&format!(
            "DELETE FROM {} WHERE set_id = {}",
            set.name, set.id
        ))?;
        let columns = ["slot_number", "x", "y", "rotation"];
        let mut statement = String::new();
        for first in (0..rows.len()).step_by(ROWS_AT_ONCE) {
            statement.clear();
            write!(
                statement,
                "INSERT INTO {} (set_id, move_number, color, slot_number, x, y, rotation) VALUES",
                set.name
            )?;
            for row in first..rows.len().min(first + ROWS_AT_ONCE) {
                let separator = if row == first { ' ' } else { ',' };
                let color = rows
                    .schema()
                    .index_of("color")
                    .map(|at| rows.value(row, at));
                let Some(tamtam_rows::Value::Text(color)) = color else {
                    bail!("the table has no colours");
                };
                // Six hexadecimal digits need no quoting.
                write!(statement, "{separator}({},{},'{color}'", set.id, row + 1)?;
                for name in columns {
                    match rows.schema().index_of(name).map(|at| rows.value(row, at)) {
                        Some(tamtam_rows::Value::Int(number)) => write!(statement, ",{number}")?,
                        _ => bail!("the table has no integers {name}"),
                    }
                }
                statement.push(')');
            }
            self.database.execute(&statement)?;
        }
        Ok(())
    }
}

/// One of the article's tables with one number of rows.
#[derive(Clone, Debug)]
pub struct Set {
    id: u32,
    /// The table in the database.
    name: &'static str,
    schema: tamtam_rows::Schema,
}

impl Set {
    /// A number of its own for each: the first digit says which table, the others how many rows.
    fn new(table: &Table, count: usize) -> Result<Set> {
        let place = tables::ALL
            .iter()
            .position(|other| other.name == table.name)
            .unwrap_or_default();
        if count == 0 || count >= 100_000_000 {
            bail!("a set has 1 to 99,999,999 rows, not {count}");
        }
        let name = if i16::try_from(count).is_ok() {
            "tiles"
        } else {
            "tiles_large"
        };
        // A table's type of slots depends on how many there are.
        let schema = table.rows(count.min(40_000))?.schema().clone();
        Ok(Set {
            id: (place as u32 + 1) * 100_000_000 + count as u32,
            name,
            schema,
        })
    }
}

/// The file where the article's table is by default: in the user's folder for caches, or else among temporary files.
fn usual_file() -> PathBuf {
    let cache = |variable, below: &str| {
        std::env::var_os(variable)
            .filter(|value| Path::new(value).is_absolute())
            .map(|value| Path::new(&value).join(below))
    };
    cache("XDG_CACHE_HOME", "")
        .or_else(|| cache("LOCALAPPDATA", ""))
        .or_else(|| cache("HOME", ".cache"))
        .unwrap_or_else(std::env::temp_dir)
        .join("tamtam")
        .join("board.sqlite")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back_as_it_was_made(url: &Url) {
        let mut board = Board::open(Some(url)).unwrap();
        for table in ["random", "palette", "rotation"] {
            for count in [100, 1_000, 33_000] {
                let made = tables::find(table).unwrap().rows(count).unwrap();
                assert_eq!(board.rows(table, count).unwrap(), made, "{table} {count}");
                assert_eq!(
                    board.rows(table, count).unwrap(),
                    made,
                    "{table} {count} again"
                );
            }
        }
        assert!(board.rows("logs", 100).is_err());
        assert!(board.rows("random", 0).is_err());
    }

    #[test]
    fn the_articles_rows_come_back_out_of_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        comes_back_as_it_was_made(&Url::Sqlite(folder.path().join("board.sqlite")));
    }

    #[test]
    fn many_may_fill_one_board_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let url = Url::Sqlite(folder.path().join("board.sqlite"));
        let made = tables::find("palette").unwrap().rows(5_000).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut board = Board::open(Some(&url)).unwrap();
                    assert_eq!(board.rows("palette", 5_000).unwrap(), made);
                });
            }
        });
    }

    #[test]
    fn a_set_that_lacks_rows_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let url = Url::Sqlite(folder.path().join("board.sqlite"));
        let mut board = Board::open(Some(&url)).unwrap();
        let made = board.rows("random", 100).unwrap();
        board
            .database
            .execute("delete from tiles where slot_number = 50")
            .unwrap();
        assert_eq!(board.rows("random", 100).unwrap(), made);
    }

    #[test]
    #[ignore = "needs a server of MySQL or MariaDB"]
    fn mysql_gives_the_articles_rows_back() {
        let url = std::env::var("TAMTAM_MYSQL_URL").expect("TAMTAM_MYSQL_URL says where it is");
        comes_back_as_it_was_made(&Url::parse(&url).unwrap());
    }

    #[test]
    #[ignore = "needs a server of PostgreSQL"]
    fn postgres_gives_the_articles_rows_back() {
        let url =
            std::env::var("TAMTAM_POSTGRES_URL").expect("TAMTAM_POSTGRES_URL says where it is");
        comes_back_as_it_was_made(&Url::parse(&url).unwrap());
    }
}
