//! A score as burn-train watches it: of the whole epoch, not the mean over its batches.
//!
//! ```text
//! batch 1: tn₁ fp₁ fn₁ tp₁        batch 2: tn₂ fp₂ fn₂ tp₂        epoch: s(tn₁ + tn₂, fp₁ + fp₂, fn₁ + fn₂, tp₁ + tp₂)
//! ```
//!
//! The mean of batch scores is another number, and a batch without positives spoils it.

use std::sync::Arc;

use burn::tensor::{Bool, FloatDType, Tensor, TensorReadError};
use burn::train::metric::{
    Adaptor, ConfusionStatsInput, Metric, MetricAttributes, MetricMetadata, MetricName, Numeric, NumericAttributes,
    NumericEntry, SerializedEntry, format_float,
};
use burn::train::{ClassificationOutput, MultiLabelClassificationOutput};
use scorewise::{Confusion, Direction, Error, Score};

/// Predictions and targets of a batch, `[batch_size, num_classes]` both; one class where the answer is yes or no.
///
/// burn's [`ClassificationOutput`] and [`MultiLabelClassificationOutput`] adapt to it; an output of one's own implements [`Adaptor`].
#[derive(Clone, Debug)]
pub struct ScoreInput {
    /// Logits or probabilities, as the metric was told.
    pub predictions: Tensor<2>,
    /// True where the row belongs to the class.
    pub targets: Tensor<2, Bool>,
}

impl ScoreInput {
    /// Predictions and targets of one shape.
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

/// A score of the registry, or a formula of one's own, at a threshold.
///
/// Of several classes it is that of all decisions together (the micro average), or of one class; register a metric for each class one
/// cares about. Where a score is undefined there is no value to plot; what is final counts x/0 as 0, as the loss does, so that early
/// stopping and checkpoints always have a number to compare.
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
/// assert_eq!(f1.final_value().current(), 2.0 / 4.0); // one hit, one false alarm, one miss
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScoreMetric {
    score: Score,
    /// A probability.
    threshold: f64,
    from_logits: bool,
    class: Option<usize>,
    batch: Counted,
    epoch: Counted,
}

/// A matrix, and the rows it was counted from.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    matrix: Confusion,
    rows: usize,
}

impl ScoreMetric {
    /// The score of logits at a probability of ½, over all classes.
    pub fn new(score: &str) -> scorewise::Result<Self> {
        let (batch, epoch) = (Counted::default(), Counted::default());
        Ok(ScoreMetric { score: Score::parse(score)?, threshold: 0.5, from_logits: true, class: None, batch, epoch })
    }

    /// At another threshold, a probability in [0, 1]. A prediction is positive strictly above it.
    pub fn with_threshold(mut self, threshold: f64) -> scorewise::Result<Self> {
        if !(0.0..=1.0).contains(&threshold) {
            let reason = format!("must be a probability between 0 and 1, not {threshold}");
            return Err(Error::Setting { what: "threshold", reason });
        }
        self.threshold = threshold;
        Ok(self)
    }

    /// Predictions are probabilities, such as those of a softmax.
    #[must_use]
    pub fn from_probabilities(mut self) -> Self {
        self.from_logits = false;
        self
    }

    /// Of this class alone, from 0.
    #[must_use]
    pub fn of_class(mut self, class: usize) -> Self {
        self.class = Some(class);
        self
    }

    /// The matrix of the epoch so far.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        self.epoch.matrix
    }

    fn count(&self, input: &ScoreInput) -> Result<Counted, TensorReadError> {
        let (mut predictions, mut targets) = (input.predictions.clone(), input.targets.clone());
        if let Some(class) = self.class {
            (predictions, targets) = (predictions.narrow(1, class, 1), targets.narrow(1, class, 1));
        }
        let [rows, classes] = predictions.dims();
        let alarms = predictions.cast(FloatDType::F32).greater_scalar(self.cut());
        let hits = alarms.clone().bool_and(targets.clone());
        // One reading of three numbers; the fourth is what is left of the rows.
        let sums = Tensor::cat(vec![hits.int().sum(), alarms.int().sum(), targets.int().sum()], 0);
        let sums = sums.try_into_vec_as::<i64>()?;
        let (tp, fp, fn_) = (sums[0], sums[1] - sums[0], sums[2] - sums[0]);
        let tn = (rows * classes) as i64 - tp - fp - fn_;
        Ok(Counted { matrix: Confusion::new(tn as f64, fp as f64, fn_ as f64, tp as f64), rows })
    }

    /// What an f32 prediction must exceed: the greatest f32 that does not exceed the threshold, so that none is judged by a rounded one.
    fn cut(&self) -> f32 {
        let exact = if self.from_logits { (self.threshold / (1.0 - self.threshold)).ln() } else { self.threshold };
        let near = exact as f32;
        if f64::from(near) > exact { near.next_down() } else { near }
    }

    fn entry(&self, serialized: String) -> SerializedEntry {
        let shown = |counted: &Counted| match self.score.checked(&counted.matrix) {
            Some(value) => format_float(value, 4),
            None => "undefined".into(),
        };
        SerializedEntry::new(format!("epoch {} - batch {}", shown(&self.epoch), shown(&self.batch)), serialized)
    }

    fn aggregated(&self, counted: &Counted) -> Option<NumericEntry> {
        let entry = |value| NumericEntry::Aggregated { aggregated_value: value, count: counted.rows };
        self.score.checked(&counted.matrix).map(entry)
    }
}

impl Metric for ScoreMetric {
    type Input = ScoreInput;

    fn name(&self) -> MetricName {
        let class = self.class.map_or(String::new(), |class| format!(", class {class}"));
        Arc::new(format!("{} at {}{class}", self.score, self.threshold))
    }

    fn description(&self) -> Option<String> {
        Some(self.score.formula().text())
    }

    fn attributes(&self) -> MetricAttributes {
        // burn knows higher and lower; a score with an ideal value in between is plotted as it is.
        let higher_is_better = self.score.direction() != Direction::Lower;
        NumericAttributes { unit: None, higher_is_better }.into()
    }

    fn update(&mut self, input: &ScoreInput, _: &MetricMetadata) -> Result<SerializedEntry, TensorReadError> {
        self.batch = self.count(input)?;
        self.epoch.matrix += self.batch.matrix;
        self.epoch.rows += self.batch.rows;
        let serialized = self.aggregated(&self.batch).map(|entry| entry.serialize());
        Ok(self.entry(serialized.unwrap_or_else(|| SerializedEntry::NOT_AVAILABLE.into())))
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        Ok(self.entry(self.final_value().serialize()))
    }

    fn clear(&mut self) {
        (self.batch, self.epoch) = (Counted::default(), Counted::default());
    }
}

impl Numeric for ScoreMetric {
    fn value(&self) -> Option<NumericEntry> {
        self.aggregated(&self.batch)
    }

    fn running_value(&self) -> Option<NumericEntry> {
        self.aggregated(&self.epoch)
    }

    fn final_value(&self) -> NumericEntry {
        NumericEntry::Final(self.score.value(&self.epoch.matrix))
    }
}
