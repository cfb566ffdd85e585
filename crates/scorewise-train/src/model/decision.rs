//! The rule that turns the probabilities of a row into a label.

use scorewise::is_positive;
use scorewise::sweep::Best;
use serde::{Deserialize, Serialize};

/// The rule that turns the probabilities of a row into a label. If several classes are equally good under the rule, the first of them is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase", deny_unknown_fields)]
pub enum Decision {
    /// For two classes: a row is positive if its probability p is strictly greater than the threshold τ.
    Threshold {
        /// The threshold τ.
        threshold: f64,
        /// If τ has the best score on the rows on which it was chosen: all thresholds t with `interval.0` ≤ t < `interval.1` give this score on
        /// these rows. `None` if τ was chosen in another way, for example by the average score over nearby thresholds.
        interval: Option<(f64, f64)>,
        /// The score at the threshold τ on the validation rows; `None` if the score is undefined or was not computed.
        value: Option<f64>,
        /// How the threshold was chosen.
        chosen: ThresholdSource,
        /// How the threshold was chosen, in words for messages.
        words: String,
    },
    /// For more than two classes: the class that has the greatest probability.
    Greatest,
    /// For more than two classes with one threshold τₖ for each class against the rest: the class k for which pₖ − τₖ is greatest, where pₖ is the
    /// probability of the class.
    Thresholds {
        /// The thresholds τₖ, one for each class.
        thresholds: Vec<f64>,
        /// How the thresholds were chosen.
        chosen: ThresholdSource,
        /// Text for messages that says how the thresholds were chosen.
        words: String,
    },
    /// For more than two classes with one factor fₖ for each class, by which the probability pₖ of the class is multiplied: the class k for which fₖ
    /// pₖ is greatest.
    Factors {
        /// The factors fₖ by which the probabilities pₖ of the classes are multiplied; the greatest factor is 1.
        factors: Vec<f64>,
        /// How the factors fₖ, which multiply the probabilities of the classes, were chosen.
        chosen: ThresholdSource,
        /// Text for messages that says how the factors fₖ, which multiply the probabilities of the classes, were chosen.
        words: String,
    },
    /// For more than two classes with a cost Cⱼₖ for each true class j and predicted class k: the class k with the lowest expected cost Σⱼ pⱼ Cⱼₖ,
    /// where pⱼ is the probability of class j.
    Costs {
        /// The costs Cⱼₖ: one list for each true class j, with the cost of each predicted class k.
        costs: Vec<Vec<f64>>,
    },
    /// For more than two classes with random thresholds on the simplex: the class k for which ln pₖ − μₖ is greatest, or equivalently pₖ exp(−μₖ).
    /// Here pₖ is the probability of the class, and μₖ is the centre of the distribution of its threshold on the scale of the logits.
    Centres {
        /// The centres μₖ of the distributions of the random thresholds, on the scale of the logits, one for each class.
        centres: Vec<f64>,
    },
}

/// How thresholds were chosen. All variants are part of the file format; this version writes `ValidationSweep`, `Prior` and `Given`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSource {
    /// For two classes, the threshold that gives the best score on the validation rows; the score may be averaged over nearby thresholds. For more
    /// than two classes, the factors that give the best score if the probabilities of the classes are multiplied by them.
    ValidationSweep,
    /// The threshold with the best score on the training rows.
    TrainingSweep,
    /// The threshold with the best score on the held-out rows of a cross-validation.
    FoldSweep,
    /// The centre of the prior of the threshold.
    Prior,
    /// The threshold that the user gave, or ½ for cross-entropy, which has no prior.
    Given,
}

impl Decision {
    /// The rule for two classes with a threshold that was not found by a sweep over all thresholds.
    #[must_use]
    pub fn at(threshold: f64, chosen: ThresholdSource, words: impl Into<String>) -> Self {
        Decision::Threshold { threshold, interval: None, value: None, chosen, words: words.into() }
    }

    /// The rule for two classes with the best threshold of a sweep over all thresholds.
    #[must_use]
    pub fn best(best: &Best, chosen: ThresholdSource, words: impl Into<String>) -> Self {
        Decision::Threshold {
            threshold: best.threshold,
            interval: Some(best.interval),
            value: Some(best.value),
            chosen,
            words: words.into(),
        }
    }

    /// The threshold τ; `None` with more than two classes.
    #[must_use]
    pub fn threshold(&self) -> Option<f64> {
        match self {
            Decision::Threshold { threshold, .. } => Some(*threshold),
            _ => None,
        }
    }

    /// How the rule was chosen, in words.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Decision::Threshold { words, .. }
            | Decision::Thresholds { words, .. }
            | Decision::Factors { words, .. } => words,
            Decision::Greatest => "the class with the greatest probability",
            Decision::Costs { .. } => "the class with the lowest expected cost",
            Decision::Centres { .. } => {
                "the class for which the log-probability minus the centre of its threshold distribution is greatest"
            }
        }
    }

    /// The label of a row. With two classes, `probabilities` holds only the probability of the positive class; with more classes, it holds one
    /// probability for each class.
    #[must_use]
    pub fn label(&self, probabilities: &[f64]) -> u32 {
        match self {
            Decision::Threshold { threshold, .. } => {
                probabilities.first().is_some_and(|p| is_positive(*p, *threshold)).into()
            }
            Decision::Greatest => index_of_greatest(probabilities.iter().copied()),
            Decision::Costs { costs } => index_of_greatest((0..costs.len()).map(|predicted| {
                let products = probabilities.iter().zip(costs).map(|(p, row)| p * row.get(predicted).unwrap_or(&0.0));
                -products.sum::<f64>()
            })),
            Decision::Thresholds { thresholds, .. } => {
                index_of_greatest(probabilities.iter().zip(thresholds).map(|(p, threshold)| p - threshold))
            }
            Decision::Factors { factors, .. } => {
                index_of_greatest(probabilities.iter().zip(factors).map(|(p, factor)| p * factor))
            }
            Decision::Centres { centres } => {
                index_of_greatest(probabilities.iter().zip(centre_factors(centres)).map(|(p, factor)| p * factor))
            }
        }
    }
}

/// For each class k, the factor exp(−μₖ) by which its probability is multiplied. Here μₖ, an element of `centres`, is the centre of the distribution
/// of the random threshold of class k, on the scale of the logits. All factors are divided by the greatest of them, so that none overflows.
pub(crate) fn centre_factors(centres: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let lowest = centres.iter().copied().fold(f64::INFINITY, f64::min);
    centres.iter().map(move |centre| (lowest - centre).exp())
}

/// Index of the greatest value; if several are equally great, the index of the first.
fn index_of_greatest(values: impl Iterator<Item = f64>) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in (0..).zip(values) {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_positive_only_if_its_probability_is_strictly_above_the_threshold() {
        let decision = Decision::at(0.25, ThresholdSource::Given, "");
        assert_eq!([0.0, 0.25, 0.25 + f64::EPSILON, 1.0].map(|p| decision.label(&[p])), [0, 0, 1, 1]);
    }

    #[test]
    fn different_decision_rules_can_choose_different_classes_for_the_same_probabilities() {
        let p = [0.5, 0.3, 0.2];
        assert_eq!(Decision::Greatest.label(&p), 0);
        // p − threshold is −0.1, 0.1 and 0.05.
        let thresholds = vec![0.6, 0.2, 0.15];
        assert_eq!(
            Decision::Thresholds { thresholds, chosen: ThresholdSource::Given, words: String::new() }.label(&p),
            1
        );
        // ln p − centre is ln 0.5 − 1 = −1.69, ln 0.3 − 0.5 = −1.70 and ln 0.2 + 0.5 = −1.11.
        assert_eq!(Decision::Centres { centres: vec![1.0, 0.5, -0.5] }.label(&p), 2);
        assert_eq!(Decision::Greatest.label(&[0.2, 0.4, 0.4]), 1);
        // The expected costs are 0.3 + 10 · 0.2 = 2.3, 0.5 + 10 · 0.2 = 2.5 and 0.5 + 0.3 = 0.8.
        let costs = vec![vec![0.0, 1.0, 1.0], vec![1.0, 0.0, 1.0], vec![10.0, 10.0, 0.0]];
        assert_eq!(Decision::Costs { costs }.label(&p), 2);
    }
}
