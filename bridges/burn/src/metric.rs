//! A metric for burn-train: the score s of a whole epoch, computed from the sum of the confusion matrices of its batches.
//!
//! ```text
//! batch 1: tn₁ fp₁ fn₁ tp₁        batch 2: tn₂ fp₂ fn₂ tp₂        epoch: s(tn₁ + tn₂, fp₁ + fp₂, fn₁ + fn₂, tp₁ + tp₂)
//! ```
//!
//! The mean of the scores of the batches would be a different number. It would also be undefined if the score of a single batch is undefined, for
//! example because that batch has no positives.

use std::sync::Arc;

use burn::tensor::{Bool, FloatDType, Tensor, TensorReadError};
use burn::train::metric::{
    Adaptor, ConfusionStatsInput, Metric, MetricAttributes, MetricMetadata, MetricName, Numeric, NumericAttributes,
    NumericEntry, SerializedEntry, format_float,
};
use burn::train::{ClassificationOutput, MultiLabelClassificationOutput};
use scorewise::{Confusion, Direction, Error, Score};

/// Predictions and targets of a batch, both `[batch_size, num_classes]`; `num_classes` is 1 for binary classification.
///
/// burn's [`ClassificationOutput`] and [`MultiLabelClassificationOutput`] can be converted to this type; implement [`Adaptor`] for your own.
#[derive(Clone, Debug)]
pub struct ScoreInput {
    /// Logits; probabilities if the metric was created with `with_from_logits(false)`.
    pub predictions: Tensor<2>,
    /// For each row and class, whether the row belongs to the class.
    pub targets: Tensor<2, Bool>,
}

impl ScoreInput {
    /// Creates an input; predictions and targets must have the same shape.
    #[must_use]
    pub fn new(predictions: Tensor<2>, targets: Tensor<2, Bool>) -> Self {
        ScoreInput { predictions, targets }
    }
}

impl From<ConfusionStatsInput> for ScoreInput {
    fn from(input: ConfusionStatsInput) -> Self {
        ScoreInput::new(input.predictions, input.targets)
    }
}

impl Adaptor<ScoreInput> for ClassificationOutput {
    fn adapt(&self) -> ScoreInput {
        Adaptor::<ConfusionStatsInput>::adapt(self).into()
    }
}

impl Adaptor<ScoreInput> for MultiLabelClassificationOutput {
    fn adapt(&self) -> ScoreInput {
        Adaptor::<ConfusionStatsInput>::adapt(self).into()
    }
}

/// A metric for burn-train: a registered score, or your own formula, at a threshold.
///
/// With several classes, the metric is the micro average over all classes, or the score of one class; create one metric for each class of interest.
/// While the score is undefined, the metric has no value to plot. In the final value of an epoch, a division by 0 gives 0, as in the loss, so that
/// early stopping and checkpoints always have a number to compare.
///
/// ```
/// use burn::tensor::{Bool, Device, Tensor};
/// use burn::train::metric::{Metric, MetricMetadata, Numeric};
/// use scorewise_burn::{ScoreInput, ScoreMetric};
///
/// let device = Device::flex();
/// let targets = Tensor::<2, Bool>::from_bool([[true], [false], [true]], &device);
/// let input = ScoreInput::new(Tensor::from_floats([[1.5], [0.2], [-0.3]], &device), targets);
/// let mut f1 = ScoreMetric::new("f1")?;
/// # use burn::data::dataloader::Progress;
/// # let progress = Progress { items_processed: 3, items_total: 3, unit: None };
/// # let metadata = MetricMetadata { progress, iteration: None, lr: None };
/// f1.update(&input, &metadata).unwrap();
/// assert_eq!(f1.final_value().current(), 2.0 / 4.0); // one true positive, one false positive, one false negative
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScoreMetric {
    score: Score,
    /// The threshold as a probability, even if predictions are logits.
    threshold: f64,
    from_logits: bool,
    class: Option<usize>,
    batch: MatrixAndRows,
    epoch: MatrixAndRows,
}

/// A confusion matrix and the number of rows that it counts.
#[derive(Clone, Copy, Debug, Default)]
struct MatrixAndRows {
    matrix: Confusion,
    rows: usize,
}

impl ScoreMetric {
    /// Creates a metric for logits, with the threshold at probability ½. With several classes, it is the micro average over all classes.
    pub fn new(score: &str) -> scorewise::Result<Self> {
        let (batch, epoch) = (MatrixAndRows::default(), MatrixAndRows::default());
        Ok(ScoreMetric { score: Score::parse(score)?, threshold: 0.5, from_logits: true, class: None, batch, epoch })
    }

    /// Sets the threshold, a probability in [0, 1]. Predictions strictly above the threshold are positive.
    pub fn with_threshold(mut self, threshold: f64) -> scorewise::Result<Self> {
        if !(0.0..=1.0).contains(&threshold) {
            let reason = format!("must be a probability between 0 and 1, not {threshold}");
            return Err(Error::Setting { what: "threshold", reason });
        }
        self.threshold = threshold;
        Ok(self)
    }

    /// Sets whether predictions are logits (the default) or probabilities, such as those of a softmax.
    #[must_use]
    pub fn with_from_logits(mut self, from_logits: bool) -> Self {
        self.from_logits = from_logits;
        self
    }

    /// Restricts the metric to one class, given by its index from 0.
    #[must_use]
    pub fn with_class(mut self, class: usize) -> Self {
        self.class = Some(class);
        self
    }

    /// The confusion matrix of all batches of the epoch so far.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        self.epoch.matrix
    }

    /// Counts the confusion matrix of one batch at the threshold of the metric.
    fn count_batch(&self, input: &ScoreInput) -> Result<MatrixAndRows, TensorReadError> {
        let (mut predictions, mut targets) = (input.predictions.clone(), input.targets.clone());
        if let Some(class) = self.class {
            (predictions, targets) = (predictions.narrow(1, class, 1), targets.narrow(1, class, 1));
        }
        let [rows, classes] = predictions.dims();
        let predicted = predictions.cast(FloatDType::F32).greater_scalar(self.f32_threshold());
        let true_positives = predicted.clone().bool_and(targets.clone());
        // Only three sums are read from the device, in one transfer. All four cells of the matrix follow from these sums and the numbers of rows and
        // classes.
        let sums = Tensor::cat(vec![true_positives.int().sum(), predicted.int().sum(), targets.int().sum()], 0);
        let sums = sums.try_into_vec_as::<i64>()?;
        let (tp, fp, fn_) = (sums[0], sums[1] - sums[0], sums[2] - sums[0]);
        let tn = (rows * classes) as i64 - tp - fp - fn_;
        Ok(MatrixAndRows { matrix: Confusion::new(tn as f64, fp as f64, fn_ as f64, tp as f64), rows })
    }

    /// The threshold for predictions of type f32: the largest f32 that does not exceed the exact threshold. An f32 prediction is above this f32 if
    /// and only if it is above the exact threshold.
    fn f32_threshold(&self) -> f32 {
        let exact = if self.from_logits { (self.threshold / (1.0 - self.threshold)).ln() } else { self.threshold };
        let nearest = exact as f32;
        if f64::from(nearest) > exact { nearest.next_down() } else { nearest }
    }

    /// An entry for burn's log that shows the scores of the epoch so far and of the last batch as text; `serialized` is the value that burn
    /// stores.
    fn formatted_entry(&self, serialized: String) -> SerializedEntry {
        let formatted = |counts: &MatrixAndRows| match self.score.checked(&counts.matrix) {
            Some(value) => format_float(value, 4),
            None => "undefined".into(),
        };
        SerializedEntry::new(format!("epoch {} - batch {}", formatted(&self.epoch), formatted(&self.batch)), serialized)
    }

    /// The score of a confusion matrix, together with the number of rows that the matrix counts; `None` while the score is undefined.
    fn numeric_entry(&self, counts: &MatrixAndRows) -> Option<NumericEntry> {
        let entry = |value| NumericEntry::Aggregated { aggregated_value: value, count: counts.rows };
        self.score.checked(&counts.matrix).map(entry)
    }
}

impl Metric for ScoreMetric {
    type Input = ScoreInput;

    /// The score and the threshold, such as `f1 at 0.5`. If the metric is restricted to a class, the name ends with it: `f1 at 0.5, class 2`.
    fn name(&self) -> MetricName {
        let class = self.class.map_or(String::new(), |class| format!(", class {class}"));
        Arc::new(format!("{} at {}{class}", self.score, self.threshold))
    }

    /// The formula of the score.
    fn description(&self) -> Option<String> {
        Some(self.score.formula().text())
    }

    /// Tells burn whether higher or lower values are better.
    fn attributes(&self) -> MetricAttributes {
        // burn knows only "higher is better" and "lower is better". A score that should come near an ideal value is reported as "higher is better".
        let higher_is_better = self.score.direction() != Direction::Lower;
        NumericAttributes { unit: None, higher_is_better }.into()
    }

    /// Adds a batch to the epoch, and returns an entry for burn's log with the score of this batch and of the epoch so far.
    fn update(&mut self, input: &ScoreInput, _: &MetricMetadata) -> Result<SerializedEntry, TensorReadError> {
        self.batch = self.count_batch(input)?;
        self.epoch.matrix += self.batch.matrix;
        self.epoch.rows += self.batch.rows;
        let serialized = self.numeric_entry(&self.batch).map(|entry| entry.serialize());
        Ok(self.formatted_entry(serialized.unwrap_or_else(|| SerializedEntry::NOT_AVAILABLE.into())))
    }

    /// Returns an entry for burn's log whose stored value is the final value of the epoch.
    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        Ok(self.formatted_entry(self.final_value().serialize()))
    }

    /// Forgets all batches, so that a new epoch can begin.
    fn clear(&mut self) {
        (self.batch, self.epoch) = (MatrixAndRows::default(), MatrixAndRows::default());
    }
}

impl Numeric for ScoreMetric {
    /// The score of the last batch; `None` if it is undefined.
    fn value(&self) -> Option<NumericEntry> {
        self.numeric_entry(&self.batch)
    }

    /// The score of the epoch so far; `None` while it is undefined.
    fn running_value(&self) -> Option<NumericEntry> {
        self.numeric_entry(&self.epoch)
    }

    /// The score of the epoch, in which a division by 0 gives 0.
    fn final_value(&self) -> NumericEntry {
        NumericEntry::Final(self.score.value(&self.epoch.matrix))
    }
}
