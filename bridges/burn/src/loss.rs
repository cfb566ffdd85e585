//! The loss, 1 − the score of the expected confusion matrix, with its gradient in closed form.
//!
//! ```text
//! predictions → log-odds → F and its derivative → sums per class → ℓ and its derivatives per class → average → gradient → one term for autodiff
//! ```
//!
//! F is the distribution function of the prior at the prediction, ℓ the loss. The term for autodiff is Σ c (z − z′), where c is the gradient, z the
//! predictions and z′ the same predictions detached from the graph: this term has the value 0 and the gradient c.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::{Bool, DType, FloatDType, Int, Tensor};
use scorewise::multiclass::Average;
use scorewise::{Prior, Score};

use crate::class_values::{ClassValues, TensorArena};
use crate::config::Task;
use crate::log_odds::{LogOddsLink, class_mask};
use crate::prior_cdf::PriorCdf;

/// Logits are clamped to this magnitude, because the difference of two infinite logits is NaN. The distribution function of the prior reaches 0 or 1
/// at much smaller magnitudes.
const MAX_LOGIT: f64 = 1e30;

/// Derivatives with respect to entries of the confusion matrix are limited to this magnitude, so that the product of a derivative and a row weight
/// of up to 1e8 still fits into f32.
const MAX_DERIVATIVE: f64 = 1e30;

/// A score-oriented loss, created by [`ScoreLossConfig`](crate::ScoreLossConfig).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct ScoreLoss {
    #[module(skip)]
    score: Score,
    #[module(skip)]
    prior: Prior,
    #[module(skip)]
    prior_cdf: PriorCdf,
    #[module(skip)]
    task: Task,
    #[module(skip)]
    average: Average,
    from_logits: bool,
}

impl ModuleDisplay for ScoreLoss {
    /// Settings of the display: all attributes are on one line.
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    /// The attributes of the loss that are displayed.
    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add_debug_attribute("score", &self.score.name())
            .add_debug_attribute("prior", &self.prior.to_string())
            .add_debug_attribute("task", &self.task)
            .add_debug_attribute("average", &self.average)
            .add("from_logits", &self.from_logits)
            .optional()
    }
}

impl ScoreLoss {
    /// Creates a loss and computes the polynomials that approximate the distribution function of the prior.
    pub(crate) fn new(score: Score, prior: Prior, task: Task, average: Average, from_logits: bool) -> Self {
        let prior_cdf = PriorCdf::new(&prior);
        ScoreLoss { score, prior, prior_cdf, task, average, from_logits }
    }

    /// The score that the loss optimises.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The distribution of the threshold.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// Returns the loss of a batch as a tensor with one element.
    ///
    /// f64 logits are processed in f64 and all others in f32, because half-precision numbers cannot represent the row counts of large batches. A
    /// NaN logit makes the loss NaN.
    ///
    /// # Shapes
    ///
    /// Binary, where each element is a row:
    /// - logits: any, such as `[batch_size]`, `[batch_size, 1]` or a mask `[batch_size, 1, height, width]`
    /// - targets: the same number of elements; 1 is positive, any other value negative
    ///
    /// Multi-label:
    /// - logits: `[…, num_classes]`
    /// - targets: `[…, num_classes]`; 1 if the row has the label
    ///
    /// Multi-class:
    /// - logits: `[…, num_classes]`
    /// - targets: one class index per row, starting at 0; a row whose index is out of range belongs to no class
    ///
    /// # Panics
    ///
    /// If there are no rows, or if the numbers of logits and targets do not match.
    pub fn forward<const D: usize, const T: usize>(&self, logits: Tensor<D>, targets: Tensor<T, Int>) -> Tensor<1> {
        let (logits, is_member) = self.logits_and_membership(logits, targets);
        self.loss_of_rows(logits, is_member, None)
    }

    /// Returns the loss of a batch in which each row has a weight; weights must not be negative.
    ///
    /// # Shapes
    ///
    /// - logits, targets: as in [`forward`](Self::forward)
    /// - weights: one per row; for binary targets, one per element
    ///
    /// # Panics
    ///
    /// For the same reasons as [`forward`](Self::forward), and if the number of weights differs from the number of rows.
    pub fn forward_weighted<const D: usize, const T: usize, const W: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<T, Int>,
        weights: Tensor<W>,
    ) -> Tensor<1> {
        let (logits, is_member) = self.logits_and_membership(logits, targets);
        let (rows, n_weights) = (logits.dims()[0], weights.shape().num_elements());
        assert!(n_weights == rows, "weights have {n_weights} elements, expected one for each of the {rows} rows");
        let weights = weights.without_autodiff().reshape([rows, 1]).cast(working_dtype(logits.dtype()));
        self.loss_of_rows(logits, is_member, Some(weights))
    }

    /// Returns the logits in working precision, and for each row and class whether the row belongs to the class; both are `[rows, classes]`.
    fn logits_and_membership<const D: usize, const T: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<T, Int>,
    ) -> (Tensor<2>, Tensor<2, Bool>) {
        let (n_logits, last_dim) = (logits.shape().num_elements(), logits.dims()[D - 1]);
        assert!(n_logits > 0, "logits are empty; at least one row is needed");
        let classes = if self.task == Task::Binary { 1 } else { last_dim };
        let (shape, targets) = ([n_logits / classes, classes], targets.without_autodiff());
        let n_targets = targets.shape().num_elements();
        let expected = if self.task == Task::MultiClass { shape[0] } else { n_logits };
        assert!(
            n_targets == expected,
            "targets have {n_targets} elements, expected {expected} for {:?} logits of shape {:?}",
            self.task,
            logits.dims()
        );
        assert!(
            self.task != Task::MultiClass || classes > 1,
            "MultiClass logits need at least 2 classes in their last dimension, got shape {:?}",
            logits.dims()
        );
        let is_member = match self.task {
            Task::Binary | Task::MultiLabel => targets.reshape(shape).equal_scalar(1),
            Task::MultiClass => class_mask(targets.reshape([shape[0], 1]), shape),
        };
        let dtype = working_dtype(logits.dtype());
        (logits.reshape(shape).cast(dtype), is_member)
    }

    /// Returns the loss of the rows. The logits and `is_member` are `[rows, classes]`, the weights `[rows, 1]`.
    fn loss_of_rows(&self, logits: Tensor<2>, is_member: Tensor<2, Bool>, weights: Option<Tensor<2>>) -> Tensor<1> {
        let (shape, dtype) = (logits.dims(), working_dtype(logits.dtype()));
        let logits = logits.clamp(-MAX_LOGIT, MAX_LOGIT);
        let detached = logits.clone().without_autodiff();
        let (log_odds, link) = match (self.from_logits, self.task) {
            (false, _) => LogOddsLink::from_probabilities(detached.clone()),
            (true, Task::MultiClass) => LogOddsLink::from_softmax_logits(detached.clone()),
            (true, _) => LogOddsLink::from_logits(detached.clone()),
        };
        let (cdf, density) = self.prior_cdf.value_and_derivative(&log_odds.reshape([shape[0] * shape[1]]));
        let (cdf, density) = (cdf.reshape(shape), density.reshape(shape));

        let weights = weights.map_or_else(|| detached.ones_like(), |weights| weights.expand(shape));
        let positive_weights = weights.clone().mask_fill(is_member.clone().bool_not(), 0.0);
        let negative_weights = weights.clone().mask_fill(is_member.clone(), 0.0);
        let sums = ClassSums {
            fp: self.sum_by_class(negative_weights.clone() * cdf.clone()),
            tp: self.sum_by_class(positive_weights.clone() * cdf),
            negatives: self.sum_by_class(negative_weights),
            positives: self.sum_by_class(positive_weights),
        };
        let loss = self.average_over_classes(sums.loss_and_derivatives(&self.score), &sums);

        let to_rows = |derivative: Tensor<1>| derivative.cast(dtype).unsqueeze::<2>().expand(shape);
        let by_cdf = to_rows(loss.by_negative).mask_where(is_member, to_rows(loss.by_positive));
        let gradient = link.backward(by_cdf * weights * density);
        loss.value.cast(dtype) + (gradient * (logits - detached)).sum()
    }

    /// Sums values over the rows, for each class separately. For the micro average, sums over all rows and all classes.
    fn sum_by_class(&self, values: Tensor<2>) -> Tensor<1> {
        let sums = if self.average == Average::Micro { values.sum() } else { values.sum_dim(0).flatten(0, 1) };
        // The sums are converted to f64, because differences such as tp·tn − fp·fn lose digits by cancellation. There are only a few sums, so
        // the conversion is cheap.
        if sums.device().supports_dtype(DType::F64) { sums.cast(FloatDType::F64) } else { sums }
    }

    /// Averages the losses of the classes. The weights of the classes do not depend on the logits, so they have no derivative.
    fn average_over_classes(&self, loss: LossAndDerivatives, sums: &ClassSums) -> LossAndDerivatives {
        let support = match self.average {
            Average::Weighted => {
                let total = sums.positives.clone().sum();
                // If no class has a positive row, all classes count equally.
                let is_empty = total.equal_scalar(0.0).expand(sums.positives.shape());
                sums.positives.clone().mask_fill(is_empty, 1.0)
            }
            Average::Macro | Average::Micro => sums.positives.ones_like(),
        };
        let class_weights = support.clone() / support.sum();
        LossAndDerivatives {
            value: (loss.value * class_weights.clone()).sum(),
            by_positive: loss.by_positive * class_weights.clone(),
            by_negative: loss.by_negative * class_weights,
        }
    }
}

/// Weighted sums over the rows, with one value per class. For the micro average, there is a single value for all classes.
struct ClassSums {
    fp: Tensor<1>,
    tp: Tensor<1>,
    negatives: Tensor<1>,
    positives: Tensor<1>,
}

/// Losses and their derivatives with respect to F, the distribution function of the prior at the prediction of a row.
struct LossAndDerivatives {
    /// The loss of each class, or the average loss as a single value.
    value: Tensor<1>,
    /// For each class, the derivative with respect to F of a positive row with weight 1.
    by_positive: Tensor<1>,
    /// For each class, the derivative with respect to F of a negative row with weight 1.
    by_negative: Tensor<1>,
}

impl ClassSums {
    /// Returns the loss of each class, computed with the formula and the dual numbers of `scorewise`. The numbers of positive and negative rows are
    /// fixed, so what is added to TP is subtracted from FN, and what is added to FP is subtracted from TN.
    fn loss_and_derivatives(&self, score: &Score) -> LossAndDerivatives {
        let arena = TensorArena::default();
        let remainder = |total: &Tensor<1>, part: &Tensor<1>| (total.clone() - part.clone()).clamp_min(0.0);
        let loss = score.reduced_loss(
            arena.store(remainder(&self.negatives, &self.fp)),
            arena.store(self.fp.clone()),
            arena.store(remainder(&self.positives, &self.tp)),
            arena.store(self.tp.clone()),
            arena.store(self.positives.clone()),
            arena.store(self.negatives.clone()),
        );
        let bounded = |derivative: ClassValues<'_>, class_weight: &Tensor<1>| {
            let derivative = derivative.to_tensor(class_weight);
            // As in `scorewise`, the derivative is set to 0 where two infinite terms make it NaN, and for a class whose positive (or negative) rows
            // have the total weight 0. An infinite derivative is limited to `MAX_DERIVATIVE`, so that its product with a row weight still fits into
            // f32.
            let is_zero = derivative.clone().is_nan().bool_or(class_weight.clone().equal_scalar(0.0));
            derivative.mask_fill(is_zero, 0.0).clamp(-MAX_DERIVATIVE, MAX_DERIVATIVE)
        };
        LossAndDerivatives {
            value: loss.value.to_tensor(&self.tp),
            by_positive: bounded(loss.positive, &self.positives),
            by_negative: bounded(loss.negative, &self.negatives),
        }
    }
}

/// The floating-point type in which the loss is computed: f64 for f64 predictions, f32 for all others.
fn working_dtype(dtype: DType) -> FloatDType {
    if dtype == DType::F64 { FloatDType::F64 } else { FloatDType::F32 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed unwrap fails the test
mod tests {
    use super::*;
    use burn::tensor::Device;
    use scorewise::score::REGISTRY;

    #[test]
    fn every_score_is_accurate_to_four_digits_when_the_sums_are_f32() {
        let matrices = [[2680.0, 72.0, 23.0, 28.0], [40.5, 10.25, 7.75, 30.5], [3.0, 900.0, 1.0, 400.0]];
        let column =
            |value: fn([f64; 4]) -> f64| Tensor::<1>::from_data(matrices.map(value), (&Device::flex(), DType::F32));
        let sums = ClassSums {
            fp: column(|[_, fp, _, _]| fp),
            tp: column(|[_, _, _, tp]| tp),
            negatives: column(|[tn, fp, _, _]| tn + fp),
            positives: column(|[_, _, fn_, tp]| fn_ + tp),
        };
        for score in REGISTRY.iter().filter_map(Score::example) {
            let loss = sums.loss_and_derivatives(&score);
            assert_eq!(loss.value.dtype(), DType::F32);
            let got =
                [loss.value, loss.by_positive, loss.by_negative].map(|values| values.try_into_vec_as::<f64>().unwrap());
            for (class, [tn, fp, fn_, tp]) in matrices.into_iter().enumerate() {
                let expected = score.reduced_loss(tn, fp, fn_, tp, tp + fn_, tn + fp);
                let largest_derivative = expected.positive.abs().max(expected.negative.abs());
                let pairs = [
                    (got[0][class], expected.value, expected.value.abs().max(1.0)),
                    (got[1][class], expected.positive, largest_derivative),
                    (got[2][class], expected.negative, largest_derivative),
                ];
                for (got, expected, scale) in pairs {
                    assert!(
                        (got - expected).abs() <= 1e-4 * scale,
                        "{score}, class {class}: got {got}, expected {expected}"
                    );
                }
            }
        }
    }
}
