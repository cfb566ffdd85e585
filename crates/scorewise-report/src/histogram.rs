//! Normalised histogram of values in [0, 1]: the areas of the bars add up to 1.
//!
//! ```text
//! bar k of n covers [k/n, (k + 1)/n), the last one includes 1        height = count · n / total
//! ```
//!
//! where `count` is the number of values in the bar and `total` the number of all values.

use scorewise::MeanAndDeviation;

/// A histogram with bars of equal width over [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DensityHistogram {
    /// Number of values in each bar.
    counts: Vec<usize>,
}

impl DensityHistogram {
    /// Counts `values`, which must lie in [0, 1], in `bars` bars.
    pub fn new(values: &[f64], bars: usize) -> Self {
        let mut counts = vec![0; bars];
        for &value in values {
            counts[bar_index(value, bars)] += 1;
        }
        DensityHistogram { counts }
    }

    /// Lower end, upper end and height of every non-empty bar, from left to right.
    pub fn bars(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let (bars, total) = (self.counts.len(), self.counts.iter().sum::<usize>());
        let height = move |count: usize| count as f64 * bars as f64 / total as f64;
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(move |(index, count)| (lower_end(index, bars), lower_end(index + 1, bars), height(*count)))
    }

    /// Height of the highest bar; 0 for a histogram without values.
    pub fn height_of_highest_bar(&self) -> f64 {
        self.bars().map(|(_, _, height)| height).fold(0.0, f64::max)
    }
}

/// The lower end of the bar with this index. A division rounds its result only once, so 3/10 is equal to the literal 0.3.
fn lower_end(index: usize, bars: usize) -> f64 {
    index as f64 / bars as f64
}

/// Index of the bar that contains a value. The product `value * bars` may round to the wrong side of an edge (0.29 · 100 is below 29), so the
/// index is checked against the edges of the bar.
fn bar_index(value: f64, bars: usize) -> usize {
    let candidate = ((value * bars as f64) as usize).min(bars - 1);
    if value < lower_end(candidate, bars) {
        candidate - 1
    } else if candidate + 1 < bars && value >= lower_end(candidate + 1, bars) {
        candidate + 1
    } else {
        candidate
    }
}

/// Number of bars for these values. Scott's bar width is 3.49 s n^(−1/3), where s is the standard deviation of the n values. It is rounded down to
/// 0.1, 0.05 or 0.025, but never below 0.025, so that edges of bars coincide with ticks and panels can be compared. If all values are equal, the
/// bar width is 0.05.
///
/// Scott, D. W. (1979). On optimal and data-based histograms. Biometrika 66, 605–610. doi:10.1093/biomet/66.3.605
pub(crate) fn bar_count_for(values: &[f64]) -> usize {
    let deviation = MeanAndDeviation::of(values).and_then(|spread| spread.deviation).unwrap_or(0.0);
    let width = 3.49 * deviation / (values.len().max(1) as f64).cbrt();
    // Rounding errors may give equal values a tiny standard deviation.
    if width < 1e-12 {
        20
    } else if width >= 0.1 {
        10
    } else if width >= 0.05 {
        20
    } else {
        40
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_include_their_lower_end_and_the_last_bar_includes_1() {
        let histogram = DensityHistogram::new(&[0.0, 0.25, 0.5, 0.75, 1.0], 4);
        assert_eq!(histogram.counts, [1, 1, 1, 2]);
        let bars: Vec<_> = histogram.bars().collect();
        assert_eq!(bars[0], (0.0, 0.25, 1.0 * 4.0 / 5.0));
        assert_eq!(bars[3], (0.75, 1.0, 2.0 * 4.0 / 5.0));
        assert_eq!(histogram.height_of_highest_bar(), 8.0 / 5.0);
    }

    #[test]
    fn every_edge_belongs_to_the_bar_on_its_right() {
        for bars in [1, 3, 7, 10, 20, 40, 49, 100, 1000] {
            for index in 0..bars {
                let low = index as f64 / bars as f64;
                assert_eq!(bar_index(low, bars), index, "{low} of {bars}");
                assert_eq!(bar_index(lower_end(index + 1, bars).next_down(), bars), index);
            }
            assert_eq!(bar_index(1.0, bars), bars - 1);
        }
    }

    #[test]
    fn the_areas_of_all_bars_add_up_to_1() {
        let values: Vec<f64> = (0..97).map(|row| (row * row % 101) as f64 / 100.0).collect();
        for bars in [1, 10, 20, 40, 33] {
            let area: f64 =
                DensityHistogram::new(&values, bars).bars().map(|(low, high, height)| (high - low) * height).sum();
            assert!((area - 1.0).abs() < 1e-14, "{area}");
        }
    }

    #[test]
    fn a_histogram_without_values_has_no_bars() {
        assert_eq!(DensityHistogram::new(&[], 10).bars().count(), 0);
        assert_eq!(DensityHistogram::new(&[], 10).height_of_highest_bar(), 0.0);
    }

    #[test]
    fn values_with_small_deviation_get_narrow_bars() {
        let plus_minus = |deviation: f64| -> Vec<f64> {
            (0..100).map(|row| 0.5 + deviation * if row % 2 == 0 { 1.0 } else { -1.0 }).collect()
        };
        // For 100 values with standard deviation s, the bar width of Scott is 3.49 · s · 100^(−1/3) = 0.752 s.
        assert_eq!(bar_count_for(&plus_minus(0.36)), 10);
        assert_eq!(bar_count_for(&plus_minus(0.1)), 20);
        assert_eq!(bar_count_for(&plus_minus(0.05)), 40);
        assert_eq!(bar_count_for(&[0.1; 100]), 20);
        assert_eq!(bar_count_for(&[0.5]), 20);
        assert_eq!(bar_count_for(&[]), 20);
    }
}
