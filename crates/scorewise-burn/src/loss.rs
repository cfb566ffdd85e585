//! The loss: 1 − the score of the expected confusion matrix, with the gradient in closed form.
//!
//! ```text
//! predictions → log-odds → F, dF/dz → sums a class → ℓ, g₁, g₀ a class → average → ∂ℓ/∂predictions → one product for autodiff
//! ```
//!
//! The product is Σ c (z − z′), where c is the gradient and z′ the same logits without a graph: its value is 0, its gradient is c.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::{Bool, DType, FloatDType, Int, Tensor};
use scorewise::multiclass::Average;
use scorewise::{Prior, Score};

use crate::config::Task;
use crate::figure::{Figure, Slate};
use crate::law::Law;
use crate::link::{Link, is_class};

/// Beyond this a logit is as good as infinite; z − z′ of an infinite one would be no number.
const FARTHEST: f64 = 1e30;

/// A score-oriented loss. Made by [`ScoreLossConfig`](crate::ScoreLossConfig).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct ScoreLoss {
    #[module(skip)]
    score: Score,
    #[module(skip)]
    prior: Prior,
    #[module(skip)]
    law: Law,
    #[module(skip)]
    task: Task,
    #[module(skip)]
    average: Average,
    from_logits: bool,
}

impl ModuleDisplay for ScoreLoss {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

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
    pub(crate) fn new(score: Score, prior: Prior, task: Task, average: Average, from_logits: bool) -> Self {
        let law = Law::new(&prior);
        ScoreLoss { score, prior, law, task, average, from_logits }
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The loss of a batch, a tensor of one number.
    ///
    /// f64 logits are computed with in f64, all others in f32: half precision cannot even count the rows of a batch. A logit that is no
    /// number shows in the loss.
    ///
    /// # Shapes
    ///
    /// Binary, each element a row:
    /// - logits: any, such as `[batch_size]`, `[batch_size, 1]` or a mask `[batch_size, 1, height, width]`
    /// - targets: the same number of elements; 1 is positive, all else negative
    ///
    /// Multi-label:
    /// - logits: `[…, num_classes]`
    /// - targets: `[…, num_classes]`; 1 where the row has the label
    ///
    /// Multi-class:
    /// - logits: `[…, num_classes]`
    /// - targets: a class from 0 for each row; a number beyond the classes belongs to none
    pub fn forward<const D: usize, const T: usize>(&self, logits: Tensor<D>, targets: Tensor<T, Int>) -> Tensor<1> {
        let (logits, members) = self.rows(logits, targets);
        self.of_rows(logits, members, None)
    }

    /// The loss of a batch in which each row has a weight, 0 or above.
    ///
    /// # Shapes
    ///
    /// - logits, targets: as [`forward`](Self::forward) takes them
    /// - weights: one number a row; of binary targets, one an element
    pub fn forward_weighted<const D: usize, const T: usize, const W: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<T, Int>,
        weights: Tensor<W>,
    ) -> Tensor<1> {
        let (logits, members) = self.rows(logits, targets);
        let (rows, got) = (logits.dims()[0], weights.shape().num_elements());
        assert!(got == rows, "weights must be one for each of the {rows} rows, not {got}");
        let weights = weights.without_autodiff().reshape([rows, 1]).cast(working(logits.dtype()));
        self.of_rows(logits, members, Some(weights))
    }

    /// Logits in working precision and who belongs to which class, both `[rows, classes]`.
    fn rows<const D: usize, const T: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<T, Int>,
    ) -> (Tensor<2>, Tensor<2, Bool>) {
        let (elements, last) = (logits.shape().num_elements(), logits.dims()[D - 1]);
        assert!(elements > 0, "there are no rows; at least one is needed");
        let classes = if self.task == Task::Binary { 1 } else { last };
        let (shape, targets) = ([elements / classes, classes], targets.without_autodiff());
        let got = targets.shape().num_elements();
        let expected = if self.task == Task::MultiClass { shape[0] } else { elements };
        assert!(
            got == expected,
            "targets must hold {expected} numbers for logits of shape {:?} and {:?} targets, not {got}",
            logits.dims(),
            self.task
        );
        assert!(
            self.task != Task::MultiClass || classes > 1,
            "classes that exclude each other are at least 2, not {classes}: logits have shape {:?}",
            logits.dims()
        );
        let members = match self.task {
            Task::Binary | Task::MultiLabel => targets.reshape(shape).equal_scalar(1),
            Task::MultiClass => is_class(targets.reshape([shape[0], 1]), shape),
        };
        let dtype = working(logits.dtype());
        (logits.reshape(shape).cast(dtype), members)
    }

    fn of_rows(&self, logits: Tensor<2>, members: Tensor<2, Bool>, weights: Option<Tensor<2>>) -> Tensor<1> {
        let (shape, dtype) = (logits.dims(), working(logits.dtype()));
        let logits = logits.clamp(-FARTHEST, FARTHEST);
        let still = logits.clone().without_autodiff();
        let (log_odds, link) = match (self.from_logits, self.task) {
            (false, _) => Link::probabilities(still.clone()),
            (true, Task::MultiClass) => Link::softmax(still.clone()),
            (true, _) => Link::logits(still.clone()),
        };
        let (predicted, density) = self.law.value_and_slope(&log_odds.reshape([shape[0] * shape[1]]));
        let (predicted, density) = (predicted.reshape(shape), density.reshape(shape));

        let weights = weights.map_or_else(|| still.ones_like(), |weights| weights.expand(shape));
        let of_positives = weights.clone().mask_fill(members.clone().bool_not(), 0.0);
        let of_negatives = weights.clone().mask_fill(members.clone(), 0.0);
        let sums = Sums {
            fp: self.sum(of_negatives.clone() * predicted.clone()),
            tp: self.sum(of_positives.clone() * predicted),
            negatives: self.sum(of_negatives),
            positives: self.sum(of_positives),
        };
        let loss = self.average(sums.loss(&self.score), &sums);

        let spread = |slope: Tensor<1>| slope.cast(dtype).unsqueeze::<2>().expand(shape);
        let by_prediction = spread(loss.negative).mask_where(members, spread(loss.positive));
        let gradient = link.backward(by_prediction * weights * density);
        loss.value.cast(dtype) + (gradient * (logits - still)).sum()
    }

    /// Over the rows, for each class; for a micro average over all.
    fn sum(&self, values: Tensor<2>) -> Tensor<1> {
        let sums = if self.average == Average::Micro { values.sum() } else { values.sum_dim(0).flatten(0, 1) };
        // A handful of numbers costs nothing in f64, and tp·tn − fp·fn has digits to lose.
        if sums.device().supports_dtype(DType::F64) { sums.cast(FloatDType::F64) } else { sums }
    }

    /// One loss of the losses of the classes. Their shares are sums of weights, which no logit moves.
    fn average(&self, loss: Reduced, sums: &Sums) -> Reduced {
        let support = match self.average {
            Average::Weighted => {
                let all = sums.positives.clone().sum();
                // Where no class has a row there is nothing to weigh by.
                let is_empty = all.equal_scalar(0.0).expand(sums.positives.shape());
                sums.positives.clone().mask_fill(is_empty, 1.0)
            }
            Average::Macro | Average::Micro => sums.positives.ones_like(),
        };
        let shares = support.clone() / support.sum();
        Reduced {
            value: (loss.value * shares.clone()).sum(),
            positive: loss.positive * shares.clone(),
            negative: loss.negative * shares,
        }
    }
}

/// What the rows add up to, for each class.
struct Sums {
    fp: Tensor<1>,
    tp: Tensor<1>,
    negatives: Tensor<1>,
    positives: Tensor<1>,
}

/// A loss with its slopes by F of a positive and of a negative row, for each class or for all.
struct Reduced {
    value: Tensor<1>,
    positive: Tensor<1>,
    negative: Tensor<1>,
}

impl Sums {
    /// The loss of each class by the core's formula and calculus. Row sums are kept: what is not predicted positive is predicted negative.
    fn loss(&self, score: &Score) -> Reduced {
        let slate = Slate::default();
        let rest = |all: &Tensor<1>, part: &Tensor<1>| (all.clone() - part.clone()).clamp_min(0.0);
        let loss = score.reduced_loss(
            slate.write(rest(&self.negatives, &self.fp)),
            slate.write(self.fp.clone()),
            slate.write(rest(&self.positives, &self.tp)),
            slate.write(self.tp.clone()),
            slate.write(self.positives.clone()),
            slate.write(self.negatives.clone()),
        );
        let slope = |slope: Figure<'_>, weight: &Tensor<1>| {
            let slope = slope.like(weight);
            // As in the core: a class without weight moves nothing, two infinite slopes against each other say nothing, and one alone is cut
            // to what f32 can still multiply.
            let is_none = slope.clone().is_nan().bool_or(weight.clone().equal_scalar(0.0));
            slope.mask_fill(is_none, 0.0).clamp(-STEEPEST, STEEPEST)
        };
        Reduced {
            value: loss.value.like(&self.tp),
            positive: slope(loss.positive, &self.positives),
            negative: slope(loss.negative, &self.negatives),
        }
    }
}

/// The greatest slope, with room for weights up to 1e8.
const STEEPEST: f64 = 1e30;

fn working(dtype: DType) -> FloatDType {
    if dtype == DType::F64 { FloatDType::F64 } else { FloatDType::F32 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // in a test, a panic is the report
mod tests {
    use super::*;
    use burn::tensor::Device;
    use scorewise::score::ROWS;

    #[test]
    fn a_device_without_f64_still_has_four_digits_of_every_score() {
        let matrices = [[2680.0, 72.0, 23.0, 28.0], [40.5, 10.25, 7.75, 30.5], [3.0, 900.0, 1.0, 400.0]];
        let column =
            |value: fn([f64; 4]) -> f64| Tensor::<1>::from_data(matrices.map(value), (&Device::flex(), DType::F32));
        let sums = Sums {
            fp: column(|[_, fp, _, _]| fp),
            tp: column(|[_, _, _, tp]| tp),
            negatives: column(|[tn, fp, _, _]| tn + fp),
            positives: column(|[_, _, fn_, tp]| fn_ + tp),
        };
        for score in ROWS.iter().filter_map(Score::example) {
            let loss = sums.loss(&score);
            assert_eq!(loss.value.dtype(), DType::F32);
            let got = [loss.value, loss.positive, loss.negative].map(|part| part.try_into_vec_as::<f64>().unwrap());
            for (at, [tn, fp, fn_, tp]) in matrices.into_iter().enumerate() {
                let expected = score.reduced_loss(tn, fp, fn_, tp, tp + fn_, tn + fp);
                let steepest = expected.positive.abs().max(expected.negative.abs());
                let pairs = [
                    (got[0][at], expected.value, expected.value.abs().max(1.0)),
                    (got[1][at], expected.positive, steepest),
                    (got[2][at], expected.negative, steepest),
                ];
                for (got, expected, scale) in pairs {
                    assert!((got - expected).abs() <= 1e-4 * scale, "{score} at {at}: {got} for {expected}");
                }
            }
        }
    }
}
