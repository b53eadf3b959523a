//! One setting of an experiment, and how it is written.

use std::fmt;
use std::str::FromStr;

use crate::{Placement, tables};

/// One setting of an experiment, written `COUNT/PLACEMENT` or `COUNT/PLACEMENT/EXTRA`: `1000/2cores/string`. An
/// experiment about tables names the table instead of the placement: `1000/palette`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How many messages, round trips, counts or rows the experiment is about.
    pub count: u64,
    /// Where its threads run; anywhere if it is about a table.
    pub placement: Placement,
    /// The name of the table that it is about.
    pub table: Option<&'static str>,
    /// What else sets it apart, such as `string` or `stream-64B`.
    pub extra: Option<String>,
}

impl Variant {
    /// A variant without an extra word.
    #[must_use]
    pub fn new(count: u64, placement: Placement) -> Self {
        Variant {
            count,
            placement,
            table: None,
            extra: None,
        }
    }

    /// A variant about so many rows of one of the [`tables`], without an extra word.
    #[must_use]
    pub fn of_table(count: u64, table: &tables::Table) -> Self {
        Variant {
            table: Some(table.name),
            ..Variant::new(count, Placement::Free)
        }
    }

    /// The same variant with the extra word `extra`.
    #[must_use]
    pub fn with_extra(self, extra: impl Into<String>) -> Self {
        Variant {
            extra: Some(extra.into()),
            ..self
        }
    }
}

impl Variant {
    /// Which body of its experiment runs it: the extra without what it only sets, such as sizes and rates. A test that
    /// runs one variant of each kind has run every body.
    #[must_use]
    pub fn kind(&self) -> &str {
        if let Some(table) = self.table {
            // Who can carry one of the article's tables can carry them all.
            let is_the_articles = tables::find(table).is_some_and(|table| table.of_the_article);
            let table = if is_the_articles { "article" } else { "other" };
            return self.extra.as_deref().unwrap_or(table);
        }
        let extra = self.extra.as_deref().unwrap_or_default();
        match extra.split('-').next().unwrap_or_default() {
            // Their second word names a body, too.
            "async" | "get" | "ask" | "select" | "timers" | "topic" => extra,
            // The last word of a row of `grid` about channels is their capacity.
            "1to1" | "4to1" | "1to4" | "4to4" | "16to16" => {
                extra.rsplit_once('-').map_or(extra, |(body, _)| body)
            }
            "16B" | "64B" => "posted",
            "40B" | "200B" | "all" | "million" => "last",
            first => first,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.table.unwrap_or(self.placement.as_str());
        write!(formatter, "{}/{place}", self.count)?;
        match &self.extra {
            Some(extra) => write!(formatter, "/{extra}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut words = name.splitn(3, '/');
        let count = words.next().unwrap_or_default();
        let count = count.parse().map_err(|_| {
            format!("variant {name:?} does not start with a count: COUNT/PLACEMENT[/EXTRA]")
        })?;
        let place = words.next().ok_or_else(|| {
            format!("variant {name:?} names no placement: COUNT/PLACEMENT[/EXTRA]")
        })?;
        let table = tables::find(place).map(|table| table.name);
        let placement = match table {
            Some(_) => Placement::Free,
            None => place.parse()?,
        };
        let extra = words.next().map(str::to_owned);
        if extra.as_deref() == Some("") {
            return Err(format!("variant {name:?} ends in an empty word"));
        }
        Ok(Variant {
            count,
            placement,
            table,
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "1000/free",
            "1000/1core",
            "4875250/2cores",
            "1000/hog",
            "5000/2cores/16B-first",
            "1000/palette",
            "1000000/random/result",
        ] {
            assert_eq!(name.parse::<Variant>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn a_kind_is_a_body() {
        for (name, kind) in [
            ("1000/free", ""),
            ("1000/1core/async-small", "async-small"),
            ("5000/2cores/16B-first", "posted"),
            ("5000/2cores/64B-warm", "posted"),
            ("10000000/free/fanin-64B", "fanin"),
            ("4875250/2cores/all", "last"),
            ("1000000/2cores/token", "token"),
            ("1000000/2cores/1to1-8B-cap16", "1to1-8B"),
            ("1000000/free/4to1-batches-8B-unbounded", "4to1-batches-8B"),
            ("1000/palette", "article"),
            ("1000/logs", "other"),
            ("1000/palette/result", "result"),
        ] {
            assert_eq!(name.parse::<Variant>().unwrap().kind(), kind);
        }
    }

    #[test]
    fn a_wrong_name_is_refused_with_its_reason() {
        for (name, reason) in [
            ("", "does not start with a count"),
            ("many/free", "does not start with a count"),
            ("1000", "names no placement"),
            ("1000/3cores", "unknown placement"),
            ("1000/free/", "empty word"),
        ] {
            let error = name.parse::<Variant>().unwrap_err();
            assert!(error.contains(reason), "{name:?}: {error}");
        }
    }
}
