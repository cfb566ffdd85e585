//! Mean and standard deviation of a sample.

/// Mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndDeviation {
    /// The mean of the sample.
    pub mean: f64,
    /// The sample standard deviation, with the divisor n − 1; `None` for a sample of one value.
    pub deviation: Option<f64>,
}

impl MeanAndDeviation {
    /// Mean and standard deviation of the values; `None` for an empty slice.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Some(MeanAndDeviation { mean, deviation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_deviation_match_hand_computed_values() {
        let spread = MeanAndDeviation::of(&[0.25, 0.5, 0.75, 0.5]).unwrap();
        assert_eq!(spread.mean, 0.5);
        assert_eq!(spread.deviation, Some((2.0 * 0.0625f64 / 3.0).sqrt()));
    }

    #[test]
    fn one_value_has_no_standard_deviation_and_an_empty_slice_gives_none() {
        assert_eq!(MeanAndDeviation::of(&[0.3]), Some(MeanAndDeviation { mean: 0.3, deviation: None }));
        assert_eq!(MeanAndDeviation::of(&[]), None);
    }
}
