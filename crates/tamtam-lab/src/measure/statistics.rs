//! Percentiles and medians.

/// The value below or at which `share` (0 to 1) of the values lie: the nearest rank, so always one of the values.
/// Moves them about. `None` if there are none.
pub(crate) fn percentile(values: &mut [u32], share: f64) -> Option<u32> {
    let index = rank(values.len(), share)?;
    // A selection, not a sort: a pass samples up to a million round trips.
    Some(*values.select_nth_unstable(index).1)
}

/// The middle value; of an even number of values the mean of the two in the middle. `None` if there are none.
///
/// It sorts the values.
///
/// # Examples
///
/// ```
/// use tamtam_lab::median;
///
/// assert_eq!(median(&mut [4.0, 1.0, 9.0]), Some(4.0));
/// assert_eq!(median(&mut [4.0, 1.0, 9.0, 2.0]), Some(3.0));
/// assert_eq!(median(&mut []), None);
/// ```
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        length if length % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

fn rank(length: usize, share: f64) -> Option<usize> {
    let last = length.checked_sub(1)?;
    let rank = (share * length as f64).ceil() as usize;
    Some(rank.saturating_sub(1).min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut values: Vec<u32> = (1..=1000).rev().collect();
        assert_eq!(percentile(&mut values, 0.5), Some(500));
        assert_eq!(percentile(&mut values, 0.99), Some(990));
        assert_eq!(percentile(&mut values, 0.999), Some(999));
        assert_eq!(percentile(&mut values, 1.0), Some(1000));
        assert_eq!(percentile(&mut values, 0.0), Some(1));
    }

    #[test]
    fn few_values_have_percentiles_too() {
        assert_eq!(percentile(&mut [], 0.5), None);
        assert_eq!(percentile(&mut [7], 0.999), Some(7));
        assert_eq!(percentile(&mut [9, 3], 0.5), Some(3));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
