//! What is minimised: logits, labels and weights of a batch in; a value, and a slope for every logit, out.
//!
//! Two classes have one logit a row, more have one each. The loop that trains does not look at which it is.

use scorewise::multiclass::{OneVersusRest, SimplexLoss, SoftmaxCrossEntropy};
use scorewise::{CrossEntropy, Loss, Prior, Result, Score};

use super::batch::Batch;
use crate::start::log_odds;

/// What is minimised, and with it how many logits a row has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Objective {
    /// Two classes, one logit: label 1 is the positive class, 0 the negative.
    Binary(Loss),
    /// Every class against the rest, one logit each.
    OneVersusRest(OneVersusRest),
    /// One decision among all classes, one logit each.
    Simplex(SimplexLoss),
    /// Cross-entropy of a softmax, one logit each.
    Softmax(SoftmaxCrossEntropy),
}

impl From<Loss> for Objective {
    fn from(loss: Loss) -> Self {
        Objective::Binary(loss)
    }
}

impl Objective {
    /// The networks' outputs for so many classes.
    #[must_use]
    pub fn outputs(&self, classes: usize) -> usize {
        if self.is_binary() { 1 } else { classes }
    }

    /// Whether there is one logit a row, for two classes.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        matches!(self, Objective::Binary(_))
    }

    /// The score of two classes that it is made for: of a class against the rest where there are more. Nothing for
    /// cross-entropy and for scores of a whole matrix.
    #[must_use]
    pub fn score(&self) -> Option<&Score> {
        match self {
            Objective::Binary(Loss::Score(loss)) => Some(loss.score()),
            Objective::Binary(Loss::Exact(loss)) => Some(loss.score()),
            Objective::OneVersusRest(loss) => Some(loss.score()),
            _ => None,
        }
    }

    /// The distributions of its thresholds: one for all logits of a row, or one for each; none where nothing is drawn.
    #[must_use]
    pub fn priors(&self) -> &[Prior] {
        match self {
            Objective::Binary(Loss::Score(loss)) => std::slice::from_ref(loss.prior()),
            Objective::Binary(Loss::Exact(loss)) => std::slice::from_ref(loss.prior()),
            Objective::OneVersusRest(loss) => loss.priors(),
            _ => &[],
        }
    }

    /// The cross-entropy that a warm start begins with; nothing where this is one already.
    #[must_use]
    pub fn warm_up(&self) -> Option<Objective> {
        match self {
            Objective::Binary(Loss::CrossEntropy(_)) | Objective::Softmax(_) => None,
            Objective::Binary(_) => Some(Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain()))),
            Objective::OneVersusRest(_) | Objective::Simplex(_) => {
                Some(Objective::Softmax(SoftmaxCrossEntropy::plain()))
            }
        }
    }

    /// ℓ of a batch.
    pub(crate) fn value(&self, batch: &Batch) -> Result<f64> {
        match self {
            Objective::Binary(loss) => loss.value(&batch.binary()?),
            Objective::OneVersusRest(loss) => loss.value(&batch.classes()?),
            Objective::Simplex(loss) => loss.value(&batch.classes()?),
            Objective::Softmax(loss) => loss.value(&batch.classes()?),
        }
    }

    /// ℓ of a batch, and ∂ℓ/∂z into its slopes.
    pub(crate) fn value_and_slopes(&self, batch: &mut Batch) -> Result<f64> {
        let mut slopes = std::mem::take(&mut batch.slopes);
        let value = match self {
            Objective::Binary(loss) => batch.binary().and_then(|rows| loss.value_and_gradient(&rows, &mut slopes)),
            Objective::OneVersusRest(loss) => {
                batch.classes().and_then(|rows| loss.value_and_gradient(&rows, &mut slopes))
            }
            Objective::Simplex(loss) => batch.classes().and_then(|rows| loss.value_and_gradient(&rows, &mut slopes)),
            Objective::Softmax(loss) => batch.classes().and_then(|rows| loss.value_and_gradient(&rows, &mut slopes)),
        };
        batch.slopes = slopes;
        value
    }

    /// Whether all rows get the same answer: from the best threshold for two classes, and from the centre of the prior, where a score's
    /// loss puts the best one; from the greatest logit for more. Such a network has learnt nothing.
    pub(crate) fn is_one_sided(&self, batch: &Batch) -> Result<bool> {
        let outputs = batch.outputs();
        if outputs > 1 {
            let mut answers = batch.logits.chunks_exact(outputs).map(greatest);
            let first = answers.next();
            return Ok(answers.all(|answer| Some(answer) == first));
        }
        match self.score() {
            Some(score) => {
                // A network whose predictions crept out of the prior's sight may still rank rows by a last trace.
                let centre = self.priors().first().map_or(0.0, |prior| log_odds(prior.mean()));
                let above = batch.logits.iter().filter(|logit| f64::from(**logit) > centre).count();
                Ok(above == 0
                    || above == batch.logits.len()
                    || batch.best_threshold(score, 0)?.is_none_or(|best| {
                        let [tn, fp, fn_, tp] = best.confusion.array();
                        tp + fp == 0.0 || tn + fn_ == 0.0
                    }))
            }
            None => Ok(batch.logits.iter().all(|logit| *logit == batch.logits[0])),
        }
    }
}

/// The class with the greatest logit, the first of equals.
fn greatest(logits: &[f32]) -> usize {
    let mut best = 0;
    for (class, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = class;
        }
    }
    best
}
