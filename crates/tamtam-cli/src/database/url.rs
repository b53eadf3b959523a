//! Where a database is.

use std::path::PathBuf;

use anyhow::{Result, bail};

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Url {
    /// A file of SQLite: `sqlite:board.db`, or the file's name alone.
    Sqlite(PathBuf),
    /// `mysql://user:password@host:3306/database`; `mariadb:` is the same.
    MySql(String),
    /// `postgres://user:password@host:5432/database`; `postgresql:` is the same.
    Postgres(String),
}

impl Url {
    /// What this text means.
    ///
    /// # Errors
    /// If it begins as a URL does, of a database that is not known here.
    pub fn parse(text: &str) -> Result<Url> {
        let Some((scheme, rest)) = text.split_once(':') else {
            return Ok(Url::Sqlite(text.into()));
        };
        Ok(match scheme {
            "sqlite" => Url::Sqlite(rest.strip_prefix("//").unwrap_or(rest).into()),
            "mysql" | "mariadb" => Url::MySql(format!("mysql:{rest}")),
            "postgres" | "postgresql" => Url::Postgres(format!("postgres:{rest}")),
            _ if rest.starts_with("//") => bail!(
                "no database is known by {scheme}://; there are mysql://, mariadb://, postgres:// and the name of a file of SQLite"
            ),
            _ => Url::Sqlite(text.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_which_database_it_is() {
        let is = |text, url| assert_eq!(Url::parse(text).unwrap(), url);
        is("board.db", Url::Sqlite("board.db".into()));
        is("sqlite:board.db", Url::Sqlite("board.db".into()));
        is(
            "sqlite:///tmp/board.db",
            Url::Sqlite("/tmp/board.db".into()),
        );
        is("C:\\board.db", Url::Sqlite("C:\\board.db".into()));
        is(
            "mariadb://host/board",
            Url::MySql("mysql://host/board".into()),
        );
        is(
            "postgresql://host/board",
            Url::Postgres("postgres://host/board".into()),
        );
        let error = Url::parse("oracle://host/board").unwrap_err().to_string();
        assert!(
            error.contains("oracle") && error.contains("postgres://"),
            "{error}"
        );
    }
}
