//! The RecordSet: a table in AMF0 as Amfphp and Flash Remoting send it.
//!
//! It is an object of the class `RecordSet` whose only property `serverInfo` says all: the names of the columns once, and
//! each row as an array of its cells.
//!
//! [`Encoder`] takes rows or columns and [`read`] hands out cells, both without a tree; [`RecordSet`] is a tree of one.
//!
//! After Amfphp 1.9 and *Flash Remoting*, whose clients page through a result by its `id`, `cursor` and
//! `serviceName`. Neither is specified; a reader takes the properties in any order, and those that it does not
//! know as well.

mod blocks;
mod encoder;
mod reader;
mod tree;

pub use blocks::{Block, CellKind, Expected};
pub use encoder::Encoder;
pub use reader::{CellSink, read, read_into};
pub use tree::RecordSet;

pub use crate::columns::{Cell, Column, Texts};

/// What a RecordSet says beside its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows that there are at the server; those here may be fewer.
    pub total: u32,
    /// The place of the first row that is here, from 1.
    pub cursor: u32,
    /// The service to ask for more rows.
    pub service: String,
    /// What to name to it; empty for a result that is here as a whole.
    pub id: String,
    /// The version of this form.
    pub version: f64,
}

impl ServerInfo {
    /// Of a result that is here as a whole.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::recordset::ServerInfo;
    ///
    /// let info = ServerInfo::whole(["id", "colour"], 1_000);
    /// assert_eq!((info.total, info.cursor, &*info.service), (1_000, 1, "PageAbleResult"));
    /// ```
    pub fn whole<N: Into<String>>(columns: impl IntoIterator<Item = N>, rows: u32) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            total: rows,
            cursor: 1,
            service: "PageAbleResult".into(),
            id: String::new(),
            version: 1.0,
        }
    }
}
