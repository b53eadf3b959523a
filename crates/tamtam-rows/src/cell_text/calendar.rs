//! Days and dates of the Gregorian calendar, by the algorithms of Howard Hinnant, "chrono-Compatible Low-Level Date
//! Algorithms".

/// Days in 400 years.
const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Year, month and day, so many days after 1970-01-01. For days within a quarter of what 64 bits count.
pub(crate) fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + EPOCH;
    let era = days.div_euclid(ERA);
    let day_of_era = days.rem_euclid(ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years that begin in March have their leap day at the end.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// The days from 1970-01-01 to this date; `None` if there is no such date, or its year has more than 12 digits.
pub(crate) fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) {
        return None;
    }
    if year.unsigned_abs() >= 1_000_000_000_000 {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * ERA + day_of_era - EPOCH)
}

fn days_in(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for days in (-1_000_000..1_000_000)
            .step_by(37)
            .chain([-719_528, 0, 11_016, 19_782])
        {
            let (year, month, day) = date_of(days);
            assert_eq!(
                days_of(year, month, day),
                Some(days),
                "{year}-{month}-{day}"
            );
        }
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (-719_528, (0, 1, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(date_of(days), date);
        }
    }

    #[test]
    fn there_is_no_30th_of_february() {
        for (year, month, day) in [
            (2024, 2, 30),
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 13, 1),
            (2024, 0, 1),
            (2024, 4, 31),
            (2024, 1, 0),
        ] {
            assert_eq!(days_of(year, month, day), None);
        }
        assert!(days_of(2000, 2, 29).is_some());
    }
}
