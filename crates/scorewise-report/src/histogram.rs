//! Values in [0, 1] as bars whose areas add up to 1.
//!
//! ```text
//! bar k of n covers [k/n, (k + 1)/n), the last one 1 as well        height = count · n / total
//! ```

use scorewise::Spread;

/// Equal bars over [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    /// How many values fell into each bar.
    counts: Vec<usize>,
}

impl Histogram {
    /// Of values in [0, 1], which the caller has checked, in `bars` equal bars.
    pub fn of(values: &[f64], bars: usize) -> Self {
        let mut counts = vec![0; bars];
        for &value in values {
            counts[bar(value, bars)] += 1;
        }
        Histogram { counts }
    }

    /// Low end, high end and height of every bar that is not empty, from left to right.
    pub fn bars(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let (bars, total) = (self.counts.len(), self.counts.iter().sum::<usize>());
        let height = move |count: usize| count as f64 * bars as f64 / total as f64;
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(move |(number, count)| (edge(number, bars), edge(number + 1, bars), height(*count)))
    }

    /// The height of the highest bar; 0 where there are no values.
    pub fn peak(&self) -> f64 {
        self.bars().map(|(_, _, height)| height).fold(0.0, f64::max)
    }
}

/// The low end of a bar: rounded once, so that 3/10 is the 0.3 that people write.
fn edge(number: usize, bars: usize) -> f64 {
    number as f64 / bars as f64
}

/// The bar of a value. The product may round across an edge (0.29 · 100 is below 29), so the edges themselves decide.
fn bar(value: f64, bars: usize) -> usize {
    let near = ((value * bars as f64) as usize).min(bars - 1);
    if value < edge(near, bars) {
        near - 1
    } else if near + 1 < bars && value >= edge(near + 1, bars) {
        near + 1
    } else {
        near
    }
}

/// How many bars show these values well: Scott's width 3.49 s n^(−1/3), made a round 0.1, 0.05 or 0.025 so that edges fall on
/// the axis' numbers and panels can be compared. Values without spread have no width of their own and get the middle one.
///
/// Scott, D. W. (1979). On optimal and data-based histograms. Biometrika 66, 605–610. doi:10.1093/biomet/66.3.605
pub(crate) fn bars_for(values: &[f64]) -> usize {
    let deviation = Spread::of(values).and_then(|spread| spread.deviation).unwrap_or(0.0);
    let width = 3.49 * deviation / (values.len().max(1) as f64).cbrt();
    // Equal values may differ from their own mean in the last digit.
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
    fn bars_hold_their_low_edge_and_the_last_one_1() {
        let histogram = Histogram::of(&[0.0, 0.25, 0.5, 0.75, 1.0], 4);
        assert_eq!(histogram.counts, [1, 1, 1, 2]);
        let bars: Vec<_> = histogram.bars().collect();
        assert_eq!(bars[0], (0.0, 0.25, 1.0 * 4.0 / 5.0));
        assert_eq!(bars[3], (0.75, 1.0, 2.0 * 4.0 / 5.0));
        assert_eq!(histogram.peak(), 8.0 / 5.0);
    }

    #[test]
    fn every_edge_as_written_opens_its_own_bar() {
        for bars in [1, 3, 7, 10, 20, 40, 49, 100, 1000] {
            for number in 0..bars {
                let low = number as f64 / bars as f64;
                assert_eq!(bar(low, bars), number, "{low} of {bars}");
                assert_eq!(bar(edge(number + 1, bars).next_down(), bars), number);
            }
            assert_eq!(bar(1.0, bars), bars - 1);
        }
    }

    #[test]
    fn area_is_1() {
        let values: Vec<f64> = (0..97).map(|row| (row * row % 101) as f64 / 100.0).collect();
        for bars in [1, 10, 20, 40, 33] {
            let area: f64 = Histogram::of(&values, bars).bars().map(|(low, high, height)| (high - low) * height).sum();
            assert!((area - 1.0).abs() < 1e-14, "{area}");
        }
    }

    #[test]
    fn no_values_give_no_bars() {
        assert_eq!(Histogram::of(&[], 10).bars().count(), 0);
        assert_eq!(Histogram::of(&[], 10).peak(), 0.0);
    }

    #[test]
    fn narrow_values_get_narrow_bars() {
        let around = |deviation: f64| -> Vec<f64> {
            (0..100).map(|row| 0.5 + deviation * if row % 2 == 0 { 1.0 } else { -1.0 }).collect()
        };
        // Scott's widths for 100 values: 0.752 s.
        assert_eq!(bars_for(&around(0.36)), 10);
        assert_eq!(bars_for(&around(0.1)), 20);
        assert_eq!(bars_for(&around(0.05)), 40);
        assert_eq!(bars_for(&[0.1; 100]), 20);
        assert_eq!(bars_for(&[0.5]), 20);
        assert_eq!(bars_for(&[]), 20);
    }
}
