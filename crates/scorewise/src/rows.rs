//! ROWS: predictions, labels and weights that belong together, checked once.

use crate::error::{Error, Result};
use crate::prior::RowLaw;
use crate::real::Real;

mod sealed {
    pub trait Sealed {}
    impl<R> Sealed for super::Logits<'_, R> {}
    impl<R> Sealed for super::Probabilities<'_, R> {}
}

/// Predictions before the sigmoid; ±∞ is a sure prediction. Losses have gradients with respect to these.
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a, R>(pub &'a [R]);

/// Predictions after the sigmoid, each in [0, 1].
#[derive(Clone, Copy, Debug)]
pub struct Probabilities<'a, R>(pub &'a [R]);

/// Predictions of either kind; the type says which.
pub trait Predictions: sealed::Sealed + Copy + Send + Sync {
    /// f32 or f64.
    type Number: Real;
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    fn values(&self) -> &[Self::Number];
    /// Whether a value cannot be a prediction of this kind.
    #[doc(hidden)]
    fn is_bad(value: Self::Number) -> bool;
    /// F at a prediction of this kind.
    #[doc(hidden)]
    #[allow(private_bounds)]
    fn cdf<L: RowLaw<Self::Number>>(law: &L, value: Self::Number) -> Self::Number;
    /// The probability as f64.
    #[doc(hidden)]
    fn chance(value: Self::Number) -> crate::prior::Chance;
}

impl<R: Real> Predictions for Logits<'_, R> {
    type Number = R;
    const NAME: &'static str = "logits";
    fn values(&self) -> &[R] {
        self.0
    }
    #[inline(always)]
    #[allow(clippy::eq_op)] // only NaN differs from itself; a comparison vectorises
    fn is_bad(value: R) -> bool {
        value != value
    }
    #[inline(always)]
    #[allow(private_bounds)]
    fn cdf<L: RowLaw<R>>(law: &L, value: R) -> R {
        law.cdf_of_logit(value)
    }
    fn chance(value: R) -> crate::prior::Chance {
        crate::prior::Chance::from_logit(value.wide())
    }
}

impl<R: Real> Predictions for Probabilities<'_, R> {
    type Number = R;
    const NAME: &'static str = "probabilities";
    fn values(&self) -> &[R] {
        self.0
    }
    #[inline(always)]
    fn is_bad(value: R) -> bool {
        !(value >= R::ZERO && value <= R::ONE)
    }
    #[inline(always)]
    #[allow(private_bounds)]
    fn cdf<L: RowLaw<R>>(law: &L, value: R) -> R {
        // Outside [0, 1] it is no probability, and shows in the sum.
        law.cdf_of_probability(if Self::is_bad(value) { R::NAN } else { value })
    }
    fn chance(value: R) -> crate::prior::Chance {
        crate::prior::Chance::new(value.wide())
    }
}

/// Predictions with their labels and, if there are, weights: equally many, and not none.
///
/// ```
/// use scorewise::{Error, Logits, Rows};
///
/// let rows = Rows::new(Logits(&[1.5f32, -0.5, 0.2]), &[true, false, true])?.weighted(&[1.0, 1.0, 2.0])?;
/// assert_eq!(rows.len(), 3);
/// assert_eq!(Rows::new(Logits(&[1.5f32]), &[]).unwrap_err().to_string(), "labels has 0 rows, expected 1");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, P: Predictions> {
    pub(crate) predictions: P,
    pub(crate) labels: &'a [bool],
    pub(crate) weights: Option<&'a [P::Number]>,
}

impl<'a, P: Predictions> Rows<'a, P> {
    /// Predictions and labels; a label `true` is a positive.
    pub fn new(predictions: P, labels: &'a [bool]) -> Result<Self> {
        let expected = predictions.values().len();
        same_length("labels", expected, labels.len())?;
        if expected == 0 {
            return Err(Error::Empty);
        }
        Ok(Rows { predictions, labels, weights: None })
    }

    /// The same rows with a weight each, 0 or above. (Their values are looked at when they are first summed.)
    pub fn weighted(self, weights: &'a [P::Number]) -> Result<Self> {
        same_length("weights", self.len(), weights.len())?;
        Ok(Rows { weights: Some(weights), ..self })
    }

    /// The same rows with one weight each, or with weight 1 each when `weights` is `None`: for callers whose weights are optional.
    pub fn with_weights(self, weights: Option<&'a [P::Number]>) -> Result<Self> {
        match weights {
            Some(weights) => self.weighted(weights),
            None => Ok(Rows { weights: None, ..self }),
        }
    }

    /// The labels.
    #[must_use]
    pub fn labels(&self) -> &'a [bool] {
        self.labels
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: there is at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The weight of a row, 1 where none are given.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].wide())
    }

    /// The first row that cannot be used, as an error. Called when a sum shows that there is one, and where all rows are
    /// looked at one by one anyway.
    pub(crate) fn check(&self) -> Result<()> {
        first_bad(P::NAME, self.predictions.values(), P::is_bad, "between 0 and 1")?;
        check_weights(self.weights.unwrap_or(&[]))
    }
}

/// The first weight that cannot be used, as an error.
pub(crate) fn check_weights<R: Real>(weights: &[R]) -> Result<()> {
    let is_bad = |weight: R| !(0.0..f64::INFINITY).contains(&weight.wide());
    first_bad("weights", weights, is_bad, "at or above 0")
}

/// The first value that cannot be used, as an error. Looked for in stretches: a stretch without one is passed in few vector
/// instructions.
fn first_bad<R: Real>(
    what: &'static str,
    values: &[R],
    is_bad: impl Fn(R) -> bool,
    bounds: &'static str,
) -> Result<()> {
    for (stretch, values) in values.chunks(STRETCH).enumerate() {
        if values.iter().fold(false, |any, value| any | is_bad(*value))
            && let Some(at) = values.iter().position(|value| is_bad(*value))
        {
            let (row, value) = (stretch * STRETCH + at, values[at].wide());
            return Err(if value.is_nan() {
                Error::NotANumber { what, row }
            } else {
                Error::OutOfRange { what, row, value, bounds }
            });
        }
    }
    Ok(())
}

const STRETCH: usize = 1024;

pub(crate) fn same_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what, expected, got }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_weights_are_set_when_given_and_1_otherwise() {
        let rows = Rows::new(Logits(&[1.5, -0.5]), &[true, false]).unwrap();
        let weighted = rows.with_weights(Some(&[3.0, 0.5])).unwrap();
        assert_eq!((weighted.weight(0), weighted.weight(1)), (3.0, 0.5));
        let unweighted = weighted.with_weights(None).unwrap();
        assert_eq!((unweighted.weight(0), unweighted.weight(1)), (1.0, 1.0));
        let error = rows.with_weights(Some(&[1.0])).unwrap_err();
        assert_eq!(error.to_string(), "weights has 1 rows, expected 2");
    }
}
