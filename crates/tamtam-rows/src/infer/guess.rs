use crate::{Kind, Unit, Zone, cell_text};

const UNITS: [Unit; 4] = [
    Unit::Second,
    Unit::Millisecond,
    Unit::Microsecond,
    Unit::Nanosecond,
];

/// The type that a column may have, value by value: at first any, and with each value fewer.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    /// How many values were seen that are not null.
    values: u64,
    has_nulls: bool,
    may_be_truth: bool,
    may_be_uuid: bool,
    may_be_date: bool,
    /// For each unit.
    may_be_time: [bool; 4],
    may_be_local: [bool; 4],
    may_be_utc: [bool; 4],
    numbers: Option<Numbers>,
}

/// What the numbers of a column have in common.
#[derive(Clone, Debug)]
struct Numbers {
    /// From the least to the greatest, while all are integers.
    integers: Option<(i128, i128)>,
    decimals: Option<Decimals>,
    /// Whether one has a digit: words such as `inf` and `nan` alone make no numbers.
    has_digit: bool,
}

/// How numbers with a point and without an exponent are written.
#[derive(Clone, Copy, Debug)]
struct Decimals {
    /// The most digits before the point.
    whole: usize,
    /// The digits behind it, which are as many in all that have a point.
    scale: Option<usize>,
}

impl Guess {
    pub(super) fn new() -> Guess {
        Guess {
            values: 0,
            has_nulls: false,
            may_be_truth: true,
            may_be_uuid: true,
            may_be_date: true,
            may_be_time: [true; 4],
            may_be_local: [true; 4],
            may_be_utc: [true; 4],
            numbers: Some(Numbers {
                integers: None,
                decimals: Some(Decimals {
                    whole: 0,
                    scale: None,
                }),
                has_digit: false,
            }),
        }
    }

    pub(super) fn null(&mut self) {
        self.has_nulls = true;
    }

    /// A value that nothing else can be.
    pub(super) fn text(&mut self) {
        self.values += 1;
        self.not_text();
        self.numbers = None;
    }

    fn not_text(&mut self) {
        self.may_be_truth = false;
        self.not_notation();
    }

    /// No date, time or identifier.
    fn not_notation(&mut self) {
        self.may_be_uuid = false;
        self.may_be_date = false;
        self.may_be_time = [false; 4];
        self.may_be_local = [false; 4];
        self.may_be_utc = [false; 4];
    }

    /// A truth value that is written as one.
    #[cfg(feature = "json")]
    pub(super) fn truth(&mut self) {
        self.values += 1;
        self.not_notation();
        self.numbers = None;
    }

    /// A number that is written as one.
    #[cfg(feature = "json")]
    pub(super) fn number(&mut self, text: &str) {
        self.values += 1;
        self.not_text();
        self.narrow_numbers(text);
    }

    /// A number with a fraction or an exponent, which is no decimal: JSON's numbers are read as floats.
    #[cfg(feature = "json")]
    pub(super) fn real(&mut self) {
        self.values += 1;
        self.not_text();
        if let Some(numbers) = &mut self.numbers {
            numbers.integers = None;
            numbers.decimals = None;
            numbers.has_digit = true;
        }
    }

    /// A text that has a notation of its own, or is just text.
    #[cfg(feature = "json")]
    pub(super) fn notation(&mut self, text: &str) {
        self.values += 1;
        self.may_be_truth = false;
        self.numbers = None;
        self.narrow_notations(text);
    }

    /// A field of delimited text, which may be anything.
    pub(super) fn field(&mut self, text: &str) {
        self.values += 1;
        self.may_be_truth = self.may_be_truth && cell_text::truth(text.as_bytes()).is_some();
        if self.numbers.is_some() {
            self.narrow_numbers(text);
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

    fn narrow_numbers(&mut self, text: &str) {
        let is_first = self.values == 1;
        let Some(numbers) = &mut self.numbers else {
            return;
        };
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, fraction) = digits
            .split_once('.')
            .map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
        // A number that begins with a zero, such as 007, is a name: as a number it would lose it.
        let is_plain = is_digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
        match fraction {
            None if is_plain && text != "-0" => {
                let value = text.parse::<i128>().ok();
                match (value, numbers.integers) {
                    (Some(value), None) if is_first => numbers.integers = Some((value, value)),
                    (Some(value), Some((least, greatest))) => {
                        numbers.integers = Some((least.min(value), greatest.max(value)));
                    }
                    _ => numbers.integers = None,
                }
            }
            _ => numbers.integers = None,
        }
        numbers.has_digit |= is_plain;
        // A zero below zero is one of floats only.
        let is_zero = || text.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
        let is_decimal =
            is_plain && fraction.is_none_or(is_digits) && !(text.starts_with('-') && is_zero());
        numbers.decimals = numbers.decimals.filter(|_| is_decimal);
        if let Some(decimals) = &mut numbers.decimals {
            decimals.whole = decimals.whole.max(whole.len());
            if let Some(fraction) = fraction
                && *decimals.scale.get_or_insert(fraction.len()) != fraction.len()
            {
                numbers.decimals = None;
            }
        }
        if numbers.decimals.is_none() {
            let is_real = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
                && text.parse::<f64>().is_ok_and(f64::is_finite);
            let is_word = matches!(digits, "NaN" | "nan" | "inf" | "Infinity" | "infinity");
            let is_zeroed = is_digits(whole) && !is_plain;
            numbers.has_digit |= is_real;
            if is_zeroed || !(is_real || is_word) {
                self.numbers = None;
            }
        }
    }

    /// The narrowest type that holds all values, and whether there are nulls.
    pub(super) fn finish(&self) -> (Kind, bool) {
        (self.kind(), self.has_nulls || self.values == 0)
    }

    fn kind(&self) -> Kind {
        if self.values == 0 {
            return Kind::Text;
        }
        if self.may_be_truth {
            return Kind::Bool;
        }
        if let Some(kind) = self.numbers.as_ref().and_then(Numbers::kind) {
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
}

impl Numbers {
    fn kind(&self) -> Option<Kind> {
        if let Some((least, greatest)) = self.integers {
            // Beyond 64 bits there are decimals.
            if let Some(kind) = integer(least, greatest) {
                return Some(kind);
            }
        }
        if let Some(Decimals { whole, scale }) = self.decimals {
            let scale = scale.unwrap_or(0);
            let precision = whole + scale;
            // One digit behind the point, or very many, is how programs write floats; amounts have two or a few. More
            // than 17 digits in all no float has.
            let is_usual = scale == 0 || (2..=9).contains(&scale) || precision > 17;
            if is_usual && precision <= 38 {
                return Some(Kind::Decimal {
                    precision: precision as u8,
                    scale: scale as u8,
                });
            }
            if precision > 38 && scale == 0 {
                return None;
            }
        }
        self.has_digit.then_some(Kind::F64)
    }
}

/// The narrowest integers that hold these two.
fn integer(least: i128, greatest: i128) -> Option<Kind> {
    let fits = |from: i128, to: i128| least >= from && greatest <= to;
    if least >= 0 {
        [
            (Kind::U8, u8::MAX.into()),
            (Kind::U16, u16::MAX.into()),
            (Kind::U32, u32::MAX.into()),
            (Kind::U64, u64::MAX.into()),
        ]
        .into_iter()
        .find(|&(_, to)| fits(0, to))
        .map(|(kind, _)| kind)
    } else {
        [
            (Kind::I8, i8::MIN.into(), i8::MAX.into()),
            (Kind::I16, i16::MIN.into(), i16::MAX.into()),
            (Kind::I32, i32::MIN.into(), i32::MAX.into()),
            (Kind::I64, i64::MIN.into(), i64::MAX.into()),
        ]
        .into_iter()
        .find(|&(_, from, to)| fits(from, to))
        .map(|(kind, ..)| kind)
    }
}
