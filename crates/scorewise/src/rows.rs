//! Predictions with their labels and weights, and the checks that they are valid.

use crate::error::{Error, Result};
use crate::prior::RowDistribution;
use crate::real::Real;

mod sealed {
    /// Prevents other crates from implementing [`Predictions`](super::Predictions).
    pub trait SealedPredictions {}
    impl<R> SealedPredictions for super::Logits<'_, R> {}
    impl<R> SealedPredictions for super::Probabilities<'_, R> {}
}

/// Predicted logits, the values to which a sigmoid is applied. A logit of ±∞ stands for a probability of exactly 1 or 0. Gradients of
/// losses are taken with respect to the logits.
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a, R>(pub &'a [R]);

/// Predicted probabilities, after the sigmoid, each in [0, 1].
#[derive(Clone, Copy, Debug)]
pub struct Probabilities<'a, R>(pub &'a [R]);

/// Predictions as logits or as probabilities.
pub trait Predictions: sealed::SealedPredictions + Copy + Send + Sync {
    /// The floating-point type of the predictions: f32 or f64.
    type Number: Real;
    /// The name of the predictions in error messages: `logits` or `probabilities`.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The predictions of all rows.
    #[doc(hidden)]
    fn values(&self) -> &[Self::Number];
    /// Whether a prediction is invalid: NaN, or for probabilities any value outside [0, 1].
    #[doc(hidden)]
    fn is_invalid(value: Self::Number) -> bool;
    /// The distribution function F of the prior at a prediction.
    #[doc(hidden)]
    #[allow(private_bounds)]
    fn cdf<D: RowDistribution<Self::Number>>(distribution: &D, value: Self::Number) -> Self::Number;
    /// The predicted probability p and its complement 1 − p, in f64.
    #[doc(hidden)]
    fn probability(value: Self::Number) -> crate::prior::Probability;
}

impl<R: Real> Predictions for Logits<'_, R> {
    type Number = R;
    const NAME: &'static str = "logits";
    fn values(&self) -> &[R] {
        self.0
    }
    #[inline(always)]
    #[allow(clippy::eq_op)] // only NaN differs from itself, and the compiler vectorises this comparison
    fn is_invalid(value: R) -> bool {
        value != value
    }
    #[inline(always)]
    #[allow(private_bounds)]
    fn cdf<D: RowDistribution<R>>(distribution: &D, value: R) -> R {
        distribution.cdf_of_logit(value)
    }
    fn probability(value: R) -> crate::prior::Probability {
        crate::prior::Probability::from_logit(value.to_f64())
    }
}

impl<R: Real> Predictions for Probabilities<'_, R> {
    type Number = R;
    const NAME: &'static str = "probabilities";
    fn values(&self) -> &[R] {
        self.0
    }
    #[inline(always)]
    fn is_invalid(value: R) -> bool {
        !(value >= R::ZERO && value <= R::ONE)
    }
    #[inline(always)]
    #[allow(private_bounds)]
    fn cdf<D: RowDistribution<R>>(distribution: &D, value: R) -> R {
        // An invalid probability is replaced by NaN, so that the sum over all rows is NaN, which shows that some row is invalid.
        distribution.cdf_of_probability(if Self::is_invalid(value) { R::NAN } else { value })
    }
    fn probability(value: R) -> crate::prior::Probability {
        crate::prior::Probability::new(value.to_f64())
    }
}

/// Predictions, labels and optional weights, one of each per row. There is at least one row.
///
/// ```
/// use scorewise::{Error, Logits, Rows};
///
/// let rows = Rows::new(Logits(&[1.5f32, -0.5, 0.2]), &[true, false, true])?.weighted(&[1.0, 1.0, 2.0])?;
/// assert_eq!(rows.len(), 3);
/// assert_eq!(Rows::new(Logits(&[1.5f32]), &[]).unwrap_err().to_string(), "wrong number of rows in labels: 0, expected 1");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, P: Predictions> {
    pub(crate) predictions: P,
    pub(crate) labels: &'a [bool],
    pub(crate) weights: Option<&'a [P::Number]>,
}

impl<'a, P: Predictions> Rows<'a, P> {
    /// Rows from predictions and labels; the label `true` is the positive class.
    pub fn new(predictions: P, labels: &'a [bool]) -> Result<Self> {
        let expected = predictions.values().len();
        check_same_length("labels", expected, labels.len())?;
        if expected == 0 {
            return Err(Error::Empty);
        }
        Ok(Rows { predictions, labels, weights: None })
    }

    /// The same rows with one weight per row. Weights must be finite and at least 0; this is not checked here, but when the rows are used.
    pub fn weighted(self, weights: &'a [P::Number]) -> Result<Self> {
        check_same_length("weights", self.len(), weights.len())?;
        Ok(Rows { weights: Some(weights), ..self })
    }

    /// The same rows with the given weights, one per row; if `weights` is `None`, every row has weight 1.
    pub fn with_weights(self, weights: Option<&'a [P::Number]>) -> Result<Self> {
        match weights {
            Some(weights) => self.weighted(weights),
            None => Ok(Rows { weights: None, ..self }),
        }
    }

    /// The predictions, one per row.
    #[must_use]
    pub fn predictions(&self) -> &P {
        &self.predictions
    }

    /// The labels of the rows; `true` is the positive class.
    #[must_use]
    pub fn labels(&self) -> &'a [bool] {
        self.labels
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Always false, because `Rows` contains at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The weight of a row; 1 if the rows have no weights.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].to_f64())
    }

    /// Returns an error that names the first invalid row. Losses call this only if a sum over the rows is NaN or infinite, as it always is if
    /// a row is invalid. Other code calls this before it uses the rows.
    pub(crate) fn check(&self) -> Result<()> {
        check_all(P::NAME, self.predictions.values(), P::is_invalid, "between 0 and 1")?;
        check_weights(self.weights.unwrap_or(&[]))
    }
}

/// Returns an error that names the first invalid weight.
pub(crate) fn check_weights<R: Real>(weights: &[R]) -> Result<()> {
    let is_invalid = |weight: R| !(0.0..f64::INFINITY).contains(&weight.to_f64());
    check_all("weights", weights, is_invalid, "a finite number at or above 0")
}

/// Returns an error that names the first invalid value. Values are checked in blocks: a vectorised loop finds out whether a block contains
/// an invalid value, and only then is the value searched for.
fn check_all<R: Real>(
    what: &'static str,
    values: &[R],
    is_invalid: impl Fn(R) -> bool,
    bounds: &'static str,
) -> Result<()> {
    for (block, values) in values.chunks(VALUES_PER_BLOCK).enumerate() {
        if values.iter().fold(false, |any, value| any | is_invalid(*value))
            && let Some(at) = values.iter().position(|value| is_invalid(*value))
        {
            let (row, value) = (block * VALUES_PER_BLOCK + at, values[at].to_f64());
            return Err(if value.is_nan() {
                Error::NotANumber { what, row }
            } else {
                Error::OutOfRange { what, row, value, bounds }
            });
        }
    }
    Ok(())
}

/// Number of values that [`check_all`] checks together.
const VALUES_PER_BLOCK: usize = 1024;

/// Returns an error if the length of the input `what` differs from the expected length.
pub(crate) fn check_same_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what, expected, got }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_weight_1_unless_weights_are_given() {
        let rows = Rows::new(Logits(&[1.5, -0.5]), &[true, false]).unwrap();
        let weighted = rows.with_weights(Some(&[3.0, 0.5])).unwrap();
        assert_eq!((weighted.weight(0), weighted.weight(1)), (3.0, 0.5));
        let unweighted = weighted.with_weights(None).unwrap();
        assert_eq!((unweighted.weight(0), unweighted.weight(1)), (1.0, 1.0));
        let error = rows.with_weights(Some(&[1.0])).unwrap_err();
        assert_eq!(error.to_string(), "wrong number of rows in weights: 1, expected 2");
    }
}
