//! Figures as people read them: enough digits to compare, no more.

/// Figures of one column, all in the same unit: `57,312`, `182`, `23.5`, `0.25`.
#[must_use]
pub(super) fn grouped(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 {
        let digits = format!("{:.0}", size);
        let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
        if value < 0.0 {
            text.push('-');
        }
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.00995 {
        format!("{value:.2}")
    } else if value == 0.0 {
        "0".to_owned()
    } else if size >= 0.001 {
        format!("{value:.3}")
    } else {
        "<0.001".to_owned()
    }
}

/// A number of things: `57,312`, `3`.
#[must_use]
pub(crate) fn whole(count: u64) -> String {
    if count < 100 {
        count.to_string()
    } else {
        grouped(count as f64)
    }
}

/// Three significant digits of a positive figure below 1,000.
fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// The unit that suits a span of time, and how many nanoseconds it has.
fn unit(nanoseconds: f64) -> (f64, &'static str) {
    if nanoseconds < 999.5 {
        (1.0, "ns")
    } else if nanoseconds < 999_500.0 {
        (1e3, "µs")
    } else if nanoseconds < 999_500_000.0 {
        (1e6, "ms")
    } else {
        (1e9, "s")
    }
}

/// A span of time given in nanoseconds, in the unit that suits its size: `182 ns`, `57.3 µs`, `16.7 ms`, `1.20 s`.
#[must_use]
pub(super) fn duration(nanoseconds: f64) -> String {
    let (size, unit) = unit(nanoseconds);
    let value = nanoseconds / size;
    if value == 0.0 {
        format!("0 {unit}")
    } else {
        format!("{} {unit}", three_digits(value))
    }
}

/// The same of a span given in microseconds.
#[must_use]
pub(crate) fn microseconds(value: f64) -> String {
    duration(value * 1e3)
}

/// Two spans of time given in nanoseconds, in the unit that suits the longer one, nanoseconds without a word:
/// `[171..201]`, `[1.28..1.32 µs]`.
#[must_use]
pub(super) fn duration_range(min: f64, max: f64) -> String {
    let (size, unit) = unit(max);
    let (min, max) = (grouped(min / size), grouped(max / size));
    if unit == "ns" {
        format!("[{min}..{max}]")
    } else {
        format!("[{min}..{max} {unit}]")
    }
}

/// A large count: `1.25 M`, `812 k`, `17`.
#[must_use]
pub(super) fn count(value: f64) -> String {
    if value < 999.5 {
        if value.fract() == 0.0 {
            format!("{value:.0}")
        } else {
            three_digits(value)
        }
    } else if value < 999_500.0 {
        format!("{} k", three_digits(value / 1e3))
    } else if value < 999_500_000.0 {
        format!("{} M", three_digits(value / 1e6))
    } else {
        format!("{} G", three_digits(value / 1e9))
    }
}

/// How many times one figure is another: `1.04`, `2.5`, `131`, `1,340`.
#[must_use]
pub(super) fn times(ratio: f64) -> String {
    if ratio >= 9.95 {
        grouped(ratio.round()).trim_end_matches(".0").to_owned()
    } else if ratio >= 1.995 {
        format!("{ratio:.1}")
    } else if ratio >= 0.095 {
        format!("{ratio:.2}")
    } else {
        grouped(ratio)
    }
}

/// How long something will take, for a person who waits: `40 s`, `7 min`.
#[must_use]
pub(super) fn wait(seconds: f64) -> String {
    if seconds < 99.5 {
        format!("{:.0} s", seconds.max(1.0).ceil())
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

/// A number of things: `1 round`, `5 rounds`.
#[must_use]
pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{count, counted, duration, duration_range, grouped, times, wait, whole};

    #[test]
    fn columns_have_thousands_and_few_decimals() {
        let shown: Vec<String> = [
            0.0,
            0.0004,
            0.004,
            0.25,
            9.994,
            23.46,
            99.96,
            182.4,
            57_312.0,
            16_666_667.0,
        ]
        .map(grouped)
        .to_vec();
        assert_eq!(
            shown,
            [
                "0",
                "<0.001",
                "0.004",
                "0.25",
                "9.99",
                "23.5",
                "100",
                "182",
                "57,312",
                "16,666,667"
            ]
        );
    }

    #[test]
    fn numbers_of_things_have_no_point() {
        assert_eq!(
            [0, 3, 99, 100, 57_312].map(whole),
            ["0", "3", "99", "100", "57,312"]
        );
    }

    #[test]
    fn durations_choose_their_unit() {
        let shown: Vec<String> = [
            0.0,
            0.5,
            182.0,
            999.7,
            57_312.0,
            16_666_667.0,
            999_600_000.0,
            1.2e9,
        ]
        .map(duration)
        .to_vec();
        assert_eq!(
            shown,
            [
                "0 ns", "0.50 ns", "182 ns", "1.00 µs", "57.3 µs", "16.7 ms", "1.00 s", "1.20 s"
            ]
        );
    }

    #[test]
    fn a_range_has_the_unit_of_its_end() {
        assert_eq!(duration_range(171.0, 201.0), "[171..201]");
        assert_eq!(duration_range(1282.0, 1318.0), "[1.28..1.32 µs]");
        assert_eq!(duration_range(311.0, 281_150.0), "[0.31..281 µs]");
    }

    #[test]
    fn counts_choose_their_size() {
        assert_eq!(
            [17.0, 1234.0, 8_400_000.0].map(count),
            ["17", "1.23 k", "8.40 M"]
        );
    }

    #[test]
    fn ratios_are_short() {
        assert_eq!(
            [0.0001, 0.0032, 0.014, 0.5].map(times),
            ["<0.001", "0.003", "0.01", "0.50"]
        );
        assert_eq!(
            [1.0, 1.04, 2.47, 9.94, 9.96, 131.2, 1340.0].map(times),
            ["1.00", "1.04", "2.5", "9.9", "10", "131", "1,340"]
        );
    }

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!(
            [0, 1, 2].map(|number| counted(number, "round")),
            ["0 rounds", "1 round", "2 rounds"]
        );
    }

    #[test]
    fn waits_are_seconds_then_minutes() {
        assert_eq!([0.2, 39.2, 400.0].map(wait), ["1 s", "40 s", "7 min"]);
    }
}
