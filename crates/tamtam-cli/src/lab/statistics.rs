//! What is said of several runs of the same thing: their median, and how far they lie apart.

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

impl Summary {
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
    use super::Summary;

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
    fn nothing_and_nonsense_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::INFINITY]), None);
    }
}
