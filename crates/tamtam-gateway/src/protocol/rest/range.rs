//! A range of rows: `Range: rows=100-199`.

use std::ops::Range;

/// Which rows are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowRange {
    /// From this one to that, or to the end.
    From(usize, Option<usize>),
    /// The last ones.
    Last(usize),
}

impl RowRange {
    /// The range in a header. Another unit, several ranges, or what is no range count as none, as RFC 9110 has it.
    pub(crate) fn read(header: &str) -> Option<RowRange> {
        let range = header.trim().strip_prefix("rows=")?.trim();
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| text.trim().parse::<usize>().ok();
        if first.trim().is_empty() {
            return Some(RowRange::Last(number(last)?));
        }
        let first = number(first)?;
        if last.trim().is_empty() {
            return Some(RowRange::From(first, None));
        }
        let last = number(last)?;
        (first <= last).then_some(RowRange::From(first, Some(last)))
    }

    /// The rows of a table that has so many; nothing if none of them is asked for.
    pub(crate) fn of(self, rows: usize) -> Option<Range<usize>> {
        let range = self.within(0, rows);
        (!range.is_empty()).then_some(range)
    }

    /// The rows of a part that may be asked for, by the part's first row and how many it has. Where the last rows of the table are asked for, the last
    /// ones of each part.
    pub(crate) fn within(self, before: usize, rows: usize) -> Range<usize> {
        match self {
            RowRange::From(first, last) => {
                let end = last.map_or(usize::MAX, |last| last.saturating_add(1));
                let place = |row: usize| row.saturating_sub(before).min(rows);
                place(first)..place(end)
            }
            RowRange::Last(count) => rows.saturating_sub(count)..rows,
        }
    }

    /// Whether the range is over before this row of the table.
    pub(crate) fn ends_before(self, rows: usize) -> bool {
        matches!(self, RowRange::From(_, Some(last)) if last < rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_to_what_is_there() {
        let of = |header: &str| RowRange::read(header).and_then(|range| range.of(1_000));
        assert_eq!(of("rows=0-99"), Some(0..100));
        assert_eq!(of("rows=990-2000"), Some(990..1_000));
        assert_eq!(of("rows=990-"), Some(990..1_000));
        assert_eq!(of("rows=-10"), Some(990..1_000));
        assert_eq!(of("rows=-5000"), Some(0..1_000));
        // In parts, it is the same rows.
        for header in [
            "rows=0-99",
            "rows=990-2000",
            "rows=990-",
            "rows=5-5",
            "rows=1000-",
        ] {
            let range = RowRange::read(header).unwrap();
            let parts = (0..1_000).step_by(300).flat_map(|before| {
                let rows = 300.min(1_000 - before);
                range.within(before, rows).map(move |row| before + row)
            });
            let expected: Vec<_> = range.of(1_000).into_iter().flatten().collect();
            assert_eq!(parts.collect::<Vec<_>>(), expected, "{header}");
        }
        let ends = |header: &str, rows| RowRange::read(header).unwrap().ends_before(rows);
        assert!(ends("rows=0-99", 100) && !ends("rows=0-99", 99));
        assert!(!ends("rows=0-", 1_000) && !ends("rows=-1", 1_000));
        for none in ["rows=1000-", "rows=-0"] {
            assert!(
                RowRange::read(none).is_some() && of(none).is_none(),
                "{none}"
            );
        }
        let most = format!("rows=0-{}", usize::MAX);
        assert_eq!(of(&most), Some(0..1_000));
        for other in [
            "bytes=0-99",
            "rows=9-1",
            "rows=a-b",
            "rows=0-1,5-6",
            "rows=",
            "rows=-",
        ] {
            assert_eq!(RowRange::read(other), None, "{other}");
        }
    }
}
