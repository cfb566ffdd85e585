//! SPREAD: mean and deviation of a few numbers.

/// Where numbers lie and how far they scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation with n − 1 below the sum, as everywhere in scorewise; one number has none.
    pub deviation: Option<f64>,
}

impl Spread {
    /// Of these numbers; of none there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Some(Spread { mean, deviation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_a_few_numbers() {
        let spread = Spread::of(&[0.25, 0.5, 0.75, 0.5]).unwrap();
        assert_eq!(spread.mean, 0.5);
        assert_eq!(spread.deviation, Some((2.0 * 0.0625f64 / 3.0).sqrt()));
    }

    #[test]
    fn one_number_has_no_deviation_and_none_has_nothing() {
        assert_eq!(Spread::of(&[0.3]), Some(Spread { mean: 0.3, deviation: None }));
        assert_eq!(Spread::of(&[]), None);
    }
}
