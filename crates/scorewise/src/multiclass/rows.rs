//! Rows of many classes: a logit per class, labels of either kind and, if there are, weights; checked once.

use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{check_weights, same_length};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::OneOf<'_> {}
    impl Sealed for super::AnyOf<'_> {}
}

/// Multi-class labels: each row belongs to one of the classes, given by its number from 0.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a>(pub &'a [u32]);

/// Multi-label labels: each row belongs to any of the classes, or none; row by row, one `bool` a class.
#[derive(Clone, Copy, Debug)]
pub struct AnyOf<'a>(pub &'a [bool]);

/// Labels of either kind; the type says which.
pub trait ClassLabels: sealed::Sealed + Copy {
    /// Whether the classes of a row exclude each other, so that their probabilities sum to one.
    #[doc(hidden)]
    const EXCLUSIVE: bool;
    #[doc(hidden)]
    fn len(&self, classes: usize) -> usize;
    /// Whether a row belongs to a class.
    #[doc(hidden)]
    fn holds(&self, row: usize, class: usize, classes: usize) -> bool;
    #[doc(hidden)]
    fn check(&self, classes: usize) -> Result<()>;
}

impl ClassLabels for OneOf<'_> {
    const EXCLUSIVE: bool = true;
    fn len(&self, _: usize) -> usize {
        self.0.len()
    }
    #[inline]
    fn holds(&self, row: usize, class: usize, _: usize) -> bool {
        self.0[row] as usize == class
    }
    fn check(&self, classes: usize) -> Result<()> {
        at_least_two(classes)?;
        check_labels("labels", self.0, classes)
    }
}

impl ClassLabels for AnyOf<'_> {
    const EXCLUSIVE: bool = false;
    fn len(&self, classes: usize) -> usize {
        self.0.len() / classes
    }
    #[inline]
    fn holds(&self, row: usize, class: usize, classes: usize) -> bool {
        self.0[row * classes + class]
    }
    fn check(&self, classes: usize) -> Result<()> {
        let rows = self.len(classes);
        check_size("labels", rows, classes, self.0.len())
    }
}

/// Logits, row by row with one number a class, their labels and, if there are, weights; at least one row.
///
/// ```
/// use scorewise::Error;
/// use scorewise::multiclass::{AnyOf, ClassRows, OneOf};
///
/// let logits = [2.0f32, 0.5, -1.0, /* second row */ 0.1, 0.2, 0.3];
/// let rows = ClassRows::new(&logits, 3, OneOf(&[0, 2]))?.weighted(&[1.0, 2.0])?;
/// assert_eq!((rows.len(), rows.classes()), (2, 3));
/// // The same logits where a row may belong to several classes.
/// ClassRows::new(&logits, 3, AnyOf(&[true, true, false, false, false, true]))?;
/// let error = ClassRows::new(&logits, 3, OneOf(&[0, 3])).unwrap_err();
/// assert_eq!(error.to_string(), "labels, row 1: 3 does not lie below the number of classes");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClassRows<'a, R, L> {
    logits: &'a [R],
    classes: usize,
    labels: L,
    weights: Option<&'a [R]>,
}

impl<'a, R: Real, L: ClassLabels> ClassRows<'a, R, L> {
    /// Logits and labels: at least two classes where they exclude each other, else at least one.
    pub fn new(logits: &'a [R], classes: usize, labels: L) -> Result<Self> {
        if classes == 0 {
            return Err(Error::Setting { what: "classes", reason: "must be at least 1, not 0".into() });
        }
        labels.check(classes)?;
        let rows = labels.len(classes);
        check_size("logits", rows, classes, logits.len())?;
        if rows == 0 {
            return Err(Error::Empty);
        }
        // A softmax of ∞ has no value, so what a sigmoid alone would bear is refused here.
        match logits.iter().position(|logit| !logit.wide().is_finite()) {
            Some(at) => Err(Error::Logit { row: at / classes, class: at % classes, value: logits[at].wide() }),
            None => Ok(ClassRows { logits, classes, labels, weights: None }),
        }
    }

    /// The same rows with a weight each, 0 or above.
    pub fn weighted(self, weights: &'a [R]) -> Result<Self> {
        same_length("weights", self.len(), weights.len())?;
        check_weights(weights)?;
        Ok(ClassRows { weights: Some(weights), ..self })
    }

    /// The same rows with one weight each, or with weight 1 each when `weights` is `None`: for callers whose weights are optional.
    pub fn with_weights(self, weights: Option<&'a [R]>) -> Result<Self> {
        match weights {
            Some(weights) => self.weighted(weights),
            None => Ok(ClassRows { weights: None, ..self }),
        }
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.logits.len() / self.classes
    }

    /// Never: there is at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How many classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn logits(&self, row: usize) -> &'a [R] {
        &self.logits[row * self.classes..][..self.classes]
    }

    /// The weight of a row, 1 where none are given.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].wide())
    }

    pub(super) fn holds(&self, row: usize, class: usize) -> bool {
        self.labels.holds(row, class, self.classes)
    }

    pub(super) fn check_gradient(&self, gradient: &[R]) -> Result<()> {
        check_size("gradient", self.len(), self.classes, gradient.len())
    }
}

impl<R: Real> ClassRows<'_, R, OneOf<'_>> {
    /// The class of a row.
    pub(super) fn label(&self, row: usize) -> usize {
        self.labels.0[row] as usize
    }
}

/// Classes that exclude each other are at least two.
pub(super) fn at_least_two(classes: usize) -> Result<()> {
    if classes >= 2 {
        return Ok(());
    }
    Err(Error::Setting { what: "classes", reason: format!("must be at least 2, not {classes}") })
}

/// Every label names a class.
pub(super) fn check_labels(what: &'static str, labels: &[u32], classes: usize) -> Result<()> {
    match labels.iter().position(|label| *label as usize >= classes) {
        Some(row) => {
            let value = f64::from(labels[row]);
            Err(Error::OutOfRange { what, row, value, bounds: "below the number of classes" })
        }
        None => Ok(()),
    }
}

/// A number for every row and class.
fn check_size(what: &'static str, rows: usize, classes: usize, got: usize) -> Result<()> {
    if rows.checked_mul(classes) == Some(got) {
        return Ok(());
    }
    Err(Error::Setting {
        what,
        reason: format!("must hold a value for each of {rows} rows and {classes} classes, not {got} in all"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_weights_are_set_when_given_and_1_otherwise() {
        let rows = ClassRows::new(&[0.0, 1.0, 0.5, -0.5], 2, OneOf(&[0, 1])).unwrap();
        let weighted = rows.with_weights(Some(&[3.0, 0.5])).unwrap();
        assert_eq!((weighted.weight(0), weighted.weight(1)), (3.0, 0.5));
        let unweighted = weighted.with_weights(None).unwrap();
        assert_eq!((unweighted.weight(0), unweighted.weight(1)), (1.0, 1.0));
        let error = rows.with_weights(Some(&[1.0])).unwrap_err();
        assert_eq!(error.to_string(), "weights has 1 rows, expected 2");
    }
}
