//! One-versus-rest loss: each class is compared with all others, with a prior per class.
//!
//! ```text
//! TPₖ = Σ w yₖ Fₖ(pₖ)        FPₖ = Σ w (1 − yₖ) Fₖ(pₖ)        p = softmax(z), or σ(z) for multi-label rows
//! ℓ = average over k of the loss of s(TNₖ, FPₖ, FNₖ, TPₖ)
//! ```
//!
//! Here yₖ is 1 if the row belongs to class k and 0 otherwise, w is the weight of the row, z its logits, and Fₖ the distribution function of the
//! prior of class k.
//!
//! The loss of a score s is 1 − s if higher is better, s if lower is better, and |s − ideal| if there is an ideal value. The losses of the
//! classes are averaged, not the scores, so that frequency biases of 0.5 and 1.5 do not average to a perfect 1.
//!
//! The rows interact only through two scalars per class: ∂ℓ/∂Fₖ for rows that belong to class k and ∂ℓ/∂Fₖ for all other rows. The gradient
//! follows by the chain rule. The derivative of Fₖ with respect to the log-odds of class k is fₖ pₖ (1 − pₖ), where fₖ is the density of the prior
//! of class k; this derivative is finite for every prior. The log-odds are then differentiated with respect to the logits.

use super::average::Average;
use super::link::ClassLink;
use super::rows::{ClassLabels, ClassRows, value_for_each_class};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::ClassCounts;
use crate::loss::{ClassDerivatives, value_and_derivatives};
use crate::prior::Prior;
use crate::real::Real;
use crate::score::Score;

/// A score-oriented loss for several classes. A binary score compares each class with all others, and the losses of the classes are averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct OneVersusRest {
    score: Score,
    priors: Vec<Prior>,
    average: Average,
}

impl OneVersusRest {
    /// A loss with one prior per class, or with a single prior for all classes.
    pub fn new(score: Score, priors: Vec<Prior>, average: Average) -> Result<Self> {
        if priors.is_empty() {
            return Err(Error::Setting {
                what: "priors",
                reason: "must contain one prior for all classes or one prior for each class, but the list is empty"
                    .into(),
            });
        }
        Ok(OneVersusRest { score, priors, average })
    }

    /// The binary score that is computed for each class.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The priors: a single prior for all classes, or one prior per class.
    #[must_use]
    pub fn priors(&self) -> &[Prior] {
        &self.priors
    }

    /// How the classes are averaged.
    #[must_use]
    pub fn average(&self) -> Average {
        self.average
    }

    /// The expected confusion matrix of each class against the rest. For each class, the matrices of several batches add
    /// up to the matrix of all their rows.
    pub fn expect<R: Real, L: ClassLabels>(&self, rows: &ClassRows<'_, R, L>) -> Result<Vec<Confusion>> {
        let priors = self.prior_of_each_class(rows.classes())?;
        let mut link = ClassLink::new(rows.classes(), L::ONE_CLASS_PER_ROW);
        let mut sums = vec![ExpectedCounts::default(); rows.classes()];
        for row in 0..rows.len() {
            let weight = rows.weight(row);
            let classes = link.forward(rows.logits(row)).iter().zip(&priors).zip(&mut sums);
            for (class, ((probability, prior), sums)) in classes.enumerate() {
                let predicted_positive = weight * prior.cdf_at(*probability);
                if rows.has_class(row, class) {
                    sums.tp += predicted_positive;
                    sums.positives += weight;
                } else {
                    sums.fp += predicted_positive;
                    sums.negatives += weight;
                }
            }
        }
        Ok(sums.iter().map(ExpectedCounts::confusion).collect())
    }

    /// The loss ℓ computed from the binary matrices of all classes.
    pub fn of(&self, matrices: &[Confusion]) -> Result<f64> {
        self.value_and_derivatives(matrices).map(|(value, _)| value)
    }

    /// The derivatives of the loss for each class. Pass them to [`gradient_with`](OneVersusRest::gradient_with) for every batch that
    /// contributed to the matrices.
    pub fn derivatives(&self, matrices: &[Confusion]) -> Result<Vec<ClassDerivatives>> {
        self.value_and_derivatives(matrices).map(|(_, derivatives)| derivatives)
    }

    /// The loss computed from the binary matrices of all classes, and its derivatives for each class.
    fn value_and_derivatives(&self, matrices: &[Confusion]) -> Result<(f64, Vec<ClassDerivatives>)> {
        self.prior_of_each_class(matrices.len())?;
        if self.average == Average::Micro {
            let (value, derivatives) = value_and_derivatives(&self.score, &matrices.iter().copied().sum())?;
            return Ok((value, vec![derivatives; matrices.len()]));
        }
        // The weight of a class in the average is 1 or a sum of row weights. It does not depend on the logits, so it is treated as a constant.
        let cells: Vec<_> = matrices.iter().map(Confusion::array).collect();
        let weights = self.average.class_weights(&cells);
        let total: f64 = weights.iter().sum();
        let (mut value, mut derivatives) = (0.0, Vec::with_capacity(matrices.len()));
        for (matrix, weight) in matrices.iter().zip(&weights) {
            let (class_value, class_derivatives) = value_and_derivatives(&self.score, matrix)?;
            value += weight * class_value;
            let share = weight / total;
            derivatives.push(ClassDerivatives {
                positive: share * class_derivatives.positive,
                negative: share * class_derivatives.negative,
            });
        }
        Ok((value / total, derivatives))
    }

    /// Writes the gradient of the loss with respect to the logits of these rows to `gradient`. Compute `derivatives` with
    /// [`derivatives`](OneVersusRest::derivatives) from the matrices of these rows. If the rows are one of several batches, add the matrices of
    /// all batches for each class, and compute the derivatives from these sums instead.
    pub fn gradient_with<R: Real, L: ClassLabels>(
        &self,
        derivatives: &[ClassDerivatives],
        rows: &ClassRows<'_, R, L>,
        gradient: &mut [R],
    ) -> Result<()> {
        rows.check_gradient_length(gradient)?;
        let priors = self.prior_of_each_class(rows.classes())?;
        if derivatives.len() != rows.classes() {
            let reason = format!(
                "must contain one `ClassDerivatives` for each of the {} classes, not {}",
                rows.classes(),
                derivatives.len()
            );
            return Err(Error::Setting { what: "derivatives", reason });
        }
        let mut link = ClassLink::new(rows.classes(), L::ONE_CLASS_PER_ROW);
        let mut by_log_odds = vec![0.0; rows.classes()];
        for (row, gradient) in gradient.chunks_exact_mut(rows.classes()).enumerate() {
            let weight = rows.weight(row);
            let probabilities = link.forward(rows.logits(row));
            for (class, out) in by_log_odds.iter_mut().enumerate() {
                let derivative =
                    if rows.has_class(row, class) { derivatives[class].positive } else { derivatives[class].negative };
                *out = derivative * weight * priors[class].logit_density_at(probabilities[class]);
            }
            link.backward(&mut by_log_odds);
            gradient.iter_mut().zip(&by_log_odds).for_each(|(out, derivative)| *out = R::from_f64(*derivative));
        }
        Ok(())
    }

    /// The loss ℓ of the rows.
    pub fn value<R: Real, L: ClassLabels>(&self, rows: &ClassRows<'_, R, L>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`, row by row with one value per class.
    pub fn value_and_gradient<R: Real, L: ClassLabels>(
        &self,
        rows: &ClassRows<'_, R, L>,
        gradient: &mut [R],
    ) -> Result<f64> {
        let (value, derivatives) = self.value_and_derivatives(&self.expect(rows)?)?;
        self.gradient_with(&derivatives, rows, gradient)?;
        Ok(value)
    }

    /// The prior of each class; a single prior is repeated for all classes.
    fn prior_of_each_class(&self, classes: usize) -> Result<Vec<&Prior>> {
        value_for_each_class("priors", &self.priors, classes)
    }
}

/// For one class: expected true and false positives, and the total weights of the rows that belong to the class and of all other rows.
#[derive(Clone, Copy, Default)]
struct ExpectedCounts {
    tp: f64,
    fp: f64,
    positives: f64,
    negatives: f64,
}

impl ExpectedCounts {
    /// The expected binary confusion matrix of the class against the rest.
    fn confusion(&self) -> Confusion {
        // A row that is not predicted positive is predicted negative, so fn and tn follow from the class counts.
        Confusion::at(self.tp, self.fp, &ClassCounts { positives: self.positives, negatives: self.negatives })
    }
}
