//! What is said of several runs of the same thing: their median, and how far they lie apart.

/// Two figures this close are the same: runs differ by more.
const LEVEL: f64 = 1.03;

/// Whether one figure is so many times another one that the two are the same.
#[must_use]
pub(super) fn is_level(ratio: f64) -> bool {
    (1.0 / LEVEL..LEVEL).contains(&ratio)
}

/// The middle and the ends of a set of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    /// The middle figure; between two middle ones, their mean.
    pub median: f64,
    /// The smallest figure.
    pub min: f64,
    /// The largest figure.
    pub max: f64,
    /// How many figures there were.
    pub runs: usize,
}

/// How one set of figures stands beside another one, where less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Less, and surely so.
    Ahead,
    /// Neither is surely less.
    Level,
    /// More, and surely so.
    Behind,
}

impl Summary {
    /// How these figures stand beside `other`, where less is better. One of the two is ahead only where the medians differ by more than the
    /// [level](LEVEL) and all runs of the one lie on one side of all runs of the other.
    #[must_use]
    pub(super) fn beside(self, other: Summary) -> Standing {
        let lead = other.median / self.median;
        if self.overlaps(other) || is_level(lead) {
            Standing::Level
        } else if lead > 1.0 {
            Standing::Ahead
        } else {
            Standing::Behind
        }
    }

    /// Whether some run of the one is on the wrong side of some run of the other.
    #[must_use]
    pub(super) fn overlaps(self, other: Summary) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Summarises `values`; `None` if there are none, or if one of them is not a finite number.
    #[must_use]
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Self {
            median,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
            runs: sorted.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Standing, Summary};

    #[test]
    fn an_odd_number_of_figures_has_a_middle_one() {
        let summary = Summary::of(&[9.0, 1.0, 4.0]).unwrap();
        assert_eq!(
            summary,
            Summary {
                median: 4.0,
                min: 1.0,
                max: 9.0,
                runs: 3
            }
        );
    }

    #[test]
    fn an_even_number_of_figures_has_the_mean_of_two() {
        let summary = Summary::of(&[4.0, 1.0, 9.0, 2.0]).unwrap();
        assert_eq!(
            summary,
            Summary {
                median: 3.0,
                min: 1.0,
                max: 9.0,
                runs: 4
            }
        );
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(Summary::of(&[1.0, 2.0, 3.0, 4.0, 1e9]).unwrap().median, 3.0);
    }

    #[test]
    fn who_is_ahead_is_so_by_more_than_runs_differ_and_in_all_of_them() {
        let ours = Summary::of(&[99.0, 100.0, 101.0]).unwrap();
        for (other, standing) in [
            ([199.0, 200.0, 201.0], Standing::Ahead),
            ([102.5, 104.0, 105.0], Standing::Ahead),
            ([49.0, 50.0, 51.0], Standing::Behind),
            // One of the runs was as short as one of the others.
            ([101.0, 200.0, 201.0], Standing::Level),
            ([20.0, 50.0, 99.0], Standing::Level),
            // None was, and the difference is nothing.
            ([101.5, 102.0, 103.0], Standing::Level),
            ([97.5, 98.0, 98.5], Standing::Level),
        ] {
            let other = Summary::of(&other).unwrap();
            assert_eq!(ours.beside(other), standing, "{other:?}");
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::INFINITY]), None);
    }
}
