//! The logarithmic scale of a chart: ways of passing a message differ by factors of a thousand, and a factor is the same
//! length anywhere on it.

/// Whole powers of ten from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// The exponent at the left end.
    first: i32,
    /// The exponent at the right end, greater than `first`.
    last: i32,
}

/// A line of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tick {
    /// The figure that it stands for.
    pub value: f64,
    /// Its place, as [`Scale::position`] gives it.
    pub position: f64,
    /// Whether its figure is written beside it.
    pub labelled: bool,
}

/// Figures below this are drawn as nothing at all.
const LEAST_DRAWN: f64 = 1e-6;

/// So much of the first power of ten is kept free, so that the shortest bar is still seen.
const ROOM_BELOW: f64 = 1.25;

/// More labels than this do not stand beside each other on a narrow screen.
const MOST_LABELS: i32 = 6;

impl Scale {
    /// The scale on which all of `values` have a place; `None` if none of them is above zero.
    #[must_use]
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
        for value in values {
            if value.is_finite() && value >= LEAST_DRAWN {
                least = least.min(value);
                greatest = greatest.max(value);
            }
        }
        if greatest == 0.0 {
            return None;
        }
        let first = exponent((least / ROOM_BELOW).log10().floor());
        // A figure that is a power of ten ends the scale, in spite of rounding.
        let last = exponent((greatest.log10() - 1e-9).ceil());
        Some(Self {
            first,
            last: last.max(first + 1),
        })
    }

    /// The place of `value`: 0 at the left end, 1 at the right end. What is beyond an end is at that end.
    #[must_use]
    pub(super) fn position(&self, value: f64) -> f64 {
        if value < LEAST_DRAWN {
            return 0.0;
        }
        let place = (value.log10() - f64::from(self.first)) / f64::from(self.decades());
        place.clamp(0.0, 1.0)
    }

    /// The lines of the grid, from left to right.
    #[must_use]
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let decades = self.decades();
        let step = (decades + MOST_LABELS - 1) / MOST_LABELS;
        let mut ticks = Vec::new();
        for exponent in self.first..=self.last {
            let mut tick = |factor: f64, labelled: bool| {
                let value = factor * 10_f64.powi(exponent);
                ticks.push(Tick {
                    value,
                    position: self.position(value),
                    labelled,
                });
            };
            tick(1.0, (exponent - self.first) % step == 0);
            if exponent < self.last && decades <= 4 {
                tick(2.0, decades == 1);
                tick(5.0, decades == 1);
            }
        }
        ticks
    }

    fn decades(&self) -> i32 {
        self.last - self.first
    }
}

/// An exponent as a whole number; figures lie between [`LEAST_DRAWN`] and what a file may hold, so it always fits.
fn exponent(value: f64) -> i32 {
    value.clamp(-400.0, 400.0) as i32
}

#[cfg(test)]
mod tests {
    use super::Scale;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_factor_is_the_same_length_anywhere() {
        let scale = Scale::around([15.0, 57_000.0]).unwrap();
        assert!(near(scale.position(10.0), 0.0) && near(scale.position(100_000.0), 1.0));
        let twice = scale.position(40.0) - scale.position(20.0);
        assert!(near(
            scale.position(40_000.0) - scale.position(20_000.0),
            twice
        ));
        assert!(near(scale.position(1_000.0), 0.5));
    }

    #[test]
    fn every_figure_has_a_place_and_the_least_has_a_length() {
        for values in [
            vec![1.0],
            vec![1000.0],
            vec![1e-3, 1e9],
            vec![0.0, 12.0, 12.0],
            vec![999.9999, 1000.0001],
            vec![f64::NAN, 3.0, f64::INFINITY],
            vec![1e18, 1e-6],
            vec![5e-324, 2.0],
        ] {
            let scale = Scale::around(values.iter().copied()).unwrap();
            for value in values
                .into_iter()
                .filter(|value| value.is_finite() && *value >= 1e-6)
            {
                let place = scale.position(value);
                assert!(place > 0.0 && place <= 1.0, "{value} at {place}");
            }
        }
    }

    #[test]
    fn nothing_above_zero_has_no_scale() {
        assert_eq!(Scale::around([]), None);
        assert_eq!(Scale::around([0.0, -1.0, f64::NAN]), None);
        assert_eq!(Scale::around([1.0]).unwrap().position(0.0), 0.0);
    }

    #[test]
    fn powers_of_ten_end_the_scale_where_they_are() {
        let scale = Scale::around([200.0, 1000.0]).unwrap();
        assert!(near(scale.position(1000.0), 1.0) && near(scale.position(100.0), 0.0));
    }

    #[test]
    fn the_grid_is_fine_on_a_short_scale_and_coarse_on_a_long_one() {
        let labels = |values: [f64; 2]| -> Vec<f64> {
            let ticks = Scale::around(values).unwrap().ticks();
            assert!(
                ticks
                    .windows(2)
                    .all(|pair| pair[0].position < pair[1].position)
            );
            assert!(near(ticks[0].position, 0.0) && near(ticks[ticks.len() - 1].position, 1.0));
            ticks
                .into_iter()
                .filter(|tick| tick.labelled)
                .map(|tick| tick.value)
                .collect()
        };
        assert_eq!(labels([15.0, 60.0]), [10.0, 20.0, 50.0, 100.0]);
        assert_eq!(labels([15.0, 600.0]), [10.0, 100.0, 1000.0]);
        assert!(labels([1e-6, 1e18]).len() <= 7);
    }
}
