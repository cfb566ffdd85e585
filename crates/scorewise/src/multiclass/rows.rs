//! Rows of a multi-class or multi-label problem. A row has one logit per class, its labels and an optional weight. All of them are checked when they
//! are given.

use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{check_same_length, check_weights};

mod sealed {
    /// Prevents other crates from implementing [`ClassLabels`](super::ClassLabels).
    pub trait SealedLabels {}
    impl SealedLabels for super::OneOf<'_> {}
    impl SealedLabels for super::AnyOf<'_> {}
}

/// Multi-class labels: each row belongs to exactly one class, given by its index.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a>(pub &'a [u32]);

/// Multi-label labels: each row belongs to any number of classes, given row by row as one `bool` per class.
#[derive(Clone, Copy, Debug)]
pub struct AnyOf<'a>(pub &'a [bool]);

/// Multi-class or multi-label labels.
pub trait ClassLabels: sealed::SealedLabels + Copy {
    /// Whether every row has exactly one class, so that the class probabilities of a row sum to one.
    #[doc(hidden)]
    const ONE_CLASS_PER_ROW: bool;
    #[doc(hidden)]
    /// The number of rows, given the number of classes.
    fn len(&self, classes: usize) -> usize;
    /// Whether a row belongs to `class`; `classes` is the number of classes.
    #[doc(hidden)]
    fn has_class(&self, row: usize, class: usize, classes: usize) -> bool;
    #[doc(hidden)]
    /// Returns an error if the labels do not fit the number of classes, for example if a label is not the index of a class.
    fn check_labels(&self, classes: usize) -> Result<()>;
}

impl ClassLabels for OneOf<'_> {
    const ONE_CLASS_PER_ROW: bool = true;
    /// The number of rows, which is the number of labels.
    fn len(&self, _: usize) -> usize {
        self.0.len()
    }
    /// Whether `class` is the class of the row.
    #[inline]
    fn has_class(&self, row: usize, class: usize, _: usize) -> bool {
        self.0[row] as usize == class
    }
    /// Returns an error if there are fewer than two classes or if a label is not the index of a class.
    fn check_labels(&self, classes: usize) -> Result<()> {
        check_at_least_two_classes(classes)?;
        check_labels("labels", self.0, classes)
    }
}

impl ClassLabels for AnyOf<'_> {
    const ONE_CLASS_PER_ROW: bool = false;
    /// The number of rows: the number of labels divided by the number of classes.
    fn len(&self, classes: usize) -> usize {
        self.0.len() / classes
    }
    /// Whether a row belongs to `class`; `classes` is the number of classes.
    #[inline]
    fn has_class(&self, row: usize, class: usize, classes: usize) -> bool {
        self.0[row * classes + class]
    }
    /// Returns an error if the number of labels is not a multiple of the number of classes.
    fn check_labels(&self, classes: usize) -> Result<()> {
        let rows = self.len(classes);
        check_size("labels", rows, classes, self.0.len())
    }
}

/// Logits (row by row, one per class), labels and optional weights. There is at least one row.
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
/// assert_eq!(error.to_string(), "labels, row 1: 3 is not below the number of classes");
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
    /// Rows from logits and labels. Multi-class labels need at least two classes, multi-label labels at least one.
    pub fn new(logits: &'a [R], classes: usize, labels: L) -> Result<Self> {
        if classes == 0 {
            return Err(Error::Setting { what: "classes", reason: format!("must be at least 1, not {classes}") });
        }
        labels.check_labels(classes)?;
        let rows = labels.len(classes);
        check_size("logits", rows, classes, logits.len())?;
        if rows == 0 {
            return Err(Error::Empty);
        }
        // The softmax of ∞ is undefined, so infinite logits are rejected even where a sigmoid could handle them.
        match logits.iter().position(|logit| !logit.to_f64().is_finite()) {
            Some(at) => Err(Error::Logit { row: at / classes, class: at % classes, value: logits[at].to_f64() }),
            None => Ok(ClassRows { logits, classes, labels, weights: None }),
        }
    }

    /// The same rows with one weight per row; weights must be at least 0.
    pub fn weighted(self, weights: &'a [R]) -> Result<Self> {
        check_same_length("weights", self.len(), weights.len())?;
        check_weights(weights)?;
        Ok(ClassRows { weights: Some(weights), ..self })
    }

    /// The same rows with the given weights, one per row; if `weights` is `None`, every row has weight 1.
    pub fn with_weights(self, weights: Option<&'a [R]>) -> Result<Self> {
        match weights {
            Some(weights) => self.weighted(weights),
            None => Ok(ClassRows { weights: None, ..self }),
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.logits.len() / self.classes
    }

    /// Always false, because `ClassRows` contains at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn logits(&self, row: usize) -> &'a [R] {
        &self.logits[row * self.classes..][..self.classes]
    }

    /// The weight of a row; 1 if the rows have no weights.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].to_f64())
    }

    /// Whether the row with this index belongs to `class`.
    pub(super) fn has_class(&self, row: usize, class: usize) -> bool {
        self.labels.has_class(row, class, self.classes)
    }

    pub(super) fn check_gradient_length(&self, gradient: &[R]) -> Result<()> {
        check_size("gradient", self.len(), self.classes, gradient.len())
    }
}

impl<R: Real> ClassRows<'_, R, OneOf<'_>> {
    /// The index of the true class of a row.
    pub(super) fn label(&self, row: usize) -> usize {
        self.labels.0[row] as usize
    }
}

/// Returns an error for fewer than two classes.
pub(super) fn check_at_least_two_classes(classes: usize) -> Result<()> {
    if classes >= 2 {
        return Ok(());
    }
    Err(Error::Setting { what: "classes", reason: format!("must be at least 2, not {classes}") })
}

/// Returns an error if a label is not the index of a class.
pub(super) fn check_labels(what: &'static str, labels: &[u32], classes: usize) -> Result<()> {
    match labels.iter().position(|label| *label as usize >= classes) {
        Some(row) => {
            let value = f64::from(labels[row]);
            Err(Error::OutOfRange { what, row, value, bounds: "below the number of classes" })
        }
        None => Ok(()),
    }
}

/// Returns an error unless `got`, the number of values of an input, is `rows` × `classes`. `what` is the name of the input in the error message.
fn check_size(what: &'static str, rows: usize, classes: usize, got: usize) -> Result<()> {
    if rows.checked_mul(classes) == Some(got) {
        return Ok(());
    }
    Err(Error::Setting { what, reason: format!("must have rows × classes = {rows}×{classes} values, not {got}") })
}

/// Returns one value per class; a single value is repeated for all classes. `what` is the name of the values in an error message.
pub(super) fn value_for_each_class<'a, T>(what: &'static str, values: &'a [T], classes: usize) -> Result<Vec<&'a T>> {
    match values {
        [one] if classes > 0 => Ok(vec![one; classes]),
        all if all.len() == classes => Ok(all.iter().collect()),
        all => {
            let reason = format!(
                "must contain one entry for all classes or one for each of the {classes} classes, not {}",
                all.len()
            );
            Err(Error::Setting { what, reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_weight_1_unless_weights_are_given() {
        let rows = ClassRows::new(&[0.0, 1.0, 0.5, -0.5], 2, OneOf(&[0, 1])).unwrap();
        let weighted = rows.with_weights(Some(&[3.0, 0.5])).unwrap();
        assert_eq!((weighted.weight(0), weighted.weight(1)), (3.0, 0.5));
        let unweighted = weighted.with_weights(None).unwrap();
        assert_eq!((unweighted.weight(0), unweighted.weight(1)), (1.0, 1.0));
        let error = rows.with_weights(Some(&[1.0])).unwrap_err();
        assert_eq!(error.to_string(), "wrong number of rows in weights: 1, expected 2");
    }
}
