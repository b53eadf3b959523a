//! Why rows did not come out of a database.

use thiserror::Error;

use crate::{Field, Kind, ShapeError};

/// A query whose rows do not come, or do not make a table.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use tamtam_rows::database::{DatabaseError, SqliteCursor};
///
/// let connection = rusqlite::Connection::open_in_memory()?;
/// let mut statement = connection.prepare("select abs(-9223372036854775808)")?;
/// match SqliteCursor::open(&mut statement, []).and_then(SqliteCursor::read_all) {
///     Err(DatabaseError::Sqlite(error)) => assert!(error.to_string().contains("overflow")),
///     other => panic!("{other:?}"),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The database refused the query, or the connection broke.
    #[cfg(any(feature = "mysql", feature = "postgres"))]
    #[error("the query failed: {0}")]
    Query(#[from] sqlx::Error),
    /// SQLite refused the query, or its file cannot be read.
    #[cfg(feature = "sqlite")]
    #[error("the query failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A column of a type that rows do not have, or that is not the one in the schema.
    #[error(
        "the column {column:?} is of the database's type {database_type}, which cannot be read {kind}; {advice}"
    )]
    Unsupported {
        /// The column's name.
        column: String,
        /// The type, as the database calls it.
        database_type: String,
        /// As what: a type that was asked for, or into rows at all.
        kind: String,
        /// What to write into the query instead.
        advice: &'static str,
    },
    /// A value that its column's type cannot hold.
    #[error(
        "the value {value} in column {column:?}, row {row}, does not fit the type {kind}: {reason}. Convert it in the query (CAST), or say in a schema which type the column has"
    )]
    Value {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: u64,
        /// The value, shortened.
        value: String,
        /// The type that the column was found to have, or was given.
        kind: Kind,
        /// Why.
        reason: String,
    },
    /// A null in a column that the schema says has none.
    #[error(
        "the column {column:?} has a null in row {row}, and the schema given for the query allows none there"
    )]
    Null {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: u64,
    },
    /// The columns of the query are not as many as the schema has, or do not make a table.
    #[error("the rows of the query do not make a table")]
    Shape(#[from] ShapeError),
}

/// Why a value does not fit its column, before it is known which column and row that is.
#[derive(Debug)]
pub(super) struct Unfit {
    pub(super) value: String,
    pub(super) reason: String,
}

impl Unfit {
    pub(super) fn new(value: impl ToString, reason: impl Into<String>) -> Unfit {
        let mut value = value.to_string();
        if value.chars().count() > 60 {
            value = value.chars().take(57).chain("...".chars()).collect();
        }
        Unfit {
            value,
            reason: reason.into(),
        }
    }

    pub(super) fn of(self, field: &Field, row: u64) -> DatabaseError {
        DatabaseError::Value {
            column: field.name().to_owned(),
            row,
            value: self.value,
            kind: field.kind().clone(),
            reason: self.reason,
        }
    }
}
