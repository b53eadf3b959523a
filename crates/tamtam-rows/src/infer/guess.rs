//! The type of a column of text, narrowed value by value.

use super::numbers::Numbers;
use super::seen::Seen;
use super::{About, Remark};
use crate::{Kind, NullTexts, Unit, Zone, cell_text};

const UNITS: [Unit; 4] = [
    Unit::Second,
    Unit::Millisecond,
    Unit::Microsecond,
    Unit::Nanosecond,
];

/// The type that a column may have, value by value: at first any, and with each value fewer.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    /// What the column was said to be.
    told: Option<Kind>,
    /// How many values were seen that are neither null nor a text that may stand for one.
    values: u64,
    has_nulls: bool,
    /// Texts that are nulls unless the column holds them.
    null_texts: Seen,
    /// Those of them that a column of floats holds.
    not_a_number: u64,
    may_be_truth: bool,
    may_be_uuid: bool,
    may_be_date: bool,
    /// For each unit.
    may_be_time: [bool; 4],
    may_be_local: [bool; 4],
    may_be_utc: [bool; 4],
    numbers: Numbers,
    /// What is no number.
    others: Seen,
}

impl Guess {
    pub(super) fn new(told: Option<Kind>) -> Guess {
        Guess {
            told,
            values: 0,
            has_nulls: false,
            null_texts: Seen::default(),
            not_a_number: 0,
            may_be_truth: true,
            may_be_uuid: true,
            may_be_date: true,
            may_be_time: [true; 4],
            may_be_local: [true; 4],
            may_be_utc: [true; 4],
            numbers: Numbers::new(),
            others: Seen::default(),
        }
    }

    #[cfg(feature = "json")]
    pub(super) fn null(&mut self) {
        self.has_nulls = true;
    }

    /// A text that stands for a null, if it is one that does.
    fn is_null_text(&mut self, text: &str, is_quoted: bool, at: usize, nulls: &NullTexts) -> bool {
        if !nulls.contains(text) {
            return false;
        }
        if nulls.is_everywhere() && !is_quoted {
            self.has_nulls = true;
        } else {
            self.null_texts.push(text, at);
        }
        true
    }

    #[cfg(feature = "json")]
    fn not_text(&mut self) {
        self.may_be_truth = false;
        self.not_notation();
    }

    /// No date, time or identifier.
    #[cfg(feature = "json")]
    fn not_notation(&mut self) {
        self.may_be_uuid = false;
        self.may_be_date = false;
        self.may_be_time = [false; 4];
        self.may_be_local = [false; 4];
        self.may_be_utc = [false; 4];
    }

    /// A truth value that is written as one.
    #[cfg(feature = "json")]
    pub(super) fn truth(&mut self, value: bool, at: usize) {
        self.values += 1;
        self.not_notation();
        self.others.push(if value { "true" } else { "false" }, at);
    }

    /// A number that is written as one.
    #[cfg(feature = "json")]
    pub(super) fn number(&mut self, text: &str, at: usize, nulls: &NullTexts) {
        if nulls.is_everywhere() && nulls.contains(text) {
            self.has_nulls = true;
            return;
        }
        self.values += 1;
        self.not_text();
        if !self.numbers.take(text, at) {
            self.others.push(text, at);
        }
    }

    /// A text that has a notation of its own, or is just text.
    #[cfg(feature = "json")]
    pub(super) fn notation(&mut self, text: &str, at: usize, nulls: &NullTexts) {
        if self.is_null_text(text, false, at, nulls) {
            return;
        }
        self.values += 1;
        self.may_be_truth = false;
        self.others.push(text, at);
        self.narrow_notations(text);
    }

    /// A field of delimited text, which may be anything.
    pub(super) fn field(&mut self, text: &str, is_quoted: bool, at: usize, nulls: &NullTexts) {
        if text.is_empty() && !is_quoted {
            self.has_nulls = true;
            return;
        }
        if self.is_null_text(text, is_quoted, at, nulls) {
            // A column of floats holds it, unless it was said to be a null.
            let is_held = !nulls.is_everywhere() && text.eq_ignore_ascii_case("nan");
            self.not_a_number += u64::from(is_held);
            return;
        }
        self.values += 1;
        self.may_be_truth = self.may_be_truth && cell_text::truth(text.as_bytes()).is_some();
        if !self.numbers.take(text, at) {
            self.others.push(text, at);
        }
        self.narrow_notations(text);
    }

    fn narrow_notations(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.may_be_uuid = self.may_be_uuid && cell_text::uuid(bytes).is_some();
        self.may_be_date = self.may_be_date
            && cell_text::date(bytes).is_some_and(|days| i32::try_from(days).is_ok());
        for (index, unit) in UNITS.into_iter().enumerate() {
            if self.may_be_time[index] {
                self.may_be_time[index] = cell_text::time(bytes, unit).is_some();
            }
            if self.may_be_local[index] {
                let value = cell_text::timestamp(bytes, unit, &Zone::Local);
                self.may_be_local[index] = value.is_some();
            }
            if self.may_be_utc[index] {
                let value = cell_text::timestamp(bytes, unit, &Zone::Utc);
                self.may_be_utc[index] = value.is_some();
            }
        }
    }

    /// To be called before the block is left in which the values lay: `line` tells the line of a place in it.
    pub(super) fn end_block(&mut self, line: &mut dyn FnMut(usize) -> u64) {
        self.null_texts.end_block(line);
        self.others.end_block(line);
        self.numbers.inexact().end_block(line);
    }

    /// The narrowest type that holds all values, and whether there are nulls.
    pub(super) fn finish(&self) -> (Kind, bool) {
        let kind = self.told.clone().unwrap_or_else(|| self.kind());
        let held = match kind {
            Kind::Text | Kind::Bytes => self.null_texts.count(),
            Kind::F32 | Kind::F64 => self.not_a_number,
            _ => 0,
        };
        let is_empty = self.values == 0 && self.null_texts.is_empty();
        let has_nulls = self.has_nulls || self.null_texts.count() > held;
        (kind, has_nulls || is_empty)
    }

    fn kind(&self) -> Kind {
        if self.values == 0 {
            return Kind::Text;
        }
        if self.may_be_truth {
            return Kind::Bool;
        }
        if self.others.is_empty()
            && let Some(kind) = self.numbers.kind(self.not_a_number > 0)
        {
            return kind;
        }
        if self.may_be_date {
            return Kind::Date;
        }
        let coarsest = |may_be: &[bool; 4]| (0..4).find(|&index| may_be[index]);
        if let Some(index) = coarsest(&self.may_be_utc) {
            return Kind::Timestamp(UNITS[index], Zone::Utc);
        }
        if let Some(index) = coarsest(&self.may_be_local) {
            return Kind::Timestamp(UNITS[index], Zone::Local);
        }
        if let Some(index) = coarsest(&self.may_be_time) {
            return Kind::Time(UNITS[index]);
        }
        if self.may_be_uuid {
            return Kind::Uuid;
        }
        Kind::Text
    }

    /// What is worth a word about how the type was found.
    pub(super) fn remarks(&mut self, column: &str, remarks: &mut Vec<Remark>) {
        let (kind, is_nullable) = self.finish();
        let mut remark = |about, seen: &Seen| {
            if !seen.is_empty() {
                remarks.push(Remark {
                    column: column.to_owned(),
                    about,
                    count: seen.count(),
                    examples: seen.examples().to_vec(),
                    line: seen.line(),
                });
            }
        };
        if kind != Kind::Text {
            if is_nullable && !matches!(kind, Kind::Bytes) {
                remark(About::ReadAsNull(kind), &self.null_texts);
            }
            return;
        }
        if self.told.is_some() {
            return;
        }
        remark(About::KeptAsText, &self.null_texts);
        // Where most are no numbers, it is a column of text.
        if self.numbers.count() >= self.others.count() && self.values > 0 {
            let would_be = self.numbers.kind(self.not_a_number > 0);
            match would_be {
                Some(would_be) => remark(About::NotNumbers(would_be), &self.others),
                None => {
                    let inexact = self.numbers.inexact();
                    remark(About::NoTypeHolds, inexact);
                }
            }
        }
    }
}
