//! What the numbers of a column have in common: the narrowest type that holds all of them.

use super::seen::Seen;
use crate::Kind;

/// What the numbers of a column have in common.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// How many values are numbers.
    count: u64,
    /// Whether one has a digit: words such as `inf` and `nan` alone make no numbers.
    has_digit: bool,
    /// While all are integers.
    is_integers: bool,
    /// From the least to the greatest of them.
    range: Option<(i128, i128)>,
    /// While none has an exponent or is a float only.
    decimals: Option<Decimals>,
    /// Those that a float of 64 bits holds with other digits than they are written with.
    inexact: Seen,
}

/// How numbers with a point and without an exponent are written.
#[derive(Clone, Copy, Debug)]
struct Decimals {
    /// The most digits before the point.
    whole: usize,
    /// The most behind it.
    scale: Option<usize>,
    /// Whether there are as many behind it in all that have a point.
    is_uniform: bool,
}

/// The digits that a float of 64 bits holds whatever they are.
const DIGITS_OF_FLOAT: usize = f64::DIGITS as usize;

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers {
            count: 0,
            has_digit: false,
            is_integers: true,
            range: None,
            decimals: Some(Decimals {
                whole: 0,
                scale: None,
                is_uniform: true,
            }),
            inexact: Seen::default(),
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn inexact(&mut self) -> &mut Seen {
        &mut self.inexact
    }

    /// Takes a text for a number, if it is one. A number that begins with a zero, such as 007, is a name: as a number
    /// it would lose it.
    pub(super) fn take(&mut self, text: &str, at: usize) -> bool {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        // Most texts are refused here.
        if !unsigned.starts_with(|first: char| first.is_ascii_digit() || ".nNiI".contains(first)) {
            return false;
        }
        let mantissa = unsigned
            .find(['e', 'E'])
            .map_or(unsigned, |end| &unsigned[..end]);
        let (whole, fraction) = mantissa
            .split_once('.')
            .map_or((mantissa, None), |(whole, fraction)| {
                (whole, Some(fraction))
            });
        if whole.len() > 1 && whole.starts_with('0') {
            return false;
        }
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain = mantissa.len() == unsigned.len() && !whole.is_empty() && is_digits(whole);
        // A zero below zero is one of floats only.
        let is_negative_zero =
            unsigned.len() < text.len() && mantissa.bytes().all(|byte| matches!(byte, b'.' | b'0'));
        if is_plain && !is_negative_zero && fraction.is_none() {
            self.integer(text, whole, at);
        } else if is_plain
            && !is_negative_zero
            && fraction.is_some_and(|fraction| !fraction.is_empty() && is_digits(fraction))
        {
            self.decimal(text, whole, fraction.unwrap_or_default(), at);
        } else if !self.real(text, unsigned, at) {
            return false;
        }
        self.count += 1;
        true
    }

    fn integer(&mut self, text: &str, whole: &str, at: usize) {
        self.has_digit = true;
        self.widen(whole.len(), None);
        match text.parse::<i128>() {
            Ok(value) => {
                let (least, greatest) = self.range.unwrap_or((value, value));
                self.range = Some((least.min(value), greatest.max(value)));
                if value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS && value as f64 as i128 != value
                {
                    self.inexact.push(text, at);
                }
            }
            Err(_) => {
                self.is_integers = false;
                self.look_at_float(text, at);
            }
        }
    }

    fn decimal(&mut self, text: &str, whole: &str, fraction: &str, at: usize) {
        self.has_digit = true;
        self.is_integers = false;
        self.widen(whole.len(), Some(fraction.len()));
        if whole.len() + fraction.len() > DIGITS_OF_FLOAT {
            self.look_at_float(text, at);
        }
    }

    fn widen(&mut self, whole: usize, fraction: Option<usize>) {
        if let Some(decimals) = &mut self.decimals {
            decimals.whole = decimals.whole.max(whole);
            if let Some(fraction) = fraction {
                let scale = decimals.scale.get_or_insert(fraction);
                decimals.is_uniform &= *scale == fraction;
                *scale = fraction.max(*scale);
            }
        }
    }

    /// What only a float can be, if it is one.
    fn real(&mut self, text: &str, unsigned: &str, at: usize) -> bool {
        if matches!(unsigned, "NaN" | "nan" | "inf" | "Infinity" | "infinity") {
            self.is_integers = false;
            self.decimals = None;
            return true;
        }
        let is_number = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        if !is_number || text.parse::<f64>().is_err() {
            return false;
        }
        self.is_integers = false;
        self.decimals = None;
        self.has_digit = true;
        self.look_at_float(text, at);
        true
    }

    fn look_at_float(&mut self, text: &str, at: usize) {
        if !is_held(text) {
            self.inexact.push(text, at);
        }
    }

    /// The narrowest type that holds them all. Where some are not numbers (NaN), it is rather one of floats than of decimals.
    pub(super) fn kind(&self, some_are_not: bool) -> Option<Kind> {
        if self.is_integers
            && let Some((least, greatest)) = self.range
            && let Some(kind) = integer(least, greatest)
        {
            // Beyond 64 bits there are decimals.
            return Some(kind);
        }
        let is_exact = self.inexact.is_empty();
        if let Some(Decimals {
            whole,
            scale,
            is_uniform,
        }) = self.decimals
        {
            let scale = scale.unwrap_or(0);
            let precision = whole + scale;
            // One digit behind the point, or very many, is how programs write floats; amounts have two or a few. More
            // than 17 digits in all no float has.
            let is_usual = is_uniform
                && !(some_are_not && is_exact)
                && (scale == 0 || (2..=9).contains(&scale) || precision > 17);
            if (is_usual || !is_exact) && (1..=38).contains(&precision) {
                return Some(Kind::Decimal {
                    precision: precision as u8,
                    scale: scale as u8,
                });
            }
        }
        (self.has_digit && is_exact).then_some(Kind::F64)
    }
}

/// Whether a float of 64 bits, written with as many digits as the text has, has the same: it was written from such a
/// float, or has few enough digits.
fn is_held(text: &str) -> bool {
    let Ok(value) = text.parse::<f64>() else {
        return false;
    };
    if !value.is_finite() {
        return false;
    }
    let written = significant(text);
    if written.0.is_empty() {
        return true;
    }
    // No float has more digits than these, if all are written.
    if written.0.len() > 767 {
        return false;
    }
    if significant(zmij::Buffer::new().format_finite(value)) == written {
        return true;
    }
    let places = written.0.len() - 1;
    significant(&format!("{value:.places$e}")) == written
}

/// The digits of a number from the first to the last that is no zero, and the power of ten of the first.
fn significant(text: &str) -> (Vec<u8>, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let mut power = exponent.parse().unwrap_or(0_i64);
    let mut digits = Vec::with_capacity(20);
    let mut is_behind_point = false;
    for byte in mantissa.bytes() {
        match byte {
            b'.' => is_behind_point = true,
            b'0' if digits.is_empty() => power = power.saturating_sub(is_behind_point.into()),
            b'0'..=b'9' => {
                digits.push(byte);
                if is_behind_point {
                    if digits.len() == 1 {
                        power = power.saturating_sub(1);
                    }
                } else if digits.len() > 1 {
                    power = power.saturating_add(1);
                }
            }
            _ => {}
        }
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, power)
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

#[cfg(test)]
mod tests {
    use super::{is_held, significant};

    #[test]
    fn numbers_are_compared_by_their_digits_and_their_place() {
        let same = [
            ("1200", "1.2e3"),
            ("0.0012", "12e-4"),
            ("-100.0", "1e2"),
            ("0.10", ".1"),
            ("10", "1E+1"),
        ];
        for (one, other) in same {
            assert_eq!(significant(one), significant(other), "{one} {other}");
        }
        assert_ne!(significant("12"), significant("1.2"));
        assert_ne!(significant("0.1"), significant("0.01"));
    }

    #[test]
    fn a_float_holds_what_it_writes_again() {
        for text in [
            "0",
            "0e5",
            "1e22",
            "123456789012345e-20",
            "9007199254740992",
        ] {
            assert!(is_held(text), "{text}");
        }
        for text in [
            "9007199254740993",
            "1e-400",
            "1e400",
            "4e-324",
            "0.12345678901234567890",
        ] {
            assert!(!is_held(text), "{text}");
        }
    }
}
