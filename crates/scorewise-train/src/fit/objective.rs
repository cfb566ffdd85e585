//! The loss to minimise: its value and its gradient with respect to the logits, computed from the logits, labels and weights of a batch.
//!
//! With two classes a row has one logit; with more it has one logit for each class. The training loop is the same in both cases.

use scorewise::multiclass::{MultiScore, OneVersusRest, SimplexLoss, SoftmaxCrossEntropy, softmax};
use scorewise::sweep::Best;
use scorewise::temporal::TemporalLoss;
use scorewise::{CrossEntropy, ExactLoss, Loss, Prior, Result, Score, ScoreLoss};

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use crate::network::log_odds;

/// The curvature of the loss with respect to a logit is at least this fraction of a typical curvature. The typical curvature of [`ScoreLoss`] is the
/// curvature at the mean of the prior; that of other score-oriented losses is the mean of |gradient| over all logits.
const MIN_CURVATURE_SHARE: f64 = 0.1;
/// Minimum curvature of the loss with respect to a logit. It is above 0 because the values of leaves are divided by sums of curvatures.
const MIN_CURVATURE: f32 = 1e-16;

/// The loss to minimise, which also determines the number of logits of a row. When it is serialised, its score and its priors become the names
/// or formulas that users write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ObjectiveDescription", try_from = "ObjectiveDescription")]
#[non_exhaustive]
pub enum Objective {
    /// A loss for two classes with one logit for each row. Label 1 is the positive class.
    Binary(Loss),
    /// A loss for two classes in a time series, in which errors are weighted by their timing. The rows of a batch must be in the order of time.
    Temporal(TemporalLoss),
    /// A loss for many classes that compares every class with all others. A row has one logit for each class.
    OneVersusRest(OneVersusRest),
    /// A loss for many classes that compares all classes at once, not each class with the rest. A row has one logit for each class.
    Simplex(SimplexLoss),
    /// The cross-entropy of a softmax over many classes. A row has one logit for each class.
    Softmax(SoftmaxCrossEntropy),
}

impl From<Loss> for Objective {
    fn from(loss: Loss) -> Self {
        Objective::Binary(loss)
    }
}

impl Objective {
    /// Number of logits of a row if there are `classes` classes.
    #[must_use]
    pub fn outputs(&self, classes: usize) -> usize {
        if self.is_binary() { 1 } else { classes }
    }

    /// Whether this is a loss for two classes, in which a row has one logit.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        matches!(self, Objective::Binary(_) | Objective::Temporal(_))
    }

    /// The two-class score on which the loss is based; with more than two classes, it is applied to each class against the rest. `None` for
    /// cross-entropy and for [`Objective::Simplex`].
    #[must_use]
    pub fn score(&self) -> Option<&Score> {
        match self {
            Objective::Binary(Loss::Score(loss)) => Some(loss.score()),
            Objective::Binary(Loss::Exact(loss)) => Some(loss.score()),
            Objective::Temporal(loss) => Some(loss.score()),
            Objective::OneVersusRest(loss) => Some(loss.score()),
            _ => None,
        }
    }

    /// Prior distributions of the random thresholds: one prior for all logits of a row, or one for each logit. Empty for a cross-entropy, which has
    /// no random threshold, and for [`Objective::Simplex`], whose random thresholds follow Gumbel distributions.
    #[must_use]
    pub fn priors(&self) -> &[Prior] {
        match self {
            Objective::Binary(Loss::Score(loss)) => std::slice::from_ref(loss.prior()),
            Objective::Binary(Loss::Exact(loss)) => std::slice::from_ref(loss.prior()),
            Objective::Temporal(loss) => std::slice::from_ref(loss.prior()),
            Objective::OneVersusRest(loss) => loss.priors(),
            _ => &[],
        }
    }

    /// The cross-entropy that is minimised during a warm-up; `None` if this loss is itself a cross-entropy.
    #[must_use]
    pub fn warm_up(&self) -> Option<Objective> {
        match self {
            Objective::Binary(Loss::CrossEntropy(_)) | Objective::Softmax(_) => None,
            Objective::Binary(_) | Objective::Temporal(_) => {
                Some(Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain())))
            }
            Objective::OneVersusRest(_) | Objective::Simplex(_) => {
                Some(Objective::Softmax(SoftmaxCrossEntropy::plain()))
            }
        }
    }

    /// Value of the loss on a batch.
    pub(crate) fn value(&self, batch: &Batch) -> Result<f64> {
        match self {
            Objective::Binary(loss) => loss.value(&batch.two_class_rows()?),
            Objective::Temporal(loss) => loss.value(&batch.series()?),
            Objective::OneVersusRest(loss) => loss.value(&batch.multiclass_rows()?),
            Objective::Simplex(loss) => loss.value(&batch.multiclass_rows()?),
            Objective::Softmax(loss) => loss.value(&batch.multiclass_rows()?),
        }
    }

    /// Value of the loss on a batch. The gradient with respect to the logits is written to `batch.gradient`.
    pub(crate) fn value_and_gradient(&self, batch: &mut Batch) -> Result<f64> {
        let mut gradient = std::mem::take(&mut batch.gradient);
        let value = match self {
            Objective::Binary(loss) => {
                batch.two_class_rows().and_then(|rows| loss.value_and_gradient(&rows, &mut gradient))
            }
            Objective::Temporal(loss) => {
                batch.series().and_then(|series| loss.value_and_gradient(&series, &mut gradient))
            }
            Objective::OneVersusRest(loss) => {
                batch.multiclass_rows().and_then(|rows| loss.value_and_gradient(&rows, &mut gradient))
            }
            Objective::Simplex(loss) => {
                batch.multiclass_rows().and_then(|rows| loss.value_and_gradient(&rows, &mut gradient))
            }
            Objective::Softmax(loss) => {
                batch.multiclass_rows().and_then(|rows| loss.value_and_gradient(&rows, &mut gradient))
            }
        };
        batch.gradient = gradient;
        value
    }

    /// For gradient-boosted trees: writes the gradient of the loss with respect to the logits to `batch.gradient`, and a positive curvature for each
    /// logit to `curvature`. Both are multiplied by the sum of the sample weights (for [`ScoreLoss`] by the number of rows), because the derivatives
    /// of a mean over the rows would be tiny. Returns the value of the loss.
    ///
    /// The curvature of a cross-entropy is its second derivative. For a row with probability p, label y and weight c, the gradient is c (p − y) and
    /// the second derivative is c p (1 − p) = |gradient| (1 − |p − y|). The other losses are not convex, so their curvature is a number that is at
    /// least |gradient|. With this curvature the value of a leaf, −Σ gradient / Σ curvature, lies between −1 and 1.
    pub(crate) fn gradient_and_curvature(&self, batch: &mut Batch, curvature: &mut [f32]) -> Result<f64> {
        if let Objective::Binary(Loss::Score(loss)) = self {
            let mut gradient = std::mem::take(&mut batch.gradient);
            let result = batch
                .two_class_rows()
                .and_then(|rows| loss.gradient_and_curvature(&rows, MIN_CURVATURE_SHARE, &mut gradient, curvature));
            batch.gradient = gradient;
            result?;
            return self.value(batch);
        }
        let value = self.value_and_gradient(batch)?;
        let (rows, outputs) = (batch.labels.len(), batch.outputs());
        // Multiplied by the sum of the weights, the gradient of a mean over the rows becomes the gradient of a sum over the rows.
        let total = batch.weights.as_ref().map_or(rows as f64, |weights| weights.iter().copied().map(f64::from).sum());
        batch.gradient.iter_mut().for_each(|gradient| *gradient *= total as f32);
        if matches!(self, Objective::Binary(Loss::CrossEntropy(_)) | Objective::Softmax(_)) {
            let mut probabilities = vec![0.0; outputs];
            for (row, label) in batch.labels.iter().enumerate() {
                let row = row * outputs..(row + 1) * outputs;
                if outputs == 1 {
                    let p = 1.0 / (1.0 + (-batch.logits[row.start]).exp());
                    let share = if *label == 0 { 1.0 - p } else { p };
                    curvature[row.start] = (batch.gradient[row.start].abs() * share).max(MIN_CURVATURE);
                    continue;
                }
                softmax(&batch.logits[row.clone()], &mut probabilities);
                for (class, index) in row.enumerate() {
                    let p = probabilities[class] as f32;
                    let share = if *label as usize == class { p } else { 1.0 - p };
                    curvature[index] = (batch.gradient[index].abs() * share).max(MIN_CURVATURE);
                }
            }
        } else {
            let sum: f64 = batch.gradient.iter().map(|gradient| f64::from(gradient.abs())).sum();
            let floor = (MIN_CURVATURE_SHARE * sum / batch.gradient.len() as f64) as f32;
            let curvatures = batch.gradient.iter().map(|gradient| gradient.abs().max(floor).max(MIN_CURVATURE));
            curvature.iter_mut().zip(curvatures).for_each(|(to, curvature)| *to = curvature);
        }
        Ok(value)
    }

    /// The threshold with the best score of one class against the rest, as [`Batch::best_threshold`] finds it. If the loss weights errors by their
    /// timing, [`Batch::best_temporal_threshold`] finds it instead.
    pub(crate) fn best_threshold(&self, batch: &Batch, score: &Score, class: usize) -> Result<Option<Best>> {
        match self {
            Objective::Temporal(loss) => batch.best_temporal_threshold(loss),
            _ => batch.best_threshold(score, class),
        }
    }

    /// The number to add to the single logit of each row so that the best threshold on the batch lies at the mean of the prior. If `steady`
    /// is set, the number near it that gives the lowest loss is returned instead. The returned number is also added to the logits of the
    /// batch. `None` if the score is undefined at every threshold, or if the loss has no score or no prior.
    pub(crate) fn centring_shift(&self, batch: &mut Batch, steady: bool) -> Result<Option<f32>> {
        let (Some(score), Some(prior)) = (self.score(), self.priors().first()) else { return Ok(None) };
        let Some(best) = self.best_threshold(batch, score, 0)? else { return Ok(None) };
        let mut shift = (log_odds(prior.mean()) - log_odds(best.threshold.clamp(1e-7, 1.0 - 1e-7))) as f32;
        let logits = batch.logits.clone();
        if steady {
            shift += batch.shift_with_lowest_loss(self, shift)?;
        }
        batch.logits.iter_mut().zip(logits).for_each(|(to, logit)| *to = logit + shift);
        Ok(Some(shift))
    }

    /// Whether all rows get the same label, which means that the member has learnt nothing. With two classes, this is true if all labels are the
    /// same at the best threshold or at the mean of the prior. For cross-entropy, which has no prior, it is true if all logits are equal. With more
    /// than two classes, the label of a row is the class with the greatest logit.
    pub(crate) fn is_one_sided(&self, batch: &Batch) -> Result<bool> {
        let outputs = batch.outputs();
        if outputs > 1 {
            let mut labels = batch.logits.chunks_exact(outputs).map(index_of_greatest);
            let first = labels.next();
            return Ok(labels.all(|label| Some(label) == first));
        }
        match self.score() {
            Some(score) => {
                // Even if all predictions lie outside the support of the prior, tiny differences between them may separate the rows at the best
                // threshold, so the labels at the mean of the prior are checked too.
                let centre = self.priors().first().map_or(0.0, |prior| log_odds(prior.mean()));
                let above = batch.logits.iter().filter(|logit| f64::from(**logit) > centre).count();
                Ok(above == 0
                    || above == batch.logits.len()
                    || self.best_threshold(batch, score, 0)?.is_none_or(|best| {
                        let [tn, fp, fn_, tp] = best.confusion.array();
                        tp + fp == 0.0 || tn + fn_ == 0.0
                    }))
            }
            None => Ok(batch.logits.iter().all(|logit| *logit == batch.logits[0])),
        }
    }
}

/// The form in which an [`Objective`] is serialised. Scores and priors are the strings that users write.
#[derive(Serialize, Deserialize)]
#[serde(tag = "loss", rename_all = "kebab-case")]
enum ObjectiveDescription {
    Sol { score: String, prior: String },
    Exact { score: String, prior: String },
    Temporal { score: String, prior: String, weighting: String },
    CrossEntropy { positive_weight: f64, negative_weight: f64 },
    OneVersusRest { score: String, priors: Vec<String> },
    Simplex { score: String, sharpness: f64, centres: Vec<f64> },
    Softmax { class_weights: Vec<f64> },
}

impl From<Objective> for ObjectiveDescription {
    fn from(objective: Objective) -> Self {
        match objective {
            Objective::Binary(Loss::Score(loss)) => {
                ObjectiveDescription::Sol { score: loss.score().to_string(), prior: loss.prior().to_string() }
            }
            Objective::Binary(Loss::Exact(loss)) => {
                ObjectiveDescription::Exact { score: loss.score().to_string(), prior: loss.prior().to_string() }
            }
            Objective::Binary(Loss::CrossEntropy(loss)) => {
                let (positive_weight, negative_weight) = loss.class_weights();
                ObjectiveDescription::CrossEntropy { positive_weight, negative_weight }
            }
            Objective::Temporal(loss) => ObjectiveDescription::Temporal {
                score: loss.score().to_string(),
                prior: loss.prior().to_string(),
                weighting: loss.weighting().to_string(),
            },
            Objective::OneVersusRest(loss) => ObjectiveDescription::OneVersusRest {
                score: MultiScore::Classwise(loss.average(), loss.score().clone()).to_string(),
                priors: loss.priors().iter().map(ToString::to_string).collect(),
            },
            Objective::Simplex(loss) => ObjectiveDescription::Simplex {
                score: loss.score().to_string(),
                sharpness: loss.sharpness(),
                centres: loss.centres().to_vec(),
            },
            Objective::Softmax(loss) => ObjectiveDescription::Softmax { class_weights: loss.weights().to_vec() },
        }
    }
}

impl TryFrom<ObjectiveDescription> for Objective {
    type Error = scorewise::Error;

    fn try_from(description: ObjectiveDescription) -> Result<Self> {
        Ok(match description {
            ObjectiveDescription::Sol { score, prior } => {
                Objective::Binary(Loss::Score(ScoreLoss::new(score.parse()?, prior.parse()?)))
            }
            ObjectiveDescription::Exact { score, prior } => {
                Objective::Binary(Loss::Exact(ExactLoss::new(score.parse()?, prior.parse()?)))
            }
            ObjectiveDescription::Temporal { score, prior, weighting } => {
                Objective::Temporal(TemporalLoss::new(score.parse()?, prior.parse()?, weighting.parse()?))
            }
            ObjectiveDescription::CrossEntropy { positive_weight, negative_weight } => {
                Objective::Binary(Loss::CrossEntropy(CrossEntropy::weighted(positive_weight, negative_weight)?))
            }
            ObjectiveDescription::OneVersusRest { score, priors } => {
                let MultiScore::Classwise(average, score) = MultiScore::parse(&score)? else {
                    let reason = format!("must be an average over the classes, such as `macro(f1)`, not `{score}`");
                    return Err(scorewise::Error::Setting { what: "score", reason });
                };
                let priors = priors.iter().map(|prior| prior.parse()).collect::<Result<_>>()?;
                Objective::OneVersusRest(OneVersusRest::new(score, priors, average)?)
            }
            ObjectiveDescription::Simplex { score, sharpness, centres } => {
                let loss = SimplexLoss::new(MultiScore::parse(&score)?);
                Objective::Simplex(loss.with_sharpness(sharpness)?.with_centres(centres)?)
            }
            ObjectiveDescription::Softmax { class_weights } if class_weights.is_empty() => {
                Objective::Softmax(SoftmaxCrossEntropy::plain())
            }
            ObjectiveDescription::Softmax { class_weights } => {
                Objective::Softmax(SoftmaxCrossEntropy::weighted(class_weights)?)
            }
        })
    }
}

/// The class with the greatest logit; if several logits are equally great, the first of these classes.
fn index_of_greatest(logits: &[f32]) -> usize {
    let mut best = 0;
    for (class, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = class;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use scorewise::multiclass::Average;

    use super::*;

    #[test]
    fn an_objective_is_unchanged_after_it_is_serialised_and_parsed() {
        let score = |name: &str| Score::parse(name).unwrap();
        let prior = |text: &str| text.parse::<Prior>().unwrap();
        let mcc = SimplexLoss::new("mcc".parse().unwrap());
        let one_versus_rest = |name: &str, average| OneVersusRest::new(score(name), vec![prior("uniform")], average);
        for objective in [
            Objective::Binary(Loss::Score(ScoreLoss::new(score("tp / (tp + 2*fn)"), prior("cosine:0.3,0.2")))),
            Objective::Binary(Loss::Exact(ExactLoss::new(score("csi"), prior("beta:2,5")))),
            Objective::Temporal(TemporalLoss::new(score("csi"), prior("beta:2,5"), "sum:0.5,0.25".parse().unwrap())),
            Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain())),
            Objective::Binary(Loss::CrossEntropy(CrossEntropy::weighted(1.0 / 3.0, 7.5).unwrap())),
            Objective::OneVersusRest(one_versus_rest("f1", Average::Macro).unwrap()),
            Objective::OneVersusRest(one_versus_rest("tss", Average::Weighted).unwrap()),
            Objective::Simplex(mcc.with_sharpness(3.0).unwrap().with_centres(vec![0.1, -0.2]).unwrap()),
            Objective::Softmax(SoftmaxCrossEntropy::plain()),
            Objective::Softmax(SoftmaxCrossEntropy::weighted(vec![0.1, 2.0]).unwrap()),
        ] {
            let text = serde_json::to_string(&objective).unwrap();
            assert_eq!(serde_json::from_str::<Objective>(&text).unwrap(), objective, "{text}");
        }
        assert!(serde_json::from_str::<Objective>(r#"{"loss":"sol","score":"nothing","prior":"uniform"}"#).is_err());
    }
}
