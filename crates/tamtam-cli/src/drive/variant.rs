use std::fmt;
use std::str::FromStr;

use super::Placement;

/// One setting of an experiment, written `COUNT/PLACEMENT` or `COUNT/PLACEMENT/EXTRA`: `1000/2cores/string`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How many messages, round trips or counts the experiment is about.
    pub count: u64,
    /// Where its threads run.
    pub placement: Placement,
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
            extra: None,
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
        let extra = self.extra.as_deref().unwrap_or_default();
        match extra.split('-').next().unwrap_or_default() {
            // Their second word names a body, too.
            "async" | "get" => extra,
            "16B" | "64B" => "posted",
            "40B" | "200B" | "all" | "million" => "last",
            first => first,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.count, self.placement)?;
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
        let placement = words
            .next()
            .ok_or_else(|| format!("variant {name:?} names no placement: COUNT/PLACEMENT[/EXTRA]"))?
            .parse()?;
        let extra = words.next().map(str::to_owned);
        if extra.as_deref() == Some("") {
            return Err(format!("variant {name:?} ends in an empty word"));
        }
        Ok(Variant {
            count,
            placement,
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
